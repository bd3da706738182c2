"""The documentation builds offline, without a warning, and holds what it promises."""

import importlib
import inspect
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

import heldout
from heldout.report.charts.find import NAMES

ROOT = Path(__file__).parents[1]

pytest.importorskip(
    "sphinx", reason="the documentation is built with Sphinx (pip install '.[docs]')"
)
pytest.importorskip("furo", reason="the theme of the documentation")


@pytest.fixture(scope="module")
def built(tmp_path_factory):
    """The folder of the pages, built as ``make docs`` does, but for the gallery.

    Every chart is drawn in the tests of charts, and its code is looked up in a test below. Lists of
    contents leave out functions: they are copied for each page.
    """
    place = tmp_path_factory.mktemp("docs")
    # A process of its own: Sphinx registers directives and roles for good.
    done = subprocess.run(  # noqa: S603
        [
            *(sys.executable, "-m", "sphinx", "-W", "--keep-going", "-n", "-q", "-b", "html"),
            *("-D", "gallery=0", "-D", "toc_object_entries=0"),
            *("-d", place / "doctrees", ROOT / "docs", place / "html"),
        ],
        capture_output=True,
        text=True,
        check=False,
        env={**os.environ, "https_proxy": "http://127.0.0.1:9", "http_proxy": "http://127.0.0.1:9"},
    )
    assert done.returncode == 0, done.stderr
    return place / "html"


def test_every_page_is_written(built):
    pages = [*(ROOT / "docs").rglob("*.md"), *(ROOT / "docs").rglob("*.rst")]
    sources = {page.relative_to(ROOT / "docs").with_suffix(".html") for page in pages}
    sources = {page for page in sources if page.parts[0] != "_build"}
    for page in sources:  # Sphinx writes pages of its own, such as search.html, over ours
        assert "<h1>" in (built / page).read_text(encoding="utf-8"), page
        assert page.name not in {"search.html", "genindex.html"}


def test_the_gallery_finds_the_code_of_every_chart(monkeypatch):
    """The build above leaves the gallery out: this is what breaks when a chart moves."""
    monkeypatch.syspath_prepend(ROOT / "docs" / "_extension")
    drawing_function = importlib.import_module("gallery_pages").drawing_function
    for key in NAMES:
        assert "draw.Chart(" in inspect.getsource(drawing_function(key))
    with pytest.raises(LookupError, match="no_chart"):
        drawing_function("no-chart")


def test_every_public_name_is_documented(built):
    text = "".join(page.read_text(encoding="utf-8") for page in (built / "api").glob("*.html"))
    ids = {
        name: (f'id="heldout.{name}"', f'id="module-heldout.{name}"') for name in heldout.__all__
    }
    missing = [name for name, known in ids.items() if not any(one in text for one in known)]
    assert not missing


def test_every_command_and_option_is_documented(built):
    from heldout.cli.main import COMMANDS

    text = (built / "cli.html").read_text(encoding="utf-8")
    for name in COMMANDS:
        assert f"heldout {name}" in text
    assert 'id="cmdoption-heldout-compare-gate"' in text
    assert 'id="cmdoption-heldout-study-draws"' in text


def test_pages_ask_nobody_for_anything(built):
    for page in built.rglob("*.html"):
        text = page.read_text(encoding="utf-8")
        loaded = re.findall(r'<(?:script|img|iframe)[^>]* src="([^"]+)"', text)
        loaded += re.findall(r'<link[^>]* rel="stylesheet"[^>]* href="([^"]+)"', text)
        assert not [one for one in loaded if one.startswith(("http:", "https:", "//"))]

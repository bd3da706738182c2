"""Every command in the documentation runs and prints what the documentation says."""

import re
import shlex
import shutil
from pathlib import Path

import pytest

from heldout.cli import main
from heldout.data import pydocs
from heldout.data.paths import cache_folder
from heldout.data.pydocs import walk_docstrings
from heldout.report.page.runtime import chart_runtime

ROOT = Path(__file__).parents[1]
PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md"))]


def console_blocks():
    for page in PAGES:
        text = page.read_text(encoding="utf-8")
        for number, block in enumerate(re.findall(r"```console\n(.*?)```", text, re.DOTALL), 1):
            yield pytest.param(block, id=f"{page.name}-{number}")


@pytest.fixture(scope="module", autouse=True)
def small_pydocs(tmp_path_factory):
    """A ninth of the collection, kept in a folder of its own: what it gives is shown nowhere."""
    docstrings = walk_docstrings(["numpy"])[::3]
    cache = tmp_path_factory.mktemp("cache")
    chart_runtime()  # takes seconds where it is not kept
    for kept in cache_folder().glob("vega-*.js"):
        shutil.copy(kept, cache)
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("HELDOUT_CACHE", str(cache))
        patch.setattr(pydocs, "walk_docstrings", lambda _: docstrings)
        yield


@pytest.mark.parametrize("block", list(console_blocks()))
def test_commands_print_what_is_shown(block, tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    for step in re.split(r"^\$ ", block, flags=re.MULTILINE)[1:]:
        command, _, shown = re.sub(r" \\\n +", " ", step).partition("\n")
        program, *arguments = shlex.split(command)
        assert program == "heldout"
        main(arguments)
        printed = capsys.readouterr().out
        if shown:  # a command shown without output may print anything
            # Long lines are shown as a terminal of 80 columns wraps them.
            assert printed.split() == shown.split()


def test_links_between_pages_lead_somewhere():
    for page in PAGES:
        for target in re.findall(r"\]\(([^)#:]+)\)", page.read_text(encoding="utf-8")):
            assert (page.parent / target).exists(), f"{page.name} links to {target}"

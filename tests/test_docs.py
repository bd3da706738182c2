"""The documentation: every command runs and prints what is shown, every name exists, it builds."""

import importlib
import json
import os
import re
import shlex
import shutil
import subprocess
import sys
from functools import cache
from pathlib import Path
from typing import get_args

import pytest

import heldout
from commands import COMMANDS, flags_of, printed
from heldout.compiled import cache_folder
from heldout.data import pydocs
from heldout.data.pydocs import walk_docstrings
from heldout.report.page.render import chart_runtime

ROOT = Path(__file__).parents[1]
DOCS = ROOT / "docs"
PAGES = [ROOT / "README.md", *sorted(DOCS.rglob("*.md"))]
TEXTS = {page: page.read_text(encoding="utf-8") for page in PAGES}


# Commands


@pytest.fixture(scope="module")
def small():
    """A ninth of the collection of docstrings: what it gives is shown nowhere."""
    return walk_docstrings(["numpy"])[::3]


@pytest.fixture(scope="module")
def small_cache(tmp_path_factory):
    """Where it is kept."""
    place = tmp_path_factory.mktemp("cache")
    chart_runtime()  # takes seconds where it is not kept
    for kept in cache_folder().glob("vega-*.js"):
        shutil.copy(kept, place)
    return place


@pytest.fixture
def small_pydocs(small, small_cache, monkeypatch):
    monkeypatch.setenv("HELDOUT_CACHE", str(small_cache))
    monkeypatch.setattr(pydocs, "walk_docstrings", lambda _: small)


def console_blocks():
    for page, text in TEXTS.items():
        for number, block in enumerate(re.findall(r"```console\n(.*?)```", text, re.DOTALL), 1):
            yield pytest.param(block, id=f"{page.name}-{number}")


@pytest.mark.usefixtures("small_pydocs")
@pytest.mark.parametrize("block", list(console_blocks()))
def test_commands_print_what_is_shown(block, tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    for step in re.split(r"^\$ ", block, flags=re.MULTILINE)[1:]:
        command, _, shown = re.sub(r" \\\n +", " ", step).partition("\n")
        program, *arguments = shlex.split(command)
        assert program == "heldout"
        out = printed(capsys, *arguments).out
        if shown:  # a command shown without output may print anything
            # Long lines are shown as a terminal of 80 columns wraps them.
            assert out.split() == shown.split()


@pytest.fixture
def lecture_files(here):
    """The files that the terms of a lecture name."""
    for name, source in {
        "Q": "qrels.txt",
        "A": "baseline.run",
        "B": "improved.run",
        "other.qrels": "machine.qrels",
        "classes.csv": "weak.csv",
        "output.txt": "a.txt",
    }.items():
        shutil.copy(here / source, here / name)
    lines = (here / "A").read_text().splitlines(keepends=True)
    (here / "C").write_text("".join(lines[::2]))
    lines = [f'{{"id": "d{n}", "text": "how to sort an array {n}"}}\n' for n in range(9)]
    (here / "docs.jsonl").write_text("".join(lines))
    (here / "logprobs.jsonl").write_text('{"logprobs": [-0.1, -2.3]}\n{"logprobs": [-1.5]}\n')


@pytest.mark.usefixtures("small_pydocs", "lecture_files")
def test_commands_for_lecture_terms_run(capsys):
    (text,) = (text for page, text in TEXTS.items() if "lecture" in page.name)
    commands = dict.fromkeys(re.findall(r"`(heldout [a-z][^`]+)`", text))
    assert len(commands) > 20
    for command in commands:
        if "BLEU" in command and importlib.util.find_spec("sacrebleu") is None:
            continue
        try:
            printed(capsys, *shlex.split(command)[1:])
        except SystemExit as ended:
            pytest.fail(f"{command}: exit code {ended.code}")


def test_the_table_of_fields_is_that_of_the_model():
    lines = ["| field | values | default | meaning |", "|---|---|---|---|"]
    for name, field in heldout.Experiment.model_fields.items():
        words = [value for value in get_args(field.annotation) if isinstance(value, str)]
        values = ", ".join(f"`{word}`" for word in words)
        default = "" if field.default in {None, ()} else f"`{field.default}`".lower()
        lines.append(f"| `{name}` | {values} | {default} | {field.description} |")
    table = "\n".join(lines) + "\n"
    assert any(table in text for text in TEXTS.values())


# Names


OPTIONS = set().union(*map(flags_of, COMMANDS), {"--version", "--help"})
CLASSES = "|".join(name for name in heldout.__all__ if name[0].isupper())


def code_of(text):
    """The code spans and the lines of the code blocks of a page."""
    blocks = re.findall(r"^ *```\w*\n(.*?)^ *```", text, re.DOTALL | re.MULTILINE)
    prose = re.sub(r"^ *```.*?^ *```", "", text, flags=re.DOTALL | re.MULTILINE)
    spans = [" ".join(span.split()) for span in re.findall(r"(?<!`)`([^`]+)`(?!`)", prose)]
    return [*spans, *(line for block in blocks for line in block.splitlines())]


@cache
def words():
    """Every word in the sources, in small letters: names of measures may be written in any."""
    files = (ROOT / "src").rglob("*.py")
    texts = (path.read_text(encoding="utf-8").lower() for path in files)
    return {word for text in texts for word in re.findall(r"\w+", text)}


def is_there(dotted):
    """Whether ``heldout.a.b`` is a module, a name in one, or a member of a class."""
    found = heldout
    for part in dotted.split(".")[1:]:
        if part in getattr(found, "__dataclass_fields__", ()):
            return True
        try:
            module = hasattr(found, "__path__") and not hasattr(found, part)
            found = (
                importlib.import_module(f"{found.__name__}.{part}")
                if module
                else getattr(found, part)
            )
        except (AttributeError, ModuleNotFoundError):
            return False
    return True


def wrong_names(line):
    """Names in a line of code that do not exist."""
    dotted = re.findall(r"(?<![\w./-])heldout(?:\.[A-Za-z_]\w*)+", line)
    members = re.findall(rf"(?<![\w.])(?:{CLASSES})\.[a-z_]\w*", line)
    every = [*dotted, *(f"heldout.{one}" for one in members)]
    yield from (one for one in every if not is_there(one))
    for typed in re.findall(r"(?:^|(?<=\$ )|(?<=\| ))heldout [^|;#]*", line):
        yield from wrong_options(typed)
    if line.startswith("-"):
        yield from set(long_options(line)) - OPTIONS
    # A snake_case or CamelCase name by itself, or a call of it, occurs somewhere in the sources.
    alone = re.fullmatch(r"([A-Za-z]+(?:_\w+)+|(?:[A-Z][a-z]+){2,})(\(.*\))?", line)
    if alone and alone[1].lower() not in words():
        yield alone[1]


def wrong_options(typed):
    """What a command line says that the command does not know."""
    name = typed.split()[1]
    if name in COMMANDS:
        yield from set(long_options(typed)) - flags_of(name) - {"--help"}
    elif re.fullmatch(r"[a-z]+", name):
        yield name


def long_options(text):
    return re.findall(r"(?<!\S)--[a-z][\w-]*", text)


def test_every_name_exists_and_every_link_leads_somewhere():
    for page, text in TEXTS.items():
        if page.stem == "coming-from":  # the first column of its tables is about other packages
            text = re.sub(r"^\|[^|]*\|", "|", text, flags=re.MULTILINE)  # noqa: PLW2901
        assert [name for line in code_of(text) for name in wrong_names(line)] == [], page.name
        for target in re.findall(r"\]\(([^)#:]+)\)", text):
            assert (page.parent / target).exists(), f"{page.name} links to {target}"


def test_a_wrong_name_is_noticed():
    for line in (
        "cross_validate_estimators",
        "heldout.cross_validate_estimators(X)",
        "heldout.infer.results.z_test",
        "heldout.nowhere.results",
        "Run.from_pandas",
        "$ heldout compar a b",
        "heldout run pydocs --leave-none-out",
        "--leave-none-out",
        "GivenFoldings",
    ):
        (block,) = code_of(f"```\n{line}\n```\n")
        (span,) = code_of(f"Take `{line}` for it.")
        assert len(list(wrong_names(block))) == len(list(wrong_names(span))) == 1, line


# The example notebook


def test_every_object_of_the_example_notebook_has_a_display():
    """The HTML of the last value of each code cell, by IPython itself."""
    shells = pytest.importorskip("IPython.core.interactiveshell")
    text = (ROOT / "examples" / "comparing.ipynb").read_text(encoding="utf-8")
    code = [
        "".join(one["source"]) for one in json.loads(text)["cells"] if one["cell_type"] == "code"
    ]
    shell = shells.InteractiveShell.instance(history_length=0)
    shell.history_manager.enabled = False
    shown = {}
    try:
        for source in code:
            done = shell.run_cell(source, store_history=False)
            done.raise_error()
            found = shell.display_formatter.format(done.result)[0]
            shown[source.splitlines()[-1]] = found.get("text/html", "")
    finally:
        shells.InteractiveShell.clear_instance()
    for line in ("results", "comparison", "evaluation"):
        assert shown[line].startswith("<style>.heldout")
        assert "<table>" in shown[line]
    for line in ("results", "comparison"):  # the answer, and a picture of the difference
        claim = shown[line].partition('<p class="claim"><b>')[2].partition("</b>")[0]
        assert all(words in claim for words in ("BM25", "query likelihood", "nDCG@10 0."))
        assert shown[line].count("<svg") == 1
        assert "Difference in nDCG@10." in shown[line]
    assert "<th>unit</th>" in shown['evaluation.to_frame("pandas")']


# Pages


@pytest.fixture(scope="module")
def built(tmp_path_factory):
    """The folder of the pages, built as ``make docs`` does, offline."""
    for name in ("sphinx", "furo"):
        pytest.importorskip(name, reason="the documentation is built with pip install '.[docs]'")
    place = tmp_path_factory.mktemp("docs")
    # A process of its own: Sphinx registers directives and roles for good.
    options = ["-W", "--keep-going", "-n", "-q", "-b", "html", "-d", str(place / "doctrees")]
    offline = dict.fromkeys(("https_proxy", "http_proxy"), "http://127.0.0.1:9")
    done = subprocess.run(  # noqa: S603
        [sys.executable, "-m", "sphinx", *options, str(DOCS), str(place / "html")],
        capture_output=True,
        text=True,
        check=False,
        env={**os.environ, **offline},
    )
    assert done.returncode == 0, done.stderr
    return place / "html"


@pytest.mark.long
def test_pages_build_without_a_warning_and_hold_what_they_promise(built):
    sources = {page.relative_to(DOCS) for end in ("md", "rst") for page in DOCS.rglob(f"*.{end}")}
    for page in (page for page in sources if page.parts[0] != "_build"):
        # Sphinx writes pages of its own, such as search.html, over ours.
        assert "<h1>" in (built / page.with_suffix(".html")).read_text(encoding="utf-8"), page
    texts = {page: page.read_text(encoding="utf-8") for page in built.rglob("*.html")}
    together = "".join(texts.values())
    for name in heldout.__all__:
        known = (f'id="heldout.{name}"', f'id="module-heldout.{name}"')
        assert any(one in together for one in known), name
    for name in COMMANDS:
        assert f"heldout {name}" in together
    for page, text in texts.items():  # they ask nobody for anything
        loaded = re.findall(r'<(?:script|img|iframe)[^>]* src="([^"]+)"', text)
        loaded += re.findall(r'<link[^>]* rel="stylesheet"[^>]* href="([^"]+)"', text)
        assert not [one for one in loaded if one.startswith(("http:", "https:", "//"))], page


# The demonstration


def test_the_demo_tunes_compares_and_leaves_a_page(collection, tmp_path, capsys, monkeypatch):
    """On a collection in place of the documentation, which takes half a minute."""
    monkeypatch.setattr("heldout.data.collection_files.read_collection", lambda _: collection)
    out = printed(capsys, "demo", tmp_path / "shown").out
    assert "on queries not used for tuning: nDCG@10 " in out
    assert "on new documents" in out
    assert len(out.splitlines()) <= 15
    page = (tmp_path / "shown" / "report.html").read_text(encoding="utf-8")
    shown, *_ = page.partition("<script>")
    for number in re.findall(r"0\.\d{4}", out):
        assert number in shown
    assert "new queries on these documents" in shown
    assert "these queries on new documents" in shown
    for part in ("part-1", "part-2"):
        block = re.search(rf'id="{part}-rankings">(.*?)</script>', page).group(1)
        assert json.loads(block)["lines"]


def test_example_files_can_be_evaluated_as_the_demo_says(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    out = printed(capsys, "demo", "--files", "shown").out
    names = {path.name for path in (tmp_path / "shown").iterdir()}
    assert names == {"qrels.txt", "machine.qrels", "baseline.run", "improved.run", "report.md"}
    program, *command = out.splitlines()[-1].split()
    assert program == "heldout"
    assert printed(capsys, *command).out.count("\n") == 1 + 50 + 1

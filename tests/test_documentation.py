"""Every command in the documentation runs and prints what the documentation says."""

import re
import shlex
import shutil
from pathlib import Path
from typing import get_args

import pytest

from heldout import Experiment
from heldout.cli import main
from heldout.compiled import cache_folder
from heldout.data import pydocs
from heldout.data.pydocs import walk_docstrings
from heldout.report.page.render import chart_runtime

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


def test_the_table_of_fields_is_that_of_the_model():
    lines = ["| field | values | default | meaning |", "|---|---|---|---|"]
    for name, field in Experiment.model_fields.items():
        words = [value for value in get_args(field.annotation) if isinstance(value, str)]
        values = ", ".join(f"`{word}`" for word in words)
        default = "" if field.default in {None, ()} else f"`{field.default}`".lower()
        lines.append(f"| `{name}` | {values} | {default} | {field.description} |")
    table = "\n".join(lines) + "\n"
    assert table in (ROOT / "docs" / "experiments.md").read_text(encoding="utf-8")


def lecture_commands():
    text = (ROOT / "docs" / "lecture-terms.md").read_text(encoding="utf-8")
    return re.findall(r"`(heldout [a-z][^`]+)`", text)


@pytest.fixture(scope="module")
def lecture_files(tmp_path_factory):
    """The files that the lecture terms name."""
    folder = tmp_path_factory.mktemp("lecture")
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(folder)
        main(["demo", "--files", "--quiet"])
        for name, source in {
            "Q": "qrels.txt",
            "A": "baseline.run",
            "B": "improved.run",
            "human.qrels": "qrels.txt",
            "other.qrels": "machine.qrels",
        }.items():
            shutil.copy(folder / "example" / source, folder / name)
    third = (folder / "A").read_text().splitlines(keepends=True)[::2]
    (folder / "C").write_text("".join(third))
    documents = [f'{{"id": "d{at}", "text": "how to sort an array {at}"}}\n' for at in range(9)]
    (folder / "docs.jsonl").write_text("".join(documents))
    rows = [(at, at % 2, 1 / (at + 2)) for at in range(8)]
    classes = [f"{at},{'no' if odd else 'yes'},{p},{1 - p}\n" for at, odd, p in rows]
    (folder / "classes.csv").write_text("unit,truth,prob_yes,prob_no\n" + "".join(classes))
    numbers = [f"{at},{at + p},{at}\n" for at, _, p in rows]
    (folder / "numbers.csv").write_text("unit,truth,prediction\n" + "".join(numbers))
    (folder / "references.txt").write_text("the cat is on the mat\nthere is a dog here\n")
    (folder / "output.txt").write_text("the cat is on a mat\nthere is the dog here\n")
    (folder / "logprobs.jsonl").write_text('{"logprobs": [-0.1, -2.3]}\n{"logprobs": [-1.5]}\n')
    return folder


@pytest.mark.parametrize("command", lecture_commands())
def test_commands_for_lecture_terms_run(command, lecture_files, monkeypatch):
    if "BLEU" in command:
        pytest.importorskip("sacrebleu", reason="the extra text is not installed")
    monkeypatch.chdir(lecture_files)
    assert not main(shlex.split(command)[1:])


def test_links_between_pages_lead_somewhere():
    for page in PAGES:
        for target in re.findall(r"\]\(([^)#:]+)\)", page.read_text(encoding="utf-8")):
            assert (page.parent / target).exists(), f"{page.name} links to {target}"

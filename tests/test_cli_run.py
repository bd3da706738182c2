"""The command run: what it prints and keeps, code of the user's, and that it survives a kill."""

import json
import os
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

import heldout
from commands import COMMAND, parsed, printed, process, refused

SMALL = ("docs.jsonl", "--queries", "queries.tsv", "--qrels", "small.qrels")
FIRST_GRADE = ("-m", "my.py:FirstGrade")
pytestmark = pytest.mark.usefixtures("here")
needs_pipes = pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="the system has no named pipes")


def kept(place):
    """The bytes of all results but the timings."""
    files = sorted(Path(place).iterdir())
    return {one.name: one.read_bytes() for one in files if one.name != "timings.json"}


def results(capsys, *arguments):
    """The results of a run, which are kept in a folder."""
    printed(capsys, "run", *arguments, "-o", "out", "--force", "--quiet")
    return heldout.Results.read("out")


# Runs that are stopped


def items_in(folder):
    return list((folder / "heldout-work").glob("*.npz"))


def waiting(folder, *arguments):
    """A run that waits in its middle: inside a system, for a pipe that nobody writes to."""
    os.mkfifo(folder / "pipe")
    # Eight train queries and power 0.5: inside the first fold, with others behind it.
    child = subprocess.Popen(  # noqa: S603 - this Python
        [*COMMAND, "run", "experiment.toml", "-o", "cut", *arguments],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        env={**os.environ, "WAIT_AT": "0.5 8", "WAIT_FOR": str(folder / "pipe")},
    )
    # Three parts of the grid, the lists of two settings, one call: then it waits.
    while len(items_in(folder / "cut")) < 6:
        assert child.poll() is None, child.communicate()
        time.sleep(0.02)
    return child


@needs_pipes
def test_a_run_that_is_killed_goes_on_to_the_same_bytes(here, capsys):
    whole = printed(capsys, "run", "experiment.toml", "-o", "whole").out
    child = waiting(here)
    try:
        # Meanwhile nobody else writes into the folder.
        said = refused(capsys, "run", "experiment.toml", "-o", "cut", "--resume")
        assert f"cut is in use by process {child.pid} on" in said
    finally:
        child.kill()
        child.communicate()
    assert not (here / "cut" / "manifest.json").exists()
    # As if the machine had gone down while it wrote: half of an item.
    item = items_in(here / "cut")[0]
    item.write_bytes(item.read_bytes()[:-100])
    assert "continue it with --resume" in refused(capsys, "run", "experiment.toml", "-o", "cut")
    assert printed(capsys, "run", "experiment.toml", "-o", "cut", "--resume").out == whole
    assert kept("cut") == kept("whole")
    timings = json.loads((here / "cut" / "timings.json").read_text())
    assert len(timings["items"]) == 3 + 2 + 4 * 3 + 3


@needs_pipes
@pytest.mark.parametrize(("how", "expected"), [(signal.SIGINT, 130), (signal.SIGTERM, 143)])
def test_an_interrupted_run_says_how_to_go_on(here, how, expected):
    child = waiting(here)
    try:
        child.send_signal(how)
        out, err = child.communicate(timeout=300)
    finally:
        child.kill()
        child.communicate()
    assert (child.returncode, out) == (expected, "")
    assert sorted(one.name for one in (here / "cut").iterdir()) == ["heldout-work"]
    assert "continue with: heldout run experiment.toml -o cut --resume" in err
    assert "Traceback" not in err


def test_workers_give_the_same_bytes_wherever_they_were_started(here, capsys, monkeypatch):
    """They are kept for the next experiment, with the folder they were started in."""
    first = printed(capsys, "run", "experiment.toml", "-o", "one", "--quiet")
    second = printed(capsys, "run", "experiment.toml", "-o", "two", "--quiet", "--jobs", "2")
    assert kept("one") == kept("two")
    assert (first.out, first.err) == (second.out, "")
    other = here.parent / "other"
    shutil.copytree(here, other, ignore=shutil.ignore_patterns("one", "two"))
    monkeypatch.chdir(other)
    third = printed(capsys, "run", "experiment.toml", "-o", "three", "--quiet", "--jobs", "2")
    assert third.out == first.out


# What is printed and kept


def test_prints_estimates_choices_and_the_comparison(capsys):
    said = printed(capsys, "run", "experiment.toml")
    lines = said.out.splitlines()
    found = heldout.Experiment.read("experiment.toml").run()
    estimate = found.estimate("BM25")
    assert lines[0].startswith("BM25 is significantly better than mine on queries not used for")
    row = next(line for line in lines if line.startswith("1  BM25")).split()
    assert row[2:4] == [f"{estimate['value']:.4f}", f"[{estimate['low']:.4f},"]
    words = " ".join(said.out.split())
    assert "3 folds of the queries (seed 3)" in words
    assert "performance on new queries on these documents" in words
    mine = next(line for line in lines if line.startswith("mine"))
    assert f"power={found.summary[1]['ship']['power']:g}" in mine
    claim = found.compare("AP").claims[0]
    full = printed(capsys, "run", "experiment.toml", "--quiet", "--full").out
    assert "compared with" in full
    assert f"{abs(claim.difference.estimate):+.4f}" in full
    assert "results were not kept (use -o FOLDER)" in said.err


def test_json_has_everything(capsys):
    found = parsed(capsys, "run", "experiment.toml")
    assert set(found) == {"manifest", "systems", "warnings", "comparisons"}
    assert [one["name"] for one in found["systems"]] == ["BM25", "mine"]
    assert [one["measure"] for one in found["comparisons"]] == ["nDCG@10", "AP"]


def test_a_dry_run_runs_nothing(here, capsys):
    said = printed(capsys, "run", "experiment.toml", "--dry-run", "-o", "out").out
    assert "BM25: 80 settings × 3 splits" in said
    assert "mine: 3 settings × 3 splits" in said
    assert "2 systems in all; loaded my.py; nothing was run" in said
    found = parsed(capsys, "run", "experiment.toml", "--dry-run", "-o", "out")
    assert found["settings"]["splits"] == 3
    assert [len(system["points"]) for system in found["settings"]["systems"]] == [80, 3]
    assert found["loaded"] == ["my.py"]
    assert not (here / "out").exists()


# Code of the user's


def test_a_function_with_parameters(capsys):
    for system, expected in {
        "mine=my.py:rank(power=0.1,0.2,0.3)": ("mine", 3, True),
        "my.py:rank(power=0:1:3)": ("rank", 3, True),
        "my.py:rank(power=0.4)": ("rank", 1, False),
    }.items():
        (one,) = parsed(capsys, "run", "small", "--system", system, "--folds", "3")["systems"]
        assert (one["name"], one["points"], one["tuned"]) == expected
    assert one["ship"]["power"] == 0.4


def test_results_with_own_measures_are_repeated_and_read_without_their_code(here, capsys):
    """In another process, which has never seen the file of the measures."""
    systems = ("--system", "bm25", "--system", "my.py:rank(power=0.5)", "--folds", "3")
    results(capsys, "small", *systems, *FIRST_GRADE, "-m", "my.py:cost(power=2)@5")
    printed(capsys, "run", "out", "-o", "again", "--quiet")
    first, second = (Path(one, "values.parquet").read_bytes() for one in ("out", "again"))
    assert first == second
    (here / "my.py").unlink()
    code = """
import heldout
from heldout.cli import main

main(["report", "out", "-o", "page.html", "--quiet"])
main(["chart", "out", "forest", "-o", "chart.json"])
main(["compare", "--scores", "out", "-m", "FirstGrade", "--json"])
main(["power", "--scores", "out", "-m", "FirstGrade", "--json"])
results = heldout.Results.read("out")
assert results.measures == ("FirstGrade", "Cost(power=2)@5")
scores = results.scores("Cost(power=2)@5")
assert (scores.range, scores.higher_is_better) == ((0.0, 9.0), False)
assert results.higher_is_better("FirstGrade") is True
main(["eval", "small.qrels", "bm25.run", "-m", "Cost"])
"""
    done = process(code=code)
    assert "heldout: Cost cannot be computed: results keep the values" in done.stderr
    assert (done.returncode, done.stderr.count("Traceback")) == (2, 0), done.stderr
    assert (here / "page.html").exists()
    assert (here / "chart.json").exists()


# Files of the current folder are data: none of them runs as a module of this program


MODULES = ("heldout", "joblib", "multiprocessing", "distributed", "numba", "site", "encodings")
TRAP = "open({marker!r}, 'a').write(__name__)\nraise SystemExit\n"


def as_installed(folder, *arguments, path="", **environment):
    """Run the command line as the installed script does: the current folder is not on its path."""
    script = folder.parent / "script.py"
    script.write_text("from heldout.cli import main\nif __name__ == '__main__':\n    main()\n")
    ours = {name: value for name, value in os.environ.items() if name != "PYTHONSAFEPATH"}
    python_path = os.pathsep.join(filter(None, [path, os.environ.get("PYTHONPATH", "")]))
    warnings = "ignore::UserWarning"  # of loky, about workers that start slowly
    return subprocess.run(  # noqa: S603 - this Python
        [sys.executable, str(script), *arguments],
        env={**ours, "PYTHONPATH": python_path, "PYTHONWARNINGS": warnings, **environment},
        capture_output=True,
        text=True,
        check=False,
    )


def test_no_module_of_the_folder_runs(here):
    marker = here.parent / "ran"
    for name in MODULES:
        (here / f"{name}.py").write_text(TRAP.format(marker=str(marker)))
    done = as_installed(
        here, "run", "small", "--system", "my.py:rank", "--folds", "2", "--jobs", "2"
    )
    assert not marker.exists(), marker.read_text()
    assert done.returncode == 0, done.stderr


@pytest.mark.long
def test_a_system_finds_its_modules_in_workers(here):
    (here / "own.py").write_text("import helper\nfrom my import rank\n")
    (here / "lib").mkdir()
    for name, text in {"helper": "", "my": (here / "my.py").read_text()}.items():
        (here / "lib" / f"{name}.py").write_text(text)
    run = ("run", "small", "--system", "own.py:rank", "--folds", "2")
    done = as_installed(here, *run, "--jobs", "2", path=str(here / "lib"))
    assert done.returncode == 0, done.stderr

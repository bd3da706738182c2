"""The command run: what it prints, keeps and refuses, and that it survives being killed."""

import json
import os
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pytest

import heldout
from commands import refused
from heldout.cli import main

# Texts whose lengths and counts differ, so that there is something to tune.
WORDS = ["red", "green", "apple", "pear", "plum", "tree", "garden", "river", "stone", "bird"]
DOCUMENTS = {
    f"d{n:02}": " ".join(WORDS[(n * step + step * step) % 10] for step in range(1, 4 + n % 9))
    for n in range(40)
}
QUERIES = {f"q{n:02}": f"{WORDS[n % 10]} {WORDS[(3 * n + 1) % 10]}" for n in range(12)}

RANKER = '''
import os


def rank(train, test, power=1.0):
    """Shared words over a power of the length; waits for ever where the test says so."""
    if os.environ.get("WAIT_AT") == f"{power} {len(train.queries.ids)}":
        with open(os.environ["WAIT_FOR"]):  # a pipe that nobody writes to
            pass
    found = {}
    queries = test.collection.queries
    for query, text in zip(queries.ids, queries.texts, strict=True):
        words = set(text.split())
        scores = {
            one: sum(word in words for word in body.split()) / len(body.split()) ** power
            for one, body in test.collection.documents.pairs()
        }
        found[query] = {one: score for one, score in scores.items() if score}
    return found
'''

EXPERIMENT = """\
measures = ["nDCG@10", "AP"]
seed = 3

[collection]
source = "docs.jsonl"
queries = "queries.tsv"
qrels = "qrels"

[plan]
folds = 3

[[systems]]
name = "BM25"
system = "bm25(k1=0.1:3:40, b=0.25,0.75)"

[[systems]]
name = "mine"
system = "ranker.py:rank(power=0.0,0.5,1.0)"
"""


@pytest.fixture(autouse=True)
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    lines = [json.dumps({"_id": one, "text": text}) + "\n" for one, text in DOCUMENTS.items()]
    (tmp_path / "docs.jsonl").write_text("".join(lines))
    lines = [f"{one}\t{text}\n" for one, text in QUERIES.items()]
    (tmp_path / "queries.tsv").write_text("".join(lines))
    lines = [
        f"{query} 0 {doc} {1 + (len(text) % 2)}\n"
        for at, (query, words) in enumerate(QUERIES.items())
        for n, (doc, text) in enumerate(DOCUMENTS.items())
        if set(words.split()) <= set(text.split()) and (n + at) % 3
    ]
    (tmp_path / "qrels").write_text("".join(lines))
    (tmp_path / "ranker.py").write_text(RANKER)
    (tmp_path / "experiment.toml").write_text(EXPERIMENT)
    return tmp_path


COLLECTION = ["docs.jsonl", "--queries", "queries.tsv", "--qrels", "qrels"]


def kept(place):
    """The bytes of all results but the timings."""
    files = sorted(Path(place).iterdir())
    return {one.name: one.read_bytes() for one in files if one.name != "timings.json"}


def start(*arguments, **environment):
    return subprocess.Popen(  # noqa: S603 - this Python
        [sys.executable, "-c", "from heldout.cli import main; main()", "run", *arguments],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        env={**os.environ, **environment},
    )


def wait_for_items(child, folder, count):
    """Wait until a number of items are finished, while the child lives."""
    while len(items_in(folder)) < count:
        assert child.poll() is None, child.communicate()
        time.sleep(0.02)


def items_in(folder):
    return list((folder / "heldout-work").glob("*.npz"))


def interrupted(folder, how, *arguments):
    """Stop a run in the middle: it waits inside a system until the signal comes."""
    pipe = folder / "pipe"
    os.mkfifo(pipe)
    # Eight train queries and power 0.5: inside the first fold, with others behind it.
    child = start("experiment.toml", "-o", "cut", *arguments, WAIT_AT="0.5 8", WAIT_FOR=str(pipe))
    try:
        # Three parts of the grid, the lists of two settings, one call: then it waits.
        wait_for_items(child, folder / "cut", 6)
        child.send_signal(how)
        said = child.communicate(timeout=300)
    finally:
        child.kill()
        child.communicate()
    return child.returncode, *said


needs_pipes = pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="the system has no named pipes")


@needs_pipes
def test_a_run_that_is_killed_goes_on_to_the_same_bytes(folder, capsys):
    main(["run", "experiment.toml", "-o", "whole"])
    whole = capsys.readouterr().out
    code, _, _ = interrupted(folder, signal.SIGKILL)
    assert code == -signal.SIGKILL
    assert not (folder / "cut" / "manifest.json").exists()
    # As if the machine had gone down while it wrote: half of an item.
    item = items_in(folder / "cut")[0]
    item.write_bytes(item.read_bytes()[:-100])
    assert "continue it with --resume" in refused(capsys, "run", "experiment.toml", "-o", "cut")
    main(["run", "experiment.toml", "-o", "cut", "--resume"])
    assert capsys.readouterr().out == whole
    assert kept("cut") == kept("whole")
    timings = json.loads((folder / "cut" / "timings.json").read_text())
    assert len(timings["items"]) == 3 + 2 + 4 * 3 + 3


@needs_pipes
@pytest.mark.parametrize(("how", "expected"), [(signal.SIGINT, 130), (signal.SIGTERM, 143)])
def test_an_interrupted_run_says_how_to_go_on(folder, capsys, how, expected):
    code, out, err = interrupted(folder, how)
    assert (code, out) == (expected, "")
    assert sorted(one.name for one in (folder / "cut").iterdir()) == ["heldout-work"]
    assert "continue with: heldout run experiment.toml -o cut --resume" in err
    assert "Traceback" not in err
    main(["run", "experiment.toml", "-o", "cut", "--resume"])
    assert "BM25" in capsys.readouterr().out


@needs_pipes
def test_two_processes_do_not_write_into_one_folder(folder, capsys):
    pipe = folder / "pipe"
    os.mkfifo(pipe)
    child = start("experiment.toml", "-o", "cut", WAIT_AT="0.5 8", WAIT_FOR=str(pipe))
    try:
        wait_for_items(child, folder / "cut", 6)
        said = refused(capsys, "run", "experiment.toml", "-o", "cut", "--resume")
        assert f"cut is in use by process {child.pid} on" in said
    finally:
        child.kill()
        child.communicate()


def test_one_and_two_workers_give_the_same_bytes(capsys):
    main(["run", "experiment.toml", "-o", "one", "--quiet"])
    first = capsys.readouterr()
    main(["run", "experiment.toml", "-o", "two", "--quiet", "--jobs", "2"])
    second = capsys.readouterr()
    assert kept("one") == kept("two")
    assert first.out == second.out
    assert first.err == ""


def test_prints_estimates_choices_and_the_comparison(capsys):
    main(["run", "experiment.toml"])
    said = capsys.readouterr()
    lines = said.out.splitlines()
    results = heldout.Experiment.read("experiment.toml").run()
    estimate = results.estimate("BM25")
    assert lines[0].startswith("BM25 is significantly better than mine on queries not used for")
    row = next(line for line in lines if line.startswith("1  BM25")).split()
    assert row[2:4] == [f"{estimate['value']:.4f}", f"[{estimate['low']:.4f},"]
    words = " ".join(said.out.split())
    assert "3 folds of the queries (seed 3)" in words
    assert "performance on new queries on these documents" in words
    mine = next(line for line in lines if line.startswith("mine"))
    assert f"power={results.summary[1]['ship']['power']:g}" in mine
    claim = results.compare("AP").claims[0]
    main(["run", "experiment.toml", "--quiet", "--full"])
    full = capsys.readouterr().out
    assert "compared with" in full
    assert f"{abs(claim.difference.estimate):+.4f}" in full
    assert "results were not kept (use -o FOLDER)" in said.err


def test_json_has_everything(capsys):
    main(["run", "experiment.toml", "--json", "--quiet"])
    found = json.loads(capsys.readouterr().out)
    assert set(found) == {"manifest", "systems", "warnings", "comparisons"}
    assert [one["name"] for one in found["systems"]] == ["BM25", "mine"]
    assert [one["measure"] for one in found["comparisons"]] == ["nDCG@10", "AP"]
    whole = heldout.read_collection("docs.jsonl", queries="queries.tsv", qrels="qrels")
    manifest = found["manifest"]
    assert manifest["fingerprints"]["collection"] == whole.fingerprint()
    assert manifest["versions"]["heldout"] == heldout.__version__
    assert manifest["settings"]["seed"] == 3


@pytest.mark.parametrize("by", ["query", "document", "both"])
def test_without_a_file(capsys, by):
    system = ["--system", "bm25(k1=0.5:3:3, b=0.75)", "--system", "ql=ql-jm(lambda=0.1,0.5)"]
    main(["run", *COLLECTION, *system, "--by", by, "--folds", "2", "-m", "nDCG@10", "-o", "out"])
    assert "lambda=" in capsys.readouterr().out
    results = heldout.Results.read("out")
    assert results.systems == ("bm25", "ql")
    assert [one["points"] for one in results.summary] == [3, 2]
    assert results.manifest["settings"]["by"] == by
    assert results.to_frame().columns[:3] == ["system", "repeat", "fold"]


@pytest.mark.parametrize("by", ["query", "document"])
def test_train_validation_and_test(capsys, by):
    """Parameters are chosen on the validation part: neither on the training nor the test part."""
    plan = ["--hold-out", "0.3", "--validation", "0.4", "--seed", "2", "--by", by]
    main(["run", *COLLECTION, "--system", "bm25(k1=0.1:3:4, b=0,0.5,1)", *plan, "-o", "out"])
    words = " ".join(capsys.readouterr().out.split())
    assert "parameters tuned for nDCG@10 on the validation part of each." in words
    results = heldout.Results.read("out")
    sides = results.splits.filter(side="validation")
    assert len(sides) > 0
    main(["report", "out", "-o", "page.html", "--quiet"])
    assert "on the validation part of each" in Path("page.html").read_text()
    if by != "query":
        return
    whole = heldout.read_collection("docs.jsonl", queries="queries.tsv", qrels="qrels")
    index, measure = heldout.Index.build(whole), heldout.parse_measure("nDCG@10")
    (chosen,) = results.folds["number"].to_list()
    points = results.manifest["settings"]["systems"][0]["points"]
    means = []
    for point in points:
        run = heldout.search(index, whole.queries, heldout.Model.make("bm25", **point))
        values = heldout.evaluate(whole.qrels, run, measure).scores(measure)
        kept = [name in set(sides["unit"]) for name in values.units]
        means.append(values.values[kept, 0].mean())
    assert chosen == int(np.argmax(means))
    assert results.folds["train"][0] == pytest.approx(max(means))


def test_the_method_for_documents(capsys):
    command = [*COLLECTION, "--system", "bm25", "--by", "document"]
    new = refused(capsys, "run", *command, "--method", "magic")
    assert "--method: should be 'pooled', 'per-fold'" in new


def test_a_dry_run_runs_nothing(capsys, folder):
    main(["run", "experiment.toml", "--dry-run", "-o", "out"])
    said = capsys.readouterr().out
    assert "BM25: 80 settings × 3 splits" in said
    assert "mine: 3 settings × 3 splits" in said
    assert "2 systems in all; loaded ranker.py; nothing was run" in said
    main(["run", "experiment.toml", "--dry-run", "--json", "-o", "out"])
    found = json.loads(capsys.readouterr().out)
    assert found["settings"]["splits"] == 3
    assert [len(system["points"]) for system in found["settings"]["systems"]] == [80, 3]
    assert found["loaded"] == ["ranker.py"]
    assert not (folder / "out").exists()


def test_a_broken_collection_is_named_once(capsys, folder):
    (folder / "broken.toml").write_text('prefix = "."\ndataset = "x"\ncorpus = "line.toml"\n')
    said = refused(capsys, "run", "broken.toml", "--system", "bm25")
    assert said.count("broken.toml: the documents 'x.dat' do not exist") == 1


def test_printed_results_name_no_option_of_the_command():
    collection = heldout.read_collection("docs.jsonl", queries="queries.tsv", qrels="qrels")
    systems = {f"s{n}": f"bm25(k1={n})" for n in range(1, 5)}
    said = str(heldout.Experiment(collection=collection, systems=systems).run())
    assert "s1 has the highest nDCG@10 of 4 systems on held-out queries" in said
    assert "--" not in said


def test_a_dry_run_of_estimators_does_so_too(folder, capsys):
    pytest.importorskip("sklearn")
    (folder / "mine.py").write_text("from sklearn.svm import LinearSVC as Own\n")
    rows = [f"{n % 5},{n % 2}\n" for n in range(20)]
    (folder / "table.csv").write_text("x,y\n" + "".join(rows))
    (folder / "e.toml").write_text(
        'task = "classification"\nmeasures = ["accuracy"]\n'
        'data = {file = "table.csv", target = "y", features = ["x"]}\n'
        '[[systems]]\nestimator = ["sklearn.preprocessing:StandardScaler", "mine.py:Own"]\n'
    )
    main(["run", "e.toml", "--dry-run"])
    said = capsys.readouterr().out
    assert "in all; loaded sklearn.preprocessing, mine.py; nothing was run\n" in said


def test_all_problems_at_once(capsys, folder):
    text = EXPERIMENT.replace("bm25(k1", "bm25(k9").replace("folds = 3", "folds = 99")
    (folder / "experiment.toml").write_text(text.replace("seed", "sede"))
    said = refused(capsys, "run", "experiment.toml")
    assert said.splitlines()[0] == "heldout: experiment.toml: 3 problems, nothing was run"
    assert "sede: unknown field; did you mean seed?" in said
    assert "plan: 99 folds but only 12 queries" in said
    assert "systems[0]: bm25 has no parameter k9" in said


def test_a_system_that_fails_is_named_with_its_line(capsys, folder):
    (folder / "ranker.py").write_text("def rank(train, test, power=1.0):\n    return 1 / 0\n")
    said = refused(capsys, "run", "experiment.toml", "-o", "out", "--quiet")
    assert "mine(power=0.0) failed: ZeroDivisionError: division by zero" in said
    assert "ranker.py:2 in rank" in said
    # What was done before is kept; a mended system is another experiment.
    (folder / "ranker.py").write_text(RANKER)
    said = refused(capsys, "run", "experiment.toml", "-o", "out", "--resume")
    assert "belongs to another experiment" in said


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["experiment.toml", "--resume"], "--resume needs the folder"),
        (["experiment.toml", "-o", "x", "--resume", "--force"], "give one of them"),
        (["experiment.toml", "--by", "query"], "--by is for systems (--system)"),
        (["experiment.toml", "--seed", "0"], "--seed is for systems (--system)"),
        (["experiment.toml", "-m", "AP"], "--measure is for systems (--system)"),
        (["docs.jsonl"], "name systems to run with --system"),
        (["nowhere.toml"], "nowhere.toml: cannot be read"),
        (["nowhere", "--system", "bm25"], "nowhere"),
        ([*COLLECTION, "--system", "bm26"], "is not a model, a file or a function"),
    ],
)
def test_refuses(capsys, arguments, message):
    assert message in refused(capsys, "run", *arguments)


def test_workers_that_were_started_elsewhere_find_the_files(tmp_path, monkeypatch, capsys):
    """Worker processes are kept for the next experiment, with the folder they were started in."""
    main(["run", "experiment.toml", "-o", "first", "--quiet", "--jobs", "2"])
    other = tmp_path / "other"
    shutil.copytree(Path.cwd(), other, ignore=shutil.ignore_patterns("first", "other"))
    monkeypatch.chdir(other)
    capsys.readouterr()
    main(["run", "experiment.toml", "-o", "second", "--quiet", "--jobs", "2"])
    assert "better than mine" in capsys.readouterr().out

"""The same experiment from another folder, with paths spelled otherwise: the same bytes."""

import json
import os

import pytest
from experiment_data import table_bytes

from heldout.cli import main

WORDS = ["red", "green", "blue", "fish", "bird", "tree", "stone", "river"]
RANKER = """
def rank(train, test, power=1.0):
    found = {}
    queries = test.collection.queries
    for query, text in zip(queries.ids, queries.texts, strict=True):
        words = set(text.split())
        scores = {
            one: sum(word in words for word in body.split()) / (1 + len(body.split())) ** power
            for one, body in test.collection.documents.pairs()
        }
        found[query] = {one: score for one, score in scores.items() if score}
    return found
"""
EXPERIMENT = """
measures = ["AP"]
[collection]
source = "data/docs.jsonl"
queries = "data/queries.tsv"
qrels = "data/qrels"
[plan]
kind = "given"
folds = {file = "folds.tsv"}
[[systems]]
name = "mine"
system = "code/ranker.py:rank(power=0.5,1.0)"
[[systems]]
name = "runs"
system = "*/a.run"
"""
CLASSES = """
task = "classification"
measures = ["accuracy"]
[data]
file = "table.csv"
target = "y"
features = ["x"]
[plan]
folds = 2
[[systems]]
estimator = "sklearn.neighbors:KNeighborsClassifier"
space = {n_neighbors = [1, 3]}
"""


@pytest.fixture
def project(tmp_path):
    """An experiment whose data have oddities, which are noted with their places."""
    place = tmp_path / "project"
    (place / "data").mkdir(parents=True)
    (place / "elsewhere").mkdir()
    texts = {f"d{n}": " ".join(WORDS[(n * step) % 8] for step in range(1, 5)) for n in range(24)}
    texts["d3"] = ""  # an empty document
    lines = [json.dumps({"_id": one, "text": text}) + "\n" for one, text in texts.items()]
    (place / "data" / "docs.jsonl").write_text("".join(lines))
    queries = [f"q{n}\t{WORDS[n % 8]} {WORDS[(3 * n + 1) % 8]}\n" for n in range(8)]
    (place / "data" / "queries.tsv").write_text("".join(queries))
    judged = [f"q{n} 0 d{n} 1\nq{n} 0 d{n + 9} 2\nq{n} 0 absent{n} 1\n" for n in range(8)]
    (place / "data" / "qrels").write_text("".join(judged))
    (place / "code").mkdir()
    (place / "code" / "ranker.py").write_text(RANKER)
    (place / "folds.tsv").write_text("".join(f"q{n}\t{n % 2}\n" for n in range(8)))
    for at, name in enumerate(("one", "two")):
        rows = [f"q{n} Q0 d{n + at} 1 {1 + n + at} x\n" for n in range(8)]
        (place / name).mkdir()
        (place / name / "a.run").write_text("".join(rows))
    (place / "experiment.toml").write_text(EXPERIMENT)
    (place / "classes.toml").write_text(CLASSES)
    rows = [f"{n % 5},{n % 2}\n" for n in range(20)]
    (place / "table.csv").write_text("x,y\n" + "".join(rows))
    return place


def results_from(folder, monkeypatch, output, *arguments):
    monkeypatch.chdir(folder)
    main(["run", *arguments, "--quiet", "-o", str(output)])
    return table_bytes(output)


@pytest.mark.parametrize("name", ["experiment.toml", "classes.toml"])
def test_an_experiment_in_a_file(project, tmp_path, monkeypatch, name):
    here = results_from(project, monkeypatch, tmp_path / "a", name)
    there = project / "elsewhere"
    spelled = f"..{os.sep}elsewhere{os.sep}..{os.sep}{name}"
    assert results_from(there, monkeypatch, tmp_path / "b", spelled) == here
    assert results_from(there, monkeypatch, tmp_path / "c", str(project / name)) == here
    # It is the same experiment: a run that was interrupted goes on from anywhere.
    assert results_from(project, monkeypatch, tmp_path / "b", name, "--resume") == here


def test_the_notes_name_ids_and_no_folders(project, tmp_path, monkeypatch):
    results_from(project, monkeypatch, tmp_path / "a", "experiment.toml")
    manifest = json.loads((tmp_path / "a" / "manifest.json").read_text())
    said = " ".join(note["text"] for note in manifest["notes"])
    for name in ("empty documents: 1 (d3)", "query q0 document absent0,"):
        assert name in said
    assert str(project) not in said
    plan = {"kind": "given", "folds": "folds.tsv", "strict": True}
    assert manifest["settings"]["plan"] == plan


def test_an_experiment_of_a_command(project, tmp_path, monkeypatch):
    def arguments(folder):
        data = [f"{folder}{name}" for name in ("data/docs.jsonl", "data/queries.tsv", "data/qrels")]
        return [
            data[0], "--queries", data[1], "--qrels", data[2], "--folds", "2", "-m", "AP",
            "--system", f"mine={folder}code/ranker.py:rank", "--system", f"{folder}one/a.run",
        ]  # fmt: skip

    here = results_from(project, monkeypatch, tmp_path / "a", *arguments(""))
    there = project / "elsewhere"
    assert results_from(there, monkeypatch, tmp_path / "b", *arguments("../")) == here
    assert results_from(there, monkeypatch, tmp_path / "c", *arguments(f"{project}/")) == here

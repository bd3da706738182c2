"""Experiments in files: as in Python, every mistake at once, the same bytes from any folder."""

import os
import re
from pathlib import Path

import pytest
from experiment_data import small_collection, table_bytes

from heldout import Experiment, InputError, KFold, System, export_collection
from heldout.cli import main

HEAD = """\
collection = "data"
measures = ["nDCG@10", "AP"]
seed = 7
"""
RANKER = """\
def rank(train, test, weight=1.0):
    first = test.documents.ids[0]
    return {query: {first: weight} for query in test.queries.ids}
"""


@pytest.fixture
def folder(tmp_path):
    export_collection(small_collection(), tmp_path / "data")
    (tmp_path / "ranker.py").write_text(RANKER)
    return tmp_path


def read(folder, text):
    path = folder / "experiment.toml"
    path.write_text(text)
    return Experiment.read(path)


def test_a_file_and_python_are_the_same_experiment(folder):
    text = """
[plan]
folds = 4
repeats = 2

[[systems]]
name = "BM25"
system = "bm25(k1=0.5:3:6, b=0.25,0.75)"

[[systems]]
system = "ql-jm(lambda=0.3)"

[[systems]]
system = "ranker.py:rank(weight=0.5,1.0)"
"""
    of_file = read(folder, HEAD + text)
    systems = of_file.check().systems
    assert [system.name for system in systems] == ["BM25", "ql-jm", "rank"]
    assert [len(system.search.points) for system in systems] == [12, 1, 2]
    assert systems[0].search.points[1] == {"k1": 0.5, "b": 0.75}
    of_python = Experiment(
        collection=folder / "data",
        systems={
            "BM25": "bm25(k1=0.5:3:6, b=0.25,0.75)",
            "ql-jm": System.of("ql-jm", parameters={"lambda": 0.3}),
            "rank": f"{folder}/ranker.py:rank(weight=0.5,1.0)",
        },
        plan=KFold(4, repeats=2, seed=7),
        measures=["nDCG@10", "AP"],
        seed=7,
    )
    # It has versions, fingerprints of data and splits, all settings, and hashes of code.
    assert of_python.run().manifest == of_file.run().manifest


def test_all_problems_are_listed(folder):
    text = """\
measures = ["nDCG@10", "nDGC@5"]
tune_for = "NumRet"
sede = 4
index = 5
rule = "first"

[collection]
source = "nowhere.jsonl"

[plan]
folds = "ten"
foldz = 3

[[systems]]
system = "bm52"

[[systems]]
system = "bm25(b=0.5,1.5)"
model = "bm25"

[[systems]]
name = 6
system = "bm25"
"""
    with pytest.raises(InputError) as error:
        read(folder, text).check()
    first, *found = str(error.value).splitlines()
    assert first == f"{folder}/experiment.toml: 11 problems, nothing was run"
    for problem in (
        "sede: unknown field; did you mean seed?",
        "rule: should be 'best' or 'one-se', not 'first'",
        "measures[1]: ",
        "tune_for: NumRet has no mean over queries",
        "systems[0]: 'bm52' is not a model, a file or a function",
        "systems[1].model: unknown field: use one of system, name, search, trials",
        "systems[2]: name=6: expected a text",
        "index: expected an index or the path of one, not 5",
        "collection: ",
        "plan.foldz: unknown field; did you mean folds?",
        "plan: folds='ten': expected an integer of at least 2; 5 and 10 are usual",
    ):
        assert len([line for line in found if line.strip().startswith(problem)]) == 1, problem


def test_a_file_that_cannot_be_read_says_where(folder):
    with pytest.raises(InputError, match=r"experiment\.toml: not valid TOML: .*at line 2"):
        read(folder, "seed = 1\nseed 2\n")


def test_the_example_in_the_documentation_is_an_experiment(folder):
    page = Path(__file__).parents[2] / "docs" / "experiments.md"
    example = re.search(r"```toml\n(.*?)```", page.read_text(encoding="utf-8"), re.DOTALL)[1]
    (folder / "runs").mkdir()
    for value in (0.1, 0.5):
        (folder / "runs" / f"lambda={value}.run").write_text("q00 Q0 d000 1 1.0 t\n")
    prepared = read(folder, example.replace('"pydocs"', '"data"', 1)).check()
    assert [len(system.search.points) for system in prepared.systems] == [6, 40, 3, 2]
    assert len(prepared.splits) == 30


OF_FILES = """
measures = ["AP"]
collection = {source = "data", qrels = ["odd.qrels"]}
plan = {kind = "given", folds = {file = "folds.tsv"}}
systems = ["mine=ranker.py:rank(weight=0.5,1.0)", "runs=*/a.run"]
"""


def test_from_any_folder_and_with_paths_spelled_otherwise_the_bytes_are_the_same(
    folder, monkeypatch
):
    ids = small_collection().queries.ids
    for name, rows in {
        "experiment.toml": OF_FILES.splitlines(),
        "folds.tsv": [f"{one}\t{at % 2}" for at, one in enumerate(ids)],
        "odd.qrels": [f"{one} 0 d00{at % 9} 1\n{one} 0 absent 1" for at, one in enumerate(ids)],
        "one/a.run": [f"{one} Q0 d00{at % 8} 1 2 x" for at, one in enumerate(ids)],
    }.items():
        (folder / name).parent.mkdir(exist_ok=True)
        (folder / name).write_text("\n".join(rows))

    def results(place, output, *arguments):
        monkeypatch.chdir(place)
        main(["run", *arguments, "--quiet", "-o", str(folder / output)])
        return table_bytes(folder / output)

    here, there = results(folder, "a", "experiment.toml"), folder / "one"
    spelled = f"..{os.sep}one{os.sep}..{os.sep}experiment.toml"
    assert results(there, "b", spelled) == here
    # It is the same experiment: a run that was interrupted goes on from anywhere.
    assert results(folder, "b", "experiment.toml", "--resume") == here
    # The notes name ids and no folders.
    said = (folder / "a" / "manifest.json").read_text()
    assert "query q00 document absent," in said
    assert str(folder) not in said

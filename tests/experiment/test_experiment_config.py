"""The fields of an experiment: everything that is wrong is said at once, with its place."""

import re
from pathlib import Path

import pytest
from experiment_data import overlap, small_collection

from heldout import (
    Collection,
    Experiment,
    HoldOut,
    InputError,
    KFold,
    System,
    cross,
    export_collection,
)

HEAD = """\
collection = "data"
measures = ["nDCG@10", "AP"]
seed = 7
"""
RANKER = """\
def rank(train, test, weight=1.0):
    return {query: {"d000": weight} for query in test.queries.ids}
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
seed = -1
sede = 4
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
system = "bm25(b=0.5,1.5)"

[[systems]]
name = "gone"
system = "runs/*.run"

[[systems]]
system = "ranker.py:nothing"
"""
    with pytest.raises(InputError) as error:
        read(folder, text).check()
    first, *found = str(error.value).splitlines()
    assert first == f"{folder}/experiment.toml: 13 problems, nothing was run"
    for problem in (
        "sede: unknown field; did you mean seed?",
        "seed: should be greater than or equal to 0, not -1",
        "rule: should be 'best' or 'one-se', not 'first'",
        "measures[1]: ",
        "tune_for: NumRet has no mean over queries",
        "systems[0]: 'bm52' is not a model, a file or a function",
        "systems[1].model: unknown field: use one of system, name, search, trials",
        "systems[2]: bm25: b = 1.5 is outside 0 to 1",
        "systems[3]: 'runs/*.run' is not a model, a file or a function",
        "systems[4]: nothing: ranker.py has no 'nothing'",
        "collection: ",
        "plan.foldz: unknown field; did you mean folds?",
        "plan: folds='ten': expected an integer of at least 2; 5 and 10 are usual",
    ):
        assert len([line for line in found if line.strip().startswith(problem)]) == 1, problem


def test_a_file_that_cannot_be_read_says_where(folder):
    with pytest.raises(InputError, match=r"experiment\.toml: not valid TOML: .*at line 2"):
        read(folder, "seed = 1\nseed 2\n")
    with pytest.raises(InputError, match=r"plan: 99 folds but only 24 queries"):
        read(folder, f'{HEAD}plan = {{folds = 99}}\nsystems = ["bm25"]').check()


HOLD_OUT = {"by": "document", "plan": {"kind": "holdout", "test": 0.3}}


@pytest.mark.parametrize(
    ("fields", "message"),
    [
        ({"colection": "pydocs"}, "colection: unknown field; did you mean collection?"),
        ({"systems": []}, "name at least one system"),
        ({"systems": ["bm25", "bm25(k1=2)"]}, "2 systems are called 'bm25'"),
        ({"baseline": "x"}, "unknown system 'x'"),
        ({"systems": ["bm25(k1=0.5, k1=1:2:3)"]}, "k1 is given twice"),
        ({"systems": ["bm25(k1)"]}, "is not a parameter"),
        ({"systems": ["bm25(k2=1)"]}, "has no parameter k2"),
        ({"systems": ["bm25(k1=low)"]}, "k1 = 'low' is not a number"),
        ({"systems": ["bm25(learns=false)"]}, "learns would have no effect"),
        ({"systems": ["no-such-file.run"]}, "is not a model, a file or a function"),
        ({"systems": [3]}, "is not a system"),
        ({"systems": [overlap], "by": "document"}, "say whether scores from different fits"),
        ({"systems": [overlap], "by": "both"}, "say whether scores from different fits"),
        ({"measures": []}, "not a list of measures"),
        ({"measures": ["RelString@5"]}, "has no mean"),
        ({"plan": cross(KFold(2), KFold(2)), "by": "document"}, "does not fit"),
        ({"plan": {"kind": "given"}}, "plan: folds is missing"),
        ({"level": 2}, "between 0.5 and 1"),
        ({"level": 0.05}, "did you mean 0.95"),
        ({"inner": 1}, "inner: should be greater than or equal to 2, not 1"),
        ({"analyzer": {"stemmer": "klingon"}}, "klingon"),
        ({"collection": Collection(["a", "b"], {"q": "a", "r": "b"})}, "no judgements"),
        # What would be ignored, or cannot be done, is refused.
        ({"method": "per-fold"}, "only for held-out documents"),
        ({"by": "document", "method": "x"}, "method: should be 'pooled', .* not 'x'"),
        ({"by": "both", "target_size": 500}, "target_size: .*are pooled"),
        (HOLD_OUT | {"target_size": 500}, "target_size: .*evaluated alone"),
        (HOLD_OUT | {"method": "per-fold"}, "method: .*evaluated alone"),
        (
            HOLD_OUT | {"systems": System.of(overlap, comparable=True), "method": "training"},
            "method: is only for built-in models",
        ),
        (
            {"by": "both", "plan": cross(KFold(2), HoldOut(0.2))},
            "when queries and documents are held out, both need folds",
        ),
    ],
)
def test_refuses(fields, message):
    given = {"collection": small_collection(), "systems": ["bm25"]}
    with pytest.raises(InputError, match=message):
        Experiment(**given | fields).check()


def test_the_example_in_the_documentation_is_an_experiment(folder):
    page = Path(__file__).parents[2] / "docs" / "experiments.md"
    (example,) = re.findall(r"```toml\n(.*?)```", page.read_text(encoding="utf-8"), re.DOTALL)
    (folder / "runs").mkdir()
    for value in (0.1, 0.5):
        (folder / "runs" / f"lambda={value}.run").write_text("q00 Q0 d000 1 1.0 t\n")
    assert '"pydocs"' in example
    prepared = read(folder, example.replace('"pydocs"', '"data"', 1)).check()
    assert [len(system.search.points) for system in prepared.systems] == [6, 40, 3, 2]
    assert len(prepared.splits) == 30

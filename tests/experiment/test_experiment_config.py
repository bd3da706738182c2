"""Settings: everything that is wrong is said at once, with its place."""

import json
import re
from pathlib import Path

import pytest
from experiment_data import overlap, small_collection

from heldout.cli import main
from heldout.errors import FormatError
from heldout.experiment.experiment import Experiment
from heldout.experiment.problems import ExperimentError
from heldout.experiment.systems.base import System
from heldout.resample.plans import HoldOut, KFold
from heldout.resample.two_way import cross

RANKER = """\
def rank(train, test, power=1.0):
    return {}

def other(train, test):
    return {}
"""


@pytest.fixture
def folder(tmp_path):
    collection = small_collection()
    (tmp_path / "docs.jsonl").write_text(
        "".join(
            json.dumps({"_id": one, "text": text}) + "\n"
            for one, text in collection.documents.pairs()
        )
    )
    (tmp_path / "queries.tsv").write_text(
        "".join(f"{one}\t{text}\n" for one, text in collection.queries.to_dict().items())
    )
    (tmp_path / "qrels.txt").write_text(
        "".join(
            f"{query} 0 {doc} {grade}\n"
            for query, judged in collection.qrels.to_dict().items()
            for doc, grade in judged.items()
        )
    )
    (tmp_path / "ranker.py").write_text(RANKER)
    return tmp_path


HEAD = """\
measures = ["nDCG@10", "AP"]
seed = 7

[collection]
source = "docs.jsonl"
queries = "queries.tsv"
qrels = "qrels.txt"

"""


def toml(folder, text):
    path = folder / "experiment.toml"
    path.write_text(text)
    return path


def problems(folder, text):
    with pytest.raises(ExperimentError) as error:
        Experiment.read(toml(folder, text)).check()
    return error.value.problems


def test_a_file_and_python_are_the_same_experiment(folder):
    path = toml(
        folder,
        HEAD
        + """
[plan]
folds = 4
repeats = 2

[[systems]]
name = "BM25"
system = "bm25(k1=0.5:3:6, b=0.25,0.75)"

[[systems]]
system = "ql-jm(lambda=0.3)"

[[systems]]
system = "ranker.py:rank(power=0.5,1.0)"
""",
    )
    read = Experiment.read(path).check()
    assert [one.name for one in read.systems] == ["BM25", "ql-jm", "rank"]
    assert [len(one.points()) for one in read.systems] == [12, 1, 2]
    assert read.systems[0].points()[1] == {"k1": 0.5, "b": 0.75}
    assert (len(read.splits), read.seed, read.by) == (8, 7, "query")
    made = Experiment(
        collection=read.collection,
        systems={"BM25": "bm25(k1=0.5:3:6, b=0.25,0.75)", "ql-jm": "ql-jm(lambda=0.3)"},
        plan=KFold(4, repeats=2, seed=7),
        measures=["nDCG@10", "AP"],
    ).check()
    assert made.systems[0].models() == read.systems[0].models()
    assert made.splits.fingerprint == read.splits.fingerprint


def test_all_problems_are_listed(folder):
    found = problems(
        folder,
        """\
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
""",
    )
    said = "\n".join(found)
    for place in (
        "sede: unknown field; did you mean seed?",
        "seed: expected at least 0, not -1",
        "rule:",
        "measures[1]:",
        "tune_for:",
        "systems[0]: 'bm52' is not a model, a file or a function",
        "systems[1].model: unknown field: use one of system, name, search, trials",
        "systems[2]: bm25: b = 1.5 is outside 0 to 1",
        "systems[3]: 'runs/*.run' is not a model, a file or a function",
        "systems[4]: ",
        "collection:",
        "plan.foldz: unknown field; did you mean folds?",
        "plan: folds='ten': expected an integer of at least 2; 5 and 10 are usual",
    ):
        assert place in said, said
    assert len(found) == 13


def test_a_file_that_is_no_toml_says_where(folder):
    with pytest.raises(FormatError, match=r"experiment\.toml: not valid TOML: .*at line 2"):
        Experiment.read(toml(folder, "seed = 1\nseed 2\n"))


def test_the_plan_must_fit_the_data(folder):
    (found,) = problems(folder, HEAD + '[plan]\nfolds = 99\n[[systems]]\nsystem = "bm25"\n')
    assert found.startswith("plan: 99 folds but only 24 queries")


@pytest.mark.parametrize(
    ("fields", "message"),
    [
        ({"systems": []}, "name at least one system"),
        ({"systems": ["bm25", "bm25(k1=2)"]}, "2 systems are called 'bm25'"),
        ({"systems": ["bm25"], "baseline": "x"}, "unknown system 'x'"),
        ({"systems": ["bm25"], "method": "per-fold"}, "only for held-out documents"),
        ({"systems": ["bm25"], "by": "document", "method": "x"}, "unknown method 'x'"),
        ({"systems": ["bm25(k1=0.5, k1=1:2:3)"]}, "both fixed and tuned"),
        ({"systems": ["bm25(k1)"]}, "is not a parameter"),
        ({"systems": ["bm25(k2=1)"]}, "has no parameter k2"),
        ({"systems": ["no-such-file.run"]}, "is not a model, a file or a function"),
        ({"systems": [3]}, "is not a system"),
        ({"systems": [overlap], "by": "document"}, "say whether scores from different fits"),
        ({"systems": [overlap], "by": "both"}, "say whether scores from different fits"),
        ({"systems": ["bm25"], "measures": []}, "not a list of measures"),
        ({"systems": ["bm25"], "measures": ["RelString@5"]}, "has no mean"),
        (
            {"systems": ["bm25"], "plan": cross(KFold(2), KFold(2)), "by": "document"},
            "does not fit",
        ),
        ({"systems": ["bm25"], "level": 2}, "between 0.5 and 1"),
        ({"systems": ["bm25"], "level": 0.05}, "did you mean 0.95"),
        ({"systems": ["bm25"], "inner": 1}, "inner: expected at least 2, not 1"),
        ({"systems": ["bm25"], "plan": {"kind": "given"}}, "plan: folds is missing"),
        ({"systems": ["bm25"], "analyzer": {"stemmer": "klingon"}}, "klingon"),
    ],
)
def test_refuses(fields, message):
    with pytest.raises(ExperimentError, match=message):
        Experiment(collection=small_collection(), **fields).check()


HOLD_OUT = {"kind": "holdout", "test": 0.3}


@pytest.mark.parametrize(
    ("fields", "message"),
    [
        ({"systems": ["bm25"], "by": "both", "target_size": 500}, "target_size: .*are pooled"),
        (
            {"systems": ["bm25"], "plan": HOLD_OUT, "target_size": 500},
            "target_size: .*evaluated alone",
        ),
        (
            {"systems": ["bm25"], "plan": HOLD_OUT, "method": "per-fold"},
            "method: .*evaluated alone",
        ),
        ({"systems": [System.of(overlap, comparable=True)], "method": "per-fold"}, "built-in"),
    ],
)
def test_what_would_be_ignored_is_refused(fields, message):
    with pytest.raises(ExperimentError, match=message):
        Experiment(**{"collection": small_collection(), "by": "document", **fields}).check()


def test_an_unknown_field_is_refused_at_once():
    with pytest.raises(TypeError, match="colection"):
        Experiment(colection="pydocs")


def test_a_collection_without_judgements_is_refused():
    from heldout.data.collection import Collection

    bare = Collection(["a", "b"], {"q": "a", "r": "b"})
    with pytest.raises(ExperimentError, match="no judgements"):
        Experiment(collection=bare, systems="bm25", plan={"folds": 2}).check()


def test_the_example_in_the_documentation_is_an_experiment(folder):
    page = Path(__file__).parents[2] / "docs" / "experiments.md"
    (example,) = re.findall(r"```toml\n(.*?)```", page.read_text(encoding="utf-8"), re.DOTALL)
    table = '{source = "docs.jsonl", queries = "queries.tsv", qrels = "qrels.txt"}'
    text = example.replace('"pydocs"', table, 1)
    assert table in text
    (folder / "ranker.py").write_text(RANKER.replace("power", "weight"))
    (folder / "runs").mkdir()
    for value in (0.1, 0.5):
        (folder / "runs" / f"lambda={value}.run").write_text("q00 Q0 d000 1 1.0 t\n")
    settings = Experiment.read(toml(folder, text)).check()
    assert [len(one.points()) for one in settings.systems] == [6, 40, 3, 2]
    assert len(settings.splits) == 30
    known = {line.split(" = ")[0] for line in example.splitlines() if " = " in line}
    assert {"collection", "by", "baseline", "system", "search"} <= known


@pytest.mark.parametrize(
    ("by", "plan"),
    [
        ("query", HoldOut(0.2, validation=0.2)),
        ("document", {"kind": "holdout", "test": 0.2, "validation": 0.2}),
        ("both", cross(KFold(2), HoldOut(0.2, validation=0.2))),
        ("query", HoldOut(0.2, validation=3)),
    ],
)
def test_a_validation_part_is_refused(by, plan):
    system = System.of(overlap, "mine", comparable=True)
    with pytest.raises(ExperimentError, match=r"^plan.validation: the validation part is not used"):
        Experiment(collection=small_collection(), systems=[system], by=by, plan=plan).check()


def test_a_validation_part_is_refused_in_a_file(folder, capsys, monkeypatch):
    text = "plan = {kind = 'holdout', test = 0.2, validation = 0.2}\nsystems = ['bm25']\n" + HEAD
    (found,) = problems(folder, text)
    assert "plan.validation: the validation part is not used yet; leave it out" in found
    monkeypatch.chdir(folder)
    options = ["--queries", "queries.tsv", "--qrels", "qrels.txt", "--system", "bm25"]
    with pytest.raises(SystemExit, match="2"):
        main(["run", "docs.jsonl", *options, "--hold-out", "0.2", "--validation", "0.2"])
    assert "--validation: the validation part is not used yet" in capsys.readouterr().err

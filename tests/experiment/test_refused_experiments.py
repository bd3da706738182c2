"""What cannot be done is said before anything runs: one table for each way to say it."""

import numpy as np
import pytest
from experiment_data import liked, longer, overlap, small_collection

from commands import refused
from heldout import (
    Collection,
    Experiment,
    HeldoutError,
    HoldOut,
    Index,
    KFold,
    Run,
    System,
    cross,
    search,
)

COLLECTION = small_collection()


def keep(train, test, candidates):
    """A reranker that keeps the first stage as it is."""
    del train, test
    return candidates


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """Run files, vectors, judgements and functions, where the texts of systems name them."""
    monkeypatch.chdir(tmp_path)
    index = Index.build(COLLECTION.documents)
    for name, model in (("first", "bm25"), ("second", "ql-jm"), ("noise", "tf-idf")):
        search(index, COLLECTION.queries, model, k=20).write(f"{name}.run")
    COLLECTION.qrels.write("qrels.txt")
    (tmp_path / "rank.py").write_text("def mix(train, test, candidates): ...\n")
    (tmp_path / "broken.py").write_text("import no_such_package_at_all\n")
    ids = {"docs": COLLECTION.documents.ids, "queries": COLLECTION.queries.ids}
    for name, own in (ids | {"few": list(ids["docs"])[1:]}).items():
        np.save(f"{name}.npy", np.ones((len(own), 2), np.float32))
        (tmp_path / f"{name}.ids").write_text("".join(f"{one}\n" for one in own))
    return tmp_path


def complaint(**fields):
    """What an experiment says, or nothing if it is sound."""
    given = {"collection": COLLECTION, "systems": ["bm25"], "plan": KFold(3)}
    try:
        Experiment(**given | fields).check()
    except HeldoutError as error:
        return str(error)
    return ""


# ---- fields -------------------------------------------------------------------------------------


RERANKS = System.of(keep, first="bm25", comparable=True)
PARTS = {"kind": "holdout", "test": 0.3, "validation": 0.2}
ALONE = {"by": "document", "plan": {"kind": "holdout", "test": 0.3}}
LEARNS = System.of(liked, comparable=True)
FIELDS = [
    ({"colection": "pydocs"}, "colection: unknown field; did you mean collection?"),
    ({"systems": []}, "name at least one system"),
    ({"systems": ["bm25", "bm25(k1=2)"]}, "2 systems are called 'bm25'"),
    ({"baseline": "x"}, "unknown system 'x'"),
    ({"plan": cross(KFold(2), KFold(2)), "by": "document"}, "does not fit"),
    ({"level": 2}, "between 0.5 and 1"),
    ({"analyzer": {"stemmer": "klingon"}}, "klingon"),
    ({"collection": Collection(["a", "b"], {"q": "a", "r": "b"})}, "no judgements"),
    # Documents are held out.
    ({"systems": [overlap], "by": "document"}, "say whether scores from different fits"),
    ({"by": "document", "method": "x"}, "method: should be 'pooled', "),
    ({"by": "document", "measures": ["Bpref"], "target_size": 999}, "Bpref cannot"),
    ({"by": "both", "target_size": 500}, "are pooled"),
    (ALONE | {"target_size": 500}, "evaluated alone"),
    (
        ALONE | {"systems": System.of(overlap, comparable=True), "method": "training"},
        "method: is only for built-in models",
    ),
    (
        {"by": "both", "plan": cross(KFold(2), HoldOut(0.2))},
        "when queries and documents are held out, both need folds",
    ),
    # A validation part.
    (
        {"systems": LEARNS, "plan": PARTS, "inner": 3},
        "inner: parameters are chosen on the validation part of the plan",
    ),
    (
        {"systems": LEARNS, "by": "both", "plan": cross(KFold(2), HoldOut(0.3, validation=0.2))},
        "plan.validation: queries and documents are held out: give both plans a validation",
    ),
    # Rerankers.
    (
        {"systems": [System.of(keep, first="bm25")], "by": "document"},
        "scores in different folds must be",
    ),
    ({"systems": [RERANKS], "by": "both"}, "hold out one of them"),
    (ALONE | {"systems": [RERANKS]}, "which needs folds"),
    (
        {"systems": [System.of(longer, "mine"), System.of(keep, first="mine")]},
        "mine cannot be reranked: its ranking",
    ),
]


def test_fields_that_cannot_be_are_named():
    for fields, message in FIELDS:
        assert message in complaint(**fields), fields


# ---- texts of systems ---------------------------------------------------------------------------


TWO = "first.run, second.run"
TEXTS = [
    ("bm52", "'bm52' is not a model, a file or a function"),
    ("bm25(k1=0.5, k1=1:2:3)", "k1 is given twice"),
    ("bm25(k2=1)", "has no parameter k2"),
    ("bm25(b=0.5,1.5)", "b = 1.5 is outside 0 to 1"),
    ("bm25(learns=false)", "learns would have no effect"),
    ("broken.py:rank", "broken.py failed: ModuleNotFoundError"),
    # A missing comma is not a part of a value.
    ("rank.py:mix(weight=1 comparable=true)", "weight=1 comparable=true: a comma is missing"),
    # Fusions.
    ("wsum(first.run, first.run, w=0.5)", "first.run is given twice"),
    (f"wsum({TWO})", "wsum needs weights: write w=0:1:11"),
    (f"wsum({TWO}, w=2)", "w=2: expected a number between 0 and 1"),
    (f"rrf({TWO}, norm=minmax)", "rrf uses ranks alone: leave out norm=minmax"),
    (f"wsum({TWO}, noise.run, w=1,2)", "no 3 of its values add up to 1"),
    ("rrf(first.run, *.run)", "add it to the systems, such as part=*.run"),
    (f"rrf({TWO}, k=-1)", "k is -1: expected a number of at least 0"),
    # Rerankers.
    ("rerank(function=rank.py:mix)", "rerank needs first"),
    ("rerank(first=bm25, function=rank.py:mix, depth=0)", "must be a positive integer, not 0"),
    ("rerank(first=bm25(k1=1,2), function=rank.py:mix)", "must be a system of its own"),
    # Vectors.
    ("vectors(docs.npy)", "vectors needs two files, got 1"),
    ("vectors(docs.npy, queries.npy, metric=l2)", "unknown metric 'l2': expected cosine or ip"),
]
SEVERAL = [
    ([f"a=rrf({TWO})", "b=rrf(a, noise.run)"], "a cannot be fused: it is a fusion"),
    ([System.of(overlap, "f"), "rrf(f, first.run)"], "f cannot be fused: its ranking of a qu"),
]


@pytest.mark.usefixtures("folder")
def test_texts_that_name_no_system_are_refused(capsys):
    for text, message in TEXTS:
        assert message in complaint(systems=[text]), text
        if "wsum" in text or "rrf" in text:  # with judgements alone, too
            assert message in complaint(systems=[text], collection={"qrels": "qrels.txt"}), text
    for systems, message in SEVERAL:
        assert message in complaint(systems=systems), systems
    for fields, message in (
        ({"index": Index.build(["a", "b"])}, "not an index of these documents"),
        ({"systems": ["vectors(few.npy, queries.npy)"]}, "for 1 of 60 documents: d000"),
    ):  # seen when files are opened
        with pytest.raises(HeldoutError, match=message):
            Experiment(**{"collection": COLLECTION, "systems": ["bm25"]} | fields).run()
    for arguments, message in (
        (["run", "qrels.txt", "--system", "rerank(first=bm25)"], "rerank needs function"),
        (["search", "docs.npy"], "give vectors of queries"),
        (["search", "pydocs", "--metric", "ip"], "--metric is for vectors"),
    ):
        assert message in refused(capsys, *arguments)


# ---- options of systems -------------------------------------------------------------------------


OPTIONS = [
    ("bm25", {"comparable": True}, "comparable would have no effect on it; it takes param"),
    (Run.of({"q": {"d": 1.0}}), {"learns": True}, "run: learns would have no effect"),
    (dict, {"first": "bm25", "kind": "function"}, "a reranker is a function"),
    ("bm25(k1=1,2)", {"search": "tpe"}, "search = 'tpe': expected one of grid, random, optu"),
    ("bm25", {"search": "optuna", "trials": 3}, "trials is the number of points drawn from"),
]


def test_options_without_effect_are_refused():
    for given, options, message in OPTIONS:
        with pytest.raises(HeldoutError) as error:
            System.of(given, **options)
        assert message in str(error.value), (given, options)

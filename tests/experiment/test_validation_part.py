"""Train, validation, test: learned on the first, chosen on the second, measured on the third."""

import json
from pathlib import Path

import numpy as np
import pytest
from experiment_data import liked, longer, small_collection

import heldout

COLLECTION = small_collection(70, 40)
INDEX = heldout.Index.build(COLLECTION)
CODE = Path(__file__).with_name("experiment_data.py")
FILES = {
    seed: {
        query: {doc: noise.random() + 0.2 * docs.get(doc, 0) for doc in COLLECTION.documents.ids}
        for noise in [np.random.default_rng(seed)]
        for query, docs in COLLECTION.qrels.to_dict().items()
    }
    for seed in (1, 2, 3)
}
SYSTEMS = {
    "bm25": "bm25(k1=64,256,1024)",
    "liked": f"{CODE}:liked(weight=-0.2,0,0.2, comparable=true)",
    "files": "seed=*.run",
    "hybrid": "wsum(bm25, files, norm=rank, w=0:1:5)",
    "longer": f"rerank(first=bm25, function={CODE}:longer, depth=20, weight=-0.06,-0.05,-0.04)",
}
PLAN = {"kind": "holdout", "test": 0.3, "validation": 0.2, "repeats": 3}
HOLD_OUT = heldout.HoldOut(0.3, validation=0.2, repeats=3)
BOTH = heldout.cross(HOLD_OUT, heldout.HoldOut(0.4, validation=0.3))


def searched(_, view, k1, index=INDEX):
    model = heldout.Model.make("bm25", k1=k1)
    return heldout.search(index, view.queries, model).to_dict()


def searched_one_by_one(train, view, k1):
    """Each document as if it alone were new."""
    seen, found = dict(train.documents.pairs()), {query: {} for query in view.queries.ids}
    for doc, text in view.documents.pairs():
        run = searched(train, view, k1, heldout.Index.build(seen | {doc: text}))
        for query, docs in run.items():
            found[query] |= {doc: docs[doc]} if doc in docs else {}
    return found


def of_file(_, view, seed):
    return {query: FILES[seed][query] for query in view.queries.ids}


def fused(train, view, w, norm, parts):
    runs = searched(train, view, **parts["bm25"]), of_file(train, view, **parts["files"])
    both = [heldout.Run.of(run) for run in runs]
    return heldout.fuse(both, "wsum", norm=norm, weights=[w, 1 - w]).to_dict()


def reranked(train, view, weight, depth, parts):
    run = searched(train, view, **parts["bm25"])
    first = {query: dict(list(docs.items())[:depth]) for query, docs in run.items()}
    return longer(train, view, heldout.Run.of(first), weight)


BY_QUERY = dict(zip(SYSTEMS, (searched, liked, of_file, fused, reranked), strict=True))
BY_DOCUMENT = {"bm25": searched_one_by_one, "liked": liked}


def precisions(view, run):
    """The average precision of each query with something to find."""
    qrels = {query: docs for query, docs in view.qrels.to_dict().items() if any(docs.values())}
    found = heldout.evaluate(qrels, {query: run.get(query, {}) for query in qrels}, "AP")
    return dict(zip(found.units(), found.per_unit().tolist(), strict=True))


def check_by_hand(results, splits, ranks):
    """Every training mean is that of the validation part, every value that of the test part."""
    for split in splits:
        sides = (split.view(COLLECTION, side) for side in ("train", "validation", "test"))
        (train, validation, test), best = sides, {}
        of_split = {"repeat": split.key.repeat}
        for name, rank in ranks.items():
            parts = {"parts": dict(best)} if rank in {fused, reranked} else {}
            surface = results.surface.filter(system=name, **of_split)
            points = [json.loads(point) for point in surface["parameters"]]
            ranked = [rank(train, validation, **point, **parts) for point in points]
            means = [np.mean([*precisions(validation, run).values()]) for run in ranked]
            assert surface["mean"].to_list() == pytest.approx(means)
            best[name] = points[int(np.argmax(np.round(means, 9)))]
            (row,) = results.folds.filter(system=name, **of_split).rows(named=True)
            assert json.loads(row["parameters"]) == best[name]
            held_out = results.values.filter(system=name, **of_split)
            expected = precisions(test, rank(train, test, **best[name], **parts))
            assert dict(held_out.select("unit", "value").iter_rows()) == pytest.approx(expected)
    for name in ranks:
        assert results.folds.filter(system=name)["parameters"].n_unique() > 1, name


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    heldout.export_collection(COLLECTION, tmp_path / "data")
    for seed, run in FILES.items():
        heldout.Run.of(run).write(tmp_path / f"seed={seed}.run")
    return tmp_path


def experiment(systems, by="query", plan=None, collection=COLLECTION):
    return heldout.Experiment(
        collection=collection, systems=systems, by=by, plan=plan or PLAN, measures="AP"
    )


@pytest.mark.usefixtures("folder")
@pytest.mark.parametrize(
    ("by", "ranks", "plan"),
    [
        ("query", BY_QUERY, HOLD_OUT),
        ("document", BY_DOCUMENT, HOLD_OUT),
        ("both", {"liked": liked}, BOTH),
    ],
)
def test_parameters_are_chosen_on_the_validation_part(by, ranks, plan):
    systems = {name: SYSTEMS[name] for name in ranks}
    splits = plan.splits(COLLECTION) if by == "both" else plan.splits(COLLECTION, by)
    check_by_hand(experiment(systems, by, plan).run(), splits, ranks)

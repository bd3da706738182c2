"""Fusions and runs when documents are held out."""

import numpy as np
import pytest
from experiment_data import overlap, small_collection

from heldout import Run, evaluate, fuse
from heldout.errors import HeldoutError
from heldout.experiment.experiment import Experiment
from heldout.experiment.systems.base import System
from heldout.resample.plans import KFold
from heldout.retrieve.index import Index
from heldout.retrieve.search import search

PLAN = {"folds": 4}


@pytest.fixture(scope="module")
def collection():
    return small_collection()


def test_on_new_documents_a_fusion_with_all_weight_on_a_tuned_part_is_that_part(collection):
    systems = ["bm25(k1=1:8:8, b=0.6:1:5)", "ql-jm", "one=wsum(bm25, ql-jm, w=1)"]
    plan = KFold(4, repeats=2)
    results = Experiment(collection=collection, systems=systems, by="document", plan=plan).run()
    assert len(set(results.folds.filter(system="bm25")["parameters"])) > 1
    part, _, fused = results.scores("nDCG@10").values.T.tolist()
    assert fused == part


def test_on_new_documents_each_one_is_ranked_with_the_weight_of_its_fold(collection):
    """The same by simple loops: the rank of a document among all, under the weight of its fold."""
    runs = [_noisy(collection, seed) for seed in (1, 2)]
    given = [System.of(one, name, comparable=True) for one, name in zip(runs, "ab", strict=True)]
    results = Experiment(
        collection=collection,
        systems=[*given, "hybrid=wsum(a, b, norm=minmax, w=0:1:11)"],
        by="document",
        plan=KFold(6),
        measures=["AP"],
    ).run()
    folds = results.splits.filter(side="test").select("unit", "fold")
    fold_of = dict(folds.iter_rows())
    fused = [fuse(runs, "wsum", weights=[w / 10, 1 - w / 10]) for w in range(11)]
    best = []
    for fold in range(6):
        seen = {one for one, number in fold_of.items() if number != fold}
        parts = [_only(run, seen) for run in runs]
        qrels = _only(collection.qrels, seen)
        means = [
            evaluate(qrels, fuse(parts, "wsum", weights=[w / 10, 1 - w / 10]), "AP").value()
            for w in range(11)
        ]
        best.append(int(np.argmax(np.round(means, 9))))
    chosen = results.folds.filter(system="hybrid")["number"].to_list()
    assert chosen == best
    assert len(set(chosen)) > 1
    final = int(results.summary[2]["ship_number"])
    merged = {query: {} for query in fused[0].queries}
    for fold, number in enumerate(best):  # a document gets the score of its rank in the last list
        for query, ranked in fused[number].to_dict().items():
            scale = list(fused[final].to_dict()[query].values())
            for at, one in enumerate(ranked):
                if fold_of[one] == fold:
                    merged[query][one] = scale[at]
    expected = evaluate(collection.qrels, merged, "AP").per_unit()
    assert results.scores("AP").values[:, 2] == pytest.approx(expected)


def _noisy(collection, seed):
    """A run that knows something about the judgements."""
    random, judged = np.random.default_rng(seed), collection.qrels.to_dict()
    scores = {
        query: {one: random.random() + 0.3 * judged[query].get(one, 0) for one in ids}
        for query in collection.queries.ids
        for ids in [list(collection.documents.ids)]
    }
    return Run.of(scores, f"run {seed}")


def _only(lists, documents):
    return {
        query: {one: value for one, value in ranked.items() if one in documents}
        for query, ranked in lists.to_dict().items()
    }


def test_on_new_documents_a_run_is_evaluated_as_it_is(collection):
    run = search(Index.build(collection.documents), collection.queries)
    given = {"collection": collection, "by": "document", "plan": PLAN, "measures": ["AP"]}
    results = Experiment(systems=[System.of(run, "a", comparable=True)], **given).run()
    expected = evaluate(collection.qrels, run, "AP").per_unit()
    assert results.scores("AP").values[:, 0] == pytest.approx(expected)
    with pytest.raises(HeldoutError, match="a run was made with all documents"):
        Experiment(systems=[System.of(run, "a")], **given).check()
    with pytest.raises(HeldoutError, match="say that the scores of a for documents of different"):
        Experiment(systems=["bm25", System.of(run, "a"), "rrf(bm25, a)"], **given).check()


def test_on_new_documents_functions_are_fused_as_they_rank_each_side(collection):
    mine = System.of(overlap, "mine", learns=False, comparable=True)
    systems = ["bm25", mine, "one=wsum(bm25, mine, w=0)"]
    results = Experiment(collection=collection, systems=systems, by="document", plan=PLAN).run()
    _, alone, fused = results.scores("nDCG@10").values.T.tolist()
    assert fused == alone

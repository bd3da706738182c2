"""Fusions and runs when documents are held out."""

import numpy as np
import pytest
from experiment_data import overlap, small_collection

from heldout import (
    Experiment,
    HeldoutError,
    Index,
    KFold,
    Qrels,
    Run,
    System,
    evaluate,
    fuse,
    search,
)

COLLECTION = small_collection()


def experiment(systems, folds=4, **more):
    given = {"collection": COLLECTION, "by": "document", "measures": ["AP"], "plan": KFold(folds)}
    return Experiment(systems=systems, **given | more)


def test_a_fusion_with_all_weight_on_a_part_is_that_part():
    systems = ["bm25(k1=1:8:8, b=0.6:1:5)", "ql-jm", "one=wsum(bm25, ql-jm, w=1)"]
    results = experiment(systems, plan=KFold(4, repeats=2)).run()
    assert results.folds.filter(system="bm25")["parameters"].n_unique() > 1
    part, _, fused = results.scores().values.T.tolist()
    assert fused == part
    mine = System.of(overlap, "mine", learns=False, comparable=True)
    results = experiment(["bm25", mine, "one=wsum(bm25, mine, w=0)"]).run()
    _, part, fused = results.scores().values.T.tolist()
    assert fused == part


def test_each_document_is_ranked_with_the_weight_of_its_fold():
    """The same by simple loops: the rank of a document among all, under the weight of its fold."""
    runs = [noisy(seed) for seed in (1, 2)]
    parts = [System.of(run, name, comparable=True) for run, name in zip(runs, "ab", strict=True)]
    results = experiment([*parts, "hybrid=wsum(a, b, norm=minmax, w=0:1:11)"], folds=6).run()
    fold_of = dict(results.splits.filter(side="test").select("unit", "fold").iter_rows())
    fused = all_weights(runs)
    best = []
    for fold in range(6):
        seen = {doc for doc, number in fold_of.items() if number != fold}
        qrels = Qrels.of(only(COLLECTION.qrels, seen))
        lists = all_weights([Run.of(only(run, seen)) for run in runs])
        best.append(int(np.argmax([round(evaluate(qrels, one, "AP").value(), 9) for one in lists])))
    chosen = results.folds.filter(system="hybrid")["number"].to_list()
    assert chosen == best
    assert len(set(chosen)) > 1
    final = fused[int(results.summary[2]["ship_number"])].to_dict()
    merged = {query: {} for query in fused[0].queries}
    for fold, number in enumerate(best):  # a document gets the score of its rank in the last list
        for query, ranked in fused[number].to_dict().items():
            for doc, score in zip(ranked, final[query].values(), strict=True):
                if fold_of[doc] == fold:
                    merged[query][doc] = score
    expected = evaluate(COLLECTION.qrels, merged, "AP").per_unit()
    assert results.scores().values[:, 2] == pytest.approx(expected)


def noisy(seed):
    """A run that knows something about the judgements."""
    random, judged, ids = (
        np.random.default_rng(seed),
        COLLECTION.qrels.to_dict(),
        COLLECTION.documents.ids,
    )
    return Run.of(
        {
            query: {doc: random.random() + 0.3 * docs.get(doc, 0) for doc in ids}
            for query, docs in judged.items()
        }
    )


def all_weights(runs):
    return [fuse(runs, "wsum", weights=[w / 10, 1 - w / 10]) for w in range(11)]


def only(lists, documents):
    return {
        query: {doc: value for doc, value in ranked.items() if doc in documents}
        for query, ranked in lists.to_dict().items()
    }


def test_a_run_is_evaluated_as_it_is():
    run = search(Index.build(COLLECTION.documents), COLLECTION.queries)
    results = experiment([System.of(run, "a", comparable=True)]).run()
    expected = evaluate(COLLECTION.qrels, run, "AP").per_unit()
    assert results.scores().values[:, 0] == pytest.approx(expected)
    with pytest.raises(HeldoutError, match="does not depend on the others"):
        experiment([System.of(run, "a")]).check()
    with pytest.raises(HeldoutError, match="say that the scores of a for documents of different"):
        experiment(["bm25", System.of(run, "a"), "rrf(bm25, a)"]).check()

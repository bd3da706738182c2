"""Fusions as systems: tuned in the folds, from runs and from other systems of the experiment."""

import numpy as np
import pytest
from experiment_data import small_collection

from heldout import (
    Experiment,
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
INDEX = Index.build(COLLECTION.documents)
IDS = COLLECTION.documents.ids


def noise():
    random = np.random.default_rng(0)
    return {
        query: {IDS[row]: float(random.random()) for row in random.permutation(60)[:15].tolist()}
        for query in COLLECTION.queries.ids
    }


# Two runs that are good at different queries, and one of noise.
RUNS = {
    "first": search(INDEX, COLLECTION.queries, "bm25(k1=2, b=0)", k=20, name="first"),
    "second": search(INDEX, COLLECTION.queries, "ql-jm(lambda=0.9)", k=25, name="second"),
    "noise": Run.of(noise(), "noise"),
}
PARTS = list(RUNS.values())


def experiment(*systems, **fields):
    given = {"collection": COLLECTION, "plan": KFold(4), "measures": ["AP"]}
    return Experiment(systems=systems, **given | fields)


# ---- by query -----------------------------------------------------------------------------------


def test_each_point_is_the_evaluation_of_the_fused_run():
    measures = ["nDCG@10", "AP", "RR@5", "Bpref"]
    for how, norm, point in (
        ("wsum", "minmax", {"w1": 0.2, "w2": 0.5, "w3": 0.3}),
        ("wsum", "zscore", {"w1": 1, "w2": 1, "w3": 0}),
        ("rrf", None, {"k": 5}),
        ("combmnz", "sum", {}),
    ):
        weights = [point[name] for name in point if name.startswith("w")] or None
        options = {name: value for name, value in point.items() if not name.startswith("w")}
        fused = fuse(PARTS, how, norm=norm, weights=weights, **options)
        fixed = {**point, **({} if norm is None else {"norm": norm})}
        hybrid = System.of(how, "hybrid", parts=PARTS, parameters=fixed)
        results = experiment(hybrid, System.of(fused, "run"), measures=measures).run()
        for measure in measures:
            mine, other = results.scores(measure).values.T
            np.testing.assert_allclose(mine, other, rtol=0, atol=1e-12, err_msg=how)


@pytest.mark.parametrize("how", ["grid", "optuna"])
def test_a_tuned_part_is_fused_as_it_was_chosen_for_the_split(how):
    """And the weight is the best one for that on the training queries of the split."""
    options = {"search": "optuna", "trials": 6} if how == "optuna" else {}
    if options:
        pytest.importorskip("optuna", reason="needs the extra optuna")
    plan, weights = KFold(6, seed=2), [0.0, 0.5, 1.0]
    part = System.of("bm25(k1=3:9:4, b=0.9,1)", **options)
    hybrid = "hybrid=wsum(bm25, ql-jm, norm=rank, w=0,0.5,1)"
    results = experiment(part, "ql-jm(lambda=0.7)", hybrid, plan=plan, measures=["nDCG@10"]).run()
    other = search(INDEX, COLLECTION.queries, "ql-jm(lambda=0.7)")
    held_out = np.zeros(len(COLLECTION.queries))
    chosen = results.chosen("bm25")
    assert len({str(point) for point in chosen}) > 1  # or nothing would be shown here
    splits = plan.splits(COLLECTION, "query")
    for split, own, mine in zip(splits, chosen, results.chosen("hybrid"), strict=True):
        run = search(INDEX, COLLECTION.queries, f"bm25(k1={own['k1']}, b={own['b']})")
        table = []
        for weight in weights:
            fused = fuse([run, other], "wsum", norm="rank", weights=[weight, 1 - weight])
            found = evaluate(COLLECTION.qrels, fused, "nDCG@10")
            values = dict(zip(found.units(), found.per_unit(), strict=True))
            table.append([values[query] for query in COLLECTION.queries.ids])
        best = np.mean(np.array(table)[:, split.train > 0], axis=1).argmax()
        assert mine["w"] == weights[best]
        held_out[split.test > 0] = np.array(table)[best, split.test > 0]
    np.testing.assert_allclose(results.scores().values[:, 2], held_out, atol=1e-12)


# ---- by document --------------------------------------------------------------------------------


def by_document(systems, folds=4, **fields):
    return experiment(*systems, **{"by": "document", "plan": KFold(folds)} | fields)


def test_each_document_is_ranked_with_the_weight_of_its_fold():
    """The same by simple loops: the rank of a document among all, under the weight of its fold."""
    runs = [noisy(seed) for seed in (1, 2)]
    parts = [System.of(run, name, comparable=True) for run, name in zip(runs, "ab", strict=True)]
    results = by_document([*parts, "hybrid=wsum(a, b, norm=minmax, w=0:1:11)"], folds=6).run()
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

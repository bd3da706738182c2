"""The score on what was seen is shown beside the held-out one only at the same size."""

import numpy as np
import pytest
from experiment_data import overlap, small_collection

import heldout
from heldout import Bootstrap, Collection, Experiment, HoldOut, KFold, System, TestSet

COLLECTION = small_collection(documents=160, queries=40)


def estimate(system, **fields):
    settings = {"collection": COLLECTION, "by": "document", "measures": ["nDCG@10"], **fields}
    results = Experiment(systems=[system], **settings).run()
    return results.estimate(results.systems[0])


@pytest.mark.parametrize("plan", [HoldOut(0.2, repeats=20), Bootstrap(20)], ids=str)
def test_a_fixed_model_has_no_optimism_under_hold_outs(plan):
    """Nothing is tuned, so seen and held out differ by chance alone, whatever their sizes."""
    found = estimate("bm25", plan=plan)
    assert found["optimism"] == pytest.approx(found["train"] - found["value"])
    assert abs(found["optimism"]) < 0.05
    whole = Experiment(collection=COLLECTION, systems="bm25", plan=KFold(2)).run()
    # On the whole collection it does far worse: that is no match for a part of the documents.
    assert whole.estimate("bm25")["value"] < found["value"] - 0.06


def test_sides_of_different_sizes_are_not_compared():
    system = System.of(overlap, "f", comparable=True, space={"power": [0.0, 0.5, 1.0]})
    found = estimate(system, plan=KFold(4))  # the folds are merged
    assert found["optimism"] == pytest.approx(found["train"] - found["value"])
    for other, plan in (("bm25(k1=1:2:2)", HoldOut(0.7)), (system, HoldOut(0.2))):
        found = estimate(other, plan=plan)
        assert (found["train"], found["optimism"]) == (None, None)


def test_the_seen_part_does_not_depend_on_the_order_of_the_documents():
    texts = dict(reversed(dict(COLLECTION.documents.pairs()).items()))
    turned = Collection(texts, COLLECTION.queries, COLLECTION.qrels)
    first, second = (
        estimate("bm25(k1=1:2:2)", plan=HoldOut(0.2), collection=collection)["train"]
        for collection in (COLLECTION, turned)
    )
    np.testing.assert_allclose(first, second, rtol=1e-12)


@pytest.mark.parametrize("plan", [HoldOut(0.3), HoldOut(0.3, repeats=2), TestSet(["q03", "q11"])])
@pytest.mark.parametrize(
    "system", ["bm25(k1=0.5:3:4)", System.of(overlap, space={"power": [0, 1]})]
)
def test_the_training_score_of_a_hold_out_is_of_the_training_queries(plan, system):
    results = Experiment(
        collection=COLLECTION, systems=[system], plan=plan, measures=["AP", "nDCG@10"]
    ).run()
    (name,) = results.systems
    found = results.estimate(name, "AP")
    assert found["train"] == pytest.approx(results.folds["train"].mean())
    assert found["optimism"] == pytest.approx(found["train"] - found["value"])
    other = results.estimate(name, "nDCG@10")["train"]
    if name != "bm25":
        assert other is None  # what was learned on the training side was not measured by it
        return
    means = []
    for split, chosen in zip(plan.splits(COLLECTION, "query"), results.chosen(name), strict=True):
        fixed = Experiment(collection=COLLECTION, systems=[f"bm25(k1={chosen['k1']})"]).run()
        values = dict(zip(fixed.scores().units, fixed.scores().values[:, 0], strict=True))
        means.append(
            np.mean([values[query] for query in split.view(COLLECTION, "train").queries.ids])
        )
    assert other == pytest.approx(np.mean(means))


@pytest.mark.parametrize(
    ("plan", "left"),
    [
        (HoldOut(0.3), 0),
        (TestSet(["q03", "q11", "q12"]), 0),
        (TestSet(["q03", "q11", "q00"]), 1),  # q00 has nothing to find
        (KFold(4), 1),
        (heldout.GivenFolds({"q03": "a", "q11": "b", "q12": "a"}, strict=False), 37),
    ],
    ids=str,
)
@pytest.mark.parametrize("by", ["query", "both"])
def test_training_queries_of_a_hold_out_are_not_left_out(plan, left, by):
    judged = COLLECTION.qrels.to_dict() | {"q00": {"d000": 0}}
    empty = Collection(COLLECTION.documents, COLLECTION.queries, judged)
    results = Experiment(
        collection=empty,
        systems=[System.of(overlap, "f", comparable=True)],
        by=by,
        plan=plan if by == "query" else heldout.cross(plan, KFold(2)),
    ).run()
    notes = [note.text for note in results.notes if note.code == "left-out"]
    assert results.estimate("f")["left_out"] == left
    assert len(notes) == (left > 0)


def test_settings_that_are_all_equal_have_no_edges():
    def same(train, test, power):
        del power
        return overlap(train, test)

    systems = [
        System.of(same, "same", space={"power": [1, 2, 3]}),
        System.of(overlap, "different", space={"power": [0.9, 1.0]}),
    ]
    results = Experiment(collection=COLLECTION, systems=systems, plan=KFold(4)).run()
    told = {note.text.partition(":")[0] for note in results.notes if note.code == "at-an-end"}
    assert told == {"different"}


def test_folds_of_80_50_70_55_50_average_to_61():
    """method: held-out folds with P@10 .80 .50 .70 .55 .50 average to .61."""
    hits = [at for score in (8.0, 5.0, 7.0, 5.5, 5.0) for at in (int(score), int(score + 0.5))]
    ids, documents = [f"q{at}" for at in range(10)], [f"d{at}" for at in range(20)]
    judged = {
        one: dict.fromkeys(documents[:number], 1) for one, number in zip(ids, hits, strict=True)
    }
    ranked = {one: {doc: 20.0 - at for at, doc in enumerate(documents[:10])} for one in ids}
    results = Experiment(
        collection=Collection(dict.fromkeys(documents, "x"), dict.fromkeys(ids, "x"), judged),
        systems={"run": heldout.Run.of(ranked)},
        plan=heldout.GivenFolds({one: at // 2 for at, one in enumerate(ids)}),
        measures=["P@10"],
    ).run()
    assert results.folds["held_out"].to_list() == pytest.approx([0.80, 0.50, 0.70, 0.55, 0.50])
    assert results.value("run") == pytest.approx(0.61)

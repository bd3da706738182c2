"""Held-out queries: choices and values as slow loops make them, and what estimates say."""

import numpy as np
import polars as pl
import pytest
from experiment_data import overlap, small_collection

import heldout
from heldout import (
    Bootstrap,
    Collection,
    Experiment,
    HoldOut,
    Index,
    KFold,
    LeaveOneOut,
    Run,
    System,
    TestSet,
    View,
    evaluate,
)

COLLECTION = small_collection()
INDEX = Index.build(COLLECTION)
MEASURES = ["nDCG@10", "AP"]
POWERS = [0.0, 0.5, 1.0]
TUNED = System.of(overlap, "f", space={"power": POWERS}, comparable=True)


def run(*systems, **fields):
    given = {"collection": COLLECTION, "plan": KFold(4), "measures": MEASURES}
    return Experiment(systems=systems, **given | fields).run()


def searched(grid):
    """The run of each setting of BM25."""
    models = [
        heldout.Model.make("bm25", **{"b": 0.75} | point) for point in System.of(grid).search.points
    ]
    return [heldout.search(INDEX, COLLECTION.queries, model) for model in models]


def by_unit(scores):
    return dict(zip(scores.units, scores.values[:, 0].tolist(), strict=True))


# ---- against slow loops -------------------------------------------------------------------------


PLANS = [
    KFold(3, repeats=2),
    LeaveOneOut(),
    HoldOut(0.3),
    Bootstrap(5),
    Bootstrap(3, side="test"),
]


@pytest.mark.parametrize("plan", PLANS, ids=str)
def test_models_as_a_slow_loop_does(plan):
    """Choices, training means, means of all settings, and values of every held-out query."""
    grid = "bm25(k1=0.2:2.2:5, b=0,0.5,1)"
    results = run(grid, plan=plan, tune_for="AP")
    each = [evaluate(COLLECTION.qrels, one, MEASURES) for one in searched(grid)]
    queries = each[0].units()
    values = {
        name: np.array([one.per_unit(0, row) for one in each]) for row, name in enumerate(MEASURES)
    }
    expected = []
    for split in plan.splits(COLLECTION):
        weights = np.array([split.train[split.ids.index(query)] for query in queries])
        tested = np.array([split.test[split.ids.index(query)] for query in queries])
        means = (values["AP"] * weights).sum(axis=1) / weights.sum()
        held_out = (values["AP"] * tested).sum(axis=1) / tested.sum()
        best = int(np.argmax(means.round(12)))
        where = {"repeat": split.key.repeat, "fold": split.key.fold}
        surface = results.surface.filter(**where).sort("number")
        assert surface["mean"].to_list() == pytest.approx(means)
        assert surface["held_out"].to_list() == pytest.approx(held_out)
        (fold,) = results.folds.filter(**where).rows(named=True)
        assert (fold["number"], fold["train"]) == (best, surface["mean"][best])
        assert fold["held_out"] == pytest.approx(held_out[best])
        expected += [
            (*where.values(), queries[at], name, values[name][best, at])
            for name in MEASURES
            for at in np.flatnonzero(tested).tolist()
        ]
    found = results.to_frame().select("repeat", "fold", "unit", "measure", "value").rows()
    assert len(found) == len(expected)
    for mine, theirs in zip(sorted(found), sorted(expected), strict=True):
        assert mine[:4] == theirs[:4]
        assert mine[4] == pytest.approx(theirs[4], abs=1e-12)


def test_the_earliest_setting_within_one_standard_error_can_be_chosen():
    """Of the mean of the paired differences from the best one, over the training queries."""
    grid, moved = "bm25(k1=8,16,32,64,128,256)", 0
    results = run(grid, rule="one-se", measures=["AP"])
    each = [evaluate(COLLECTION.qrels, one, ["AP"]) for one in searched(grid)]
    values, queries = np.array([one.per_unit(0, 0) for one in each]), each[0].units()
    for split, number in zip(KFold(4).splits(COLLECTION), results.folds["number"], strict=True):
        seen = values[:, [split.train[split.ids.index(query)] > 0 for query in queries]]
        best = int(seen.mean(axis=1).argmax())
        gaps = seen[best] - seen
        error = gaps.std(axis=1, ddof=1) / np.sqrt(seen.shape[1])
        assert number == np.flatnonzero(gaps.mean(axis=1) <= error)[0]
        moved += number < best
    assert moved


def test_a_function_is_tuned_as_the_same_runs_are():
    """Nothing is learned here, so all ways of choosing on the training side agree."""
    runs = {f"power={power}": overlap(None, View(COLLECTION), power) for power in POWERS}
    group = System.of({name: Run.of(run, name) for name, run in runs.items()}, "runs")
    results = run(TUNED, group, plan=KFold(5, repeats=2))
    for measure in MEASURES:
        values = results.scores(measure).values
        assert values[:, 0] == pytest.approx(values[:, 1], abs=1e-12)
    first, second = results.summary
    assert first["ship"] == second["ship"]
    assert first["estimates"][0]["train"] == pytest.approx(second["estimates"][0]["train"])
    folds = results.folds.partition_by("system")
    inner = run(TUNED, plan=KFold(5, repeats=2), inner=3).folds  # each query once in some fold
    for column in ("number", "train", "held_out"):
        one, other = (part[column].to_list() for part in folds)
        assert one == pytest.approx(other, abs=1e-12)
        assert inner[column].to_list() == pytest.approx(other, abs=1e-12)


def turned(folds, fold):
    """The same collection, but for the judgements of one fold of the queries."""
    other = {COLLECTION.queries.ids[place] for place in np.flatnonzero(folds == fold)}
    judged = {
        query: {doc: (0 if grade else 2) if query in other else grade for doc, grade in own.items()}
        for query, own in COLLECTION.qrels.to_dict().items()
    }
    return Collection(COLLECTION.documents, COLLECTION.queries, judged)


def test_what_is_held_out_does_not_change_the_choice():
    """Held-out judgements are turned over; the choice and the training score stay as they are."""
    plan = KFold(4)
    drawn = System.of("bm25(k1=0.2:2.2:5, b=0:1:3)", "drawn", search="random", trials=6)
    systems = ["bm25(k1=0.2:2.2:5, b=0,1)", TUNED, drawn]
    before, folds = run(*systems, plan=plan), plan.splits(COLLECTION).folds()
    for fold in range(4):
        after = run(*systems, plan=plan, collection=turned(folds, fold))
        for name in before.systems:
            one, two = (each.folds.filter(system=name, fold=fold) for each in (before, after))
            assert one.select("number", "train").equals(two.select("number", "train"))
            assert one["held_out"].item() != two["held_out"].item()


def test_folds_of_80_50_70_55_50_average_to_61():
    """method: held-out folds with P@10 .80 .50 .70 .55 .50 average to .61."""
    hits = [at for score in (8.0, 5.0, 7.0, 5.5, 5.0) for at in (int(score), int(score + 0.5))]
    ids, documents = [f"q{at}" for at in range(10)], [f"d{at}" for at in range(20)]
    judged = {
        one: dict.fromkeys(documents[:number], 1) for one, number in zip(ids, hits, strict=True)
    }
    ranked = {one: {doc: 20.0 - at for at, doc in enumerate(documents[:10])} for one in ids}
    results = run(
        Run.of(ranked),
        collection=Collection(dict.fromkeys(documents, "x"), dict.fromkeys(ids, "x"), judged),
        plan=heldout.GivenFolds({one: at // 2 for at, one in enumerate(ids)}),
        measures=["P@10"],
    )
    assert results.folds["held_out"].to_list() == pytest.approx([0.80, 0.50, 0.70, 0.55, 0.50])
    assert results.value("run") == pytest.approx(0.61)


# ---- what estimates say -------------------------------------------------------------------------


def test_the_estimate_is_the_mean_over_queries_that_each_count_once():
    results = run("bm25(k1=0.2:2.2:5)", plan=KFold(4, repeats=3))
    estimate, scores = results.estimate("bm25"), results.scores()
    means = results.values.filter(measure="nDCG@10").group_by("unit").agg(pl.col("value").mean())
    assert by_unit(scores) == pytest.approx(dict(means.iter_rows()))
    assert estimate["value"] == pytest.approx(scores.values.mean())
    assert estimate["n_queries"] == len(scores.units) == 24
    assert estimate["low"] < estimate["value"] < estimate["high"]
    assert estimate["estimand"] == "new queries on these documents"
    assert estimate["train"] == pytest.approx(results.folds["train"].mean())
    assert estimate["optimism"] == pytest.approx(estimate["train"] - estimate["value"])


@pytest.mark.parametrize("by", ["query", "document"])
def test_optimism_is_the_training_score_minus_the_held_out_one_whatever_is_better(by):
    @heldout.define_measure(bounds=(0, 1), higher_is_better=False)
    def missed(ranked):
        gains = [grade / place for place, grade in enumerate(ranked.grades, 1) if grade > 0]
        return 1 / (1 + sum(gains))

    results = run("ql-jm(lambda=0:1:21)", by=by, plan=KFold(8), measures=[missed])
    found = results.estimate("ql-jm")
    assert found["optimism"] < -0.001  # a lower score is better, so this one flatters
    assert found["optimism"] == pytest.approx(found["train"] - found["value"])


@pytest.mark.parametrize("plan", [HoldOut(0.3, repeats=2), TestSet(["q03", "q11"])])
def test_the_training_score_of_a_hold_out_is_of_the_training_queries(plan):
    results = run("bm25(k1=0.5:3:4)", TUNED, plan=plan, tune_for="AP")
    for name in results.systems:
        found = results.estimate(name, "AP")
        assert found["train"] == pytest.approx(results.folds.filter(system=name)["train"].mean())
        assert found["optimism"] == pytest.approx(found["train"] - found["value"])
    # What was learned on the training side was not measured there by another measure.
    assert results.estimate("f", "nDCG@10")["train"] is None


LEFT_OUT = [
    (HoldOut(0.3), 0, ""),  # training queries of a hold-out are not left out
    (TestSet(["q03", "q11", "q00"]), 1, "relevant"),  # q00 has nothing to find
    (heldout.GivenFolds({"q03": "a", "q11": "b", "q12": "a"}, strict=False), 21, ""),  # of 24
    (Bootstrap(2), 9, "never held out"),  # some were drawn each time
]


def test_queries_that_are_left_out_are_told():
    judged = COLLECTION.qrels.to_dict() | {"q00": {"d000": 0}}
    collection = Collection(COLLECTION.documents, COLLECTION.queries, judged)
    for plan, left, why in LEFT_OUT:
        results = run("bm25", collection=collection, plan=plan)
        said = [note.text for note in results.notes if note.code == "left-out"]
        assert results.estimate("bm25")["left_out"] == left, plan
        assert len(said) == (left > 0)
        assert why in "".join(said), said

"""The numbers of every chart, against frames made by hand."""

import json
import math
from itertools import combinations

import numpy as np
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

import heldout
from heldout.data.predictions import ClassPredictions
from heldout.errors import InputError
from heldout.experiment.results.results import Results
from heldout.experiment.studies.bias import BiasRow
from heldout.infer.blocks import Nemenyi
from heldout.infer.randomization import randomization_test
from heldout.report.charts.by_query import heatmap_data, query_differences_data
from heldout.report.charts.chance import null_data
from heldout.report.charts.classes import calibration_data, precision_recall_data, roc_data
from heldout.report.charts.critical_difference import critical_difference_data, rank_groups
from heldout.report.charts.optimism import optimism_data
from heldout.report.charts.studies import bias_data, bias_means_data, bias_queries_data
from heldout.report.charts.systems import forest_data, pairs_data
from heldout.report.charts.tuning import tuned_axes, tuning_data

SCORES = heldout.Scores.of(
    {
        "A": {"q1": 0.2, "q2": 0.4, "q3": 0.6, "q4": 0.1},
        "B": {"q1": 0.5, "q2": 0.4, "q3": 0.5, "q4": 0.3},
    },
    "AP",
)
LOSSES = heldout.Scores("loss", ("A", "B"), tuple("xy"), [[1.0, 3.0], [2.0, 2.0]], False)


def spread(count, systems):
    """Systems that are 1 apart, with a little noise that cancels."""
    noise = np.resize([0.1, -0.1], count)
    return heldout.Scores(
        "m",
        tuple(f"s{at}" for at in range(systems)),
        tuple(map(str, range(count))),
        np.column_stack([at + noise * (-1) ** at for at in range(systems)]),
    )


def test_forest_has_the_best_system_first():
    frame = forest_data(heldout.compare(SCORES))
    assert frame["system"].to_list() == ["B", "A"]
    assert frame["mean"].to_list() == pytest.approx([0.425, 0.325])
    # 0.425 ± t(3, 0.975) · sd / √4, the sd of .5 .4 .5 .3 being √(0.0275 / 3)
    half = 3.182446305284263 * math.sqrt(0.0275 / 3) / 2
    assert frame["low"][0] == pytest.approx(0.425 - half)
    assert frame["high"][0] == pytest.approx(0.425 + half)
    assert forest_data(heldout.compare(LOSSES))["system"].to_list() == ["A", "B"]


def test_pairs_are_sorted_and_named_with_letters():
    frame = pairs_data(heldout.compare(spread(6, 3), correction="tukey"))
    assert frame["pair"].to_list() == ["s2 (a) − s0 (c)", "s1 (b) − s0 (c)", "s2 (a) − s1 (b)"]
    assert frame["difference"].to_list() == pytest.approx([2.0, 1.0, 1.0])
    assert frame["significant"].all()


@pytest.mark.parametrize("better", [True, False])
def test_pairs_are_all_of_the_better_system_minus_the_other(better):
    names, means = ("mid", "high", "low"), np.array([0.5, 0.6, 0.4])
    values = means + np.random.default_rng(0).normal(0, 0.1, (12, 3))
    scores = heldout.Scores("m", names, tuple(map(str, range(12))), values, better)
    comparison = heldout.compare(scores)
    frame = pairs_data(comparison)
    means = dict(zip(names, values.mean(axis=0), strict=True))
    for row in frame.iter_rows(named=True):
        assert row["pair"].startswith(row["first"])
        assert (means[row["first"]] > means[row["second"]]) == better
        assert row["difference"] == pytest.approx(means[row["first"]] - means[row["second"]])
        assert row["low"] < row["difference"] < row["high"]
    based = pairs_data(heldout.compare(scores, baseline="mid"))
    assert set(based["second"]) == {"mid"}


def test_an_open_interval_has_no_bound():
    frame = pairs_data(heldout.compare(SCORES, alternative="greater"))
    assert frame["difference"].to_list() == pytest.approx([0.1])
    assert frame["high"].to_list() == [None]
    assert frame["low"][0] < 0.1


def test_of_very_many_pairs_those_of_the_best_system_are_kept():
    frame = pairs_data(heldout.compare(spread(6, 13)))
    assert len(frame) == 12
    assert set(frame["first"]) == {"s12"}


def test_query_differences_by_hand():
    frame = query_differences_data(SCORES, "B", "A", {"q3": "three\nwords  here"})
    assert frame["query"].to_list() == ["q1", "q4", "q2", "q3"]
    assert frame["difference"].to_list() == pytest.approx([0.3, 0.2, 0.0, -0.1])
    assert frame["better"].to_list() == ["B", "B", "equal", "A"]
    assert frame["text"].to_list() == ["", "", "", "three words here"]
    assert frame["place"].to_list() == [1, 2, 3, 4]


def test_heatmap_by_hand():
    frame = heatmap_data(SCORES)
    assert frame["system"].to_list() == ["B"] * 4 + ["A"] * 4
    # means over the systems: q4 .2, q1 .35, q2 .4, q3 .55
    assert frame["query"].to_list() == ["q4", "q1", "q2", "q3"] * 2
    assert frame["value"].to_list() == [0.3, 0.5, 0.4, 0.5, 0.1, 0.2, 0.4, 0.6]


def test_many_queries_share_columns_of_the_heatmap():
    frame = heatmap_data(SCORES, most=2)
    assert frame["queries"].to_list() == [2, 2, 2, 2]
    assert frame["value"].to_list() == pytest.approx([0.4, 0.45, 0.15, 0.5])
    assert frame["query"].to_list() == ["q4", "q2"] * 2


def test_the_groups_of_demsars_example():
    """Demšar (2006), section 3.2.2: four trees, 14 data sets, critical difference 1.12 at 0.10."""
    ranks = (3.143, 2.000, 2.893, 1.964)
    names = ("C4.5", "C4.5+m", "C4.5+cf", "C4.5+m+cf")
    frame = critical_difference_data(names, Nemenyi(1.12, 0.9, ranks))
    systems = frame.filter(pl.col("kind") == "system")
    assert systems["name"].to_list() == ["C4.5+m+cf", "C4.5+m", "C4.5+cf", "C4.5"]
    groups = frame.filter(pl.col("kind") == "group")
    assert groups["name"].to_list() == ["C4.5+m+cf to C4.5+cf", "C4.5+cf to C4.5"]
    assert groups["rank"].to_list() == [1.964, 2.893]
    assert groups["end"].to_list() == [2.893, 3.143]
    assert frame.filter(pl.col("kind") == "critical")["end"].to_list() == [2.12]


@given(st.lists(st.floats(1, 6), min_size=1, max_size=7), st.floats(0.1, 3))
def test_groups_are_the_largest_sets_without_a_difference(ranks, critical):
    ranks = sorted(ranks)
    alike = [
        set(part)
        for size in range(2, len(ranks) + 1)
        for part in combinations(range(len(ranks)), size)
        if max(ranks[at] for at in part) - min(ranks[at] for at in part) <= critical
    ]
    largest = [one for one in alike if not any(one < other for other in alike)]
    found = [set(range(first, last + 1)) for first, last in rank_groups(ranks, critical)]
    assert sorted(map(sorted, found)) == sorted(map(sorted, largest))


@pytest.mark.parametrize("tail", ["two-sided", "greater", "less"])
def test_what_is_as_far_out_is_the_p_value(tail):
    generator = np.random.default_rng(4)
    values = generator.normal(size=(12, 2))
    scores = heldout.Scores("m", ("A", "B"), tuple(map(str, range(12))), values)
    frame = null_data(scores, "A", "B", alternative=tail)
    expected = randomization_test(values[:, 0] - values[:, 1], alternative=tail)
    assert expected.method == "exact"
    assert frame["beyond"].sum() == pytest.approx(expected.p)
    assert frame["within"].sum() + frame["beyond"].sum() == pytest.approx(1)


def test_random_signs_come_near_the_p_value():
    generator = np.random.default_rng(1)
    values = generator.normal([0.3, 0.0], 1, size=(60, 2))
    scores = heldout.Scores("m", ("A", "B"), tuple(map(str, range(60))), values)
    p = randomization_test(values[:, 0] - values[:, 1]).p
    drawn = null_data(scores, "A", "B")["beyond"].sum()
    assert abs(drawn - p) < 5 * math.sqrt(p * (1 - p) / 20_000)


def experiment(**changes):
    """Results of a made-up experiment: three folds, two parameters."""
    points = [{"k": k, "b": b, "fixed": 7} for k in (1, 2) for b in (0.0, 0.5)]
    surface = [
        ("sys", repeat, fold, None, None, number, json.dumps(point), mean, other)
        for repeat, fold, base in ((0, 0, 0.0), (0, 1, 0.1), (0, 2, 0.2), (None, None, 0.5))
        for number, (point, mean) in enumerate(
            zip(points, [base + 0.1, base + 0.2, base + 0.3, base + 0.4], strict=True)
        )
        for other in [None if fold is None else mean - 0.2 * fold]
    ]
    places = ["system", "repeat", "fold", "other", "run"]
    folds = [
        ("sys", 0, fold, None, None, number, json.dumps(points[number]), train, held, "")
        for fold, number, train, held in ((0, 3, 0.4, 0.3), (1, 3, 0.5, 0.6), (2, 1, 0.6, 0.3))
    ]
    values = [
        ("sys", 0, fold, None, None, unit, "AP", value, None)
        for fold, unit, value in ((0, "a", 0.1), (0, "b", 0.5), (1, "c", 0.6), (2, "d", 0.3))
    ]
    estimate = {"measure": "AP", "value": 0.375, "low": 0.2, "high": 0.5, "train": 0.5}
    fields = {
        "values": pl.DataFrame(
            values, schema=[*places, "unit", "measure", "value", "parameters"], orient="row"
        ),
        "folds": pl.DataFrame(
            folds,
            schema=[*places, "number", "parameters", "train", "held_out", "edges"],
            orient="row",
        ),
        "surface": pl.DataFrame(
            surface, schema=[*places, "number", "parameters", "mean", "held_out"], orient="row"
        ),
        "held_out": pl.DataFrame(),
        "summary": [
            {"name": "sys", "tuned": True, "points": 4, "ship_number": 3, "estimates": [estimate]}
        ],
        "manifest": {
            "settings": {"task": "ranking", "by": "query", "measures": ["AP"], "tune_for": "AP"}
        },
        "timings": {},
    }
    return Results(**(fields | changes))


def test_tuning_by_hand():
    frame = tuning_data(experiment(), "sys")
    assert tuned_axes(frame) == ["k", "b"]  # what is the same everywhere is no axis
    assert frame.select("k", "b").rows() == [(1, 0.0), (1, 0.5), (2, 0.0), (2, 0.5)]
    assert frame["mean"].to_list() == pytest.approx([0.2, 0.3, 0.4, 0.5])
    assert frame["low"].to_list() == pytest.approx([0.1, 0.2, 0.3, 0.4])
    assert frame["high"].to_list() == pytest.approx([0.3, 0.4, 0.5, 0.6])
    assert frame["whole"].to_list() == pytest.approx([0.6, 0.7, 0.8, 0.9])
    assert frame["test"].to_list() == pytest.approx([0.0, 0.1, 0.2, 0.3])
    assert frame["test_low"].to_list() == pytest.approx([-0.1, 0.0, 0.1, 0.2])
    assert frame["test_high"].to_list() == pytest.approx([0.1, 0.2, 0.3, 0.4])
    assert frame["times"].to_list() == [0, 1, 0, 2]
    assert frame["shipped"].to_list() == [False, False, False, True]
    assert frame["held_out"].to_list() == [0.375] * 4


def test_optimism_by_hand():
    frame = optimism_data(experiment())
    assert frame["split"].to_list() == ["r0/f0", "r0/f1", "r0/f2", None]
    assert frame["seen"].to_list() == [0.4, 0.5, 0.6, 0.5]
    assert frame["held_out"].to_list() == [0.3, 0.6, 0.3, 0.375]
    assert frame["gap"].to_list() == pytest.approx([0.1, -0.1, 0.3, 0.125])


def test_folds_of_documents_are_no_points_of_optimism():
    """A fold is a smaller collection than what was seen, so that the two are not comparable."""
    settings = experiment().manifest["settings"] | {"by": "document"}
    frame = optimism_data(experiment(manifest={"settings": settings}))
    assert frame["split"].to_list() == [None]


def test_bias_by_hand():
    row = BiasRow("pooled", 0.02, 0.01, 0.05, None, 0.52, 0.5, True)
    frame = bias_data([row])
    assert frame.rows() == [("pooled", 0.02, 0.01, 0.01, 0.03, 0.05, True)]


def test_bias_means_by_hand():
    means = [
        (0, 0, "pooled", 0.4, 0.5),
        (0, 0, "per-fold-zero", 0.1, 0.2),
        (0, 1, "pooled", 0.7, 0.6),
        (0, 1, "per-fold-zero", 0.3, 0.4),
        (1, 0, "pooled", 0.6, 0.7),
        (1, 0, "per-fold-zero", 0.2, 0.2),
        (1, 1, "pooled", 0.9, 0.8),
        (1, 1, "per-fold-zero", 0.1, 0.4),
    ]
    frame = bias_means_data(means)
    found = {(one, name): mean for one, name, mean in frame["set", "estimator", "mean"].iter_rows()}
    assert found == pytest.approx(
        {
            (1, "truth"): 0.6,
            (2, "truth"): 0.7,
            (1, "pooled"): 0.5,
            (2, "pooled"): 0.8,
            (1, "per-fold-zero"): 0.15,
            (2, "per-fold-zero"): 0.2,
        }
    )
    assert frame["draws"].to_list() == [2] * 6


def test_bias_queries_by_hand():
    queries = [(0, 1, "pooled", 0.7, 0.5, 0.3), (1, 0, "training", 0.2, 0.4, 1.0)]
    frame = bias_queries_data(queries, "pooled", ["a", "b"], ["alpha", "beta"])
    assert frame.drop("difference").rows() == [(1, 1, "b", "beta", 0.7, 0.5, 0.3)]
    assert frame["difference"].to_list() == pytest.approx([0.2])
    with pytest.raises(InputError, match="pooled, training"):
        bias_queries_data(queries, "best")


def predictions(name, scores, truth, classes=("no", "yes"), probabilities=True):
    table = np.asarray(scores, float)
    if table.ndim == 1:
        table = np.column_stack([1 - table, table])
    units = tuple(map(str, range(len(truth))))
    return ClassPredictions(
        name, units, classes, np.asarray(truth), None, table, probabilities=probabilities
    )


def test_roc_and_hull_by_hand():
    one = predictions("A", [0.9, 0.6, 0.5, 0.2], [1, 0, 1, 0])
    frame = roc_data([one])
    curve = frame.filter(~pl.col("hull"))
    assert curve.select("fp_rate", "tp_rate").rows() == [
        (0.0, 0.0),
        (0.0, 0.5),
        (0.5, 0.5),
        (0.5, 1.0),
        (1.0, 1.0),
    ]
    assert curve["threshold"].to_list() == [None, 0.9, 0.6, 0.5, 0.2]
    assert set(curve["auc"]) == {0.75}
    hull = frame.filter(pl.col("hull"))
    assert hull.select("fp_rate", "tp_rate").rows() == [(0, 0), (0, 0.5), (0.5, 1), (1, 1)]
    assert set(hull["auc"]) == {0.875}
    assert set(frame["positive"]) == {"yes"}


def test_a_long_curve_keeps_its_ends_and_its_hull():
    generator = np.random.default_rng(0)
    truth = (generator.random(3000) < 0.5).astype(int)
    one = predictions("A", np.clip(0.5 + 0.1 * truth + generator.normal(0, 0.1, 3000), 0, 1), truth)
    frame = roc_data([one])
    curve = frame.filter(~pl.col("hull"))
    assert len(curve) < 600
    assert curve.select("fp_rate", "tp_rate").rows()[-1] == (1.0, 1.0)
    corners = set(frame.filter(pl.col("hull")).select("fp_rate", "tp_rate").rows())
    assert corners <= set(curve.select("fp_rate", "tp_rate").rows())


def test_precision_and_recall_by_hand():
    one = predictions("A", [0.9, 0.6, 0.5, 0.2], [1, 0, 1, 0])
    frame = precision_recall_data([one])
    assert frame["recall"].to_list() == [0.5, 0.5, 1.0, 1.0]
    assert frame["precision"].to_list() == pytest.approx([1.0, 0.5, 2 / 3, 0.5])
    assert set(frame["share"]) == {0.5}
    assert frame["average_precision"][0] == pytest.approx(0.5 * 1 + 0.5 * 2 / 3)


def test_calibration_by_hand():
    one = predictions("A", [0.05, 0.08, 0.95, 0.92, 0.93], [0, 1, 1, 1, 0])
    frame = calibration_data([one])
    assert frame["units"].to_list() == [2, 3]
    assert frame["confidence"].to_list() == pytest.approx([0.065, 2.8 / 3])
    assert frame["share"].to_list() == pytest.approx([0.5, 2 / 3])
    # Wilson's interval of 1 in 2: centre ½, half width z √(n/4 + z²/4) / (n + z²)
    z = 1.959963984540054
    half = z * math.sqrt(2 * 0.25 + z * z / 4) / (2 + z * z)
    assert frame["low"][0] == pytest.approx(0.5 - half)
    assert frame["high"][0] == pytest.approx(0.5 + half)


def test_of_three_classes_the_predicted_one_is_calibrated():
    table = [[0.8, 0.1, 0.1], [0.2, 0.5, 0.3], [0.1, 0.18, 0.72]]
    frame = calibration_data([predictions("A", table, [0, 2, 2], ("x", "y", "z"))])
    assert frame["confidence"].to_list() == pytest.approx([0.5, 0.76])
    assert frame["share"].to_list() == [0.0, 1.0]


@pytest.mark.parametrize(
    ("data", "message"),
    [
        (lambda: critical_difference_data("AB", Nemenyi(1.0, 0.95, (1.0, 2.0))), "at least three"),
        (
            lambda: tuning_data(
                experiment(surface=experiment().surface.filter(pl.col("number") == 0)), "sys"
            ),
            "was not tuned",
        ),
        (
            lambda: optimism_data(experiment(summary=[experiment().summary[0] | {"tuned": False}])),
            "no system was tuned",
        ),
        (
            lambda: calibration_data([predictions("A", [3.0, -1.0], [1, 0], probabilities=False)]),
            "no probabilities",
        ),
    ],
)
def test_what_cannot_be_drawn_is_refused(data, message):
    with pytest.raises(InputError, match=message):
        data()

"""The numbers of every chart, against frames made by hand."""

import json
import math
from itertools import combinations
from types import SimpleNamespace

import numpy as np
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

import heldout
from heldout.data.predictions import ClassPredictions
from heldout.errors import InputError
from heldout.experiment.results.results import Results
from heldout.experiment.studies.bias import BiasRow, BiasStudy, StudySettings
from heldout.infer.blocks import Nemenyi
from heldout.measure.names import parse_measure
from heldout.report.charts import systems, tuning


def frame_of(of, key, **context):
    """The numbers of a chart."""
    return {chart.key: chart.frame for chart in heldout.charts(of, **context)}[key]


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
    frame = frame_of(heldout.compare(SCORES), "forest")
    assert frame["system"].to_list() == ["B", "A"]
    assert frame["mean"].to_list() == pytest.approx([0.425, 0.325])
    # 0.425 ± t(3, 0.975) · sd / √4, the sd of .5 .4 .5 .3 being √(0.0275 / 3)
    half = 3.182446305284263 * math.sqrt(0.0275 / 3) / 2
    assert frame["low"][0] == pytest.approx(0.425 - half)
    assert frame["high"][0] == pytest.approx(0.425 + half)
    assert frame_of(heldout.compare(LOSSES), "forest")["system"].to_list() == ["A", "B"]


def test_pairs_are_sorted_and_named_with_letters():
    frame = frame_of(heldout.compare(spread(6, 3), correction="tukey"), "pairs")
    assert frame["pair"].to_list() == ["s2 (a) − s0 (c)", "s2 (a) − s1 (b)", "s1 (b) − s0 (c)"]
    assert frame["difference"].to_list() == pytest.approx([2.0, 1.0, 1.0])
    assert frame["significant"].all()


@pytest.mark.parametrize("better", [True, False])
def test_pairs_are_all_of_the_better_system_minus_the_other(better):
    names, means = ("mid", "high", "low"), np.array([0.5, 0.6, 0.4])
    values = means + np.random.default_rng(0).normal(0, 0.1, (12, 3))
    scores = heldout.Scores("m", names, tuple(map(str, range(12))), values, better)
    means = dict(zip(names, values.mean(axis=0), strict=True))
    for row in frame_of(heldout.compare(scores), "pairs").iter_rows(named=True):
        assert row["pair"].startswith(row["first"])
        assert (means[row["first"]] > means[row["second"]]) == better
        assert row["difference"] == pytest.approx(means[row["first"]] - means[row["second"]])
        assert row["low"] < row["difference"] < row["high"]
    based = frame_of(heldout.compare(scores, baseline="mid"), "pairs")
    assert set(based["second"]) == {"mid"}


def test_an_open_interval_has_no_bound():
    frame = frame_of(heldout.compare(SCORES, alternative="greater"), "pairs")
    assert frame["difference"].to_list() == pytest.approx([0.1])
    assert frame["high"].to_list() == [None]
    assert frame["low"][0] < 0.1


def test_of_very_many_pairs_those_of_the_best_system_are_kept():
    frame = frame_of(heldout.compare(spread(6, 13)), "pairs")
    assert len(frame) == 12
    assert set(frame["first"]) == {"s12"}


@pytest.mark.parametrize("baseline", [None, "A"])
def test_queries_are_shown_for_the_best_system_and_its_closest_rivals(baseline):
    values = np.random.default_rng(0).normal(np.linspace(0, 1, 6), 0.5, (60, 6))
    scores = heldout.Scores("m", tuple("ABCDEF"), tuple(map(str, range(60))), values)
    found = heldout.charts(heldout.compare(scores, baseline=baseline))
    shown = [chart for chart in found if chart.key.startswith("query-differences")]
    pairs = [chart.title.rpartition(": ")[2].split(" − ") for chart in shown]
    assert len(pairs) == 3
    if baseline:
        assert [second for _, second in pairs] == ["A"] * 3
    else:
        assert [first for first, _ in pairs] == ["F"] * 3
        gaps = [chart.frame["difference"].mean() for chart in shown]
        assert gaps == sorted(gaps)


def test_query_differences_by_hand():
    texts = {"q3": "three\nwords  here"}
    frame = frame_of(heldout.compare(SCORES), "query-differences", texts=texts)
    assert frame["query"].to_list() == ["q1", "q4", "q2", "q3"]
    assert frame["difference"].to_list() == pytest.approx([0.3, 0.2, 0.0, -0.1])
    assert frame["better"].to_list() == ["B", "B", "equal", "A"]
    assert frame["text"].to_list() == ["", "", "", "three words here"]
    assert frame["place"].to_list() == [1, 2, 3, 4]


def test_heatmap_by_hand(monkeypatch):
    frame = frame_of(heldout.compare(SCORES), "heatmap")
    assert frame["system"].to_list() == ["B"] * 4 + ["A"] * 4
    # means over the systems: q4 .2, q1 .35, q2 .4, q3 .55
    assert frame["query"].to_list() == ["q4", "q1", "q2", "q3"] * 2
    assert frame["value"].to_list() == [0.3, 0.5, 0.4, 0.5, 0.1, 0.2, 0.4, 0.6]
    monkeypatch.setattr(systems, "MOST_COLUMNS", 2)
    grouped = systems.heatmap(SCORES, {}).frame
    assert grouped["queries"].to_list() == [2, 2, 2, 2]
    assert grouped["value"].to_list() == pytest.approx([0.4, 0.45, 0.15, 0.5])
    assert grouped["query"].to_list() == ["q4", "q2"] * 2


def test_the_groups_of_demsars_example():
    """Demšar (2006), section 3.2.2: four trees, 14 data sets, critical difference 1.12 at 0.10."""
    nemenyi = Nemenyi(1.12, 0.9, (3.143, 2.000, 2.893, 1.964))
    scores = SimpleNamespace(systems=("C4.5", "C4.5+m", "C4.5+cf", "C4.5+m+cf"), size="14 sets")
    compared = SimpleNamespace(scores=scores, friedman=(SimpleNamespace(p=1.0), nemenyi))
    frame = systems.critical_difference(compared).frame
    shown, groups = (frame.filter(kind=kind) for kind in ("system", "group"))
    assert shown["name"].to_list() == ["C4.5+m+cf", "C4.5+m", "C4.5+cf", "C4.5"]
    assert groups["name"].to_list() == ["C4.5+m+cf to C4.5+cf", "C4.5+cf to C4.5"]
    assert groups["rank"].to_list() == [1.964, 2.893]
    assert groups["end"].to_list() == [2.893, 3.143]
    assert frame.filter(kind="critical")["end"].to_list() == [2.12]


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
    found = [set(range(first, last + 1)) for first, last in systems.rank_groups(ranks, critical)]
    assert sorted(map(sorted, found)) == sorted(map(sorted, largest))


@pytest.mark.parametrize(
    ("units", "tail"), [(12, "two-sided"), (12, "greater"), (12, "less"), (60, "two-sided")]
)
@pytest.mark.parametrize("up", [True, False])
def test_what_is_as_extreme_as_observed_is_the_p_value(units, tail, up):
    values = np.random.default_rng(4).normal([0.2, 0.0], 1, size=(units, 2))
    scores = heldout.Scores("m", ("A", "B"), tuple(map(str, range(units))), values, up)
    comparison = heldout.compare(scores, tests=["randomization"], alternative=tail)
    p = comparison.claims[0].outcomes[0].p
    frame = frame_of(comparison, "null")
    # All assignments of signs, or 20,000 of them.
    error = 1e-9 if units < 16 else 5 * math.sqrt(p * (1 - p) / 20_000)
    assert frame["beyond"].sum() == pytest.approx(p, abs=error)
    assert frame["within"].sum() + frame["beyond"].sum() == pytest.approx(1)


SETTINGS = {"task": "ranking", "by": "query", "measures": ["AP"], "tune_for": "AP", "splits": 3}


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
    folds = [
        ("sys", 0, fold, None, None, number, json.dumps(points[number]), train, held, "")
        for fold, number, train, held in ((0, 3, 0.4, 0.3), (1, 3, 0.5, 0.6), (2, 1, 0.6, 0.3))
    ]
    head = ["system", "repeat", "fold", "other", "run", "number", "parameters"]
    estimate = {"measure": "AP", "value": 0.375, "low": 0.2, "high": 0.5, "train": 0.5}
    fields = {
        "values": pl.DataFrame(),
        "folds": pl.DataFrame(folds, schema=[*head, "train", "held_out", "edges"], orient="row"),
        "surface": pl.DataFrame(surface, schema=[*head, "mean", "held_out"], orient="row"),
        "held_out": pl.DataFrame(),
        "summary": [
            {"name": "sys", "tuned": True, "points": 4, "ship_number": 3, "estimates": [estimate]}
        ],
        "manifest": {"settings": SETTINGS},
        "timings": {},
    }
    return Results(**(fields | changes))


def test_tuning_by_hand():
    chart = tuning.tuning(experiment(), "sys")
    frame = chart.frame
    assert chart.title == "sys: AP by k, b"  # what is the same everywhere is no axis
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
    frame = tuning.optimism(experiment(), "AP").frame
    assert frame["split"].to_list() == ["r0/f0", "r0/f1", "r0/f2", None]
    assert frame["seen"].to_list() == [0.4, 0.5, 0.6, 0.5]
    assert frame["held_out"].to_list() == [0.3, 0.6, 0.3, 0.375]
    assert frame["gap"].to_list() == pytest.approx([0.1, -0.1, 0.3, 0.125])


def test_folds_of_documents_are_no_points_of_optimism():
    """A fold is a smaller collection than what was seen, so that the two are not comparable."""
    manifest = {"settings": SETTINGS | {"by": "document"}}
    frame = tuning.optimism(experiment(manifest=manifest), "AP").frame
    assert frame["split"].to_list() == [None]


def study(means=(), queries=()):
    row = BiasRow("pooled", 0.02, 0.01, 0.05, None, 0.52, 0.5, True)
    settings = StudySettings(parse_measure("AP"), draws=2)
    means = means or ((0, 0, "pooled", 0.5, 0.5),)
    queries = queries or ((0, 0, "pooled", 0.5, 0.4, 0.2),)
    return BiasStudy(settings, (row,), 10, 10, means, queries, 0.0)


def test_bias_by_hand():
    frame = frame_of(study(), "bias")
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
    frame = frame_of(study(means), "bias-means")
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
    of, texts = study(queries=queries), {"a": "alpha", "b": "beta"}
    frame = frame_of(of, "bias-queries", texts=texts)
    assert frame.drop("difference").rows() == [(1, 1, "b", "beta", 0.7, 0.5, 0.3)]
    assert frame["difference"].to_list() == pytest.approx([0.2])
    assert frame_of(of, "bias-queries-2")["query"].to_list() == ["0"]


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
    frame = frame_of(one, "roc")
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
    frame = frame_of(one, "roc")
    curve = frame.filter(~pl.col("hull"))
    assert len(curve) < 600
    assert curve.select("fp_rate", "tp_rate").rows()[-1] == (1.0, 1.0)
    corners = set(frame.filter(pl.col("hull")).select("fp_rate", "tp_rate").rows())
    assert corners <= set(curve.select("fp_rate", "tp_rate").rows())


def test_precision_and_recall_by_hand():
    one = predictions("A", [0.9, 0.6, 0.5, 0.2], [1, 0, 1, 0])
    frame = frame_of(one, "precision-recall")
    assert frame["recall"].to_list() == [0.5, 0.5, 1.0, 1.0]
    assert frame["precision"].to_list() == pytest.approx([1.0, 0.5, 2 / 3, 0.5])
    assert set(frame["share"]) == {0.5}
    assert frame["average_precision"][0] == pytest.approx(0.5 * 1 + 0.5 * 2 / 3)


def test_calibration_by_hand():
    one = predictions("A", [0.05, 0.08, 0.95, 0.92, 0.93], [0, 1, 1, 1, 0])
    frame = frame_of(one, "calibration")
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
    frame = frame_of(predictions("A", table, [0, 2, 2], ("x", "y", "z")), "calibration")
    assert frame["confidence"].to_list() == pytest.approx([0.5, 0.76])
    assert frame["share"].to_list() == [0.0, 1.0]


def unscored():
    return [predictions("A", [3.0, -1.0], [1, 0], probabilities=False)]


@pytest.mark.parametrize(
    ("draw", "message"),
    [
        (
            lambda: tuning.tuning(
                experiment(surface=experiment().surface.filter(pl.col("number") == 0)), "sys"
            ),
            "was not tuned",
        ),
        (
            lambda: tuning.optimism(
                experiment(summary=[experiment().summary[0] | {"tuned": False}]), "AP"
            ),
            "no system was tuned",
        ),
        (lambda: heldout.chart(unscored(), "calibration"), "no chart calibration"),
        (lambda: heldout.charts(3), "no charts of int"),
    ],
)
def test_what_cannot_be_drawn_is_refused(draw, message):
    with pytest.raises(InputError, match=message):
        draw()

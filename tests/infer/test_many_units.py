"""Units that are too many to be drawn: the same numbers from counts, or nearly the same ones."""

from dataclasses import replace

import numpy as np
import pytest
from heldout.infer.evaluation_intervals import score_predictions
from heldout.infer.linearised import LinearScoring, jackknife
from heldout.infer.many_units import scoring_of_many
from heldout.infer.prediction_intervals import prediction_interval
from heldout.infer.resample_sums import (
    MANY_UNITS,
    affordable,
    bootstrap_sums,
    randomize_sums,
)
from heldout.infer.resampled import OrderScoring, SumScoring

from heldout import ClassPredictions, NumberPredictions, compare
from heldout.infer import many_units
from heldout.infer import prediction_intervals as predictions
from heldout.measure.names import parse_measures

PAIR = (0, 1)


def classes(name, seed, units=900, size=3, **more):
    truth = np.random.default_rng(7).integers(0, size, units)
    source = np.random.default_rng(seed)
    scores = source.normal(size=(units, size))
    scores[np.arange(units), truth] += 1
    shares = np.exp(scores) / np.exp(scores).sum(axis=1, keepdims=True)
    names = tuple(f"c{at}" for at in range(size))
    ids = tuple(map(str, range(units)))
    guess = shares.argmax(axis=1)
    return ClassPredictions(name, ids, names, truth, guess, shares, probabilities=True, **more)


def numbers(name, seed, units=900, **more):
    truth = np.random.default_rng(8).normal(5, 2, units)
    guess = truth + np.random.default_rng(seed).normal(0, 1, units)
    return NumberPredictions(name, tuple(map(str, range(units))), truth, guess, **more)


def measure(name):
    task = "regression" if name in {"RMSE", "R2", "median-AE"} else "classification"
    return parse_measures([name], task)[0]


@pytest.mark.parametrize("name", ["F1(macro)", "MCC", "kappa", "balanced-accuracy", "F1(class=c1)"])
def test_counted_kinds_give_the_same_numbers_to_the_last_bit(name):
    systems, wanted = [classes("A", 1), classes("B", 2)], measure(name)
    sums = [wanted.units(one) for one in systems]
    every = SumScoring(
        [one.rows() for one in sums], sums[0].score, replicates=3000, bootstraps=2000, seed=4
    )
    units = np.arange(900)
    counted = replace(
        scoring_of_many(systems, wanted, units, replicates=3000, seed=4), bootstraps=2000
    )
    assert isinstance(counted, SumScoring)
    assert len(counted.tables[0]) <= 27
    assert counted.drawn.scores.tolist() == every.drawn.scores.tolist()
    assert counted.drawn.observed.tolist() == every.drawn.observed.tolist()
    for test in every.tests:
        assert counted.outcome(test, PAIR, "two-sided") == every.outcome(test, PAIR, "two-sided")
    assert counted.difference(PAIR, 0.95) == every.difference(PAIR, 0.95)
    assert counted.system(1, 0.9) == every.system(1, 0.9)
    assert counted.signs(PAIR) == every.signs(PAIR)
    assert counted.values == pytest.approx(every.values, abs=1e-12)


def test_counts_stand_for_rows():
    source = np.random.default_rng(1)
    kinds = source.integers(0, 3, (2, 40, 3)).astype(float)
    counts = source.integers(1, 9, 40)
    rows = [np.repeat(one, counts, axis=0) for one in kinds]

    def score(sums):
        return sums[:, 0] / (sums[:, 1] + sums[:, 2])

    drawn = bootstrap_sums(kinds, score, replicates=500, counts=counts)
    assert drawn.scores.tolist() == bootstrap_sums(rows, score, replicates=500).scores.tolist()
    for tail in ("two-sided", "greater", "less"):
        one = randomize_sums(*kinds, score, alternative=tail, replicates=500, counts=counts)
        assert one == randomize_sums(*rows, score, alternative=tail, replicates=500)
    for table, counted in zip(rows, kinds, strict=True):
        values = np.repeat(jackknife(counted, score, counts), counts)
        assert jackknife(table, score) == pytest.approx(values, rel=1e-12)


@pytest.mark.parametrize("rest", ["", "weights", "groups"])
@pytest.mark.parametrize(
    "name",
    ["AUC", "average-precision(class=c1)", "F1(macro)", "RMSE", "R2", "median-AE"],
)
def test_linearised_intervals_are_nearly_those_of_the_bootstrap(monkeypatch, name, rest):
    more = {
        "weights": {"weights": np.random.default_rng(5).random(900) + 0.5},
        "groups": {"groups": tuple(f"g{at % 150}" for at in range(900))},
    }.get(rest, {})
    wanted = measure(name)
    given = (numbers if wanted.task == "regression" else classes)("A", 1, **more)
    monkeypatch.setattr(predictions, "affordable", lambda _: 2000)
    drawn = prediction_interval(given, wanted)
    clusters = np.arange(900) % 150 if rest == "groups" else np.arange(900)
    monkeypatch.setattr(many_units, "MOST_KINDS", 0)
    maker = scoring_of_many([given], wanted, clusters)
    found = maker.system(0, 0.95)
    if name == "median-AE":  # the jackknife of a median is wrong: groups of units are drawn
        assert isinstance(maker, OrderScoring)
    else:
        assert isinstance(maker, LinearScoring)
        assert found.method == "t, linearised"
    assert found.estimate == pytest.approx(drawn.estimate, rel=1e-12)
    room = 0.15 * (drawn.high - drawn.low)
    if name == "median-AE":  # the bootstrap of a median is rough
        room *= 2
    assert found.low == pytest.approx(drawn.low, abs=room)
    assert found.high == pytest.approx(drawn.high, abs=room)


def test_the_auc_of_two_classes_is_delongs():
    given = classes("A", 3, size=2)
    drawn = prediction_interval(given, measure("AUC"))
    assert drawn.method == "DeLong"
    found = scoring_of_many([given], measure("AUC"), np.arange(900)).system(0, 0.95)
    assert found.estimate == pytest.approx(drawn.estimate, rel=1e-12)
    assert found.high - found.low == pytest.approx(drawn.high - drawn.low, rel=0.005)


@pytest.mark.parametrize("name", ["AUC", "RMSE"])
def test_the_t_test_of_linearised_scores_agrees_with_the_bootstrap(name):
    wanted = measure(name)
    make = numbers if wanted.task == "regression" else classes
    systems = [make("A", 1), make("B", 2)]
    maker = scoring_of_many(systems, wanted, np.arange(900))
    drawn = compare(systems, name, replicates=2000)
    [claim] = drawn.claims
    outcome = maker.outcome("t", (1, 0), "two-sided")
    assert outcome.p == pytest.approx(claim.outcomes[0].p, abs=0.05)
    gap = maker.difference((1, 0), 0.95)
    assert gap.estimate == pytest.approx(claim.difference.estimate, abs=1e-12)
    assert sum(maker.signs(PAIR)) <= 900


def test_more_than_a_hundred_thousand_units_are_not_drawn():
    assert MANY_UNITS == 100_000
    assert affordable(MANY_UNITS) == 1000
    count = MANY_UNITS + 1
    systems = [numbers("A", 1, count), numbers("B", 2, count)]
    scores = score_predictions(systems[:1], ["RMSE", "median-AE", "MAE"])
    methods = [one.method for one in scores.rows[0].intervals]
    assert methods == ["t, linearised", "bootstrap percentile", "t"]
    found = compare(systems, "RMSE")
    [claim] = found.claims
    assert [one.test for one in claim.outcomes] == ["t"]
    assert "it is linearised" in found.advice.why
    three = [classes("A", 1, count), classes("B", 2, count)]
    scores = score_predictions(three[:1], ["MCC", "AUC"])
    methods = [one.method for one in scores.rows[0].intervals]
    assert methods == ["bootstrap percentile", "t, linearised"]
    found = compare(three, "MCC", replicates=2000)
    assert [one.test for one in found.claims[0].outcomes] == [
        "randomization",
        "bootstrap-shift",
    ]

"""Units that are too many to be drawn: the same numbers from counts, or nearly the same ones."""

import numpy as np
import pytest

from heldout import ClassPredictions, NumberPredictions, compare
from heldout.infer import resampling, scored_inputs, scoring
from heldout.infer.resampling import MANY_UNITS, affordable
from heldout.infer.scored_inputs import system_interval
from heldout.infer.scoring import jackknife
from heldout.measure.base import Sums
from heldout.measure.prediction.evaluate import evaluate_predictions


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


def interval_of(one, measure):
    found = evaluate_predictions([one], [measure])
    return system_interval(found, one.name, found.measures[0])


def call_them_many(monkeypatch):
    for module in (resampling, scored_inputs, scoring):
        monkeypatch.setattr(module, "MANY_UNITS", 100)


@pytest.mark.parametrize("name", ["F1(macro)", "MCC", "kappa", "F1(class=c1)"])
def test_counted_kinds_give_the_same_numbers_for_any_size(monkeypatch, name):
    systems = [classes("A", 1), classes("B", 2)]
    every = compare(systems, name, replicates=3000)
    call_them_many(monkeypatch)
    counted = compare(systems, name, replicates=3000)
    assert counted.claims == every.claims
    assert counted.systems == every.systems


def test_kinds_stand_for_rows_in_the_jackknife():
    source = np.random.default_rng(1)
    table, kinds = source.random((5, 3)), source.integers(0, 5, 40)

    def score(sums):
        return sums[:, 0] / (sums[:, 1] + sums[:, 2])

    expected = jackknife(Sums(table[kinds], score))
    assert jackknife(Sums(table, score, kinds=kinds)) == pytest.approx(expected, rel=1e-12)


@pytest.mark.parametrize("rest", ["", "weights", "groups"])
@pytest.mark.parametrize(
    "name", ["AUC", "average-precision(class=c1)", "F1(macro)", "RMSE", "R2", "median-AE"]
)
def test_linearised_intervals_are_nearly_those_of_the_bootstrap(monkeypatch, name, rest):
    more = {
        "weights": {"weights": np.random.default_rng(5).random(900) + 0.5},
        "groups": {"groups": tuple(f"g{at % 150}" for at in range(900))},
    }.get(rest, {})
    given = (numbers if name in {"RMSE", "R2", "median-AE"} else classes)("A", 1, **more)
    monkeypatch.setattr(scored_inputs, "affordable", lambda *_: 2000)
    drawn = interval_of(given, name)
    call_them_many(monkeypatch)
    monkeypatch.setattr(resampling, "MOST_KINDS", 0)
    found = interval_of(given, name)
    linear = name != "median-AE"  # the jackknife of a median is wrong: groups of units are drawn
    assert found.method.startswith("t, linearised" if linear else "bootstrap percentile")
    assert found.estimate == pytest.approx(drawn.estimate, rel=1e-12)
    room = (0.15 if linear else 0.3) * (drawn.high - drawn.low)  # that of a median is rough
    assert found.low == pytest.approx(drawn.low, abs=room)
    assert found.high == pytest.approx(drawn.high, abs=room)


@pytest.mark.parametrize("name", ["AUC", "RMSE"])
def test_the_t_test_of_linearised_scores_agrees_with_the_bootstrap(monkeypatch, name):
    make = numbers if name == "RMSE" else classes
    systems = [make("A", 1), make("B", 2)]
    [drawn] = compare(systems, name, replicates=2000).claims
    call_them_many(monkeypatch)
    [claim] = compare(systems, name, replicates=2000).claims
    assert [one.test for one in claim.outcomes] == ["t"]
    assert claim.outcomes[0].p == pytest.approx(drawn.outcomes[0].p, abs=0.05)
    assert claim.difference.estimate == pytest.approx(drawn.difference.estimate, abs=1e-12)


def test_more_than_a_hundred_thousand_units_are_not_drawn():
    assert MANY_UNITS == 100_000
    assert affordable(MANY_UNITS, 100_000) == 1000
    count = MANY_UNITS + 1
    systems = [numbers("A", 1, count), numbers("B", 2, count)]
    methods = [interval_of(systems[0], name).method for name in ("RMSE", "median-AE", "MAE")]
    assert methods == ["t, linearised", "bootstrap percentile", "t"]
    found = compare(systems, "RMSE")
    assert [one.test for one in found.claims[0].outcomes] == ["t"]
    assert "it is linearised" in found.analysis.why
    three = [classes("A", 1, count), classes("B", 2, count)]
    methods = [interval_of(three[0], name).method for name in ("MCC", "AUC")]
    assert methods == ["bootstrap percentile", "t, linearised"]
    claim = compare(three, "MCC", replicates=2000).claims[0]
    assert [one.test for one in claim.outcomes] == ["randomization", "bootstrap-shift"]


def test_medians_of_many_units_can_be_compared(monkeypatch):
    systems = [numbers("A", 1), numbers("B", 2)]
    [drawn] = compare(systems, "median-AE").claims
    call_them_many(monkeypatch)
    monkeypatch.setattr(scored_inputs, "GROUPS", 300)
    found = compare(systems, "median-AE")
    assert found.claims[0].outcomes[0].p == pytest.approx(drawn.outcomes[0].p, abs=0.1)
    error = found.scores.values.std(axis=0, ddof=1) / np.sqrt(900)
    width = np.array([row.mean.high - row.mean.low for row in found.systems])
    assert 2 * 1.96 * error == pytest.approx(width, rel=0.3)

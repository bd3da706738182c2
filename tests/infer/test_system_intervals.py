"""A system's interval depends on that system alone; many units have nearly the same by counts."""

import math
from dataclasses import replace

import numpy as np
import pytest
from inference_data import of_numbers

from heldout import ClassPredictions, compare
from heldout.infer import resampling, scored_inputs, scoring
from heldout.infer.intervals import wilson
from heldout.infer.resampling import MANY_UNITS, affordable
from heldout.infer.scored_inputs import system_interval
from heldout.measure.prediction.evaluate import evaluate_predictions


def classed(name, seed, units=300, strength=1.0, **more):
    """Predictions of three classes with probabilities."""
    truth = np.random.default_rng(7).integers(0, 3, units)
    scores = np.random.default_rng(seed).normal(size=(units, 3))
    scores[np.arange(units), truth] += strength
    shares = np.exp(scores) / np.exp(scores).sum(axis=1, keepdims=True)
    ids, guess = tuple(map(str, range(units))), shares.argmax(axis=1)
    return ClassPredictions(
        name, ids, ("a", "b", "c"), truth, guess, shares, probabilities=True, **more
    )


def interval_of(system, measure):
    found = evaluate_predictions([system], [measure])
    return system_interval(found, system.name, found.measures[0])


CLASSED = [classed(name, seed, strength=by) for name, seed, by in (("A", 1, 1), ("B", 2, 2))]
CLASSED.append(classed("C", 3, strength=0.5))
NUMBERED = [of_numbers(name, off) for name, off in (("A", 1.0), ("BB", 0.9), ("CCC", 3.0))]
MEASURES = ["F1(macro)", "accuracy", "average-precision(class=b)", "RMSE", "median-AE"]


@pytest.mark.parametrize("measure", MEASURES)
def test_the_interval_of_a_system_is_the_same_alone_and_beside_any_other(measure):
    several = NUMBERED if measure in {"RMSE", "median-AE"} else CLASSED
    alone = interval_of(several[0], measure)
    assert alone.low < alone.estimate < alone.high
    for systems in (several[:2], several[::2], several):
        rows = compare(systems, measure).systems
        assert next(row.mean for row in rows if row.name == "A") == alone


def folded(name, wrong):
    """Five folds of twelve units; the first units of each are wrong."""
    truth = np.tile([0, 1], 30)
    guess = np.where(np.arange(60) % 12 < wrong, 1 - truth, truth)
    shares = np.where(np.eye(2)[guess] == 1, 0.8, 0.2)
    ids, folds = tuple(map(str, range(60))), tuple(str(row // 12) for row in range(60))
    more = {"probabilities": True, "folds": folds}
    return ClassPredictions(name, ids, ("n", "y"), truth, guess, shares, **more)


def test_systems_that_are_always_right_and_biased_scores():
    """Either way there is Wilson's interval over units, or none, never one without width."""
    over_folds = [folded("A", 0), folded("B", 1)]
    over_units = [replace(one, folds=()) for one in over_folds]
    for several, measure, expected in (
        (over_folds, "accuracy", wilson(60, 60)),
        (over_units, "accuracy", wilson(60, 60)),
        (over_folds, "error", wilson(0, 60)),
        (over_folds, "ECE", None),
        (over_units, "ECE", None),
        (over_units, "F1(macro)", None),
    ):
        row, alone = compare(several, measure).systems[0].mean, interval_of(several[0], measure)
        assert alone == expected, measure
        if expected is None:
            assert row.method == "none"
            assert math.isnan(row.low)
            assert math.isnan(row.high)
        else:
            assert row == alone
    assert interval_of(CLASSED[0], "ECE(bins=10)") is None  # resampling alone increases it
    found = compare(over_units, "ECE")
    assert found.claims[0].outcomes[0].test == "randomization"


# Many units


def call_them_many(monkeypatch):
    for module in (resampling, scored_inputs, scoring):
        monkeypatch.setattr(module, "MANY_UNITS", 100)


def test_counted_kinds_give_the_same_numbers_for_any_size(monkeypatch):
    names = ["F1(macro)", "MCC", "F1(class=b)"]
    every = [compare(CLASSED[:2], name, replicates=3000) for name in names]
    call_them_many(monkeypatch)
    for name, expected in zip(names, every, strict=True):
        counted = compare(CLASSED[:2], name, replicates=3000)
        assert counted.claims == expected.claims
        assert counted.systems == expected.systems


@pytest.mark.parametrize("rest", ["", "weights", "groups"])
@pytest.mark.parametrize("name", ["AUC", "average-precision(class=b)", "F1(macro)", "R2"])
def test_linearised_intervals_are_nearly_those_of_the_bootstrap(monkeypatch, name, rest):
    more = {
        "weights": {"weights": np.random.default_rng(5).random(900) + 0.5},
        "groups": {"groups": tuple(f"g{row % 150}" for row in range(900))},
    }.get(rest, {})
    given = classed("A", 1, 900, **more)
    if name == "R2":
        given = of_numbers("A", 1.0, 900, **more)
    monkeypatch.setattr(scored_inputs, "affordable", lambda *_: 2000)
    drawn = interval_of(given, name)
    call_them_many(monkeypatch)
    monkeypatch.setattr(resampling, "MOST_KINDS", 0)
    found = interval_of(given, name)
    assert found.method.startswith("t, linearised")
    assert found.estimate == pytest.approx(drawn.estimate, rel=1e-12)
    room = 0.15 * (drawn.high - drawn.low)
    assert found[1:3] == pytest.approx(drawn[1:3], abs=room)


def test_comparisons_of_many_units_agree_with_those_of_fewer(monkeypatch):
    """Linearised by a t test; of medians, whose jackknife is wrong, groups of units are drawn."""
    numbers = [of_numbers(name, 1.0, 900) for name in ("A", "BB")]
    cases = [(numbers, "RMSE"), (CLASSED[::2], "AUC"), (numbers, "median-AE")]
    drawn = [compare(given, name, replicates=2000).claims[0] for given, name in cases]
    call_them_many(monkeypatch)
    monkeypatch.setattr(scored_inputs, "GROUPS", 300)
    for (given, name), expected in zip(cases, drawn, strict=True):
        found = compare(given, name, replicates=2000)
        (claim,) = found.claims
        linear = name != "median-AE"
        assert claim.outcomes[0].test == ("t" if linear else "bootstrap-shift")
        room = 0.05 if linear else 0.1
        assert claim.outcomes[0].p == pytest.approx(expected.outcomes[0].p, abs=room)
        assert claim.difference.estimate == pytest.approx(expected.difference.estimate, abs=1e-12)
    error = found.scores.values.std(axis=0, ddof=1) / np.sqrt(900)
    width = np.array([row.mean.high - row.mean.low for row in found.systems])
    assert 2 * 1.96 * error == pytest.approx(width, rel=0.3)


def test_values_of_units_that_are_left_out_in_parts(monkeypatch):
    """They keep mean and spread, however many are left out together."""
    single = compare(CLASSED, "average-precision(class=b)").scores.values
    monkeypatch.setattr(scoring, "LEAVE_OUT", 0)
    monkeypatch.setattr(scoring, "FEWEST_PARTS", 40)
    parts = compare(CLASSED, "average-precision(class=b)").scores.values
    assert len(np.unique(parts[:, 0])) <= 40 < len(np.unique(single[:, 0]))
    assert parts.mean(axis=0) == pytest.approx(single.mean(axis=0))
    assert parts.std(axis=0) == pytest.approx(single.std(axis=0), rel=0.25)


def test_more_than_a_hundred_thousand_units_are_not_drawn():
    assert MANY_UNITS == 100_000
    assert affordable(MANY_UNITS, 100_000) == 1000
    count = MANY_UNITS + 1
    systems = [of_numbers(name, 1.0, count) for name in ("A", "BB")]
    methods = [interval_of(systems[0], name).method for name in ("RMSE", "median-AE", "MAE")]
    assert methods == ["t, linearised", "bootstrap percentile", "t"]
    found = compare(systems, "RMSE")
    assert [one.test for one in found.claims[0].outcomes] == ["t"]
    assert "it is linearised" in found.analysis.why
    three = [classed(name, seed, count) for name, seed in (("A", 1), ("B", 2))]
    methods = [interval_of(three[0], name).method for name in ("MCC", "AUC")]
    assert methods == ["bootstrap percentile", "t, linearised"]
    claim = compare(three, "MCC", replicates=2000).claims[0]
    assert [one.test for one in claim.outcomes] == ["randomization", "bootstrap-shift"]

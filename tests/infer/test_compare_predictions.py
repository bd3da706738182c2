"""Predictions compared: the analysis that fits the measure, folds, groups, repeats and weights."""

from dataclasses import replace

import numpy as np
import pytest
from inference_data import codes, of_classes, of_numbers
from scipy import stats

from heldout import ClassPredictions, InputError, compare, parse_measure
from heldout.errors import MeasureError
from heldout.infer.intervals import corrected_t, delong
from heldout.infer.randomization import mcnemar_test
from heldout.infer.results import mean_estimate
from heldout.infer.scored_inputs import system_interval
from heldout.measure.prediction.evaluate import evaluate_predictions


def two(**more):
    return [of_classes("weak", 0.3, **more), of_classes("strong", 1.2, **more)]


def interval_of(system, measure):
    """The interval of a system alone."""
    found = evaluate_predictions([system], [measure])
    return system_interval(found, system.name, found.measures[0])


def texts(notes):
    return " ".join(note.text for note in notes)


TWO = two()
THREE = [*TWO, of_classes("noise", 0.0)]
NUMBERS = [of_numbers("bad", 2.0), of_numbers("better", 0.5)]


# Measures


def test_accuracy_is_mcnemars_also_by_sums():
    claim = compare(TWO, "accuracy").claims[0]
    right = [(one.truth == one.predicted).astype(float) for one in TWO]
    assert claim.outcomes[0].test == "mcnemar"
    assert claim.outcomes[0].p == mcnemar_test(right[1], right[0]).p
    # Weights of 1 go by sums; swapping outputs of zeros and ones is McNemar's test.
    weighted = compare(two(weights=np.ones(200)), "accuracy").claims[0]
    assert weighted.outcomes[0].test == "randomization"
    assert weighted.outcomes[0].p == pytest.approx(claim.outcomes[0].p, rel=1e-9)
    assert weighted.effects == pytest.approx(claim.effects)
    found = compare(TWO, "Brier")  # means over plain units are what `compare` does
    assert found.claims[0].outcomes == compare(found.scores).claims[0].outcomes


@pytest.mark.parametrize("measure", ["F1(macro)", "MCC", "kappa", "balanced-accuracy", "FP-rate"])
def test_measures_that_are_no_means(measure):
    found = compare(TWO, measure)
    claim, compute = found.claims[0], parse_measure(measure, "classification").compute
    values = [compute(one) for one in TWO]
    assert found.linearised
    assert [row.mean.estimate for row in found.systems] == pytest.approx(values)
    assert claim.difference.estimate == pytest.approx(values[1] - values[0])
    assert claim.difference.low < claim.difference.estimate < claim.difference.high
    assert claim.outcomes[0].method == "exact"
    # The linearised values average to the scores, and vary as the bootstrap does.
    assert found.scores.values.mean(axis=0) == pytest.approx(values)
    spread = found.scores.values.std(axis=0, ddof=1) / np.sqrt(200)
    width = found.systems[0].mean.high - found.systems[0].mean.low
    assert width == pytest.approx(2 * 1.96 * spread[0], rel=0.15)


def test_tails_and_wins_know_which_way_is_better():
    for measure in ("MCC", "FP-rate"):  # a lower FP rate is better
        ways = [compare(TWO, measure, alternative=side).claims[0] for side in ("greater", "less")]
        assert ways[0].outcomes[0].p < 0.05 < ways[1].outcomes[0].p
        assert ways[0].outcomes[0].alternative == "greater"
        assert np.isinf(ways[0].difference[1:3]).sum() == 1
    for measure in ("RMSE", "median-AE"):
        claim = compare(NUMBERS, measure).claims[0]
        assert claim.difference.estimate < 0
        assert claim.effects.wins > claim.effects.losses
        assert claim.effects.standardised > 0


def test_r_squared_agrees_with_a_brute_force_bootstrap():
    one, source, values = NUMBERS[0], np.random.default_rng(1), []
    for _ in range(4000):
        at = source.integers(0, 60, 60)
        truth, guess = one.truth[at], one.predicted[at]
        values.append(1 - ((truth - guess) ** 2).sum() / ((truth - truth.mean()) ** 2).sum())
    found = interval_of(one, "R2")
    assert found.method == "bootstrap percentile"
    assert [found.low, found.high] == pytest.approx(np.quantile(values, [0.025, 0.975]), abs=0.02)


def test_the_area_is_delongs():
    rows = [row for row in range(200) if row % 4 != 1]  # one in three is positive
    given = [one.select(rows) for one in TWO]
    found = compare(given, "AUC")
    columns = np.column_stack([one.scores[:, 1] for one in given])
    estimate = delong(given[0].truth, columns, np.array([1]), np.array([0]))
    (outcome,) = estimate.outcomes("delong", "two-sided", len(columns))
    assert found.claims[0].outcomes[0] == outcome
    # The values of units vary as DeLong says, but for n and n - 1.
    gaps = found.scores.column("strong") - found.scores.column("weak")
    assert gaps.mean() == pytest.approx(found.claims[0].difference.estimate)
    assert stats.ttest_1samp(gaps, 0).statistic == pytest.approx(outcome.statistic, rel=0.02)
    for scores in (np.eye(2)[given[0].truth], 1 - np.eye(2)[given[0].truth]):  # areas of 1 and 0
        assert interval_of(replace(given[0], scores=scores), "AUC") is None


@pytest.mark.parametrize("measure", ["average-precision", "Spearman", "median-AE"])
@pytest.mark.parametrize("units", [60, 61])
def test_values_of_measures_of_order_vary_as_the_bootstrap_says(measure, units):
    """Tests, gates, effects and plans take their standard error from the values."""
    pair = [of_numbers("bad", 2.0, units), of_numbers("better", 1.5, units)]
    if measure == "average-precision":
        pair = two(units=units)
    found = compare(pair, measure)
    assert found.claims[0].outcomes[0].test == "bootstrap-shift"
    error = found.scores.values.std(axis=0, ddof=1) / np.sqrt(units)
    width = np.array([row.mean.high - row.mean.low for row in found.systems])
    assert 2 * 1.96 * error == pytest.approx(width, rel=0.3)
    means = [row.mean.estimate for row in found.systems]
    assert found.scores.values.mean(axis=0) == pytest.approx(means)


def test_three_systems_all_pairs():
    of_means = compare(THREE, "accuracy")
    assert of_means.analysis.correction == "romano-wolf"
    assert of_means.anova is not None
    found = compare(THREE, "F1(macro)")
    assert (found.analysis.correction, found.anova) == ("romano-wolf", None)
    assert len(found.claims) == 3
    assert found.analysis.coverage == "simultaneous"
    assert {row.letters for row in found.systems} != {""}
    assert "few-resampled" not in codes(found.warnings)
    few = [one.select(range(60)) for one in TWO]
    said = texts(compare(few, "MCC").warnings)
    assert "below 100 units (here 60), and the bootstrap intervals are too narrow" in said
    assert "randomization decides" in said
    assert "decides" not in texts(compare(few, "average-precision").warnings)


# Units, groups and weights


def test_units_that_a_system_lacks_are_left_out_and_named():
    part = TWO[1].select(range(10, 200))
    found = compare([TWO[0], part], "MCC")
    assert found.scores.dropped == TWO[0].units[:10]
    assert found.systems == compare([TWO[0].select(range(10, 200)), part], "MCC").systems


def test_groups_are_resampled_as_a_whole():
    found = compare(two(groups=tuple(str(n // 2) for n in range(200))), "AUC")
    assert found.claims[0].outcomes[0].test == "bootstrap-shift"
    assert len(found.scores.units) == 100
    means = [row.mean.estimate for row in compare(TWO, "AUC").systems]
    assert [row.mean.estimate for row in found.systems] == pytest.approx(means)
    assert "resampled as a whole" in texts(found.warnings)
    # Every unit four times: as a group it is one unit, as units it is four.
    one = of_classes("A", 0.4, units=50)
    rows = np.repeat(np.arange(50), 4)
    ids = tuple(map(str, range(200)))
    four = ClassPredictions("A", ids, one.classes, one.truth[rows], one.predicted[rows])
    narrow, wide, plain = (
        interval_of(each, "F1(macro)")
        for each in (four, replace(four, groups=tuple(map(str, rows))), one)
    )
    assert wide.high - wide.low == pytest.approx(plain.high - plain.low, rel=0.06)
    assert wide.high - wide.low > 1.7 * (narrow.high - narrow.low)


def test_weights_weigh_the_value():
    weights = np.where(np.arange(200) < 50, 4.0, 1.0)
    found = interval_of(replace(TWO[0], weights=weights), "accuracy")
    right = TWO[0].truth == TWO[0].predicted
    assert found.estimate == pytest.approx((right * weights).sum() / weights.sum())
    assert found.method == "bootstrap percentile"
    assert found.low < found.estimate < found.high


# Folds and repeats

FOLDS = tuple(str(n // 10) for n in range(40)) * 3
REPEATS = tuple(str(n // 40) for n in range(120))


def repeated(name, strength, **more):
    """Three runs on 40 units."""
    parts = [of_classes(name, strength, units=40, seed=seed) for seed in range(3)]
    columns = [np.concatenate([getattr(one, c) for one in parts]) for c in ("truth", "predicted")]
    units = parts[0].units * 3
    return ClassPredictions(name, units, ("ham", "spam"), *columns, repeats=REPEATS, **more)


RUNS = [repeated("weak", 0.2), repeated("strong", 1.0)]
SAME = [replace(one, folds=FOLDS) for one in RUNS]
SOURCE = np.random.default_rng(8)
REDRAWN = tuple(one for _ in range(3) for one in SOURCE.permutation(FOLDS[:40]).tolist())
DIVIDED_REDRAWN = [
    replace(one, folds=REDRAWN) for one in RUNS
]  # folds of the same size, each repeat


def test_repeated_folds_by_the_corrected_test():
    found = compare(DIVIDED_REDRAWN, "F1(macro)")
    assert found.analysis.test_share == pytest.approx(1 / 3)
    assert len(found.scores.units) == 12
    gaps = found.scores.column("strong") - found.scores.column("weak")
    outcome = found.claims[0].outcomes[0]
    assert outcome.test == "corrected-t"
    assert outcome.p == pytest.approx(mean_estimate(gaps, 1 / 12 + 1 / 3).p())
    interval, row = interval_of(DIVIDED_REDRAWN[0], "F1(macro)"), found.systems[0].mean
    assert "over folds" in interval.method
    assert interval[:3] == pytest.approx(row[:3])
    value = evaluate_predictions(DIVIDED_REDRAWN, ["F1(macro)"]).value("weak", 0)
    assert value == pytest.approx(interval.estimate)
    assert value == pytest.approx(found.scores.column("weak").mean())


def test_runs_of_the_same_folds_or_units_are_no_further_ones():
    """Three seeds on four folds are four folds: each counts by its mean; so do 40 units."""
    right = (RUNS[0].truth == RUNS[0].predicted).astype(float).reshape(3, 40).mean(axis=0)
    scores = compare(SAME, "accuracy").scores
    held = np.array(FOLDS[:40])
    expected = [right[held == name].mean() for name in dict.fromkeys(FOLDS)]
    assert scores.column("weak") == pytest.approx(expected)
    assert "are averaged" in texts(scores.notes)
    interval = interval_of(SAME[0], "accuracy")
    assert interval[:3] == corrected_t(np.array(expected), 1 / 3, 0.95)[:3]
    found = compare(RUNS, "accuracy")
    assert found.analysis.test_share is None
    assert found.scores.column("weak") == pytest.approx(right)
    assert len(compare(RUNS, "MCC").scores.units) == 40


def test_repeated_hold_outs_know_their_training_side():
    """Ten units in three hold-outs of four: six are left to train on."""
    units = ("a", "b", "c", "d", "e", "f", "g", "h", "a", "c", "i", "j")
    repeats = tuple("rrrrsssstttt")
    systems = [
        ClassPredictions(name, units, "xy", np.zeros(12, int), np.array(guess), repeats=repeats)
        for name, guess in (("A", [0, 1] * 6), ("B", [0, 0, 0, 1] * 3))
    ]
    found = compare(systems, "accuracy")
    assert found.analysis.test_share == pytest.approx(4 / 6)
    assert found.scores.units == ("r", "s", "t")


def test_folds_are_the_default_and_units_can_be_asked_for():
    systems = two(folds=tuple(str(n % 5) for n in range(200)))
    assert compare(systems, "MCC").analysis.test_share == pytest.approx(1 / 4)
    by_unit = compare(systems, "MCC", by="unit")
    assert by_unit.analysis.test_share is None
    assert "a test over folds does" in texts(by_unit.warnings)
    # Leave-one-out has a fold a unit: there the unit is the unit.
    alone = two(folds=tuple(map(str, range(200))))
    assert compare(alone, "accuracy").analysis.test_share is None


def test_groups_in_several_folds_are_pointed_out():
    crossed = [replace(one, groups=("g",) * 120) for one in DIVIDED_REDRAWN]
    said = "1 group has units in several folds"
    assert said in texts(compare(crossed, "accuracy").scores.notes)
    whole = [replace(one, groups=one.folds) for one in DIVIDED_REDRAWN]
    assert "in several folds" not in texts(compare(whole, "accuracy").scores.notes)


def test_baselines_of_an_experiment_are_compared_only_if_asked_for():
    weak, strong = SAME
    flat, mine = (replace(weak, name=name) for name in ("(majority class)", "(mine)"))
    for given, settings, systems in (
        ([weak, strong, flat], {}, ("weak", "strong")),
        ([weak, strong, flat], {"baseline": flat.name}, ("weak", "strong", flat.name)),
        ([weak, flat], {}, ("weak", flat.name)),
        ([weak, mine, flat], {}, ("weak", "(mine)")),  # parentheses alone make no baseline
    ):
        assert compare(given, "accuracy", **settings).scores.systems == systems


def test_what_cannot_be_compared():
    weights = np.linspace(1, 2, 120)
    heavy = [replace(RUNS[0], weights=weights), replace(RUNS[1], weights=weights[::-1].copy())]
    units, truth = TWO[0].units, TWO[0].truth
    constant = ClassPredictions("flat", units, ("ham", "spam"), truth, np.ones(200, int))
    groups = tuple(str(n // 2) for n in range(200))
    apart = two(folds=tuple("ab"[n % 2] for n in range(200)))  # a class a fold
    for given, measure, words in (
        (TWO[:1], "MCC", "at least two"),
        ([TWO[0], NUMBERS[0]], "MCC", "compare them separately"),
        ([TWO[0], constant], "MCC", "MCC of flat is undefined"),
        ([TWO[0], replace(TWO[1], groups=groups)], "MCC", "groups for all systems"),
        ([TWO[0], replace(TWO[1], weights=np.ones(200))], "MCC", "only some of weak, strong have"),
        (heavy, "accuracy", "each unit must have one weight"),
        ([replace(one, folds=REDRAWN) for one in heavy], "accuracy", "each unit must have one"),
        ([DIVIDED_REDRAWN[0], RUNS[1]], "F1(macro)", "weak has folds, strong has none"),
        (apart, "MCC", r"undefined in every fold: MCC of weak .* fold a: all"),
    ):
        with pytest.raises((InputError, MeasureError), match=words):
            compare(given, measure)
    for settings, words in (
        ({"tests": ["t"]}, "t is a test of means, but F1.* use randomization or bootstrap-shift"),
        ({"correction": "tukey"}, "tukey is a test of means"),
        ({"interval": "t"}, "is for means"),
        ({"test_share": 0.1}, "have their own; leave it out"),
    ):
        with pytest.raises(InputError, match=words):
            compare(THREE, "F1(macro)", **settings)
    notes = compare([DIVIDED_REDRAWN[0], RUNS[1]], "accuracy", by="unit").scores.notes
    assert "share training data" in texts(notes)

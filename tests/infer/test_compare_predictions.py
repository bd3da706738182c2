"""Predictions compared: the analysis that fits, and claims as `heldout.compare` makes them."""

from dataclasses import replace

import numpy as np
import pytest
from scipy import stats

from heldout import ClassPredictions, InputError, NumberPredictions, compare
from heldout.errors import MeasureError
from heldout.infer import scoring
from heldout.infer.intervals import corrected_t, delong
from heldout.infer.randomization import mcnemar_test
from heldout.infer.results import mean_estimate
from heldout.infer.scored_inputs import system_interval
from heldout.measure.names import parse_measures
from heldout.measure.prediction.evaluate import evaluate_predictions
from heldout.measure.prediction.folds import fold_scores

CLASSES = ("ham", "spam")


def classed(name, strength, units=200, seed=0, **more):
    truth = np.arange(units) % 2
    noise = np.random.default_rng([seed, len(name), ord(name[0])]).normal(size=units)
    share = 1 / (1 + np.exp(-strength * (2 * truth - 1) - noise))
    return ClassPredictions(
        name,
        tuple(f"u{n}" for n in range(units)),
        CLASSES,
        truth,
        (share > 0.5).astype(int),
        np.column_stack([1 - share, share]),
        probabilities=True,
        **more,
    )


def numbers(name, off, units=60, **more):
    truth = np.linspace(1, 10, units)
    guess = truth + off * np.random.default_rng(len(name)).normal(size=units)
    return NumberPredictions(name, tuple(map(str, range(units))), truth, guess, **more)


def interval_of(one, measure):
    """The interval of a system alone."""
    found = evaluate_predictions([one], [measure])
    return system_interval(found, one.name, found.measures[0])


def only(predictions, measure, **settings):
    return compare(predictions, measure, **settings)


def two(**more):
    return [classed("weak", 0.3, **more), classed("strong", 1.2, **more)]


TWO = two()


def test_accuracy_of_a_hold_out_is_mcnemars():
    claim = only(TWO, "accuracy").claims[0]
    right = [(one.truth == one.predicted).astype(float) for one in TWO]
    assert claim.outcomes[0].test == "mcnemar"
    assert claim.outcomes[0].p == mcnemar_test(right[1], right[0]).p


def test_accuracy_by_sums_is_the_same_test():
    """Weights of 1 go by sums; swapping outputs of zeros and ones is McNemar's test."""
    weighted = two(weights=np.ones(200))
    claim = only(weighted, "accuracy").claims[0]
    plain = only(TWO, "accuracy").claims[0]
    assert claim.outcomes[0].test == "randomization"
    assert claim.outcomes[0].p == pytest.approx(plain.outcomes[0].p, rel=1e-9)
    assert claim.effects.wins == plain.effects.wins
    assert claim.effects.losses == plain.effects.losses
    assert claim.effects.standardised == pytest.approx(plain.effects.standardised)


@pytest.mark.parametrize("measure", ["F1(macro)", "MCC", "kappa", "balanced-accuracy", "FP-rate"])
def test_measures_that_are_no_means(measure):
    found = only(TWO, measure)
    comparison, claim = found, found.claims[0]
    values = [parse_measures([measure], "classification")[0].compute(one) for one in TWO]
    assert found.linearised
    assert [row.mean.estimate for row in comparison.systems] == pytest.approx(values)
    assert claim.difference.estimate == pytest.approx(values[1] - values[0])
    assert claim.difference.low < claim.difference.estimate < claim.difference.high
    assert claim.outcomes[0].method == "exact"
    # The linearised values average to the scores, and vary as the bootstrap does.
    assert comparison.scores.values.mean(axis=0) == pytest.approx(values)
    spread = comparison.scores.values.std(axis=0, ddof=1) / np.sqrt(200)
    width = comparison.systems[0].mean.high - comparison.systems[0].mean.low
    assert width == pytest.approx(2 * 1.96 * spread[0], rel=0.15)


def test_tails_know_which_way_is_better():
    for measure in ("MCC", "FP-rate"):  # a lower FP rate is better
        ways = {
            tail: only(TWO, measure, alternative=tail).claims[0] for tail in ("greater", "less")
        }
        assert ways["greater"].outcomes[0].p < 0.05 < ways["less"].outcomes[0].p
        assert ways["greater"].outcomes[0].alternative == "greater"
        assert (
            np.isinf([ways["greater"].difference.low, ways["greater"].difference.high]).sum() == 1
        )


def test_one_mistake_of_sign_would_show():
    """RMSE is lower for the better system: wins are those of the system with less error."""
    pair = [numbers("bad", 2.0), numbers("better", 0.5)]
    found = only(pair, "RMSE")
    assert found.claims[0].difference.estimate < 0
    assert found.claims[0].effects.wins > found.claims[0].effects.losses
    assert found.claims[0].effects.standardised > 0


def test_r_squared_agrees_with_a_brute_force_bootstrap():
    one = numbers("A", 2.0)
    found = interval_of(one, "R2")
    source, values = np.random.default_rng(1), []
    for _ in range(4000):
        at = source.integers(0, 60, 60)
        truth, guess = one.truth[at], one.predicted[at]
        values.append(1 - ((truth - guess) ** 2).sum() / ((truth - truth.mean()) ** 2).sum())
    assert found.method == "bootstrap percentile"
    assert [found.low, found.high] == pytest.approx(np.quantile(values, [0.025, 0.975]), abs=0.02)


def test_the_area_is_delongs():
    found = only(TWO, "AUC")
    columns = np.column_stack([one.scores[:, 1] for one in TWO])
    estimate = delong(TWO[0].truth, columns, np.array([1]), np.array([0]))
    (outcome,) = estimate.outcomes("delong", "two-sided", len(columns))
    assert found.claims[0].outcomes[0] == outcome
    # The values of units vary as DeLong says, but for n and n - 1.
    gaps = found.scores.column("strong") - found.scores.column("weak")
    assert gaps.mean() == pytest.approx(found.claims[0].difference.estimate)
    assert stats.ttest_1samp(gaps, 0).statistic == pytest.approx(outcome.statistic, rel=0.02)


def test_areas_of_grouped_units_draw_groups():
    groups = tuple(str(n // 2) for n in range(200))
    grouped = two(groups=groups)
    found = only(grouped, "AUC")
    assert found.claims[0].outcomes[0].test == "bootstrap-shift"
    assert len(found.scores.units) == 100
    assert found.systems[0].mean.estimate == pytest.approx(
        only(TWO, "AUC").systems[0].mean.estimate
    )
    assert "resampled as a whole" in " ".join(map(str, found.warnings))


def test_groups_widen_the_interval():
    """Every unit four times: as a group it is one unit, as units it is four."""
    one = classed("A", 0.4, units=50)
    rows = np.repeat(np.arange(50), 4)
    many = {
        "units": tuple(map(str, range(200))),
        "classes": CLASSES,
        "truth": one.truth[rows],
        "predicted": one.predicted[rows],
    }
    groups = tuple(map(str, rows))
    narrow, wide, plain = (
        interval_of(one, "F1(macro)")
        for one in (
            ClassPredictions("A", **many),
            ClassPredictions("A", **many, groups=groups),
            one,
        )
    )
    assert wide.high - wide.low == pytest.approx(plain.high - plain.low, rel=0.06)
    assert wide.high - wide.low > 1.7 * (narrow.high - narrow.low)


def test_weights_that_are_counts_weigh_like_counts():
    """The value, not the interval: a unit of weight 4 is still one unit."""
    weights = np.where(np.arange(200) < 50, 4.0, 1.0)
    found = interval_of(classed("A", 0.5, weights=weights), "accuracy")
    right = TWO[0].truth == classed("A", 0.5).predicted
    assert found.estimate == pytest.approx((right * weights).sum() / weights.sum())
    assert found.method == "bootstrap percentile"
    assert found.low < found.estimate < found.high


FOLDS = tuple(str(n // 10) for n in range(40)) * 3
REPEATS = tuple(str(n // 40) for n in range(120))
LEVELS = (("weak", 0.2), ("strong", 1.0))


def repeated(name, strength, **more):
    parts = [classed(name, strength, units=40, seed=seed) for seed in range(3)]
    return ClassPredictions(
        name,
        parts[0].units * 3,
        CLASSES,
        np.concatenate([one.truth for one in parts]),
        np.concatenate([one.predicted for one in parts]),
        repeats=REPEATS,
        **more,
    )


def divided_anew():
    """Other folds of the same size in each of three repeats."""
    source = np.random.default_rng(8)
    return tuple(one for _ in range(3) for one in source.permutation(FOLDS[:40]).tolist())


def test_repeated_folds_by_the_corrected_test():
    folds = divided_anew()
    systems = [replace(repeated(name, by), folds=folds) for name, by in LEVELS]
    found = only(systems, "F1(macro)")
    assert found.analysis.test_share == pytest.approx(1 / 3)
    assert len(found.scores.units) == 12
    gaps = found.scores.column("strong") - found.scores.column("weak")
    outcome = found.claims[0].outcomes[0]
    assert outcome.test == "corrected-t"
    assert outcome.p == pytest.approx(mean_estimate(gaps, 1 / 12 + 1 / 3).p())
    interval = interval_of(systems[0], "F1(macro)")
    assert "over folds" in interval.method
    value = evaluate_predictions(systems, ["F1(macro)"]).value("weak", 0)
    assert value == pytest.approx(interval.estimate)
    assert value == pytest.approx(found.scores.column("weak").mean())
    row = found.systems[0].mean
    assert (interval.low, interval.high) == pytest.approx((row.low, row.high))


def test_runs_of_the_same_folds_are_no_further_folds():
    """Three seeds on four folds are four folds: each counts by its mean."""
    systems = [repeated(name, by, folds=FOLDS) for name, by in LEVELS]
    found = only(systems, "accuracy")
    scores = found.scores
    assert len(scores.units) == 4
    right = (systems[0].truth == systems[0].predicted).astype(float).reshape(3, 40).mean(axis=0)
    held = np.array(FOLDS[:40])
    expected = [right[held == name].mean() for name in dict.fromkeys(FOLDS)]
    assert scores.column("weak") == pytest.approx(expected)
    assert any("are averaged" in note.text for note in scores.notes)
    interval = interval_of(systems[0], "accuracy")
    assert interval[:3] == corrected_t(np.array(expected), 1 / 3, 0.95)[:3]


def test_folds_and_weights_are_those_of_all_systems():
    folded, plain = (repeated(name, by) for name, by in LEVELS)
    folded = replace(folded, folds=divided_anew())
    with pytest.raises(InputError, match="weak has folds, strong has none"):
        only([folded, plain], "F1(macro)")
    notes = only([folded, plain], "accuracy", by="unit").scores.notes
    assert any("share training data" in note.text for note in notes)
    weights = np.linspace(1, 2, len(plain.units))
    heavy = [replace(one, weights=weights) for one in (plain, replace(plain, name="other"))]
    heavy[1] = replace(heavy[1], weights=weights[::-1].copy())
    for changed in (heavy, [replace(one, folds=divided_anew()) for one in heavy]):
        with pytest.raises(InputError, match="each unit must have one weight"):
            only(changed, "accuracy")


def test_groups_in_several_folds_are_pointed_out():
    systems = [replace(repeated(name, by), folds=divided_anew()) for name, by in LEVELS]
    crossed = [replace(one, groups=("g",) * 120) for one in systems]
    said = "1 group has units in several folds"
    assert any(said in note.text for note in only(crossed, "accuracy").scores.notes)
    scored = evaluate_predictions(crossed, ["accuracy"])
    assert [note.code for note in scored.notes] == ["crossing-groups"]
    assert said in scored.notes[0].text
    assert not any("resample whole groups" in one for one in scored.about)
    whole = [replace(one, groups=one.folds) for one in systems]
    assert not any("in several folds" in one.text for one in evaluate_predictions(whole).notes)


def test_baselines_of_an_experiment_are_compared_only_if_asked_for():
    weak, strong = (repeated(name, by, folds=FOLDS) for name, by in LEVELS)
    flat = replace(weak, name="(majority class)")
    three = [weak, strong, flat]
    assert only(three, "accuracy").scores.systems == ("weak", "strong")
    asked = only(three, "accuracy", baseline="(majority class)")
    assert len(asked.claims) == 2
    assert only([weak, flat], "accuracy").scores.systems == ("weak", "(majority class)")
    mine = replace(weak, name="(mine)")  # parentheses alone make no baseline
    compared = only([weak, mine, flat], "accuracy")
    assert compared.scores.systems == ("weak", "(mine)")
    assert evaluate_predictions(three, ["accuracy"]).baselines == ("(random by shares)",)


def test_repeated_hold_outs_know_their_training_side():
    """Ten units in three hold-outs of four: six are left to train on."""
    units = ("a", "b", "c", "d", "e", "f", "g", "h", "a", "c", "i", "j")
    repeats = tuple("rrrrsssstttt")
    systems = [
        ClassPredictions(name, units, CLASSES, np.zeros(12, int), np.array(guess), repeats=repeats)
        for name, guess in (("A", [0, 1] * 6), ("B", [0, 0, 0, 1] * 3))
    ]
    scores, share = fold_scores(systems, parse_measures(["accuracy"], "classification")[0])
    assert share == pytest.approx(4 / 6)
    assert scores.units == ("r", "s", "t")
    assert only(systems, "accuracy").analysis.test_share == pytest.approx(4 / 6)


def test_runs_of_one_hold_out_average_over_seeds():
    """Repeats of the same units are no more units: the test is over 40, not over 120."""
    systems = [repeated("weak", 0.2), repeated("strong", 1.0)]
    found = only(systems, "accuracy")
    assert found.analysis.test_share is None
    assert len(found.scores.units) == 40
    right = (systems[0].truth == systems[0].predicted).reshape(3, 40).mean(axis=0)
    assert found.scores.column("weak") == pytest.approx(right)
    assert len(only(systems, "MCC").scores.units) == 40


def test_folds_are_the_default_and_units_can_be_asked_for():
    folds = tuple(str(n % 5) for n in range(200))
    systems = two(folds=folds)
    assert only(systems, "MCC").analysis.test_share == pytest.approx(1 / 4)
    by_unit = only(systems, "MCC", by="unit")
    assert by_unit.analysis.test_share is None
    assert "a test over folds does" in " ".join(map(str, by_unit.warnings))
    # Leave-one-out has a fold a unit: there the unit is the unit.
    alone = two(folds=tuple(map(str, range(200))))
    assert only(alone, "accuracy").analysis.test_share is None


def test_three_systems_all_pairs():
    three = [*TWO, classed("noise", 0.0)]
    of_means = only(three, "accuracy")
    assert of_means.analysis.correction == "romano-wolf"
    assert of_means.anova is not None
    found = only(three, "F1(macro)")
    assert found.analysis.correction == "romano-wolf"
    assert len(found.claims) == 3
    assert found.analysis.coverage == "simultaneous"
    assert {row.letters for row in found.systems} != {""}
    one = only(three, "F1(macro)", baseline="noise")
    assert [claim.second for claim in one.claims] == ["noise", "noise"]


def test_what_to_be_careful_about_is_said():
    few = [one.select(range(60)) for one in TWO]
    said = " ".join(map(str, only(few, "average-precision").warnings))
    assert "below 100 units (here 60), and the bootstrap intervals are too narrow" in said
    assert "decides" not in said
    assert "randomization decides" in " ".join(map(str, only(few, "MCC").warnings))
    three = [*TWO, classed("noise", 0.0)]
    for alpha in np.linspace(0.001, 0.4, 60):
        found = only(three, "MCC", level=1 - alpha)
        odd = [
            claim
            for claim in found.claims
            if (claim.adjusted <= alpha) != (not claim.difference.low <= 0 <= claim.difference.high)
        ]
        codes = {one.code for one in found.warnings}
        assert bool(odd) == bool(codes & {"disagreement", "stepwise"})
        if odd:
            break
    else:
        pytest.fail("no level at which test and interval disagree was met")


def test_units_that_a_system_lacks_are_left_out_and_named():
    part = TWO[1].select(range(10, 200))
    found = only([TWO[0], part], "MCC")
    assert found.scores.dropped == TWO[0].units[:10]
    assert found.systems[0].mean.estimate == pytest.approx(
        only([TWO[0].select(range(10, 200)), part], "MCC").systems[0].mean.estimate
    )


def test_other_measures_of_order():
    found = only(TWO, "average-precision")
    assert found.claims[0].outcomes[0].test == "bootstrap-shift"
    assert found.claims[0].difference.low < found.claims[0].difference.estimate
    pair = [numbers("bad", 2.0), numbers("better", 0.5)]
    found = only(pair, "median-AE")
    assert found.claims[0].effects.wins > found.claims[0].effects.losses
    assert found.scores.values.mean(axis=0) == pytest.approx(
        [np.median(np.abs(one.truth - one.predicted)) for one in pair]
    )


def test_many_units_are_left_out_in_parts(monkeypatch):
    """The values of units keep mean and spread, however many are left out together."""
    single = only(TWO, "average-precision").scores.values
    monkeypatch.setattr(scoring, "LEAVE_OUT", 0)
    monkeypatch.setattr(scoring, "FEWEST_PARTS", 40)
    parts = only(TWO, "average-precision").scores.values
    assert len(np.unique(parts[:, 0])) <= 40 < len(np.unique(single[:, 0]))
    assert parts.mean(axis=0) == pytest.approx(single.mean(axis=0))
    assert parts.std(axis=0) == pytest.approx(single.std(axis=0), rel=0.25)


@pytest.mark.parametrize("measure", ["average-precision", "Spearman", "median-AE"])
@pytest.mark.parametrize("units", [60, 61])
def test_values_of_measures_of_order_vary_as_the_bootstrap_says(measure, units):
    """Tests, gates, effects and plans take their standard error from the values."""
    if measure == "average-precision":
        pair = [classed("weak", 0.3, units=units), classed("strong", 1.2, units=units)]
    else:
        pair = [numbers("bad", 2.0, units), numbers("better", 1.5, units)]
    found = only(pair, measure)
    error = found.scores.values.std(axis=0, ddof=1) / np.sqrt(units)
    width = np.array([row.mean.high - row.mean.low for row in found.systems])
    assert 2 * 1.96 * error == pytest.approx(width, rel=0.3)


@pytest.mark.parametrize("digits", [9, 0])
def test_equal_systems_compared_by_their_median_error_are_not_called_different(digits):
    generator = np.random.default_rng(5)
    claims = 0
    for _ in range(40):
        truth = generator.integers(0, 9, 30).astype(float)
        noise = generator.normal(0, 3, (3, 30)).round(digits)
        guesses = {name: truth + row for name, row in zip("abc", noise, strict=True)}
        found = compare(truth, guesses, "median-AE", replicates=500)
        claims += any(claim.adjusted <= 0.05 for claim in found.claims)
    assert claims <= 5  # 2 are expected


def test_the_calibration_error_is_compared_and_has_no_interval_alone():
    assert only(TWO, "ECE(bins=10)").claims[0].outcomes[0].test == "randomization"
    assert interval_of(TWO[0], "ECE(bins=10)") is None


def test_what_cannot_be_compared():
    with pytest.raises(InputError, match="at least two"):
        compare(TWO[:1])
    with pytest.raises(InputError, match="compare them separately"):
        compare([TWO[0], numbers("A", 1.0)])
    constant = ClassPredictions("flat", TWO[0].units, CLASSES, TWO[0].truth, np.ones(200, int))
    with pytest.raises(MeasureError, match="MCC of flat is undefined"):
        only([TWO[0], constant], "MCC")
    groups = tuple(str(n // 2) for n in range(200))
    with pytest.raises(InputError, match="groups for all systems"):
        only([TWO[0], classed("strong", 1.2, groups=groups)], "MCC")
    with pytest.raises(InputError, match="only some of weak, strong have weights"):
        only([TWO[0], classed("strong", 1.2, weights=np.ones(200))], "MCC")


def test_a_measure_that_exists_in_no_fold_is_said_to():
    apart = two(folds=tuple("ab"[n % 2] for n in range(200)))  # a class a fold
    with pytest.raises(InputError, match=r"undefined in every fold: MCC of weak .* fold a: all"):
        only(apart, "MCC")


def test_means_over_plain_units_are_what_compare_does():
    found = only(TWO, "Brier")
    assert found.claims[0].outcomes == compare(found.scores).claims[0].outcomes

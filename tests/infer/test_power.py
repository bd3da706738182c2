"""Plans, against published sizes, integrals, simulation and their own inverse."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from inference_data import SIDES, of_classes
from scipy import stats

import heldout
from heldout import ClassPredictions, InputError, Scores, compare
from heldout.data.scores import MachineScores
from heldout.infer.power import FAR, Design, Goal, pilot_correlation, power_of, smallest_n
from heldout.infer.prediction_powered import combined_means

sides = st.sampled_from(SIDES)
GENERATOR = np.random.default_rng(1)


def needed(sd, delta, **more):
    [plan] = heldout.power(sd=sd, differences=[delta], **more)
    return plan.needed[0][1]


def detectable(sd, n, **more):
    [plan] = heldout.power(sd=sd, units=[n], **more)
    return plan.detectable[0][1]


# Formulas


def test_published_sizes_and_powers():
    # The sizes that Cohen's (1988) small, medium and large effect need at power .8, as G*Power
    # and R's power.t.test(type = "paired") give them.
    assert [needed(1, effect) for effect in (0.2, 0.5, 0.8)] == [199, 34, 15]
    for side, n, effect, alpha, expected in (
        # statsmodels 0.15.0: TTestPower().power(effect, n, alpha, alternative)
        ("two-sided", 2, 1.0, 0.01, 0.0186131321),
        ("two-sided", 5, -0.4, 0.05, 0.1076635665),
        ("two-sided", 25, 0.3, 0.05, 0.3019530752),
        ("two-sided", 50, 0.3, 0.05, 0.5476570390),
        ("two-sided", 400, 0.1, 0.01, 0.2795662346),
        ("greater", 5, 1.0, 0.05, 0.5797373589),
        ("greater", 50, -0.4, 0.05, 0.0000046013),
        ("less", 25, -0.4, 0.01, 0.3305776287),
        ("less", 400, 0.1, 0.05, 0.0001355426),
    ):
        found = power_of(effect * math.sqrt(n), n - 1, alpha, side)
        assert found == pytest.approx(expected, abs=1e-9), (side, n, effect)


designs = st.one_of(
    st.builds(Design.of_units, st.floats(0.001, 100)),
    st.builds(Design.of_shares, st.floats(0.02, 1)),
    st.builds(
        Design.of_folds,
        st.floats(0.001, 1),
        st.integers(5, 500),  # with fewer, a plan may need too many
        st.integers(50, 10_000),
    ),
    st.builds(Design.with_machine, st.floats(0.01, 1), st.floats(0, 1), st.integers(100, 2000)),
)


@given(designs, st.floats(0.5, 5), st.floats(0.3, 0.99), sides)
def test_needed_and_detectable_are_each_other_s_inverse(design, factor, power, side):
    goal = Goal(power, 0.95, side)
    delta = goal.sign * min(factor * design.error(200, 0.0), 1 if design.most == 1 else math.inf)
    n = design.needed(delta, goal)
    least = 1 if design.size else 2
    assert design.power(n, delta, goal) >= power - 1e-9
    assert n == least or design.power(n - 1, delta, goal) < power
    assert abs(design.detectable(n, goal)) <= abs(delta) * (1 + 1e-9)
    assert design.power(n, design.detectable(n, goal), goal) == pytest.approx(power, abs=1e-9)
    assert design.needed(delta / 2, goal) >= n


def test_an_interval_that_is_as_narrow_as_asked():
    for design, error, df in (
        (Design.of_units(0.15), lambda n: 0.15 / math.sqrt(n), lambda n: n - 1),
        (Design.of_shares(0.2), lambda n: math.sqrt(0.2 / n), lambda n: n - 1),
        (Design.of_folds(0.02, 30, 700), lambda n: 0.02 * math.sqrt(700 / n), lambda _: 30),
    ):
        n = design.for_width(0.011, 0.9)
        narrow, wide = (stats.t.isf(0.05, df(size)) * error(size) for size in (n, n - 1))
        assert narrow <= 0.011 < wide


def test_far_out_the_denominator_alone_decides():
    # t = (Z + shift) / (chi / sqrt(n - 1)), and Z is nothing beside a large shift.
    for n, alpha in ((2, 1e-6), (3, 1e-9), (5, 1e-12)):
        critical = stats.t.isf(alpha / 2, n - 1)
        shift = stats.chi.ppf(0.8, n - 1) / math.sqrt(n - 1) * critical
        found = detectable(1, n, level=1 - alpha)
        assert found == pytest.approx(shift / math.sqrt(n), rel=1 / shift)
    for n, alpha in ((2, 1e-3), (3, 1e-8), (30, 1e-8)):  # no step where the formula changes
        below, above = (power_of(FAR * factor, n - 1, alpha) for factor in (1 - 1e-9, 1 + 1e-9))
        assert below == pytest.approx(above, abs=1e-7)


def exact_power(n, discordant, delta, goal):
    """The power of McNemar's test if the systems differ by delta on this share of the units."""
    units = np.arange(n + 1)
    tail = (1 - goal.level) / (2 if goal.alternative == "two-sided" else 1)
    wins = stats.binom.isf(tail * (1 + 1e-12), units, 0.5) + 1  # the fewest that are significant
    share = (discordant + delta) / 2 / discordant
    rejected = stats.binom.sf(wins - 1, units, share)
    if goal.alternative == "two-sided":
        rejected += stats.binom.cdf(units - wins, units, share)
    return stats.binom.pmf(units, n, discordant) @ rejected


@pytest.mark.parametrize("goal", [Goal(), Goal(0.9, 0.99), Goal(0.8, 0.95, "greater")])
def test_plans_for_successes_and_failures_are_those_of_the_exact_test(goal):
    """Within 2 %, or two units, unless one system wins on nearly all units that differ."""
    for discordant, part, most in (
        (0.1, 0.35, 0.02),
        (0.2, 0.2, 0.02),
        (0.3, 0.5, 0.02),
        (0.5, 0.8, 0.05),
        (0.8, 0.35, 0.02),
    ):
        delta = part * discordant
        planned = Design.of_shares(discordant).needed(delta, goal)
        n = smallest_n(lambda n: exact_power(n, discordant, delta, goal) >= goal.power)  # noqa: B023
        while exact_power(n - 1, discordant, delta, goal) >= goal.power:
            n -= 1  # the power has steps: it goes up and down as units are added
        assert planned == pytest.approx(n, rel=most, abs=100 * most), discordant


# Pilots


def pilot(*gaps, **more):
    base = GENERATOR.uniform(size=len(gaps[0]))
    values = np.stack([base, *(base + np.asarray(gap) for gap in gaps)], axis=1)
    names = [f"s{number}" for number in range(len(gaps) + 1)]
    return Scores("AP", names, range(len(base)), values, **more)


def test_a_pilot_has_the_standard_deviation_of_its_differences_and_a_bound():
    [plan] = heldout.power(pilot([0.1, 0.3, 0.2]), differences=[0.05])
    assert plan.sd == pytest.approx(0.1)
    # chi-square with two degrees of freedom: lower 20 % point is -2 ln .8.
    assert plan.bound == pytest.approx(0.1 * math.sqrt(2 / (-2 * math.log(0.8))))
    assert plan.needed == ((0.05, needed(0.1, 0.05)),)
    assert f"plan with {plan.bound:.4f}, too" in str(plan)
    assert "--" not in str(plan)  # options are for the command line
    [plan] = heldout.power(pilot(GENERATOR.normal(size=10)))
    assert "Warning" not in str(plan)
    gap = GENERATOR.normal(0, 0.2, 20)
    plans = heldout.power(pilot(np.full(20, 0.25), gap))
    assert [plan.what for plan in plans] == ["s1 - s0, AP", "s2 - s0, AP", "s2 - s1, AP"]
    assert str(plans[0]) == "s1 - s0, AP: all differences are equal: nothing to plan from."
    sd = f"s2 - s0, AP: differences have standard deviation {gap.std(ddof=1):.4f}"
    assert sd in str(plans[1])


def test_folds_have_the_standard_error_of_their_interval():
    gaps = [0.04, 0.01, 0.06, 0.01, 0.05]
    folds = {"A": [0.5] * 5, "B": [0.5 + gap for gap in gaps]}
    difference = compare(Scores.of(folds), test_share=0.25).claims[0].difference
    half = (difference.high - difference.low) / 2
    [plan] = heldout.power(folds, test_share=0.25, half_widths=[half], differences=[0.05])
    assert plan.intervals == ((half, 100),)  # per cent of the data
    assert plan.design.df(7) == 4
    assert [amount for amount, _ in plan.detectable] == [100, 200, 400, 1000]


def test_plans_with_machine_judgements():
    # 2,000 draws from normal differences: standard error of the power .009.
    correlation, total = 0.7, 400
    n = Design.with_machine(1.0, correlation, total).needed(0.35)
    assert 30 < n < 45  # 67 without the machine
    generator = np.random.default_rng(0)
    human = generator.normal(0.35, 1, (total, 2000))
    noise = generator.normal(0, 1, human.shape)
    machine = 2 + correlation * human + np.sqrt(1 - correlation**2) * noise
    means = combined_means(human[:n], machine[:n], machine[n:])
    rejected = np.abs(means.estimate.t) > stats.t.ppf(0.975, n - 1)
    assert rejected.mean() == pytest.approx(0.8, abs=0.05)
    # Without correlation, and with all judged by people, it is the t test.
    for design in (Design.with_machine(0.3, 0.0, 500), Design.with_machine(0.3, 0.8, 100)):
        assert design.detectable(145) == pytest.approx(detectable(0.3, 145))
        assert design.for_width(0.05) == Design.of_units(0.3).for_width(0.05)
    sizes = [Design.with_machine(0.15, r, 1000).needed(0.03) for r in (0.0, 0.5, 0.8)]
    assert sizes == [199, 157, 84]


def test_the_correlation_of_a_pilot_is_adjusted_and_not_negative():
    human = GENERATOR.normal(size=30)
    machine = human + GENERATOR.normal(size=30)
    plain = np.corrcoef(human, machine)[0, 1]
    adjusted = np.sqrt(1 - (1 - plain**2) * 29 / 28)
    assert pilot_correlation(human, machine) == pytest.approx(adjusted)
    assert pilot_correlation(human, -machine) == pilot_correlation(human, np.ones(30)) == 0
    judged = MachineScores(np.stack([np.zeros(30), machine], axis=1), np.zeros((70, 2)))
    [plan] = heldout.power(pilot(human, machine=judged), differences=[0.5])
    expected = Design.with_machine(human.std(ddof=1), adjusted, 100)
    assert plan.needed == ((0.5, expected.needed(0.5)),)
    assert "which judged 100 queries (pilot of 30 queries)" in str(plan)


# Simulation


def test_simulated_power_of_means_is_that_of_the_formula():
    """A large normal pilot: the test on samples of it has about the power of the noncentral t."""
    gaps = stats.norm.ppf((np.arange(4000) + 0.5) / 4000) * 0.2 + 0.08
    [plan] = heldout.power(pilot(gaps), units=[50], simulations=300)
    [found] = plan.simulated
    assert (found.n, found.test, found.simulations) == (50, "randomization", 300)
    assert found.difference == pytest.approx(0.08)
    assert found.power == pytest.approx(Design.of_units(0.2).power(50, 0.08), abs=4 * 0.024)
    assert found.error == pytest.approx(math.sqrt(found.power * (1 - found.power) / 300))


PAIR = [of_classes("A", 0.3, 60), of_classes("B", 1.0, 60)]


def test_simulated_power_of_f1_is_that_of_comparing_samples():
    """The same samples, drawn and compared through the front door."""
    [plan] = heldout.power(PAIR, "F1(macro)", units=[30], simulations=25, seed=4)
    shown = 0
    for number in range(25):
        rows = np.random.default_rng([4, number]).integers(0, 60, 30).tolist()
        ids = tuple(map(str, range(30)))
        drawn = [
            ClassPredictions(one.name, ids, one.classes, one.truth[rows], one.predicted[rows])
            for one in PAIR
        ]
        claim = compare(drawn, "F1(macro)", replicates=999, seed=number).claims[0]
        shown += claim.adjusted <= 0.05
    assert plan.simulated[0].test == "randomization"
    assert plan.simulated[0].power == shown / 25
    values = compare(PAIR, "F1(macro)").scores.values
    assert plan.sd == pytest.approx((values[:, 1] - values[:, 0]).std(ddof=1))


def test_simulation_of_groups_texts_and_successes():
    # Of two copies of each row in a group, as many groups have the power of as many rows.
    ids, groups = tuple(map(str, range(120))), tuple(str(number // 2) for number in range(120))
    twice = [
        ClassPredictions(one.name, ids, one.classes, *rows, groups=groups)
        for one in PAIR
        for rows in [(np.repeat(one.truth, 2), np.repeat(one.predicted, 2))]
    ]
    powers = [
        heldout.power(pair, "F1(macro)", units=[30], simulations=15)[0].simulated[0].power
        for pair in (PAIR, twice)
    ]
    assert powers[0] == pytest.approx(powers[1], abs=0.07)  # one of 15
    references = ["a b c d", "a b e f", "d e f g", "y z a b"] * 3
    systems = {"A": ["a b c d", "x", "y", "y z a c"] * 3, "B": references}
    evaluation = heldout.evaluate(references, systems, "BLEU")
    [plan] = heldout.power(evaluation, units=[24], simulations=10)
    assert plan.simulated[0].power > 0.9
    [plan] = heldout.power(PAIR, "accuracy", units=[100], simulations=40)
    assert plan.simulated[0].test == "mcnemar"
    [less] = heldout.power(PAIR, "accuracy", units=[100], simulations=10, alternative="less")
    assert less.simulated[0].power == 0 < plan.simulated[0].power
    assert "one system succeeds where the other fails on" in str(plan)


def by_document():
    texts = {f"d{n}": f"a{n % 3} b{n % 5}" for n in range(20)}
    judged = {"q": {f"d{n}": 1 for n in range(0, 20, 3)}}
    collection = heldout.Collection(texts, {"q": "a0"}, judged)
    settings = {"by": "document", "plan": heldout.KFold(2)}
    return heldout.Experiment(collection=collection, systems=["bm25", "ql-jm"], **settings).run()


def test_impossible_plans_are_refused():
    two = pilot([0.1, 0.3, 0.2, 0.5])
    for plan, words in (
        ({}, "either a pilot study or sd"),
        ({"pilot": two, "sd": 1}, "either a pilot study or sd"),
        ({"sd": 0}, "sd=0"),
        ({"sd": 1, "units": [1]}, "units=1: expected at least 2"),
        ({"sd": 1, "differences": [math.nan]}, "differences=nan"),
        ({"sd": 1, "differences": [0]}, "other than zero"),
        ({"sd": 1, "differences": [-0.1], "alternative": "greater"}, "has the wrong sign"),
        ({"sd": 1, "differences": [1e-6]}, "more than 100,000,000 units"),
        ({"sd": 1, "half_widths": [0]}, "above 0"),
        ({"sd": 1, "power": 0.01}, r"power=0\.01"),
        ({"sd": 1, "power": 1.0}, r"power=1"),
        ({"sd": 1, "level": 5}, "level=5"),
        ({"sd": 1, "alternative": "more"}, "alternative='more'"),
        ({"sd": 1, "simulations": 10}, "need a pilot with values"),
        ({"sd": 1, "measure": "AP"}, "measure='AP': goes with a pilot study, not with sd=NUMBER"),
        ({"pilot": two, "measure": "RR"}, "scores in AP, not in RR"),
        ({"pilot": pilot(np.zeros(20))}, "s1 - s0, AP: all differences are equal"),
        ({"pilot": two, "simulations": 10, "units": [1]}, "at least 2 units"),
        ({"pilot": two, "simulations": 10, "test_share": 0.1}, "need a pilot with values"),
        ({"pilot": two, "test_share": 0}, "test_share=0"),
        ({"pilot": {"A": [1, 2, 3]}}, r"one system \(A\)"),
        ({"pilot": PAIR[:1]}, "at least two"),
        ({"pilot": PAIR, "test_share": 0.1}, "know their own"),
        ({"pilot": by_document()}, "plan from an experiment that holds out queries"),
    ):
        with pytest.raises(InputError, match=words) as refused:
            heldout.power(**plan)
        assert "--" not in str(refused.value)

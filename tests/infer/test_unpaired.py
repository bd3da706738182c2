"""Independent samples: against SciPy, enumeration, and simulation under a null."""

from __future__ import annotations

import json
import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from heldout import InputError, Scores
from heldout.cli.main import main
from heldout.infer.unpaired import (
    compare_unpaired,
    unpaired_permutation_test,
    welch_interval,
    welch_test,
)

ALTERNATIVES = ("two-sided", "greater", "less")
samples = st.lists(st.integers(-50, 50).map(lambda n: n / 8), min_size=2, max_size=9)


@pytest.mark.parametrize("alternative", ALTERNATIVES)
@given(first=samples, second=samples)
def test_welch_of_scipy(alternative, first, second):
    if np.ptp(first) == 0 or np.ptp(second) == 0:
        return  # SciPy warns about the loss of precision
    theirs = stats.ttest_ind(first, second, equal_var=False, alternative=alternative)
    assert welch_test(first, second, alternative=alternative).p == pytest.approx(theirs.pvalue)
    bounds = stats.ttest_ind(first, second, equal_var=False).confidence_interval(0.9)
    found = welch_interval(first, second, 0.9)
    assert (found.low, found.high) == pytest.approx((bounds.low, bounds.high))


@pytest.mark.parametrize("alternative", ALTERNATIVES)
def test_all_divisions_are_those_of_scipy(alternative):
    generator = np.random.default_rng(2)
    first, second = generator.normal(0, 1, 6), generator.normal(0.8, 2, 5)

    def welch(one, two, axis):
        error = np.sqrt(
            one.var(axis=axis, ddof=1) / one.shape[axis]
            + two.var(axis=axis, ddof=1) / two.shape[axis]
        )
        return (one.mean(axis=axis) - two.mean(axis=axis)) / error

    found = unpaired_permutation_test(first, second, alternative=alternative)
    assert found.method == "exact"
    if alternative == "two-sided":
        theirs = stats.permutation_test(
            (first, second),
            lambda *given, axis: np.abs(welch(*given, axis)),
            n_resamples=np.inf,
            alternative="greater",
            vectorized=True,
        )
    else:
        theirs = stats.permutation_test(
            (first, second), welch, n_resamples=np.inf, alternative=alternative, vectorized=True
        )
    assert found.p == pytest.approx(theirs.pvalue)


def test_random_divisions_come_close_to_all_of_them():
    generator = np.random.default_rng(4)
    first, second = generator.normal(0, 1, 12), generator.normal(0.7, 1, 11)
    drawn = unpaired_permutation_test(first, second, replicates=20_000)
    assert drawn.method == "monte carlo"
    assert drawn.p == pytest.approx(welch_test(first, second).p, abs=0.02)
    again = unpaired_permutation_test(first, second, replicates=20_000)
    assert drawn == again


def test_level_under_unequal_variances():
    """No difference, unequal sizes and spreads: 2,000 draws, standard error .005."""
    generator = np.random.default_rng(6)
    shown = [
        welch_test(generator.normal(0, 1, 30), generator.normal(0, 3, 10)).p <= 0.05
        for _ in range(2000)
    ]
    assert 0.035 <= np.mean(shown) <= 0.065


def test_scores_that_do_not_vary():
    assert welch_test([1, 1], [1, 1]).p == 1
    assert welch_test([1, 1], [2, 2]).p == 0
    assert welch_test([1, 1], [2, 2], alternative="greater").p == 1
    assert unpaired_permutation_test([1, 1], [2, 2]).p == pytest.approx(2 / 6)
    assert unpaired_permutation_test([1, 1], [1, 1]).p == 1


def test_several_systems_and_directions():
    generator = np.random.default_rng(8)
    table = {
        name: generator.normal(mean, 1, 20).tolist()
        for name, mean in (("A", 0), ("B", 0), ("C", 2))
    }
    found = compare_unpaired(table, replicates=500)
    assert [(one.first, one.second) for one in found.claims] == [("B", "A"), ("C", "A"), ("C", "B")]
    raw = [one.outcomes[0].p for one in found.claims]
    assert found.claims[0].adjusted >= raw[0]
    assert found.correction == "holm"
    assert found.claims[1].adjusted < 0.01
    errors = compare_unpaired(
        table, baseline="A", alternative="greater", higher_is_better=False, replicates=500
    )
    assert [one.second for one in errors.claims] == ["A", "A"]
    assert errors.claims[1].adjusted > 0.9
    assert errors.claims[1].difference.low == -math.inf


def test_intervals_stay_inside_the_range():
    found = compare_unpaired({"A": [0.0, 0.9], "B": [1.0, 0.3]}, ends=(0.0, 1.0))
    assert -1 <= found.claims[0].difference.low < found.claims[0].difference.high <= 1
    assert all(0 <= mean.low <= mean.high <= 1 for _, mean, _ in found.systems)


def test_shared_units_are_refused_and_others_are_pointed_here():
    with pytest.raises(InputError, match="unit q2 has scores of A and of B"):
        compare_unpaired({"A": {"q1": 1.0, "q2": 0.5}, "B": {"q2": 0.1, "q3": 0.2}})
    with pytest.raises(InputError, match="--unpaired"):
        Scores.of({"A": {"q1": 1.0}, "B": {"q2": 0.5}})
    with pytest.raises(InputError, match="at least two"):
        compare_unpaired({"A": [1.0, 2.0]})


def test_the_command(tmp_path, capsys):
    table = tmp_path / "scores.csv"
    rows = [f"A,a{n},{0.1 * (n % 4)}" for n in range(8)] + [
        f"B,b{n},{0.5 + 0.1 * (n % 3)}" for n in range(6)
    ]
    table.write_text("system,unit,value\n" + "\n".join(rows) + "\n")
    main(["compare", "--scores", str(table), "--unpaired"])
    out = capsys.readouterr().out
    assert "B and A are significantly different in score" in out
    main(["compare", "--scores", str(table), "--unpaired", "--json"])
    found = json.loads(capsys.readouterr().out)
    assert found["design"] == "unpaired"
    assert [one["units"] for one in found["systems"]] == [8, 6]
    assert [one["test"] for one in found["claims"][0]["tests"]] == ["welch", "permutation"]
    with pytest.raises(SystemExit) as stopped:
        main(["compare", "--scores", str(table), "--unpaired", "--test", "t"])
    assert stopped.value.code == 2
    assert "--test is for paired units" in capsys.readouterr().err

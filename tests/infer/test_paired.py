"""Classical paired tests, against published numbers and SciPy."""

from __future__ import annotations

import itertools
import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from heldout.errors import InputError
from heldout.infer.paired import (
    corrected_t_test,
    mcnemar_test,
    sign_test,
    t_test,
    wilcoxon_test,
)
from heldout.infer.results import drop_noise

# The ten folds of a worked example.
A = np.array([0.2, 0.3, 0.1, 0.4, 1, 0.8, 0.3, 0.1, 0, 0.9])
B = np.array([0.5, 0.3, 0.1, 0.4, 1, 0.9, 0.1, 0.2, 0.5, 0.8])
# Darwin's maize, as tested by Fisher (The Design of Experiments, 1935).
MAIZE = [49, -67, 8, 16, 6, 23, 28, 41, 14, 29, 56, 24, 75, 60, -48]
TAILS = ("two-sided", "greater", "less")
SCIPY_TAIL = {"two-sided": "two-sided", "greater": "greater", "less": "less"}

steps = st.lists(st.integers(-6, 6), min_size=2, max_size=12)
numbers = st.lists(st.floats(-1, 1).map(lambda x: round(x, 6)), min_size=2, max_size=60)


class TestPublished:
    def test_ten_folds(self):
        outcome = t_test(drop_noise(B, A))
        assert outcome.statistic == pytest.approx(1.10526, abs=5e-6)
        assert outcome.p == pytest.approx(0.29771506, abs=5e-9)
        assert outcome.detail == "9 degrees of freedom"

    def test_maize(self):
        assert t_test(MAIZE).p == pytest.approx(0.04970294, abs=5e-9)

    def test_wilcoxon_of_the_depression_scale(self):
        # Hollander & Wolfe (1973), 29 f., the example of R's wilcox.test: V = 40, p = .01953.
        before = np.array([1.83, 0.50, 1.62, 2.48, 1.68, 1.88, 1.55, 3.06, 1.30])
        after = np.array([0.878, 0.647, 0.598, 2.05, 1.06, 1.29, 1.06, 3.14, 1.29])
        outcome = wilcoxon_test(before - after, alternative="greater")
        assert (outcome.statistic, outcome.method) == (40.0, "exact")
        assert outcome.p == pytest.approx(0.01953125, abs=1e-12)

    def test_mcnemar_exact(self):
        # Fagerland, Lydersen & Laake (2013), table 1: 1 and 7 discordant, p .0703, mid-p .0391.
        first = [1] * 1 + [0] * 7 + [1] * 1 + [0] * 12
        second = [0] * 1 + [1] * 7 + [1] * 1 + [0] * 12
        outcome = mcnemar_test(first, second)
        assert outcome.p == pytest.approx(0.0703125, abs=1e-12)
        assert outcome.detail == "1 of 8 discordant units won; mid-p 0.0390625"

    def test_corrected_t_of_the_grid_search_example(self):
        # scikit-learn, "Statistical comparison of models using grid search".
        differences = grid_search_differences()
        corrected = corrected_t_test(differences, 10 / 90, alternative="greater")
        assert corrected.statistic == pytest.approx(0.7503126954, abs=5e-10)
        assert corrected.p == pytest.approx(0.2274229710, abs=5e-10)
        assert t_test(differences).statistic == pytest.approx(2.6111648393, abs=5e-10)


def grid_search_differences():
    """The example's two best models, 100 differences of their areas under the curve."""
    reason = "reruns scikit-learn's example"
    datasets = pytest.importorskip("sklearn.datasets", reason=reason)
    selection = pytest.importorskip("sklearn.model_selection", reason=reason)
    svc = pytest.importorskip("sklearn.svm", reason=reason).SVC
    inputs, labels = datasets.make_moons(noise=0.352, random_state=1, n_samples=100)
    folds = selection.RepeatedStratifiedKFold(n_splits=10, n_repeats=10, random_state=0)
    best, second = (
        selection.cross_val_score(svc(kernel=kernel), inputs, labels, cv=folds, scoring="roc_auc")
        for kernel in ("rbf", "linear")
    )
    return best - second


class TestAgainstScipy:
    @pytest.mark.parametrize("tail", TAILS)
    def test_t(self, tail):
        rng = np.random.default_rng(1)
        for n in (2, 3, 10, 200):
            first, second = rng.normal(0.1, 1, n), rng.normal(0, 1, n)
            theirs = stats.ttest_rel(first, second, alternative=SCIPY_TAIL[tail])
            ours = t_test(first - second, alternative=tail)
            assert (ours.statistic, ours.p) == pytest.approx(tuple(theirs), rel=1e-10)

    @pytest.mark.parametrize("tail", TAILS)
    @pytest.mark.parametrize("n", [1, 2, 9, 30, 50])
    def test_wilcoxon_exact(self, tail, n):
        values = np.random.default_rng(n).normal(0.2, 1, n)
        theirs = stats.wilcoxon(values, alternative=SCIPY_TAIL[tail], method="exact")
        ours = wilcoxon_test(values, alternative=tail)
        assert ours.method == "exact"
        assert ours.p == pytest.approx(theirs.pvalue, rel=1e-12)

    @pytest.mark.parametrize("tail", TAILS)
    @pytest.mark.parametrize("digits", [1, 8])
    def test_wilcoxon_normal_with_ties_and_zeros(self, tail, digits):
        values = np.random.default_rng(3).normal(0.1, 1, 120).round(digits)
        theirs = stats.wilcoxon(
            values, alternative=SCIPY_TAIL[tail], method="asymptotic", correction=True
        )
        ours = wilcoxon_test(values, alternative=tail)
        assert ours.method == "normal"
        assert ours.p == pytest.approx(theirs.pvalue, rel=1e-10)

    @pytest.mark.parametrize("tail", TAILS)
    def test_sign(self, tail):
        for wins, losses in itertools.product((0, 1, 7, 60), (0, 3, 40)):
            ours = sign_test([1.0] * wins + [-0.5] * losses + [0.0], alternative=tail)
            if wins + losses:
                theirs = stats.binomtest(wins, wins + losses, 0.5, SCIPY_TAIL[tail]).pvalue
                assert ours.p == pytest.approx(theirs, rel=1e-10)
            else:
                assert ours.p == 1

    def test_mcnemar_is_the_sign_test(self):
        rng = np.random.default_rng(5)
        first, second = rng.integers(0, 2, (2, 40)).astype(float)
        for tail in TAILS:
            ours = mcnemar_test(first, second, alternative=tail).p
            assert ours == sign_test(first - second, alternative=tail).p


def enumerate_wilcoxon(values):
    """P of the rank sum by all sign assignments: greater, less, two."""
    kept = np.array([v for v in values if v])
    ranks = stats.rankdata(np.abs(kept))
    observed = ranks[kept > 0].sum()
    sums = np.array([np.dot(s, ranks) for s in itertools.product((0, 1), repeat=len(kept))])
    greater, less = (sums >= observed).mean(), (sums <= observed).mean()
    return greater, less, min(1, 2 * min(greater, less))


class TestProperties:
    @given(st.lists(st.integers(-4, 4), min_size=1, max_size=9))
    def test_wilcoxon_with_ties_is_the_enumeration(self, values):
        ours = [
            wilcoxon_test(values, alternative=tail).p for tail in ("greater", "less", "two-sided")
        ]
        assert ours == pytest.approx(enumerate_wilcoxon(values), abs=1e-12)

    @given(steps)
    def test_rounding_does_not_undo_ties(self, values):
        tenths = [v * 0.1 + 0.7 - 0.7 if v else 0.0 for v in values]
        assert wilcoxon_test(tenths).p == pytest.approx(wilcoxon_test(values).p)

    @pytest.mark.parametrize("test", [t_test, wilcoxon_test, sign_test])
    @given(values=numbers)
    def test_tails(self, test, values):
        two, greater, less = (test(values, alternative=tail).p for tail in TAILS)
        assert all(0 <= p <= 1 for p in (two, greater, less))
        assert greater + less >= 1 - 1e-9  # a discrete statistic counts its own point twice
        assert two == pytest.approx(min(1, 2 * min(greater, less)), abs=1e-9)
        negated = [-v for v in values]
        assert test(negated, alternative="greater").p == pytest.approx(less, abs=1e-12)
        assert test(negated).p == pytest.approx(two, abs=1e-12)

    @given(numbers, st.floats(0.01, 1))
    def test_the_correction_never_finds_more(self, values, share):
        assert corrected_t_test(values, share).p >= t_test(values).p - 1e-12

    @pytest.mark.parametrize("test", [t_test, wilcoxon_test, sign_test])
    def test_a_copy_is_never_significant(self, test):
        assert [test(np.zeros(20), alternative=tail).p for tail in TAILS] == [1, 1, 1]


class TestWithoutVariance:
    def test_no_discordant_units(self):
        outcome = mcnemar_test([0, 1, 1], [0, 1, 1])
        assert outcome.p == 1
        assert outcome.detail == "0 of 0 discordant units won; mid-p 1"

    @pytest.mark.parametrize("constant", [0.25, -0.25])
    def test_constant(self, constant):
        side, other = ("greater", "less") if constant > 0 else ("less", "greater")
        outcome = t_test([constant] * 5)
        assert (outcome.p, outcome.method) == (2**-4, "no variance")
        assert outcome.statistic == math.copysign(math.inf, constant)
        assert t_test([constant] * 5, alternative=side).p == 2**-5
        assert t_test([constant] * 5, alternative=other).p == 1
        assert corrected_t_test([constant] * 5, 0.1).p == 2**-4

    def test_constant_but_for_rounding(self):
        assert t_test([0.9 - 0.8, 0.3 - 0.2, 0.1, 0.7 - 0.6]).method == "no variance"


class TestErrors:
    def test_one_unit(self):
        with pytest.raises(InputError, match="at least 2 units, found 1"):
            t_test([0.1])

    def test_not_finite(self):
        with pytest.raises(InputError, match="unit number 2 is nan"):
            wilcoxon_test([0.1, math.nan])

    def test_tail(self):
        with pytest.raises(InputError, match="alternative='both'"):
            sign_test([0.1, 0.2], alternative="both")  # type: ignore[arg-type]

    def test_mcnemar_takes_zero_and_one(self):
        with pytest.raises(InputError, match=r"second: unit number 2 is 0\.5"):
            mcnemar_test([0, 1], [0, 0.5])
        with pytest.raises(InputError, match="first has 2 units, second 3"):
            mcnemar_test([0, 1], [0, 1, 1])

    @pytest.mark.parametrize("share", [0, -1, math.nan, math.inf])
    def test_share(self, share):
        with pytest.raises(InputError, match="test_share"):
            corrected_t_test([0.1, 0.2], share)

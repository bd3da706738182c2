"""Several systems on the same units: ANOVA, Tukey, Friedman, Nemenyi, corrections and letters."""

import math
from itertools import combinations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from inference_data import SAKAI, codes, scores_of
from scipy import stats

from heldout import compare
from heldout.infer import blocks
from heldout.infer.corrections import adjust, compact_letters

# Hit rate at 3 of Coco, knn, logic, sexy, sexy2, pop on ten folds.
HITRATE = np.array(
    [
        [58.69, 57.25, 50.36, 58.71, 59.47, 30.23],
        [58.47, 57.27, 50.09, 58.37, 59.23, 30.28],
        [58.40, 57.30, 50.14, 58.49, 59.33, 30.28],
        [58.77, 57.28, 50.46, 58.67, 59.76, 30.59],
        [58.67, 57.41, 50.44, 58.86, 59.74, 30.49],
        [58.87, 57.81, 50.56, 58.89, 59.69, 30.62],
        [58.64, 57.58, 50.49, 58.71, 59.60, 30.52],
        [58.67, 57.71, 50.44, 58.60, 59.37, 30.70],
        [58.60, 57.49, 50.12, 58.70, 59.40, 30.18],
        [58.84, 57.79, 50.36, 59.04, 59.41, 30.49],
    ]
)
# The differences of all fifteen pairs, by the column means of that table: knn-Coco, logic-Coco, ...
DIFFERENCES = [-1.173, -8.316, 0.042, 0.838, -28.224, -7.143, 1.215, 2.011]
DIFFERENCES += [-27.051, 8.358, 9.154, -19.908, 0.796, -28.266, -29.062]


# Analysis of variance


def test_published_analyses_of_variance():
    found = blocks.anova(HITRATE)
    assert found.systems.f == pytest.approx(86782.758, abs=5e-4)
    assert (found.systems.df, found.residual.df) == (5, 45)
    assert found.blocks.f == pytest.approx(8.843, abs=5e-4)
    assert found.blocks.p == pytest.approx(1.64e-07, abs=5e-10)
    found = blocks.anova(SAKAI)
    assert found.systems.sum_of_squares == pytest.approx(0.1083, abs=5e-5)
    assert found.blocks.sum_of_squares == pytest.approx(1.0293, abs=5e-5)
    assert found.residual.sum_of_squares == pytest.approx(0.8317, abs=5e-5)
    assert found.systems.f == pytest.approx(2.475, abs=5e-4)
    assert found.systems.p == pytest.approx(0.098, abs=5e-4)
    assert found.systems.partial_eta_squared == pytest.approx(0.1083 / (0.1083 + 0.8317), abs=1e-4)
    # statsmodels 0.15.0: anova_lm(ols("y ~ C(s) + C(u)", frame).fit())
    found = blocks.anova(np.random.default_rng(1).normal(size=(9, 4)) + np.arange(4) / 3)
    for row, expected in (
        (found.systems, (3, 8.807299539653, 3.815996148433, 0.022850375893)),
        (found.blocks, (8, 11.851476163607, 1.925612407780, 0.102563873268)),
    ):
        assert (row.df, row.sum_of_squares, row.f, row.p) == pytest.approx(expected, rel=1e-9)
    assert found.residual.mean_square == pytest.approx(0.769331623781)
    assert found.total == pytest.approx(sum(row.sum_of_squares for row in found[:3]))


def test_systems_that_differ_by_constants():
    units = np.random.default_rng(0).random(7)
    found = blocks.anova(np.column_stack([units, units + 0.1, units + 0.7]))
    assert found.residual.mean_square == 0
    assert math.isinf(found.systems.f)
    assert found.systems.p == 0
    copies = np.column_stack([units, units, units])
    assert blocks.anova(copies).systems.p == 1
    assert math.isnan(blocks.anova(copies).systems.f)
    assert blocks.sphericity(copies) == (1, 1)


def test_sphericity_by_the_covariance_of_the_systems():
    values = np.random.default_rng(8).normal(size=(15, 4)) @ np.diag([1, 2, 1, 3])
    cover, k = np.cov(values, rowvar=False), 4
    # Greenhouse and Geisser's own formula
    mean, rows = cover.mean(), cover.mean(0)
    top = k**2 * (np.diag(cover).mean() - mean) ** 2
    below = (k - 1) * ((cover**2).sum() - 2 * k * (rows**2).sum() + k**2 * mean**2)
    found, epsilon = blocks.sphericity(values), top / below
    assert found.greenhouse_geisser == pytest.approx(epsilon)
    f = blocks.anova(values).systems.f
    assert found.corrected_p == pytest.approx(stats.f.sf(f, 3 * epsilon, 42 * epsilon))
    two = blocks.sphericity(np.array([[1, 2], [2, 5], [3, 3]]))
    assert two.greenhouse_geisser == pytest.approx(1)
    few = blocks.sphericity(np.random.default_rng(0).random((3, 5)))
    assert 0.25 <= few.greenhouse_geisser <= 1


# Tukey's honestly significant differences


def by_pair(values, level=0.95):
    """Interval and p of each pair, later minus earlier, in the order of R."""
    second, first = np.triu_indices(values.shape[1], 1)
    rows = zip(*blocks.tukey_hsd(values, level), strict=True)
    return dict(zip(zip(first.tolist(), second.tolist(), strict=True), rows, strict=True))


def test_published_tukey_tests():
    found = by_pair(HITRATE)
    intervals = [interval for interval, _ in found.values()]
    assert [interval.estimate for interval in intervals] == pytest.approx(DIFFERENCES, abs=1e-9)
    for interval in intervals:
        assert interval.high - interval.estimate == pytest.approx(0.161851, abs=5e-7)
        assert interval.estimate - interval.low == pytest.approx(0.161851, abs=5e-7)
    assert [pair for pair, (_, p) in found.items() if p >= 1e-7] == [(3, 0)]
    (close, p), (far, _) = found[3, 0], found[4, 3]  # sexy-Coco, sexy2-sexy
    assert (close.low, close.high) == pytest.approx((-0.119851, 0.203851), abs=5e-7)
    assert p == pytest.approx(0.9708136, abs=5e-8)
    assert (far.low, far.high) == pytest.approx((0.634149, 0.957851), abs=5e-7)
    different = [pair for pair, (_, p) in found.items() if p < 0.05]
    order = np.argsort(-HITRATE.mean(0)).tolist()
    assert compact_letters(6, different, order) == ["b", "c", "d", "b", "a", "e"]
    expected = [0.2566977464, 0.0956868471, 0.8549631811]  # 1-0, 2-0, 2-1
    assert blocks.tukey_hsd(SAKAI)[1] == pytest.approx(expected, abs=1e-10)
    # Not the one-way p-values (.3941, ...), which leave differences between topics in the error.
    assert stats.tukey_hsd(*SAKAI.T).pvalue[0, 1] == pytest.approx(0.3941, abs=5e-5)
    # R: qtukey(.95, 3, 38), ptukey(3.5, 4, 20, lower = FALSE).
    assert blocks.critical_range(0.05, 3, 38) == pytest.approx(3.449020902, abs=1e-8)
    assert blocks.range_tail(np.array([3.5]), 4, 20) == pytest.approx(0.0949584505486, abs=1e-11)


@pytest.mark.parametrize(("units", "p"), [(9, 3 * 2.0**-8), (3, 0.75), (2, 1)])
def test_without_error_the_signs_decide(units, p):
    topics = np.random.default_rng(0).random(units)
    found = by_pair(np.column_stack([topics, topics, topics + 0.1]))
    (same, same_p), (apart, apart_p) = found[1, 0], found[2, 0]
    assert (same_p, apart_p) == (1, p)
    assert same.low == same.high == 0
    assert apart.low == pytest.approx(0.1 if p <= 0.05 else -math.inf)


@pytest.mark.parametrize(("k", "df"), [(15, 14), (60, 2891)])
def test_many_ranges_are_interpolated(k, df):
    ratios = np.linspace(0, 40, 200)
    expected = np.maximum(stats.studentized_range.sf(ratios[::20], k, df), 1e-10)
    np.testing.assert_allclose(blocks.range_tail(ratios, k, df)[::20], expected, atol=1e-10)


def test_unequal_variances_are_said_where_they_do_harm():
    generator = np.random.default_rng(2)
    values = generator.normal(0, [0.1, 0.1, 0.1, 2.0], (40, 4))
    alike = scores_of(generator.normal(0, 1, (200, 4)))
    said = codes(compare(scores_of(values), correction="tukey").warnings)
    assert "unequal-variances" in said
    assert "unequal-variances" not in codes(compare(alike, correction="tukey").warnings)
    assert "unequal-variances" not in codes(compare(scores_of(values)).warnings)


# Ranks


@pytest.mark.parametrize(
    ("systems", "level", "q"),
    [(2, 0.95, 1.960), (3, 0.95, 2.343), (4, 0.95, 2.569), (4, 0.90, 2.291), (10, 0.95, 3.164)],
)
def test_critical_differences_of_demsar(systems, level, q):
    # J. Demšar, Statistical comparisons of classifiers over multiple data sets (2006), table 5(a),
    # and section 3.2.2: four classifiers on fourteen data sets have CD .10 = 1.12.
    scores = np.random.default_rng(0).random((14, systems))
    found = blocks.nemenyi(scores, level).critical_difference
    root = math.sqrt(systems * (systems + 1) / (6 * 14))
    assert found == pytest.approx(q * root, abs=1e-3)
    if (systems, level) == (4, 0.90):
        assert round(found, 2) == 1.12


@given(
    arrays(np.int64, st.tuples(st.integers(2, 8), st.integers(3, 6)), elements=st.integers(0, 4))
)
def test_friedman_agrees_with_scipy(cells):
    scores = cells / 10
    ranks = np.apply_along_axis(stats.rankdata, 1, -cells)
    np.testing.assert_allclose(blocks.average_ranks(scores), ranks)
    np.testing.assert_allclose(blocks.average_ranks(scores + 0.7 - 0.7), ranks)  # rounding is a tie
    found = blocks.friedman(scores)
    assert found.ranks == pytest.approx(ranks.mean(0))
    if (cells == cells[:, :1]).all():
        assert (found.statistic, found.p) == (0, 1)
        return
    theirs = stats.friedmanchisquare(*cells.T)
    assert found.statistic == pytest.approx(theirs.statistic, abs=1e-9)
    assert found.p == pytest.approx(theirs.pvalue, abs=1e-9)


# Corrections and letters


def closed(p):
    """The largest Bonferroni p of all joint hypotheses: Marcus, Peritz & Gabriel (1976)."""
    found = np.zeros(len(p))
    for size in range(1, len(p) + 1):
        for some in combinations(range(len(p)), size):
            together = min(1, size * min(p[i] for i in some))
            found[[*some]] = np.maximum(found[[*some]], together)
    return found


@given(st.lists(st.floats(0, 1) | st.sampled_from([0.01, 0.02, 1.0]), min_size=1, max_size=6))
def test_corrections_by_their_definitions(p):
    bonferroni = [min(1, len(p) * one) for one in p]
    by_scipy = stats.false_discovery_control(p, method="bh")
    for method, expected in (("holm", closed(p)), ("bonferroni", bonferroni), ("bh", by_scipy)):
        np.testing.assert_allclose(adjust(p, method), expected, rtol=1e-12, atol=1e-300)
        assert adjust([], method).tolist() == []
    assert adjust(p, "none").tolist() == p


@given(data=st.data(), systems=st.integers(2, 7))
def test_letters_say_who_differs(data, systems):
    every = list(combinations(range(systems), 2))
    different = data.draw(st.lists(st.sampled_from(every), unique=True))
    order = data.draw(st.permutations(range(systems)))
    letters = compact_letters(systems, different, order)
    for pair in every:
        shared = set(letters[pair[0]]) & set(letters[pair[1]])
        assert bool(shared) == (pair not in different)


def test_letters_of_many_systems():
    letters = compact_letters(60, combinations(range(60), 2))
    assert letters[25:27] + letters[51:53] == ["z", "A", "Z", "a1"]
    assert compact_letters(3, []) == ["a", "a", "a"]

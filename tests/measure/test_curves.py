"""ROC curves, hulls and DeLong's variance: published numbers, definitions, any points."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from samples import by_score, classed, value
from scipy.stats import norm
from sklearn import metrics

from heldout.errors import InputError
from heldout.infer.intervals import area_interval, delong
from heldout.measure.base import Undefined
from heldout.measure.prediction.curves import curves, hull_of, roc_curve, roc_hull
from heldout.measure.prediction.order import auc_covariance


def auc(flags, scores, weights=None):
    return value("AUC", by_score(flags, scores, weights))


# Fawcett (2006), table 1: 20 units with their scores.
FAWCETT = [one == "p" for one in "ppnpppnnpnpnpnnnpnpn"]
FAWCETT_SCORES = [
    *(0.9, 0.8, 0.7, 0.6, 0.55, 0.54, 0.53, 0.52, 0.51, 0.505),
    *(0.4, 0.39, 0.38, 0.37, 0.36, 0.35, 0.34, 0.33, 0.30, 0.1),
]


def test_fawcetts_curve_and_hull():
    curve = roc_curve(FAWCETT, FAWCETT_SCORES)
    rates = [curve.at(threshold) for threshold in (math.inf, 0.7, 0.51, 0.0)]
    assert rates == [(0, 0), (0.1, 0.2), (0.3, 0.6), (1, 1)]
    assert curve.area == pytest.approx(0.68)
    hull = roc_hull({"fawcett": curve})
    corners = [(round(point.fp_rate, 9), round(point.tp_rate, 9)) for point in hull.points]
    assert corners == [(0, 0), (0, 0.2), (0.1, 0.5), (0.5, 0.8), (0.9, 1), (1, 1)]
    assert hull.area == pytest.approx(0.755)
    assert [point.threshold for point in hull.points[1:-1]] == [0.8, 0.54, 0.38, 0.3]
    assert hull.dominated == ()


def test_classifiers_without_scores():
    """TPR/FPR .4/.3, .7/.5, .6/.2: the first is worse than the third in both."""
    hull = roc_hull({"A": (0.3, 0.4), "B": (0.5, 0.7), "C": (0.2, 0.6)})
    assert [point.name for point in hull.points] == ["", "C", ""]
    # B is not worse than C in both, but C and "all positive" by turns are better than B.
    assert hull.dominated == ("A", "B")
    mixed = hull.mix(0.5)
    assert mixed.tp_rate == pytest.approx(0.75)
    assert (mixed.first.name, mixed.weight) == ("C", pytest.approx(0.375))
    # One on an edge of the hull is not dominated.
    assert roc_hull({"A": (0.2, 0.6), "middle": (0.6, 0.8)}).dominated == ()
    # Of those on the left or the top edge only the best is of use.
    assert roc_hull({"low": (0.0, 0.2), "high": (0.0, 0.5)}).dominated == ("low",)
    assert roc_hull({"few": (0.3, 1.0), "many": (0.6, 1.0)}).dominated == ("many",)


def test_curves_and_hulls_of_predictions():
    """A prediction is a score of two values; weights count."""
    scored = by_score(FAWCETT, FAWCETT_SCORES)
    assert curves([scored], "no")["A"].area == pytest.approx(0.68)
    truth = ["yes", "yes", "no", "no"]
    guessed = classed(truth, ["yes", "no", "yes", "no"], ("no", "yes"), weights=[3, 1, 1, 4])
    (point,) = (one for one in hull_of([guessed]).points if one.name)
    assert point[:3] == (0.2, 0.75, "A")
    assert hull_of([scored]).area == pytest.approx(0.755)
    three = classed("abc", scores=np.eye(3))
    assert curves([three], "b")["A"].area == 1
    for refused, says in (
        (lambda: curves([three]), "choose one with"),
        (lambda: curves([guessed]), "no scores"),
        (lambda: curves([scored, scored]), "duplicate system name A"),
        (lambda: hull_of([three]), "for two classes"),
    ):
        with pytest.raises(InputError, match=says):
            refused()


LABELLED = st.lists(st.tuples(st.booleans(), st.integers(0, 8)), min_size=2, max_size=40).filter(
    lambda rows: len({row[0] for row in rows}) == 2
)


@given(LABELLED, st.data())
def test_the_area_is_the_share_of_pairs_in_order(rows, data):
    """By all pairs, by the curve, by scikit-learn: ties are half."""
    flags = np.array([row[0] for row in rows])
    scores = np.array([row[1] for row in rows], float)
    above, below = scores[flags][:, None], scores[~flags][None]
    pairs = ((above > below) + 0.5 * (above == below)).mean()
    assert auc(flags, scores) == pytest.approx(pairs, abs=1e-12)
    theirs = metrics.roc_curve(flags, scores, drop_intermediate=False)
    curve = roc_curve(flags, scores)
    assert curve.area == pytest.approx(pairs, abs=1e-12)
    for mine, other in zip((curve.fp_rate, curve.tp_rate, curve.thresholds), theirs, strict=True):
        assert mine == pytest.approx(other)
    theirs = metrics.precision_recall_curve(flags, scores)
    # scikit-learn goes from the lowest score up, and its precision at recall 0 is 1.
    assert curve.precision[:0:-1] == pytest.approx(theirs[0][:-1])
    assert curve.tp_rate[:0:-1] == pytest.approx(theirs[1][:-1])
    # A weight counts a unit several times.
    times = st.lists(st.integers(1, 4), min_size=len(rows), max_size=len(rows))
    weights = np.array(data.draw(times))
    often = np.repeat(np.arange(len(rows)), weights)
    assert auc(flags, scores, weights) == pytest.approx(auc(flags[often], scores[often]))
    assert roc_curve(flags, scores, weights).area == pytest.approx(auc(flags, scores, weights))
    # The hull of a curve has no smaller area, and the thresholds of its corners give their rates.
    hull = roc_hull({"one": curve})
    assert hull.area >= max(curve.area, 0.5) - 1e-12
    for point in hull.points:
        if point.name:
            assert curve.at(point.threshold) == (point.fp_rate, point.tp_rate)


RATES = st.tuples(st.integers(0, 10), st.integers(0, 10)).map(lambda p: (p[0] / 10, p[1] / 10))
CLASSIFIERS = st.dictionaries(st.text("abc", min_size=1, max_size=3), RATES, max_size=8)


@given(CLASSIFIERS, st.floats(0, 1))
def test_the_hull_is_convex_and_above_every_point(points, rate):
    hull = roc_hull(points)
    for first, second, third in zip(hull.points, hull.points[1:], hull.points[2:], strict=False):
        run, rise = second.fp_rate - first.fp_rate, second.tp_rate - first.tp_rate
        assert rise * (third.fp_rate - second.fp_rate) > run * (third.tp_rate - second.tp_rate)
    assert hull.points[0][:2] == (0, 0)
    assert hull.points[-1][:2] == (1, 1)
    for name, (false, true) in points.items():
        assert hull.mix(false).tp_rate >= true - 1e-9
        # Those on the left and top edges can be on the hull and yet be of no use.
        if name in hull.dominated and false > 0 and true < 1:
            assert hull.mix(false).tp_rate > true
    turned = roc_hull(dict(reversed(points.items())))
    assert [point[:3] for point in turned.points] == [point[:3] for point in hull.points]
    assert set(turned.dominated) == set(hull.dominated)
    # A mixture gives the rates it promises.
    first, second, weight, reached = hull.mix(rate)
    assert (1 - weight) * first.fp_rate + weight * second.fp_rate == pytest.approx(rate, abs=1e-12)
    assert (1 - weight) * first.tp_rate + weight * second.tp_rate == pytest.approx(reached)


def test_one_class_only_is_undefined_and_bad_input_refused():
    assert auc([1, 1], [0.2, 0.3]).reason == "every unit is positive"
    assert isinstance(value("average-precision", by_score([0, 0], [0.2, 0.3])), Undefined)
    found = value("AUC", classed("ab", classes="abc", scores=np.eye(3)[:2]))
    assert found == Undefined("class c: no unit is positive")
    for refused, says in (
        (lambda: roc_curve([1, 1], [0.2, 0.3]), "needs positive and negative"),
        (lambda: roc_curve([0, 1], [0.1, math.nan]), "not a finite number"),
        (lambda: roc_curve([0, 2], [0.1, 0.2]), r"expected 1 \(positive\) or 0"),
        (lambda: roc_curve([0, 1], [0.1, 0.2], [1, -1]), "non-negative number for each unit"),
        (lambda: roc_hull({"A": (1.2, 0.3)}), r"rates 1.2"),
        (lambda: roc_hull({"": (0.2, 0.3)}), "empty name"),
        (lambda: roc_hull({}).mix(1.5), "expected a number between 0 and 1"),
        (lambda: auc_covariance([1, 0, 0], [1, 2, 3]), "two of each"),
    ):
        with pytest.raises(InputError, match=says):
            refused()


# The variance of areas


def by_all_pairs(flags, table):
    """The estimator as DeLong, DeLong & Clarke-Pearson (1988) write it, equations 3 to 6."""
    wins = []
    for scores in table.T:
        above, below = scores[flags][:, None], scores[~flags][None]
        wins.append((above > below) + 0.5 * (above == below))
    areas = np.array([one.mean() for one in wins])
    size = len(wins)
    s10, s01 = np.zeros((size, size)), np.zeros((size, size))
    for r in range(size):
        for s in range(size):
            first = wins[r].mean(axis=1) - areas[r], wins[s].mean(axis=1) - areas[s]
            second = wins[r].mean(axis=0) - areas[r], wins[s].mean(axis=0) - areas[s]
            s10[r, s] = (first[0] * first[1]).sum() / (flags.sum() - 1)
            s01[r, s] = (second[0] * second[1]).sum() / ((~flags).sum() - 1)
    return areas, s10 / flags.sum() + s01 / (~flags).sum()


ROWS = st.lists(
    st.tuples(st.booleans(), st.integers(0, 6), st.integers(0, 6)), min_size=4, max_size=30
).filter(lambda rows: 2 <= sum(row[0] for row in rows) <= len(rows) - 2)


@given(ROWS)
def test_midranks_give_what_all_pairs_give(rows):
    flags = np.array([row[0] for row in rows])
    table = np.array([row[1:] for row in rows], float)
    found_areas, found_covariance = auc_covariance(flags, table)
    areas, covariance = by_all_pairs(flags, table)
    assert found_areas == pytest.approx(areas, abs=1e-12)
    assert found_covariance == pytest.approx(covariance, abs=1e-12)


def of_area(flags, scores):
    areas = delong(flags, scores)
    return area_interval(float(areas.value[0]), float(areas.error[0]), 0.95)


def difference(flags, first, second):
    return delong(flags, np.column_stack([first, second]), np.array([0]), np.array([1]))


def drawn(random, shift=1.0, units=60):
    flags = np.arange(units) % 2 == 0
    common = random.normal(size=units) + shift * flags
    return flags, common + random.normal(size=units), common + random.normal(size=units)


def test_the_test_keeps_its_level_and_the_interval_its_coverage():
    """2,000 draws with equal areas: true area P(N(1, 4) > 0) = .6915 for sums of two normals."""
    random = np.random.default_rng(7)
    true, alarms, covered = norm.cdf(1 / 2), 0, 0
    for _ in range(2000):
        flags, first, second = drawn(random)
        alarms += bool(difference(flags, first, second).p() <= 0.05)
        interval = of_area(flags, first)
        covered += interval.low <= true <= interval.high
    # Binomial noise is .005; the interval is known to be a little short for 60 units.
    assert 0.03 <= alarms / 2000 <= 0.07
    assert 0.92 <= covered / 2000 <= 0.97


def test_tails_direction_and_copies():
    flags, first, second = drawn(np.random.default_rng(2))
    better = difference(flags, first + 3 * flags, second)
    assert better.t > 0
    assert better.p("greater") == pytest.approx(better.p() / 2)
    assert better.p("less") == pytest.approx(1 - better.p() / 2)
    # Any rising function of the scores is the same classifier.
    assert difference(flags, first, np.exp(first)).p() == 1.0
    # All pairs at once are as one by one.
    table = np.column_stack([first, second, flags, np.zeros(60)])
    together = delong(flags, table, np.array([0, 2]), np.array([1, 3])).p()
    assert together[0] == pytest.approx(difference(flags, first, second).p().item(), abs=1e-14)
    assert together[1] == 2.0**-59  # perfect against constant scores: no variance, never 0
    # The logit interval stays inside, and the plain one where it is.
    flags = np.arange(20) < 10
    scores = np.where(np.isin(np.arange(20), [9, 10]), ~flags, flags).astype(float)
    interval = of_area(flags, scores)
    assert interval.method == "DeLong, logit"
    assert interval.low < interval.estimate < interval.high < 1.0
    plain = of_area(*drawn(np.random.default_rng(4))[:2])
    assert plain.method == "DeLong"
    assert plain.high - plain.estimate == pytest.approx(plain.estimate - plain.low)
    # Classes that are wholly divided have no variance.
    flags, right = [1, 1, 0, 0], [4, 3, 2, 1]
    assert delong(flags, right).error == 0
    divided = difference(flags, right, right[::-1])
    tails = [divided.p(side).item() for side in ("two-sided", "greater", "less")]
    assert tails == [1 / 8, 1 / 16, 1]
    (interval,) = divided.interval(0.95)
    assert (interval.low, interval.high) == (-math.inf, math.inf)  # 4 units cannot show it

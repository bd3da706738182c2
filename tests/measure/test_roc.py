"""ROC curves, areas and hulls: published numbers, scikit-learn, and what must hold for any."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from samples import by_score, classed as ranked, value
from sklearn import metrics

from heldout.errors import InputError
from heldout.measure.base import Undefined
from heldout.measure.prediction.curves import roc_curve, roc_hull


def auc(flags, scores, weights=None):
    return value("AUC", ranked(flags, scores, weights))


def average_precision(flags, scores):
    return value("average-precision", ranked(flags, scores))


def one_vs_rest(truth, scores, names, average="macro"):
    letters = [names[one] for one in truth]
    return value(f"AUC({average})", classed(letters, classes=names, scores=scores))


# Fawcett (2006), table 1: 20 units with their scores.
FAWCETT = [one == "p" for one in "ppnpppnnpnpnpnnnpnpn"]
FAWCETT_SCORES = [
    *(0.9, 0.8, 0.7, 0.6, 0.55, 0.54, 0.53, 0.52, 0.51, 0.505),
    *(0.4, 0.39, 0.38, 0.37, 0.36, 0.35, 0.34, 0.33, 0.30, 0.1),
]


def test_the_curve_of_six_units():
    curve = roc_curve([1, 0, 1, 1, 0, 0], [0.98, 0.80, 0.67, 0.65, 0.54, 0.32])
    assert curve.at(0.7) == (pytest.approx(1 / 3), pytest.approx(1 / 3))
    assert curve.at(0.54) == (pytest.approx(2 / 3), 1.0)
    assert curve.at(math.inf) == (0.0, 0.0)
    assert curve.at(0.0) == (1.0, 1.0)


@pytest.mark.parametrize(("signs", "expected"), [("++++-+----", 24 / 25), ("-++++----+", 16 / 25)])
def test_the_area_by_ranks(signs, expected):
    flags = [sign == "+" for sign in signs]
    assert auc(flags, range(10, 0, -1)) == pytest.approx(expected, abs=1e-15)


def test_fawcetts_curve_and_hull():
    curve = roc_curve(FAWCETT, FAWCETT_SCORES)
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


def test_a_classifier_on_an_edge_is_not_dominated():
    hull = roc_hull({"A": (0.2, 0.6), "middle": (0.6, 0.8)})
    assert [point.name for point in hull.points] == ["", "A", ""]
    assert hull.dominated == ()
    # Straight above each other at no false positives: only the highest is of use.
    assert roc_hull({"low": (0.0, 0.2), "high": (0.0, 0.5)}).dominated == ("low",)
    # Nor is finding all at more false positives of use.
    assert roc_hull({"few": (0.3, 1.0), "many": (0.6, 1.0)}).dominated == ("many",)


LABELLED = st.lists(st.tuples(st.booleans(), st.integers(0, 8)), min_size=2, max_size=40).filter(
    lambda rows: len({row[0] for row in rows}) == 2
)


@given(LABELLED)
def test_the_area_is_the_share_of_pairs_in_order(rows):
    """By all pairs, by the curve, by scikit-learn: ties are half."""
    flags = np.array([row[0] for row in rows])
    scores = np.array([row[1] for row in rows], float)
    above, below = scores[flags][:, None], scores[~flags][None]
    pairs = ((above > below) + 0.5 * (above == below)).mean()
    assert auc(flags, scores) == pytest.approx(pairs, abs=1e-12)
    assert auc(flags, scores) == pytest.approx(metrics.roc_auc_score(flags, scores), abs=1e-12)
    assert auc(flags, scores) == pytest.approx(1 - auc(flags, -scores), abs=1e-12)
    theirs = metrics.roc_curve(flags, scores, drop_intermediate=False)
    curve = roc_curve(flags, scores)
    for mine, other in zip((curve.fp_rate, curve.tp_rate, curve.thresholds), theirs, strict=True):
        assert mine == pytest.approx(other)
    assert average_precision(flags, scores) == pytest.approx(
        metrics.average_precision_score(flags, scores), abs=1e-12
    )
    theirs = metrics.precision_recall_curve(flags, scores)
    # scikit-learn goes from the lowest score up, and its precision at recall 0 is 1.
    assert curve.precision[:0:-1] == pytest.approx(theirs[0][:-1])
    assert curve.tp_rate[:0:-1] == pytest.approx(theirs[1][:-1])


@given(LABELLED, st.data())
def test_a_weight_counts_a_unit_several_times(rows, data):
    flags = np.array([row[0] for row in rows])
    scores = np.array([row[1] for row in rows], float)
    weights = np.array(
        data.draw(st.lists(st.integers(1, 4), min_size=len(rows), max_size=len(rows)))
    )
    often = np.repeat(np.arange(len(rows)), weights)
    assert auc(flags, scores, weights) == pytest.approx(auc(flags[often], scores[often]))


CLASSIFIERS = st.dictionaries(
    st.text("abc", min_size=1, max_size=3),
    st.tuples(st.integers(0, 10), st.integers(0, 10)).map(
        lambda rate: (rate[0] / 10, rate[1] / 10)
    ),
    max_size=8,
)


@given(CLASSIFIERS)
def test_the_hull_is_convex_and_above_every_point(points):
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


@given(LABELLED)
def test_the_hull_of_a_curve_has_no_smaller_area(rows):
    curve = roc_curve([row[0] for row in rows], [row[1] for row in rows])
    hull = roc_hull({"one": curve})
    assert hull.area >= curve.area - 1e-12
    assert hull.area >= 0.5 - 1e-12
    for point in hull.points:
        if point.name:  # the threshold of a corner gives its rates
            assert curve.at(point.threshold) == (point.fp_rate, point.tp_rate)


@given(st.floats(0, 1), CLASSIFIERS)
def test_a_mixture_gives_the_rates_it_promises(rate, points):
    mixed = roc_hull(points).mix(rate)
    first, second, weight = mixed.first, mixed.second, mixed.weight
    assert 0 <= weight <= 1
    assert (1 - weight) * first.fp_rate + weight * second.fp_rate == pytest.approx(rate, abs=1e-12)
    reached = (1 - weight) * first.tp_rate + weight * second.tp_rate
    assert reached == pytest.approx(mixed.tp_rate)


def test_areas_of_several_classes_are_those_of_scikit_learn():
    random = np.random.default_rng(3)
    truth = random.integers(0, 4, 200)
    scores = random.dirichlet([1, 1, 1, 1], 200).round(2)
    scores[:, 0] = 1 - scores[:, 1:].sum(axis=1)
    names = ["a", "b", "c", "d"]
    for average in ("macro", "weighted"):
        mine = one_vs_rest(truth, scores, names, average=average)
        theirs = metrics.roc_auc_score(truth, scores, multi_class="ovr", average=average)
        assert mine == pytest.approx(theirs, abs=1e-12)


def test_one_class_only_is_undefined():
    assert auc([1, 1], [0.2, 0.3]).reason == "every unit is positive"
    assert auc([0, 0], [0.2, 0.3]).reason == "no unit is positive"
    assert isinstance(average_precision([0, 0], [0.2, 0.3]), Undefined)
    found = one_vs_rest(np.array([0, 1]), np.eye(3)[:2], ["a", "b", "c"])
    assert found == Undefined("class c: no unit is positive")
    with pytest.raises(InputError, match="needs positive and negative"):
        roc_curve([1, 1], [0.2, 0.3])


def test_bad_input_is_refused():
    with pytest.raises(InputError, match="not a finite number"):
        roc_curve([0, 1], [0.1, math.nan])
    with pytest.raises(InputError, match=r"expected 1 \(positive\) or 0"):
        roc_curve([0, 2], [0.1, 0.2])
    with pytest.raises(InputError, match=r"rates 1.2"):
        roc_hull({"A": (1.2, 0.3)})
    with pytest.raises(InputError, match="expected a number between 0 and 1"):
        roc_hull({}).mix(1.5)

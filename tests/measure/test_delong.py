"""DeLong's variance against its definition by all pairs, and its interval and test."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from samples import by_score as ranked, value

from heldout.errors import InputError
from heldout.infer.intervals import area_interval, delong
from heldout.measure.prediction.order import auc_covariance


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
    assert found_areas[0] == pytest.approx(value("AUC", ranked(flags, table[:, 0])), abs=1e-12)


def difference(flags, first, second):
    return delong(flags, np.column_stack([first, second]), np.array([0]), np.array([1]))


def interval_of(flags, scores, level=0.95):
    areas = delong(flags, scores)
    return area_interval(float(areas.value[0]), float(areas.error[0]), level)


def drawn(random, shift=1.0, units=60):
    flags = np.arange(units) % 2 == 0
    common = random.normal(size=units) + shift * flags
    return flags, common + random.normal(size=units), common + random.normal(size=units)


def test_the_test_keeps_its_level_and_the_interval_its_coverage():
    """2,000 draws with equal areas: true area P(N(1, 4) > 0) = .6915 for sums of two normals."""
    random = np.random.default_rng(7)
    from scipy.stats import norm

    true = norm.cdf(1 / 2)
    alarms = covered = 0
    for _ in range(2000):
        flags, first, second = drawn(random)
        alarms += bool(difference(flags, first, second).p() <= 0.05)
        interval = interval_of(flags, first)
        covered += interval.low <= true <= interval.high
    # Binomial noise is .005; the interval is known to be a little short for 60 units.
    assert 0.03 <= alarms / 2000 <= 0.07
    assert 0.92 <= covered / 2000 <= 0.97


def test_tails_and_direction():
    flags, first, second = drawn(np.random.default_rng(2))
    better = difference(flags, first + 3 * flags, second)
    two = better.p()
    assert better.t > 0
    assert better.p("greater") == pytest.approx(two / 2)
    assert better.p("less") == pytest.approx(1 - two / 2)
    assert difference(flags, second, first + 3 * flags).t == pytest.approx(-better.t)
    (outcome,) = better.outcomes("delong", "two-sided", 60)
    assert (outcome.p, outcome.method) == (two, "normal")


def test_a_system_against_its_copy_gives_one():
    flags, first, _ = drawn(np.random.default_rng(4))
    assert difference(flags, first, first).p() == 1.0
    # Any rising function of the scores is the same classifier.
    assert difference(flags, first, np.exp(first)).p() == 1.0


def test_all_pairs_at_once_are_as_one_by_one():
    flags, first, second = drawn(np.random.default_rng(5))
    table = np.column_stack([first, second, flags, np.zeros(60)])
    pairs = np.array([[0, 1], [2, 3], [0, 2], [3, 1]])
    together = delong(flags, table, *pairs.T).p()
    alone = [difference(flags, table[:, a], table[:, b]).p().item() for a, b in pairs]
    assert together == pytest.approx(alone, abs=1e-14)
    assert together[1] == 2.0**-59  # perfect against constant scores: no variance, never 0


def test_the_logit_interval_stays_inside():
    flags = np.arange(20) < 10
    scores = np.where(flags, 1.0, 0.0)
    scores[9], scores[10] = 0.0, 1.0
    interval = interval_of(flags, scores)
    assert interval.low < interval.estimate < interval.high < 1.0
    assert interval.method == "DeLong, logit"


def test_the_plain_interval_stays_where_it_is_inside():
    flags, first, _ = drawn(np.random.default_rng(4))
    plain = interval_of(flags, first)
    assert plain.method == "DeLong"
    assert plain.high - plain.estimate == pytest.approx(plain.estimate - plain.low)


def test_classes_that_are_wholly_divided_have_no_variance():
    flags, right = [1, 1, 0, 0], [4, 3, 2, 1]
    assert delong(flags, right).error == 0
    divided = difference(flags, right, right[::-1])
    assert [divided.p(side).item() for side in ("two-sided", "greater", "less")] == [
        1 / 8,
        1 / 16,
        1,
    ]
    (interval,) = divided.interval(0.95)
    assert (interval.low, interval.high) == (-math.inf, math.inf)  # 4 units cannot show it


def test_bad_input_is_refused():
    with pytest.raises(InputError, match="two of each"):
        auc_covariance([1, 0, 0], [1, 2, 3])
    with pytest.raises(InputError, match="not a finite number"):
        auc_covariance([1, 1, 0, 0], [1, 2, math.nan, 4])

"""Rank tests over units, against SciPy and Demšar's tables."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from scipy import stats

from heldout.infer.blocks import average_ranks, friedman, nemenyi


@pytest.mark.parametrize(
    ("systems", "level", "q"),
    [(2, 0.95, 1.960), (3, 0.95, 2.343), (4, 0.95, 2.569), (4, 0.90, 2.291), (10, 0.95, 3.164)],
)
def test_demsar(systems, level, q):
    # J. Demšar, Statistical comparisons of classifiers over multiple data sets (2006), table 5(a),
    # and section 3.2.2: four classifiers on fourteen data sets have CD .10 = 1.12.
    scores = np.random.default_rng(0).random((14, systems))
    found = nemenyi(scores, level).critical_difference
    root = math.sqrt(systems * (systems + 1) / (6 * 14))
    assert found == pytest.approx(q * root, abs=1e-3)
    if (systems, level) == (4, 0.90):
        assert round(found, 2) == 1.12


@given(
    arrays(np.int64, st.tuples(st.integers(2, 8), st.integers(3, 6)), elements=st.integers(0, 4))
)
def test_scipy(cells):
    scores = cells / 10
    ranks = np.apply_along_axis(stats.rankdata, 1, -cells)
    np.testing.assert_allclose(average_ranks(scores), ranks)
    found = friedman(scores)
    if (cells == cells[:, :1]).all():
        assert found.statistic == 0
        assert found.p == 1
        return
    theirs = stats.friedmanchisquare(*cells.T)
    assert found.statistic == pytest.approx(theirs.statistic, abs=1e-9)
    assert found.p == pytest.approx(theirs.pvalue, abs=1e-9)


def test_rounding_is_a_tie():
    assert average_ranks(np.array([[0.1 + 0.2, 0.3], [1.0, 2.0]]))[0].tolist() == [1.5, 1.5]

"""The studentized range and Dunnett's maximum, against SciPy, tables and R."""

from __future__ import annotations

import math
from itertools import pairwise

import numpy as np
import pytest
from scipy import stats

from heldout.errors import InputError
from heldout.infer.simultaneous import studentized
from heldout.infer.simultaneous.studentized import (
    dunnett_isf,
    dunnett_sf,
    studentized_range_isf,
    studentized_range_sf,
)


def test_published_values():
    # R: qtukey(.95, 3, 38), ptukey(3.5, 4, 20, lower = FALSE).
    assert studentized_range_isf(0.05, 3, 38) == pytest.approx(3.449020902, abs=1e-8)
    assert studentized_range_sf(3.5, 4, 20) == pytest.approx(0.0949584505486, abs=1e-11)


# SciPy takes df of 100,000 and more for infinite, so that there is nothing to compare with there.
FREEDOM = [1, 2, 3, 7, 20, 49, 300, 6272, math.inf]


@pytest.mark.parametrize(
    ("k", "df"),
    [
        *((3, df) for df in FREEDOM),
        *((k, df) for k in (2, 10, 60, 129, 200) for df in (1, 20, 6272)),
    ],
)
def test_scipy(k, df):
    """SciPy integrates for each value, slowly: all degrees of freedom, all sizes, not all pairs."""
    q = np.array([0.0, 0.05, 1.0, 3.3, 5.0, 7.5, 14.0, 30.0])
    theirs = [stats.studentized_range.sf(value, k, df) for value in q]
    np.testing.assert_allclose(studentized_range_sf(q, k, df), theirs, rtol=0, atol=1e-8)


def test_two_means_are_students_t():
    q = np.linspace(0, 12, 50)
    for df in (1, 4, 30, 1e4, 1e6, 1e9):
        tail = 2 * stats.t.sf(q / math.sqrt(2), df)
        np.testing.assert_allclose(studentized_range_sf(q, 2, df), tail, rtol=1e-9)


@pytest.mark.parametrize("df", [3, 30, math.inf])
def test_small_tails_keep_their_digits(df):
    q = np.array([6.0, 9.0, 13.0, 20.0])
    distribution = stats.t(df) if math.isfinite(df) else stats.norm
    tail = 2 * distribution.sf(q / math.sqrt(2))
    np.testing.assert_allclose(studentized_range_sf(q, 2, df), tail, rtol=1e-9)


@pytest.mark.parametrize(("k", "df"), [(2, 1), (3, 38), (10, 5), (129, 6272), (200, math.inf)])
def test_quantile_is_the_inverse(k, df):
    p = np.array([1e-6, 0.001, 0.05, 0.5, 0.99])
    np.testing.assert_allclose(studentized_range_sf(studentized_range_isf(p, k, df), k, df), p)


def test_edges_and_shape():
    found = studentized_range_sf([[0.0, -1.0], [math.inf, 1e6]], 5, 10)
    assert found.shape == (2, 2)
    assert found[0].tolist() == [1, 1]
    assert found[1, 0] == 0
    assert found[1, 1] < 1e-15
    assert studentized_range_isf(1.0, 5, 10) == pytest.approx(0, abs=1e-6)


def test_falls_in_q_and_rises_in_k():
    q = np.linspace(0, 20, 400)
    tails = [studentized_range_sf(q, k, 12) for k in (2, 5, 20, 100)]
    for tail in tails:
        assert (np.diff(tail) <= 1e-14).all()
    assert all((more >= fewer - 1e-14).all() for fewer, more in pairwise(tails))


def test_pieces_do_not_matter(monkeypatch):
    q = np.linspace(0, 10, 57)
    whole = studentized_range_sf(q, 4, 9)
    monkeypatch.setattr(studentized, "CHUNK", 500)
    np.testing.assert_allclose(studentized_range_sf(q, 4, 9), whole, rtol=1e-13)


@pytest.mark.parametrize(
    ("comparisons", "df", "two", "one"),
    [(1, 10, 2.23, 1.81), (2, 10, 2.57, 2.15), (3, 20, 2.54, 2.19), (5, math.inf, 2.51, 2.23)],
)
def test_dunnett_tables(comparisons, df, two, one):
    # C. W. Dunnett 1955 and Biometrics 20 (1964) 482-491, joint level .95.
    assert dunnett_isf(0.05, comparisons, df) == pytest.approx(two, abs=0.006)
    assert dunnett_isf(0.05, comparisons, df, "greater") == pytest.approx(one, abs=0.006)


def test_dunnett_of_one_is_students_t():
    t = np.linspace(-4, 9, 40)
    np.testing.assert_allclose(dunnett_sf(t, 1, 7, "greater"), stats.t.sf(t, 7), rtol=1e-9)
    np.testing.assert_allclose(dunnett_sf(np.abs(t), 1, 7), 2 * stats.t.sf(np.abs(t), 7), rtol=1e-9)


def test_dunnett_is_the_multivariate_t():
    correlation = np.full((3, 3), 0.5) + np.eye(3) / 2
    cdf = stats.multivariate_t(shape=correlation, df=12, seed=1).cdf([2.0, 2.0, 2.0], maxpts=200000)
    assert dunnett_sf(2.0, 3, 12, "greater") == pytest.approx(1 - cdf, abs=1e-4)


def test_refused():
    with pytest.raises(InputError, match="k=1: expected an integer number of means, at least 2"):
        studentized_range_sf(1.0, 1, 5)
    with pytest.raises(InputError, match="df=0"):
        studentized_range_sf(1.0, 3, 0)
    with pytest.raises(InputError, match="nan"):
        studentized_range_sf(math.nan, 3, 4)
    with pytest.raises(InputError, match="probabilities"):
        studentized_range_isf(0.0, 3, 4)

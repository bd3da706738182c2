"""Adjusted p-values, against R's published example, closed testing and SciPy."""

from __future__ import annotations

from itertools import combinations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from heldout.errors import InputError
from heldout.infer.corrections import adjust

METHODS = ("holm", "bonferroni", "bh")
p_values = st.floats(0, 1) | st.sampled_from([0.01, 0.02, 1.0])


def test_r():
    # In R: p.adjust(c(.01, .02, .03, .04, .05), "holm")
    found = adjust([0.01, 0.02, 0.03, 0.04, 0.05], "holm")
    np.testing.assert_allclose(found, [0.05, 0.08, 0.09, 0.09, 0.09])


def closed(p, together):
    """The largest p of all hypotheses that hold several at once: Marcus, Peritz & Gabriel (1976).

    ``together`` is the p of some hypotheses being true together, of their p-values, sorted.
    """
    found = np.zeros(len(p))
    for size in range(1, len(p) + 1):
        for some in combinations(range(len(p)), size):
            found[[*some]] = np.maximum(found[[*some]], together(sorted(p[i] for i in some)))
    return found


def by_bonferroni(p):
    return min(1, len(p) * p[0])


@given(p=st.lists(p_values, min_size=1, max_size=6))
def test_closed_testing(p):
    expected = closed(p, by_bonferroni)
    np.testing.assert_allclose(adjust(p, "holm"), expected, rtol=1e-12, atol=1e-300)


@given(p=st.lists(p_values, min_size=1, max_size=30))
def test_scipy(p):
    theirs = stats.false_discovery_control(p, method="bh")
    np.testing.assert_allclose(adjust(p, "bh"), theirs, rtol=1e-12, atol=1e-300)


@given(p=st.lists(p_values, min_size=1, max_size=30))
def test_bonferroni(p):
    expected = [min(1, len(p) * one) for one in p]
    np.testing.assert_allclose(adjust(p, "bonferroni"), expected, rtol=1e-12, atol=1e-300)


@pytest.mark.parametrize("method", [*METHODS, "none"])
def test_order_is_kept_and_input_untouched(method):
    p = np.array([0.04, 0.001, 0.3, 0.02])
    before = p.copy()
    found = adjust(p, method)
    assert (p == before).all()
    assert (np.argsort(found, kind="stable") == np.argsort(p, kind="stable")).all()
    assert (found >= p).all()
    found[0] = 5
    assert p[0] == before[0]


def test_empty_and_single():
    assert adjust([], "holm").tolist() == []
    assert adjust([0.03], "bh").tolist() == [0.03]


def test_refused():
    with pytest.raises(InputError, match="number 2 is nan"):
        adjust([0.1, float("nan")])
    with pytest.raises(InputError, match=r"number 1 is 1\.5"):
        adjust([1.5])
    with pytest.raises(InputError, match="method='tukey': expected one of holm"):
        adjust([0.1], "tukey")
    with pytest.raises(InputError, match="shape"):
        adjust([[0.1]])

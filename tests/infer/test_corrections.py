"""Adjusted p-values against R, closed testing and SciPy, and letters."""

from __future__ import annotations

from itertools import combinations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from heldout.infer.corrections import adjust, compact_letters

METHODS = ("holm", "bonferroni", "bh")
p_values = st.floats(0, 1) | st.sampled_from([0.01, 0.02, 1.0])


def test_r():
    # In R: p.adjust(c(.01, .02, .03, .04, .05), "holm")
    found = adjust([0.01, 0.02, 0.03, 0.04, 0.05], "holm")
    np.testing.assert_allclose(found, [0.05, 0.08, 0.09, 0.09, 0.09])


def closed(p):
    """The largest Bonferroni p of all joint hypotheses: Marcus, Peritz & Gabriel (1976)."""
    found = np.zeros(len(p))
    for size in range(1, len(p) + 1):
        for some in combinations(range(len(p)), size):
            together = min(1, size * min(p[i] for i in some))
            found[[*some]] = np.maximum(found[[*some]], together)
    return found


@given(p=st.lists(p_values, min_size=1, max_size=6))
def test_closed_testing(p):
    expected = closed(p)
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


@pytest.mark.parametrize("method", METHODS)
def test_empty_and_single(method):
    assert adjust([], method).tolist() == []
    assert adjust([0.03], method).tolist() == [0.03]


@given(data=st.data(), systems=st.integers(2, 7))
def test_letters_say_who_differs(data, systems):
    every = list(combinations(range(systems), 2))
    different = data.draw(st.lists(st.sampled_from(every), unique=True))
    order = data.draw(st.permutations(range(systems)))
    letters = compact_letters(systems, different, order)
    for pair in every:
        shared = set(letters[pair[0]]) & set(letters[pair[1]])
        assert bool(shared) == (pair not in different)


def test_letters_beyond_the_alphabet():
    letters = compact_letters(60, combinations(range(60), 2))
    assert letters[25:27] + letters[51:53] == ["z", "A", "Z", "a1"]


def test_letters_of_many_systems():
    # Systems 129 in a row, different when more than 40 places apart: one letter a window.
    different = [(a, b) for a, b in combinations(range(129), 2) if b - a > 40]
    letters = compact_letters(129, different)
    assert letters[0] == "a"
    assert letters[40].count("a") == 1
    assert compact_letters(3, []) == ["a", "a", "a"]

"""Tukey's HSD in blocks, and letters, against published numbers."""

from __future__ import annotations

from itertools import combinations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from heldout.errors import InputError
from heldout.infer.tukey import (
    compact_letters,
    critical_range,
    range_tail,
    tukey_hsd,
)

# Hit rate at 3 on ten folds.
NAMES = ("Coco", "knn", "logic", "sexy", "sexy2", "pop")
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
# The differences of all fifteen pairs, by the column means of that table.
DIFFERENCES = {
    "knn-Coco": -1.173,
    "logic-Coco": -8.316,
    "sexy-Coco": 0.042,
    "sexy2-Coco": 0.838,
    "pop-Coco": -28.224,
    "logic-knn": -7.143,
    "sexy-knn": 1.215,
    "sexy2-knn": 2.011,
    "pop-knn": -27.051,
    "sexy-logic": 8.358,
    "sexy2-logic": 9.154,
    "pop-logic": -19.908,
    "sexy2-sexy": 0.796,
    "pop-sexy": -28.266,
    "pop-sexy2": -29.062,
}

# T. Sakai, Laboratory Experiments in Information Retrieval, table 5.1.
SAKAI = (
    np.array(
        [
            [7, 3, 2, 6, 4, 4, 0, 7, 1, 3, 5, 4, 0, 6, 5, 3, 1, 5, 2, 1],
            [5, 1, 0, 2, 4, 3, 0, 5, 3, 3, 4, 4, 1, 4, 2, 1, 1, 6, 3, 2],
            [0, 0, 2, 1, 3, 3, 1, 2, 4, 4, 4, 3, 3, 2, 2, 2, 1, 5, 4, 3],
        ]
    ).T
    / 10
)


def by_pair(pairs):
    return {(pair.first, pair.second): pair for pair in pairs}


def test_hitrate():
    pairs = {f"{NAMES[p.first]}-{NAMES[p.second]}": p for p in tukey_hsd(HITRATE)}
    assert list(pairs) == sorted(DIFFERENCES, key=list(pairs).index)
    for name, pair in pairs.items():
        assert pair.difference == pytest.approx(DIFFERENCES[name], abs=1e-9)
        assert pair.high - pair.difference == pytest.approx(0.161851, abs=5e-7)
        assert pair.difference - pair.low == pytest.approx(0.161851, abs=5e-7)
        if name != "sexy-Coco":
            assert pair.p < 1e-7
    close, far = pairs["sexy-Coco"], pairs["sexy2-sexy"]
    assert (close.low, close.high) == pytest.approx((-0.119851, 0.203851), abs=5e-7)
    assert close.p == pytest.approx(0.9708136, abs=5e-8)
    assert (far.low, far.high) == pytest.approx((0.634149, 0.957851), abs=5e-7)


def test_sakai():
    found = by_pair(tukey_hsd(SAKAI))
    assert found[1, 0].p == pytest.approx(0.2566977464, abs=1e-10)
    assert found[2, 0].p == pytest.approx(0.0956868471, abs=1e-10)
    assert found[2, 1].p == pytest.approx(0.8549631811, abs=1e-10)
    # Not the one-way p-values (.3941, ...), which leave differences between topics in the error.
    assert stats.tukey_hsd(*SAKAI.T).pvalue[0, 1] == pytest.approx(0.3941, abs=5e-5)


def test_interval_and_p_agree():
    values = np.random.default_rng(9).normal(size=(20, 5)) + np.arange(5) / 4
    for pair in tukey_hsd(values, level=0.9):
        assert (pair.p < 0.1) == (pair.low > 0 or pair.high < 0)


@given(shift=st.floats(-5, 5), scale=st.floats(0.1, 50), seed=st.integers(0, 1000))
def test_shift_and_scale(shift, scale, seed):
    values = np.random.default_rng(seed).random((6, 3))
    for one, other in zip(tukey_hsd(values), tukey_hsd(shift + scale * values), strict=True):
        assert other.p == pytest.approx(one.p, rel=1e-6)
        assert other.difference == pytest.approx(scale * one.difference, abs=1e-9)


def test_without_error():
    units = np.random.default_rng(0).random(9)
    values = np.column_stack([units, units, units + 0.1])
    found = by_pair(tukey_hsd(values))
    assert (found[1, 0].p, found[2, 0].p) == (1, 0)
    assert found[1, 0].low == found[1, 0].high == 0


def shares(letters, one, other):
    return bool(set(letters[one]) & set(letters[other]))


@given(data=st.data(), systems=st.integers(2, 7))
def test_letters_say_who_differs(data, systems):
    every = list(combinations(range(systems), 2))
    different = data.draw(st.lists(st.sampled_from(every), unique=True))
    order = data.draw(st.permutations(range(systems)))
    letters = compact_letters(systems, different, order)
    for pair in every:
        assert shares(letters, *pair) == (pair not in different)


def test_letters_of_hitrate():
    pairs = tukey_hsd(HITRATE)
    different = [(pair.first, pair.second) for pair in pairs if pair.p < 0.05]
    order = np.argsort(-HITRATE.mean(0))
    assert compact_letters(6, different, order) == ["b", "c", "d", "b", "a", "e"]
    assert compact_letters(3, []) == ["a", "a", "a"]


def test_letters_beyond_the_alphabet():
    letters = compact_letters(60, combinations(range(60), 2))
    assert letters[25:27] + letters[51:53] == ["z", "A", "Z", "a1"]


def test_letters_of_many_systems():
    # Systems 129 in a row, different when more than 40 places apart: one letter a window.
    different = [(a, b) for a, b in combinations(range(129), 2) if b - a > 40]
    letters = compact_letters(129, different)
    assert letters[0] == "a"
    assert letters[40].count("a") == 1


def test_refused():
    with pytest.raises(InputError, match="at least 2 systems, found 1"):
        tukey_hsd([[1], [2]])
    with pytest.raises(InputError, match="level=95"):
        tukey_hsd([[1, 2], [2, 4]], level=95)
    with pytest.raises(InputError, match="is not a pair"):
        compact_letters(3, [(0, 3)])
    with pytest.raises(InputError, match="order"):
        compact_letters(3, [], [0, 1])


def test_published_ranges():
    # R: qtukey(.95, 3, 38), ptukey(3.5, 4, 20, lower = FALSE).
    assert critical_range(0.05, 3, 38) == pytest.approx(3.449020902, abs=1e-8)
    assert range_tail(np.array([3.5]), 4, 20) == pytest.approx(0.0949584505486, abs=1e-11)


@pytest.mark.parametrize(("k", "df"), [(15, 14), (60, 2891), (200, 9751)])
def test_many_ranges_are_interpolated(k, df):
    ratios = np.append(np.linspace(0, 40, 200), np.inf)
    some = ratios[::20]
    expected = np.maximum(stats.studentized_range.sf(some, k, df), 1e-10)
    np.testing.assert_allclose(range_tail(ratios, k, df)[::20][:-1], expected[:-1], atol=1e-10)
    assert range_tail(ratios, k, df)[-1] == 0

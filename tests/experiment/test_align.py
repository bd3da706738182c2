"""Scores of folds on one scale, and their merge."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from heldout.experiment.documents.alignment import align_scores, merge_lists

SCORES = st.floats(-1e3, 1e3, allow_nan=False).map(lambda value: round(value, 6))


@st.composite
def scales(draw):
    """Scores of the same documents under two settings, each in descending order, with ties."""
    places = draw(st.integers(1, 40))
    own = draw(st.lists(SCORES, min_size=places, max_size=places))
    reference = draw(st.lists(SCORES, min_size=places, max_size=places))
    return -np.sort(-np.array(own)), -np.sort(-np.array(reference))


@settings(max_examples=50)
@given(scales(), arrays(np.float64, st.integers(1, 30), elements=SCORES))
def test_the_map_rises_and_is_finite(scale, scores):
    own, reference = scale
    scores = np.sort(np.concatenate([scores, own, [own[0] + 1, own[-1] - 1]]))
    mapped = align_scores(scores, own, reference)
    assert np.isfinite(mapped).all()
    tolerance = 1e-9 * max(np.abs(mapped).max(), 1.0)
    assert (np.diff(mapped) >= -tolerance).all()


@given(scales(), arrays(np.float64, st.integers(1, 30), elements=SCORES))
def test_the_identity_where_both_scales_are_the_same(scale, scores):
    own, _ = scale
    assert np.allclose(align_scores(scores, own, own), scores, atol=1e-9)


@given(scales())
def test_what_stands_at_a_place_goes_to_that_place(scale):
    own, reference = scale
    own = own - np.arange(len(own))  # no ties: each place has its own score
    assert np.allclose(align_scores(own, own, reference), reference, atol=1e-8)


def test_a_linear_change_of_scale_is_undone_exactly():
    random = np.random.default_rng(0)
    reference = -np.sort(-random.gamma(2, 3, 50))
    held_out = random.gamma(2, 4, 200) - 1  # some beyond both ends
    own = 3 * reference + 5
    assert (held_out > reference[0]).any()
    assert (held_out < reference[-1]).any()
    assert np.allclose(align_scores(3 * held_out + 5, own, reference), held_out)


def test_no_chance_stays_no_chance():
    own = np.array([3.0, 2.0, 1.0, -np.inf])
    reference = np.array([6.0, 5.0, -np.inf, -np.inf])
    mapped = align_scores(np.array([4.0, 2.5, 0.5, -np.inf]), own, reference)
    assert np.isfinite(mapped[:3]).all()
    assert mapped[3] == -np.inf
    nothing = np.full(4, -np.inf)
    assert align_scores(np.array([1.0]), nothing, nothing) == 1.0


def test_scores_that_differ_by_rounding_do_not_make_a_map_steep():
    own = np.array([5.0 + 1e-15, 5.0])
    reference = np.array([9.0, 1.0])
    assert abs(align_scores(np.array([5.5]), own, reference)[0]) < 20


def slow_merge(documents, scores, order, k):
    found = []
    for q in range(len(documents)):
        rows = [
            (scores[q, fold, place], order[documents[q, fold, place]], documents[q, fold, place])
            for fold in range(documents.shape[1])
            for place in range(documents.shape[2])
            if documents[q, fold, place] >= 0
        ]
        rows.sort(reverse=True)
        found.append(rows[:k])
    return found


@pytest.mark.parametrize("k", [1, 4, 100])
def test_merge_equals_a_slow_sort_with_ties_by_id(k):
    random = np.random.default_rng(k)
    queries, folds, places = 8, 3, 6
    order = random.permutation(60).astype(np.int32)  # ids in another order than numbers
    documents = np.full((queries, folds, places), -1, np.int32)
    scores = np.full(documents.shape, -np.inf)
    for q in range(queries):
        drawn = random.permutation(60)[: folds * places].reshape(folds, places)
        for fold in range(folds):
            length = random.integers(0, places + 1)
            documents[q, fold, :length] = drawn[fold, :length]
            values = -np.sort(-random.integers(0, 4, length).astype(float))  # many ties
            values[values == 0] = -np.inf  # retrieved, without any chance
            scores[q, fold, :length] = values
    merged, kept = merge_lists(documents, scores, order, k)
    assert merged.shape == kept.shape == (queries, k)
    for q, wanted in enumerate(slow_merge(documents, scores, order, k)):
        length = len(wanted)
        assert merged[q, :length].tolist() == [doc for _, _, doc in wanted]
        assert kept[q, :length].tolist() == [score for score, _, _ in wanted]
        assert (merged[q, length:] == -1).all()
        assert np.isneginf(kept[q, length:]).all()

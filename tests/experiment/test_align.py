"""Scores of folds on one scale, and their merge."""

import numpy as np
import pytest

from heldout.experiment.documents.alignment import align_scores, merge_lists


def test_a_linear_change_of_scale_is_undone_exactly():
    random = np.random.default_rng(0)
    reference = -np.sort(-random.gamma(2, 3, 50))
    held_out = random.gamma(2, 4, 200) - 1  # some beyond both ends
    own = 3 * reference + 5
    assert (held_out > reference[0]).any()
    assert (held_out < reference[-1]).any()
    assert np.allclose(align_scores(3 * held_out + 5, own, reference), held_out)


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

"""Scores of folds on one scale, and their merge."""

import numpy as np
import pytest

from heldout.experiment.documents.lists import Lists, merged_lists
from heldout.experiment.documents.pooling import align_scores


def test_a_linear_change_of_scale_is_undone_exactly():
    random = np.random.default_rng(0)
    reference = -np.sort(-random.gamma(2, 3, 50))
    held_out = random.gamma(2, 4, 200) - 1  # some beyond both ends
    assert held_out.max() > reference[0]
    assert held_out.min() < reference[-1]
    own = np.append(3 * reference + 5, -9.0)  # the end of a longer list is not used
    assert np.allclose(align_scores(3 * held_out + 5, own, reference), held_out)


def test_scores_that_differ_by_rounding_do_not_make_a_map_steep():
    own, reference = np.array([5.0 + 1e-15, 5.0]), np.array([9.0, 1.0])
    assert abs(align_scores(np.array([5.5]), own, reference)[0]) < 20


@pytest.mark.parametrize("k", [1, 4, 100])
def test_merge_equals_a_slow_sort_with_ties_by_id(k):
    random = np.random.default_rng(k)
    queries, folds, places = 8, 3, 6
    order = random.permutation(60).astype(np.int32)  # ids in another order than numbers
    documents = np.full((folds, queries, places), -1, np.int32)
    scores = np.full(documents.shape, -np.inf)
    slow = [[] for _ in range(queries)]
    for query in range(queries):
        drawn = random.permutation(60)[: folds * places].reshape(folds, places)
        for fold in range(folds):
            length = random.integers(0, places + 1)
            documents[fold, query, :length] = drawn[fold, :length]
            values = -np.sort(-random.integers(0, 4, length).astype(float))  # many ties
            values[values == 0] = -np.inf  # retrieved, without any chance
            scores[fold, query, :length] = values
            rows = zip(values, order[drawn[fold, :length]], drawn[fold, :length], strict=True)
            slow[query] += rows
    merged = merged_lists([*map(Lists, documents, scores)], order, k)
    assert merged.documents.shape == merged.scores.shape == (queries, k)
    for query, rows in enumerate(slow):
        wanted = sorted(rows, reverse=True)[:k]
        missing = k - len(wanted)
        assert merged.documents[query].tolist() == [row[2] for row in wanted] + [-1] * missing
        assert merged.scores[query].tolist() == [row[0] for row in wanted] + [-np.inf] * missing

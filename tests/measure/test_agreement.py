"""Agreement of judges: scikit-learn, published examples, invariances."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.metrics import cohen_kappa_score

from heldout.measure.agreement import alpha_of_confusion, cohen_kappa, confusion

X = np.nan
# Krippendorff (2011), "Computing Krippendorff's Alpha-Reliability", section C: four observers,
# twelve units, some not judged. Ordinal data: .815.
FOUR = [
    [1, 2, 3, 3, 2, 1, 4, 1, 2, X, X, X],
    [1, 2, 3, 3, 2, 2, 4, 1, 2, 5, X, 3],
    [X, 3, 3, 3, 2, 3, 4, 2, 2, 5, 1, X],
    [1, 2, 3, 3, 2, 4, 4, 1, 2, 5, 1, X],
]

GRADES = [0, 1, 2, 3]
pairs = st.lists(st.tuples(st.integers(0, 3), st.integers(0, 3)), min_size=2, max_size=40)


def test_published_alpha():
    ratings, grades = np.array(FOUR), range(1, 6)
    times = np.stack([(ratings == grade).sum(axis=0) for grade in grades], axis=1)
    times = times[times.sum(axis=1) > 1]
    shares = times / (times.sum(axis=1, keepdims=True) - 1)
    coincidences = shares.T @ times - np.diag(shares.sum(axis=0))
    assert alpha_of_confusion(coincidences / 2) == pytest.approx(0.815, abs=5e-4)
    # The same paper, section A: binary data of two observers.
    first, second = [0, 1, 0, 0, 0, 0, 0, 0, 1, 0], [1, 1, 1, 0, 0, 1, 0, 0, 0, 0]
    counts = confusion(np.array(first), np.array(second), 2)
    assert alpha_of_confusion(counts) == pytest.approx(0.095, abs=5e-4)
    assert alpha_of_confusion(counts.T) == pytest.approx(float(alpha_of_confusion(counts)))


def test_published_kappa():
    # The table of two readers of 50 grant proposals that textbooks give for Cohen (1960).
    assert cohen_kappa(np.array([[20, 5], [10, 15]]), [0, 1]) == pytest.approx(0.4)


@settings(deadline=None, max_examples=60)
@given(pairs, st.sampled_from([None, "linear", "quadratic"]))
def test_kappa_equals_that_of_scikit_learn(judged, weights):
    first, second = (np.array(one) for one in zip(*judged, strict=True))
    found = float(cohen_kappa(confusion(first, second, 4), GRADES, weights))
    if len({*first, *second}) == 1:
        assert np.isnan(found)
        return
    expected = cohen_kappa_score(first, second, labels=GRADES, weights=weights)
    assert found == pytest.approx(expected)


def test_many_matrices_at_once():
    generator = np.random.default_rng(0)
    tables = generator.integers(0, 9, (5, 4, 4)).astype(float)
    for weights in (None, "linear", "quadratic"):
        found = cohen_kappa(tables, [0, 1, 2, 3], weights)
        assert found == pytest.approx([cohen_kappa(one, [0, 1, 2, 3], weights) for one in tables])
    found = alpha_of_confusion(tables)
    assert found == pytest.approx([alpha_of_confusion(one) for one in tables])

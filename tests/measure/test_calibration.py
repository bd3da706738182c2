"""Log loss, Brier score and calibration: by hand and by scikit-learn."""

import numpy as np
import pytest
from samples import classed, value
from sklearn import metrics

from heldout.measure.base import Undefined
from heldout.measure.prediction.probabilities import calibration_bins

RANDOM = np.random.default_rng(11)
TRUTH = RANDOM.integers(0, 3, 100)
SHARES = RANDOM.dirichlet([2, 1, 1], 100)
WEIGHTS = RANDOM.integers(1, 5, 100)


def probable(truth, scores, weights=None):
    names = tuple("abc"[: len(scores[0])])
    letters = [names[one] for one in truth]
    return classed(letters, classes=names, weights=weights, scores=scores, probabilities=True)


def test_scikit_learn_agrees():
    theirs = metrics.log_loss(TRUTH, SHARES)
    assert value("log-loss", probable(TRUTH, SHARES)) == pytest.approx(theirs)
    theirs = metrics.log_loss(TRUTH, SHARES, sample_weight=WEIGHTS)
    assert value("log-loss", probable(TRUTH, SHARES, WEIGHTS)) == pytest.approx(theirs)
    two = TRUTH > 0
    pair = np.column_stack([SHARES[:, 0], 1 - SHARES[:, 0]])
    theirs = metrics.brier_score_loss(two, pair[:, 1], sample_weight=WEIGHTS)
    assert value("Brier", probable(two.astype(int), pair, WEIGHTS)) == pytest.approx(theirs)


def test_several_classes_add_their_squares():
    """Brier's own form (1950): from 0 to 2; certain and wrong is 2."""
    assert value("Brier", probable([0], [[0.0, 1.0, 0.0]])) == 2.0
    found = value("Brier", probable([0], [[0.5, 0.3, 0.2]]))
    assert found == pytest.approx(0.25 + 0.09 + 0.04)


def test_probability_zero_of_the_truth_is_infinite_and_not_clipped():
    found = value("log-loss", probable([0, 1, 1], [[1.0, 0.0], [1.0, 0.0], [0.0, 1.0]]))
    assert found == Undefined("infinite: 1 unit has probability 0 for the true class")


def test_bins_hold_their_upper_edge():
    """.1 .2 .2 .9 1.0: bins of a fifth are (0, .2], …, (.8, 1]."""
    right = np.array([False, False, True, True, True])
    low, high = calibration_bins(np.array([0.1, 0.2, 0.2, 0.9, 1.0]), right, 5)
    assert low == pytest.approx((0.0, 0.2, 3, 0.5 / 3, 1 / 3))
    assert high == pytest.approx((0.8, 1.0, 2, 0.95, 1.0))


def test_the_error_is_the_distance_of_confidence_and_accuracy():
    given = probable([0, 1, 1, 0], [[0.9, 0.1], [0.9, 0.1], [0.4, 0.6], [0.35, 0.65]])
    # Bin (.8, .9]: two units, one right: |.9 - .5|. Bin (.5, .6]: right; bin (.6, .7]: wrong.
    by_hand = (2 * 0.4 + 1 * 0.4 + 1 * 0.65) / 4
    assert value("ECE", given) == pytest.approx(by_hand)
    # All in one bin: the mean confidence against the accuracy.
    one = abs(np.mean([0.9, 0.9, 0.6, 0.65]) - 0.5)
    assert value("ECE(bins=1)", given) == pytest.approx(one)


def test_a_weight_counts_a_unit_several_times():
    often = np.repeat(np.arange(100), WEIGHTS)
    plain = value("ECE", probable(TRUTH[often], SHARES[often]))
    assert value("ECE", probable(TRUTH, SHARES, WEIGHTS)) == pytest.approx(plain)

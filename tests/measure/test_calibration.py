"""Log loss, Brier score and calibration: by hand, scikit-learn, wrong probabilities."""

import math

import numpy as np
import pytest
from sklearn import metrics

from heldout.errors import InputError, MeasureError
from heldout.measure.prediction.calibration import (
    brier,
    calibration_bins,
    calibration_error,
    log_loss,
)
from heldout.measure.undefined import Undefined

RANDOM = np.random.default_rng(11)
TRUTH = RANDOM.integers(0, 3, 100)
SHARES = RANDOM.dirichlet([2, 1, 1], 100)
WEIGHTS = RANDOM.integers(1, 5, 100)


def test_scikit_learn_agrees():
    assert log_loss(TRUTH, SHARES) == pytest.approx(metrics.log_loss(TRUTH, SHARES))
    assert log_loss(TRUTH, SHARES, WEIGHTS) == pytest.approx(
        metrics.log_loss(TRUTH, SHARES, sample_weight=WEIGHTS)
    )
    two = TRUTH > 0
    pair = np.column_stack([SHARES[:, 0], 1 - SHARES[:, 0]])
    assert brier(two.astype(int), pair, WEIGHTS) == pytest.approx(
        metrics.brier_score_loss(two, pair[:, 1], sample_weight=WEIGHTS)
    )


def test_several_classes_add_their_squares():
    """Brier's own form (1950): from 0 to 2; certain and wrong is 2."""
    assert brier([0], [[0.0, 1.0, 0.0]]) == 2.0
    assert brier([0], [[0.5, 0.3, 0.2]]) == pytest.approx(0.25 + 0.09 + 0.04)


def test_probability_zero_of_the_truth_is_infinite_and_not_clipped():
    found = log_loss([0, 1, 1], [[1.0, 0.0], [1.0, 0.0], [0.0, 1.0]])
    assert found == Undefined("infinite: 1 unit has probability 0 for the true class")


def test_bins_hold_their_upper_edge():
    """.1 .2 .2 .9 1.0: bins of a fifth are (0, .2], …, (.8, 1]."""
    bins = calibration_bins([0.1, 0.2, 0.2, 0.9, 1.0], [0, 0, 1, 1, 1], 5)
    assert [(one.low, one.high, one.units) for one in bins] == [
        (0.0, pytest.approx(0.2), 3),
        (pytest.approx(0.8), 1.0, 2),
    ]
    assert bins[0].confidence == pytest.approx(0.5 / 3)
    assert bins[0].accuracy == pytest.approx(1 / 3)


def test_the_error_is_the_distance_of_confidence_and_accuracy():
    shares = [[0.9, 0.1], [0.9, 0.1], [0.4, 0.6], [0.35, 0.65]]
    # Bin (.8, .9]: two units, one right: |.9 - .5|. Bin (.5, .6]: right; bin (.6, .7]: wrong.
    by_hand = (2 * 0.4 + 1 * 0.4 + 1 * 0.65) / 4
    assert calibration_error([0, 1, 1, 0], shares) == pytest.approx(by_hand)
    # All in one bin: the mean confidence against the accuracy.
    one = abs(np.mean([0.9, 0.9, 0.6, 0.65]) - 0.5)
    assert calibration_error([0, 1, 1, 0], shares, bins=1) == pytest.approx(one)


def test_wrong_probabilities_are_refused():
    with pytest.raises(InputError, match=r"unit number 2, class number 1 is 1.2"):
        log_loss([0, 1], [[0.5, 0.5], [1.2, -0.2]])
    with pytest.raises(InputError, match=r"sums to 0.9"):
        brier([0], [[0.5, 0.4]])
    with pytest.raises(InputError, match="not between"):
        brier([0], [[math.nan, 0.4]])
    with pytest.raises(MeasureError, match="bins=0"):
        calibration_error([0], [[0.5, 0.5]], bins=0)

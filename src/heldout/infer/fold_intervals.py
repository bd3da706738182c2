"""Intervals for one system scored by cross-validation or repeated splits.

Scores of folds are not independent: training sets overlap, and every test fold is training data of
the other models. `naive_z` ignores this, `corrected_t` accounts for it.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from heldout.infer.intervals import normal_quantile, t_quantile
from heldout.infer.results import Interval, as_values, check_share

if TYPE_CHECKING:
    from collections.abc import Iterable


__all__ = [
    "corrected_t",
    "naive_z",
]


def _around(estimate: float, half: float, level: float, method: str) -> Interval:
    return Interval(estimate, estimate - half, estimate + half, level, method)


def naive_z(fold_scores: Iterable[float], level: float = 0.95) -> Interval:
    """Return mean ± z·sd/√k over folds, the textbook interval, with sd divided by k.

    **Its coverage is below its level**: it treats folds as independent, uses the normal
    distribution instead of t, and k instead of k - 1 in the deviation. For comparison with
    published results; use `corrected_t` instead.

    Parameters
    ----------
    fold_scores
        One per fold.
    level
        The nominal level, which its coverage does not reach.

    Returns
    -------
    Interval
        Around the mean over folds.

    References
    ----------
    Bengio & Grandvalet (2004). No unbiased estimator of the variance of k-fold cross-validation.
    JMLR 5 (why it cannot be right).
    """
    scores = as_values(fold_scores, "fold_scores")
    half = normal_quantile(level) * float(scores.std()) / math.sqrt(len(scores))
    return _around(float(scores.mean()), half, level, "naive z over folds")


def corrected_t(fold_scores: Iterable[float], test_share: float, level: float = 0.95) -> Interval:
    """Return the corrected resampled t interval for folds or repeated splits.

    The variance of the mean is the variance of the J scores times (1/J + n_test/n_train), with
    J - 1 degrees of freedom. The correction is a heuristic: it assumes that the correlation between
    splits is n_test / (n_test + n_train). No unbiased estimator of this variance exists (Bengio &
    Grandvalet 2004); this one works well in practice.

    Parameters
    ----------
    fold_scores
        One per split, all repetitions together.
    test_share
        n_test / n_train of one split (not n_test / n): 1/9 for ten folds.
    level
        The confidence level.

    Returns
    -------
    Interval
        Around the mean over splits.

    References
    ----------
    Nadeau & Bengio (2003). Inference for the generalization error. Machine Learning 52(3). Bengio &
    Grandvalet (2004). No unbiased estimator of the variance of k-fold cross-validation. JMLR 5.
    """
    scores = as_values(fold_scores, "fold_scores")
    splits = len(scores)
    variance = float(scores.var(ddof=1)) * (1.0 / splits + check_share(test_share))
    half = t_quantile(level, splits - 1) * math.sqrt(variance)
    return _around(float(scores.mean()), half, level, "corrected t over folds")

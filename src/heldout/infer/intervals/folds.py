"""Intervals for one system scored by cross-validation or repeated splits.

Scores of folds are not independent: training sets overlap, and every test fold is training data of
the other models. The four intervals differ in how they account for this.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from heldout.errors import InputError
from heldout.infer.intervals.units import normal_quantile, t_quantile
from heldout.infer.results import Interval, as_values
from heldout.infer.tests.paired import check_share

if TYPE_CHECKING:
    from collections.abc import Iterable

    from heldout.data.words import Floats

__all__ = [
    "NestedTerm",
    "conservative_z",
    "corrected_t",
    "naive_z",
    "nested_cv",
    "nested_term",
]


def _around(estimate: float, half: float, level: float, method: str) -> Interval:
    return Interval(estimate, estimate - half, estimate + half, level, method)


def naive_z(fold_scores: Iterable[float], level: float = 0.95) -> Interval:
    """Return mean ± z·sd/√k over folds, the textbook interval, with sd divided by k.

    **Its coverage is below its level**: it treats folds as independent, uses the normal
    distribution instead of t, and k instead of k - 1 in the deviation. For comparison with
    published results; use `corrected_t` or `nested_cv` instead.

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


def conservative_z(
    scores: Iterable[float], pairs: Iterable[tuple[float, float]], level: float = 0.95
) -> Interval:
    """Return the conservative z interval, with the variance between disjoint halves of the data.

    Shuffle the units and divide them into two halves; average the score over J train/test splits
    within each half, with test sets of the same size as on all data. The two averages share no
    unit, so that (first - second)²/2 is an unbiased estimate of their variance; it is averaged over
    several random halvings. Models trained on half of the data vary more: the interval is
    conservative.

    Parameters
    ----------
    scores
        Scores of the J splits of all data; their mean is the estimate.
    pairs
        One pair per random halving: the average scores on the two halves.
    level
        The confidence level.

    Returns
    -------
    Interval
        Around the mean of the scores.

    References
    ----------
    Nadeau & Bengio (2003). Inference for the generalization error. Machine Learning 52(3).
    """
    values = as_values(scores, "scores", 1)
    halves = _two_columns(pairs, "pairs", "(score on one half, score on the other)")
    variance = float(((halves[:, 0] - halves[:, 1]) ** 2).mean()) / 2.0
    half = normal_quantile(level) * math.sqrt(variance)
    return _around(float(values.mean()), half, level, "conservative z")


def _two_columns(rows: Iterable[tuple[float, float]], what: str, meaning: str) -> Floats:
    array = np.asarray([tuple(row) for row in rows], np.float64)
    if array.ndim != 2 or array.shape[1] != 2:
        raise InputError(f"{what}: expected one or more rows {meaning}, got shape {array.shape}")
    as_values(array.ravel(), what)
    return array


class NestedTerm(NamedTuple):
    """The contribution of one outer fold to the error estimate of nested cross-validation.

    Parameters
    ----------
    a
        The squared difference between the inner estimate and the mean error on the outer fold.
    b
        The part of it that is noise of the outer fold itself: its variance divided by its size.
    """

    a: float
    b: float


def nested_term(inner_errors: Iterable[float], outer_errors: Iterable[float]) -> NestedTerm:
    """Return the term of one outer fold.

    Parameters
    ----------
    inner_errors
        Errors of all units outside the outer fold, from cross-validation among themselves.
    outer_errors
        Errors of the units of the outer fold, from the model trained on all others.

    Returns
    -------
    NestedTerm
        For `nested_cv`.
    """
    inner = as_values(inner_errors, "inner_errors", 1)
    outer = as_values(outer_errors, "outer_errors")
    distance = float(inner.mean()) - float(outer.mean())
    return NestedTerm(distance * distance, float(outer.var(ddof=1)) / len(outer))


def nested_cv(
    errors: Iterable[float],
    terms: Iterable[tuple[float, float]],
    n: int,
    folds: int,
    *,
    cv_mean: float | None = None,
    level: float = 0.95,
) -> Interval:
    """Return the nested cross-validation interval for prediction error (or any mean over units).

    Each outer fold k is left out, and cross-validation within the other K - 1 folds estimates the
    error. The squared difference between this estimate and the mean error on fold k, minus the
    noise of that fold, estimates the mean squared error of cross-validation. It is rescaled from
    n(K - 1)/K units to n and limited to the range from the standard error of n independent errors
    to √K times that.

    Parameters
    ----------
    errors
        All errors of the inner cross-validations, all outer folds and repetitions together.
    terms
        One ``(a, b)`` per outer fold and repetition, see `nested_term`.
    n
        The number of units.
    folds
        K, the number of folds (the inner ones are K - 1).
    cv_mean
        The mean error of plain K-fold cross-validation. If given, the bias of training on fewer
        units is subtracted: (1 + (K - 2)/K) times (nested mean - cv_mean), as in mlr3inferr (the
        authors' R package raises the fraction to the power 1.5).
    level
        The confidence level.

    Returns
    -------
    Interval
        Around the (debiased) nested estimate.

    References
    ----------
    Bates, Hastie & Tibshirani (2024). Cross-validation: what does it estimate and how well does
    it do it? JASA 119(546), 1434-1445, algorithm 1.
    """
    inner = as_values(errors, "errors")
    pairs = _two_columns(terms, "terms", "(a, b)")
    if folds < 3 or n < folds:
        raise InputError(f"folds={folds}, n={n}: nested cross-validation needs 3 <= folds <= n")
    if (pairs < 0).any():
        raise InputError("terms: a (a squared distance) and b (a variance) cannot be negative")
    estimate = float(inner.mean())
    if cv_mean is not None:
        estimate -= (1.0 + (folds - 2) / folds) * (estimate - cv_mean)
    half = normal_quantile(level) * _nested_error(inner, pairs, n, folds)
    return _around(estimate, half, level, "nested CV")


def _nested_error(inner: Floats, pairs: Floats, n: int, folds: int) -> float:
    """Return the standard error, between that of independent and of fully dependent folds."""
    least = float(inner.std(ddof=1)) / math.sqrt(n)
    squared = float((pairs[:, 0] - pairs[:, 1]).mean()) * (folds - 1) / folds
    return min(max(math.sqrt(max(squared, 0.0)), least), least * math.sqrt(folds))

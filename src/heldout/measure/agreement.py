"""Agreement of two judges: confusion by grade, Cohen's kappa, Krippendorff's alpha.

Most functions take a confusion matrix, one row per grade of the first judge and one column per
grade of the second, or an array of such matrices, whose last two axes are the grades.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Literal, get_args

import numpy as np

from heldout.errors import InputError

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import ArrayLike

    from heldout.data.words import Floats

__all__ = [
    "Weights",
    "alpha_of_confusion",
    "binary_confusion",
    "cohen_kappa",
    "exact_agreement",
    "grade_confusion",
    "mean_difference",
    "shares_above_and_below",
]

Weights = Literal["none", "linear", "quadratic"]
"""How disagreement counts: any alike, by the distance of the grades, or by its square."""


def grade_confusion(
    first: Sequence[int], second: Sequence[int], grades: Sequence[int] | None = None
) -> tuple[tuple[int, ...], Floats]:
    """Return the grades and how often each pair of grades was given.

    Parameters
    ----------
    first, second
        The grades of the same items by two judges.
    grades
        The grades to count, ascending; by default those that were given.

    Examples
    --------
    >>> grades, counts = grade_confusion([0, 0, 1, 2], [0, 1, 1, 2])
    >>> grades, counts.tolist()
    ((0, 1, 2), [[1.0, 1.0, 0.0], [0.0, 1.0, 0.0], [0.0, 0.0, 1.0]])
    """
    one, other = np.asarray(first, np.int64), np.asarray(second, np.int64)
    if one.ndim != 1 or one.shape != other.shape or not len(one):
        raise InputError(
            f"expected two lists of grades of the same items, got shapes {one.shape} and "
            f"{other.shape}"
        )
    used = np.union1d(one, other) if grades is None else np.asarray(grades, np.int64)
    places = np.searchsorted(used, one) * len(used) + np.searchsorted(used, other)
    counts = np.bincount(places, minlength=len(used) ** 2).reshape(len(used), len(used))
    return tuple(used.tolist()), counts.astype(np.float64)


def cohen_kappa(counts: ArrayLike, grades: Sequence[int], weights: Weights = "none") -> Any:
    """Return Cohen's kappa: agreement beyond chance (Cohen 1960; weighted: Cohen 1968).

    Parameters
    ----------
    counts
        Confusion matrices.
    grades
        The grades of rows and columns. Weights are distances between grades, so that a grade that
        nobody gave makes no difference.
    weights
        ``none``, ``linear`` or ``quadratic``.

    Returns
    -------
    float or array
        At most 1; 0 is agreement by chance. NaN where both judges gave all items the same grade.

    Examples
    --------
    >>> float(cohen_kappa([[20, 5], [10, 15]], [0, 1]))
    0.4
    """
    if weights not in get_args(Weights):
        raise InputError(f"weights={weights!r}: expected one of {', '.join(get_args(Weights))}")
    table = np.asarray(counts, np.float64)
    values = np.asarray(grades, np.float64)
    gaps = np.abs(values[:, None] - values[None, :])
    cost = {"none": (gaps > 0).astype(np.float64), "linear": gaps, "quadratic": gaps**2}[weights]
    total = table.sum(axis=(-2, -1))
    expected = table.sum(axis=-1)[..., :, None] * table.sum(axis=-2)[..., None, :]
    seen = (table * cost).sum(axis=(-2, -1)) * total
    return 1 - _divided(seen, (expected * cost).sum(axis=(-2, -1)))


def alpha_of_confusion(counts: ArrayLike) -> Any:
    """Return Krippendorff's ordinal alpha of two judges who judged the same items.

    1 is perfect agreement, 0 agreement by chance; NaN if all grades are equal.

    Parameters
    ----------
    counts
        As for `cohen_kappa`.

    References
    ----------
    Krippendorff (2011). Computing Krippendorff's alpha-reliability.
    """
    table = np.asarray(counts, np.float64)
    coincidences = table + np.swapaxes(table, -1, -2)
    given = coincidences.sum(axis=-1)
    total = given.sum(axis=-1)
    # Two grades are apart by the items between them, of their own items by half.
    middle = np.cumsum(given, axis=-1) - given / 2
    cost = (middle[..., :, None] - middle[..., None, :]) ** 2
    expected = given[..., :, None] * given[..., None, :]
    seen = (coincidences * cost).sum(axis=(-2, -1)) * (total - 1)
    return 1 - _divided(seen, (expected * cost).sum(axis=(-2, -1)))


def binary_confusion(counts: Floats, grades: Sequence[int], rel: int) -> Floats:
    """Return confusion matrices of two classes: grades below `rel`, and from it on."""
    table = np.asarray(counts, np.float64)
    high = np.asarray(grades) >= rel
    sides = np.stack([~high, high]).astype(np.float64)
    joined: Floats = sides @ table @ sides.T
    return joined


def exact_agreement(counts: Floats) -> Floats:
    """Return the share of items with the same grade."""
    return _divided(np.trace(counts, axis1=-2, axis2=-1), counts.sum(axis=(-2, -1)))


def shares_above_and_below(counts: Floats) -> tuple[Floats, Floats]:
    """Return the shares of items that the second judge grades higher, and lower, than the first."""
    total = counts.sum(axis=(-2, -1))
    above, below = np.triu(counts, 1), np.tril(counts, -1)
    return (
        _divided(above.sum(axis=(-2, -1)), total),
        _divided(below.sum(axis=(-2, -1)), total),
    )


def mean_difference(counts: Floats, grades: Sequence[int]) -> Floats:
    """Return the mean grade of the second judge minus that of the first."""
    values = np.asarray(grades, np.float64)
    gaps = values[None, :] - values[:, None]
    return _divided((counts * gaps).sum(axis=(-2, -1)), counts.sum(axis=(-2, -1)))


def _divided(part: Floats, whole: Floats) -> Floats:
    """Return part / whole; NaN where there is nothing to divide by."""
    with np.errstate(invalid="ignore", divide="ignore"):
        return np.where(whole > 0, part / whole, np.nan)

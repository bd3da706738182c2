"""Agreement of two judges: confusion by grade, Cohen's kappa, Krippendorff's alpha.

Statistics take a confusion matrix, one row per grade of the first judge and one column per grade of
the second, or an array of such matrices, whose last two axes are the grades.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal

import numpy as np

from heldout.measure.base import quotient

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import ArrayLike

    from heldout.data.words import Floats, Ints

Weights = Literal["linear", "quadratic"]
"""How disagreement counts: by the distance of the grades, or by its square; else all alike."""


def confusion(first: Ints, second: Ints, size: int, weights: Floats | None = None) -> Floats:
    """Return how often each pair of codes below `size` was given: rows are those of the first."""
    counts = np.bincount(size * first + second, weights, size * size).astype(np.float64)
    return counts.reshape(size, size)


def distances(places: ArrayLike, weights: Weights | None = None) -> Floats:
    """Return how far apart grades are, by their places."""
    places = np.asarray(places, np.float64)
    apart: Floats = np.abs(places[:, None] - places[None])
    return (
        (apart > 0).astype(np.float64) if weights is None else apart ** (1 + (weights != "linear"))
    )


def beyond_chance(disagreement: Floats, first: Floats, second: Floats, apart: Floats) -> Floats:
    """Return 1 minus the disagreement as a share of that by chance; NaN where chance gives none.

    `first` and `second` have the counts of each grade, `disagreement` their distances, added up.
    """
    by_chance = ((first @ apart) * second).sum(axis=-1)
    return 1 - quotient(disagreement * first.sum(axis=-1), by_chance)


def cohen_kappa(counts: Floats, grades: Sequence[int], weights: Weights | None = None) -> Floats:
    """Return Cohen's kappa: agreement beyond chance (Cohen 1960; weighted: Cohen 1968).

    Weights are distances between grades, so that a grade that nobody gave makes no difference.
    """
    apart = distances(grades, weights)
    return beyond_chance(
        (counts * apart).sum(axis=(-2, -1)), counts.sum(axis=-1), counts.sum(axis=-2), apart
    )


def alpha_of_confusion(counts: Floats) -> Floats:
    """Return Krippendorff's ordinal alpha of two judges of the same items (Krippendorff 2011).

    1 is perfect agreement, 0 agreement by chance; NaN if all grades are equal.
    """
    coincidences = counts + np.swapaxes(counts, -1, -2)
    given = coincidences.sum(axis=-1)
    total = given.sum(axis=-1)
    # Two grades are apart by the items between them, of their own items by half.
    middle = np.cumsum(given, axis=-1) - given / 2
    cost = (middle[..., :, None] - middle[..., None, :]) ** 2
    expected = given[..., :, None] * given[..., None, :]
    seen = (coincidences * cost).sum(axis=(-2, -1)) * (total - 1)
    return 1 - quotient(seen, (expected * cost).sum(axis=(-2, -1)))


def mean_over_pairs(counts: Floats, numbers: ArrayLike) -> Floats:
    """Return the mean of a number per pair of grades, such as whether they are equal."""
    return quotient((counts * np.asarray(numbers)).sum(axis=(-2, -1)), counts.sum(axis=(-2, -1)))

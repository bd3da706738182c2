"""Adjust p-values for the number of comparisons."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal, get_args

import numpy as np

from heldout.errors import InputError

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

    from heldout.data.words import Floats

__all__ = ["Adjustment", "adjust"]

Adjustment = Literal["holm", "bonferroni", "bh", "none"]
"""Family-wise error rate (the first two) or false discovery rate (``bh``)."""


def adjust(p: ArrayLike, method: Adjustment | str = "holm") -> Floats:
    """Return adjusted p-values, in the given order.

    Parameters
    ----------
    p
        The p-values of all comparisons of the family.
    method
        ``holm`` and ``bonferroni`` control the familywise error rate under any dependence; ``bh``
        controls the false discovery rate for independent or positively dependent tests; ``none``.

    Returns
    -------
    ndarray
        The same as R's ``p.adjust``.

    References
    ----------
    S. Holm, Scand. J. Stat. 6 (1979) 65-70; Y. Benjamini and Y. Hochberg, J. R. Stat. Soc. B 57
    (1995) 289-300.

    Examples
    --------
    >>> adjust([0.01, 0.02, 0.03, 0.04, 0.05], "holm").round(4).tolist()
    [0.05, 0.08, 0.09, 0.09, 0.09]
    """
    if method not in get_args(Adjustment):
        raise InputError(f"method={method!r}: expected one of {', '.join(get_args(Adjustment))}")
    values = _check(p)
    count = len(values)
    if method == "none" or count < 2:
        return values.copy()
    if method == "bonferroni":
        return np.minimum(values * count, 1.0)
    order = np.argsort(values, kind="stable")
    rank = np.arange(1.0, count + 1)
    if method == "holm":
        stepped = np.maximum.accumulate(values[order] * (count + 1 - rank))
    else:
        stepped = np.minimum.accumulate((values[order] * (count / rank))[::-1])[::-1]
    adjusted = np.empty(count)
    adjusted[order] = np.minimum(stepped, 1.0)
    return adjusted


def _check(p: ArrayLike) -> Floats:
    values = np.asarray(p, np.float64)
    if values.ndim != 1:
        raise InputError(f"p: expected a list of p-values, got an array of shape {values.shape}")
    wrong = ~((values >= 0) & (values <= 1))
    if wrong.any():
        position = int(np.argmax(wrong))
        raise InputError(
            f"p: number {position + 1} is {values[position]}, expected a p-value from 0 to 1"
        )
    return values

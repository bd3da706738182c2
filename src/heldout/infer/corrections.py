"""Adjust p-values for the number of comparisons, and show by letters who differs."""

from __future__ import annotations

from string import ascii_letters
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from numpy.typing import ArrayLike

    from heldout.data.words import Floats


def adjust(p: ArrayLike, how: str = "holm") -> Floats:
    """Return adjusted p-values in the given order, the same as R's ``p.adjust``.

    ``holm`` and ``bonferroni`` control the familywise error rate under any dependence, ``bh`` the
    false discovery rate of independent or positively dependent tests; ``none`` changes nothing.
    S. Holm, Scand. J. Stat. 6 (1979) 65-70; Y. Benjamini and Y. Hochberg, J. R. Stat. Soc. B 57
    (1995) 289-300.

    >>> adjust([0.01, 0.02, 0.03, 0.04, 0.05], "holm").round(4).tolist()
    [0.05, 0.08, 0.09, 0.09, 0.09]
    """
    values = np.array(p, np.float64)
    count = len(values)
    if how == "none":
        return values
    if how == "bonferroni":
        return np.minimum(values * count, 1.0)
    order = np.argsort(values, kind="stable")
    rank = np.arange(1.0, count + 1)
    if how == "holm":
        stepped = np.maximum.accumulate(values[order] * (count + 1 - rank))
    else:
        stepped = np.minimum.accumulate((values[order] * (count / rank))[::-1])[::-1]
    adjusted = np.empty(count)
    adjusted[order] = np.minimum(stepped, 1.0)
    return adjusted


def compact_letters(
    systems: int, different: Iterable[tuple[int, int]], order: Sequence[int] | None = None
) -> list[str]:
    """Return letters such that systems are different exactly if they share none.

    The first systems of the order get the first letters; after z comes A, after Z a1.

    H.-P. Piepho, An algorithm for a letter-based representation of all-pairwise comparisons,
    J. Comput. Graph. Stat. 13 (2004) 456-466: insert and absorb.

    >>> compact_letters(3, [(0, 2)])
    ['a', 'ab', 'b']
    """
    listed = list(range(systems)) if order is None else list(order)
    bit = {system: 1 << place for place, system in enumerate(listed)}
    columns = [(1 << systems) - 1]  # sets of systems as bits: each becomes a letter
    for first, second in different:
        columns = _insert(columns, bit[first], bit[second])
    members = sorted(
        [place for place in range(systems) if column >> place & 1] for column in columns
    )
    letters = [""] * systems
    for number, places in enumerate(members):
        turn, letter = divmod(number, len(ascii_letters))
        for place in places:
            letters[listed[place]] += ascii_letters[letter] + (str(turn) if turn else "")
    return letters


def _insert(columns: list[int], first: int, second: int) -> list[int]:
    """Separate two systems (bits) that share a column; drop columns that are within others."""
    both = first | second
    kept = [column for column in columns if column & both != both]
    parted = [
        column & ~bit for column in columns if column & both == both for bit in (first, second)
    ]
    # Only new columns can lie within another one: the old ones were absorbed before.
    for number, column in enumerate(parted):
        if not any(column & ~wider == 0 for wider in kept + parted[number + 1 :]):
            kept.append(column)
    return kept

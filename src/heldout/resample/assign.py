"""Put units into folds or parts: at random, by strata, by groups, by many labels at once.

A part is a fold, or a side of a hold-out. All functions take a random order of the units and give
the number of the part of each.
"""

from __future__ import annotations

import heapq
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from heldout.resample.hashing import draws

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from numpy.typing import NDArray

    from heldout.data.words import Flags, Ints

    Parts = NDArray[np.int32]

__all__ = ["Labels", "choose", "cut", "deal", "even_sizes", "fill_groups", "place_groups", "spread"]


class Labels(NamedTuple):
    """Which labels a unit has, and how often: rows of a sparse table.

    Parameters
    ----------
    units, labels
        A unit and a label that it has.
    counts
        How often: 1, or how many units of a group have it.
    order
        The labels in an order that depends on their names alone; it decides between equals.
    word
        64 random bits.
    """

    units: Ints
    labels: Ints
    counts: Ints
    order: Ints
    word: np.uint64


def even_sizes(units: int, parts: int) -> list[int]:
    """Sizes that differ by one at most.

    Examples
    --------
    >>> even_sizes(11, 3)
    [4, 4, 3]
    """
    return [units // parts + (part < units % parts) for part in range(parts)]


def cut(order: Ints, parts: int) -> Parts:
    """Cut a random order into pieces of equal size, but for one.

    Examples
    --------
    >>> cut(np.array([2, 0, 1, 3]), 2).tolist()
    [0, 1, 0, 1]
    """
    found = np.empty(len(order), np.int32)
    found[order] = np.arange(len(order)) * parts // len(order)
    return found


def deal(order: Ints, strata: Ints, parts: int) -> Parts:
    """Deal stratum after stratum, as one deals cards: strata and sizes are even but for one."""
    found = np.empty(len(order), np.int32)
    found[_by_stratum(order, strata)] = np.arange(len(order)) % parts
    return found


def choose(order: Ints, strata: Ints, wanted: int, start: int) -> Flags:
    """Choose some units; of each stratum its share, up or down to a whole number.

    Units are laid out stratum after stratum, and every so-manieth is taken, from a random start:
    any stretch of m units then has its share of m, rounded up or down.
    """
    size = len(order)
    steps = (np.arange(size + 1) * wanted + start) // size
    found = np.zeros(size, np.bool_)
    found[_by_stratum(order, strata)] = np.diff(steps) > 0
    return found


def _by_stratum(order: Ints, strata: Ints) -> Ints:
    """The units stratum by stratum, inside each in the random order."""
    return order[np.argsort(strata[order], kind="stable")]


def place_groups(order: Ints, sizes: Ints, parts: int) -> Parts:
    """Put each group into the part that is lightest so far, the largest groups first.

    Examples
    --------
    >>> place_groups(np.arange(4), np.array([1, 5, 3, 2]), 2).tolist()
    [0, 0, 1, 1]
    """
    found = np.empty(len(sizes), np.int32)
    loads = [(0, part) for part in range(parts)]
    for group in order[np.argsort(-sizes[order], kind="stable")].tolist():
        load, part = loads[0]
        found[group] = part
        heapq.heapreplace(loads, (load + int(sizes[group]), part))
    return found


def fill_groups(order: Ints, sizes: Ints, wanted: int) -> Flags:
    """Choose groups in the random order, passing over those that would be too much."""
    found = np.zeros(len(sizes), np.bool_)
    left = wanted
    for group in order.tolist():
        if sizes[group] <= left:
            found[group] = True
            left -= int(sizes[group])
    return found


def spread(
    order: Ints,
    labels: Labels,
    sizes: Ints,
    quotas: Sequence[int],
    shares: Sequence[int] | None = None,
) -> Parts:
    """Spread units with any number of labels, so that every part has its share of each label.

    Iterative stratification (Sechidis, Tsoumakas & Vlahavas 2011): the label with fewest units left
    comes first; each of its units goes to the part that lacks most of that label, of those to the
    one with most room. Unlike there, a part that is full takes no more, so that sizes are exact
    where all units have size 1.

    Parameters
    ----------
    order
        A random order of the units.
    labels
        What is to be spread.
    sizes
        The size of each unit: 1, or that of a group.
    quotas
        The size that each part shall have.
    shares
        What each part shall have of every label, in proportion; by default as its size. Folds have
        equal shares, though the size of some is one more.
    """
    found = np.full(len(order), -1, np.int32)
    rank = np.empty(len(order), np.int64)
    rank[order] = np.arange(len(order))
    room = list(quotas)
    turn = rank.tolist()
    weights = sizes.tolist()
    table = _Wishes(labels, shares or quotas, rank)
    while (label := table.scarcest()) is not None:
        for unit in table.open_units(label):
            part = _best_part(table.wishes[label], room, turn[unit], weights[unit])
            found[unit] = part
            room[part] -= weights[unit]
            table.settle(unit, part)
        table.close(label)
    _fill(found, order, sizes, room)
    _leave_none_empty(found, order, sizes, quotas)
    return found


def _best_part(wishes: list[int], room: list[int], turn: int, size: int) -> int:
    """The part that lacks most; then the one with most room; then each in its turn."""
    parts = len(room)
    fitting = [part for part in range(parts) if room[part] >= size] or range(parts)
    return max(fitting, key=lambda part: (wishes[part], room[part], (part + turn) % parts))


class _Wishes:
    """How much of each label each part still lacks, and which units have it."""

    def __init__(self, labels: Labels, shares: Sequence[int], rank: Ints) -> None:
        count = len(labels.order)
        by_label = np.lexsort((rank[labels.units], -labels.counts, labels.labels))
        ends = np.cumsum(np.bincount(labels.labels, minlength=count))[:-1]
        self._units = [part.tolist() for part in np.split(labels.units[by_label], ends)]
        totals = np.bincount(labels.labels, labels.counts, count).astype(np.int64).tolist()
        # In whole numbers (times the sum of the shares): what is equal must stay equal.
        self._scale = sum(shares)
        self.wishes = [[total * share for share in shares] for total in totals]
        if len(set(shares)) > 1:
            self._scale = 1
            self.wishes = _whole_wishes(totals, shares, labels)
        self._labels_of: dict[int, list[tuple[int, int]]] = {}
        for unit, label, times in _triples(labels):
            self._labels_of.setdefault(unit, []).append((label, times))
        self._left = np.array([len(units) for units in self._units], np.int64)
        self._order = labels.order
        self._settled: set[int] = set()

    def scarcest(self) -> int | None:
        """The label with fewest units left."""
        left = self._left[self._order]
        with_some = np.flatnonzero(left)
        if not len(with_some):
            return None
        return int(self._order[with_some[np.argmin(left[with_some])]])

    def open_units(self, label: int) -> list[int]:
        """The units of a label that have no part yet."""
        return [unit for unit in self._units[label] if unit not in self._settled]

    def close(self, label: int) -> None:
        """All units of a label have a part."""
        self._left[label] = 0

    def settle(self, unit: int, part: int) -> None:
        """Take note of the part of a unit."""
        self._settled.add(unit)
        for label, times in self._labels_of[unit]:
            self.wishes[label][part] -= times * self._scale
            self._left[label] -= 1


def _triples(labels: Labels) -> Iterator[tuple[int, int, int]]:
    columns = (labels.units, labels.labels, labels.counts)
    return zip(*(one.tolist() for one in columns), strict=True)


def _whole_wishes(totals: list[int], shares: Sequence[int], labels: Labels) -> list[list[int]]:
    """The share of each label rounded up or down at random, so that all together are right.

    Where parts are unequal, the largest would otherwise get every label that has one unit only.
    """
    left = np.array(totals, np.int64)[labels.order]
    wishes = np.zeros((len(totals), len(shares)), np.int64)
    starts = draws(labels.word, len(shares), sum(shares)).tolist()
    rest = sum(shares)
    for part in range(1, len(shares)):
        ends = (np.concatenate(([0], np.cumsum(left))) * shares[part] + starts[part] % rest) // rest
        wishes[labels.order, part] = np.diff(ends)
        left = left - np.diff(ends)
        rest -= shares[part]
    wishes[labels.order, 0] = left
    return wishes.tolist()


def _fill(found: Parts, order: Ints, sizes: Ints, room: list[int]) -> None:
    """Put the units without a label where there is room."""
    rest = order[found[order] < 0]
    if int(sizes.max(initial=1)) == 1:
        found[rest] = np.repeat(np.arange(len(room), dtype=np.int32), room)[: len(rest)]
        return
    for unit in rest[np.argsort(-sizes[rest], kind="stable")].tolist():
        part = max(range(len(room)), key=room.__getitem__)
        found[unit] = part
        room[part] -= int(sizes[unit])


def _leave_none_empty(found: Parts, order: Ints, sizes: Ints, quotas: Sequence[int]) -> None:
    """Give the smallest unit of the fullest part to a part that groups have left empty."""
    for part, quota in enumerate(quotas):
        counts = np.bincount(found, minlength=len(quotas))
        if quota and not counts[part] and counts.max() > 1:
            full = order[found[order] == int(np.argmax(counts))]
            found[full[np.argmin(sizes[full])]] = part

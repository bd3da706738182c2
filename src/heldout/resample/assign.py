"""Assign units to folds or parts: at random, by strata, by groups, by many labels at once.

A part is a fold, or a side of a hold-out. All functions take a random order of the units and return
the number of the part of each unit.
"""

from __future__ import annotations

import heapq
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from heldout.data.words import offsets_of
from heldout.resample.hashing import draws

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from heldout.data.words import Flags, Ints

    Parts = NDArray[np.int32]


class Labels(NamedTuple):
    """The labels of units and their counts, as rows of a sparse table."""

    units: Ints
    labels: Ints  # of each unit
    counts: Ints  # 1, or how many units of a group have the label
    order: Ints  # the labels in an order that depends only on their names, to break ties
    word: np.uint64  # 64 random bits


def even_sizes(units: int, parts: int) -> list[int]:
    """Return sizes of parts that differ by at most one."""
    return [units // parts + (part < units % parts) for part in range(parts)]


def cut(order: Ints, parts: int) -> Parts:
    """Cut a random order into parts whose sizes differ by at most one."""
    assigned = np.empty(len(order), np.int32)
    assigned[order] = np.arange(len(order)) * parts // len(order)
    return assigned


def deal(order: Ints, strata: Ints, parts: int) -> Parts:
    """Deal the units stratum by stratum, like cards: counts in parts differ by at most one."""
    assigned = np.empty(len(order), np.int32)
    assigned[_by_stratum(order, strata)] = np.arange(len(order)) % parts
    return assigned


def choose(order: Ints, strata: Ints, wanted: int, start: int) -> Flags:
    """Choose some units; of each stratum its share, rounded up or down.

    Units are arranged stratum by stratum and sampled systematically from a random start: any m
    consecutive units then have their share of m, rounded up or down.
    """
    size = len(order)
    steps = (np.arange(size + 1) * wanted + start) // size
    assigned = np.zeros(size, np.bool_)
    assigned[_by_stratum(order, strata)] = np.diff(steps) > 0
    return assigned


def _by_stratum(order: Ints, strata: Ints) -> Ints:
    """Return the units stratum by stratum, in random order inside each stratum."""
    return order[np.argsort(strata[order], kind="stable")]


def place_groups(order: Ints, sizes: Ints, parts: int) -> Parts:
    """Put each group into the part with fewest units so far, largest groups first."""
    assigned = np.empty(len(sizes), np.int32)
    loads = [(0, part) for part in range(parts)]
    for group in order[np.argsort(-sizes[order], kind="stable")].tolist():
        load, part = loads[0]
        assigned[group] = part
        heapq.heapreplace(loads, (load + int(sizes[group]), part))
    return assigned


def fill_groups(order: Ints, sizes: Ints, wanted: int) -> Flags:
    """Choose groups in random order, skipping groups that are too large for the rest."""
    assigned = np.zeros(len(sizes), np.bool_)
    left = wanted
    for group in order.tolist():
        if sizes[group] <= left:
            assigned[group] = True
            left -= int(sizes[group])
    return assigned


def spread(
    order: Ints,
    labels: Labels,
    sizes: Ints,
    quotas: Sequence[int],
    shares: Sequence[int] | None = None,
) -> Parts:
    """Spread units with any number of labels, so that every part has its share of each label.

    Iterative stratification (Sechidis, Tsoumakas & Vlahavas 2011): the label with fewest remaining
    units comes first; each of its units goes to the part that lacks most of that label, then to the
    one with most room. Unlike there, a full part takes no more units, so that sizes are exact if
    all units have size 1.
    `sizes` are those of units (1, or that of a group), `quotas` those of parts; `shares` are the
    proportions of every label in the parts (default: quotas). Folds have equal shares, though some
    are larger by one unit.
    """
    assigned = np.full(len(order), -1, np.int32)
    rank = np.empty(len(order), np.int64)
    rank[order] = np.arange(len(order))
    room = list(quotas)
    turn = rank.tolist()
    weights = sizes.tolist()
    table = _Wishes(labels, shares or quotas, rank)
    while (label := table.scarcest()) is not None:
        for unit in table.open_units(label):
            part = _best_part(table.wishes[label], room, turn[unit], weights[unit])
            assigned[unit] = part
            room[part] -= weights[unit]
            table.settle(unit, part)
        table.close(label)
    _fill(assigned, order, sizes, room)
    _leave_none_empty(assigned, order, sizes, quotas)
    return assigned


def _best_part(wishes: list[int], room: list[int], turn: int, size: int) -> int:
    """Return the part that lacks most; ties go to the one with most room, then by turns."""
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
        # In integers (times the sum of the shares), so that equal values stay equal.
        self._scale = sum(shares)
        self.wishes = [[total * share for share in shares] for total in totals]
        if len(set(shares)) > 1:
            self._scale = 1
            self.wishes = _whole_wishes(totals, shares, labels)
        self._labels_of: dict[int, list[tuple[int, int]]] = {}
        columns = (column.tolist() for column in (labels.units, labels.labels, labels.counts))
        for unit, label, times in zip(*columns, strict=True):
            self._labels_of.setdefault(unit, []).append((label, times))
        self._left = np.array([len(units) for units in self._units], np.int64)
        self._order = labels.order
        self._settled: set[int] = set()

    def scarcest(self) -> int | None:
        """Return the label with fewest remaining units."""
        left = self._left[self._order]
        with_some = np.flatnonzero(left)
        if not len(with_some):
            return None
        return int(self._order[with_some[np.argmin(left[with_some])]])

    def open_units(self, label: int) -> list[int]:
        """Return the units of a label that have no part yet."""
        return [unit for unit in self._units[label] if unit not in self._settled]

    def close(self, label: int) -> None:
        """Mark a label as done: all its units have a part."""
        self._left[label] = 0

    def settle(self, unit: int, part: int) -> None:
        """Record the part of a unit."""
        self._settled.add(unit)
        for label, times in self._labels_of[unit]:
            self.wishes[label][part] -= times * self._scale
            self._left[label] -= 1


def _whole_wishes(totals: list[int], shares: Sequence[int], labels: Labels) -> list[list[int]]:
    """Return the share of each label, rounded at random so that the totals are right.

    Otherwise the largest of unequal parts would get every label with one unit only.
    """
    left = np.array(totals, np.int64)[labels.order]
    wishes = np.zeros((len(totals), len(shares)), np.int64)
    starts = draws(labels.word, len(shares), sum(shares)).tolist()
    rest = sum(shares)
    for part in range(1, len(shares)):
        ends = (offsets_of(left) * shares[part] + starts[part] % rest) // rest
        wishes[labels.order, part] = np.diff(ends)
        left = left - np.diff(ends)
        rest -= shares[part]
    wishes[labels.order, 0] = left
    return wishes.tolist()


def _fill(assigned: Parts, order: Ints, sizes: Ints, room: list[int]) -> None:
    """Assign units without a label to parts with room."""
    rest = order[assigned[order] < 0]
    if int(sizes.max(initial=1)) == 1:
        assigned[rest] = np.repeat(np.arange(len(room), dtype=np.int32), room)[: len(rest)]
        return
    for unit in rest[np.argsort(-sizes[rest], kind="stable")].tolist():
        part = max(range(len(room)), key=room.__getitem__)
        assigned[unit] = part
        room[part] -= int(sizes[unit])


def _leave_none_empty(assigned: Parts, order: Ints, sizes: Ints, quotas: Sequence[int]) -> None:
    """Move the smallest unit of the fullest part to any part that is empty."""
    for part, quota in enumerate(quotas):
        counts = np.bincount(assigned, minlength=len(quotas))
        if quota and not counts[part] and counts.max() > 1:
            full = order[assigned[order] == int(np.argmax(counts))]
            assigned[full[np.argmin(sizes[full])]] = part

"""Convert postings by document to postings by term, in two passes over all batches.

The first pass counts, so that the position of every posting is known; the second writes the
postings, a range of terms at a time where memory is short. Threads take consecutive groups of
batches. The result does not depend on which thread did what.
"""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from itertools import pairwise
from typing import TYPE_CHECKING, Final, NamedTuple, TypeVar

import numpy as np

from heldout.errors import InputError
from heldout.retrieve.indexing.kernels.placing import (
    count_postings,
    count_regions,
    place_postings,
    sort_postings,
)
from heldout.retrieve.indexing.kernels.types import Placed, Sorted

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from numpy.typing import NDArray

    from heldout.data.words import Ints
    from heldout.retrieve.indexing.spill import Spool
    from heldout.retrieve.indexing.vocabulary import Vocabulary

__all__ = ["Inverter", "Stretch"]

_R = TypeVar("_R")
_NARROW: Final = (1 << 16) - 1
_WIDE: Final = (1 << 31) - 1
_CHUNK: Final = 1 << 22
"""Postings that a thread sorts at a time."""
_PER_SORTED: Final = 12
"""Bytes per posting while it is sorted."""
_REGION: Final = 15
"""A region has at least two to this power positions: with counts, they fit into a cache."""
_MOST_REGIONS: Final = 1 << 12


class Stretch(NamedTuple):
    """The postings of the terms `first` to `last`."""

    first: int
    last: int
    documents: NDArray[np.int32]
    counts: NDArray[np.uint16] | NDArray[np.int32]


@dataclass(frozen=True, slots=True, eq=False)
class Inverter:
    """The result of the first pass.

    Parameters
    ----------
    offsets
        The postings of term ``t`` will be ``offsets[t]`` to ``offsets[t + 1]``.
    lengths, distinct
        For each document, the sum of its counts and the number of its distinct terms.
    wide
        Whether some count needs more than 16 bits.
    """

    spool: Spool
    vocabulary: Vocabulary
    groups: tuple[range, ...]
    frequencies: tuple[Ints, ...]
    offsets: Ints
    lengths: NDArray[np.int32]
    distinct: NDArray[np.int32]
    wide: bool

    @classmethod
    def count(
        cls, spool: Spool, vocabulary: Vocabulary, n_documents: int, threads: int
    ) -> Inverter:
        """Make the first pass."""
        groups = _groups(spool.sizes(), threads)
        sizes = np.zeros((2, n_documents), np.int32)
        n_terms = len(vocabulary.terms)
        frequencies = tuple(np.zeros(n_terms, np.int64) for _ in groups)

        def count_group(group: int) -> int:
            latest = np.full((n_terms, 2), -1, np.int32)
            greatest = 0
            for number in groups[group]:
                one = spool.load(number)
                found = count_postings(
                    one.counted,
                    one.first,
                    vocabulary.final[one.table],
                    latest,
                    frequencies[group],
                    sizes,
                )
                greatest = max(greatest, found)
            return greatest

        greatest = max(_parallel(count_group, len(groups)), default=0)
        if greatest > _WIDE:
            raise InputError(f"a term occurs {greatest:,} times in one document: split it")
        offsets = np.zeros(n_terms + 1, np.int64)
        np.cumsum(sum(frequencies, np.zeros(n_terms, np.int64)), out=offsets[1:])
        return cls(
            spool,
            vocabulary,
            groups,
            frequencies,
            offsets,
            sizes[0],
            sizes[1],
            greatest > _NARROW,
        )

    def stretches(self, memory: int | None) -> Iterator[Stretch]:
        """Return the postings of all terms, in pieces that fit into half of `memory`.

        The other half is for sorting; None: all at once.
        """
        limit, chunk = int(self.offsets[-1]), _CHUNK
        if memory is not None:
            limit = max(1, memory // 2 // (8 if self.wide else 6))
            chunk = min(chunk, memory // 2 // _PER_SORTED // max(1, len(self.groups)))
        low, n_terms = 0, len(self.offsets) - 1
        while low < n_terms:
            high = int(np.searchsorted(self.offsets, self.offsets[low] + limit, "right")) - 1
            high = min(max(high, low + 1), n_terms)
            yield self._place(low, high, chunk)
            low = high

    def _place(self, low: int, high: int, chunk: int) -> Stretch:
        """Make the second pass for the terms `low` to `high`."""
        size = int(self.offsets[high] - self.offsets[low])
        documents = np.empty(size, np.int32)
        counts = np.empty((size, 2 if self.wide else 1), np.uint16)
        cursors = self._cursors(low, high)
        sizes = self.spool.sizes()

        def place_group(group: int) -> None:
            latest = np.full(high - low, -1, np.int32)
            placed = Placed(latest, cursors[group], documents, counts)
            parts = list(_chunks(self.groups[group], sizes, chunk))
            most = max(int(sizes[part].sum()) for part in parts)
            # Sized by input: two raw terms with the same stem take two rows until they are placed.
            room = _room(most, size)
            for part in parts:
                self._place_batches(part, (low, high), room, placed)

        _parallel(place_group, len(self.groups))
        joined = counts.astype("<u2", copy=False).view("<i4") if self.wide else counts
        return Stretch(low, high, documents, joined.reshape(-1))

    def _place_batches(
        self, numbers: range, span: tuple[int, int], room: Sorted, placed: Placed
    ) -> None:
        """Sort the postings of a few batches by region, then place them."""
        batches = [self.spool.load(number) for number in numbers]
        room.ends[:] = 0
        for one in batches:
            final = self.vocabulary.final[one.table]
            count_regions(one.counted, final, span, placed.cursors, room)
        size = int(room.ends.sum())
        room.ends[:] = np.cumsum(room.ends) - room.ends
        for one in batches:
            final = self.vocabulary.final[one.table]
            sort_postings(one.counted, one.first, final, span, placed.cursors, room)
        place_postings(room, size, placed)

    def _cursors(self, low: int, high: int) -> list[Ints]:
        """Return, for each group, where its first postings go: after those of the groups before."""
        start = self.offsets[low:high] - self.offsets[low]
        cursors = []
        for frequencies in self.frequencies:
            cursors.append(start.copy())
            start += frequencies[low:high]
        return cursors


def _chunks(batches: range, sizes: Ints, most: int) -> Iterator[range]:
    """Split batches into consecutive chunks of at most `most` postings, at least one batch each."""
    begin = batches.start
    while begin < batches.stop:
        end = begin + 1
        while end < batches.stop and int(sizes[begin : end + 1].sum()) <= most:
            end += 1
        yield range(begin, end)
        begin = end


def _room(size: int, n_places: int) -> Sorted:
    """Allocate space for a chunk of `size` postings that go to `n_places` positions."""
    shift = max(_REGION, (n_places // _MOST_REGIONS).bit_length())
    ends = np.zeros((n_places >> shift) + 1, np.int64)
    terms, documents, counts = (np.empty(size, np.int32) for _ in range(3))
    return Sorted(terms, documents, counts, ends, shift)


def _groups(sizes: Ints, threads: int) -> tuple[range, ...]:
    """Split batches into consecutive groups with about equally many postings, one per thread."""
    ends = np.cumsum(sizes)
    total = int(ends[-1]) if len(ends) else 0
    wanted = [total * number // threads for number in range(1, threads)]
    cuts = [0, *np.searchsorted(ends, wanted, "right").tolist(), len(sizes)]
    return tuple(range(a, b) for a, b in pairwise(cuts) if a < b)


def _parallel(task: Callable[[int], _R], number: int) -> list[_R]:
    if number <= 1:
        return [task(one) for one in range(number)]
    with ThreadPoolExecutor(number) as pool:
        return list(pool.map(task, range(number)))

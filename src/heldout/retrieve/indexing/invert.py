"""Convert postings by document to postings by term, in two passes over all batches.

The first pass counts, so that the position of every posting is known; the second writes the
postings, a range of terms at a time where memory is short. Threads take consecutive groups of
batches. The result does not depend on which thread did what.
"""

from __future__ import annotations

from contextlib import ExitStack
from dataclasses import dataclass
from itertools import pairwise
from typing import TYPE_CHECKING, Final, NamedTuple

import numpy as np

from heldout.data.parallel import run_threads, stream_threads
from heldout.errors import InputError
from heldout.retrieve.indexing.kernels.placing import (
    count_postings,
    count_regions,
    divide_postings,
    place_postings,
    sort_postings,
)
from heldout.retrieve.indexing.kernels.types import Counted, Placed, Sorted
from heldout.retrieve.indexing.tokenize import Postings

if TYPE_CHECKING:
    from collections.abc import Iterator

    from numpy.typing import NDArray

    from heldout.data.words import Ints
    from heldout.retrieve.indexing.spill import Spool
    from heldout.retrieve.indexing.vocabulary import Vocabulary

__all__ = ["Inverter", "Stretch"]

_NARROW: Final = (1 << 16) - 1
_WIDE: Final = (1 << 31) - 1
_CHUNK: Final = 1 << 22
"""Postings that a thread sorts at a time."""
_PER_SORTED: Final = 12
"""Bytes per posting while it is sorted."""
_REGION: Final = 18
"""A region has at least two to this power positions: with counts, they fit into a cache."""
_MOST_REGIONS: Final = 1 << 12
_MOST_PARTS: Final = 64
"""Ranges of terms that a spool is divided into: each batch has a few bytes per part."""


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

        greatest = max(run_threads(count_group, range(len(groups)), len(groups)), default=0)
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

        The other half is for sorting; None: all at once. If there are several pieces, the spool is
        divided first, so that each piece reads little more than its own postings.
        """
        limit, chunk = int(self.offsets[-1]), _CHUNK
        if memory is not None:
            limit = max(1, memory // 2 // (8 if self.wide else 6))
            chunk = min(chunk, memory // 4 // _PER_SORTED // max(1, len(self.groups)))
        spans = list(self._spans(limit))
        if len(spans) <= 1:
            for span in spans:
                yield self._place(self.spool, span, chunk)
            return
        per_part = -(-len(spans) // _MOST_PARTS)
        parts = [spans[at : at + per_part] for at in range(0, len(spans), per_part)]
        with ExitStack() as stack:
            spools = [stack.enter_context(self.spool.beside()) for _ in parts]
            self._divide([part[0][0] for part in parts], spools)
            for part, spool in zip(parts, spools, strict=True):
                for span in part:
                    yield self._place(spool, span, chunk)
                spool.close()

    def _spans(self, limit: int) -> Iterator[tuple[int, int]]:
        """Yield ranges of terms with at most `limit` postings (or of one term)."""
        low, n_terms = 0, len(self.offsets) - 1
        while low < n_terms:
            high = int(np.searchsorted(self.offsets, self.offsets[low] + limit, "right")) - 1
            high = min(max(high, low + 1), n_terms)
            yield low, high
            low = high

    def _divide(self, firsts: list[int], spools: list[Spool]) -> None:
        """Move the postings of each batch to spools by ranges of terms.

        Parameters
        ----------
        firsts
            The first term of each range.
        """
        # The number of the range of each raw term; the one after the last is for what is left out.
        part_of = [
            np.where(final < 0, len(firsts), np.searchsorted(firsts, final, "right") - 1)
            .astype(np.uint8)
            for final in self.vocabulary.final
        ]  # fmt: skip

        def divide(number: int) -> list[Postings]:
            one = self.spool.take(number)
            size, width = one.counted.counts.shape
            divided = Counted(
                np.empty(size, np.int32),
                np.empty((size, width), np.uint16),
                np.zeros((len(firsts) + 1, len(one.counted.offsets)), np.int64),
            )
            divide_postings(one.counted, part_of[one.table], divided)
            ends = np.cumsum(divided.offsets[:, -1]).tolist()
            return [
                Postings(
                    one.first,
                    one.table,
                    Counted(divided.terms[begin:end], divided.counts[begin:end], offsets),
                )
                for begin, end, offsets in zip([0, *ends], ends[:-1], divided.offsets, strict=False)
            ]

        for several in stream_threads(divide, range(len(self.spool)), len(self.groups), ahead=1):
            for spool, one in zip(spools, several, strict=True):
                spool.add(one)
        self.spool.close()

    def _place(self, spool: Spool, span: tuple[int, int], chunk: int) -> Stretch:
        """Make the second pass for a range of terms."""
        low, high = span
        size = int(self.offsets[high] - self.offsets[low])
        documents = np.empty(size, np.int32)
        counts = np.empty((size, 2 if self.wide else 1), np.uint16)
        cursors = self._cursors(low, high)
        sizes = spool.sizes()

        def place_group(group: int) -> None:
            latest = np.full(high - low, -1, np.int32)
            placed = Placed(latest, cursors[group], documents, counts)
            parts = list(_chunks(self.groups[group], sizes, chunk))
            most = max(int(sizes[part].sum()) for part in parts)
            # Sized by input: two raw terms with the same stem take two rows until they are placed.
            room = _room(most, size)
            for part in parts:
                self._place_batches(spool, part, span, room, placed)

        run_threads(place_group, range(len(self.groups)), len(self.groups))
        joined = counts.astype("<u2", copy=False).view("<i4") if self.wide else counts
        return Stretch(low, high, documents, joined.reshape(-1))

    def _place_batches(
        self, spool: Spool, numbers: range, span: tuple[int, int], room: Sorted, placed: Placed
    ) -> None:
        """Sort the postings of a few batches by region, then place them."""
        batches = [spool.load(number) for number in numbers]
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

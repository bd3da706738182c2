"""Convert postings by document to postings by term, in two passes over all batches.

The first pass maps raw terms to final ones, makes one posting of those of a document that have the
same term, counts, and divides them by ranges of terms that fit into memory. The second writes one
range after another, whose positions are known by then. Threads take consecutive groups of batches.
The result does not depend on which thread did what.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise
from typing import TYPE_CHECKING, Final, NamedTuple

import numpy as np

from heldout.data.parallel import run_threads
from heldout.errors import InputError
from heldout.retrieve.indexing.kernels.placing import (
    count_regions,
    place_postings,
    settle_postings,
    sort_postings,
)
from heldout.retrieve.indexing.kernels.types import Counted, Placed, Sorted
from heldout.retrieve.indexing.strings import offsets_of
from heldout.retrieve.indexing.tokenize import Postings, Workspace, halves, unseen, whole

if TYPE_CHECKING:
    from collections.abc import Iterator

    from numpy.typing import NDArray

    from heldout.data.words import Ints
    from heldout.retrieve.indexing.spill import Spool
    from heldout.retrieve.indexing.vocabulary import Vocabulary

__all__ = ["Inverter", "Stretch"]

_NARROW: Final = (1 << 16) - 1
_WIDE: Final = (1 << 31) - 1
_PIECE: Final = 1 << 20
"""Postings that a thread settles at a time."""
_CHUNK: Final = 1 << 22
"""Postings that a thread sorts at a time."""
_PER_SORTED: Final = 18
"""Bytes per posting while it is sorted."""
_PER_PLACED: Final = 6
"""Bytes per placed posting; 8 in the rare case that counts need more than 16 bits."""
_REGION: Final = 18
"""A region has at least two to this power positions: with counts, they fit into a cache."""
_MOST_REGIONS: Final = 1 << 12
_MOST_PARTS: Final = 64
"""Ranges of terms that postings are divided into: each document has a few bytes per part."""


class Stretch(NamedTuple):
    """The postings of the terms `first` to `last`."""

    first: int
    last: int
    documents: NDArray[np.int32]
    counts: NDArray[np.uint16] | NDArray[np.int32]


class Part(NamedTuple):
    """The postings of some consecutive terms.

    Parameters
    ----------
    spans
        The ranges of terms that are placed at a time.
    pieces
        For each group of batches, the numbers of its postings in the spool.
    """

    spans: list[tuple[int, int]]
    pieces: tuple[list[int], ...]


@dataclass(frozen=True, slots=True, eq=False)
class Inverter:
    """The result of the first pass.

    Parameters
    ----------
    spool
        Postings of final terms.
    frequencies
        For each group of batches, how many of its documents have each term.
    offsets
        The postings of term ``t`` will be ``offsets[t]`` to ``offsets[t + 1]``.
    lengths, distinct
        For each document, the sum of its counts and the number of its distinct terms.
    wide
        Whether some count needs more than 16 bits.
    chunk
        Postings that a thread sorts at a time.
    """

    spool: Spool
    parts: list[Part]
    frequencies: tuple[Ints, ...]
    offsets: Ints
    lengths: NDArray[np.int32]
    distinct: NDArray[np.int32]
    wide: bool
    chunk: int

    @classmethod
    def settle(
        cls,
        raw: Spool,
        settled: Spool,
        vocabulary: Vocabulary,
        n_documents: int,
        threads: int,
        memory: int | None,
    ) -> Inverter:
        """Make the first pass.

        Parameters
        ----------
        raw
            The postings of all batches, which are taken out.
        settled
            Empty: for the result.
        memory
            Bytes for the second pass; None: all at once.
        """
        groups = _groups(raw.sizes(), threads)
        parts, chunk = _parts(vocabulary.most, len(groups), memory)
        n_terms = len(vocabulary.terms)
        firsts = [part.spans[0][0] for part in parts]
        part_of = (np.searchsorted(firsts, np.arange(n_terms), "right") - 1).astype(np.uint8)
        sizes = np.zeros((2, n_documents), np.int32)

        def settle_group(group: int) -> tuple[int, Ints]:
            seen, space = unseen(n_terms), Workspace()
            greatest = 0
            for numbers in _chunks(groups[group], raw.sizes(), min(_PIECE, chunk)):
                joined, first = _joined([raw.take(number) for number in numbers], vocabulary, space)
                begins = np.zeros(len(parts) + 1, np.int64)
                found = Counted(
                    space.array("settled terms", len(joined.terms), np.int32),
                    space.array("settled counts", len(joined.terms), np.int32),
                    np.zeros((len(parts), len(joined.offsets)), np.int32),
                )
                most = settle_postings(
                    joined, first, part_of, seen, sizes, begins, np.empty_like(begins), found
                )
                greatest = max(greatest, most)
                for part, one in zip(parts, _divided(found, begins.tolist()), strict=True):
                    part.pieces[group].append(settled.add(Postings(first, 0, one)))
            return greatest, seen[:, 2].astype(np.int64)

        found = run_threads(settle_group, range(len(groups)), len(groups))
        raw.close()
        greatest = max((most for most, _ in found), default=0)
        if greatest > _WIDE:
            raise InputError(f"a term occurs {greatest:,} times in one document: split it")
        frequencies = tuple(own for _, own in found)
        offsets = offsets_of(sum(frequencies, np.zeros(n_terms, np.int64)))
        wide = greatest > _NARROW
        return cls(settled, parts, frequencies, offsets, sizes[0], sizes[1], wide, chunk)

    def stretches(self) -> Iterator[Stretch]:
        """Make the second pass: return the postings of all terms, one range after another.

        Each is valid until the next: they share their memory.
        """
        spans = [span for part in self.parts for span in part.spans]
        most = max((int(self.offsets[high] - self.offsets[low]) for low, high in spans), default=0)
        documents = np.empty(most, np.int32)
        counts = np.empty((most, 2 if self.wide else 1), np.uint16)
        for part in self.parts:
            for span in part.spans:
                yield self._place(part, span, documents, counts)

    def _place(
        self,
        part: Part,
        span: tuple[int, int],
        documents: NDArray[np.int32],
        counts: NDArray[np.uint16],
    ) -> Stretch:
        """Place the postings of a range of terms."""
        low, high = span
        size = int(self.offsets[high] - self.offsets[low])
        cursors = self._cursors(low, high)
        sizes = self.spool.sizes()

        def place_group(group: int) -> None:
            placed = Placed(cursors[group], documents, counts)
            pieces = part.pieces[group]
            chunks = list(_chunks(range(len(pieces)), sizes[pieces], self.chunk))
            room = _room(
                max(int(sizes[pieces[one.start : one.stop]].sum()) for one in chunks), size
            )
            for one in chunks:
                self._place_pieces(pieces[one.start : one.stop], span, room, placed)

        run_threads(place_group, range(len(cursors)), len(cursors))
        return Stretch(low, high, documents[:size], whole(counts[:size]))

    def _place_pieces(
        self, numbers: list[int], span: tuple[int, int], room: Sorted, placed: Placed
    ) -> None:
        """Sort some postings by region, then place them."""
        pieces = [self.spool.load(number) for number in numbers]
        room.ends[:] = 0
        for one in pieces:
            count_regions(one.counted, span, placed.cursors, room)
        size = int(room.ends.sum())
        room.ends[:] = np.cumsum(room.ends) - room.ends
        for one in pieces:
            sort_postings(one.counted, one.first, span, placed.cursors, room)
        place_postings(room, size, placed)

    def _cursors(self, low: int, high: int) -> list[Ints]:
        """Return, for each group, where its first postings go: after those of the groups before."""
        start = self.offsets[low:high] - self.offsets[low]
        cursors = []
        for frequencies in self.frequencies:
            cursors.append(start.copy())
            start += frequencies[low:high]
        return cursors


def _parts(most: Ints, n_groups: int, memory: int | None) -> tuple[list[Part], int]:
    """Divide terms, with their postings, by `memory`; also return how many a thread may sort."""
    limit, chunk = int(most.sum()), _CHUNK
    if memory is not None:
        chunk = min(chunk, memory // 4 // _PER_SORTED // max(1, n_groups))
        limit = max(1, (memory - n_groups * chunk * _PER_SORTED) // _PER_PLACED)
    spans = list(_spans(most, limit))
    per_part = max(1, -(-len(spans) // _MOST_PARTS))
    parts = [
        Part(spans[at : at + per_part], tuple([] for _ in range(n_groups)))
        for at in range(0, len(spans), per_part)
    ]
    return parts, chunk


def _spans(sizes: Ints, limit: int) -> Iterator[tuple[int, int]]:
    """Yield ranges of terms with at most `limit` postings (or of one term)."""
    ends = offsets_of(sizes)
    low = 0
    while low < len(sizes):
        high = int(np.searchsorted(ends, ends[low] + limit, "right")) - 1
        high = min(max(high, low + 1), len(sizes))
        yield low, high
        low = high


def _joined(
    batches: list[Postings], vocabulary: Vocabulary, space: Workspace
) -> tuple[Counted, int]:
    """Return the postings of consecutive batches with final terms, and the first document."""
    ends = np.cumsum([len(one.counted.terms) for one in batches]).tolist()
    terms = space.array("terms", ends[-1], np.int32)
    counts = space.array("counts", ends[-1], np.int32)
    offsets = [np.zeros(1, np.int32)]
    for one, begin, end in zip(batches, [0, *ends], ends, strict=False):
        # Other modes than "raise" write directly; every raw term is in the table.
        vocabulary.final[one.table].take(one.counted.terms, out=terms[begin:end], mode="clip")
        counts[begin:end] = whole(one.counted.counts)
        offsets.append(one.counted.offsets[1:] + np.int32(begin))
    return Counted(terms, counts, np.concatenate(offsets)), batches[0].first


def _divided(found: Counted, begins: list[int]) -> Iterator[Counted]:
    """Yield the settled postings of each part; copies, because the space is used again."""
    terms, counts, offsets = found
    np.cumsum(offsets, axis=1, out=offsets)
    for begin, own in zip(begins[:-1], offsets, strict=True):
        end = begin + int(own[-1])
        yield Counted(terms[begin:end].copy(), halves(counts[begin:end]), own)


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

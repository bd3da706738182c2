"""Convert postings by document to postings by term, in bounded memory: sorted blocks.

A block has the postings of some consecutive documents, sorted by term. Blocks ascend in document
numbers, so that the postings of a term are its slices of all blocks, one after another: nothing is
merged, and the result does not depend on the blocks. Batches and blocks wait in temporary files.
"""

from __future__ import annotations

import tempfile
import threading
from typing import IO, TYPE_CHECKING, Any, Final, NamedTuple, Self

import numpy as np

from heldout.data.parallel import stream_threads
from heldout.data.words import offsets_of
from heldout.errors import InputError
from heldout.retrieve.kernels.postings import append_block, sort_block
from heldout.retrieve.kernels.types import Counted

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from numpy.typing import NDArray

    from heldout.data.words import Ints
    from heldout.retrieve.strings import PackedStrings

    TermRange = tuple[int, int, NDArray[np.int32], NDArray[Any]]

_NARROW: Final = (1 << 16) - 1
_WIDE: Final = (1 << 31) - 1
_MOST_IN_BLOCK: Final = 1 << 22
"""The postings of a larger block are too far apart for the caches."""
_PER_SORTED: Final = 20
"""Bytes per posting while a block is sorted: raw and final terms, documents, counts twice."""
_PER_RANGE: Final = 8
"""Bytes per posting of a range of terms."""


class Scratch:
    """Arrays in a temporary file; without a folder, in memory. Several threads may read."""

    def __init__(self, folder: Path | None) -> None:
        # The file has no name, so that it never outlives the process.
        self._file: IO[bytes] | None = None
        if folder is not None:
            self._file = tempfile.TemporaryFile(dir=folder)  # noqa: SIM115 - closed on exit
        self._end = 0
        self._lock = threading.Lock()  # threads share the position in the file

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        if self._file is not None:
            self._file.close()

    def put(self, array: NDArray[Any]) -> Any:
        """Keep an array; return what `get` wants: where it is, or the array itself."""
        if self._file is None:
            return array
        with self._lock:
            self._file.seek(self._end)
            self._file.write(array.data)
            place = self._end
            self._end += array.nbytes
        return place, len(array), array.dtype

    def get(self, kept: Any, begin: int = 0, end: int | None = None) -> NDArray[Any]:
        """Return an array that was kept, or a slice of it."""
        if self._file is None:
            return kept[begin:end]  # type: ignore[no-any-return]
        place, size, dtype = kept
        with self._lock:
            self._file.seek(place + begin * dtype.itemsize)
            return np.fromfile(self._file, dtype, (size if end is None else end) - begin)


class FinalTerms(NamedTuple):
    """The final terms: stems, without stop words."""

    strings: PackedStrings  # in bytewise order
    numbers: list[NDArray[np.int32]]  # for each tokenizer and raw term, its number; −1: none
    most: Ints  # for each, the postings of its raw terms: it has not more


class Batch(NamedTuple):
    """The raw postings of a batch of documents."""

    first: int  # the number of its first document
    table: int  # the tokenizer that numbered its terms
    size: int
    counted: tuple[Any, ...]  # the arrays of `Counted`, kept


class Block(NamedTuple):
    """Postings sorted by term; its arrays are kept."""

    terms: Any  # those that occur
    starts: Any  # where the postings of each begin, and the end
    documents: Any
    counts: Any
    most: int  # the largest count
    cuts: list[int]  # for each range of terms, its first place in `terms`


class Inversion:
    """Sorts batches into blocks when it is made; `ranges` then yields the postings of all terms.

    `memory` is in bytes, None for as much as it takes: then there is one range.
    """

    def __init__(
        self,
        batches: list[Batch],
        n_documents: int,
        final: FinalTerms,
        raw: Scratch,
        sorted_: Scratch,
        *,
        threads: int,
        memory: int | None,
    ) -> None:
        self._sorted, self._threads = sorted_, threads
        self.lengths, self.distinct = np.zeros((2, n_documents), np.int32)
        room, limit = _MOST_IN_BLOCK, int(final.most.sum()) + 1
        if memory is not None:  # some are worked on, some wait to be taken
            each = memory // (threads + 2)
            room, limit = min(room, each // _PER_SORTED), each // _PER_RANGE
        self._cuts = _cuts(final.most, limit)
        frequencies, most = np.zeros(len(final.strings), np.int64), 0
        self._blocks: list[Block] = []
        for block in stream_threads(
            lambda chunk: self._sort(chunk, raw, final), _chunks(batches, room), threads, 1
        ):
            frequencies[block.terms] += np.diff(block.starts)
            most = max(most, block.most)
            terms, starts, documents, counts = map(sorted_.put, block[:4])
            self._blocks.append(Block(terms, starts, documents, counts, block.most, block.cuts))
        if most > _WIDE:
            raise InputError(f"a term occurs {most:,} times in one document: split it")
        self.counts_type = np.dtype(np.uint16 if most <= _NARROW else np.int32)
        self.offsets = offsets_of(frequencies)

    def _sort(self, chunk: list[Batch], raw: Scratch, final: FinalTerms) -> Block:
        """Sort the postings of some batches."""
        loaded = [Counted(*map(raw.get, batch.counted)) for batch in chunk]
        joined = Counted(
            np.concatenate(
                [final.numbers[a.table][b.terms] for a, b in zip(chunk, loaded, strict=True)]
            ),
            np.concatenate([counted.counts for counted in loaded], dtype=np.int32),
            offsets_of(np.concatenate([np.diff(counted.offsets) for counted in loaded])).astype(
                np.int32
            ),
        )
        del loaded
        heads = np.zeros((len(final.strings) + 2, 2), np.int32)
        documents, counts = (np.empty(len(joined.terms), np.int32) for _ in range(2))
        size, most = sort_block(
            joined, chunk[0].first, heads, documents, counts, self.lengths, self.distinct
        )
        begins = heads[:-1, 0]
        terms = np.flatnonzero(begins[1:] != begins[:-1]).astype(np.int32)
        starts = np.append(begins[terms], np.int32(size))
        cuts = np.searchsorted(terms, self._cuts).tolist()
        narrow = counts[:size].astype(np.uint16 if most <= _NARROW else np.int32)
        return Block(terms, starts, documents[:size], narrow, most, cuts)

    def ranges(self) -> Iterator[TermRange]:
        """Yield first and last term, documents and counts, in ranges that fit into memory."""
        numbers = range(len(self._cuts) - 1)
        yield from stream_threads(self._gather, numbers, self._threads, ahead=1)

    def _gather(self, number: int) -> TermRange:
        """Append the slices of all blocks for a range of terms."""
        first, last = self._cuts[number], self._cuts[number + 1]
        cursors = self.offsets[first:last] - self.offsets[first]
        size = int(self.offsets[last] - self.offsets[first])
        documents, counts = np.empty(size, np.int32), np.empty(size, self.counts_type)
        get = self._sorted.get
        for block in self._blocks:
            begin, end = block.cuts[number], block.cuts[number + 1]
            if begin == end:
                continue
            starts = get(block.starts, begin, end + 1)
            some = int(starts[0]), int(starts[-1])
            append_block(
                get(block.terms, begin, end) - np.int32(first),
                starts,
                get(block.documents, *some),
                get(block.counts, *some).astype(self.counts_type, copy=False),
                cursors,
                documents,
                counts,
            )
        return first, last, documents, counts


def _chunks(batches: list[Batch], room: int) -> Iterator[list[Batch]]:
    """Take out consecutive batches of about `room` postings together, at least one."""
    batches.reverse()
    while batches:
        chunk = [batches.pop()]
        size = chunk[0].size
        while batches and size + batches[-1].size <= room:
            size += batches[-1].size
            chunk.append(batches.pop())
        yield chunk


def _cuts(sizes: Ints, limit: int) -> list[int]:
    """Divide terms into ranges with at most `limit` postings (or of one term)."""
    ends = offsets_of(sizes)
    cuts = [0] if len(sizes) else [0, 0]
    while cuts[-1] < len(sizes):
        end = int(np.searchsorted(ends, ends[cuts[-1]] + limit, "right")) - 1
        cuts.append(min(max(end, cuts[-1] + 1), len(sizes)))
    return cuts

"""Turn documents into the sections of an index: tokenize on all threads, map terms, invert."""

from __future__ import annotations

from dataclasses import dataclass, replace
from queue import SimpleQueue
from typing import TYPE_CHECKING, Any, Final, NamedTuple

import numpy as np

from heldout.compiled import announce
from heldout.data.atomic import write_atomically
from heldout.data.documents import TextDigest
from heldout.data.parallel import stream_threads
from heldout.data.parallel import threads as default_threads
from heldout.data.text_hashes import text_hashes
from heldout.errors import InputError
from heldout.retrieve.indexing.bounds import Bounds, bound_sizes
from heldout.retrieve.indexing.column import Column
from heldout.retrieve.indexing.file import IndexWriter
from heldout.retrieve.indexing.invert import Inverter, Stretch
from heldout.retrieve.indexing.kernels.counting import count_terms
from heldout.retrieve.indexing.kernels.cutting import cut_words
from heldout.retrieve.indexing.kernels.placing import place_postings, settle_postings
from heldout.retrieve.indexing.spill import Spool
from heldout.retrieve.indexing.strings import (
    PackedStrings,
    bytewise_order,
    leading_words,
    offsets_of,
    pack,
)
from heldout.retrieve.indexing.tokenize import Tokenizer
from heldout.retrieve.indexing.vocabulary import Vocabulary, final_vocabulary

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping
    from pathlib import Path

    from numpy.typing import NDArray

    from heldout.data.documents import Documents, TextBatch
    from heldout.retrieve.analyze import Analyzer
    from heldout.retrieve.indexing.tokenize import Postings

__all__ = ["DuplicateIdError", "Parts", "Plan", "build_arrays", "build_file"]

_BATCH: Final = 4 << 20
"""Bytes of text that a thread processes at a time: more does not fit into the cache."""
_LEAST: Final = 1 << 16
_LEAST_MEMORY: Final = 1 << 20
_PER_TEXT: Final = 32
"""Bytes of working space per byte of text, in the worst realistic case."""


@dataclass(frozen=True, slots=True)
class Plan:
    """How to build an index.

    Parameters
    ----------
    analyzer
        How text becomes terms.
    memory
        Bytes that the process should take; more if the program, the vocabulary and the data kept
        per document need more.
    threads
        Number of threads.
    progress
        Called with the number of documents done and the number of all documents, 0 while it is
        unknown.
    """

    analyzer: Analyzer
    memory: int
    threads: int
    progress: Callable[[int, int], None] | None = None

    @classmethod
    def checked(
        cls,
        analyzer: Analyzer,
        memory: int,
        threads: int | None,
        progress: Callable[[int, int], None] | None,
    ) -> Plan:
        """Return a checked plan; `threads` None means the number of cores."""
        if memory < _LEAST_MEMORY:
            raise InputError(f"memory={memory}: expected at least {_LEAST_MEMORY} bytes (1 MB)")
        if threads is not None and threads < 1:
            raise InputError(f"threads={threads}: expected a positive integer")
        return cls(analyzer, memory, threads or default_threads(), progress)

    def batch_size(self) -> int:
        """Return the bytes of text per batch: the work of all threads takes a quarter of memory."""
        share = self.memory // (4 * self.threads * _PER_TEXT)
        return max(_LEAST, min(_BATCH, share))

    def spooled(self) -> int:
        """Return the bytes of postings that wait in memory.

        A file takes hardly longer, and small arrays between large ones leave holes in memory.
        """
        return self.memory // 32

    def inverted(self) -> int:
        """Return the bytes for inverting postings; all ids and terms are written by then."""
        return self.memory // 3


class DuplicateIdError(InputError):
    """Two documents have the same id."""


class _Tokenized(NamedTuple):
    """A batch of documents: ids, hashes of texts, terms."""

    ids: PackedStrings
    hashes: NDArray[np.uint64]
    postings: Postings


class Parts(NamedTuple):
    """Everything but the postings: their source, the other sections, a digest."""

    inverter: Inverter
    arrays: dict[str, NDArray[Any]]
    digest: str


def build_arrays(documents: Documents, plan: Plan) -> tuple[dict[str, NDArray[Any]], str]:
    """Build all sections in memory; return them and `Documents.digest`."""
    batches = documents.batches(plan.batch_size())
    with Spool(None, 0) as raw, Spool(None, 0) as settled:
        inverter, arrays, digest = _first_pass(batches, documents.size_hint(), plan, raw, settled)
        nothing = Stretch(0, 0, np.empty(0, np.int32), np.empty(0, np.uint16))
        postings = next(inverter.stretches(), nothing)
        arrays["documents"], arrays["counts"] = postings.documents, postings.counts
        arrays |= _bounds(inverter, postings, plan.threads).arrays()
    return arrays, digest


def build_file(
    batches: Iterator[TextBatch],
    size: int,
    plan: Plan,
    path: Path,
    describe: Callable[[str], Mapping[str, Any]],
) -> None:
    """Build an index in bounded memory and write it; if that fails, no file is left behind.

    Parameters
    ----------
    batches, size
        All documents, in batches of about `Plan.batch_size` bytes, and their number, if known: 0
        if not.
    describe
        Returns the description in the header, given `Documents.digest`.
    """
    folder = path.absolute().parent
    with (
        write_atomically(path) as aside,
        Spool(folder, plan.spooled()) as raw,
        Spool(folder, plan.spooled()) as settled,
    ):
        inverter, arrays, digest = _first_pass(batches, size, plan, raw, settled)
        with aside.open("wb") as file:
            n_postings = int(inverter.offsets[-1])
            sizes = {
                name: (array.dtype.newbyteorder("<").str, len(array))
                for name, array in arrays.items()
            }
            sizes |= bound_sizes(np.diff(inverter.offsets), len(inverter.lengths))
            sizes["documents"] = ("<i4", n_postings)
            sizes["counts"] = ("<i4" if inverter.wide else "<u2", n_postings)
            writer = IndexWriter(file, sizes, plan.threads)
            for name in list(arrays):
                writer.write(name, arrays.pop(name))  # its memory is used for postings from now on
            for stretch in inverter.stretches():
                writer.write("documents", stretch.documents)
                writer.write("counts", stretch.counts)
                for name, array in _bounds(inverter, stretch, plan.threads).arrays().items():
                    writer.write(name, array)
            writer.finish(plan.analyzer.signature(), describe(digest))


def _first_pass(
    batches: Iterator[TextBatch], size: int, plan: Plan, raw: Spool, settled: Spool
) -> Parts:
    """Read all documents once."""
    announce("the index builder", cut_words, count_terms, settle_postings, place_postings)
    digest = TextDigest()
    ids, hashes, vocabulary = _tokenize(_digested(batches, digest), size, plan, raw)
    id_order = _id_ranks(ids)
    terms = vocabulary.terms
    memory = plan.inverted() if settled.may_spill else None
    inverter = Inverter.settle(raw, settled, vocabulary, len(ids), plan.threads, memory)
    arrays: dict[str, NDArray[Any]] = {
        "offsets": inverter.offsets,
        "lengths": inverter.lengths,
        "distinct": inverter.distinct,
        "id_order": id_order,
        "term_bytes": terms.data,
        "term_offsets": terms.offsets,
        "term_words": leading_words(terms),
        "id_bytes": ids.data,
        "id_offsets": ids.offsets,
        "text_hashes": hashes,
    }
    return Parts(inverter, arrays, digest.hexdigest())


def _bounds(inverter: Inverter, stretch: Stretch, threads: int) -> Bounds:
    """Return the bounds of the terms of a stretch."""
    ends = inverter.offsets[stretch.first : stretch.last + 1] - inverter.offsets[stretch.first]
    found = Bounds.compute(
        ends[:-1], ends[1:], stretch.documents, stretch.counts, inverter.lengths, threads
    )
    return replace(found, terms=found.terms + np.int32(stretch.first))


def _tokenize(
    batches: Iterator[TextBatch], size: int, plan: Plan, spool: Spool
) -> tuple[PackedStrings, NDArray[np.uint64], Vocabulary]:
    """Tokenize all documents into the spool; return ids, hashes of texts, and the vocabulary."""
    tokenizers = [Tokenizer(plan.analyzer, number) for number in range(plan.threads)]
    names, lengths, hashes = Column(np.uint8), Column(np.int32), Column(np.uint64)
    n_done = 0
    for batch_ids, batch_hashes, postings in _in_order(batches, tokenizers):
        spool.add(postings)
        names.extend(batch_ids.data)
        lengths.extend(np.diff(batch_ids.offsets))
        hashes.extend(batch_hashes.reshape(-1))
        n_done += len(batch_ids)
        if plan.progress is not None:
            plan.progress(n_done, size)
    raw = [one.raw_terms() for one in tokenizers]
    frequencies = [one.frequencies() for one in tokenizers]
    del tokenizers  # only the terms of their tables are needed while these are sorted
    vocabulary = final_vocabulary(raw, frequencies, plan.analyzer)
    del raw
    ids = PackedStrings(names.drained(), offsets_of(lengths.drained()))
    return ids, hashes.drained(), vocabulary


def _digested(batches: Iterator[TextBatch], digest: TextDigest) -> Iterator[TextBatch]:
    """Pass batches on and hash them: `Documents.digest` would read all documents again."""
    for batch in batches:
        digest.add(batch)
        yield batch


def _in_order(batches: Iterator[TextBatch], tokenizers: list[Tokenizer]) -> Iterator[_Tokenized]:
    """Return the postings of each batch in order, while a few batches are being processed."""
    free: SimpleQueue[Tokenizer] = SimpleQueue()
    for one in tokenizers:
        free.put(one)

    def work(batch: TextBatch) -> _Tokenized:
        tokenizer = free.get()
        try:
            ids = pack([one.encode() for one in batch.ids])
            return _Tokenized(ids, text_hashes(batch), tokenizer.postings(batch))
        finally:
            free.put(tokenizer)

    yield from stream_threads(work, batches, len(tokenizers), ahead=1)


def _id_ranks(ids: PackedStrings) -> NDArray[np.int32]:
    """Return the rank of each document's id among all ids, bytewise."""
    order, new = bytewise_order(ids)
    if not new.all():
        twice = ids[int(order[np.flatnonzero(~new)[0]])]
        raise DuplicateIdError(f"duplicate document id {twice!r}: remove one of the documents")
    ranks = np.empty(len(order), np.int32)
    ranks[order] = np.arange(len(order), dtype=np.int32)
    return ranks

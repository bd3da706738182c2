"""Turn documents into the arrays of an index: tokenize on all threads, map terms, invert."""

from __future__ import annotations

from dataclasses import dataclass, replace
from queue import SimpleQueue
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from heldout.compiled import announce
from heldout.data.documents import TextDigest
from heldout.data.ids import Ids
from heldout.data.parallel import stream_threads
from heldout.data.parallel import threads as default_threads
from heldout.data.text_hashes import text_hashes
from heldout.errors import InputError
from heldout.retrieve.indexing.bounds import Bounds, bound_sizes
from heldout.retrieve.indexing.file import IndexWriter
from heldout.retrieve.indexing.invert import Batch, Inversion, Scratch
from heldout.retrieve.indexing.kernels.counting import count_terms
from heldout.retrieve.indexing.kernels.cutting import cut_words
from heldout.retrieve.indexing.kernels.inverting import append_block, sort_block
from heldout.retrieve.indexing.settings import describe_index
from heldout.retrieve.indexing.strings import leading_words, pack
from heldout.retrieve.indexing.tokenize import Tokenizer
from heldout.retrieve.indexing.vocabulary import Vocabulary, final_vocabulary

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

    from numpy.typing import NDArray

    from heldout.data.documents import Documents, TextBatch
    from heldout.data.words import Ints
    from heldout.retrieve.analyze import Analyzer
    from heldout.retrieve.indexing.kernels.types import Counted

_BATCH: Final = 4 << 20
"""Bytes of text that a thread processes at a time: more does not fit into the cache."""
_LEAST: Final = 1 << 16
_LEAST_MEMORY: Final = 1 << 20
_PER_TEXT: Final = 32
"""Bytes of working space per byte of text, in the worst realistic case."""
_PIECE: Final = 1 << 16


class DuplicateIdError(InputError):
    """Two documents have the same id."""


@dataclass(frozen=True, slots=True)
class Plan:
    """How to build an index; `memory` and `progress` as in `Index.build`."""

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


def build_index(
    documents: Documents, plan: Plan, folder: Path | None
) -> tuple[dict[str, NDArray[Any]], dict[str, Any]]:
    """Write an index into a folder, within the memory of the plan; None: hold it in memory.

    Returns the arrays, if they are in memory, and the description of the index.
    """
    announce("the index builder", cut_words, count_terms, sort_block, append_block)
    memory = None if folder is None else plan.memory // 3  # besides ids, terms and the program
    with (
        Scratch(folder) as raw,
        Scratch(folder) as blocks,
        IndexWriter(folder, plan.threads) as writer,
    ):
        digest = TextDigest()
        batches, vocabulary, n_documents = _tokenize(documents, plan, digest, raw, writer)
        inverted = Inversion(
            batches, n_documents, vocabulary, raw, blocks, threads=plan.threads, memory=memory
        )
        terms = vocabulary.terms
        writer.write("offsets", inverted.offsets)
        writer.write("lengths", inverted.lengths)
        writer.write("distinct", inverted.distinct)
        writer.write("term_bytes", terms.data)
        writer.write("term_offsets", terms.offsets)
        writer.write("term_words", leading_words(terms))
        del vocabulary, terms
        _write_postings(inverted, plan.threads, writer)
        about = describe_index(plan.analyzer, digest.hexdigest())
        return writer.arrays, writer.finish(plan.analyzer.signature(), about)


def _write_postings(inverted: Inversion, threads: int, writer: IndexWriter) -> None:
    """Write the postings and their bounds, one range of terms after another."""
    n_postings = int(inverted.offsets[-1])
    writer.begin("documents", np.int32, n_postings)
    writer.begin("counts", inverted.counts_type, n_postings)
    sizes = bound_sizes(np.diff(inverted.offsets), len(inverted.lengths))
    for name, (dtype, size) in sizes.items():
        writer.begin(name, dtype, size)
    for first, last, documents, counts in inverted.ranges():
        writer.append("documents", documents)
        writer.append("counts", counts)
        ends = inverted.offsets[first : last + 1] - inverted.offsets[first]
        bounds = Bounds.compute(ends[:-1], ends[1:], documents, counts, inverted.lengths, threads)
        bounds = replace(bounds, terms=bounds.terms + np.int32(first))
        for name, array in bounds.arrays().items():
            writer.append(name, array)


def _tokenize(
    documents: Documents, plan: Plan, digest: TextDigest, raw: Scratch, writer: IndexWriter
) -> tuple[list[Batch], Vocabulary, int]:
    """Read all documents once; write ids and hashes, return postings of raw terms, vocabulary."""
    # The work of all threads takes a quarter of memory.
    share = plan.memory // (4 * plan.threads * _PER_TEXT)
    size = max(_LEAST, min(_BATCH, share))
    tokenizers = [Tokenizer(plan.analyzer) for _ in range(plan.threads)]
    free: SimpleQueue[int] = SimpleQueue()
    for number in range(plan.threads):
        free.put(number)

    def texts() -> Iterator[TextBatch]:
        for batch in documents.batches(size):
            digest.add(batch)  # `Documents.digest` would read all documents again
            yield batch

    def work(batch: TextBatch) -> tuple[TextBatch, Ids, NDArray[np.uint64], int, Counted]:
        number = free.get()
        try:
            counted = tokenizers[number].count(batch)
            return batch, Ids.of(batch.ids), text_hashes(batch), number, counted
        finally:
            free.put(number)

    batches, ids, hashes, n_documents = [], [], [], 0
    for batch, own, hashed, table, counted in stream_threads(work, texts(), plan.threads, ahead=1):
        batches.append(Batch(batch.first, table, len(counted.terms), tuple(map(raw.put, counted))))
        ids.append(own)
        hashes.append(hashed)
        n_documents += len(own)
        if plan.progress is not None:
            plan.progress(n_documents, documents.size_hint())
    writer.write("text_hashes", np.concatenate([np.empty((0, 2), np.uint64), *hashes]))
    del hashes
    _write_ids(Ids.stack(ids), writer)
    del ids
    terms = [tokenizer.raw_terms() for tokenizer in tokenizers]
    frequencies = [tokenizer.frequencies() for tokenizer in tokenizers]
    tokenizers.clear()  # only the terms of their tables are needed while these are sorted
    return batches, final_vocabulary(terms, frequencies, plan.analyzer), n_documents


def _write_ids(ids: Ids, writer: IndexWriter) -> None:
    """Write ids as `Ids` holds them, long ones as UTF-8, and their ranks; refuse equal ones."""
    order = _bytewise(ids)
    for begin in range(1, len(order), _PIECE):
        rows, before = order[begin : begin + _PIECE], order[begin - 1 : begin + _PIECE - 1]
        same = np.flatnonzero(ids.compare(rows, before[: len(rows)]) == 0)
        if len(same):
            twice = ids[int(rows[same[0]])]
            raise DuplicateIdError(f"duplicate document id {twice!r}: remove one of the documents")
    ranks = np.empty(len(order), np.int32)
    ranks[order] = np.arange(len(order), dtype=np.int32)
    writer.write("id_order", ranks)
    if ids.texts is None:
        writer.begin("ids", np.uint64, len(ids.words), len(ids))
        for word in ids.words:
            writer.append("ids", word)
    else:
        packed = pack([name.encode() for name in ids])
        writer.write("id_bytes", packed.data)
        writer.write("id_offsets", packed.offsets)


def _bytewise(ids: Ids) -> Ints:
    """Return the numbers of ids in bytewise order."""
    if ids.texts is not None:
        return np.argsort(ids.texts, kind="stable")
    if len(ids.words) == 1:
        return np.argsort(ids.words[0].byteswap(), kind="stable")
    return np.lexsort([word.byteswap() for word in reversed(ids.words)])

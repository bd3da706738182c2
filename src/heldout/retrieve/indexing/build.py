"""Turn documents into the arrays of an index: tokenize on all threads, map terms, invert."""

from __future__ import annotations

from dataclasses import replace
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
from heldout.retrieve.analyze import describe_index
from heldout.retrieve.indexing.bounds import Bounds, bound_sizes
from heldout.retrieve.indexing.file import IndexWriter
from heldout.retrieve.indexing.invert import Batch, Inversion, Scratch
from heldout.retrieve.indexing.kernels.counting import count_terms
from heldout.retrieve.indexing.kernels.cutting import cut_words
from heldout.retrieve.indexing.kernels.inverting import append_block, sort_block
from heldout.retrieve.indexing.strings import leading_words, pack
from heldout.retrieve.indexing.tokenize import Tokenizer
from heldout.retrieve.indexing.vocabulary import final_vocabulary

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

    from numpy.typing import NDArray

    from heldout.data.documents import Documents, TextBatch
    from heldout.retrieve.analyze import Analyzer
    from heldout.retrieve.indexing.kernels.types import Counted

    Tokenized = tuple[int, int, Counted, Ids, NDArray[np.uint64]]

_BATCH: Final = 4 << 20
"""Bytes of text that a thread processes at a time: more does not fit into the cache."""
_LEAST: Final = 1 << 16
_LEAST_MEMORY: Final = 1 << 20
_PER_TEXT: Final = 32
"""Bytes of working space per byte of text, in the worst realistic case."""
_PIECE: Final = 1 << 16


def build_index(
    documents: Documents,
    analyzer: Analyzer,
    folder: Path | None,
    *,
    memory: int,
    threads: int | None = None,
    progress: Callable[[int, int], None] | None = None,
) -> tuple[dict[str, NDArray[Any]], dict[str, Any]]:
    """Write an index into a folder, within `memory` bytes; None: hold it in memory.

    Returns the arrays, if they are in memory, and the description of the index.
    """
    if memory < _LEAST_MEMORY:
        raise InputError(f"memory={memory}: expected at least {_LEAST_MEMORY} bytes (1 MB)")
    if threads is not None and threads < 1:
        raise InputError(f"threads={threads}: expected a positive integer")
    workers = threads or default_threads()
    # The work of all threads takes a quarter of memory; inversion a third, besides ids and terms.
    size = max(_LEAST, min(_BATCH, memory // (4 * workers * _PER_TEXT)))
    inverting = None if folder is None else memory // 3
    announce("the index builder", cut_words, count_terms, sort_block, append_block)
    tokenizers = [Tokenizer(analyzer) for _ in range(workers)]
    digest = TextDigest()
    with Scratch(folder) as blocks, IndexWriter(folder, workers) as writer:
        with Scratch(folder) as raw:
            batches, ids, hashes, n_documents = [], [], [], 0
            for first, table, counted, own, hashed in _tokenized(
                documents.batches(size), tokenizers, digest
            ):
                kept = tuple(map(raw.put, counted))
                batches.append(Batch(first, table, len(counted.terms), kept))
                ids.append(own)
                hashes.append(hashed)
                n_documents += len(own)
                if progress is not None:
                    progress(n_documents, documents.size_hint())
            writer.begin("text_hashes", np.uint64, n_documents, 2)
            for hashed in hashes:
                writer.append("text_hashes", hashed)
            hashes.clear()
            stacked = Ids.stack(ids)
            ids.clear()
            _write_ids(stacked, documents, writer)
            del stacked
            vocabulary = final_vocabulary(tokenizers, analyzer)
            writer.write("term_bytes", vocabulary.terms.data)
            writer.write("term_offsets", vocabulary.terms.offsets)
            writer.write("term_words", leading_words(vocabulary.terms))
            inverted = Inversion(
                batches, n_documents, vocabulary, raw, blocks, threads=workers, memory=inverting
            )
            del vocabulary
        _write_postings(inverted, workers, writer)
        about = describe_index(analyzer, digest.hexdigest())
        return writer.arrays, writer.finish(analyzer.signature(), about)


def _tokenized(
    batches: Iterator[TextBatch], tokenizers: list[Tokenizer], digest: TextDigest
) -> Iterator[Tokenized]:
    """Yield the first document of each batch, its tokenizer, what that counted, ids and hashes."""
    free: SimpleQueue[int] = SimpleQueue()
    for number in range(len(tokenizers)):
        free.put(number)

    def digested() -> Iterator[TextBatch]:
        for batch in batches:
            digest.add(batch)  # `Documents.digest` would read all documents again
            yield batch

    def work(batch: TextBatch) -> Tokenized:
        number = free.get()
        try:
            counted = tokenizers[number].count(batch)
            return batch.first, number, counted, Ids.of(batch.ids), text_hashes(batch)
        finally:
            free.put(number)

    yield from stream_threads(work, digested(), len(tokenizers), ahead=1)


def _write_postings(inverted: Inversion, threads: int, writer: IndexWriter) -> None:
    """Write the postings and their bounds, one range of terms after another."""
    writer.write("offsets", inverted.offsets)
    writer.write("lengths", inverted.lengths)
    writer.write("distinct", inverted.distinct)
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


def _write_ids(ids: Ids, documents: Documents, writer: IndexWriter) -> None:
    """Write ids as `Ids` holds them, long ones as UTF-8, and their ranks; refuse equal ones."""
    if ids.texts is not None:
        order = np.argsort(ids.texts, kind="stable")
    elif len(ids.words) == 1:
        order = np.argsort(ids.words[0].byteswap(), kind="stable")
    else:
        order = np.lexsort([word.byteswap() for word in reversed(ids.words)])
    for begin in range(0, len(order), _PIECE):
        rows = order[begin : begin + _PIECE + 1]
        same = np.flatnonzero(ids.compare(rows[1:], rows[:-1]) == 0)
        if len(same):
            len(documents)  # documents in files name the places of both
            twice = ids[int(rows[same[0]])]
            raise InputError(f"duplicate document id {twice!r}: remove one of the documents")
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

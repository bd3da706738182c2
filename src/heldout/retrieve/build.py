"""Turn documents into the arrays of an index: tokenize on all threads, map terms, invert."""

from __future__ import annotations

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
from heldout.retrieve.bounds import bound_terms
from heldout.retrieve.index_files import IndexWriter
from heldout.retrieve.invert import Batch, FinalTerms, Inversion, Scratch
from heldout.retrieve.kernels.counting import count_terms
from heldout.retrieve.kernels.cutting import cut_words
from heldout.retrieve.kernels.postings import append_block, sort_block
from heldout.retrieve.strings import (
    PackedStrings,
    bytewise_order,
    gather,
    join,
    leading_words,
    pack,
)
from heldout.retrieve.tokenize import Tokenizer

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

    from numpy.typing import NDArray

    from heldout.data.documents import Documents, TextBatch
    from heldout.retrieve.analyze import Analyzer
    from heldout.retrieve.kernels.types import Counted

    Tokenized = tuple[int, int, Counted, Ids, NDArray[np.uint64]]

_BATCH: Final = 4 << 20
"""Bytes of text that a thread processes at a time: more does not fit into the cache."""
_LEAST: Final = 1 << 16
_LEAST_MEMORY: Final = 1 << 20
_PER_TEXT: Final = 32
"""Bytes of working space per byte of text, in the worst realistic case."""
_PIECE: Final = 1 << 16
_STEMMED: Final = 1 << 19
"""Terms that are stemmed at a time."""


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
        raise InputError(
            f"expected at least {_LEAST_MEMORY} bytes (1 MB)", argument="memory", value=memory
        )
    if threads is not None and threads < 1:
        raise InputError("expected a positive integer", argument="threads", value=threads)
    workers = threads or default_threads()
    # The work of all threads takes a quarter of memory; inversion a third, besides ids and terms.
    size = max(_LEAST, min(_BATCH, memory // (4 * workers * _PER_TEXT)))
    inverting = None if folder is None else memory // 3
    announce("the index builder", cut_words, count_terms, sort_block, append_block)
    tokenizers = [Tokenizer(analyzer) for _ in range(workers)]
    digest = TextDigest()
    with Scratch(folder) as blocks, IndexWriter(folder, workers) as writer:
        with Scratch(folder) as raw:
            batches, ids, n_documents = [], [], 0
            writer.append("text_hashes", np.empty((0, 2), np.uint64))
            for first, table, counted, own, hashed in _tokenized(
                documents.batches(size), tokenizers, digest
            ):
                kept = tuple(map(raw.put, counted))
                batches.append(Batch(first, table, len(counted.terms), kept))
                ids.append(own)
                writer.append("text_hashes", hashed)
                n_documents += len(own)
                if progress is not None:
                    progress(n_documents, documents.size_hint())
            stacked = Ids.stack(ids)
            ids.clear()
            _write_ids(stacked, documents, writer)
            del stacked
            terms = _final_terms(tokenizers, analyzer)
            writer.append("term_bytes", terms.strings.data)
            writer.append("term_offsets", terms.strings.offsets)
            writer.append("term_words", leading_words(terms.strings))
            inverted = Inversion(
                batches, n_documents, terms, raw, blocks, threads=workers, memory=inverting
            )
            del terms
        _write_postings(inverted, workers, writer)
        return writer.finish(describe_index(analyzer, digest.hexdigest()))


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


def _final_terms(tokenizers: list[Tokenizer], analyzer: Analyzer) -> FinalTerms:
    """Map the raw terms of tokenizers, which are taken out of the list, to final terms."""
    raw, frequencies = zip(*(tokenizer.raw_terms() for tokenizer in tokenizers), strict=True)
    tokenizers.clear()  # only the terms of their tables are needed while these are sorted
    ends = np.cumsum([len(terms) for terms in raw])
    terms, numbers = _numbered(join(raw))
    del raw
    if analyzer.function is None and (analyzer.stemmer or analyzer.stop_set()):
        parts = []
        for begin in range(0, len(terms), _STEMMED):
            some = analyzer.final_terms(terms[begin : begin + _STEMMED])
            parts.append(pack([term.encode() for term in some]))
        terms, finals = _numbered(join(parts))
        if len(terms) and not terms.raw(0):
            # Terms that are left out are empty strings, which sort first.
            terms = PackedStrings(terms.data, terms.offsets[1:])
            finals -= 1
        numbers = finals[numbers]
    # The first number is of what is left out.
    most = np.bincount(numbers + 1, np.concatenate(frequencies), len(terms) + 1)[1:]
    return FinalTerms(terms, np.split(numbers, ends[:-1]), most.astype(np.int64))


def _numbered(strings: PackedStrings) -> tuple[PackedStrings, NDArray[np.int32]]:
    """Return the distinct strings in bytewise order, and the number of each string among them."""
    order, new = bytewise_order(strings)
    numbers = np.empty(len(order), np.int32)
    numbers[order] = np.cumsum(new) - 1
    return gather(strings, order[new]), numbers


def _write_postings(inverted: Inversion, threads: int, writer: IndexWriter) -> None:
    """Write the postings and their bounds, one range of terms after another."""
    writer.append("offsets", inverted.offsets)
    writer.append("lengths", inverted.lengths)
    writer.append("distinct", inverted.distinct)
    for first, last, documents, counts in inverted.ranges():
        writer.append("documents", documents)
        writer.append("counts", counts)
        offsets = inverted.offsets[first : last + 1] - inverted.offsets[first]
        bounds = bound_terms(offsets, documents, counts, inverted.lengths, threads)
        bounds["bound_terms"] += np.int32(first)
        for name, array in bounds.items():
            writer.append(name, array)


def _write_ids(ids: Ids, documents: Documents, writer: IndexWriter) -> None:
    """Write ids as `Ids` holds them, long ones as UTF-8, and their ranks; refuse equal ones."""
    if ids.texts is None:
        order = np.lexsort([word.byteswap() for word in reversed(ids.words)])
    else:
        order = np.argsort(ids.texts, kind="stable")
    for begin in range(0, len(order), _PIECE):
        rows = order[begin : begin + _PIECE + 1]
        same = np.flatnonzero(ids.compare(rows[1:], rows[:-1]) == 0)
        if len(same):
            len(documents)  # documents in files name the places of both
            twice = ids[int(rows[same[0]])]
            raise InputError(f"duplicate document id {twice!r}: remove one of the documents")
    ranks = np.empty(len(order), np.int32)
    ranks[order] = np.arange(len(order), dtype=np.int32)
    writer.append("id_order", ranks)
    for word in ids.words:
        writer.append("ids", word[None])
    if ids.texts is not None:
        packed = pack([name.encode() for name in ids])
        writer.append("id_bytes", packed.data)
        writer.append("id_offsets", packed.offsets)

"""Index: term → (document, count), built once for every split, memory-mapped from disk."""

from __future__ import annotations

import os
from bisect import bisect_left
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, Protocol

import numpy as np

from heldout.data.atomic import write_atomically
from heldout.data.documents import Documents, documents_of
from heldout.errors import InputError
from heldout.retrieve.analyze import Analyzer
from heldout.retrieve.indexing.bounds import Bounds
from heldout.retrieve.indexing.file import (
    IndexWriter,
    digest,
    fingerprint_of,
    open_sections,
)
from heldout.retrieve.indexing.settings import describe_index, restored_analyzer
from heldout.retrieve.indexing.strings import PackedStrings, leading_words, pack
from heldout.retrieve.query_terms import QueryTerms, encode_queries

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from heldout.retrieve.analyze import TokenFunction

__all__ = ["Index"]

MEMORY: Final = 1 << 30
"""Default memory in bytes of the process that builds an index; ids and vocabulary may need more."""


class HasDocuments(Protocol):
    """A collection, or an object with the same attributes."""

    @property
    def documents(self) -> Documents: ...


Source = Documents | HasDocuments | Mapping[str, str] | Sequence[tuple[str, str]] | Sequence[str]


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Index:
    """The terms of each document and their counts.

    Made by `Index.build` or `Index.open`. All arrays are read-only. Terms are numbered in bytewise
    order of their final form and documents in the order of the collection, so that an index does
    not depend on the number of threads or the memory used to build it.

    Attributes
    ----------
    offsets
        The postings of term ``t`` are ``offsets[t]`` to ``offsets[t + 1]``.
    documents, counts
        For each posting, the number of the document (ascending within a term) and the count of
        the term there: 16 bits, or 32 for the whole index if some count needs more.
    lengths, distinct
        For each document, the sum of its counts and the number of its distinct terms.
    id_order
        For each document, the rank of its id among all ids, bytewise; ties are broken by it.
    terms, document_ids
        The vocabulary and the ids, decoded on access.
    analyzer
        How documents and queries are turned into terms.
    fingerprint
        Identifies analyzer and content: equal only for equal indexes.
    documents_digest
        `Documents.digest` of the indexed documents, to check that an index and a collection belong
        together.
    bounds
        The largest counts and smallest lengths of the terms, by windows of documents.
    text_hashes
        `Documents.text_hashes` of the indexed documents.
    path
        The file; empty: in memory.

    Examples
    --------
    >>> index = Index.build({"d1": "red apples", "d2": "green apples, green pears"})
    >>> index
    <Index: 2 documents, 4 terms, 5 postings>
    >>> green, = index.term_numbers(["green"])
    >>> index.documents[index.offsets[green] : index.offsets[green + 1]].tolist()
    [1]
    >>> index.encode(["green green plums"]).counts.tolist()
    [2.0]
    """

    offsets: NDArray[np.int64]
    documents: NDArray[np.int32]
    counts: NDArray[np.uint16] | NDArray[np.int32]
    lengths: NDArray[np.int32]
    distinct: NDArray[np.int32]
    id_order: NDArray[np.int32]
    terms: PackedStrings
    document_ids: PackedStrings
    analyzer: Analyzer
    fingerprint: str
    documents_digest: str
    _term_words: NDArray[np.uint64]
    bounds: Bounds
    text_hashes: NDArray[np.uint64]
    _digests: Mapping[str, str]
    path: str = ""
    _cache: dict[str, Any] = field(default_factory=dict)

    def __repr__(self) -> str:
        return (
            f"<Index: {self.n_documents} documents, {self.n_terms} terms, "
            f"{self.n_postings} postings>"
        )

    @property
    def n_documents(self) -> int:
        """The number of documents."""
        return len(self.lengths)

    @property
    def n_terms(self) -> int:
        """The number of terms."""
        return len(self.offsets) - 1

    @property
    def n_postings(self) -> int:
        """The number of postings (pairs of a term and a document that contains it)."""
        return len(self.documents)

    @property
    def total_length(self) -> int:
        """The sum of the lengths of all documents."""
        return int(self.lengths.sum(dtype=np.int64))

    def term_numbers(self, terms: Sequence[str]) -> NDArray[np.int32]:
        """Return the numbers of (final) terms; -1 for a term that is in no document."""
        packed = pack([term.encode(errors="surrogatepass") for term in terms])
        words, lengths = leading_words(packed), np.diff(packed.offsets)
        low = np.searchsorted(self._term_words, words, "left")
        high = np.searchsorted(self._term_words, words, "right")
        found = np.full(len(packed), -1, np.int32)
        rows = np.flatnonzero(low < high)
        first = low[rows]
        # A term of up to eight bytes is the first of those that begin with it: no search needed.
        same = (lengths[rows] <= 8) & (self._term_lengths(first) == lengths[rows])
        found[rows[same]] = first[same]
        for row in rows[~same].tolist():
            found[row] = self._find(packed.raw(row), int(low[row]), int(high[row]))
        return found

    def _term_lengths(self, numbers: NDArray[np.integer]) -> NDArray[np.int64]:
        """Return the lengths of terms in bytes."""
        lengths: NDArray[np.int64] = self.terms.offsets[numbers + 1] - self.terms.offsets[numbers]
        return lengths

    def _find(self, term: bytes, low: int, high: int) -> int:
        """Return the number of a term between `low` and `high`, or -1 if it is not there."""
        number = bisect_left(range(self.n_terms), term, low, high, key=self.terms.raw)
        return number if number < high and self.terms.raw(number) == term else -1

    def encode(self, queries: Sequence[str]) -> QueryTerms:
        """Analyse queries and look up their terms; terms that are in no document are left out."""
        return encode_queries(self.analyzer, queries, self.term_numbers)

    def length_codes(self) -> tuple[NDArray[np.uint16], NDArray[np.int32]] | None:
        """Return the code of each document's length, and the length of each code, ascending.

        Codes take a quarter of the memory of a number per document, which loops read at random.
        None: there are more than 65536 different lengths.
        """
        if "codes" not in self._cache:
            self._cache["codes"] = _length_codes(np.asarray(self.lengths))
        codes: tuple[NDArray[np.uint16], NDArray[np.int32]] | None = self._cache["codes"]
        return codes

    def made_of(self, documents: Documents) -> bool:
        """Return whether these are the documents that were indexed."""
        return self.documents_digest == documents.digest()

    @classmethod
    def build(
        cls,
        documents: Source,
        analyzer: Analyzer | None = None,
        *,
        path: str | os.PathLike[str] | None = None,
        memory: int = MEMORY,
        threads: int | None = None,
        progress: Callable[[int, int], None] | None = None,
    ) -> Index:
        """Build an index.

        Parameters
        ----------
        documents
            A collection, its documents, ``{id: text}``, pairs of id and text, or texts alone.
        analyzer
            How text becomes terms; words in lower case by default.
        path
            Where to write the index, which is then opened from there; None keeps it in memory.
        memory
            Bytes that the process should take while it builds an index at `path`; it takes more if
            ids and vocabulary do. Postings are spilled to temporary files next to `path`.
        threads
            Number of threads; by default the number of cores.
        progress
            Called with the number of documents done and the number of all documents, 0 while it is
            unknown.
        """
        from heldout.retrieve.indexing.build import (
            DuplicateIdError,
            Plan,
            build_arrays,
            build_file,
        )

        analyzer = Analyzer() if analyzer is None else analyzer
        plan = Plan.checked(analyzer, memory, threads, progress)
        source = source_documents(documents)
        try:
            if path is None:
                arrays, digested = build_arrays(source, plan)
                return cls._assemble(arrays, analyzer, digested)
            build_file(
                source.batches(plan.batch_size()),
                source.size_hint(),
                plan,
                Path(path),
                lambda digested: describe_index(analyzer, digested),
            )
        except DuplicateIdError:
            len(source)  # documents in files name the places of both
            raise
        return cls.open(path, function=analyzer.function)

    @classmethod
    def open(cls, path: str | os.PathLike[str], *, function: TokenFunction | None = None) -> Index:
        """Open an index file; pages are read when they are used.

        Parameters
        ----------
        path
            The file.
        function
            The analyzer's function, if the index was built with one. Without it the index can be
            inspected, but queries cannot be analysed.
        """
        opened = open_sections(path)
        header = opened.header
        _check_postings(os.fspath(path), opened.arrays)
        analyzer = restored_analyzer(os.fspath(path), header, function)
        return cls._assemble(
            opened.arrays,
            analyzer,
            header["documents"],
            opened.digests,
            header["fingerprint"],
            path=os.path.abspath(path),  # noqa: PTH100 - a path of any kind
        )

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the index to a file."""
        arrays = self._arrays()
        with write_atomically(path) as aside, aside.open("wb") as file:
            sizes = {
                name: (array.dtype.newbyteorder("<").str, len(array))
                for name, array in arrays.items()
            }
            writer = IndexWriter(file, sizes)
            for name, array in arrays.items():
                writer.write(name, array)
            described = describe_index(self.analyzer, self.documents_digest)
            writer.finish(self.analyzer.signature(), described)

    def verify(self) -> None:
        """Check every byte against the checksums stored when the index was built."""
        for name, array in self._arrays().items():
            if digest(array) != self._digests[name]:
                raise InputError(f"the index is damaged in its {name}: build the index again")

    @classmethod
    def _assemble(
        cls,
        arrays: Mapping[str, NDArray[Any]],
        analyzer: Analyzer,
        documents_digest: str,
        digests: Mapping[str, str] | None = None,
        fingerprint: str = "",
        *,
        path: str = "",
    ) -> Index:
        for array in arrays.values():
            array.flags.writeable = False
        if digests is None:
            digests = {name: digest(array) for name, array in arrays.items()}
            fingerprint = fingerprint_of(analyzer.signature(), digests)
        return cls(
            offsets=arrays["offsets"],
            documents=arrays["documents"],
            counts=arrays["counts"],
            lengths=arrays["lengths"],
            distinct=arrays["distinct"],
            id_order=arrays["id_order"],
            terms=PackedStrings(arrays["term_bytes"], arrays["term_offsets"]),
            document_ids=PackedStrings(arrays["id_bytes"], arrays["id_offsets"]),
            analyzer=analyzer,
            fingerprint=fingerprint,
            documents_digest=documents_digest,
            _term_words=arrays["term_words"],
            bounds=Bounds.of_arrays(arrays, len(arrays["lengths"])),
            text_hashes=arrays["text_hashes"].reshape(-1, 2),
            _digests=digests,
            path=path,
        )

    def _arrays(self) -> dict[str, NDArray[Any]]:
        """Return all sections, in the order in which they are written."""
        return {
            "offsets": self.offsets,
            "lengths": self.lengths,
            "distinct": self.distinct,
            "id_order": self.id_order,
            "term_bytes": self.terms.data,
            "term_offsets": self.terms.offsets,
            "term_words": self._term_words,
            "id_bytes": self.document_ids.data,
            "id_offsets": self.document_ids.offsets,
            "text_hashes": self.text_hashes.reshape(-1),
            **self.bounds.arrays(),
            "documents": self.documents,
            "counts": self.counts,
        }


def _length_codes(
    lengths: NDArray[np.int32],
) -> tuple[NDArray[np.uint16], NDArray[np.int32]] | None:
    there = np.zeros(int(lengths.max(initial=0)) + 1, np.bool_)
    there[lengths] = True
    known = np.flatnonzero(there).astype(np.int32)
    if len(known) > 1 << 16:
        return None
    code_of = np.zeros(len(there), np.uint16)
    code_of[known] = np.arange(len(known), dtype=np.uint16)
    return code_of[lengths], known


def source_documents(source: Any) -> Documents:
    within = getattr(source, "documents", None)
    return within if isinstance(within, Documents) else documents_of(source)


def _check_postings(name: str, arrays: Mapping[str, NDArray[Any]]) -> None:
    """Raise an error if postings are out of range: compiled loops write where they point to."""
    offsets, documents = arrays["offsets"], arrays["documents"]
    ends = offsets[0] == 0 and offsets[-1] == len(documents) and (np.diff(offsets) > 0).all()
    # A negative number is a large one without its sign.
    if not ends or documents.view(np.uint32).max(initial=0) >= max(1, len(arrays["lengths"])):
        raise InputError(f"{name}: the index is damaged in its postings: build the index again")

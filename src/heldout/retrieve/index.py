"""Index: term → (document, count), built once for every split, memory-mapped from disk."""

from __future__ import annotations

import os
from bisect import bisect_left
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, Protocol

import numpy as np

from heldout.data.aside import write_atomically
from heldout.data.documents import Documents, documents_of
from heldout.errors import InputError
from heldout.retrieve.analyze import Analyzer
from heldout.retrieve.indexing.file import (
    IndexWriter,
    digest,
    fingerprint_of,
    open_sections,
    release,
)
from heldout.retrieve.indexing.settings import analyzer_settings, restored_analyzer
from heldout.retrieve.indexing.strings import PackedStrings, leading_words, pack
from heldout.retrieve.parts import Part

if TYPE_CHECKING:
    import mmap

    from numpy.typing import NDArray

    from heldout.retrieve.analyze import TokenFunction

__all__ = ["Index", "QueryTerms"]

MEMORY: Final = 1 << 30
"""Bytes that building takes, beside the vocabulary, unless told otherwise."""


class HasDocuments(Protocol):
    """A collection, or what looks like one."""

    @property
    def documents(self) -> Documents: ...


Source = Documents | HasDocuments | Mapping[str, str] | Sequence[tuple[str, str]] | Sequence[str]


@dataclass(frozen=True, slots=True, eq=False)
class QueryTerms:
    """Queries as term numbers.

    Parameters
    ----------
    offsets
        The terms of query ``i`` are ``offsets[i]`` to ``offsets[i + 1]``.
    terms
        The different terms of each query that the vocabulary holds, ascending.
    counts
        How often each stands in its query.
    numbers
        Of an index of several parts: parts × terms, the number that each has there; −1: none.
        `terms` are columns of it then.
    """

    offsets: NDArray[np.int64]
    terms: NDArray[np.int32]
    counts: NDArray[np.float64]
    numbers: NDArray[np.int32] | None = None

    def __len__(self) -> int:
        return len(self.offsets) - 1


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Index:
    """Which terms stand in which documents, and how often.

    Made by `Index.build` or `Index.open`. All arrays are read-only. Terms are numbered in bytewise
    order of their final form and documents in the order of the collection, so that an index does
    not depend on how many threads or how much memory built it.

    Attributes
    ----------
    offsets
        The postings of term ``t`` are ``offsets[t]`` to ``offsets[t + 1]``.
    documents, counts
        Of each posting the document's number (ascending within a term) and how often the term
        stands there: 16 bits, or 32 for the whole index if some count takes more.
    lengths, distinct
        Of each document the sum of its counts and the number of its terms.
    id_order
        Of each document the rank of its id among all ids, bytewise: ties are broken by it.
    terms, document_ids
        The vocabulary and the ids, decoded when asked for.
    analyzer
        How documents were and queries are turned into terms.
    fingerprint
        A name for analyzer and content: equal for equal indexes only.
    documents_digest
        `Documents.digest` of what was indexed, by which an index and its collection know each
        other.

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
    _digests: Mapping[str, str]
    _sound: NDArray[np.bool_]
    _path: str = ""
    _content: mmap.mmap | None = None

    def __repr__(self) -> str:
        return (
            f"<Index: {self.n_documents} documents, {self.n_terms} terms, "
            f"{self.n_postings} postings>"
        )

    @property
    def n_documents(self) -> int:
        """How many documents."""
        return len(self.lengths)

    @property
    def n_terms(self) -> int:
        """How many terms."""
        return len(self.offsets) - 1

    @property
    def n_postings(self) -> int:
        """How many pairs of a term and a document with it."""
        return len(self.documents)

    @property
    def total_length(self) -> int:
        """The sum of the lengths of all documents."""
        return int(self.lengths.sum(dtype=np.int64))

    def term_numbers(self, terms: Sequence[str]) -> NDArray[np.int32]:
        """The numbers of some (final) terms; -1 for a term that no document has."""
        packed = pack([term.encode(errors="surrogatepass") for term in terms])
        words, lengths = leading_words(packed), np.diff(packed.offsets)
        low = np.searchsorted(self._term_words, words, "left")
        high = np.searchsorted(self._term_words, words, "right")
        found = np.full(len(packed), -1, np.int32)
        rows = np.flatnonzero(low < high)
        first = low[rows]
        # A term of up to eight bytes is the first of those that begin with it: no need to look.
        same = (lengths[rows] <= 8) & (self._term_lengths(first) == lengths[rows])
        found[rows[same]] = first[same]
        for row in rows[~same].tolist():
            found[row] = self._find(packed.raw(row), int(low[row]), int(high[row]))
        return found

    def _term_lengths(self, numbers: NDArray[np.integer]) -> NDArray[np.int64]:
        """How many bytes some terms take."""
        lengths: NDArray[np.int64] = self.terms.offsets[numbers + 1] - self.terms.offsets[numbers]
        return lengths

    def _find(self, term: bytes, low: int, high: int) -> int:
        """The number of a term that can only stand between `low` and `high`, or -1."""
        number = bisect_left(range(self.n_terms), term, low, high, key=self.terms.raw)
        return number if number < high and self.terms.raw(number) == term else -1

    def encode(self, queries: Sequence[str]) -> QueryTerms:
        """Analyse queries and look their terms up; terms that no document has are left out."""
        return encode_queries(self.analyzer, queries, self.term_numbers)

    @property
    def parts(self) -> tuple[Part, ...]:
        """The ranges of documents that are walked one after another: all of them in one."""
        return (Part(self, 0, 0, np.asarray(self.id_order), self._path),)

    def release(self) -> None:
        """Give back the memory of a mapped file; what is needed again is read again."""
        if self._content is not None:
            release(self._content)

    def made_of(self, documents: Documents) -> bool:
        """Whether these are the documents that were indexed."""
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
            How many bytes building may take when it writes to `path`, beside the vocabulary and a
            few bytes a document; what does not fit goes to a temporary file beside `path`.
        threads
            How many threads; by default as many as there are cores.
        progress
            Called with the number of documents that are done and of all documents.
        """
        from heldout.retrieve.indexing.build import Plan, build_arrays, build_file

        analyzer = Analyzer() if analyzer is None else analyzer
        plan = Plan.checked(analyzer, memory, threads, progress)
        source = source_documents(documents)
        if path is None:
            arrays, digested = build_arrays(source, plan)
            return cls._assemble(arrays, analyzer, digested)
        batches = source.batches(plan.batch_size())
        build_file(batches, len(source), plan, Path(path), partial(describe_index, analyzer))
        return cls.open(path, function=analyzer.function)

    @classmethod
    def open(cls, path: str | os.PathLike[str], *, function: TokenFunction | None = None) -> Index:
        """Open an index that stands on disk; it is read as far as it is used.

        Parameters
        ----------
        path
            The file.
        function
            The analyzer's function, if the index was built with one: without it the index can be
            looked at, but no query can be analysed.
        """
        opened = open_sections(path)
        try:
            analyzer = restored_analyzer(os.fspath(path), opened.header, function)
        except (KeyError, TypeError, ValueError, AttributeError, OverflowError) as error:
            raise InputError(
                f"{os.fspath(path)}: the index does not say how it was made ({error}): build it "
                "again"
            ) from None
        _check_shapes(os.fspath(path), opened.arrays)
        header = opened.header
        return cls._assemble(
            opened.arrays,
            analyzer,
            str(header.get("documents", "")),
            opened.digests,
            str(header["fingerprint"]),
            path=os.path.abspath(path),  # noqa: PTH100 - a path of any kind
            content=opened.content,
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
        """Compare every byte with the checksums that were taken when the index was built."""
        for name, array in self._arrays().items():
            if digest(array) != self._digests[name]:
                raise InputError(f"the index is damaged in its {name}: build the index again")

    def check_postings(self, terms: NDArray[np.integer]) -> None:
        """Refuse postings of some terms that are damaged, once for each term of a file.

        Compiled loops write where a posting says. To read the whole file when it is opened would
        take long, so postings are looked at when their term is first asked for.
        """
        for term in terms[~self._sound[terms]].tolist():
            begin, end = int(self.offsets[term]), int(self.offsets[term + 1])
            if not 0 <= begin <= end <= self.n_postings or not self._rising(begin, end):
                raise InputError("the index is damaged in its postings: build the index again")
            self._sound[term] = True

    def _rising(self, begin: int, end: int) -> bool:
        """Whether some postings are of documents that there are, in order, each with a count."""
        own = self.documents[begin:end]
        if not len(own):
            return True
        within = own[0] >= 0 and own[-1] < self.n_documents and bool((own[1:] > own[:-1]).all())
        return bool(within and (self.counts[begin:end] > 0).all())

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
        content: mmap.mmap | None = None,
    ) -> Index:
        for array in arrays.values():
            array.flags.writeable = False
        built = digests is None
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
            _digests=digests,
            _sound=np.full(len(arrays["term_words"]), built),
            _path=path,
            _content=content,
        )

    def _arrays(self) -> dict[str, NDArray[Any]]:
        """All sections, in the order in which they are written."""
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
            "documents": self.documents,
            "counts": self.counts,
        }


def encode_queries(
    analyzer: Analyzer,
    queries: Sequence[str],
    numbers_of: Callable[[Sequence[str]], NDArray[np.int32]],
) -> QueryTerms:
    """Analyse queries; terms that `numbers_of` gives no number from 0 on are left out."""
    counted = [Counter(analyzer.analyze(query)) for query in queries]
    different = list(dict.fromkeys(term for one in counted for term in one))
    numbers = dict(zip(different, numbers_of(different).tolist(), strict=True))
    known = [
        sorted((numbers[term], count) for term, count in one.items() if numbers[term] >= 0)
        for one in counted
    ]
    offsets = np.zeros(len(known) + 1, np.int64)
    np.cumsum([len(one) for one in known], out=offsets[1:])
    pairs = [pair for one in known for pair in one]
    return QueryTerms(
        offsets,
        np.array([number for number, _ in pairs], np.int32),
        np.array([count for _, count in pairs], np.float64),
    )


def describe_index(analyzer: Analyzer, documents_digest: str) -> dict[str, Any]:
    """What the header says beside the sections."""
    return {**analyzer_settings(analyzer), "documents": documents_digest}


def source_documents(source: Any) -> Documents:
    within = getattr(source, "documents", None)
    return within if isinstance(within, Documents) else documents_of(source)


def _check_shapes(name: str, arrays: Mapping[str, NDArray[Any]]) -> None:
    """Refuse arrays that do not belong together; see `Index.check_postings` for what they hold."""
    n_documents = len(arrays["lengths"])
    n_terms = len(arrays["term_words"])
    n_postings = len(arrays["documents"])
    fits = (
        len(arrays["distinct"]) == len(arrays["id_order"]) == n_documents
        and len(arrays["id_offsets"]) == n_documents + 1
        and len(arrays["offsets"]) == len(arrays["term_offsets"]) == n_terms + 1
        and len(arrays["counts"]) == n_postings == int(arrays["offsets"][-1])
        and len(arrays["term_bytes"]) == int(arrays["term_offsets"][-1])
        and len(arrays["id_bytes"]) == int(arrays["id_offsets"][-1])
    )
    if not fits:
        raise InputError(f"{name}: the parts of the index do not fit together: build it again")

"""Index: term → (document, count), built once for every split, memory-mapped from disk."""

from __future__ import annotations

import hashlib
import os
from bisect import bisect_left
from functools import cached_property
from itertools import chain
from typing import TYPE_CHECKING, Any, Final, TypeAlias

import numpy as np

from heldout.data.documents import BATCH, Documents, documents_of
from heldout.data.ids import Ids
from heldout.errors import InputError
from heldout.retrieve.analyze import Analyzer, describe_index, restored_analyzer
from heldout.retrieve.index_files import IndexWriter, new_index, open_index
from heldout.retrieve.kernels.types import SATURATED
from heldout.retrieve.statistics import Vocabulary
from heldout.retrieve.strings import PackedStrings, leading_words, pack

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence

    from numpy.typing import NDArray

    from heldout.data.collection import Collection
    from heldout.data.documents import TextBatch
    from heldout.retrieve.analyze import TokenFunction

    Pairs: TypeAlias = Sequence[tuple[str, str]]
    Source: TypeAlias = Documents | Collection | Mapping[str, str] | Pairs | Sequence[str]

MEMORY: Final = 1 << 30
"""Default memory in bytes of the process that builds an index; ids and vocabulary may need more."""


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
    terms
        The vocabulary, decoded on access.
    analyzer
        How documents and queries are turned into terms.
    fingerprint
        Identifies analyzer and content: equal only for equal indexes.
    documents_digest
        `Documents.digest` of the indexed documents, to check that an index and a collection belong
        together.
    arrays
        All arrays, by the names of their files.
    text_hashes
        `Documents.text_hashes` of the indexed documents.
    path
        The folder; empty: in memory.

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

    def __init__(
        self,
        arrays: Mapping[str, NDArray[Any]],
        about: Mapping[str, Any],
        analyzer: Analyzer,
        path: str = "",
    ) -> None:
        for array in arrays.values():
            array.flags.writeable = False
        self.arrays = arrays
        self._about = about
        self.offsets: NDArray[np.int64] = arrays["offsets"]
        self.documents: NDArray[np.int32] = arrays["documents"]
        self.counts: NDArray[np.uint16] | NDArray[np.int32] = arrays["counts"]
        self.lengths: NDArray[np.int32] = arrays["lengths"]
        self.distinct: NDArray[np.int32] = arrays["distinct"]
        self.id_order: NDArray[np.int32] = arrays["id_order"]
        self.terms = PackedStrings(arrays["term_bytes"], arrays["term_offsets"])
        self.text_hashes: NDArray[np.uint64] = arrays["text_hashes"]
        self.analyzer = analyzer
        self.fingerprint: str = about["fingerprint"]
        self.documents_digest: str = about["documents"]
        self.path = path
        # The terms whose postings were checked: none of a file, all of those that were just built.
        self._sound = np.full(self.n_terms, not path)

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

    @cached_property
    def document_ids(self) -> Ids:
        """The ids of the documents; long ones are decoded when they are first needed."""
        if "ids" in self.arrays:
            return Ids(tuple(self.arrays["ids"]))
        return Ids.of(PackedStrings(self.arrays["id_bytes"], self.arrays["id_offsets"])[:])

    def term_numbers(self, terms: Sequence[str]) -> NDArray[np.int32]:
        """Return the numbers of (final) terms; -1 for a term that is in no document."""
        packed = pack([term.encode(errors="surrogatepass") for term in terms])
        words, lengths = leading_words(packed), np.diff(packed.offsets)
        low = np.searchsorted(self.arrays["term_words"], words, "left")
        high = np.searchsorted(self.arrays["term_words"], words, "right")
        numbers = np.full(len(packed), -1, np.int32)
        rows = np.flatnonzero(low < high)
        first = low[rows]
        # A term of up to eight bytes is the first of those that begin with it: no search needed.
        size = self.terms.offsets[first + 1] - self.terms.offsets[first]
        same = (lengths[rows] <= 8) & (size == lengths[rows])
        numbers[rows[same]] = first[same]
        for row in rows[~same].tolist():
            term, end = packed.raw(row), int(high[row])
            number = bisect_left(range(self.n_terms), term, int(low[row]), end, key=self.terms.raw)
            if number < end and self.terms.raw(number) == term:
                numbers[row] = number
        return numbers

    def encode(self, queries: Sequence[str]) -> Vocabulary:
        """Analyse queries and look up their terms; terms that are in no document are left out."""
        raw = [self.analyzer.raw_terms(query) for query in queries]
        words = list(dict.fromkeys(chain.from_iterable(raw)))
        numbers_of = self.term_numbers(self.analyzer.final_terms(words)).tolist()
        known = dict(zip(words, numbers_of, strict=True))
        sizes = np.fromiter(map(len, raw), np.int64, len(raw))
        every = chain.from_iterable(raw)
        numbers = np.fromiter(map(known.__getitem__, every), np.int64, int(sizes.sum()))
        there = np.flatnonzero(numbers >= 0)
        terms, places = np.unique(numbers[there], return_inverse=True)
        self._check_postings(terms[~self._sound[terms]])
        # Pairs of a query and a term as one number each: sorted by query, then by term.
        owners = np.repeat(np.arange(len(raw)), sizes)[there]
        pairs, counts = np.unique(owners << 32 | places, return_counts=True)
        offsets = np.searchsorted(pairs, np.arange(len(raw) + 1) << 32)
        return Vocabulary(terms, offsets, pairs & 0xFFFFFFFF, counts.astype(np.float64))

    def _check_postings(self, terms: NDArray[np.int64]) -> None:
        """Refuse postings that do not ascend or are out of range: compiled loops do not check.

        Only the postings of terms in use are read, once, not gigabytes at every opening.
        """
        begins, ends = self.offsets[terms].tolist(), self.offsets[terms + 1].tolist()
        for begin, end in zip(begins, ends, strict=True):
            some = self.documents[begin:end]
            good = begin < end and some[0] >= 0 and some[-1] < self.n_documents
            if not good or (some[1:] <= some[:-1]).any():
                raise InputError(
                    f"{self.path}: the index is damaged in its postings: build the index again"
                )
        self._sound[terms] = True

    @cached_property
    def largest_count(self) -> int:
        """The largest count of all postings."""
        most = int(self.arrays["most_counts"].max(initial=0))
        return most if most < SATURATED else int(self.counts.max())

    @cached_property
    def length_codes(self) -> tuple[NDArray[np.uint16], NDArray[np.int32]] | None:
        """The code of each document's length, and the length of each code, ascending.

        Codes take a quarter of the memory of a number per document, which loops read at random.
        None: there are more than 65536 different lengths.
        """
        there = np.zeros(int(self.lengths.max(initial=0)) + 1, np.bool_)
        there[self.lengths] = True
        known = np.flatnonzero(there).astype(np.int32)
        if len(known) > 1 << 16:
            return None
        code_of = np.zeros(len(there), np.uint16)
        code_of[known] = np.arange(len(known), dtype=np.uint16)
        return code_of[self.lengths], known

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
            The folder to write the index to, which is then opened from there; an index there is
            replaced. None keeps the index in memory.
        memory
            Bytes that the process should take while it builds an index at `path`; it takes more if
            ids and vocabulary do. Postings wait in temporary files next to `path`.
        threads
            Number of threads; by default the number of cores.
        progress
            Called with the number of documents done and the number of all documents, 0 while it is
            unknown.
        """
        from heldout.retrieve.build import build_index

        analyzer = Analyzer() if analyzer is None else analyzer
        within = getattr(documents, "documents", None)
        source = within if isinstance(within, Documents) else documents_of(documents)  # type: ignore[arg-type]
        how: Any = {"memory": memory, "threads": threads, "progress": progress}
        if path is None:
            return cls(*build_index(source, analyzer, None, **how), analyzer)
        with new_index(path) as folder:
            build_index(source, analyzer, folder, **how)
        return cls.open(path, function=analyzer.function)

    @classmethod
    def open(cls, path: str | os.PathLike[str], *, function: TokenFunction | None = None) -> Index:
        """Open an index; pages are read when they are used.

        Parameters
        ----------
        path
            The folder.
        function
            The analyzer's function, if the index was built with one. Without it the index can be
            inspected, but queries cannot be analysed.
        """
        about, arrays = open_index(path)
        analyzer = restored_analyzer(os.fspath(path), about, function)
        return cls(arrays, about, analyzer, os.path.abspath(path))  # noqa: PTH100 - any path

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the index to a folder; an index there is replaced."""
        with new_index(path) as folder, IndexWriter(folder) as writer:
            for name, array in self.arrays.items():
                writer.append(name, array)
            writer.finish(describe_index(self.analyzer, self.documents_digest))

    def verify(self) -> None:
        """Check every byte against the checksums stored when the index was built."""
        for name, file in self._about["files"].items():
            array = np.ascontiguousarray(self.arrays[name], file["dtype"]).reshape(-1)
            if hashlib.sha256(array.view(np.uint8).data).hexdigest() != file["sha256"]:
                raise InputError(f"the index is damaged in its {name}: build the index again")


class IndexedDocuments(Documents):
    """An index as the documents of an experiment: ids and hashes are in it, and no file is read.

    A collection of millions of documents takes a minute to read, and its index a millisecond to
    open. Whoever needs texts names the collection, and the index beside it.
    """

    def __init__(self, index: Index) -> None:
        self.index = index
        self.digest = index.documents_digest
        self.text_hashes = index.text_hashes
        self.ids = index.document_ids
        self.notes = ()

    def batches(self, _size: int = BATCH) -> Iterator[TextBatch]:
        """Raise an error: there are no texts."""
        raise InputError(
            "an index has no texts, which are needed here: name the collection, and give the index "
            "beside it (--index)"
        )

    def raw(self, _number: int) -> bytes:
        """Raise an error: there are no texts."""
        return next(self.batches()).raw(0)

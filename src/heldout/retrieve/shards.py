"""An index of several parts, for collections that one machine cannot hold or build at once.

A folder with an index file for each range of the documents, the order of all ids, and
``shards.json``, which is written last and names the files. Parts can be built one after another
in the memory of one, or on several machines, and then joined.
"""

from __future__ import annotations

import hashlib
import os
from bisect import bisect_right
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cached_property, lru_cache, partial
from pathlib import Path
from shutil import rmtree
from typing import TYPE_CHECKING, Any, Final, overload

import numpy as np

from heldout.data.atomic import make_aside
from heldout.data.documents import even_sizes, range_batches, range_digests
from heldout.errors import InputError
from heldout.retrieve.analyze import Analyzer
from heldout.retrieve.index import MEMORY, Index, source_documents
from heldout.retrieve.indexing.manifest import (
    MANIFEST,
    Manifest,
    PartFile,
    is_sharded,
    read_manifest,
    write_manifest,
)
from heldout.retrieve.indexing.merge_ids import merged_order
from heldout.retrieve.indexing.settings import describe_index
from heldout.retrieve.parts import Part, in_turn
from heldout.retrieve.query_terms import QueryTerms, encode_queries

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from heldout.data.documents import Documents
    from heldout.retrieve.analyze import TokenFunction
    from heldout.retrieve.index import Source
    from heldout.retrieve.indexing.strings import PackedStrings

__all__ = ["AnyIndex", "ShardedIndex", "open_index", "open_part"]

_ENDING: Final = ".index"
_ORDER: Final = "ids.order"


@dataclass(frozen=True, eq=False, repr=False)
class ShardedIndex:
    """Several indexes, each of one range of the documents, searched as one.

    Made by `ShardedIndex.build`, `ShardedIndex.join` or `ShardedIndex.open`. Rankings are identical
    to those of a single index of all documents, to the last bit.

    Attributes
    ----------
    parts
        The ranges in order.
    id_order
        For each document, the rank of its id among all ids, bytewise.
    analyzer, fingerprint
        As in `Index`.
    path
        The folder.

    Examples
    --------
    >>> import tempfile
    >>> from heldout.retrieve.search import search
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     texts = {"d1": "red apples", "d2": "green apples", "d3": "green pears"}
    ...     index = ShardedIndex.build(texts, path=f"{folder}/fruit", shards=2)
    ...     print(index, search(index, {"q": "green apples"}).to_dict()["q"].keys())
    <ShardedIndex: 3 documents in 2 parts, 6 postings> dict_keys(['d2', 'd3', 'd1'])
    """

    parts: tuple[Part, ...]
    id_order: NDArray[np.int32]
    analyzer: Analyzer
    fingerprint: str
    path: str
    _order_digest: str

    def __repr__(self) -> str:
        return (
            f"<ShardedIndex: {self.n_documents} documents in {len(self.parts)} parts, "
            f"{self.n_postings} postings>"
        )

    @property
    def n_documents(self) -> int:
        """The number of documents."""
        return len(self.id_order)

    @property
    def n_terms(self) -> int:
        """The number of terms of the part with the most terms."""
        return max(part.index.n_terms for part in self.parts)

    @property
    def n_postings(self) -> int:
        """The number of postings (pairs of a term and a document that contains it)."""
        return sum(part.index.n_postings for part in self.parts)

    @cached_property
    def total_length(self) -> int:
        """The sum of the lengths of all documents."""
        return sum(in_turn(lambda part: part.index.total_length, self.parts))

    @cached_property
    def document_ids(self) -> Sequence[str]:
        """All ids, decoded on access."""
        return _JoinedIds([part.index.document_ids for part in self.parts])

    @cached_property
    def documents_digest(self) -> str:
        """A digest of the documents and of their division into parts."""
        return _joined_hash(part.index.documents_digest for part in self.parts)

    def made_of(self, documents: Documents) -> bool:
        """Return whether these are the documents that were indexed."""
        if len(documents) != self.n_documents:
            return False
        sizes = [part.index.n_documents for part in self.parts]
        known = (part.index.documents_digest for part in self.parts)
        found = range_digests(documents, sizes)
        return all(one == other for one, other in zip(known, found, strict=True))

    def encode(self, queries: Sequence[str]) -> QueryTerms:
        """Analyse queries and look up their terms; terms that are in no document are left out."""
        table = np.zeros((len(self.parts), 0), np.int32)

        def numbers_of(terms: Sequence[str]) -> NDArray[np.int32]:
            nonlocal table
            # Numbered bytewise, as in a single index: scores are summed in the order of terms.
            ordered = sorted(terms, key=partial(str.encode, errors="surrogatepass"))
            each = in_turn(lambda part: part.index.term_numbers(ordered), self.parts)
            found = np.stack(list(each))
            there = (found >= 0).any(axis=0)
            table = found[:, there]
            numbers = np.where(there, np.cumsum(there) - 1, -1)
            by_term = dict(zip(ordered, numbers.tolist(), strict=True))
            return np.array([by_term[term] for term in terms], np.int32)

        coded = encode_queries(self.analyzer, queries, numbers_of)
        return QueryTerms(coded.offsets, coded.terms, coded.counts, table)

    def verify(self) -> None:
        """Check every byte against the checksums stored when the parts were built."""
        for part in self.parts:
            part.index.verify()
            part.index.release()
        if hashlib.sha256(self.id_order.data).hexdigest() != self._order_digest:
            raise InputError("the order of the ids is damaged: join the parts again")

    def size(self) -> int:
        """Return the size of all files in bytes."""
        return sum(one.stat().st_size for one in self.files())

    def files(self) -> list[Path]:
        """Return all its files."""
        folder = Path(self.path)
        found = read_manifest(folder)
        names = [MANIFEST, found.order, *(one.file for one in found.parts)]
        return [folder / name for name in names]

    @classmethod
    def build(
        cls,
        documents: Source,
        analyzer: Analyzer | None = None,
        *,
        path: str | os.PathLike[str],
        shards: int,
        memory: int = MEMORY,
        threads: int | None = None,
        progress: Callable[[int, int], None] | None = None,
    ) -> ShardedIndex:
        """Build parts with about equally many documents, one after another, in one pass.

        Parameters
        ----------
        documents, analyzer, memory, threads, progress
            As for `Index.build`; ids and vocabulary are those of one part.
        path
            The folder to make.
        shards
            Number of parts.
        """
        from heldout.retrieve.indexing.build import Plan, build_file

        source = source_documents(documents)
        if not 1 <= shards <= len(source):
            raise InputError(
                f"shards={shards}: expected 1 to {len(source):,}, the number of documents"
            )
        analyzer = Analyzer() if analyzer is None else analyzer
        plan = Plan.checked(analyzer, memory, threads, None)
        sizes = even_sizes(len(source), shards)
        batches = range_batches(source.batches(plan.batch_size()), sizes)
        done = 0
        with _made_aside(Path(path)) as folder:
            for number, (own, size) in enumerate(zip(batches, sizes, strict=True)):
                steps = _from(done, len(source), progress)
                file = folder / f"{number:04d}{_ENDING}"
                plan = Plan.checked(analyzer, memory, threads, steps)
                build_file(own, size, plan, file, partial(describe_index, analyzer))
                done += size
            _join(folder, function=analyzer.function)
        return cls.open(path, function=analyzer.function)

    @classmethod
    def join(
        cls, folder: str | os.PathLike[str], *, function: TokenFunction | None = None
    ) -> ShardedIndex:
        """Join all ``*.index`` files of a folder, in the order of their names.

        They must have been built with the same analyzer, from different documents.
        """
        _join(Path(folder), function=function)
        return cls.open(folder, function=function)

    @classmethod
    def open(
        cls, path: str | os.PathLike[str], *, function: TokenFunction | None = None
    ) -> ShardedIndex:
        """Open the parts of a folder; pages are read when they are used.

        Parameters
        ----------
        function
            The analyzer's function, if the parts were built with one.
        """
        folder = Path(path)
        found = read_manifest(folder)
        indexes = [_opened(folder, one, function) for one in found.parts]
        _check_analyzers(indexes, [one.file for one in found.parts])
        total = sum(one.n_documents for one in indexes)
        order = _read_order(folder / found.order, total)
        whole = os.path.abspath(path)  # noqa: PTH100 - a path of any kind
        parts, first = [], 0
        for number, index in enumerate(indexes):
            last = first + index.n_documents
            parts.append(Part(index, number, first, order[first:last], whole))
            first = last
        fingerprint = _joined_hash(one.fingerprint for one in indexes)
        return cls(tuple(parts), order, indexes[0].analyzer, fingerprint, whole, found.order_sha256)


AnyIndex = Index | ShardedIndex
"""An index in one file or in memory, or one of several parts."""


def open_index(path: str | os.PathLike[str], *, function: TokenFunction | None = None) -> AnyIndex:
    """Open an index of one or several parts.

    Parameters
    ----------
    path
        The file, or the folder.
    function
        The analyzer's function, if it was built with one.
    """
    opened = ShardedIndex.open if is_sharded(path) else Index.open
    return opened(path, function=function)


def open_part(path: str, number: int, fingerprint: str) -> Part:
    """Open a part of an index on disk, identified by another process."""
    found = _part_at(path, number, fingerprint)
    if found.index.fingerprint != fingerprint:
        raise InputError(
            f"{path} is a different index here than where the search was started: it must be the "
            "same for all workers"
        )
    return found


@lru_cache(maxsize=16)
def _part_at(path: str, number: int, fingerprint: str) -> Part:
    del fingerprint  # part of the cache key: a rebuilt index is opened again
    return open_index(path).parts[number]


class _JoinedIds(Sequence[str]):
    """The ids of several parts, one after another."""

    def __init__(self, several: Sequence[PackedStrings]) -> None:
        self._several = several
        self._ends = np.cumsum([len(one) for one in several]).tolist()

    def __len__(self) -> int:
        return int(self._ends[-1])

    @overload
    def __getitem__(self, place: int) -> str: ...
    @overload
    def __getitem__(self, place: slice) -> list[str]: ...
    def __getitem__(self, place: int | slice) -> str | list[str]:
        if isinstance(place, slice):
            return [self[number] for number in range(*place.indices(len(self)))]
        number = place + len(self) if place < 0 else place
        if not 0 <= number < len(self):
            raise IndexError(f"id {place} of {len(self)}")
        which = bisect_right(self._ends, number)
        return self._several[which][number - (self._ends[which - 1] if which else 0)]


def _from(
    done: int, of: int, progress: Callable[[int, int], None] | None
) -> Callable[[int, int], None] | None:
    """Translate the progress of one part into the progress of all documents."""
    if progress is None:
        return None
    return lambda own, _: progress(done + own, of)


@contextmanager
def _made_aside(path: Path) -> Iterator[Path]:
    """Yield a temporary folder that is renamed when complete, replacing an existing index."""
    try:
        path.absolute().parent.mkdir(parents=True, exist_ok=True)
        aside = make_aside(path.absolute(), Path.mkdir)
    except OSError as error:
        raise InputError(f"{path}: the index cannot be written ({error.strerror})") from error
    try:
        yield aside
        if is_sharded(path):
            rmtree(path)
        aside.rename(path)
    except OSError as error:
        raise InputError(f"{path}: the index cannot be written ({error.strerror})") from error
    finally:
        rmtree(aside, ignore_errors=True)


def _join(folder: Path, *, function: TokenFunction | None) -> None:
    """Write the order of all ids and the manifest."""
    files = sorted(one for one in folder.glob(f"*{_ENDING}") if one.is_file())
    if not files:
        raise InputError(f"{folder}: no *{_ENDING} files to join: build some with heldout index")
    indexes = [Index.open(one, function=function) for one in files]
    _check_analyzers(indexes, [one.name for one in files])
    order = merged_order(indexes, [one.name for one in files])
    parts = [
        PartFile(file.name, index.fingerprint) for file, index in zip(files, indexes, strict=True)
    ]
    data = order.astype("<i4", copy=False)
    digest = hashlib.sha256(data.data).hexdigest()
    write_manifest(folder, Manifest(tuple(parts), _ORDER, digest), data)


def _opened(folder: Path, part: PartFile, function: TokenFunction | None) -> Index:
    index = Index.open(folder / part.file, function=function)
    if index.fingerprint != part.fingerprint:
        raise InputError(
            f"{folder / part.file}: not the index that was joined: join the parts "
            f"again with heldout index {folder} --join"
        )
    return index


def _check_analyzers(indexes: Sequence[Index], names: Sequence[str]) -> None:
    first = indexes[0].analyzer.signature()
    for index, name in zip(indexes, names, strict=True):
        if index.analyzer.signature() != first:
            raise InputError(
                f"{name} was built with {index.analyzer.signature()}, {names[0]} with {first}: "
                "all parts must have the same analyzer; build one of them again"
            )


def _read_order(path: Path, total: int) -> NDArray[np.int32]:
    try:
        size = path.stat().st_size
        found: Any = np.memmap(path, "<i4", "r") if size else np.zeros(0, "<i4")
    except (OSError, ValueError) as error:
        raise InputError(f"{path}: cannot be read ({error}): join the parts again") from None
    order = np.asarray(found).view(np.ndarray)
    if len(order) != total:
        raise InputError(
            f"{path}: order of {len(order):,} ids for {total:,} documents: join the parts again"
        )
    order.flags.writeable = False
    return order


def _joined_hash(names: Iterator[str]) -> str:
    return hashlib.sha256("\n".join(names).encode()).hexdigest()

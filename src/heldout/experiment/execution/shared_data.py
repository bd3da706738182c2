"""What all tasks of an experiment share, and how it reaches another process, once.

A collection can be larger than memory and is not to be sent with every task: one that was read
from files is read again there, once for each process, and told by its fingerprint. One that came as
an object is sent whole. The same holds for an index: opened from its file, or sent.
Built-in models need no text: for those alone queries and judgements are sent, and the index knows
the documents.
"""

from __future__ import annotations

import io
import pickle
import tempfile
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

from heldout.data.collection import Collection
from heldout.data.document_ids import document_ids
from heldout.data.documents import BATCH, Documents, documents_of
from heldout.errors import InputError
from heldout.measure.ranking.names import add_family, find_family

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from heldout.data.documents import TextBatch
    from heldout.data.queries import Queries
    from heldout.data.run import Qrels
    from heldout.experiment.schema import CollectionTable
    from heldout.experiment.settings import RankingSettings
    from heldout.retrieve.shards import AnyIndex

__all__ = [
    "SentCollection",
    "SentIndex",
    "SentRankingData",
    "dump_beside",
    "load_beside",
    "pack_collection",
    "pack_index",
    "pack_questions",
    "pack_rankings",
    "shared_parts",
]


@dataclass(frozen=True, slots=True, eq=False)
class SentCollection:
    """A collection on its way to another process.

    Parameters
    ----------
    fingerprint
        Of the collection that is meant.
    source
        How to read it again; None: it is in `parts`.
    parts
        Documents (None: the index has the ids, and no text is needed), queries, judgements, name.
    """

    fingerprint: str
    source: CollectionTable | None = None
    parts: tuple[Documents | None, Queries, Qrels, str] | None = None

    def open(self, index: AnyIndex | None = None) -> Collection:
        """The collection; read once in each process."""
        if self.source is not None:
            return _read(self.source, self.fingerprint)
        if self.parts is None:
            raise InputError("a collection was sent without its parts")
        documents, queries, qrels, name = self.parts
        if documents is None:
            if index is None:
                raise InputError("the documents were not sent here, and there is no index")
            documents = _NamedDocuments(index.document_ids)
        return Collection(documents, queries, qrels, name=name)


def pack_collection(
    whole: Collection, source: CollectionTable | None, *, sent: bool = False
) -> SentCollection:
    """Make a collection ready to be sent.

    Parameters
    ----------
    source
        How it was read; None: it came as an object.
    sent
        Send what is in it even if it was read from files.
    """
    if source is not None and not sent:
        # A worker may have been started in another folder.
        return SentCollection(whole.fingerprint(), source.moved(_absolute))
    ids, texts = zip(*whole.documents.pairs(), strict=True)  # out of files, if they stand in some
    parts = documents_of(ids, texts), whole.queries, whole.qrels, whole.name
    return SentCollection(whole.fingerprint(), parts=parts)


def pack_questions(whole: Collection) -> SentCollection:
    """Make queries and judgements ready to be sent, for whoever has an index of the documents."""
    return SentCollection(whole.fingerprint(), parts=(None, whole.queries, whole.qrels, whole.name))


def _absolute(path: str) -> str:
    """The path of a file that is there, from the root; else the text as it is."""
    return str(Path(path).absolute()) if Path(path).exists() else path


@lru_cache(maxsize=1)
def _read(source: CollectionTable, fingerprint: str) -> Collection:
    found = source.read()
    if found.fingerprint() != fingerprint:
        raise InputError(
            f"{source.source} is a different collection here than where the run was started: it "
            "must be the same for all workers"
        )
    return found


class _NamedDocuments(Documents):
    """Documents of which an index has the ids, and nobody here the text."""

    __slots__ = ("ids", "notes")

    def __init__(self, ids: Sequence[str]) -> None:
        self.ids = document_ids(ids)
        self.notes = ()

    def batches(self, size: int = BATCH) -> Iterator[TextBatch]:
        """Refuse: what was sent here is for those that need no text."""
        del size
        raise InputError("the text of the documents was not sent to this process")

    def text(self, number: int) -> str:
        """Refuse, as well."""
        raise InputError(f"the text of document {number} was not sent to this process")


@dataclass(frozen=True, slots=True, eq=False)
class SentIndex:
    """An index on its way to another process.

    Parameters
    ----------
    fingerprint
        Of the index that is meant.
    path
        Its file or folder; empty: it is in `files`.
    files
        Name and bytes of each of its files.
    function
        The function of its analyzer, if it has one.
    """

    fingerprint: str
    path: str = ""
    files: tuple[tuple[str, bytes], ...] = ()
    function: Any = None

    def open(self) -> AnyIndex:
        """The index, mapped into memory."""
        from heldout.retrieve.shards import open_index

        found = (
            open_index(self.path, function=self.function)
            if self.path
            else _unpacked(self.files, self.function)
        )
        if found.fingerprint != self.fingerprint:
            raise InputError(
                f"{self.path} is a different index here than where the run was started: it must be "
                "the same for all workers"
            )
        return found


def pack_index(index: AnyIndex, given: Any, *, sent: bool = False) -> SentIndex:
    """Make an index ready to be sent.

    Parameters
    ----------
    given
        Its path, if it came as one.
    sent
        Send what is in it even if it has a file.
    """
    from heldout.retrieve.index import Index

    function = index.analyzer.function
    if isinstance(given, str) and not sent:
        return SentIndex(index.fingerprint, str(Path(given).absolute()), function=function)
    if not isinstance(index, Index):
        files = tuple((one.name, one.read_bytes()) for one in index.files())
        return SentIndex(index.fingerprint, files=files, function=function)
    with tempfile.TemporaryDirectory(prefix="heldout-") as folder:
        path = Path(folder) / "index"
        index.save(path)
        files = ((path.name, path.read_bytes()),)
    return SentIndex(index.fingerprint, files=files, function=function)


def _unpacked(files: Sequence[tuple[str, bytes]], function: Any) -> AnyIndex:
    """An index of the bytes of its files, mapped from files that nobody else sees."""
    from heldout.retrieve.shards import open_index

    with tempfile.TemporaryDirectory(prefix="heldout-", ignore_cleanup_errors=True) as folder:
        for name, content in files:
            (Path(folder) / name).write_bytes(content)
        whole = Path(folder) / files[0][0] if len(files) == 1 else Path(folder)
        return open_index(whole, function=function)  # what is mapped outlives its name


@dataclass(frozen=True, slots=True, eq=False)
class SentRankingData:
    """What systems that rank share, on its way to another process.

    Parameters
    ----------
    collection, index
        The collection, and the index, if built-in models are to be ranked there.
    families
        Measures that the user has defined.
    """

    collection: SentCollection
    index: SentIndex | None
    families: tuple[Any, ...] = ()

    def open(self) -> tuple[dict[str, Any], AnyIndex | None]:
        """The parts that settings hold on to, by name, and the index."""
        for family in self.families:
            if find_family(family.name) is None:
                add_family(family)
        index = None if self.index is None else self.index.open()
        return shared_parts(self.collection.open(index)), index


def pack_rankings(
    settings: RankingSettings, index: AnyIndex | None, *, sent: bool = False
) -> SentRankingData:
    """Make what systems share ready to be sent; see `pack_collection` and `pack_index`."""
    sent_index = None if index is None else pack_index(index, settings.index, sent=sent)
    if sent_index is not None and not any(one.needs_text for one in settings.systems):
        collection = pack_questions(settings.collection)
    else:
        collection = pack_collection(settings.collection, settings.source, sent=sent)
    return SentRankingData(collection, sent_index, _own_families(settings))


def _own_families(settings: RankingSettings) -> tuple[Any, ...]:
    wanted = {one.definition.name: one.definition for one in settings.measures}
    wanted[settings.tune_for.definition.name] = settings.tune_for.definition
    return tuple(one for one in wanted.values() if hasattr(one.compute, "own"))


def shared_parts(collection: Collection) -> dict[str, Any]:
    """The collection and the parts of it that splits hold on to, by name."""
    return {
        "collection": collection,
        "documents": collection.documents,
        "document ids": collection.documents.ids,
        "queries": collection.queries,
        "query ids": collection.queries.ids,
        "qrels": collection.qrels,
    }


def dump_beside(what: Any, parts: dict[str, Any]) -> bytes:
    """Pickle something for another process of this run, with names in place of what it has."""
    import cloudpickle  # type: ignore[import-untyped] # functions by value

    names = {id(part): name for name, part in parts.items()}

    class Packer(cloudpickle.Pickler):  # type: ignore[misc]
        def persistent_id(self, one: Any) -> str | None:
            return names.get(id(one))

    file = io.BytesIO()
    Packer(file, protocol=5).dump(what)
    return file.getvalue()


def load_beside(content: bytes, parts: dict[str, Any]) -> Any:
    """What `dump_beside` was given."""

    class Unpacker(pickle.Unpickler):
        def persistent_load(self, name: str) -> Any:
            return parts[name]

    return Unpacker(io.BytesIO(content)).load()  # what this run has packed itself

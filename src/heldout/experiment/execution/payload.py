"""The payload: everything another process needs to run tasks. It is sent once, not with each task.

A payload is one pickle of the settings and the index. Large objects in it are replaced by a call
that makes them again in the other process:

- A collection that was read from files is read again there; it can be larger than memory. A
  collection that was given as an object is sent.
- An index in a folder is opened there; an index in memory is sent as the bytes of its files.
- Built-in models need no text. If no other system runs, the documents are only the ids that the
  index has.

Pickle keeps identities: splits that refer to the documents of a collection refer to the documents
of the same new collection in the other process.
"""

from __future__ import annotations

import hashlib
import io
import pickle
import tempfile
from dataclasses import dataclass, field
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from heldout.data.collection import Collection
from heldout.data.documents import BATCH, Documents, documents_of
from heldout.data.ids import distinct_ids
from heldout.errors import InputError
from heldout.experiment.manifest import versions_of
from heldout.experiment.systems.base import Context

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from numpy.typing import NDArray

    from heldout.data.documents import TextBatch
    from heldout.data.ids import Ids
    from heldout.data.qrels import Qrels
    from heldout.data.queries import Queries
    from heldout.experiment.schema import CollectionTable
    from heldout.experiment.settings import RankingSettings, Settings
    from heldout.notes import Note
    from heldout.retrieve.index import Index

    Replacement = tuple[object, Callable[..., Any], tuple[Any, ...]]

__all__ = ["Payload", "pack_payload", "ranking_replacements"]


@dataclass(frozen=True, slots=True)
class Payload:
    """An experiment on its way to another process.

    Parameters
    ----------
    digest
        SHA-256 of the content. A process opens payloads with the same digest once.
    content
        The pickle, as an array: joblib writes it to disk once and maps it into every process.
    """

    digest: str
    content: NDArray[np.uint8] = field(compare=False, repr=False)

    def open(self) -> Context[Any]:
        """Return what tasks need; a process gets the same object each time."""
        return _opened(self)


@dataclass(frozen=True, slots=True, eq=False)
class _Contents:
    """What a payload holds.

    Parameters
    ----------
    versions
        Versions of the packages that results depend on; the other process must have the same.
    sources
        For each system, the hash of the file it is loaded from; None: it is among the settings.
    settings, index
        The experiment, and the index for built-in models.
    """

    versions: dict[str, str]
    sources: tuple[str | None, ...]
    settings: Settings
    index: Index | None


def pack_payload(settings: Settings, index: Index | None) -> Payload:
    """Make a payload.

    Parameters
    ----------
    index
        The index, if the other process ranks with built-in models.
    """
    replacements = settings.replacements(index)
    try:
        sources = tuple(system.source() for system in settings.systems)
        contents = _Contents(versions_of(settings), sources, settings.sendable(), index)
        content = _pickled(contents, replacements)
    except Exception as error:
        # A user's object can contain anything, and anything can fail to pickle.
        raise InputError(
            f"the systems or the data cannot be sent to other processes "
            f"({type(error).__name__}: {error}): use 1 worker, or name the system by its file "
            "(ranker.py:rank)"
        ) from error
    return Payload(hashlib.sha256(content).hexdigest(), np.frombuffer(content, np.uint8))


def _pickled(contents: _Contents, replacements: Sequence[Replacement]) -> bytes:
    import cloudpickle  # type: ignore[import-untyped] # pickles functions by value

    calls = {id(replaced): (function, arguments) for replaced, function, arguments in replacements}

    class Pickler(cloudpickle.Pickler):  # type: ignore[misc]
        def reducer_override(self, instance: Any) -> Any:
            call = calls.get(id(instance))
            return super().reducer_override(instance) if call is None else call

    file = io.BytesIO()
    Pickler(file, protocol=5).dump(contents)
    return file.getvalue()


@lru_cache(maxsize=1)
def _opened(payload: Payload) -> Context[Any]:
    content = payload.content.tobytes()
    if hashlib.sha256(content).hexdigest() != payload.digest:
        raise InputError("the settings were damaged on the way to a worker")
    contents: _Contents = pickle.loads(content)  # noqa: S301 - pickled by this run
    _refuse_other_versions(contents.versions, versions_of(contents.settings))
    return Context(contents.settings.restored(contents.sources), contents.index)


def _refuse_other_versions(there: dict[str, str], here: dict[str, str]) -> None:
    for name, wanted in there.items():
        if here.get(name) != wanted:
            raise InputError(
                f"a worker has {name} {here.get(name, '(not installed)')}, the run was started "
                f"with {wanted}: results could differ; install the same version there"
            )


def ranking_replacements(settings: RankingSettings, index: Index | None) -> Iterator[Replacement]:
    """Yield the large objects of a ranking experiment, each with the call that makes it again."""
    collection, documents = settings.collection, settings.collection.documents
    if index is not None:
        yield _index_replacement(index, settings.index)
    if index is not None and not any(system.needs_text for system in settings.systems):
        yield documents, _DocumentsWithoutText, (index,)
    elif settings.source is not None:
        # A worker may have been started in another folder.
        source = settings.source.moved(_absolute)
        yield collection, _read_collection, (source, collection.fingerprint())
        for name in ("documents", "queries", "qrels"):
            yield getattr(collection, name), getattr, (collection, name)
        yield documents.ids, getattr, (documents, "ids")
        return
    else:
        yield documents, documents_of, (dict(documents.pairs()),)  # read from files, if any
    yield documents.ids, getattr, (documents, "ids")
    parts = documents, collection.queries, collection.qrels, collection.name
    yield collection, _collection, parts


def _index_replacement(index: Index, given: Index | str | None) -> Replacement:
    function = index.analyzer.function
    if isinstance(given, str):
        path = str(Path(given).absolute())
        return index, _open_index, (path, index.fingerprint, function)
    return index, _index_of_files, (_index_files(index), function)


def _absolute(path: str) -> str:
    """Return the absolute path of an existing file, and any other text as it is."""
    return str(Path(path).absolute()) if Path(path).exists() else path


def _index_files(index: Index) -> dict[str, bytes]:
    """Return the bytes of the files of an index, by name."""
    with tempfile.TemporaryDirectory(prefix="heldout-") as folder:
        path = Path(folder) / "index"
        index.save(path)
        return {file.name: file.read_bytes() for file in path.iterdir()}


# Called in the other process.


def _collection(documents: Documents, queries: Queries, qrels: Qrels, name: str) -> Collection:
    return Collection(documents, queries, qrels, name=name)


def _read_collection(source: CollectionTable, fingerprint: str) -> Collection:
    collection = source.read()
    if collection.fingerprint() != fingerprint:
        raise InputError(
            f"{source.source} is a different collection here than where the run was started: all "
            "workers must read the same files"
        )
    return collection


def _open_index(path: str, fingerprint: str, function: Any) -> Index:
    from heldout.retrieve.index import Index

    index = Index.open(path, function=function)
    if index.fingerprint != fingerprint:
        raise InputError(
            f"{path} is a different index here than where the run was started: all workers must "
            "open the same index"
        )
    return index


def _index_of_files(files: dict[str, bytes], function: Any) -> Index:
    from heldout.retrieve.index import Index

    with tempfile.TemporaryDirectory(prefix="heldout-", ignore_cleanup_errors=True) as folder:
        for name, content in files.items():
            (Path(folder) / name).write_bytes(content)
        return Index.open(folder, function=function)  # stays mapped after the files are removed


class _DocumentsWithoutText(Documents):
    """Documents whose ids are in the index and whose text was not sent."""

    __slots__ = ("ids", "notes")
    ids: Ids
    notes: tuple[Note, ...]

    def __init__(self, index: Index) -> None:
        self.ids = distinct_ids(index.document_ids)
        self.notes = ()

    def batches(self, size: int = BATCH) -> Iterator[TextBatch]:
        """Refuse: there is no text."""
        del size
        raise InputError("the text of the documents was not sent to this process")

    def raw(self, number: int) -> bytes:
        """Refuse: there is no text."""
        raise InputError(f"the text of document {number} was not sent to this process")

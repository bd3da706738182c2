"""What all tasks of an experiment share, and how it reaches another process.

A collection can be larger than memory and is not to be sent to every worker: one that was read
from files is read again there, once for each process. One that came as an object is sent as plain
columns.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

from heldout.data.collection import Collection
from heldout.data.documents import documents_of
from heldout.data.queries import Queries
from heldout.data.run import Qrels

if TYPE_CHECKING:
    from heldout.experiment.config import Settings

__all__ = ["Parcel", "parcel"]


@dataclass(frozen=True, slots=True)
class Parcel:
    """A collection on its way to another process.

    Parameters
    ----------
    source
        How to read it again, as JSON; empty: it is in `columns`.
    columns
        Ids and texts of documents, ids, texts and fields of queries, judgements.
    """

    source: str
    columns: tuple[Any, ...] = ()

    def open(self) -> Collection:
        """The collection; read once in each process."""
        return _read(self.source) if self.source else _assemble(self.columns)


def parcel(settings: Settings) -> Parcel:
    """Make the collection of an experiment ready to be sent."""
    whole = settings.collection
    if settings.source is not None:
        # A worker may have been started in another folder, and may have read a file of this name
        # when something else was in it.
        source = {key: _absolute(value) for key, value in settings.source.items()}
        return Parcel(json.dumps({"fingerprint": whole.fingerprint(), **source}))
    documents = list(whole.documents.pairs())
    qrels = whole.qrels
    names = [qrels.queries[at] for at in qrels.query_of_row().tolist()]
    fields = {key: tuple(value) for key, value in whole.queries.fields.items()}
    return Parcel(
        "",
        (
            whole.name,
            [one for one, _ in documents],
            [text for _, text in documents],
            (whole.queries.ids, whole.queries.texts, fields),
            (names, qrels.docs.tolist(), qrels.grades.tolist()),
        ),
    )


def _absolute(value: Any) -> Any:
    """Paths of files that are there, from the root; all else as it is."""
    if isinstance(value, list | tuple):
        return [_absolute(one) for one in value]
    return str(Path(value).absolute()) if isinstance(value, str) and Path(value).exists() else value


@lru_cache(maxsize=1)
def _read(source: str) -> Collection:
    from heldout.data.collection_files import read_collection

    settings = json.loads(source)
    del settings["fingerprint"]
    return read_collection(settings.pop("source"), **settings)


def _assemble(columns: tuple[Any, ...]) -> Collection:
    name, ids, texts, queries, judged = columns
    return Collection(
        documents_of(ids, texts), Queries(*queries), Qrels.from_columns(*judged), name=name
    )

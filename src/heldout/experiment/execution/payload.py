"""A payload: all that another process needs to do tasks; sent once, not with every task."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass, field
from functools import lru_cache
from typing import TYPE_CHECKING, Any

import numpy as np

from heldout.errors import InputError
from heldout.experiment.execution.shared_data import dump_beside, load_beside
from heldout.experiment.manifest import versions_of
from heldout.experiment.systems.base import Context

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from heldout.experiment.execution.shared_data import SentRankingData
    from heldout.experiment.settings import Settings
    from heldout.retrieve.shards import AnyIndex

__all__ = ["Payload", "pack_payload"]


@dataclass(frozen=True, slots=True)
class Payload:
    """The settings of an experiment, with what they need, on their way to another process.

    Parameters
    ----------
    digest
        Of the content; payloads with the same one are opened once in each process.
    content
        Bytes as an array, which joblib puts on the disk once and maps into every process.
    """

    digest: str
    content: NDArray[np.uint8] = field(compare=False, repr=False)

    def open(self) -> Context[Any]:
        """What tasks need; the same object whenever it is asked for in a process."""
        return _opened(self)


@dataclass(frozen=True, slots=True, eq=False)
class _Contents:
    """What is in a payload.

    Parameters
    ----------
    versions
        Of all that results depend on: they must be the same there.
    settings
        Pickled, with names in place of what is in the shared data.
    shared
        What is large: collection and index; None: the data are among the settings.
    sources
        Of each system the hash of the file that it is loaded from; None: it is in the settings.
    """

    versions: dict[str, str]
    settings: bytes
    shared: SentRankingData | None
    sources: tuple[str | None, ...]


def pack_payload(settings: Settings, index: AnyIndex | None, *, sent: bool = False) -> Payload:
    """Make a payload.

    Parameters
    ----------
    index
        The index, if built-in models are to be ranked there.
    sent
        Send collection and index even if they stand in files: nobody else sees those.
    """
    sources = tuple(one.source() for one in settings.systems)
    shared = settings.shared_data(index, sent=sent)
    try:
        described = dump_beside(settings.sendable(), settings.shared_parts())
        contents = _Contents(versions_of(settings), described, shared, sources)
        content = dump_beside(contents, {})
    except Exception as error:
        # Anything can be in a user's object, and any of it can refuse.
        raise InputError(
            f"the systems or the data cannot be sent to other processes "
            f"({type(error).__name__}: {error}): take 1 worker, or name the system by its file "
            "(ranker.py:rank)"
        ) from error
    digest = hashlib.sha256(content).hexdigest()
    return Payload(digest, np.frombuffer(content, np.uint8))


@lru_cache(maxsize=1)
def _opened(payload: Payload) -> Context[Any]:
    content = payload.content.tobytes()
    if hashlib.sha256(content).hexdigest() != payload.digest:
        raise InputError("the settings did not arrive as they were sent")
    contents: _Contents = load_beside(content, {})
    parts, index = ({}, None) if contents.shared is None else contents.shared.open()
    settings: Settings = load_beside(contents.settings, parts)
    _refuse_other_versions(contents.versions, versions_of(settings))
    return Context(settings.restored(contents.sources), index)


def _refuse_other_versions(there: dict[str, str], here: dict[str, str]) -> None:
    for name, wanted in there.items():
        if here.get(name) != wanted:
            raise InputError(
                f"a worker has {name} {here.get(name, 'not at all')}, the run was started with "
                f"{wanted}: results could differ; install the same version there"
            )

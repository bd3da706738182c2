"""A kit: all that another process needs to set up a workshop; sent once, not with every task."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass, field, replace
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from heldout.errors import InputError
from heldout.experiment.estimator_settings import EstimatorSettings
from heldout.experiment.estimator_systems import EstimatorSystem
from heldout.experiment.jobs import Workshop
from heldout.experiment.manifest import versions_of
from heldout.experiment.shared import (
    CollectionParcel,
    IndexParcel,
    dump_beside,
    load_beside,
    pack_collection,
    pack_index,
    pack_questions,
    shared_parts,
)
from heldout.experiment.system_settings import load_reference
from heldout.experiment.systems import CallSystem, RunSystem
from heldout.measure.names import add_family, find_family

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from heldout.experiment.config import Settings
    from heldout.experiment.systems import System
    from heldout.retrieve.shards import AnyIndex

__all__ = ["Kit", "pack_kit"]


@dataclass(frozen=True, slots=True)
class Kit:
    """The settings of an experiment, with what they need, on their way to another process.

    Parameters
    ----------
    digest
        Of the content; kits with the same one are opened once in each process.
    content
        Bytes as an array, which joblib puts on the disk once and maps into every process.
    """

    digest: str
    content: NDArray[np.uint8] = field(compare=False, repr=False)

    def open(self) -> Workshop:
        """Set up the workshop, or give the one that stands here already."""
        return _opened(self)


@dataclass(frozen=True, slots=True, eq=False)
class _Contents:
    """What is in a kit.

    Parameters
    ----------
    versions
        Of all that results depend on: they must be the same there.
    settings
        Pickled, with names in place of the collection.
    collection, index
        The collection (None: the data are among the settings), and the index, if one is needed.
    sources
        Of each system the hash of the file that it is loaded from; None: it is in the settings.
    families
        Measures that the user has defined.
    """

    versions: dict[str, str]
    settings: bytes
    collection: CollectionParcel | None
    index: IndexParcel | None
    sources: tuple[str | None, ...]
    families: tuple[Any, ...] = ()


def pack_kit(
    settings: Settings | EstimatorSettings, index: AnyIndex | None, *, sent: bool = False
) -> Kit:
    """Make a kit.

    Parameters
    ----------
    index
        The index, if built-in models are to be ranked there.
    sent
        Send collection and index even if they stand in files: nobody else sees those.
    """
    sources = tuple(_source(one) for one in settings.systems)
    fields: dict[str, Any] = {"systems": tuple(map(_sendable, settings.systems))}
    collection, box = None, None
    families: tuple[Any, ...] = ()
    parts: dict[str, Any] = {}
    if not isinstance(settings, EstimatorSettings):
        box = None if index is None else pack_index(index, settings.index, sent=sent)
        if box is not None and not any(isinstance(one, CallSystem) for one in settings.systems):
            collection = pack_questions(settings.collection)
        else:
            collection = pack_collection(settings.collection, settings.source, sent=sent)
        parts = shared_parts(settings.collection)
        fields["index"] = None
        families = _own_families(settings)
    try:
        described = dump_beside(replace(settings, **fields), parts)
        contents = _Contents(versions_of(settings), described, collection, box, sources, families)
        content = dump_beside(contents, {})
    except Exception as error:
        # Anything can be in a user's object, and any of it can refuse.
        raise InputError(
            f"the systems or the data cannot be sent to other processes "
            f"({type(error).__name__}: {error}): take 1 worker, or name the system by its file "
            "(ranker.py:rank)"
        ) from error
    digest = hashlib.sha256(content).hexdigest()
    return Kit(digest, np.frombuffer(content, np.uint8))


def _own_families(settings: Settings) -> tuple[Any, ...]:
    wanted = {one.definition.name: one.definition for one in settings.measures}
    wanted[settings.tune_for.definition.name] = settings.tune_for.definition
    return tuple(one for one in wanted.values() if hasattr(one.compute, "own"))


def _source(system: System) -> str | None:
    if isinstance(system, EstimatorSystem):
        return system.source_hash() if system.references else None
    if isinstance(system, CallSystem):
        return system.source_hash() if system.reference else None
    return None


def _sendable(system: System) -> System:
    """A system that another process can be sent: what stands in a file is loaded there."""
    if isinstance(system, EstimatorSystem):
        return system.without_estimator()
    if isinstance(system, CallSystem) and system.reference:
        return replace(system, call=None, home=str(Path(system.home).resolve()))
    if isinstance(system, RunSystem):
        return replace(system, runs=())  # runs are measured where the files are
    return system


@lru_cache(maxsize=1)
def _opened(kit: Kit) -> Workshop:
    content = kit.content.tobytes()
    if hashlib.sha256(content).hexdigest() != kit.digest:
        raise InputError("the settings did not arrive as they were sent")
    contents: _Contents = load_beside(content, {})
    for family in contents.families:
        if find_family(family.name) is None:
            add_family(family)
    index = None if contents.index is None else contents.index.open()
    parts = {} if contents.collection is None else shared_parts(contents.collection.open(index))
    settings = load_beside(contents.settings, parts)
    _refuse_other_versions(contents.versions, versions_of(settings))
    loaded = (
        _loaded(system, source)
        for system, source in zip(settings.systems, contents.sources, strict=True)
    )
    whole = replace(settings, systems=tuple(loaded))
    return Workshop(whole, index)


def _refuse_other_versions(there: dict[str, str], here: dict[str, str]) -> None:
    for name, wanted in there.items():
        if here.get(name) != wanted:
            raise InputError(
                f"a worker has {name} {here.get(name, 'not at all')}, the run was started with "
                f"{wanted}: results could differ; install the same version there"
            )


def _loaded(system: System, source: str | None) -> System:
    """A system as it was before it was sent."""
    if source is None:
        return system
    if isinstance(system, EstimatorSystem):
        whole: System = replace(system, estimator=system.made(source))
        found = system.source_hash()
    elif isinstance(system, CallSystem):
        call = load_reference(system.reference, Path(system.home), system=system.name)
        whole = replace(system, call=call)
        found = whole.source_hash()
    else:
        raise TypeError(system.name)
    if found != source:
        raise InputError(f"{system.name}: its source is another one where a worker runs")
    return whole

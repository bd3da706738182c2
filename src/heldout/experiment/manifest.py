"""The manifest: everything that results depend on, so that equal results can be recognised.

`Manifest` and the types in it describe ``manifest.json``, which is written here.
"""

from __future__ import annotations

import hashlib
import json
import platform
from functools import cache
from importlib.metadata import PackageNotFoundError, version
from typing import (
    TYPE_CHECKING,
    Final,
    Literal,
    NotRequired,
    TypeAlias,
    TypedDict,
    cast,
)

from heldout import __version__
from heldout.as_json import plain

if TYPE_CHECKING:
    from collections.abc import Iterable

    from heldout.experiment.own_measures import OwnMeasure
    from heldout.experiment.settings import Settings
    from heldout.notes import Note
    from heldout.retrieve.index import Index

__all__ = [
    "MANIFEST",
    "TASKS",
    "AxisRecord",
    "CollectionSizes",
    "DataSizes",
    "Fingerprints",
    "MachineSettings",
    "Manifest",
    "NoteRecord",
    "SettingsRecord",
    "SystemRecord",
    "Timings",
    "experiment_key",
    "make_manifest",
    "note_records",
    "versions_of",
]

MANIFEST: Final = "manifest.json"
"""Written last: a folder that has it is complete."""
TASKS: Final = ("ranking", "classification", "regression")

Description: TypeAlias = object
"""Nested plain values (texts, numbers, lists, dictionaries) that are only compared and shown."""


class NoteRecord(TypedDict):
    """A note."""

    code: str
    text: str
    severity: Literal["warning", "info"]
    count: int | None


class AxisRecord(TypedDict):
    """One parameter of the space of a search."""

    values: list[Description]
    scale: NotRequired[str]


class SystemRecord(TypedDict):
    """A system: the parameter settings of a grid or the space of a search, and what it runs.

    It changes when the system does, so that results of another system are not taken for its own.
    """

    name: str
    points: list[dict[str, Description]]
    parameters: NotRequired[dict[str, Description]]
    # A built-in model, and its name with parameters at each point.
    model: NotRequired[str]
    values: NotRequired[list[str]]
    # Run files: a hash of each.
    runs: NotRequired[list[str]]
    # A fusion: its method, and its parts, run files with a hash.
    fusion: NotRequired[str]
    parts: NotRequired[list[str]]
    # Vectors: hashes of those of the documents and of the queries.
    vectors: NotRequired[list[str]]
    # The first stage of a reranker.
    first: NotRequired[str]
    # What is called, and a hash of its source.
    function: NotRequired[str]
    object: NotRequired[str]
    transformer: NotRequired[str]
    comparable: NotRequired[bool | None]
    learns: NotRequired[bool]
    source: NotRequired[str]
    # An estimator: its class and parameters, as `systems.descriptions.described` gives them.
    estimator: NotRequired[Description]
    grid: NotRequired[list[Description]]
    references: NotRequired[list[str]]
    # A search by Optuna.
    search: NotRequired[str]
    trials: NotRequired[int]
    space: NotRequired[dict[str, AxisRecord]]


class CollectionSizes(TypedDict):
    """The collection of an experiment."""

    name: str
    documents: int
    queries: int
    judgements: int


class DataSizes(TypedDict):
    """The rows of an experiment with estimators."""

    name: str
    rows: int
    groups: int | None
    classes: list[str]


class MachineSettings(TypedDict):
    """Judgements of a machine beside the human ones, and which of them parameters were tuned on."""

    name: str
    queries: int
    judgements: int
    human_queries: int
    tune_on: Literal["human", "machine"]
    assume_random: bool


class SettingsRecord(TypedDict):
    """The settings of an experiment; those of one task only are not required."""

    task: str
    systems: list[SystemRecord]
    by: Literal["query", "document", "both", "instance"]
    plan: str
    plan_in_words: str
    plan_seed: int | None
    splits: int
    measures: list[str]
    tune_for: str
    seed: int
    rule: str
    inner: int | None
    level: float
    baseline: str | None
    collection: NotRequired[CollectionSizes]
    depth: NotRequired[int]
    keep_depth: NotRequired[int]
    estimator: NotRequired[str]
    target_size: NotRequired[int | None]
    replicates: NotRequired[int]
    analyzer: NotRequired[str | None]
    machine: NotRequired[MachineSettings]
    data: NotRequired[DataSizes]
    test_share: NotRequired[float]
    own_measures: NotRequired[list[OwnMeasure]]


class Fingerprints(TypedDict):
    """Fingerprints of the data, the splits and the index."""

    splits: str
    collection: NotRequired[str]
    machine: NotRequired[str]
    data: NotRequired[str]
    index: NotRequired[str | None]


class Manifest(TypedDict):
    """``manifest.json`` without its format and checksums."""

    versions: dict[str, str]
    fingerprints: Fingerprints
    policies: dict[str, str]
    settings: SettingsRecord
    notes: list[NoteRecord]


class Timings(TypedDict, total=False):
    """``timings.json``: the seconds of each task, their sum, and the command that was typed."""

    tasks: dict[str, float]
    total: float
    command: str


def make_manifest(settings: Settings, index: Index | None) -> Manifest:
    """Return versions, fingerprints, policies and settings, as plain values."""
    described: Manifest = {
        "versions": versions_of(settings),
        "fingerprints": settings.fingerprints(index),
        "policies": dict(settings.policies),
        "settings": settings.describe(index),
        "notes": note_records(settings.notes),
    }
    return plain(described)  # type: ignore[no-any-return]


def note_records(notes: Iterable[Note]) -> list[NoteRecord]:
    """Return notes as plain values."""
    return [cast("NoteRecord", note.to_dict()) for note in notes]


def versions_of(settings: Settings) -> dict[str, str]:
    """Return the versions of all packages that the results depend on."""
    found = {"heldout": __version__, "python": platform.python_version()}
    own = sorted({name for system in settings.systems for name in system.PACKAGES})
    for name in (*settings.PACKAGES, *own):
        installed = _version_of(name)
        if installed is not None:
            found[name] = installed
    return found


@cache
def _version_of(package: str) -> str | None:
    """Return the version of a package, if it is installed; reading it takes milliseconds."""
    try:
        return version(package)
    except PackageNotFoundError:
        return None


def experiment_key(manifest: Manifest) -> str:
    """Return a hash of all that results depend on; a journal is resumed only if it is equal."""
    parts = {name: manifest[name] for name in ("versions", "fingerprints", "settings")}
    text = json.dumps(parts, sort_keys=True, ensure_ascii=True)
    return hashlib.sha256(text.encode()).hexdigest()

"""The manifest: everything that results depend on, so that equal results can be recognised.

`Manifest` and the types in it describe ``manifest.json``, which is written and read here.
"""

from __future__ import annotations

import hashlib
import json
import platform
from functools import cache
from importlib.metadata import PackageNotFoundError, version
from typing import (
    TYPE_CHECKING,
    Annotated,
    Final,
    Literal,
    NotRequired,
    TypeAlias,
    cast,
)

from pydantic import Field, with_config
from typing_extensions import TypedDict  # pydantic needs it before Python 3.12

from heldout import __version__
from heldout.as_json import plain
from heldout.errors import InputError
from heldout.experiment.own_measures import OwnMeasure  # noqa: TC001 - pydantic needs it
from heldout.experiment.typed_json import (
    WRITTEN,
    Count,
    FiniteNumber,
    Share,
    read_into,
    refuse_edited,
)

if TYPE_CHECKING:
    from collections.abc import Iterable

    from heldout.experiment.settings import Settings
    from heldout.notes import Note
    from heldout.retrieve.shards import AnyIndex

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
    "read_manifest",
    "versions_of",
]

MANIFEST: Final = "manifest.json"
"""Written last: a folder that has it is complete."""
TASKS: Final = ("ranking", "classification", "regression")

Description: TypeAlias = object
"""Nested plain values (texts, numbers, lists, dictionaries) that are only compared and shown."""


@with_config(WRITTEN)
class NoteRecord(TypedDict):
    """A note."""

    code: str
    text: str
    severity: Literal["warning", "info"]
    count: int | None


@with_config(WRITTEN)
class AxisRecord(TypedDict):
    """One parameter of the space of a search."""

    values: list[Description]
    scale: NotRequired[str]


@with_config(WRITTEN)
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
    trials: NotRequired[Count]
    space: NotRequired[dict[str, AxisRecord]]


@with_config(WRITTEN)
class CollectionSizes(TypedDict):
    """The collection of an experiment."""

    name: str
    documents: Count
    queries: Count
    judgements: Count


@with_config(WRITTEN)
class DataSizes(TypedDict):
    """The rows of an experiment with estimators."""

    name: str
    rows: Count
    groups: Count | None
    classes: list[str]


@with_config(WRITTEN)
class MachineSettings(TypedDict):
    """Judgements of a machine beside the human ones, and which of them parameters were tuned on."""

    name: str
    queries: Count
    judgements: Count
    human_queries: Count
    tune_on: Literal["human", "machine"]
    assume_random: bool


@with_config(WRITTEN)
class SettingsRecord(TypedDict):
    """The settings of an experiment; those of one task only are not required (see `_OF_TASK`)."""

    task: str
    systems: list[SystemRecord]
    by: Literal["query", "document", "both", "instance"]
    plan: str
    plan_seed: Count | None
    splits: Count
    measures: Annotated[list[str], Field(min_length=1)]
    tune_for: str
    seed: Count
    rule: str
    inner: Count | None
    level: Share
    baseline: str | None
    collection: NotRequired[CollectionSizes]
    depth: NotRequired[Count]
    keep_depth: NotRequired[Count]
    estimator: NotRequired[str]
    target_size: NotRequired[Count | None]
    replicates: NotRequired[Count]
    analyzer: NotRequired[str | None]
    machine: NotRequired[MachineSettings]
    data: NotRequired[DataSizes]
    test_share: NotRequired[FiniteNumber]
    own_measures: NotRequired[list[OwnMeasure]]


@with_config(WRITTEN)
class Fingerprints(TypedDict):
    """Fingerprints of the data, the splits and the index."""

    splits: str
    collection: NotRequired[str]
    machine: NotRequired[str]
    data: NotRequired[str]
    index: NotRequired[str | None]


_OF_TASK: Final = {
    "ranking": ("collection", "depth", "estimator", "target_size", "replicates", "analyzer"),
    "classification": ("data", "test_share"),
    "regression": ("data", "test_share"),
}


@with_config(WRITTEN)
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


def make_manifest(settings: Settings, index: AnyIndex | None) -> Manifest:
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


def read_manifest(content: object, place: str) -> Manifest:
    """Read a manifest.

    Parameters
    ----------
    content
        The content of the file.
    place
        The folder, for messages.
    """
    settings = content.get("settings") if isinstance(content, dict) else None
    task = settings.get("task") if isinstance(settings, dict) else None
    if task not in TASKS:
        named = "no task" if task is None else f"unknown task {task!r}"
        raise InputError(f"{place}/{MANIFEST}: {named}; was it edited?")
    found = read_into(Manifest, content, place, MANIFEST)
    ranking = task == "ranking"
    data = "collection" if ranking else "data"
    wrong = [] if data in found["fingerprints"] else [f"fingerprints.{data}"]
    wrong += [f"settings.{name}" for name in _OF_TASK[task] if name not in found["settings"]]
    wrong += ["settings.by"] if ranking == (found["settings"]["by"] == "instance") else []
    if wrong:
        refuse_edited(place, MANIFEST, wrong)
    return found


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

"""The manifest: everything that results depend on, so that equal results can be recognised."""

from __future__ import annotations

import hashlib
import json
import platform
from functools import cache
from importlib.metadata import PackageNotFoundError, version
from typing import TYPE_CHECKING, Any, Final, TypeAlias

from heldout import __version__
from heldout.as_json import plain

if TYPE_CHECKING:
    from collections.abc import Iterable

    from heldout.experiment.settings import Settings
    from heldout.notes import Note
    from heldout.retrieve.index import Index

__all__ = [
    "MANIFEST",
    "TASKS",
    "MachineSettings",
    "Manifest",
    "SettingsRecord",
    "Timings",
    "experiment_key",
    "make_manifest",
    "note_records",
    "versions_of",
]

MANIFEST: Final = "manifest.json"
"""Written last: a folder that has it is complete."""
TASKS: Final = ("ranking", "classification", "regression")

Manifest: TypeAlias = dict[str, Any]
"""``manifest.json`` without its format and checksums: versions, fingerprints, policies, settings
and notes, as plain values."""
SettingsRecord: TypeAlias = dict[str, Any]
"""The settings in it; those of one task only are not there for others."""
MachineSettings: TypeAlias = dict[str, Any]
"""Judgements of a machine beside the human ones, among the settings."""
Timings: TypeAlias = dict[str, Any]
"""``timings.json``: the seconds of each task, their sum, and the command that was typed."""


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


def note_records(notes: Iterable[Note]) -> list[dict[str, Any]]:
    """Return notes as plain values."""
    return [note.to_dict() for note in notes]


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

"""The manifest: what a result depends on, so that it can be told whether two are the same."""

from __future__ import annotations

import hashlib
import json
import platform
from importlib.metadata import PackageNotFoundError, version
from typing import TYPE_CHECKING, Any

from heldout import __version__
from heldout.as_json import plain
from heldout.infer.levels import alpha_of, level_of

if TYPE_CHECKING:
    from heldout.experiment.settings import Settings
    from heldout.retrieve.shards import AnyIndex

__all__ = ["experiment_key", "make_manifest", "read_old_names", "versions_of"]


def make_manifest(settings: Settings, index: AnyIndex | None) -> dict[str, Any]:
    """Versions, fingerprints, policies and settings, as plain values."""
    described = {
        "versions": versions_of(settings),
        "fingerprints": settings.fingerprints(index),
        "policies": dict(settings.POLICIES),
        "settings": settings.describe(index),
        "notes": [note.to_dict() for note in settings.notes],
    }
    return plain(described)  # type: ignore[no-any-return]


def read_old_names(manifest: dict[str, Any]) -> None:
    """Give the settings of a manifest their names of today: 0.1 wrote alpha for 1 - level."""
    settings = manifest.get("settings")
    if isinstance(settings, dict) and isinstance(settings.get("alpha"), float):
        settings["level"] = level_of(settings.pop("alpha"))


def versions_of(settings: Settings) -> dict[str, str]:
    """The versions of all that the results of an experiment depend on."""
    found = {"heldout": __version__, "python": platform.python_version()}
    own = sorted({name for system in settings.systems for name in system.PACKAGES})
    for name in (*settings.PACKAGES, *own):
        try:
            found[name] = version(name)
        except PackageNotFoundError:
            continue
    return found


def experiment_key(manifest: dict[str, Any]) -> str:
    """A name for all that the results depend on; a journal goes on only under the same one."""
    parts = {key: manifest[key] for key in ("versions", "fingerprints", "settings")}
    # As 0.1 wrote them, so that what it has begun can be finished.
    settings = dict(parts["settings"])
    settings["alpha"] = alpha_of(settings.pop("level"))
    parts["settings"] = settings
    text = json.dumps(parts, sort_keys=True, ensure_ascii=True)
    return hashlib.sha256(text.encode()).hexdigest()

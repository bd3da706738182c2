"""The manifest: what a result depends on, so that it can be told whether two are the same."""

from __future__ import annotations

import hashlib
import json
import math
import platform
from importlib.metadata import PackageNotFoundError, version
from typing import TYPE_CHECKING, Any

import numpy as np

from heldout import __version__

if TYPE_CHECKING:
    from heldout.experiment.settings import Settings
    from heldout.retrieve.shards import AnyIndex

__all__ = ["experiment_key", "make_manifest", "plain", "versions_of"]


def plain(value: Any) -> Any:
    """A value as JSON has it: what is undefined is null."""
    if isinstance(value, float):
        return value if math.isfinite(value) else None
    if isinstance(value, np.generic):
        return plain(value.item())
    if isinstance(value, dict):
        return {key: plain(one) for key, one in value.items()}
    if isinstance(value, list | tuple):
        return [plain(one) for one in value]
    return value


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
    text = json.dumps(parts, sort_keys=True, ensure_ascii=True)
    return hashlib.sha256(text.encode()).hexdigest()

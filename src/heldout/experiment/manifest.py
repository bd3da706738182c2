"""The manifest: what a result depends on, so that it can be told whether two are the same."""

from __future__ import annotations

import hashlib
import json
import platform
from importlib.metadata import PackageNotFoundError, version
from typing import TYPE_CHECKING, Any, Final

from heldout import __version__
from heldout.data.run import Run
from heldout.experiment.summary import plain

if TYPE_CHECKING:
    from heldout.experiment.config import Settings
    from heldout.retrieve.index import Index

__all__ = ["experiment_key", "make_manifest"]

_PACKAGES: Final = ("numpy", "scipy", "numba", "polars", "pystemmer")
_POLICIES: Final = {
    "ties": Run.__dataclass_fields__["ties"].default,
    "queries without a relevant document": "left out, and counted",
    "judged queries without a ranked list": "count 0",
    "a query held out several times": "its mean counts once",
}


def make_manifest(settings: Settings, index: Index | None) -> dict[str, Any]:
    """Versions, fingerprints, policies and settings, as plain values."""
    described = {
        "versions": _versions(),
        "fingerprints": {
            "collection": settings.collection.fingerprint(),
            "splits": settings.splits.fingerprint,
            "index": None if index is None else index.fingerprint,
        },
        "policies": dict(_POLICIES),
        "settings": _settings(settings, index),
        "notes": list(settings.notes),
    }
    return plain(described)  # type: ignore[no-any-return]


def _versions() -> dict[str, str]:
    found = {"heldout": __version__, "python": platform.python_version()}
    for name in _PACKAGES:
        try:
            found[name] = version(name)
        except PackageNotFoundError:
            continue
    return found


def _settings(settings: Settings, index: Index | None) -> dict[str, Any]:
    collection = settings.collection
    return {
        "collection": {
            "name": collection.name,
            "documents": len(collection.documents),
            "queries": len(collection.queries),
            "judgements": len(collection.qrels),
        },
        "systems": [one.describe() for one in settings.systems],
        "by": settings.by,
        "plan": repr(settings.splits.plan),
        "plan_seed": settings.splits.seed,
        "splits": len(settings.splits),
        "measures": [str(one) for one in settings.measures],
        "tune_for": str(settings.tune_for),
        "seed": settings.seed,
        "depth": settings.depth,
        "rule": settings.rule,
        "inner": settings.inner,
        "estimator": settings.estimator,
        "target_size": settings.target_size,
        "replicates": settings.replicates,
        "alpha": settings.alpha,
        "baseline": settings.baseline,
        "analyzer": None if index is None else index.analyzer.signature(),
    }


def experiment_key(manifest: dict[str, Any]) -> str:
    """A name for all that the results depend on; a journal goes on only under the same one."""
    parts = {key: manifest[key] for key in ("versions", "fingerprints", "settings")}
    text = json.dumps(parts, sort_keys=True, ensure_ascii=True)
    return hashlib.sha256(text.encode()).hexdigest()

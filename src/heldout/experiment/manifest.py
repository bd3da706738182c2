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
    from heldout.experiment.estimator_settings import EstimatorSettings
    from heldout.retrieve.shards import AnyIndex

__all__ = ["estimator_manifest", "experiment_key", "make_manifest", "versions_of"]

_PACKAGES: Final = ("numpy", "scipy", "numba", "polars", "pystemmer")
_ESTIMATOR_PACKAGES: Final = ("numpy", "scipy", "scikit-learn", "joblib", "polars")
_ESTIMATOR_POLICIES: Final = {
    "threads of a fit": "1",
    "an estimator without a seed": "its random_state follows from seed, system and split",
    "a point that fails on an inner fold": "is not chosen",
}
_POLICIES: Final = {
    "ties": Run.__dataclass_fields__["ties"].default,
    "queries without a relevant document": "left out, and counted",
    "judged queries without a ranked list": "count 0",
    "a query held out several times": "its mean counts once",
}


def make_manifest(settings: Settings, index: AnyIndex | None) -> dict[str, Any]:
    """Versions, fingerprints, policies and settings, as plain values."""
    described = {
        "versions": versions_of(settings),
        "fingerprints": {
            "collection": settings.collection.fingerprint(),
            "splits": settings.splits.fingerprint,
            "index": None if index is None else index.fingerprint,
        },
        "policies": dict(_POLICIES),
        "settings": _settings(settings, index),
        "notes": [note.to_dict() for note in settings.notes],
    }
    return plain(described)  # type: ignore[no-any-return]


def estimator_manifest(settings: EstimatorSettings) -> dict[str, Any]:
    """The same for an experiment with estimators."""
    described = {
        "versions": versions_of(settings),
        "fingerprints": {
            "data": settings.data.fingerprint(),
            "splits": settings.splits.fingerprint,
        },
        "policies": dict(_ESTIMATOR_POLICIES),
        "settings": _estimator_settings(settings),
        "notes": [note.to_dict() for note in settings.notes],
    }
    return plain(described)  # type: ignore[no-any-return]


def _estimator_settings(settings: EstimatorSettings) -> dict[str, Any]:
    data = settings.data
    shares = [one.n_test / one.n_train for one in settings.splits]
    return {
        "task": settings.task,
        "data": {
            "name": data.name,
            "rows": len(data),
            "groups": len(set(data.groups)) or None,
            "classes": list(data.classes),
        },
        "systems": [one.describe() for one in settings.systems],
        "by": settings.by,
        **_plan(settings),
        "test_share": sum(shares) / len(shares),
        "inner": settings.inner,
        "alpha": settings.alpha,
        "baseline": settings.baseline,
    }


def _plan(settings: Settings | EstimatorSettings) -> dict[str, Any]:
    return {
        "plan": repr(settings.splits.plan),
        "plan_seed": settings.splits.seed,
        "splits": len(settings.splits),
        "measures": [str(one) for one in settings.measures],
        "tune_for": str(settings.tune_for),
        "seed": settings.seed,
        "rule": settings.rule,
    }


def versions_of(settings: Settings | EstimatorSettings) -> dict[str, str]:
    """The versions of all that the results of an experiment depend on."""
    packages = _PACKAGES if settings.by != "instance" else _ESTIMATOR_PACKAGES
    found = {"heldout": __version__, "python": platform.python_version()}
    for name in packages:
        try:
            found[name] = version(name)
        except PackageNotFoundError:
            continue
    return found


def _settings(settings: Settings, index: AnyIndex | None) -> dict[str, Any]:
    collection = settings.collection
    return {
        "task": "ranking",
        "collection": {
            "name": collection.name,
            "documents": len(collection.documents),
            "queries": len(collection.queries),
            "judgements": len(collection.qrels),
        },
        "systems": [one.describe() for one in settings.systems],
        "by": settings.by,
        **_plan(settings),
        "depth": settings.depth,
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

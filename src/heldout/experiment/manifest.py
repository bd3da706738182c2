"""The manifest: everything that results depend on, so that equal results can be recognised."""

from __future__ import annotations

import hashlib
import inspect
import json
import os
import platform
from dataclasses import fields
from functools import cache
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, TypeAlias

from heldout import __version__
from heldout.as_json import plain
from heldout.data.run import Run
from heldout.errors import InputError, MeasureError
from heldout.measure.base import DEFINITIONS, JUDGED_ONLY
from heldout.resample.plan import short
from heldout.resample.two_way import Crossed

if TYPE_CHECKING:
    from collections.abc import Iterable

    from heldout.experiment.experiment import Experiment
    from heldout.experiment.prepare import Prepared, PreparedPredictions, PreparedRankings
    from heldout.measure.base import Measure
    from heldout.resample.plan import Plan

MANIFEST: Final = "manifest.json"  # written last: a folder that has it is complete

Manifest: TypeAlias = dict[str, Any]
"""``manifest.json`` without its format and checksums, as plain values."""
Timings: TypeAlias = dict[str, Any]
"""``timings.json``: the seconds of each item, their sum, and the command that was typed."""


_FIELDS: Final = ("seed", "rule", "inner", "level", "baseline")
_FIELDS_OF_RANKINGS: Final = ("depth", "keep_depth", "method", "target_size", "replicates")
_PACKAGES: Final = {
    "ranking": ("numpy", "scipy", "numba", "polars", "pystemmer"),
    "predictions": ("numpy", "scipy", "scikit-learn", "joblib", "polars"),
}
"""Packages whose versions can change results."""
_POLICIES: Final = {
    "ranking": {
        "ties": str(Run.__dataclass_fields__["ties"].default),
        "queries without a relevant document": "left out, and counted",
        "judged queries without a ranked list": "count 0",
        "a query held out several times": "its mean counts once",
    },
    "predictions": {
        "threads of a fit": "1",
        "an estimator without a seed": "its random_state follows from seed, system and split",
        "a point that fails on an inner fold": "is not chosen",
    },
}
"""How units, ties and failures are treated."""


def make_manifest(prepared: Any) -> Manifest:
    """Return versions, fingerprints, policies and settings, as plain values."""
    from heldout.experiment.systems.base import with_parts  # not needed to read results

    experiment, splits, measures = prepared.experiment, prepared.splits, prepared.measures
    ranks = experiment.task == "ranking"
    kind = "ranking" if ranks else "predictions"
    searches = {system.search.how for system in with_parts(prepared.systems)} & {"optuna"}
    packages = ("heldout", "python", *_PACKAGES[kind], *searches)
    versions = {name: installed(name) for name in packages}
    own = _describe_own([*measures, prepared.tune_for])
    manifest: Manifest = {
        "versions": {name: known for name, known in versions.items() if known is not None},
        "fingerprints": {"splits": splits.fingerprint},
        "policies": dict(_POLICIES[kind]),
        "settings": {
            "task": experiment.task,
            "systems": [system.describe() for system in prepared.systems],
            "by": experiment.by,
            "plan": _plan_record(splits.plan),
            "runs": splits.runs,
            "plan_in_words": splits.words(),
            "plan_seed": splits.seed,
            "splits": len(splits),
            "measures": list(map(str, measures)),
            "tune_for": str(prepared.tune_for),
            **{name: getattr(experiment, name) for name in _FIELDS},
            **({"own_measures": own} if own else {}),
        },
        "notes": [note.to_dict() for note in prepared.notes],
    }
    (_add_rankings if ranks else _add_predictions)(manifest, prepared)
    return plain(manifest)  # type: ignore[no-any-return]


def _add_rankings(manifest: Manifest, prepared: PreparedRankings) -> None:
    experiment, collection, index = prepared.experiment, prepared.collection, prepared.data.index
    manifest["fingerprints"] |= {
        "collection": collection.fingerprint(),
        "index": None if index is None else index.fingerprint,
    }
    manifest["settings"] |= {
        "collection": {
            "name": collection.name,
            "documents": len(collection.documents),
            "queries": len(collection.queries),
            "judgements": len(collection.qrels),
        },
        **{name: getattr(experiment, name) for name in _FIELDS_OF_RANKINGS},
        "analyzer": None if index is None else index.analyzer.signature(),
    }
    if prepared.judges is not None:
        judged = prepared.judges.judged
        manifest["fingerprints"]["machine"] = judged.machine.fingerprint()
        left_out = "count 0; left out of tuning"  # no query is left out by one of two judges
        manifest["policies"]["queries without a relevant document"] = left_out
        manifest["settings"]["machine"] = {
            "name": judged.name,
            "queries": len(judged.machine.queries),
            "judgements": len(judged.machine),
            "human_queries": len(judged.human.queries),
            "tune_on": experiment.tune_on,
            "assume_random": judged.assume_random,
        }


def _add_predictions(manifest: Manifest, prepared: PreparedPredictions) -> None:
    from heldout.experiment.prepare import INNER  # not needed to read results

    data, shares = prepared.data, [split.n_test / split.n_train for split in prepared.splits]
    manifest["fingerprints"]["data"] = data.fingerprint()
    manifest["settings"] |= {
        "data": {
            "name": data.name,
            "rows": len(data),
            "groups": len(set(data.groups)) or None,
            "classes": list(data.classes),
        },
        "test_share": sum(shares) / len(shares),
        "by": "instance",
        "inner": prepared.experiment.inner or INNER,
    }


def _plan_record(plan: Plan | Crossed) -> dict[str, Any]:
    """Return the fields of a plan; tables and files are shown short: the splits are hashed."""
    if isinstance(plan, Crossed):
        sides = {"queries": plan.queries, "documents": plan.documents}
        return {"kind": "crossed", **{name: _plan_record(side) for name, side in sides.items()}}
    record: dict[str, Any] = {"kind": plan.kind}
    for field in fields(plan):  # type: ignore[arg-type]
        value = getattr(plan, field.name)
        if isinstance(value, os.PathLike):
            value = Path(value).name  # without its folder: the same on every machine
        known = value is None or isinstance(value, str | int | float)
        record[field.name] = value if known else short(value)
    return record


def experiment_key(manifest: Manifest) -> str:
    """Return a hash of all that results depend on; work is resumed only if it is equal."""
    parts = {name: manifest[name] for name in ("versions", "fingerprints", "settings")}
    text = json.dumps(parts, sort_keys=True, ensure_ascii=True)
    return hashlib.sha256(text.encode()).hexdigest()


@cache
def installed(package: str) -> str | None:
    """Return the version of a package, if it is installed; reading it takes milliseconds."""
    if package in {"heldout", "python"}:
        return __version__ if package == "heldout" else platform.python_version()
    try:
        return version(package)
    except PackageNotFoundError:
        return None


# Workers


def reopened(experiment: Experiment, manifest: Manifest) -> Prepared:
    """Prepare an experiment in a worker; refuse other versions, data and code than the run has."""
    for name, wanted in manifest["versions"].items():
        if installed(name) != wanted:
            raise InputError(
                f"a worker has {name} {installed(name) or '(not installed)'}, the run was started "
                f"with {wanted}: results could differ; install the same version there"
            )
    prepared = experiment.check().opened()
    here = _hashes(make_manifest(prepared))
    for what, wanted in _hashes(manifest).items():
        # A function that was sent itself has no known source here.
        if wanted and here.get(what) and here[what] != wanted:
            raise InputError(
                f"{what} is different on a worker than where the run was started: all workers must "
                "read the same files"
            )
    return prepared


def _hashes(manifest: Manifest) -> dict[str, Any]:
    """Return the hashes of files, by what they are of."""
    hashes = {f"the {kind}": value for kind, value in manifest["fingerprints"].items()}
    systems = list(manifest["settings"]["systems"])
    for system in systems:  # it grows
        systems += system.get("parts", ())
        for kind, what in (("source", "the source"), ("runs", "a run"), ("vectors", "a vector")):
            hashes[f"{what} of {system['name']}"] = system.get(kind)
    return hashes


# Measures of the user's own: results keep their properties and values, never their code


def _describe_own(measures: Iterable[Measure]) -> list[dict[str, Any]]:
    """Return the user's own among some measures, each once whatever its parameters are."""
    own = {measure.family: measure for measure in measures if measure.definition.own is not None}
    return [
        {
            "name": name,
            "higher_is_better": bool(measure.higher_is_better),
            "bounds": list(map(str, measure.range)),  # texts: JSON has no infinite numbers
            "parameters": {
                parameter.name: parameter.default
                for parameter in measure.definition.parameters
                if parameter.name != JUDGED_ONLY
                and (parameter.default is None or isinstance(parameter.default, str | int | float))
            },
        }
        for name, measure in own.items()
        if ":" not in name  # of scikit-learn, which has it everywhere
    ]


def know_own(manifest: Manifest) -> None:
    """Register the measures of results that are not defined here; they cannot be computed."""
    settings = manifest["settings"]
    for own in settings.get("own_measures", ()):
        from heldout.measure.custom import define_measure  # rarely needed

        known = DEFINITIONS.get((settings["task"], own["name"]))
        if known is None or isinstance(known.own, _Stored):
            low, high = map(float, own["bounds"])
            define_measure(
                _Stored(own["name"], own["parameters"]),
                task=settings["task"],
                bounds=(low, high),
                higher_is_better=own["higher_is_better"],
            )


def is_stored(measure: Measure) -> bool:
    """Return whether only the values of a measure are known, not its function."""
    return isinstance(measure.definition.own, _Stored)


class _Stored:
    """A measure of the user's own, of which only the values are known."""

    def __init__(self, name: str, parameters: dict[str, Any]) -> None:
        self.__name__ = name
        keyword = inspect.Parameter.KEYWORD_ONLY
        self.__signature__ = inspect.Signature(
            [inspect.Parameter(key, keyword, default=value) for key, value in parameters.items()]
        )

    def __call__(self, *_given: object, **_parameters: object) -> float:
        raise MeasureError(
            f"{self.__name__} cannot be computed: results keep the values of a measure of your "
            f"own, not its code; name its file (file.py:{self.__name__}) or use define_measure"
        )

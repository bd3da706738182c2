"""Measures of the user's own in results: their properties are kept, never their code."""

from __future__ import annotations

import inspect
import math
import sys
from typing import TYPE_CHECKING, Any

from heldout.errors import MeasureError

if TYPE_CHECKING:
    from collections.abc import Iterable

    from heldout.experiment.manifest import Manifest
    from heldout.measure.base import Measure

__all__ = ["describe_own", "is_stored", "know_own"]


def describe_own(measures: Iterable[Measure]) -> list[dict[str, Any]]:
    """Return the user's own among some measures, each once whatever its parameters are.

    Functions are not kept; an end of the range is None if it is open.
    """
    if "heldout.measure.custom" not in sys.modules:  # there are none
        return []
    from heldout.measure.base import JUDGED_ONLY

    found: dict[str, dict[str, Any]] = {}
    for measure in measures:
        if measure.definition.own is None or ":" in measure.family:  # a colon: of scikit-learn
            continue
        low, high = (float(end) if math.isfinite(end) else None for end in measure.range)
        found[measure.family] = {
            "name": measure.family,
            "higher_is_better": bool(measure.higher_is_better),
            "low": low,
            "high": high,
            "parameters": {
                one.name: one.default
                for one in measure.definition.parameters
                if one.name != JUDGED_ONLY
                and (one.default is None or isinstance(one.default, str | int | float))
            },
        }
    return list(found.values())


def know_own(manifest: Manifest) -> None:
    """Register the measures of results that are not defined in this process.

    Results have their values; such a measure has their direction and range, and cannot be computed.
    """
    settings = manifest["settings"]
    if "own_measures" not in settings:
        return
    from heldout.measure.base import DEFINITIONS
    from heldout.measure.custom import define_measure

    task: Any = settings["task"]
    for one in settings["own_measures"]:
        known = DEFINITIONS.get((task, one["name"]))
        if known is None or _is_placeholder(known.own):
            low, high = one["low"], one["high"]
            define_measure(
                name=one["name"],
                task=task,
                bounds=(-math.inf if low is None else low, math.inf if high is None else high),
                higher_is_better=one["higher_is_better"],
            )(_placeholder(one))


def is_stored(measure: Measure) -> bool:
    """Return whether only the values of a measure are known, not its function."""
    return _is_placeholder(measure.definition.own)


def _placeholder(own: dict[str, Any]) -> Any:
    name = own["name"]

    def compute(*given: object, **parameters: object) -> float:
        del given, parameters
        raise MeasureError(
            f"{name} cannot be computed: results keep the values of a measure of your own, not its "
            f"code; name its file (file.py:{name}) or use define_measure"
        )

    kind = inspect.Parameter.KEYWORD_ONLY
    signature = [
        inspect.Parameter(key, kind, default=value) for key, value in own["parameters"].items()
    ]
    compute.__doc__ = "A measure of the user's own, of which only the values are known."
    compute.__signature__ = inspect.Signature(signature)  # type: ignore[attr-defined]
    compute.is_placeholder = True  # type: ignore[attr-defined]
    return compute


def _is_placeholder(function: Any) -> bool:
    return getattr(function, "is_placeholder", False)

"""Measures: from predictions to one number per unit and per system."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from heldout.lazy import found_in

if TYPE_CHECKING:
    from heldout.measure.base import Measure, Undefined
    from heldout.measure.custom import RankedList, define_measure
    from heldout.measure.evaluation import Evaluation
    from heldout.measure.parse import parse_measure, parse_measures
    from heldout.measure.prediction.curves import roc_curve, roc_hull

_HOMES = {
    "Evaluation": "heldout.measure.evaluation",
    "Measure": "heldout.measure.base",
    "RankedList": "heldout.measure.custom",
    "Undefined": "heldout.measure.base",
    "define_measure": "heldout.measure.custom",
    "parse_measure": "heldout.measure.parse",
    "parse_measures": "heldout.measure.parse",
    "roc_curve": "heldout.measure.prediction.curves",
    "roc_hull": "heldout.measure.prediction.curves",
}

__all__ = [
    "Evaluation",
    "Measure",
    "RankedList",
    "Undefined",
    "define_measure",
    "parse_measure",
    "parse_measures",
    "roc_curve",
    "roc_hull",
]


def __getattr__(name: str) -> Any:
    return found_in(__name__, _HOMES, name)


def __dir__() -> list[str]:
    return list(__all__)

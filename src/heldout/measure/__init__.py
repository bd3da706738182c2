"""Measures: from predictions to one number per unit and per system."""

from __future__ import annotations

from typing import TYPE_CHECKING

from heldout.lazy import lazy_names

if TYPE_CHECKING:
    from heldout.measure.base import Measure as Measure, Undefined as Undefined
    from heldout.measure.custom import RankedList as RankedList, define_measure as define_measure
    from heldout.measure.evaluation import Evaluation as Evaluation
    from heldout.measure.parse import (
        parse_measure as parse_measure,
        parse_measures as parse_measures,
    )
    from heldout.measure.prediction.curves import roc_curve as roc_curve, roc_hull as roc_hull

__all__, __getattr__, __dir__ = lazy_names(
    __name__,
    {
        "base": "Measure Undefined",
        "custom": "RankedList define_measure",
        "evaluation": "Evaluation",
        "parse": "parse_measure parse_measures",
        "prediction.curves": "roc_curve roc_hull",
    },
)

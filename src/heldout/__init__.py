"""Is system B really better than system A? Answers on data that neither has seen.

The public names are imported when they are first used, so that ``import heldout`` is quick.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from heldout.data.files import read_qrels, read_run
    from heldout.data.run import Qrels, Run
    from heldout.data.scores import Scores, read_scores
    from heldout.errors import (
        DuplicateError,
        FormatError,
        HeldoutError,
        InputError,
        MeasureError,
        MissingExtraError,
    )
    from heldout.infer.compare import Comparison, compare
    from heldout.measure.custom import RankedList, define_measure
    from heldout.measure.evaluate import Evaluation, evaluate
    from heldout.measure.names import Measure, parse_measure, parse_measures

__version__ = "0.1.0"

_HOMES = {
    "Comparison": "heldout.infer.compare",
    "DuplicateError": "heldout.errors",
    "Evaluation": "heldout.measure.evaluate",
    "FormatError": "heldout.errors",
    "HeldoutError": "heldout.errors",
    "InputError": "heldout.errors",
    "Measure": "heldout.measure.names",
    "MeasureError": "heldout.errors",
    "MissingExtraError": "heldout.errors",
    "Qrels": "heldout.data.run",
    "RankedList": "heldout.measure.custom",
    "Run": "heldout.data.run",
    "Scores": "heldout.data.scores",
    "compare": "heldout.infer.compare",
    "evaluate": "heldout.measure.evaluate",
    "define_measure": "heldout.measure.custom",
    "parse_measure": "heldout.measure.names",
    "parse_measures": "heldout.measure.names",
    "read_qrels": "heldout.data.files",
    "read_run": "heldout.data.files",
    "read_scores": "heldout.data.scores",
}

__all__ = [
    "Comparison",
    "DuplicateError",
    "Evaluation",
    "FormatError",
    "HeldoutError",
    "InputError",
    "Measure",
    "MeasureError",
    "MissingExtraError",
    "Qrels",
    "RankedList",
    "Run",
    "Scores",
    "compare",
    "define_measure",
    "evaluate",
    "parse_measure",
    "parse_measures",
    "read_qrels",
    "read_run",
    "read_scores",
]


def __getattr__(name: str) -> Any:
    home = _HOMES.get(name)
    if home is None:
        raise AttributeError(f"module 'heldout' has no attribute {name!r}")
    return getattr(import_module(home), name)


def __dir__() -> list[str]:
    return [*__all__, "__version__"]

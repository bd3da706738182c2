"""Is system B really better than system A? Answers on data that neither has seen.

The public names are imported when they are first used, so that ``import heldout`` is quick.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from heldout.data.collection import Collection
    from heldout.data.collection_files import read_collection
    from heldout.data.export import export_collection
    from heldout.data.files import read_qrels, read_run
    from heldout.data.run import Qrels, Run
    from heldout.data.scores import Scores, read_scores
    from heldout.data.view import View
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
    from heldout.retrieve.analyze import Analyzer
    from heldout.retrieve.index import Index
    from heldout.retrieve.models import Model, parse_model
    from heldout.retrieve.search import search

__version__ = "0.1.0"

_HOMES = {
    "Analyzer": "heldout.retrieve.analyze",
    "Collection": "heldout.data.collection",
    "Comparison": "heldout.infer.compare",
    "DuplicateError": "heldout.errors",
    "Evaluation": "heldout.measure.evaluate",
    "FormatError": "heldout.errors",
    "HeldoutError": "heldout.errors",
    "Index": "heldout.retrieve.index",
    "InputError": "heldout.errors",
    "Measure": "heldout.measure.names",
    "MeasureError": "heldout.errors",
    "MissingExtraError": "heldout.errors",
    "Model": "heldout.retrieve.models",
    "Qrels": "heldout.data.run",
    "RankedList": "heldout.measure.custom",
    "Run": "heldout.data.run",
    "Scores": "heldout.data.scores",
    "View": "heldout.data.view",
    "compare": "heldout.infer.compare",
    "evaluate": "heldout.measure.evaluate",
    "define_measure": "heldout.measure.custom",
    "export_collection": "heldout.data.export",
    "parse_measure": "heldout.measure.names",
    "parse_measures": "heldout.measure.names",
    "parse_model": "heldout.retrieve.models",
    "read_collection": "heldout.data.collection_files",
    "read_qrels": "heldout.data.files",
    "read_run": "heldout.data.files",
    "read_scores": "heldout.data.scores",
    "search": "heldout.retrieve.search",
}

__all__ = [
    "Analyzer",
    "Collection",
    "Comparison",
    "DuplicateError",
    "Evaluation",
    "FormatError",
    "HeldoutError",
    "Index",
    "InputError",
    "Measure",
    "MeasureError",
    "MissingExtraError",
    "Model",
    "Qrels",
    "RankedList",
    "Run",
    "Scores",
    "View",
    "compare",
    "define_measure",
    "evaluate",
    "export_collection",
    "parse_measure",
    "parse_measures",
    "parse_model",
    "read_collection",
    "read_qrels",
    "read_run",
    "read_scores",
    "search",
]


def __getattr__(name: str) -> Any:
    home = _HOMES.get(name)
    if home is None:
        raise AttributeError(f"module 'heldout' has no attribute {name!r}")
    return getattr(import_module(home), name)


def __dir__() -> list[str]:
    return [*__all__, "__version__"]

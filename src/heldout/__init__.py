"""Is system B really better than system A? Answers on data that neither has seen.

The public names are imported when they are first used, so that ``import heldout`` is quick.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from heldout import measures
    from heldout.data.collection import Collection
    from heldout.data.collection_files import read_collection
    from heldout.data.export import export_collection
    from heldout.data.files import read_qrels, read_run
    from heldout.data.prediction_files import read_class_predictions, read_number_predictions
    from heldout.data.predictions import ClassPredictions, NumberPredictions
    from heldout.data.run import Qrels, Run
    from heldout.data.scores import Scores, read_scores
    from heldout.data.segments import Segments, read_hypotheses, read_references
    from heldout.data.view import View
    from heldout.errors import (
        DuplicateError,
        FormatError,
        HeldoutError,
        InputError,
        MeasureError,
        MissingExtraError,
    )
    from heldout.experiment.experiment import Experiment
    from heldout.experiment.results import Results
    from heldout.experiment.systems import System
    from heldout.experiment.systems.estimators import EstimatorSystem
    from heldout.infer.compare import Comparison, compare
    from heldout.measure.base import Measure
    from heldout.measure.custom import RankedList, define_measure
    from heldout.measure.evaluate import evaluate
    from heldout.measure.evaluation import Evaluation
    from heldout.measure.parse import parse_measure, parse_measures
    from heldout.measure.prediction.hull import roc_hull
    from heldout.measure.prediction.roc import roc_curve
    from heldout.measure.undefined import Undefined
    from heldout.notebook import chart, charts
    from heldout.notes import Note
    from heldout.report.charts.export import save_chart
    from heldout.resample.combined import RepeatedRuns, TwoWay
    from heldout.resample.given import GivenFolds, from_sklearn
    from heldout.resample.holdout import Chronological, HoldOut, TestSet
    from heldout.resample.notices import PlanError, ResamplingWarning
    from heldout.resample.plan import Plan
    from heldout.resample.plans import Bootstrap, KFold, LeaveOneOut
    from heldout.resample.split import Split, SplitKey, Splits
    from heldout.retrieve.analyze import Analyzer
    from heldout.retrieve.index import Index
    from heldout.retrieve.models import Model, parse_model
    from heldout.retrieve.search import search
    from heldout.retrieve.shards import ShardedIndex, open_index
    from heldout.tune.choose import Choice, choose
    from heldout.tune.cross_validate import TunedFolds, cross_validate
    from heldout.tune.runs import TunedRuns, tune_runs
    from heldout.tune.search import Trials, search_grid, search_optuna, search_random
    from heldout.tune.space import Axis, Space, parse_axis

__version__ = "0.1.0"

_HOMES = {
    "Analyzer": "heldout.retrieve.analyze",
    "Axis": "heldout.tune.space",
    "Bootstrap": "heldout.resample.plans",
    "Choice": "heldout.tune.choose",
    "Chronological": "heldout.resample.holdout",
    "ClassPredictions": "heldout.data.predictions",
    "Collection": "heldout.data.collection",
    "Comparison": "heldout.infer.compare",
    "DuplicateError": "heldout.errors",
    "EstimatorSystem": "heldout.experiment.systems.estimators",
    "Evaluation": "heldout.measure.evaluation",
    "Experiment": "heldout.experiment.experiment",
    "FormatError": "heldout.errors",
    "GivenFolds": "heldout.resample.given",
    "HeldoutError": "heldout.errors",
    "HoldOut": "heldout.resample.holdout",
    "Index": "heldout.retrieve.index",
    "InputError": "heldout.errors",
    "KFold": "heldout.resample.plans",
    "LeaveOneOut": "heldout.resample.plans",
    "Measure": "heldout.measure.base",
    "MeasureError": "heldout.errors",
    "MissingExtraError": "heldout.errors",
    "Model": "heldout.retrieve.models",
    "Note": "heldout.notes",
    "NumberPredictions": "heldout.data.predictions",
    "Plan": "heldout.resample.plan",
    "PlanError": "heldout.resample.notices",
    "Qrels": "heldout.data.run",
    "RankedList": "heldout.measure.custom",
    "RepeatedRuns": "heldout.resample.combined",
    "ResamplingWarning": "heldout.resample.notices",
    "Results": "heldout.experiment.results",
    "Run": "heldout.data.run",
    "Scores": "heldout.data.scores",
    "Segments": "heldout.data.segments",
    "ShardedIndex": "heldout.retrieve.shards",
    "Space": "heldout.tune.space",
    "Split": "heldout.resample.split",
    "SplitKey": "heldout.resample.split",
    "Splits": "heldout.resample.split",
    "System": "heldout.experiment.systems.base",
    "TestSet": "heldout.resample.holdout",
    "Trials": "heldout.tune.search",
    "TunedFolds": "heldout.tune.cross_validate",
    "TunedRuns": "heldout.tune.runs",
    "TwoWay": "heldout.resample.combined",
    "Undefined": "heldout.measure.undefined",
    "View": "heldout.data.view",
    "chart": "heldout.notebook",
    "charts": "heldout.notebook",
    "choose": "heldout.tune.choose",
    "compare": "heldout.infer.compare",
    "cross_validate": "heldout.tune.cross_validate",
    "define_measure": "heldout.measure.custom",
    "evaluate": "heldout.measure.evaluate",
    "export_collection": "heldout.data.export",
    "from_sklearn": "heldout.resample.given",
    "open_index": "heldout.retrieve.shards",
    "parse_axis": "heldout.tune.space",
    "parse_measure": "heldout.measure.parse",
    "parse_measures": "heldout.measure.parse",
    "parse_model": "heldout.retrieve.models",
    "read_class_predictions": "heldout.data.prediction_files",
    "read_collection": "heldout.data.collection_files",
    "read_hypotheses": "heldout.data.segments",
    "read_number_predictions": "heldout.data.prediction_files",
    "read_qrels": "heldout.data.files",
    "read_references": "heldout.data.segments",
    "read_run": "heldout.data.files",
    "read_scores": "heldout.data.scores",
    "roc_curve": "heldout.measure.prediction.roc",
    "roc_hull": "heldout.measure.prediction.hull",
    "save_chart": "heldout.report.charts.export",
    "search": "heldout.retrieve.search",
    "search_grid": "heldout.tune.search",
    "search_optuna": "heldout.tune.search",
    "search_random": "heldout.tune.search",
    "tune_runs": "heldout.tune.runs",
}
_OLD = {
    "evaluate_text": "heldout.measure.text.evaluate",
    "score_predictions": "heldout.infer.prediction_scores",
}
"""Names of version 0.1 that `evaluate` has made superfluous."""

__all__ = [
    "Analyzer",
    "Axis",
    "Bootstrap",
    "Choice",
    "Chronological",
    "ClassPredictions",
    "Collection",
    "Comparison",
    "DuplicateError",
    "EstimatorSystem",
    "Evaluation",
    "Experiment",
    "FormatError",
    "GivenFolds",
    "HeldoutError",
    "HoldOut",
    "Index",
    "InputError",
    "KFold",
    "LeaveOneOut",
    "Measure",
    "MeasureError",
    "MissingExtraError",
    "Model",
    "Note",
    "NumberPredictions",
    "Plan",
    "PlanError",
    "Qrels",
    "RankedList",
    "RepeatedRuns",
    "ResamplingWarning",
    "Results",
    "Run",
    "Scores",
    "Segments",
    "ShardedIndex",
    "Space",
    "Split",
    "SplitKey",
    "Splits",
    "System",
    "TestSet",
    "Trials",
    "TunedFolds",
    "TunedRuns",
    "TwoWay",
    "Undefined",
    "View",
    "chart",
    "charts",
    "choose",
    "compare",
    "cross_validate",
    "define_measure",
    "evaluate",
    "export_collection",
    "from_sklearn",
    "measures",
    "open_index",
    "parse_axis",
    "parse_measure",
    "parse_measures",
    "parse_model",
    "read_class_predictions",
    "read_collection",
    "read_hypotheses",
    "read_number_predictions",
    "read_qrels",
    "read_references",
    "read_run",
    "read_scores",
    "roc_curve",
    "roc_hull",
    "save_chart",
    "search",
    "search_grid",
    "search_optuna",
    "search_random",
    "tune_runs",
]


def __getattr__(name: str) -> Any:
    if name == "measures":
        return import_module("heldout.measures")
    home = _HOMES.get(name) or _OLD.get(name)
    if home is None:
        raise AttributeError(f"module 'heldout' has no attribute {name!r}")
    return getattr(import_module(home), name)


def __dir__() -> list[str]:
    return [*__all__, "__version__"]

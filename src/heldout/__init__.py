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
    from heldout.experiment.results import Results
    from heldout.experiment.run import Experiment
    from heldout.experiment.systems import System
    from heldout.infer.compare import Comparison, compare
    from heldout.measure.custom import RankedList, define_measure
    from heldout.measure.evaluate import Evaluation, evaluate
    from heldout.measure.names import Measure, parse_measure, parse_measures
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
    "Collection": "heldout.data.collection",
    "Comparison": "heldout.infer.compare",
    "DuplicateError": "heldout.errors",
    "Evaluation": "heldout.measure.evaluate",
    "Experiment": "heldout.experiment.run",
    "FormatError": "heldout.errors",
    "GivenFolds": "heldout.resample.given",
    "HeldoutError": "heldout.errors",
    "HoldOut": "heldout.resample.holdout",
    "Index": "heldout.retrieve.index",
    "InputError": "heldout.errors",
    "KFold": "heldout.resample.plans",
    "LeaveOneOut": "heldout.resample.plans",
    "Measure": "heldout.measure.names",
    "MeasureError": "heldout.errors",
    "MissingExtraError": "heldout.errors",
    "Model": "heldout.retrieve.models",
    "Plan": "heldout.resample.plan",
    "PlanError": "heldout.resample.notices",
    "Qrels": "heldout.data.run",
    "RankedList": "heldout.measure.custom",
    "RepeatedRuns": "heldout.resample.combined",
    "ResamplingWarning": "heldout.resample.notices",
    "Results": "heldout.experiment.results",
    "Run": "heldout.data.run",
    "Scores": "heldout.data.scores",
    "Space": "heldout.tune.space",
    "Split": "heldout.resample.split",
    "SplitKey": "heldout.resample.split",
    "Splits": "heldout.resample.split",
    "System": "heldout.experiment.systems",
    "TestSet": "heldout.resample.holdout",
    "Trials": "heldout.tune.search",
    "TunedFolds": "heldout.tune.cross_validate",
    "TunedRuns": "heldout.tune.runs",
    "TwoWay": "heldout.resample.combined",
    "View": "heldout.data.view",
    "choose": "heldout.tune.choose",
    "compare": "heldout.infer.compare",
    "cross_validate": "heldout.tune.cross_validate",
    "define_measure": "heldout.measure.custom",
    "evaluate": "heldout.measure.evaluate",
    "export_collection": "heldout.data.export",
    "from_sklearn": "heldout.resample.given",
    "parse_axis": "heldout.tune.space",
    "parse_measure": "heldout.measure.names",
    "parse_measures": "heldout.measure.names",
    "parse_model": "heldout.retrieve.models",
    "read_collection": "heldout.data.collection_files",
    "read_qrels": "heldout.data.files",
    "read_run": "heldout.data.files",
    "read_scores": "heldout.data.scores",
    "search": "heldout.retrieve.search",
    "search_grid": "heldout.tune.search",
    "search_optuna": "heldout.tune.search",
    "search_random": "heldout.tune.search",
    "tune_runs": "heldout.tune.runs",
}

__all__ = [
    "Analyzer",
    "Axis",
    "Bootstrap",
    "Choice",
    "Chronological",
    "Collection",
    "Comparison",
    "DuplicateError",
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
    "Plan",
    "PlanError",
    "Qrels",
    "RankedList",
    "RepeatedRuns",
    "ResamplingWarning",
    "Results",
    "Run",
    "Scores",
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
    "View",
    "choose",
    "compare",
    "cross_validate",
    "define_measure",
    "evaluate",
    "export_collection",
    "from_sklearn",
    "parse_axis",
    "parse_measure",
    "parse_measures",
    "parse_model",
    "read_collection",
    "read_qrels",
    "read_run",
    "read_scores",
    "search",
    "search_grid",
    "search_optuna",
    "search_random",
    "tune_runs",
]


def __getattr__(name: str) -> Any:
    home = _HOMES.get(name)
    if home is None:
        raise AttributeError(f"module 'heldout' has no attribute {name!r}")
    return getattr(import_module(home), name)


def __dir__() -> list[str]:
    return [*__all__, "__version__"]

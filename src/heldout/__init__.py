"""Is system B really better than system A? Answers on data that neither has seen.

The public names are imported when they are first used, so that ``import heldout`` is quick. What is
needed less often is in `heldout.errors`, `heldout.resample` and the other packages.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from heldout import measures
    from heldout.data.collection import Collection, View
    from heldout.data.collection_files import read_collection
    from heldout.data.embeddings import Embeddings, read_embeddings
    from heldout.data.export import export_collection
    from heldout.data.prediction_files import read_class_predictions, read_number_predictions
    from heldout.data.predictions import ClassPredictions, NumberPredictions
    from heldout.data.qrels import Qrels, read_qrels
    from heldout.data.run import Run, read_run
    from heldout.data.scores import Scores, read_scores
    from heldout.data.segments import Segments, read_hypotheses, read_references
    from heldout.errors import HeldoutError, InputError
    from heldout.experiment.experiment import Experiment
    from heldout.experiment.results import Results
    from heldout.experiment.systems.base import System
    from heldout.infer.agree import agree
    from heldout.infer.agreement import Agreement
    from heldout.infer.compare import Comparison, compare
    from heldout.measure.base import Measure, Undefined
    from heldout.measure.custom import define_measure
    from heldout.measure.evaluate import evaluate
    from heldout.measure.evaluation import Evaluation
    from heldout.measure.parse import parse_measure, parse_measures
    from heldout.notebook import chart, charts
    from heldout.notes import Note
    from heldout.report.charts.export import save_chart
    from heldout.resample.combined import RepeatedRuns, TwoWay
    from heldout.resample.given import GivenFolds, from_sklearn
    from heldout.resample.holdout import Chronological, HoldOut, TestSet
    from heldout.resample.plans import Bootstrap, KFold, LeaveOneOut
    from heldout.retrieve.analyze import Analyzer
    from heldout.retrieve.dense import rank_vectors
    from heldout.retrieve.fuse import fuse
    from heldout.retrieve.index import Index
    from heldout.retrieve.models import Model
    from heldout.retrieve.search import search

__version__ = "0.2.0"

_HOMES = {
    # data
    "Run": "heldout.data.run",
    "Qrels": "heldout.data.qrels",
    "Scores": "heldout.data.scores",
    "Collection": "heldout.data.collection",
    "View": "heldout.data.collection",
    "ClassPredictions": "heldout.data.predictions",
    "NumberPredictions": "heldout.data.predictions",
    "Segments": "heldout.data.segments",
    "read_run": "heldout.data.run",
    "read_qrels": "heldout.data.qrels",
    "read_scores": "heldout.data.scores",
    "read_collection": "heldout.data.collection_files",
    "export_collection": "heldout.data.export",
    "read_class_predictions": "heldout.data.prediction_files",
    "read_number_predictions": "heldout.data.prediction_files",
    "read_references": "heldout.data.segments",
    "read_hypotheses": "heldout.data.segments",
    # measures
    "Measure": "heldout.measure.base",
    "Evaluation": "heldout.measure.evaluation",
    "Undefined": "heldout.measure.base",
    "evaluate": "heldout.measure.evaluate",
    "parse_measure": "heldout.measure.parse",
    "parse_measures": "heldout.measure.parse",
    "define_measure": "heldout.measure.custom",
    # plans
    "KFold": "heldout.resample.plans",
    "HoldOut": "heldout.resample.holdout",
    "LeaveOneOut": "heldout.resample.plans",
    "Bootstrap": "heldout.resample.plans",
    "GivenFolds": "heldout.resample.given",
    "TestSet": "heldout.resample.holdout",
    "Chronological": "heldout.resample.holdout",
    "TwoWay": "heldout.resample.combined",
    "RepeatedRuns": "heldout.resample.combined",
    "from_sklearn": "heldout.resample.given",
    # retrieval
    "Index": "heldout.retrieve.index",
    "Analyzer": "heldout.retrieve.analyze",
    "Model": "heldout.retrieve.models",
    "fuse": "heldout.retrieve.fuse",
    "rank_vectors": "heldout.retrieve.dense",
    "Embeddings": "heldout.data.embeddings",
    "read_embeddings": "heldout.data.embeddings",
    "search": "heldout.retrieve.search",
    # experiments
    "Experiment": "heldout.experiment.experiment",
    "Results": "heldout.experiment.results",
    "System": "heldout.experiment.systems.base",
    # claims
    "Agreement": "heldout.infer.agreement",
    "Comparison": "heldout.infer.compare",
    "agree": "heldout.infer.agree",
    "compare": "heldout.infer.compare",
    # charts
    "chart": "heldout.notebook",
    "charts": "heldout.notebook",
    "save_chart": "heldout.report.charts.export",
    # errors and notes
    "HeldoutError": "heldout.errors",
    "InputError": "heldout.errors",
    "Note": "heldout.notes",
}

__all__ = [
    "Agreement",
    "Analyzer",
    "Bootstrap",
    "Chronological",
    "ClassPredictions",
    "Collection",
    "Comparison",
    "Embeddings",
    "Evaluation",
    "Experiment",
    "GivenFolds",
    "HeldoutError",
    "HoldOut",
    "Index",
    "InputError",
    "KFold",
    "LeaveOneOut",
    "Measure",
    "Model",
    "Note",
    "NumberPredictions",
    "Qrels",
    "RepeatedRuns",
    "Results",
    "Run",
    "Scores",
    "Segments",
    "System",
    "TestSet",
    "TwoWay",
    "Undefined",
    "View",
    "agree",
    "chart",
    "charts",
    "compare",
    "define_measure",
    "evaluate",
    "export_collection",
    "from_sklearn",
    "fuse",
    "measures",
    "parse_measure",
    "parse_measures",
    "rank_vectors",
    "read_class_predictions",
    "read_collection",
    "read_embeddings",
    "read_hypotheses",
    "read_number_predictions",
    "read_qrels",
    "read_references",
    "read_run",
    "read_scores",
    "save_chart",
    "search",
]


def __getattr__(name: str) -> Any:
    if name == "measures":
        return import_module("heldout.measures")
    home = _HOMES.get(name)
    if home is None:
        raise AttributeError(f"module 'heldout' has no attribute {name!r}")
    return getattr(import_module(home), name)


def __dir__() -> list[str]:
    return [*__all__, "__version__"]

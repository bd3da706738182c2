"""Is system B really better than system A? Answers on data that neither has seen.

The public names are imported when they are first used, so that ``import heldout`` is quick. What is
needed less often is in `heldout.errors`, `heldout.resample` and the other packages.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from heldout.lazy import lazy_names

if TYPE_CHECKING:
    from heldout import measures as measures
    from heldout.data.collection import Collection as Collection, View as View
    from heldout.data.collection_files import read_collection as read_collection
    from heldout.data.embeddings import Embeddings as Embeddings, read_embeddings as read_embeddings
    from heldout.data.export import export_collection as export_collection
    from heldout.data.prediction_files import (
        read_class_predictions as read_class_predictions,
        read_number_predictions as read_number_predictions,
    )
    from heldout.data.predictions import (
        ClassPredictions as ClassPredictions,
        NumberPredictions as NumberPredictions,
    )
    from heldout.data.qrels import Qrels as Qrels, read_qrels as read_qrels
    from heldout.data.run import Run as Run, read_run as read_run
    from heldout.data.scores import Scores as Scores, read_scores as read_scores
    from heldout.data.segments import (
        Segments as Segments,
        read_hypotheses as read_hypotheses,
        read_references as read_references,
    )
    from heldout.errors import HeldoutError as HeldoutError, InputError as InputError
    from heldout.experiment.experiment import Experiment as Experiment
    from heldout.experiment.pilots import power as power
    from heldout.experiment.results.results import Results as Results
    from heldout.experiment.systems.base import System as System
    from heldout.infer.agreement import Agreement as Agreement, agree as agree
    from heldout.infer.compare import compare as compare
    from heldout.infer.comparison import Comparison as Comparison
    from heldout.measure.base import Measure as Measure, Undefined as Undefined
    from heldout.measure.custom import define_measure as define_measure
    from heldout.measure.evaluate import evaluate as evaluate
    from heldout.measure.evaluation import Evaluation as Evaluation
    from heldout.measure.names import (
        parse_measure as parse_measure,
        parse_measures as parse_measures,
    )
    from heldout.notes import Note as Note
    from heldout.report.charts.draw import save_chart as save_chart
    from heldout.report.charts.find import chart as chart, charts as charts
    from heldout.resample.two_way import cross as cross
    from heldout.resample.plans import (
        Bootstrap as Bootstrap,
        Chronological as Chronological,
        GivenFolds as GivenFolds,
        HoldOut as HoldOut,
        KFold as KFold,
        LeaveOneOut as LeaveOneOut,
        TestSet as TestSet,
        from_sklearn as from_sklearn,
    )
    from heldout.retrieve.analyze import Analyzer as Analyzer
    from heldout.retrieve.dense import rank_vectors as rank_vectors
    from heldout.retrieve.fuse import fuse as fuse
    from heldout.retrieve.index import Index as Index
    from heldout.retrieve.models import Model as Model
    from heldout.retrieve.search import search as search

__version__ = "0.2.0"
__all__, __getattr__, __dir__ = lazy_names(
    __name__,
    {
        "data.collection": "Collection View",
        "data.collection_files": "read_collection",
        "data.embeddings": "Embeddings read_embeddings",
        "data.export": "export_collection",
        "data.prediction_files": "read_class_predictions read_number_predictions",
        "data.predictions": "ClassPredictions NumberPredictions",
        "data.qrels": "Qrels read_qrels",
        "data.run": "Run read_run",
        "data.scores": "Scores read_scores",
        "data.segments": "Segments read_hypotheses read_references",
        "errors": "HeldoutError InputError",
        "experiment.experiment": "Experiment",
        "experiment.pilots": "power",
        "experiment.results.results": "Results",
        "experiment.systems.base": "System",
        "infer.agreement": "Agreement agree",
        "infer.compare": "compare",
        "infer.comparison": "Comparison",
        "measure.base": "Measure Undefined",
        "measure.custom": "define_measure",
        "measure.evaluate": "evaluate",
        "measure.evaluation": "Evaluation",
        "measure.names": "parse_measure parse_measures",
        "measures": "measures",
        "notes": "Note",
        "report.charts.draw": "save_chart",
        "report.charts.find": "chart charts",
        "resample.two_way": "cross",
        "resample.plans": "Bootstrap Chronological GivenFolds HoldOut KFold LeaveOneOut TestSet "
        "from_sklearn",
        "retrieve.analyze": "Analyzer",
        "retrieve.dense": "rank_vectors",
        "retrieve.fuse": "fuse",
        "retrieve.index": "Index",
        "retrieve.models": "Model",
        "retrieve.search": "search",
    },
)

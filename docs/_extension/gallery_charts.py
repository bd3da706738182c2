"""All charts once, from small data."""  # noqa: INP001

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING, Any

import numpy as np

from heldout.report.charts.find import NAMES, charts

if TYPE_CHECKING:
    from heldout.data.collection import Collection
    from heldout.data.predictions import ClassPredictions
    from heldout.data.scores import Scores
    from heldout.experiment.results.results import Results
    from heldout.experiment.studies.bias import BiasStudy
    from heldout.infer.agreement import Agreement
    from heldout.report.charts.draw import Chart

__all__ = ["gallery"]


def gallery() -> list[Chart]:
    """Return all charts once, in the order of `heldout.report.charts.find.NAMES`.

    The data are simulated scores and a part of the embedded collection.
    """
    collection = _collection()
    shown = (_comparison(), _experiment(collection), _predictions(), _study(collection))
    texts = collection.queries.to_dict()
    found = [chart for of in (*shown, _agreement()) for chart in charts(of, texts=texts)]
    first = {chart.key: chart for chart in reversed(found)}
    return [first[name] for name in NAMES]


def _comparison() -> Any:
    from heldout.infer.compare import compare  # SciPy

    return compare(_scores())


def _scores() -> Scores:
    """Six systems on eighty queries; some differ, some do not."""
    from heldout.data.scores import Scores

    generator = np.random.default_rng(7)
    hard = generator.beta(1.6, 1.6, 80)
    gains = {
        "bm25": 0.0,
        "ql-dirichlet": -0.02,
        "bm25 + rm3": 0.03,
        "dense": 0.05,
        "hybrid": 0.07,
        "hybrid + reranker": 0.12,
    }
    values = {
        name: np.clip(hard + gain + generator.normal(0, 0.11, len(hard)), 0, 1)
        for name, gain in gains.items()
    }
    units = [f"q{number}" for number in range(1, len(hard) + 1)]
    matrix = np.column_stack(list(values.values()))
    return Scores("nDCG@10", tuple(gains), tuple(units), matrix, unit="query")


def _predictions() -> list[ClassPredictions]:
    """Two classifiers of 400 units: one ranks better, one is better calibrated."""
    from heldout.data.predictions import ClassPredictions

    generator = np.random.default_rng(5)
    truth = (generator.random(400) < 0.4).astype(np.int64)
    units = tuple(f"u{number}" for number in range(len(truth)))
    found = []
    for name, apart, sure in (("forest", 2.1, 1.9), ("logistic", 1.5, 1.0)):
        logit = apart * (truth - 0.5) * apart + apart * generator.normal(0, 1, len(truth)) - 0.3
        share = 1 / (1 + np.exp(-sure * logit))
        scores = np.column_stack([1 - share, share])
        predicted = (share >= 0.5).astype(np.int64)
        found.append(
            ClassPredictions(
                name, units, ("ham", "spam"), truth, predicted, scores, probabilities=True
            )
        )
    return found


@cache
def _collection() -> Collection:
    """A part of the embedded collection: NumPy's documents, and some of its queries."""
    from heldout.data.collection import Collection
    from heldout.data.collection_files import read_collection

    whole = read_collection("pydocs")
    documents = {name: text for name, text in whole.documents.pairs() if name.startswith("numpy.")}
    judged = {
        query: {doc: grade for doc, grade in docs.items() if doc in documents}
        for query, docs in whole.qrels.to_dict().items()
        if query.startswith("numpy.")
    }
    # Queries with several relevant documents: with one, it is on one side of a fold or the other.
    kept = {query: docs for query, docs in judged.items() if sum(map(bool, docs.values())) > 4}
    texts = whole.queries.to_dict()
    return Collection(documents, {query: texts[query] for query in kept}, kept, name="numpy")


def _experiment(collection: Collection) -> Results:
    from heldout.experiment.experiment import Experiment

    return Experiment(
        collection=collection,
        systems=["bm25(k1=0.5:3:6, b=0:1:5)", "ql-jm(lambda=0.1:0.9:5)"],
        measures=["nDCG@10"],
    ).run()


def _study(collection: Collection) -> BiasStudy:
    from heldout.experiment.documents.candidates import Candidates
    from heldout.experiment.studies.bias import StudySettings, bias_study
    from heldout.measure.names import parse_measure
    from heldout.retrieve.index import Index
    from heldout.retrieve.models import parse_model

    measure = parse_measure("nDCG@10", "ranking")
    index = Index.build(collection)
    models = [parse_model(f"bm25(k1=1.2, b={b})") for b in (0.25, 0.5, 0.75)]
    candidates = Candidates.make(index, collection, models, depth=100)
    settings = StudySettings(measure, draws=8, sets=3, replicates=0, tuning="nested")
    return bias_study(candidates, settings)


def _agreement() -> Agreement:
    """Two machines that judge 20 queries, one of them too kindly, and five systems."""
    from heldout.infer.agreement import agree

    generator = np.random.default_rng(11)
    human = generator.choice(4, (20, 30), p=[0.6, 0.2, 0.12, 0.08])

    def named(values: Any) -> dict[str, dict[str, Any]]:
        return {
            f"q{query}": {f"d{doc}": value for doc, value in enumerate(row)}
            for query, row in enumerate(values.tolist())
        }

    def judged(bias: float) -> dict[str, dict[str, int]]:
        noisy = human + bias + generator.normal(0, 0.6, human.shape)
        return named(np.clip(noisy.round(), 0, 3).astype(np.int64))

    runs = {
        name: named(human + generator.normal(0, noise, human.shape))
        for name, noise in (("A", 3.5), ("B", 2.8), ("C", 2.4), ("D", 2.0), ("E", 1.6))
    }
    machines = {"strict": judged(-0.2), "kind": judged(0.5)}
    return agree(named(human), machines, runs)

"""The demonstration: two rankers, tuned and compared on held-out data; and example files to try."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from heldout.data.atomic import made_folder, write_atomically
from heldout.data.qrels import Qrels
from heldout.data.run import Run

if TYPE_CHECKING:
    from collections.abc import Iterator

    from heldout.experiment.fields import By

_SYSTEMS: Final = ["bm25(k1=0.5:2:4, b=0.25:1:4)", "ql-jm(lambda=0:1:6)"]
_NEXT: Final = "heldout run pydocs --system bm25 --system 'bm25-plus(delta=0:1:5)' -m AP"
_PLANS: Final[tuple[tuple[By, int, str], ...]] = (
    ("query", 10, "queries"),
    ("document", 5, "documents"),
)


def run_demo(folder: str, *, width: int | None = None, progress: bool = False) -> Iterator[str]:
    """Tune and compare two rankers on the embedded collection; yield what is printed."""
    from heldout.retrieve.first_use import prepare_ranking

    with made_folder(folder) as place:
        prepare_ranking()  # before other imports: the other process has most to do
        from heldout.data.collection_files import read_collection
        from heldout.experiment.experiment import Experiment
        from heldout.report.answers import answer
        from heldout.report.experiment import standings, tuning_tables
        from heldout.report.page import page
        from heldout.report.page.render import write_page
        from heldout.report.table import paragraphs, write_tables
        from heldout.retrieve.analyze import Analyzer
        from heldout.retrieve.index import Index

        collection = read_collection("pydocs")
        tuned = "BM25 (16 settings) and query likelihood (6) are tuned inside the folds."
        yield paragraphs([f"The built-in collection pydocs: {collection.sizes()}.", tuned], width)
        index = Index.build(collection, Analyzer(stop="english", stemmer="english"))
        fields: dict[str, Any] = {"systems": _SYSTEMS, "measures": "nDCG@10", "index": index}
        every = []
        for by, folds, name in _PLANS:
            experiment = Experiment(collection=collection, by=by, plan={"folds": folds}, **fields)
            every.append(experiment.run(place / name, force=True, progress=progress))
            yield paragraphs(map(answer, standings(every[-1])), width)
        yield write_tables(tuning_tables(every[0]), "text", width)
        title = "BM25 or query likelihood on pydocs?"
        text = page(every, title=title, collection=collection, made=[("this page", "heldout demo")])
        write_page(place / "report.html", text)
        shown = f"Open {place / 'report.html'} in a browser; the results are in {place}."
        yield paragraphs([shown, f"Next: {_NEXT}"])


def write_example(folder: str, *, width: int | None = None) -> Iterator[str]:
    """Write the example to `folder` and evaluate it; yield what is printed."""
    from heldout.measure.ranking.evaluate import evaluate_runs
    from heldout.report.evaluation import evaluation_tables, evaluation_text
    from heldout.report.table import paragraphs, write_tables

    qrels, runs = example()
    result = evaluate_runs(qrels, runs)
    with made_folder(folder) as place:
        qrels.write(place / "qrels.txt")
        example_machine(qrels).write(place / "machine.qrels")
        for run in runs:
            run.write(place / f"{run.name}.run")
        with write_atomically(place / "report.md") as aside:
            table = write_tables(evaluation_tables(result), "md")
            title = "# Two systems on a synthetic collection"
            aside.write_text(f"{title}\n\n{table}", encoding="utf-8")
    yield evaluation_text(result, width=width)
    files = "qrels.txt, machine.qrels, baseline.run, improved.run and report.md"
    command = f"  heldout eval {place / 'qrels.txt'} {place / 'improved.run'} -m nDCG@10 -q"
    yield paragraphs([f"Written to {place}: {files}. Next:", command])


def example() -> tuple[Qrels, list[Run]]:
    """Make judgements for 50 queries and two runs of 100 documents each.

    Every document has a hidden quality. Grades are the quality in three steps, the scores of a
    system are the quality plus noise, and ``improved`` has less noise than ``baseline``.
    """
    queries, depth, pool = 50, 100, 300
    generator = np.random.default_rng(20)
    quality = generator.normal(size=(queries, pool))

    def top(values: Any, shown: Any) -> dict[str, dict[str, Any]]:
        """Return the documents with the highest values, with what is shown of each."""
        return {
            f"q{row + 1:03d}": {f"d{row + 1:03d}-{doc:04d}": shown[row, doc].item() for doc in docs}
            for row, docs in enumerate(np.argsort(-values, axis=1)[:, :depth])
        }

    grades = np.digitize(quality, [1.3, 2.0])
    qrels = Qrels.of(top(quality + generator.normal(size=quality.shape), grades))
    runs = []
    for system, noise in (("baseline", 1.4), ("improved", 1.1)):
        scores = quality + generator.normal(scale=noise, size=quality.shape)
        runs.append(Run.of(top(scores, scores), system))
    return qrels, runs


def example_machine(qrels: Qrels) -> Qrels:
    """Judge the same documents as a machine might: too kindly, and more so for some queries."""
    generator = np.random.default_rng(21)
    kindness = generator.normal(0.25, 0.25, len(qrels.queries))[qrels.query_of_row()]
    noisy = qrels.grades + kindness + generator.normal(0, 0.4, len(qrels))
    return replace(qrels, grades=np.clip(np.rint(noisy), 0, 2).astype(np.int64))

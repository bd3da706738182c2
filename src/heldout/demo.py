"""The demonstration: two rankers, tuned and compared on held-out data."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from heldout.data.atomic import made_folder

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from heldout.experiment.schema import By
    from heldout.report.page.parts import Part

__all__ = ["run_demo"]

_SYSTEMS: Final = ["bm25(k1=0.5:2:4, b=0.25:1:4)", "ql-jm(lambda=0:1:6)"]
_NEXT: Final = "heldout run pydocs --system bm25 --system 'bm25-plus(delta=0:1:5)' -m AP"
_MEASURE: Final = "nDCG@10"
_PLANS: Final[tuple[tuple[By, int, str, str], ...]] = (
    ("query", 10, "New queries", "queries"),
    ("document", 5, "New documents", "documents"),
)


def run_demo(folder: str, *, terminal: bool = False) -> Iterator[str]:
    """Tune and compare two rankers on the embedded collection; yield the output."""
    with made_folder(folder) as place:
        yield from _demo(place, terminal=terminal)


def _demo(place: Path, *, terminal: bool) -> Iterator[str]:
    from heldout.retrieve.first_use import prepare_ranking

    prepare_ranking()  # before other imports: the other process has most to do
    from heldout.data.collection_files import read_collection
    from heldout.experiment.experiment import Experiment
    from heldout.report.experiment import results_text
    from heldout.report.page.of_results import part_of_results
    from heldout.report.page.render import render_page, write_page
    from heldout.retrieve.analyze import Analyzer
    from heldout.retrieve.index import Index

    collection = read_collection("pydocs")
    yield (
        f"The embedded collection pydocs: {len(collection.documents):,} documents, "
        f"{len(collection.queries):,} queries, {len(collection.qrels):,} judgements.\n"
        "BM25 (16 settings) and query likelihood (6 settings) are tuned inside the folds.\n"
    )
    index = Index.build(collection, Analyzer(stop="english", stemmer="english"))
    parts: list[Part] = []
    for by, folds, heading, name in _PLANS:
        yield f"{heading}\n"
        experiment = Experiment(
            collection=collection,
            systems=_SYSTEMS,
            by=by,
            plan={"folds": folds},
            measures=[_MEASURE],
            index=index,
        )
        results = experiment.run(place / name, force=True, progress=terminal)
        part = part_of_results(results, heading=heading, collection=collection)
        parts.append(part)
        yield results_text(results, terminal=terminal)
    made = [("this page", "heldout demo")]
    page = render_page("BM25 or query likelihood on pydocs?", parts, made=made)
    write_page(place / "report.html", page)
    yield f"Open {place / 'report.html'} in a browser; the results are in {place}."
    yield f"Next, try another pair of models: {_NEXT}"

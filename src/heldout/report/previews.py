"""The first rows of data, as tables."""

from __future__ import annotations

from itertools import islice
from typing import TYPE_CHECKING, Final

from heldout.data.notes import count_of
from heldout.report.tables import Table

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from heldout.data.collection import Collection
    from heldout.data.run import Qrels, Run
    from heldout.resample.split import Splits

__all__ = ["collection_preview", "qrels_preview", "run_preview", "splits_preview"]

SHOWN: Final = 10
"""Rows that are shown."""

WIDE: Final = 100
"""Characters of a text that are shown."""


def run_preview(run: Run) -> Table:
    """The best documents of the first queries."""
    rows = [
        [query, str(run.docs[at]), str(rank), f"{run.scores[at]:.4f}"]
        for query, rank, at in islice(_places(run.queries, run.offsets.tolist()), SHOWN)
    ]
    sizes = f"{count_of(len(run.queries), 'query', 'queries')}, {count_of(len(run), 'row')}"
    head = ["query", "document", "rank", "score"]
    return Table(head, rows, f"Run {run.name}: {sizes}", texts=2, notes=_first(len(rows), len(run)))


def qrels_preview(qrels: Qrels) -> Table:
    """The first judgements."""
    rows = [
        [query, str(qrels.docs[at]), str(qrels.grades[at])]
        for query, _, at in islice(_places(qrels.queries, qrels.offsets.tolist()), SHOWN)
    ]
    sizes = f"{count_of(len(qrels.queries), 'query', 'queries')}, "
    sizes += count_of(len(qrels), "judgement")
    head = ["query", "document", "grade"]
    return Table(head, rows, f"Judgements: {sizes}", texts=2, notes=_first(len(rows), len(qrels)))


def _places(queries: Sequence[str], offsets: list[int]) -> Iterator[tuple[str, int, int]]:
    """Query, rank from 1, and row."""
    for number, query in enumerate(queries):
        start, end = offsets[number : number + 2]
        yield from ((query, at - start + 1, at) for at in range(start, end))


def _first(shown: int, count: int) -> tuple[str, ...]:
    return (f"The first {shown} of {count:,}.",) if shown < count else ()


def collection_preview(collection: Collection) -> Table:
    """The first queries, and how many of all there are."""
    from heldout.data.collection import collection_sizes

    queries = collection.queries
    rows = [
        [name, " ".join(text.split())[:WIDE]]
        for name, text in islice(zip(queries.ids, queries.texts, strict=True), SHOWN)
    ]
    title = f"Collection {collection.name}: {collection_sizes(collection)}"
    return Table(["query", "text"], rows, title, texts=2, notes=_first(len(rows), len(queries.ids)))


def splits_preview(splits: Splits) -> Table:
    """The sizes of the first splits."""
    first = islice((splits[number] for number in range(len(splits))), SHOWN)
    rows = [[str(one.key), f"{one.n_train:,}", f"{one.n_test:,}"] for one in first]
    count, units = len(splits), f"{len(splits.units):,} {splits.units.plural}"
    title = f"{count_of(count, 'split')} of {units} by {splits.plan!r}"
    return Table(["split", "training", "held out"], rows, title, notes=_first(len(rows), count))

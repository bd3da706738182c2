"""A collection in words and as JSON."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from heldout.notes import count_of
from heldout.report.tables import note_lines, plain_text

if TYPE_CHECKING:
    from collections.abc import Iterator

    from heldout.data.collection import Collection
    from heldout.data.words import Ints


def describe(collection: Collection) -> dict[str, Any]:
    """Return sizes, lengths, judgements and notes of a collection; its documents are read once."""
    in_queries = [len(text.split()) for text in collection.queries.texts]
    grades, times = np.unique(collection.qrels.grades, return_counts=True)
    return {
        "name": collection.name,
        "fingerprint": collection.fingerprint(),
        "documents": len(collection.documents),
        "queries": len(collection.queries),
        "judgements": len(collection.qrels),
        "judged_queries": len(collection.qrels.queries),
        "document_words": _spread(collection.documents.word_counts()),
        "query_words": _spread(np.array(in_queries, np.int64)),
        "judged_per_query": _spread(np.diff(collection.qrels.offsets)),
        "grades": {str(grade): int(count) for grade, count in zip(grades, times, strict=True)},
        "notes": [note.to_dict() for note in collection.notes],
    }


def _spread(values: Ints) -> dict[str, float] | None:
    """Return minimum, quartiles, maximum and sum of some numbers; None if there are none."""
    if not len(values):
        return None
    lower, median, upper = np.quantile(values, (0.25, 0.5, 0.75)).tolist()
    least, most, total = int(values.min()), int(values.max()), int(values.sum())
    return dict(least=least, lower=lower, median=median, upper=upper, most=most, total=total)  # noqa: C408


def collection_text(collection: Collection, *, notes: bool = True) -> str:
    """What there is to know of a collection, line by line."""
    lines = [f"{name:14}{value}" for name, value in _rows(collection)]
    lines += map(plain_text, note_lines(collection.notes)) if notes else ()
    return "".join(line.rstrip() + "\n" for line in lines)


def _rows(collection: Collection) -> Iterator[tuple[str, str]]:
    found = describe(collection)
    yield "collection", plain_text(found["name"])
    yield "documents", f"{found['documents']:,}"
    yield "  words", _in_words(found["document_words"])
    yield "queries", f"{found['queries']:,}"
    yield "  words", _in_words(found["query_words"])
    judged = count_of(found["judged_queries"], "query", "queries")
    yield "judgements", f"{found['judgements']:,} of {judged}"
    if found["judged_per_query"] is not None:
        yield "  per query", _in_words(found["judged_per_query"])
        yield "  grades", ", ".join(f"{grade}: {n:,}" for grade, n in found["grades"].items())
    yield "fingerprint", found["fingerprint"]


def _in_words(found: dict[str, float] | None) -> str:
    if found is None:
        return "none"
    return (
        f"median {found['median']:,g} (quartiles {found['lower']:,g} to {found['upper']:,g}), "
        f"min {found['least']:,}, max {found['most']:,}, total {found['total']:,}"
    )

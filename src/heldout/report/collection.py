"""A collection in words and as JSON."""

from __future__ import annotations

from dataclasses import asdict
from typing import TYPE_CHECKING

from heldout.as_json import json_text
from heldout.data.notes import count_of
from heldout.report.tables import note_lines, plain_text

if TYPE_CHECKING:
    from collections.abc import Iterator

    from heldout.data.describe import Description, Spread

__all__ = ["collection_json", "collection_text"]

_WIDTH = 14


def collection_text(description: Description) -> str:
    """What there is to know of a collection, line by line."""
    return "".join(line.rstrip() + "\n" for line in _lines(description))


def _lines(found: Description) -> Iterator[str]:
    yield _row("collection", plain_text(found.name))
    yield _row("documents", f"{found.documents:,}")
    yield _row("  words", _spread(found.document_words))
    yield _row("queries", f"{found.queries:,}")
    yield _row("  words", _spread(found.query_words))
    yield _row(
        "judgements",
        f"{found.judgements:,} of {count_of(found.judged_queries, 'query', 'queries')}",
    )
    if found.judged_per_query is not None:
        yield _row("  per query", _spread(found.judged_per_query))
        grades = ", ".join(f"{grade}: {count:,}" for grade, count in found.grades)
        yield _row("  grades", grades)
    yield _row("fingerprint", found.fingerprint)
    yield from map(plain_text, note_lines(found.notes))


def _row(name: str, value: str) -> str:
    return f"{name:{_WIDTH}}{value}"


def _spread(found: Spread | None) -> str:
    if found is None:
        return "none"
    return (
        f"median {found.median:,g} (quartiles {found.lower:,g} to {found.upper:,g}), "
        f"min {found.least:,}, max {found.most:,}, total {found.total:,}"
    )


def collection_json(description: Description) -> str:
    """The same as JSON, for programs."""
    found = asdict(description)
    found["grades"] = {str(grade): count for grade, count in description.grades}
    found["notes"] = [note.to_dict() for note in description.notes]
    return json_text(found)

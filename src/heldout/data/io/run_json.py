"""Runs and judgements as JSON objects ``{query: {document: number}}``.

Errors name the query and the document: such files often have one line.
"""

from __future__ import annotations

import math
from functools import partial
from typing import Any

from heldout.data.io.decode import decode_text, parse_json
from heldout.errors import FormatError

__all__ = ["parse_lists"]

Columns = tuple[list[str], list[str], list[Any]]


def parse_lists(content: bytes, source: str) -> Columns:
    """Return queries, documents and numbers of a JSON object, one entry per document.

    Parameters
    ----------
    content
        The bytes of the file.
    source
        Its name in messages.
    """
    text = decode_text(content, source)
    lists = parse_json(text, source, object_pairs_hook=partial(_once, source))
    queries: list[str] = []
    docs: list[str] = []
    values: list[Any] = []
    for query, inner in lists.items():
        if not isinstance(inner, dict):
            raise FormatError(
                source,
                f"query {query!r} has {type(inner).__name__}, "
                "expected an object {document: number}",
            )
        for doc, value in inner.items():
            if not _is_number(value):
                raise FormatError(
                    source,
                    f"query {query!r}, document {doc!r}: {value!r} is not a "
                    f"{'finite ' if isinstance(value, float) else ''}number",
                )
            queries.append(query)
            docs.append(doc)
            values.append(value)
    return queries, docs, values


def _is_number(value: Any) -> bool:
    if isinstance(value, float):
        return math.isfinite(value)
    return isinstance(value, int) and not isinstance(value, bool)


def _once(source: str, pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    """Return a JSON object; raise an error for repeated names, of which json keeps the last."""
    found = dict(pairs)
    if len(found) < len(pairs):
        seen: set[str] = set()
        twice = next(name for name, _ in pairs if name in seen or seen.add(name))  # type: ignore[func-returns-value]
        raise FormatError(
            source, f"the name {twice!r} appears twice in one JSON object: keep one of them"
        )
    return found

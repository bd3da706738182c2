"""Runs and judgements as JSON objects ``{query: {document: number}}``.

The parser of the standard library is fast but does not keep positions. Only for an error is the
text scanned a second time, member by member, to find the line.
"""

from __future__ import annotations

import json
import math
import re
from typing import TYPE_CHECKING, Any, Final

from heldout.data.io.decode import decode_text, parse_json
from heldout.errors import FormatError

if TYPE_CHECKING:
    from collections.abc import Iterator

__all__ = ["line_of", "parse_lists"]

Columns = tuple[list[str], list[str], list[Any]]

_BETWEEN: Final = re.compile(r"[ \t\n\r]*[,:{}]?[ \t\n\r]*")


class _TwiceError(Exception):
    """A name that appears twice in one object."""


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
    try:
        lists = parse_json(text, source, object_pairs_hook=_once)
    except _TwiceError as error:
        name = error.args[0]
        raise FormatError(
            f"{source}:{_line_of_second(text, name)}",
            f"the name {name!r} appears twice in one JSON object: keep one of them",
        ) from None
    return _columns(lists, text, source)


def _columns(lists: dict[str, Any], text: str, source: str) -> Columns:
    queries: list[str] = []
    docs: list[str] = []
    values: list[Any] = []
    for query, inner in lists.items():
        if not isinstance(inner, dict):
            raise FormatError(
                f"{source}:{_line_of(text, query)}",
                f"query {query!r} has {type(inner).__name__}, "
                "expected an object {document: number}",
            )
        for doc, value in inner.items():
            if not _is_number(value):
                raise FormatError(
                    f"{source}:{_line_of(text, query, doc)}",
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


def _once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    """Return a JSON object; raise an error for repeated names, of which json keeps the last."""
    found = dict(pairs)
    if len(found) < len(pairs):
        seen: set[str] = set()
        raise _TwiceError(next(name for name, _ in pairs if name in seen or seen.add(name)))  # type: ignore[func-returns-value]
    return found


def _members(text: str, begin: int) -> Iterator[tuple[str, int, int]]:
    """Yield the names in the object at `begin`, with the positions of name and value."""
    decoder = json.JSONDecoder()
    at = _skip(text, begin)
    while text[at] == '"':
        name, end = decoder.raw_decode(text, at)
        value = _skip(text, end)
        yield name, at, value
        _, end = decoder.raw_decode(text, value)
        separator = _BETWEEN.match(text, end)
        if separator is None or "," not in separator[0]:
            return
        at = separator.end()


def _skip(text: str, at: int) -> int:
    """Return the position after white space and one punctuation mark."""
    found = _BETWEEN.match(text, at)
    return at if found is None else found.end()


def _top(text: str) -> int:
    return text.index("{")


def line_of(content: bytes, query: str, doc: str) -> int:
    """Return the line of a document of a query in a file that `parse_lists` has read."""
    return _line_of(content.decode(), query, doc)


def _line_of(text: str, query: str, doc: str | None = None) -> int:
    """Return the line of a query, or of a document of it."""
    for name, at, value in _members(text, _top(text)):
        if name == query and doc is not None:
            return next(
                _line(text, there) for other, there, _ in _members(text, value) if other == doc
            )
        if name == query:
            return _line(text, at)
    raise AssertionError  # the parser found it


def _line_of_second(text: str, wanted: str) -> int:
    """Return the line where a name appears the second time in one object."""
    seen = 0
    for name, at, value in _members(text, _top(text)):
        inner = _members(text, value) if text[value] == "{" else iter(())
        again = [there for other, there, _ in inner if other == wanted]
        if len(again) > 1:
            return _line(text, again[1])
        seen += name == wanted
        if seen > 1:
            return _line(text, at)
    return 1  # nested deeper than documents


def _line(text: str, at: int) -> int:
    return 1 + text.count("\n", 0, at)

"""Queries in files: TREC topics, JSON lines, tables, or one query per line."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, NamedTuple

from heldout.data.document_files import (
    TEXT_NAMES,
    json_id,
    json_text,
    resolve_entities,
    separator_of,
    text_rows,
    without_comments,
)
from heldout.data.files import json_object, read_head, text_lines
from heldout.data.notes import named_few
from heldout.data.queries import Queries
from heldout.data.tables import parquet_rows
from heldout.errors import FormatError, InputError

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from heldout.data.files import Reading


QUERY_IDS = ("_id", "query_id", "qid", "query-id", "id", "topic", "number", "num")
_TEXTS = ("title", "query", *TEXT_NAMES, "question")
_OTHERS = {"desc": "description", "narr": "narrative"}


class QueryRow(NamedTuple):
    """A query of a file: its line, its id and its texts by field."""

    line: int
    id: str
    fields: dict[str, str]


def read_queries(
    path: str, reading: Reading, *, field: str = "title", first_line: int | None = None
) -> Queries:
    """Read queries.

    Parameters
    ----------
    path
        TREC topics, JSON lines, CSV, TSV, Parquet, or one query per line.
    reading
        The encoding.
    field
        The field to search for, or several joined by ``+``.
    first_line
        The id of the query in the first line of a file without ids; None if the file must have ids.
    """
    queries = _assemble(path, _rows(path, reading, first_line))
    try:
        return queries.by_field(field)
    except InputError as error:
        raise InputError(f"{path}: {error}") from None


def _rows(path: str, reading: Reading, first_line: int | None) -> Iterator[QueryRow]:
    start = read_head(path)
    head = start.decode(errors="replace")
    if start.startswith(b"PAR1"):
        return _table_rows(path, parquet_rows(path))
    if head.lstrip().startswith("{"):
        return _json_rows(path, reading)
    if is_topics(head):
        text = "".join(line for _, line in text_lines(path, reading))
        return topics(text, path)
    separator = separator_of(head)
    if separator is not None:
        return _table_rows(path, text_rows(path, separator, reading, QUERY_IDS))
    if first_line is None:
        raise InputError(
            f"{path}: the queries have no ids; expected TREC topics, JSON lines with _id and text, "
            "a table with a header, or lines with id, tab and text"
        )
    return _line_rows(path, reading, first_line)


def _line_rows(path: str, reading: Reading, first: int) -> Iterator[QueryRow]:
    for number, line in text_lines(path, reading):
        yield QueryRow(number, str(first + number - 1), {"title": line.rstrip("\r\n")})


def _json_rows(path: str, reading: Reading) -> Iterator[QueryRow]:
    for line, text in text_lines(path, reading):
        if not text.strip():
            continue
        where = f"{path}:{line}"
        found = json_object(text, path, line)
        one = json_id(found, QUERY_IDS, where)
        texts = {
            name: json_text(value, name, where)
            for name, value in found.items()
            if isinstance(value, str) or (value is None and name in _TEXTS)
        }
        yield QueryRow(line, one, _named(texts, where))


def _table_rows(path: str, rows: Iterable[tuple[int, dict[str, str]]]) -> Iterator[QueryRow]:
    for line, row in rows:
        where = f"{path}:{line}"
        one = next((row[name] for name in QUERY_IDS if name in row), None)
        if not one:
            raise FormatError(where, f"no query id: expected one of {', '.join(QUERY_IDS)}")
        yield QueryRow(line, one.strip(), _named(row, where))


def _named(texts: dict[str, str], where: str) -> dict[str, str]:
    """Return the fields of a query by standard names; the text to search for is the title."""
    main = next((name for name in _TEXTS if name in texts), None)
    if main is None:
        raise FormatError(
            where,
            f"no text: expected one of {', '.join(_TEXTS)}, found "
            f"{named_few(texts, len(texts), 10)}",
        )
    fields = {"title": texts[main] or ""}
    for name, text in texts.items():
        if name not in {main, *QUERY_IDS}:
            fields.setdefault(_OTHERS.get(name, name), text or "")
    return fields


def _assemble(path: str, rows: Iterable[QueryRow]) -> Queries:
    lines: dict[str, int] = {}
    contents = []
    for row in rows:
        if row.id in lines:
            raise FormatError(
                f"{path}:{row.line}",
                f"the query id {row.id!r} appears twice (first in line {lines[row.id]}): keep one "
                "of them",
            )
        if not row.id:
            raise FormatError(f"{path}:{row.line}", "the query has an empty id")
        lines[row.id] = row.line
        contents.append(row.fields)
    if not lines:
        raise InputError(f"{path}: no queries found")
    names = dict.fromkeys(name for fields in contents for name in fields)
    columns = {name: tuple(fields.get(name, "") for fields in contents) for name in names}
    title = columns.get("title", tuple("" for _ in contents))
    return Queries(tuple(lines), title, {"title": title, **columns})


# TREC topics: <top> with unclosed fields, or <topic number="…"> with closed ones

_OPENING = re.compile(r"<(?P<tag>topic|top)(?P<attributes>\s[^<>]*)?>", re.IGNORECASE)
_ENDS = {
    "top": re.compile(r"</top\s*>", re.IGNORECASE),
    "topic": re.compile(r"</topic\s*>", re.IGNORECASE),
}
_NUMBER = re.compile(r"""\b(?:number|id|num)\s*=\s*["']([^"']*)["']""", re.IGNORECASE)
_FIELD = re.compile(r"<(?P<end>/?)(?P<name>[A-Za-z][\w-]*)[^<>]*>")
_LABEL = re.compile(r"^\s*(?:number|topic|title|description|narrative|domain)\s*:", re.IGNORECASE)
_NAMES = {
    "query": "title",
    "desc": "description",
    "question": "description",
    "narr": "narrative",
    "number": "num",
}


def is_topics(head: str) -> bool:
    """Return whether a text begins like TREC topics."""
    found = _OPENING.search(head)
    return found is not None and head.lstrip().startswith("<")


def topics(text: str, path: str) -> Iterator[QueryRow]:
    """Yield the topics in a text."""
    line, at = 1, 0
    while found := _OPENING.search(text, at):
        line += text.count("\n", at, found.start())
        at = found.start()
        end = _ENDS[found["tag"].lower()].search(text, found.end())
        if end is None or _OPENING.search(text, found.end(), end.start()):
            raise FormatError(f"{path}:{line}", "the topic that begins here is not closed")
        fields = _fields(without_comments(text[found.end() : end.start()]))
        attribute = _NUMBER.search(found["attributes"] or "")
        one = attribute[1].strip() if attribute else fields.pop("num", "")
        if not one:
            raise FormatError(f"{path}:{line}", "the topic has no number")
        yield QueryRow(line, one, fields)
        line += text.count("\n", at, end.end())
        at = end.end()


def _fields(body: str) -> dict[str, str]:
    """Return the text after each opening tag, up to the next tag."""
    marks = list(_FIELD.finditer(body))
    if not marks:
        return {}
    ends = [mark.start() for mark in marks[1:]] + [len(body)]
    fields: dict[str, str] = {}
    for mark, end in zip(marks, ends, strict=True):
        if mark["end"]:
            continue
        name = mark["name"].lower()
        name = _NAMES.get(name, name)
        content = resolve_entities(_LABEL.sub("", body[mark.end() : end]))
        content = " ".join(filter(None, (part.strip() for part in content.split("\n"))))
        fields[name] = f"{fields[name]} {content}".strip() if name in fields else content
    return fields

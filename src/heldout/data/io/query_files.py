"""Queries in files: TREC topics, JSON lines, tables, or one query per line."""

from __future__ import annotations

from typing import TYPE_CHECKING

from heldout.data.files import read_head, text_lines
from heldout.data.io.document_tables import separator_of, text_rows
from heldout.data.io.jsonl import TEXT_NAMES, json_id, json_objects, json_text
from heldout.data.io.topics import QueryRow, is_topics, topics
from heldout.data.notes import named_few
from heldout.data.queries import Queries
from heldout.data.tables import parquet_rows
from heldout.errors import FormatError, InputError

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from heldout.data.files import Reading

__all__ = ["read_queries"]


QUERY_IDS = ("_id", "query_id", "qid", "query-id", "id", "topic", "number", "num")
_TEXTS = ("title", "query", *TEXT_NAMES, "question")
_OTHERS = {"desc": "description", "narr": "narrative"}


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
    for line, found in json_objects(path, reading):
        where = f"{path}:{line}"
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

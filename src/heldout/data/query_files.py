"""Queries in files: TREC topics, JSON lines, tables, or one query per line."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any, TypeAlias

from heldout.data.document_files import (
    TEXT_NAMES,
    json_id,
    pick,
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


QueryRow: TypeAlias = tuple[int, str, dict[str, str]]
"""A query of a file: its line, its id and its texts by field."""


def read_queries(
    path: str, reading: Reading, *, field: str = "title", first_line: int | None = None
) -> Queries:
    """Read TREC topics, JSON lines, CSV, TSV, Parquet, or one query per line.

    `field` is the one to search for, or several joined by ``+``. `first_line` is the id of the
    query in the first line of a file without ids; None if the file must have ids.
    """
    lines: dict[str, int] = {}
    contents = []
    for line, one, fields in _rows(path, reading, first_line):
        where = f"{path}:{line}"
        if one in lines:
            raise FormatError(
                where,
                f"the query id {one!r} appears twice (first in line {lines[one]}): keep one of "
                "them",
            )
        if not one:
            raise FormatError(where, "the query has an empty id")
        lines[one] = line
        contents.append(fields)
    if not lines:
        raise InputError(f"{path}: no queries found")
    names = dict.fromkeys(["title", *(name for fields in contents for name in fields)])
    columns = {name: tuple(fields.get(name, "") for fields in contents) for name in names}
    try:
        return Queries(lines, columns["title"], columns).by_field(field)
    except InputError as error:
        raise InputError(f"{path}: {error}") from None


def _rows(path: str, reading: Reading, first_line: int | None) -> Iterator[QueryRow]:
    start = read_head(path)
    head = start.decode(errors="replace")
    if start.startswith(b"PAR1"):
        return _named_rows(path, parquet_rows(path))
    lines = text_lines(path, reading)
    if head.lstrip().startswith("{"):
        objects = ((line, json_object(text, path, line)) for line, text in lines if text.strip())
        return _named_rows(path, objects)
    if re.match(r"\s*<(?:.*<)?top(?:ic)?[\s>]", head, re.IGNORECASE | re.DOTALL):
        return _topics("".join(line for _, line in lines), path)
    separator = separator_of(head)
    if separator is not None:
        return _named_rows(path, text_rows(path, separator, reading, QUERY_IDS))
    if first_line is None:
        raise InputError(
            f"{path}: the queries have no ids; expected TREC topics, JSON lines with _id and text, "
            "a table with a header, or lines with id, tab and text"
        )
    return (
        (number, str(first_line + number - 1), {"title": line.rstrip("\r\n")})
        for number, line in lines
    )


def _named_rows(path: str, rows: Iterable[tuple[int, dict[str, Any]]]) -> Iterator[QueryRow]:
    """Yield JSON objects or rows of a table; the text to search for is the title."""
    for line, row in rows:
        where = f"{path}:{line}"
        one = json_id(row, QUERY_IDS, where)
        texts = {name: text for name, text in row.items() if isinstance(text, str | None)}
        main = pick(texts, _TEXTS)
        if main is None:
            raise FormatError(
                where,
                f"no text: expected one of {', '.join(_TEXTS)}, found "
                f"{named_few(row, len(row), 10)}",
            )
        fields = {"title": texts[main] or ""}
        for name, text in texts.items():
            if name not in {main, *QUERY_IDS}:
                fields.setdefault(_OTHERS.get(name, name), text or "")
        yield line, one, fields


# TREC topics: <top> with unclosed fields, or <topic number="…"> with closed ones

_TOPIC = re.compile(
    r"<(topic|top)(\s[^<>]*)?>(.*?)(</\1\s*>|(?=<top(?:ic)?[\s>])|\Z)", re.IGNORECASE | re.DOTALL
)
_NUMBER = re.compile(r"""\b(?:number|id|num)\s*=\s*["']([^"']*)["']""", re.IGNORECASE)
_TAG = re.compile(r"<(/?)([A-Za-z][\w-]*)[^<>]*>")
_LABEL = re.compile(r"^\s*(?:number|topic|title|description|narrative|domain)\s*:", re.IGNORECASE)
_NAMES = {"query": "title", "question": "description", "number": "num", **_OTHERS}


def _topics(text: str, path: str) -> Iterator[QueryRow]:
    """Yield the topics in a text."""
    line, at = 1, 0
    for found in _TOPIC.finditer(text):
        line += text.count("\n", at, found.start())
        at = found.start()
        _, attributes, body, end = found.groups("")
        if not end:
            raise FormatError(f"{path}:{line}", "the topic that begins here is not closed")
        fields = _fields(without_comments(body))
        attribute = _NUMBER.search(attributes)
        one = attribute[1].strip() if attribute else fields.pop("num", "")
        if not one:
            raise FormatError(f"{path}:{line}", "the topic has no number")
        yield line, one, fields


def _fields(body: str) -> dict[str, str]:
    """Return the text after each opening tag, up to the next tag."""
    fields: dict[str, str] = {}
    _, *parts = _TAG.split(body)
    for end, tag, text in zip(parts[::3], parts[1::3], parts[2::3], strict=True):
        if not end:
            name = _NAMES.get(tag.lower(), tag.lower())
            lines = resolve_entities(_LABEL.sub("", text)).split("\n")
            content = filter(None, [fields.get(name), *(line.strip() for line in lines)])
            fields[name] = " ".join(content)
    return fields

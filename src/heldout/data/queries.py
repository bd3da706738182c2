"""Queries: ids and texts, with other fields of topics; read from files of several formats."""

from __future__ import annotations

import re
from collections import Counter
from typing import TYPE_CHECKING, Any, Final, TypeAlias

from heldout.data.document_files import (
    COMMENT,
    TEXT_NAMES,
    json_id,
    needed,
    resolve_entities,
    separator_of,
    text_rows,
)
from heldout.data.documents import text_pairs
from heldout.data.files import json_object, read_head, text_lines
from heldout.data.ids import as_id, encode_ids
from heldout.data.tables import parquet_rows
from heldout.errors import FormatError, InputError
from heldout.notes import Note, named_few

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from heldout.data.files import Reading

ID_NAMES: Final = ("_id", "query_id", "qid", "query-id", "id", "topic", "number", "num")
_TEXTS: Final = ("title", "query", *TEXT_NAMES, "question")
_OTHERS: Final = {"desc": "description", "narr": "narrative"}

QueryRow: TypeAlias = tuple[int, str, dict[str, str]]  # line, id, and texts by field


class Queries:
    """The queries of a collection; `fields` have all texts by name, one per query."""

    def __init__(
        self,
        ids: Iterable[str],
        texts: Iterable[str],
        fields: Mapping[str, tuple[str, ...]] | None = None,
    ) -> None:
        self.ids = tuple(map(as_id, ids))
        self.texts = tuple(texts)
        self.fields = dict(fields or {})
        if len(self.ids) != len(self.texts):
            raise InputError(f"{len(self.ids)} query ids, but {len(self.texts)} texts")
        encode_ids(self.ids)
        if "" in self.ids:
            raise InputError(f"query {self.ids.index('') + 1} has an empty id")
        if len(set(self.ids)) < len(self.ids):
            (twice, _), *_ = Counter(self.ids).most_common(1)
            raise InputError(f"the query id {twice!r} appears twice: keep one of them")

    def __len__(self) -> int:
        return len(self.ids)

    def __repr__(self) -> str:
        return f"Queries({len(self)})"

    def pairs(self) -> Iterator[tuple[str, str]]:
        """Return id and text of every query."""
        return zip(self.ids, self.texts, strict=True)

    def to_dict(self) -> dict[str, str]:
        """Return ``{id: text}``."""
        return dict(self.pairs())

    def take(self, numbers: Sequence[int], ids: Iterable[str] | None = None) -> Queries:
        """Return the queries at some positions, under their own or other ids."""

        def some(column: tuple[str, ...]) -> tuple[str, ...]:
            return tuple(column[number] for number in numbers)

        fields = {name: some(column) for name, column in self.fields.items()}
        return Queries(some(self.ids) if ids is None else ids, some(self.texts), fields)

    def by_field(self, name: str) -> Queries:
        """Return the same queries with the text of another field, or of several joined by ``+``."""
        wanted = [field.strip() for field in name.split("+")]
        unknown = [field for field in wanted if field not in self.fields]
        if unknown:
            raise InputError(
                f"the queries have no field {unknown[0]!r}; they have "
                f"{', '.join(self.fields) or 'one text each'}"
            )
        columns = zip(*(self.fields[field] for field in wanted), strict=True)
        return Queries(self.ids, (" ".join(filter(None, parts)) for parts in columns), self.fields)

    def notes(self) -> list[Note]:
        """Return a note about queries without text, if there are any."""
        empty = [query_id for query_id, text in self.pairs() if not text.strip()]
        message = f"queries without text: {len(empty)} ({named_few(empty, len(empty))})"
        return [Note("empty-queries", message, count=len(empty))] if empty else []


def queries_of(given: Queries | Mapping[str, str] | Sequence[tuple[str, str]]) -> Queries:
    """Make queries from ``{id: text}`` or from pairs of id and text."""
    return given if isinstance(given, Queries) else Queries(*text_pairs(given, "query"))


def read_queries(
    path: str, reading: Reading, *, field: str = "title", first_line: int | None = None
) -> Queries:
    """Read queries; `first_line` is the first id for a file without ids, None: it must have ids."""
    lines: dict[str, int] = {}
    contents = []
    for line, query_id, fields in _rows(path, reading, first_line):
        where = f"{path}:{line}"
        if query_id in lines:
            raise FormatError(
                where,
                f"the query id {query_id!r} appears twice (first in line {lines[query_id]}): keep "
                "one of them",
            )
        if not query_id:
            raise FormatError(where, "the query has an empty id")
        lines[query_id] = line
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
    if separator_of(head):
        return _named_rows(path, text_rows(path, reading, ID_NAMES))
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
        query_id = json_id(row, ID_NAMES, where)
        texts = {name: text or "" for name, text in row.items() if isinstance(text, str | None)}
        main = needed(texts, _TEXTS, "text", where)
        fields = {"title": texts.pop(main)}
        for name, text in texts.items():
            if name not in ID_NAMES:
                fields.setdefault(_OTHERS.get(name, name), text)
        yield line, query_id, fields


# TREC topics: <top> with unclosed fields, or <topic number="…"> with closed ones

_TOPIC: Final = re.compile(
    r"<(topic|top)(\s[^<>]*)?>(.*?)(</\1\s*>|(?=<top(?:ic)?[\s>])|\Z)", re.IGNORECASE | re.DOTALL
)
_NUMBER: Final = re.compile(r"""\b(?:number|id|num)\s*=\s*["']([^"']*)["']""", re.IGNORECASE)
_TAG: Final = re.compile(r"<(/?)([A-Za-z][\w-]*)[^<>]*>")
_LABEL: Final = re.compile(
    r"^\s*(?:number|topic|title|description|narrative|domain)\s*:", re.IGNORECASE
)
_NAMES: Final = {"query": "title", "question": "description", "number": "num", **_OTHERS}


def _topics(text: str, path: str) -> Iterator[QueryRow]:
    """Yield the topics in a text."""
    for match in _TOPIC.finditer(text):
        line = 1 + text.count("\n", 0, match.start())
        _, attributes, body, end = match.groups("")
        if not end:
            raise FormatError(f"{path}:{line}", "the topic that begins here is not closed")
        fields = _fields(COMMENT.sub("", body))
        attribute = _NUMBER.search(attributes)
        query_id = attribute[1].strip() if attribute else fields.pop("num", "")
        if not query_id:
            raise FormatError(f"{path}:{line}", "the topic has no number")
        yield line, query_id, fields


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

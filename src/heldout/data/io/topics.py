"""TREC topics: ``<top>`` with unclosed fields, or ``<topic number="…">`` with closed ones."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, NamedTuple

from heldout.data.io.trec_documents import resolve_entities, without_comments
from heldout.errors import FormatError

if TYPE_CHECKING:
    from collections.abc import Iterator

__all__ = ["QueryRow", "is_topics", "topics"]

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


class QueryRow(NamedTuple):
    """A query of a file: its line, its id and its texts by field."""

    line: int
    id: str
    fields: dict[str, str]


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

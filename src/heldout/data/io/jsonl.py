"""Documents as JSON lines: one object per line, with an id, a text and optionally a title."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any, Final

from heldout.data.files import blocks, encoded, json_object
from heldout.data.io.records import Record, RecordDocuments, joined_text
from heldout.data.notes import named_few
from heldout.errors import FormatError

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from heldout.data.files import Reading

__all__ = ["ID_NAMES", "TEXT_NAMES", "JsonLines", "json_id", "json_objects", "json_text", "pick"]

ID_NAMES = ("_id", "id", "doc_id", "docno", "docid", "document_id")
TEXT_NAMES = ("text", "contents", "content", "body", "passage")
_SCAN: Final = json.JSONDecoder().raw_decode
"""What `json.loads` calls, without its checks of the text before and after."""
_BLANKS: Final = " \t\n\r"
"""White space in JSON; `str.strip` removes more."""


class JsonLines(RecordDocuments):
    """Documents in files of JSON lines (BEIR, Pyserini, ir_datasets)."""

    __slots__ = ()

    def records(self, path: str, begin: int) -> Iterator[Record]:
        """Yield the documents of a file from byte `begin`."""
        for offset, line, raw in _lines(path, begin):
            yield self._record(path, offset, line, raw)

    def _record(self, path: str, offset: int, line: int, raw: bytes) -> Record:
        reading = self._reading
        quick = _plain_document(raw) if reading.is_utf8 and reading.fields is None else None
        if quick is not None:
            return Record(*quick, offset, line)
        where = f"{path}:{line}"
        found = _decoded(raw, path, line, reading)
        one = json_id(found, ID_NAMES, where)
        text = joined_text(_fields(found, reading.fields, where))
        return Record(one, encoded(text, where), offset, line)


def json_objects(path: str, reading: Reading) -> Iterator[tuple[int, dict[str, Any]]]:
    """Yield line number and content of each line that is not empty."""
    for _, number, raw in _lines(path, 0):
        yield number, _decoded(raw, path, number, reading)


def _lines(path: str, begin: int) -> Iterator[tuple[int, int, bytes]]:
    """Yield offset, number and bytes of each line that is not empty."""
    for block in blocks(path, begin):
        offset = block.offset
        for number, raw in enumerate(block.raw.split(b"\n"), block.line):
            if raw and not raw.isspace():
                yield offset, number, raw
            offset += len(raw) + 1


def _plain_document(raw: bytes) -> tuple[str, bytes] | None:
    """Return id and text of a usual line; None if the strict reader has to read it.

    This is faster than the strict reader, which returns the same and reports errors.
    """
    try:
        line = raw.decode()
        found, end = _SCAN(line)
        one = found["_id" if "_id" in found else "id"]
        text = found["text" if "text" in found else "contents"]
        title = found.get("title", "")
        if {type(one), type(text), type(title)} != {str} or line[end:].strip(_BLANKS):
            return None
        if not one.isascii() or "\0" in one:
            return None
        return one, (f"{title}\n{text}" if title and text else title or text).encode()
    except (ValueError, LookupError, TypeError, AttributeError, RecursionError):
        return None


def _decoded(raw: bytes, path: str, line: int, reading: Reading) -> dict[str, Any]:
    return json_object(reading.decode(raw, lambda _: f"{path}:{line}"), path, line)


def pick(found: dict[str, Any], names: Sequence[str]) -> str | None:
    """Return the first of some names that an object has."""
    return next((name for name in names if name in found), None)


def json_id(found: dict[str, Any], names: Sequence[str], where: str) -> str:
    """Return the id of an object: a string or an integer."""
    name = pick(found, names)
    if name is None:
        raise FormatError(
            where, f"no id: expected one of {', '.join(names)}, found {_names(found)}"
        )
    value = found[name]
    if isinstance(value, str):
        if "\0" in value:
            raise FormatError(where, "the id has a zero byte: remove it")
        if not value.isascii() and any(0xD800 <= ord(character) < 0xE000 for character in value):
            raise FormatError(where, f"the id {value!r} is not valid Unicode")
        return value
    if isinstance(value, int) and not isinstance(value, bool):
        return str(value)
    raise FormatError(where, f"the id {value!r} is {type(value).__name__}, expected a text")


def _fields(found: dict[str, Any], wanted: tuple[str, ...] | None, where: str) -> list[str]:
    if wanted is not None:
        if not any(name in found for name in wanted):
            raise FormatError(where, f"no field {' or '.join(wanted)}: found {_names(found)}")
        return [json_text(found.get(name), name, where) for name in wanted]
    name = pick(found, TEXT_NAMES)
    if name is None:
        raise FormatError(
            where, f"no text: expected one of {', '.join(TEXT_NAMES)}, found {_names(found)}"
        )
    title = json_text(found.get("title"), "title", where)
    return [title, json_text(found[name], name, where)]


def json_text(value: Any, name: str, where: str) -> str:
    """Return a text; null is empty, and the texts of a list are joined by newlines."""
    if isinstance(value, str):
        return value
    if value is None:
        return ""
    if isinstance(value, list):
        return joined_text([json_text(one, name, where) for one in value])
    raise FormatError(where, f"the field {name!r} is {type(value).__name__}, expected a text")


def _names(found: dict[str, Any]) -> str:
    return named_few(map(str, found), len(found), 10) or "an empty object"

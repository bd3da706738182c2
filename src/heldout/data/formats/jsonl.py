"""Documents as JSON lines: an object a line, with an id, a text and perhaps a title."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from heldout.data.formats.blocks import Replaced, blocks
from heldout.data.formats.records import Record, RecordDocuments, joined_text
from heldout.errors import FormatError

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from heldout.data.formats.blocks import Reading

__all__ = ["ID_NAMES", "TEXT_NAMES", "JsonLines", "json_id", "json_objects", "json_text", "pick"]

ID_NAMES = ("_id", "id", "doc_id", "docno", "docid", "document_id")
TEXT_NAMES = ("text", "contents", "content", "body", "passage")


class JsonLines(RecordDocuments):
    """Documents in files of JSON lines (BEIR, Pyserini, ir_datasets)."""

    __slots__ = ()

    def records(self, path: str, begin: int, replaced: Replaced) -> Iterator[Record]:
        """The documents of a file, from byte `begin` on."""
        reading = self._reading
        for offset, line, found in json_objects(path, begin, reading, replaced):
            where = f"{path}:{line}"
            one = json_id(found, ID_NAMES, where)
            text = joined_text(_fields(found, reading.fields, where))
            encoded = replaced.encode(text, reading, lambda where=where: where)  # type: ignore[misc]
            yield Record(one, encoded, offset, line)


def json_objects(
    path: str, begin: int, reading: Reading, replaced: Replaced
) -> Iterator[tuple[int, int, dict[str, Any]]]:
    """Offset, line number and content of each line that is not blank."""
    for block in blocks(path, begin):
        offset = block.offset
        for number, raw in enumerate(block.raw.split(b"\n"), block.line):
            if raw and not raw.isspace():
                where = f"{path}:{number}"
                text = replaced.decode(raw, reading, lambda _, where=where: where)  # type: ignore[misc]
                yield offset, number, _object(text, where)
            offset += len(raw) + 1


def _object(text: str, where: str) -> dict[str, Any]:
    try:
        found = json.loads(text)
    except json.JSONDecodeError as error:
        raise FormatError(where, f"not JSON ({error.msg}, column {error.colno})") from None
    except (RecursionError, ValueError):
        raise FormatError(where, "JSON nested too deep, or a number too long") from None
    if not isinstance(found, dict):
        raise FormatError(where, f"a JSON object is expected, not {type(found).__name__}")
    return found


def pick(found: dict[str, Any], names: Sequence[str]) -> str | None:
    """The first of some names that an object has."""
    return next((name for name in names if name in found), None)


def json_id(found: dict[str, Any], names: Sequence[str], where: str) -> str:
    """The id of an object: a text or a whole number."""
    name = pick(found, names)
    if name is None:
        raise FormatError(
            where, f"no id: expected one of {', '.join(names)}, found {_names(found)}"
        )
    value = found[name]
    if isinstance(value, str):
        if "\0" in value:
            raise FormatError(where, "the id holds a zero byte: remove it")
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
    """A text; null is an empty one, and the texts of a list are joined by newlines."""
    if isinstance(value, str):
        return value
    if value is None:
        return ""
    if isinstance(value, list):
        return joined_text([json_text(one, name, where) for one in value])
    raise FormatError(where, f"the field {name!r} is {type(value).__name__}, expected a text")


def _names(found: dict[str, Any]) -> str:
    return ", ".join(map(str, found)) or "an empty object"

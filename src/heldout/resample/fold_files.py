"""Files with the fold or group of each unit, or with the ids of a test set."""

from __future__ import annotations

import json
import re
from io import StringIO
from itertools import takewhile
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from heldout.data.files import decode_text, open_source, parse_json
from heldout.data.tables import delimited_rows
from heldout.errors import FormatError, InputError

if TYPE_CHECKING:
    import os
    from collections.abc import Iterator

ID_NAMES: Final = (
    *("id", "unit", "query_id", "qid", "query-id", "query", "topic"),
    *("doc_id", "docno", "docid", "document", "doc", "instance", "row"),
)


class Entry(NamedTuple):
    """The fold, group or time of a unit in a file."""

    place: str  # file:line, or the file
    unit: str
    value: str
    repeat: str = "0"


def read_values(path: str | os.PathLike[str], what: str) -> list[Entry]:
    """Read a table of two columns, id and `what` (fold, group, time), or JSON ``{id: value}``.

    Columns are separated by tabs, commas, semicolons or spaces, with or without a header, which
    allows a column ``repeat``. ``-`` is standard input.
    """
    name, text = _text(path)
    if text.lstrip()[:1] == "{":
        entries = list(_json_entries(text, name, what))
    else:
        entries = list(_table_entries(text, name, what))
    if not entries:
        raise InputError(f"{name}: no ids found; expected an id and its {what} on each line")
    refuse_repeated(entries, what)
    return entries


def read_column(path: str | os.PathLike[str], what: str) -> dict[str, str]:
    """Read the group or time of each id; see `read_values`."""
    return {entry.unit: entry.value for entry in read_values(path, what)}


def read_id_lines(path: str | os.PathLike[str]) -> list[str]:
    """Read a file with one id per line; empty lines and comments (``#``) are skipped."""
    name, text = _text(path)
    stripped = (line.strip() for line in StringIO(text))
    ids = [line for line in stripped if line and not line.startswith("#")]
    if not ids:
        raise InputError(f"{name}: no ids found; expected one per line")
    return ids


def fold_lines(
    rows: list[tuple[str, ...]], names: tuple[str, ...], mark: str = "\t"
) -> Iterator[str]:
    """Yield the lines of a table of folds that `read_values` reads."""
    yield mark.join(names) + "\n"
    for row in rows:
        if any(re.search(rf'[{mark}\r\n"]', cell) for cell in row):
            row = tuple('"' + cell.replace('"', '""') + '"' for cell in row)  # noqa: PLW2901
        yield mark.join(row) + "\n"


def _text(path: str | os.PathLike[str]) -> tuple[str, str]:
    source = open_source(path)
    return source.name, decode_text(source.whole(), source.name)


def _json_entries(text: str, name: str, what: str) -> Iterator[Entry]:
    for key, value in parse_json(text, name, pairs_hook=list):
        if not isinstance(value, str | int) or isinstance(value, bool):
            raise InputError(
                f"{name}: {key!r} has {json.dumps(value)[:40]}, expected {{id: {what}}}"
            )
        yield Entry(name, key, str(value))


def _table_entries(text: str, name: str, what: str) -> Iterator[Entry]:
    columns = None
    for number, cells in _rows(text, name):
        place = f"{name}:{number}"
        if columns is None:
            columns = _header(cells, what)
            if columns is not None:
                continue
            columns = {"unit": 0, what: 1}
        width = 1 + max(columns.values())
        if len(cells) < width or (len(cells) > 2 and "repeat" not in columns and width == 2):
            raise FormatError(
                place, f"{len(cells)} columns ({' | '.join(cells)[:60]}), expected id and {what}"
            )
        unit, value = cells[columns["unit"]], cells[columns[what]]
        if not unit or not value:
            raise FormatError(place, f"the {'id' if not unit else what} is missing")
        yield Entry(place, unit, value, cells[columns["repeat"]] if "repeat" in columns else "0")


def _rows(text: str, name: str) -> Iterator[tuple[int, list[str]]]:
    """Yield number and cells of each line that is not empty; comments are above the table only."""
    lines = list(StringIO(text))
    above = takewhile(lambda line: not line.strip() or line.startswith("#"), lines)
    begin = sum(1 for _ in above)
    first = lines[begin] if begin < len(lines) else ""
    mark = next((mark for mark in "\t,;" if mark in first), None)
    if mark is None:
        for number, line in enumerate(lines[begin:], begin + 1):
            if line.strip():
                yield number, line.split()
        return
    for number, row in delimited_rows(lines[begin:], name, mark, first=begin + 1):
        cells = [cell.strip() for cell in row]
        if any(cells):
            yield number, cells


def _header(cells: list[str], what: str) -> dict[str, int] | None:
    """Return the roles of the columns; None if the first line is not a header."""
    names = [cell.lower() for cell in cells]
    if what not in names:
        return None
    unit = next((number for number, name in enumerate(names) if name in ID_NAMES), None)
    if unit is None:
        others = enumerate([*names, ""])
        unit = next(number for number, name in others if name not in {what, "repeat"})
    roles = {"unit": unit, what: names.index(what)}
    return roles | ({"repeat": names.index("repeat")} if "repeat" in names else {})


def refuse_repeated(entries: list[Entry], what: str) -> None:
    """Raise an error if a unit appears twice in a repeat."""
    seen: dict[tuple[str, str], Any] = {}
    for entry in entries:
        first = seen.setdefault((entry.repeat, entry.unit), entry)
        if first is not entry:
            raise FormatError(
                entry.place,
                f"{entry.unit} appears twice ({what} {first.value} in {first.place}, {what} "
                f"{entry.value} here): keep one of them",
            )

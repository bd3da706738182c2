"""Tables of any format (CSV, TSV, semicolons, JSON lines, Parquet), column by column.

This is the reader of all tables: runs, judgements, scores, predictions and instances. Their modules
interpret the columns.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final, overload

import numpy as np

from heldout.data.io.decode import decode_text, json_object
from heldout.data.io.delimited import find_separator, first_lines, read_delimited, refuse_repeated
from heldout.data.io.parquet import parquet_errors, read_parquet
from heldout.errors import FormatError, InputError

if TYPE_CHECKING:
    from collections.abc import Callable

    import polars as pl

    from heldout.data.io.cells import Cells
    from heldout.data.io.source import Source
    from heldout.data.words import Ints

__all__ = ["Places", "Table", "find_column", "read_names", "read_table", "table_of"]

LARGE: Final = 1 << 20
"""Size in bytes of texts for which importing Polars pays off."""

HEAD: Final = 1 << 16
"""Bytes that include the header of a text, if only the header is read."""

NESTED: Final = {"scores": "score_", "probabilities": "prob_"}
"""Objects in JSON lines with one number per class, and the prefix of their columns."""


class Places(Sequence[str]):
    """The places of rows as ``file:line``, formatted when they are needed.

    Parameters
    ----------
    source
        The file.
    count
        The number of rows.
    lines
        The line of each row of the file; empty for a file without lines.
    rows
        The selected rows of the file (default: all).

    Examples
    --------
    >>> places = Places("a.csv", 2, [3, 5])
    >>> places[1], Places("a.parquet", 2)[1], list(places.select([1]))
    ('a.csv:5', 'a.parquet, row 2', ['a.csv:5'])
    """

    __slots__ = ("_count", "_lines", "_rows", "_source")

    def __init__(
        self, source: str, count: int, lines: Sequence[int] = (), rows: Ints | None = None
    ) -> None:
        self._source = source
        self._count = count
        self._lines = lines
        self._rows = rows

    def __len__(self) -> int:
        return self._count

    @overload
    def __getitem__(self, at: int) -> str: ...

    @overload
    def __getitem__(self, at: slice) -> Places: ...

    def __getitem__(self, at: int | slice) -> str | Places:
        if isinstance(at, slice):
            return self.select(np.arange(*at.indices(self._count)))
        number = self.number(at)
        return f"{self._source}:{number}" if self._lines else f"{self._source}, row {number}"

    def number(self, at: int) -> int:
        """Return the line of a row, or its number from 1 in a file without lines."""
        place = range(self._count)[at]  # negative numbers count from the end
        row = place if self._rows is None else int(self._rows[place])
        return self._lines[row] if self._lines else row + 1

    def select(self, at: Sequence[int] | Ints) -> Places:
        """Return the places of some rows."""
        chosen = np.asarray(at, np.int64)
        rows = chosen if self._rows is None else self._rows[chosen]
        return Places(self._source, len(chosen), self._lines, rows)


@dataclass(frozen=True, slots=True, eq=False)
class Table:
    """Named columns, and the places of the rows.

    Parameters
    ----------
    source
        The file.
    names
        The names of the columns, without surrounding white space.
    cells
        Returns the cells of a column by its number: strings, or values of JSON or Parquet.
    places
        The place of each row.
    header
        The place of the names.
    is_text
        Whether all cells are strings.
    """

    source: str
    names: list[str]
    cells: Callable[[int], Cells]
    places: Places
    header: str
    is_text: bool = False

    def __len__(self) -> int:
        return len(self.places)

    def refuse_empty(self, what: str) -> None:
        """Raise an error for a table without rows."""
        if not len(self):
            raise InputError(f"{self.source}: no {what} below the header")


def find_column(names: Sequence[str], known: Sequence[str]) -> int | None:
    """Return the number of the first column that has one of these names."""
    spelled = [name.strip().lower() for name in names]
    return next((spelled.index(one) for one in known if one in spelled), None)


def read_table(source: Source, separator: str = "") -> Table:
    """Read a table; its format is found by its content, not by its name.

    Parameters
    ----------
    separator
        The character between the cells of a text (default: found in the first lines).
    """
    if source.head(4) == b"PAR1":
        return _of_parquet(source.read(0, source.size), source.name)
    if not separator and source.head().lstrip().startswith(b"{"):
        return _of_json_lines(source.whole(), source.name)
    return _of_text(source.whole(), source.name, separator)


def read_names(source: Source) -> list[str]:
    """Return the names of the columns; only the header of a text is read."""
    head = source.head(HEAD)
    if head.startswith(b"PAR1"):
        return read_table(source).names
    lines = map(bytes.strip, head.splitlines())
    first = next((line for line in lines if line and not line.startswith(b"#")), b"")
    if first.startswith(b"{"):
        return list(_flat_object(first, source.name, 1))
    return read_delimited(first, source.name).names


def table_of(source: str, columns: dict[str, list[Any]]) -> Table:
    """Return a table of columns of equal length that are not from a file."""
    cells = list(columns.values())
    places = Places(source, len(cells[0]) if cells else 0)
    return Table(source, list(columns), cells.__getitem__, places, source)


def _of_text(content: bytes, name: str, separator: str) -> Table:
    regular = _of_regular_text(content, name, separator) if len(content) >= LARGE else None
    if regular is not None:
        return regular
    found = read_delimited(content, name, separator)

    def cells(at: int) -> list[str]:
        return [row[at] for row in found.rows]

    places = Places(name, len(found.rows), found.lines)
    return Table(name, found.names, cells, places, f"{name}:{found.header_line}", is_text=True)


def _of_regular_text(content: bytes, name: str, separator: str) -> Table | None:
    """Read a large text with Polars; None if the strict reader has to read it.

    Polars refuses lines with too many cells, but fills up short ones: the number of separators
    tells whether there are any.
    """
    import polars as pl

    content = content.replace(b"\r\n", b"\n")
    head = content[: content.rfind(b"\n", 0, HEAD) + 1].decode(errors="replace")
    if any(one in content for one in (b'"', b"\r", b"\0")) or not head.strip():
        return None
    separator = separator or find_separator(first_lines(head))
    names = [one.strip() for one in head[: head.index("\n")].split(separator)]
    lines = content.count(b"\n") + (not content.endswith(b"\n"))
    marks = content.count(separator.encode())
    if len(names) < 2 or "" in names or len(set(names)) < len(names) or names[0].startswith("#"):
        return None
    try:
        frame = pl.read_csv(content, separator=separator, quote_char=None, infer_schema=False)
    except pl.exceptions.PolarsError:
        return None
    if (frame.height + 1, marks) != (lines, lines * (len(names) - 1)):
        return None
    frame = frame.fill_null("")
    empty = frame.filter(frame[:, 0].str.strip_chars() == "")
    if any(not "".join(row).strip() for row in empty.iter_rows()):
        return None
    places = Places(name, frame.height, range(2, lines + 1))
    return Table(name, names, frame.to_series, places, f"{name}:1", is_text=True)


def _of_json_lines(content: bytes, name: str) -> Table:
    """Read one object per line; missing names are empty cells."""
    objects: list[dict[str, Any]] = []
    lines: list[int] = []
    for number, raw in enumerate(content.split(b"\n"), 1):
        if raw.strip():
            objects.append(_flat_object(raw, name, number))
            lines.append(number)
    names = list(dict.fromkeys(key for one in objects for key in one))

    def cells(at: int) -> list[object]:
        return [one.get(names[at]) for one in objects]

    return Table(name, _stripped(names, name), cells, Places(name, len(objects), lines), name)


def _flat_object(raw: bytes, name: str, line: int) -> dict[str, Any]:
    """Return a JSON line as cells by column; each class in nested scores is a column."""
    flat: dict[str, Any] = {}
    for key, value in json_object(decode_text(raw, name, line), name, line).items():
        if key in NESTED and isinstance(value, dict):
            flat.update({f"{NESTED[key]}{label}": one for label, one in value.items()})
        elif isinstance(value, dict | list):
            reason = f"{key!r} is a {type(value).__name__}, expected one value"
            raise FormatError(f"{name}:{line}", reason)
        else:
            flat[key] = value
    return flat


def _stripped(names: list[str], source: str) -> list[str]:
    stripped = [name.strip() for name in names]
    refuse_repeated(stripped, source)
    return stripped


def _of_parquet(content: bytes, name: str) -> Table:
    import polars as pl

    frame = read_parquet(content, name)
    with parquet_errors(name):
        frame = frame.with_columns(_of_classes(frame))
        frame = frame.drop(name for name in NESTED if isinstance(frame.schema.get(name), pl.Struct))

    def cells(at: int) -> Cells:
        column: pl.Series = frame[:, at]
        if column.dtype.is_numeric() or str(column.dtype) == "String":
            return column
        if column.dtype.is_nested():
            raise InputError(
                f"{name}: the Parquet file cannot be read (column {column.name} has type "
                f"{column.dtype}, expected single values)"
            )
        with parquet_errors(name):  # bytes that are not text, dates beyond those of Python
            if column.dtype == pl.Binary:
                return column.cast(pl.String)
            found: list[object] = column.to_list()
        return found

    return Table(name, _stripped(frame.columns, name), cells, Places(name, frame.height), name)


def _of_classes(frame: pl.DataFrame) -> list[pl.Series]:
    """Return one column per class from structs; in those of experiments each row has its kind."""
    import polars as pl

    found = []
    for name, start in NESTED.items():
        if not isinstance(frame.schema.get(name), pl.Struct):
            continue
        for one in frame[name].struct.unnest():
            if name == "scores" and frame.schema.get("probabilities") == pl.Boolean:
                sure = frame["probabilities"].fill_null(value=False)
                none = pl.Series([None] * len(one), dtype=one.dtype)
                found.append(one.zip_with(sure, none).alias(f"prob_{one.name}"))
                found.append(none.zip_with(sure, one).alias(f"score_{one.name}"))
            else:
                found.append(one.alias(f"{start}{one.name}"))
    return found

"""Tables of any format (CSV, TSV, semicolons, JSON lines, Parquet), column by column.

This is the one reader of tables: of runs, judgements, scores, predictions and instances. What a
column means is the business of those.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final, overload

import numpy as np

from heldout.data.io.decode import decode_text, json_object
from heldout.data.io.delimited import read_delimited, refuse_repeated
from heldout.data.io.delimited_fast import read_regular
from heldout.data.io.parquet import parquet_errors, read_parquet
from heldout.errors import FormatError, InputError

if TYPE_CHECKING:
    from collections.abc import Callable

    import polars as pl

    from heldout.data.io.cells import Cells
    from heldout.data.io.delimited import BadRow
    from heldout.data.io.source import Source
    from heldout.data.words import Ints

__all__ = ["Places", "Table", "find_column", "read_names", "read_table", "table_of"]

LARGE: Final = 1 << 20
"""Bytes from which on a text is worth the import of Polars."""

HEAD: Final = 1 << 16
"""Bytes in which the header of a text must end, where it is read alone."""

NESTED: Final = {"scores": "score_", "probabilities": "prob_"}
"""Objects in JSON lines that hold a number for each class, and what their columns are called."""


class Places(Sequence[str]):
    """The places of rows, as ``file:line``.

    Parameters
    ----------
    source
        The file.
    count
        How many rows there are.
    lines
        The line of each row of the file; empty for a file without lines.
    rows
        The rows of the file that are meant; by default all.

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
        """The line of a row, or its number from 1 in a file without lines."""
        place = range(self._count)[at]  # also from the end; an error beyond it
        row = place if self._rows is None else int(self._rows[place])
        return self._lines[row] if self._lines else row + 1

    def select(self, at: Sequence[int] | Ints) -> Places:
        """The places of some rows only."""
        chosen = np.asarray(at, np.int64)
        rows = chosen if self._rows is None else self._rows[chosen]
        return Places(self._source, len(chosen), self._lines, rows)


@dataclass(frozen=True, slots=True, eq=False)
class Table:
    """Columns with names, and rows that know where they stand.

    Parameters
    ----------
    source
        The file.
    names
        The columns, without blanks around their names.
    cells
        Gives the cells of a column, by its number: texts, or what JSON or Parquet hold.
    places
        Where each row stands.
    header
        Where the names stand.
    is_text
        Whether all cells are texts.
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
        """Refuse a table that has nothing but its header."""
        if not len(self):
            raise InputError(f"{self.source}: a header, but no {what} below it")


def find_column(names: Sequence[str], known: Sequence[str]) -> int | None:
    """The number of the first column that goes by one of these names."""
    spelled = [name.strip().lower() for name in names]
    return next((spelled.index(one) for one in known if one in spelled), None)


def read_table(source: Source, separator: str = "", bad: list[BadRow] | None = None) -> Table:
    """Read a table, told by its content and not by its name.

    Parameters
    ----------
    separator
        The mark between the cells of a text; told by its first lines if it is not given.
    bad
        Takes up what is wrong with rows of a text that have too few or too many cells; without it
        the first is refused.
    """
    if source.head(4) == b"PAR1":
        return _of_parquet(source.read(0, source.size), source.name)
    if not separator and source.head().lstrip().startswith(b"{"):
        return _of_json_lines(source.whole(), source.name)
    return _of_text(source.whole(), source.name, separator, bad)


def read_names(source: Source) -> list[str]:
    """The names of the columns; of a text the header alone is read, for runs are large."""
    head = source.head(HEAD)
    if head.startswith(b"PAR1"):
        return read_table(source).names
    first = head.lstrip().partition(b"\n")[0]
    if first.startswith(b"{"):
        return list(_flat_object(first, source.name, 1))
    return read_delimited(first, source.name).names


def table_of(source: str, columns: dict[str, list[Any]]) -> Table:
    """A table of columns of equal length that stand in no file."""
    cells = list(columns.values())
    places = Places(source, len(cells[0]) if cells else 0)
    return Table(source, list(columns), cells.__getitem__, places, source)


def _of_text(content: bytes, name: str, separator: str, bad: list[BadRow] | None) -> Table:
    regular = read_regular(content, separator) if len(content) >= LARGE else None
    if regular is not None:
        lines: Sequence[int] = range(regular.first_line, regular.first_line + regular.rows)
        places = Places(name, regular.rows, lines)
        header = f"{name}:{regular.first_line - 1}"
        return Table(name, regular.names, regular.column, places, header, is_text=True)
    found = read_delimited(content, name, separator, bad)

    def cells(at: int) -> list[str]:
        return [row[at] for row in found.rows]

    places = Places(name, len(found.rows), found.lines)
    return Table(name, found.names, cells, places, f"{name}:{found.header_line}", is_text=True)


def _of_json_lines(content: bytes, name: str) -> Table:
    """One object a line; names that a line lacks are empty cells there."""
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
    """A line of JSON as cells by column; scores of classes become a column each."""
    flat: dict[str, Any] = {}
    for key, value in json_object(decode_text(raw, name, line), name, line).items():
        if key in NESTED and isinstance(value, dict):
            flat.update({f"{NESTED[key]}{label}": one for label, one in value.items()})
        elif isinstance(value, dict | list):
            reason = f"{key!r} holds {type(value).__name__}, expected one value"
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
                f"{name}: not a Parquet table that can be read (column {column.name} holds "
                f"{column.dtype}, expected one value)"
            )
        with parquet_errors(name):  # bytes that are no text, dates beyond those of Python
            if column.dtype == pl.Binary:
                return column.cast(pl.String)
            found: list[object] = column.to_list()
        return found

    return Table(name, _stripped(frame.columns, name), cells, Places(name, frame.height), name)


def _of_classes(frame: pl.DataFrame) -> list[pl.Series]:
    """A column a class from structs; those of an experiment say row by row what they hold."""
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

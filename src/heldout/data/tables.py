"""Tables of any format (CSV, TSV, semicolons, JSON lines, Parquet) as named columns.

This is the reader of all tables: runs, judgements, scores, predictions, instances. A column is a
list, or a Polars series where importing Polars pays off. Whole columns are checked; only when a
check fails is the place of a row looked up.
"""

from __future__ import annotations

import math
import re
from contextlib import contextmanager
from dataclasses import dataclass
from io import BytesIO, StringIO
from itertools import dropwhile, islice
from typing import TYPE_CHECKING, Any, Final, NamedTuple

import numpy as np

from heldout.data.files import decode_text, json_object, open_source
from heldout.data.frames import USUAL_NAMES, find_column, header_cells, refuse_repeated
from heldout.data.ids import as_id, is_missing
from heldout.data.words import number_of
from heldout.errors import FormatError, InputError
from heldout.notes import count_of, named_few

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping

    import polars as pl

    from heldout.data.files import Source
    from heldout.data.words import Flags, Floats, Ints

    Cells = list[Any] | pl.Series

LARGE: Final = 1 << 20  # size in bytes of texts for which importing Polars pays off
SEPARATORS: Final = ("\t", ",", ";")
CLASSES: Final = {"scores": "score_", "probabilities": "prob_"}
"""Objects with one number per class, and the prefix of the columns that they become."""
DECIMAL_COMMA: Final = re.compile(r"[+-]?[0-9.]*,[0-9]+")


class Labels(NamedTuple):
    """The labels of a column: the distinct ones in order of appearance, and a code per cell."""

    names: list[str]
    codes: Ints


@dataclass(frozen=True, slots=True, eq=False)
class Table:
    """Named columns of equal length, and where their rows are."""

    source: str
    columns: Mapping[str, Cells]
    place: Callable[[int], str]  # of a row: file:line

    @classmethod
    def of(cls, columns: Mapping[str, Cells], source: str) -> Table:
        """Make a table of columns that have no lines."""
        return cls(source, columns, lambda row: f"{source}, row {row + 1}")

    @property
    def names(self) -> list[str]:
        """The names of the columns."""
        return list(self.columns)

    def __len__(self) -> int:
        return max(map(len, self.columns.values()), default=0)

    def find(self, role: str) -> str | None:
        """Return the column with a usual name of a role."""
        return find_column(self.names, role)

    def need(self, role: str, what: str) -> str:
        """Return the column with a usual name of a role, or raise an error."""
        name = self.find(role)
        if name is None:
            first, *more = USUAL_NAMES[role]
            raise InputError(
                f"{self.source}: no column of {what} (found "
                f"{named_few(self.names, len(self.names), 8)}): name it {first} (or "
                f"{', '.join(more)})"
            )
        return name

    def take(self, rows: Ints) -> Table:
        """Return some rows; they keep their places."""
        numbers = rows.tolist()
        columns = {
            name: [cells[row] for row in numbers] if isinstance(cells, list) else cells.gather(rows)
            for name, cells in self.columns.items()
        }
        return Table(self.source, columns, lambda row: self.place(numbers[row]))

    def parts(self, column: str, what: str) -> dict[str, Table]:
        """Return the rows of each label in a column."""
        names, codes = self.codes(column, what)
        return {name: self.take(np.flatnonzero(codes == code)) for code, name in enumerate(names)}

    def refuse(self, wrong: Flags, reason: Callable[[int], str]) -> None:
        """Raise an error that names the first wrong row, and counts the others."""
        rows = np.flatnonzero(wrong)
        if len(rows):
            row = int(rows[0])
            more = f" (and {count_of(len(rows) - 1, 'more bad line')})" if len(rows) > 1 else ""
            raise FormatError(self.place(row), reason(row) + more)

    def texts(self, column: str, what: str) -> list[str] | pl.Series:
        """Return ids, classes or names as texts without surrounding blanks; none may be missing."""
        texts = _texts(self.columns[column])
        if "" in texts:
            lacking = np.array([not text for text in texts])
            self.refuse(lacking, lambda _: f"the {what} is missing")
        return texts

    def labels(self, column: str, what: str) -> list[str]:
        """Return `texts` as a list."""
        texts = self.texts(column, what)
        return texts if isinstance(texts, list) else texts.to_list()

    def codes(self, column: str, what: str) -> Labels:
        """Return labels as numbers."""
        texts = self.texts(column, what)
        if isinstance(texts, list):
            numbers: dict[str, int] = {}
            codes = [numbers.setdefault(text, len(numbers)) for text in texts]
            return Labels(list(numbers), np.array(codes, np.int64))
        import polars as pl

        names = texts.unique(maintain_order=True)
        coded = texts.cast(pl.Enum(names)).to_physical().to_numpy()
        return Labels(names.to_list(), coded.astype(np.int64))

    def numbers(self, column: str, what: str = "", *, empty: bool = False) -> Floats:
        """Return finite numbers; an empty cell is an error, or NaN if `empty` is allowed."""
        cells = self.columns[column]
        if isinstance(cells, list):
            values = np.array([number_of(cell_text(cell)) for cell in cells], np.float64)
        else:
            import polars as pl

            values = np.array(cells.cast(pl.Float64, strict=False).fill_null(math.nan))
            for row in np.flatnonzero(~np.isfinite(values)).tolist():
                values[row] = number_of(cell_text(cells[row]))  # white space, or not a number
        wrong = ~np.isfinite(values)
        if wrong.any():
            if empty:
                wrong &= [cell_text(cells[row]) != "" for row in range(len(values))]
            start = f"{what}: " if what else ""
            self.refuse(wrong, lambda row: start + _number_problem(cells[row]))
        return values


# Cells


def _texts(cells: Cells) -> list[str] | pl.Series:
    """Return the labels of a column as texts; empty where one is missing."""
    if isinstance(cells, list) or cells.dtype.is_float():  # integers with gaps: 10.0 is 10
        return ["" if is_missing(cell) else as_id(cell) for cell in cells]
    import polars as pl

    return cells.cast(pl.String).str.strip_chars().fill_null("")


def cell_text(cell: Any) -> str:
    """Return the text of a cell; empty if there is none."""
    return "" if cell is None else str(cell).strip()


def _number_problem(cell: Any) -> str:
    text = cell_text(cell)
    if not text:
        return "the number is missing"
    if DECIMAL_COMMA.fullmatch(text):
        return f"{cell!r} has a comma: use a decimal point, and no thousands separators"
    return f"{cell!r} is not a {'finite ' if math.isinf(number_of(text)) else ''}number"


# Files


def read_table(source: Source) -> Table:
    """Read a table; its format is found by its content, not by its name."""
    if source.head(4) == b"PAR1":
        return _read_parquet(source)
    if source.head().lstrip().startswith(b"{"):
        return _read_json_lines(source)
    return _read_text(source.whole(), source.name)


def read_names(source: Source) -> list[str]:
    """Return the names of the columns; of a text only the header is read."""
    line = source.first_line()
    if line.startswith(b"PAR1"):
        return read_table(source).names
    if line.lstrip().startswith(b"{"):
        return list(_flat(json_object(decode_text(line, source.name), source.name, 1), source.name))
    return header_cells(line)


def _read_json_lines(source: Source) -> Table:
    rows: list[dict[str, Any]] = []
    lines: list[int] = []
    for line, raw in enumerate(source.whole().split(b"\n"), 1):
        if raw.strip():
            record = json_object(decode_text(raw, source.name, line), source.name, line)
            rows.append(_flat(record, f"{source.name}:{line}"))
            lines.append(line)
    columns = _columns(rows, source.name)
    return Table(source.name, columns, lambda row: f"{source.name}:{lines[row]}")


def _columns(rows: list[dict[str, Any]], source: str) -> dict[str, list[Any]]:
    """Return the columns of rows; missing names are empty cells."""
    names = list(dict.fromkeys(key for row in rows for key in row))
    refuse_repeated([name.strip() for name in names], source)
    return {name.strip(): [row.get(name) for row in rows] for name in names}


def _flat(row: dict[str, Any], place: str) -> dict[str, Any]:
    """Return a row in which each class of nested scores is a column."""
    flat: dict[str, Any] = {}
    for key, value in row.items():
        if key in CLASSES and isinstance(value, dict):
            # Experiments write the kind of their scores into a column of its own.
            prefix = "prob_" if row.get("probabilities") is True else CLASSES[key]
            flat.update({f"{prefix}{label}": number for label, number in value.items()})
        elif isinstance(value, dict | list):
            raise FormatError(place, f"{key!r} is a {type(value).__name__}, expected one value")
        else:
            flat[key] = value
    return flat


# Parquet


def _read_parquet(source: Source) -> Table:
    import polars as pl

    frame = read_parquet(source.whole(), source.name)
    # Other lists and structs are no cells; who needs such a column hears that it is not there.
    nested = {name for name, kind in frame.schema.items() if kind.is_nested()}
    frame = frame.drop(nested - CLASSES.keys())
    if nested & CLASSES.keys():
        rows = enumerate(frame.iter_rows(named=True), 1)
        flat = [_flat(row, f"{source.name}, row {number}") for number, row in rows]
        return Table.of(_columns(flat, source.name), source.name)
    names = [name.strip() for name in frame.columns]
    refuse_repeated(names, source.name)
    columns: list[Cells] = [
        column
        if column.dtype.is_numeric()
        else column.to_list()
        if column.dtype == pl.Boolean  # True is not a number
        else column.cast(pl.String)
        for column in frame.get_columns()
    ]
    return Table.of(dict(zip(names, columns, strict=True)), source.name)


def read_parquet(content: bytes, name: str) -> pl.DataFrame:
    """Read the bytes of a Parquet file."""
    import polars as pl  # slow to import

    with _parquet_errors(name):
        return pl.read_parquet(BytesIO(content))


def parquet_rows(path: str, begin: int = 0) -> Iterator[tuple[int, dict[str, Any]]]:
    """Yield number (from 1) and cells, as texts, of each row of a file that may be large."""
    import polars as pl

    source = open_source(path)
    with _parquet_errors(path):
        frame = pl.scan_parquet(source.path or BytesIO(source.content))
        usable = [name for name, kind in frame.collect_schema().items() if not kind.is_nested()]
        while len(part := frame.select(usable).slice(begin, 1 << 14).collect()):
            texts = {
                cells.name.strip().lower(): _texts(cells)
                if cells.dtype.is_float()
                else cells.cast(pl.String)
                for cells in part.get_columns()
            }
            yield from enumerate(pl.DataFrame(texts).iter_rows(named=True), begin + 1)
            begin += len(part)


@contextmanager
def _parquet_errors(name: str) -> Iterator[None]:
    """Turn errors of Polars into one line."""
    import polars as pl

    # A panic is an internal error of Polars; it is not an Exception, and leaves nothing half done.
    errors = (pl.exceptions.PolarsError, pl.exceptions.PanicException, OSError, ValueError)
    try:
        yield
    except (*errors, OverflowError, MemoryError) as error:
        reason = (str(error).splitlines() or [""])[0]
        problem = f"the Parquet file cannot be read ({reason}): write it again"
        raise InputError(f"{name}: {problem}") from None


# Text with separators. Polars reads millions of rows fast, but fills up short lines silently: it is
# trusted only where the count of separators proves that there are none. Python's csv reads all
# other texts, and it alone knows lines: it runs again where a message has to name one.


def _read_text(content: bytes, name: str) -> Table:
    if b"\n" not in content:
        content = content.replace(b"\r", b"\n")  # as old spreadsheets end lines
    separator, names, line = _read_header(content, name)
    columns: Mapping[str, Cells] | None = None
    if len(content) >= LARGE:
        body = b"".join(content.split(b"\n", line)[line:])
        columns = _regular_columns(body, separator, names)
    if columns is None:
        rows = _checked_rows(content, name, separator, len(names))
        cells = zip(*rows, strict=True) if rows else ((),) * len(names)
        columns = dict(zip(names, map(list, cells), strict=True))

    def place(row: int) -> str:
        rows = delimited_rows(decode_text(content, name), name, separator)
        return f"{name}:{next(islice(rows, row + 1, None))[0]}"  # the first is the header

    return Table(name, columns, place)


def _read_header(content: bytes, name: str) -> tuple[str, list[str], int]:
    """Return the separator, by the first lines, the names in the first of them, and its number."""
    filled = ((line, raw) for line, raw in enumerate(BytesIO(content), 1) if raw.strip())
    # Comments are allowed above the header only: below, # may begin an id.
    rows = dropwhile(lambda row: row[1].lstrip().startswith(b"#"), filled)
    head = list(islice(rows, 20))
    if not head:
        raise InputError(f"{name} has no header: name the columns in the first line")
    line, header = head[0]
    lines = [raw.decode(errors="replace") for _, raw in head]

    def fitness(mark: str) -> tuple[bool, int]:
        """Prefer a separator that all lines have equally often: a name may have others."""
        counts = [line.count(mark) for line in lines]
        return counts[0] > 0 and len(set(counts)) == 1, counts[0]

    separator = max(SEPARATORS, key=fitness)
    cells = next(delimited_rows(decode_text(header, name, line), name, separator, line), (line, []))
    names = [cell.strip() for cell in cells[1]]
    while names and not names[-1]:
        names.pop()  # trailing separators
    refuse_repeated(names, f"{name}:{line}")
    if "" in names or not names:
        raise FormatError(
            f"{name}:{line}",
            f"column {names.index('') + 1 if names else 1} has no name: name or remove it "
            "(pandas: to_csv(index=False), or index_label='unit')",
        )
    return separator, names, line


def _regular_columns(body: bytes, separator: str, names: list[str]) -> Mapping[str, Cells] | None:
    """Read the rows with Polars; None unless every line surely has all cells."""
    import polars as pl

    body = body.replace(b"\r\n", b"\n").rstrip(b"\n")
    width = len(names)
    if width < 2 or not body or any(mark in body for mark in (b'"', b"\0", b"\r")):
        return None
    try:
        frame = pl.read_csv(
            body, separator=separator, infer_schema=False, has_header=False, quote_char=None
        )
    except pl.exceptions.PolarsError:  # a line with too many cells, or not UTF-8
        return None
    # No line is too long, else Polars had refused it. So if one were short, or empty, there would
    # be fewer separators than this.
    if frame.width != width or body.count(separator.encode()) != frame.height * (width - 1):
        return None
    # Spreadsheets leave rows of empty cells; csv skips them, too.
    is_blank = pl.all().fill_null("").str.strip_chars() == ""
    frame = frame.filter(~pl.all_horizontal(is_blank))
    return dict(zip(names, frame.get_columns(), strict=True))


def _checked_rows(content: bytes, name: str, separator: str, width: int) -> list[list[str]]:
    """Read all rows with csv; a row with another number of cells than the header is an error."""
    checked = []
    rows = delimited_rows(decode_text(content, name), name, separator)
    for line, cells in islice(rows, 1, None):
        is_long = any(map(str.strip, cells[width:])) if len(cells) > width else False
        if is_long or len(cells) < width:
            hint = "; is there a decimal comma?" if separator == "," and len(cells) > width else ""
            reason = f"{len(cells)} cells, but the header has {width}{hint}"
            raise FormatError(f"{name}:{line}", reason)
        checked.append(cells[:width])
    return checked


def delimited_rows(
    lines: str | Iterable[str], name: str, separator: str, first: int = 1, *, quoted: bool = True
) -> Iterator[tuple[int, list[str]]]:
    """Yield line and cells of the header and of each row that is not empty."""
    import csv  # TREC files do not need it

    # Python's reader refuses cells above 128 kB, a limit of the process; texts can be longer.
    csv.field_size_limit((1 << 31) - 1)
    text = StringIO(lines, newline="") if isinstance(lines, str) else lines
    quoting: Any = csv.QUOTE_MINIMAL if quoted else csv.QUOTE_NONE
    reader = csv.reader(text, delimiter=separator, quoting=quoting, strict=True)
    line, in_table = first, False
    try:
        for cells in reader:
            is_comment = not in_table and cells and cells[0].lstrip().startswith("#")
            if any(map(str.strip, cells)) and not is_comment:
                in_table = True
                yield line, cells
            line = reader.line_num + first  # of the next row; this one may have had several
    except csv.Error as error:
        raise FormatError(
            f"{name}:{line}",
            f'a quotation mark (") may open a cell that is never closed ({error}): quote whole '
            'cells, and write "" for a quotation mark inside a cell',
        ) from None

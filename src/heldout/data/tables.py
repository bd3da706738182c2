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
from itertools import islice
from typing import TYPE_CHECKING, Any, Final, NamedTuple

import numpy as np

from heldout.data.files import decode_text, is_compressed, json_object
from heldout.data.frames import USUAL_NAMES, find_column, refuse_repeated
from heldout.data.ids import as_id, is_missing
from heldout.data.notes import count_of, named_few
from heldout.errors import FormatError, InputError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping

    import polars as pl

    from heldout.data.files import Source
    from heldout.data.words import Flags, Floats, Ints

    Cells = list[Any] | pl.Series

LARGE: Final = 1 << 20
"""Size in bytes of texts for which importing Polars pays off."""

SEPARATORS: Final = ("\t", ",", ";")
LINES_TO_TELL: Final = 20
"""Lines that are inspected to find the separator."""

CLASSES: Final = {"scores": "score_", "probabilities": "prob_"}
"""Objects with one number per class, and the prefix of the columns that they become."""

# Python's float() also accepts 1_000 and the digits of every script.
NUMBER: Final = re.compile(r"[+-]?(?:[0-9]+(?:\.[0-9]*)?|\.[0-9]+)(?:[eE][+-]?[0-9]+)?")
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
    header: str = ""  # the place of the names
    is_text: bool = False  # whether all cells are texts

    @classmethod
    def of(cls, columns: Mapping[str, list[Any]], source: str) -> Table:
        """Make a table of columns that are not from a file."""
        return cls(source, columns, lambda row: f"{source}, row {row + 1}", source)

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
        return Table(
            self.source, columns, lambda row: self.place(numbers[row]), self.header, self.is_text
        )

    def refuse(self, wrong: Flags, reason: Callable[[int], str]) -> None:
        """Raise an error that names the first wrong row, and counts the others."""
        rows = np.flatnonzero(wrong)
        if len(rows):
            row = int(rows[0])
            more = f" (and {count_of(len(rows) - 1, 'more bad line')})" if len(rows) > 1 else ""
            raise FormatError(self.place(row), reason(row) + more)

    def texts(self, column: str, what: str) -> list[str] | pl.Series:
        """Return ids, classes or names as texts without surrounding blanks; none may be missing."""
        cells = self.columns[column]
        texts = [_label(cell) for cell in cells] if isinstance(cells, list) else _texts(cells)
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
        values = to_numbers(cells)
        wrong = np.isnan(values)
        if wrong.any():
            if empty:
                wrong &= [not _is_empty(cells[row]) for row in range(len(values))]
            start = f"{what}: " if what else ""
            self.refuse(wrong, lambda row: start + number_problem(cells[row]))
        return values


# Cells


def _label(cell: Any) -> str:
    """Return a cell as a label; empty if it has none."""
    return "" if is_missing(cell) else as_id(cell)


def _texts(cells: pl.Series) -> pl.Series:
    """Return the labels of a column as texts; empty where one is missing."""
    import polars as pl

    if cells.dtype.is_float():
        whole = cells.cast(pl.Int64, strict=False)
        is_whole = (whole.cast(cells.dtype) == cells).fill_null(value=False)
        texts = whole.cast(pl.String).zip_with(is_whole, cells.fill_nan(None).cast(pl.String))
    else:
        texts = cells.cast(pl.String).str.strip_chars()
    return texts.fill_null("")


def _is_empty(cell: Any) -> bool:
    return cell is None or (isinstance(cell, str) and not cell.strip())


def to_numbers(cells: Cells) -> Floats:
    """Return every cell as a number; NaN for cells that are not finite numbers."""
    if isinstance(cells, list):
        return np.array([_number(cell) for cell in cells], np.float64)
    import polars as pl

    found = np.array(cells.cast(pl.Float64, strict=False).fill_null(float("nan")))
    for row in np.flatnonzero(~np.isfinite(found)).tolist():
        found[row] = _number(cells[row])  # surrounding white space, or not a number
    return found


def _number(cell: Any) -> float:
    text = "" if cell is None or isinstance(cell, bool) else str(cell).strip()
    number = float(text) if NUMBER.fullmatch(text) else math.nan
    return number if math.isfinite(number) else math.nan


def number_problem(cell: Any) -> str:
    """Return why a cell is not a finite number."""
    text = "" if cell is None else str(cell).strip()
    if not text:
        return "the number is missing"
    reason = "is not a number"
    if DECIMAL_COMMA.fullmatch(text):
        reason = "has a comma: use a decimal point, and no thousands separators"
    elif text.lower().lstrip("+-") in {"nan", "inf", "infinity"} or NUMBER.fullmatch(text):
        reason = "is not a finite number"
    elif text.lower() in {"na", "n/a", "null", "none", "-"}:
        reason = "is not a number: leave cells without a value empty"
    return f"{cell!r} {reason}"


# Files


def read_table(source: Source) -> Table:
    """Read a table; its format is found by its content, not by its name."""
    if source.head(4) == b"PAR1":
        return _read_parquet(source)
    if source.head().lstrip().startswith(b"{"):
        return _read_json_lines(source)
    return _read_text(source.whole(), source.name)


def read_names(source: Source) -> list[str]:
    """Return the names of the columns; only the header of a text is read."""
    head = source.head()
    if head.startswith(b"PAR1"):
        return read_table(source).names
    lines = map(bytes.strip, head.splitlines())
    first = next((line for line in lines if line and not line.startswith(b"#")), b"")
    if first.startswith(b"{"):
        return list(_flat_object(first, source.name, 1))
    return _read_text(first, source.name).names


def _read_json_lines(source: Source) -> Table:
    """Read one object per line; missing names are empty cells."""
    rows: list[dict[str, Any]] = []
    lines: list[int] = []
    for number, raw in enumerate(source.whole().split(b"\n"), 1):
        if raw.strip():
            rows.append(_flat_object(raw, source.name, number))
            lines.append(number)
    names = list(dict.fromkeys(key for row in rows for key in row))
    refuse_repeated([name.strip() for name in names], source.name)
    columns = {name.strip(): [row.get(name) for row in rows] for name in names}
    return Table(source.name, columns, lambda row: f"{source.name}:{lines[row]}", source.name)


def _flat_object(raw: bytes, name: str, line: int) -> dict[str, Any]:
    """Return a JSON line as cells by column; each class in nested scores is a column."""
    flat: dict[str, Any] = {}
    for key, value in json_object(decode_text(raw, name, line), name, line).items():
        if key in CLASSES and isinstance(value, dict):
            flat.update({f"{CLASSES[key]}{label}": number for label, number in value.items()})
        elif isinstance(value, dict | list):
            reason = f"{key!r} is a {type(value).__name__}, expected one value"
            raise FormatError(f"{name}:{line}", reason)
        else:
            flat[key] = value
    return flat


def _read_parquet(source: Source) -> Table:
    import polars as pl

    frame = read_parquet(source.whole(), source.name)
    with _parquet_errors(source.name):
        frame = frame.with_columns(_class_columns(frame))
        frame = frame.drop(
            name for name in CLASSES if isinstance(frame.schema.get(name), pl.Struct)
        )
        # Lists and structs are no cells; whoever needs such a column hears that it is not there.
        columns = {
            column.name: _plain(column)
            for column in frame.get_columns()
            if not column.dtype.is_nested()
        }
    names = [name.strip() for name in columns]
    refuse_repeated(names, source.name)
    return Table(
        source.name,
        dict(zip(names, columns.values(), strict=True)),
        lambda row: f"{source.name}, row {row + 1}",
        source.name,
    )


def _plain(column: pl.Series) -> Cells:
    """Return texts and numbers as they are, other cells (dates, Booleans) as Python values."""
    import polars as pl

    if column.dtype == pl.Binary:
        return column.cast(pl.String)
    if column.dtype.is_numeric() or column.dtype == pl.String:
        return column
    return column.to_list()


def _class_columns(frame: pl.DataFrame) -> list[pl.Series]:
    """Return one column per class from structs; in those of experiments each row has its kind."""
    import polars as pl

    found = []
    for name, prefix in CLASSES.items():
        if not isinstance(frame.schema.get(name), pl.Struct):
            continue
        for column in frame[name].struct.unnest():
            if name == "scores" and frame.schema.get("probabilities") == pl.Boolean:
                is_probability = frame["probabilities"].fill_null(value=False)
                nothing = pl.Series([None] * len(column), dtype=column.dtype)
                for start, keep in (("prob_", is_probability), ("score_", ~is_probability)):
                    found.append(column.zip_with(keep, nothing).alias(f"{start}{column.name}"))
            else:
                found.append(column.alias(f"{prefix}{column.name}"))
    return found


def read_parquet(content: bytes, name: str) -> pl.DataFrame:
    """Read the bytes of a Parquet file."""
    import polars as pl  # slow to import

    if not (content.startswith(b"PAR1") and content.endswith(b"PAR1")):
        raise InputError(f"{name}: the Parquet file cannot be read (it is truncated)")
    with _parquet_errors(name):
        return pl.read_parquet(BytesIO(content))


def parquet_rows(path: str, begin: int = 0) -> Iterator[tuple[int, dict[str, Any]]]:
    """Yield number (from 1) and cells, as texts, of each row of a file that may be large."""
    import polars as pl

    if is_compressed(path):
        raise InputError(
            f"{path}: compressed Parquet files are not supported here: decompress it first"
        )
    with _parquet_errors(path):
        frame = pl.scan_parquet(path)
        usable = [name for name, kind in frame.collect_schema().items() if not kind.is_nested()]
        while len(part := frame.select(usable).slice(begin, 1 << 14).collect()):
            texts = {
                cells.name.strip().lower(): _texts(cells)  # an id in a column with gaps: 10.0 is 10
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

    try:
        yield
    except (pl.exceptions.PolarsError, OSError, ValueError, OverflowError, MemoryError) as error:
        reason = (str(error).splitlines() or [""])[0]
        raise InputError(f"{name}: the Parquet file cannot be read ({reason})") from None
    except pl.exceptions.PanicException:
        # An internal error of Polars, which is not an Exception; nothing is left half done.
        raise InputError(
            f"{name}: the Parquet file cannot be read (it is damaged): write it again"
        ) from None


# Text with separators. Polars reads millions of rows fast, but fills up short lines silently: it is
# trusted only where the count of separators proves that there are none. Python's csv reads all
# other texts, and it alone knows lines: it runs again where a message has to name one.


def _read_text(content: bytes, name: str) -> Table:
    if b"\n" not in content:
        content = content.replace(b"\r", b"\n")  # as old spreadsheets end lines
    header = _read_header(content, name)
    columns: Mapping[str, Cells] | None = None
    if len(content) >= LARGE:
        columns = _regular_columns(content[header.end :], header)
    if columns is None:
        rows = _checked_rows(content, name, header)
        cells = zip(*rows, strict=True) if rows else ((),) * len(header.names)
        columns = dict(zip(header.names, map(list, cells), strict=True))

    def place(row: int) -> str:
        rows = delimited_rows(decode_text(content, name), name, header.separator)
        return f"{name}:{next(islice(rows, row + 1, None))[0]}"  # the first is the header

    return Table(name, columns, place, f"{name}:{header.line}", is_text=True)


class _Header(NamedTuple):
    separator: str
    names: list[str]
    line: int
    end: int  # where the rows begin


def _read_header(content: bytes, name: str) -> _Header:
    """Find the separator by the first lines, and the names in the first of them."""
    head: list[str] = []
    line = number = end = begin = 0
    while begin < len(content) and len(head) < LINES_TO_TELL:
        stop = content.find(b"\n", begin) + 1 or len(content)
        raw, begin, number = content[begin:stop], stop, number + 1
        # Comments are allowed above the header only: below, # may begin an id.
        if raw.strip() and (head or not raw.lstrip().startswith(b"#")):
            line, end = (line, end) if head else (number, stop)
            head.append(raw.decode(errors="replace"))
    if not head:
        raise InputError(f"{name} has no header: name the columns in the first line")
    place = f"{name}:{line}"
    decode_text(content[:end], name)
    separator = max(SEPARATORS, key=lambda mark: _fitness(head, mark))
    rows = delimited_rows(head[0], name, separator, line)
    names = [cell.strip() for cell in next(rows, (line, []))[1]]
    while names and not names[-1]:
        names.pop()  # trailing separators
    if not names:
        raise InputError(f"{name} has no header: name the columns in the first line")
    refuse_repeated(names, place)
    if "" in names:
        raise FormatError(
            place,
            f"column {names.index('') + 1} has no name: name or remove it "
            "(pandas: to_csv(index=False), or index_label='unit')",
        )
    return _Header(separator, names, line, end)


def _fitness(head: list[str], mark: str) -> tuple[bool, int]:
    """Prefer a separator that gives all lines equally many cells, then one that gives many.

    The header alone is not enough: a name may have a comma or a tab.
    """
    import csv

    try:
        counts = [len(cells) for cells in csv.reader(head, delimiter=mark)]
    except csv.Error:
        return False, 0
    return counts[0] > 1 and len(set(counts)) == 1, counts[0]


def _regular_columns(body: bytes, header: _Header) -> Mapping[str, Cells] | None:
    """Read the rows with Polars; None unless every line surely has all cells."""
    import polars as pl

    body = body.replace(b"\r\n", b"\n").rstrip(b"\n")
    mark, width = header.separator.encode(), len(header.names)
    if width < 2 or not body or b"\0" in body or b"\r" in body:
        return None
    is_quoted = b'"' in body
    try:
        frame = pl.read_csv(
            body,
            separator=header.separator,
            infer_schema=False,
            has_header=False,
            quote_char='"' if is_quoted else None,
        )
    except pl.exceptions.PolarsError:  # a line with too many cells, or not UTF-8
        return None
    # No line is too long, else Polars had refused it. So if one were short, or empty, there would
    # be fewer separators than this.
    if frame.width != width or body.count(mark) != frame.height * (width - 1):
        return None
    if is_quoted and not _is_quoted_plainly(frame, body, mark):
        return None
    # Spreadsheets leave rows of empty cells; csv skips them, too.
    is_blank = pl.all().fill_null("").str.strip_chars() == ""
    frame = frame.filter(~pl.all_horizontal(is_blank))
    return dict(zip(header.names, frame.get_columns(), strict=True))


def _is_quoted_plainly(frame: pl.DataFrame, body: bytes, mark: bytes) -> bool:
    """Return whether quotation marks are only around whole cells, as in files written by R.

    Polars reads stray ones in its own way, and a separator inside a cell would be miscounted.
    """
    import polars as pl

    edges = body.startswith(b'"') + body.endswith(b'"')
    edges += sum(body.count(pair) for pair in (mark + b'"', b'"' + mark, b'\n"', b'"\n'))
    special = pl.all().str.contains(f'["\n{mark.decode()}]').any()
    return body.count(b'"') == edges and not any(frame.select(special).row(0))


def _checked_rows(content: bytes, name: str, header: _Header) -> list[list[str]]:
    """Read all rows with csv; a row with another number of cells than the header is an error."""
    width = len(header.names)
    found = []
    rows = delimited_rows(decode_text(content, name), name, header.separator)
    for line, cells in islice(rows, 1, None):
        fits = cells[:width] if not any(map(str.strip, cells[width:])) else cells
        if len(fits) != width:
            is_comma = header.separator == "," and len(cells) > width
            hint = "; is there a decimal comma?" if is_comma else ""
            reason = f"{len(cells)} cells, but the header has {width}{hint}"
            raise FormatError(f"{name}:{line}", reason)
        found.append(fits)
    return found


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
        raise FormatError(f"{name}:{line}", _quoting_problem(str(error))) from None


def _quoting_problem(error: str) -> str:
    if "unexpected end of data" in error or "field larger than" in error:
        return 'a quotation mark (") opens a cell that is never closed'
    if "expected after" in error:
        return (
            'text after a closing quotation mark ("): quote whole cells, and write "" for a '
            "quotation mark inside a cell"
        )
    return f"the table cannot be read ({error})"

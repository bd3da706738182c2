"""Documents as rows of tables: CSV and TSV, read row by row, and Parquet, read in slices."""

from __future__ import annotations

from itertools import chain
from typing import TYPE_CHECKING, Any

from heldout.data.files import read_head, text_lines
from heldout.data.frames import refuse_repeated
from heldout.data.io.jsonl import ID_NAMES, TEXT_NAMES
from heldout.data.io.records import Record, RecordDocuments, joined_text
from heldout.data.notes import named_few
from heldout.data.tables import delimited_rows, parquet_rows
from heldout.errors import FormatError

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from heldout.data.files import Reading

__all__ = [
    "ParquetDocuments",
    "TextTable",
    "separator_of",
    "text_rows",
]


def separator_of(head: str) -> str | None:
    """Return the separator of a table by its first line: a tab, or a comma in a known header."""
    first = next((line for line in head.splitlines() if line.strip()), "")
    if "\t" in first:
        return "\t"
    cells = {cell.strip().strip('"').lower() for cell in first.split(",")}
    return "," if len(cells) > 1 and cells & {*ID_NAMES, "qid", "query_id", "query-id"} else None


def text_rows(
    path: str, separator: str, reading: Reading, ids: Sequence[str]
) -> Iterator[tuple[int, dict[str, str]]]:
    """Yield line number and cells by column name of each row of a CSV or TSV file.

    Without a header the columns are the id, a title if there are three columns, and the text;
    quotation marks are then ordinary characters (MS MARCO).
    """
    lines = (line for _, line in text_lines(path, reading))
    first = next(lines, "")
    names = [cell.strip().strip('"').lower() for cell in first.rstrip("\r\n").split(separator)]
    has_header = not set(names).isdisjoint(ids)
    rows = delimited_rows(chain([first], lines), path, separator, quoted=has_header)
    if has_header:
        line, cells = next(rows)
        names = [cell.strip().lower() for cell in cells]
        refuse_repeated(names, f"{path}:{line}")
    else:
        names = ["id", "title", "text"] if len(names) == 3 else ["id", "text"]
    for line, cells in rows:
        if cells and len(cells) != len(names):
            raise FormatError(
                f"{path}:{line}",
                f"{len(cells)} cells, expected {len(names)} ({named_few(names, len(names), 10)})",
            )
        if cells:
            yield line, dict(zip(names, cells, strict=True))


class TextTable(RecordDocuments):
    """Documents in CSV or TSV files."""

    __slots__ = ()

    def records(
        self,
        path: str,
        begin: int,  # noqa: ARG002 - cells may have line ends: read from the beginning
    ) -> Iterator[Record]:
        """Yield the documents of a file."""
        separator = separator_of(read_head(path).decode(errors="replace")) or ","
        for line, row in text_rows(path, separator, self._reading, ID_NAMES):
            one, text = _document(row, self._reading, f"{path}:{line}")
            if "\0" in one:
                raise FormatError(f"{path}:{line}", "the id has a zero byte: remove it")
            yield Record(one.strip(), text.encode(), -1, line)


def _document(row: dict[str, Any], reading: Reading, where: str) -> tuple[str, str]:
    one = next((name for name in ID_NAMES if name in row), None)
    text = next((name for name in TEXT_NAMES if name in row), None)
    found = named_few(row, len(row), 10)
    if one is None:
        raise FormatError(where, f"no id: expected one of {', '.join(ID_NAMES)}, found {found}")
    wanted = reading.fields
    if wanted is not None:
        missing = [name for name in wanted if name.lower() not in row]
        if missing:
            raise FormatError(where, f"no column {missing[0]!r}: found {found}")
        names: list[str] = [name.lower() for name in wanted]
    elif text is None:
        raise FormatError(where, f"no text: expected one of {', '.join(TEXT_NAMES)}, found {found}")
    else:
        names = [*(["title"] if "title" in row else []), text]
    return row[one] or "", joined_text([row[name] or "" for name in names])


class ParquetDocuments(RecordDocuments):
    """Documents in Parquet files."""

    __slots__ = ()

    def records(
        self,
        path: str,
        begin: int,
    ) -> Iterator[Record]:
        """Yield the documents of a file from row `begin`."""
        for number, row in parquet_rows(path, begin):
            one, text = _document(row, self._reading, f"{path}, row {number}")
            yield Record(one, text.encode(), number - 1, number)

    def place(self, number: int) -> str:
        """Return file and row of a document."""
        path, record = self._nth(number)
        return f"{path}, row {record.line}"

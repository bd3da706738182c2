"""Tables with a header (CSV, TSV, Parquet) and JSON objects."""

from __future__ import annotations

import csv
import json
import re
from contextlib import suppress
from io import BytesIO
from typing import TYPE_CHECKING, Final

from heldout.data.columns import pick_columns
from heldout.data.io.delimited import read_delimited, refuse_repeated
from heldout.data.io.json_lists import Columns, parse_lists
from heldout.data.io.parquet import read_parquet
from heldout.errors import InputError

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    import polars as pl

    from heldout.data.io.source import Source
    from heldout.data.run import Qrels, Run

__all__ = ["read_table", "write_table"]

_SEPARATORS: Final = {"csv": ",", "tsv": "\t"}
# Cells with no quotation mark but one at each end. Nothing is given back, so that time is linear.
_SIMPLE: Final = {
    mark: re.compile(
        rb'(?:(?:"[^"\r\n]*+"|[^"\r\n%b]++)?+[\r\n%b])*+(?:"[^"\r\n]*+"|[^"\r\n%b]*+)'
        % ((mark.encode(),) * 3)
    )
    for mark in _SEPARATORS.values()
}


def read_table(
    source: Source,
    kind: str,
    known: dict[str, tuple[str, ...]],
    *,
    skip_bad_lines: bool = False,
    report: Callable[[str], None] | None = None,
) -> Columns:
    """Read query, document and number from a table or a JSON object.

    Comments are allowed above the header of a text, not below it, where ``#`` may begin an id.
    """
    if kind == "json":
        return parse_lists(source.whole(b'"'), source.name)
    import polars as pl  # slow to import, and TREC files do without

    content = source.read(0, source.size) if kind == "parquet" else source.whole()
    comments = 0
    while kind != "parquet" and content.startswith(b"#"):
        comments += 1
        content = content.partition(b"\n")[2]
    try:
        frame = _read_frame(content, kind, source.name, comments)
        picked = pick_columns(frame, known, source.name)
        texts = [series.cast(pl.String) for series in picked.values()]
        values = texts[2].str.strip_chars().cast(pl.Float64, strict=False)
    except (pl.exceptions.PolarsError, csv.Error, OSError) as error:
        reason = str(error).splitlines()[0]
        named = kind.replace("parquet", "Parquet")
        raise InputError(
            f"{source.name}: not a {named} table that can be read ({reason})"
        ) from None
    wrong = texts[0].is_null() | texts[1].is_null() | values.is_null() | ~values.is_finite()
    if wrong.any():
        places = wrong.arg_true().to_list()
        table = dict(zip(picked, texts, strict=True))
        messages = [_complaint(source, kind, comments, row, table) for row in places]
        if not skip_bad_lines:
            raise InputError(messages[0] + (f" (and {len(places) - 1} more)" if places[1:] else ""))
        for message in messages if report else []:
            report(f"{message}; left out")  # type: ignore[misc]
        texts = [series.filter(~wrong) for series in texts]
        values = values.filter(~wrong)
    return texts[0].to_list(), texts[1].to_list(), values.to_list()


def _read_frame(content: bytes, kind: str, source: str, comments: int) -> pl.DataFrame:
    """The table with its names in lower case; Polars would rename a repeated column unasked."""
    if kind == "parquet":
        frame = read_parquet(content, source)
        refuse_repeated([name.strip().lower() for name in frame.columns], source)
    else:
        separator = _SEPARATORS[kind]
        first = content.partition(b"\n")[0].decode(errors="replace")
        names = next(csv.reader([first], delimiter=separator), [])
        refuse_repeated([name.strip().lower() for name in names], f"{source}:{comments + 1}")
        frame = _read_text(content, separator, source, comments)
    return frame.rename({name: name.strip().lower() for name in frame.columns})


def _read_text(content: bytes, separator: str, source: str, comments: int) -> pl.DataFrame:
    """The cells as texts. A quotation mark opens a cell at its beginning; elsewhere it is a letter.

    Polars is fast, but guesses where marks are inside a cell or not closed. Such a text, and one
    that Polars refuses, goes to the slower reader, which can say in which line something is wrong.
    """
    import polars as pl

    mark = separator.encode()
    opens = re.search(rb'(?:^|[\r\n%b])"' % mark, content) is not None
    if not opens or _SIMPLE[separator].fullmatch(content):
        quote = '"' if opens else None
        with suppress(pl.exceptions.PolarsError):
            return pl.read_csv(
                BytesIO(content), separator=separator, infer_schema=False, quote_char=quote
            )
    table = read_delimited(b"\n" * comments + content, source, separator)
    rows = [[cell or None for cell in row] for row in table.rows]
    return pl.DataFrame(rows, schema=dict.fromkeys(table.names, pl.String), orient="row")


def _complaint(
    source: Source, kind: str, comments: int, row: int, table: dict[str, pl.Series]
) -> str:
    """What is wrong with a row; in a text it stands at a line, the header being the first."""
    where = f"{source.name}, row {row + 1}"
    if kind != "parquet":
        where = f"{source.name}:{row + comments + 2}"
    for what, series in table.items():
        if series[row] is None:
            return f"{where}: no {what}"
    number = str(list(table.values())[-1][row])
    named = number.strip().lower().lstrip("+-") in {"nan", "inf", "infinity"}
    return f"{where}: {number!r} is not a {'finite ' if named else ''}number"


def write_table(what: Run | Qrels, path: Path, ending: str) -> None:
    """Write a run or qrels as a table or a JSON object."""
    if ending == ".json":
        path.write_text(json.dumps(what.to_dict(), ensure_ascii=False) + "\n", encoding="utf-8")
        return
    frame = what.to_frame()
    if ending == ".parquet":
        frame.write_parquet(path)
    else:
        frame.write_csv(path, separator=_SEPARATORS[ending[1:]])

"""Tables with a header (CSV, TSV, Parquet) and JSON objects."""

from __future__ import annotations

import json
from io import BytesIO
from typing import TYPE_CHECKING, Any, Final

from heldout.data.run import pick_columns
from heldout.errors import InputError

if TYPE_CHECKING:
    from pathlib import Path

    import polars as pl

    from heldout.data.formats.source import Source
    from heldout.data.run import Qrels, Run

__all__ = ["read_table", "write_table"]

_SEPARATORS: Final = {"csv": ",", "tsv": "\t"}

Columns = tuple[list[str], list[str], list[Any]]


def read_table(source: Source, kind: str, known: dict[str, tuple[str, ...]]) -> Columns:
    """Read query, document and number from a table or a JSON object."""
    if kind == "json":
        return _read_json(source)
    import polars as pl  # noqa: PLC0415 - slow to import, and TREC files do without

    content = BytesIO(source.read(source.begin, source.size))
    try:
        if kind == "parquet":
            frame = pl.read_parquet(content)
        else:
            frame = pl.read_csv(
                content, separator=_SEPARATORS[kind], infer_schema=False, comment_prefix="#"
            )
    except (pl.exceptions.PolarsError, OSError) as error:
        reason = str(error).splitlines()[0]
        raise InputError(f"{source.name}: not a {kind} table that can be read ({reason})") from None
    frame = frame.rename({name: name.strip().lower() for name in frame.columns})
    picked = pick_columns(frame, known, source.name)
    query, doc, number = picked.values()
    _refuse_gaps(source, kind, picked)
    values = number.cast(pl.String).str.strip_chars().cast(pl.Float64, strict=False)
    wrong = values.is_null()
    if wrong.any():
        row = int(wrong.arg_max() or 0)
        raise InputError(f"{_row(source, kind, row)}: {number[row]!r} is not a number")
    return query.cast(pl.String).to_list(), doc.cast(pl.String).to_list(), values.to_list()


def _refuse_gaps(source: Source, kind: str, picked: dict[str, pl.Series]) -> None:
    for role, series in picked.items():
        gaps = series.is_null()
        if gaps.any():
            raise InputError(f"{_row(source, kind, int(gaps.arg_max() or 0))}: no {role}")


def _row(source: Source, kind: str, row: int) -> str:
    """Where a row stands: by line in a text (the header is line 1), else by number."""
    return f"{source.name}, row {row + 1}" if kind == "parquet" else f"{source.name}:{row + 2}"


def _read_json(source: Source) -> Columns:
    try:
        content = json.loads(source.read(source.begin, source.size))
    except UnicodeDecodeError as error:
        raise InputError(f"{source.name}: not UTF-8 ({error.reason})") from None
    except json.JSONDecodeError as error:
        raise InputError(f"{source.name}:{error.lineno}: not JSON ({error.msg})") from None
    except RecursionError:
        raise InputError(f"{source.name}: JSON nested too deep") from None
    queries: list[str] = []
    docs: list[str] = []
    values: list[Any] = []
    for query, inner in content.items():
        if not isinstance(inner, dict):
            raise InputError(
                f"{source.name}: query {query!r} holds {type(inner).__name__}, "
                "expected an object of documents and numbers"
            )
        for doc, value in inner.items():
            if isinstance(value, bool) or not isinstance(value, int | float):
                raise InputError(
                    f"{source.name}: query {query!r}, document {doc!r}: {value!r} is not a number"
                )
            queries.append(query)
            docs.append(doc)
            values.append(value)
    return queries, docs, values


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

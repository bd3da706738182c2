"""Tables of predictions: CSV, TSV, Parquet or JSON lines, as rows that know where they stand."""

from __future__ import annotations

import json
import math
import re
from typing import TYPE_CHECKING, Any, Final

from heldout.data.io.delimited import Table, read_delimited, refuse_repeated
from heldout.data.io.parquet import parquet_errors, read_parquet
from heldout.data.io.source import open_source
from heldout.errors import FormatError, InputError

if TYPE_CHECKING:
    import os

    import polars as pl

    from heldout.data.io.table import PredictionColumns

__all__ = [
    "column_names",
    "find_column",
    "json_lines",
    "json_object",
    "label_cell",
    "number_cell",
    "parquet_frame",
    "read_prediction_table",
]

# Python's float() also takes 1_000 and the digits of every script.
NUMBER: Final = re.compile(r"[+-]?(?:[0-9]+(?:\.[0-9]*)?|\.[0-9]+)(?:[eE][+-]?[0-9]+)?")
NESTED: Final = {"scores": "score_", "probabilities": "prob_"}
"""Objects in JSON lines that hold a number for each class, and what their columns are called."""


def read_prediction_table(path: str | os.PathLike[str]) -> Table:
    """Read a table of predictions, told by its content and not by its name."""
    source = open_source(path)
    if source.head(4) == b"PAR1":
        frame = parquet_frame(source.read(0, source.size), source.name)
        with parquet_errors(source.name):  # dates beyond those of Python
            rows = [list(row) for row in frame.iter_rows()]
        table = Table(source.name, frame.columns, rows, [])
    elif source.head().lstrip().startswith(b"{"):
        table = json_lines(source.whole(), source.name)
    else:
        table = read_delimited(source.whole(), source.name)
    return table._replace(names=column_names(table.names, len(table.rows), source.name))


def column_names(names: list[str], rows: int, source: str) -> list[str]:
    """The names of the columns without blanks; a table without rows is refused."""
    if not rows:
        raise InputError(f"{source}: a header, but no predictions below it")
    stripped = [name.strip() for name in names]
    refuse_repeated(stripped, source)
    return stripped


def parquet_frame(content: bytes, name: str) -> pl.DataFrame:
    """The columns of a Parquet file, with one for each class of a struct."""
    frame = read_parquet(content, name)
    kept = [name for name, kind in frame.schema.items() if not kind.is_nested()]
    with parquet_errors(name):
        return frame.select(kept).with_columns(_of_classes(frame))


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


def json_lines(content: bytes, name: str) -> Table:
    """One object a line; names that a line lacks are empty cells there."""
    objects: list[dict[str, Any]] = []
    lines: list[int] = []
    for number, raw in enumerate(content.split(b"\n"), 1):
        if raw.strip():
            objects.append(json_object(raw, f"{name}:{number}"))
            lines.append(number)
    names = list(dict.fromkeys(key for one in objects for key in one))
    return Table(name, names, [[one.get(key) for key in names] for one in objects], lines)


def json_object(raw: bytes, place: str) -> dict[str, Any]:
    """A line of JSON as cells by column; scores of classes become a column each."""
    try:
        found = json.loads(raw)
    except UnicodeDecodeError:
        raise FormatError(place, "not UTF-8: save the file as UTF-8") from None
    except json.JSONDecodeError as error:
        raise FormatError(place, f"not JSON ({error.msg}, column {error.colno})") from None
    except (RecursionError, ValueError):
        raise FormatError(place, "JSON nested too deep, or a number too long") from None
    if not isinstance(found, dict):
        raise FormatError(place, f"a JSON object is expected, not {type(found).__name__}")
    flat: dict[str, Any] = {}
    for key, value in found.items():
        if key in NESTED and isinstance(value, dict):
            flat.update({f"{NESTED[key]}{label}": one for label, one in value.items()})
        elif isinstance(value, dict | list):
            raise FormatError(place, f"{key!r} holds {type(value).__name__}, expected one value")
        else:
            flat[key] = value
    return flat


def find_column(table: Table | PredictionColumns, known: tuple[str, ...]) -> int | None:
    """The number of the first column that goes by one of these names."""
    names = [name.lower() for name in table.names]
    return next((names.index(one) for one in known if one in names), None)


def label_cell(cell: Any, place: str, what: str) -> str:
    """A class, an id or a name as text; refused if it is missing."""
    if isinstance(cell, bool):
        return str(cell).lower()
    if isinstance(cell, float):
        if not math.isfinite(cell):
            raise FormatError(place, f"the {what} is {cell}, which is no name")
        return str(int(cell)) if cell.is_integer() else str(cell)
    text = "" if cell is None else str(cell).strip()
    if not text:
        raise FormatError(place, f"the {what} is missing")
    return text


def number_cell(cell: Any, place: str, what: str) -> float:
    """A finite number; refused if it is missing or none."""
    if isinstance(cell, bool):
        raise FormatError(place, f"{what}: {cell} is not a number")
    text = "" if cell is None else str(cell).strip()
    if not text:
        raise FormatError(place, f"{what}: the number is missing")
    if NUMBER.fullmatch(text) and math.isfinite(float(text)):
        return float(text)
    endless = text.lower().lstrip("+-") in {"nan", "inf", "infinity"} or NUMBER.fullmatch(text)
    raise FormatError(place, f"{what}: {cell!r} is not a {'finite ' if endless else ''}number")

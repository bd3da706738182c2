"""Tables with a header (CSV, TSV, Parquet) and JSON objects."""

from __future__ import annotations

import csv
import json
from io import BytesIO
from typing import TYPE_CHECKING, Any, Final

from heldout.data.columns import pick_columns
from heldout.data.formats.delimited import refuse_repeated
from heldout.data.formats.parquet import read_parquet
from heldout.errors import InputError

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    import polars as pl

    from heldout.data.formats.source import Source
    from heldout.data.run import Qrels, Run

__all__ = ["read_table", "write_table"]

_SEPARATORS: Final = {"csv": ",", "tsv": "\t"}

Columns = tuple[list[str], list[str], list[Any]]


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
        return _read_json(source)
    import polars as pl  # slow to import, and TREC files do without

    content = source.read(0, source.size) if kind == "parquet" else source.whole()
    comments = 0
    while kind != "parquet" and content.startswith(b"#"):
        comments += 1
        content = content.partition(b"\n")[2]
    try:
        place = source.name if kind == "parquet" else f"{source.name}:{comments + 1}"
        frame = _read_frame(content, kind, place)
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


def _read_frame(content: bytes, kind: str, place: str) -> pl.DataFrame:
    """The table with its names in lower case; Polars would rename a repeated column unasked."""
    import polars as pl

    if kind == "parquet":
        frame = read_parquet(content, place)
        refuse_repeated([name.strip().lower() for name in frame.columns], place)
    else:
        first = content.partition(b"\n")[0].decode(errors="replace")
        names = next(csv.reader([first], delimiter=_SEPARATORS[kind]), [])
        refuse_repeated([name.strip().lower() for name in names], place)
        frame = pl.read_csv(BytesIO(content), separator=_SEPARATORS[kind], infer_schema=False)
    return frame.rename({name: name.strip().lower() for name in frame.columns})


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


def _once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    """A JSON object whose names are all different; of equal ones JSON would keep the last."""
    found = dict(pairs)
    if len(found) < len(pairs):
        seen: set[str] = set()
        again = next(name for name, _ in pairs if name in seen or seen.add(name))  # type: ignore[func-returns-value]
        raise InputError(f"the name {again!r} stands twice in one JSON object: keep one of them")
    return found


def _read_json(source: Source) -> Columns:
    try:
        content = json.loads(source.whole(b'"'), object_pairs_hook=_once)
    except UnicodeDecodeError as error:
        raise InputError(f"{source.name}: not UTF-8 ({error.reason})") from None
    except json.JSONDecodeError as error:
        raise InputError(f"{source.name}:{error.lineno}: not JSON ({error.msg})") from None
    except (RecursionError, ValueError):
        raise InputError(f"{source.name}: JSON nested too deep, or a number too long") from None
    except InputError as error:
        raise InputError(f"{source.name}: {error}") from None
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

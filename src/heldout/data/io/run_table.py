"""Runs and judgements as tables (CSV, TSV, Parquet) and as JSON objects."""

from __future__ import annotations

import json
import math
from dataclasses import replace
from typing import TYPE_CHECKING, Final

import numpy as np

from heldout.data.columns import ID_COLUMNS, pick_names
from heldout.data.io.cells import as_list, cell_text, number_problem, to_numbers
from heldout.data.io.delimited import BadRow, refuse_repeated
from heldout.data.io.run_json import Columns, parse_lists
from heldout.data.io.table import read_table
from heldout.errors import FormatError

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from heldout.data.io.cells import Cells
    from heldout.data.io.source import Source
    from heldout.data.io.table import Table
    from heldout.data.run import Qrels, Run

__all__ = ["read_run_table", "write_run_table"]

_SEPARATORS: Final = {"csv": ",", "tsv": "\t"}


def read_run_table(
    source: Source,
    kind: str,
    known: dict[str, tuple[str, ...]],
    *,
    skip_bad_lines: bool = False,
    report: Callable[[str], None] | None = None,
) -> Columns:
    """Read query, document and number from a table or a JSON object.

    Parameters
    ----------
    kind
        ``csv``, ``tsv``, ``json`` or ``parquet``.
    known
        What the three columns are called.
    skip_bad_lines, report
        As `heldout.read_run` takes them.
    """
    if kind == "json":
        return parse_lists(source.whole(b'"'), source.name)
    bad: list[BadRow] = []
    table = read_table(source, _SEPARATORS.get(kind, ""), bad)
    names = [name.lower() for name in table.names]
    refuse_repeated(names, table.header)
    picked = pick_names(names, known, source.name)
    cells = {role: table.cells(names.index(name)) for role, name in picked.items()}
    queries, docs, values = _checked(table, cells, bad)
    if bad:
        _treat(sorted(bad, key=lambda row: row.number), skip_bad_lines, report)
    return queries, docs, values


def _checked(table: Table, cells: dict[str, Cells], bad: list[BadRow]) -> Columns:
    """The three columns; rows that lack something go to `bad`."""
    query, doc, number = cells
    queries, docs, values = _ids(cells[query]), _ids(cells[doc]), to_numbers(cells[number])
    if all(queries) and all(docs) and not np.isnan(values).any():
        return queries, docs, values.tolist()
    kept: Columns = ([], [], [])
    for at, value in enumerate(values.tolist()):
        reason = ""
        if not queries[at] or not docs[at]:
            reason = f"no {doc if queries[at] else query}"
        elif math.isnan(value):
            cell = cells[number][at]
            reason = number_problem(cell) if cell_text(cell) else f"no {number}"
        if reason:
            bad.append(BadRow(table.places.number(at), FormatError(table.places[at], reason)))
        else:
            for column, one in zip(kept, (queries[at], docs[at], value), strict=True):
                column.append(one)
    return kept


def _ids(cells: Cells) -> list[str]:
    """Ids as they are written; empty where one is missing."""
    return ["" if cell is None or cell != cell else str(cell) for cell in as_list(cells)]  # noqa: PLR0124 - NaN


def _treat(bad: list[BadRow], skip: bool, report: Callable[[str], None] | None) -> None:
    """Refuse the first bad row, or tell of all that are left out."""
    if not skip:
        first = bad[0].error
        more = f" (and {len(bad) - 1} more)" if bad[1:] else ""
        raise FormatError(first.where, first.what + more)
    if report is not None:
        for row in bad:
            report(f"{row.error}; left out")


def write_run_table(what: Run | Qrels, path: Path, ending: str) -> None:
    """Write a run or qrels as a table or a JSON object."""
    if ending == ".json":
        path.write_text(json.dumps(what.to_dict(), ensure_ascii=False) + "\n", encoding="utf-8")
        return
    frame = replace(what, id_columns=ID_COLUMNS).to_frame()
    if ending == ".parquet":
        frame.write_parquet(path)
    else:
        frame.write_csv(path, separator=_SEPARATORS[ending[1:]])

"""Runs and judgements as tables (CSV, TSV, Parquet) and as JSON objects."""

from __future__ import annotations

import json
import math
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from heldout.data.columns import grade_problem, pick_names, wrong_grades
from heldout.data.ids import as_id, is_missing
from heldout.data.io.cells import as_list, cell_text, number_problem, to_numbers
from heldout.data.io.delimited import refuse_repeated
from heldout.data.io.run_json import Columns, parse_lists
from heldout.data.io.table import read_table
from heldout.data.io.trec import run_as_qrels
from heldout.errors import FormatError, InputError

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from heldout.data.io.cells import Cells
    from heldout.data.io.source import Source
    from heldout.data.io.table import Table
    from heldout.data.run import Qrels, Run
    from heldout.data.words import Floats

__all__ = ["read_run_table", "write_run_table"]

_SEPARATORS: Final = {"csv": ",", "tsv": "\t"}


def read_run_table(
    source: Source,
    kind: str,
    known: dict[str, tuple[str, ...]],
) -> Sequence[list[Any]]:
    """Read the columns query, document and number (and subtopic).

    From a table, JSON lines, or a JSON object.

    Parameters
    ----------
    kind
        ``csv``, ``tsv``, ``json`` or ``parquet``.
    known
        The names that each column may have.
    """
    is_grade = "grade" in known
    if kind == "json" and not _is_json_lines(source, known):
        if "subtopic" in known:
            raise InputError(f"{source.name}: JSON has no subtopics; use TREC qrels or a table")
        lists = parse_lists(source.whole(), source.name)
        if is_grade:
            _check_json_grades(lists, source.name)
        return lists
    table = read_table(source, _SEPARATORS.get(kind, ""))
    names = [name.lower() for name in table.names]
    refuse_repeated(names, table.header)
    picked = pick_names(names, known, source.name)
    cells = {role: table.cells(names.index(name)) for role, name in picked.items()}
    return _checked(table, cells, is_grade=is_grade)


def _is_json_lines(source: Source, known: dict[str, tuple[str, ...]]) -> bool:
    """Return whether the first line is an object with a query and a document of its own."""
    first = next((line for line in source.head().splitlines() if line.strip()), b"")
    try:
        row = json.loads(first)
    except (ValueError, RecursionError):
        return False
    if not isinstance(row, dict) or any(isinstance(value, dict) for value in row.values()):
        return False
    names = {str(name).lower() for name in row}
    return all(names.intersection(known[role]) for role in ("query", "doc"))


def _refuse_run(values: Floats, name: str) -> None:
    """Refuse a run in the place of judgements: most of its numbers have decimals."""
    fractions = np.count_nonzero(values % 1)
    if fractions > max(1, len(values) // 2):
        raise run_as_qrels(name)


def _check_json_grades(columns: Columns, name: str) -> None:
    queries, docs, grades = columns
    values = np.array(grades, np.float64)
    _refuse_run(values, name)
    wrong = np.flatnonzero(wrong_grades(values))
    if len(wrong):
        row = int(wrong[0])
        raise FormatError(
            name,
            f"query {queries[row]!r}, document {docs[row]!r}: grade {grades[row]} "
            f"{grade_problem(values[row])}",
        )


def _checked(table: Table, cells: dict[str, Cells], *, is_grade: bool) -> tuple[list[Any], ...]:
    """Return the columns; raise an error for the first row with a missing or wrong cell."""
    query, doc, number, *more = cells
    ids = {role: _ids(cells[role]) for role in (query, doc, *more)}
    values = to_numbers(cells[number])
    wrong = np.isnan(values)
    if is_grade:
        _refuse_run(values[~wrong], table.source)
        wrong = wrong_grades(values)
    columns = (ids[query], ids[doc], values.tolist(), *(ids[role] for role in more))
    if all(map(all, ids.values())) and not wrong.any():
        return columns
    for row, value in enumerate(values.tolist()):
        absent = next((role for role, column in ids.items() if not column[row]), None)
        reason = ""
        if absent is not None:
            reason = f"no {absent}"
        elif math.isnan(value):
            cell = cells[number][row]
            reason = number_problem(cell) if cell_text(cell) else f"no {number}"
        elif wrong[row]:
            reason = f"grade {value:g} {grade_problem(value)}"
        if reason:
            raise FormatError(table.places[row], reason)
    return columns


def _ids(cells: Cells) -> list[str]:
    """Return ids as strings; empty where one is missing."""
    return ["" if is_missing(cell) else as_id(cell) for cell in as_list(cells)]


def write_run_table(what: Run | Qrels, path: Path, ending: str) -> None:
    """Write a run or qrels as a table or a JSON object."""
    if ending == ".json":
        path.write_text(json.dumps(what.to_dict(), ensure_ascii=False) + "\n", encoding="utf-8")
        return
    frame = what.to_frame()
    if ending == ".parquet":
        frame.write_parquet(path)
    else:
        frame.write_csv(path, separator=_SEPARATORS[ending[1:]])

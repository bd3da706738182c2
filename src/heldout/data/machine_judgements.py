"""Judgements of a machine: grades, or the probability of each grade."""

from __future__ import annotations

import json
import os
import re
from dataclasses import replace
from typing import TYPE_CHECKING, Any, Final, NamedTuple

import numpy as np

from heldout.data.columns import QRELS_COLUMNS, pick_names
from heldout.data.io.cells import as_list, cell_text, to_numbers
from heldout.data.io.source import open_source
from heldout.data.io.table import read_table
from heldout.data.run import Qrels
from heldout.data.run_files import detect_format, read_qrels
from heldout.data.run_inputs import as_qrels
from heldout.errors import FormatError, InputError

if TYPE_CHECKING:
    from collections.abc import Sequence

    from heldout.data.io.source import Source
    from heldout.data.io.table import Table
    from heldout.data.words import Floats, Ints

__all__ = ["DRAWS", "MachineJudgements", "as_machine", "read_machine"]

DRAWS: Final = 20
"""Draws of grades from the machine's probabilities: each probability counts to the next 1/20."""

_PROBABILITY: Final = re.compile(r"(?:prob|probability|p)_(\d{1,9})")
_OFF: Final = 0.01
"""How far the probabilities of a document may be from a sum of 1 (they are rounded)."""


class MachineJudgements(NamedTuple):
    """Judgements of a machine.

    Parameters
    ----------
    qrels
        One grade per document: the given one, or the most probable.
    draws
        If the machine gave probabilities: judgements with grades drawn from them. A measure is
        computed on each and averaged, which is its value at the expected gain where it is linear in
        the gains (DCG, precision), and its expected value otherwise.
    name
        Of the machine: the name of the file, if there is one.
    """

    qrels: Qrels
    draws: tuple[Qrels, ...] = ()
    name: str = ""

    @property
    def graded(self) -> tuple[Qrels, ...]:
        """What measures are computed on: the draws, or the only grades."""
        return self.draws or (self.qrels,)

    def select(self, queries: Sequence[str]) -> MachineJudgements:
        """Return the judgements of some queries only."""
        draws = tuple(one.select(queries) for one in self.draws)
        return MachineJudgements(self.qrels.select(queries), draws, self.name)

    def fingerprint(self) -> str:
        """Return a short hash of all grades."""
        return "-".join(one.fingerprint() for one in self.graded[:2])


def as_machine(given: Any) -> MachineJudgements:
    """Return machine judgements, given as an object, a dictionary, a frame or a file."""
    if isinstance(given, MachineJudgements):
        return given
    if isinstance(given, str | os.PathLike):
        name = os.path.basename(given).split(".")[0]  # noqa: PTH119 (pathlib starts slowly)
        return read_machine(given)._replace(name=name)
    return MachineJudgements(as_qrels(given))


def read_machine(path: str | os.PathLike[str], *more: str | os.PathLike[str]) -> MachineJudgements:
    """Read the judgements of a machine.

    Parameters
    ----------
    path, more
        What `heldout.read_qrels` reads, or a table (CSV, TSV, JSON lines, Parquet) with columns for
        query, document and grade. Columns ``prob_0``, ``prob_1``, … (in JSON lines also an object
        ``probabilities``) hold the probability of each grade; the grade can then be omitted.
        Several files are joined; of these only qrels are read.
    """
    if more or str(path) == "-":  # standard input can be read only once
        return MachineJudgements(read_qrels(path, *more))
    source = open_source(path)
    kind = detect_format(source)
    lines = kind == "json" and _is_json_lines(source)
    if not lines and kind not in {"csv", "tsv", "parquet"}:
        return MachineJudgements(read_qrels(path))
    table = read_table(source, {"csv": ",", "tsv": "\t"}.get(kind, ""), None)
    names = [name.lower() for name in table.names]
    grades = {
        int(match[1]): at
        for at, name in enumerate(names)
        if (match := _PROBABILITY.fullmatch(name))
    }
    if not lines and not grades:
        return MachineJudgements(read_qrels(path))
    return _from_table(table, names, grades)


def _is_json_lines(source: Source) -> bool:
    """Return whether the first line is an object of its own, with a query and a document."""
    first = next((line for line in source.head().splitlines() if line.strip()), b"")
    try:
        row = json.loads(first)
    except (ValueError, RecursionError):
        return False
    names = {str(name).lower() for name in row} if isinstance(row, dict) else set()
    return all(names.intersection(QRELS_COLUMNS[role]) for role in ("query", "doc"))


def _from_table(table: Table, names: list[str], columns: dict[int, int]) -> MachineJudgements:
    known = {role: QRELS_COLUMNS[role] for role in ("query", "doc")}
    if not columns:
        known = QRELS_COLUMNS
    picked = pick_names(names, known, table.source)
    queries, docs = (
        _ids(table, names.index(picked[role]), what)
        for role, what in (("query", "query"), ("doc", "document"))
    )
    if not columns:
        values = _numbers(table, names.index(picked["grade"]), "grade")
        return MachineJudgements(Qrels.from_columns(queries, docs, values))
    grades = np.array(sorted(columns))
    shares = np.stack([_numbers(table, columns[grade], f"prob_{grade}") for grade in grades], 1)
    _check_shares(table, shares)
    likely = grades[shares.argmax(1)]
    qrels = Qrels.from_columns(queries, docs, likely)
    if qrels.repeated:
        raise InputError(f"{table.source}: {qrels.repeated} documents are judged twice")
    # With row numbers as grades, the judgements know where each row went.
    order = Qrels.from_columns(queries, docs, np.arange(len(likely))).grades
    drawn = _drawn(shares, grades)[order]
    draws = tuple(replace(qrels, grades=np.ascontiguousarray(column)) for column in drawn.T)
    return MachineJudgements(qrels, draws)


def _ids(table: Table, at: int, what: str) -> list[str]:
    ids = [cell_text(cell) for cell in as_list(table.cells(at))]
    if not all(ids):
        raise FormatError(table.places[ids.index("")], f"no {what}")
    return ids


def _numbers(table: Table, at: int, what: str) -> Floats:
    values = to_numbers(table.cells(at))
    if np.isnan(values).any():
        raise FormatError(table.places[int(np.isnan(values).argmax())], f"{what} is not a number")
    return values


def _check_shares(table: Table, shares: Floats) -> None:
    wrong = (shares < 0).any(1) | (np.abs(shares.sum(1) - 1) > _OFF)
    if wrong.any():
        row = int(wrong.argmax())
        listed = ", ".join(f"{share:g}" for share in shares[row])
        raise FormatError(
            table.places[row], f"probabilities {listed}: expected 0 or more, with a sum of 1"
        )


def _drawn(shares: Floats, grades: Ints) -> Ints:
    """Return grades, documents x draws; each grade comes as often as its probability says."""
    strata = np.tile(np.arange(DRAWS), (len(shares), 1))
    points = (np.random.default_rng(0).permuted(strata, axis=1) + 0.5) / DRAWS
    bounds = np.cumsum(shares, axis=1)
    bounds /= bounds[:, -1:]
    levels = [(column[:, None] > bounds[:, :-1]).sum(1) for column in points.T]
    drawn: Ints = grades[np.stack(levels, 1)]
    return drawn

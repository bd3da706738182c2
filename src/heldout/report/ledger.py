"""A ledger of evaluations as text, TSV and JSON."""

from __future__ import annotations

from itertools import groupby
from typing import TYPE_CHECKING, Final

from heldout.as_json import json_text
from heldout.notes import count_of
from heldout.report.claim_words import show_p
from heldout.report.tables import Table, plain_text, tables_text
from heldout.report.terminal import aligned, shortened

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from heldout.infer.ledger import Look

__all__ = ["ledger_json", "ledger_text", "ledger_tsv"]

_COMPARED: Final = 2
"""The column of the systems, which is shortened where a terminal is narrow."""
_SHORTEST: Final = 15

_LEGEND: Final = "Holm: p-value adjusted for all evaluations of the same data."


def ledger_text(rows: Iterable[Look], width: int | None = None) -> str:
    """One table per data set, and what its last columns mean.

    Parameters
    ----------
    rows
        Evaluations, those of one data set together.
    width
        Columns of the terminal; names of systems are shortened to fit. None for any width.
    """
    parts = []
    for data, looks in groupby(rows, key=lambda row: row.fingerprint):
        table = _table(list(looks), width)
        title = f"Data {plain_text(data)}: {count_of(len(table.rows), 'evaluation')}\n"
        parts.append(title + aligned(table))
    return "\n".join([*parts, f"{_LEGEND}\n"]) if parts else "No evaluations.\n"


def _table(rows: Sequence[Look], width: int | None) -> Table:
    head = ["#", "date", "systems", "measure", "difference", "p", "Holm"]
    cells = [
        [
            str(row.look),
            row.time[:10],
            _systems(row),
            plain_text(row.measure),
            f"{row.effect:+.4f}",
            show_p(row.p),
            show_p(row.holm),
        ]
        for row in rows
    ]
    table = Table(head, cells, texts=4)
    if width is not None:
        widest = max(map(len, aligned(table).splitlines()))
        names = max(len(row[_COMPARED]) for row in cells)
        room = max(names - max(widest - width, 0), _SHORTEST)
        for row, look in zip(cells, rows, strict=True):
            row[_COMPARED] = _fitting(look.systems, room)
    return table


def _fitting(systems: Sequence[str], room: int) -> str:
    """The names joined by minus signs; those that are too long lose their middle."""
    names = [plain_text(name) for name in systems]
    room -= 3 * (len(names) - 1)
    for left, name in zip(range(len(names), 0, -1), sorted(names, key=len), strict=True):
        share = max(room // left, 1)  # short names leave more for long ones
        names[names.index(name)] = shortened(name, share)
        room -= min(len(name), share)
    return " - ".join(names)


def _systems(row: Look) -> str:
    return plain_text(" - ".join(row.systems))


def ledger_tsv(rows: Iterable[Look]) -> str:
    """One line per evaluation, with all columns, for programs."""
    head = ["data", "evaluation", "time", "systems", "measure", "test", "difference", "n", "p"]
    table = [
        [
            row.fingerprint,
            str(row.look),
            _seconds(row.time),
            _systems(row),
            row.measure,
            row.test,
            f"{row.effect:+.4f}",
            str(row.n),
            show_p(row.p),
            show_p(row.holm),
        ]
        for row in rows
    ]
    return tables_text([Table([*head, "Holm"], table, texts=6)], "tsv")


def _seconds(time: str) -> str:
    """An ISO time without fractions of seconds."""
    whole, dot, rest = time.partition(".")
    return whole + rest.lstrip("0123456789") if dot else time


def ledger_json(rows: Iterable[Look]) -> str:
    """All that the ledger has, at full precision."""
    return json_text([row._asdict() for row in rows])

"""A ledger of evaluations as text and tables."""

from __future__ import annotations

import re
from itertools import groupby
from typing import TYPE_CHECKING, Final

from heldout.notes import count_of
from heldout.report.answers import p_value
from heldout.report.table import SHORTEST, Table, shorten, text_table

if TYPE_CHECKING:
    from collections.abc import Sequence

    from heldout.infer.ledger import Look

OTHERS: Final = 55  # columns of all but the systems, with a short measure


def ledger_text(looks: Sequence[Look], *, width: int | None = None) -> str:
    """One table per data set, and what its last column means."""
    if not looks:
        return "No evaluations.\n"
    groups = (list(group) for _, group in groupby(looks, key=lambda look: look.fingerprint))
    tables = "\n".join(text_table(_of_one_data_set(group, width), width) for group in groups)
    return f"{tables}\nHolm: p-value adjusted for all evaluations of the same data.\n"


def ledger_tables(looks: Sequence[Look]) -> list[Table]:
    """All columns, one row per evaluation."""
    head = ["data", "evaluation", "time", "systems", "measure", "test"]
    rows = []
    for look in looks:
        time = re.sub(r"\.\d+", "", look.time)  # without microseconds
        words = [look.fingerprint, str(look.look), time, " - ".join(look.systems), look.measure]
        numbers = (f"{look.effect:+.4f}", str(look.n), p_value(look.p), p_value(look.holm))
        rows.append([*words, look.test, *numbers])
    return [Table([*head, "difference", "n", "p", "Holm"], rows, left=len(head))]


def _of_one_data_set(looks: Sequence[Look], width: int | None) -> Table:
    rows = []
    for look in looks:
        room = SHORTEST if width is None else max((width - OTHERS) // len(look.systems), SHORTEST)
        names = look.systems if width is None else [shorten(name, room) for name in look.systems]
        numbers = (f"{look.effect:+.4f}", p_value(look.p), p_value(look.holm))
        rows.append([str(look.look), look.time[:10], " - ".join(names), look.measure, *numbers])
    head = ["#", "date", "systems", "measure", "difference", "p", "Holm"]
    title = f"Data {looks[0].fingerprint}: {count_of(len(looks), 'evaluation')}"
    return Table(head, rows, title, left=4)

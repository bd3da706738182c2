"""The evaluations that a ledger has recorded for the same data."""

from __future__ import annotations

from heldout.infer.ledger import read_ledger
from heldout.notes import count_of
from heldout.report.claim_words import show_p
from heldout.report.page.parts import PageTable
from heldout.report.tables import Table

__all__ = ["looks_table"]

_HEAD = ("number", "time (UTC)", "systems", "measure", "test", "Δ", "n", "p", "p Holm")


def looks_table(path: str, data: str) -> PageTable:
    """The evaluations on some data in the order in which they were made."""
    looks = read_ledger(path)
    rows = tuple(
        (
            str(one.look),
            one.time[:16].replace("T", " "),
            " - ".join(one.systems),
            one.measure,
            one.test,
            f"{one.effect:+.4f}",
            str(one.n),
            show_p(one.p),
            show_p(one.holm),
        )
        for one in looks
        if one.fingerprint == data
    )
    others = len({one.fingerprint for one in looks} - {data})
    said = f"{path} has {count_of(len(rows), 'evaluation')} on these data"
    said += f", and evaluations on {others} other data." if others else "."
    sources = (
        ("p", "of this evaluation alone"),
        ("p Holm", "adjusted for all evaluations on these data by Holm's method"),
    )
    table = Table(_HEAD, rows, "Evaluations on these data", texts=5, notes=(said,))
    return PageTable(table, sources)

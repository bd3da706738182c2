"""The evaluations that a ledger has recorded for the same data."""

from __future__ import annotations

from heldout.infer.ledger import Ledger
from heldout.infer.results import count_of
from heldout.report.claim_words import show_p
from heldout.report.page.parts import PageTable
from heldout.report.tables import Table

__all__ = ["looks_table"]

_HEAD = ("number", "time (UTC)", "systems", "measure", "test", "Δ", "n", "p", "p Holm", "LORD++")


def looks_table(path: str, data: str) -> PageTable:
    """The evaluations on some data in the order in which they were made."""
    ledger = Ledger(path, make=False)
    rows = tuple(
        (
            str(one.look.look),
            one.look.time[:16].replace("T", " "),
            " - ".join(one.look.systems),
            one.look.measure,
            one.look.test,
            f"{one.look.effect:+.4f}",
            str(one.look.n),
            show_p(one.look.p),
            show_p(one.holm),
            f"{'discovery' if one.discovery else 'none'} at {one.level:.2g}",
        )
        for one in ledger.adjusted(data)
    )
    others = sum(one != data for one in ledger.fingerprints())
    looks = count_of(len(rows), "evaluation")
    said = f"{path} has {looks} on these data"
    said += f", and evaluations on {others} other data." if others else "."
    sources = (
        ("p", "of this evaluation alone"),
        ("p Holm", "adjusted for all evaluations on these data by Holm's method"),
        ("LORD++", "whether p is below the level that LORD++ assigns to this evaluation"),
    )
    table = Table(_HEAD, rows, "Evaluations on these data", texts=5, notes=(said,))
    return PageTable(table, sources)

"""How often the data were looked at."""

from __future__ import annotations

from heldout.infer.ledger import Ledger
from heldout.infer.results import count_of
from heldout.report.claim_words import show_p
from heldout.report.page.parts import PageTable
from heldout.report.tables import Table

__all__ = ["looks_table"]

_HEAD = ("look", "time (UTC)", "systems", "measure", "test", "Δ", "n", "p", "p Holm", "LORD++")


def looks_table(path: str, data: str) -> PageTable:
    """The ledger's looks at some data, judged within their history."""
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
    looks = count_of(len(rows), "look")
    said = f"{looks} at these data {'is' if len(rows) == 1 else 'are'} in {path}"
    said += f"; it also has looks at {others} other data." if others else "."
    sources = (
        ("p", "of the look by itself"),
        ("p Holm", "adjusted for all looks at these data, however they depend on each other"),
        ("LORD++", "whether p was below the level that the looks before had left over"),
    )
    table = Table(_HEAD, rows, "Looks at these data", texts=5, notes=(said,))
    return PageTable(table, sources)

"""The command ``ledger``: arguments to library calls."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Any

from heldout.cli.files import emit
from heldout.cli.options import add_json

if TYPE_CHECKING:
    import argparse
    from collections.abc import Callable

    from heldout.infer.ledger import AdjustedLook

__all__ = ["add_ledger"]

_HEAD = (
    *("data", "look", "time", "systems", "measure", "test", "effect", "n", "p", "Holm"),
    "LORD++",
)


def add_ledger(command: Callable[..., argparse.ArgumentParser], commands: Any) -> None:
    """Add the command ``ledger``."""
    parser = command(
        commands,
        "ledger",
        "List evaluations of held-out data, with p-values adjusted for all of them.",
        "  heldout ledger looks.sqlite\n  heldout ledger looks.sqlite --json\n",
    )
    parser.add_argument("file", metavar="FILE", help="ledger of heldout compare --ledger")
    add_json(parser)
    parser.set_defaults(run=_ledger)


def _ledger(options: argparse.Namespace) -> int:
    from heldout.infer.ledger import Ledger

    with Ledger(options.file, make=False) as ledger:
        rows = [row for data in ledger.fingerprints() for row in ledger.adjusted(data)]
    # Only now: nothing is printed if the file cannot be read.
    emit(_json(rows) if options.json else _table(rows))
    return 0


def _table(rows: list[AdjustedLook]) -> str:
    """A table on a terminal, TSV elsewhere."""
    from heldout.report.tables import Table, tables_text

    grid = Table(list(_HEAD), [list(_cells(row)) for row in rows], texts=6)
    terminal = sys.stdout.isatty()
    return tables_text([grid], "table" if terminal else "tsv", terminal=terminal)


def _json(rows: list[AdjustedLook]) -> str:
    from heldout.as_json import json_text

    looks = [
        {
            **row.look._asdict(),
            "holm": row.holm,
            "lord_level": row.level,
            "lord_discovery": row.discovery,
        }
        for row in rows
    ]
    return json_text(looks)


def _cells(row: AdjustedLook) -> tuple[str, ...]:
    from heldout.report.claim_words import show_p
    from heldout.report.tables import plain_text

    look = row.look
    online = f"{'discovery' if row.discovery else 'none'} at {row.level:.2g}"
    cells = (
        *(look.fingerprint, str(look.look), look.time, " - ".join(look.systems), look.measure),
        *(look.test, f"{look.effect:+.4f}", str(look.n), show_p(look.p), show_p(row.holm)),
        online,
    )
    return tuple(map(plain_text, cells))

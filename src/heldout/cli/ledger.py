"""The command ``ledger``: arguments to library calls."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Any

from heldout.cli.files import emit, show, terminal_width
from heldout.cli.options import add_json

if TYPE_CHECKING:
    import argparse
    from collections.abc import Callable

__all__ = ["add_ledger"]


def add_ledger(command: Callable[..., argparse.ArgumentParser], commands: Any) -> None:
    """Add the command ``ledger``."""
    parser = command(
        commands,
        "ledger",
        "List evaluations of held-out data, with p-values adjusted for all of them.",
        "  heldout ledger looks.sqlite\n"
        "  heldout ledger looks.sqlite > looks.tsv        all columns\n"
        "  heldout ledger looks.sqlite --json\n",
    )
    parser.add_argument("file", metavar="FILE", help="ledger of heldout compare --ledger")
    add_json(parser)
    parser.set_defaults(run=_ledger)


def _ledger(options: argparse.Namespace) -> int:
    from heldout.infer.ledger import Ledger
    from heldout.report.ledger import ledger_json, ledger_text, ledger_tsv

    with Ledger(options.file, make=False) as ledger:
        rows = [row for data in ledger.fingerprints() for row in ledger.adjusted(data)]
    # Only now: nothing is printed if the file cannot be read.
    if options.json:
        emit(ledger_json(rows))
    elif sys.stdout.isatty():
        show(ledger_text(rows, terminal_width()))
    else:
        emit(ledger_tsv(rows))
    return 0

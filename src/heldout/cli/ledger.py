"""The command ``ledger``: arguments to library calls."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Any

from heldout.cli.files import emit, show, terminal_width
from heldout.cli.old_options import add_json

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
        "  heldout ledger looks.jsonl\n"
        "  heldout ledger looks.jsonl > looks.tsv        all columns\n"
        "  heldout ledger looks.jsonl --json\n",
    )
    parser.add_argument("file", metavar="FILE", help="ledger of heldout compare --ledger")
    add_json(parser)
    parser.set_defaults(run=_ledger)


def _ledger(options: argparse.Namespace) -> int:
    from heldout.infer.ledger import read_ledger
    from heldout.report.ledger import ledger_json, ledger_text, ledger_tsv

    rows = read_ledger(options.file)
    if options.json:
        emit(ledger_json(rows))
    elif sys.stdout.isatty():
        show(ledger_text(rows, terminal_width()))
    else:
        emit(ledger_tsv(rows))
    return 0

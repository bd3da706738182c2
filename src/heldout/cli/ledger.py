"""heldout ledger: all evaluations of held-out data."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

from heldout.cli.options import Parser, complete
from heldout.cli.output import emit, terminal_width

if TYPE_CHECKING:
    from collections.abc import Sequence


def parser() -> Parser:
    """The parser of this command."""
    return Parser(
        "ledger",
        "List evaluations of held-out data, with p-values adjusted for all of them.",
        {"file FILE": "ledger of heldout compare --ledger"},
        examples="  heldout ledger looks.jsonl\n"
        "  heldout ledger looks.jsonl > looks.tsv        all columns\n"
        "  heldout ledger looks.jsonl --json\n",
    )


def run(arguments: Sequence[str]) -> int:
    """Read the ledger and print it."""
    options = complete(parser().read(arguments), "ledger")
    from heldout.as_json import json_text
    from heldout.infer.ledger import read_ledger
    from heldout.report.ledger import ledger_tables, ledger_text
    from heldout.report.table import write_tables

    looks = read_ledger(options.file)
    if options.format:
        emit(json_text(looks))
    elif sys.stdout.isatty():
        emit(ledger_text(looks, width=terminal_width()))
    else:
        emit(write_tables(ledger_tables(looks), "tsv"))
    return 0

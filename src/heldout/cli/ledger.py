"""heldout ledger: all evaluations of held-out data."""

from heldout.as_json import json_text
from heldout.cli.options import Parser, complete
from heldout.cli.output import emit, terminal_width


def parser() -> Parser:
    """The parser of this command."""
    return Parser(
        "ledger",
        "List evaluations of held-out data, with p-values adjusted for all of them.",
        {"file FILE": "ledger of heldout compare --ledger"},
        examples="""\
  heldout ledger looks.jsonl
  heldout ledger looks.jsonl > looks.tsv        all columns
  heldout ledger looks.jsonl --json
""",
    )


def run(arguments: list[str]) -> int:
    """Read the ledger and print it."""
    options = complete(parser().read(arguments), "ledger")
    from heldout.infer.ledger import read_ledger
    from heldout.report.ledger import ledger_tables, ledger_text
    from heldout.report.table import write_tables

    looks, width = read_ledger(options.file), terminal_width()
    if options.format:
        emit(json_text(looks))
    else:
        tsv = width is None
        emit(write_tables(ledger_tables(looks), "tsv") if tsv else ledger_text(looks, width=width))
    return 0

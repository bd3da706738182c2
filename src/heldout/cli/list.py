"""heldout list: what there is to choose from."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from heldout.cli.options import Parser, complete, meant
from heldout.cli.output import emit
from heldout.errors import InputError

if TYPE_CHECKING:
    from collections.abc import Sequence

KINDS = ("measures", "models", "methods", "charts")


def parser() -> Parser:
    """The parser of this command."""
    return Parser(
        "list",
        "List measures, models, fusion methods or charts.",
        {
            "kind KIND": f"what to list: {', '.join(KINDS)}",
            "names* NAME": "these measures only, or the charts of this file",
        },
        examples="  heldout list measures\n"
        "  heldout list measures nDCG            its parameters and its formula\n"
        "  heldout list models                   of search and run, with formulas\n"
        "  heldout list methods                  of fuse, what they compute and what they need\n"
        "  heldout list charts\n"
        "  heldout list charts results           those that these results allow\n",
    )


def run(arguments: Sequence[str]) -> int:
    """Print a list as text, or as records for programs."""
    options = complete(parser().read(arguments), "list")
    if options.kind not in KINDS:
        raise InputError(f"{options.kind}: {meant(options.kind, KINDS)}")
    if options.names and options.kind in {"models", "methods"}:
        raise InputError(f"list {options.kind} takes no names: it lists all of them")
    from heldout.report import listings

    records: list[dict[str, Any]]
    if options.kind == "measures":
        text, records = "", listings.listed_measures(options.names)
        if not options.format:
            text = listings.measures_text(options.names)
    elif options.kind == "charts":
        text, records = _charts(options.names)
    else:
        text, records = listings.models() if options.kind == "models" else listings.methods()
    if options.format:
        from heldout.as_json import json_text

        text = json_text(records)
    emit(text)
    return 0


def _charts(files: Sequence[str]) -> tuple[str, list[dict[str, Any]]]:
    from heldout.report.charts.find import NAMES, charts_of_files
    from heldout.report.table import printable

    records = [{"name": name, "shows": words} for name, words in NAMES.items()]
    if files:
        drawn = charts_of_files(files)
        records = [{"name": c.key, "shows": c.title, "caption": c.caption} for c in drawn]
    width = max(len(record["name"]) for record in records) + 2
    lines = (f"{record['name']:<{width}}{printable(record['shows'])}\n" for record in records)
    return "".join(lines), records

"""heldout list: what there is to choose from."""

from typing import Any

from heldout.as_json import json_text
from heldout.cli.options import Parser, complete, meant
from heldout.cli.output import emit
from heldout.errors import InputError

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
        examples="""\
  heldout list measures
  heldout list measures nDCG            its parameters and its formula
  heldout list models                   of search and run, with formulas
  heldout list methods                  of fuse, what they compute and what they need
  heldout list charts
  heldout list charts results           those that these results allow
""",
    )


def run(arguments: list[str]) -> int:
    """Print a list as text, or as records for programs."""
    options = complete(parser().read(arguments), "list")
    kind, names = options.kind, options.names
    if kind not in KINDS:
        raise InputError(f"{kind}: {meant(kind, KINDS)}")
    if names and kind in {"models", "methods"}:
        raise InputError(f"list {kind} takes no names: it lists all of them")
    from heldout.report import listings

    if kind == "measures":
        text, records = listings.measures_text(names), listings.listed_measures(names)
    elif kind == "charts":
        text, records = _charts(names, verify=not options.unverified)
    else:
        text, records = listings.models() if kind == "models" else listings.methods()
    emit(json_text(records) if options.format else text)
    return 0


def _charts(files: list[str], *, verify: bool) -> tuple[str, list[dict[str, Any]]]:
    from heldout.report.charts.find import NAMES, charts_of_files
    from heldout.report.table import printable

    records = [{"name": name, "shows": words} for name, words in NAMES.items()]
    if files:
        drawn = charts_of_files(files, verify=verify)
        records = [{"name": c.key, "shows": c.title, "caption": c.caption} for c in drawn]
    width = max(len(record["name"]) for record in records) + 2
    lines = (f"{record['name']:<{width}}{printable(record['shows'])}\n" for record in records)
    return "".join(lines), records

"""The command ``list``: measures, models, fusion methods and charts."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Any, Final

from heldout.cli.files import emit, show
from heldout.cli.old_options import add_json
from heldout.errors import InputError

if TYPE_CHECKING:
    import argparse
    from collections.abc import Callable

__all__ = ["add_list"]

_EXAMPLES: Final = """\
  heldout list measures
  heldout list measures nDCG            its parameters and its formula
  heldout list models                   of search and run, with formulas and conventions
  heldout list methods                  of fuse, what they compute and what they need
  heldout list charts
  heldout list charts results           those that these results allow
"""


def add_list(command: Callable[..., argparse.ArgumentParser], commands: Any) -> None:
    """Add the command ``list``."""
    parser = command(
        commands, "list", "List measures, models, fusion methods or charts.", _EXAMPLES
    )
    add = parser.add_argument
    kinds = ("measures", "models", "methods", "charts")
    add("kind", metavar="KIND", choices=kinds, help=f"what to list: {', '.join(kinds)}")
    add("files", metavar="NAME", nargs="*", help="these measures only, or the charts of this file")
    add_json(parser, "print a list of objects, for programs")
    parser.set_defaults(run=_list)


def _list(options: argparse.Namespace) -> None:
    if options.kind == "measures":
        from heldout.report.measures import describe_measures, json_measures

        sys.stdout.write((json_measures if options.json else describe_measures)(options.files))
        return
    if options.files and options.kind != "charts":
        raise InputError(f"list {options.kind} takes no names: it lists all of them")
    text, rows = {"models": _models, "methods": _methods, "charts": _charts}[options.kind](options)
    if options.json:
        from heldout.as_json import json_text

        emit(json_text(rows))
    else:
        show(text)


def _models(_: argparse.Namespace) -> tuple[str, list[dict[str, str]]]:
    from heldout.report.search import models_text
    from heldout.retrieve.models import model_table

    names = ("name", "parameters", "score")
    return models_text(), [dict(zip(names, row, strict=True)) for row in model_table()]


def _methods(_: argparse.Namespace) -> tuple[str, list[dict[str, str]]]:
    from heldout.report.fusion import method_rows, methods_text

    names = ("name", "needs", "score", "missing")
    return methods_text(), [dict(zip(names, row, strict=True)) for row in method_rows()]


def _charts(options: argparse.Namespace) -> tuple[str, list[dict[str, str]]]:
    from heldout.report.charts.named import NAMES
    from heldout.report.tables import plain_text

    rows = [{"name": name, "shows": words} for name, words in NAMES.items()]
    if options.files:
        from heldout.report.charts.of_files import charts_of_path

        rows = [
            {"name": one.key, "shows": one.title, "caption": one.caption}
            for one in charts_of_path(*options.files)
        ]
    width = max(len(row["name"]) for row in rows) + 2
    lines = (f"{row['name']:<{width}}{plain_text(row['shows'])}\n" for row in rows)
    return "".join(lines), rows

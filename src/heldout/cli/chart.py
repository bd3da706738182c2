"""The command ``chart``: arguments to library calls."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Any

from heldout.cli.old_help import group
from heldout.cli.old_options import UNVERIFIED, add_quiet
from heldout.cli.old_output import output_format
from heldout.errors import InputError

if TYPE_CHECKING:
    import argparse
    from collections.abc import Callable

    from heldout.report.charts.named import NamedChart

__all__ = ["add_chart"]

_FORMATS = ("png", "svg", "pdf", "html", "json")

_EXAMPLES = """\
  heldout chart results forest -o forest.png
  heldout chart results tuning -o tuning.svg --dark
  heldout chart results query-differences -m AP -o queries.html
  heldout chart scores.csv pairs -m nDCG@10 -o pairs.pdf
  heldout chart knn.csv logistic.csv roc -o roc.png --data roc.csv
"""

_NOTES = """\
The suffix of the file is its format: .png, .svg, .pdf, .html (one page that works offline) or
.json (Vega-Lite). No browser is needed. A table of scores is as for heldout compare --scores.
"""


def add_chart(command: Callable[..., argparse.ArgumentParser], commands: Any) -> None:
    """Add the command ``chart``."""
    parser = command(
        commands,
        "chart",
        "Draw a chart of results, scores, predictions or studies.",
        _EXAMPLES,
        notes=_NOTES,
    )
    add = parser.add_argument
    add(
        "files",
        metavar="RESULTS NAME",
        nargs="*",
        help="results folder of heldout run -o, table of scores, files of predictions, or output "
        "of heldout study; and the name of a chart (see heldout list charts)",
    )
    add("-m", "--measure", metavar="NAME", help="measure of the results or the table")
    add("--dark", action="store_true", help="light text on a dark background")
    add = group(parser, "input").add_argument
    add("--lower-is-better", action="store_true", help="table of scores: errors, times")
    add("--positive", metavar="CLASS", help="predictions: the positive class")
    add("--collection", metavar="NAME", help="collection, for the texts of the queries")
    add("--unverified", action="store_true", help=UNVERIFIED)
    add = group(parser, "output").add_argument
    add("-o", "--output", metavar="FILE", help="file to write: .png .svg .pdf .html .json")
    add("--data", metavar="FILE", help="write the numbers of the chart as CSV (- prints them)")
    add_quiet(parser, "print nothing")
    parser.set_defaults(run=_chart)


def _chart(options: argparse.Namespace) -> None:
    _divide(options)
    _check(options)
    from heldout.report.charts.of_files import chosen_chart
    from heldout.report.tables import plain_text

    chart = chosen_chart(options.name, lambda: _charts(options), ", ".join(options.results))
    if options.data is not None:
        from heldout.cli.files import emit
        from heldout.report.tables import safe_frame

        emit(safe_frame(chart.frame).write_csv(), None if options.data == "-" else options.data)
    if options.output is not None:
        _draw(chart, options)
    if not options.quiet:
        written = [one for one in (options.output, options.data) if one not in {None, "-"}]
        if written:
            sys.stderr.write(f"{plain_text(chart.title)}: {' and '.join(written)}\n")


def _divide(options: argparse.Namespace) -> None:
    """Find the name of the chart among the files: it comes last, or is one of the known names."""
    from pathlib import Path

    from heldout.report.charts.named import NAMES

    files = list(options.files)
    named = [one for one in files if one in NAMES and not Path(one).exists()]
    if not named and len(files) > 1 and not Path(files[-1]).exists():
        named = files[-1:]
    options.name = named[0] if named else None
    options.results = [one for one in files if one not in named[:1]]


def _check(options: argparse.Namespace) -> None:
    """Refuse wrong options before anything is read."""
    from heldout.report.charts.of_files import check_name

    if not options.results:
        raise InputError("no input: heldout chart RESULTS NAME -o chart.png")
    if options.name is None:
        known = ", ".join(dict.fromkeys(one.key for one in _charts(options)))
        raise InputError(f"no chart named: add one of {known} (heldout list charts explains them)")
    check_name(options.name)
    if options.output is None and options.data is None:
        raise InputError("no output: add -o chart.png (or --data numbers.csv)")
    if options.output is not None:
        output_format("auto", options.output, _FORMATS, None)


def _draw(chart: NamedChart, options: argparse.Namespace) -> None:
    from heldout.report.charts.export import save_chart
    from heldout.report.charts.theme import themed, titled

    drawn = themed(chart.chart, dark=options.dark)
    save_chart(titled(drawn, chart.title, chart.caption), options.output)


def _charts(options: argparse.Namespace) -> tuple[NamedChart, ...]:
    from heldout.report.charts.of_files import charts_of_path

    return charts_of_path(
        *options.results,
        measure=options.measure,
        collection=options.collection,
        higher_is_better=not options.lower_is_better,
        positive=options.positive,
        verify=not options.unverified,
    )

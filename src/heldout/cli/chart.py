"""The command ``chart``: arguments to library calls."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Any

from heldout.cli.help import UNVERIFIED, add_json, add_quiet
from heldout.cli.output import add_format, output_format
from heldout.cli.scores import add_table_columns
from heldout.errors import InputError

if TYPE_CHECKING:
    import argparse
    from collections.abc import Callable

    from heldout.report.charts.named import NamedChart

__all__ = ["add_chart"]

_FORMATS = ("auto", "png", "svg", "pdf", "html", "json")

_EXAMPLES = """\
  heldout chart --list                                every chart in a line
  heldout chart results --list                        those that these results allow
  heldout chart results forest -o forest.png
  heldout chart results tuning -o tuning.svg --dark
  heldout chart results query-differences -m AP -o queries.html
  heldout chart scores.csv pairs -m nDCG@10 -o pairs.pdf
  heldout chart predictions.csv roc -o roc.png --data roc.csv

The suffix of the file tells its format: .png, .svg, .pdf, .html (one page that needs no network)
or .json (Vega-Lite). No browser is needed. A table of scores is as for heldout compare --table.
"""


def add_chart(command: Callable[..., argparse.ArgumentParser], commands: Any) -> None:
    """Add the command ``chart``."""
    parser = command(
        commands, "chart", "Draw results, scores, predictions or studies as a picture.", _EXAMPLES
    )
    add = parser.add_argument
    add(
        "results",
        metavar="RESULTS",
        nargs="?",
        help="a folder of heldout run -o; a table of scores; a file of predictions; what heldout "
        "study has written",
    )
    add("name", metavar="NAME", nargs="?", help="the chart (see --list)")
    add("-o", "--output", metavar="FILE", help="where to draw it: .png .svg .pdf .html .json")
    add_format(parser, _FORMATS, "format of the picture (default: by the suffix of -o)")
    add("--data", metavar="FILE", help="write the numbers of the chart as CSV; - prints them")
    add("-m", "--measure", metavar="NAME", help="a measure of the results or of a table of scores")
    add("--dark", action="store_true", help="light letters on dark paper")
    add("--bare", action="store_true", help="without title and caption")
    add("--collection", metavar="NAME", help="what was searched, for the texts of the queries")
    add("--baseline", metavar="SYSTEM", help="of a table of scores: compare the others with it")
    add("--lower-is-better", action="store_true", help="of a table of scores: errors, times")
    add_table_columns(parser)
    add("--positive", metavar="CLASS", help="of predictions: the positive class")
    add("--unverified", action="store_true", help=UNVERIFIED)
    add("--list", action="store_true", dest="listed", help="list the charts and draw nothing")
    add_json(parser, "with --list: as JSON")
    add_quiet(parser, "say nothing")
    parser.set_defaults(run=_chart)


def _chart(options: argparse.Namespace) -> None:
    if options.json and not options.listed:
        raise InputError("--json goes with --list; a chart as JSON: -o chart.json")
    if options.listed:
        _list(options)
        return
    _check(options)
    from heldout.report.charts.of_files import chosen_chart
    from heldout.report.tables import plain_text

    chart = chosen_chart(options.name, lambda: _charts(options), options.results)
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


def _check(options: argparse.Namespace) -> None:
    """Refuse what cannot end well, before anything is read."""
    from heldout.report.charts.of_files import NEEDS, check_name

    if options.results is None:
        raise InputError("what is to be drawn? heldout chart RESULTS NAME -o chart.png")
    if options.name is None:
        raise InputError(f"which chart? Name one of {', '.join(NEEDS)}; --list explains them")
    check_name(options.name)
    if options.output is None and options.data is None:
        raise InputError("where is it to be drawn? Add -o chart.png (or --data numbers.csv)")
    if options.output is not None:
        options.format = output_format(options.format, options.output, _FORMATS, None)
    elif options.format != "auto":
        raise InputError("--format is that of a picture: say where to draw it with -o FILE")


def _draw(chart: NamedChart, options: argparse.Namespace) -> None:
    from heldout.report.charts.export import save_chart
    from heldout.report.charts.theme import themed, titled

    drawn = themed(chart.chart, dark=options.dark)
    whole = drawn if options.bare else titled(drawn, chart.title, chart.caption)
    save_chart(whole, options.output, options.format)


def _charts(options: argparse.Namespace) -> tuple[NamedChart, ...]:
    from heldout.report.charts.of_files import charts_of_path

    return charts_of_path(
        options.results,
        measure=options.measure,
        collection=options.collection,
        higher_is_better=not options.lower_is_better,
        baseline=options.baseline,
        systems=options.system,
        units=options.unit,
        positive=options.positive,
        verify=not options.unverified,
    )


def _list(options: argparse.Namespace) -> None:
    """All charts in a line each; of results those that they allow."""
    from heldout.as_json import json_text
    from heldout.cli.files import emit, show
    from heldout.report.charts.named import NAMES
    from heldout.report.tables import plain_text

    if options.results is None:
        rows = [{"name": name, "shows": words} for name, words in NAMES.items()]
    else:
        rows = [
            {"name": one.key, "shows": one.title, "caption": one.caption}
            for one in _charts(options)
        ]
    if options.json:
        emit(json_text(rows))
        return
    width = max(len(row["name"]) for row in rows) + 2
    show("".join(f"{row['name']:<{width}}{plain_text(row['shows'])}\n" for row in rows))

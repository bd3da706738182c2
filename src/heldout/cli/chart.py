"""heldout chart: one chart of results, scores, predictions or studies."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from heldout.cli.options import Parser, complete
from heldout.cli.output import by_suffix, emit, note
from heldout.errors import InputError

if TYPE_CHECKING:
    from collections.abc import Sequence

EXAMPLES: Final = """\
  heldout chart results forest -o forest.png
  heldout chart results tuning -o tuning.svg --dark
  heldout chart results query-differences -m AP -o queries.html
  heldout chart scores.csv pairs -m nDCG@10 -o pairs.pdf
  heldout chart knn.csv logistic.csv roc -o roc.png --data roc.csv
"""
NOTES: Final = """\
The suffix of the file is its format: .png, .svg, .pdf, .html (one page that works offline) or
.json (Vega-Lite). No browser is needed. A table of scores is as for heldout compare --scores.
"""


def parser() -> Parser:
    """The parser of this command."""
    return Parser(
        "chart",
        "Draw a chart of results, scores, predictions or studies.",
        {
            "files* RESULTS NAME": "results folder of heldout run -o, table of scores, files of "
            "predictions, or output of heldout study; and the name of a chart (see heldout list "
            "charts)"
        },
        usage="RESULTS [RESULTS ...] NAME",
        examples=EXAMPLES,
        notes=NOTES,
    )


def run(arguments: Sequence[str]) -> int:
    """Draw the chart, and write its numbers."""
    options = complete(parser().read(arguments), "chart")
    files, name = _divided(options.files)
    if not files:
        raise InputError("no input: heldout chart RESULTS NAME -o chart.png")
    if name and not options.output and not options.data:
        raise InputError("no output: add -o chart.png (or --data numbers.csv)")
    if options.output:
        by_suffix(options.output, ("png", "svg", "pdf", "html", "json"))
    from heldout.report.charts.find import NAMES, charts_of_files, pick

    if name is None:
        known = ", ".join(NAMES)
        raise InputError(f"no chart named: add one of {known} (heldout list charts explains them)")
    given = {
        "measure": options.measure,
        "collection": options.collection,
        "higher_is_better": not options.lower_is_better,
        "positive": options.positive,
        "verify": not options.unverified,
    }
    chart = pick(name, lambda: charts_of_files(files, **given), ", ".join(files))
    from heldout.report.charts.draw import save_chart
    from heldout.report.table import printable, safe_frame

    if options.data:
        emit(safe_frame(chart.frame).write_csv(), None if options.data == "-" else options.data)
    if options.output:
        save_chart(chart.themed(dark=options.dark), options.output)
    written = [file for file in (options.output, options.data) if file not in {None, "-"}]
    if written:
        note([f"{printable(chart.title)}: {' and '.join(written)}"], options)
    return 0


def _divided(given: Sequence[str]) -> tuple[list[str], str | None]:
    """The files, and the name of the chart: a known name among them, or the last."""
    from pathlib import Path

    from heldout.report.charts.find import NAMES

    names = [name for name in given if name in NAMES and not Path(name).exists()]
    if not names and len(given) > 1 and not Path(given[-1]).exists():
        names = [given[-1]]
    return [file for file in given if file not in names[:1]], names[0] if names else None

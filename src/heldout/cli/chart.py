"""heldout chart: one chart of results, scores, predictions or studies."""

from __future__ import annotations

from pathlib import Path
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
    given = parser().read(arguments)
    from heldout.report.charts.draw import save_chart
    from heldout.report.charts.find import NAMES, charts_of_files, kind_of_files, pick
    from heldout.report.table import printable, safe_frame

    # The name may come anywhere; one that is not known is the last.
    words = [word for word in given.files if not Path(word).exists()]
    name = next((word for word in words if word in NAMES), words[-1] if words else None)
    files = [word for word in given.files if word != name]
    if not files or name is None:
        known = ", ".join(NAMES)
        raise InputError(f"expected RESULTS and the name of a chart: add one of {known}")
    options = complete(given, "chart", kind_of_files(files))
    if not options.output and not options.data:
        raise InputError("no output: add -o chart.png (or --data numbers.csv)")
    if options.output:
        by_suffix(options.output, ("png", "svg", "pdf", "html", "json"))
    drawn = charts_of_files(
        files,
        measure=options.measure,
        collection=options.collection,
        higher_is_better=not options.lower_is_better,
        positive=options.positive,
        verify=not options.unverified,
    )
    chart = pick(name, drawn, ", ".join(files))
    if options.data:
        emit(safe_frame(chart.frame).write_csv(), None if options.data == "-" else options.data)
    if options.output:
        save_chart(chart.themed(dark=options.dark), options.output)
    written = [file for file in (options.output, options.data) if file not in {None, "-"}]
    if written:
        note([f"{printable(chart.title)}: {' and '.join(written)}"], options)
    return 0

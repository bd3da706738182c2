"""Results in a notebook: the answer, tables, the first chart and notes, in the style of the page.

Objects of other folders import this module only when they are shown.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from heldout.report.page.render import asset, fill
from heldout.report.table import note_lines

if TYPE_CHECKING:
    from collections.abc import Sequence

    from heldout.report.charts.draw import Chart


def html(result: Any) -> str:
    """Any result of this package."""
    kind, claim = type(result).__name__, ""
    lines: list[str] = []
    charts: Sequence[Chart] = ()
    if kind in {"Comparison", "Results", "Agreement"}:
        from heldout.report.page.content import part_of

        part = part_of([result] if kind == "Comparison" else result)
        claim, *lines = part.answer
        lines += [part.plan, *note_lines(part.checks)]
        tables = [table for table, folded in (*part.tables, *part.tuning) if not folded]
        charts = part.charts
    else:
        from heldout.report import tables as tables_of

        tables = tables_of(result)
        if kind == "BiasStudy":
            from heldout.report.charts.find import charts as charts_of

            charts = charts_of(result)
    return fill(
        "notebook.html.j2",
        style=asset("page.css").partition("/* tables")[2].partition("*/")[2].partition("/* end")[0],
        claim=claim,
        tables=tables,
        charts=charts[:1],
        lines=filter(None, lines),
    )

"""Results in a notebook: the answer, tables, the first chart and notes, in the style of the page.

Objects of other folders import this module only when they are shown.
"""

from __future__ import annotations

from html import escape
from typing import TYPE_CHECKING, Any

from heldout.report.page.render import asset, tables_html
from heldout.report.table import note_lines

if TYPE_CHECKING:
    from collections.abc import Iterable

    from heldout.report.charts.draw import Chart


def html(result: Any) -> str:
    """Any result of this package."""
    kind = type(result).__name__
    if kind in {"Comparison", "Results", "Agreement"}:
        from heldout.report.page.content import part_of

        part = part_of([result] if kind == "Comparison" else result)
        first, *more = part.answer
        blocks = [*part.tables, *part.tuning]
        shown = [block.table for block in blocks if not block.fold]
        lines = [*more, *([part.plan] if part.plan else []), *note_lines(part.checks)]
        claim = f'<p class="claim"><b>{escape(first)}</b></p>'
        return _styled(claim, tables_html(shown), _first(part.charts), _lines(lines))
    from heldout.report import tables

    charts: list[Chart] = []
    if kind == "BiasStudy":
        from heldout.report.charts.find import charts as charts_of

        charts = charts_of(result)
    return _styled(tables_html(tables(result)), _first(charts))


def _styled(*parts: str) -> str:
    """A notebook has no common place for a style: it is repeated in every output."""
    own = asset("page.css").partition("/* tables")[2].partition("*/")[2].partition("/* end")[0]
    style = f".heldout{{max-width:76em;overflow-x:auto;--line:#8886;--faint:inherit;{own}}}"
    figure = ".heldout figure{margin:.8em 0;padding:.4em;background:#fff;color:#1b1f24}"
    return f'<style>{style}{figure}</style><div class="heldout">{"".join(parts)}</div>'


def _first(charts: Iterable[Chart]) -> str:
    """The first chart as SVG without a script, which works in every kind of notebook."""
    for chart in charts:
        words = f"<b>{escape(chart.title)}.</b> {escape(chart.caption)}"
        return f"<figure>{chart.picture}<figcaption>{words}</figcaption></figure>"
    return ""


def _lines(lines: Iterable[str]) -> str:
    return "".join(f"<p>{escape(line)}</p>" for line in lines)

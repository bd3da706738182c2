"""Charts as data that the script of the page draws, in light and dark."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from heldout.errors import HeldoutError
from heldout.notes import Note, count_of

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    from heldout.report.charts.named import NamedChart

__all__ = ["chart_themes", "drawn", "made_charts"]

MOST: Final = 12_000
"""Rows of a chart that a page can hold; more make it slow."""


def made_charts(
    make: Callable[[], Iterable[NamedChart]],
) -> tuple[tuple[NamedChart, ...], list[Note]]:
    """The charts that a page can hold, and notes about the others."""
    try:
        every = tuple(make())
    except HeldoutError as error:
        return (), [Note("no-chart", f"no charts: {error}", "info")]
    kept = tuple(one for one in every if len(one.frame) <= MOST)
    left = [
        Note(
            "no-chart",
            f"chart “{one.title}” has {count_of(len(one.frame), 'row')}, too many for a page; draw "
            f"it with heldout chart RESULTS {one.key} -o {one.key}.svg",
            "info",
        )
        for one in every
        if len(one.frame) > MOST
    ]
    return kept, left


def drawn(charts: Sequence[NamedChart]) -> list[dict[str, Any]]:
    """A Vega-Lite specification for each chart, without a theme."""
    if not charts:
        return []
    import altair as alt  # slow to import

    from heldout.report.charts.theme import responsive

    # Altair limits the rows of charts in notebooks; this page has its own limit.
    with alt.data_transformers.enable("default", max_rows=None):
        return [responsive(one.chart.to_dict()) for one in charts]


def chart_themes() -> dict[str, Any]:
    """The settings of the two themes, with a transparent background."""
    from heldout.report.charts.theme import theme_config

    return {
        "light": theme_config(transparent=True),
        "dark": theme_config(dark=True, transparent=True),
    }

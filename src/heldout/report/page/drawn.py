"""Charts as data that the page's script draws, in light and dark."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from heldout.errors import HeldoutError
from heldout.infer.results import count_of
from heldout.notes import Note

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    from heldout.report.charts.named import NamedChart

__all__ = ["chart_themes", "drawn", "made_charts"]

MOST: Final = 12_000
"""Rows of a chart that a page carries: more make it slow, and are not seen."""


def made_charts(
    make: Callable[[], Iterable[NamedChart]],
) -> tuple[tuple[NamedChart, ...], list[Note]]:
    """The charts that a page can carry, and what to say of the others."""
    try:
        every = tuple(make())
    except HeldoutError as error:
        return (), [Note("no-chart", f"no charts: {error}", "info")]
    kept = tuple(one for one in every if len(one.frame) <= MOST)
    left = [
        Note(
            "no-chart",
            f"the chart “{one.title}” has {count_of(len(one.frame), 'row')}, too many for a page: "
            f"heldout chart RESULTS {one.key} -o {one.key}.svg draws it",
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

    # The limit of rows is Altair's, for notebooks; this page has its own.
    with alt.data_transformers.enable("default", max_rows=None):
        return [responsive(one.chart.to_dict()) for one in charts]


def chart_themes() -> dict[str, Any]:
    """The settings of the two themes; the page's own paper shows through."""
    from heldout.report.charts.theme import theme_config

    return {
        "light": theme_config(transparent=True),
        "dark": theme_config(dark=True, transparent=True),
    }

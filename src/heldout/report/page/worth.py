"""Which charts a page shows: those from which a reader can learn something."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    import polars as pl

    from heldout.infer.comparison import Comparison
    from heldout.report.charts.named import NamedChart

__all__ = ["worth_showing"]

COLUMNS: Final = 300
"""Queries that a heat map shows one by one; of more it shows little but their order."""
OPTIMISM: Final = 0.002
"""Share of the score below which the gap of training and held-out score is not visible."""


def worth_showing(
    charts: Iterable[NamedChart], comparison: Comparison | None
) -> Iterable[NamedChart]:
    """The charts that show something that the tables do not; ``heldout chart`` draws all.

    Parameters
    ----------
    charts
        All charts of a result.
    comparison
        Of the systems, if they were compared.
    """
    return (one for one in charts if _shows(one, comparison))


def _shows(chart: NamedChart, comparison: Comparison | None) -> bool:
    if chart.key in {"query-differences-2", "query-differences-3"}:
        return False  # the table of all queries has them
    if chart.key in _BY_DATA:
        return _BY_DATA[chart.key](chart.frame)
    return comparison is None or _of_pairs(chart, comparison)


def _of_pairs(chart: NamedChart, comparison: Comparison) -> bool:
    claims = comparison.claims
    if chart.key in {"query-differences", "pairs"}:  # systems that agree on every unit
        return any(claim.effects.wins + claim.effects.losses for claim in claims)
    if chart.key == "forest":  # two overlapping intervals mislead about a paired difference
        return len(chart.frame) > 2
    if chart.key == "null":  # of one pair only
        return len(claims) == 1
    return chart.key != "critical-difference"  # another analysis than that of the table


def _readable(frame: pl.DataFrame) -> bool:
    """A heat map needs several systems, and columns that are single units."""
    return frame["system"].n_unique() > 2 and frame["column"].n_unique() < COLUMNS


def _visible(frame: pl.DataFrame) -> bool:
    """Training and held-out scores that are nearly the same are one point."""
    whole = frame.filter(frame["split"].is_null())["gap", "held_out"]
    return any(abs(gap) > OPTIMISM * abs(score) for gap, score in whole.iter_rows())


_BY_DATA: Final[dict[str, Callable[[pl.DataFrame], bool]]] = {
    "heatmap": _readable,
    "optimism": _visible,
}

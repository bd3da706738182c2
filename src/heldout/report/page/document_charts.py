"""The chart of the differences on new documents."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator

    from heldout.report.charts.named import NamedChart
    from heldout.report.page.board import Board

__all__ = ["document_charts"]


def document_charts(board: Board) -> Iterator[NamedChart]:
    """The differences with their intervals, if there are any.

    Parameters
    ----------
    board
        Of results with held-out documents.
    """
    if not board.gaps:
        return
    import polars as pl

    from heldout.report.charts.named import NamedChart
    from heldout.report.charts.systems import draw_pairs

    gaps = list(board.differences().values()) if board.baseline else board.ordered()
    frame = pl.DataFrame(
        [
            {
                "pair": f"{gap.first} − {gap.second}",
                "first": gap.first,
                "second": gap.second,
                "difference": gap.estimate,
                "low": gap.low,
                "high": gap.high,
                "p": gap.p,
                "significant": gap.significant,
            }
            for gap in gaps
        ],
        schema_overrides={"p": pl.Float64},
    )
    yield NamedChart(
        "pairs",
        f"Difference{'s' if len(frame) > 1 else ''} in {board.measure} on new documents",
        f"Difference in {board.measure} with {board.level:.0%} confidence interval, for the same "
        "queries on new documents. Grey and hollow: the interval contains 0.",
        frame,
        draw_pairs(frame, measure=board.measure),
    )

"""Forest plot: each system's mean with its interval."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from heldout.report.charts.marks import inline, padded, rows_height, tip
from heldout.report.charts.theme import WIDTH

if TYPE_CHECKING:
    from collections.abc import Mapping

    import polars as pl

    from heldout.experiment.results import Results
    from heldout.infer.compare import Comparison
    from heldout.report.charts.named import Drawing

__all__ = ["draw_forest", "forest_data", "forest_data_of_results"]


def _frame(rows: list[dict[str, Any]], *, higher_is_better: bool) -> pl.DataFrame:
    """The rows, the best first; what has no mean comes last."""
    import polars as pl

    schema = {
        "system": pl.String,
        "mean": pl.Float64,
        "low": pl.Float64,
        "high": pl.Float64,
        "letters": pl.String,
    }
    frame = pl.DataFrame(rows, schema=schema)
    return frame.sort("mean", descending=higher_is_better, nulls_last=True, maintain_order=True)


def forest_data(comparison: Comparison) -> pl.DataFrame:
    """A row a system, the best first: mean, bounds of its interval, letters.

    Parameters
    ----------
    comparison
        Of two or more systems.
    """
    rows = [
        {
            "system": row.name,
            "mean": row.mean.estimate,
            "low": row.mean.low,
            "high": row.mean.high,
            "letters": row.letters,
        }
        for row in comparison.systems
    ]
    return _frame(rows, higher_is_better=comparison.scores.higher_is_better)


def forest_data_of_results(
    results: Results,
    measure: str | None = None,
    *,
    higher_is_better: bool = True,
    letters: Mapping[str, str] | None = None,
) -> pl.DataFrame:
    """A row a system, the best first: the held-out estimate with its interval.

    Parameters
    ----------
    measure
        By default the first.
    higher_is_better
        Its direction.
    letters
        Of each system, from a comparison.
    """
    known = letters or {}
    found = [(name, results.estimate(name, measure)) for name in results.systems]
    rows = [
        {
            "system": name,
            "mean": one["value"],
            "low": one["low"],
            "high": one["high"],
            "letters": known.get(name, ""),
        }
        for name, one in found
    ]
    return _frame(rows, higher_is_better=higher_is_better)


def draw_forest(frame: pl.DataFrame, *, measure: str = "score") -> Drawing:
    """Points with intervals, a row a system; letters stand at the right.

    Parameters
    ----------
    frame
        Of `forest_data`.
    measure
        What the axis is called.
    """
    import altair as alt  # slow to import

    order = frame["system"].to_list()
    bounds = [*frame["mean"], *frame["low"], *frame["high"]]
    across = alt.Scale(domain=padded(bounds), nice=False, zero=False)
    hover = tip(
        ("system:N", "system"),
        ("mean:Q", measure, ".4f"),
        ("low:Q", "from", ".4f"),
        ("high:Q", "to", ".4f"),
        ("letters:N", "letters"),
    )
    base = alt.Chart(inline(frame)).encode(
        y=alt.Y("system:N", sort=order, title=None), tooltip=hover
    )
    line = base.mark_rule(strokeWidth=2).encode(
        x=alt.X("low:Q", scale=across, title=measure), x2="high:Q"
    )
    point = base.mark_point(size=90).encode(x=alt.X("mean:Q", scale=across))
    layers = [line, point]
    if any(frame["letters"]):
        layers.append(
            base.mark_text(align="left", dx=8, style="label", fontWeight="bold").encode(
                x=alt.value("width"), text="letters:N"
            )
        )
    return alt.layer(*layers).properties(
        width=WIDTH,
        height=rows_height(len(frame), 28),
        description=f"Mean {measure} of each system with its interval, the best system first.",
    )

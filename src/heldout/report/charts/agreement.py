"""Charts of agreement: grades of two judges, and scores of systems under two judges or measures."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

import altair as alt
import polars as pl

from heldout.report.charts.builders import panels, table_of, tip
from heldout.report.charts.marks import inline, padded

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from heldout.infer.comparison import Comparison
    from heldout.report.charts.named import Drawing

__all__ = [
    "draw_grade_confusion",
    "draw_score_agreement",
    "grade_confusion_data",
    "score_agreement_data",
    "score_agreement_of_measures",
]

_SIZE: Final = 230
_LABELLED: Final = 12
"""Systems up to which the points are named."""

_COLUMNS: Final = ("panel", "system", "x", "x_low", "x_high", "y", "y_low", "y_high")


def grade_confusion_data(record: Mapping[str, Any]) -> pl.DataFrame:
    """Return one row per judge and pair of grades.

    Parameters
    ----------
    record
        Of `heldout.report.agreement.agreement_dict`, or the JSON of ``heldout agree``.

    Returns
    -------
    polars.DataFrame
        judge, human, machine (grades), pairs, share (of the pairs with this human grade).
    """
    rows = []
    for judge in record["judges"]:
        for human, counts in zip(record["grades"], judge["confusion"], strict=True):
            total = sum(counts)
            rows += [
                (judge["name"], human, machine, count, count / total if total else 0.0)
                for machine, count in zip(record["grades"], counts, strict=True)
            ]
    return table_of(rows, ["judge", "human", "machine", "pairs", "share"])


def draw_grade_confusion(frame: pl.DataFrame) -> Drawing:
    """Draw one cell per pair of grades, the darker the larger its share of the human grade.

    Parameters
    ----------
    frame
        Of `grade_confusion_data`; one panel per judge.
    """
    grades = frame["human"].unique().sort().to_list()
    hover = tip(
        ("judge:N", "judge"),
        ("human:O", "human grade"),
        ("machine:O", "machine grade"),
        ("pairs:Q", "pairs", ",d"),
        ("share:Q", "share of the human grade", ".1%"),
    )
    cells = (
        alt.Chart(inline(frame))
        .mark_rect(strokeWidth=0)
        .encode(
            x=alt.X("machine:O", title="machine grade", sort=grades, axis=alt.Axis(labelAngle=0)),
            y=alt.Y("human:O", title="human grade", sort=grades[::-1]),
            color=alt.Color(
                "share:Q",
                title="share of the human grade",
                scale=alt.Scale(domain=[0, 1]),
                legend=alt.Legend(format=".0%", gradientLength=150, titleOrient="top"),
            ),
            tooltip=hover,
        )
    )
    words = (
        "Machine grades by human grade, one panel per judge: agreement is on the diagonal, "
        "overrating to its right."
    )
    several = frame["judge"].n_unique() > 1
    return panels([cells], frame, words, _SIZE, "judge" if several else None)


def score_agreement_data(record: Mapping[str, Any], measure: str | None = None) -> pl.DataFrame:
    """Return one row per judge and system: its score under human and machine judgements.

    Parameters
    ----------
    record
        As for `grade_confusion_data`; made with runs.
    measure
        The name of the measure (default: the first).

    Returns
    -------
    polars.DataFrame
        panel (the judge), system, x (human), y (machine) with bounds.
    """
    rows = []
    for judge in record["judges"]:
        orders = judge["orders"]
        order = next((one for one in orders if one["measure"] == measure), orders[0])
        for system in order["systems"]:
            bounds = [system[one][key] for one in ("human", "machine") for key in _INTERVAL]
            rows.append((judge["name"], system["name"], *bounds))
    return table_of(rows, _COLUMNS)


_INTERVAL: Final = ("estimate", "low", "high")


def score_agreement_of_measures(comparisons: Sequence[Comparison]) -> pl.DataFrame:
    """Return one row per system and measure but the first: its scores in the first and in that.

    Parameters
    ----------
    comparisons
        Of the same systems, one per measure.
    """
    first, *others = comparisons
    rows = []
    for other in others:
        means = {row.name: row.mean for row in other.systems}
        rows += [
            (other.scores.measure, row.name, *row.mean[:3], *means[row.name][:3])
            for row in first.systems
        ]
    return table_of(rows, _COLUMNS)


def draw_score_agreement(frame: pl.DataFrame, x: str, y: str, *, same_scale: bool) -> Drawing:
    """Draw one point per system with intervals in both directions.

    Parameters
    ----------
    frame
        Of `score_agreement_data` or `score_agreement_of_measures`; one panel per judge or measure.
    x, y
        Titles of the axes.
    same_scale
        Whether both are the same measure: then a dashed diagonal shows equal scores.
    """
    values = {axis: [v for end in ("low", "high") for v in frame[f"{axis}_{end}"]] for axis in "xy"}
    values = {axis: [*values[axis], *frame[axis]] for axis in "xy"}
    if same_scale:
        both = [*values["x"], *values["y"]]
        values = {"x": both, "y": both}
    scales = {axis: alt.Scale(domain=padded(values[axis]), nice=False) for axis in "xy"}
    across = alt.X("x:Q", title=x, scale=scales["x"])
    up = alt.Y("y:Q", title=y, scale=scales["y"])
    hover = tip(
        ("system:N", "system"),
        ("x:Q", x, ".4f"),
        ("y:Q", y, ".4f"),
    )
    base = alt.Chart().encode(tooltip=hover)
    layers = [_equal_line(scales["x"], across, up)] if same_scale else []
    layers += [
        base.mark_rule(strokeWidth=1, style="back").encode(
            x=alt.X("x_low:Q", title=x, scale=scales["x"]), x2="x_high:Q", y=up
        ),
        base.mark_rule(strokeWidth=1, style="back").encode(
            x=across, y=alt.Y("y_low:Q", title=y, scale=scales["y"]), y2="y_high:Q"
        ),
        base.mark_point(filled=True, size=70).encode(x=across, y=up),
    ]
    if frame["system"].n_unique() <= _LABELLED:
        named = base.mark_text(style="label", align="left", dx=6, dy=-6)
        layers.append(named.encode(x=across, y=up, text="system:N"))
    several = frame["panel"].n_unique() > 1
    words = f"Scores of the systems, {x} and {y}, with their intervals."
    return panels(layers, frame, words, _SIZE if several else 380, "panel" if several else None)


def _equal_line(scale: alt.Scale, across: alt.X, up: alt.Y) -> alt.Chart:
    """A dashed line of equal scores."""
    ends = pl.DataFrame({axis: list(scale.domain) for axis in "xy"})
    line = alt.Chart(inline(ends)).mark_line(style="reference", strokeWidth=1)
    drawn: alt.Chart = line.encode(x=across, y=up)
    return drawn

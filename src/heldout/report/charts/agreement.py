"""Charts of agreement: grades of two judges, and scores of systems under two judges or measures."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

import altair as alt

from heldout.report.answers import percent
from heldout.report.charts import draw

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    import polars as pl

    from heldout.report.standing import Standing

LARGE, SIZE = 380, 230  # of one chart, and of each panel if there are several
LABELLED: Final = 12  # systems up to which the points are named


def charts(record: Mapping[str, Any]) -> Iterator[draw.Chart]:
    """All charts of the JSON of ``heldout agree``."""
    yield grade_confusion(record)
    for order in range(len(record["judges"][0]["orders"])):
        yield score_agreement(record, order)


def grade_confusion(record: Mapping[str, Any]) -> draw.Chart:
    """Machine grades by human grade, a panel for each judge."""
    rows = [
        (judge["name"], human, machine, count, count / sum(counts) if any(counts) else 0.0)
        for judge in record["judges"]
        for human, counts in zip(record["grades"], judge["confusion"], strict=True)
        for machine, count in zip(record["grades"], counts, strict=True)
    ]
    frame = draw.table("judge human machine pairs share", rows)
    legend = alt.Legend(title="share of the human grade", format=".0%", titleOrient="top")
    cells = alt.Chart().mark_rect(strokeWidth=0)
    cells = cells.encode(
        x=alt.X("machine:O", title="machine grade", axis=alt.Axis(labelAngle=0)),
        y=alt.Y("human:O", title="human grade", sort="descending"),
        color=alt.Color("share:Q", scale=alt.Scale(domain=[0, 1]), legend=legend),
        tooltip=draw.tips("judge", "human", "machine", pairs=",d", share=".1%"),
    )
    caption = (
        "Share of each human grade (row) that the machine gave each of its grades (column). Equal "
        "grades are on the diagonal, overrating is to its right."
    )
    drawing = draw.panels(cells, frame=frame, by="judge", sizes=(SIZE, SIZE))
    return draw.Chart("grade-confusion", "Machine grades by human grade", caption, frame, drawing)


def score_agreement(record: Mapping[str, Any], order: int) -> draw.Chart:
    """Scores of systems under human and machine judgements, in one of the measures."""
    measure = record["judges"][0]["orders"][order]["measure"]
    ends = [(by, end) for by in ("human", "machine") for end in ("estimate", "low", "high")]
    rows = [
        (judge["name"], system["name"], *(system[by][end] for by, end in ends))
        for judge in record["judges"]
        for system in judge["orders"][order]["systems"]
    ]
    caption = (
        f"{measure} of each system under human (x) and machine (y) judgements, with "
        f"{percent(record['level'])} confidence intervals. Dashed: equal scores."
    )
    title = f"{measure} under human and machine judgements"
    frame, drawing = _points(rows, f"{measure}, human", f"{measure}, machine", same=True)
    return draw.Chart("score-agreement", title, caption, frame, drawing)


def measures(standings: Sequence[Standing]) -> draw.Chart:
    """Scores of systems in the first measure and in the others."""
    first, *others = standings
    names = [other.measure for other in others]
    rows = [
        (other.measure, row.name, *row[1:4], *other.row(row.name)[1:4])
        for other in others
        for row in first.rows
    ]
    caption = (
        f"Mean of each system in {first.measure} (x) and {', '.join(names)} (y), with "
        f"{percent(first.level)} confidence intervals."
    )
    label = names[0] if len(names) == 1 else "other measure"
    frame, drawing = _points(rows, first.measure, label, same=False)
    title = f"{first.measure} and {', '.join(names)} of each system"
    return draw.Chart("score-agreement", title, caption, frame, drawing)


def _points(
    rows: Iterable[tuple[Any, ...]], x: str, y: str, *, same: bool
) -> tuple[pl.DataFrame, Any]:
    """A point per system with intervals in both directions; a diagonal if scales are the same."""
    frame = draw.table("panel system x x_low x_high y y_low y_high", rows)
    ends = [[*frame[axis], *frame[f"{axis}_low"], *frame[f"{axis}_high"]] for axis in "xy"]
    scales = [draw.padded(ends[0] + ends[1] if same else part) for part in ends]
    across = alt.X("x:Q", title=x, scale=scales[0], axis=alt.Axis(tickCount=5))  # of a panel
    up = alt.Y("y:Q", title=y, scale=scales[1])
    tips = draw.tips("system", ("x", x, ".4f"), ("y", y, ".4f"))
    base = alt.Chart().encode(x=across, y=up, tooltip=tips)
    bars = base.mark_rule(strokeWidth=1, style="faint")
    parts: list[Any] = [draw.diagonal(across, up, scales[0].domain)] if same else []
    parts += [bars.encode(x="x_low:Q", x2="x_high:Q"), bars.encode(y="y_low:Q", y2="y_high:Q")]
    parts.append(base.mark_point())
    if frame["system"].n_unique() <= LABELLED:
        names = base.mark_text(style="label", align="left", dx=6, dy=-6)
        parts.append(names.encode(text="system:N"))
    return frame, draw.panels(*parts, frame=frame, by="panel", sizes=(LARGE, SIZE))

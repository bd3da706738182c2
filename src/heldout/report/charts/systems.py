"""Charts of systems: their scores and differences, on average, on each query, and as ranks."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any, Final

import altair as alt
import numpy as np
import polars as pl

from heldout.infer.results import drop_noise
from heldout.report.answers import p_value, percent
from heldout.report.charts.draw import (
    Chart,
    brief,
    colours,
    drawn,
    layers,
    numbered,
    padded,
    reference,
    rows_height,
    signed,
    tips,
)

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from heldout.data.scores import Scores
    from heldout.infer.comparison import Comparison
    from heldout.report.standing import Gap, Standing

MOST_PAIRS: Final = 66  # that fit a page; of more, only those with the best system are drawn
MOST_COLUMNS: Final = 300  # that can be seen; more queries are grouped by difficulty
LONGEST: Final = 22  # characters of a name that fit beside the diagram; hovering shows all of it
ABOVE: Final = -1.7  # the top of the diagram, in lines of names above the axis of ranks


def forest(standing: Standing) -> Chart:
    """The score of each system with its interval, the best first."""
    frame = pl.DataFrame(
        [row[:5] for row in standing.rows],
        schema={"system": str, "mean": float, "low": float, "high": float, "letters": str},
        orient="row",
    )
    measure, held_out = standing.measure, bool(standing.where)
    x = padded([*frame["mean"], *frame["low"], *frame["high"]])
    bounds = (("low", "from", ".4f"), ("high", "to", ".4f"))
    base = drawn(frame).encode(
        y=alt.Y("system:N", sort=standing.names, title=None),
        tooltip=tips("system", ("mean", measure, ".4f"), *bounds, "letters"),
    )
    title = f"held-out {measure}" if held_out else measure
    drawing = layers(
        base.mark_rule().encode(x=alt.X("low:Q", title=title, scale=x), x2="high:Q"),
        base.mark_point(size=90).encode(x=alt.X("mean:Q", scale=x)),
        base.mark_text(style="label", align="left", dx=8, fontWeight="bold").encode(
            x=alt.value("width"), text="letters:N"
        ),
        height=rows_height(len(frame), 28),
        words=f"Mean {measure} of each system with its interval, the best system first.",
    )
    what = f"Held-out {measure} {standing.where}" if held_out else f"Mean {measure}"
    over = f" over {standing.size}" if standing.size and not held_out else ""
    caption = f"{what}{over} with its {percent(standing.level)} confidence interval."
    if any(frame["letters"]):
        caption += " Systems that share a letter are not significantly different."
    missing = [row.name for row in standing.rows if row.score is None]
    if missing:
        caption += f" Undefined for {', '.join(missing)}."
    title = f"{'Held-out ' * held_out}{measure} of each system"
    return Chart("forest", title, caption, frame, drawing)


def shown_gaps(standing: Standing) -> list[Gap]:
    """All differences of the better system to the other, or as the question has them."""
    if standing.baseline is not None:
        return list(standing.against(standing.baseline).values())
    one_sided = standing.alternative != "two-sided"
    return list(standing.gaps) if one_sided else standing.ranked_gaps()


def pairs(standing: Standing) -> Chart:
    """The differences between pairs of systems with their intervals, the largest first."""
    letters = {row.name: f" ({row.group})" if row.group else "" for row in standing.rows}
    gaps, best = shown_gaps(standing), standing.names[0]
    if len(gaps) > MOST_PAIRS and standing.baseline is None:
        gaps = [gap for gap in gaps if best in {gap.first, gap.second}]
    frame = pl.DataFrame(
        [
            (
                f"{gap.first}{letters[gap.first]} − {gap.second}{letters[gap.second]}",
                gap.first,
                gap.second,
                gap.value,
                gap.low if math.isfinite(gap.low) else None,
                gap.high if math.isfinite(gap.high) else None,
                gap.p,
                gap.significant,
            )
            for gap in sorted(gaps, key=lambda gap: -gap.value)
        ],
        schema={
            **dict.fromkeys(("pair", "first", "second"), pl.String),
            **dict.fromkeys(("difference", "low", "high", "p"), pl.Float64),
            "significant": pl.Boolean,
        },
        orient="row",
    )
    scale = padded([0.0, *frame["difference"], *frame["low"], *frame["high"]])
    low, high = scale.domain
    # An open interval ends at the edge of the drawing.
    ends = (pl.col("low").fill_null(low).alias("from"), pl.col("high").fill_null(high).alias("to"))
    signs = [(name, title, "+.4f") for name, title in (("low", "from"), ("high", "to"))]
    tooltip = tips("pair", ("difference", "difference", "+.4f"), *signs, ("p", "p", ".4f"))
    names = alt.Scale(domain=frame["pair"].to_list())
    y = alt.Y("pair:N", title=None, scale=names, axis=alt.Axis(labelLimit=320))
    base = drawn(frame.with_columns(*ends)).encode(y=y, tooltip=tooltip)
    parts: list[alt.Chart] = [reference(x=0)]
    # Not significant: grey and hollow, which is also visible in print.
    for which, look in (("", {}), ("!", {"style": "back"})):
        part = base.transform_filter(f"{which}datum.significant")
        title = f"difference in {standing.measure}"
        parts += [
            part.mark_rule(**look).encode(x=alt.X("from:Q", title=title, scale=scale), x2="to:Q"),
            part.mark_point(size=90, strokeWidth=2, filled=not which, **look).encode(
                x=alt.X("difference:Q", scale=scale)
            ),
        ]
    words = f"Differences in {standing.measure} between pairs of systems with their intervals."
    drawing = layers(
        *parts, height=rows_height(len(frame), 26 if len(frame) <= 20 else 17), words=words
    )
    where = f" {standing.where}" if standing.where else ""
    kind = "simultaneous " if standing.simultaneous else ""
    tested = all(gap.p is not None for gap in gaps)
    caption = (
        f"Mean difference in {standing.measure}{where} with its {kind}{percent(standing.level)} "
        "confidence interval. Grey and hollow: "
        f"{'not significant' if tested else 'the interval contains 0'}."
    )
    if len(gaps) < len(standing.gaps):
        caption += f" Only pairs with the best system are shown, of {len(standing.gaps)} pairs."
    title = f"Difference{'s' if len(gaps) > 1 else ''} in {standing.measure}"
    return Chart("pairs", title, caption, frame, drawing)


def query_differences(
    scores: Scores,
    first: str,
    second: str,
    texts: Mapping[str, str] | None = None,
    number: int = 1,
) -> Chart:
    """One bar per query, from the largest difference of first minus second to the smallest."""
    measure, unit = scores.measure, scores.unit
    values = scores.column(first), scores.column(second)
    gaps = drop_noise(*values)
    order = np.argsort(-gaps, kind="stable")
    up, down = (first, second) if scores.higher_is_better else (second, first)
    better = np.where(gaps > 0, up, np.where(gaps < 0, down, "equal"))
    units = [scores.units[place] for place in order.tolist()]
    frame = pl.DataFrame(
        {
            "place": range(1, len(units) + 1),
            "query": units,
            "text": [brief((texts or {}).get(unit, "")) for unit in units],
            "first": values[0][order],
            "second": values[1][order],
            "difference": gaps[order],
            "better": better[order].tolist(),
        },
        schema_overrides={"place": pl.Int64},
    )
    numbers = (("first", first, ".4f"), ("second", second, ".4f"))
    bars = (
        drawn(_with_edges(frame, "place"))
        .mark_bar(binSpacing=0)
        .encode(
            x=_places(len(frame), f"{scores.size}, sorted by difference"),
            x2="right:Q",
            y=alt.Y("difference:Q", title=f"difference in {measure}"),
            y2=alt.datum(0),
            color=colours(
                "better", [first, second], "better", legend=alt.Legend(values=[first, second])
            ),
            tooltip=tips(*_named(frame, unit), *numbers, ("difference", "difference", "+.4f")),
        )
    )
    mean = float(gaps.mean())
    line = drawn(pl.DataFrame({"mean": [mean], "label": [f"mean {signed(mean)}"]}))
    line = line.encode(y="mean:Q")
    label = line.mark_text(style="label", align="right", baseline="bottom", dy=-3)
    drawing = layers(
        bars,
        line.mark_rule(style="reference", strokeWidth=1.5),
        label.encode(x=alt.value("width"), text="label:N"),
        height=260,
        words=f"Difference in {measure} between {first} and {second} for every {unit}, from the "
        f"largest gain to the largest loss; the mean is {mean:+.4f}.",
    )
    wins, losses, ties = ((better == name).sum() for name in (first, second, "equal"))
    caption = (
        f"One bar per {unit}, sorted: {first} is better on {wins:,}, {second} on {losses:,}, "
        f"{ties:,} are equal. Dashed: the mean difference."
    )
    title = f"Difference on each {unit}: {first} − {second}"
    return Chart(numbered("query-differences", number), title, caption, frame, drawing)


def heatmap(
    scores: Scores, texts: Mapping[str, str] | None = None, most: int = MOST_COLUMNS
) -> Chart:
    """One cell per system and query, the hardest query and the best system first."""
    measure, unit, up = scores.measure, scores.unit, scores.higher_is_better
    sign = 1 if up else -1
    hard = np.argsort(sign * scores.values.mean(axis=1), kind="stable")
    best = np.argsort(-sign * scores.values.mean(axis=0), kind="stable").tolist()
    parts = np.array_split(hard, min(most, len(hard)))
    firsts = [scores.units[part[0]] for part in parts]
    frame = pl.DataFrame(
        [
            (
                scores.systems[system],
                column,
                query,
                brief((texts or {}).get(query, "")),
                len(part),
                float(scores.values[part, system].mean()),
            )
            for system in best
            for column, (query, part) in enumerate(zip(firsts, parts, strict=True), 1)
        ],
        schema=["system", "column", "query", "text", "queries", "value"],
        orient="row",
    )
    several, many = len(parts) < len(hard), scores.size.partition(" ")[2]
    counts = [("queries", many, ",d")] if several else []
    title = [f"{scores.size}, from hard to easy"]  # one per line, or they are cut on a phone
    title += [f"in {len(parts)} groups of similar difficulty"] if several else []
    legend = alt.Legend(gradientLength=150, titleOrient="top")
    cells = (
        drawn(_with_edges(frame, "column"))
        .mark_rect(strokeWidth=0)
        .encode(
            x=_places(len(parts), title),
            x2="right:Q",
            y=alt.Y("system:N", title=None, sort=[scores.systems[system] for system in best]),
            color=alt.Color("value:Q", title=measure, legend=legend),
            tooltip=tips(
                "system",
                *_named(frame, f"first {unit}" if several else unit),
                *counts,
                ("value", f"mean {measure}" if several else measure, ".4f"),
            ),
        )
    )
    words = (
        f"{measure} of every system on every {unit}, from the hardest to the easiest; in the light "
        f"theme {'darker' if up else 'lighter'} is better."
    )
    drawing = layers(cells, height=rows_height(len(best), 26), words=words)
    caption = (
        f"{measure} of each system on each {unit}, from the hardest (left) to the easiest (right)."
    )
    caption += f" Each column is the mean of {many} of similar difficulty." if several else ""
    return Chart("heatmap", f"Each system on each {unit}", caption, frame, drawing)


def _named(frame: pl.DataFrame, unit: str) -> list[Any]:
    """The fields of a tooltip that say which query it is."""
    return [("query", unit), *(["text"] if any(frame["text"]) else [])]


def _with_edges(frame: pl.DataFrame, place: str) -> pl.DataFrame:
    """The frame with the left and right edge of each place: 1 extends from 0.5 to 1.5."""
    return frame.with_columns(left=pl.col(place) - 0.5, right=pl.col(place) + 0.5)


def _places(count: int, title: str | list[str]) -> alt.X:
    """An axis of places without numbers."""
    scale = alt.Scale(domain=[0.5, count + 0.5], nice=False)
    axis = alt.Axis(grid=False, labels=False, ticks=False)
    return alt.X("left:Q", title=title, scale=scale, axis=axis)


# ---- critical difference -------------------------------------------------------------------------


def rank_groups(ranks: Sequence[float], critical: float) -> list[tuple[int, int]]:
    """First and last place of the largest groups of neighbours without a significant difference.

    >>> rank_groups([1.0, 1.8, 2.5, 4.0], 1.0)
    [(0, 1), (1, 2)]
    """
    groups: list[tuple[int, int]] = []
    for first, rank in enumerate(ranks):
        last = sum(other - rank <= critical for other in ranks) - 1
        if last > first and (not groups or last > groups[-1][1]):
            groups.append((first, last))
    return groups


def critical_difference(comparison: Comparison) -> Chart:
    """Mean ranks; bars join systems that are not significantly different (Demšar 2006)."""
    assert comparison.friedman is not None  # noqa: S101 - of three or more systems
    friedman, nemenyi = comparison.friedman
    ordered = sorted(zip(nemenyi.ranks, comparison.scores.systems, strict=True))
    ranks, count, critical = (
        [rank for rank, _ in ordered],
        len(ordered),
        nemenyi.critical_difference,
    )
    groups = rank_groups(ranks, critical)
    frame = pl.DataFrame(
        [
            *(("system", name, rank, rank, place) for place, (rank, name) in enumerate(ordered, 1)),
            *(
                ("group", f"{ordered[a][1]} to {ordered[b][1]}", ranks[a], ranks[b], place)
                for place, (a, b) in enumerate(groups, 1)
            ),
            ("critical", "critical difference", 1.0, 1.0 + critical, 0),
        ],
        schema=["kind", "name", "rank", "end", "place"],
        orient="row",
    )
    half, deep = (count + 1) // 2, 0.35 * len(groups) + 0.8  # the better half hangs at the left
    hung = []  # rank, depth of the name, side, name
    for place, (rank, name) in enumerate(ordered, 1):
        left = place <= half
        short = name if len(name) <= LONGEST else f"{name[: LONGEST - 1]}…"
        depth = deep + (place if left else count + 1 - place)
        hung.append((rank, depth, 1.0 if left else float(count), f"{short} ({rank:.2f})"))
    room, deepest = 0.62 * (count - 1), deep + half + 0.6
    x = alt.X("x:Q", axis=None, scale=alt.Scale(domain=[1 - room, count + room], nice=False))
    y = alt.Y("y:Q", axis=None, scale=alt.Scale(domain=[deepest, ABOVE], nice=False))

    def lines(style: str, width: float, *parts: tuple[float, ...]) -> alt.Chart:
        data = drawn(pl.DataFrame(parts, schema=["x", "x2", "y", "y2"], orient="row"))
        marks = data.mark_rule(style=style, strokeWidth=width)
        return marks.encode(x=x, x2="x2:Q", y=y, y2="y2:Q")

    def texts(align: Any, dx: float, dy: float, *parts: tuple[float, float, str]) -> alt.Chart:
        data = drawn(pl.DataFrame(parts, schema=["x", "y", "text"], orient="row"))
        marks = data.mark_text(style="label", align=align, dx=dx, dy=dy, limit=190)
        return marks.encode(x=x, y=y, text="text:N")

    edge, end = 0.015 * (count - 1), min(1.0 + critical, count + room)
    joins = [
        (ranks[a] - edge, ranks[b] + edge, depth, depth)
        for place, (a, b) in enumerate(groups, 1)
        for depth in [0.35 * place + 0.1]
    ]
    points = drawn(
        pl.DataFrame(
            [(rank, 0.0, name) for rank, name in ordered], schema=["x", "y", "name"], orient="row"
        )
    ).mark_point(size=60)
    drawing = layers(
        lines("faint", 1, *((rank, rank, 0.0, depth) for rank, depth, *_ in hung)),
        lines("faint", 1, *((rank, side, depth, depth) for rank, depth, side, _ in hung)),
        lines("frame", 1.5, (1.0, float(count), 0.0, 0.0)),
        lines("frame", 1, *((float(n), float(n), 0.0, -0.2) for n in range(1, count + 1))),
        texts("center", 0, -8, *((float(n), -0.2, str(n)) for n in range(1, count + 1))),
        texts("right", -6, 0, *((side, depth, name) for _, depth, side, name in hung[:half])),
        texts("left", 6, 0, *((side, depth, name) for _, depth, side, name in hung[half:])),
        *([lines("joined", 5, *joins)] if joins else []),
        lines("frame", 2, (1.0, end, -1.05, -1.05)),
        texts("left", 0, -9, (1.0, -1.05, f"critical difference {critical:.2f}")),
        points.encode(x=x, y=y, tooltip=tips(("name", "system"), ("x", "mean rank", ".2f"))),
        height=int(26 * (deepest - ABOVE)),
        words="Mean ranks of the systems, the best at the left; bars join systems whose ranks "
        "differ by at most the critical difference.",
    )
    p = f"{'' if friedman.p < 0.0001 else '= '}{p_value(friedman.p)}"
    caption = (
        f"Mean ranks over {comparison.scores.size}, 1 is best. Bars join systems whose ranks "
        f"differ by at most the critical difference (Nemenyi, level {percent(nemenyi.level)}; "
        f"Friedman's test: p {p})."
    )
    title = "Mean ranks and critical difference"
    return Chart("critical-difference", title, caption, frame, drawing)

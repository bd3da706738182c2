"""Charts of systems: their scores and differences, on average, on each query, and as ranks."""

from __future__ import annotations

import math
from itertools import product
from typing import TYPE_CHECKING, Any, Final

import altair as alt
import numpy as np
import polars as pl

from heldout.infer.results import drop_noise
from heldout.report.answers import p_words, percent
from heldout.report.charts import draw
from heldout.report.table import shorten

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from heldout.data.scores import Scores
    from heldout.infer.comparison import Comparison
    from heldout.report.standing import Gap, Standing

MOST_PAIRS: Final = 66  # that fit a page; of more, only those with the best system are drawn
MOST_COLUMNS: Final = 300  # that can be seen; more queries are grouped by difficulty
LONGEST: Final = 22  # columns of a name that fit beside the diagram; hovering shows all of it


def forest(standing: Standing) -> draw.Chart:
    """The score of each system with its interval, the best first."""
    measure, size, held_out = standing.measure, standing.size, bool(standing.where)
    frame = draw.table("system mean low high letters", [row[:5] for row in standing.rows])
    title = f"{'Held-out ' * held_out}{measure} of each system"
    scale = draw.padded([*frame["mean"], *frame["low"], *frame["high"]])
    base = draw.data(frame).encode(
        y=alt.Y("system:N", sort=standing.names, title=None),
        tooltip=draw.tips("system", "letters", mean=".4f", low=".4f", high=".4f"),
    )
    bounds = alt.X("low:Q", title=f"{'held-out ' * held_out}{measure}", scale=scale)
    drawing = draw.layers(
        base.mark_rule().encode(x=bounds, x2="high:Q"),
        base.mark_point(size=90).encode(x="mean:Q"),
        draw.at_right(base, "letters", fontWeight="bold"),
        height=28 * max(len(frame), 2),
    )
    what = f"Held-out {measure} {standing.where}" if held_out else f"Mean {measure} over {size}"
    caption = f"{what} with its {percent(standing.level)} confidence interval."
    if any(frame["letters"]):
        caption += " Systems that share a letter are not significantly different."
    missing = [row.name for row in standing.rows if row.score is None]
    caption += f" Undefined for {', '.join(missing)}." if missing else ""
    return draw.Chart("forest", title, caption, frame, drawing)


def shown_gaps(standing: Standing) -> list[Gap]:
    """All differences of the better system to the other, or as the question has them."""
    if standing.baseline is not None:
        return list(standing.against(standing.baseline).values())
    one_sided = standing.alternative != "two-sided"
    return list(standing.gaps) if one_sided else standing.ranked_gaps()


def pairs(standing: Standing) -> draw.Chart:
    """The differences between pairs of systems with their intervals, the largest first."""
    measure, gaps, best = standing.measure, shown_gaps(standing), standing.names[0]
    if len(gaps) > MOST_PAIRS and standing.baseline is None:
        gaps = [gap for gap in gaps if best in {gap.first, gap.second}]
    named = {row.name: row.name + f" ({row.group})" * bool(row.group) for row in standing.rows}
    rows = []
    for gap in sorted(gaps, key=lambda gap: -gap.value):
        bounds = (end if math.isfinite(end) else None for end in (gap.low, gap.high))
        pair = f"{named[gap.first]} − {named[gap.second]}"
        rows.append((pair, *gap[:3], *bounds, gap.p, gap.significant))
    frame = draw.table("pair first second difference low high p significant", rows)
    scale = draw.padded([0.0, *frame["difference"], *frame["low"], *frame["high"]])
    low, high = scale.domain  # an open interval ends at the edge of the drawing
    ends = {"from": pl.col("low").fill_null(low), "to": pl.col("high").fill_null(high)}
    y = alt.Y("pair:N", title=None, sort=frame["pair"].to_list(), axis=alt.Axis(labelLimit=320))
    hover = draw.tips("pair", difference="+.4f", low="+.4f", high="+.4f", p=".4f")
    base = draw.data(frame.with_columns(**ends)).encode(y=y, tooltip=hover)
    bounds = alt.X("from:Q", title=f"difference in {measure}", scale=scale)
    parts = [draw.reference(x=0)]
    # Not significant: grey and hollow, which is also visible in print.
    for which, filled, look in (("", True, {}), ("!", False, {"style": "faint"})):
        part = base.transform_filter(f"{which}datum.significant")
        points = part.mark_point(size=90, strokeWidth=2, filled=filled, **look)
        parts.append(part.mark_rule(**look).encode(x=bounds, x2="to:Q"))
        parts.append(points.encode(x="difference:Q"))
    where = f" {standing.where}" if standing.where else ""
    kind = "simultaneous " if standing.simultaneous else ""
    tested = all(gap.p is not None for gap in gaps)
    caption = (
        f"Mean difference in {measure}{where} with its {kind}{percent(standing.level)} confidence "
        f"interval. Grey and hollow: {'not significant' if tested else 'the interval contains 0'}."
    )
    if len(gaps) < len(standing.gaps):
        caption += f" Only pairs with the best system are shown, of {len(standing.gaps)} pairs."
    step = 26 if len(frame) <= 20 else 17
    drawing = draw.layers(*parts, height=step * max(len(frame), 2))
    title = f"Difference{'s' * (len(gaps) > 1)} in {measure}"
    return draw.Chart("pairs", title, caption, frame, drawing)


def query_differences(scores: Scores, gap: Gap, texts: Mapping[str, str]) -> draw.Chart:
    """One bar per query, from the largest difference to the smallest."""
    first, second, unit, names = gap.first, gap.second, scores.unit, [gap.first, gap.second]
    up, down = names if scores.higher_is_better else names[::-1]
    sides = scores.column(first), scores.column(second)
    values = drop_noise(*sides)
    mean = float(values.mean())
    better = np.where(values > 0, up, np.where(values < 0, down, "equal"))
    frame = pl.DataFrame(
        {
            "query": scores.units,
            "text": [draw.brief(texts.get(query, "")) for query in scores.units],
            "first": sides[0],
            "second": sides[1],
            "difference": values,
            "better": better.tolist(),
        }
    )
    frame = frame.sort("difference", descending=True, maintain_order=True)
    frame = frame.select(pl.int_range(1, pl.len() + 1).alias("place"), pl.all())
    colour = draw.look(alt.Color, "better", names, title="better", legend=alt.Legend(values=names))
    ends = (("first", first, ".4f"), ("second", second, ".4f"))
    bars = draw.data(frame).mark_bar()
    bars = bars.encode(
        x=_places("place", f"{scores.size}, sorted by difference"),
        y=alt.Y("difference:Q", title=f"difference in {scores.measure}"),
        color=colour,
        tooltip=draw.tips(("query", unit), *draw.hint(frame), *ends, difference="+.4f"),
    )
    wins, losses, ties = ((better == name).sum() for name in (first, second, "equal"))
    caption = (
        f"One bar per {unit}, sorted: {first} is better on {wins:,}, {second} on {losses:,}, "
        f"{ties:,} are equal. Dashed: the mean difference, {draw.signed(mean)}."
    )
    title = f"Difference on each {unit}: {first} − {second}"
    drawing = draw.layers(bars, draw.reference(y=mean), height=260)
    return draw.Chart("query-differences", title, caption, frame, drawing)


def heatmap(scores: Scores, texts: Mapping[str, str]) -> draw.Chart:
    """One cell per system and query, the hardest query and the best system first."""
    measure, unit = scores.measure, scores.unit
    values = scores.values if scores.higher_is_better else -scores.values
    hard = np.argsort(values.mean(axis=1), kind="stable")
    best = np.argsort(-values.mean(axis=0), kind="stable").tolist()
    parts = np.array_split(hard, min(MOST_COLUMNS, len(hard)))
    rows = []
    for system, (column, part) in product(best, enumerate(parts, 1)):
        query, mean = scores.units[part[0]], float(scores.values[part, system].mean())
        text = draw.brief(texts.get(query, ""))
        rows.append((scores.systems[system], column, query, text, len(part), mean))
    frame = draw.table("system column query text queries value", rows)
    several, many = len(parts) < len(hard), scores.size.partition(" ")[2]
    title = [f"{scores.size}, from hard to easy"]  # one per line, or they are cut on a phone
    title += [f"in {len(parts)} groups of similar difficulty"] * several
    groups, value = [("queries", many, ",d")] * several, ("value", measure, ".4f")
    cells = draw.data(frame).mark_rect(strokeWidth=0)
    cells = cells.encode(
        x=_places("column", title),
        y=alt.Y("system:N", title=None, sort=[scores.systems[system] for system in best]),
        color=alt.Color("value:Q", title=measure, legend=alt.Legend(titleOrient="top")),
        tooltip=draw.tips("system", ("query", unit), *draw.hint(frame), *groups, value),
    )
    caption = f"{measure} of each system on each {unit}, from the hardest (left) to the easiest."
    caption += f" Each column is the mean of {many} of similar difficulty." * several
    drawing = draw.layers(cells, height=26 * max(len(best), 2))
    return draw.Chart("heatmap", f"Each system on each {unit}", caption, frame, drawing)


def _places(column: str, title: str | list[str]) -> alt.X:
    """An axis of places without numbers, one right beside the other."""
    axis = alt.Axis(labels=False, ticks=False)
    return alt.X(f"{column}:O", title=title, scale=alt.Scale(padding=0), axis=axis)


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


def critical_difference(comparison: Comparison) -> draw.Chart:
    """Mean ranks; bars join systems that are not significantly different (Demšar 2006)."""
    assert comparison.friedman is not None  # noqa: S101 - of three or more systems
    friedman, nemenyi = comparison.friedman
    ordered = sorted(zip(nemenyi.ranks, comparison.scores.systems, strict=True))
    ranks, names = zip(*ordered, strict=True)
    count, critical = len(ranks), nemenyi.critical_difference
    groups = rank_groups(ranks, critical)
    rows = [("system", name, rank, rank, n) for n, (rank, name) in enumerate(ordered, 1)]
    for n, (a, b) in enumerate(groups, 1):
        rows.append(("group", f"{names[a]} to {names[b]}", ranks[a], ranks[b], n))
    rows.append(("critical", "critical difference", 1.0, 1.0 + critical, 0))
    frame = draw.table("kind name rank end place", rows)
    # The better half of the names hangs at the left, the others at the right, the best highest.
    half, deep, room = (count + 1) // 2, 0.35 * len(groups) + 0.8, 0.62 * (count - 1)
    hung, bottom, edge = [], deep + half + 0.6, 0.015 * (count - 1)
    for n, (rank, name) in enumerate(ordered, 1):
        side, depth = (1.0, deep + n) if n <= half else (float(count), deep + count + 1 - n)
        hung.append((rank, side, depth, f"{shorten(name, LONGEST)} ({rank:.2f})"))
    x = alt.X("x:Q", axis=None, scale=alt.Scale(domain=[1 - room, count + room], nice=False))
    y = alt.Y("y:Q", axis=None, scale=alt.Scale(domain=[bottom, -1.7], nice=False))

    def lines(parts: Sequence[tuple[float, ...]], width: float, **mark: Any) -> Any:
        rules = draw.data(draw.table("x x2 y y2", parts)).mark_rule(strokeWidth=width, **mark)
        return rules.encode(x=x, x2="x2:Q", y=y, y2="y2:Q")

    def texts(align: Any, dx: int, dy: int, *parts: tuple[float, float, str]) -> Any:
        words = draw.data(draw.table("x y text", parts))
        words = words.mark_text(style="label", align=align, dx=dx, dy=dy, limit=190)
        return words.encode(x=x, y=y, text="text:N")

    scale = [(1.0, float(count), 0.0, 0.0), (1.0, min(1.0 + critical, count + room), -1.05, -1.05)]
    scale += [(float(n), float(n), 0.0, -0.2) for n in range(1, count + 1)]
    drops = [(rank, rank, 0.0, depth) for rank, _, depth, _ in hung]
    leads = [(rank, side, depth, depth) for rank, side, depth, _ in hung]
    bars = [
        (ranks[a] - edge, ranks[b] + edge, 0.35 * n + 0.1, 0.35 * n + 0.1)
        for n, (a, b) in enumerate(groups, 1)
    ]
    points = draw.data(draw.table("x y name", [(rank, 0.0, name) for rank, name in ordered]))
    drawing = draw.layers(
        lines([*drops, *leads], 1, style="faint"),
        lines(scale, 1.5, style="frame"),
        texts("center", 0, -8, *((float(n), -0.2, str(n)) for n in range(1, count + 1))),
        texts("right", -6, 0, *(label[1:] for label in hung[:half])),
        texts("left", 6, 0, *(label[1:] for label in hung[half:])),
        *([lines(bars, 5, strokeCap="round")] if bars else []),
        texts("left", 0, -9, (1.0, -1.05, f"critical difference {critical:.2f}")),
        points.mark_point(size=60).encode(
            x=x, y=y, tooltip=draw.tips(("name", "system"), ("x", "mean rank", ".2f"))
        ),
        height=int(26 * (bottom + 1.7)),
    )
    caption = (
        f"Mean ranks over {comparison.scores.size}, 1 is best. Bars join systems whose ranks "
        f"differ by at most the critical difference (Nemenyi, level {percent(nemenyi.level)}; "
        f"Friedman's test: {p_words(friedman.p)})."
    )
    title = "Mean ranks and critical difference"
    return draw.Chart("critical-difference", title, caption, frame, drawing)

"""Could a difference be due to chance? Its distribution if both systems were equally good."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import altair as alt
import numpy as np
import polars as pl

from heldout.infer.draws import all_signed_sums, signed_sums
from heldout.infer.results import TIE, drop_noise
from heldout.report.answers import p_value
from heldout.report.charts.draw import Chart, colours, drawn, layers, padded, signed, tips

if TYPE_CHECKING:
    from heldout.infer.comparison import Comparison
    from heldout.report.standing import Gap

FEW: Final = 16  # differences up to which all assignments of signs are enumerated
BINS: Final = 51
KINDS: Final = ("less extreme", "at least as extreme as observed")


def null(comparison: Comparison, gap: Gap) -> Chart | None:
    """The mean difference under random signs; only if the randomization test was used."""
    pair, scores = {gap.first, gap.second}, comparison.scores
    claim = next(claim for claim in comparison.claims if {claim.first, claim.second} == pair)
    tests = {outcome.test: outcome for outcome in claim.outcomes}
    if "randomization" not in tests:
        return None
    gaps = drop_noise(scores.column(gap.first), scores.column(gap.second))
    kept, observed = gaps[gaps != 0], float(gaps.mean())
    if len(kept) <= FEW:
        means = all_signed_sums(kept) / len(gaps)
    else:
        drawn_sums = signed_sums(kept, 20_000, comparison.analysis.seed)
        means = np.concatenate(list(drawn_sums)) / len(gaps)
    sign = 1.0 if scores.higher_is_better == (comparison.alternative == "greater") else -1.0
    far, seen = (
        (np.abs(means), abs(observed))
        if comparison.alternative == "two-sided"
        else (sign * means, sign * observed)
    )
    beyond = far >= seen - TIE * float(np.abs(gaps).mean())
    reach = float(np.abs([*means, observed]).max()) or 1.0
    edges = np.linspace(-reach, reach, BINS + 1)
    # A mean at the end of the range, up to rounding, belongs to the last bin.
    inside = np.clip(means, -reach, reach)
    shares = [np.histogram(inside[part], edges)[0] / len(means) for part in (~beyond, beyond)]
    frame = pl.DataFrame(
        {"low": edges[:-1], "high": edges[1:], "within": shares[0], "beyond": shares[1]}
    ).with_columns(observed=pl.lit(observed))
    test = tests["randomization"]
    p = f"p {'' if test.p < 0.0001 else '= '}{p_value(test.p)}"
    caption = (
        f"If {gap.first} and {gap.second} were equally good, each per-{scores.unit} difference "
        "would be as likely to have the opposite sign. Randomization test: "
        f"{p} ({test.detail}). Drawn from {'all' if len(kept) <= FEW else '20,000 random'} sign "
        "assignments."
    )
    if comparison.analysis.correction:
        caption += (
            f" One of {len(comparison.claims)} comparisons: p = {claim.adjusted:.4f} adjusted by "
            f"{comparison.analysis.correction}."
        )
    title = "Could the difference be due to chance?"
    return Chart("null", title, caption, frame, _histogram(frame, scores.measure, observed))


def _histogram(frame: pl.DataFrame, measure: str, observed: float) -> alt.LayerChart:
    # Shares are stacked here, not by Vega: a bin may hold some of both kinds.
    bars = pl.concat(
        frame.select("low", "high", bottom=bottom, top=top, share=share, kind=pl.lit(kind))
        for kind, share, bottom, top in (
            (KINDS[0], pl.col("within"), pl.lit(0.0), pl.col("within")),
            (KINDS[1], pl.col("beyond"), pl.col("within"), pl.col("within") + pl.col("beyond")),
        )
    ).filter(pl.col("share") > 0)
    x = padded([*bars["low"], *bars["high"], observed], 0.03)
    # Some room at the top for the label of the line.
    y = alt.Scale(domain=[0, 1.15 * float(bars["top"].max())], nice=False)  # type: ignore[arg-type]
    ends = (("low", "from", "+.4f"), ("high", "to", "+.4f"))
    left = observed > sum(x.domain) / 2
    line = drawn(pl.DataFrame({"x": [observed], "label": [f"observed {signed(observed)}"]}))
    line = line.encode(x=alt.X("x:Q", scale=x))
    side = {"align": "right", "dx": -6} if left else {"align": "left", "dx": 6}
    label = line.mark_text(style="label", fontWeight="bold", baseline="top", **side)
    return layers(
        drawn(bars)
        .mark_bar(binSpacing=1)
        .encode(
            x=alt.X("low:Q", title=f"mean difference in {measure} under random signs", scale=x),
            x2="high:Q",
            y=alt.Y(
                "bottom:Q", title="share of sign assignments", axis=alt.Axis(format="%"), scale=y
            ),
            y2="top:Q",
            color=colours("kind", KINDS, legend=alt.Legend(columns=1)),  # fits a phone
            tooltip=tips(*ends, ("kind", ""), ("share", "share", ".2%")),
        ),
        line.mark_rule(style="frame"),
        label.encode(y=alt.value(2), text="label:N"),
        height=240,
        words=f"Distribution of the mean difference in {measure} if both systems were equally "
        f"good, and the observed difference of {observed:+.4f}.",
    )

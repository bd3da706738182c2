"""Could a difference be due to chance? Its distribution if both systems were equally good."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import altair as alt
import numpy as np
import polars as pl

from heldout.infer.draws import all_signed_sums, signed_sums
from heldout.infer.results import TIE, drop_noise
from heldout.report.answers import p_words
from heldout.report.charts import draw

if TYPE_CHECKING:
    from collections.abc import Iterator

    from heldout.infer.comparison import Comparison
    from heldout.report.standing import Gap

FEW: Final = 16  # differences up to which all assignments of signs are enumerated
BINS: Final = 51
KINDS: Final = {"within": "less extreme", "beyond": "at least as extreme as observed"}


def null(comparison: Comparison, gap: Gap) -> Iterator[draw.Chart]:
    """The mean difference under random signs; only if the randomization test was used."""
    pair, scores, seed = {gap.first, gap.second}, comparison.scores, comparison.analysis.seed
    claim = next(claim for claim in comparison.claims if {claim.first, claim.second} == pair)
    test = next((test for test in claim.outcomes if test.test == "randomization"), None)
    if test is None:
        return
    gaps = drop_noise(scores.column(gap.first), scores.column(gap.second))
    kept, observed = gaps[gaps != 0], float(gaps.mean())
    few = len(kept) <= FEW
    sums = [all_signed_sums(kept)] if few else signed_sums(kept, 20_000, seed)
    means = np.concatenate(list(sums)) / len(gaps)
    sign = 1.0 if scores.higher_is_better == (comparison.alternative == "greater") else -1.0
    far, limit = sign * means, sign * observed
    if comparison.alternative == "two-sided":
        far, limit = np.abs(means), abs(observed)
    beyond = far >= limit - TIE * float(np.abs(gaps).mean())
    reach = float(np.abs([*means, observed]).max()) or 1.0
    edges = np.linspace(-reach, reach, BINS + 1)
    # A mean at the end of the range, up to rounding, belongs to the last bin.
    inside = np.clip(means, -reach, reach)
    shares = [np.histogram(inside[part], edges)[0] / len(means) for part in (~beyond, beyond)]
    columns = dict(zip(KINDS, shares, strict=True))
    frame = pl.DataFrame({"low": edges[:-1], "high": edges[1:], **columns, "observed": observed})
    # Shares are stacked here, not by Vega: a bin may hold some of both kinds.
    bars = frame.rename(KINDS).unpivot(
        list(KINDS.values()), index=["low", "high"], variable_name="kind", value_name="share"
    )
    bars = bars.with_columns(top=pl.col("share").cum_sum().over("low"))
    bars = bars.with_columns(bottom=pl.col("top") - pl.col("share")).filter(pl.col("share") > 0)
    scale = draw.padded([*bars["low"], *bars["high"], observed], 0.03)
    title = f"mean difference in {scores.measure} under random signs"
    drawing = draw.layers(
        draw.data(bars)
        .mark_bar(binSpacing=1)
        .encode(
            x=alt.X("low:Q", title=title, scale=scale),
            x2="high:Q",
            y=alt.Y("bottom:Q", axis=alt.Axis(format="%", title="share of sign assignments")),
            y2="top:Q",
            color=draw.look(alt.Color, "kind", list(KINDS.values()), legend=alt.Legend(columns=1)),
            tooltip=draw.tips(("kind", ""), low="+.4f", high="+.4f", share=".2%"),
        ),
        draw.data(frame.head(1)).mark_rule(style="frame").encode(x="observed:Q"),
        height=240,
    )
    caption = (
        f"If {gap.first} and {gap.second} were equally good, each difference would be as likely to "
        f"have the opposite sign. Randomization test: {p_words(test.p)} ({test.detail}). Drawn "
        f"from {'all' if few else '20,000 random'} sign assignments. Line: the observed "
        f"difference, {draw.signed(observed)}."
    )
    if comparison.analysis.correction:
        many, how = len(comparison.claims), comparison.analysis.correction
        caption += f" One of {many} comparisons: {p_words(claim.adjusted)} adjusted by {how}."
    title = "Could the difference be due to chance?"
    yield draw.Chart("null", title, caption, frame, drawing)

"""Scores of texts with their intervals."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Final, NamedTuple

from heldout.infer.bounded import inside
from heldout.infer.corpus_level import corpus_bootstrap
from heldout.infer.resample_sums import MANY_UNITS
from heldout.infer.resampled import SumScoring
from heldout.infer.results import Interval
from heldout.measure.text.evaluate import segment_sums

if TYPE_CHECKING:
    from heldout.measure.base import Measure
    from heldout.measure.evaluation import Evaluation

__all__ = ["BOOTSTRAPS", "TextScores", "corpus_intervals"]

BOOTSTRAPS: Final = 10_000
"""Bootstrap replicates."""


class TextScores(NamedTuple):
    """All systems on one measure.

    Parameters
    ----------
    measure, signature
        The measure, and all of its parameters.
    systems
        The score of each system with its interval.
    segments
        The number of segments.
    """

    measure: Measure
    signature: str
    systems: tuple[Interval, ...]
    segments: int


def corpus_intervals(
    evaluation: Evaluation, measure: Measure, *, seed: int = 0, level: float = 0.95
) -> TextScores:
    """Return the scores of all systems with intervals.

    These are percentile bootstrap intervals; t intervals of the jackknife for more than 100,000
    segments; none for a single segment.
    """
    sums = segment_sums(evaluation, measure)
    count, numbers = len(evaluation.units()), range(len(sums))
    tables, score = [one.rows() for one in sums], sums[0].score
    if count < 2:
        intervals = tuple(Interval(one.value(), math.nan, math.nan, level, "none") for one in sums)
    elif count > MANY_UNITS:
        scoring = SumScoring(tables, score)
        intervals = tuple(inside(scoring.system(at, level), measure.range) for at in numbers)
    else:
        drawn = corpus_bootstrap(tables, score, replicates=BOOTSTRAPS, seed=seed)
        intervals = tuple(drawn.interval(at, level) for at in numbers)
    signature = evaluation.about[evaluation.measures.index(measure)]
    return TextScores(measure, signature, intervals, count)

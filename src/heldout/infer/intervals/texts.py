"""Scores of texts with their intervals."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Final, NamedTuple

from heldout.infer.intervals.bounded import inside
from heldout.infer.results import Interval
from heldout.infer.scoring.resample_sums import MANY_UNITS
from heldout.infer.scoring.resampled import SumScoring
from heldout.infer.tests.corpus_level import corpus_bootstrap

if TYPE_CHECKING:
    from heldout.measure.base import Measure
    from heldout.measure.text.evaluate import TextEvaluation

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
    evaluation: TextEvaluation, measure: Measure, *, seed: int = 0, level: float = 0.95
) -> TextScores:
    """Return the scores of all systems with intervals.

    These are percentile bootstrap intervals; t intervals of the jackknife for more than 100,000
    segments; none for a single segment.
    """
    count, numbers = len(evaluation.references.ids), range(len(evaluation.systems))
    sums = evaluation.sums(measure)
    tables, score_of = [one.table for one in sums], sums[0].score
    if count < 2:
        scores = [evaluation.score(at, measure) for at in numbers]
        intervals = tuple(Interval(score, math.nan, math.nan, level, "none") for score in scores)
    elif count > MANY_UNITS:
        scoring = SumScoring(tables, score_of)
        intervals = tuple(inside(scoring.system(at, level), measure.range) for at in numbers)
    else:
        drawn = corpus_bootstrap(tables, score_of, replicates=BOOTSTRAPS, seed=seed)
        intervals = tuple(drawn.interval(at, level) for at in numbers)
    return TextScores(measure, evaluation.signature(measure), intervals, count)

"""Scoring of texts on segments and on resamples of segments."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Final

from heldout.errors import InputError
from heldout.infer.resampled import SumScoring
from heldout.infer.scoring import Scored
from heldout.infer.text_intervals import BOOTSTRAPS
from heldout.measure.base import Undefined
from heldout.measure.text.evaluate import segment_scores, segment_sums

if TYPE_CHECKING:
    from heldout.infer.analysis import Analysis
    from heldout.measure.base import Measure
    from heldout.measure.evaluation import Evaluation

__all__ = ["scored_texts"]

WHY: Final = (
    "is a function of sums over segments, which are resampled by swapping outputs between the "
    "systems, segment by segment"
)


def scored_texts(evaluation: Evaluation, measure: Measure, settings: Analysis) -> Scored:
    """Return the analysis of systems in a measure of texts.

    Outputs are swapped between systems segment by segment, and the sums that the score is computed
    from are resampled. The bootstrap has 10,000 replicates. With more than 100,000 segments the
    intervals are t intervals of the jackknife instead, and there is no bootstrap-shift test.
    """
    for name in evaluation.names:
        if isinstance(evaluation.value(name, measure), Undefined):
            raise InputError(f"{measure} of {name} is undefined and cannot be compared")
    sums = segment_sums(evaluation, measure)
    scoring = SumScoring(
        [one.rows() for one in sums],
        sums[0].score,
        settings.replicates,
        BOOTSTRAPS,
        settings.seed,
        why=WHY,
    )
    if scoring.is_linear:
        scoring = replace(scoring, tests=("randomization",))
    return Scored(segment_scores(evaluation, measure, scoring.values), scoring)

"""Scoring of texts on segments and on resamples of segments."""

from __future__ import annotations

import math
from dataclasses import replace
from typing import TYPE_CHECKING, Final

from heldout.data.scores import Scores, fingerprint
from heldout.errors import InputError
from heldout.infer.intervals.texts import BOOTSTRAPS
from heldout.infer.scoring.base import Scored
from heldout.infer.scoring.resampled import SumScoring
from heldout.measure.text.packages import needs_references

if TYPE_CHECKING:
    from heldout.infer.engine import CompareSettings
    from heldout.measure.base import Measure
    from heldout.measure.text.evaluate import TextEvaluation

__all__ = ["scored_texts"]

WHY: Final = (
    "is a function of sums over segments, which are resampled by swapping outputs between the "
    "systems, segment by segment"
)


def scored_texts(evaluation: TextEvaluation, measure: Measure, settings: CompareSettings) -> Scored:
    """Return the analysis of systems in a measure of texts.

    Outputs are swapped between systems segment by segment, and the sums that the score is computed
    from are resampled. The bootstrap has 10,000 replicates. With more than 100,000 segments the
    intervals are t intervals of the jackknife instead, and there is no bootstrap-shift test.
    """
    for at, name in enumerate(evaluation.names):
        if math.isnan(evaluation.score(at, measure)):
            raise InputError(f"{measure} of {name} is undefined and cannot be compared")
    sums = evaluation.sums(measure)
    scoring = SumScoring(
        [one.table for one in sums],
        sums[0].score,
        settings.replicates,
        BOOTSTRAPS,
        settings.seed,
        why=WHY,
    )
    if scoring.is_linear:
        scoring = replace(scoring, tests=("randomization",))
    parts = evaluation.references.ids
    if needs_references(measure):
        parts = tuple(text for texts in evaluation.references.texts for text in texts)
    scores = Scores(
        str(measure),
        evaluation.names,
        evaluation.references.ids,
        scoring.values,
        higher_is_better=measure.higher_is_better is not False,
        data=fingerprint(list(parts)),
        unit="segment",
        range=measure.range,
        outputs=tuple(hash((one.ids, one.texts, one.log_probs)) for one in evaluation.systems),
    )
    return Scored(scores, scoring)

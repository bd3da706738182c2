"""Texts to compare: how systems are scored on segments, and on resamples of them."""

from __future__ import annotations

import math
from dataclasses import replace
from typing import TYPE_CHECKING, Final

from heldout.data.scores import Scores, fingerprint
from heldout.errors import InputError
from heldout.infer.intervals.texts import BOOTSTRAPS
from heldout.infer.scoring.base import Scored
from heldout.infer.scoring.resampled import SumScoring

if TYPE_CHECKING:
    from heldout.infer.engine import Asked
    from heldout.measure.text.base import CorpusMeasure
    from heldout.measure.text.evaluate import TextEvaluation

__all__ = ["scored_texts"]

WHY: Final = (
    "is a function of sums over segments, which are resampled, outputs being swapped between the "
    "systems segment by segment"
)


def scored_texts(evaluation: TextEvaluation, measure: CorpusMeasure, asked: Asked) -> Scored:
    """How to compare systems on a measure of texts.

    Outputs are swapped between systems segment by segment, and the sums that the score is made of
    are resampled; a mean over segments is one of them. The bootstrap draws 10,000 corpora. Of more
    than 100,000 segments intervals are t intervals of the jackknife instead, and there is no
    bootstrap-shift test.
    """
    for at, name in enumerate(evaluation.names):
        if math.isnan(evaluation.score(at, measure)):
            raise InputError(f"{measure} of {name} is not defined: there is nothing to compare")
    scoring = SumScoring(
        evaluation.of(measure), measure.score, asked.replicates, BOOTSTRAPS, asked.seed, why=WHY
    )
    if scoring.is_linear:
        scoring = replace(scoring, tests=("randomization",))
    parts = evaluation.references.ids
    if measure.needs_references:
        parts = tuple(text for texts in evaluation.references.texts for text in texts)
    scores = Scores(
        str(measure),
        evaluation.names,
        evaluation.references.ids,
        scoring.values,
        higher_is_better=measure.higher_is_better,
        data=fingerprint(list(parts)),
        unit="segment",
        range=measure.range,
    )
    return Scored(scores, scoring)

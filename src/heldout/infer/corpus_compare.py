"""Compare systems by corpus scores: intervals, paired tests and a correction for several."""

from __future__ import annotations

import math
from dataclasses import replace
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from heldout.data.scores import Scores, fingerprint
from heldout.errors import InputError
from heldout.infer.corpus_level import corpus_bootstrap, corpus_randomization_test
from heldout.infer.made_claims import made_comparison
from heldout.infer.multiplicity import adjust
from heldout.infer.resampled_claims import SumMaker
from heldout.infer.results import Interval
from heldout.infer.unit_kinds import MANY_UNITS
from heldout.notes import Note

if TYPE_CHECKING:
    from heldout.infer.compare import Comparison
    from heldout.infer.corpus_level import Replicates
    from heldout.infer.results import Outcome
    from heldout.measure.text.base import CorpusMeasure
    from heldout.measure.text.evaluate import TextEvaluation

__all__ = [
    "CorpusClaim",
    "CorpusComparison",
    "compare_corpora",
    "compare_texts",
    "corpus_intervals",
]

BOOTSTRAPS: Final = 10_000
SMALL: Final = 100
"""Segments below which the bootstrap-shift test rejects too often."""


class CorpusClaim(NamedTuple):
    """A system against the baseline.

    Parameters
    ----------
    system, baseline
        Their names.
    difference
        The score of the system minus that of the baseline, with its bootstrap interval.
    randomization, shift
        Outcomes of the paired tests; the first decides.
    adjusted
        The p-value of the randomization test, corrected by Holm for the number of systems.
    better
        Whether the difference is to the system's advantage.
    """

    system: str
    baseline: str
    difference: Interval
    randomization: Outcome
    shift: Outcome
    adjusted: float
    better: bool


class CorpusComparison(NamedTuple):
    """All systems on one measure.

    Parameters
    ----------
    measure, signature
        The measure, and all of its parameters.
    systems
        The score of each system with its bootstrap interval.
    claims
        Each system but the baseline against it; empty if nothing was compared.
    segments
        How many segments there are.
    warnings
        What to be careful about.
    """

    measure: CorpusMeasure
    signature: str
    systems: tuple[Interval, ...]
    claims: tuple[CorpusClaim, ...]
    segments: int
    warnings: tuple[Note, ...] = ()


def corpus_intervals(
    evaluation: TextEvaluation, measure: CorpusMeasure, *, seed: int = 0, level: float = 0.95
) -> CorpusComparison:
    """Scores of all systems with intervals, and no claim about differences.

    Intervals are those of the percentile bootstrap; of more than 100,000 segments, t intervals of
    the jackknife.
    """
    count = len(evaluation.references.ids)
    if count < 2:
        scores = [evaluation.score(at, measure) for at in range(len(evaluation.systems))]
        alone = tuple(Interval(one, math.nan, math.nan, level, "none") for one in scores)
        return CorpusComparison(measure, evaluation.signature(measure), alone, (), count)
    if count > MANY_UNITS:
        maker = SumMaker(evaluation.of(measure), measure.score)
        found = tuple(maker.system(at, level) for at in range(len(evaluation.systems)))
        return CorpusComparison(measure, evaluation.signature(measure), found, (), count)
    drawn = _bootstrap(evaluation, measure, seed)
    return _comparison(evaluation, measure, drawn, (), level)


def compare_texts(
    evaluation: TextEvaluation,
    measure: CorpusMeasure,
    *,
    replicates: int = 100_000,
    **settings: Any,
) -> Comparison:
    """Compare systems on a measure, with claims as `heldout.compare` makes them.

    Outputs are swapped between systems segment by segment, and the sums that the score is made of
    are resampled; a mean over segments is one of them.

    Parameters
    ----------
    evaluation
        What was computed, by `heldout.evaluate_text`.
    measure
        One of its measures.
    replicates
        Assignments of the randomization test; the bootstrap draws 10,000 corpora. Of more than
        100,000 segments intervals are t intervals of the jackknife instead, and there is no
        bootstrap-shift test.
    settings
        ``baseline`` (a name; of two systems the first), ``tests`` (``randomization``,
        ``bootstrap-shift``), ``tail``, ``alpha``, ``correction``, ``tuned``, ``seed``.

    Examples
    --------
    >>> from heldout.measure.text.evaluate import evaluate_text
    >>> texts = {"A": ["a b", "a", "d e f", "x"], "B": ["a b c", "a b", "d e f", "y"]}
    >>> found = evaluate_text(["a b c", "a b", "d e f g", "y"], texts, ["ROUGE-1"])
    >>> claim = compare_texts(found, found.measures[0], tail="greater").claims[0]
    >>> claim.first, round(claim.difference.estimate, 4), claim.outcomes[0].p
    ('B', 0.3833, 0.125)
    """
    _check_defined(evaluation, measure)
    seed = settings.get("seed", 0)
    why = (
        "is a function of sums over segments, which are resampled, outputs being swapped between "
        "the systems segment by segment"
    )
    maker = SumMaker(evaluation.of(measure), measure.score, replicates, BOOTSTRAPS, seed, why=why)
    if maker.is_linear:
        maker = replace(maker, tests=("randomization",))
    parts = evaluation.references.ids
    if measure.needs_references:
        parts = tuple(text for texts in evaluation.references.texts for text in texts)
    scores = Scores(
        str(measure),
        evaluation.names,
        evaluation.references.ids,
        maker.values,
        higher_is_better=measure.higher_is_better,
        data=fingerprint(list(parts)),
    )
    return made_comparison(scores, maker, **settings)


def _check_defined(evaluation: TextEvaluation, measure: CorpusMeasure) -> None:
    if len(evaluation.systems) < 2:
        raise InputError("one system: there is nothing to compare it with")
    for at, name in enumerate(evaluation.names):
        if math.isnan(evaluation.score(at, measure)):
            raise InputError(f"{measure} of {name} is not defined: there is nothing to compare")


def compare_corpora(
    evaluation: TextEvaluation,
    measure: CorpusMeasure,
    *,
    baseline: int = 0,
    replicates: int = 100_000,
    seed: int = 0,
) -> CorpusComparison:
    """Compare each system with a baseline on a measure.

    Parameters
    ----------
    evaluation
        What was computed, by `heldout.evaluate_text`.
    measure
        One of its measures.
    baseline
        The number of the baseline.
    replicates
        Assignments of the randomization test; the bootstrap draws 10,000 corpora.
    seed
        Of all draws.

    Examples
    --------
    >>> from heldout.measure.text.evaluate import evaluate_text
    >>> texts = {"A": ["a b", "a", "d e f", "x"], "B": ["a b c", "a b", "d e f", "y"]}
    >>> found = evaluate_text(["a b c", "a b", "d e f g", "y"], texts, ["ROUGE-1"])
    >>> claim = compare_corpora(found, found.measures[0]).claims[0]
    >>> round(claim.difference.estimate, 4), claim.randomization.p
    (0.3833, 0.25)
    """
    _check_defined(evaluation, measure)
    tables = evaluation.of(measure)
    drawn = _bootstrap(evaluation, measure, seed)
    others = [at for at in range(len(tables)) if at != baseline]
    outcomes = [
        corpus_randomization_test(
            tables[at], tables[baseline], measure.score, replicates=replicates, seed=seed
        )
        for at in others
    ]
    adjusted = adjust([one.p for one in outcomes], "holm")
    claims = tuple(
        CorpusClaim(
            evaluation.names[at],
            evaluation.names[baseline],
            drawn.difference(at, baseline),
            outcome,
            drawn.shift_test(at, baseline),
            float(p),
            (outcome.statistic > 0) == measure.higher_is_better and outcome.statistic != 0,
        )
        for at, outcome, p in zip(others, outcomes, adjusted, strict=True)
    )
    return _comparison(evaluation, measure, drawn, claims)


def _bootstrap(evaluation: TextEvaluation, measure: CorpusMeasure, seed: int) -> Replicates:
    return corpus_bootstrap(evaluation.of(measure), measure.score, replicates=BOOTSTRAPS, seed=seed)


def _comparison(
    evaluation: TextEvaluation,
    measure: CorpusMeasure,
    drawn: Replicates,
    claims: tuple[CorpusClaim, ...],
    level: float = 0.95,
) -> CorpusComparison:
    intervals = tuple(drawn.interval(at, level) for at in range(len(evaluation.systems)))
    warnings = []
    if claims and drawn.segments < SMALL:
        text = (
            f"{drawn.segments} segments are few: the bootstrap-shift test and the intervals are "
            "too sure below about 100; the randomization test decides"
        )
        warnings.append(Note("bootstrap-shift", text))
    signature = evaluation.signature(measure)
    return CorpusComparison(measure, signature, intervals, claims, drawn.segments, tuple(warnings))

"""Systems scored under human and machine judgements: combined estimates and their tests."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from heldout.errors import InputError
from heldout.infer.analysis import tests_named
from heldout.infer.bounded import difference_inside, inside
from heldout.infer.prediction_powered import TEST, combine_judgements
from heldout.infer.results import drop_noise
from heldout.infer.scoring import MeanScoring, Scored

if TYPE_CHECKING:
    from heldout.data.scores import MachineScores, Scores
    from heldout.infer.analysis import Analysis
    from heldout.infer.prediction_powered import Combined
    from heldout.infer.results import Alternative, Interval, Outcome

__all__ = ["MachineScoring", "machine_scored", "pair_estimates", "system_estimates"]


def system_estimates(scores: Scores, system: int, level: float = 0.95) -> Combined:
    """Return human-only, machine-only and combined estimates of the score of a system.

    Parameters
    ----------
    scores
        Scores under human and machine judgements.
    system
        The number of the system.
    level
        The confidence level.
    """
    machine = machine_of(scores)
    columns = (part[:, system] for part in (scores.values, machine.known, machine.extra))
    estimates = combine_judgements(*columns, level=level, plus_four=False)
    return estimates._replace(
        human=inside(estimates.human, scores.range),
        machine=inside(estimates.machine, scores.range),
        combined=inside(estimates.combined, scores.range),
    )


def pair_estimates(
    scores: Scores,
    pair: tuple[int, int],
    level: float = 0.95,
    alternative: Alternative = "two-sided",
) -> Combined:
    """Return the estimates of the difference of two systems, first minus second.

    The difference of each query is combined directly: the machine can be right about differences
    and wrong about the scores. If parameters were tuned in folds, the variance of their selection
    is added, as in `heldout.infer.retuned`.

    Parameters
    ----------
    scores
        Scores under human and machine judgements.
    pair
        The numbers of the systems.
    level, alternative
        Of the intervals and of the test.
    """
    machine, (first, second) = machine_of(scores), pair
    gaps = (
        drop_noise(values[:, first], values[:, second])
        for values in (scores.values, machine.known, machine.extra)
    )
    spread = scores.choice_spread(scores.systems[first], scores.systems[second])
    estimates = combine_judgements(
        *gaps,
        level=level,
        alternative=alternative,
        variance=0.0 if spread is None else spread.choices,
    )
    return estimates._replace(
        human=difference_inside(estimates.human, scores.range),
        machine=difference_inside(estimates.machine, scores.range),
        combined=difference_inside(estimates.combined, scores.range),
    )


def machine_of(scores: Scores) -> MachineScores:
    """Return the scores under machine judgements; refuse scores without them."""
    if scores.machine is None:
        raise InputError("there are no machine judgements: evaluate with machine=…")
    return scores.machine


@dataclass(frozen=True, eq=False)
class MachineScoring(MeanScoring):
    """Means over queries with human judgements, made more precise by machine judgements."""

    tests: tuple[str, ...] = (TEST,)
    why: str = (
        "Few human and many machine judgements: prediction-powered t test of the combined "
        "estimate, unbiased for any machine"
    )

    def outcome(self, test: str, pair: tuple[int, int], alternative: Alternative) -> Outcome:
        """Return the test of the combined difference."""
        del test
        found = pair_estimates(self.scores, pair, alternative=alternative).test
        if not self.scores.choices:
            return found
        return found._replace(detail=f"{found.detail}, including re-tuning")

    def difference(self, pair: tuple[int, int], level: float) -> Interval:
        """Return the combined difference."""
        return pair_estimates(self.scores, pair, level).combined

    def system(self, at: int, level: float) -> Interval:
        """Return the combined score."""
        return system_estimates(self.scores, at, level).combined


def machine_scored(scores: Scores, settings: Analysis) -> Scored:
    """Return scores to be compared by combined estimates; refuse settings for human ones alone."""
    other = [test for test in tests_named(settings.tests) if test != TEST]
    if other:
        raise InputError(
            f"{other[0]} uses human judgements alone: leave tests out, or leave machine out"
        )
    if settings.correction == "tukey":
        raise InputError(
            "correction='tukey' uses human judgements alone: use romano-wolf, holm, bonferroni or "
            "bh"
        )
    if settings.interval or settings.test_share is not None:
        name = "interval" if settings.interval else "test_share"
        raise InputError(f"{name} does not go with machine judgements: leave it out")
    if scores.choices and settings.correction == "romano-wolf":
        raise InputError(
            "romano-wolf does not include the selection of parameters in folds: leave correction "
            "out, or use holm"
        )
    scoring = MachineScoring(scores, replicates=settings.replicates, seed=settings.seed)
    return Scored(scores, scoring)

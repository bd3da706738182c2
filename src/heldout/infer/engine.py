"""The engine of all comparisons: pairs, tests, corrections, intervals, effects, warnings."""

from __future__ import annotations

from itertools import combinations
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from heldout.errors import InputError
from heldout.infer.analysis_warnings import LETTERED, result_warnings, skewed_means
from heldout.infer.bounded import inside
from heldout.infer.claim_intervals import (
    INTERVALS,
    PLUS_FOUR,
    claim_intervals,
    interval_coverage,
)
from heldout.infer.claim_tests import Design, adjust_claims, claim_outcomes, tests_at_once
from heldout.infer.comparison import Claim, Comparison, MachineEstimates, SystemRow
from heldout.infer.default_analysis import advise
from heldout.infer.results import check_alternative, check_level
from heldout.notes import Note

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from heldout.data.scores import Scores
    from heldout.infer.effects import Effects
    from heldout.infer.scoring import Scoring

__all__ = ["REPLICATES", "CompareSettings", "make_comparison"]

REPLICATES = 100_000


class CompareSettings(NamedTuple):
    """How to compare: the parameters of `heldout.compare`, without what it compares."""

    baseline: str | None = None
    tests: Sequence[str] = ()
    alternative: str = "two-sided"
    level: float = 0.95
    correction: str = ""
    interval: str = ""
    test_share: float | None = None
    tuned: Sequence[str] = ()
    replicates: int = REPLICATES
    seed: int = 0

    def check(self) -> None:
        """Refuse settings that are out of range."""
        check_alternative(self.alternative)
        check_level(self.level, one_sided=self.alternative != "two-sided")
        if self.replicates < 100:
            raise InputError(f"replicates={self.replicates}: expected at least 100")
        if self.interval and self.interval not in INTERVALS:
            raise InputError(
                f"unknown interval {self.interval!r}: expected one of {', '.join(INTERVALS)}"
            )


def make_comparison(
    scores: Scores,
    scoring: Scoring,
    settings: CompareSettings,
    progress: Callable[[int, int], None] | None = None,
) -> Comparison:
    """Compare systems.

    Parameters
    ----------
    scores
        The values of the units; for a score that is not a mean, linearised values that average to
        the score and vary as it does.
    scoring
        How systems and resamples are scored: it provides the tests and intervals.
    settings
        How to compare.
    progress
        Called with the number of pairs tested so far and the number of all pairs.
    """
    settings.check()
    _check(scores, scoring, settings)
    several = len(scores.systems) > 2
    baseline = settings.baseline
    if not several and baseline is None:
        baseline = scores.systems[0]
    advice = advise(
        scores,
        tests=settings.tests,
        correction=settings.correction,
        alternative=settings.alternative,
        baseline=baseline if several else None,
        test_share=settings.test_share,
        tuned=settings.tuned,
        scoring=scoring,
    )
    design = Design(
        scores,
        scoring,
        _pairs(scores, baseline),
        None if baseline is None else scores.index(baseline),
        advice.correction,
        settings.level,
        check_alternative(settings.alternative),
        settings.test_share,
        settings.replicates,
        settings.seed,
    )
    outcomes = claim_outcomes(design, advice.tests, progress)
    adjusted = adjust_claims(
        design, outcomes, progress if tests_at_once(design, advice.tests) else None
    )
    intervals = claim_intervals(design, adjusted, settings.interval)
    effects = _effects(design)
    claims = tuple(
        Claim(
            scores.systems[pair[0]],
            scores.systems[pair[1]],
            intervals[at],
            outcomes[at],
            adjusted.p[at],
            effects[at],
            adjusted.error(at),
        )
        for at, pair in enumerate(design.pairs)
    )
    anova, sphericity, friedman = _joint_analyses(design)
    systems = _systems(design, adjusted.p if baseline is None else None)
    late = [
        *skewed_means(design, systems),
        *result_warnings(design, claims, sphericity, settings.interval),
        *_few_differ(claims),
    ]
    advice = advice._replace(warnings=(*advice.warnings, *late))
    return Comparison(
        scores,
        baseline,
        settings.level,
        design.alternative,
        advice,
        systems,
        claims,
        anova,
        sphericity,
        friedman,
        settings.seed,
        interval_coverage(advice.correction),
        adjusted.detail,
        settings.test_share,
        scoring.linearised,
        _machine(design),
        lambda level: claim_intervals(design._replace(level=level), adjusted, settings.interval),
    )


def _few_differ(claims: Sequence[Claim]) -> list[Note]:
    """Warn about pairs that differ on few units, so that their intervals are wider."""
    few = [claim for claim in claims if claim.difference.method.endswith(PLUS_FOUR)]
    if not few:
        return []
    shown = [
        f"{one.first} - {one.second} {one.effects.wins + one.effects.losses}" for one in few[:3]
    ]
    more = f" and {len(few) - 3} more pairs" if len(few) > 3 else ""
    text = (
        f"systems differ on few of the {few[0].effects.n} units ({', '.join(shown)}{more}): "
        "intervals are wider for it, and rough"
    )
    return [Note("few-differ", text)]


def _machine(design: Design) -> MachineEstimates | None:
    """Return the estimates under human and machine judgements, if there are both."""
    if design.scores.machine is None:
        return None
    from heldout.infer.scoring import pair_estimates, system_estimates

    scores, level = design.scores, design.level
    return MachineEstimates(
        tuple(system_estimates(scores, at, level) for at in range(len(scores.systems))),
        tuple(pair_estimates(scores, pair, level, design.side) for pair in design.pairs),
    )


def _check(scores: Scores, scoring: Scoring, settings: CompareSettings) -> None:
    if len(scores.systems) < 2:
        raise InputError("one system cannot be compared: give at least two")
    if len(scores.units) < 2:
        raise InputError(f"the systems have only {scores.size} in common: expected at least 2")
    if scoring.linearised and settings.interval:
        raise InputError(
            f"interval={settings.interval!r} is for means, but {scores.measure} is not a mean: "
            "leave it out"
        )


def _pairs(scores: Scores, baseline: str | None) -> tuple[tuple[int, int], ...]:
    """Return pairs of columns: the later and the earlier system, or each and the baseline."""
    if baseline is None:
        columns = range(len(scores.systems))
        return tuple((second, first) for first, second in combinations(columns, 2))
    base = scores.index(baseline)
    return tuple((other, base) for other in range(len(scores.systems)) if other != base)


def _effects(design: Design) -> list[Effects]:
    from heldout.infer.effects import pair_effects  # SciPy

    # Wins are units on which the first is better, whatever the direction of the measure.
    scores = design.scores
    sign = 1.0 if scores.higher_is_better else -1.0
    effects = pair_effects(sign * scores.values, *design.columns)
    if not design.scoring.linearised:
        return effects
    return [_with_signs(design, *both) for both in zip(effects, design.pairs, strict=True)]


def _with_signs(design: Design, effects: Effects, pair: tuple[int, int]) -> Effects:
    """Return effects whose wins and losses are those of the score, not of linearised values."""
    higher, lower = design.scoring.signs(pair)
    wins, losses = (higher, lower) if design.scores.higher_is_better else (lower, higher)
    ties = effects.n - wins - losses
    share = (wins + ties / 2) / effects.n
    return effects._replace(wins=wins, ties=ties, losses=losses, superiority=share)


def _joint_analyses(design: Design) -> tuple[Any, Any, Any]:
    """Return the analyses of three or more systems together: ANOVA, sphericity, Friedman."""
    from heldout.infer import (
        blocks,  # SciPy
        ranks,  # SciPy
    )

    scores = design.scores
    if len(scores.systems) < 3 or design.scoring.linearised or scores.machine is not None:
        return None, None, None
    values = scores.values
    # The covariance of the systems needs more units than systems.
    enough = len(scores.units) > len(scores.systems)
    sphericity = blocks.sphericity(values) if enough else None
    better_first = values if scores.higher_is_better else -values
    by_rank = (
        ranks.friedman(better_first),
        ranks.nemenyi(better_first, design.level),
    )
    return blocks.anova(values), sphericity, by_rank


def _systems(design: Design, adjusted: tuple[float, ...] | None) -> tuple[SystemRow, ...]:
    """Return the systems with their intervals, with letters if all pairs were compared."""
    from heldout.infer import tukey  # SciPy

    scores = design.scores
    letters = [""] * len(scores.systems)
    means = [
        inside(design.scoring.system(at, design.level), scores.range)
        for at in range(len(scores.systems))
    ]
    if adjusted is not None and 2 < len(scores.systems) <= LETTERED:
        different = [
            pair for pair, p in zip(design.pairs, adjusted, strict=True) if p <= design.alpha
        ]
        values = np.array([mean.estimate for mean in means])
        order = np.argsort(-values if scores.higher_is_better else values).tolist()
        letters = tukey.compact_letters(len(scores.systems), different, order)
    return tuple(SystemRow(name, means[at], letters[at]) for at, name in enumerate(scores.systems))

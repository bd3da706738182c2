"""The one engine of comparisons: pairs, tests, corrections, intervals, effects, notes."""

from __future__ import annotations

from itertools import combinations
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from heldout.errors import InputError
from heldout.infer.advise import BY_RANK, OWN_TEST, advise
from heldout.infer.claim_intervals import INTERVALS, claim_intervals, interval_coverage
from heldout.infer.claim_tests import Design, adjust_claims, claim_outcomes, tests_at_once
from heldout.infer.comparison import Claim, Comparison, SystemRow
from heldout.infer.intervals.bounded import inside
from heldout.infer.levels import check_level
from heldout.infer.results import check_alternative
from heldout.infer.scoring.base import RETUNED
from heldout.notes import Note

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from heldout.data.scores import Scores
    from heldout.infer.effects import Effects
    from heldout.infer.intervals.folds import FoldF
    from heldout.infer.scoring.base import Scoring
    from heldout.infer.simultaneous.blocks import Sphericity

__all__ = ["REPLICATES", "Asked", "make_comparison"]

REPLICATES = 100_000
POOLED = ("tukey", "randomized-tukey", "dunnett-t")
"""Corrections that take all differences to vary alike."""
LETTERED = 50
"""Systems that get letters at the most: the number of letters can grow exponentially."""
SPHERICITY = 0.05
LEAST_EPSILON = 0.9
SKEWED_NEED = 50
"""Units from which on intervals of means of skewed scores covered what they promise."""
STEPWISE = ("romano-wolf", "holm", "hochberg", "hommel", "maxt")


class Asked(NamedTuple):
    """How to compare; the parameters are those of `heldout.compare`."""

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
        """Refuse what no comparison can do."""
        check_alternative(self.alternative)
        check_level(self.level, one_sided=self.alternative != "two-sided")
        if self.replicates < 100:
            raise InputError(f"replicates={self.replicates}: at least 100 are needed")
        if self.interval and self.interval not in INTERVALS:
            raise InputError(
                f"unknown interval {self.interval!r}: expected one of {', '.join(INTERVALS)}"
            )


def make_comparison(
    scores: Scores,
    scoring: Scoring,
    asked: Asked,
    progress: Callable[[int, int], None] | None = None,
) -> Comparison:
    """Compare systems.

    Parameters
    ----------
    scores
        The values of the units; for a score that is no mean, values that average to it and vary
        as it does.
    scoring
        How systems and resamples are scored: it makes the tests and intervals.
    asked
        How to compare.
    progress
        Called with the pairs that are tested and the number of all.
    """
    asked.check()
    _check(scores, scoring, asked)
    several = len(scores.systems) > 2
    baseline = asked.baseline
    if not several and baseline is None:
        baseline = scores.systems[0]
    advice = advise(
        scores,
        tests=asked.tests,
        correction=asked.correction,
        alternative=asked.alternative,
        baseline=baseline if several else None,
        test_share=asked.test_share,
        tuned=asked.tuned,
        scoring=scoring,
    )
    design = Design(
        scores,
        scoring,
        _pairs(scores, baseline),
        None if baseline is None else scores.index(baseline),
        advice.correction,
        asked.level,
        check_alternative(asked.alternative),
        asked.test_share,
        asked.replicates,
        asked.seed,
    )
    outcomes = claim_outcomes(design, advice.tests, progress)
    adjusted = adjust_claims(
        design, outcomes, progress if tests_at_once(design, advice.tests) else None
    )
    intervals = claim_intervals(design, adjusted, asked.interval)
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
    anova, sphericity, friedman = _together(design)
    systems = _systems(design, adjusted.p if baseline is None else None)
    late = [
        *_skewed(design, systems),
        *_naive_intervals(design, asked.interval),
        *_unequal_variances(design, sphericity),
        *_no_letters(design),
        *_disagreements(design, claims),
    ]
    advice = advice._replace(warnings=(*advice.warnings, *late))
    return Comparison(
        scores,
        baseline,
        asked.level,
        design.alternative,
        advice,
        systems,
        claims,
        anova,
        sphericity,
        friedman,
        asked.seed,
        interval_coverage(advice.correction),
        adjusted.detail,
        _fold_f(design),
        asked.test_share,
        scoring.linearised,
    )


def _check(scores: Scores, scoring: Scoring, asked: Asked) -> None:
    if len(scores.systems) < 2:
        raise InputError("one system cannot be compared: give at least two")
    if len(scores.units) < 2:
        raise InputError(f"{len(scores.units)} unit in common: at least 2 are needed")
    if scoring.linearised and asked.interval:
        raise InputError(f"{scores.measure} has an interval of its own: leave --interval out")


def _pairs(scores: Scores, baseline: str | None) -> tuple[tuple[int, int], ...]:
    """Pairs of systems, the later minus the earlier, or each minus the baseline."""
    if baseline is None:
        columns = range(len(scores.systems))
        return tuple((second, first) for first, second in combinations(columns, 2))
    base = scores.index(baseline)
    return tuple((other, base) for other in range(len(scores.systems)) if other != base)


def _effects(design: Design) -> list[Effects]:
    from heldout.infer.effects import pair_effects  # SciPy

    # Wins are units on which the first is better, whichever way the measure runs.
    scores = design.scores
    sign = 1.0 if scores.higher_is_better else -1.0
    found = pair_effects(sign * scores.values, *design.columns)
    if not design.scoring.linearised:
        return found
    return [_with_signs(design, *both) for both in zip(found, design.pairs, strict=True)]


def _with_signs(design: Design, found: Effects, pair: tuple[int, int]) -> Effects:
    """Wins and losses as the score has them, whose units have no values of their own."""
    higher, lower = design.scoring.signs(pair)
    wins, losses = (higher, lower) if design.scores.higher_is_better else (lower, higher)
    ties = found.n - wins - losses
    share = (wins + ties / 2) / found.n
    return found._replace(wins=wins, ties=ties, losses=losses, superiority=share)


def _unequal_variances(design: Design, sphericity: Sphericity | None) -> list[Note]:
    """A warning where one error term for all pairs does not fit the data."""
    if design.correction not in POOLED or sphericity is None:
        return []
    epsilon, p = sphericity.greenhouse_geisser, sphericity.p
    rejected = p <= SPHERICITY  # False for NaN
    if not rejected and epsilon >= LEAST_EPSILON:
        return []
    found = f"Greenhouse-Geisser epsilon {epsilon:.2f}"
    if rejected:
        found += f", Mauchly's test p {'< 0.0001' if p < 0.0001 else f'= {p:.4f}'}"
    text = (
        f"{design.correction} takes all differences to vary alike, and these do not ({found}): on "
        "real systems of equal means Tukey's test made false claims in 5.5 to 8.5 % of "
        "comparisons instead of 5 %; the default, romano-wolf, in at most 5.4 %"
    )
    return [Note("unequal-variances", text)]


def _naive_intervals(design: Design, kind: str) -> list[Note]:
    if design.test_share is None or not kind:
        return []
    text = f"the {kind} interval takes folds for independent: the default one is corrected"
    return [Note("folds-independent", text)]


def _skewed(design: Design, systems: tuple[SystemRow, ...]) -> list[Note]:
    """A warning where even intervals for skewed scores may cover too little."""
    names = [row.name for row in systems if row.mean.method == "Hall"]
    if not names or len(design.scores.units) >= SKEWED_NEED:
        return []
    text = (
        f"{_some(names)}: few large scores among many small ones, or the reverse; with fewer than "
        f"{SKEWED_NEED} units, 95 % intervals of such means covered 83 to 99 %, least for means "
        "near 0"
    )
    return [Note("skewed-scores", text)]


def _no_letters(design: Design) -> list[Note]:
    if design.baseline is not None or len(design.scores.systems) <= LETTERED:
        return []
    text = f"more than {LETTERED} systems are compared: they get no letters"
    return [Note("no-letters", text, "info")]


def _disagreements(design: Design, claims: tuple[Claim, ...]) -> list[Note]:
    """Why 0 is inside an interval beside a significant p, or outside beside another."""
    how = design.correction
    if interval_coverage(how) == "unadjusted":
        return []  # which is said of the intervals, and explains it
    steps: list[str] = []
    other: list[str] = []
    for claim in claims:
        shown = claim.adjusted <= design.alpha
        outside = not claim.difference.low <= 0 <= claim.difference.high
        if shown != outside:
            stepwise = shown and how in STEPWISE
            (steps if stepwise else other).append(f"{claim.first} - {claim.second}")
    found = []
    if steps:
        text = (
            f"{_some(steps)}: significant, though 0 is inside the interval: {how} goes step by "
            "step and finds more than intervals that hold all at once"
        )
        found.append(Note("stepwise", text))
    if other:
        why = _why_they_disagree(design, claims[0].outcomes[0].test)
        text = f"{_some(other)}: test and interval disagree about 0: {why}"
        found.append(Note("disagreement", text))
    return found


def _why_they_disagree(design: Design, test: str) -> str:
    decides = design.correction if design.correction in OWN_TEST else test
    if design.test_share is not None and decides != "corrected-t":
        return f"the interval is corrected for overlapping folds, {decides} is not"
    if design.scoring.tests == RETUNED and decides not in RETUNED[:1]:
        return f"the interval includes the selection of parameters in folds, {decides} does not"
    if decides in BY_RANK:
        return f"{decides} is not about the mean, the interval is"
    return "they are made in different ways and it is close; the test decides"


def _some(names: list[str]) -> str:
    return ", ".join(names[:3]) + (f" and {len(names) - 3:,} more" if len(names) > 3 else "")


def _together(design: Design) -> tuple[Any, Any, Any]:
    """What is said of the means of three or more systems at once."""
    from heldout.infer.simultaneous import blocks  # SciPy
    from heldout.infer.tests import ranks  # SciPy

    scores = design.scores
    if len(scores.systems) < 3 or design.scoring.linearised:
        return None, None, None
    values = scores.values
    # Mauchly's test needs more units than systems.
    enough = len(scores.units) > len(scores.systems)
    sphericity = blocks.sphericity(values) if enough else None
    better_first = values if scores.higher_is_better else -values
    by_rank = (
        ranks.friedman(better_first),
        ranks.iman_davenport(better_first),
        ranks.nemenyi(better_first, design.level),
    )
    return blocks.anova(values), sphericity, by_rank


def _fold_f(design: Design) -> FoldF | None:
    from heldout.infer.intervals.folds import corrected_f  # SciPy

    if design.test_share is None or len(design.scores.systems) < 3:
        return None
    return corrected_f(design.scores.values, design.test_share)


def _systems(design: Design, adjusted: tuple[float, ...] | None) -> tuple[SystemRow, ...]:
    """The systems with their intervals; with letters if all pairs were compared."""
    from heldout.infer.simultaneous import tukey  # SciPy

    scores = design.scores
    letters = [""] * len(scores.systems)
    found = [
        inside(design.scoring.system(at, design.level), scores.range)
        for at in range(len(scores.systems))
    ]
    if adjusted is not None and 2 < len(scores.systems) <= LETTERED:
        different = [
            pair for pair, p in zip(design.pairs, adjusted, strict=True) if p <= design.alpha
        ]
        values = np.array([one.estimate for one in found])
        order = np.argsort(-values if scores.higher_is_better else values).tolist()
        letters = tukey.compact_letters(len(scores.systems), different, order)
    return tuple(SystemRow(name, found[at], letters[at]) for at, name in enumerate(scores.systems))

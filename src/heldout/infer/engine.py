"""The engine of all comparisons: pairs, tests, adjusted p-values, intervals, effects, notes."""

from __future__ import annotations

import math
from functools import partial
from typing import TYPE_CHECKING, Any, Final, NamedTuple

import numpy as np

from heldout.infer.analysis import Analysis, choose
from heldout.infer.bounded import difference_inside, inside
from heldout.infer.comparison import (
    Claim,
    Comparison,
    Effects,
    MachineEstimates,
    SystemRow,
    pair_effects,
)
from heldout.infer.comparison_notes import LETTERED, PLUS_FOUR, design_notes, result_notes
from heldout.infer.intervals import DIFFERING, PSEUDO, added_variance
from heldout.infer.results import (
    Estimate,
    Interval,
    alpha_of,
    drop_noise,
    level_of,
    numeric_alternative,
)

if TYPE_CHECKING:
    from collections.abc import Callable

    from heldout.data.scores import Scores
    from heldout.data.words import Floats, Ints
    from heldout.infer.results import Alternative, Outcome
    from heldout.infer.romano_wolf import StepDown
    from heldout.infer.scoring import Scoring

    Progress = Callable[[int, int], None] | None

BLOCK: Final = 2**22  # differences in memory at a time
EVERY: Final = slice(None)


class Design(NamedTuple):
    """What is compared, and how: each pair is a column of `first` minus one of `second`."""

    scores: Scores
    scoring: Scoring
    analysis: Analysis
    first: Ints
    second: Ints

    @property
    def side(self) -> Alternative:
        """The alternative in terms of numbers: better means less where lower is better."""
        better = self.scores.higher_is_better
        return numeric_alternative(self.analysis.alternative, higher_is_better=better)

    @property
    def pairs(self) -> list[tuple[int, int]]:
        """The numbers of the two systems of each pair."""
        return list(zip(self.first.tolist(), self.second.tolist(), strict=True))

    def statistics(self) -> Estimate:
        """Return mean differences over units, in which neither folds nor tuning count."""
        scores = self.scores
        if scores.machine is not None:
            from heldout.infer.prediction_powered import combined_statistics

            return combined_statistics(scores.values, scores.machine, self.first, self.second)
        from heldout.infer.romano_wolf import pair_statistics

        return pair_statistics(scores.values, self.first, self.second)


def make_comparison(scoring: Scoring, asked: Analysis, progress: Progress = None) -> Comparison:
    """Compare systems; progress is told the number of pairs tested so far and of all pairs."""
    from heldout.infer.romano_wolf import pair_columns

    scores = scoring.scores
    analysis = choose(asked._replace(test_share=scoring.test_share), scores, scoring)
    base = None if analysis.baseline is None else scores.index(analysis.baseline)
    design = Design(scores, scoring, analysis, *pair_columns(len(scores.systems), base))
    at_once = analysis.tests == ("t",) and not scoring.linearised
    outcomes = _t_tests(design) if at_once else _outcomes(design, progress)
    p, step_down = _adjusted(design, outcomes, base, progress if at_once else None)
    studentized = None if step_down is None else design.statistics()._replace(method="Romano-Wolf")
    intervals = partial(_intervals, design, step_down, studentized, _widening(design))
    columns = zip(
        design.pairs,
        intervals(analysis.level),
        outcomes,
        p,
        _effects(design),
        _monte_carlo_errors(p, step_down),
        strict=True,
    )
    names = scores.systems
    claims = tuple(Claim(names[pair[0]], names[pair[1]], *rest) for pair, *rest in columns)
    systems = _systems(design, p)
    anova, sphericity, friedman = _joint_analyses(design)
    notes = design_notes(scores, scoring, analysis)
    notes += result_notes(scores, scoring, analysis, systems, claims, sphericity)
    return Comparison(
        scores,
        analysis,
        systems,
        claims,
        intervals,
        anova=anova,
        sphericity=sphericity,
        friedman=friedman,
        correction_detail="" if step_down is None else step_down.detail,
        linearised=scoring.linearised,
        machine=_machine(design),
        warnings=tuple(notes),
    )


# Tests


def _t_tests(design: Design) -> list[tuple[Outcome, ...]]:
    """Return the t tests of all pairs at once: there may be very many."""
    outcomes = design.statistics().outcomes("t", design.side, len(design.scores.units))
    return [_as_asked(design, outcome) for outcome in outcomes]


def _outcomes(design: Design, progress: Progress) -> list[tuple[Outcome, ...]]:
    """Run all tests on all pairs."""
    outcomes: list[tuple[Outcome, ...]] = []
    for pair in design.pairs:
        tests = (design.scoring.outcome(test, pair, design.side) for test in design.analysis.tests)
        outcomes.append(_as_asked(design, *tests))
        if progress:
            progress(len(outcomes), len(design.first))
    return outcomes


def _as_asked(design: Design, *outcomes: Outcome) -> tuple[Outcome, ...]:
    """Return outcomes that name the alternative as requested: ``greater`` means better."""
    asked = design.analysis.alternative
    return tuple(outcome._replace(alternative=asked) for outcome in outcomes)


def _adjusted(
    design: Design, outcomes: list[tuple[Outcome, ...]], base: int | None, progress: Progress
) -> tuple[list[float], StepDown | None]:
    """Return the p-values that decide, adjusted for their number, and Romano-Wolf's result."""
    analysis, scores, pairs = design.analysis, design.scores, len(design.first)
    if analysis.correction == "tukey":
        return [row[3] for row in _tukey(design, analysis.level)], None
    if analysis.correction != "romano-wolf":
        from heldout.infer.corrections import adjust  # SciPy

        raw = [tests[0].p for tests in outcomes]
        return [float(p) for p in adjust(raw, analysis.correction or "none")], None
    from heldout.infer.romano_wolf import romano_wolf  # SciPy

    def report_pairs(done: int, total: int) -> None:
        if progress:
            progress(pairs * done // total, pairs)

    found = romano_wolf(
        scores.values,
        base,
        alternative=design.side,
        machine=scores.machine,
        replicates=analysis.replicates,
        seed=analysis.seed,
        progress=report_pairs,
    )
    return found.p[design.first, design.second].tolist(), found


def _monte_carlo_errors(p: list[float], step_down: StepDown | None) -> list[float]:
    """Return the standard errors of drawn p-values; 0 for exact ones."""
    if step_down is None:
        return [0.0] * len(p)
    return [math.sqrt(value * (1 - value) / step_down.draws) for value in p]


def _tukey(design: Design, level: float) -> list[tuple[float, float, float, float]]:
    """Return difference, bounds and p-value of each pair, which are all pairs in this order."""
    from heldout.infer.tukey import tukey_hsd  # SciPy

    rows = {(row.first, row.second): row for row in tukey_hsd(design.scores.values, level)}
    found = (rows[pair] for pair in design.pairs)
    return [(row.difference, row.low, row.high, row.p) for row in found]


# Intervals


def _intervals(
    design: Design,
    step_down: StepDown | None,
    studentized: Estimate | None,
    widening: Floats,
    level: float,
    which: slice = EVERY,
) -> list[Interval]:
    """Return the intervals of the differences at a level, adjusted the way their p-values are.

    Tukey's test has intervals of its own. For Romano-Wolf the critical value is the quantile of the
    largest statistic, so that an interval excludes 0 exactly if the single-step test rejects. All
    others, and requested ones, are adjusted by Bonferroni; those of the false discovery rate are
    unadjusted (Hochberg & Tamhane 1987). One-sided intervals are open on the other side.
    """
    analysis = design.analysis
    default = not analysis.interval and analysis.test_share is None
    if default and analysis.correction == "tukey":
        found = [Interval(*row[:3], level, "Tukey") for row in _tukey(design, level)[which]]
    elif default and step_down is not None and studentized is not None:
        critical = step_down.critical(alpha_of(level))
        found = studentized.interval(level, design.side, critical)[which]
    else:
        found = [_plain_interval(design, pair, level) for pair in design.pairs[which]]
    pairs = zip(found, widening[which].tolist(), strict=True)
    return [difference_inside(_widened(*pair), design.scores.range) for pair in pairs]


def _plain_interval(design: Design, pair: tuple[int, int], level: float) -> Interval:
    """Return the interval of one pair, adjusted by Bonferroni if several hold at once."""
    analysis, side = design.analysis, design.side
    simultaneous = analysis.coverage == "simultaneous"
    alpha = alpha_of(level) / (len(design.first) if simultaneous else 1)
    # One bound of a two-sided interval is a one-sided bound that fails half as often.
    two_sided = 1 - alpha if side == "two-sided" else 1 - 2 * alpha
    found = design.scoring.difference(pair, two_sided)
    if found.low == found.high:  # nothing varies: there is no more evidence than signs
        value, df = np.asarray(found.estimate), len(design.scores.units) - 1
        alone = Estimate(value, np.zeros(()), df, found.method)
        (found,) = alone.interval(level_of(alpha), side)
    low = found.low if side != "less" else -math.inf
    high = found.high if side != "greater" else math.inf
    method = f"{found.method}, Bonferroni" if simultaneous else found.method
    return Interval(found.estimate, low, high, level, method)


def _widening(design: Design) -> Floats:
    """Return how much wider the interval of each pair is for four more differing units.

    It is 1 for most pairs, and where the variance has them already.
    """
    scores, scoring, analysis = design.scores, design.scoring, design.analysis
    units, factors = len(scores.units), np.ones(len(design.first))
    added_already = "retuned-t" in scoring.tests and not (
        analysis.interval or analysis.correction == "romano-wolf"
    )
    if scores.machine is not None or added_already or analysis.correction == "tukey":
        return factors
    if scoring.linearised:
        if scoring.tests[0] == "bootstrap-shift":  # an order: one unit changes the values of many
            return factors
        differing = np.array([sum(scoring.signs(pair)) for pair in design.pairs])
        few = (differing > 0) & (differing < min(DIFFERING, units / 2))
        # The variance of m differing units of n is about m times their mean square over n².
        factors[few] = np.sqrt(1 + PSEUDO / differing[few])
        return factors
    for start in range(0, len(factors), size := max(1, BLOCK // units)):
        part = slice(start, start + size)
        gaps = drop_noise(
            scores.values[:, design.first[part]], scores.values[:, design.second[part]]
        )
        added, variance = added_variance(gaps), gaps.var(0, ddof=1) / units
        ratio = np.divide(added, variance, out=np.zeros_like(added), where=added > 0)
        factors[part] = np.sqrt(1 + ratio)
    return factors


def _widened(interval: Interval, factor: float) -> Interval:
    if factor == 1:
        return interval
    estimate = interval.estimate
    return interval._replace(
        low=estimate + factor * (interval.low - estimate),
        high=estimate + factor * (interval.high - estimate),
        method=f"{interval.method}, {PLUS_FOUR}",
    )


# Effects and systems


def _effects(design: Design) -> list[Effects]:
    """Return effects; wins are units on which the first is better, not higher."""
    scores, scoring = design.scores, design.scoring
    sign = 1.0 if scores.higher_is_better else -1.0
    effects = pair_effects(sign * scores.values, design.first, design.second)
    if not scoring.linearised:
        return effects
    found = []  # wins and losses of the score, not of linearised values
    for effect, pair in zip(effects, design.pairs, strict=True):
        wins, losses = scoring.signs(pair) if scores.higher_is_better else scoring.signs(pair)[::-1]
        ties = effect.n - wins - losses
        share = (wins + ties / 2) / effect.n
        found.append(effect._replace(wins=wins, ties=ties, losses=losses, superiority=share))
    return found


def _systems(design: Design, p: list[float]) -> tuple[SystemRow, ...]:
    """Return the systems with their intervals, with letters if all pairs were compared."""
    scores, analysis = design.scores, design.analysis
    numbers = range(len(scores.systems))
    means = [
        inside(design.scoring.system(number, analysis.level), scores.range) for number in numbers
    ]
    letters = [""] * len(means)
    if analysis.baseline is None and len(means) <= LETTERED:
        from heldout.infer.corrections import compact_letters  # SciPy

        by_pair = zip(design.pairs, p, strict=True)
        different = [pair for pair, adjusted in by_pair if adjusted <= analysis.alpha]
        values = np.array([mean.estimate for mean in means])
        order = np.argsort(-values if scores.higher_is_better else values).tolist()
        letters = compact_letters(len(means), different, order)
    return tuple(map(SystemRow, scores.systems, means, letters))


def _joint_analyses(design: Design) -> tuple[Any, Any, Any]:
    """Return the analyses of three or more systems together: ANOVA, sphericity, Friedman."""
    scores = design.scores
    if len(scores.systems) < 3 or design.scoring.linearised or scores.machine is not None:
        return None, None, None
    from heldout.infer import ranks, tukey  # SciPy

    # The covariance of the systems needs more units than systems.
    enough = len(scores.units) > len(scores.systems)
    sphericity = tukey.sphericity(scores.values) if enough else None
    better_first = scores.values if scores.higher_is_better else -scores.values
    nemenyi = ranks.nemenyi(better_first, design.analysis.level)
    return tukey.anova(scores.values), sphericity, (ranks.friedman(better_first), nemenyi)


def _machine(design: Design) -> MachineEstimates | None:
    """Return the estimates under human and machine judgements, if there are both."""
    scores, level = design.scores, design.analysis.level
    if scores.machine is None:
        return None
    from heldout.infer.prediction_powered import pair_estimates, system_estimates

    return MachineEstimates(
        tuple(system_estimates(scores, number, level) for number in range(len(scores.systems))),
        tuple(pair_estimates(scores, pair, level, design.side) for pair in design.pairs),
    )

"""The engine of all comparisons: pairs, tests, adjusted p-values, intervals, effects, notes."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from functools import cached_property, partial
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from heldout.infer.analysis import Analysis, choose
from heldout.infer.comparison import Claim, Comparison, Effects, MachineEstimates, SystemRow
from heldout.infer.comparison_notes import LETTERED, PLUS_FOUR, design_notes, result_notes
from heldout.infer.intervals import DIFFERING, PSEUDO, added_variance, difference_inside, inside
from heldout.infer.results import (
    Estimate,
    Interval,
    alpha_of,
    do_not_vary,
    drop_noise,
    level_of,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from heldout.data.scores import Scores
    from heldout.data.words import Floats, Ints
    from heldout.infer.results import Alternative, Outcome
    from heldout.infer.romano_wolf import StepDown
    from heldout.infer.scoring import Scoring

    Progress = Callable[[int, int], None] | None

BLOCK: Final = 1 << 20  # differences in memory at a time
EVERY: Final = slice(None)


@dataclass(frozen=True, eq=False)
class Design:
    """What is compared, and how: each pair is a column of `first` minus one of `second`."""

    scoring: Scoring
    analysis: Analysis
    scores: Scores
    values: Floats  # of the scores, higher is better
    first: Ints
    second: Ints

    @property
    def side(self) -> Alternative:
        """The alternative in terms of numbers: better means less where lower is better."""
        asked = self.analysis.alternative
        if self.scores.higher_is_better or asked == "two-sided":
            return asked
        return "less" if asked == "greater" else "greater"

    @cached_property
    def pairs(self) -> list[tuple[int, int]]:
        """The numbers of the two systems of each pair."""
        return list(zip(self.first.tolist(), self.second.tolist(), strict=True))

    def gaps(self) -> Iterator[tuple[slice, Floats]]:
        """Yield some pairs at a time and their differences, positive where the first is better."""
        size = max(1, BLOCK // len(self.values))
        for start in range(0, len(self.first), size):
            part = slice(start, start + size)
            columns = self.values[:, self.first[part]], self.values[:, self.second[part]]
            yield part, drop_noise(*columns)

    @cached_property
    def statistics(self) -> Estimate:
        """Mean differences over units, in which neither folds nor tuning count."""
        from heldout.infer.romano_wolf import pair_statistics

        scores = self.scores
        return pair_statistics(scores.values, self.first, self.second, scores.machine)


def make_comparison(scoring: Scoring, asked: Analysis, progress: Progress = None) -> Comparison:
    """Compare systems; progress is told the number of pairs tested so far and of all pairs."""
    from heldout.infer.romano_wolf import pair_columns

    scores = scoring.scores
    names, values = scores.systems, scores.values if scores.higher_is_better else -scores.values
    analysis = choose(asked._replace(test_share=scoring.test_share), scoring)
    base = None if analysis.baseline is None else scores.index(analysis.baseline)
    design = Design(scoring, analysis, scores, values, *pair_columns(len(names), base))
    at_once = analysis.tests == ("t",) and not scoring.linearised
    outcomes = _outcomes(design, at_once, progress)
    p, step_down = _adjusted(design, outcomes, base, progress if at_once else None)
    draws = math.inf if step_down is None else step_down.draws
    errors = [math.sqrt(value * (1 - value) / draws) for value in p]
    intervals = partial(_intervals, design, step_down, _widening(design))
    rows = zip(intervals(analysis.level), outcomes, p, _effects(design), errors, strict=True)
    claims = tuple(
        Claim(names[first], names[second], *row)
        for (first, second), row in zip(design.pairs, rows, strict=True)
    )
    machine: MachineEstimates | None = None
    if scores.machine is not None:
        from heldout.infer.prediction_powered import pair_estimates, system_estimates

        level, side = analysis.level, design.side
        machine = MachineEstimates(
            tuple(system_estimates(scores, number, level) for number in range(len(names))),
            tuple(pair_estimates(scores, pair, level, side) for pair in design.pairs),
        )
    anova, sphericity, friedman = _joint_analyses(design)
    comparison = Comparison(
        scores,
        analysis,
        _systems(design, p),
        claims,
        intervals,
        anova=anova,
        sphericity=sphericity,
        friedman=friedman,
        correction_detail="" if step_down is None else step_down.detail,
        linearised=scoring.linearised,
        machine=machine,
    )
    notes = (*design_notes(scoring, analysis), *result_notes(comparison, scoring))
    return replace(comparison, warnings=notes)


# Tests


def _outcomes(design: Design, at_once: bool, progress: Progress) -> list[tuple[Outcome, ...]]:
    """Run all tests on all pairs; ``greater`` means better in them."""
    scoring, analysis, side = design.scoring, design.analysis, design.side
    tested: list[tuple[Outcome, ...]] = []
    if at_once:  # there may be very many pairs
        tested = [(t,) for t in design.statistics.outcomes("t", side, len(design.values))]
    for pair in () if at_once else design.pairs:
        tested.append(tuple(scoring.outcome(test, pair, side) for test in analysis.tests))
        if progress:
            progress(len(tested), len(design.pairs))
    asked = analysis.alternative
    return [tuple(test._replace(alternative=asked) for test in tests) for tests in tested]


def _adjusted(
    design: Design, outcomes: list[tuple[Outcome, ...]], base: int | None, progress: Progress
) -> tuple[list[float], StepDown | None]:
    """Return the p-values that decide, adjusted for their number, and Romano-Wolf's result."""
    analysis, scores, pairs = design.analysis, design.scores, len(design.first)
    if analysis.correction == "tukey":
        from heldout.infer.blocks import tukey_hsd  # SciPy

        return tukey_hsd(scores.values, analysis.level)[1].tolist(), None
    if analysis.correction != "romano-wolf":
        from heldout.infer.corrections import adjust  # SciPy

        raw = [tests[0].p for tests in outcomes]
        return [float(p) for p in adjust(raw, analysis.correction or "none")], None
    from heldout.infer.romano_wolf import romano_wolf  # SciPy

    def report_pairs(done: int, total: int) -> None:
        if progress:
            progress(pairs * done // total, pairs)

    step_down = romano_wolf(
        scores.values,
        base,
        alternative=design.side,
        machine=scores.machine,
        replicates=analysis.replicates,
        seed=analysis.seed,
        progress=report_pairs,
    )
    return step_down.p[design.first, design.second].tolist(), step_down


# Intervals


def _intervals(
    design: Design, step_down: StepDown | None, widening: Floats, level: float, which: slice = EVERY
) -> list[Interval]:
    """Return the intervals of the differences at a level, adjusted the way their p-values are.

    For Romano-Wolf the critical value is the quantile of the largest statistic, so that an interval
    excludes 0 exactly if the single-step test rejects. Requested intervals are adjusted by
    Bonferroni; those of the false discovery rate are unadjusted (Hochberg & Tamhane 1987).
    """
    analysis, scores = design.analysis, design.scores
    default = not analysis.interval and analysis.test_share is None
    if default and analysis.correction == "tukey":
        from heldout.infer.blocks import tukey_hsd  # SciPy

        plain = tukey_hsd(scores.values, level)[0][which]
    elif default and step_down is not None:
        studentized = design.statistics._replace(method="Romano-Wolf")
        critical = step_down.critical(alpha_of(level))
        plain = studentized.interval(level, design.side, critical)[which]
    else:
        plain = [_plain_interval(design, pair, level) for pair in design.pairs[which]]
    pairs = zip(plain, widening[which].tolist(), strict=True)
    bounded = [difference_inside(_widened(*pair), scores.range) for pair in pairs]
    if design.side != "two-sided":
        return bounded
    widest = scores.range[1] - scores.range[0]  # an interval that says nothing is that of all gaps
    return [
        each._replace(low=max(each.low, -widest), high=min(each.high, widest)) for each in bounded
    ]


def _plain_interval(design: Design, pair: tuple[int, int], level: float) -> Interval:
    """Return the interval of one pair, adjusted by Bonferroni if several hold at once."""
    side = design.side
    simultaneous = design.analysis.coverage == "simultaneous"
    alpha = alpha_of(level) / (len(design.first) if simultaneous else 1)
    # One bound of a two-sided interval is a one-sided bound that fails half as often.
    two_sided = 1 - alpha if side == "two-sided" else 1 - 2 * alpha
    value, low, high, _, method = design.scoring.difference(pair, two_sided)
    if low == high:  # nothing varies: there is no more evidence than signs
        signs = Estimate(np.asarray(value), np.zeros(()), len(design.values) - 1, method)
        ((value, low, high, _, method),) = signs.interval(level_of(alpha), side)
    low, high = low if side != "less" else -math.inf, high if side != "greater" else math.inf
    return Interval(value, low, high, level, f"{method}, Bonferroni" if simultaneous else method)


def _widening(design: Design) -> Floats:
    """Return how much wider the interval of each pair is for four more differing units.

    It is 1 for most pairs, and where the variance has them already.
    """
    scoring, analysis = design.scoring, design.analysis
    units, factors = len(design.values), np.ones(len(design.first))
    added_already = "retuned-t" in scoring.tests and not (
        analysis.interval or analysis.correction == "romano-wolf"
    )
    if design.scores.machine is not None or added_already or analysis.correction == "tukey":
        return factors
    if scoring.linearised and scoring.tests[0] == "bootstrap-shift":
        return factors  # an order: one unit changes the values of many
    if scoring.linearised:
        differing = np.array([sum(scoring.signs(pair)) for pair in design.pairs])
        few = (differing > 0) & (differing < min(DIFFERING, units / 2))
        # The variance of m differing units of n is about m times their mean square over n².
        factors[few] = np.sqrt(1 + PSEUDO / differing[few])
        return factors
    for part, gaps in design.gaps():
        added, variance = added_variance(gaps), gaps.var(0, ddof=1) / units
        ratio = np.divide(added, variance, out=np.zeros_like(added), where=added > 0)
        factors[part] = np.sqrt(1 + ratio)
    return factors


def _widened(interval: Interval, factor: float) -> Interval:
    if factor == 1:
        return interval
    value, method = interval.estimate, f"{interval.method}, {PLUS_FOUR}"
    low, high = (value + factor * (bound - value) for bound in (interval.low, interval.high))
    return interval._replace(low=low, high=high, method=method)


# Effects and systems


def _effects(design: Design) -> list[Effects]:
    """Return the effect sizes of all pairs."""
    units, effects = len(design.values), []
    for part, gaps in design.gaps():
        wins, losses = (gaps > 0).sum(0), (gaps < 0).sum(0)
        if design.scoring.linearised:  # the values are; wins and losses are those of the score
            signs = np.array([design.scoring.signs(pair) for pair in design.pairs[part]]).T
            wins, losses = signs if design.scores.higher_is_better else signs[::-1]
        ties, mean, constant = units - wins - losses, gaps.mean(0), do_not_vary(gaps)
        limit = np.where(mean == 0, 0.0, np.copysign(np.inf, mean))
        deviation = np.where(constant, 1.0, gaps.std(0, ddof=1))
        standardised = np.where(constant, limit, mean / deviation)
        columns = (mean, standardised, (wins + ties / 2.0) / units, wins, ties, losses)
        rows = zip(*(column.tolist() for column in columns), strict=True)
        effects += [Effects._make((*row, units)) for row in rows]
    return effects


def _systems(design: Design, p: list[float]) -> tuple[SystemRow, ...]:
    """Return the systems with their intervals, with letters if all pairs were compared."""
    scores, analysis = design.scores, design.analysis
    systems = [design.scoring.system(each, analysis.level) for each in range(len(scores.systems))]
    means = [inside(interval, scores.range) for interval in systems]
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
    scores, (units, systems) = design.scores, design.values.shape
    if systems < 3 or design.scoring.linearised or scores.machine is not None:
        return None, None, None
    from heldout.infer import blocks  # SciPy

    # The covariance of the systems needs more units than systems.
    sphericity = blocks.sphericity(scores.values) if units > systems else None
    nemenyi = blocks.nemenyi(design.values, design.analysis.level)
    return blocks.anova(scores.values), sphericity, (blocks.friedman(design.values), nemenyi)

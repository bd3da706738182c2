"""The coverage of intervals of systems tuned in query folds.

The judged queries of a collection are the population. In every draw as many queries are drawn from
it with replacement, the systems are tuned and evaluated in folds of them, and the intervals are
compared with the truth: the mean over the population of the parameters selected on the whole
sample, for which the held-out score is reported. Draws with replacement are independent samples of
a known population, so the truth has no error.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import combinations
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from heldout.data.notes import count_of
from heldout.errors import InputError
from heldout.experiment.studies.bias import coverage_error, standard_error
from heldout.infer.levels import check_level
from heldout.infer.scoring.retuned import RETUNED_INTERVAL, retuned_interval
from heldout.resample.plan import check_seed
from heldout.retrieve.sides import whole_side
from heldout.tune.choice_variance import (
    REPLICATES,
    Sides,
    TunedPoints,
    choice_spreads,
    draw_counts,
    rechoose,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from heldout.data.words import Floats, Ints
    from heldout.experiment.documents.candidates import Candidates
    from heldout.infer.results import Interval
    from heldout.measure.ranking.names import RankingMeasure

__all__ = ["CoverageRow", "CoverageSettings", "CoverageStudy", "coverage_study", "query_scores"]

ROUNDING = 1e-12
"""A truth this close to a bound is inside: equal systems have intervals of width 0."""


@dataclass(frozen=True, slots=True)
class CoverageSettings:
    """The settings of a study of intervals.

    Parameters
    ----------
    draws
        Number of samples of queries.
    queries
        The size of a sample; None: as many queries as the collection has judged ones.
    folds
        Number of folds of each sample.
    level
        The confidence level of the intervals.
    replicates
        How often parameters are selected again in each draw.
    seed
        The random seed.
    """

    draws: int = 1000
    queries: int | None = None
    folds: int = 10
    level: float = 0.95
    replicates: int = REPLICATES
    seed: int = 0

    def __post_init__(self) -> None:
        if self.draws < 2:
            raise InputError(
                f"{count_of(self.draws, 'draw')}: at least 2 are needed for a standard error"
            )
        if self.folds < 2:
            raise InputError(f"{count_of(self.folds, 'fold')}: at least 2 are needed")
        if self.replicates < 2:
            raise InputError(f"{count_of(self.replicates, 'replicate')}: at least 2 are needed")
        check_level(self.level)
        check_seed(self.seed)


@dataclass(frozen=True, slots=True)
class CoverageRow:
    """The coverage of one kind of interval.

    Parameters
    ----------
    system, minus
        A system, or the difference of two; empty: nothing is subtracted.
    method
        The method of the interval.
    default
        Whether heldout reports it.
    truth
        The mean truth over the draws.
    bias, se
        The mean of estimate − truth, and its standard error.
    coverage, coverage_se
        The share of intervals that include the truth, and its standard error.
    width
        The mean width of the intervals.
    claims, wrong
        For differences: the share of intervals without 0, and of those with the wrong sign; None
        for a single system.
    """

    system: str
    minus: str
    method: str
    default: bool
    truth: float
    bias: float
    se: float
    coverage: float
    coverage_se: float
    width: float
    claims: float | None = None
    wrong: float | None = None


@dataclass(frozen=True, slots=True, eq=False)
class CoverageStudy:
    """The result of a study of intervals.

    Parameters
    ----------
    settings, measure
        As they were given.
    rows
        One per system, two per difference of which one system is tuned, one per other difference.
    population, sample_size
        Judged queries of the collection, and of a sample.
    """

    settings: CoverageSettings
    measure: str
    rows: tuple[CoverageRow, ...]
    population: int
    sample_size: int


class _Drawn(NamedTuple):
    """An interval, and the value it should include."""

    interval: Interval
    truth: float


def query_scores(candidates: Candidates, measure: RankingMeasure) -> Floats:
    """Return points × judged queries: the score of every query under every parameter setting.

    Parameters
    ----------
    candidates
        The parameter settings of one model.
    measure
        The measure to compute.
    """
    side = whole_side(candidates.index, candidates.vocabulary)
    values = candidates.evaluate(side, [measure])[0]
    found: Floats = values[:, np.isfinite(values).all(axis=0)]
    return found


def coverage_study(
    systems: Mapping[str, Floats],
    measure: str,
    settings: CoverageSettings,
    *,
    higher_is_better: bool = True,
    progress: Callable[[int, int], None] | None = None,
) -> CoverageStudy:
    """Check intervals of systems and of their differences against the truth.

    Parameters
    ----------
    systems
        For each system points × queries, for the same queries; a single point: a fixed system. See
        `query_scores`.
    measure
        The measure of the scores.
    settings
        The settings of the study.
    higher_is_better
        The direction of the measure.
    progress
        Called with the number of finished draws and of all draws.

    Examples
    --------
    >>> scores = np.random.default_rng(0).random((3, 40))
    >>> settings = CoverageSettings(draws=20, replicates=20)
    >>> study = coverage_study({"tuned": scores, "fixed": scores[:1]}, "AP", settings)
    >>> [(row.system, row.minus, row.method) for row in study.rows][2:]
    [('fixed', 'tuned', 't with re-tuning'), ('fixed', 'tuned', 't')]
    """
    population = _population(systems)
    size = settings.queries or population
    if size < 2 * settings.folds:
        raise InputError(
            f"{count_of(size, 'query', 'queries')}: too few for {settings.folds} folds of 2"
        )
    drawn: dict[tuple[str, str, str], list[_Drawn]] = {}
    for draw in range(settings.draws):
        for key, found in _draw(systems, settings, size, draw, higher_is_better).items():
            drawn.setdefault(key, []).append(found)
        if progress:
            progress(draw + 1, settings.draws)
    retuned = {key[:2] for key in drawn if key[2] == RETUNED_INTERVAL}
    rows = tuple(
        _row(
            key, found, settings.level, default=key[2] == RETUNED_INTERVAL or key[:2] not in retuned
        )
        for key, found in drawn.items()
    )
    return CoverageStudy(settings, measure, rows, population, size)


def _population(systems: Mapping[str, Floats]) -> int:
    sizes = {values.shape[1] for values in systems.values()}
    if len(sizes) != 1:
        raise InputError("the systems have no scores, or scores of different queries")
    return int(sizes.pop())


def _folds(size: int, folds: int, generator: np.random.Generator) -> Sides:
    """Return random folds, and at the end a split that trains on all data."""
    own = generator.permutation(size) % folds
    parts = [np.flatnonzero(own == fold) for fold in range(folds)]
    nothing = np.zeros(0, np.int64)
    train = [*((part, np.full(len(part), -1)) for part in parts), (nothing, nothing)]
    test = [*((part, np.ones(len(part), np.int64)) for part in parts), (nothing, nothing)]
    return Sides(tuple(train), tuple(test), size, shared=True)


def _draw(
    systems: Mapping[str, Floats], settings: CoverageSettings, size: int, draw: int, higher: bool
) -> dict[tuple[str, str, str], _Drawn]:
    """Return all intervals of one sample, by system, subtracted system, and method."""
    from heldout.infer.intervals.units import mean_interval, t_interval  # SciPy

    generator = np.random.default_rng([settings.seed, draw])
    population = next(iter(systems.values())).shape[1]
    queries = generator.integers(population, size=size)
    sides = _folds(size, settings.folds, generator)
    counts = draw_counts(size, settings.replicates, int(generator.integers(2**31)))
    own, truths, points = {}, {}, {}
    for name, values in systems.items():
        sample, tuned = values[:, queries], len(values) > 1
        chosen = rechoose(sample, sides, np.ones((1, size), np.int64), higher_is_better=higher)[0]
        again = rechoose(sample, sides, counts, higher_is_better=higher) if tuned else None
        own[name], points[name] = _held_out(sample, sides, chosen), TunedPoints(sample, again)
        truths[name] = float(values[chosen[-1]].mean())
    spreads = choice_spreads(points, sides)
    level = settings.level
    found = {}
    for name, values in own.items():
        interval = mean_interval(values, level)
        if interval is not None:
            # The method depends on the values drawn: "t", or "Hall" if they are skewed.
            found[name, "", ""] = _Drawn(interval, truths[name])
    for first, second in combinations(systems, 2):
        gaps, truth = own[second] - own[first], truths[second] - truths[first]
        spread = spreads.get((second, first))
        if spread is not None:
            interval = retuned_interval(gaps, spread, level)
            found[second, first, interval.method] = _Drawn(interval, truth)
        found[second, first, "t"] = _Drawn(t_interval(gaps, level), truth)
    return found


def _held_out(sample: Floats, sides: Sides, chosen: Ints) -> Floats:
    held_out = np.empty(sample.shape[1])
    for number, (places, _) in zip(chosen.tolist(), sides.test, strict=True):
        held_out[places] = sample[number, places]
    return held_out


def _row(
    key: tuple[str, str, str], drawn: list[_Drawn], level: float, *, default: bool
) -> CoverageRow:
    system, minus, method = key
    method = method or " or ".join(sorted({one.interval.method for one in drawn}, reverse=True))
    numbers = np.array([(*one.interval[:3], one.truth) for one in drawn])
    estimate, low, high, truth = numbers.T
    covers = (low - ROUNDING <= truth) & (truth <= high + ROUNDING)
    alone = np.arange(len(drawn))  # all draws are independent
    error = estimate - truth
    claimed = np.where(low > ROUNDING, 1, np.where(high < -ROUNDING, -1, 0))
    wrong = (claimed != 0) & (claimed * truth <= ROUNDING)
    return CoverageRow(
        system,
        minus,
        method,
        default,
        float(truth.mean()),
        float(error.mean()),
        standard_error(error, alone),
        float(covers.mean()),
        coverage_error(covers.tolist(), alone, level),
        float((high - low).mean()),
        float((claimed != 0).mean()) if minus else None,
        float(wrong.mean()) if minus else None,
    )

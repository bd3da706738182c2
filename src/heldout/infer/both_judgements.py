"""Replicates of Romano-Wolf for human and machine judgements: both sets of queries are drawn."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import numpy as np

from heldout.infer.pairwise import piece_generator
from heldout.infer.prediction_powered import DIFFERING, FLAT, combined_means
from heldout.infer.results import drop_noise
from heldout.infer.romano_wolf import FEW, PairStatistics

if TYPE_CHECKING:
    from heldout.data.scores import MachineScores
    from heldout.data.words import Floats, Ints
    from heldout.infer.results import Alternative

__all__ = ["BothReplicates", "combined_statistics", "draw_weights", "replicated_statistics"]

PAIR_BLOCK: Final = 1 << 18
"""Statistics in memory at a time, so that they stay in the cache."""

TINY: Final = float(np.finfo(np.float64).tiny)


def combined_statistics(
    values: Floats, machine: MachineScores, first: Ints, second: Ints
) -> PairStatistics:
    """Return combined estimates of the differences of pairs, and their standard errors.

    Parameters
    ----------
    values
        Human queries x systems, under human judgements.
    machine
        The scores under machine judgements.
    first, second
        The columns of each pair.
    """
    mean, error = np.empty(len(first)), np.empty(len(first))
    differ = np.empty(len(first), np.intp)
    size = max(1, PAIR_BLOCK // max(len(values), len(machine.extra)))
    for start in range(0, len(first), size):
        part = slice(start, start + size)
        human, known, extra = (
            drop_noise(each[:, first[part]], each[:, second[part]])
            for each in (values, machine.known, machine.extra)
        )
        mean[part], error[part], _, differ[part], _ = combined_means(human, known, extra)
    return PairStatistics(first, second, mean, error, differ)


class BothReplicates:
    """Studentized combined differences in replicates, piece by piece.

    Human queries and queries of the machine alone are drawn with replacement, and the weight of
    the machine is estimated in each replicate. It is estimated from all drawn human queries, not
    without one: a query that was drawn twice cannot be left out.

    If fewer than ten human queries differ from the commonest difference, replicates say little
    about the statistic: in many of them no query differs. It is then drawn from Student's t,
    independently of the other pairs.

    Parameters
    ----------
    values, machine
        The scores under both judgements.
    pairs
        The pairs, in the order in which the running maximum takes them.
    alternative, seed
        Of the test, and of the random numbers.
    """

    def __init__(
        self,
        values: Floats,
        machine: MachineScores,
        pairs: PairStatistics,
        alternative: Alternative,
        seed: int,
    ) -> None:
        self.alternative, self.seed = alternative, seed
        self.pairs = pairs
        # Systems x queries, so that pairs are rows.
        self.human, self.known, self.extra = (
            np.ascontiguousarray(each.T) for each in (values, machine.known, machine.extra)
        )
        self.n, self.more = len(values), len(machine.extra)
        self.few = pairs.differ < DIFFERING

    def compare(self, piece: tuple[int, int], thresholds: Floats) -> tuple[Ints, Floats]:
        """Return how many replicates reach each threshold, and the largest statistic of each."""
        generator, count = piece_generator(self.seed, piece[0]), piece[1]
        drawn = draw_weights(generator, self.n, count), draw_weights(generator, self.more, count)
        by_t = iter(generator.standard_t(self.n - 1, (int(self.few.sum()), count)))
        reached = np.empty(len(thresholds), np.int64)
        running = np.full(count, 0.0 if self.alternative == "two-sided" else -np.inf)
        size = max(1, PAIR_BLOCK // max(count, self.n, self.more))
        for start in range(0, len(thresholds), size):
            part = slice(start, start + size)
            for at, drawn_again in enumerate(self._statistics(part, *drawn), start):
                row = next(by_t) if self.few[at] else drawn_again
                np.maximum(running, self._evidence(row), out=running)
                reached[at] = np.count_nonzero(running >= thresholds[at])
        return reached, running

    def _statistics(self, part: slice, human: Floats, extra: Floats) -> Floats:
        """Return the studentized differences of some pairs: pairs x replicates."""
        first, second = self.pairs.first[part], self.pairs.second[part]
        y, f, g = (each[first] - each[second] for each in (self.human, self.known, self.extra))
        return replicated_statistics(y, f, g, human, extra, self.pairs.error[part])

    def _evidence(self, statistics: Floats) -> Floats:
        """Return the statistics, larger for stronger evidence."""
        if self.alternative == "two-sided":
            return np.abs(statistics)
        return -statistics if self.alternative == "less" else statistics


def replicated_statistics(
    human: Floats,
    machine: Floats,
    extra: Floats,
    drawn: Floats,
    drawn_extra: Floats,
    error: Floats,
) -> Floats:
    """Return combined differences in replicates, minus the observed ones, over standard errors.

    Parameters
    ----------
    human, machine, extra
        Differences, (…) x pairs x queries: of human queries under both judgements, and of the
        queries of the machine alone.
    drawn, drawn_extra
        How often each query is drawn, over the number of queries: (…) x queries x replicates.
    error
        The observed standard errors, (…) x pairs.
    """
    n, more = human.shape[-1], extra.shape[-1]
    shift = (machine.mean(-1) - extra.mean(-1))[..., None]
    y, f, g = (each - each.mean(-1, keepdims=True) for each in (human, machine, extra))
    mean_y, mean_f, mean_g = y @ drawn, f @ drawn, g @ drawn_extra
    products = (y * f) @ drawn - mean_y * mean_f
    squares = (f * f) @ drawn - mean_f**2
    flat = FLAT * (f * f).mean(-1)[..., None]
    weight = _weight(products, squares, flat, 1 + n / more)
    own = (y * y) @ drawn - mean_y**2 - 2 * weight * products + weight**2 * squares
    others = weight**2 * ((g * g) @ drawn_extra - mean_g**2)
    variance = own / (n - 1) + others / (more - 1)
    # In place of a variance of 0: the statistic becomes 0, or as large as possible.
    variance[variance <= 1e-10 * error[..., None] ** 2] = np.inf if n >= FEW else TINY
    # The estimate of all queries, by the weight that all of them give.
    both, alone = ((each * f).sum(-1)[..., None] for each in (y, f))
    centre = -_weight(both, alone, np.zeros_like(flat), 1 + n / more) * shift
    statistics: Floats = mean_y - weight * (mean_f - mean_g + shift) - centre
    statistics /= np.sqrt(variance)
    return statistics


def _weight(products: Floats, squares: Floats, flat: Floats, shrink: float) -> Floats:
    """Return the weight of the machine; 0 if its values do not vary."""
    slope = np.divide(products, squares, out=np.zeros_like(products), where=squares > flat)
    return np.clip(slope / shrink, 0.0, 1.0)


def draw_weights(generator: np.random.Generator, queries: int, count: int) -> Floats:
    """Return how often each query is drawn, over the number of queries: queries x replicates."""
    drawn = generator.integers(0, queries, (count, queries), np.int64)
    drawn += np.arange(0, count * queries, queries)[:, None]
    counts = np.bincount(drawn.ravel(), minlength=count * queries)
    return np.ascontiguousarray(counts.reshape(count, queries).T / queries)

"""Randomized Tukey HSD: all pairs of systems compared by permutation.

Exact where the permutations can be enumerated or, for scores on a lattice, summed by dynamic
programming; else Monte Carlo. The work is divided into pieces that do not depend on the number of
threads, each with its own generator, so that a seed gives the same p-values everywhere.
"""

from __future__ import annotations

import math
from itertools import permutations
from typing import TYPE_CHECKING, Final

import numpy as np

from heldout.data.notes import power_text
from heldout.data.parallel import run_threads
from heldout.errors import InputError
from heldout.infer.results import TIE
from heldout.infer.simultaneous.blocks import as_scores
from heldout.infer.simultaneous.pairwise import (
    Counts,
    Method,
    NullTail,
    Pairwise,
    check_method,
    count_at_least,
    piece_generator,
    pieces,
)
from heldout.infer.tests.lattice import find_lattice

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import ArrayLike

    from heldout.data.words import Floats, Ints

__all__ = ["randomized_tukey"]

ENUMERATED: Final = 1 << 22
"""Numbers in memory for an enumeration of permutations at most (32 MB)."""

CELLS: Final = 1 << 23
"""Cells of the dynamic program at most (64 MB, twice)."""

ADDITIONS: Final = 10**9
"""Additions it may take by default (about a second); 100 times that on request."""

LISTED: Final = 4096
"""Joint orders of a few units that are listed at most."""

SYSTEMS: Final = 6
"""Systems up to which their permutations (720) are listed."""


def randomized_tukey(
    scores: ArrayLike,
    *,
    replicates: int = 100_000,
    seed: int = 0,
    method: Method = "auto",
) -> Pairwise:
    """Return Tukey's HSD with the permutation distribution of the range.

    If all systems were equally good, the scores of a unit would be equally likely in any order. The
    p-value of a pair is the share of permutations within units for which the largest mean exceeds
    the smallest by at least the difference of the pair.

    Parameters
    ----------
    scores
        Units x systems, complete.
    replicates
        Random permutations, if the p-values are not exact.
    seed
        The random seed.
    method
        ``auto``: ``exact`` for few units, or for few systems with scores on a lattice (P@k, hit
        rates, printed decimals), else ``monte carlo``. Scores are never rounded to a lattice.

    Returns
    -------
    Pairwise
        The p-value of each pair. Identical systems have p = 1.

    References
    ----------
    B. A. Carterette, Multiple testing in statistical analysis of systems-based information
    retrieval experiments, ACM Trans. Inf. Syst. 30 (2012); T. Sakai, Laboratory Experiments in
    Information Retrieval (2018), chapter 5.

    Examples
    --------
    >>> found = randomized_tukey([[1, 2, 4], [2, 4, 5], [3, 3, 6], [1, 4, 4]])
    >>> found.method, round(found[0, 2], 6)
    ('exact', 0.018519)
    """
    check_method(method, replicates, seed)
    values = as_scores(scores)
    shifted = values - values.min(1, keepdims=True)
    sums = shifted.sum(0)
    gaps = np.abs(sums[:, None] - sums)
    noise = TIE * float(np.abs(values).max(1).sum())
    counts = _exact_ranges(shifted, gaps, noise, method)
    if counts is None:
        counts = _drawn_ranges(shifted, gaps, noise, (replicates, seed))
    return counts.result(counts.p())


def _exact_ranges(shifted: Floats, gaps: Floats, noise: float, method: str) -> Counts | None:
    """Return the exact distribution of the range, if requested and feasible."""
    if method == "monte carlo":
        return None
    units, systems = shifted.shape
    # Permuting the systems does not change the range: the order of the first unit can be fixed.
    if math.log(systems) + (units - 1) * math.lgamma(systems + 1) <= math.log(ENUMERATED):
        return _enumerated_ranges(shifted, gaps, noise)
    most = ADDITIONS * (100 if method == "exact" else 1)
    lattice = find_lattice(shifted.ravel()) if shifted.any() else None
    if lattice is not None:
        cells = lattice.cells.reshape(shifted.shape)
        if _convolution_cost(cells) <= most:
            return _convolved_ranges(cells, lattice.step, noise)
    if method == "exact":
        raise InputError(
            f"method='exact': {systems} systems on {units} units have too many permutations, and "
            "the scores are not on a coarse lattice; use method='auto' or 'monte carlo'"
        )
    return None


def _enumerated_ranges(shifted: Floats, gaps: Floats, noise: float) -> Counts:
    orders = np.array(list(permutations(range(shifted.shape[1]))))
    rest = _all_sums(shifted[1:], orders)
    ranges = np.ptp(shifted[0] + rest, axis=1)
    counts = count_at_least(ranges, gaps - noise)
    detail = f"all {power_text(len(orders), len(shifted))} permutations"
    return Counts(counts, len(rest), True, detail, NullTail.of(ranges, noise, exact=True))


def _distinct_orders(unit: Ints) -> list[tuple[tuple[int, ...], float]]:
    """Return the distinct orders of the values of a unit with their probabilities."""
    orders = set(permutations(unit.tolist()))
    return [(order, 1 / len(orders)) for order in sorted(orders)]


def _convolution_cost(cells: Ints) -> float:
    """Return the additions of the dynamic program; infinite if it needs too much memory."""
    systems = cells.shape[1]
    if systems > SYSTEMS + 1:
        return math.inf
    sizes = (np.cumsum(cells.max(1)) + 1.0) ** (systems - 1)
    return float(sizes.sum()) * math.factorial(systems) if sizes[-1] <= CELLS else math.inf


def _convolved_ranges(cells: Ints, step: float, noise: float) -> Counts:
    """Return the exact distribution of the range, adding one unit at a time.

    The state is the vector of the sums of all systems but the last, whose sum is the rest of the
    total: one axis per system, one cell per lattice value. The smallest value of each unit is 0, so
    an axis is no longer than the sum of the largest values.
    """
    systems = cells.shape[1]
    share = np.ones((1,) * (systems - 1))
    for unit in cells[cells.max(1) > 0]:
        share = _add_unit(share, unit)
    axes = np.meshgrid(*(np.arange(size) for size in share.shape), indexing="ij", sparse=True)
    last = int(cells.sum()) - sum(axes[1:], axes[0])
    high, low = last, last
    for axis in axes:
        high, low = np.maximum(high, axis), np.minimum(low, axis)
    ranges = np.bincount((high - low).ravel(), weights=share.ravel())
    tail = np.append(np.cumsum(ranges[::-1])[::-1], 0.0)
    sums = cells.sum(0)
    p = tail[np.abs(sums[:, None] - sums)]
    np.fill_diagonal(p, 1.0)
    detail = f"all {power_text(math.factorial(systems), len(cells))} permutations, by convolution"
    falling = np.arange(len(ranges))[::-1]
    return Counts(
        p, 1, True, detail, NullTail((falling * step).astype(np.float64), tail[falling], noise)
    )


def _add_unit(share: Floats, unit: Ints) -> Floats:
    size = share.shape[0]
    grown = np.zeros((size + int(unit.max()),) * share.ndim)
    for order, probability in _distinct_orders(unit):
        window = tuple(slice(value, value + size) for value in order[:-1])
        grown[window] += probability * share
    return grown


def _drawn_ranges(shifted: Floats, gaps: Floats, noise: float, draws: tuple[int, int]) -> Counts:
    replicates, seed = draws
    systems = shifted.shape[1]
    draw = _listed_sums(shifted) if systems <= SYSTEMS else _shuffled_sums(shifted)

    def work(piece: tuple[int, int]) -> Floats:
        sums = draw(piece_generator(seed, piece[0]), piece[1])
        return np.asarray(np.ptp(sums, axis=1))

    ranges = np.concatenate(list(run_threads(work, pieces(replicates, systems))))
    counts = count_at_least(ranges, gaps - noise)
    detail = f"{replicates:,} replicates, seed {seed}"
    return Counts(counts, replicates, False, detail, NullTail.of(ranges, noise, exact=False))


def _listed_sums(shifted: Floats) -> Callable[[np.random.Generator, int], Floats]:
    """Return a function that draws sums of the systems over units in random orders.

    The sums of all joint orders of a few units are listed, and one is drawn: one lookup for these
    units. The lists are made again for each piece, because those of all units would need too much
    memory.
    """
    systems = shifted.shape[1]
    orders = np.array(list(permutations(range(systems))))
    together = max(1, int(math.log(LISTED) / math.log(len(orders))))

    def draw(generator: np.random.Generator, count: int) -> Floats:
        sums = np.zeros((count, systems))
        for begin in range(0, len(shifted), together):
            listed = _all_sums(shifted[begin : begin + together], orders)
            sums += listed.take(generator.integers(0, len(listed), count, np.uint16), axis=0)
        return sums

    return draw


def _all_sums(units: Floats, orders: Ints) -> Floats:
    """Return the sums of the systems over some units, for every order of every unit."""
    sums: Floats = units[0][orders]
    for unit in units[1:]:
        sums = (sums[:, None] + unit[orders]).reshape(-1, orders.shape[1])
    return sums


def _shuffled_sums(shifted: Floats) -> Callable[[np.random.Generator, int], Floats]:
    """Return the same function by shuffling, for more systems."""

    def draw(generator: np.random.Generator, count: int) -> Floats:
        sums = np.zeros((count, shifted.shape[1]))
        for unit in shifted:
            rows = np.tile(unit, (count, 1))
            sums += generator.permuted(rows, axis=1, out=rows)
        return sums

    return draw

"""Many systems compared by permutation: randomized Tukey HSD, MaxT, and Dunnett's way of asking.

Exact wherever the assignments can be enumerated or, for scores on a lattice, summed up by a
dynamic program; Monte Carlo else, cut into pieces that do not depend on the number of threads,
each with its own generator, so that a seed gives the same p-values everywhere.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from itertools import permutations
from typing import TYPE_CHECKING, Final, Literal, NamedTuple, get_args

import numpy as np

from heldout.data.parallel import run_threads
from heldout.errors import InputError
from heldout.infer.blocks import as_scores
from heldout.infer.draws import check_draws
from heldout.infer.lattice import find_lattice
from heldout.infer.results import TIE, check_tail, drop_noise

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import ArrayLike

    from heldout.data.words import Floats, Ints
    from heldout.infer.results import Tail

__all__ = ["Method", "Pairwise", "dunnett", "max_t", "randomized_tukey"]

Method = Literal["auto", "exact", "monte carlo"]

ENUMERATED: Final = 1 << 22
"""Numbers an enumeration of permutations may hold at once (32 MB)."""

CELLS: Final = 1 << 23
"""Cells the dynamic program may have (64 MB, twice)."""

ADDITIONS: Final = 10**9
"""Additions it may take unasked (about a second); 100 times that when asked for."""

SIGNS: Final = 1 << 17
"""Sign assignments that are all gone through unasked; 64 times that when asked for."""

PIECE: Final = 1 << 20
"""Numbers a piece of Monte Carlo work holds (8 MB)."""

LISTED: Final = 4096
"""Joint orders of a few units that are listed, to draw from."""

DRAWS: Final = 1 << 14
"""Most draws a piece of work makes, so that there is work for several threads."""

SYSTEMS: Final = 6
"""Up to here the permutations of the systems, 720, are listed."""


@dataclass(frozen=True)
class Pairwise:
    """p-values of pairs of systems, adjusted for all comparisons made.

    Parameters
    ----------
    p
        Systems x systems, symmetric, 1 on the diagonal, NaN for pairs that were not compared.
    method
        ``exact`` or ``monte carlo``.
    error
        The largest standard error of a Monte Carlo p-value; 0 when exact.
    detail
        One clause in words, e.g. "100,000 draws, seed 0".
    """

    p: Floats
    method: str
    error: float
    detail: str

    def __getitem__(self, pair: tuple[int, int]) -> float:
        """The p-value of two systems."""
        return float(self.p[pair])


class _Counts(NamedTuple):
    """How many assignments were at least as extreme, of how many; or shares, of 1."""

    counts: Floats
    total: int
    exact: bool
    detail: str

    def p(self) -> Floats:
        """c/N when all were gone through, (c+1)/(B+1) when they were drawn."""
        added = 0 if self.exact else 1
        return np.minimum((self.counts + added) / (self.total + added), 1.0)

    def result(self, p: Floats) -> Pairwise:
        if self.exact:
            return Pairwise(p, "exact", 0.0, self.detail)
        error = float(np.sqrt(np.nanmax(p * (1 - p)) / self.total))
        return Pairwise(p, "monte carlo", error, self.detail)


def _check(method: str, replicates: int, seed: int) -> None:
    check_draws(replicates, seed)
    if method not in get_args(Method):
        raise InputError(f"method={method!r}: expected one of {', '.join(get_args(Method))}")


def _pieces(replicates: int, width: int) -> list[tuple[int, int]]:
    """Number and size of the pieces of work; they depend on the problem only."""
    size = max(1, min(PIECE // width, DRAWS))
    starts = range(0, replicates, size)
    return [(at, min(size, replicates - start)) for at, start in enumerate(starts)]


def _generator(seed: int, piece: int) -> np.random.Generator:
    return np.random.default_rng(np.random.SeedSequence([seed, piece]))


# --- randomized Tukey HSD -------------------------------------------------------------------------


def randomized_tukey(
    scores: ArrayLike,
    *,
    replicates: int = 100_000,
    seed: int = 0,
    method: Method = "auto",
) -> Pairwise:
    """Tukey's HSD with the distribution of the range found by permutation.

    Were all systems alike, the scores of a unit could have come in any order. The p-value of a
    pair is the share of permutations, within each unit, whose largest mean exceeds the smallest by
    at least the difference of the pair.

    Parameters
    ----------
    scores
        Units x systems, complete.
    replicates
        Random permutations, if it comes to Monte Carlo.
    seed
        Of the random permutations.
    method
        ``auto``: ``exact`` for few units, or for few systems with scores on a lattice (P@k, hit
        rates, printed decimals), else ``monte carlo``. Scores are seen as lying on a lattice only
        if they truly do; nothing is rounded.

    Returns
    -------
    Pairwise
        The p-value of each pair. Copies of a system have p = 1.

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
    _check(method, replicates, seed)
    values = as_scores(scores)
    shifted = values - values.min(1, keepdims=True)
    sums = shifted.sum(0)
    gaps = np.abs(sums[:, None] - sums)
    noise = TIE * float(np.abs(values).max(1).sum())
    found = _exact_ranges(shifted, gaps, noise, method)
    if found is None:
        found = _drawn_ranges(shifted, gaps - noise, replicates, seed)
    return found.result(found.p())


def _exact_ranges(shifted: Floats, gaps: Floats, noise: float, method: str) -> _Counts | None:
    """The exact distribution of the range, if it is wanted and within reach."""
    if method == "monte carlo":
        return None
    units, systems = shifted.shape
    # The range is the same whatever order the first unit is in, so that this one stays.
    if math.log(systems) + (units - 1) * math.lgamma(systems + 1) <= math.log(ENUMERATED):
        return _enumerated_ranges(shifted, gaps - noise)
    patience = ADDITIONS * (100 if method == "exact" else 1)
    lattice = find_lattice(shifted.ravel()) if shifted.any() else None
    if lattice is not None:
        cells = lattice.cells.reshape(shifted.shape)
        if _convolution_cost(cells) <= patience:
            return _convolved_ranges(cells)
    if method == "exact":
        raise InputError(
            f"method='exact': {systems} systems on {units} units have too many permutations, and "
            "scores on no lattice that is coarse enough; use method='auto' or 'monte carlo'"
        )
    return None


def _count_at_least(statistics: Floats, thresholds: Floats) -> Floats:
    """For each threshold, how many statistics reach it."""
    ordered = np.sort(statistics)
    return (len(ordered) - np.searchsorted(ordered, thresholds, side="left")).astype(np.float64)


def _enumerated_ranges(shifted: Floats, thresholds: Floats) -> _Counts:
    orders = np.array(list(permutations(range(shifted.shape[1]))))
    rest = _all_sums(shifted[1:], orders)
    counts = _count_at_least(np.ptp(shifted[0] + rest, axis=1), thresholds)
    total = len(orders) ** len(shifted)
    return _Counts(counts, len(rest), exact=True, detail=f"all {total:,} permutations")


def _distinct_orders(unit: Ints) -> list[tuple[tuple[int, ...], float]]:
    """The different orders of a unit's values with their probabilities."""
    orders = set(permutations(unit.tolist()))
    return [(order, 1 / len(orders)) for order in sorted(orders)]


def _convolution_cost(cells: Ints) -> float:
    """Additions the dynamic program takes; infinite if its memory would be too large."""
    systems = cells.shape[1]
    if systems > SYSTEMS + 1:
        return math.inf
    sizes = (np.cumsum(cells.max(1)) + 1.0) ** (systems - 1)
    return float(sizes.sum()) * math.factorial(systems) if sizes[-1] <= CELLS else math.inf


def _convolved_ranges(cells: Ints) -> _Counts:
    """The distribution of the sums of all systems but the last, unit by unit.

    The last sum is what is left of the total. A unit's smallest value is 0, so that no axis is
    longer than the sum of the largest values.
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
    found = tail[np.abs(sums[:, None] - sums)]
    np.fill_diagonal(found, 1.0)
    detail = f"all {math.factorial(systems)}^{len(cells)} permutations, by convolution"
    return _Counts(found, 1, exact=True, detail=detail)


def _add_unit(share: Floats, unit: Ints) -> Floats:
    size = share.shape[0]
    grown = np.zeros((size + int(unit.max()),) * share.ndim)
    for order, probability in _distinct_orders(unit):
        window = tuple(slice(value, value + size) for value in order[:-1])
        grown[window] += probability * share
    return grown


def _drawn_ranges(shifted: Floats, thresholds: Floats, replicates: int, seed: int) -> _Counts:
    systems = shifted.shape[1]
    draw = _listed_sums(shifted) if systems <= SYSTEMS else _shuffled_sums(shifted)

    def work(piece: tuple[int, int]) -> Floats:
        sums = draw(_generator(seed, piece[0]), piece[1])
        return _count_at_least(np.ptp(sums, axis=1), thresholds)

    counts = sum(run_threads(work, _pieces(replicates, systems)))
    detail = f"{replicates:,} draws, seed {seed}"
    return _Counts(np.asarray(counts), replicates, exact=False, detail=detail)


def _listed_sums(shifted: Floats) -> Callable[[np.random.Generator, int], Floats]:
    """Sums of the systems over units in random orders.

    All orders of a few units together are listed with their sums, one of which is drawn: one
    look-up for these units. Lists are made anew for each piece, as for many units they would not
    fit the memory.
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
    """The systems' sums over some units, for every order of every unit."""
    sums: Floats = units[0][orders]
    for unit in units[1:]:
        sums = (sums[:, None] + unit[orders]).reshape(-1, orders.shape[1])
    return sums


def _shuffled_sums(shifted: Floats) -> Callable[[np.random.Generator, int], Floats]:
    """The same by shuffling, for more systems."""

    def draw(generator: np.random.Generator, count: int) -> Floats:
        sums = np.zeros((count, shifted.shape[1]))
        for unit in shifted:
            rows = np.tile(unit, (count, 1))
            sums += generator.permuted(rows, axis=1, out=rows)
        return sums

    return draw


# --- MaxT -----------------------------------------------------------------------------------------


class _Family(NamedTuple):
    """Comparisons whose signed sums are differences of the systems' signed sums."""

    scores: Floats
    first: Ints
    second: Ints
    norm: Floats
    """Root of the sum of squared differences; infinite for copies, whose statistic is then 0."""

    def statistics(self, signed: Floats, tail: Tail) -> Floats:
        """Larger for stronger evidence; see `max_t` for why no variance is needed."""
        found = (signed[:, self.first] - signed[:, self.second]) / self.norm
        if tail == "two":
            return np.abs(found, out=found)
        return found if tail == "greater" else -found


def _family(values: Floats, baseline: int | None) -> _Family:
    systems = values.shape[1]
    if baseline is None:
        second, first = np.triu_indices(systems, 1)
    else:
        first = np.delete(np.arange(systems), baseline)
        second = np.full(systems - 1, baseline)
    squares = [
        float((drop_noise(values[:, one], values[:, other]) ** 2).sum())
        for one, other in zip(first, second, strict=True)
    ]
    norm = np.array([math.sqrt(square) if square > 0 else math.inf for square in squares])
    # A unit's scores count by their differences only; shifted, they keep more digits of them.
    return _Family(values - values.min(1, keepdims=True), first, second, norm)


def max_t(
    scores: ArrayLike,
    baseline: int | None = None,
    *,
    tail: Tail = "two",
    step_down: bool = True,
    replicates: int = 100_000,
    seed: int = 0,
    method: Method = "auto",
) -> Pairwise:
    """Adjusted p-values by the permutation distribution of the largest t.

    Were two systems alike, the differences of a unit could as well have had the other sign. Signs
    are flipped for all comparisons of a unit together, which keeps their dependence. The sum of
    squared differences does not change with the signs, so that ordering by t is ordering by
    the sum of differences over the root of the sum of their squares.

    Parameters
    ----------
    scores
        Units x systems, complete.
    baseline
        Compare all systems with this column; all pairs if None.
    tail
        ``two``, ``greater`` (better than the baseline) or ``less``; all pairs have two tails.
    step_down
        Compare each t with the largest of those not yet rejected, which is never less powerful;
        False: with the largest of all (single step).
    replicates
        Random sign assignments, if it comes to Monte Carlo.
    seed
        Of the random signs.
    method
        ``auto``: ``exact`` for up to 17 units (18 with two tails), else ``monte carlo``.

    Returns
    -------
    Pairwise
        The adjusted p-value of each comparison; copies have p = 1.

    References
    ----------
    P. H. Westfall and S. S. Young, Resampling-Based Multiple Testing (1993), algorithm 2.8; Y. Ge,
    S. Dudoit and T. P. Speed, Resampling-based multiple testing, Test 12 (2003) 1-77.

    Examples
    --------
    >>> found = max_t([[1, 2, 4], [2, 4, 5], [3, 3, 6], [1, 4, 4]], baseline=0)
    >>> found.method, found[2, 0], found[1, 0]
    ('exact', 0.125, 0.25)
    """
    _check(method, replicates, seed)
    values, tail = as_scores(scores), check_tail(tail)
    systems = values.shape[1]
    if baseline is not None and not 0 <= baseline < systems:
        raise InputError(f"baseline={baseline}: expected a column from 0 to {systems - 1}")
    if baseline is None and tail != "two":
        raise InputError(f"tail={tail!r}: all pairs have two tails; name a baseline for one tail")
    family = _family(values, baseline)
    observed = family.statistics(family.scores.sum(0)[None], tail)[0]
    order = np.argsort(-observed, kind="stable")
    ordered = family._replace(
        first=family.first[order], second=family.second[order], norm=family.norm[order]
    )
    found = _count_maxima(ordered, observed[order], tail, step_down, (replicates, seed, method))
    adjusted = np.maximum.accumulate(found.p())
    if tail != "two":
        adjusted = np.where(np.isinf(ordered.norm), 1.0, adjusted)
    p = np.full((systems, systems), math.nan)
    np.fill_diagonal(p, 1.0)
    p[ordered.first, ordered.second] = p[ordered.second, ordered.first] = adjusted
    return found.result(p)


def _count_maxima(
    family: _Family, observed: Floats, tail: Tail, step_down: bool, how: tuple[int, int, Method]
) -> _Counts:
    """How often the largest statistic reaches the observed ones, which come largest first."""
    replicates, seed, method = how
    units = len(family.scores)
    free = units - 1 if tail == "two" else units  # with two tails, the last sign may stay
    exact = _is_enumerable(free, method)
    total = 1 << free if exact else replicates
    pieces = _pieces(total, max(len(observed), 2 * units, 16))
    size = pieces[0][1]

    def work(piece: tuple[int, int]) -> Floats:
        at, count = piece
        signs = (
            _listed_signs(at * size, count, free, units)
            if exact
            else _drawn_signs(_generator(seed, at), count, units)
        )
        statistics = family.statistics(signs @ family.scores, tail)
        if not step_down:
            return _count_at_least(statistics.max(1), observed - TIE)
        # From the smallest observed on, each is compared with the largest of those up to it.
        maxima = np.maximum.accumulate(statistics[:, ::-1], axis=1)[:, ::-1]
        return np.asarray((maxima >= observed - TIE).sum(0, dtype=np.float64))

    counts = np.asarray(sum(run_threads(work, pieces)))
    detail = f"all {1 << units:,} sign assignments" if exact else f"{total:,} draws, seed {seed}"
    return _Counts(counts, total, exact, detail)


def _is_enumerable(free: int, method: str) -> bool:
    if method == "exact" and 1 << free > 64 * SIGNS:
        raise InputError(
            f"method='exact': {free} free signs are too many to go through; use method='auto' or "
            "'monte carlo'"
        )
    return method != "monte carlo" and (method == "exact" or 1 << free <= SIGNS)


def _listed_signs(begin: int, count: int, free: int, units: int) -> Floats:
    """The sign assignments numbered from `begin`: bit u of the number is the sign of unit u."""
    numbers = np.arange(begin, begin + count)
    signs = np.ones((count, units))
    signs[:, :free] -= 2.0 * (numbers[:, None] >> np.arange(free) & 1)
    return signs


def _drawn_signs(generator: np.random.Generator, count: int, units: int) -> Floats:
    width = -(-units // 8)
    drawn = np.frombuffer(generator.bytes(count * width), np.uint8).reshape(count, width)
    return 1.0 - 2.0 * np.unpackbits(drawn, axis=1, count=units).astype(np.float64)


def dunnett(
    scores: ArrayLike,
    baseline: int,
    *,
    tail: Tail = "two",
    replicates: int = 100_000,
    seed: int = 0,
    method: Method = "auto",
) -> Pairwise:
    """Dunnett's question, every system against a baseline, answered by permutation.

    The single-step `max_t`: each t is compared with the distribution of the largest, without the
    normal distribution and the common variance that `heldout.infer.tukey.dunnett_blocks` assumes.

    Parameters
    ----------
    scores
        Units x systems, complete.
    baseline
        The column of the baseline.
    tail, replicates, seed, method
        As in `max_t`.

    Returns
    -------
    Pairwise
        The adjusted p-values, in the row and the column of the baseline.

    References
    ----------
    C. W. Dunnett, J. Am. Stat. Assoc. 50 (1955) 1096-1121; P. H. Westfall and S. S. Young,
    Resampling-Based Multiple Testing (1993), algorithm 2.5.

    Examples
    --------
    >>> dunnett([[1, 2, 4], [2, 4, 5], [3, 3, 6], [1, 4, 4]], baseline=0)[1, 0]
    0.25
    """
    return max_t(
        scores,
        baseline,
        tail=tail,
        step_down=False,
        replicates=replicates,
        seed=seed,
        method=method,
    )

"""Scores of resampled units: drawn with replacement, or swapped between two systems.

A resample is a row of weights, one per unit. Units that add the same to the sums of a score are of
one kind: if there are few kinds, the number of units of each kind is drawn instead of the units,
and few enough outcomes of swaps are all enumerated.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Final, NamedTuple

import numpy as np

from heldout.errors import InputError
from heldout.infer.draws import check_draws, signed_sums
from heldout.infer.results import TIE, Interval, Outcome, check_fraction, thresholds
from heldout.measure.base import Order, Sums, as_sums

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from heldout.data.words import Flags, Floats, Ints
    from heldout.infer.results import Alternative
    from heldout.measure.base import UnitScores

WORK: Final = 10**8  # units drawn over all replicates of a bootstrap at most, but ...
FEWEST: Final = 1000  # ... this many replicates are affordable, and ...
MOST: Final = 10_000  # ... more are not needed
MANY_UNITS: Final = WORK // FEWEST  # above, none are drawn one by one: it would take too long
FEW_KINDS: Final = 200  # kinds up to which numbers per kind are drawn, not units, or ...
UNITS_PER_KIND: Final = 10  # ... if there are this many units per kind; ...
MOST_KINDS: Final = 2000  # ... of more than MANY_UNITS units, kinds up to which this is feasible
OUTCOMES: Final = 2**20  # outcomes of swaps up to which all are enumerated
BLOCK: Final = 2**22  # numbers in memory at a time
ROWS: Final = 2**14  # replicates at a time
WIDE: Final = 48  # columns from which a table may be nearly empty (16 classes), if ...
FILLED: Final = 0.1  # ... at most this share of its numbers is not 0


def affordable(units: int, asked: int) -> int:
    """Return the number of bootstrap replicates for a number of units, as asked or fewer."""
    return min(asked, MOST, max(FEWEST, WORK // max(1, units)))


# Units that are drawn as a whole


def whole_units(scores: UnitScores, numbers: Ints) -> Sums | Order:
    """Return a score of the units that are drawn: groups of rows, numbered from 0, or the rows."""
    count = int(numbers.max()) + 1
    if isinstance(scores, Order):
        if count == scores.size:
            return scores
        size = max(1, BLOCK // len(numbers))

        def score(rows: Floats) -> Floats:
            parts = [rows[start : start + size] for start in range(0, len(rows), size)]
            return np.concatenate([scores.weighted(part[:, numbers]) for part in parts])

        return Order(count, score)
    sums = as_sums(scores)
    if count == sums.size and sums.kinds is not None and sums.weights is None:
        return sums
    table = sums.rows()
    if count < sums.size:
        table = np.zeros((count, table.shape[1]))
        np.add.at(table, numbers, sums.rows())
    kinds = equal_rows(table)
    if kinds is None:
        return Sums(table, sums.score)
    return Sums(kinds[0], sums.score, kinds=kinds[1])


def equal_rows(table: Floats) -> tuple[Floats, Ints] | None:
    """Return the distinct rows, and the one of each unit; None if they are many."""
    # Checking some rows first is cheaper than sorting a large table whose rows all differ.
    if len(table) > 2 * FEW_KINDS and len(np.unique(table[: 2 * FEW_KINDS], axis=0)) > FEW_KINDS:
        return None
    rows, kinds = np.unique(table, axis=0, return_inverse=True)
    return (rows, kinds.ravel()) if len(rows) <= FEW_KINDS else None


def paired_units(systems: Sequence[Sums]) -> tuple[list[Ints], Ints | None]:
    """Return for each system the row of its table of each unit, or of each kind of units if few.

    And the number of units of each kind, or None if each unit stands for itself.
    """
    size = systems[0].size
    rows = [np.arange(size) if system.kinds is None else system.kinds for system in systems]
    kind = np.zeros(size, np.int64)
    first: Ints = kind
    for system, row in zip(systems, rows, strict=True):
        if system.kinds is None:
            return rows, None
        _, first, kind = np.unique(
            kind * len(system.table) + row, return_index=True, return_inverse=True
        )
    few = max(FEW_KINDS, size // UNITS_PER_KIND) if size <= MANY_UNITS else MOST_KINDS
    if len(first) > few:
        return rows, None
    return [row[first] for row in rows], np.bincount(kind)


# Draws with replacement


class Replicates(NamedTuple):
    """A number on bootstrap samples of the units."""

    values: Floats
    observed: float
    tie: float  # replicates as close to each other as this are equal
    units: int
    seed: int

    def interval(self, level: float = 0.95) -> Interval:
        """Return the percentile interval, from the replicates in which the number is defined."""
        check_fraction(level)
        defined = self.values[np.isfinite(self.values)]
        low = high = math.nan
        if len(defined):
            low, high = np.quantile(defined, [(1 - level) / 2, (1 + level) / 2]).tolist()
        return Interval(self.observed, low, high, level, "bootstrap percentile")

    def shift_test(self, alternative: Alternative = "two-sided") -> Outcome:
        """Return the bootstrap-shift test; below about 100 units it rejects too often."""
        low, high = thresholds(0.0, self.observed, self.tie, alternative)
        shifted = self.values - self.observed
        out = int((~((shifted > low) & (shifted < high))).sum())  # undefined ones count as extreme
        outcome = Outcome("bootstrap-shift", 1.0, self.observed, alternative, self.units)
        return outcome.drawn(out, len(self.values), self.seed)


def bootstrap(systems: Sequence[Sums | Order], *, replicates: int, seed: int) -> Floats:
    """Return the scores of systems (columns) on units drawn with replacement, the same for all.

    Draws of units one by one depend on the seed and the number of units alone.
    """
    check_draws(replicates, seed)
    sums = [system for system in systems if isinstance(system, Sums)]
    counts: Ints | None = None
    functions: list[Callable[[Floats], Floats]] = [system.weighted for system in systems]
    if sums:
        rows, counts = paired_units(sums)
        functions = [_score_of_rows(*pair) for pair in zip(sums, rows, strict=True)]
    drawn = unit_weights(systems[0].size, replicates, seed, counts)
    return np.concatenate(
        [np.column_stack([function(weights) for function in functions]) for weights in drawn]
    )


def unit_weights(
    units: int, replicates: int, seed: int, counts: Ints | None = None
) -> Iterator[Floats]:
    """Yield how often each unit, or the units of each kind, are drawn: a row per replicate."""
    source = np.random.SFC64(np.random.SeedSequence([seed, units]))
    size = min(ROWS, max(1, BLOCK // (units if counts is None else len(counts))))
    for start in range(0, replicates, size):
        rows = min(size, replicates - start)
        if counts is not None:
            drawn = np.random.Generator(source).multinomial(units, counts / units, rows)
            yield drawn.astype(np.float64)
            continue
        # A 32-bit word w is unit w * n / 2^32, without rejection (Lemire 2019): of 100,000 units,
        # probabilities are off by a factor of at most 1 ± 3e-5, far below the Monte Carlo error.
        words = source.random_raw(-(-rows * units // 2)).view(np.uint32)[: rows * units]
        places = (words * np.uint64(units) >> np.uint64(32)).view(np.int64).reshape(rows, units)
        weights = np.empty((rows, units))
        for row, place in zip(weights, places, strict=True):
            row[:] = np.bincount(place, minlength=units)
        yield weights


def _score_of_rows(system: Sums, rows: Ints) -> Callable[[Floats], Floats]:
    """Return the score under weights of some rows of the table."""
    multiply = _multiplier(system.table, rows)
    return lambda weights: system.score(multiply(weights))


def _multiplier(table: Floats, rows: Ints | slice) -> Callable[[Floats], Floats]:
    """Return the product of weights with rows of a table; that of many classes is nearly empty."""
    if table.shape[1] < WIDE or np.count_nonzero(table) > FILLED * table.size:
        chosen = table[rows]
        return lambda weights: weights @ chosen
    from scipy.sparse import csr_array  # slow to import

    turned = csr_array(csr_array(table)[rows].T)
    return lambda weights: np.asarray((turned @ np.ascontiguousarray(weights.T)).T)


# Swaps


def swap_test(
    first: Sums,
    second: Sums,
    *,
    alternative: Alternative = "two-sided",
    replicates: int = 100_000,
    seed: int = 0,
) -> Outcome:
    """Return the randomization test of two scores of sums: outputs of units are swapped at random.

    Few outcomes are all enumerated; else the swaps per kind of unit are drawn or, with many kinds,
    those of each unit (Noreen 1989; Riezler & Maxwell 2005).
    """
    check_draws(replicates, seed)
    scores = first.value(), second.value()
    if not all(map(math.isfinite, scores)):
        raise InputError("the score of a system is undefined and cannot be tested")
    observed, tie = scores[0] - scores[1], TIE * (abs(scores[0]) + abs(scores[1]))
    low, high = thresholds(0.0, observed, tie, alternative)
    total = first.total() + second.total()

    def far(signed: Floats) -> Flags:
        """Return which signed sums of differences are as extreme as the observed one."""
        sums = (total + signed) / 2
        differences = first.score(sums) - first.score(total - sums)
        return ~((differences > low) & (differences < high))  # undefined ones are extreme, too

    outcome = Outcome("randomization", 1.0, observed, alternative, first.size)
    gaps, counts = _swaps(first, second)
    if counts is not None and math.prod(int(count) + 1 for count in counts) <= OUTCOMES:
        p = sum(
            float(chances[far((2 * swapped - counts) @ gaps)].sum())
            for swapped, chances in _outcomes(counts)
        )
        units = int(counts.sum())
        detail = f"all swaps of the {units:,} units that differ" if units else "nothing differs"
        return outcome._replace(p=min(1.0, p), detail=detail)
    drawn = _drawn_swaps(gaps, counts, replicates, np.random.default_rng([seed, first.size]), seed)
    out = sum(int(far(signed).sum()) for signed in drawn)
    return outcome.drawn(out, replicates, seed)


def unit_gaps(first: Sums, second: Sums) -> tuple[Floats, Ints | None]:
    """Return the differences of units that differ, and how many have each; None: one each."""
    rows, counts = paired_units([first, second])
    gaps = first.table[rows[0]] - second.table[rows[1]]
    differ = (gaps != 0).any(axis=1)
    return gaps[differ], None if counts is None else counts[differ]


def _swaps(first: Sums, second: Sums) -> tuple[Floats, Ints | None]:
    """Return the differences as in `unit_gaps`, of which d and -d swap alike."""
    gaps, counts = unit_gaps(first, second)
    if not len(gaps):
        return gaps, np.zeros(0, np.int64)
    # The first number that is not 0 becomes positive.
    turned = gaps * np.sign(gaps[np.arange(len(gaps)), (gaps != 0).argmax(axis=1)])[:, None]
    if counts is not None:  # few rows
        distinct, kinds = np.unique(turned, axis=0, return_inverse=True)
        return distinct, np.bincount(kinds.ravel(), counts).astype(np.int64)
    equal = equal_rows(turned)
    return (gaps, None) if equal is None else (equal[0], np.bincount(equal[1]))


def _outcomes(counts: Ints) -> Iterator[tuple[Floats, Floats]]:
    """Yield all numbers of swaps per kind with their probabilities, block by block."""
    chances = [_fair_coins(int(count)) for count in counts]
    sizes = [len(probabilities) for probabilities in chances]
    every = math.prod(sizes)
    for start in range(0, every, ROWS):
        flat = np.arange(start, min(start + ROWS, every))
        places = np.unravel_index(flat, sizes) if sizes else ()
        weight = np.ones(len(flat))
        for chance, place in zip(chances, places, strict=True):
            weight *= chance[place]
        swapped = np.column_stack(places) if places else np.zeros((len(flat), 0))
        yield swapped.astype(np.float64), weight


def _fair_coins(count: int) -> Floats:
    """Return the probabilities of 0, 1, …, count heads."""
    if count <= 1000:  # exact integers, rounded once
        return np.array([math.comb(count, heads) / 2**count for heads in range(count + 1)])
    from scipy.special import gammaln  # slow to import

    heads = np.arange(count + 1)
    logs = gammaln(count + 1) - gammaln(heads + 1) - gammaln(count - heads + 1)
    chances: Floats = np.exp(logs - count * math.log(2))
    return chances


def _drawn_swaps(
    gaps: Floats, counts: Ints | None, replicates: int, source: np.random.Generator, seed: int
) -> Iterator[Floats]:
    """Yield the sums of differences under random signs, a row per replicate."""
    if counts is None and gaps.shape[1] < WIDE:
        # Equal seeds give equal signs, so columns are summed one by one, and equal columns once.
        distinct, places = np.unique(gaps, axis=1, return_inverse=True)
        columns = [
            signed_sums(np.ascontiguousarray(column), replicates, seed) for column in distinct.T
        ]
        for blocks in zip(*columns, strict=True):
            yield np.column_stack(blocks)[:, places.ravel()]
        return
    multiply, total = _multiplier(gaps, slice(None)), gaps.sum(axis=0)
    if counts is not None:
        total = counts @ gaps
    size = min(ROWS, max(1, BLOCK // max(gaps.shape)))
    for start in range(0, replicates, size):
        rows = min(size, replicates - start)
        if counts is not None:
            heads = source.binomial(counts, 0.5, (rows, len(gaps))).astype(np.float64)
        else:  # a bit per unit and replicate; units first, as sparse tables need them
            words = source.integers(0, 256, (len(gaps), -(-rows // 8)), np.uint8)
            heads = np.unpackbits(words, axis=1, count=rows).T.astype(np.float64)
        yield 2 * multiply(heads) - total

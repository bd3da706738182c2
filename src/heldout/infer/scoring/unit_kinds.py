"""Resampling of units of a few kinds: how many of each kind are drawn, not which.

Predicted classes leave few different rows of statistics: a unit is of a true class and of the
classes that were predicted. Drawing numbers of units of each kind gives the same distribution as
drawing units, at a price that does not grow with them; and where all outcomes can be gone through,
the p-value is exact.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Final, NamedTuple

import numpy as np

from heldout.infer.results import Alternative, Outcome, check_alternative
from heldout.infer.scoring.unit_sparse import bootstrap_sparse, is_sparse, randomize_sparse
from heldout.infer.tests.corpus_level import (
    Replicates,
    assignments_out,
    corpus_bootstrap,
    corpus_randomization_test,
    monte_carlo,
    observed_difference,
)
from heldout.infer.tests.draws import check_draws

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from heldout.data.words import Flags, Floats, Ints
    from heldout.infer.tests.corpus_level import ScoreOfSums

__all__ = [
    "MANY_UNITS",
    "affordable",
    "bootstrap_sums",
    "bootstrap_weights",
    "randomize_sums",
    "sums_by_number",
    "total_of",
]

KINDS: Final = 200
"""Kinds of units at the most for which numbers are drawn and not units."""

OUTCOMES: Final = 2**20
"""Outcomes at the most that are gone through for an exact p-value."""

BLOCK: Final = 2**14
"""Replicates at a time."""

WORK: Final = 10**8
"""Units drawn at the most over all replicates of a bootstrap, but ..."""

FEWEST: Final = 1000
"""... so many replicates at the least."""

MANY_UNITS: Final = WORK // FEWEST
"""Beyond so many units none are drawn: the least of replicates would be too much work."""


def affordable(units: int, most: int = 10_000) -> int:
    """How many replicates of a bootstrap so many units can have.

    Examples
    --------
    >>> affordable(500), affordable(50_000), affordable(10**9)
    (10000, 2000, 1000)
    """
    return min(most, max(FEWEST, WORK // max(1, units)))


class _Kinds(NamedTuple):
    """Different rows, and how often each stands there."""

    rows: Floats
    counts: Ints


def _kinds(table: Floats, counts: Ints | None = None) -> _Kinds | None:
    """The kinds of rows, if they are few; rows that are counted are few."""
    if counts is not None:
        rows, places = np.unique(table, axis=0, return_inverse=True)
        sums = np.bincount(places.ravel(), counts, len(rows))  # whole numbers: no digit is lost
        return _Kinds(rows, sums.astype(np.int64))
    # A look at some rows is cheaper than sorting all of a table whose rows all differ.
    if len(table) > 2 * KINDS and len(np.unique(table[: 2 * KINDS], axis=0)) > KINDS:
        return None
    rows, counts = np.unique(table, axis=0, return_counts=True)
    return _Kinds(rows, counts) if len(rows) <= KINDS else None


def total_of(table: Floats, counts: Ints | None) -> Floats:
    """The sums of statistics, as a table of one row."""
    found: Floats = table.sum(axis=0) if counts is None else counts @ table
    return found[None]


def bootstrap_sums(
    systems: Sequence[Floats],
    score: ScoreOfSums,
    *,
    replicates: int = 10_000,
    seed: int = 0,
    counts: Ints | None = None,
) -> Replicates:
    """Scores of systems on units drawn with replacement, the same units for all.

    Parameters
    ----------
    systems
        Statistics of each system, a row a unit, paired.
    score
        Turns sums of statistics into scores, many at a time.
    replicates, seed
        Of the draws.
    counts
        How many units each row is for; by default one. The rows are then few.
    """
    check_draws(replicates, seed)
    kinds = _kinds(np.column_stack(list(systems)), counts)
    if kinds is None and is_sparse(systems):
        return bootstrap_sparse(systems, score, replicates=replicates, seed=seed)
    if kinds is None:
        return corpus_bootstrap(systems, score, replicates=replicates, seed=seed)
    units, width = int(kinds.counts.sum()), systems[0].shape[1]
    source = np.random.default_rng([seed, units])
    found = []
    for start in range(0, replicates, BLOCK):
        count = min(BLOCK, replicates - start)
        drawn = source.multinomial(units, kinds.counts / units, count)
        sums = drawn @ kinds.rows
        parts = [sums[:, at : at + width] for at in range(0, sums.shape[1], width)]
        found.append(np.column_stack([score(one) for one in parts]))
    observed = [score(total_of(one, counts))[0] for one in systems]
    return Replicates(np.concatenate(found), np.array(observed), units, seed)


def randomize_sums(
    first: Floats,
    second: Floats,
    score: ScoreOfSums,
    *,
    alternative: Alternative = "two-sided",
    replicates: int = 100_000,
    seed: int = 0,
    counts: Ints | None = None,
) -> Outcome:
    """Fisher's randomization test of a difference of scores of sums.

    The outputs for a unit are swapped between the two systems at random. Units whose swap changes
    the sums by the same are of one kind; if there are few outcomes all are gone through, with
    their probabilities, else numbers of swaps are drawn, or (for many kinds) swaps.

    Parameters
    ----------
    first, second
        Statistics of two systems, a row a unit, paired.
    score
        Turns sums of statistics into scores, many at a time.
    alternative
        ``two-sided``, ``greater`` (the first scores higher) or ``less``.
    replicates, seed
        Of the draws, if any.
    counts
        As for `bootstrap_sums`.

    Examples
    --------
    Eight units on which only the first is right, two on which only the second is: McNemar's p.

    >>> right = np.repeat([[1.0, 1.0], [0.0, 1.0]], [8, 2], axis=0)
    >>> wrong = np.repeat([[0.0, 1.0], [1.0, 1.0]], [8, 2], axis=0)
    >>> outcome = randomize_sums(right, wrong, lambda sums: sums[:, 0] / sums[:, 1])
    >>> round(outcome.p * 1024), outcome.method
    (112, 'exact')
    """
    check_alternative(alternative)
    check_draws(replicates, seed)
    gaps = first - second
    differ = (gaps != 0).any(axis=1)
    kinds = _kinds(_one_way(gaps[differ]), None if counts is None else counts[differ])
    if kinds is None and is_sparse([first, second]):
        return randomize_sparse(
            first, second, score, alternative=alternative, replicates=replicates, seed=seed
        )
    if kinds is None:
        return corpus_randomization_test(
            first, second, score, alternative=alternative, replicates=replicates, seed=seed
        )
    observed, tie = observed_difference(total_of(first, counts), total_of(second, counts), score)
    total = total_of(first + second, counts)[0]
    every = len(first) if counts is None else int(counts.sum())
    about = (observed, alternative, every)

    def out(swapped: Floats) -> Flags:
        """Which numbers of swaps are as far out as what was observed."""
        sums = (total + (2 * swapped - kinds.counts) @ kinds.rows) / 2
        return assignments_out(score(sums) - score(total - sums), observed, tie, alternative)

    if math.prod(int(count) + 1 for count in kinds.counts) <= OUTCOMES:
        p = sum(float(weights[out(counts)].sum()) for counts, weights in _outcomes(kinds.counts))
        units = int(kinds.counts.sum())
        detail = f"all swaps of the {units:,} units that differ" if units else "nothing differs"
        return Outcome("randomization", min(1.0, p), *about, "exact", 0.0, detail)
    source = np.random.default_rng([seed, every])
    far = 0
    for start in range(0, replicates, BLOCK):
        size = (min(BLOCK, replicates - start), len(kinds.counts))
        far += int(out(source.binomial(kinds.counts, 0.5, size).astype(np.float64)).sum())
    return monte_carlo("randomization", far, replicates, seed, about)


def _one_way(gaps: Floats) -> Floats:
    """Differences with their first number above 0: a swap of one is a swap of the other."""
    if not len(gaps):
        return gaps
    leading = gaps[np.arange(len(gaps)), (gaps != 0).argmax(axis=1)]
    turned: Floats = gaps * np.sign(leading)[:, None]
    return turned


def _outcomes(counts: Ints) -> Iterator[tuple[Floats, Floats]]:
    """All numbers of swaps of each kind with their probabilities, block by block."""
    chances = [_fair_coins(int(count)) for count in counts]
    sizes = [len(one) for one in chances]
    every = math.prod(sizes)
    for start in range(0, every, BLOCK):
        flat = np.arange(start, min(start + BLOCK, every))
        places = np.unravel_index(flat, sizes) if sizes else ()
        weight = np.ones(len(flat))
        for chance, place in zip(chances, places, strict=True):
            weight *= chance[place]
        swapped = np.column_stack(places) if places else np.zeros((len(flat), 0))
        yield swapped.astype(np.float64), weight


def _fair_coins(count: int) -> Floats:
    """The probabilities of 0, 1, …, count heads."""
    if count <= 1000:  # whole numbers lose no digits
        return np.array([math.comb(count, heads) / 2**count for heads in range(count + 1)])
    from scipy.special import gammaln  # slow to import

    heads = np.arange(count + 1)
    logs = gammaln(count + 1) - gammaln(heads + 1) - gammaln(count - heads + 1)
    found: Floats = np.exp(logs - count * math.log(2))
    return found


def bootstrap_weights(
    functions: Sequence[ScoreOfSums],
    clusters: Ints,
    *,
    replicates: int = 10_000,
    seed: int = 0,
) -> Replicates:
    """Scores of measures that must look at each unit, on clusters drawn with replacement.

    Parameters
    ----------
    functions
        Of each system: the values for weights of the units.
    clusters
        The cluster of each unit, from 0 on; the units themselves, if they have none.
    replicates
        How many at most: fewer for many units, but at least 1,000.
    seed
        Of the draws.
    """
    check_draws(replicates, seed)
    units, count = len(clusters), int(clusters.max()) + 1
    replicates = affordable(units, replicates)
    source = np.random.default_rng([seed, count, units])
    size = max(1, 2**22 // units)
    found = []
    for start in range(0, replicates, size):
        rows = min(size, replicates - start)
        places = source.integers(0, count, (rows, count)) + count * np.arange(rows)[:, None]
        drawn = np.bincount(places.ravel(), minlength=rows * count).reshape(rows, count)
        weights = drawn[:, clusters].astype(np.float64)
        found.append(np.column_stack([function(weights) for function in functions]))
    whole = np.ones((1, units))
    observed = np.array([function(whole)[0] for function in functions])
    return Replicates(np.concatenate(found), observed, count, seed)


def sums_by_number(table: Floats, numbers: Ints) -> Floats:
    """Sums over the rows of each group."""
    if len(numbers) == int(numbers.max()) + 1:
        return table
    found = np.zeros((int(numbers.max()) + 1, table.shape[1]))
    np.add.at(found, numbers, table)
    return found

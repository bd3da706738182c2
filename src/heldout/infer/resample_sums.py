"""Bootstrap and randomization of scores that are functions of sums, in the cheapest exact way.

`bootstrap_sums` and `randomize_sums` choose among three ways to the same distribution:

* few kinds of units: predicted classes give few distinct rows of statistics, one per combination of
  true and predicted classes. The numbers of units per kind are drawn (multinomial or binomial), not
  the units, at a cost that does not depend on the number of units; few enough outcomes are all
  enumerated, and the p-value is exact;
* wide, sparse rows: with 200 classes a row has 600 numbers, of which three are not 0. A product
  with a sparse matrix takes seconds where summing column by column takes hours;
* all others: `heldout.infer.corpus_level`.

`bootstrap_weights` is for measures of order, which are not functions of sums.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Final, NamedTuple

import numpy as np

from heldout.infer.corpus_level import (
    Replicates,
    assignments_out,
    corpus_bootstrap,
    corpus_randomization_test,
    observed_difference,
)
from heldout.infer.draws import check_draws
from heldout.infer.results import Alternative, Outcome, PValue, check_alternative

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from heldout.data.words import Flags, Floats, Ints
    from heldout.infer.corpus_level import ScoreOfSums

__all__ = [
    "MANY_UNITS",
    "affordable",
    "bootstrap_sparse",
    "bootstrap_sums",
    "bootstrap_weights",
    "cluster_draws",
    "is_sparse",
    "randomize_sparse",
    "randomize_sums",
    "sums_by_number",
    "total_of",
]

KINDS: Final = 200
"""Kinds of units up to which numbers per kind are drawn, not units."""

OUTCOMES: Final = 2**20
"""Outcomes up to which all are enumerated for an exact p-value."""

BLOCK: Final = 2**14
"""Replicates at a time."""

WORK: Final = 10**8
"""Units drawn over all replicates of a bootstrap at most, but ..."""

FEWEST: Final = 1000
"""... this many replicates at least."""

MANY_UNITS: Final = WORK // FEWEST
"""Units above which none are drawn: even the fewest replicates would take too long."""


WIDE: Final = 48
"""Columns from which a table may count as sparse: 16 classes."""

FILLED: Final = 0.1
"""The largest share of nonzero numbers in a sparse table."""

SPARSE_BLOCK: Final = 2**22
"""Numbers drawn, or summed, at a time in sparse tables."""


def affordable(units: int, most: int = 10_000) -> int:
    """Return the number of bootstrap replicates for a number of units.

    Examples
    --------
    >>> affordable(500), affordable(50_000), affordable(10**9)
    (10000, 2000, 1000)
    """
    return min(most, max(FEWEST, WORK // max(1, units)))


class _Kinds(NamedTuple):
    """Distinct rows, and how often each occurs."""

    rows: Floats
    counts: Ints


def _kinds(table: Floats, counts: Ints | None = None) -> _Kinds | None:
    """Return the distinct rows; None if they are many. Rows that come with counts are few."""
    if counts is not None:
        rows, places = np.unique(table, axis=0, return_inverse=True)
        sums = np.bincount(places.ravel(), counts, len(rows))  # exact: integers in floats
        return _Kinds(rows, sums.astype(np.int64))
    # Checking some rows first is cheaper than sorting a large table whose rows all differ.
    if len(table) > 2 * KINDS and len(np.unique(table[: 2 * KINDS], axis=0)) > KINDS:
        return None
    rows, counts = np.unique(table, axis=0, return_counts=True)
    return _Kinds(rows, counts) if len(rows) <= KINDS else None


def total_of(table: Floats, counts: Ints | None) -> Floats:
    """Return the sums of statistics, as a table of one row."""
    total: Floats = table.sum(axis=0) if counts is None else counts @ table
    return total[None]


def bootstrap_sums(
    systems: Sequence[Floats],
    score: ScoreOfSums,
    *,
    replicates: int = 10_000,
    seed: int = 0,
    counts: Ints | None = None,
) -> Replicates:
    """Return scores of systems on units drawn with replacement, the same units for all.

    Parameters
    ----------
    systems
        Statistics of each system, one row per unit, paired.
    score
        Turns sums of statistics into scores, many at a time.
    replicates, seed
        Of the bootstrap.
    counts
        The number of units that each row represents; by default one.
    """
    check_draws(replicates, seed)
    kinds = _kinds(np.column_stack(list(systems)), counts)
    if kinds is None and is_sparse(systems):
        return bootstrap_sparse(systems, score, replicates=replicates, seed=seed)
    if kinds is None:
        return corpus_bootstrap(systems, score, replicates=replicates, seed=seed)
    units, width = int(kinds.counts.sum()), systems[0].shape[1]
    source = np.random.default_rng([seed, units])
    scores = []
    for start in range(0, replicates, BLOCK):
        count = min(BLOCK, replicates - start)
        drawn = source.multinomial(units, kinds.counts / units, count)
        sums = drawn @ kinds.rows
        parts = [sums[:, at : at + width] for at in range(0, sums.shape[1], width)]
        scores.append(np.column_stack([score(one) for one in parts]))
    observed = [score(total_of(one, counts))[0] for one in systems]
    return Replicates(np.concatenate(scores), np.array(observed), units, seed)


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
    """Return Fisher's randomization test of the difference of two scores of sums.

    The outputs for a unit are swapped between the two systems at random. Units whose swap changes
    the sums by the same amount are of one kind. Few outcomes are all enumerated with their
    probabilities; else the numbers of swaps per kind are drawn or, with many kinds, the swaps.

    Parameters
    ----------
    first, second
        Statistics of two systems, one row per unit, paired.
    score
        Turns sums of statistics into scores, many at a time.
    alternative
        ``two-sided``, ``greater`` (the first scores higher) or ``less``.
    replicates, seed
        Of the random swaps, if the p-value is not exact.
    counts
        As for `bootstrap_sums`.

    Examples
    --------
    Eight units that only the first gets right, two that only the second does: McNemar's p.

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
        """Return which numbers of swaps are as extreme as the observed difference."""
        sums = (total + (2 * swapped - kinds.counts) @ kinds.rows) / 2
        return assignments_out(score(sums) - score(total - sums), observed, tie, alternative)

    if math.prod(int(count) + 1 for count in kinds.counts) <= OUTCOMES:
        p = sum(float(weights[out(counts)].sum()) for counts, weights in _outcomes(kinds.counts))
        units = int(kinds.counts.sum())
        detail = f"all swaps of the {units:,} units that differ" if units else "nothing differs"
        return PValue(min(1.0, p), "exact", 0.0, detail).outcome("randomization", *about)
    source = np.random.default_rng([seed, every])
    far = 0
    for start in range(0, replicates, BLOCK):
        size = (min(BLOCK, replicates - start), len(kinds.counts))
        far += int(out(source.binomial(kinds.counts, 0.5, size).astype(np.float64)).sum())
    return PValue.monte_carlo(far, replicates, seed).outcome("randomization", *about)


def _one_way(gaps: Floats) -> Floats:
    """Return differences with their first nonzero number positive: d and -d swap alike."""
    if not len(gaps):
        return gaps
    leading = gaps[np.arange(len(gaps)), (gaps != 0).argmax(axis=1)]
    turned: Floats = gaps * np.sign(leading)[:, None]
    return turned


def _outcomes(counts: Ints) -> Iterator[tuple[Floats, Floats]]:
    """Yield all numbers of swaps per kind with their probabilities, block by block."""
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
    """Return the probabilities of 0, 1, …, count heads."""
    if count <= 1000:  # exact integers, rounded once
        return np.array([math.comb(count, heads) / 2**count for heads in range(count + 1)])
    from scipy.special import gammaln  # slow to import

    heads = np.arange(count + 1)
    logs = gammaln(count + 1) - gammaln(heads + 1) - gammaln(count - heads + 1)
    chances: Floats = np.exp(logs - count * math.log(2))
    return chances


def bootstrap_weights(
    functions: Sequence[ScoreOfSums],
    clusters: Ints,
    *,
    replicates: int = 10_000,
    seed: int = 0,
) -> Replicates:
    """Return scores of measures of order on clusters drawn with replacement.

    Parameters
    ----------
    functions
        For each system, the function from weights of the units to scores.
    clusters
        The cluster of each unit, numbered from 0; the units themselves, if they have none.
    replicates
        At most this many: fewer for many units, but at least 1,000.
    seed
        The random seed.
    """
    check_draws(replicates, seed)
    units, count = len(clusters), int(clusters.max()) + 1
    replicates = affordable(units, replicates)
    scores = []
    for drawn in cluster_draws(clusters, replicates, seed):
        weights = drawn[:, clusters].astype(np.float64)
        scores.append(np.column_stack([function(weights) for function in functions]))
    all_units = np.ones((1, units))
    observed = np.array([function(all_units)[0] for function in functions])
    return Replicates(np.concatenate(scores), observed, count, seed)


def cluster_draws(clusters: Ints, replicates: int, seed: int) -> Iterator[Ints]:
    """Yield how often each cluster is drawn, one row per replicate, block by block."""
    units, count = len(clusters), int(clusters.max()) + 1
    source = np.random.default_rng([seed, count, units])
    size = max(1, 2**22 // units)
    for start in range(0, replicates, size):
        rows = min(size, replicates - start)
        places = source.integers(0, count, (rows, count)) + count * np.arange(rows)[:, None]
        yield np.bincount(places.ravel(), minlength=rows * count).reshape(rows, count)


def sums_by_number(table: Floats, numbers: Ints) -> Floats:
    """Return the sums over the rows of each group."""
    if len(numbers) == int(numbers.max()) + 1:
        return table
    sums = np.zeros((int(numbers.max()) + 1, table.shape[1]))
    np.add.at(sums, numbers, table)
    return sums


def is_sparse(tables: Sequence[Floats]) -> bool:
    """Return whether tables are wide and nearly empty."""
    wide = tables[0].shape[1] >= WIDE
    return wide and all(np.count_nonzero(table) <= FILLED * table.size for table in tables)


def _rows_at_once(units: int, width: int) -> int:
    return max(1, SPARSE_BLOCK // max(units, width, 1))


def bootstrap_sparse(
    systems: Sequence[Floats], score: ScoreOfSums, *, replicates: int, seed: int
) -> Replicates:
    """Return scores as `bootstrap_sums` does, for sparse tables."""
    from scipy.sparse import csr_array  # slow to import

    units, width = systems[0].shape
    turned = [csr_array(table.T) for table in systems]
    source = np.random.default_rng([seed, units])
    scores = []
    size = _rows_at_once(units, width)
    for start in range(0, replicates, size):
        rows = min(size, replicates - start)
        places = source.integers(0, units, (rows, units)) + units * np.arange(rows)[:, None]
        drawn = np.bincount(places.ravel(), minlength=rows * units).reshape(rows, units)
        weights = np.ascontiguousarray(drawn.T, np.float64)
        scores.append(np.column_stack([score((table @ weights).T) for table in turned]))
    observed = [score(table.sum(axis=0, keepdims=True))[0] for table in systems]
    return Replicates(np.concatenate(scores), np.array(observed), units, seed)


def randomize_sparse(
    first: Floats,
    second: Floats,
    score: ScoreOfSums,
    *,
    alternative: Alternative,
    replicates: int,
    seed: int,
) -> Outcome:
    """Return a test as `randomize_sums` does, for sparse tables, by random swaps."""
    from scipy.sparse import csr_array  # slow to import

    observed, tie = observed_difference(first, second, score)
    total = (first + second).sum(axis=0)
    gaps = first - second
    turned = csr_array(gaps[(gaps != 0).any(axis=1)].T)
    width, units = turned.shape
    source = np.random.default_rng([seed, len(first)])
    size = _rows_at_once(units, width)
    far = 0
    for start in range(0, replicates, size):
        rows = min(size, replicates - start)
        signs = 2.0 * source.integers(0, 2, (units, rows), dtype=np.int8) - 1.0
        sums = (total + (turned @ signs).T) / 2
        differences = score(sums) - score(total - sums)
        far += int(assignments_out(differences, observed, tie, alternative).sum())
    drawn = PValue.monte_carlo(far, replicates, seed)
    return drawn.outcome("randomization", observed, alternative, len(first))

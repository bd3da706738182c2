"""Measure false claims and power with several systems: Romano-Wolf, Tukey, Holm and MaxT.

A cell is a null hypothesis, a measure, a number of topics and a number of systems; its draws come
half from TREC ad hoc 5 and half from ad hoc 6. All pairs are compared; Romano-Wolf also with the
first system as the baseline, two-sided and one-sided. In all cells the systems have equal expected
scores, so that any pair that is called different (at .05) is a false claim:

centred
    Real systems, shifted to a common mean; topics are drawn with replacement. The joint
    distribution is that of real systems.
mixture
    Every system but the first is a mixture of a worse and a better real system with the mean of
    the first, tied by a Gaussian copula (as in ``error_rates.py``).
permutation
    The scores of real systems are permuted within each topic: exchangeable.
split
    Every system is the same real system on topics of its own: exchangeable and independent.
copy
    As centred, but the last system is a copy of the first with another score on six topics of the
    fifty, by amounts that are very unequal and sum to 0.

For power, half of the centred systems are better by .05, and the share of the true differences that
are found is counted, with all steps of the stepwise procedures.

With ``--order`` two and three equally good systems are compared by heldout's own default in
measures of order: by median absolute error where all systems have errors of the same distribution
(exchangeable), or of different ones with the same median (unequal), and by Spearman's correlation
and average precision. It needs no matrices.

With ``--few`` heldout's own `romano_wolf` is called instead, for 5, 8, 10 and 14 topics: below 15
it has rules of its own.

Under these nulls the first step decides whether there is any claim, so that only the largest
statistic is needed. Draws of a batch share the counts of the bootstrap (and the signs of MaxT).
"""

from __future__ import annotations

import argparse
import time
from itertools import product
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numba import njit
from scipy.special import ndtr, stdtr, stdtrit

from error_rates import is_smooth, load, mean_of
from harness import save
from heldout import compare
from heldout.infer.blocks import critical_range, range_tail
from heldout.infer.romano_wolf import romano_wolf

Array = np.ndarray

ALPHA = 0.05
BATCH = 40
MEASURES = ("ap", "p10", "rr")
NULLS = ("centred", "mixture", "permutation", "split", "copy")
CHANGED = 6
FEW_UNITS = (5, 8, 10, 14)
BY_ROMANO_WOLF = ("romano-wolf", "rw baseline", "rw one-sided")
GAIN = 0.05
LARGEST_RATE = 0.055
ONE_PERCENT = 2.326


class Source(NamedTuple):
    """A topic x system matrix, and what draws need of it."""

    scores: Array
    ordered: Array
    means: Array
    ranks: Array
    correlations: Array
    smooth: bool

    @classmethod
    def of(cls, scores: Array) -> Source:
        """Of a matrix of topics x systems."""
        smooth = is_smooth(scores)
        means = np.array([mean_of(column, smooth=smooth) for column in scores.T])
        with np.errstate(invalid="ignore", divide="ignore"):
            correlations = np.nan_to_num(np.corrcoef(scores.T))
        ranks = np.argsort(means, kind="stable")
        return cls(scores, np.sort(scores, 0), means, ranks, correlations, smooth)


class Cell(NamedTuple):
    """What a row of the table is about."""

    null: str
    measure: str
    units: int
    systems: int


def draw(source: Source, cell: Cell, draws: int, generator: np.random.Generator) -> Array:
    """Scores of systems with equal expected scores: draws x units x systems."""
    if cell.null == "mixture":
        return _draw_mixtures(source, cell, draws, generator)
    topics, systems = source.scores.shape
    chosen = np.argsort(generator.random((draws, systems)), 1)[:, : cell.systems]
    if cell.null == "split":
        rows = generator.integers(0, topics, (draws, cell.units, cell.systems))
        return source.scores[rows, chosen[:, :1, None]]
    rows = generator.integers(0, topics, (draws, cell.units))
    found = source.scores[rows[:, :, None], chosen[:, None, :]]
    if cell.null == "permutation":
        return generator.permuted(found, axis=2)
    found = np.asarray(found - source.scores.mean(0)[chosen][:, None, :])
    if cell.null == "copy":
        found[:, :, -1] = found[:, :, 0]
        changes = np.stack([_changes(topics, generator) for _ in range(draws)])
        found[:, :, -1] += np.take_along_axis(changes, rows, 1)
    return found


def _changes(topics: int, generator: np.random.Generator) -> Array:
    """Changes of the scores of a copy: of a few topics, very unequal, with sum 0."""
    found = np.zeros(topics)
    changed = generator.choice(topics, CHANGED, replace=False)
    found[changed] = generator.choice([-1, 1], CHANGED) * generator.lognormal(-6, 2, CHANGED)
    found[changed[-1]] -= found.sum()
    return found


def _draw_mixtures(source: Source, cell: Cell, draws: int, generator: np.random.Generator) -> Array:
    systems = len(source.ranks)
    ordered_means = source.means[source.ranks]
    place = generator.integers(1, systems - 1, draws)
    target = ordered_means[place]
    partner = (generator.random(draws) * place).astype(int)
    rho = np.maximum(0, source.correlations[source.ranks[place], source.ranks[partner]])
    shape = (draws, cell.units, cell.systems)
    common = generator.standard_normal((draws, cell.units, 1))
    own = generator.standard_normal(shape)
    rho = rho[:, None, None]
    at = ndtr(np.sqrt(rho) * common + np.sqrt(1 - rho) * own)
    upper = np.searchsorted(ordered_means, target, "right")[:, None]
    lower = np.searchsorted(ordered_means, target, "left")[:, None]
    size = (draws, cell.systems)
    low = source.ranks[(generator.random(size) * upper).astype(int)]
    high = source.ranks[lower + (generator.random(size) * (systems - lower)).astype(int)]
    top, bottom = source.means[high], source.means[low]
    apart = top > bottom
    weight = np.where(apart, (top - target[:, None]) / np.where(apart, top - bottom, 1), 0.5)
    column = np.where(generator.random(shape) < weight[:, None], low[:, None], high[:, None])
    column[:, :, 0] = source.ranks[place][:, None]
    return _quantiles(source, at, column)


def _quantiles(source: Source, at: Array, column: Array) -> Array:
    topics = len(source.ordered)
    if not source.smooth:
        nearest = np.minimum((at * topics).astype(int), topics - 1)
        return np.asarray(source.ordered[nearest, column])
    place = np.clip(at * topics - 0.5, 0, topics - 1)
    below = np.minimum(place.astype(int), topics - 2)
    rest = place - below
    low, high = source.ordered[below, column], source.ordered[below + 1, column]
    return np.asarray(low * (1 - rest) + high * rest)


class Observed(NamedTuple):
    """A batch of draws: differences of pairs, and their statistics."""

    gaps: Array
    mean: Array
    variance: Array
    t: Array
    limit: Array


def observe(scores: Array, first: Array, second: Array) -> Observed:
    """Differences of the pairs, draws x units x pairs; a constant difference has t = 0."""
    gaps = scores[:, :, first] - scores[:, :, second]
    gaps[np.abs(gaps) <= 1e-12] = 0
    mean, variance = gaps.mean(1), gaps.var(1)
    flat = variance <= 1e-20
    t = np.abs(mean) * np.sqrt((gaps.shape[1] - 1) / np.where(flat, 1, variance))
    same = (gaps == 0).sum(1)
    units = gaps.shape[1]
    # The largest t that is possible, as in heldout.infer.romano_wolf.
    limit = np.sqrt((units - same) * (units - 1) / np.where(same > 0, same, 1e-30))
    return Observed(gaps, mean, variance, np.where(flat, 0, t), limit)


@njit(cache=True)
def _largest(
    means: Array, squares: Array, flat: Array, limit: Array, first: Array, second: Array
) -> Array:
    """The largest squared statistic (without its factor) of each replicate and draw.

    Of all pairs; of the pairs with the first system, which come first; and of those that speak
    against the first system, for one-sided tests.
    """
    replicates, draws, systems = means.shape
    found = np.zeros((3, draws, replicates), np.float32)
    for replicate in range(replicates):
        for at in range(draws):
            largest, one_side = np.float32(0), np.float32(0)
            for pair in range(len(first)):
                mean = means[replicate, at, first[pair]] - means[replicate, at, second[pair]]
                square = mean * mean
                variance = squares[replicate, at, pair] - square
                if variance > flat[at, pair]:
                    statistic = min(square / variance, limit[at, pair])
                    largest = max(largest, statistic)
                    if pair < systems - 1 and mean > 0:
                        one_side = max(one_side, statistic)
                if pair == systems - 2:
                    found[1, at, replicate] = largest
                    found[2, at, replicate] = one_side
            found[0, at, replicate] = largest
    return found


def bootstrap_moments(scores: Array, seen: Observed, counts: Array) -> tuple[Array, Array]:
    """Means of systems and mean squares of pairs in each replicate, centred on what was seen."""
    replicates, units = counts.shape
    centred = scores - scores.mean(1, keepdims=True)
    squares = (seen.gaps - seen.mean[:, None]) ** 2
    table = np.concatenate([centred, squares], 2).transpose(1, 0, 2).reshape(units, -1)
    found = counts @ np.ascontiguousarray(table, np.float32)
    found /= units
    found = found.reshape(replicates, len(scores), -1)
    return found[:, :, : scores.shape[2]], found[:, :, scores.shape[2] :]


def draw_counts(generator: np.random.Generator, replicates: int, units: int) -> Array:
    return generator.multinomial(units, np.full(units, 1 / units), replicates).astype(np.float32)


def romano_wolf_any(
    scores: Array, seen: Observed, pairs: tuple[Array, Array], counts: Array
) -> Array:
    """Whether the first step of Romano-Wolf rejects: rows all pairs, baseline, one-sided."""
    units, base = scores.shape[1], scores.shape[2] - 1
    means, squares = bootstrap_moments(scores, seen, counts)
    flat = np.maximum(1e-5 * seen.variance, 1e-20).astype(np.float32)
    limit = (seen.limit**2 / (units - 1)).astype(np.float32)
    largest = np.sqrt(_largest(means, squares, flat, limit, *pairs) * (units - 1))
    better = np.where(seen.mean[:, :base] > 0, seen.t[:, :base], 0)
    observed = np.stack([seen.t.max(1), seen.t[:, :base].max(1), better.max(1)])
    reached = (largest >= observed[:, :, None] - 1e-4).sum(2)
    p = (reached + 1) / (len(counts) + 1)
    # One-sided: half of the p-value of the absolute statistics too, as heldout does.
    either = ((largest[1] >= observed[2, :, None] - 1e-4).sum(1) + 1) / (len(counts) + 1)
    p[2] = np.maximum(p[2], either / 2)
    return np.asarray(p <= ALPHA)


def max_t_statistics(seen: Observed, signs: Array) -> tuple[Array, Array]:
    """|sum| / root of the sum of squares: replicates x draws x pairs, and as observed."""
    draws, units, pairs = seen.gaps.shape
    norm = np.sqrt((seen.gaps**2).sum(1))
    norm[norm == 0] = np.inf
    table = (seen.gaps / norm[:, None]).transpose(1, 0, 2).reshape(units, -1)
    drawn = np.abs(signs @ np.ascontiguousarray(table, np.float32))
    return drawn.reshape(len(signs), draws, pairs), np.abs(seen.mean) * units / norm


def tukey_ratios(scores: Array, seen: Observed) -> Array:
    """Differences of means in standard errors of a mean, on the error of the blocks."""
    units, systems = scores.shape[1:]
    rest = scores - scores.mean(2, keepdims=True)
    rest -= rest.mean(1, keepdims=True)
    error = (rest**2).sum((1, 2)) / ((units - 1) * (systems - 1))
    return np.asarray(np.abs(seen.mean) / np.sqrt(np.maximum(error, 1e-300) / units)[:, None])


def measure_level(
    sources: list[Source], cell: Cell, options: argparse.Namespace
) -> dict[str, float]:
    """The share of draws with any false claim."""
    second, first = np.triu_indices(cell.systems, 1)
    pairs, units = len(first), cell.units
    error_df = (units - 1) * (cell.systems - 1)
    largest_range = critical_range(ALPHA, cell.systems, error_df)
    largest_t = float(-stdtrit(units - 1, ALPHA / 2 / pairs))
    counts = dict.fromkeys((*BY_ROMANO_WOLF, "tukey", "holm", "maxt"), 0)
    draws, maxt_draws = 0, 0
    for number, source in enumerate(sources):
        generator = generator_of(cell, options.seed, number)
        for batch in range(-(-options.draws // (BATCH * len(sources)))):
            scores = draw(source, cell, BATCH, generator)
            seen = observe(scores, first, second)
            drawn = draw_counts(generator, options.replicates, units)
            claims = romano_wolf_any(scores, seen, (first, second), drawn)
            for name, claimed in zip(BY_ROMANO_WOLF, claims, strict=True):
                counts[name] += int(claimed.sum())
            counts["tukey"] += int((tukey_ratios(scores, seen).max(1) >= largest_range).sum())
            counts["holm"] += int((seen.t.max(1) >= largest_t).sum())
            draws += BATCH
            if batch % options.maxt_every == 0:
                signs = 2 * generator.integers(0, 2, drawn.shape).astype(np.float32) - 1
                statistics, observed = max_t_statistics(seen, signs)
                reached = (statistics.max(2) >= observed.max(1) - 1e-5).sum(0)
                counts["maxt"] += int(((reached + 1) / (len(signs) + 1) <= ALPHA).sum())
                maxt_draws += BATCH
    rates = {name: count / draws for name, count in counts.items()}
    rates["maxt"] = counts["maxt"] / maxt_draws
    return {"draws": draws, "maxt draws": maxt_draws, **rates}


def measure_few(matrices: dict[str, Source], options: argparse.Namespace) -> None:
    """The share of draws in which heldout makes any false claim with very few topics."""
    rates = []
    for systems, units in product(options.systems, FEW_UNITS):
        for measure, null in product(options.measures, options.nulls):
            cell = Cell(null, measure, units, systems)
            sources = [one for name, one in matrices.items() if name.endswith(measure)]
            claims: list[bool] = []
            for number, source in enumerate(sources):
                generator = generator_of(cell, options.seed, number)
                for scores in draw(source, cell, options.few // len(sources), generator):
                    found = romano_wolf(scores, replicates=options.replicates, seed=len(claims))
                    claims.append(bool(found.p.min() <= ALPHA))
            rates.append(float(np.mean(claims)))
        of_cells = rates[-len(options.measures) * len(options.nulls) :]
        print(f"k={systems} n={units}: mean {np.mean(of_cells):.4f}, largest {max(of_cells):.4f}")
    print(f"{len(rates)} cells of {options.few} draws: {np.mean(rates):.4f}, {max(rates):.4f}")


def draw_order(null: str, units: int, generator: np.random.Generator) -> tuple[Any, list[Array]]:
    """The truth, and the predictions of three systems that are equally good."""
    truth = generator.normal(size=units)
    if null == "unequal":  # normal, exponential and uniform errors with a median of 1
        errors = (
            generator.normal(size=units) / 0.6744897501960817,
            generator.exponential(size=units) / np.log(2),
            generator.uniform(0, 2, units),
        )
        return truth, [truth + generator.choice([-1, 1], units) * error for error in errors]
    if null == "classes":
        positive = generator.random(units) < 0.3
        return positive.astype(str), [positive + generator.normal(size=units) for _ in range(3)]
    return truth, [truth + generator.normal(size=units) for _ in range(3)]


def measure_order(options: argparse.Namespace) -> None:
    """The share of draws in which heldout makes any false claim by a measure of order."""
    cells = {
        "median-AE": ("exchangeable", "unequal"),
        "Spearman": ("exchangeable",),
        "average-precision": ("classes",),
    }
    kinds = [(measure, null) for measure, nulls in cells.items() for null in nulls]
    for (measure, null), systems, units in product(kinds, (2, 3), (50, 200)):
        claims = 0
        for number in range(options.order):
            generator = np.random.default_rng([options.seed, units, systems, number])
            truth, drawn = draw_order(null, units, generator)
            guesses = {f"s{at}": guess.tolist() for at, guess in enumerate(drawn[:systems])}
            found = compare(
                truth.tolist(),
                guesses,
                measure,
                replicates=options.replicates,
                seed=number,
                positive="True" if null == "classes" else None,
            )
            claims += any(claim.adjusted <= ALPHA for claim in found.claims)
        rate = claims / options.order
        error = np.sqrt(rate * (1 - rate) / options.order)
        print(f"{measure} {null} n={units} k={systems}: {rate:.4f} ± {error:.4f}", flush=True)


def generator_of(cell: Cell, seed: int, number: int) -> np.random.Generator:
    place = (NULLS.index(cell.null), MEASURES.index(cell.measure), cell.units, cell.systems)
    return np.random.default_rng(np.random.SeedSequence([seed, *place, number]))


def step_down(statistics: Array, observed: Array) -> Array:
    """Adjusted p-values of one draw: replicates x pairs against the observed statistics."""
    order = np.argsort(observed, kind="stable")
    maxima = np.maximum.accumulate(statistics[:, order], axis=1)
    p = ((maxima >= observed[order] - 1e-4).sum(0) + 1) / (len(statistics) + 1)
    found = np.empty(len(order))
    found[order] = np.maximum.accumulate(p[::-1])[::-1]
    return found


def holm(p: Array) -> Array:
    """Holm's adjusted p-values, a row a draw."""
    order = np.argsort(p, 1)
    factors = p.shape[1] - np.arange(p.shape[1])
    adjusted = np.maximum.accumulate(np.take_along_axis(p, order, 1) * factors, 1)
    found = np.empty_like(p)
    np.put_along_axis(found, order, np.minimum(adjusted, 1), 1)
    return found


def measure_power(
    sources: list[Source], cell: Cell, options: argparse.Namespace
) -> dict[str, float]:
    """The share of true differences that are found, if half of the systems are better."""
    second, first = np.triu_indices(cell.systems, 1)
    units, better = cell.units, cell.systems // 2
    true = (first >= better) & (second < better)
    found = {"romano-wolf": 0.0, "tukey": 0.0, "holm": 0.0, "maxt": 0.0}
    draws = 0
    for number, source in enumerate(sources):
        generator = generator_of(cell, options.seed + 1, number)
        for _ in range(-(-options.power_draws // (BATCH * len(sources)))):
            scores = draw(source, cell, BATCH, generator)
            scores[:, :, better:] += GAIN
            seen = observe(scores, first, second)
            drawn = draw_counts(generator, options.replicates, units)
            means, squares = bootstrap_moments(scores, seen, drawn)
            gaps = means[:, :, first] - means[:, :, second]
            variance = squares - gaps**2
            kept = variance > np.maximum(1e-5 * seen.variance, 1e-20)
            t = np.where(kept, np.abs(gaps) * np.sqrt((units - 1) / np.where(kept, variance, 1)), 0)
            t = np.minimum(t, seen.limit)
            signs = 2 * generator.integers(0, 2, drawn.shape).astype(np.float32) - 1
            flips, norms = max_t_statistics(seen, signs)
            error_df = (units - 1) * (cell.systems - 1)
            ranges = range_tail(tukey_ratios(scores, seen), cell.systems, error_df)
            p = {
                "romano-wolf": np.stack([step_down(t[:, at], seen.t[at]) for at in range(BATCH)]),
                "maxt": np.stack([step_down(flips[:, at], norms[at]) for at in range(BATCH)]),
                "tukey": np.asarray(ranges),
                "holm": holm(2 * stdtr(units - 1, -seen.t)),
            }
            right = true & (seen.mean > 0)
            for name, values in p.items():
                found[name] += float(((values <= ALPHA) & right).sum(1).sum()) / true.sum()
            draws += BATCH
    return {"draws": draws, **{name: count / draws for name, count in found.items()}}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--matrices", type=Path, help="folder of topic x system CSV files")
    parser.add_argument("--draws", type=int, default=20_000, help="null draws per cell")
    parser.add_argument("--power-draws", type=int, default=2_000, help="draws per cell of power")
    parser.add_argument("--maxt-every", type=int, default=5, help="MaxT on every Nth batch only")
    parser.add_argument("--replicates", type=int, default=999)
    parser.add_argument("--seed", type=int, default=18)
    parser.add_argument("--nulls", nargs="+", default=list(NULLS), choices=NULLS)
    parser.add_argument("--measures", nargs="+", default=list(MEASURES), choices=MEASURES)
    parser.add_argument("--units", type=int, nargs="+", default=[25, 50, 100])
    parser.add_argument("--systems", type=int, nargs="+", default=[4, 10])
    parser.add_argument("--few", type=int, metavar="DRAWS", help="draws per cell, 5 to 14 topics")
    parser.add_argument("--order", type=int, metavar="DRAWS", help="draws, measures of order")
    options = parser.parse_args()
    if options.order:
        measure_order(options)
        return
    if options.matrices is None or not list(options.matrices.glob("adhoc?_*.csv")):
        parser.error(
            "--matrices: expected a folder with adhoc5_ap.csv, adhoc6_ap.csv, adhoc5_p10.csv, … "
            "(topic x system scores of TREC ad hoc 5 and 6, julian-urbano/sigir2019-statistical)"
        )
    matrices = {name: Source.of(scores) for name, scores in load(options.matrices).items()}
    begin = time.process_time()
    results = []
    if options.few:
        measure_few(matrices, options)
        return
    cells = product(options.systems, options.units, options.measures, options.nulls)
    for systems, units, measure, null in cells:
        cell = Cell(null, measure, units, systems)
        sources = [one for name, one in matrices.items() if name.endswith(measure)]
        rates = measure_level(sources, cell, options)
        results.append({**cell._asdict(), **rates})
        print_row("level", cell, rates, begin)
    summarise(results)
    if options.power_draws:
        for systems, units, measure in product(options.systems, options.units, options.measures):
            cell = Cell("centred", measure, units, systems)
            sources = [one for name, one in matrices.items() if name.endswith(measure)]
            rates = measure_power(sources, cell, options)
            results.append({**cell._asdict(), "null": "power", **rates})
            print_row("power", cell, rates, begin)
    save("several_systems", results)


def print_row(what: str, cell: Cell, rates: dict[str, float], begin: float) -> None:
    shown = "  ".join(f"{name} {rate:.4f}" for name, rate in rates.items() if rate <= 1)
    where = f"{cell.null:11} {cell.measure:4} n={cell.units:<4} k={cell.systems:<3}"
    seconds = time.process_time() - begin
    print(f"{what} {where} {rates['draws']:,.0f} draws: {shown}  ({seconds:.0f} s)", flush=True)


def summarise(results: list[dict[str, Any]]) -> None:
    """The mean level of each procedure, and the cells that are significantly above .055."""
    for name in (*BY_ROMANO_WOLF, "tukey", "holm", "maxt"):
        rates = np.array([row[name] for row in results])
        draws = np.array([row["maxt draws" if name == "maxt" else "draws"] for row in results])
        bound = LARGEST_RATE + ONE_PERCENT * np.sqrt(LARGEST_RATE * (1 - LARGEST_RATE) / draws)
        print(
            f"{name}: mean {rates.mean():.4f}, least {rates.min():.4f}, largest {rates.max():.4f}, "
            f"{int((rates > bound).sum())} of {len(rates)} cells significantly above {LARGEST_RATE}"
        )


if __name__ == "__main__":
    main()

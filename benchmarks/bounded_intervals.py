"""Coverage of intervals of bounded measures near an end of their range.

A t interval of a mean that is close to 0 or 1 often reaches beyond it. Cutting it there changes
nothing about its coverage. Here each way of keeping the interval inside the range replaces the
plain interval only where that leaves the range. Coverage is counted on all draws, and on those
where the plain interval leaves the range, with the mean width there (of the part inside).

Cells:

- a system of a TREC matrix with a mean near 0 (P@10, RR, AP), or near 1 (1 - value): n topics with
  replacement from its 50, the truth being the mean of the 50;
- a run that lacks most queries: AP where 4 or 10 % of the queries have a value and the others 0;
- accuracy near 1 over ten folds, by the corrected t interval: nearest centroids of two normal
  classes, the truth being the expected accuracy of a model trained on nine tenths of n units;
  also with Wilson's interval over units where all folds are perfect and t has no width;
- AUC near 1 by DeLong, binormal scores;
- differences of RR and P@10 between two systems of a matrix, range [-1, 1], few topics;
- absolute errors of an exponential distribution, range [0, ∞).

    python benchmarks/bounded_intervals.py folder-of-trec-matrices [--draws 20000] [--skewed]

Draws of nothing but 0 and 1 have Wilson's interval, as in heldout. A second table has the means
again, and Hall's interval for skewed values: everywhere, and as heldout takes it, only where the
skewness of the values drawn exceeds `SKEWED` roots of n.

The folder holds topic x system tables ``adhoc5_rr.csv``, ``adhoc5_p10.csv``, ``adhoc5_ap.csv``, or
those of ``adhoc6``.
"""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from scipy.special import betaincinv, expit, logit, ndtr, stdtrit

from heldout.infer.intervals import HALL_NEEDS, SKEWED, skewness, wilson

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from numpy.typing import NDArray

    Floats = NDArray[np.float64]
    Bounds = tuple[Floats, Floats]
    Range = tuple[float, float]

LEVEL = 0.95
Z = 1.959963984540054


class Cell(NamedTuple):
    """Estimates and half-widths of plain intervals over all draws, and the truth."""

    name: str
    estimate: Floats
    half: Floats
    truth: float
    range: Range = (0.0, 1.0)
    skewness: Floats | None = None
    units: int = 0


def score(estimate: Floats, half: Floats, ends: Range) -> Bounds:
    """Variance proportional to (m - low)(high - m) at each mean m: Wilson's idea."""
    below, above = (np.maximum(one, 1e-300) for one in (estimate - ends[0], ends[1] - estimate))
    lean = half**2 * (1 / below - 1 / above)
    curve = 1 + half**2 / below / above
    root = np.sqrt(lean**2 + 4 * curve * half**2)
    return estimate + (lean - root) / (2 * curve), estimate + (lean + root) / (2 * curve)


def outer(estimate: Floats, half: Floats, ends: Range) -> Bounds:
    """Only the bound that left the range is replaced by that of `score`."""
    low, high = score(estimate, half, ends)
    plain = estimate - half, estimate + half
    return np.where(plain[0] < ends[0], low, plain[0]), np.where(plain[1] > ends[1], high, plain[1])


def transformed(
    there: Callable[[Floats], Floats],
    back: Callable[[Floats], Floats],
    slope: Callable[..., Floats],
) -> Callable[[Floats, Floats, Range], Bounds]:
    def bounds(estimate: Floats, half: Floats, ends: Range) -> Bounds:
        width = ends[1] - ends[0]
        if not np.isfinite(width):  # log instead
            ratio = half / np.maximum(estimate, 1e-300)
            return estimate * np.exp(-ratio), estimate * np.exp(np.minimum(ratio, 700.0))
        share = np.clip((estimate - ends[0]) / width, 1e-12, 1 - 1e-12)
        centre, reach = there(share), half / width * slope(share)
        low, high = back(centre - reach), back(centre + reach)
        return ends[0] + width * low, ends[0] + width * high

    return bounds


def beta(estimate: Floats, half: Floats, ends: Range) -> Bounds:
    """Quantiles of the beta distribution with this mean and standard error."""
    width = ends[1] - ends[0]
    if not np.isfinite(width):
        return estimate - half, estimate + half
    share = np.clip((estimate - ends[0]) / width, 1e-12, 1 - 1e-12)
    error = np.maximum(half / width / Z, 1e-12)
    size = np.maximum(share * (1 - share) / error**2 - 1, 1e-3)
    tails = (betaincinv(share * size, (1 - share) * size, p) for p in (0.025, 0.975))
    low, high = (ends[0] + width * one for one in tails)
    return low, high


METHODS: dict[str, Callable[[Floats, Floats, Range], Bounds]] = {
    "t, plain or cut": lambda estimate, half, _: (estimate - half, estimate + half),
    "score": score,
    "score, outer bound only": outer,
    "logit": transformed(logit, expit, lambda p: 1 / (p * (1 - p))),
    "arcsine": transformed(
        lambda p: np.arcsin(np.sqrt(p)),
        lambda a: np.sin(np.clip(a, 0, np.pi / 2)) ** 2,
        lambda p: 0.5 / np.sqrt(p * (1 - p)),
    ),
    "beta": beta,
}


def t_cell(name: str, values: Floats, truth: float, ends: Range = (0.0, 1.0)) -> Cell:
    """Draws x units: plain t intervals."""
    n = values.shape[1]
    factor = float(stdtrit(n - 1, (1 + LEVEL) / 2))
    mean, half = values.mean(axis=1), factor * values.std(axis=1, ddof=1) / np.sqrt(n)
    if ends == (0.0, 1.0):
        binary = ((values == 0) | (values == 1)).all(axis=1)
        found = np.array([wilson(round(n * one), n)[1:3] for one in mean[binary]]).reshape(-1, 2)
        mean[binary], half[binary] = found.mean(axis=1), (found[:, 1] - found[:, 0]) / 2
        half[binary] *= 1 - 1e-12  # not outside by rounding
    return Cell(name, mean, half, truth, ends, skewness(values.T), n)


def hall(cell: Cell) -> Bounds:
    """Hall's (1992) cubic transformation of t, which takes the skewness off; cut at the ends."""
    assert cell.skewness is not None
    root = np.sqrt(cell.units)
    factor = float(stdtrit(cell.units - 1, (1 + LEVEL) / 2))
    lean = np.where(np.abs(cell.skewness) < 1e-9, 1e-9, cell.skewness) / root
    error = cell.half / factor

    def quantile(t: float) -> Floats:
        return np.asarray(3 / lean * (np.cbrt(1 + lean * (t - lean / 6)) - 1))

    low, high = cell.estimate - error * quantile(factor), cell.estimate - error * quantile(-factor)
    return np.clip(low, *cell.range), np.clip(high, *cell.range)


def drawn(population: Floats, n: int, draws: int, generator: np.random.Generator) -> Floats:
    return population[generator.integers(0, len(population), (draws, n))]


def matrix_cells(folder: Path, draws: int, seed: int) -> Iterator[Cell]:
    """Systems near an end; ten of them for each measure and number of topics."""
    generator = np.random.default_rng([seed, 1])
    for measure in ("p10", "rr", "ap"):
        table = read_matrix(matrix_path(folder, measure))
        by_mean = table[:, np.argsort(table.mean(axis=0))]
        ends = {"low": by_mean[:, :10], "high": by_mean[:, -10:], "middle": by_mean[:, 25:35]}
        for end, part in ends.items():
            # The best systems are far from 1 in AP and P@10: only RR comes near.
            if end == "high" and measure != "rr":
                continue
            for n in (10, 25, 50):
                for column in part.T:
                    name = f"{measure.upper()} {end} mean, {n} topics"
                    yield t_cell(
                        name, drawn(column, n, draws // 10, generator), float(column.mean())
                    )


def lacking_cells(folder: Path, draws: int, seed: int) -> Iterator[Cell]:
    generator = np.random.default_rng([seed, 2])
    table = read_matrix(matrix_path(folder, "ap"))
    column = table[:, np.argsort(table.mean(axis=0))[-1]]
    for share in (0.04, 0.1):
        for n in (50, 200):
            values = drawn(column, n, draws, generator)
            values *= generator.random(values.shape) < share
            yield t_cell(
                f"run with {share:.0%} of queries, n = {n}", values, share * float(column.mean())
            )


def fold_cells(draws: int, seed: int) -> Iterator[Cell]:
    """Ten folds of nearest centroids; classes at ± gap/2 in five dimensions."""
    for n in (100, 300):
        for gap in (3.5, 4.5):
            generator = np.random.default_rng([seed, 3, n, int(10 * gap)])
            cell = _folds(n, gap, draws // 4, generator)
            yield cell
            yield _perfect_by_units(cell, n)


def _folds(n: int, gap: float, draws: int, generator: np.random.Generator) -> Cell:
    dimensions, k = 5, 10
    truth, scores = np.empty((draws, k)), np.empty((draws, k))
    label = np.arange(n) % 2 * 2 - 1
    shift = np.zeros(dimensions)
    shift[0] = gap / 2
    for draw in range(draws):
        points = generator.standard_normal((n, dimensions)) + label[:, None] * shift
        fold = generator.permutation(n) % k
        for at in range(k):
            train, test = fold != at, fold == at
            means = [points[train & (label == side)].mean(axis=0) for side in (-1, 1)]
            normal, middle = means[1] - means[0], (means[0] + means[1]) / 2
            scores[draw, at] = ((points[test] - middle) @ normal * label[test] > 0).mean()
            length = np.linalg.norm(normal)
            edges = [(side * shift - middle) @ normal * side / length for side in (-1, 1)]
            truth[draw, at] = ndtr(edges).mean()
    factor = float(stdtrit(k - 1, (1 + LEVEL) / 2))
    half = factor * np.sqrt(scores.var(axis=1, ddof=1) * (1 / k + 1 / (k - 1)))
    name = f"accuracy {truth.mean():.3f} over 10 folds, n = {n}"
    return Cell(name, scores.mean(axis=1), half, float(truth.mean()))


def _perfect_by_units(cell: Cell, n: int) -> Cell:
    """Wilson's interval over units, [low, 1], in draws where every fold is perfect."""
    low = n / (n + Z * Z)
    perfect = (cell.half == 0) & (cell.estimate == 1)
    estimate = np.where(perfect, (1 + low) / 2, cell.estimate)
    half = np.where(perfect, (1 - low) / 2, cell.half)
    return cell._replace(name=f"{cell.name}, Wilson if perfect", estimate=estimate, half=half)


def auc_cells(draws: int, seed: int) -> Iterator[Cell]:
    generator = np.random.default_rng([seed, 4])
    for each in (10, 25, 50):
        for gap in (2.0, 2.8):
            positive = generator.standard_normal((draws // 2, each, 1)) + gap
            negative = generator.standard_normal((draws // 2, 1, each))
            above = positive > negative
            one, other = above.mean(axis=2), above.mean(axis=1)
            error = np.sqrt((one.var(axis=1, ddof=1) + other.var(axis=1, ddof=1)) / each)
            truth = float(ndtr(gap / np.sqrt(2)))
            yield Cell(
                f"AUC {truth:.3f}, {each} + {each} units", one.mean(axis=1), Z * error, truth
            )


def difference_cells(folder: Path, draws: int, seed: int) -> Iterator[Cell]:
    generator = np.random.default_rng([seed, 5])
    for measure in ("rr", "p10"):
        table = read_matrix(matrix_path(folder, measure))
        by_mean = table[:, np.argsort(table.mean(axis=0))]
        for n in (3, 5, 10):
            for first, second in ((-1, 0), (-1, 20), (-2, -20)):
                gaps = by_mean[:, first] - by_mean[:, second]
                name = f"difference of {measure.upper()}, {n} topics"
                yield t_cell(
                    name, drawn(gaps, n, draws // 3, generator), float(gaps.mean()), (-1.0, 1.0)
                )


def error_cells(draws: int, seed: int) -> Iterator[Cell]:
    generator = np.random.default_rng([seed, 6])
    for n in (3, 5, 10, 25):
        values = generator.exponential(1.0, (draws, n))
        yield t_cell(f"exponential errors, n = {n}", values, 1.0, (0.0, np.inf))


def matrix_path(folder: Path, measure: str) -> Path:
    """Of the first matrix with this measure: ad hoc 5, unless only others are there."""
    return min(folder.glob(f"adhoc?_{measure}.csv"))


def read_matrix(path: Path) -> Floats:
    """Topics x systems, below a row of names."""
    table: Floats = np.genfromtxt(path, delimiter=",", skip_header=1)
    return table


def joined(cells: Iterator[Cell]) -> dict[str, list[Cell]]:
    found: dict[str, list[Cell]] = {}
    for cell in cells:
        found.setdefault(cell.name, []).append(cell)
    return found


class Found(NamedTuple):
    """Of one method, draw by draw: whether the truth was covered, and how wide it was."""

    covered: NDArray[np.bool_]
    width: Floats


def apply(cell: Cell, method: str, left: NDArray[np.bool_]) -> Found:
    """The method where the plain interval leaves the range, else the plain interval."""
    with np.errstate(all="ignore"):
        bounds = METHODS[method](cell.estimate, cell.half, cell.range)
    low = np.where(left, bounds[0], cell.estimate - cell.half)
    high = np.where(left, bounds[1], cell.estimate + cell.half)
    covered = (low <= cell.truth) & (cell.truth <= high)
    return Found(covered, np.clip(high, *cell.range) - np.clip(low, *cell.range))


def row(name: str, cells: list[Cell]) -> str:
    outside = [
        (cell.estimate - cell.half < cell.range[0]) | (cell.estimate + cell.half > cell.range[1])
        for cell in cells
    ]
    left = np.concatenate(outside)
    shown = []
    for method in METHODS:
        found = [apply(cell, method, out) for cell, out in zip(cells, outside, strict=True)]
        covered = np.concatenate([one.covered for one in found])
        width = np.concatenate([one.width for one in found])
        if left.any():
            share, mean = 100 * covered[left].mean(), width[left].mean()
            shown.append(f"{100 * covered.mean():.1f} / {share:.1f} / {mean:.3f}")
        else:
            shown.append(f"{100 * covered.mean():.1f} / – / –")
    return f"| {name} | {100 * left.mean():.1f} | {' | '.join(shown)} |"


def skewed_row(name: str, cells: list[Cell]) -> str:
    """Coverage and width of bounded intervals, of Hall's, and of Hall's where values are skewed."""
    parts = []
    for cell in cells:
        assert cell.skewness is not None
        bounds = np.array([cell.estimate - cell.half, cell.estimate + cell.half])
        left = (bounds[0] < cell.range[0]) | (bounds[1] > cell.range[1])
        bounded = apply(cell, "score", left)
        low, high = hall(cell)
        by_hall = (low <= cell.truth) & (cell.truth <= high)
        skewed = np.abs(cell.skewness) > SKEWED * np.sqrt(cell.units)
        chosen = np.where(skewed, by_hall, bounded.covered)
        widths = bounded.width, high - low, np.where(skewed, high - low, bounded.width)
        parts.append([skewed, bounded.covered, by_hall, chosen, *widths])
    found = np.concatenate(parts, axis=1)
    skewed, *rest = found.mean(axis=1)
    there = found[3, found[0] > 0].mean() if skewed else np.nan
    shown = [f"{100 * one:.1f}" for one in (skewed, *rest[:3], there)]
    shown += [f"{rest[4] / rest[3]:.2f}", f"{rest[5] / rest[3]:.2f}"]
    return f"| {name} | {' | '.join(shown)} |"


def skewed_table(folder: Path, draws: int, seed: int) -> None:
    print(
        f"\nSkewness above {SKEWED} root(n): coverage in %, widths over that of bounded intervals"
    )
    heads = ["skewed, %", "bounded", "Hall", "heldout", "heldout, skewed", "width: Hall", "heldout"]
    print(f"| cell | {' | '.join(heads)} |")
    print("|---|" + "---:|" * len(heads))
    for cells in (
        matrix_cells(folder, draws, seed),
        lacking_cells(folder, draws, seed),
        error_cells(draws, seed),
    ):
        for name, group in joined(cells).items():
            if group[0].units >= HALL_NEEDS:
                print(skewed_row(name, group), flush=True)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--draws", type=int, default=20_000)
    parser.add_argument("--seed", type=int, default=18)
    parser.add_argument("--skewed", action="store_true", help="the second table alone")
    options = parser.parse_args()
    folder, draws, seed = options.folder, options.draws, options.seed
    if options.skewed:
        skewed_table(folder, draws, seed)
        return
    print(
        f"Coverage in %, all draws / draws whose plain interval leaves the range; {draws:,} draws"
    )
    print(f"| cell | leaves the range, % | {' | '.join(METHODS)} |")
    print("|---|---:|" + "---:|" * len(METHODS))
    for cells in (
        matrix_cells(folder, draws, seed),
        lacking_cells(folder, draws, seed),
        fold_cells(draws, seed),
        auc_cells(draws, seed),
        difference_cells(folder, draws, seed),
        error_cells(draws, seed),
    ):
        for name, group in joined(cells).items():
            print(row(name, group), flush=True)
    skewed_table(folder, draws, seed)


if __name__ == "__main__":
    main()

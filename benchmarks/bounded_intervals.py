"""Coverage of intervals of bounded measures near an end of their range, and of skewed scores.

A t interval of a mean that is close to 0 or 1 often reaches beyond it; cutting it there changes
nothing about its coverage. Beside it are the bounded interval, which heldout takes where the plain
one leaves the range, and one on the logit scale; for means also Hall's interval, and what heldout
reports: Hall's where the values drawn are skewed, else the bounded one. Cells:

- a system of a TREC matrix with a mean near 0 (P@10, RR, AP), in the middle, or near 1 (RR): n
  topics with replacement from its 50, the truth being the mean of the 50; ten systems each;
- a run that lacks most queries: AP where 4 or 10 % of the queries have a value and the others 0;
- accuracy near 1 over ten folds, by the corrected t interval: nearest centroids of two normal
  classes, the truth being the expected accuracy of a model trained on nine tenths of n units.
  Bounded is Wilson's over units where all folds are perfect and t has no width;
- AUC near 1 by DeLong, binormal scores;
- differences of RR and P@10 between two systems of a matrix, range [-1, 1], few topics;
- absolute errors of an exponential distribution, range [0, ∞).

    python benchmarks/bounded_intervals.py FOLDER [--track adhoc6] [--draws 20000]

The folder holds topic x system tables ``adhoc5_rr.csv``, ``adhoc5_p10.csv``, ``adhoc5_ap.csv``.
"""

from __future__ import annotations

import argparse
import math
from itertools import product
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from scipy.special import ndtr

from error_rates import load
from harness import show
from heldout.infer.intervals import (
    HALL_NEEDS,
    area_interval,
    corrected_t,
    difference_inside,
    hall_interval,
    inside,
    mean_interval,
    t_interval,
    wilson,
)

if TYPE_CHECKING:
    from collections.abc import Iterator

    from heldout.data.words import Flags, Floats
    from heldout.infer.results import Interval

LEVEL = 0.95
UNIT = (0.0, 1.0)


class Drawn(NamedTuple):
    """The intervals of one draw; Hall's and heldout's own are of means only."""

    plain: Interval
    bounded: Interval
    hall: Interval | None = None
    own: Interval | None = None


class Cell(NamedTuple):
    """The intervals of all draws of a row, each with its truth."""

    name: str
    drawn: list[tuple[Drawn, float]]
    ends: tuple[float, float] = UNIT


def of_mean(values: Floats, ends: tuple[float, float]) -> Drawn:
    binary = ends == UNIT and set(np.unique(values)) <= {0.0, 1.0}
    plain = wilson(int(values.sum()), len(values)) if binary else t_interval(values)
    bounded = inside(plain, ends)
    if len(values) < HALL_NEEDS:
        return Drawn(plain, bounded)
    hall = plain if binary else hall_interval(values)
    hall = hall._replace(low=max(hall.low, ends[0]), high=min(hall.high, ends[1]))
    return Drawn(plain, bounded, hall, mean_interval(values, LEVEL, ends))


def logit(plain: Interval, ends: tuple[float, float]) -> tuple[float, float]:
    """The plain interval on the logit scale, or of logarithms if the range has no upper end."""
    half = plain.high - plain.estimate
    if math.isinf(ends[1]):
        ratio = min(half / max(plain.estimate, 1e-300), 700.0)
        return plain.estimate * math.exp(-ratio), plain.estimate * math.exp(ratio)
    width = ends[1] - ends[0]
    share = min(max((plain.estimate - ends[0]) / width, 1e-12), 1 - 1e-12)
    centre, reach = math.log(share / (1 - share)), half / width / (share * (1 - share))
    # The inverse logit by tanh, which does not overflow.
    bounds = (0.5 + math.tanh((centre + side * reach) / 2) / 2 for side in (-1, 1))
    low, high = (ends[0] + width * one for one in bounds)
    return low, high


# Cells


def with_replacement(values: Floats, n: int, draws: int, generator: np.random.Generator) -> Floats:
    return values[generator.integers(0, len(values), (draws, n))]


def means(name: str, values: Floats, truth: float, ends: tuple[float, float] = UNIT) -> Cell:
    return Cell(name, [(of_mean(one, ends), truth) for one in values], ends)


def matrix_cells(tables: dict[str, Floats], draws: int, seed: int) -> Iterator[Cell]:
    generator = np.random.default_rng([seed, 1])
    places = {"low": slice(10), "high": slice(-10, None), "middle": slice(25, 35)}
    for measure, end, n in product(("p10", "rr", "ap"), places, (10, 25, 50)):
        # The best systems are far from 1 in AP and P@10: only RR comes near.
        if end == "high" and measure != "rr":
            continue
        rows = []
        for column in tables[measure][:, places[end]].T:
            values = with_replacement(column, n, draws // 10, generator)
            rows += means("", values, float(column.mean())).drawn
        yield Cell(f"{measure.upper()} {end} mean, {n} topics", rows)


def lacking_cells(tables: dict[str, Floats], draws: int, seed: int) -> Iterator[Cell]:
    generator = np.random.default_rng([seed, 2])
    column = tables["ap"][:, -1]
    for share, n in product((0.04, 0.1), (50, 200)):
        values = with_replacement(column, n, draws, generator)
        values *= generator.random(values.shape) < share
        yield means(f"run with {share:.0%} of {n} queries", values, share * float(column.mean()))


def fold_cells(draws: int, seed: int) -> Iterator[Cell]:
    """Ten folds of nearest centroids; classes at ± gap/2 in five dimensions."""
    for n, gap in product((100, 300), (3.5, 4.5)):
        generator = np.random.default_rng([seed, 3, n, int(10 * gap)])
        scores, truth = _folds(n, gap, draws // 4, generator)
        rows = []
        for folds in scores:
            plain = corrected_t(folds, 1 / 9)
            bounded = wilson(n, n) if folds.min() == 1 else inside(plain, UNIT)
            rows.append((Drawn(plain, bounded), truth))
        yield Cell(f"accuracy {truth:.3f} over 10 folds, n = {n}", rows)


def _folds(n: int, gap: float, draws: int, generator: np.random.Generator) -> tuple[Floats, float]:
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
    return scores, float(truth.mean())


def auc_cells(draws: int, seed: int) -> Iterator[Cell]:
    generator = np.random.default_rng([seed, 4])
    for each, gap in product((10, 25, 50), (2.0, 2.8)):
        positive = generator.standard_normal((draws // 2, each, 1)) + gap
        negative = generator.standard_normal((draws // 2, 1, each))
        above, truth, rows = positive > negative, float(ndtr(gap / np.sqrt(2))), []
        for one in above:
            sides = one.mean(axis=1), one.mean(axis=0)
            error = math.sqrt(sum(side.var(ddof=1) for side in sides) / each)
            bounded = area_interval(float(one.mean()), error, LEVEL)
            half = 1.959963984540054 * error
            plain = bounded._replace(low=bounded.estimate - half, high=bounded.estimate + half)
            rows.append((Drawn(plain, bounded), truth))
        yield Cell(f"AUC {truth:.3f}, {each} + {each} units", rows)


def difference_cells(tables: dict[str, Floats], draws: int, seed: int) -> Iterator[Cell]:
    generator = np.random.default_rng([seed, 5])
    for measure, n in product(("rr", "p10"), (3, 5, 10)):
        rows = []
        for first, second in ((-1, 0), (-1, 20), (-2, -20)):
            gaps = tables[measure][:, first] - tables[measure][:, second]
            for values in with_replacement(gaps, n, draws // 3, generator):
                plain = t_interval(values)
                rows.append((Drawn(plain, difference_inside(plain, UNIT)), float(gaps.mean())))
        yield Cell(f"difference of {measure.upper()}, {n} topics", rows, (-1.0, 1.0))


def error_cells(draws: int, seed: int) -> Iterator[Cell]:
    generator = np.random.default_rng([seed, 6])
    for n in (3, 5, 10, 25):
        values = generator.exponential(1.0, (draws, n))
        yield means(f"exponential errors, n = {n}", values, 1.0, (0.0, math.inf))


def row(cell: Cell) -> list[str]:
    """Coverage of all draws (and of those whose plain interval leaves the range), in per cent."""
    low, high = cell.ends
    truths = np.array([truth for _, truth in cell.drawn])

    def bounds(each: list[tuple[float, float]]) -> Floats:
        return np.array(each).T

    def covers(found: Floats) -> Flags:
        return np.asarray((found[0] <= truths) & (truths <= found[1]))

    def shown(hits: Flags) -> str:
        inner = f" ({100 * hits[left].mean():.1f})" if left.any() else ""
        return f"{100 * hits.mean():.1f}{inner}"

    plain = bounds([(one.plain.low, one.plain.high) for one, _ in cell.drawn])
    bounded = bounds([(one.bounded.low, one.bounded.high) for one, _ in cell.drawn])
    left = (plain[0] < low) | (plain[1] > high)
    scaled = bounds([logit(one.plain, cell.ends) for one, _ in cell.drawn])
    cells = [cell.name, f"{100 * left.mean():.1f}", shown(covers(plain)), shown(covers(bounded))]
    cells.append(shown(covers(np.where(left, scaled, plain))))
    if cell.drawn[0][0].hall is None:
        return [*cells, "–", "–", "–", "–"]
    hall = bounds([(one.hall.low, one.hall.high) for one, _ in cell.drawn if one.hall])
    own = bounds([(one.own.low, one.own.high) for one, _ in cell.drawn if one.own])
    skewed = np.mean([one.own.method == "Hall" for one, _ in cell.drawn if one.own])
    widths = [(np.clip(one[1], low, high) - np.clip(one[0], low, high)) for one in (own, bounded)]
    cells += [f"{100 * skewed:.1f}", f"{100 * covers(hall).mean():.1f}"]
    return [*cells, f"{100 * covers(own).mean():.1f}", f"{widths[0].mean() / widths[1].mean():.2f}"]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("folder", type=Path)
    parser.add_argument("--track", default="adhoc5")
    parser.add_argument("--draws", type=int, default=20_000)
    parser.add_argument("--seed", type=int, default=18)
    options = parser.parse_args()
    draws, seed, tables = options.draws, options.seed, {}
    for name, table in load(options.folder).items():
        track, measure = name.split("_")
        if track == options.track:
            tables[measure] = table[:, np.argsort(table.mean(axis=0))]
    cells = [
        matrix_cells(tables, draws, seed),
        lacking_cells(tables, draws, seed),
        fold_cells(draws, seed),
        auc_cells(draws, seed),
        difference_cells(tables, draws, seed),
        error_cells(draws, seed),
    ]
    title = f"Coverage in %, all draws (draws whose plain interval leaves the range); {draws:,}"
    heads = ["scores", "leave the range, %", "t, or cut", "bounded", "logit"]
    heads += ["skewed, %", "Hall", "heldout", "width, heldout / bounded"]
    show(title, heads, (row(cell) for group in cells for cell in group))


if __name__ == "__main__":
    main()

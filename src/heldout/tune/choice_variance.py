"""How much held-out scores depend on the choices made on the training sides.

The folds of one sample choose nearly the same point, because their training sides overlap. A score
over held-out units therefore has two sources of error: the units, which a t interval covers, and
the choices, which it treats as fixed. The second is estimated by choosing again: the units are
drawn with replacement, every split chooses on its training side of that draw, and the original
held-out units are scored under these choices.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final, NamedTuple

import numpy as np

from heldout.data.scores import ChoiceSpread
from heldout.tune.choice import TIE, choose, complete_units

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from numpy.typing import NDArray

    from heldout.data.words import Flags, Floats, Ints
    from heldout.resample.split import Split
    from heldout.tune import Rule

REPLICATES: Final = 200
_BLOCK: Final = 2**22
"""Numbers held at once."""


class Sides(NamedTuple):
    """The two sides of every split, each as (units, numbers)."""

    train: tuple[tuple[Ints, Ints], ...]  # units whose weight is not 1, and by how much it is more
    test: tuple[tuple[Ints, Ints], ...]  # the held-out units, and their weights
    units: int  # their number
    shared: bool  # whether units held out in one split are training units of another

    @classmethod
    def of(cls, splits: Iterable[Split]) -> Sides:
        """Return the sides of splits of queries."""
        train, test = [], []
        trains = tests = np.zeros(1, np.bool_)
        for split in splits:
            train.append(_places(split.train - 1))
            test.append(_places(split.test))
            trains, tests = trains | (split.train > 0), tests | (split.test > 0)
        return cls(tuple(train), tuple(test), len(trains), bool((trains & tests).any()))


def _places(counts: NDArray[np.signedinteger[Any]]) -> tuple[Ints, Ints]:
    places = np.flatnonzero(counts)
    return places, counts[places].astype(np.int64)


class TunedPoints(NamedTuple):
    """The scores of one system at every point of its grid."""

    values: Floats  # points × units, by the measure to compare
    choices: Ints | None  # replicates × splits, from `rechoose`; None: the system has one point


def draw_counts(units: int, replicates: int, seed: int) -> Ints:
    """Draw units with replacement; return how often each was drawn, replicates × units."""
    generator = np.random.default_rng([seed, 1_811])
    return generator.multinomial(units, np.full(units, 1 / units), size=replicates)


def rechoose(
    values: Floats,
    sides: Sides,
    counts: Ints,
    *,
    rule: Rule = "best",
    higher_is_better: bool = True,
) -> Ints:
    """Return the point chosen for every replicate and split.

    `values` (points × units) are those of the tuning measure, `counts` (replicates × units) how
    often a unit was drawn. As in `choose`, a unit on which some point is undefined is ignored.

    >>> from heldout.resample.plans import LeaveOneOut
    >>> sides = Sides.of(LeaveOneOut().splits(["a", "b"]))
    >>> rechoose(np.array([[0.2, 0.4], [0.1, 0.5]]), sides, np.array([[1, 1], [0, 2]])).tolist()
    [[0, 1], [0, 1]]
    """
    kept = complete_units(values)
    usable = np.where(kept, counts, 0)
    if rule != "best":
        return _one_by_one(values, sides, usable, rule, higher_is_better)
    better = np.where(np.isnan(values), 0.0, values if higher_is_better else -values)
    better[np.isnan(values).all(axis=1)] = -1e300  # never chosen
    better[:, ~kept] = 0.0
    # einsum and not @: the sums of BLAS depend on the number of threads.
    every = np.einsum("bq,pq->bp", usable.astype(np.float64), better)
    chosen = np.empty((len(counts), len(sides.train)), np.int64)
    for number, (places, more) in enumerate(sides.train):
        weights = (usable[:, places] * more).astype(np.float64)
        sums = every + np.einsum("bq,pq->bp", weights, better[:, places])
        top = sums.max(axis=1, keepdims=True)
        scale = np.maximum(np.abs(sums), np.abs(top))
        chosen[:, number] = np.argmax(top - sums <= TIE * scale, axis=1)
    return chosen


def _one_by_one(values: Floats, sides: Sides, counts: Ints, rule: Rule, higher: bool) -> Ints:
    """Choose by rules that use more than the means."""
    chosen = np.zeros((len(counts), len(sides.train)), np.int64)
    for number, (places, more) in enumerate(sides.train):
        side = np.ones(sides.units, np.int64)
        side[places] += more
        for row, weights in enumerate(counts * side):
            if weights.any():
                choice = choose(values, weights, rule=rule, higher_is_better=higher)
                chosen[row, number] = choice.number
    return chosen


def choice_spreads(
    systems: Mapping[str, TunedPoints], sides: Sides
) -> dict[tuple[str, str], ChoiceSpread]:
    """Return the variances for every pair of systems of which at least one is tuned.

    All systems have values for the same units, and choices for the same draws.
    """
    names = list(systems)
    pairs = [
        (second, first)
        for row, second in enumerate(names)
        for first in names[:row]
        if systems[first].choices is not None or systems[second].choices is not None
    ]
    moments: dict[tuple[str, str], list[Floats]] = {pair: [] for pair in pairs}
    drawn = [len(system.choices) for system in systems.values() if system.choices is not None]
    fixed = np.zeros((1, len(sides.test)), np.int64)
    step = max(1, _BLOCK // max(sides.units * len(systems), 1))
    for begin in range(0, max(drawn, default=0), step):
        scores = {
            name: _held_out(
                system.values,
                fixed if system.choices is None else system.choices[begin : begin + step],
                sides,
            )
            for name, system in systems.items()
        }
        for second, first in pairs:
            moments[second, first].append(_mean_and_error(scores[second] - scores[first]))
    spreads = {}
    for pair, own in moments.items():
        means, errors = np.concatenate(own, axis=1)
        spreads[pair] = ChoiceSpread(float(errors.mean()), float(means.var(ddof=1)))
    return spreads


def _held_out(values: Floats, choices: Ints, sides: Sides) -> Floats:
    """Return replicates × units: the mean over splits that hold a unit out; NaN: none does."""
    total = np.zeros((len(choices), values.shape[1]))
    times = np.zeros(values.shape[1], np.int64)
    for number, (places, often) in enumerate(sides.test):
        total[:, places] += values[choices[:, number, None], places] * often
        times[places] += often
    means = np.full_like(total, np.nan)
    np.divide(total, times, out=means, where=times > 0)
    return means


def _mean_and_error(gaps: Floats) -> Floats:
    """Return the mean over units, and the variance of that mean, for each replicate."""
    defined: Flags = np.logical_and.reduce(np.isfinite(gaps), axis=0)
    kept = gaps[:, defined]
    n = kept.shape[1]
    if n < 2:
        return np.zeros((2, len(gaps)))
    return np.stack([kept.mean(axis=1), kept.var(axis=1, ddof=1) / n])

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
    from collections.abc import Iterable, Iterator, Mapping

    from numpy.typing import NDArray

    from heldout.data.words import Flags, Floats, Ints
    from heldout.resample.split import Split
    from heldout.tune.choice import Rule

__all__ = ["REPLICATES", "Sides", "TunedPoints", "choice_spreads", "draw_counts", "rechoose"]

REPLICATES: Final = 200
_BLOCK: Final = 2**22
"""Numbers held at once."""


class Sides(NamedTuple):
    """The two sides of every split, each as (units, numbers).

    Parameters
    ----------
    train
        Units whose weight on the training side is not 1, and by how much it is larger.
    test
        The units of the held-out side, and their weights.
    units
        The number of units.
    shared
        Whether units held out in one split are training units of another.
    """

    train: tuple[tuple[Ints, Ints], ...]
    test: tuple[tuple[Ints, Ints], ...]
    units: int
    shared: bool

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
    found = np.flatnonzero(counts)
    return found, counts[found].astype(np.int64)


class TunedPoints(NamedTuple):
    """The scores of one system at every point of its grid.

    Parameters
    ----------
    values
        Points × units, by the measure to compare.
    choices
        Replicates × splits, from `rechoose`; None: the system has one point.
    """

    values: Floats
    choices: Ints | None


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
    """Choose a point for every replicate and split.

    Parameters
    ----------
    values
        Points × units, by the tuning measure. As in `choose`, a unit on which some point is
        undefined is ignored.
    sides
        The sides of the splits.
    counts
        Replicates × units: how often a unit was drawn.
    rule, higher_is_better
        As for `choose`.

    Returns
    -------
    array
        Replicates × splits.

    Examples
    --------
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
    found = np.empty((len(counts), len(sides.train)), np.int64)
    for number, (places, more) in enumerate(sides.train):
        weights = (usable[:, places] * more).astype(np.float64)
        sums = every + np.einsum("bq,pq->bp", weights, better[:, places])
        top = sums.max(axis=1, keepdims=True)
        scale = np.maximum(np.abs(sums), np.abs(top))
        found[:, number] = np.argmax(top - sums <= TIE * scale, axis=1)
    return found


def _one_by_one(values: Floats, sides: Sides, counts: Ints, rule: Rule, higher: bool) -> Ints:
    """Choose by rules that use more than the means."""
    found = np.zeros((len(counts), len(sides.train)), np.int64)
    for number, (places, more) in enumerate(sides.train):
        side = np.ones(sides.units, np.int64)
        side[places] += more
        for at, weights in enumerate(counts * side):
            if weights.any():
                choice = choose(values, weights, rule=rule, higher_is_better=higher)
                found[at, number] = choice.number
    return found


def choice_spreads(
    systems: Mapping[str, TunedPoints], sides: Sides
) -> dict[tuple[str, str], ChoiceSpread]:
    """Return the variances for every pair of systems of which at least one is tuned.

    Parameters
    ----------
    systems
        All for the same units; the choices of all for the same draws.
    sides
        The sides of the splits.
    """
    names = list(systems)
    pairs = [
        (second, first)
        for at, second in enumerate(names)
        for first in names[:at]
        if systems[first].choices is not None or systems[second].choices is not None
    ]
    moments: dict[tuple[str, str], list[Floats]] = {pair: [] for pair in pairs}
    involved = {name: systems[name] for name in names if any(name in pair for pair in pairs)}
    for block in _blocks(involved, sides):
        for pair in pairs:
            gaps = block[pair[0]] - block[pair[1]]
            moments[pair].append(_mean_and_error(gaps))
    return {pair: _spread(np.concatenate(found, axis=1)) for pair, found in moments.items()}


def _blocks(systems: Mapping[str, TunedPoints], sides: Sides) -> Iterator[dict[str, Floats]]:
    """Yield held-out scores of every system, some replicates × units at a time."""
    replicates = [len(value.choices) for value in systems.values() if value.choices is not None]
    if not replicates:
        return
    step = max(1, _BLOCK // (sides.units * len(systems)))
    for begin in range(0, replicates[0], step):
        count = min(step, replicates[0] - begin)
        yield {
            name: _held_out(
                one.values,
                np.zeros((1, len(sides.test)), np.int64)
                if one.choices is None
                else one.choices[begin : begin + count],
                sides,
            )
            for name, one in systems.items()
        }


def _held_out(values: Floats, choices: Ints, sides: Sides) -> Floats:
    """Return replicates × units: the mean over splits that hold a unit out; NaN: none does."""
    total = np.zeros((len(choices), values.shape[1]))
    times = np.zeros(values.shape[1], np.int64)
    for number, (places, often) in enumerate(sides.test):
        total[:, places] += values[choices[:, number, None], places] * often
        times[places] += often
    found = np.full_like(total, np.nan)
    np.divide(total, times, out=found, where=times > 0)
    return found


def _mean_and_error(gaps: Floats) -> Floats:
    """Return the mean over units, and the variance of that mean, for each replicate."""
    defined: Flags = np.logical_and.reduce(np.isfinite(gaps), axis=0)
    kept = gaps[:, defined]
    n = kept.shape[1]
    if n < 2:
        return np.zeros((2, len(gaps)))
    return np.stack([kept.mean(axis=1), kept.var(axis=1, ddof=1) / n])


def _spread(moments: Floats) -> ChoiceSpread:
    means, errors = moments
    return ChoiceSpread(float(errors.mean()), float(means.var(ddof=1)))

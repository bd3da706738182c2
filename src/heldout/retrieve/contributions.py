"""What a run gives to each of its documents: normalised scores, or functions of the rank.

Normalisations are per query. Scores of a list descend, so that its first is the highest.

References
----------
* Lee (1997), Analyses of multiple evidence combination (min-max).
* Montague & Aslam (2001), Relevance score normalization for metasearch (sum, zero mean and unit
  variance).
* Renda & Straccia (2003), Web metasearch: rank vs. score based rank aggregation methods (rank).
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import numpy as np

from heldout.errors import InputError

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

    from heldout.data.run import Run
    from heldout.data.words import Floats, Ints
    from heldout.retrieve.joined import Joined

__all__ = ["NORMS", "check_norm", "normalise"]


def _each(joined: Joined, per_list: Floats) -> Floats:
    """Repeat the values of lists that are not empty for each of their rows."""
    counts = joined.counts.ravel()
    return np.repeat(per_list, counts[counts > 0])


def _starts(joined: Joined) -> Ints:
    """The first row of each list that is not empty."""
    counts = joined.counts.ravel()
    return (np.cumsum(counts) - counts)[counts > 0]


def _lowest(joined: Joined) -> Floats:
    counts = joined.counts.ravel()
    return joined.scores[np.cumsum(counts)[counts > 0] - 1]


def _sizes(joined: Joined) -> Floats:
    counts = joined.counts.ravel()
    return counts[counts > 0].astype(np.float64)


def _raw(joined: Joined) -> Floats:
    return joined.scores


def _min_max(joined: Joined) -> Floats:
    """(s − min) / (max − min); 1 where all scores of a list are equal."""
    low, high = _lowest(joined), joined.scores[_starts(joined)]
    return _scaled(joined, low, high - low, 1.0)


def _scaled(
    joined: Joined, low: Floats, width: Floats, constant: float | NDArray[np.float64]
) -> Floats:
    equal = width == 0
    values = joined.scores - _each(joined, low)
    values /= _each(joined, np.where(equal, 1.0, width))
    return np.where(
        _each(joined, equal), _each(joined, np.broadcast_to(constant, low.shape)), values
    )


def _max(joined: Joined) -> Floats:
    """Score / max, for positive scores; see `check_norm`."""
    high = joined.scores[_starts(joined)]
    return joined.scores / _each(joined, high)


def _sum(joined: Joined) -> Floats:
    """(s − min) / Σ(s − min); 1/n where all scores of a list are equal."""
    low, sizes = _lowest(joined), _sizes(joined)
    total = _totals(joined, joined.scores - _each(joined, low))
    return _scaled(joined, low, total, 1 / sizes)


def _totals(joined: Joined, values: Floats) -> Floats:
    starts = _starts(joined)
    return np.add.reduceat(values, starts) if len(starts) else np.empty(0)


def _z_score(joined: Joined) -> Floats:
    """(s − mean) / standard deviation of the list; 0 where all scores are equal."""
    sizes = _sizes(joined)
    mean = _totals(joined, joined.scores) / sizes
    spread = np.sqrt(_totals(joined, (joined.scores - _each(joined, mean)) ** 2) / sizes)
    flat = joined.scores[_starts(joined)] == _lowest(joined)  # where rounding leaves a spread
    return _scaled(joined, mean, np.where(flat, 0.0, spread), 0.0)


def _rank(joined: Joined) -> Floats:
    """1 − (rank − 1) / n."""
    return 1 - (joined.ranks() - 1) / _each(joined, _sizes(joined))


NORMS: Final[dict[str, Callable[[Joined], Floats]]] = {
    "minmax": _min_max,
    "max": _max,
    "sum": _sum,
    "zscore": _z_score,
    "rank": _rank,
    "none": _raw,
}
"""Normalisations by name; each gives the value of each row."""


def check_norm(norm: str, run: Run) -> None:
    """Refuse scores that a normalisation cannot handle."""
    if norm != "max":
        return
    wrong = np.flatnonzero(run.scores[run.offsets[:-1]] <= 0)
    if len(wrong):
        query = int(wrong[0])
        raise InputError(
            f"run {run.name}, query {run.queries[query]}: norm=max divides by the highest score, "
            f"which is {run.scores[run.offsets[query]]:g}: use minmax, zscore or rank"
        )


def normalise(norm: str, joined: Joined) -> Floats:
    """Normalise the scores of all lists."""
    with np.errstate(over="ignore", invalid="ignore"):
        return NORMS[norm](joined)

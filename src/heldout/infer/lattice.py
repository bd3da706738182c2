"""Exact tails of sums whose terms lie on a lattice, by convolution.

Scores such as P@10, hit rates or printed decimals are multiples of a common step. Sums of their
differences then have few values, and the exact null distribution can be computed although there are
2^n sign assignments or n^n resamples:

* `signed_tail`: every term has a random sign (randomization test); the shift algorithm of
  Streitberg and Röhmel [1]_, or the characteristic function if there are few distinct terms, each
  repeated often;
* `drawn_tail`: terms are drawn with replacement (bootstrap); the n-th power of the
  characteristic function.

Tails from characteristic functions have an absolute rounding error near 1e-15, which is larger than
a very small p-value. Such tails are computed again under exponential tilting (Esscher [2]_): the
terms are reweighted by exp(tilt x) so that the threshold becomes the mean, where probabilities are
large and accurate, and the weights are divided out again.

References
----------
.. [1] Streitberg, B., Röhmel, J. (1986). Exact distributions for permutation and rank tests.
   Statistical Software Newsletter 12, 10-17.
.. [2] Esscher, F. (1932). On the probability function in the collective theory of risk.
   Skandinavisk Aktuarietidskrift 15, 175-195.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Final, NamedTuple

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

    from heldout.data.words import Floats

    Cells = NDArray[np.int64]
    Spectrum = NDArray[np.complex128]

__all__ = [
    "Lattice",
    "chosen_chances",
    "drawn_cost",
    "drawn_tail",
    "find_lattice",
    "signed_cost",
    "signed_tail",
]

CLOSE: Final = 1e-9
"""The largest distance of a value from a multiple of the step, relative to the step."""

FINEST: Final = 1_000_000
"""The largest value is at most this many steps: finer steps are lost in rounding."""

MOST_CELLS: Final = 2**22
"""The largest number of cells: above, convolution is slower than Monte Carlo."""

COUNTED: Final = 1000
"""Weights up to which assignments are counted: 2^1000 fits a double, 2^1024 does not."""

TINY_TAIL: Final = 1e-6
"""Tails below this are computed again under tilting."""


class Lattice(NamedTuple):
    """Values as integer multiples of a step.

    Parameters
    ----------
    step
        The common step.
    cells
        The multiples, one per value.
    """

    step: float
    cells: Cells


def find_lattice(values: Floats) -> Lattice | None:
    """Return the coarsest lattice through 0 that contains all values, or None if there is none.

    Parameters
    ----------
    values
        Finite numbers, not all 0.

    Returns
    -------
    Lattice or None
        None also if the lattice would have too many cells.

    Examples
    --------
    >>> find_lattice(np.array([0.3, -0.1, 0.2])).cells.tolist()
    [3, -1, 2]
    >>> find_lattice(np.array([0.3, 2**0.5, 3**0.5])) is None
    True
    """
    sizes = np.abs(values)
    largest = float(sizes.max())
    most = min(FINEST, MOST_CELLS * largest / float(sizes.sum()))
    shares = values / largest
    # The largest value is `steps` steps. Multiply it by the denominator of the worst misfit until
    # all values are integers: a common denominator of all shares.
    steps = 1
    while True:
        cells = shares * steps
        off = np.abs(cells - np.rint(cells))
        worst = int(off.argmax())
        if off[worst] <= CLOSE:
            return Lattice(largest / steps, np.rint(cells).astype(np.int64))
        factor = _denominator(float(off[worst]), most / steps)
        if factor is None:
            return None
        steps *= factor


def _denominator(share: float, most: float) -> int | None:
    """Return the smallest denominator of a number between 0 and 1/2, by its continued fraction."""
    before, now, rest = 0, 1, share
    while abs(share * now - round(share * now)) > CLOSE:
        rest = 1 / rest
        before, now = now, int(rest) * now + before
        rest -= int(rest)
        if now > most:
            return None
    return now


def chosen_chances(weights: Cells, most: int) -> Floats:
    """Return P(sum of chosen weights = s) for s = 0, 1, …, most; each is chosen with chance 1/2.

    This is the shift algorithm: adding a weight w adds the distribution shifted by w. Only positive
    numbers are added, so even the smallest probabilities have a small relative error. By symmetry
    the sums counted from the largest have the same probabilities, to the last bit.

    Examples
    --------
    >>> chosen_chances(np.array([1, 2]), 3).tolist()
    [0.25, 0.25, 0.25, 0.25]
    """
    # Up to 1,000 weights the assignments of each sum are counted and divided by 2^n at the end:
    # doubles reach 2^1000, and division by a power of two is exact.
    count = len(weights)
    ways, spare = np.zeros((2, most + 1))
    ways[0] = 1.0
    top = 1
    for weight in np.sort(weights).tolist():  # small weights first keep the filled part short
        wider = min(top + weight, most + 1)
        same = min(weight, wider)
        if count > COUNTED:
            ways[:top] *= 0.5
        spare[:same] = ways[:same]
        np.add(ways[same:wider], ways[: wider - same], out=spare[same:wider])
        ways, spare, top = spare, ways, wider
    return ways if count > COUNTED else ways * 0.5**count


def signed_cost(weights: Cells) -> float:
    """Return roughly how many nanoseconds `signed_tail` takes."""
    return min(_shift_cost(weights), _spectrum_cost(weights))


def _shift_cost(weights: Cells) -> float:
    return len(weights) * (5_000 + 0.8 * float(weights.sum()))


def _spectrum_cost(weights: Cells) -> float:
    distinct = len(np.unique(weights))
    if distinct * int(weights.sum()) > 2**21:  # memory
        return math.inf
    return 300_000 + 25.0 * distinct * _padded(int(weights.sum()) + 1)


def signed_tail(weights: Cells, at_least: int) -> float:
    """Return P(sum of the weights under random signs >= at_least), exactly.

    Parameters
    ----------
    weights
        Integers; their signs do not matter.
    at_least
        The threshold.

    Examples
    --------
    >>> signed_tail(np.array([1, 2, 3]), 6)
    0.125
    """
    weights = np.abs(weights[weights != 0])
    total = int(weights.sum())
    if at_least > total:
        return 0.0
    first = max(0, -((-at_least - total) // 2))  # signed sum = 2 * chosen sum - total
    if _shift_cost(weights) <= _spectrum_cost(weights):
        low = chosen_chances(weights, total - first)
        return min(1.0, float(np.ascontiguousarray(low[::-1]).sum()))
    kinds, times = np.unique(weights, return_counts=True)

    def cumulant(tilt: float) -> tuple[float, float]:
        parts = np.logaddexp(0, tilt * kinds) - math.log(2)
        return float(times @ parts), float((times * kinds) @ _logistic(tilt * kinds))

    def spectrum(tilt: float, length: int) -> Spectrum:
        return _signs_spectrum(kinds, times, tilt, length)

    return _tail(spectrum, cumulant, total, first)


def _signs_spectrum(kinds: Cells, times: Cells, tilt: float, length: int) -> Spectrum:
    """Return the Fourier transform of the distribution of the chosen sum, under a tilt."""
    frequency = np.arange(length // 2 + 1)
    roots = np.exp(-2j * np.pi / length * np.arange(length))
    chosen = _logistic(tilt * kinds)
    factors = [
        (1 - share) + share * roots[kind * frequency % length]
        for kind, share in zip(kinds.tolist(), chosen.tolist(), strict=True)
    ]
    product = np.ones(len(frequency), np.complex128)
    for bit in reversed(range(int(times.max()).bit_length())):  # powers of all factors by squaring
        product *= product
        for factor, count in zip(factors, times.tolist(), strict=True):
            if count >> bit & 1:
                product *= factor
    return product


def drawn_cost(cells: Cells) -> float:
    """Return roughly how many nanoseconds `drawn_tail` takes."""
    return 300_000 + 100.0 * _padded(len(cells) * int(np.ptp(cells)) + 1)


def drawn_tail(cells: Cells, at_least: int) -> float:
    """Return P(sum of n values drawn with replacement from n values >= at_least), exactly.

    Parameters
    ----------
    cells
        Integers, all equally likely in each of the n draws.
    at_least
        The threshold.

    Examples
    --------
    >>> round(drawn_tail(np.array([0, 1]), 1), 12)
    0.75
    """
    draws, lowest = len(cells), int(cells.min())
    kinds, times = np.unique(cells - lowest, return_counts=True)
    first, top = at_least - draws * lowest, draws * int(kinds[-1])
    if first <= 0 or first > top:
        return float(first <= 0)

    def tilted(tilt: float) -> tuple[Floats, float]:
        logs = np.log(times / draws) + tilt * kinds
        peak = float(logs.max())
        total = float(np.exp(logs - peak).sum())
        return np.exp(logs - peak) / total, peak + math.log(total)

    def cumulant(tilt: float) -> tuple[float, float]:
        chances, log_total = tilted(tilt)
        return draws * log_total, draws * float(chances @ kinds)

    def spectrum(tilt: float, length: int) -> Spectrum:
        one = np.zeros(length)
        one[kinds] = tilted(tilt)[0]
        return _power(np.fft.rfft(one), draws)

    return _tail(spectrum, cumulant, top, first)


def _tail(
    spectrum: Callable[[float, int], Spectrum],
    cumulant: Callable[[float], tuple[float, float]],
    top: int,
    first: int,
) -> float:
    """Return P(sum >= first) of a sum in 0 … top from its transform; under a tilt if tiny.

    `spectrum` returns the transform under a tilt, `cumulant` the logarithm of the moment generating
    function and its derivative, which is the tilted mean.
    """
    length = _padded(top + 1)

    def under(tilt: float) -> float:
        chances = np.fft.irfft(spectrum(tilt, length), length)[first : top + 1]
        # The tilted probability of s is p(s) exp(tilt s - cumulant): divide the weight out.
        weights = np.exp(cumulant(tilt)[0] - tilt * np.arange(first, top + 1))
        return min(1.0, max(0.0, float(chances @ weights)))

    plain = under(0.0)
    return plain if plain > TINY_TAIL else under(_find_tilt(cumulant, top, first))


def _find_tilt(cumulant: Callable[[float], tuple[float, float]], top: int, mean: int) -> float:
    """Return the tilt that moves the mean to the threshold: the relative error is smallest."""
    low, high = 0.0, 1.0 / top
    while cumulant(high)[1] < mean and high < 64:
        low, high = high, 2 * high
    for _ in range(40):
        middle = (low + high) / 2
        low, high = (middle, high) if cumulant(middle)[1] < mean else (low, middle)
    return high


def _logistic(x: NDArray[np.floating]) -> Floats:
    return np.asarray(0.5 * (1 + np.tanh(0.5 * x)), np.float64)


def _power(base: Spectrum, exponent: int) -> Spectrum:
    """Return an integer power by squaring: complex powers in NumPy use logarithms and are slow."""
    result = np.ones_like(base)
    for bit in reversed(range(exponent.bit_length())):
        result *= result
        if exponent >> bit & 1:
            result *= base
    return result


def _padded(length: int) -> int:
    """Return the next power of two, for which transforms are fast."""
    return 1 << max(1, (length - 1).bit_length())

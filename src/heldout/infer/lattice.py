"""Exact distributions of sums whose terms lie on a lattice, by convolution.

Scores such as P@10, hit rates or printed decimals are multiples of a common step. Sums of their
differences then have few values, and their exact distribution can be computed although there are
2^n assignments of signs (randomization) or n^n resamples (bootstrap). Only positive numbers are
added and multiplied, so even the smallest probabilities have a small relative error.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, NamedTuple

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from heldout.data.words import Floats

    Cells = NDArray[np.int64]

CLOSE: Final = 1e-9  # the largest distance of a value from a multiple of the step, in steps
FINEST: Final = 1_000_000  # the largest value in steps: finer steps are lost in rounding
MOST_CELLS: Final = 2**22  # above, convolution is slower than Monte Carlo
COUNTED: Final = 1000  # weights up to which assignments are counted: 2^1024 exceeds a double


class Lattice(NamedTuple):
    """Values as integer multiples (cells) of a step."""

    step: float
    cells: Cells


def find_lattice(values: Floats) -> Lattice | None:
    """Return the coarsest lattice through 0 with all values, not all 0; None if it is too fine."""
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

    This is the shift algorithm of Streitberg and Röhmel (1986, Statistical Software Newsletter 12):
    adding a weight w adds the distribution shifted by w. By symmetry the sums counted from the
    largest have the same probabilities, to the last bit.
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


def drawn_chances(cells: Cells) -> Floats:
    """Return P(sum = n * smallest + s) for s = 0, 1, …; n of n cells are drawn with replacement."""
    single = np.bincount(cells - cells.min()) / len(cells)
    chances = np.ones(1)
    for bit in f"{len(cells):b}":  # the n-th power of the distribution, by squaring
        chances = np.convolve(chances, chances)
        if bit == "1":
            chances = np.convolve(chances, single)
    return chances

"""Pairs of units that two rankings order alike, weighted; compiled, for resampling."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from heldout.compiled import kernel

if TYPE_CHECKING:
    from heldout.data.words import Floats, Ints


@kernel
def net_concordance(starts: Ints, ranks: Ints, weights: Floats, levels: int) -> Floats:
    """Return, for each unit, the concordant minus the discordant weight of units before it.

    Units are in ascending order of the first variable, in groups of ties that begin at `starts`
    (which ends with the number of units); `ranks` are those in the second variable, from 1 to
    `levels`; there is one row of weights per score. Sums by rank are kept in a binary indexed tree
    (Knight 1966 sorts instead, which cannot be weighted).
    """
    net = np.zeros(weights.shape)
    for row in range(len(weights)):
        tree = np.zeros(levels + 1)
        total = 0.0
        for group in range(len(starts) - 1):
            for unit in range(starts[group], starts[group + 1]):
                below = 0.0
                place = ranks[unit] - 1
                while place > 0:
                    below += tree[place]
                    place -= place & -place
                upto = 0.0
                place = ranks[unit]
                while place > 0:
                    upto += tree[place]
                    place -= place & -place
                net[row, unit] = below - (total - upto)
            for unit in range(starts[group], starts[group + 1]):
                weight = weights[row, unit]
                total += weight
                place = ranks[unit]
                while place <= levels:
                    tree[place] += weight
                    place += place & -place
    return net

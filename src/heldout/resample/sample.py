"""Random samples of ids."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from heldout.errors import InputError

if TYPE_CHECKING:
    from collections.abc import Iterable

__all__ = ["draw_sample"]


def draw_sample(ids: Iterable[str], size: int, seed: int = 0) -> list[str]:
    """Draw ids at random without replacement, for example the queries that people will judge.

    Parameters
    ----------
    ids
        All ids; their order does not matter.
    size
        The number of ids to draw.
    seed
        Random seed.

    Returns
    -------
    list of str
        The drawn ids, in bytewise order.

    Examples
    --------
    >>> len(draw_sample(["q1", "q2", "q3", "q4"], 2, seed=1))
    2
    """
    every = sorted(set(ids), key=str.encode)
    if not 1 <= size <= len(every):
        raise InputError(
            f"size={size}: expected a number from 1 to {len(every)}, the number of ids"
        )
    drawn = np.random.default_rng(seed).choice(len(every), size, replace=False)
    return [every[at] for at in sorted(drawn.tolist())]

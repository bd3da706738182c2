"""Random numbers that depend only on ids and a seed, not on the order of ids or on versions.

The position of a unit in a random order is the rank of a keyed hash of its id. Draws with
replacement come from SplitMix64 (Steele, Lea & Flood 2014), implemented here: a generator of NumPy
may return other numbers in its next version, and folds must be reproducible.
"""

from __future__ import annotations

import hashlib
from typing import TYPE_CHECKING

import numpy as np

from heldout.data.ids import Ids

if TYPE_CHECKING:
    from collections.abc import Sequence

    from heldout.data.words import Ints, Words

_GOLDEN = np.uint64(0x9E3779B97F4A7C15)
_FIRST, _SECOND = np.uint64(0xBF58476D1CE4E5B9), np.uint64(0x94D049BB133111EB)


def seed_word(*parts: object) -> np.uint64:
    """Return 64 bits of a hash of anything that can be printed."""
    digest = hashlib.sha256("\0".join(map(str, parts)).encode()).digest()
    return np.uint64(int.from_bytes(digest[:8], "little"))


def id_keys(ids: Sequence[str]) -> Words:
    """Return 64 bits of a hash of each id."""
    return (ids if isinstance(ids, Ids) else Ids.of(ids)).hashes()


def random_order(keys: Words, ids: Sequence[str], word: np.uint64) -> Ints:
    """Return the positions of `ids` in a random order, which is the same for the same set."""
    mixed = _finish(_finish(keys ^ word) + word)  # one-to-one: only equal keys stay equal
    order = np.argsort(mixed, kind="stable")
    arranged = mixed[order]
    if (arranged[1:] == arranged[:-1]).any():  # ids with equal hashes are ordered by themselves
        values = mixed.tolist()
        rows = sorted(range(len(ids)), key=lambda row: (values[row], ids[row]))
        return np.array(rows, np.int64)
    return order


def draws(word: np.uint64, size: int, below: int) -> Ints:
    """Return independent random integers from 0 to `below` - 1."""
    with np.errstate(over="ignore"):
        states = np.arange(1, size + 1, dtype=np.uint64) * _GOLDEN + word
    shares = (_finish(states) >> np.uint64(11)).astype(np.float64) * 2.0**-53
    return (shares * below).astype(np.int64)


def _finish(keys: Words) -> Words:
    """Return the last steps of SplitMix64: every bit of the key changes half of the bits."""
    mixed = keys ^ (keys >> np.uint64(30))
    mixed *= _FIRST
    mixed ^= mixed >> np.uint64(27)
    mixed *= _SECOND
    mixed ^= mixed >> np.uint64(31)
    return mixed

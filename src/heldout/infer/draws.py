"""Random sums, many at a time: under random signs, or of units drawn with replacement.

A random 16-bit word is the index of one of the 65,536 signed sums of 16 units in a table: one
lookup instead of 16 signs. The work is divided independently of the number of threads, each piece
has its own generator, and pieces are added in a fixed order (floating-point addition is not
associative): equal seeds give the same bits on every machine.
"""

from __future__ import annotations

import math
from itertools import pairwise, repeat
from typing import TYPE_CHECKING, Final

import numpy as np

from heldout.data.parallel import stream_threads
from heldout.errors import InputError

if TYPE_CHECKING:
    from collections.abc import Iterator

    from heldout.data.words import Floats

WORD: Final = 16  # bits of the index of a table
PIECES: Final = 8  # pieces of work at most, for any number of threads, and ...
PIECE: Final = 24  # ... tables per piece at least: well above the cost of starting a thread
BLOCK: Final = 2**17  # replicates per block that is yielded: bounds the memory
SLICE: Final = 2**16  # replicates per lookup, so that they stay in the cache
DRAWN_BLOCK: Final = 12_500  # replicates per piece of work of draws with replacement


def check_draws(replicates: int, seed: int) -> None:
    """Refuse invalid numbers of replicates and seeds."""
    if replicates < 1:
        raise InputError(
            "expected a positive integer, such as 100000", argument="replicates", value=replicates
        )
    if seed < 0:
        raise InputError("expected an integer, 0 or larger", argument="seed", value=seed)


def all_signed_sums(values: Floats, space: Floats | None = None) -> Floats:
    """Return all 2^n signed sums, in `space` if given; bit i of a place is the sign of value i."""
    size = 2 ** len(values)
    sums = np.empty(size) if space is None else space[:size]
    sums[0] = -values.sum()
    for bit, value in enumerate(values.tolist()):
        np.add(sums[: 1 << bit], 2 * value, out=sums[1 << bit : 2 << bit])
    return sums


def signed_sums(values: Floats, replicates: int, seed: int) -> Iterator[Floats]:
    """Yield sums of the values under random signs; equal seeds and lengths give equal signs."""
    tables = max(1, -(-len(values) // WORD))
    units = np.array_split(values, tables)  # of each table, as even as possible: small is fast
    count = min(PIECES, max(1, tables // PIECE))
    cuts = [tables * place // count for place in range(count + 1)]
    pieces = [units[start:stop] for start, stop in pairwise(cuts)]
    for block, start in enumerate(range(0, replicates, BLOCK)):
        count = min(BLOCK, replicates - start)
        work = zip(range(len(pieces)), pieces, repeat(block), repeat(count), repeat(seed))
        parts = stream_threads(_sign_piece, work)
        sums = next(parts)
        for part in parts:
            sums += part
        yield sums


def _sign_piece(work: tuple[int, list[Floats], int, int, int]) -> Floats:
    """Return the part of a block of sums that comes from one piece."""
    piece, units, block, count, seed = work
    source = np.random.SFC64(np.random.SeedSequence([seed, block, piece]))
    sums = np.zeros(count)
    # Allocating memory costs more than the lookups: large arrays are allocated once and reused.
    slice_ = min(SLICE, count)
    index, looked_up, space = np.empty(slice_, np.intp), np.empty(slice_), np.empty(2**WORD)
    for part in units:
        table = all_signed_sums(part, space)
        for start in range(0, count, SLICE):
            size = min(SLICE, count - start)
            words = source.random_raw(-(-size // 4)).view(np.uint16)[:size]
            words >>= WORD - len(part)
            # take is fastest with intp indices; with out=, mode="wrap" avoids a buffered copy
            index[:size] = words
            table.take(index[:size], out=looked_up[:size], mode="wrap")
            sums[start : start + size] += looked_up[:size]
    return sums


def drawn_sums(values: Floats, replicates: int, seed: int) -> Iterator[Floats]:
    """Yield sums of n of n values with replacement; equal seeds and numbers give equal draws."""
    units = len(values)

    def draw(block: int) -> Floats:
        count = min(DRAWN_BLOCK, replicates - block * DRAWN_BLOCK)
        source = np.random.SFC64(np.random.SeedSequence([seed, block]))
        sums = np.zeros(count)
        for _ in range(units):
            places = source.random_raw(-(-count // 2)).view(np.uint32)[:count].astype(np.uint64)
            # A 32-bit word w gives position w n / 2^32, without rejection (Lemire 2019): chances
            # are off by a factor of at most 1 ± n / 2^32, far below the Monte Carlo error.
            places *= np.uint64(units)
            places >>= np.uint64(32)
            sums += values.take(places.view(np.intp), mode="wrap")
        return sums

    yield from stream_threads(draw, range(-(-replicates // DRAWN_BLOCK)))


def power_text(base: int, exponent: int) -> str:
    """Return a power as a number, or as ``base^exponent`` if it has more than 15 digits."""
    if base > 1 and exponent * math.log10(base) > 15:
        return f"{base}^{exponent}"
    return f"{base**exponent:,}"

"""Random sums, many at a time: under random signs, or of units drawn with replacement.

Tables replace most of the additions. A random 16-bit word is the index of one of the 65,536 signed
sums of 16 units: one lookup instead of 16 signs. Draws with replacement look up pairs (triples, …)
of units as long as all of them fit a table.

The work is divided independently of the number of threads, each piece has its own generator, and
pieces are added in a fixed order (floating-point addition is not associative): equal seeds give the
same bits on every machine.
"""

from __future__ import annotations

import math
from itertools import pairwise, repeat
from typing import TYPE_CHECKING, Final

import numpy as np

from heldout.data.parallel import stream_threads
from heldout.errors import InputError

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from numpy.typing import NDArray

    from heldout.data.words import Floats

    Places = NDArray[np.intp]

__all__ = ["all_signed_sums", "check_draws", "drawn_sums", "power_text", "signed_sums"]

WORD: Final = 16
"""Bits of the index of a table."""

PIECES: Final = 8
"""Pieces of work at most, for any number of threads, and ..."""

PIECE: Final = 24
"""... tables per piece at least: some milliseconds, well above the cost of starting a thread."""

BLOCK: Final = 2**17
"""Replicates per block that is yielded: bounds the memory."""

SLICE: Final = 2**16
"""Replicates per lookup, so that they stay in the cache."""

LARGEST: Final = 2**17
"""Entries of a table of tuples at most: 1 MB."""

DRAWN_BLOCK: Final = 12_500
"""Replicates per piece of work of draws with replacement."""

DRAWN_STEPS: Final = 64
"""Draws per replicate before their statistics are added."""

DRAWN_SLICE: Final = 2**15
"""Sums that are updated at a time, so that they stay in the cache."""


def check_draws(replicates: int, seed: int) -> None:
    """Refuse invalid numbers of replicates and seeds."""
    if replicates < 1:
        raise InputError(f"replicates={replicates}: expected a positive integer, such as 100000")
    if seed < 0:
        raise InputError(f"seed={seed}: expected an integer, 0 or larger")


def all_signed_sums(values: Floats, space: Floats | None = None) -> Floats:
    """Return all 2^n signed sums; bit i of the position of a sum is set if value i has sign +.

    Parameters
    ----------
    values
        The numbers to sign.
    space
        Memory to write to; by default new memory.

    Examples
    --------
    >>> all_signed_sums(np.array([1.0, 3.0])).tolist()
    [-4.0, -2.0, 2.0, 4.0]
    """
    size = 2 ** len(values)
    sums = np.empty(size) if space is None else space[:size]
    sums[0] = -values.sum()
    for bit, value in enumerate(values.tolist()):
        np.add(sums[: 1 << bit], 2 * value, out=sums[1 << bit : 2 << bit])
    return sums


def signed_sums(values: Floats, replicates: int, seed: int) -> Iterator[Floats]:
    """Yield sums of the values under random signs, block by block.

    Parameters
    ----------
    values
        The numbers to sign.
    replicates
        The number of sums.
    seed
        Equal seeds and numbers of values give equal signs.

    Yields
    ------
    Floats
        Up to 131,072 sums.
    """
    pieces = _cut_units(values)
    for block, start in enumerate(range(0, replicates, BLOCK)):
        count = min(BLOCK, replicates - start)
        work = zip(range(len(pieces)), pieces, repeat(block), repeat(count), repeat(seed))
        parts = stream_threads(_sign_piece, work)
        sums = next(parts)
        for part in parts:
            sums += part
        yield sums


def _cut_units(values: Floats) -> list[list[Floats]]:
    """Return the units of each table, piece by piece, as even as possible: small is fast."""
    tables = max(1, -(-len(values) // WORD))
    units = np.array_split(values, tables)
    pieces = min(PIECES, max(1, tables // PIECE))
    cuts = [tables * at // pieces for at in range(pieces + 1)]
    return [units[start:stop] for start, stop in pairwise(cuts)]


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
        for at in range(0, count, SLICE):
            size = min(SLICE, count - at)
            words = source.random_raw(-(-size // 4)).view(np.uint16)[:size]
            words >>= WORD - len(part)
            # take is fastest with intp indices; with out=, mode="wrap" avoids a buffered copy
            index[:size] = words
            table.take(index[:size], out=looked_up[:size], mode="wrap")
            sums[at : at + size] += looked_up[:size]
    return sums


def drawn_sums(
    columns: Sequence[Floats], replicates: int, seed: int
) -> Iterator[tuple[Floats, ...]]:
    """Yield sums of n units drawn with replacement from n, for each column, block by block.

    Parameters
    ----------
    columns
        Values of the units; all columns are summed over the same draws.
    replicates
        The number of sums.
    seed
        Equal seeds and numbers of units give equal draws.

    Yields
    ------
    tuple of Floats
        One array per column.
    """
    units = len(columns[0])
    width = _tuple_width(units)
    plan = [(_table(columns, width), units // width), (_table(columns, units % width), 1)]
    plan = plan[: 1 + (units % width > 0)]
    starts = range(0, replicates, DRAWN_BLOCK)

    def draw(block: int) -> tuple[Floats, ...]:
        count = min(DRAWN_BLOCK, replicates - block * DRAWN_BLOCK)
        return _draw_block(plan, count, seed, block)

    yield from stream_threads(draw, range(len(starts)))


def _table(columns: Sequence[Floats], width: int) -> Floats:
    """Return sums of tuples of units, one row per tuple: all columns of a draw are adjacent."""
    return np.column_stack([_tuple_sums(column, width) for column in columns])


def _tuple_width(units: int) -> int:
    """Return the number of units in each entry of a table."""
    width = 1
    while units > 1 and units ** (width + 1) <= LARGEST:
        width += 1
    return min(width, units)


def _tuple_sums(values: Floats, width: int) -> Floats:
    """Return the sums of all tuples of units."""
    sums = np.zeros(1)
    for _ in range(width):
        sums = np.add.outer(sums, values).ravel()
    return sums


def _draw_block(
    plan: list[tuple[Floats, int]], count: int, seed: int, block: int
) -> tuple[Floats, ...]:
    source = np.random.SFC64(np.random.SeedSequence([seed, block]))
    sums = np.zeros((count, plan[0][0].shape[1]))
    for table, times in plan:
        for start in range(0, times, DRAWN_STEPS):
            places = _draw_places(source, min(DRAWN_STEPS, times - start), count, len(table))
            _add_rows(table, places, sums)
    return tuple(np.ascontiguousarray(column) for column in sums.T)


def _draw_places(source: np.random.SFC64, steps: int, count: int, size: int) -> Places:
    """Return positions in a table, one row per step, one column per replicate."""
    places = np.empty((steps, count), np.uint64)
    for step in range(steps):
        places[step] = source.random_raw(-(-count // 2)).view(np.uint32)[:count]
    # A 32-bit word w gives position w * size / 2^32, without rejection (Lemire 2019): probabilities
    # are off by a factor of at most 1 ± size / 2^32 (3e-5 for tables of tuples), far below the
    # Monte Carlo error.
    places *= np.uint64(size)
    places >>= np.uint64(32)
    return places.view(np.intp)


def _add_rows(table: Floats, places: Places, sums: Floats) -> None:
    """Add the rows of a table at some positions, step by step, to the sums of the replicates."""
    if table.shape[1] == 1:
        table, sums = table[:, 0], sums[:, 0]
    size = max(1, DRAWN_SLICE // (table.size // len(table)))
    rows = np.empty((size, *table.shape[1:]))
    for start in range(0, len(sums), size):
        part = sums[start : start + size]
        for place in places[:, start : start + size]:
            table.take(place, axis=0, out=rows[: len(part)], mode="wrap")
            np.add(part, rows[: len(part)], out=part)


def power_text(base: int, exponent: int) -> str:
    """Return a power as a number, or as ``base^exponent`` if it has more than 15 digits."""
    if base > 1 and exponent * math.log10(base) > 15:
        return f"{base}^{exponent}"
    return f"{base**exponent:,}"

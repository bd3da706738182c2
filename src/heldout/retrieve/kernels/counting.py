"""Number the terms of tokens and count them in each document."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import numpy as np

from heldout.compiled import bare_kernel, part

if TYPE_CHECKING:
    from heldout.retrieve.kernels.types import (
        Counted,
        Found,
        Ints,
        Table,
        Tokens,
        Words,
    )

_SPREAD: Final = 0x9E3779B97F4A7C15
_LONG: Final = 0xFF << 56


@part
def _key(words: Words, begin: int, length: int) -> np.uint64:
    """Return a 64-bit key of a term: its bytes and length if shorter than 8 bytes, else a hash."""
    if length < 8:
        kept = (np.uint64(1) << np.uint64(8 * length)) - np.uint64(1)
        return words[begin] & kept | np.uint64(length) << np.uint64(56)
    key = words[begin + length - 8]
    for step in range(begin, begin + length - 8, 8):
        key = (key ^ words[step]) * np.uint64(_SPREAD)
        key ^= key >> np.uint64(29)
    return key | np.uint64(_LONG)


@part
def _first_slot(key: np.uint64, slots: Words) -> np.uint64:
    """Return the first slot of a key; the number of slots is a power of two."""
    return (key * np.uint64(_SPREAD)) >> np.uint64(32) & np.uint64(len(slots) - 1)


@part
def _look_up(
    tokens: Tokens, first: int, size: int, slots: Words, keys: Words, numbers: Ints
) -> None:
    """Find the keys of consecutive tokens and the term number in the slot of each.

    The loads are independent, so that they overlap; -1 where the slot holds another key.
    """
    for step in range(size):
        begin = np.int64(tokens.starts[first + step])
        keys[step] = _key(tokens.words, begin, np.int64(tokens.ends[first + step]) - begin)
    for step in range(size):
        slot = _first_slot(keys[step], slots)
        same = slots[slot, 0] == keys[step]
        numbers[step] = np.int64(slots[slot, 1]) if same else np.int64(-1)


@part
def _same(tokens: Tokens, token: int, table: Table, number: int) -> bool:
    """Return whether a token equals a known term, byte by byte."""
    begin = np.int64(tokens.starts[token])
    length = np.int64(tokens.ends[token]) - begin
    place = table.offsets[number]
    if table.offsets[number + 1] - place != length:
        return False
    step = np.int64(0)
    while step < length and tokens.text[begin + step] == table.known[place + step]:
        step += 1
    return step == length


@part
def _find_or_add(tokens: Tokens, token: int, key: np.uint64, table: Table, n_terms: int) -> int:
    """Return the number of a term (`n_terms` for a new one); -1 if there is no room for it."""
    slot = _first_slot(key, table.slots)
    while table.slots[slot, 0] != 0:
        number = np.int64(table.slots[slot, 1])
        if table.slots[slot, 0] == key and (key < _LONG or _same(tokens, token, table, number)):
            return number
        slot = (slot + np.uint64(1)) & np.uint64(len(table.slots) - 1)
    begin = np.int64(tokens.starts[token])
    length = np.int64(tokens.ends[token]) - begin
    place = table.offsets[n_terms]
    if 2 * n_terms >= len(table.slots) or place + length > len(table.known):
        return np.int64(-1)
    table.slots[slot, 0] = key
    table.slots[slot, 1] = n_terms
    for step in range(length):
        table.known[place + step] = tokens.text[begin + step]
    table.offsets[n_terms + 1] = place + length
    return n_terms


@part
def _note(progress: Ints, row: int, token: int, n_postings: int, n_terms: int) -> None:
    progress[0] = row
    progress[1] = token
    progress[2] = n_postings
    progress[3] = n_terms


@bare_kernel
def count_terms(
    tokens: Tokens, first: int, progress: Ints, table: Table, found: Found, counted: Counted
) -> bool:
    """Number the terms of a batch, whose documents begin at `first`, and count them in each.

    Returns False when the table is half full or the space for new terms is used up: the caller
    makes room and calls again. `progress` has the document and token to continue with, the number
    of postings so far and of terms in the table.
    """
    row, token, n_postings, n_terms = progress[0], progress[1], progress[2], progress[3]
    keys, numbers = found.keys, found.numbers
    while row < len(tokens.offsets) - 1:
        document = np.int32(first + row + 1)
        while token < tokens.offsets[row + 1]:
            left = tokens.offsets[row + 1] - token
            size = left if left < len(keys) else len(keys)
            _look_up(tokens, token, size, table.slots, keys, numbers)
            for step in range(size):
                number = numbers[step]
                if number < 0 or (keys[step] >= _LONG and not _same(tokens, token, table, number)):
                    number = _find_or_add(tokens, token, keys[step], table, n_terms)
                    if number < 0:
                        _note(progress, row, token, n_postings, n_terms)
                        return False
                    n_terms += number == n_terms
                if table.latest[number, 0] == document:
                    counted.counts[table.latest[number, 1]] += 1
                else:
                    table.latest[number, 0] = document
                    table.latest[number, 1] = n_postings
                    table.latest[number, 2] += 1
                    counted.terms[n_postings] = number
                    counted.counts[n_postings] = 1
                    n_postings += 1
                token += 1
        row += 1
        counted.offsets[row] = n_postings
    _note(progress, row, token, n_postings, n_terms)
    return True


@bare_kernel
def rehash(old: Words, slots: Words) -> None:
    """Move all terms of a table into an empty, larger one."""
    for place in range(len(old)):
        key = old[place, 0]
        if key == 0:
            continue
        slot = _first_slot(key, slots)
        while slots[slot, 0] != 0:
            slot = (slot + np.uint64(1)) & np.uint64(len(slots) - 1)
        slots[slot, 0] = key
        slots[slot, 1] = old[place, 1]

"""Compiled loops of the search for near-duplicates."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import numpy as np

from heldout.compiled import kernel, part

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from heldout.data.words import Bytes, Flags, Ints, Words

    Halves = NDArray[np.uint16]
    Numbers = NDArray[np.uint32]

_SEQUENCE: Final = 5  # words that follow each other


@part
def _mixed(word: np.uint64) -> np.uint64:
    """Return the last steps of SplitMix64."""
    word = (word ^ (word >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    word = (word ^ (word >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return word ^ (word >> np.uint64(31))


@part
def _next_word(text: Bytes, place: int, end: int) -> tuple[np.uint64, int]:
    """Return 64 bits of the next word (0 if there is none), and the position after it.

    Words consist of ASCII letters (in lower case), digits, and all other characters except the
    punctuation of U+2000 to U+207F; a character from U+3000, of scripts without spaces, is a word.
    """
    word = np.uint64(0)
    while place < end:
        byte = np.uint64(text[place])
        if byte >= 0xE3:  # the first byte of a character that is a word by itself
            if word:
                break
            for _ in range(3 if byte < 0xF0 else 4):
                word = _letter(word, np.uint64(text[place]))
                place += 1
            break
        dash = byte == 0xE2 and text[place + 1] <= 0x81
        if dash or not (97 <= (byte | 32) <= 122 or 48 <= byte <= 57 or byte >= 128):
            place += 3 if dash else 1
            if word:
                break
            continue
        word = _letter(word, byte | np.uint64(32) if byte < 128 else byte)
        place += 1
    return word, place


@part
def _letter(word: np.uint64, byte: np.uint64) -> np.uint64:
    """Add a byte to a hash, which is never 0 then (FNV-1a except for the last bit)."""
    return ((word ^ byte) * np.uint64(0x100000001B3)) | np.uint64(1)


@part
def _sequence(ring: Words, n_words: int) -> np.uint32:
    """Return 32 bits of the last words, or of all if there are fewer."""
    size = min(n_words, _SEQUENCE)
    found = np.uint64(size)
    for back in range(size):
        found = _mixed(found ^ ring[(n_words - 1 - back) % _SEQUENCE]) + np.uint64(back)
    return np.uint32(found >> np.uint64(32))


@kernel
def sign_documents(
    text: Bytes, offsets: Ints, factors: Numbers, shifts: Numbers, out: Halves, has_words: Flags
) -> None:
    """Write 16 bits of the first sequence of each document in each order."""
    least = np.empty(len(factors), np.uint32)
    ring = np.zeros(_SEQUENCE, np.uint64)  # the last words
    for document in range(len(offsets) - 1):
        least[:] = np.uint32(0xFFFFFFFF)
        n_words, place, end = 0, offsets[document], offsets[document + 1]
        while True:
            word, place = _next_word(text, place, end)
            if word:
                ring[n_words % _SEQUENCE] = _mixed(word)
                n_words += 1
            # At the end of a short document its words are one sequence.
            if n_words >= _SEQUENCE if word else 0 < n_words < _SEQUENCE:
                number = _sequence(ring, n_words)
                for order in range(len(least)):
                    own = np.uint32(factors[order] * number + shifts[order])
                    least[order] = min(least[order], own)
            if not word:
                break
        has_words[document] = n_words > 0
        for order in range(len(least)):
            out[document, order] = np.uint16(least[order] & np.uint32(0xFFFF))


@part
def _root(leaders: Ints, document: int) -> int:
    """Return the first document of a group, and shorten the path to it."""
    while leaders[document] != document:
        leaders[document] = leaders[leaders[document]]
        document = leaders[document]
    return document


@kernel
def join_alike(
    signed: Halves, rows: Ints, keys: Words, least: int, neighbours: int, leaders: Ints
) -> None:
    """Merge the groups of documents that share a band and agree in at least `least` orders.

    `rows` are in the order of their `keys`, whose upper half is the band; a document is compared
    with its `neighbours`, those before it. `leaders` has for each document an earlier one of its
    group, or itself, and is modified.
    """
    begin = 0
    for at in range(1, len(rows)):
        if keys[at] >> np.uint64(32) != keys[begin] >> np.uint64(32):
            begin = at
        own = rows[at]
        mine = _root(leaders, own)
        for other_at in range(at - 1, max(begin, at - neighbours) - 1, -1):
            other = rows[other_at]
            theirs = _root(leaders, other)
            if theirs == mine:
                continue
            same = 0
            for order in range(signed.shape[1]):
                same += signed[own, order] == signed[other, order]
            if same >= least:
                low, high = min(mine, theirs), max(mine, theirs)
                leaders[high] = low
                mine = low

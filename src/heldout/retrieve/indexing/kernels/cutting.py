"""Split text into tokens: words, n-grams of words and of characters."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import numpy as np

from heldout.compiled import bare_kernel, part
from heldout.retrieve.indexing.kernels.types import CODE_POINT, DOTTED, MARK, UNSPACED, WORD

if TYPE_CHECKING:
    from heldout.retrieve.indexing.kernels.types import Bytes, Grams, Offsets, Places, Tokens

__all__ = ["character_grams", "cut_words", "word_grams"]

_SPACE: Final = 32
_DOT_ABOVE: Final = 0x307


@part
def _decode(text: Bytes, place: int) -> tuple[int, int]:
    """Return the code point at a position of valid UTF-8, and its length in bytes."""
    first = np.int64(text[place])
    if first < 0x80:
        return first, 1
    second = np.int64(text[place + 1]) & 0x3F
    if first < 0xE0:
        return (first & 0x1F) << 6 | second, 2
    third = np.int64(text[place + 2]) & 0x3F
    if first < 0xF0:
        return (first & 0x0F) << 12 | second << 6 | third, 3
    fourth = np.int64(text[place + 3]) & 0x3F
    return (first & 0x07) << 18 | second << 12 | third << 6 | fourth, 4


@part
def _encode(code: int, out: Bytes, place: int) -> int:
    """Write a code point as UTF-8; return the position after it."""
    if code < 0x80:
        out[place] = code
        return place + 1
    if code < 0x800:
        out[place] = 0xC0 | code >> 6
        out[place + 1] = 0x80 | code & 0x3F
        return place + 2
    if code < 0x10000:
        out[place] = 0xE0 | code >> 12
        out[place + 1] = 0x80 | code >> 6 & 0x3F
        out[place + 2] = 0x80 | code & 0x3F
        return place + 3
    out[place] = 0xF0 | code >> 18
    out[place + 1] = 0x80 | code >> 12 & 0x3F
    out[place + 2] = 0x80 | code >> 6 & 0x3F
    out[place + 3] = 0x80 | code & 0x3F
    return place + 4


@part
def _fold(text: Bytes, read: int, table: Places, out: Bytes, place: int) -> tuple[int, int]:
    """Read one character that is not an ASCII letter; write it if it belongs to words.

    Returns the positions after what was read and what was written.
    """
    code, size = _decode(text, read)
    entry = np.int64(table[code])
    if entry & WORD:
        place = _encode(entry & CODE_POINT, out, place)
        if entry & DOTTED:
            place = _encode(np.int64(_DOT_ABOVE), out, place)
    return read + size, place


@bare_kernel
def cut_words(
    text: Bytes, offsets: Offsets, letters: Bytes, table: Places, out: Bytes, words: Grams
) -> int:
    """Write the words of each document, each followed by one space; return their number.

    Parameters
    ----------
    letters
        For each byte, the byte to write; 0 if it is not an ASCII word character.
    table
        An entry for each code point that occurs (see `characters`).
    """
    place = np.int64(0)
    n_words = 0
    for document in range(len(offsets) - 1):
        begin = place
        read = offsets[document]
        end = offsets[document + 1]
        while read <= end:
            before = place
            if read < end:
                letter = letters[text[read]]
                if letter:
                    out[place] = letter
                    place += 1
                    read += 1
                    continue
                read, place = _fold(text, read, table, out, place)
            else:
                read += 1
            if place == before and place > begin:
                words.starts[n_words] = begin
                words.ends[n_words] = place
                n_words += 1
                out[place] = _SPACE
                place += 1
                begin = place
        words.offsets[document + 1] = n_words
    return n_words


@bare_kernel
def word_grams(words: Tokens, low: int, high: int, grams: Grams) -> int:
    """Write all sequences of `low` to `high` adjacent words of a document; return their number."""
    n_grams = 0
    for document in range(len(words.offsets) - 1):
        end = words.offsets[document + 1]
        for word in range(words.offsets[document], end):
            for last in range(word + low - 1, min(word + high, end)):
                grams.starts[n_grams] = words.starts[word]
                grams.ends[n_grams] = words.ends[last]
                n_grams += 1
        grams.offsets[document + 1] = n_grams
    return n_grams


@part
def _cut_run(
    text: Bytes, run: tuple[int, int], sizes: tuple[int, int], grams: Grams, n_grams: int
) -> int:
    """Write all character n-grams of a run in the given sizes; a shorter run stays whole."""
    first, end = run
    low, high = sizes
    n_before = n_grams
    while first < end:
        last = first
        for size in range(1, high + 1):
            if last >= end:
                break
            last += _decode(text, last)[1]
            if size >= low:
                grams.starts[n_grams] = first
                grams.ends[n_grams] = last
                n_grams += 1
        first += _decode(text, first)[1]
    if n_grams == n_before:
        grams.starts[n_grams] = run[0]
        grams.ends[n_grams] = end
        n_grams += 1
    return n_grams


@part
def _segment_end(text: Bytes, begin: int, end: int, table: Places) -> tuple[int, bool]:
    """Return where the script changes between with and without spaces, and the script before."""
    code, size = _decode(text, begin)
    unspaced = (table[code] & UNSPACED) != 0
    begin += size
    while begin < end:
        code, size = _decode(text, begin)
        entry = table[code]
        other = (entry & UNSPACED) != 0
        if other != unspaced and (other or not entry & MARK):
            break
        begin += size
    return begin, unspaced


@bare_kernel
def character_grams(
    words: Tokens, table: Places, sizes: tuple[int, int], mixed: bool, grams: Grams
) -> int:
    """Split words into character n-grams; if `mixed`, only their parts without spaces."""
    n_grams = np.int64(0)
    for document in range(len(words.offsets) - 1):
        for word in range(words.offsets[document], words.offsets[document + 1]):
            begin = np.int64(words.starts[word])
            end = np.int64(words.ends[word])
            while begin < end:
                stop, cut = end, True
                if mixed:
                    stop, cut = _segment_end(words.text, begin, end, table)
                if cut:
                    n_grams = _cut_run(words.text, (begin, stop), sizes, grams, n_grams)
                else:
                    grams.starts[n_grams] = begin
                    grams.ends[n_grams] = stop
                    n_grams += 1
                begin = stop
        grams.offsets[document + 1] = n_grams
    return n_grams

"""Split text into words, and into pairs of characters where a script has no spaces."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import numpy as np

from heldout.compiled import bare_kernel, part
from heldout.retrieve.kernels.types import CODE_POINT, DOTTED, MARK, UNSPACED, WORD

if TYPE_CHECKING:
    from heldout.retrieve.kernels.types import Bytes, Ints, Numbers, Tokens

_SPACE: Final = 32
_DOT_ABOVE: Final = 0x307
THREE_BYTES: Final = 0xE0
"""Characters of scripts without spaces begin with this byte or one above it."""


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
def _fold(text: Bytes, read: int, table: Numbers, out: Bytes, place: int) -> tuple[int, int]:
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
def cut_words(text: Bytes, offsets: Ints, letters: Bytes, table: Numbers, words: Tokens) -> int:
    """Write the words of each document, each followed by one space; return their number.

    `letters` has the byte to write for each byte, 0 if it is no ASCII word character; `table` an
    entry for each code point that occurs (see `characters`).
    """
    out, place, n_words = words.text, np.int64(0), 0
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


@part
def _cut_pairs(text: Bytes, begin: int, end: int, terms: Tokens, n_terms: int) -> int:
    """Write all pairs of adjacent characters of a run; a single character stays alone."""
    middle = begin + _decode(text, begin)[1]
    if middle == end:
        terms.starts[n_terms] = begin
        terms.ends[n_terms] = end
        return n_terms + 1
    while middle < end:
        last = middle + _decode(text, middle)[1]
        terms.starts[n_terms] = begin
        terms.ends[n_terms] = last
        n_terms += 1
        begin, middle = middle, last
    return n_terms


@part
def _has_long_character(text: Bytes, begin: int, end: int) -> bool:
    """Return whether a word has a character of three bytes or more."""
    place = begin
    while place < end and text[place] < THREE_BYTES:
        place += 1
    return place < end


@part
def _segment_end(text: Bytes, begin: int, end: int, table: Numbers) -> tuple[int, bool]:
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
def split_unspaced(words: Tokens, table: Numbers, terms: Tokens) -> int:
    """Split the parts of words whose script has no spaces into pairs; return how many."""
    n_terms = np.int64(0)
    for document in range(len(words.offsets) - 1):
        for word in range(words.offsets[document], words.offsets[document + 1]):
            begin = np.int64(words.starts[word])
            end = np.int64(words.ends[word])
            long = _has_long_character(words.text, begin, end)
            while begin < end:
                stop, unspaced = end, False
                if long:
                    stop, unspaced = _segment_end(words.text, begin, end, table)
                if unspaced:
                    n_terms = _cut_pairs(words.text, begin, stop, terms, n_terms)
                else:
                    terms.starts[n_terms] = begin
                    terms.ends[n_terms] = stop
                    n_terms += 1
                begin = stop
        terms.offsets[document + 1] = n_terms
    return n_terms

"""The compiled loops of the index builder.

Positions in a batch's text are 32-bit, and each function is written for one set of array types,
so that each is compiled once.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from heldout.retrieve.characters import CODE_POINT, DOTTED, MARK, UNSPACED, WORD
from heldout.retrieve.compiled import kernel

__all__ = [
    "character_grams",
    "count_postings",
    "count_terms",
    "cut_words",
    "place_postings",
    "rehash",
    "word_grams",
]

Bytes = NDArray[np.uint8]
Places = NDArray[np.int32]
Offsets = NDArray[np.int64]

_SPACE = np.uint8(32)
_DOT_ABOVE = 0x307


@kernel
def _decode(text: Bytes, place: int) -> tuple[int, int]:
    """The code point at a place of valid UTF-8, and how many bytes it takes."""
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


@kernel
def _encode(code: int, out: Bytes, place: int) -> int:
    """Write a code point as UTF-8; returns the place behind it."""
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


@kernel
def cut_words(
    text: Bytes,
    offsets: Offsets,
    table: Places,
    out: Bytes,
    starts: Places,
    ends: Places,
    word_offsets: Offsets,
) -> int:
    """Write the lower-cased words of each document with one space between; returns how many.

    `table` has an entry for each code point that occurs (see `characters`).
    """
    place = 0
    n_words = 0
    for document in range(len(offsets) - 1):
        begin = -1
        read = offsets[document]
        end = offsets[document + 1]
        while read < end:
            byte = text[read]
            if byte < 0x80:
                entry = np.int64(table[byte])
                read += 1
                if entry & WORD:
                    if begin < 0:
                        begin = place
                    out[place] = np.uint8(entry & 0x7F)
                    place += 1
                    continue
            else:
                code, size = _decode(text, read)
                read += size
                entry = np.int64(table[code])
                if entry & WORD:
                    if begin < 0:
                        begin = place
                    place = _encode(entry & CODE_POINT, out, place)
                    if entry & DOTTED:
                        place = _encode(_DOT_ABOVE, out, place)
                    continue
            if begin >= 0:
                starts[n_words] = begin
                ends[n_words] = place
                n_words += 1
                out[place] = _SPACE
                place += 1
                begin = -1
        if begin >= 0:
            starts[n_words] = begin
            ends[n_words] = place
            n_words += 1
            out[place] = _SPACE
            place += 1
        word_offsets[document + 1] = n_words
    return n_words


@kernel
def word_grams(
    starts: Places,
    ends: Places,
    word_offsets: Offsets,
    low: int,
    high: int,
    gram_starts: Places,
    gram_ends: Places,
    gram_offsets: Offsets,
) -> int:
    """All stretches of `low` to `high` neighbouring words of a document; returns how many."""
    n_grams = 0
    for document in range(len(word_offsets) - 1):
        end = word_offsets[document + 1]
        for word in range(word_offsets[document], end):
            for last in range(word + low - 1, min(word + high, end)):
                gram_starts[n_grams] = starts[word]
                gram_ends[n_grams] = ends[last]
                n_grams += 1
        gram_offsets[document + 1] = n_grams
    return n_grams


@kernel
def _cut_run(
    text: Bytes,
    begin: int,
    end: int,
    low: int,
    high: int,
    starts: Places,
    ends: Places,
    n_grams: int,
) -> int:
    """All stretches of `low` to `high` characters of a run; one that is shorter stays whole."""
    n_before = n_grams
    first = begin
    while first < end:
        last = first
        for size in range(1, high + 1):
            if last >= end:
                break
            last += _decode(text, last)[1]
            if size >= low:
                starts[n_grams] = first
                ends[n_grams] = last
                n_grams += 1
        first += _decode(text, first)[1]
    if n_grams == n_before:
        starts[n_grams] = begin
        ends[n_grams] = end
        n_grams += 1
    return n_grams


@kernel
def character_grams(
    text: Bytes,
    starts: Places,
    ends: Places,
    word_offsets: Offsets,
    table: Places,
    low: int,
    high: int,
    mixed: bool,
    gram_starts: Places,
    gram_ends: Places,
    gram_offsets: Offsets,
) -> int:
    """Cut words into characters, or if `mixed` only their stretches without spaces."""
    n_grams = 0
    for document in range(len(word_offsets) - 1):
        for word in range(word_offsets[document], word_offsets[document + 1]):
            begin = np.int64(starts[word])
            end = np.int64(ends[word])
            while begin < end:
                code, size = _decode(text, begin)
                unspaced = (table[code] & UNSPACED) != 0
                stop = begin + size
                while mixed and stop < end:
                    code, size = _decode(text, stop)
                    entry = table[code]
                    other = (entry & UNSPACED) != 0
                    if other != unspaced and (other or not entry & MARK):
                        break
                    stop += size
                if not mixed:
                    stop = end
                if unspaced or not mixed:
                    n_grams = _cut_run(
                        text, begin, stop, low, high, gram_starts, gram_ends, n_grams
                    )
                else:
                    gram_starts[n_grams] = begin
                    gram_ends[n_grams] = stop
                    n_grams += 1
                begin = stop
        gram_offsets[document + 1] = n_grams
    return n_grams


@kernel
def _term_key(text: Bytes, begin: int, length: int) -> np.uint64:
    """64 bits that stand for a term: itself and its length below 8 bytes, else a hash."""
    if length < 8:
        key = np.uint64(length) << np.uint64(56)
        for step in range(length):
            key |= np.uint64(text[begin + step]) << np.uint64(8 * step)
        return key
    key = np.uint64(0xCBF29CE484222325)
    for step in range(length):
        key = (key ^ np.uint64(text[begin + step])) * np.uint64(0x100000001B3)
    return key | np.uint64(0xFF00000000000000)


@kernel
def _first_slot(key: np.uint64, mask: np.uint64) -> np.uint64:
    """Where a key belongs in a table of ``mask + 1`` slots."""
    return (key * np.uint64(0x9E3779B97F4A7C15)) >> np.uint64(32) & mask


@kernel
def _same(text: Bytes, begin: int, length: int, known: Bytes, place: int, end: int) -> bool:
    if end - place != length:
        return False
    for step in range(length):
        if text[begin + step] != known[place + step]:
            return False
    return True


@kernel
def count_terms(
    text: Bytes,
    starts: Places,
    ends: Places,
    token_offsets: Offsets,
    first: int,
    progress: Offsets,
    keys: NDArray[np.uint64],
    numbers: Places,
    known: Bytes,
    known_offsets: Offsets,
    latest: Places,
    terms: Places,
    counts: Places,
    posting_offsets: Offsets,
) -> bool:
    """Number the terms of a batch and count them in each document.

    Stops when the table is half full, or the room for new terms is; then the caller makes room
    and calls again, and it goes on where it was.

    Parameters
    ----------
    first
        The number of the batch's first document.
    progress
        Document and token to go on with, postings so far, terms in the table.
    keys, numbers
        Open addressing: the key in each slot (0: free) and the number of its term.
    known, known_offsets
        The bytes of the terms, one after another.
    latest
        For each term the last document with it, and the place of that posting.
    terms, counts, posting_offsets
        The postings of each document, in order of first occurrence.

    Returns
    -------
    bool
        Whether all is done.
    """
    mask = np.uint64(len(keys) - 1)
    n_postings = progress[2]
    n_terms = progress[3]
    token = progress[1]
    for row in range(progress[0], len(token_offsets) - 1):
        document = np.int32(first + row)
        while token < token_offsets[row + 1]:
            begin = np.int64(starts[token])
            length = np.int64(ends[token]) - begin
            key = _term_key(text, begin, length)
            slot = _first_slot(key, mask)
            number = np.int64(-1)
            while keys[slot] != 0:
                if keys[slot] == key:
                    number = np.int64(numbers[slot])
                    if length < 8 or _same(
                        text, begin, length, known, known_offsets[number], known_offsets[number + 1]
                    ):
                        break
                    number = np.int64(-1)
                slot = (slot + np.uint64(1)) & mask
            if number < 0:
                number = n_terms
                place = known_offsets[number]
                if 2 * number >= len(keys) or place + length > len(known):
                    progress[0] = row
                    progress[1] = token
                    progress[2] = n_postings
                    progress[3] = n_terms
                    return False
                keys[slot] = key
                numbers[slot] = number
                for step in range(length):
                    known[place + step] = text[begin + step]
                known_offsets[number + 1] = place + length
                n_terms += 1
            if latest[number, 0] == document:
                counts[latest[number, 1]] += 1
            else:
                latest[number, 0] = document
                latest[number, 1] = n_postings
                terms[n_postings] = number
                counts[n_postings] = 1
                n_postings += 1
            token += 1
        posting_offsets[row + 1] = n_postings
    progress[0] = len(token_offsets) - 1
    progress[1] = token
    progress[2] = n_postings
    progress[3] = n_terms
    return True


@kernel
def rehash(
    old_keys: NDArray[np.uint64], old_numbers: Places, keys: NDArray[np.uint64], numbers: Places
) -> None:
    """Move all terms of a table into an empty, larger one."""
    mask = np.uint64(len(keys) - 1)
    for old in range(len(old_keys)):
        key = old_keys[old]
        if key == 0:
            continue
        slot = _first_slot(key, mask)
        while keys[slot] != 0:
            slot = (slot + np.uint64(1)) & mask
        keys[slot] = key
        numbers[slot] = old_numbers[old]


@kernel
def _count(halves: NDArray[np.uint16], posting: int) -> int:
    """A count that is held as one or two numbers of 16 bits, the lower first."""
    count = np.int64(halves[posting, 0])
    if halves.shape[1] == 2:
        count |= np.int64(halves[posting, 1]) << 16
    return count


@kernel
def count_postings(
    terms: Places,
    counts: NDArray[np.uint16],
    posting_offsets: Offsets,
    first: int,
    final: Places,
    latest: Places,
    frequencies: Offsets,
    lengths: Places,
    distinct: Places,
) -> int:
    """Count what a batch will add once raw terms have become final ones.

    Parameters
    ----------
    final
        For each raw term the number of its final one, -1 if it is left out.
    latest
        For each final term the last document with it, and its count there.
    frequencies
        For each final term its documents: added to.
    lengths, distinct
        For each document the sum of its counts and the number of its terms: filled.

    Returns
    -------
    int
        The greatest count of a term in a document.
    """
    greatest = np.int64(0)
    for row in range(len(posting_offsets) - 1):
        document = np.int32(first + row)
        length = np.int64(0)
        n_distinct = np.int32(0)
        for posting in range(posting_offsets[row], posting_offsets[row + 1]):
            term = final[terms[posting]]
            if term < 0:
                continue
            count = _count(counts, posting)
            length += count
            if latest[term, 0] == document:
                count += latest[term, 1]
            else:
                latest[term, 0] = document
                frequencies[term] += 1
                n_distinct += 1
            latest[term, 1] = count
            greatest = max(greatest, count)
        lengths[document] = length
        distinct[document] = n_distinct
    return greatest


@kernel
def place_postings(
    terms: Places,
    counts: NDArray[np.uint16],
    posting_offsets: Offsets,
    first: int,
    final: Places,
    low: int,
    high: int,
    latest: Places,
    cursors: Offsets,
    documents: Places,
    placed: NDArray[np.uint16],
) -> None:
    """Put the postings of a batch whose final terms lie in ``[low, high)`` where they belong.

    Parameters
    ----------
    latest
        For each final term the last document with it.
    cursors
        For each term of the range the place of its next posting in `documents` and `placed`.
    """
    wide = placed.shape[1] == 2
    for row in range(len(posting_offsets) - 1):
        document = np.int32(first + row)
        for posting in range(posting_offsets[row], posting_offsets[row + 1]):
            term = np.int64(final[terms[posting]])
            if term < low or term >= high:
                continue
            count = _count(counts, posting)
            place = cursors[term - low]
            if latest[term - low] == document:
                place -= 1
                count += _count(placed, place)
            else:
                latest[term - low] = document
                documents[place] = document
                cursors[term - low] = place + 1
            placed[place, 0] = count & 0xFFFF
            if wide:
                placed[place, 1] = count >> 16

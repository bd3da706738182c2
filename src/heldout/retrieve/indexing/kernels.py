"""The compiled loops of the index builder.

A term is a range of bytes. Arrays come in small named tuples, always of the same types, so that
each loop is compiled once.
"""

from __future__ import annotations

from typing import Any, Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

from heldout.retrieve.characters import CODE_POINT, DOTTED, MARK, UNSPACED, WORD
from heldout.retrieve.compiled import kernel

__all__ = [
    "BLOCK",
    "SLACK",
    "Counted",
    "Grams",
    "Placed",
    "Table",
    "Tokens",
    "character_grams",
    "count_postings",
    "count_terms",
    "cut_words",
    "place_postings",
    "rehash",
    "word_grams",
]

Bytes = NDArray[np.uint8]
Words = NDArray[np.uint64]
Places = NDArray[np.int32]
Offsets = NDArray[np.int64]

SLACK: Final = 16
"""Bytes that must lie behind a text, because terms are read eight bytes at a time."""
BLOCK: Final = 128
"""Terms that are looked up together: the processor then waits for many slots at once."""

_SPACE: Final = 32
_DOT_ABOVE: Final = 0x307
_SPREAD: Final = 0x9E3779B97F4A7C15
_LONG: Final = 0xFF << 56


class Tokens(NamedTuple):
    """Where the tokens of a batch stand.

    Parameters
    ----------
    text
        UTF-8, with `SLACK` behind it.
    words
        For each place of the text its eight bytes from there, the first lowest.
    starts, ends
        The range of each token.
    offsets
        The tokens of document ``i`` of the batch are ``offsets[i]`` to ``offsets[i + 1]``.
    """

    text: Bytes
    words: Words
    starts: Places
    ends: Places
    offsets: Offsets


class Grams(NamedTuple):
    """Room for the ranges of n-grams; as in `Tokens`."""

    starts: Places
    ends: Places
    offsets: Offsets


class Table(NamedTuple):
    """The raw terms that are known.

    Parameters
    ----------
    slots
        Open addressing: in each slot the key of a term (0: free) and its number.
    known, offsets
        The bytes of the terms, one after another.
    latest
        For each term the last document with it, and the place of that posting.
    """

    slots: Words
    known: Bytes
    offsets: Offsets
    latest: Places


class Placed(NamedTuple):
    """Where the postings of some terms go.

    Parameters
    ----------
    latest
        For each term the last document with it.
    cursors
        For each term the place of its next posting.
    documents, counts
        The postings by term.
    """

    latest: Places
    cursors: Offsets
    documents: Places
    counts: NDArray[np.uint16]


class Counted(NamedTuple):
    """The postings of the documents of a batch, document by document.

    Parameters
    ----------
    terms
        Raw terms, in order of first occurrence in each document.
    counts
        How often: one column of 16 bits, or two (the lower half first) where one is too narrow.
    offsets
        The postings of document ``i`` of the batch are ``offsets[i]`` to ``offsets[i + 1]``.
    """

    terms: Places
    counts: NDArray[Any]
    offsets: Offsets


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
def _fold(text: Bytes, read: int, table: Places, out: Bytes, place: int) -> tuple[int, int]:
    """Take one character that is not an ASCII letter; writes it if it belongs to words.

    Returns the places behind what was read and what was written.
    """
    code, size = _decode(text, read)
    entry = np.int64(table[code])
    if entry & WORD:
        place = _encode(entry & CODE_POINT, out, place)
        if entry & DOTTED:
            place = _encode(np.int64(_DOT_ABOVE), out, place)
    return read + size, place


@kernel
def cut_words(
    text: Bytes, offsets: Offsets, letters: Bytes, table: Places, out: Bytes, words: Grams
) -> int:
    """Write the words of each document with one space behind each; returns how many.

    Parameters
    ----------
    letters
        For each byte the byte to write, 0 if it is no ASCII character of a word.
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


@kernel
def word_grams(words: Tokens, low: int, high: int, grams: Grams) -> int:
    """All stretches of `low` to `high` neighbouring words of a document; returns how many."""
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


@kernel
def _cut_run(
    text: Bytes, run: tuple[int, int], sizes: tuple[int, int], grams: Grams, n_grams: int
) -> int:
    """All stretches of characters of a run, of some sizes; one that is shorter stays whole."""
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


@kernel
def _segment_end(text: Bytes, begin: int, end: int, table: Places) -> tuple[int, bool]:
    """Where the script changes between with and without spaces, and which it was before."""
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


@kernel
def character_grams(
    words: Tokens, table: Places, sizes: tuple[int, int], mixed: bool, grams: Grams
) -> int:
    """Cut words into characters, or if `mixed` only their stretches without spaces."""
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


@kernel
def _key(words: Words, begin: int, length: int) -> np.uint64:
    """64 bits that stand for a term: itself and its length below 8 bytes, else a hash."""
    if length < 8:
        kept = (np.uint64(1) << np.uint64(8 * length)) - np.uint64(1)
        return words[begin] & kept | np.uint64(length) << np.uint64(56)
    key = words[begin + length - 8]
    for step in range(begin, begin + length - 8, 8):
        key = (key ^ words[step]) * np.uint64(_SPREAD)
        key ^= key >> np.uint64(29)
    return key | np.uint64(_LONG)


@kernel
def _first_slot(key: np.uint64, slots: Words) -> np.uint64:
    """Where a key belongs; the number of slots is a power of two."""
    return (key * np.uint64(_SPREAD)) >> np.uint64(32) & np.uint64(len(slots) - 1)


@kernel
def _look_up(
    tokens: Tokens, first: int, size: int, slots: Words, keys: Words, numbers: Offsets
) -> None:
    """The keys of consecutive tokens, and the number of what stands in the slot of each.

    Loads that do not wait for each other, so they overlap; -1 where the slot holds another key.
    """
    for step in range(size):
        begin = np.int64(tokens.starts[first + step])
        keys[step] = _key(tokens.words, begin, np.int64(tokens.ends[first + step]) - begin)
    for step in range(size):
        slot = _first_slot(keys[step], slots)
        same = slots[slot, 0] == keys[step]
        numbers[step] = np.int64(slots[slot, 1]) if same else np.int64(-1)


@kernel
def _same(tokens: Tokens, token: int, table: Table, number: int) -> bool:
    """Whether a token is a known term, byte by byte."""
    begin = np.int64(tokens.starts[token])
    length = np.int64(tokens.ends[token]) - begin
    place = table.offsets[number]
    if table.offsets[number + 1] - place != length:
        return False
    step = np.int64(0)
    while step < length and tokens.text[begin + step] == table.known[place + step]:
        step += 1
    return step == length


@kernel
def _find_or_add(tokens: Tokens, token: int, key: np.uint64, table: Table, n_terms: int) -> int:
    """The number of a term, which is `n_terms` for a new one; -1 if there is no room for it."""
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


@kernel
def _note(progress: Offsets, row: int, token: int, n_postings: int, n_terms: int) -> None:
    progress[0] = row
    progress[1] = token
    progress[2] = n_postings
    progress[3] = n_terms


@kernel
def count_terms(
    tokens: Tokens, first: int, progress: Offsets, table: Table, counted: Counted
) -> bool:
    """Number the terms of a batch and count them in each document.

    Stops when the table is half full, or the room for new terms is full; then the caller makes
    room and calls again, and it goes on where it was.

    Parameters
    ----------
    first
        The number of the batch's first document.
    progress
        Document and token to go on with, postings so far, terms in the table.

    Returns
    -------
    bool
        Whether all is done.
    """
    row, token, n_postings, n_terms = progress[0], progress[1], progress[2], progress[3]
    keys = np.empty(BLOCK, np.uint64)
    numbers = np.empty(BLOCK, np.int64)
    while row < len(tokens.offsets) - 1:
        document = np.int32(first + row)
        while token < tokens.offsets[row + 1]:
            size = min(BLOCK, tokens.offsets[row + 1] - token)
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
                    counted.terms[n_postings] = number
                    counted.counts[n_postings] = 1
                    n_postings += 1
                token += 1
        row += 1
        counted.offsets[row] = n_postings
    _note(progress, row, token, n_postings, n_terms)
    return True


@kernel
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


@kernel
def _count(halves: NDArray[np.uint16], posting: int) -> int:
    """A count that is held as one or two numbers of 16 bits, the lower first."""
    count = np.int64(halves[posting, 0])
    if halves.shape[1] == 2:
        count |= np.int64(halves[posting, 1]) << 16
    return count


@kernel
def count_postings(
    counted: Counted,
    first: int,
    final: Places,
    latest: Places,
    frequencies: Offsets,
    sizes: Places,
) -> int:
    """Count what a batch will add once raw terms have become final ones.

    Parameters
    ----------
    first
        The number of the batch's first document.
    final
        For each raw term the number of its final one, -1 if it is left out.
    latest
        For each final term the last document with it, and its count there.
    frequencies
        For each final term its documents: added to.
    sizes
        For each document its length and the number of its different terms: filled.

    Returns
    -------
    int
        The greatest count of a term in a document.
    """
    greatest = np.int64(0)
    for row in range(len(counted.offsets) - 1):
        document = np.int32(first + row)
        length = np.int64(0)
        n_distinct = np.int64(0)
        for posting in range(counted.offsets[row], counted.offsets[row + 1]):
            term = final[counted.terms[posting]]
            if term < 0:
                continue
            count = _count(counted.counts, posting)
            length += count
            if latest[term, 0] == document:
                count += latest[term, 1]
            else:
                latest[term, 0] = document
                frequencies[term] += 1
                n_distinct += 1
            latest[term, 1] = count
            greatest = max(greatest, count)
        sizes[0, document] = length
        sizes[1, document] = n_distinct
    return greatest


@kernel
def place_postings(
    counted: Counted,
    first: int,
    final: Places,
    span: tuple[int, int],
    placed: Placed,
) -> None:
    """Put the postings of a batch whose final terms lie in a span where they belong.

    Parameters
    ----------
    first, final
        As for `count_postings`.
    span
        The first term, and the one behind the last; `placed` is for these.
    """
    low, high = span
    latest, cursors, documents, counts = placed
    wide = counts.shape[1] == 2
    for row in range(len(counted.offsets) - 1):
        document = np.int32(first + row)
        for posting in range(counted.offsets[row], counted.offsets[row + 1]):
            term = np.int64(final[counted.terms[posting]])
            if term < low or term >= high:
                continue
            count = _count(counted.counts, posting)
            place = cursors[term - low]
            if latest[term - low] == document:
                place -= 1
                count += _count(counts, place)
            else:
                latest[term - low] = document
                documents[place] = document
                cursors[term - low] = place + 1
            counts[place, 0] = count & 0xFFFF
            if wide:
                counts[place, 1] = count >> 16

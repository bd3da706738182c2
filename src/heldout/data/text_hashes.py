"""Hashes of 128 bits that find documents with the same text.

Texts that differ only in case and white space have the same hash. A document with only white space
has the hash 0. Two different texts share a hash with probability 2 ** -128, so that equal hashes
are taken as equal texts.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import numpy as np

from heldout.compiled import bare_kernel, part
from heldout.data.documents import TextBatch
from heldout.data.words import words

if TYPE_CHECKING:
    from heldout.data.words import Bytes, Flags, Ints, Words

_BLANK: Final = np.uint8(32)
_FOLDED: Final = np.arange(256, dtype=np.uint8)
"""Lower case of ASCII, and a blank for white space, as `str.split` knows it."""
_FOLDED[65:91] += 32
_FOLDED[[9, 10, 11, 12, 13, 28, 29, 30, 31]] = _BLANK
_FOLDED.flags.writeable = False


def text_hashes(batch: TextBatch) -> Words:
    r"""Return the hash of each document of a batch: documents × 2 words.

    Examples
    --------
    >>> from heldout.data.documents import documents_of
    >>> batch, = documents_of(["Red apples", "red  apples\n", "pears", " "]).batches()
    >>> found = text_hashes(batch)
    >>> (found == found[0]).all(axis=1).tolist(), found[3].tolist()
    ([True, True, False, False], [0, 0])
    """
    folded = np.empty(len(batch.text) + 1, np.uint8)
    offsets, foreign = np.zeros(len(batch) + 1, np.int64), np.zeros(len(batch), np.bool_)
    text = np.ascontiguousarray(batch.text).view()
    text.flags.writeable = False  # the loop is then compiled for one type only
    fold_kernel(text, np.asarray(batch.offsets, np.int64), _FOLDED, folded, offsets, foreign)
    found = _hashes(folded[: offsets[-1]], offsets)
    rest = np.flatnonzero(foreign).tolist()
    if rest:
        texts = [" ".join(batch.raw(place).decode().casefold().split()) for place in rest]
        own = TextBatch.of(0, (), [text.encode() for text in texts])
        found[rest] = _hashes(own.text, own.offsets)
    return found


def _hashes(text: Bytes, offsets: Ints) -> Words:
    found = np.zeros((len(offsets) - 1, 2), np.uint64)
    hash_kernel(words(np.concatenate((text, np.zeros(16, np.uint8)))), offsets, found)
    return found


@bare_kernel
def fold_kernel(
    text: Bytes, offsets: Ints, table: Bytes, folded: Bytes, ends: Ints, foreign: Flags
) -> None:
    """Write each document in lower case with single blanks; mark those that are not ASCII."""
    size = np.uint64(0)  # unsigned numbers are indexes without a test for negative ones
    for document in range(len(offsets) - 1):
        begin, seen, last = size, np.uint8(0), _BLANK
        for place in range(np.uint64(offsets[document]), np.uint64(offsets[document + 1])):
            seen |= text[place]
            byte = table[text[place]]
            folded[size] = byte
            size += np.uint64((byte != _BLANK) | (last != _BLANK))
            last = byte
        if size > begin and last == _BLANK:
            size -= np.uint64(1)
        ends[document + 1] = size
        foreign[document] = seen >= 128


@part
def _mixed(state: np.uint64, word: np.uint64, factor: np.uint64) -> np.uint64:
    state = (state ^ word) * factor
    state ^= state >> np.uint64(32)
    return state * np.uint64(0x9E3779B97F4A7C15)


@bare_kernel
def hash_kernel(eights: Words, offsets: Ints, out: Words) -> None:
    """Hash documents; `eights` has the eight bytes from each position of their text."""
    first_factor, second_factor = np.uint64(0xBF58476D1CE4E5B9), np.uint64(0xFF51AFD7ED558CCD)
    for document in range(len(offsets) - 1):
        begin, size = offsets[document], offsets[document + 1] - offsets[document]
        if size == 0:
            continue
        first, second = np.uint64(0x243F6A8885A308D3), np.uint64(0x13198A2E03707344)
        for place in range(begin, begin + size - size % 8, 8):
            first = _mixed(first, eights[place], first_factor)
            second = _mixed(second, eights[place], second_factor)
        rest = (np.uint64(1) << np.uint64(8 * (size % 8))) - np.uint64(1)
        word, length = eights[begin + size - size % 8] & rest, np.uint64(size)
        first = _mixed(_mixed(first, word, first_factor), length, first_factor)
        second = _mixed(_mixed(second, word, second_factor), length, second_factor)
        out[document, 0], out[document, 1] = first | np.uint64(1), second

"""Hashes of 128 bits that find documents with the same text.

Texts that differ only in case and white space have the same hash. A document with only white space
has the hash 0. Two different texts share a hash with probability 2 ** -128, so that equal hashes
are taken as equal texts.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import numpy as np

from heldout.compiled import bare_kernel
from heldout.data.documents import TextBatch

if TYPE_CHECKING:
    from heldout.data.words import Bytes, Flags, Ints, Words

_BLANK: Final = np.uint8(32)
_FOLDED: Final = np.arange(256, dtype=np.uint8)
"""Lower case of ASCII, and a blank for white space, as `str.split` knows it."""
_FOLDED[65:91] += 32
_FOLDED[[9, 10, 11, 12, 13, 28, 29, 30, 31]] = _BLANK
_FOLDED.flags.writeable = False


def text_hashes(batch: TextBatch) -> Words:
    """Return the hash of each document of a batch: documents × 2 words."""
    hashes, foreign = np.zeros((len(batch), 2), np.uint64), np.zeros(len(batch), np.bool_)
    text = np.ascontiguousarray(batch.text).view()
    text.flags.writeable = False  # the loop is then compiled for one type only
    hash_kernel(text, np.asarray(batch.offsets, np.int64), _FOLDED, hashes, foreign)
    rest = np.flatnonzero(foreign).tolist()
    if rest:
        texts = [" ".join(batch.raw(place).decode().casefold().split()) for place in rest]
        own = TextBatch.of(0, (), [text.encode() for text in texts])
        folded = np.zeros((len(rest), 2), np.uint64)
        hash_kernel(own.text, own.offsets, _FOLDED, folded, np.zeros(len(rest), np.bool_))
        hashes[rest] = folded
    return hashes


@bare_kernel
def hash_kernel(text: Bytes, offsets: Ints, table: Bytes, hashes: Words, foreign: Flags) -> None:
    """Hash each document in lower case with single blanks; mark those that are not ASCII."""
    first_factor, second_factor = np.uint64(0xBF58476D1CE4E5B9), np.uint64(0xFF51AFD7ED558CCD)
    half = np.uint64(32)
    for document in range(len(hashes)):
        first, second = np.uint64(0x243F6A8885A308D3), np.uint64(0x13198A2E03707344)
        seen, gap, is_empty = np.uint8(0), np.uint64(256), True
        for place in range(np.uint64(offsets[document]), np.uint64(offsets[document + 1])):
            seen |= text[place]
            byte = table[text[place]]
            if byte == _BLANK:
                gap = np.uint64(256)  # a bit of the next letter: blanks before it, or the beginning
                continue
            letter = np.uint64(byte) | gap
            first = (first ^ letter) * first_factor
            second = (second ^ letter) * second_factor
            first ^= first >> half
            second ^= second >> half
            gap, is_empty = np.uint64(0), False
        if not is_empty:
            hashes[document, 0], hashes[document, 1] = first | np.uint64(1), second
        foreign[document] = seen >= 128

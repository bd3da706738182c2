"""Hashes of 128 bits that find documents with the same text.

Texts that differ only in case and white space have the same hash. A document with only white space
has the hash 0. Two different texts share a hash with probability 2 ** -128, so that equal hashes
are taken as equal texts.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import numpy as np

from heldout.compiled import bare_kernel, part
from heldout.data.words import words

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from heldout.data.documents import TextBatch
    from heldout.data.words import Bytes, Flags, Ints, Words

_LEAST: Final = 16
"""Bytes of a text for which the words at all positions are not taken for an ordinary array."""

# Added to eight ASCII characters, these set the high bits of those not below a given one.
_FROM_32, _FROM_33, _FROM_A, _AFTER_Z = (
    np.uint64((0x80 - byte) * 0x0101010101010101) for byte in (32, 33, 65, 91)
)
_HIGH: Final = np.uint64(0x8080808080808080)
_HIGHEST: Final = np.uint64(1 << 63)


def text_hashes(batch: TextBatch) -> NDArray[np.uint64]:
    r"""Return the hash of each document of a batch: documents × 2 words.

    Examples
    --------
    >>> from heldout.data.documents import documents_of
    >>> batch, = documents_of(["Red apples", "red  apples\n", "pears", " "]).batches()
    >>> found = text_hashes(batch)
    >>> (found == found[0]).all(axis=1).tolist(), found[3].tolist()
    ([True, True, False, False], [0, 0])
    """
    found = np.zeros((len(batch), 2), np.uint64)
    foreign = np.zeros(len(batch), np.bool_)
    text = np.ascontiguousarray(batch.text)
    _hash(text, np.asarray(batch.offsets, np.int64), True, found, foreign)
    rest = np.flatnonzero(foreign)
    if len(rest):
        folded = [_folded(batch.raw(place)) for place in rest.tolist()]
        offsets = np.zeros(len(folded) + 1, np.int64)
        np.cumsum([len(one) for one in folded], out=offsets[1:])
        own = np.zeros((len(folded), 2), np.uint64)
        joined = np.frombuffer(b"".join(folded), np.uint8)
        _hash(joined, offsets, False, own, np.zeros(len(folded), np.bool_))
        found[rest] = own
    return found


def _hash(text: Bytes, offsets: Ints, ascii_only: bool, out: Words, foreign: Flags) -> None:
    longer = text if len(text) >= _LEAST else np.concatenate((text, np.zeros(_LEAST, np.uint8)))
    longer = longer.view()
    longer.flags.writeable = False  # the loop is then compiled for one type only
    hash_kernel(longer, words(longer), offsets, ascii_only, out, foreign)


def _folded(raw: bytes) -> bytes:
    """Return the text in lower case with single spaces, as the kernel does for ASCII."""
    return " ".join(raw.decode().casefold().split()).encode()


@part
def _mixed(state: np.uint64, word: np.uint64, factor: np.uint64) -> np.uint64:
    state = (state ^ word) * factor
    state ^= state >> np.uint64(32)
    return state * np.uint64(0x9E3779B97F4A7C15)


@part
def _is_plain(word: np.uint64, after: int) -> bool:
    """Return whether eight bytes are hashed as they are, but for case; `after` is the next byte.

    They are ASCII, and white space is single blanks that something else follows.
    """
    blanks = ~(word + _FROM_33) & _HIGH
    wrong = word & _HIGH | ~(word + _FROM_32) & _HIGH | blanks & (blanks << np.uint64(8))
    return bool(wrong == 0) and bool(after > 32 or blanks < _HIGHEST)


@part
def _lower(word: np.uint64) -> np.uint64:
    """Return eight ASCII characters in lower case."""
    return word | ((word + _FROM_A) & ~(word + _AFTER_Z) & _HIGH) >> np.uint64(2)


@bare_kernel
def hash_kernel(
    text: Bytes, eights: Words, offsets: Ints, ascii_only: bool, out: Words, foreign: Flags
) -> None:
    """Hash each document in lower case, with single spaces for white space, into documents × 2.

    `eights` has the eight bytes from each position of the text. If `ascii_only`, documents with
    other characters are skipped and marked in `foreign`.
    """
    first_factor, second_factor = np.uint64(0xBF58476D1CE4E5B9), np.uint64(0xFF51AFD7ED558CCD)
    for document in range(len(offsets) - 1):
        first, second = np.uint64(0x243F6A8885A308D3), np.uint64(0x13198A2E03707344)
        word, filled, size = np.uint64(0), np.uint64(0), np.uint64(0)
        blank = False
        place, end = offsets[document], offsets[document + 1]
        while place < end:
            # Eight bytes at a time, wherever that is the same.
            while (
                filled == 0
                and not blank
                and size > 0
                and place + 8 < end
                and _is_plain(eights[place], text[place + 8])
            ):
                lower = _lower(eights[place])
                first = _mixed(first, lower, first_factor)
                second = _mixed(second, lower, second_factor)
                size += np.uint64(8)
                place += 8
            byte = np.uint64(text[place])
            place += 1
            if byte >= 128 and ascii_only:
                foreign[document] = True
                break
            if byte == 32 or 9 <= byte <= 13 or 28 <= byte <= 31:
                blank = bool(size > 0)
                continue
            if 65 <= byte <= 90:
                byte += np.uint64(32)
            for turn in range(2 if blank else 1):
                own = np.uint64(32) if blank and turn == 0 else byte
                word |= own << filled
                filled += np.uint64(8)
                size += np.uint64(1)
                if filled == 64:
                    first = _mixed(first, word, first_factor)
                    second = _mixed(second, word, second_factor)
                    word, filled = np.uint64(0), np.uint64(0)
            blank = False
        if size > 0 and not foreign[document]:
            first = _mixed(_mixed(first, word, first_factor), size, first_factor)
            second = _mixed(_mixed(second, word, second_factor), size, second_factor)
            out[document, 0], out[document, 1] = first | np.uint64(1), second

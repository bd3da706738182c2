"""Classes of Unicode characters for the analyzer, as predicates and as a table for compiled loops.

The predicates are the definition; the table holds their values and the lower case of all code
points, so that text is tokenized without a Python string for each word.
"""

from __future__ import annotations

import unicodedata
from functools import cache
from typing import TYPE_CHECKING, Final

import numpy as np

from heldout.retrieve.kernels.types import (
    CODE_POINT,
    DOTTED,
    MARK,
    UNSPACED,
    WORD,
    read_only,
)

if TYPE_CHECKING:
    from numpy.typing import NDArray

_ALL: Final = 0x110000
# The other planes are empty or for private use.
_PLANES_WITH_WORDS: Final = (0, 1, 2, 3, 14)

# By block, as Unicode assigns them: Thai and Lao, Myanmar, Khmer, kana with the ideographic
# marks, Han, and their extensions.
_UNSPACED_BLOCKS: Final = (
    (0x0E00, 0x0EFF),
    (0x1000, 0x109F),
    (0x1780, 0x17FF),
    (0x2E80, 0x2FDF),
    (0x3000, 0x302D),
    (0x3030, 0x30FF),
    (0x31F0, 0x31FF),
    (0x3400, 0x4DBF),
    (0x4E00, 0x9FFF),
    (0xA9E0, 0xA9FF),
    (0xAA60, 0xAA7F),
    (0xF900, 0xFAFF),
    (0xFF66, 0xFF9F),
    (0x1AFF0, 0x1B16F),
    (0x20000, 0x3FFFF),
)


def is_mark(character: str) -> bool:
    """Return whether a character is a combining mark (an accent, a vowel sign)."""
    return unicodedata.category(character).startswith("M")


def is_word(character: str) -> bool:
    r"""Return whether a character belongs to words: Python's ``\w``, and combining marks."""
    return character.isalnum() or character == "_" or is_mark(character)


def is_unspaced(character: str) -> bool:
    """Return whether a character belongs to a script without spaces between words."""
    code = ord(character)
    return any(first <= code <= last for first, last in _UNSPACED_BLOCKS)


@cache
def ascii_table(lower: bool) -> NDArray[np.int32]:
    """Return the entries of the first 128 characters."""
    return read_only(_entries(range(128), lower))


@cache
def ascii_letters(lower: bool) -> NDArray[np.uint8]:
    """Return, for each byte, the (lower-cased) ASCII word character that it is, else 0."""
    letters = np.zeros(256, np.uint8)
    table = ascii_table(lower)
    letters[:128] = np.where(table & WORD, table & CODE_POINT, 0)
    return read_only(letters)


@cache
def unicode_table(lower: bool) -> NDArray[np.int32]:
    """Return the entries of all code points; computed at the first text that is not ASCII."""
    table = np.arange(_ALL, dtype=np.int32)
    for plane in _PLANES_WITH_WORDS:
        begin = plane << 16
        table[begin : begin + (1 << 16)] = _entries(range(begin, begin + (1 << 16)), lower)
    return read_only(table)


def _entries(codes: range, lower: bool) -> NDArray[np.int32]:
    characters = [chr(code) for code in codes]
    lowered = [character.lower() for character in characters] if lower else characters
    table = np.fromiter((ord(text[0]) for text in lowered), np.int32, len(codes))
    table[np.fromiter((len(text) > 1 for text in lowered), np.bool_, len(codes))] |= DOTTED
    mark = np.fromiter(map(is_mark, characters), np.bool_, len(codes))
    word = np.fromiter(map(str.isalnum, characters), np.bool_, len(codes)) | mark
    table[mark] |= MARK
    table[word] |= WORD
    if ord("_") in codes:
        table[ord("_") - codes.start] |= WORD
    for first, last in _UNSPACED_BLOCKS:
        begin, end = max(first, codes.start), min(last + 1, codes.stop)
        table[max(0, begin - codes.start) : max(0, end - codes.start)] |= UNSPACED
    return table

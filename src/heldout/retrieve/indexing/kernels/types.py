"""The data structures that the loops share."""

from __future__ import annotations

from typing import Any, Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

Bytes = NDArray[np.uint8]
Words = NDArray[np.uint64]
Places = NDArray[np.int32]
Offsets = NDArray[np.int64]
Counts = NDArray[Any]
"""16 bits, or 32 where one of them needs more."""

SLACK: Final = 16
"""Bytes required after a text, because terms are read eight bytes at a time."""

CODE_POINT: Final = 0x1FFFFF
"""The bits of a table entry that hold the (lower-cased) code point."""
WORD: Final = 1 << 24
"""Set for letters, marks, digits and the underscore."""
UNSPACED: Final = 1 << 25
"""Set for characters of scripts that put no spaces between words."""
MARK: Final = 1 << 26
"""Set for combining marks."""
DOTTED: Final = 1 << 27
"""Set for İ, whose lower case has two characters: i and a dot above (U+0307)."""


class Ranges(NamedTuple):
    """Space for the tokens of a batch, as in `Tokens`."""

    starts: Places
    ends: Places
    offsets: Offsets


class Tokens(NamedTuple):
    """The tokens of a batch: ranges of bytes of its text, and where each document has its own."""

    text: Bytes  # UTF-8, followed by `SLACK` bytes
    words: Words  # for each position of the text, the eight bytes from there, the first lowest
    starts: Places
    ends: Places
    offsets: Offsets  # the tokens of document i of the batch are offsets[i] to offsets[i + 1]


class Table(NamedTuple):
    """The raw terms seen so far."""

    slots: Words  # open addressing: each slot has the key of a term (0: free) and its number
    known: Bytes  # the terms, one after another
    offsets: Offsets
    latest: Places  # for each: the last document with it, that posting, the number of postings


class Found(NamedTuple):
    """Space for terms looked up together: their keys and numbers."""

    keys: Words
    numbers: Offsets


class Counted(NamedTuple):
    """The postings of consecutive documents, document by document."""

    terms: Places  # in order of first occurrence in each document
    counts: Counts
    offsets: Places  # the postings of document i are offsets[i] to offsets[i + 1]


def read_only(array: NDArray[Any]) -> NDArray[Any]:
    """Return a read-only view, so that a loop is compiled for one type only."""
    view = array.view()
    view.flags.writeable = False
    return view

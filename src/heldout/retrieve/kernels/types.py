"""Numbers and data structures that loops share with modules that load no compiler."""

from __future__ import annotations

from typing import Any, Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

Bytes = NDArray[np.uint8]
Words = NDArray[np.uint64]
Numbers = NDArray[np.int32]
Ints = NDArray[np.int64]
Floats = NDArray[np.float64]
Counts = NDArray[Any]
"""16 bits, or 32 where one of them needs more."""

FRACTION, FRACTION_SHIFTED, LIKELIHOOD = range(3)
"""The forms of scoring rules; see `heldout.retrieve.kernels.scoring`."""

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


SATURATED: Final = 65535
"""A stored bound of a count that stands for itself and all larger ones."""
HUGE: Final = 2.0**31
"""No count is larger."""


class Windows(NamedTuple):
    """Bounds of some terms, by windows of 2 to the power of `bits` documents.

    `rows` are the rows of the terms in the tables; −1: a rare term, which has none. `starts` (rows
    × windows + 1) count the postings before each window, `counts` and `lengths` (rows × windows)
    are the largest counts and smallest lengths there; `most` and `shortest` are those in the whole
    list, for every term.
    """

    bits: int
    rows: Ints
    starts: Numbers
    counts: NDArray[np.uint16]
    lengths: NDArray[np.uint16]
    most: NDArray[np.uint16]
    shortest: NDArray[np.uint16]


class Tokens(NamedTuple):
    """The tokens of a batch: ranges of bytes of its text, and where each document has its own."""

    text: Bytes  # UTF-8, followed by `SLACK` bytes
    words: Words  # for each position of the text, the eight bytes from there, the first lowest
    starts: Numbers
    ends: Numbers
    offsets: Ints  # the tokens of document i of the batch are offsets[i] to offsets[i + 1]


class Table(NamedTuple):
    """The raw terms seen so far."""

    slots: Words  # open addressing: each slot has the key of a term (0: free) and its number
    known: Bytes  # the terms, one after another
    offsets: Ints
    latest: Numbers  # for each: the last document with it (from 1), that posting, all postings


class Found(NamedTuple):
    """Space for terms looked up together: their keys and numbers."""

    keys: Words
    numbers: Ints


class Counted(NamedTuple):
    """The postings of consecutive documents, document by document."""

    terms: Numbers  # in order of first occurrence in each document
    counts: Counts
    offsets: Numbers  # the postings of document i are offsets[i] to offsets[i + 1]


def read_only(array: NDArray[Any]) -> NDArray[Any]:
    """Return a read-only view, so that a loop is compiled for one type only."""
    view = array.view()
    view.flags.writeable = False
    return view

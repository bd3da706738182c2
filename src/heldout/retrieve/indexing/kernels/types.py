"""The data structures that the loops share."""

from __future__ import annotations

from typing import Any, Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

__all__ = [
    "CODE_POINT",
    "DOTTED",
    "MARK",
    "SLACK",
    "UNSPACED",
    "WORD",
    "Bytes",
    "Counted",
    "Found",
    "Offsets",
    "Placed",
    "Places",
    "Ranges",
    "Sorted",
    "Table",
    "Tokens",
    "Words",
]

Bytes = NDArray[np.uint8]
Words = NDArray[np.uint64]
Places = NDArray[np.int32]
Offsets = NDArray[np.int64]

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


class Tokens(NamedTuple):
    """The positions of the tokens of a batch.

    Parameters
    ----------
    text
        UTF-8, followed by `SLACK` bytes.
    words
        For each position of the text, the eight bytes from there, the first lowest.
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


class Ranges(NamedTuple):
    """Space for the ranges of tokens; as in `Tokens`."""

    starts: Places
    ends: Places
    offsets: Offsets


class Table(NamedTuple):
    """The raw terms seen so far.

    Parameters
    ----------
    slots
        Open addressing: each slot has the key of a term (0: free) and its number.
    known, offsets
        The bytes of the terms, one after another.
    latest
        For each term, the last document with it, the position of that posting, and the number of
        all its postings.
    """

    slots: Words
    known: Bytes
    offsets: Offsets
    latest: Places


class Found(NamedTuple):
    """Space for terms looked up together: their keys and numbers."""

    keys: Words
    numbers: Offsets


class Counted(NamedTuple):
    """The postings of the documents of a batch, document by document.

    Parameters
    ----------
    terms
        Raw terms, in order of first occurrence in each document.
    counts
        Counts; between the passes in one column of 16 bits, or in two (the lower half first) where
        one is too narrow.
    offsets
        The postings of document ``i`` of the batch are ``offsets[i]`` to ``offsets[i + 1]``.
    """

    terms: Places
    counts: NDArray[Any]
    offsets: Places


class Placed(NamedTuple):
    """Where the postings of some terms go.

    Parameters
    ----------
    cursors
        For each term, the position of its next posting.
    documents, counts
        The postings by term.
    """

    cursors: Offsets
    documents: Places
    counts: NDArray[np.uint16]


class Sorted(NamedTuple):
    """Space for postings sorted by the region of the result that they go to.

    Parameters
    ----------
    terms, documents, counts
        Of each posting; terms are counted from the first of the span.
    ends
        For each region, the number of its postings, then the position of its next one.
    shift
        Number of bits by which a position is shifted right to get its region.
    """

    terms: Places
    documents: Places
    counts: Places
    ends: Offsets
    shift: int

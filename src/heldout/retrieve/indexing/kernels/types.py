"""What the loops hand to each other."""

from __future__ import annotations

from typing import Any, Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

__all__ = [
    "SLACK",
    "Bytes",
    "Counted",
    "Grams",
    "Offsets",
    "Placed",
    "Places",
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
"""Bytes that must lie behind a text, because terms are read eight bytes at a time."""


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


class Sorted(NamedTuple):
    """Room for postings that are sorted by the region of the result that they go to.

    Parameters
    ----------
    terms, documents, counts
        Of each posting; terms are counted from the first of the span.
    ends
        For each region how many there are, then where its next one goes.
    shift
        The region of a place is the place shifted right by so many bits.
    """

    terms: Places
    documents: Places
    counts: Places
    ends: Offsets
    shift: int

"""Count matched n-grams of all segments of all systems together, as integers.

Counting n-grams as tuples of words, segment by segment, takes longer than ten thousand replicates
of a test. Here a word is a number, and an n-gram is the number of its first n - 1 words together
with the last one, renumbered for every order: there are no hashes, and so no collisions.
"""

from __future__ import annotations

from collections import defaultdict
from itertools import chain, count
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Sequence

    from heldout.data.words import Floats, Ints

    Words = Sequence[str]

__all__ = ["ngram_counts"]


class _Places(NamedTuple):
    """Positions of n-grams.

    Parameters
    ----------
    at
        Positions of their first words in the array of all words.
    code
        The number of the n-gram, distinct for each segment and n-gram.
    column
        The text that contains them: a stream of references, or a system.
    """

    at: Ints
    code: Ints
    column: Ints

    def chosen(self, rows: Ints) -> _Places:
        return _Places(self.at[rows], self.code[rows], self.column[rows])


def ngram_counts(
    references: Sequence[Sequence[Words]], systems: Sequence[Sequence[Words]], order: int
) -> list[Floats]:
    """Count lengths and n-grams as sacrebleu does.

    Parameters
    ----------
    references
        For each segment, the words of each of its references.
    systems
        For each system, the words of each segment.
    order
        The maximum n-gram length.

    Returns
    -------
    list of Floats
        For each system, one row per segment: its length, the closest reference length (the shorter
        of two), for each order the matched n-grams (each at most as often as in any one reference),
        and for each order all n-grams.

    Examples
    --------
    >>> ngram_counts([[["how", "are", "you"]]], [[["you", "you"]]], 2)[0].tolist()
    [[2.0, 3.0, 1.0, 0.0, 2.0, 1.0]]
    """
    streams = max(len(texts) for texts in references)
    columns: list[Sequence[Words]] = [
        [texts[at] if at < len(texts) else () for texts in references] for at in range(streams)
    ]
    columns += systems
    sizes = np.array([[len(text) for text in column] for column in columns], np.int64)
    matched = _matched(columns, sizes, streams, order)
    given = np.array([len(texts) for texts in references])
    wanted = sizes[:streams].T.astype(np.float64)
    wanted[np.arange(streams) >= given[:, None]] = np.nan
    found = []
    for at, lengths in enumerate(sizes[streams:]):
        closest = _closest(lengths, wanted)
        total = np.maximum(lengths[:, None] - np.arange(order), 0)
        found.append(np.column_stack([lengths, closest, matched[at], total]).astype(np.float64))
    return found


def _closest(lengths: Ints, wanted: Floats) -> Floats:
    """Return the closest reference length; of two the shorter."""
    gaps = np.abs(wanted - lengths[:, None])
    nearest = gaps == np.nanmin(gaps, axis=1, keepdims=True)
    found: Floats = np.where(nearest, wanted, np.inf).min(axis=1)
    return found


def _matched(
    columns: Sequence[Sequence[Words]], sizes: Ints, streams: int, order: int
) -> list[Floats]:
    """Return the matched n-grams of each system, one row per segment, one column per order."""
    segments = sizes.shape[1]
    number: defaultdict[str, int] = defaultdict(count().__next__)
    every = chain.from_iterable(text for column in columns for text in column)
    words = np.fromiter((number[word] for word in every), np.int64, int(sizes.sum()))
    flat = sizes.ravel()
    text_of = np.repeat(np.arange(len(flat)), flat)
    ends = np.repeat(np.cumsum(flat), flat)
    segment_of = text_of % segments
    found = [np.zeros((segments, order)) for _ in range(len(columns) - streams)]
    places = _Places(np.arange(len(words)), segment_of, text_of // segments)
    for size in range(1, order + 1):
        places = places.chosen(np.flatnonzero(places.at + size <= ends[places.at]))
        if not len(places.at):
            break
        last = words[places.at + size - 1]
        known, first, codes = np.unique(
            places.code * len(number) + last, return_index=True, return_inverse=True
        )
        places = places._replace(code=codes)
        counts = np.bincount(
            places.column * len(known) + codes, minlength=len(columns) * len(known)
        ).reshape(len(columns), len(known))
        most = counts[:streams].max(axis=0)
        where = segment_of[places.at[first]]
        for at, one in enumerate(counts[streams:]):
            found[at][:, size - 1] = np.bincount(where, np.minimum(one, most), segments)
        # An n-gram that one side lacks is not the beginning of a longer one that both have.
        shared = (most > 0) & counts[streams:].any(axis=0)
        places = places.chosen(np.flatnonzero(shared[codes]))
    return found

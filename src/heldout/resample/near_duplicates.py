"""Near-duplicate documents, found by MinHash and banding.

A document is the set of its sequences of five words (a shorter one is one sequence). Two documents
are near-duplicates if their sets have a Jaccard similarity of at least `ALIKE`; groups are
connected components. The similarity of two documents is estimated by the share of 128 random orders
of all sequences in which both have the same first sequence (Broder 1997). Only documents that agree
in two neighbouring orders, a band, are compared. Two documents with a similarity of .2 share no
band with a probability of about 1 %.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import numpy as np

from heldout.compiled import announce
from heldout.data.documents import TextBatch
from heldout.data.parallel import stream_threads
from heldout.resample.kernels.minhash import join_alike, sign_documents

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from heldout.data.documents import Documents
    from heldout.data.words import Bytes, Ints

    Signatures = NDArray[np.uint16]

ALIKE: Final = 0.15  # of near-duplicates; texts that differ in one of five words have .2
ORDERS: Final = 128  # random orders of all sequences of words
_NEIGHBOURS: Final = 64  # the number of others in its band that a document is compared with
_BATCH: Final = 4 << 20


def near_duplicates(documents: Documents) -> Ints:
    """Return the group of each document, numbered in the order of their first documents.

    Documents without words are groups of their own.
    """
    announce("the search for near-duplicates", sign_documents, join_alike)
    signed, has_words = signatures(documents)
    leaders = np.arange(len(signed), dtype=np.int64)
    rows = np.flatnonzero(has_words)
    least = int(np.ceil(ALIKE * ORDERS))
    for band in range(ORDERS):
        # Documents that share a band are sorted by two more orders, so that similar ones are close.
        keys = np.zeros(len(rows), np.uint64)
        for next_order in range(band, band + 4):
            keys <<= np.uint64(16)
            keys |= signed[rows, next_order % ORDERS]
        order = np.argsort(keys, kind="stable")
        join_alike(signed, rows[order], keys[order], least, _NEIGHBOURS, leaders)
    return _numbered(leaders)


def signatures(documents: Documents) -> tuple[Signatures, NDArray[np.bool_]]:
    """Return 16 bits of the first sequence of each document in each order, and which have words."""
    signed = np.empty((len(documents), ORDERS), np.uint16)
    has_words = np.zeros(len(documents), np.bool_)
    random = np.random.default_rng(0x6E656172)
    factors = random.integers(0, 1 << 32, ORDERS, np.uint32) | np.uint32(1)
    shifts = random.integers(0, 1 << 32, ORDERS, np.uint32)

    def sign(batch: TextBatch) -> None:
        own = slice(batch.first, batch.first + len(batch))
        text, offsets = _one_case(batch)
        sign_documents(text, offsets, factors, shifts, signed[own], has_words[own])

    for _ in stream_threads(sign, documents.batches(_BATCH), ahead=2):
        pass
    return signed, has_words


def _one_case(batch: TextBatch) -> tuple[Bytes, Ints]:
    """Return the text of a batch in one case, except ASCII letters, which the kernel folds."""
    text, offsets = np.ascontiguousarray(batch.text), np.asarray(batch.offsets, np.int64)
    if not (text >= 128).any():
        return text, offsets
    raw = [batch.raw(place) for place in range(len(batch))]
    folded = [own if own.isascii() else own.decode().casefold().encode() for own in raw]
    one_case = TextBatch.of(batch.first, batch.ids, folded)
    return one_case.text, one_case.offsets


def _numbered(leaders: Ints) -> Ints:
    """Number groups from 0; a leader is the first of its group, or of a merged group."""
    while True:
        higher = leaders[leaders]
        if (higher == leaders).all():
            break
        leaders = higher
    number = np.cumsum(leaders == np.arange(len(leaders))) - 1
    return number[leaders]

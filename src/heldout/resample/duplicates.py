"""Units with the same text, which must be on the same side of a split."""

from __future__ import annotations

import hashlib
from typing import TYPE_CHECKING, Final

import numpy as np

from heldout.notes import Note, named_few
from heldout.resample.notices import PlanError

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from heldout.data.documents import Documents
    from heldout.data.words import Flags, Ints
    from heldout.notes import Severity
    from heldout.resample.sources import Source
    from heldout.resample.units import Units

__all__ = [
    "MANY",
    "crossing",
    "document_texts",
    "equal_rows",
    "near_notes",
    "same_texts",
    "text_notes",
]

MANY: Final = 0.01
"""The share of documents with duplicates that causes a warning."""


def same_texts(units: Units) -> Ints:
    """Number the texts of units from 0; texts that differ only in case and white space are equal.

    Every empty text has its own number.
    """
    if units.collection is None or units.unit == "instance":
        raise PlanError(
            "groups='duplicates' and 'near-duplicates' need the texts of a collection: give "
            "the group of each unit instead"
        )
    if units.unit == "document":
        hashes = units.collection.documents.text_hashes
    else:
        hashes = np.array([_query_key(text) for text in units.collection.queries.texts])
    return equal_rows(hashes if units.places is None else hashes[units.places])


def document_texts(units: Units) -> Documents:
    """Return the documents of units, whose texts are compared."""
    if units.collection is None or units.unit != "document":
        raise PlanError(
            f"groups='near-duplicates' is for documents of a collection, not for {units.plural}: "
            "use 'duplicates', or give the group of each unit"
        )
    return units.collection.documents


def equal_rows(hashes: NDArray[np.uint64]) -> Ints:
    """Number rows (documents × 2 words): equal rows get equal numbers, except rows of zeros.

    Examples
    --------
    >>> equal_rows(np.array([[7, 1], [0, 0], [7, 1], [0, 0]], np.uint64)).tolist()
    [0, 1, 0, 2]
    """
    # Nearly all texts are different: only rows whose first word appears twice are compared.
    ordered = np.sort(hashes[:, 0])
    twice = ordered[1:][ordered[1:] == ordered[:-1]]
    if not len(twice):
        return np.arange(len(hashes))
    places = np.minimum(np.searchsorted(twice, hashes[:, 0]), len(twice) - 1)
    rows = np.flatnonzero(twice[places] == hashes[:, 0])
    leaders = np.arange(len(hashes))
    leaders[rows] = rows[_first_equal(hashes[rows])]
    rank = np.cumsum(leaders == np.arange(len(hashes))) - 1
    return rank[leaders]


def _first_equal(hashes: NDArray[np.uint64]) -> Ints:
    """Return the position of the first row that equals each row; rows of zeros equal no other."""
    order = np.lexsort((hashes[:, 1], hashes[:, 0]))
    ordered = hashes[order]
    new = np.ones(len(order), np.bool_)
    new[1:] = (ordered[1:] != ordered[:-1]).any(axis=1) | ~ordered[1:].any(axis=1)
    # The sort is stable, so that the first row of each text comes first.
    leaders = np.empty(len(order), np.int64)
    leaders[order] = order[np.flatnonzero(new)[np.cumsum(new) - 1]]
    return leaders


def _query_key(text: str) -> tuple[np.uint64, np.uint64]:
    folded = " ".join(text.casefold().split())
    if not folded:
        return np.uint64(0), np.uint64(0)
    digest = hashlib.sha256(folded.encode()).digest()
    low, high = np.frombuffer(digest[:16], "<u8")
    return low, high


def crossing(codes: Ints, source: Source) -> Flags:
    """Return which units have a unit of their group on another side or in another fold.

    Only the first repeat is checked.
    """
    tables = source.folds
    if tables is not None:
        side = tables[0]
        taking = side >= 0
    else:
        train, test, _ = source.sides(0)
        side, taking = (test > 0).astype(np.int32), (train > 0) | (test > 0)
    count = int(codes.max(initial=-1)) + 1
    low, high = np.full(count, np.iinfo(np.int32).max, np.int32), np.full(count, -1, np.int32)
    np.minimum.at(low, codes[taking], side[taking])
    np.maximum.at(high, codes[taking], side[taking])
    found: Flags = taking & (low < high)[codes]
    return found


def text_notes(units: Units, source: Source, given: object) -> list[Note]:
    """Return notes about documents with the same text, and whether they are kept together.

    Parameters
    ----------
    given
        The parameter `groups` of the plan.
    """
    codes = same_texts(units)
    equal = np.bincount(codes)[codes] > 1
    across = crossing(codes, source)
    if across.any():
        text = (
            f"{_counted(across, units)} have the same text as a document on the other side, so "
            "that held-out text is also in the training data: keep them together with "
            "groups='duplicates', or with 'near-duplicates', which also finds similar texts"
        )
        return [Note("twins", text, _severity(across), int(across.sum()))]
    if given == "near-duplicates" and units.together is not None:
        sizes = np.bincount(units.together.codes)
        alike = sizes[units.together.codes] > 1
        text = (
            f"{_counted(alike, units)} have the same or nearly the same text as another; each of "
            f"{int((sizes > 1).sum()):,} groups is kept together, the largest has {sizes.max():,}"
        )
        return [Note("duplicates", text, "info", int(alike.sum()))]
    if not equal.any():
        return []
    text = f"{_counted(equal, units)} have the same text as another and are kept together"
    severity = _severity(equal) if given is None else "info"  # given groups are deliberate
    if severity == "warning":
        text += (
            "; slightly changed copies are not found: groups='near-duplicates' keeps those "
            "together, too"
        )
    return [Note("duplicates", text, severity, int(equal.sum()))]


def near_notes(units: Units, source: Source, systems: Sequence[str], advice: str) -> list[Note]:
    """Return a note about documents with nearly the same text on both sides, if there are any.

    Parameters
    ----------
    systems
        Those that learn.
    advice
        What to do about it.
    """
    from heldout.resample.near_duplicates import near_duplicates  # compiled loops

    codes = near_duplicates(document_texts(units))
    across = crossing(codes if units.places is None else codes[units.places], source)
    if not across.any():
        return []
    # A few documents are enough to mislead, if they are the relevant ones.
    text = (
        f"{_counted(across, units)} have nearly the same text as a document on the other side, so "
        f"that what {', '.join(systems)} learned may be held-out text: {advice}"
    )
    return [Note("near-duplicates", text, "warning", int(across.sum()))]


def _severity(found: Flags) -> Severity:
    return "warning" if found.mean() >= MANY else "info"


def _counted(found: Flags, units: Units) -> str:
    """Return the number and share of documents, and some of their ids."""
    ids, count = units.present(), int(found.sum())
    named = named_few((ids[at] for at in np.flatnonzero(found)[:5].tolist()), count)
    return f"{count:,} of {len(units):,} documents ({100 * count / len(units):.1f} %: {named})"

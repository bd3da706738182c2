"""Units with the same text: they must be on the same side, or the test side has been seen."""

from __future__ import annotations

import hashlib
from typing import TYPE_CHECKING, Final

import numpy as np

from heldout.data.notes import named_few
from heldout.notes import Note
from heldout.resample.notices import PlanError

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from heldout.data.documents import Documents
    from heldout.data.words import Flags, Ints
    from heldout.notes import Severity
    from heldout.resample.sources import Source
    from heldout.resample.units import Units

__all__ = ["MANY", "crossing", "document_texts", "equal_rows", "same_texts", "text_notes"]

MANY: Final = 0.01
"""The share of the documents from which on duplicates are worth a warning."""


def same_texts(units: Units) -> Ints:
    """Return the number of each unit's text, from 0: equal if texts differ in case and blanks only.

    Every empty text has a number of its own: what is not there cannot be seen.
    """
    if units.collection is None or units.unit == "instance":
        raise PlanError(
            "groups='duplicates' and 'near-duplicates' need the texts of a collection: give the "
            "groups"
        )
    if units.unit == "document":
        hashes = units.collection.documents.text_hashes()
    else:
        hashes = np.array([_query_key(text) for text in units.collection.queries.texts])
    return equal_rows(hashes if units.places is None else hashes[units.places])


def document_texts(units: Units) -> Documents:
    """Return the documents of units, whose texts are compared."""
    if units.collection is None or units.unit != "document":
        raise PlanError(
            f"groups='near-duplicates' is for documents of a collection, not for {units.plural}: "
            "take 'duplicates', or give the groups"
        )
    return units.collection.documents


def equal_rows(hashes: NDArray[np.uint64]) -> Ints:
    """Number rows (documents × 2 words) so that equal ones have equal numbers; zeros never have.

    Examples
    --------
    >>> equal_rows(np.array([[7, 1], [0, 0], [7, 1], [0, 0]], np.uint64)).tolist()
    [0, 1, 0, 2]
    """
    order = np.lexsort((hashes[:, 1], hashes[:, 0]))
    ordered = hashes[order]
    new = np.ones(len(order), np.bool_)
    new[1:] = (ordered[1:] != ordered[:-1]).any(axis=1) | ~ordered[1:].any(axis=1)
    # Numbered by the first unit of each text; the sort is stable, so that one comes first.
    leader = order[np.flatnonzero(new)[np.cumsum(new) - 1]]
    leaders = np.empty(len(order), np.int64)
    leaders[order] = leader
    rank = np.cumsum(leaders == np.arange(len(order))) - 1
    return rank[leaders]


def _query_key(text: str) -> tuple[np.uint64, np.uint64]:
    folded = " ".join(text.casefold().split())
    if not folded:
        return np.uint64(0), np.uint64(0)
    digest = hashlib.sha256(folded.encode()).digest()
    low, high = np.frombuffer(digest[:16], "<u8")
    return low, high


def crossing(codes: Ints, source: Source) -> Flags:
    """Return which units have one of their group on another side or in another fold.

    Of plans with repeats the first is looked at.
    """
    tables = source.folds()
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
    """Say how many documents have the text of another one, and whether they are kept together.

    Parameters
    ----------
    given
        What the plan says of groups.
    """
    codes = same_texts(units)
    equal = np.bincount(codes)[codes] > 1
    across = crossing(codes, source)
    if across.any():
        text = (
            f"{_counted(across, units)} have the text of a document on the other side, so that "
            "held-out text was seen: keep them together with groups = 'duplicates', or with "
            "'near-duplicates', which also finds texts that are almost the same"
        )
        return [Note("twins", text, _severity(across), int(across.sum()))]
    if given == "near-duplicates" and units.together is not None:
        sizes = np.bincount(units.together.codes)
        alike = sizes[units.together.codes] > 1
        text = (
            f"{_counted(alike, units)} have the text of another document or almost so; each of "
            f"{int((sizes > 1).sum()):,} groups is kept together, the largest has {sizes.max():,}"
        )
        return [Note("duplicates", text, "info", int(alike.sum()))]
    if not equal.any():
        return []
    text = f"{_counted(equal, units)} have the text of another document, and are kept together"
    severity = _severity(equal) if given is None else "info"  # who says groups has thought of it
    if severity == "warning":
        text += (
            "; copies that were changed a little are not found: groups = 'near-duplicates' keeps "
            "those together, too"
        )
    return [Note("duplicates", text, severity, int(equal.sum()))]


def _severity(found: Flags) -> Severity:
    return "warning" if found.mean() >= MANY else "info"


def _counted(found: Flags, units: Units) -> str:
    """How many documents, and some of them by name."""
    ids, count = units.present(), int(found.sum())
    named = named_few((ids[at] for at in np.flatnonzero(found)[:5].tolist()), count)
    return f"{count:,} of {len(units):,} documents ({100 * count / len(units):.1f} %: {named})"

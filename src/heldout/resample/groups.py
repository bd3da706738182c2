"""Groups: units that stay together, on one side of a split and in one half-sample.

Groups come from the user, from equal texts (exact duplicates, which are searched in every plan of
documents), or from nearly equal texts. Groups that share a unit are merged.
"""

from __future__ import annotations

import hashlib
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from heldout.data.ids import Ids
from heldout.notes import Note, named_few
from heldout.resample.units import PlanError

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from heldout.data.words import Flags, Ints
    from heldout.notes import Severity
    from heldout.resample.split import Splits
    from heldout.resample.units import Units

EXACT, NEAR, NONE = "duplicates", "near-duplicates", "none"
KINDS: Final = (EXACT, NEAR, NONE)  # found by texts; with "none" every unit is its own group
MANY: Final = 0.01  # the share of documents with duplicates that causes a warning


@dataclass(frozen=True, slots=True, eq=False)
class Groups:
    """The groups of units."""

    names: Sequence[str]  # names and seed decide into which fold a group goes
    codes: Ints  # the number of the group of each unit, from 0

    def some(self, wanted: Flags) -> Groups:
        """Return the groups of some of the units."""
        there, codes = np.unique(self.codes[wanted], return_inverse=True)
        return Groups([self.names[number] for number in there.tolist()], codes.astype(np.int64))


# Which units belong together


def grouped_units(units: Units, given: Any) -> Units:
    """Find the groups of units, unless they are known; `given` is the field of the plan."""
    if units.grouped and given is None:
        return units
    groups = _find_groups(units, given)
    if units.grouped and units.together is not None and groups is not None:
        merged = joined(units.together.codes, groups.codes)
        groups = Groups(_least_names(groups, merged), merged)
    return replace(units, together=groups, grouped=True)


def _find_groups(units: Units, given: Any) -> Groups | None:
    wanted = units.groups if units.groups is not None else given
    texts = units.unit == "document" and units.collection is not None
    if isinstance(wanted, str) and wanted == NONE:
        return None
    if wanted is None:
        return _of_codes(units, same_texts(units)) if texts else None
    if isinstance(wanted, str) and wanted == EXACT:
        return _of_codes(units, same_texts(units))
    if isinstance(wanted, str) and wanted == NEAR:
        return _of_codes(units, joined(same_texts(units), _nearly_same_texts(units)))
    own = Groups(*coded(units.column(wanted, "groups"), "group"))
    if not texts:
        return own
    merged = joined(own.codes, same_texts(units))
    # Groups that were not merged keep their names, and therefore their folds.
    return Groups(_least_names(own, merged), merged)


def _of_codes(units: Units, codes: Ints) -> Groups | None:
    """Return groups named by one of their ids, which does not depend on the order of the units."""
    count = int(codes.max(initial=-1)) + 1
    if count == len(codes):
        return None
    order = np.lexsort((units.active(units.keys), codes))
    first = np.searchsorted(codes[order], np.arange(count))
    numbers = order[first] if units.places is None else units.places[order[first]]
    ids = units.ids if isinstance(units.ids, Ids) else Ids.of(units.ids)
    return Groups(ids.take(numbers), codes)


def _least_names(own: Groups, merged: Ints) -> list[str]:
    """Return the first name of the groups in each merged group."""
    first = np.full(int(merged.max()) + 1, len(own.names))
    np.minimum.at(first, merged, own.codes)
    return [own.names[number] for number in first.tolist()]


def joined(first: Ints, second: Ints) -> Ints:
    """Merge the groups of two groupings that share a unit."""
    from scipy.sparse import coo_array
    from scipy.sparse.csgraph import connected_components

    # Nodes are the groups of both kinds; a unit connects its two.
    shape = int(first.max(initial=-1)) + 1, int(second.max(initial=-1)) + 1
    edges = coo_array(
        (np.ones(len(first), np.int8), (first, second + shape[0])), shape=(sum(shape), sum(shape))
    )
    _, labels = connected_components(edges, directed=False)
    return _renumbered(labels[first])


def _renumbered(codes: NDArray[np.integer]) -> Ints:
    """Number groups in the order of their first units."""
    _, first, inverse = np.unique(codes, return_index=True, return_inverse=True)
    rank = np.empty(len(first), np.int64)
    rank[np.argsort(first)] = np.arange(len(first))
    return rank[inverse]


def grouped_places(order: Ints, codes: Ints) -> Ints:
    """Return the first position of the group of each unit, if groups are adjacent in `order`.

    Groups come in the order of their first units.
    """
    turn = _renumbered(codes[order])
    sizes = np.bincount(turn)
    places = np.empty(len(order), np.int64)
    places[order] = (np.cumsum(sizes) - sizes)[turn]
    return places


def coded(values: Sequence[Any], what: str) -> tuple[tuple[str, ...], Ints]:
    """Return the distinct values as sorted strings, and the number of the value of each unit."""
    for place, value in enumerate(values):
        if value is None or value != value:  # noqa: PLR0124 - NaN
            raise PlanError(f"unit {place + 1} has no {what} ({value}): give one for each unit")
    texts = [str(value) for value in values]
    names = tuple(sorted(set(texts)))
    numbers = {name: number for number, name in enumerate(names)}
    return names, np.array([numbers[text] for text in texts], np.int64)


# Units with the same text


def same_texts(units: Units) -> Ints:
    """Number the texts of units; texts that differ only in case and white space are equal.

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
    return equal_rows(units.active(hashes))


def _nearly_same_texts(units: Units) -> Ints:
    """Number the texts of documents; nearly equal ones have the same number."""
    from heldout.resample.near_duplicates import near_duplicates  # compiled loops

    if units.collection is None or units.unit != "document":
        raise PlanError(
            f"groups='near-duplicates' is for documents of a collection, not for {units.plural}: "
            "use 'duplicates', or give the group of each unit"
        )
    return units.active(near_duplicates(units.collection.documents))


def equal_rows(hashes: NDArray[np.uint64]) -> Ints:
    """Number rows (documents × 2 words): equal rows get equal numbers, except rows of zeros."""
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
    low, high = np.frombuffer(hashlib.sha256(folded.encode()).digest()[:16], "<u8")
    return low, high


# Notes about texts on both sides


def _crossing(codes: Ints, splits: Splits) -> Flags:
    """Return which units have a unit of their group on another side or in another fold.

    Only the first repeat is checked.
    """
    if splits.tables is not None:
        side = splits.tables[0]
        taking = side >= 0
    else:
        first = splits[0]
        side = (first.test > 0).astype(np.int32)
        taking = (first.train > 0) | (first.test > 0)
    side, taking = splits.units.active(side), splits.units.active(taking)
    count = int(codes.max(initial=-1)) + 1
    low, high = np.full(count, np.iinfo(np.int32).max, np.int32), np.full(count, -1, np.int32)
    np.minimum.at(low, codes[taking], side[taking])
    np.maximum.at(high, codes[taking], side[taking])
    crossing: Flags = taking & (low < high)[codes]
    return crossing


def text_notes(splits: Splits, given: object) -> list[Note]:
    """Return notes about documents with the same text; `given` is the field of the plan."""
    units = splits.units
    codes = same_texts(units)
    equal = np.bincount(codes)[codes] > 1
    across = _crossing(codes, splits)
    if across.any():
        text = (
            f"{_counted(across, units)} have the same text as a document on the other side, so "
            "that held-out text is also in the training data: group duplicates, or "
            "near-duplicates, which also finds similar texts"
        )
        return [Note("twins", text, _severity(across), int(across.sum()))]
    if isinstance(given, str) and given == NEAR and units.together is not None:
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
        text += "; slightly changed copies are not found: group near-duplicates, too"
    return [Note("duplicates", text, severity, int(equal.sum()))]


def near_notes(splits: Splits, systems: Sequence[str], advice: str) -> list[Note]:
    """Return a note about nearly equal documents on both sides, if there are systems that learn."""
    across = _crossing(_nearly_same_texts(splits.units), splits)
    if not across.any():
        return []
    # A few documents are enough to mislead, if they are the relevant ones.
    text = (
        f"{_counted(across, splits.units)} have nearly the same text as a document on the other "
        f"side, so that what {', '.join(systems)} learned may be held-out text: {advice}"
    )
    return [Note("near-duplicates", text, "warning", int(across.sum()))]


def _severity(flags: Flags) -> Severity:
    return "warning" if flags.mean() >= MANY else "info"


def _counted(flags: Flags, units: Units) -> str:
    """Return the number and share of documents, and some of their ids."""
    ids, count = units.present(), int(flags.sum())
    named = named_few((ids[place] for place in np.flatnonzero(flags)[:5].tolist()), count)
    return f"{count:,} of {len(units):,} documents ({100 * count / len(units):.1f} %: {named})"

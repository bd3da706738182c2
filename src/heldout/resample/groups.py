"""Groups: units that stay together, on one side of a split and in one half-sample.

Groups come from the user, from equal texts (exact duplicates, which are searched in every plan of
documents), or from nearly equal texts. Groups that share a unit are merged.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Final, overload

import numpy as np

from heldout.resample.duplicates import document_texts, same_texts
from heldout.resample.notices import PlanError

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from heldout.data.words import Flags, Ints
    from heldout.resample.units import Units

__all__ = ["KINDS", "NEAR", "Groups", "coded", "grouped_places", "grouped_units", "joined"]

EXACT, NEAR, NONE = "duplicates", "near-duplicates", "none"
KINDS: Final = (EXACT, NEAR, NONE)
"""Groups that are found by texts; with ``none`` every unit is its own group."""


@dataclass(frozen=True, slots=True, eq=False)
class Groups:
    """The groups of units.

    Parameters
    ----------
    names
        The name of each group; names and seed decide into which fold it goes.
    codes
        The number of the group of each unit, from 0.
    """

    names: Sequence[str]
    codes: Ints

    def some(self, wanted: Flags) -> Groups:
        """Return the groups of some of the units."""
        there, codes = np.unique(self.codes[wanted], return_inverse=True)
        return Groups([self.names[at] for at in there.tolist()], codes.astype(np.int64))


class _Names(Sequence[str]):
    """Some of many ids, without a copy."""

    __slots__ = ("_ids", "_numbers")

    def __init__(self, ids: Sequence[str], numbers: Ints) -> None:
        self._ids = ids
        self._numbers = numbers

    def __len__(self) -> int:
        return len(self._numbers)

    @overload
    def __getitem__(self, place: int) -> str: ...
    @overload
    def __getitem__(self, place: slice) -> list[str]: ...
    def __getitem__(self, place: int | slice) -> str | list[str]:
        if isinstance(place, slice):
            return [self._ids[at] for at in self._numbers[place].tolist()]
        return self._ids[int(self._numbers[place])]


def grouped_units(units: Units, given: Any) -> Units:
    """Find the groups of units, unless they are known already.

    Parameters
    ----------
    given
        The parameter `groups` of the plan.
    """
    if units.grouped and given is None:
        return units
    found = _find_groups(units, given)
    if units.grouped and units.together is not None and found is not None:
        merged = joined(units.together.codes, found.codes)
        found = Groups(_least_names(found, merged), merged)
    return replace(units, together=found, grouped=True)


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
        from heldout.resample.near_duplicates import near_duplicates  # compiled loops

        exact = same_texts(units)
        almost = near_duplicates(document_texts(units))
        if units.places is not None:
            almost = almost[units.places]
        return _of_codes(units, joined(exact, almost))
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
    keys = units.keys if units.places is None else units.keys[units.places]
    order = np.lexsort((keys, codes))
    first = np.searchsorted(codes[order], np.arange(count))
    numbers = order[first] if units.places is None else units.places[order[first]]
    return Groups(_Names(units.ids, numbers), codes)


def _least_names(own: Groups, merged: Ints) -> list[str]:
    """Return the first name of the groups in each merged group."""
    first = np.full(int(merged.max()) + 1, len(own.names))
    np.minimum.at(first, merged, own.codes)
    return [own.names[at] for at in first.tolist()]


def joined(one: Ints, other: Ints) -> Ints:
    """Merge groups that share a unit.

    Parameters
    ----------
    one, other
        The number of the group of each unit, from 0, in two groupings.

    Returns
    -------
    Ints
        The number of the merged group of each unit, in the order of their first units.

    Examples
    --------
    >>> joined(np.array([0, 0, 1, 2, 3]), np.array([0, 1, 1, 2, 3])).tolist()
    [0, 0, 0, 1, 2]
    """
    from scipy.sparse import coo_array
    from scipy.sparse.csgraph import connected_components

    # Nodes are the groups of both kinds; a unit connects its two.
    shape = int(one.max(initial=-1)) + 1, int(other.max(initial=-1)) + 1
    nodes = sum(shape)
    edges = coo_array((np.ones(len(one), np.int8), (one, other + shape[0])), shape=(nodes, nodes))
    _, labels = connected_components(edges, directed=False)
    return renumbered(labels[one])


def renumbered(codes: NDArray[np.integer]) -> Ints:
    """Number groups in the order of their first units.

    Examples
    --------
    >>> renumbered(np.array([7, 3, 7, 0])).tolist()
    [0, 1, 0, 2]
    """
    _, first, inverse = np.unique(codes, return_index=True, return_inverse=True)
    rank = np.empty(len(first), np.int64)
    rank[np.argsort(first)] = np.arange(len(first))
    return rank[inverse]


def grouped_places(order: Ints, codes: Ints) -> Ints:
    """Return the position of the group of each unit if units of a group are adjacent.

    Parameters
    ----------
    order
        A random order of the units; groups come in the order of their first units there.
    codes
        The group of each unit.

    Returns
    -------
    Ints
        For each unit the position of the first unit of its group.

    Examples
    --------
    >>> grouped_places(np.array([2, 0, 1, 3]), np.array([0, 1, 0, 2])).tolist()
    [0, 2, 0, 3]
    """
    turn = renumbered(codes[order])
    sizes = np.bincount(turn)
    places = np.empty(len(order), np.int64)
    places[order] = (np.cumsum(sizes) - sizes)[turn]
    return places


def coded(values: Sequence[Any], what: str) -> tuple[tuple[str, ...], Ints]:
    """Return the distinct values as sorted strings, and the number of the value of each unit."""
    texts = [str(one) for one in values]
    for place, one in enumerate(values):
        if one is None or one != one:  # noqa: PLR0124 - NaN
            raise PlanError(f"unit {place + 1} has no {what} ({one}): give one for each unit")
    names = tuple(sorted(set(texts)))
    numbers = {name: number for number, name in enumerate(names)}
    return names, np.array([numbers[one] for one in texts], np.int64)

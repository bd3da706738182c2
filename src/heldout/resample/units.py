"""Units: what is divided into seen and held out, and what is known about each."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Literal, get_args

import numpy as np

from heldout.data.collection import Collection
from heldout.data.ids import as_id
from heldout.data.notes import named_few
from heldout.resample.hashing import id_keys, random_order, seed_word
from heldout.resample.notices import PlanError

if TYPE_CHECKING:
    from collections.abc import Iterable

    from numpy.typing import ArrayLike, NDArray

    from heldout.data.words import Ints, Words
    from heldout.resample.groups import Groups

    Weights = NDArray[np.int32]

__all__ = ["Column", "Unit", "Units", "units_of"]

Unit = Literal["query", "document", "instance"]
Column = Mapping[str, Any] | Sequence[Any] | str
"""Something known about each unit: by id, in the order of the units, or the name of a field."""

_OPTIONS = {
    "stratify": "expected 'labels', 'relevance', 'length', ",
    "groups": "expected 'duplicates', 'near-duplicates' (documents), 'none', ",
    "labels": "expected ",
    "order": "expected ",
}

_PLURALS = {"query": "queries", "document": "documents", "instance": "instances"}


@dataclass(frozen=True, slots=True, eq=False)
class Units:
    """The units of a plan.

    Parameters
    ----------
    ids
        All of them, in the order they came in.
    unit
        What they are.
    collection
        Where they come from, if from a collection.
    keys
        64 bits of each id.
    places
        The places of those that take part (the train side of an outer split); None: all.
    weights
        How often each of those counts.
    context
        The outer split they belong to: part of every seed.
    labels, groups
        What was given beside the ids.
    together
        The groups of those that take part; None: every unit is a group of its own.
    grouped
        Whether `together` is known yet.
    """

    ids: Sequence[str]
    unit: Unit
    collection: Collection | None
    keys: Words
    places: Ints | None = None
    weights: Weights | None = None
    context: str = ""
    labels: ArrayLike | Column | None = None
    groups: ArrayLike | Column | None = None
    together: Groups | None = None
    grouped: bool = False

    def __len__(self) -> int:
        return len(self.ids) if self.places is None else len(self.places)

    @property
    def plural(self) -> str:
        """``queries``, ``documents`` or ``instances``."""
        return _PLURALS[self.unit]

    def present(self) -> Sequence[str]:
        """The ids of those that take part."""
        if self.places is None:
            return self.ids
        return [self.ids[place] for place in self.places.tolist()]

    def order(self, *seed: object) -> Ints:
        """Those that take part, by place among them, in a random order."""
        keys = self.keys if self.places is None else self.keys[self.places]
        return random_order(keys, self.present(), self.word(*seed))

    def word(self, *seed: object) -> np.uint64:
        """64 bits out of a seed, the kind of unit and the outer split."""
        return seed_word(self.unit, self.context, *seed)

    def inside(self, train: Weights, context: str) -> Units:
        """The units of a train side."""
        places = np.flatnonzero(train)
        among = train > 0 if self.places is None else train[self.places] > 0
        together = None if self.together is None else self.together.some(among)
        weights = train[places]
        return replace(self, places=places, weights=weights, context=context, together=together)

    def with_columns(self, labels: Any, groups: Any) -> Units:
        """The same units with labels or groups beside them."""
        if labels is None and groups is None:
            return self
        return replace(
            self,
            labels=self.labels if labels is None else labels,
            groups=self.groups if groups is None else groups,
        )

    def expand(self, values: NDArray[np.int32], fill: int) -> Weights:
        """A number for each unit, `fill` for those that do not take part."""
        if self.places is None:
            return values
        whole = np.full(len(self.ids), fill, np.int32)
        whole[self.places] = values
        return whole

    def column(self, given: Any, what: str) -> list[Any]:
        """What is known about each unit that takes part."""
        if isinstance(given, str):
            return self._of_all(self._field(given, what), what)
        if isinstance(given, Mapping):
            return self._by_id(given, what)
        return self._of_all(given, what)

    def _of_all(self, given: Any, what: str) -> list[Any]:
        values = given.tolist() if hasattr(given, "tolist") else list(given)
        if len(values) != len(self.ids):
            raise PlanError(
                f"{what}: {len(values)} values for {len(self.ids)} {self.plural}: give one for "
                "each, in their order, or a mapping from ids"
            )
        return values if self.places is None else [values[at] for at in self.places.tolist()]

    def _by_id(self, given: Mapping[Any, Any], what: str) -> list[Any]:
        known = {as_id(one): value for one, value in given.items()}
        ids = self.present()
        missing = [one for one in ids if one not in known]
        if missing:
            raise PlanError(
                f"{what}: nothing for {len(missing)} of {len(ids)} {self.plural} "
                f"({named_few(missing, len(missing))}): give a value for each"
            )
        return [known[one] for one in ids]

    def _field(self, name: str, what: str) -> Sequence[str]:
        if self.unit != "query" or self.collection is None:
            raise PlanError(
                f"{what}={name!r} is unknown: {_OPTIONS[what]}a mapping from the ids of the "
                f"{self.plural}, or a list in their order (only queries of a collection have "
                "named fields)"
            )
        fields = self.collection.queries.fields
        if name not in fields:
            raise PlanError(
                f"{what}={name!r} is unknown: {_OPTIONS[what]}a field of the queries (they have "
                f"{', '.join(map(repr, fields)) or 'no fields'}), or a mapping from ids"
            )
        return fields[name]


def units_of(given: Collection | Units | Iterable[Any] | int, unit: str) -> Units:
    """Make units of a collection, of ids, or of a number of rows."""
    if unit not in get_args(Unit):
        raise PlanError(f"unit={unit!r}: expected one of {', '.join(get_args(Unit))}")
    kind: Any = unit
    if isinstance(given, Units):
        return given
    if isinstance(given, Collection):
        if unit == "instance":
            raise PlanError("a collection has queries and documents: unit='query' or 'document'")
        ids = given.queries.ids if unit == "query" else given.documents.ids
        return Units(ids, kind, given, id_keys(ids))
    if isinstance(given, str | bytes):
        raise PlanError(f"units: {given!r} is one text; expected ids, or a collection")
    listed = map(str, range(given)) if isinstance(given, int) else map(as_id, given)
    ids = tuple(listed)
    _refuse_repeated(ids)
    return Units(ids, kind, None, id_keys(ids))


def _refuse_repeated(ids: tuple[str, ...]) -> None:
    if len(set(ids)) == len(ids):
        return
    seen: set[str] = set()
    for one in ids:
        if one in seen:
            raise PlanError(f"the id {one!r} stands twice: every unit needs an id of its own")
        seen.add(one)

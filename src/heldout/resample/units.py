"""Units: what a plan divides, with labels and groups."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Literal, get_args

import numpy as np

from heldout.data.collection import Collection
from heldout.data.ids import as_id
from heldout.errors import Argument, InputError
from heldout.notes import named_few
from heldout.resample.hashing import id_keys, random_order, seed_word

if TYPE_CHECKING:
    from collections.abc import Iterable

    from numpy.typing import NDArray

    from heldout.data.words import Ints, Words
    from heldout.resample.groups import Groups

    Weights = NDArray[np.int32]

Unit = Literal["query", "document", "instance"]

_OPTIONS = {
    "stratify": "expected 'labels', 'relevance', 'length', ",
    "groups": "expected 'duplicates', 'near-duplicates' (documents), 'none', ",
    "labels": "expected ",
    "order": "expected ",
}

_PLURALS = {"query": "queries", "document": "documents", "instance": "instances"}


class PlanError(InputError):
    """A plan cannot divide these units; the message suggests another."""


@dataclass(frozen=True, slots=True, eq=False)
class Units:
    """The units of a plan; inside an outer split only those of its training side are active."""

    ids: Sequence[str]  # of all units, in the order of the input
    unit: Unit
    collection: Collection | None
    keys: Words  # 64 bits of a hash of each id
    places: Ints | None = None  # the positions of the active units; None: all are active
    weights: Weights | None = None  # how often each active unit was drawn by the outer split
    context: str = ""  # the outer split, which is part of every seed
    labels: Any = None
    groups: Any = None  # as given; `together` is what follows from them and from equal texts
    together: Groups | None = None  # the groups of the active units; None: every unit is its own
    grouped: bool = False  # whether `together` has been computed

    def __len__(self) -> int:
        return len(self.ids) if self.places is None else len(self.places)

    @property
    def plural(self) -> str:
        """``queries``, ``documents`` or ``instances``."""
        return _PLURALS[self.unit]

    def present(self) -> Sequence[str]:
        """Return the ids of the active units."""
        if self.places is None:
            return self.ids
        return [self.ids[place] for place in self.places.tolist()]

    def order(self, *seed: object) -> Ints:
        """Return the active units, by position among them, in a random order."""
        return random_order(self.active(self.keys), self.present(), self.word(*seed))

    def word(self, *seed: object) -> np.uint64:
        """Return 64 bits of a hash of seed, kind of unit and outer split."""
        return seed_word(self.unit, self.context, *seed)

    def inside(self, train: Weights, outer: object) -> Units:
        """Return the units of the training side of a split, whose key changes all seeds."""
        places = np.flatnonzero(train)
        among = self.active(train > 0)
        together = None if self.together is None else self.together.some(among)
        return replace(
            self,
            places=places,
            weights=train[places],
            context=f"{self.context}/{outer}",
            together=together,
        )

    def with_columns(self, labels: Any, groups: Any) -> Units:
        """Return the same units with labels or groups."""
        if labels is None and groups is None:
            return self
        return replace(
            self,
            labels=self.labels if labels is None else labels,
            groups=self.groups if groups is None else groups,
        )

    def active(self, values: NDArray[Any]) -> NDArray[Any]:
        """Return the values of the active units, from one per unit."""
        return values if self.places is None else values[self.places]

    def expand(self, values: NDArray[Any], fill: int) -> NDArray[Any]:
        """Return a number for each unit; `fill` for units that are not active."""
        if self.places is None:
            return values
        whole = np.full(len(self.ids), fill, values.dtype)
        whole[self.places] = values
        return whole

    def column(self, given: Any, what: str) -> list[Any]:
        """Return the value of each active unit."""
        if isinstance(given, str):
            return self._of_all(self._field(given, what), what)
        if isinstance(given, Mapping):
            return self._by_id(given, what)
        return self._of_all(given, what)

    def _of_all(self, given: Any, what: str) -> list[Any]:
        values = given.tolist() if hasattr(given, "tolist") else list(given)
        if len(values) != len(self.ids):
            raise PlanError(
                f"{what}: {len(values)} values for {len(self.ids)} {self.plural}: give one per "
                f"{self.unit} in their order, or a mapping from ids"
            )
        return values if self.places is None else [values[place] for place in self.places.tolist()]

    def _by_id(self, given: Mapping[Any, Any], what: str) -> list[Any]:
        known = {as_id(unit): value for unit, value in given.items()}
        ids = self.present()
        missing = [unit for unit in ids if unit not in known]
        if missing:
            raise PlanError(
                f"{what}: no value for {len(missing)} of {len(ids)} {self.plural} "
                f"({named_few(missing, len(missing))}): give one for each"
            )
        return [known[unit] for unit in ids]

    def _field(self, name: str, what: str) -> Sequence[str]:
        if self.unit != "query" or self.collection is None:
            raise PlanError(
                Argument(what, repr(name)),
                f" is unknown: {_OPTIONS[what]}a mapping from the ids of the "
                f"{self.plural}, or a list in their order (only queries of a collection have "
                "named fields)",
            )
        fields = self.collection.queries.fields
        if name not in fields:
            raise PlanError(
                Argument(what, repr(name)),
                f" is unknown: {_OPTIONS[what]}a field of the queries (they have "
                f"{', '.join(map(repr, fields)) or 'no fields'}), or a mapping from ids",
            )
        return fields[name]


def units_of(given: Collection | Units | Iterable[Any] | int, unit: str) -> Units:
    """Make units from a collection, from ids, or from a number of rows."""
    if unit not in get_args(Unit):
        raise PlanError(f"expected one of {', '.join(get_args(Unit))}", argument="unit", value=unit)
    kind: Any = unit
    if isinstance(given, Units):
        return given
    if isinstance(given, Collection):
        if unit == "instance":
            raise PlanError(
                "a collection has units 'query' and 'document'", argument="unit", value=unit
            )
        ids = given.queries.ids if unit == "query" else given.documents.ids
        return Units(ids, kind, given, id_keys(ids))
    if isinstance(given, str | bytes):
        raise PlanError(f"units: expected ids or a collection, got {given!r}")
    ids = tuple(map(str, range(given)) if isinstance(given, int) else map(as_id, given))
    if len(set(ids)) < len(ids):
        repeated = next(unit for unit, count in Counter(ids).items() if count > 1)
        raise PlanError(f"the id {repeated!r} appears twice: every unit needs a unique id")
    return Units(ids, kind, None, id_keys(ids))

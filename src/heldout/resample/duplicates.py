"""Units with the same text: they must be on the same side, or the test side has been seen."""

from __future__ import annotations

import hashlib
from typing import TYPE_CHECKING

from heldout.resample.notices import PlanError

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from heldout.data.collection import Collection
    from heldout.resample.units import Units

__all__ = ["text_keys"]


def text_keys(units: Units) -> list[str]:
    """A key of each unit's text, equal for texts that differ in case and blanks only."""
    if units.collection is None or units.unit == "instance":
        raise PlanError("groups='duplicates' needs the texts of a collection: give the groups")
    keys = list(map(_key, _texts(units.collection, units.unit)))
    return keys if units.places is None else [keys[place] for place in units.places.tolist()]


def _texts(collection: Collection, unit: str) -> Iterable[str]:
    return collection.queries.texts if unit == "query" else _document_texts(collection)


def _document_texts(collection: Collection) -> Iterator[str]:
    for _, text in collection.documents.pairs():
        yield text


def _key(text: str) -> str:
    return hashlib.sha256(" ".join(text.casefold().split()).encode()).hexdigest()[:32]

"""Queries: ids and texts, with the other fields that a topic may have."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import TYPE_CHECKING

from heldout.data.ids import as_id, encode_ids
from heldout.data.notes import named_few
from heldout.errors import InputError
from heldout.notes import Note

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

__all__ = ["Queries", "queries_of"]


@dataclass(frozen=True, slots=True, eq=False)
class Queries:
    """The queries of a collection.

    Parameters
    ----------
    ids
        Query ids in the order of the file.
    texts
        The texts to search for.
    fields
        All fields by name (``title``, ``description``, ``narrative``, …), with one text per query;
        empty for a query without the field.
    """

    ids: tuple[str, ...]
    texts: tuple[str, ...]
    fields: Mapping[str, tuple[str, ...]] = field(default_factory=dict)

    def __post_init__(self) -> None:
        if not len(self.ids) == len(self.texts):
            raise InputError(f"{len(self.ids)} query ids, but {len(self.texts)} texts")
        encode_ids(self.ids)
        if not all(self.ids):
            raise InputError(f"query {self.ids.index('') + 1} has an empty id")
        if len(set(self.ids)) < len(self.ids):
            seen: set[str] = set()
            again = next(one for one in self.ids if one in seen or seen.add(one))  # type: ignore[func-returns-value]
            raise InputError(f"the query id {again!r} appears twice: keep one of them")
        object.__setattr__(self, "fields", MappingProxyType(dict(self.fields)))

    def __len__(self) -> int:
        return len(self.ids)

    def __repr__(self) -> str:
        return f"Queries({len(self)})"

    def pairs(self) -> Iterator[tuple[str, str]]:
        """Return id and text of every query."""
        return zip(self.ids, self.texts, strict=True)

    def to_dict(self) -> dict[str, str]:
        """Return ``{id: text}``."""
        return dict(self.pairs())

    def take(self, numbers: Iterable[int]) -> Queries:
        """Return the queries at some positions."""
        places = list(numbers)

        def some(column: tuple[str, ...]) -> tuple[str, ...]:
            return tuple(column[place] for place in places)

        fields = {name: some(column) for name, column in self.fields.items()}
        return Queries(some(self.ids), some(self.texts), fields)

    def by_field(self, name: str) -> Queries:
        """Return the same queries with the text of another field, or of several joined by ``+``.

        Examples
        --------
        >>> topic = Queries(("1",), ("x",), {"title": ("x",), "description": ("about x",)})
        >>> topic.by_field("title+description").texts
        ('x about x',)
        """
        wanted = [one.strip() for one in name.split("+")]
        unknown = [one for one in wanted if one not in self.fields]
        if unknown:
            raise InputError(
                f"the queries have no field {unknown[0]!r}; they have "
                f"{', '.join(self.fields) or 'one text each'}"
            )
        columns = [self.fields[one] for one in wanted]
        texts = tuple(
            " ".join(part for part in parts if part) for parts in zip(*columns, strict=True)
        )
        return Queries(self.ids, texts, self.fields)

    def notes(self) -> list[Note]:
        """Return a note about queries without text, if there are any."""
        empty = [one for one, text in zip(self.ids, self.texts, strict=True) if not text.strip()]
        if not empty:
            return []
        message = f"queries without text: {len(empty)} ({named_few(empty, len(empty))})"
        return [Note("empty-queries", message, count=len(empty))]


def queries_of(given: Queries | Mapping[str, str] | Sequence[tuple[str, str]]) -> Queries:
    """Make queries from ``{id: text}`` or from pairs of id and text."""
    if isinstance(given, Queries):
        return given
    pairs = list(given.items() if isinstance(given, Mapping) else given)
    if any(isinstance(pair, str) or len(pair) != 2 for pair in pairs):
        raise InputError("queries: expected a mapping or pairs of id and text")
    for one, text in pairs:
        if not isinstance(text, str):
            raise InputError(f"query {one!r}: the text is {type(text).__name__}, expected str")
    return Queries(tuple(as_id(one) for one, _ in pairs), tuple(text for _, text in pairs))

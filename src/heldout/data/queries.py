"""Queries: ids and texts, with the other fields that a topic may have."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from heldout.data.ids import as_id, encode_ids
from heldout.data.notes import named_few
from heldout.errors import InputError
from heldout.notes import Note

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator


class Queries:
    """The queries of a collection, in the order of the file.

    `fields` have all texts by name (``title``, ``description``, ``narrative``, …), one per query;
    empty for a query without the field.
    """

    def __init__(
        self,
        ids: Iterable[str],
        texts: Iterable[str],
        fields: Mapping[str, tuple[str, ...]] | None = None,
    ) -> None:
        self.ids = tuple(map(as_id, ids))
        self.texts = tuple(texts)
        self.fields = dict(fields or {})
        if len(self.ids) != len(self.texts):
            raise InputError(f"{len(self.ids)} query ids, but {len(self.texts)} texts")
        encode_ids(self.ids)
        seen: set[str] = set()
        for number, one in enumerate(self.ids, 1):
            if not one:
                raise InputError(f"query {number} has an empty id")
            if one in seen:
                raise InputError(f"the query id {one!r} appears twice: keep one of them")
            seen.add(one)

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

    def take(self, numbers: Iterable[int], ids: Iterable[str] | None = None) -> Queries:
        """Return the queries at some positions, under their own or other ids."""
        places = list(numbers)

        def some(column: tuple[str, ...]) -> tuple[str, ...]:
            return tuple(column[place] for place in places)

        fields = {name: some(column) for name, column in self.fields.items()}
        return Queries(some(self.ids) if ids is None else ids, some(self.texts), fields)

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
        columns = zip(*(self.fields[one] for one in wanted), strict=True)
        texts = (" ".join(part for part in parts if part) for parts in columns)
        return Queries(self.ids, texts, self.fields)

    def notes(self) -> list[Note]:
        """Return a note about queries without text, if there are any."""
        empty = [one for one, text in self.pairs() if not text.strip()]
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
    return Queries([one for one, _ in pairs], [text for _, text in pairs])

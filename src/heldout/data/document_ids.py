"""The document ids of a collection in compact form, and the lookup of the number of an id."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, Final, overload

import numpy as np

from heldout.data.ids import LongIds, ShortIds, id_column, same_ids
from heldout.data.rows import repeats
from heldout.errors import InputError

if TYPE_CHECKING:
    from collections.abc import Iterator

    from numpy.typing import NDArray

    from heldout.data.ids import IdColumn
    from heldout.data.words import Ints, Words

__all__ = ["CompactIds", "DocumentIds", "IdCollector", "NumberIds", "document_ids", "ids_at"]

_PIECE: Final = 1 << 16


class DocumentIds(Sequence[str]):
    """Ids in collection order; the position of an id is the number of its document."""

    __slots__ = ()

    @abstractmethod
    def find(self, wanted: Sequence[str]) -> Ints:
        """Return the numbers of some ids; -1 for unknown ids."""

    @abstractmethod
    def some(self, begin: int, end: int) -> Sequence[str]:
        """Return the ids of documents `begin` to `end`."""

    def take(self, numbers: NDArray[np.integer]) -> list[str]:
        """Return the ids of some documents."""
        return [self._one(number) for number in numbers.tolist()]

    def hashes(self) -> Words:
        """Return 64 bits of each id, as `heldout.data.words.hash_fields` gives them."""
        found = np.empty(len(self), np.uint64)
        for begin in range(0, len(self), _PIECE):
            column = id_column(self[begin : begin + _PIECE])
            found[begin : begin + _PIECE] = column.hashes(0, len(column))
        return found

    @overload
    def __getitem__(self, place: int) -> str: ...
    @overload
    def __getitem__(self, place: slice) -> Sequence[str]: ...
    def __getitem__(self, place: int | slice) -> str | Sequence[str]:
        size = len(self)
        if isinstance(place, slice):
            begin, end, step = place.indices(size)
            if step == 1:
                return self.some(begin, max(begin, end))
            return [self._one(number) for number in range(begin, end, step)]
        number = place + size if place < 0 else place
        if not 0 <= number < size:
            raise IndexError(f"document {place} of {size}")
        return self._one(number)

    def __iter__(self) -> Iterator[str]:
        for begin in range(0, len(self), _PIECE):
            yield from self.some(begin, min(begin + _PIECE, len(self)))

    def __contains__(self, wanted: object) -> bool:
        return isinstance(wanted, str) and bool(self.find([wanted])[0] >= 0)

    def index(self, value: Any, start: int = 0, stop: int | None = None) -> int:
        """Return the number of an id."""
        number = int(self.find([value])[0])
        if number < start or number >= (len(self) if stop is None else stop):
            raise ValueError(f"{value!r} is not a document id")
        return number

    def count(self, value: Any) -> int:
        """Return 1 if an id is here, else 0."""
        return int(value in self)

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Sequence) or isinstance(other, str):
            return NotImplemented
        return len(self) == len(other) and all(a == b for a, b in zip(self, other, strict=True))

    def __hash__(self) -> int:
        return hash((len(self), *self[:3]))

    def __repr__(self) -> str:
        shown = ", ".join(map(repr, self[:3]))
        return f"<{len(self)} ids: {shown}{', …' if len(self) > 3 else ''}>"

    @abstractmethod
    def _one(self, number: int) -> str: ...


class NumberIds(DocumentIds):
    """The ids of a line corpus: line numbers from 0, which need no memory.

    Examples
    --------
    >>> ids = NumberIds(3)
    >>> list(ids), ids.find(["2", "3", "02"]).tolist()
    (['0', '1', '2'], [2, -1, -1])
    """

    __slots__ = ("_size",)

    def __init__(self, size: int) -> None:
        self._size = size

    def __len__(self) -> int:
        return self._size

    def _one(self, number: int) -> str:
        return str(number)

    def some(self, begin: int, end: int) -> Sequence[str]:
        """Return the ids of documents `begin` to `end`."""
        return [str(number) for number in range(begin, end)]

    def find(self, wanted: Sequence[str]) -> Ints:
        """Return the numbers of some ids; -1 for unknown ids."""
        return np.fromiter(map(self._number, wanted), np.int64, len(wanted))

    def _number(self, wanted: str) -> int:
        if not (wanted.isascii() and wanted.isdigit() and len(wanted) < 19):
            return -1
        number = int(wanted)
        return number if number < self._size and str(number) == wanted else -1


class CompactIds(DocumentIds):
    """Ids as columns of 64-bit words (see `heldout.data.ids`), looked up by their hashes.

    Examples
    --------
    >>> ids = document_ids(["a", "b"])
    >>> ids.find(["b", "c"]).tolist()
    [1, -1]
    """

    __slots__ = ("_column", "_hashes", "_order")

    def __init__(self, column: IdColumn) -> None:
        self._column = column
        hashes = column.hashes(0, len(column))
        self._order: Ints = np.argsort(hashes, kind="stable")
        self._hashes: Words = hashes[self._order]

    def __len__(self) -> int:
        return len(self._column)

    def _one(self, number: int) -> str:
        return self._column[number]

    def some(self, begin: int, end: int) -> Sequence[str]:
        """Return the ids of documents `begin` to `end`."""
        return self.take(np.arange(begin, end))

    def take(self, numbers: NDArray[np.integer]) -> list[str]:
        """Return the ids of some documents."""
        return self._column.take(numbers).tolist()

    def hashes(self) -> Words:
        """Return 64 bits of each id."""
        return self._column.hashes(0, len(self))

    def find(self, wanted: Sequence[str]) -> Ints:
        """Return the numbers of some ids; -1 for unknown ids."""
        found = np.full(len(wanted), -1, np.int64)
        if not len(wanted):
            return found
        column = id_column(wanted)
        hashes = column.hashes(0, len(column))
        places = np.searchsorted(self._hashes, hashes)
        open_ = np.arange(len(wanted))
        while len(open_):  # usually once; again for ids that share a hash
            at = places[open_]
            inside = at < len(self._hashes)
            open_, at = open_[inside], at[inside]
            alike = self._hashes[at] == hashes[open_]
            open_, at = open_[alike], at[alike]
            numbers = self._order[at]
            same = same_ids(column, open_, self._column, numbers)
            found[open_[same]] = numbers[same]
            open_ = open_[~same]
            places[open_] += 1
        return found

    def first_duplicate(self) -> tuple[int, int] | None:
        """Return the numbers of two documents with the same id, or None."""
        pairs = repeats(self._column, self._order, self._hashes)
        return min(pairs, key=lambda pair: pair[1]) if pairs else None


def document_ids(ids: Sequence[str], what: str = "documents") -> CompactIds:
    """Make a compact sequence of ids, which must be distinct."""
    compact = CompactIds(id_column(ids))
    if not all(ids):
        number = next(number for number, one in enumerate(ids) if not one)
        raise InputError(f"{what}: document {number + 1} has an empty id")
    twice = compact.first_duplicate()
    if twice is not None:
        first, again = twice
        raise InputError(
            f"{what}: the id {compact[again]!r} appears twice (documents {first + 1} and "
            f"{again + 1}): keep one of them"
        )
    return compact


def ids_at(ids: Sequence[str], numbers: NDArray[np.integer]) -> Sequence[str]:
    """Return some of a sequence of ids.

    Examples
    --------
    >>> ids_at(["a", "b", "c"], np.array([2, 0]))
    ['c', 'a']
    """
    if isinstance(ids, DocumentIds):
        return ids.take(numbers)
    return [ids[number] for number in numbers.tolist()]


class IdCollector:
    """Collects ids in compact form, so that they are never all in memory as strings."""

    def __init__(self) -> None:
        self._columns: list[IdColumn] = []

    def add(self, ids: Sequence[str]) -> None:
        """Add the ids of the next documents."""
        self._columns.append(id_column(ids))

    def collected(self) -> CompactIds:
        """Return all ids, without a check for duplicates."""
        return CompactIds(_joined(self._columns))


def _joined(columns: list[IdColumn]) -> IdColumn:
    if not columns:
        return id_column([])
    if len(columns) == 1:
        return columns[0]
    short = [column for column in columns if isinstance(column, ShortIds)]
    if len(short) == len(columns):
        width = max(len(column.words) for column in short)
        return ShortIds(tuple(_word(short, place) for place in range(width)))
    texts = [
        column.values
        if isinstance(column, LongIds)
        else np.array(column.tolist(), np.dtypes.StringDType())
        for column in columns
    ]
    hashes = [column.hashes(0, len(column)) for column in columns]
    return LongIds(np.concatenate(texts), np.concatenate(hashes))


def _word(columns: list[ShortIds], place: int) -> Words:
    parts = [
        column.words[place] if place < len(column.words) else np.zeros(len(column), np.uint64)
        for column in columns
    ]
    return np.concatenate(parts)

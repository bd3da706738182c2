"""Ids of queries and documents: what they are, and many of them without a Python string for each.

Almost all ids are short, so they are held as one or more arrays of eight-byte words: compared,
hashed and ordered as numbers; seven million ids of up to eight bytes take 56 MB. Where an id has
more than `SHORT` bytes (URLs), all are a NumPy string array, which costs only what each id needs.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from itertools import zip_longest
from typing import TYPE_CHECKING, Any, Final, overload

import numpy as np

from heldout.data.words import PADDING, Flags, Ints, Words, distinct, field_words, hash_fields, mix
from heldout.errors import InputError

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Iterator

    from numpy.typing import NDArray

SHORT: Final = 64  # the length in bytes of the longest id that is held as words
_FLOAT: Final = re.compile(r"(?:0|[1-9][0-9]*)\.0")
_PIECE: Final = 1 << 16


class Ids(Sequence[str]):
    """Ids in a fixed order; the position of an id is its number."""

    __slots__ = ("_hashes", "_order", "texts", "words")

    def __init__(
        self,
        words: tuple[Words, ...],
        texts: NDArray[Any] | None = None,
        hashes: Words | None = None,
    ) -> None:
        self.words = words  # one array per eight bytes, little-endian, padded with zeros
        self.texts = texts  # instead of words, if one of them is long
        self._hashes = hashes
        self._order: tuple[Words, Ints] | None = None

    @classmethod
    def of(cls, ids: Iterable[Any]) -> Ids:
        """Hold strings as they are, and other values as `as_id` gives them."""
        if hasattr(ids, "to_physical"):  # a Polars series, without a Python string for each
            series: Any = ids
            strings, encoded = series, encode_ids([series.str.join("").item()])
            lengths = series.str.len_bytes().to_numpy().astype(np.int64)
        else:
            strings = [given if isinstance(given, str) else as_id(given) for given in ids]
            encoded = encode_ids(strings)
            lengths = np.fromiter(map(len, encoded), np.int64, len(encoded))
        data = np.frombuffer(b"".join([*encoded, bytes(PADDING)]), np.uint8)
        starts = np.cumsum(lengths) - lengths
        if lengths.max(initial=0) <= SHORT:
            return cls(tuple(field_words(data, starts, lengths)))
        texts = np.array(list(strings), np.dtypes.StringDType())
        return cls((), texts, hash_fields(data, starts, lengths))

    @classmethod
    def stack(cls, parts: Sequence[Ids]) -> Ids:
        """Return several one after another."""
        if len(parts) < 2:
            return parts[0] if parts else cls.of([])
        if any(part.texts is not None for part in parts):
            texts = [
                np.array(part.tolist(), np.dtypes.StringDType())
                if part.texts is None
                else part.texts
                for part in parts
            ]
            hashes = [part.hashes() for part in parts]
            return cls((), np.concatenate(texts), np.concatenate(hashes))
        width = max(len(part.words) for part in parts)
        padded = [
            (*part.words, *[np.zeros(len(part), np.uint64)] * (width - len(part.words)))
            for part in parts
        ]
        return cls(tuple(map(np.concatenate, zip(*padded, strict=True))))

    def __len__(self) -> int:
        return len(self.words[0] if self.texts is None else self.texts)

    @overload
    def __getitem__(self, place: int) -> str: ...
    @overload
    def __getitem__(self, place: slice) -> list[str]: ...
    def __getitem__(self, place: int | slice) -> str | list[str]:
        if isinstance(place, slice):
            return self.take(place).tolist()
        if self.texts is not None:
            return str(self.texts[place])
        raw = b"".join(int(word[place]).to_bytes(8, "little") for word in self.words)
        return raw.rstrip(b"\0").decode()

    def __iter__(self) -> Iterator[str]:
        for begin in range(0, len(self), _PIECE):
            yield from self[begin : begin + _PIECE]

    def __contains__(self, wanted: object) -> bool:
        return isinstance(wanted, str) and bool(self.find([wanted])[0] >= 0)

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Sequence) or isinstance(other, str):
            return NotImplemented
        return len(self) == len(other) and all(a == b for a, b in zip(self, other, strict=True))

    def __hash__(self) -> int:
        return hash((len(self), *self[:3]))

    def __repr__(self) -> str:
        shown = ", ".join(map(repr, self[:3]))
        return f"<{len(self)} ids: {shown}{', …' if len(self) > 3 else ''}>"

    def tolist(self) -> list[str]:
        """Return all ids as strings."""
        if self.texts is not None:
            return [str(text) for text in self.texts]
        raw = np.stack(self.words, axis=1).astype("<u8", copy=False)
        return [name.decode() for name in raw.view(f"S{8 * len(self.words)}").ravel().tolist()]

    def take(self, rows: NDArray[np.integer] | slice) -> Ids:
        """Return the ids at `rows`."""
        if self.texts is None:
            return Ids(tuple(word[rows] for word in self.words))
        return Ids((), self.texts[rows], self.hashes()[rows])

    def move(self, places: Ints | slice, rows: Ints) -> None:
        """Copy the ids of `rows` to `places`; only while a run is built."""
        arrays = self.words if self.texts is None else (self.texts, self.hashes())
        for array in arrays:
            array[places] = array[rows]

    def freeze(self) -> None:
        """Make the arrays read-only."""
        for array in self.words if self.texts is None else (self.texts,):
            array.flags.writeable = False

    def hashes(self, begin: int = 0, end: int | None = None) -> Words:
        """Return 64 bits of each id of some rows, as `hash_fields` gives them."""
        if self._hashes is not None:
            return self._hashes[begin:end]
        result = mix(self.words[0][begin:end])
        for word in self.words[1:]:
            part = word[begin:end]
            longer = np.flatnonzero(part)
            if len(longer):
                result[longer] = mix(result[longer] ^ part[longer])
        return result

    def changes(self) -> Ints:
        """Return the rows whose id differs from that of the row before."""
        differ = np.ones(len(self), np.bool_)
        arrays = self.words if self.texts is None else (self.texts,)
        differ[1:] = np.logical_or.reduce([array[1:] != array[:-1] for array in arrays])
        return np.flatnonzero(differ)

    def _keys(self, rows: Ints) -> list[Words]:
        """Return the keys by which np.lexsort orders some rows bytewise, as C's ``strcmp`` does."""
        if self.texts is not None:
            return [self.take(rows).ranks()]
        return [word[rows].byteswap() for word in reversed(self.words)]

    def compare(self, rows: Ints, others: Ints) -> Ints:
        """Compare rows bytewise: -1, 0 or 1."""
        result = np.zeros(len(rows), np.int64)
        for key in self._keys(np.concatenate((rows, others))):
            mine, their = np.split(key, 2)
            result = np.where(mine == their, result, np.where(mine > their, 1, -1))
        return result

    def order(self, rows: Ints, groups: Ints, *, descending: bool) -> Ints:
        """Order `rows` by group and, inside a group, bytewise by id."""
        keys = [~key if descending else key for key in self._keys(rows)]
        return rows[np.lexsort((*keys, groups))]

    def ranks(self) -> Words:
        """Return a number for each id: of two ids, the bytewise greater has the higher number."""
        rows = np.arange(len(self))
        if len(self.words) == 1:
            return self.words[0].byteswap()
        if self.texts is None:
            order = np.lexsort(self._keys(rows))
        else:
            order = np.argsort(self.texts, kind="stable")
        numbers = np.empty(len(self), np.uint64)
        numbers[order] = np.searchsorted(self.take(order).changes(), rows, "right")
        return numbers

    def same(self, rows: Ints, other: Ids, others: Ints) -> Flags:
        """Return whether the ids at `rows` equal those at `others` of other ids."""
        if self.texts is None and other.texts is None:
            same = np.ones(len(rows), np.bool_)
            for mine, their in zip_longest(self.words, other.words):
                same &= (0 if mine is None else mine[rows]) == (
                    0 if their is None else their[others]
                )
            return same
        pairs = zip(self.take(rows).tolist(), other.take(others).tolist(), strict=True)
        return np.array([mine == their for mine, their in pairs], np.bool_)

    def _by_hash(self) -> tuple[Words, Ints]:
        """Return the hashes in order, and the number of each; computed once."""
        if self._order is None:
            hashes = self.hashes()
            order = np.argsort(hashes, kind="stable")
            self._order = hashes[order], order
        return self._order

    def find(self, wanted: Sequence[str]) -> Ints:
        """Return the numbers of some ids; -1 for unknown ids."""
        numbers_of = np.full(len(wanted), -1, np.int64)
        sought = Ids.of(wanted)
        hashes, (ordered, order) = sought.hashes(), self._by_hash()
        places = np.searchsorted(ordered, hashes)
        left = np.arange(len(wanted))
        while len(left):  # usually once; again for ids that share a hash
            left = left[places[left] < len(ordered)]
            left = left[ordered[places[left]] == hashes[left]]
            numbers = order[places[left]]
            same = sought.same(left, self, numbers)
            numbers_of[left[same]] = numbers[same]
            left = left[~same]
            places[left] += 1
        return numbers_of

    def first_duplicate(self) -> tuple[int, int] | None:
        """Return the numbers of two equal ids, or None."""
        hashes, order = self._by_hash()
        pairs = repeats(self, order, hashes)
        return min(pairs, key=lambda pair: pair[1]) if pairs else None


def repeats(ids: Ids, rows: Ints, keys: Words) -> list[tuple[int, int]]:
    """Return pairs of rows (the first, a later one) with the same key and id, sorted by key."""
    # Different ids may have equal keys, though rarely, so that the ids themselves are compared.
    equal = np.flatnonzero(keys[1:] == keys[:-1])
    suspects = distinct(np.sort(np.concatenate((equal, equal + 1))))
    seen: dict[tuple[int, str], int] = {}
    pairs = []
    names = ids.take(rows[suspects]).tolist()
    for place, row, name in zip(suspects.tolist(), rows[suspects].tolist(), names, strict=True):
        first = seen.setdefault((int(keys[place]), name), row)
        if first != row:
            pairs.append((first, row))
    return pairs


def distinct_ids(given: Sequence[str], what: str = "documents") -> Ids:
    """Hold ids of documents, which must be there and differ."""
    if "" in given:
        raise InputError(f"{what}: document {given.index('') + 1} has an empty id")
    ids = Ids.of(given)
    twice = ids.first_duplicate()
    if twice is not None:
        first, again = twice
        raise InputError(
            f"{what}: the id {ids[again]!r} appears twice (documents {first + 1} and "
            f"{again + 1}): keep one of them"
        )
    return ids


def as_id(value: Any) -> str:
    """Return an id as a string without surrounding white space; 10.0 is 10, as in pandas."""
    if isinstance(value, str):
        return value.strip()
    if is_missing(value):
        raise InputError("an id is missing")
    if isinstance(value, bool | np.bool_):
        return str(value).lower()
    if isinstance(value, float | np.floating) and float(value).is_integer():
        return str(int(value))
    return (value.decode() if isinstance(value, bytes) else str(value)).strip()


def is_missing(value: Any) -> bool:
    """Return whether this is a missing value of Python, pandas (NaN, NaT, NA) or Polars."""
    if isinstance(value, str):
        return False
    return value is None or type(value).__name__ == "NAType" or bool(value != value)  # noqa: PLR0124


def respell(ids: Sequence[str], like: Sequence[str]) -> Sequence[str]:
    """Return `ids` as `like` has them, where one side writes 10.0 for the 10 of the other."""
    # Only if all ids of one side have this form, and none of the other: none could match otherwise.
    is_float = _FLOAT.fullmatch
    floats, others = (ids, like) if ids and is_float(ids[0]) else (like, ids)
    if not ids or not like or not all(map(is_float, floats)) or any(map(is_float, others)):
        return ids
    if floats is ids:
        return [name[:-2] for name in ids]
    return [f"{name}.0" if name.isdigit() else name for name in ids]


def encode_ids(ids: Collection[str]) -> list[bytes]:
    """Return ids as UTF-8; raise an error for ids that are not valid."""
    try:
        encoded = [name.encode() for name in ids]
    except UnicodeEncodeError as error:
        raise InputError(f"id {error.object!r} is not valid Unicode") from None
    if b"\0" in b"".join(encoded):
        raise InputError("an id has a zero byte: remove it")
    return encoded

"""Columns of ids as arrays of 64-bit words, without a Python string per id.

Almost all document and query ids are short, so a column holds them as one or more arrays of
eight-byte words (`ShortIds`). Ids are compared, hashed and ordered as numbers, and seven million
ids of up to eight bytes take 56 MB. Where an id has more than `SHORT` bytes (URLs), the column is
a NumPy string array (`LongIds`), which costs only what each id needs.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from heldout.data.words import PADDING, Flags, Ints, Words, field_words, hash_fields, mix
from heldout.errors import InputError

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Sequence

    import polars as pl
    from numpy.typing import NDArray

__all__ = [
    "SHORT",
    "IdColumn",
    "LongIds",
    "ShortIds",
    "as_id",
    "encode_ids",
    "id_column",
    "id_numbers",
    "ids_of_texts",
    "is_float_text",
    "is_missing",
    "pack_ids",
    "respell",
    "same_ids",
    "stack_ids",
]

SHORT: Final = 64
"""The length in bytes of the longest id that is held as words."""

_FLOAT: Final = re.compile(r"(?:0|[1-9][0-9]*)\.0")


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class ShortIds:
    """Ids of up to `SHORT` bytes.

    Parameters
    ----------
    words
        One array per eight bytes: the bytes of every id, little-endian, padded with zeros.
    """

    words: tuple[Words, ...]

    def __len__(self) -> int:
        return len(self.words[0])

    def __getitem__(self, row: int) -> str:
        return (
            b"".join(int(w[row]).to_bytes(8, "little") for w in self.words).rstrip(b"\0").decode()
        )

    def tolist(self) -> list[str]:
        """Return all ids as strings."""
        raw = np.stack(self.words, axis=1).astype("<u8", copy=False)
        return [one.decode() for one in raw.view(f"S{8 * len(self.words)}").ravel().tolist()]

    def take(self, rows: NDArray[np.integer]) -> ShortIds:
        """Return the ids at `rows`."""
        return ShortIds(tuple(word[rows] for word in self.words))

    def move(self, places: Ints | slice, rows: Ints) -> None:
        """Copy the ids of `rows` to `places`; only while a run is built."""
        for word in self.words:
            word[places] = word[rows]

    def freeze(self) -> None:
        """Make the arrays read-only."""
        for word in self.words:
            word.flags.writeable = False

    def hashes(self, begin: int, end: int) -> Words:
        """Return 64 bits of each id of some rows, as `hash_fields` gives them."""
        result = mix(self.words[0][begin:end])
        for word in self.words[1:]:
            part = word[begin:end]
            longer = np.flatnonzero(part)
            if len(longer):
                result[longer] = mix(result[longer] ^ part[longer])
        return result

    def compare(self, rows: Ints, others: Ints) -> NDArray[np.int8]:
        """Compare rows bytewise: -1, 0 or 1, as C's ``strcmp`` does."""
        result = np.zeros(len(rows), np.int8)
        for word in self.words:
            mine, other = word[rows].byteswap(), word[others].byteswap()
            result = np.where(result == 0, (mine > other) * np.int8(1) - (mine < other), result)
        return result

    def order(self, rows: Ints, groups: Ints, *, descending: bool) -> Ints:
        """Order `rows` by group and, inside a group, bytewise by id."""
        keys = [word[rows].byteswap() for word in reversed(self.words)]
        return rows[np.lexsort((*((~key for key in keys) if descending else keys), groups))]


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class LongIds:
    """Ids of any length, as a NumPy string array with the hash of each."""

    values: NDArray[Any]
    hashed: Words

    def __len__(self) -> int:
        return len(self.values)

    def __getitem__(self, row: int) -> str:
        return str(self.values[row])

    def tolist(self) -> list[str]:
        """Return all ids as strings."""
        return [str(value) for value in self.values]

    def take(self, rows: NDArray[np.integer]) -> LongIds:
        """Return the ids at `rows`."""
        return LongIds(self.values[rows], self.hashed[rows])

    def move(self, places: Ints | slice, rows: Ints) -> None:
        """Copy the ids of `rows` to `places`; only while a run is built."""
        self.values[places] = self.values[rows]
        self.hashed[places] = self.hashed[rows]

    def freeze(self) -> None:
        """Make the arrays read-only."""
        self.values.flags.writeable = False
        self.hashed.flags.writeable = False

    def hashes(self, begin: int, end: int) -> Words:
        """Return 64 bits of each id of some rows, as `hash_fields` gives them."""
        return self.hashed[begin:end]

    def compare(self, rows: Ints, others: Ints) -> NDArray[np.int8]:
        """Compare rows bytewise: -1, 0 or 1, as C's ``strcmp`` does."""
        mine, other = self.values[rows], self.values[others]
        return (mine > other) * np.int8(1) - (mine < other)

    def order(self, rows: Ints, groups: Ints, *, descending: bool) -> Ints:
        """Order `rows` by group and, inside a group, bytewise by id."""
        by_id = rows[np.argsort(self.values[rows], kind="stable")]
        rank = np.empty(len(self.values), np.int64)
        rank[by_id] = np.arange(len(by_id))
        key = -rank[rows] if descending else rank[rows]
        return rows[np.lexsort((key, groups))]


IdColumn = ShortIds | LongIds


def id_column(ids: Iterable[Any]) -> IdColumn:
    """Make a column of ids: strings as they are, or other values that `as_id` accepts."""
    return pack_ids([one if isinstance(one, str) else as_id(one) for one in ids])


def pack_ids(strings: list[str]) -> IdColumn:
    """Make a column of ids that are strings already."""
    encoded = encode_ids(strings)
    longest = max(map(len, encoded), default=0)
    if longest > SHORT:
        return LongIds(np.array(strings, np.dtypes.StringDType()), _hash(encoded))
    width = max(1, -(-longest // 8))
    raw = np.array(encoded, f"S{8 * width}").view("<u8").reshape(-1, width)
    return ShortIds(tuple(np.ascontiguousarray(raw.T, np.uint64)))


def ids_of_texts(texts: list[str] | pl.Series) -> IdColumn:
    """Make a column of ids of a list, or of a Polars series without a Python string for each."""
    if isinstance(texts, list):
        return pack_ids(texts)
    lengths = texts.str.len_bytes().to_numpy().astype(np.int64)
    if lengths.max(initial=0) > SHORT or texts.str.contains("\0", literal=True).any():
        return pack_ids(texts.to_list())
    data = np.frombuffer(texts.str.join("").item().encode() + bytes(PADDING), np.uint8)
    return ShortIds(tuple(field_words(data, np.cumsum(lengths) - lengths, lengths)))


def as_id(value: Any) -> str:
    """Return an id as a string without surrounding white space.

    A whole number is written without decimals: pandas holds integers with gaps as floats.
    """
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
    """Return `ids` as `like` has them, where one side writes 10.0 for the 10 of the other.

    pandas writes integers of a column with gaps so. All ids of one side have to be of this form and
    none of the other: then no id could match as it is. Ids such as 10.0 and 10.1 stay.
    """
    if not ids or not like or is_float_text(ids[0]) == is_float_text(like[0]):
        return ids
    floats, others = (ids, like) if is_float_text(ids[0]) else (like, ids)
    if not all(map(is_float_text, floats)) or any(map(is_float_text, others)):
        return ids
    if floats is ids:
        return [one[:-2] for one in ids]
    return [f"{one}.0" if one.isdigit() else one for one in ids]


def is_float_text(text: str) -> bool:
    """Return whether a text is a whole number with the decimal that pandas gives it (10.0)."""
    return _FLOAT.fullmatch(text) is not None


def encode_ids(ids: Collection[str]) -> list[bytes]:
    """Return ids as UTF-8; raise an error for ids that are not valid."""
    try:
        encoded = [one.encode() for one in ids]
    except UnicodeEncodeError as error:
        raise InputError(f"id {error.object!r} is not valid Unicode") from None
    if any(b"\0" in one for one in encoded):
        raise InputError("an id has a zero byte: remove it")
    return encoded


def _hash(encoded: list[bytes]) -> Words:
    data = np.frombuffer(b"".join(encoded) + bytes(PADDING), np.uint8)
    lengths = np.fromiter(map(len, encoded), np.int64, len(encoded))
    return hash_fields(data, np.cumsum(lengths) - lengths, lengths)


def same_ids(left: IdColumn, rows: Ints, right: IdColumn, others: Ints) -> Flags:
    """Return whether the ids at `rows` of one column equal those at `others` of another."""
    if isinstance(left, ShortIds) and isinstance(right, ShortIds):
        same = np.ones(len(rows), np.bool_)
        none = np.zeros(len(rows), np.uint64)
        for number in range(max(len(left.words), len(right.words))):
            mine = left.words[number][rows] if number < len(left.words) else none
            other = right.words[number][others] if number < len(right.words) else none
            same &= mine == other
        return same
    pairs = zip(left.take(rows).tolist(), right.take(others).tolist(), strict=True)
    return np.fromiter((mine == other for mine, other in pairs), np.bool_, len(rows))


def stack_ids(columns: Sequence[IdColumn]) -> IdColumn:
    """Return the ids of several columns one after another."""
    short = [one for one in columns if isinstance(one, ShortIds)]
    if len(short) < len(columns):
        values = [np.array(one.tolist(), np.dtypes.StringDType()) for one in columns]
        hashed = [one.hashes(0, len(one)) for one in columns]
        return LongIds(np.concatenate(values), np.concatenate(hashed))
    width = max(len(one.words) for one in short)
    return ShortIds(
        tuple(
            np.concatenate(
                [
                    one.words[number] if number < len(one.words) else np.zeros(len(one), np.uint64)
                    for one in short
                ]
            )
            for number in range(width)
        )
    )


def id_numbers(ids: IdColumn) -> Words:
    """Return a number for each id: of two ids, the bytewise greater one has the higher number."""
    if isinstance(ids, ShortIds) and len(ids.words) == 1:
        return ids.words[0].byteswap()
    rows = np.arange(len(ids))
    order = ids.order(rows, np.zeros_like(rows), descending=False)
    changes = np.zeros(len(ids), np.uint64)
    changes[1:] = ids.compare(order[1:], order[:-1]) != 0
    numbers = np.empty(len(ids), np.uint64)
    numbers[order] = np.cumsum(changes)
    return numbers

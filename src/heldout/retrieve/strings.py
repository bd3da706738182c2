"""Many strings in one array of bytes: sorted bytewise, gathered, decoded one by one."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from typing import TYPE_CHECKING, Final, overload

import numpy as np

from heldout.data.words import PADDING, Bytes, Flags, Ints, Words, offsets_of, words
from heldout.errors import InputError

if TYPE_CHECKING:
    from numpy.typing import NDArray

_PIECE: Final = 1 << 16
_DAMAGED: Final = "the index is damaged in its terms or ids: build the index again"
# For a word whose first byte is the highest: the bits that belong to a string of 0, 1, … 8 bytes.
_KEEP = np.array([((1 << 64) - 1) << 8 * (8 - n) & ((1 << 64) - 1) for n in range(9)], np.uint64)


class PackedStrings(Sequence[str]):
    """Strings in UTF-8, decoded on access: string ``i`` is ``data[offsets[i]:offsets[i + 1]]``."""

    __slots__ = ("data", "offsets")

    def __init__(self, data: Bytes, offsets: Ints) -> None:
        self.data = data
        self.offsets = offsets

    def __len__(self) -> int:
        return len(self.offsets) - 1

    @overload
    def __getitem__(self, place: int) -> str: ...
    @overload
    def __getitem__(self, place: slice) -> list[str]: ...
    def __getitem__(self, place: int | slice) -> str | list[str]:
        if isinstance(place, slice):
            numbers = range(len(self))[place]
            if numbers.step == 1:
                return self._some(numbers.start, max(numbers.start, numbers.stop))
            return [self[number] for number in numbers]
        number = range(len(self))[place]
        return self._some(number, number + 1)[0]

    def raw(self, number: int) -> bytes:
        """Return the bytes of one string."""
        return self.data[self.offsets[number] : self.offsets[number + 1]].tobytes()

    def _some(self, begin: int, end: int) -> list[str]:
        places = (self.offsets[begin : end + 1] - self.offsets[begin]).tolist()
        data = self.data[self.offsets[begin] : self.offsets[end]].tobytes()
        try:
            if data.isascii():  # a position in bytes is one in characters
                text = data.decode()
                return [text[a:b] for a, b in pairwise(places)]
            return [data[a:b].decode() for a, b in pairwise(places)]
        except UnicodeDecodeError:
            raise InputError(_DAMAGED) from None


def pack(strings: Sequence[bytes]) -> PackedStrings:
    """Concatenate encoded strings."""
    lengths = np.fromiter(map(len, strings), np.int64, len(strings))
    data = np.frombuffer(b"".join(strings), np.uint8)
    return PackedStrings(data, offsets_of(lengths))


def join(parts: Sequence[PackedStrings]) -> PackedStrings:
    """Return the strings of several sequences, one after another."""
    lengths = [np.diff(part.offsets) for part in parts]
    data = [part.data[part.offsets[0] : part.offsets[-1]] for part in parts]
    return PackedStrings(
        np.concatenate([*data, np.empty(0, np.uint8)]),
        offsets_of(np.concatenate([*lengths, np.empty(0, np.int64)])),
    )


def gather(strings: PackedStrings, rows: NDArray[np.integer]) -> PackedStrings:
    """Return the strings in the given rows."""
    starts = strings.offsets[rows]
    lengths = strings.offsets[np.asarray(rows) + 1] - starts
    offsets = offsets_of(lengths)
    data = np.empty(int(offsets[-1]), np.uint8)
    for begin in range(0, len(starts), _PIECE):
        end = min(begin + _PIECE, len(starts))
        size = lengths[begin:end]
        # Position of each byte: its offset within the string plus the start of the string.
        jump = np.repeat(starts[begin:end] - offsets[begin:end], size)
        jump += np.arange(offsets[begin], offsets[end])
        data[offsets[begin] : offsets[end]] = strings.data[jump]
    return PackedStrings(data, offsets)


def leading_words(strings: PackedStrings) -> Words:
    """Return the first eight bytes of each string as a number that orders as the bytes do."""
    leading = np.empty(len(strings), np.uint64)
    for begin in range(0, len(strings), _PIECE):
        offsets = strings.offsets[begin : begin + _PIECE + 1]
        text = words(_padded(strings.data[offsets[0] : offsets[-1]]))
        starts = offsets[:-1] - offsets[0]
        leading[begin : begin + _PIECE] = _word(text, starts, np.diff(offsets))
    return leading


def bytewise_order(strings: PackedStrings) -> tuple[Ints, Flags]:
    """Return the bytewise order of strings, stable, and which differ from the one before."""
    key = leading_words(strings)
    order = np.argsort(key, kind="stable")
    new = np.ones(len(order), np.bool_)
    for begin in range(1, len(order), _PIECE):  # all sorted keys at once would need more memory
        some = key[order[begin - 1 : begin + _PIECE]]
        new[begin : begin + _PIECE] = some[1:] != some[:-1]
    del key  # many ids differ in their first eight bytes: no more memory is needed for them
    skip = 8
    tied = _tied(new)
    if not len(tied):
        return order, new
    text = words(_padded(strings.data))
    starts, lengths = strings.offsets[:-1], np.diff(strings.offsets)
    while len(tied) and int(lengths[order[tied]].max()) > skip:
        rows = order[tied]
        key = _word(text, starts[rows] + skip, lengths[rows] - skip)
        _refine(order, new, tied, key)
        skip += 8
        tied = tied[_tied(new[tied])]
    if len(tied):
        # Padding is zeros, so these strings differ only in zero bytes at their end.
        _refine(order, new, tied, lengths[order[tied]].astype(np.uint64))
    return order, new


def _refine(order: Ints, new: Flags, tied: Ints, key: Words) -> None:
    """Sort the tied positions further, by `key` within each group of ties."""
    group = np.cumsum(new[tied])
    finer = np.lexsort((key, group))
    order[tied] = order[tied][finer]
    key = key[finer]
    new[tied[1:]] |= key[1:] != key[:-1]


def _tied(new: Flags) -> Ints:
    """Return where a string equals its predecessor or successor, as far as compared."""
    alone = new.copy()
    alone[:-1] &= new[1:]
    return np.flatnonzero(~alone)


def _word(text: Words, starts: Ints, lengths: Ints) -> Words:
    places = np.minimum(starts, len(text) - 1)
    return text[places].byteswap() & _KEEP[np.clip(lengths, 0, 8)]


def _padded(data: Bytes) -> Bytes:
    return np.concatenate((data, np.zeros(PADDING, np.uint8)))

"""Text as 64-bit words, eight bytes at a time: parsed, compared and hashed as numbers.

A run of seven million lines is a quarter of a gigabyte; touching each byte from Python or with a
general CSV reader is slow. NumPy can load eight bytes at any address as one number, so that a field
of up to eight characters is one load, and its digits become a number in three multiplications. All
functions here work on whole columns of fields and release the interpreter lock inside NumPy, so
that several threads can run.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any, Final

import numpy as np
from numpy.typing import NDArray

from heldout.errors import InputError

if TYPE_CHECKING:
    from collections.abc import Sequence

Bytes = NDArray[np.uint8]
Words = NDArray[np.uint64]
Ints = NDArray[np.int64]
Floats = NDArray[np.float64]
Flags = NDArray[np.bool_]

PADDING: Final = 32  # bytes needed after a text so that a word can be read at its last character
MOST_QUERIES: Final = 1 << 24  # keys have 24 bits for the number of a query
MAX_DIGITS: Final = 19  # decimal digits that always fit into 64 bits

_ZEROS = np.uint64(0x3030303030303030)
_HIGH = np.uint64(0xF0F0F0F0F0F0F0F0)
_SIXES = np.uint64(0x0606060606060606)
_LOW = np.uint64(0x0F0F0F0F0F0F0F0F)
# Join neighbouring digits, pairs and fours: 10a + b in every second byte, and so on.
_PAIRING = tuple(
    (np.uint64(factor), np.uint64(shift), np.uint64(keep))
    for factor, shift, keep in (
        (2561, 8, 0x00FF00FF00FF00FF),
        (6553601, 16, 0x0000FFFF0000FFFF),
        (42949672960001, 32, 0xFFFFFFFF),
    )
)
_KEEP = np.array([(1 << 8 * n) - 1 for n in range(9)], np.uint64)
_SHIFT = np.array([8 * (8 - n) for n in range(9)], np.uint64)
_FILL = np.array([int(_ZEROS) & ((1 << 8 * (8 - n)) - 1) for n in range(9)], np.uint64)
_TENS = np.array([10**n for n in range(MAX_DIGITS + 1)], np.uint64)
_FLOAT_TENS = np.array([10.0**n for n in range(MAX_DIGITS + 1)])
_EXACT = np.uint64(1 << 53)
# Python's float() also accepts 1_000 and the digits of every script. Digits before and after the
# point match in one way only: otherwise long numbers would take quadratic time.
_NUMBER = re.compile(r"[+-]?(?:[0-9]+(?:\.[0-9]*)?|\.[0-9]+)(?:[eE][+-]?[0-9]+)?")
_MIX = np.uint64(0x9E3779B97F4A7C15)
_MINUS, _PLUS, _DOT = 45, 43, 46


def number_of(text: str) -> float:
    """Return a number; infinity if it is not finite (also for NaN), NaN if it is not a number."""
    if _NUMBER.fullmatch(text):
        return float(text)
    return np.inf if text.lower().lstrip("+-") in {"nan", "inf", "infinity"} else np.nan


def distinct(ordered: Ints) -> Ints:
    """Return the distinct values of a sorted array; np.unique would import masked arrays."""
    keep = np.ones(len(ordered), np.bool_)
    keep[1:] = ordered[1:] != ordered[:-1]
    return ordered[keep]


def offsets_of(lengths: Sequence[int] | NDArray[Any]) -> Ints:
    """Return where each of several pieces of these lengths begins, and the end of the last."""
    offsets = np.zeros(len(lengths) + 1, np.int64)
    np.cumsum(lengths, dtype=np.int64, out=offsets[1:])  # there may be millions: no copy
    return offsets


def words(data: Bytes) -> Words:
    """Return the eight bytes from every position of `data` as a little-endian number."""
    return np.ndarray((len(data) - 7,), np.dtype("<u8"), data, strides=(1,))


def mix(keys: Words) -> Words:
    """Spread `keys` over all 64 bits; different keys stay different."""
    spread = keys * _MIX
    spread ^= spread >> np.uint64(32)
    spread *= _MIX
    return spread


def query_keys(hashes: Words, queries: NDArray[np.integer]) -> Words:
    """Return keys of documents of queries: the query number, then 40 bits of the document hash."""
    # Sorted keys of a query are adjacent, so that looking up its documents stays in cache.
    if queries.max(initial=0) >= MOST_QUERIES:
        raise InputError(f"more than {MOST_QUERIES:,} queries: evaluate them in several parts")
    return (queries.astype(np.uint64) << np.uint64(40)) | (hashes >> np.uint64(24))


def field_words(data: Bytes, starts: Ints, lengths: Ints) -> list[Words]:
    """Return the bytes of each field as words, padded with zeros to the longest field."""
    text = words(data)
    first = text[starts] & _KEEP[np.minimum(lengths, 8)]
    result = [first]
    for skip in range(8, int(lengths.max(initial=0)), 8):
        word = np.zeros(len(starts), np.uint64)
        rows = np.flatnonzero(lengths > skip)
        word[rows] = text[starts[rows] + skip] & _KEEP[np.minimum(lengths[rows] - skip, 8)]
        result.append(word)
    return result


def hash_fields(data: Bytes, starts: Ints, lengths: Ints) -> Words:
    """Hash fields without zero bytes to 64 bits; those of up to 8 bytes do not collide."""
    text = words(data)
    hashes = mix(text[starts] & _KEEP[np.minimum(lengths, 8)])
    rows, skip = np.flatnonzero(lengths > 8), 8
    while len(rows) and skip < 1024:
        word = text[starts[rows] + skip] & _KEEP[np.minimum(lengths[rows] - skip, 8)]
        hashes[rows] = mix(hashes[rows] ^ word)
        skip += 8
        rows = rows[lengths[rows] > skip]
    for row in rows.tolist():  # word by word, a text of megabytes would take seconds
        from hashlib import blake2b

        rest = data[starts[row] + skip : starts[row] + lengths[row]].tobytes()
        tail = np.frombuffer(blake2b(rest, digest_size=8).digest(), "<u8")
        hashes[[row]] = mix(hashes[[row]] ^ tail)
    return hashes


def _eight_digits(text: Words, starts: Ints, lengths: Ints | int) -> tuple[Words, Flags]:
    """Parse fields of at most eight digits; also return which have other characters."""
    word = text[starts]
    word <<= _SHIFT[lengths]
    word |= _FILL[lengths]
    # Digits are 0x30 to 0x39: the high half is 3, and still is when 6 is added.
    high = word + _SIXES
    high ^= _ZEROS
    high |= word ^ _ZEROS
    high &= _HIGH
    wrong = high != 0
    word &= _LOW
    for factor, shift, keep in _PAIRING:
        word *= factor
        word >>= shift
        word &= keep
    return word, wrong


def _digits(text: Words, starts: Ints, lengths: Ints | int) -> tuple[Words, Flags]:
    """Parse fields of at most 19 digits; also return which have other characters."""
    longest = int(np.max(lengths, initial=0))
    if longest <= 8:
        return _eight_digits(text, starts, lengths)
    value = np.zeros(len(starts), np.uint64)
    wrong = np.zeros(len(starts), np.bool_)
    for skip in range((longest - 1) // 8 * 8, -1, -8):
        end = lengths - skip
        begin = np.maximum(end - 8, 0)
        part, bad = _eight_digits(text, starts + begin, np.maximum(end - begin, 0))
        value = value * np.uint64(10**8) + part
        wrong |= bad
    return value, wrong


def _places_after_dot(data: Bytes, starts: Ints, ends: Ints) -> Ints | int:
    """Count the characters after the dot of each field, -1 without a dot; once if all are equal."""
    if not len(starts):
        return -1
    lengths = ends - starts
    # Runs are printed in one format, so that the position in the first field fits most.
    _, dot, after = bytes(data[starts[0] : ends[0]]).rpartition(b".")
    guess = len(after) if dot else 0
    if lengths.min() > guess and (data[ends - 1 - guess] == _DOT).all():
        return guess
    places, rest = np.full(len(starts), -1), np.arange(len(starts))
    # A long number with more digits after the dot, or without a dot, is parsed separately anyway.
    for place in [guess, *range(min(int(lengths.max()), MAX_DIGITS + 1))]:
        is_dot = data[np.maximum(ends[rest] - 1 - place, starts[rest])] == _DOT
        is_dot &= lengths[rest] > place
        places[rest[is_dot]] = place
        rest = rest[~is_dot]
        if not len(rest):
            break
    return -1 if len(rest) == len(starts) else places


def _divide(whole: Words, divisor: Floats) -> tuple[Floats, Flags]:
    """Round ``whole / divisor`` correctly; also return where the rounding is uncertain.

    Numbers of more than 53 bits are carried as a sum of two floats, and the remainder of the
    first quotient (exact by Dekker's product) corrects it.
    """
    high = whole.astype(np.float64)
    low = (whole - high.astype(np.uint64)).astype(np.int64).astype(np.float64)
    quotient = high / divisor
    product = quotient * divisor
    q_high = quotient * 134217729.0
    q_high -= q_high - quotient
    q_low = quotient - q_high
    d_high = divisor * 134217729.0
    d_high -= d_high - divisor
    d_low = divisor - d_high
    slip = ((q_high * d_high - product) + q_high * d_low + q_low * d_high) + q_low * d_low
    correction = (((high - product) - slip) + low) / divisor
    rounded = quotient + correction
    error = np.abs(correction - (rounded - quotient))
    half = np.spacing(rounded) / 2
    near = half * 1e-6
    unsure = (np.abs(error - half) <= near) | (np.abs(error - half / 2) <= near)
    return rounded, unsure


def parse_decimals(data: Bytes, starts: Ints, ends: Ints) -> tuple[Floats, Flags]:
    """Parse plain decimals to the nearest float; also return fields to be parsed one by one."""
    sign = data[starts]
    if int(sign.min(initial=_DOT)) < _DOT:
        negative = sign == _MINUS
        values, hard = _unsigned(data, starts + (negative | (sign == _PLUS)), ends)
        return np.where(negative, -values, values), hard
    return _unsigned(data, starts, ends)


def _unsigned(data: Bytes, starts: Ints, ends: Ints) -> tuple[Floats, Flags]:
    """Parse decimals without a sign."""
    text, lengths = words(data), ends - starts
    longest = int(lengths.max(initial=0))
    dot = _places_after_dot(data, starts, ends)
    places, whole_length = np.maximum(dot, 0), lengths - (dot + 1)
    if longest > MAX_DIGITS:
        fits = (places <= MAX_DIGITS) & (whole_length <= MAX_DIGITS)
        whole_length, places = np.where(fits, whole_length, 0), np.where(fits, places, 0)
    whole, wrong = _digits(text, starts, whole_length)
    fraction, wrong_fraction = _digits(text, ends - places, places)
    hard = wrong | wrong_fraction
    if longest > MAX_DIGITS or lengths.min(initial=2) < 2:
        hard |= whole_length + places < 1  # too long, a dot alone, or nothing
    digits, tens = whole * _TENS[places] + fraction, _FLOAT_TENS[places]
    values = digits / tens
    if longest > 15:  # 16 digits may have more than 53 bits, and more than 19 more than 64
        hard |= (whole_length + places > MAX_DIGITS) & (whole > 0)
        long = np.flatnonzero((digits >= _EXACT) & ~hard)
        values[long], unsure = _divide(digits[long], np.broadcast_to(tens, digits.shape)[long])
        hard[long] |= unsure
    return values, hard

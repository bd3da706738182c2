"""Text as 64-bit words, eight bytes at a time: parsed, compared and hashed as numbers.

A run of seven million lines is a quarter of a gigabyte; touching each byte from Python or with a
general CSV reader is slow. NumPy can load eight bytes at any address as one number, so that a field
of up to eight characters is one load, and its digits become a number in three multiplications. All
functions here work on whole columns of fields and release the interpreter lock inside NumPy, so
that several threads can run.
"""

from __future__ import annotations

from typing import Final

import numpy as np
from numpy.typing import NDArray

from heldout.errors import InputError

__all__ = [
    "PADDING",
    "Bytes",
    "Flags",
    "Floats",
    "Ints",
    "Words",
    "distinct",
    "field_words",
    "hash_fields",
    "mix",
    "parse_decimals",
    "query_keys",
]

Bytes = NDArray[np.uint8]
Words = NDArray[np.uint64]
Ints = NDArray[np.int64]
Floats = NDArray[np.float64]
Flags = NDArray[np.bool_]

PADDING: Final = 32
"""Bytes needed after a text so that a word can be read at its last character."""

MOST_QUERIES: Final = 1 << 24
"""The most queries of a run or of judgements: keys have 24 bits for the number of a query."""

MAX_DIGITS: Final = 19
"""Decimal digits that always fit into 64 bits."""

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
_WORDWISE = 1024
"""Bytes of a field that are hashed eight at a time; the rest is hashed at once."""
_MIX = np.uint64(0x9E3779B97F4A7C15)
_MINUS, _PLUS, _DOT = 45, 43, 46


def distinct(ordered: Ints) -> Ints:
    """Return the distinct values of a sorted array; np.unique would import masked arrays."""
    keep = np.ones(len(ordered), np.bool_)
    keep[1:] = ordered[1:] != ordered[:-1]
    return ordered[keep]


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
    """Return keys of documents of queries: the query number, then 40 bits of the document hash.

    Sorted keys of a query are adjacent, so that looking up its documents stays in cache.
    """
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
    """Hash the fields of `data` to 64 bits, without collisions for fields of up to 8 bytes.

    Fields must not have zero bytes: the last word is padded with zeros.
    """
    text = words(data)
    hashes = mix(text[starts] & _KEEP[np.minimum(lengths, 8)])
    rows, skip = np.flatnonzero(lengths > 8), 8
    while len(rows) and skip < _WORDWISE:
        word = text[starts[rows] + skip] & _KEEP[np.minimum(lengths[rows] - skip, 8)]
        hashes[rows] = mix(hashes[rows] ^ word)
        skip += 8
        rows = rows[lengths[rows] > skip]
    if len(rows):  # word by word, megabytes would take seconds
        from hashlib import blake2b

        spans = zip((starts[rows] + skip).tolist(), (starts + lengths)[rows].tolist(), strict=True)
        rests = b"".join(blake2b(data[a:z].tobytes(), digest_size=8).digest() for a, z in spans)
        hashes[rows] = mix(hashes[rows] ^ np.frombuffer(rests, "<u8"))
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


def parse_digits(text: Words, starts: Ints, lengths: Ints) -> tuple[Words, Flags]:
    """Parse fields of at most 19 digits; also return which have other characters."""
    groups = (int(lengths.max(initial=0)) + 7) // 8
    if groups <= 1:
        return _eight_digits(text, starts, lengths)
    value = np.zeros(len(starts), np.uint64)
    wrong = np.zeros(len(starts), np.bool_)
    for group in range(groups - 1, -1, -1):
        end = lengths - 8 * group
        begin = np.maximum(end - 8, 0)
        part, bad = _eight_digits(text, starts + begin, np.maximum(end - begin, 0))
        value = value * np.uint64(10**8) + part
        wrong |= bad
    return value, wrong


def _places_after_dot(data: Bytes, starts: Ints, ends: Ints) -> Ints:
    """Count the characters after the dot of each field; -1 without a dot."""
    places = np.full(len(starts), -1, np.int64)
    lengths = ends - starts
    if not len(starts):
        return places
    # Runs are printed in one format, so that the position in the first field fits most.
    first = bytes(data[starts[0] : ends[0]]).rpartition(b".")
    guess = len(first[2]) if first[1] else 0
    dotted = data[np.maximum(ends - 1 - guess, starts)] == _DOT
    dotted &= lengths > guess
    places[dotted] = guess
    rest = np.flatnonzero(~dotted)
    # A long number with more digits after the dot, or without a dot, is parsed separately anyway.
    for place in range(min(int(lengths[rest].max(initial=0)), MAX_DIGITS + 1)):
        hit = data[np.maximum(ends[rest] - 1 - place, starts[rest])] == _DOT
        hit &= lengths[rest] > place
        places[rest[hit]] = place
        rest = rest[~hit]
        if not len(rest):
            break
    return places


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
    """Parse plain decimal numbers to the nearest float.

    Returns
    -------
    values
        The number in each field.
    hard
        Fields in another form (an exponent, more digits than fit into 64 bits, a word such as
        ``nan``, an empty field), which must be parsed one by one.
    """
    sign = data[starts]
    if int(sign.min(initial=_DOT)) < _DOT:
        negative = sign == _MINUS
        values, hard = _unsigned(data, starts + (negative | (sign == _PLUS)), ends)
        return np.where(negative, -values, values), hard
    return _unsigned(data, starts, ends)


def _unsigned(data: Bytes, starts: Ints, ends: Ints) -> tuple[Floats, Flags]:
    """Parse decimals without a sign."""
    uniform = _uniform(data, starts, ends)
    if uniform is not None:
        return uniform
    text = words(data)
    places = _places_after_dot(data, starts, ends)
    whole_length = np.where(places < 0, ends - starts, ends - starts - places - 1)
    places = np.maximum(places, 0)
    hard = (places > MAX_DIGITS) | (whole_length > MAX_DIGITS) | (places + whole_length < 1)
    whole_length = np.where(hard, 0, whole_length)
    places = np.where(hard, 0, places)
    whole, wrong = parse_digits(text, starts, whole_length)
    fraction, wrong_fraction = parse_digits(text, ends - places, places)
    hard |= wrong | wrong_fraction | ((whole_length + places > MAX_DIGITS) & (whole > 0))
    digits = whole * _TENS[places] + fraction
    tens = _FLOAT_TENS[places]
    values = digits / tens
    long = np.flatnonzero((digits >= _EXACT) & ~hard)
    if len(long):
        values[long], unsure = _divide(digits[long], tens[long])
        hard[long] |= unsure
    return values, hard


def _uniform(data: Bytes, starts: Ints, ends: Ints) -> tuple[Floats, Flags] | None:
    """Parse numbers that all have the same few decimals, as in most runs; None if they do not."""
    if not len(starts):
        return None
    _, dot, last = bytes(data[starts[0] : ends[0]]).rpartition(b".")
    if not dot:
        return _uniform_integers(data, starts, ends)
    places = len(last)
    before = ends - (places + 1)
    whole_length = before - starts
    if not 1 <= places <= 7 or int(whole_length.min()) < 1 or int(whole_length.max()) > 8:
        return None
    if (data[before] != _DOT).any():
        return None
    text = words(data)
    whole, wrong = _eight_digits(text, starts, whole_length)
    fraction, wrong_fraction = _eight_digits(text, before + 1, places)
    digits = whole * _TENS[places] + fraction
    return digits / _FLOAT_TENS[places], wrong | wrong_fraction


def _uniform_integers(data: Bytes, starts: Ints, ends: Ints) -> tuple[Floats, Flags] | None:
    """Parse numbers of a few digits, as in most qrels; None if some are in another form."""
    lengths = ends - starts
    if int(lengths.min()) < 1 or int(lengths.max()) > 8:
        return None
    whole, wrong = _eight_digits(words(data), starts, lengths)
    return None if wrong.any() else (whole.astype(np.float64), wrong)

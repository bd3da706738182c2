"""Numbers, hashes and ids from raw bytes, held against Python's own."""

import random
import struct

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from heldout.data.ids import SHORT, Ids
from heldout.data.words import MOST_QUERIES, PADDING, hash_fields, parse_decimals, query_keys
from heldout.errors import InputError


def column(fields):
    """Lay fields out as a file does: one separator between them, padding behind."""
    lengths = np.array([len(one) for one in fields], np.int64)
    data = np.frombuffer(b" ".join(fields) + b"\n" * PADDING, np.uint8)
    starts = np.cumsum(lengths + 1) - lengths - 1
    return data, starts, starts + lengths


def parse(texts):
    values, hard = parse_decimals(*column([text.encode() for text in texts]))
    return values.tolist(), hard.tolist()


def assert_right_where_not_hard(texts):
    for text, value, hard in zip(texts, *parse(texts), strict=True):
        assert hard or struct.pack("<d", value) == struct.pack("<d", float(text)), text
        if sum(map(str.isdigit, text)) <= 15:
            assert not hard, f"{text} is left to the slow way"


@st.composite
def decimals(draw, least=1, most=25, places=None):
    """Decimals with a sign, and so many digits and places; None: any number of places."""
    text = draw(st.text("0123456789", min_size=least, max_size=most))
    dot = draw(st.none() | st.integers(0, len(text))) if places is None else len(text) - places
    if dot is not None:
        text = f"{text[:dot]}.{text[dot:]}"
    return draw(st.sampled_from(["", "", "+", "-"])) + text


@given(
    st.lists(decimals(), min_size=1)
    | st.lists(decimals(most=15), min_size=1)
    | st.lists(decimals(least=17, most=19), min_size=1)
    | st.lists(st.integers(0, 10**8 - 1).map(str), min_size=1)
    # Columns printed with one format take a short cut of their own.
    | st.integers(1, 7).flatmap(lambda n: st.lists(decimals(n + 1, n + 8, places=n), min_size=1))
)
@settings(max_examples=4 * settings.default.max_examples)
def test_decimals_are_read_as_python_reads_them(texts):
    assert_right_where_not_hard(texts)


def nearest_to_halfway(places, scale):
    """The decimal with so many places that lies nearest to the middle of two floats.

    Between 2**e and 2**(e + 1) floats are 2**(e - 52) apart, so m / 10**places is
    m * 2**scale / 5**places floats away from zero, with scale = 52 - e - places.
    """
    fives, least = 5**places, 2.0 ** (52 - scale - places) * 10**places
    for middle in ((fives - 1) // 2, (fives + 1) // 2):
        number = middle * pow(2**scale, -1, fives) % fives
        number += -(-(max(int(least), 2**53) - number) // fives) * fives
        if number < min(2 * least, 10**19):
            text = str(number).zfill(places + 1)
            yield f"{text[:-places]}.{text[-places:]}"


def test_the_decimals_nearest_to_halfway_between_two_floats_are_right_or_hard():
    spans = ((places, scale) for places in range(1, 20) for scale in range(64))
    texts = [text for span in spans for text in nearest_to_halfway(*span)]
    assert len(texts) > 200
    generator = random.Random(11)  # noqa: S311 - the same numbers every time
    for _ in range(2000):
        middle = ((generator.getrandbits(52) | 1 << 52) << 1) + 1
        texts += [str((middle << shift) + by) for shift in (0, 3, 8) for by in (-1, 0, 1)]
    assert_right_where_not_hard([text for text in texts if len(text) <= 20])


NO_DECIMALS = ["", "-", "+", ".", "-.", "+-5", "1e5", "1.2.3", "1..2", "12345678901234567890",
               "1.2345678901234567890"]  # fmt: skip


def test_anything_but_a_plain_decimal_is_left_to_the_slow_way():
    assert_right_where_not_hard(["-0.0", "0.0", "+0.0", "-0", "-.0"])
    for text in NO_DECIMALS:  # beside a plain field, because a whole column may be treated as one
        assert parse(["2.5", text, "2.5"])[1] == [False, True, False], text
    strange = sorted(set(range(0x21, 0x100)) - set(b"0123456789."))
    plain = [b"1234.56", *(b"9" * length for length in (1, 2, 7, 8, 9, 16, 17, 19))]
    for field in plain:  # every byte that is no digit, at every place
        fields = [
            field[:place] + bytes([byte]) + field[place + 1 :]
            for byte in strange
            for place in range(len(field))
            if field[place] in b"0123456789" and (place or byte not in b"+-")
        ]
        assert parse_decimals(*column(fields))[1].all(), field
    fields = [b"1234.56", *(b"1234.56".replace(b"3", bytes([byte])) for byte in [*strange, 46])]
    assert parse_decimals(*column(fields))[1].tolist() == [False] + [True] * (len(fields) - 1)
    # What stands around a field does not change it.
    data = np.frombuffer(b"99912.599" + b"9" * PADDING, np.uint8)
    values, hard = parse_decimals(data, np.array([3]), np.array([7]))
    assert (values.tolist(), hard.tolist()) == ([12.5], [False])


TEXT = st.text(st.characters(codec="utf-8", exclude_characters="\0"), min_size=1, max_size=20)


def hashes_in_text(ids):
    data, starts, ends = column([one.encode() for one in ids])
    return hash_fields(data, starts, ends - starts).tolist()


@given(st.lists(TEXT, min_size=1, max_size=20))
def test_an_id_has_one_hash_in_a_text_and_in_columns_of_any_kind(ids):
    # 20 characters of up to 4 bytes do not always fit into 64 bytes: both kinds come up.
    hashes = hashes_in_text(ids)
    assert Ids.of(ids).hashes(0, len(ids)).tolist() == hashes
    assert Ids.of([*ids, "x" * 65]).hashes(0, len(ids)).tolist() == hashes
    short = {one for one in ids if len(one.encode()) <= 8} | {
        f"{number:x}" for number in range(999)
    }
    assert len(set(hashes_in_text(sorted(short)))) == len(short)  # up to eight bytes: always


def test_more_queries_than_keys_have_bits_for_are_refused():
    hashes = np.zeros(2, np.uint64)
    assert len(set(query_keys(hashes, np.array([0, MOST_QUERIES - 1])).tolist())) == 2
    with pytest.raises(InputError, match="more than 16,777,216 queries: evaluate them in several"):
        query_keys(hashes, np.array([0, MOST_QUERIES]))


# Few characters, so that ids share beginnings and differ late; one to four bytes each.
NEAR = st.text("ab~é€😀", min_size=1, max_size=24)
LONG = "x" * (SHORT + 1)
IDS = st.lists(NEAR | TEXT, min_size=1, max_size=12)


def sign(left, right):
    return (left.encode() > right.encode()) - (left.encode() < right.encode())


@pytest.mark.parametrize("extra", [[], [LONG]], ids=["short", "long"])
@given(ids=IDS, descending=st.booleans(), data=st.data())
def test_ids_come_back_and_are_ordered_bytewise(extra, ids, descending, data):
    ids = [*(one for one in ids if len(one.encode()) <= SHORT), "z", *extra]
    made = Ids.of(ids)
    assert made.tolist() == [made[row] for row in range(len(made))] == ids
    rows, others = (grid.ravel() for grid in np.indices((len(ids), len(ids))))
    expected = [sign(ids[a], ids[b]) for a, b in zip(rows, others, strict=True)]
    assert made.compare(rows, others).tolist() == expected
    # By group, and then by bytes.
    count = data.draw(st.integers(0, len(ids)))
    rows = np.array(sorted(data.draw(st.permutations(range(len(ids))))[:count]), np.int64)
    groups = sorted(data.draw(st.lists(st.integers(0, 2), min_size=count, max_size=count)))
    ordered = made.order(rows, np.array(groups, np.int64), descending=descending)
    by_id = sorted(zip(rows, groups, strict=True), key=lambda one: ids[one[0]].encode())
    if descending:
        by_id.reverse()
    by_group = [ids[row] for row, _ in sorted(by_id, key=lambda one: one[1])]
    assert [ids[row] for row in ordered] == made.take(ordered).tolist() == by_group
    assert sorted(ordered.tolist()) == rows.tolist()


@given(IDS, IDS, st.booleans(), st.booleans())
def test_sameness_does_not_depend_on_how_wide_the_columns_are(left, right, long_left, long_right):
    one = Ids.of(left + [LONG] * long_left)
    two = Ids.of(right + left + [LONG] * long_right)
    rows, others = (grid.ravel() for grid in np.indices((len(one), len(two))))
    expected = [mine == other for mine in one.tolist() for other in two.tolist()]
    assert one.same(rows, two, others).tolist() == expected


def test_zero_bytes_are_refused():
    # Zeros fill the unused bytes of a word, so "a" and "a\0" would be the same id.
    for ids in (["a", "b\0c"], ["a\0"], [LONG + "\0"]):
        with pytest.raises(InputError, match="zero byte"):
            Ids.of(ids)
    assert len(Ids.of(["12345678"]).words) == 1
    assert Ids.of([301, 302]).tolist() == ["301", "302"]

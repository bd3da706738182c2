"""Columns of ids against Python's own comparison of bytes."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from heldout.data.ids import SHORT, Ids
from heldout.errors import InputError

# Few characters, so that ids share beginnings and differ late; one to four bytes each.
NEAR = st.text("ab~é€😀", min_size=1, max_size=24)
ANY = st.text(st.characters(codec="utf-8", exclude_characters="\0"), min_size=1, max_size=16)
IDS = st.lists(NEAR | ANY, min_size=1, max_size=12)
LONG = "x" * (SHORT + 1)


def fits(text):
    return len(text.encode()) <= SHORT


def sign(left, right):
    return (left.encode() > right.encode()) - (left.encode() < right.encode())


@pytest.mark.parametrize("extra", [[], [LONG]], ids=["short", "long"])
@given(ids=IDS)
def test_comparison_is_bytewise(extra, ids):
    ids = [*filter(fits, ids), "z", *extra]
    rows, others = (grid.ravel() for grid in np.indices((len(ids), len(ids))))
    expected = [sign(ids[a], ids[b]) for a, b in zip(rows, others, strict=True)]
    assert Ids.of(ids).compare(rows, others).tolist() == expected


@pytest.mark.parametrize("extra", [[], [LONG]], ids=["short", "long"])
@given(ids=IDS, descending=st.booleans(), data=st.data())
def test_order_is_by_group_and_then_bytewise(extra, ids, descending, data):
    ids = [*filter(fits, ids), "z", *extra]
    count = data.draw(st.integers(0, len(ids)))
    rows = sorted(data.draw(st.permutations(range(len(ids))))[:count])
    groups = sorted(data.draw(st.lists(st.integers(0, 2), min_size=count, max_size=count)))
    ordered = Ids.of(ids).order(
        np.array(rows, np.int64), np.array(groups, np.int64), descending=descending
    )
    by_id = sorted(zip(rows, groups, strict=True), key=lambda one: ids[one[0]].encode())
    if descending:
        by_id.reverse()
    by_group = sorted(by_id, key=lambda one: one[1])
    assert [ids[row] for row in ordered] == [ids[row] for row, _ in by_group]
    assert sorted(ordered.tolist()) == rows


@given(ids=st.lists(NEAR | ANY | st.just(LONG), min_size=1, max_size=12), data=st.data())
def test_ids_come_back_as_they_went_in(ids, data):
    ids_column = Ids.of(ids)
    assert ids_column.tolist() == ids
    assert [ids_column[row] for row in range(len(ids_column))] == ids
    rows = data.draw(st.lists(st.integers(0, len(ids) - 1)))
    assert ids_column.take(np.array(rows, np.int64)).tolist() == [ids[row] for row in rows]


@given(IDS, IDS, st.booleans(), st.booleans())
def test_sameness_does_not_depend_on_how_wide_the_columns_are(left, right, long_left, long_right):
    right = right + left
    one = Ids.of(left + [LONG] * long_left)
    two = Ids.of(right + [LONG] * long_right)
    rows, others = (grid.ravel() for grid in np.indices((len(one), len(two))))
    expected = [mine == other for mine in one.tolist() for other in two.tolist()]
    assert one.same(rows, two, others).tolist() == expected


def test_a_narrow_id_is_not_the_same_as_a_longer_one_that_begins_with_it():
    one, two = Ids.of(["12345678"]), Ids.of(["123456789", "12345678"])
    assert (len(one.words), len(two.words)) == (1, 2)
    assert one.same(np.array([0, 0]), two, np.array([0, 1])).tolist() == [False, True]


@pytest.mark.parametrize("ids", [["a", "b\0c"], ["a\0"], [LONG + "\0"]])
def test_a_zero_byte_is_refused(ids):
    # Zeros fill the unused bytes of a word, so "a" and "a\0" would be the same id.
    with pytest.raises(InputError, match="zero byte"):
        Ids.of(ids)


def test_numbers_are_ids_too():
    assert Ids.of([301, 302]).tolist() == ["301", "302"]

"""The description of splits: counted by hand, and warned about what is odd."""

from dataclasses import replace

import numpy as np
import pytest
from sklearn.model_selection import ShuffleSplit

from heldout import (
    Bootstrap,
    Collection,
    GivenFolds,
    HoldOut,
    KFold,
    LeaveOneOut,
    cross,
    from_sklearn,
)
from heldout.resample.describe import overlaps
from heldout.resample.plan import ResamplingWarning
from heldout.resample.split import Split, SplitKey

# q1: a b c d are relevant, e is not; q2: a and e are; q3: nothing is.
WHOLE = Collection(
    {one: f"text {one}" for one in "abcdef"},
    {"q1": "one", "q2": "two", "q3": "three"},
    {"q1": {"a": 1, "b": 2, "c": 1, "d": 1, "e": 0}, "q2": {"a": 1, "e": 1}, "q3": {"a": 0}},
)
FOLDS = GivenFolds({"a": 0, "b": 0, "e": 0, "c": 1, "d": 1, "f": 2})
QUERIES = GivenFolds({"q1": 0, "q2": 1, "q3": 1})


def test_document_folds_in_numbers():
    found = FOLDS.splits(WHOLE, "document").describe()
    # Fold 0 holds out a, b, e: two for q1, two for q2; nothing of q2 is left to see. Fold 1 holds
    # out c and d: two for q1, none for q2. q3 has no relevant document anywhere and does not count.
    expected = {
        "key": ["r0/f0", "r0/f1", "r0/f2"],
        "train": [3, 4, 5],
        "test": [3, 2, 1],
        "relevant_least": [2, 0, 0],
        "relevant_median": [2, 1, 0],
        "relevant_most": [2, 2, 0],
        "without_test": [0, 1, 2],
        "without_train": [1, 0, 0],
        "pro10": [0.2, 0.1, 0],
    }
    assert found.to_frame().to_dict(as_series=False) == expected
    assert {note.code: note.count for note in found.notes} == {"empty-test": 2, "empty-train": 1}
    assert "use 5 folds stratified by relevance" in str(found)
    assert found.overlapping == found.never_held_out == found.often_held_out == 0
    assert (found.units, found.count, found.unit) == (6, 3, "document")
    lines = str(found).splitlines()
    heading = "split  train  test  relevant: min  median  max  none: test  train  Pro10"
    assert lines[2] == heading
    assert lines[3].split() == ["r0/f0", "3", "3", "2", "2", "2", "0", "1", "0.20"]
    assert "no unit is on both sides" in str(found)


def test_more_than_ten_relevant_documents_count_as_ten():
    texts = {f"d{n}": f"text {n}" for n in range(16)}
    qrels = {"q": {f"d{n}": 1 for n in range(15)}, "p": {"d0": 1, "d15": 1}}
    many = Collection(texts, {"q": "text", "p": "text"}, qrels)
    folds = {one: int(one == "d15") for one in texts}
    row = GivenFolds(folds).splits(many, "document").describe().rows[0]
    assert row.relevant_most == 15
    assert row.pro10 == pytest.approx((1.0 + 0.1) / 2)


def test_queries_and_two_way_splits_in_numbers():
    found = QUERIES.splits(WHOLE).describe()
    assert [row.relevant_most for row in found.rows] == [4, 2]
    assert found.rows[0].pro10 == 0.4
    assert not found.notes
    assert KFold(2).splits(list("abc")).describe().to_frame().columns == ["key", "train", "test"]
    found = cross(QUERIES, FOLDS).splits(WHOLE).describe()
    # Held out: q1 over a, b, e; seen: q2 and q3 over c, d, f, of which none is relevant to q2.
    row = found.rows[0]
    assert (row.key, row.documents_train, row.documents_test) == ("r0/f0/d0", 3, 3)
    assert (row.relevant_most, row.without_train) == (2, 1)
    assert found.often_held_out == 0


@pytest.mark.parametrize("side", ["train", "test"])
def test_drawn_documents_count_as_often_as_they_were_drawn(side):
    splits = Bootstrap(9, side=side).splits(WHOLE, "document")
    for split, row in zip(splits, splits.describe().rows, strict=True):
        assert (row.train, row.test) == (split.train.sum(), split.test.sum())
        assert row.relevant_most == max(split.test[:4].sum(), split.test[[0, 4]].sum())
        assert row.relevant_least == min(split.test[:4].sum(), split.test[[0, 4]].sum())


def test_units_that_are_never_or_often_held_out_are_counted():
    assert HoldOut(0.5).splits(6, "instance").describe().never_held_out == 3
    drawn = HoldOut(0.5, repeats=2).splits(20, "instance")
    times = sum(split.test for split in drawn)
    assert drawn.describe().never_held_out == (times == 0).sum() < 10
    of_one_repeat = from_sklearn(ShuffleSplit(2, test_size=0.5, random_state=1)).splits(
        20, "instance"
    )
    times = sum(split.test for split in of_one_repeat)
    assert of_one_repeat.describe().often_held_out == (times == 2).sum() > 0
    assert replace(KFold(2).splits(6, "instance"), runs=3).describe().often_held_out == 0
    theirs = GivenFolds({"a": 1, "b": 2, "c": 1}, strict=False).splits(["a", "b", "c", "d"])
    assert theirs.describe().never_held_out == 1
    inner = KFold(2).splits(12, "instance")[0].inner(KFold(3)).describe()
    assert (inner.units, inner.count, inner.never_held_out) == (6, 3, 0)


def test_a_unit_on_two_sides_is_seen():
    units = KFold(2).splits(3, "instance").units
    sides = (np.array(one, np.int32) for one in ([1, 1, 0], [0, 1, 1]))
    assert overlaps(Split(SplitKey(0, 0), units, *sides))
    assert not overlaps(KFold(2).splits(3, "instance")[0])


def test_the_same_text_on_both_sides_is_pointed_out():
    texts = {"a": "Same text", "b": "same  text", "c": "other", "d": "more"}
    twins = Collection(texts, {"q1": "x", "q2": "X", "q3": "y"}, {"q1": {"a": 1}})
    (note,) = QUERIES.splits(twins).describe().notes
    assert note.code == "twins"
    assert "q1, q2" in note.text
    assert not KFold(2, groups="duplicates").splits(twins).describe().notes
    with pytest.warns(ResamplingWarning, match=r"2 of 4 documents \(50.0 %: a, b\)"):
        documents = GivenFolds({"a": 0, "b": 1, "c": 0, "d": 1}).splits(twins, "document")
    assert "twins" in [note.code for note in documents.describe(twins).notes]


def test_advice_goes_by_size_and_long_tables_are_cut():
    for units, plan in ((10, "leave-one-out"), (225, "10 stratified"), (100_000, "a fifth")):
        advice = KFold(2).splits(units, "instance").describe().advice
        assert plan in advice
        assert ("always wrong" in advice) is (units == 10)
    assert "… and 1,480 more" in str(LeaveOneOut().splits(1500, "instance").describe())

"""Fold invariants of every plan, and the folds of a seed as they were frozen."""

from contextlib import nullcontext
from dataclasses import replace

import numpy as np
import pytest
import resample_checks as check
from hypothesis import assume, given
from hypothesis import strategies as st

from heldout import (
    Bootstrap,
    Chronological,
    Collection,
    GivenFolds,
    HoldOut,
    InputError,
    KFold,
    LeaveOneOut,
    TestSet,
    cross,
)
from heldout.resample.assign import even_sizes
from heldout.resample.hashing import random_order, seed_word
from heldout.resample.plan import ResamplingWarning
from heldout.resample.split import SplitKey
from heldout.resample.units import PlanError


def ids(least=2, most=40):
    return st.lists(
        st.text(st.characters(codec="utf-8", exclude_characters="\0"), min_size=1, max_size=12),
        min_size=least,
        max_size=most,
        unique_by=str.strip,  # white space around an id is not part of it
    )


def numbers(most, least=4):
    return st.lists(st.integers(0, most), min_size=least, max_size=60)


@given(ids(), st.data())
def test_k_fold(names, data):
    k = data.draw(st.integers(2, len(names)))
    repeats = data.draw(st.integers(1, 3))
    splits = KFold(k, repeats=repeats, seed=data.draw(st.integers(0, 2**40))).splits(names)
    assert len(splits) == k * repeats
    check.disjoint(splits)
    check.covering(splits)
    check.held_out_once(splits)
    check.even(splits)
    assert sorted(split.n_test for split in splits[:k]) == sorted(even_sizes(len(names), k))


@given(numbers(4), st.data())
def test_stratified_k_fold(labels, data):
    k = data.draw(st.integers(2, len(labels) - 1))
    plan = KFold(k, stratify="labels", repeats=2, seed=data.draw(st.integers(0, 99)))
    few = min(labels.count(one) for one in set(labels)) < k
    with pytest.warns(ResamplingWarning, match="missing in some folds") if few else nullcontext():
        splits = plan.splits(len(labels), "instance", labels=labels)
    check.held_out_once(splits)
    check.disjoint(splits)
    check.even(splits)
    check.strata_even(splits, labels)
    assert bool(splits.notes) is few


@given(st.lists(st.tuples(st.integers(0, 9), st.integers(0, 2)), min_size=6, max_size=60))
def test_groups_are_kept(rows):
    groups, labels = zip(*rows, strict=True)
    largest, most = max(map(groups.count, groups)), round(0.4 * len(rows))
    assume(len(set(groups)) >= 3 and min(map(labels.count, labels)) >= 3)
    for plan in (
        KFold(3, groups=groups),
        KFold(3, groups=groups, stratify="labels"),
        HoldOut(0.4, 0.3, groups=groups, repeats=3),
        LeaveOneOut(groups),
    ):
        if isinstance(plan, HoldOut) and min(map(groups.count, groups)) > most:
            continue  # refused: no group is small enough
        splits = plan.splits(len(rows), "instance", labels=labels)
        check.covering(splits)
        check.groups_intact(splits, groups)
        assert all(split.n_test for split in splits)
        if isinstance(plan, HoldOut):
            assert all(split.n_test <= most for split in splits)
        else:
            check.held_out_once(splits)
    # Largest first into the lightest: no fold is heavier by more than a group.
    check.even(KFold(3, groups=groups).splits(len(rows), "instance"), by=largest)


@given(numbers(3, least=5), st.data())
def test_hold_out_with_and_without_strata(labels, data):
    size = len(labels)
    test = data.draw(st.integers(1, size - 2))
    validation = data.draw(st.integers(0, size - 1 - test))
    for stratify in (None, "labels"):
        plan = HoldOut(test, validation, repeats=3, stratify=stratify)
        splits = plan.splits(size, "instance", labels=labels)
        check.disjoint(splits)
        check.covering(splits)
        for split in splits:
            assert (split.n_train, split.n_test) == (size - test - validation, test)
            assert (split.validation is None) is (validation == 0)
            if stratify:
                check.strata_in_proportion(split, labels)


@given(ids(), st.sampled_from(["train", "test"]), st.integers(0, 99))
def test_bootstrap_and_leave_one_out(names, side, seed):
    splits = LeaveOneOut().splits(names)
    assert len(splits) == len(names)
    check.held_out_once(splits)
    check.covering(splits)
    splits = Bootstrap(5, side=side, seed=seed).splits(names)
    check.drawn_n_times(splits, side)
    check.disjoint(splits)
    check.covering(splits)
    assert all(split.n_train and split.n_test for split in splits)


def test_share_of_units_that_a_bootstrap_never_draws():
    for n in (10, 100, 1000):
        check.share_never_drawn(Bootstrap(400).splits(n, "instance"))


@given(ids(5), st.integers(0, 99))
def test_order_of_units_does_not_matter(names, seed):
    labels = {name: n % 2 for n, name in enumerate(names)}
    groups = {name: min(n // 2, 2) for n, name in enumerate(names)}
    for plan in (
        KFold(3, repeats=2, seed=seed),
        KFold(2, stratify=labels, seed=seed),
        KFold(2, groups=groups, seed=seed),
        KFold(2, stratify=labels, groups=groups, seed=seed),
        HoldOut(0.3, 0.2, repeats=2, seed=seed),
        HoldOut(0.4, stratify=labels, seed=seed),
        HoldOut(0.5, groups=groups, seed=seed),
        LeaveOneOut(),
        Bootstrap(3, seed=seed),
        Bootstrap(3, side="test", groups=groups, seed=seed),
    ):
        check.same_for_any_order(plan, names)


NAMES = [f"q{n}" for n in range(24)]
KINDS = {name: n * n % 7 for n, name in enumerate(NAMES)}
LENGTHS = {name: n * n / 4 for n, name in enumerate(NAMES)}
GROUPS = {name: n // (2 + n % 3) for n, name in enumerate(NAMES)}
SMALL = Collection(
    {f"d{n:02}": "word " * (n + 1) for n in range(30)},
    {name: f"query {n}" for n, name in enumerate(NAMES)},
    {
        name: {f"d{(5 * n + m) % 30:02}": m for m in range(2 + n % 4)}
        for n, name in enumerate(NAMES)
    },
)
# Written down when the rules were made: the same folds on any day and any machine.

FROZEN = [
    (KFold(3), "query", "eb3ee85d7ebe"),
    (KFold(5, repeats=2, seed=7), "document", "cf62207d3a96"),
    (KFold(4, stratify=KINDS), "query", "203823fdf75b"),
    (KFold(4, stratify=LENGTHS), "query", "efbbe59fa5cc"),
    (HoldOut(0.3, 0.2, stratify=KINDS, groups=GROUPS), "query", "e6a3895f8f9f"),
    (KFold(4, groups=GROUPS), "query", "428099d97e83"),
    (KFold(4, stratify=KINDS, groups=GROUPS), "query", "c2315d79ddb8"),
    (KFold(4, stratify="relevance"), "document", "2f8c2773018c"),
    (KFold(4, stratify="relevance"), "query", "3939fcd112a5"),
    (KFold(3, stratify="length"), "document", "9d7889444dbf"),
    (LeaveOneOut(), "query", "8040acc8895d"),
    (HoldOut(0.25, 0.25, repeats=2), "query", "5cc7a5e355f9"),
    (HoldOut(5, 2, repeats=2, stratify=KINDS, seed=3), "query", "d89d33762233"),
    (HoldOut(0.2, 0.2, groups=GROUPS), "query", "61dc1f3b9790"),
    (HoldOut(0.2, 0.3, stratify="relevance"), "document", "710deb648d38"),
    (Bootstrap(300), "query", "fdf14d4ccf2c"),
    (Bootstrap(3, side="test", groups=GROUPS, seed=2), "query", "15cb537821cd"),
]


def test_folds_of_a_seed_are_frozen():
    for plan, unit, digest in FROZEN:
        assert plan.splits(SMALL, unit).fingerprint[:12] == digest, (plan, unit)
    inner = KFold(3).splits(SMALL)[1].inner(KFold(2))
    assert inner.fingerprint[:12] == "f0192f07ac99"
    both = cross(KFold(2), KFold(3)).splits(SMALL)
    assert both.fingerprint[:12] == "49d0c8403174"
    folds = KFold(3).splits([f"q{n}" for n in range(12)]).folds()
    assert folds.tolist() == [1, 0, 0, 2, 1, 2, 0, 2, 1, 2, 1, 0]


def test_seed_repeat_and_unit_change_the_folds():
    names = [str(n) for n in range(200)]
    found = [
        KFold(5, repeats=2, seed=seed).splits(names, unit).folds(repeat)
        for seed in (0, 1)
        for repeat in (0, 1)
        for unit in ("query", "document")
    ]
    for at, one in enumerate(found):
        for other in found[:at]:
            # By chance two units of five share a fold in a fifth of the cases: 40 ± 5.7 of 200.
            assert 10 < (one == other).sum() < 75


def test_ids_with_one_hash_are_told_apart_by_name():
    keys = np.array([5, 5, 9, 5], np.uint64)
    names = ["b", "a", "c", "d"]
    order = random_order(keys, names, seed_word(1)).tolist()
    assert [names[at] for at in order if names[at] != "c"] == ["a", "b", "d"]


def test_a_share_is_rounded_to_the_nearest_number_of_units():
    for share, size, held in ((0.2, 9, 2), (0.25, 11, 3), (1 / 3, 10, 3), (0.35, 13, 5), (3, 9, 3)):
        split = HoldOut(share, share).splits(size, "instance")[0]
        assert (split.n_test, split.validation.sum()) == (held, held)
        (later,) = Chronological(range(size), test=share).splits(size, "instance")
        assert later.rows("test").tolist() == list(range(size - held, size))


def test_a_larger_hold_out_has_the_smaller_one_in_it():
    small, large = (HoldOut(share).splits(100, "instance")[0].test for share in (0.1, 0.3))
    assert (large[small > 0] == 1).all()


def test_splits_are_a_sequence_with_named_keys():
    splits = KFold(2, repeats=2).splits(9, "instance")
    assert [str(split.key) for split in splits] == ["r0/f0", "r0/f1", "r1/f0", "r1/f1"]
    assert [split.key for split in splits[1:3]] == [SplitKey(0, 1), SplitKey(1, 0)]
    assert splits[-1].key == splits[3].key
    with pytest.raises(IndexError):
        splits[4]
    with pytest.raises(PlanError, match="has repeats 0 to 1"):
        splits.folds(2)
    with pytest.raises(PlanError, match="does not assign every unit to one fold"):
        Bootstrap(2).splits(9, "instance").folds()
    with pytest.raises(ValueError, match="read-only"):
        splits[0].train[0] = 5
    runs = replace(KFold(2).splits(9, "instance"), runs=2)
    assert [str(split.key) for split in runs] == ["r0/f0/s0", "r0/f0/s1", "r0/f1/s0", "r0/f1/s1"]
    assert (runs[0].test == runs[1].test).all()
    assert (runs.folds() == splits.folds()).all()


def test_fingerprint_tells_ids_folds_and_unit_apart():
    names = ["a", "b", "c", "d"]
    plain = KFold(2).splits(names)
    same = GivenFolds(dict(zip(names, plain.folds().tolist(), strict=True))).splits(names)
    assert same.fingerprint == plain.fingerprint
    other = [
        KFold(2, seed=3).splits(names),
        KFold(3).splits(names),
        KFold(2, repeats=2).splits(names),
        KFold(2).splits(names, "document"),
        KFold(2).splits([*names[:3], "e"]),
        HoldOut(0.5).splits(names),
        Bootstrap(1).splits(names),
        Bootstrap(1, side="test").splits(names),
        replace(plain, runs=2),
    ]
    assert len({one.fingerprint for one in [plain, *other]}) == 10


def test_a_test_set_is_held_out(tmp_path):
    (tmp_path / "ids").write_text("# held out\nb\n\nd\n")
    for given_ids in (["b", "d"], tmp_path / "ids"):
        split = TestSet(given_ids).splits(["a", "b", "c", "d"])[0]
        assert (split.test.tolist(), split.train.tolist()) == ([0, 1, 0, 1], [1, 0, 1, 0])
    (tmp_path / "none").write_text("# nothing\n")
    with pytest.raises(InputError, match="no ids"):
        TestSet(tmp_path / "none")


def test_later_units_are_held_out_and_ties_stay_together():
    times = {"a": "2020-01-02", "b": "2021-05-01", "c": "2021-05-01", "d": "2020-12-31"}
    # As numbers, 9 is before 10, although "9" is behind "10" as a text.
    counts = dict(zip("abc", ["9", "10", "8"], strict=True))
    for order, how, held in (
        (times, {"test": 1}, [0, 1, 1, 0]),
        (times, {"test": 3}, [0, 1, 1, 1]),
        (times, {"cut": "2020-12-31"}, [0, 1, 1, 1]),
        (counts, {"test": 1}, [0, 1, 0]),
        (counts, {"test": 0.67}, [1, 1, 0]),
        (counts, {"cut": 9}, [1, 1, 0]),
    ):
        (split,) = Chronological(order, **how).splits(order)
        assert split.test.tolist() == held, (order, how)
        assert (split.train + split.test == 1).all()

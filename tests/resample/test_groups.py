"""Documents that belong together: equal and almost equal texts, and what plans make of them."""

import re

import numpy as np
import pytest
import resample_checks as check
from hypothesis import given
from hypothesis import strategies as st

from heldout import Bootstrap, Collection, GivenFolds, HoldOut, KFold, LeaveOneOut, cross
from heldout.data.documents import documents_of
from heldout.resample.groups import equal_rows, grouped_places, joined
from heldout.resample.near_duplicates import ALIKE, near_duplicates
from heldout.resample.plan import ResamplingWarning

COPIES = {"a": "Same text", "b": "same  TEXT\n", "c": "other", "d": "more", "e": "", "f": " "}


def collection_of(texts):
    return Collection(texts, {"q": "x", "p": "y"}, {"q": {next(iter(texts)): 1}})


def numbered(values):
    numbers = {}
    return [numbers.setdefault(one, len(numbers)) for one in values]


def random_words(random, count, first=0):
    return [f"w{number}" for number in random.integers(first, first + 100_000, count)]


def changed(words, share, random):
    """The words as a text, a share of them replaced by others."""
    found = list(words)
    for place in random.choice(len(words), round(share * len(words)), replace=False):
        found[place] = f"x{random.integers(1 << 40)}"
    return " ".join(found)


def jaccard(one, other):
    def shingles(text):
        words = re.findall(r"\w+", text.lower())
        return {tuple(words[at : at + 5]) for at in range(max(len(words) - 4, 1))}

    mine, yours = shingles(one), shingles(other)
    return len(mine & yours) / len(mine | yours)


# Hashes of texts.


def check_hashes(texts):
    """Texts that differ in case and blanks alone have one hash; that of nothing is zero."""
    hashes = documents_of(texts).text_hashes
    keys = [" ".join(text.casefold().split()) for text in texts]
    named = [key or f"empty {place}" for place, key in enumerate(keys)]
    assert equal_rows(hashes).tolist() == numbered(named)
    assert [row == [0, 0] for row in hashes.tolist()] == [not key for key in keys]


LETTERS = st.sampled_from("aAbB \t\n\x1cÄäßẞ\u3000漢\U0001d538")


@given(st.lists(st.text(LETTERS, max_size=20), min_size=1))
def test_hashes_are_equal_for_texts_that_differ_in_case_and_blanks_alone(texts):
    check_hashes(texts)


def test_hashes_ignore_case_and_blanks_at_all_places_of_eight_bytes():
    between = [" ", "  ", "\t ", "\x1c", "", *"AaZz@`[{\x1bÄä"]
    for at in range(24):
        check_hashes([f"{'x' * at}{middle}{'y' * 20}" for middle in between])


# Groups in plans.


def test_documents_with_the_same_text_are_in_one_fold_by_default():
    found = collection_of(COPIES)
    for seed in range(8):
        with pytest.warns(ResamplingWarning, match="near-duplicates") as said:
            splits = KFold(2, seed=seed).splits(found, "document")
        assert [one.message.note.code for one in said] == ["duplicates"]
        check.groups_intact(splits, [1, 1, 2, 3, 4, 5])
        check.held_out_once(splits)
        check.even(splits)
        assert splits.groups.tolist() == [0, 0, 1, 2, 3, 4]
    asked = KFold(2, groups="duplicates").splits(found, "document")
    assert [(note.code, note.severity) for note in asked.notes] == [("duplicates", "info")]


def test_queries_with_the_same_text_are_grouped_only_if_somebody_says_so():
    found = Collection({"a": "text"}, {"q": "x y", "p": "X  y", "r": "z"}, {"q": {"a": 1}})
    assert KFold(2).splits(found).groups is None
    for seed in range(5):
        check.groups_intact(KFold(2, groups="duplicates", seed=seed).splits(found), [1, 1, 2])


def test_few_duplicates_are_an_info_and_many_a_warning():
    texts = {f"d{n}": f"text {max(n, 1)}" for n in range(250)}  # two are equal
    (note,) = KFold(2).splits(collection_of(texts), "document").notes
    assert (note.severity, note.count) == ("info", 2)
    with pytest.warns(ResamplingWarning):
        splits = KFold(2).splits(collection_of(dict(list(texts.items())[:200])), "document")
    assert [(note.severity, note.count) for note in splits.notes] == [("warning", 2)]


def test_without_groups_duplicates_are_apart_and_a_warning_says_so():
    found = collection_of({f"{name}{n}": f"text {n}" for n in range(20) for name in "ab"})
    with pytest.warns(ResamplingWarning, match="held-out text is also in the training data"):
        splits = KFold(4, groups="none").splits(found, "document")
    assert splits.groups is None
    (note,) = splits.notes
    fold = dict(zip(splits.ids, splits.folds().tolist(), strict=True))
    apart = sum(fold[f"a{n}"] != fold[f"b{n}"] for n in range(20))
    assert (note.code, note.count) == ("twins", 2 * apart)


def test_a_plan_that_cannot_keep_them_together_warns_and_knows_the_groups():
    found = collection_of(COPIES)
    apart = dict(zip(COPIES, (0, 1, 1, 0, 0, 1), strict=True))
    with pytest.warns(ResamplingWarning, match="2 of 6 documents"):
        splits = GivenFolds(apart).splits(found, "document")
    assert splits.groups.tolist() == [0, 0, 1, 2, 3, 4]
    with pytest.warns(ResamplingWarning, match="are kept together"):
        GivenFolds(apart | {"b": 0}).splits(found, "document")


def test_groups_of_a_user_are_joined_where_texts_are_equal():
    texts = {"a": "x", "b": "y", "c": "X", "d": "z", "e": "v", "f": "w"}
    own = {"a": "g1", "b": "g1", "c": "g2", "d": "g2", "e": "g3", "f": "g4"}
    splits = KFold(2, groups=own).splits(collection_of(texts), "document")
    assert splits.groups.tolist() == [0, 0, 0, 0, 1, 2]
    check.groups_intact(splits, [1, 1, 1, 1, 2, 3])
    # Without equal texts their folds are what they are for ids alone.
    plain = {name: f"text {name}" for name in texts}
    ours = KFold(2, groups=own).splits(collection_of(plain), "document").folds()
    assert (ours == KFold(2, groups=own).splits(list(texts), "document").folds()).all()


def test_every_plan_treats_a_group_as_one_unit():
    found = collection_of({f"d{n:02}": f"text {n // 3}" for n in range(60)})
    groups = [n // 3 for n in range(60)]
    for plan in (
        KFold(4, groups="duplicates"),
        KFold(4, groups="duplicates", stratify="relevance"),
        HoldOut(0.3, groups="duplicates", repeats=3),
        LeaveOneOut("duplicates"),
        Bootstrap(5, groups="duplicates"),
    ):
        splits = plan.splits(found, "document")
        check.groups_intact(splits, groups)
        check.disjoint(splits)
        for split in splits:  # also how often each is there
            assert (np.diff(split.train.reshape(20, 3)) == 0).all()
            inner = split.inner(KFold(2))
            check.groups_intact(inner, groups)
            assert not inner.notes
    drawn = Bootstrap(5, groups="duplicates").splits(found, "document")
    assert {split.n_train for split in drawn} == {60}
    assert drawn[0].train.max() > 1
    both = cross(KFold(2), KFold(4, groups="duplicates")).splits(found)
    check.groups_intact(both.crossed[1], groups)
    # Folds are as even as groups allow: the largest are placed first.
    texts = {f"d{n:03}": f"text {n if n > 60 else n // 10}" for n in range(300)}
    splits = KFold(5, groups="duplicates").splits(collection_of(texts), "document")
    assert np.bincount(splits.folds()).tolist() == [60] * 5


@st.composite
def two_groupings(draw):
    n = draw(st.integers(1, 12))
    codes = st.lists(st.integers(0, n), min_size=n, max_size=n).map(numbered).map(np.array)
    return draw(codes), draw(codes)


@given(two_groupings())
def test_joined_groups_are_the_connected_ones(pair):
    found = joined(*pair)
    known = np.arange(len(found))  # the slow way: spread the least number until nothing changes
    for _ in range(len(known)):
        for codes in pair:
            for group in set(codes.tolist()):
                known[codes == group] = known[codes == group].min()
    assert found.tolist() == numbered(known.tolist())


@given(st.lists(st.integers(0, 5), min_size=1, max_size=20), st.randoms())
def test_grouped_places_put_groups_side_by_side(codes, random):
    codes = np.array(numbered(codes))
    order = np.arange(len(codes))
    random.shuffle(order)
    places = grouped_places(order, codes)
    taken = sorted(set(zip(places.tolist(), codes.tolist(), strict=True)))
    sizes = [int((codes == group).sum()) for _, group in taken]
    assert [place for place, _ in taken] == np.cumsum([0, *sizes])[:-1].tolist()


# Near-duplicates.


def test_near_duplicates_are_those_of_brute_force_and_in_one_fold():
    random = np.random.default_rng(6)
    texts = []
    for number in range(40):
        words = random_words(random, 150, first=1000 * number)
        texts.append(" ".join(words))
        if number % 2:
            texts.append(changed(words, 0.14, random))  # a similarity of about .3
        if number % 4 == 3:  # of about .03
            texts.append(changed(words, 0.4, random))
    found = near_duplicates(documents_of(texts))
    turned = near_duplicates(documents_of(texts[::-1]))
    assert numbered(turned[::-1].tolist()) == found.tolist()  # their order does not matter
    alike = [[jaccard(one, other) >= ALIKE for other in texts] for one in texts]
    assert [[a == b for b in found] for a in found] == alike
    named = {f"d{number}": text for number, text in enumerate(texts)}
    splits = KFold(4, groups="near-duplicates").splits(collection_of(named), "document")
    assert splits.groups.tolist() == found.tolist()
    check.groups_intact(splits, found)
    (note,) = splits.notes
    assert (note.code, note.severity, note.count) == ("duplicates", "info", 40)
    assert "20 groups is kept together, the largest has 2" in note.text


def test_what_counts_as_words():
    today = "今日は良い天気です散歩に行き"
    for one, other, alike in (
        ("a b c", "A, b; C!", True),  # fewer than five words: all of them
        ("a b c", "a b d", False),
        ("", "", False),  # nothing is like nothing
        ("-- !", "-- !", False),
        ("Ärger im Büro ist groß und schön", "ärger — im büro ist groß und “schön”", True),
        (f"{today}ましょう", f"{today}ます", True),
        (f"{today}ましょう", "昨日から雨が降り続いていて寒い一日だった", False),
    ):
        groups = near_duplicates(documents_of([one, other]))
        assert (groups[0] == groups[1]) == alike, (one, other)


def test_thousands_with_the_same_header_do_not_take_forever():
    header = " ".join(f"header{n}" for n in range(40))
    random = np.random.default_rng(8)
    texts = [f"{header} {' '.join(random_words(random, 10))}" for _ in range(3000)]
    groups = near_duplicates(documents_of([*texts, "an other text that has not this header"]))
    assert groups[:-1].max() == 0
    assert groups[-1] == 1

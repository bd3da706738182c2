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
from heldout.resample.near_duplicates import ALIKE, ORDERS, near_duplicates, signatures
from heldout.resample.plan import ResamplingWarning

COPIES = {"a": "Same text", "b": "same  TEXT\n", "c": "other", "d": "more", "e": "", "f": " "}


def collection_of(texts):
    return Collection(texts, {"q": "x", "p": "y"}, {"q": {next(iter(texts)): 1}})


def random_words(random, count, first=0):
    return [f"w{number}" for number in random.integers(first, first + 100_000, count)]


def changed(words, share, random):
    """The words with a share of them replaced by others."""
    found = list(words)
    for place in random.choice(len(words), round(share * len(words)), replace=False):
        found[place] = f"x{random.integers(1 << 40)}"
    return found


def jaccard(one, other):
    def shingles(text):
        words = re.findall(r"\w+", text.lower())
        return {tuple(words[at : at + 5]) for at in range(max(len(words) - 4, 1))}

    mine, yours = shingles(one), shingles(other)
    return len(mine & yours) / len(mine | yours)


# Hashes of texts.


@given(
    st.lists(
        st.text(st.sampled_from("aAbB \t\n\x1cÄäßẞ\u3000漢\U0001d538"), max_size=20), min_size=1
    )
)
def test_hashes_are_equal_for_texts_that_differ_in_case_and_blanks_alone(texts):
    hashes = documents_of(texts).text_hashes
    keys = [" ".join(text.casefold().split()) for text in texts]
    for row, key in zip(hashes.tolist(), keys, strict=True):
        assert (row == [0, 0]) == (not key)
        assert [one == row for one in hashes.tolist()] == [one == key for one in keys]


@pytest.mark.parametrize("at", range(24))
def test_hashes_ignore_case_and_blanks_at_all_places_of_eight_bytes(at):
    between = [
        " ",
        "  ",
        "\t ",
        "\x1c",
        "",
        "A",
        "a",
        "Z",
        "z",
        "@",
        "`",
        "[",
        "{",
        "\x1b",
        "Ä",
        "ä",
    ]
    texts = [f"{'x' * at}{middle}{'y' * 20}" for middle in between]
    keys = [" ".join(text.casefold().split()) for text in texts]
    assert equal_rows(documents_of(texts).text_hashes).tolist() == _numbered(keys)


def test_hashes_do_not_depend_on_batches():
    texts = [f"Text {n % 7} of many Ä" if n % 2 else f"text {n % 5}" for n in range(50)]
    documents = documents_of(texts)
    from heldout.data.text_hashes import text_hashes

    parts = [text_hashes(batch) for batch in documents.batches(60)]
    assert len(parts) > 5
    assert (np.concatenate(parts) == documents.text_hashes).all()
    assert equal_rows(documents.text_hashes).tolist() == _numbered(map(str.lower, texts))


@given(st.lists(st.tuples(st.integers(0, 3), st.integers(0, 2)), min_size=1, max_size=12))
def test_rows_are_equal_if_both_words_are(rows):
    keys = [row if any(row) else ("empty", place) for place, row in enumerate(rows)]
    assert equal_rows(np.array(rows, np.uint64)).tolist() == _numbered(keys)


def _numbered(values):
    numbers = {}
    return [numbers.setdefault(one, len(numbers)) for one in values]


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
    # Queries are not grouped unless somebody says so.
    assert KFold(2).splits(found).groups is None


def test_few_duplicates_are_an_info_and_many_a_warning():
    def severity(copies, of):
        texts = {f"d{n}": f"text {n if n >= copies else 0}" for n in range(of)}
        (note,) = KFold(2).splits(collection_of(texts), "document").notes
        return note.severity, note.count

    assert severity(2, 250) == ("info", 2)
    with pytest.warns(ResamplingWarning):
        assert severity(2, 200) == ("warning", 2)


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
    together = GivenFolds(apart | {"b": 0}).splits
    with pytest.warns(ResamplingWarning, match="are kept together"):
        together(found, "document")


def test_the_order_of_documents_does_not_matter():
    texts = {f"d{n:02}": f"text {n % 13}" for n in range(40)}
    turned = dict(reversed(texts.items()))
    for plan in (KFold(3, groups="duplicates"), KFold(3, groups="near-duplicates")):
        one, other = (plan.splits(collection_of(some), "document") for some in (texts, turned))
        assert one.fingerprint == other.fingerprint


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
    texts = {f"d{n:02}": f"text {n // 3}" for n in range(60)}
    groups = [n // 3 for n in range(60)]
    found = collection_of(texts)
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


def test_folds_are_as_even_as_groups_allow():
    texts = {f"d{n:03}": f"text {n if n > 60 else n // 10}" for n in range(300)}
    splits = KFold(5, groups="duplicates").splits(collection_of(texts), "document")
    assert np.bincount(splits.folds()).tolist() == [60] * 5


@given(
    st.integers(1, 12).flatmap(
        lambda n: st.tuples(*[st.lists(st.integers(0, n), min_size=n, max_size=n)] * 2)
    )
)
def test_joined_groups_are_the_connected_ones(pair):
    one, other = (np.array(_numbered(codes)) for codes in pair)
    found = joined(one, other)
    known = list(range(len(one)))  # the slow way: spread the least number until nothing changes
    for _ in known:
        for codes in (one, other):
            for group in set(codes.tolist()):
                members = np.flatnonzero(codes == group).tolist()
                least = min(known[at] for at in members)
                for at in members:
                    known[at] = least
    assert found.tolist() == _numbered(known)
    assert joined(found, one).tolist() == found.tolist()


@given(st.lists(st.integers(0, 5), min_size=1, max_size=20), st.randoms())
def test_grouped_places_put_groups_side_by_side(codes, random):
    numbered = np.array(_numbered(codes))
    order = np.arange(len(codes))
    random.shuffle(order)
    places = grouped_places(order, numbered)
    taken = sorted(set(zip(places.tolist(), numbered.tolist(), strict=True)))
    assert [place for place, _ in taken] == np.cumsum(
        [0, *(int((numbered == group).sum()) for _, group in taken)]
    )[:-1].tolist()


# Near-duplicates.


def test_estimated_similarity_is_that_of_all_pairs():
    random = np.random.default_rng(5)
    texts = []
    for _ in range(12):
        words = random_words(random, int(random.integers(30, 120)))
        texts += [" ".join(changed(words, share, random)) for share in (0, 0.03, 0.1, 0.2, 0.4)]
    signed, _ = signatures(documents_of(texts))
    errors = []
    for at in range(len(texts)):
        for other in range(at):
            true = jaccard(texts[at], texts[other])
            estimate = (signed[at] == signed[other]).mean()
            if true == 0:
                assert estimate < 0.03
            else:
                errors.append((estimate - true) / np.sqrt(true * (1 - true) / ORDERS))
    assert len(errors) > 100
    assert np.abs(errors).max() < 4.5
    assert abs(np.mean(errors)) < 0.35


def test_groups_are_those_of_brute_force():
    random = np.random.default_rng(6)
    texts = []
    for number in range(40):
        words = random_words(random, 150, first=1000 * number)
        texts.append(" ".join(words))
        if number % 2:
            texts.append(" ".join(changed(words, 0.08, random)))
        if number % 4 == 3:  # far from any threshold: hardly alike
            texts.append(" ".join(changed(words, 0.6, random)))
    found = near_duplicates(documents_of(texts))
    alike = [[jaccard(one, other) >= ALIKE for other in texts] for one in texts]
    assert [[a == b for b in found] for a in found] == alike


def test_near_duplicates_are_in_one_fold():
    random = np.random.default_rng(7)
    texts, groups = {}, []
    for number in range(30):
        words = random_words(random, 100, first=1000 * number)
        for copy in range(1 + number % 3):
            texts[f"d{number}-{copy}"] = " ".join(changed(words, 0.05 * copy, random))
            groups.append(number)
    splits = KFold(4, groups="near-duplicates").splits(collection_of(texts), "document")
    assert splits.groups.tolist() == _numbered(groups)
    check.groups_intact(splits, groups)
    (note,) = splits.notes
    assert (note.code, note.severity, note.count) == ("duplicates", "info", 50)
    assert "20 groups is kept together, the largest has 3" in note.text


@pytest.mark.parametrize(
    ("one", "other", "alike"),
    [
        ("a b c", "A, b; C!", True),  # fewer than five words: all of them
        ("a b c", "a b d", False),
        ("", "", False),  # nothing is like nothing
        ("-- !", "-- !", False),
        (
            "Ärger im Büro ist groß und gefährlich",
            "ärger — im büro ist groß und “gefährlich”",
            True,
        ),
        ("今日は良い天気です散歩に行きましょう", "今日は良い天気です散歩に行きます", True),
        ("今日は良い天気です散歩に行きましょう", "昨日から雨が降り続いていて寒い一日だった", False),
    ],
)
def test_what_counts_as_words(one, other, alike):
    groups = near_duplicates(documents_of([one, other]))
    assert (groups[0] == groups[1]) == alike


def test_thousands_with_the_same_header_do_not_take_forever():
    header = " ".join(f"header{n}" for n in range(40))
    random = np.random.default_rng(8)
    texts = [f"{header} {' '.join(random_words(random, 10))}" for _ in range(3000)]
    groups = near_duplicates(documents_of([*texts, "an other text that has not this header"]))
    assert groups[:-1].max() == 0
    assert groups[-1] == 1

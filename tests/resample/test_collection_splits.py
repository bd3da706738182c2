"""Splits of collections: relevance, covariates, views, inner and two-way splits."""

import numpy as np
import pytest
import resample_checks as check
from hypothesis import assume, given
from hypothesis import strategies as st

from heldout import Bootstrap, Collection, HoldOut, KFold, LeaveOneOut, cross
from heldout.data.queries import Queries
from heldout.resample.assign import Labels, spread
from heldout.resample.units import PlanError


def collection(judged, documents=40, queries=6):
    """A collection in which `judged` are pairs of numbers of a query and a relevant document."""
    qrels = {}
    for query, document in judged:
        qrels.setdefault(f"q{query}", {})[f"d{document}"] = 1
    texts = {f"d{n}": f"text {n}" for n in range(documents)}
    return Collection(texts, {f"q{n}": f"query {n} " * (n + 1) for n in range(queries)}, qrels)


def counts_by_fold(found, folds):
    """Relevant documents, query × fold."""
    rows = found.judgements
    table = np.zeros((len(found.queries), folds.max() + 1), int)
    np.add.at(table, (rows.queries, folds[rows.documents]), rows.grades > 0)
    return table


# Strata


PAIRS = st.sets(st.tuples(st.integers(0, 5), st.integers(0, 39)), min_size=1, max_size=120)


@given(PAIRS, st.integers(2, 6))
def test_document_folds_are_even_and_better_spread_than_by_chance(pairs, k):
    found = collection(pairs)
    splits = KFold(k, stratify="relevance", repeats=2).splits(found, "document")
    check.held_out_once(splits)
    check.even(splits)

    def unevenness(stratify):
        plan = KFold(k, stratify=stratify, repeats=5)
        folds = plan.splits(found, "document").folds
        tables = [counts_by_fold(found, folds(repeat)) for repeat in range(5)]
        return np.mean([((one - one.mean(axis=1, keepdims=True)) ** 2).sum() for one in tables])

    assert unevenness("relevance") <= unevenness(None) + 1e-9


@given(st.lists(st.integers(-1, 5), min_size=40, max_size=40), st.integers(2, 6))
def test_where_a_document_has_one_query_every_fold_has_its_share(owners, k):
    pairs = [(query, n) for n, query in enumerate(owners) if query >= 0]
    assume(pairs)
    found = collection(pairs)
    table = counts_by_fold(found, KFold(k, stratify="relevance").splits(found, "document").folds())
    assert np.ptp(table, axis=1).max() <= 1


def brute_force(order, labels, quotas, shares):
    """Iterative stratification written down plainly; a part that is full takes no more."""
    order = list(order)
    has = {unit: set() for unit in order}
    for unit, label in zip(labels.units.tolist(), labels.labels.tolist(), strict=True):
        has[unit].add(label)
    wish = {
        label: [sum(label in has[unit] for unit in order) * share for share in shares]
        for label in labels.order.tolist()
    }
    room, part_of = list(quotas), {}
    while True:
        left = {
            label: [unit for unit in order if unit not in part_of and label in has[unit]]
            for label in labels.order.tolist()
        }
        open_ = [label for label in labels.order.tolist() if left[label]]
        if not open_:
            break
        label = min(open_, key=lambda one: len(left[one]))
        for unit in left[label]:
            turn = order.index(unit)
            free = [part for part in range(len(quotas)) if room[part] > 0]
            best = max(free, key=lambda p: (wish[label][p], room[p], (p + turn) % len(quotas)))
            part_of[unit] = best
            room[best] -= 1
            for one in has[unit]:
                wish[one][best] -= sum(shares)
    for unit in order:
        if unit not in part_of:
            part_of[unit] = next(part for part in range(len(quotas)) if room[part] > 0)
            room[part_of[unit]] -= 1
    return [part_of[unit] for unit in sorted(order)]


@given(st.permutations(range(14)), st.sets(st.tuples(st.integers(0, 13), st.integers(0, 3))))
def test_spreading_is_what_the_plain_rule_gives(order, pairs):
    units, labels = (np.array([pair[at] for pair in sorted(pairs)], np.int64) for at in (0, 1))
    given_ = Labels(units, labels, np.ones_like(units), np.array([2, 0, 3, 1]), np.uint64(0))
    found = spread(np.array(order), given_, np.ones(14, np.int64), [5, 5, 4], [1, 1, 1])
    assert found.tolist() == brute_force(order, given_, [5, 5, 4], [1, 1, 1])


@given(PAIRS, st.lists(st.integers(0, 15), min_size=40, max_size=40))
def test_groups_of_documents_stay_together_and_are_spread_by_relevance(pairs, groups):
    assume(len(set(groups)) >= 4)
    found = collection(pairs)
    splits = KFold(4, stratify="relevance", groups=groups).splits(found, "document")
    check.held_out_once(splits)
    check.groups_intact(splits, groups)
    assert all(split.n_test for split in splits)
    if min(groups.count(one) for one in groups) <= 10:
        plan = HoldOut(0.25, 0.25, stratify="relevance", groups=groups)
        check.covering(plan.splits(found, "document"))
        check.groups_intact(plan.splits(found, "document"), groups)


def test_a_part_that_groups_would_leave_empty_gets_the_smallest():
    # The only label is in one large group, which fits nowhere; nothing may be left empty.
    labels = Labels(*(np.array(one) for one in ([0], [0], [9])), np.array([0]), np.uint64(0))
    for sizes, parts in (([9, 2, 1], [0, 1, 2]), ([9, 1, 2], [0, 2, 1])):
        found = spread(np.arange(3), labels, np.array(sizes), [6, 4, 1])
        assert found.tolist() == parts


def test_hold_out_takes_its_share_of_each_query():
    found = collection([(n // 10, n) for n in range(40)], queries=4)
    split = HoldOut(0.2, 0.2, stratify="relevance").splits(found, "document")[0]
    for side in ("test", "validation"):
        assert [split.weights(side)[10 * q : 10 * q + 10].sum() for q in range(4)] == [2] * 4
    # Of queries with a single relevant document it takes a share of the queries.
    found = collection([(n, n) for n in range(100)], documents=200, queries=100)
    plan = HoldOut(0.2, 0.1, stratify="relevance", repeats=20)
    held = np.zeros(100, int)
    for split in plan.splits(found, "document"):
        assert split.test[:100].sum() == 20
        assert split.validation[:100].sum() == 10
        held += split.test[:100]
    assert held.min() < 4 < held.max()  # others each time: 4 of 20 is the mean


def test_folds_do_not_depend_on_the_order_of_queries_and_documents():
    found = collection([(n % 5, n) for n in range(30)] + [(5, n) for n in range(0, 30, 4)])
    texts, asked = dict(found.documents.pairs()), found.queries.to_dict()
    turned = Collection(dict(reversed(texts.items())), dict(reversed(asked.items())), found.qrels)
    plan = KFold(3, stratify="relevance")
    first, second = (plan.splits(one, "document") for one in (found, turned))
    assert (first.folds() == second.folds()[::-1]).all()
    assert first.fingerprint == second.fingerprint
    assert plan.splits(found).fingerprint == plan.splits(turned).fingerprint


def test_units_are_stratified_by_relevance_length_and_fields():
    pairs = [(q, d) for q in range(16) for d in range(1 + q % 4 * 8)]
    plain = collection(pairs, queries=16)
    kinds = tuple("ab"[n % 2] for n in range(16))
    years = tuple(str(1990 + n) for n in range(16))
    topics = Queries(plain.queries.ids, plain.queries.texts, {"kind": kinds, "year": years})
    texts = {f"d{n:02}": "word " * (n + 1) for n in range(40)}
    found = Collection(texts, topics, {q: {f"d{d:02}": 1 for d in range(3)} for q in topics.ids})
    related = Collection(plain.documents, topics, plain.qrels)
    quartiles = [q // 4 for q in range(16)]
    values = {one: n / 3 for n, one in enumerate(topics.ids)}
    check.strata_even(KFold(4, stratify="relevance").splits(related), [q % 4 for q in range(16)])
    # Query n has 2(n + 1) words, so quartiles are four queries each; years and values likewise.
    for stratify, strata in (
        ("length", quartiles),
        ("year", quartiles),
        (values, quartiles),
        ("kind", kinds),
    ):
        check.strata_even(KFold(4, stratify=stratify).splits(found), strata)
    by_document = KFold(4, stratify="length").splits(found, "document")
    check.strata_even(by_document, [n // 10 for n in range(40)])
    check.groups_intact(KFold(2, groups="kind").splits(found), kinds)
    with pytest.raises(
        PlanError, match=r"'length', a field of the queries \(they have 'kind', 'year'\)"
    ):
        KFold(2, stratify="type").splits(found)
    empty = Collection(["a", "b", "c"], {"q": "a", "p": "b", "r": "c"}, {"q": {"0": 0}})
    for unit in ("query", "document"):
        with pytest.raises(PlanError, match="no relevant documents"):
            KFold(2, stratify="relevance").splits(empty, unit)


# Views


def test_views_follow_the_unit_and_find_units_by_id():
    found = collection([(0, 0), (0, 1), (1, 2)], documents=4, queries=2)
    by_query, by_document = KFold(2).splits(found)[0], KFold(2).splits(found, "document")[0]
    train, test = (by_query.view(found, side) for side in ("train", "test"))
    assert train.n_documents == test.n_documents == 4
    assert sorted([*train.queries.ids, *test.queries.ids]) == ["q0", "q1"]
    train, test = (by_document.view(found, side) for side in ("train", "test"))
    assert train.n_queries == test.n_queries == 2
    assert sorted([*train.documents.ids, *test.documents.ids]) == list(found.documents.ids)
    assert len(train.qrels) + len(test.qrels) == 3
    # Splits of ids know no collection.
    drawn = Bootstrap(1, side="test").splits(["d3", "d1", "d0"], "document")[0]
    held = dict(zip(drawn.ids, drawn.test.tolist(), strict=True))
    weights = drawn.view(found, "test").document_weights
    assert weights.tolist() == [held["d0"], held["d1"], 0, held["d3"]]
    asked = KFold(2).splits(["q1", "q0"])[0]
    held = [asked.ids[at] for at in asked.rows("test")]
    assert list(asked.view(found, "test").queries.ids) == held
    for units, unit, side, complaint in (
        (["x", "y"], "document", "train", "not in the collection"),
        (4, "instance", "train", "rows of a table"),
        (["d3", "d1"], "document", "validation", "no side 'validation'; it has train, test"),
    ):
        with pytest.raises(PlanError, match=complaint):
            KFold(2).splits(units, unit)[0].view(found, side)


# Inner splits


def test_inner_splits_never_touch_a_held_out_unit():
    for outer in (KFold(4), HoldOut(0.3), LeaveOneOut(), Bootstrap(3)):
        for split in outer.splits(14, "instance"):
            for plan in (KFold(3), HoldOut(0.3), LeaveOneOut(), Bootstrap(2)):
                for one in split.inner(plan):
                    assert not (one.train + one.test)[split.test > 0].any(), (outer, plan)
                    assert ((one.train > 0) + (one.test > 0) == (split.train > 0)).all()
                    assert one.key.inner is not None
                    assert one.key[:2] == split.key[:2]
    with pytest.raises(PlanError, match="is an inner split"):
        one.inner(plan)


def test_inner_folds_differ_between_outer_splits_and_keep_multiplicities():
    splits = KFold(2, repeats=2).splits(40, "instance")
    tables = [split.inner(KFold(2)).folds() for split in splits]
    for table, split in zip(tables, splits, strict=True):
        assert ((table == -1) == (split.test > 0)).all()
    both = (splits[0].train > 0) & (splits[2].train > 0)
    assert (tables[0][both] != tables[2][both]).any()
    drawn = Bootstrap(1).splits(20, "instance")[0]
    for one in drawn.inner(KFold(3)):
        assert (one.train + one.test == drawn.train).all()


def test_inner_splits_of_labelled_and_relevant_units_are_stratified():
    labels = np.array([0, 1] * 20)
    split = KFold(4, stratify="labels").splits(40, "instance", labels=labels)[0]
    folds = split.inner(KFold(3, stratify="labels")).folds()
    for label in (0, 1):
        assert np.ptp(np.bincount(folds[(split.train > 0) & (labels == label)])) <= 1
    found = collection([(n // 10, n) for n in range(40)], queries=4)
    outer = KFold(2, stratify="relevance").splits(found, "document")[0]
    table = counts_by_fold(found, outer.inner(KFold(5, stratify="relevance")).folds() + 1)
    assert (table[:, 1:] == 1).all()


# Two-way splits


def test_two_way_splits_hold_out_queries_and_documents():
    found = collection([(n % 6, n) for n in range(40)])
    splits = cross(KFold(3), KFold(4, stratify="relevance")).splits(found)
    assert len({str(split.key) for split in splits}) == len(splits) == 12
    cells = np.zeros((6, 40), int)
    for split in splits:
        train, test = (split.view(found, side) for side in ("train", "test"))
        assert not set(train.queries.ids) & set(test.queries.ids)
        assert not set(train.documents.ids) & set(test.documents.ids)
        cells[np.ix_(test.query_weights > 0, test.document_weights > 0)] += 1
    assert (cells == 1).all()  # every pair of query and document is held out once
    with pytest.raises(PlanError, match="see `crossed`"):
        splits.folds()
    assert splits.crossed[0].folds().tolist() == KFold(3).splits(found).folds().tolist()
    assert cross(KFold(3), KFold(5)).splits(found).fingerprint != splits.fingerprint


def test_inner_splits_of_two_way_splits_touch_neither_held_out_kind():
    found = collection([(n % 6, n) for n in range(40)])
    for split in cross(KFold(3), KFold(4)).splits(found):
        held = split.view(found, "test")
        for inner in (
            split.inner(KFold(2), "query"),
            split.inner(KFold(2), "document"),
            split.inner(cross(KFold(2), KFold(2))),
        ):
            for one in inner:
                for view in (one.view(found, "train"), one.view(found, "test")):
                    assert not set(view.queries.ids) & set(held.queries.ids)
                    assert not set(view.documents.ids) & set(held.documents.ids)
                assert one.key.other == split.key.other
    with pytest.raises(PlanError, match="unit='query' or 'document'"):
        split.inner(KFold(2))


def test_two_way_repeats_go_side_by_side():
    found = collection([(0, 0)], documents=6, queries=4)
    both = cross(KFold(2, repeats=3), KFold(2, repeats=3)).splits(found)
    assert (len(both), both.repeats) == (12, 3)
    assert [str(split.key) for split in both[3:6]] == ["r0/f1/d1", "r1/f0/d0", "r1/f0/d1"]
    # A plan without repeats goes with each repeat of the other, whose number is in the key.
    for plan in (cross(KFold(2), KFold(2, repeats=3)), cross(KFold(2, repeats=3), KFold(2))):
        assert [split.key for split in plan.splits(found)] == [split.key for split in both]
    # A part for validation needs documents of its own to be ranked.
    three = HoldOut(0.25, 0.25)
    sides = [list(cross(three, plan).splits(found)[0].sides()) for plan in (three, KFold(2))]
    assert sides == [["train", "test", "validation"], ["train", "test"]]
    with pytest.raises(PlanError, match="3 repeats of the queries"):
        cross(KFold(2, repeats=3), KFold(2, repeats=2)).splits(found)
    with pytest.raises(PlanError, match="give a collection"):
        cross(KFold(5), KFold(5)).splits(["a", "b"])
    with pytest.raises(PlanError, match="hold out queries and documents"):
        KFold(2).splits(found)[0].inner(cross(KFold(5), KFold(5)))

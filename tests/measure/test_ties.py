"""ties='average': the mean over all orders of documents with equal scores."""

from __future__ import annotations

from functools import partial
from itertools import chain, groupby, permutations, product
from statistics import fmean

import naive
import pytest
from hypothesis import given
from hypothesis import strategies as st
from naive import Query, without_ties

from heldout import evaluate
from heldout.errors import MeasureError

MEASURES = {
    **{f"P(ties='average')@{k}": partial(naive.precision, k=k) for k in (1, 2, 4, 9)},
    **{f"R(ties='average')@{k}": partial(naive.recall, k=k) for k in (1, 3)},
    "R(rel=2, ties='average')@2": partial(naive.recall, k=2, rel=2),
    **{f"Success(ties='average')@{k}": partial(naive.success, k=k) for k in (1, 2, 4)},
    "RR(ties='average')": naive.reciprocal_rank,
    **{f"RR(ties='average')@{k}": partial(naive.reciprocal_rank, k=k) for k in (1, 3)},
    "RR(rel=2, ties='average')@3": partial(naive.reciprocal_rank, k=3, rel=2),
    "AP(ties='average')": naive.average_precision,
    **{f"AP(ties='average')@{k}": partial(naive.average_precision, k=k) for k in (2, 3)},
    "AP(rel=2, ties='average')": partial(naive.average_precision, rel=2),
    "DCG(ties='average')": naive.dcg,
    **{f"DCG(ties='average')@{k}": partial(naive.dcg, k=k) for k in (1, 3)},
    "nDCG(ties='average')": naive.ndcg,
    **{f"nDCG(ties='average')@{k}": partial(naive.ndcg, k=k) for k in (1, 2, 4)},
    "nDCG(dcg='exp-log2', ties='average')@3": partial(naive.ndcg, k=3, dcg="exp-log2"),
    "nDCG(dcg='classic', ties='average')@3": partial(naive.ndcg, k=3, dcg="classic"),
    "RBP(ties='average')": naive.rbp,
    "RBP(p=0.5, ties='average')@2": partial(naive.rbp, p=0.5, k=2),
    "RBP(rel=1, ties='average')@3": partial(naive.rbp, k=3, rel=1),
}


def all_orders(scores):
    """Every order of the documents in which no score rises."""
    ordered = sorted(scores, key=lambda doc: -scores[doc])
    groups = [list(group) for _, group in groupby(ordered, key=scores.__getitem__)]
    return map(list, map(chain.from_iterable, product(*map(permutations, groups))))


def mean_over_orders(judged, scores, definition):
    grades = tuple(judged.values())
    lists = (tuple(judged.get(doc) for doc in order) for order in all_orders(scores))
    return fmean(definition(Query(ranked, grades, grades)) for ranked in lists)


def check_against_all_orders(judged, scores):
    result = evaluate({"q": judged}, {"q": scores}, list(MEASURES))
    for name, definition in MEASURES.items():
        expected = mean_over_orders(judged, scores, definition)
        assert result.mean(0, name) == pytest.approx(expected, rel=1e-11, abs=1e-12), name


SMALL = [f"d{number}" for number in range(8)]


@given(
    judged=st.dictionaries(st.sampled_from(SMALL), st.integers(-1, 3), min_size=1, max_size=6),
    scores=st.dictionaries(st.sampled_from(SMALL), st.integers(0, 2), min_size=1, max_size=5),
)
def test_average_is_the_mean_over_all_orders_of_tied_documents(judged, scores):
    check_against_all_orders(judged, scores)


def test_average_is_the_mean_over_all_orders_when_everything_is_tied():
    judged = {"d0": 2, "d1": 1, "d2": 0, "d3": -1, "d7": 3}
    check_against_all_orders(judged, dict.fromkeys(SMALL[:6], 1.0))


def test_average_looks_at_each_query_by_itself():
    # Equal scores in different queries are no ties.
    qrels = {"q1": {"a": 1}, "q2": {"a": 1, "b": 0}}
    run = {"q1": {"a": 1.0}, "q2": {"a": 1.0, "b": 1.0}}
    values = evaluate(qrels, run, "P(ties='average')@1").values(0, 0)
    assert values.tolist() == [1.0, 0.5]


def test_average_does_not_depend_on_the_tie_policy():
    qrels = {"q": {"a": 1, "b": 0, "c": 2}}
    run = {"q": {"a": 1.0, "b": 1.0, "c": 1.0, "d": 2.0}}
    names = list(MEASURES)
    first = evaluate(qrels, run, names, ties="docid-desc").summary()["run"]
    second = evaluate(qrels, run, names, ties="docid-asc").summary()["run"]
    assert first == pytest.approx(second, rel=1e-12)


@given(case=without_ties())
def test_average_equals_order_when_there_are_no_ties(case):
    qrels, run = case
    result = evaluate(
        qrels, run, [*MEASURES, *(name.replace("average", "order") for name in MEASURES)]
    )
    for name in MEASURES:
        plain = result.values(0, name.replace("average", "order")).tolist()
        assert result.values(0, name).tolist() == pytest.approx(plain, rel=1e-12, abs=1e-13), name


def test_average_of_a_tie_in_32_bits_differs_from_64_bits():
    # trec_eval 9 holds scores as 32-bit floats, in which 1 and 1 + 1e-8 are equal.
    qrels, run = {"q": {"a": 1}}, {"q": {"a": 1.0, "b": 1.0 + 1e-8}}
    assert evaluate(qrels, run, "P(ties='average')@1").mean(0, 0) == 0.0
    half = evaluate(qrels, run, "P(ties='average')@1", single_precision=True)
    assert half.mean(0, 0) == 0.5


def test_average_over_judged_documents_only():
    # Without the unjudged u the tie is between a and b alone.
    qrels = {"q": {"a": 1, "b": 0}}
    run = {"q": {"a": 1.0, "b": 1.0, "u": 1.0}}
    result = evaluate(qrels, run, ["P(ties='average')@1", "P(ties='average', judged_only=True)@1"])
    assert result.mean(0, 0) == pytest.approx(1 / 3)
    assert result.mean(0, 1) == 0.5


def test_average_refuses_a_depth_because_a_tie_may_cross_it():
    with pytest.raises(MeasureError, match="cutoff @k"):
        evaluate({"q": {"a": 1}}, {"q": {"a": 1.0}}, "P(ties='average')@1", depth=5)

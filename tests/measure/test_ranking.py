"""Measures that know only relevant and not relevant, against their plain definitions."""

from __future__ import annotations

import math
from functools import partial

import naive
import pytest
from hypothesis import given, settings
from naive import collections, compare, queries_of

from heldout import evaluate

FAMILIES = {
    "P": {
        "P@1": partial(naive.precision, k=1),
        "P@5": partial(naive.precision, k=5),
        "P@40": partial(naive.precision, k=40),
        "P(rel=2)@3": partial(naive.precision, k=3, rel=2),
        "P(rel=0)@3": partial(naive.precision, k=3, rel=0),
        # No threshold makes a document relevant that was pooled and not judged.
        "P(rel=-1)@3": partial(naive.precision, k=3, rel=-1),
    },
    "R": {
        "R@1": partial(naive.recall, k=1),
        "R@5": partial(naive.recall, k=5),
        "R(rel=3)@5": partial(naive.recall, k=5, rel=3),
    },
    "F": {
        "F@5": partial(naive.f_measure, k=5),
        "F(beta=2)@3": partial(naive.f_measure, k=3, beta=2),
        "F(beta=0.5, rel=2)@7": partial(naive.f_measure, k=7, beta=0.5, rel=2),
    },
    "RelP": {
        "RelP@2": partial(naive.relative_precision, k=2),
        "RelP(rel=2)@20": partial(naive.relative_precision, k=20, rel=2),
    },
    "Success": {
        "Success@1": partial(naive.success, k=1),
        "Success(rel=2)@4": partial(naive.success, k=4, rel=2),
    },
    "RR": {
        "RR": naive.reciprocal_rank,
        "RR@2": partial(naive.reciprocal_rank, k=2),
        "RR(rel=2)": partial(naive.reciprocal_rank, rel=2),
    },
    "AP": {
        "AP": naive.average_precision,
        "AP@3": partial(naive.average_precision, k=3),
        "AP(rel=2)@5": partial(naive.average_precision, k=5, rel=2),
    },
    "GMAP": {
        "GMAP": naive.average_precision,
        "GMAP(rel=2)": partial(naive.average_precision, rel=2),
    },
    "SmoothAP": {
        "SmoothAP": naive.smoothed_average_precision,
        "SmoothAP(rel=2)": partial(naive.smoothed_average_precision, rel=2),
    },
    "Rprec": {
        "Rprec": naive.r_precision,
        "Rprec(rel=2)": partial(naive.r_precision, rel=2),
        "Rprec(times=0.2)": partial(naive.r_precision, times=0.2),
        "Rprec(times=1.4)": partial(naive.r_precision, times=1.4),
        "Rprec(times=2)": partial(naive.r_precision, times=2.0),
    },
    "Bpref": {
        "Bpref": naive.bpref,
        "Bpref(rel=2)": partial(naive.bpref, rel=2),
    },
    "gm_bpref": {"gm_bpref": naive.bpref},
    "infAP": {
        "infAP": naive.inferred_average_precision,
        "infAP(rel=2)": partial(naive.inferred_average_precision, rel=2),
    },
    "IPrec": {
        **{
            f"IPrec@{level:g}": partial(naive.interpolated_precision, level=level)
            for level in (0.0, 0.1, 0.25, 0.5, 0.75, 0.9, 1.0)
        },
        "IPrec(rel=2)@0.5": partial(naive.interpolated_precision, level=0.5, rel=2),
    },
    "IPrec11": {
        "IPrec11": naive.eleven_points,
        "IPrec11(rel=2)": partial(naive.eleven_points, rel=2),
        "IPrec11(levels='.25,.5,.75')": partial(naive.eleven_points, levels=(0.25, 0.5, 0.75)),
    },
    "binG": {
        "binG": naive.binary_gain,
        "binG(rel=2)": partial(naive.binary_gain, rel=2),
    },
}


@given(case=collections())
@settings(max_examples=60)
def test_measures_follow_their_definitions(case):
    compare(*case, {name: its for family in FAMILIES.values() for name, its in family.items()})


@given(case=collections())
def test_geometric_means_take_no_value_below_a_hundred_thousandth(case):
    qrels, run = case
    result = evaluate(qrels, run, ["GMAP", "gm_bpref"])
    for name, definition in (("GMAP", naive.average_precision), ("gm_bpref", naive.bpref)):
        values = [max(1e-5, definition(query)) for query in queries_of(qrels, run).values()]
        mean = math.exp(sum(map(math.log, values)) / len(values))
        assert result.value(0, name) == pytest.approx(mean, rel=1e-12)


def test_bpref_without_judged_nonrelevant_documents_is_the_recall():
    # There is nothing that could be preferred wrongly; the unjudged u does not count.
    result = evaluate({"q": {"a": 1, "b": 1}}, {"q": {"u": 2.0, "a": 1.0}}, "Bpref")
    assert result.value(0, 0) == 0.5


def test_bpref_counts_no_more_nonrelevant_documents_than_there_are_relevant_ones():
    # One relevant, three non-relevant above it: min(3, 1) / min(3, 1) = 1 is lost, not more.
    qrels = {"q": {"a": 1, "x": 0, "y": 0, "z": 0}}
    run = {"q": {"x": 4.0, "y": 3.0, "z": 2.0, "a": 1.0}}
    assert evaluate(qrels, run, "Bpref").value(0, 0) == 0.0


def test_inferred_ap_tells_not_pooled_from_pooled_and_not_judged():
    # A pooled document above is taken to be relevant as often as the judged ones are; one that
    # was not even pooled is not relevant.
    run = {"q": {"a": 3.0, "x": 2.0, "b": 1.0}}
    pooled = evaluate({"q": {"a": 1, "b": 1, "x": -1}}, run, "infAP").value(0, 0)
    unknown = evaluate({"q": {"a": 1, "b": 1}}, run, "infAP").value(0, 0)
    assert pooled == pytest.approx((1 + 1 / 3 + 2 / 3) / 2, abs=1e-4)
    assert unknown == pytest.approx((1 + 1 / 3 + 1 / 3) / 2, abs=1e-4)


NOTHING_FOUND = ["P@5", "R@5", "F@5", "RelP@5", "Success@5", "RR", "AP", "Rprec", "Bpref", "infAP"]
NOTHING_FOUND += ["IPrec@0", "IPrec@0.5", "IPrec11", "binG", "nDCG", "nDCGrel", "Rndcg", "G", "RBP"]


@pytest.mark.parametrize("measure", [*NOTHING_FOUND, "ERR"])
def test_query_without_a_relevant_document_counts_zero(measure):
    result = evaluate({"q": {"a": 0, "b": -1}}, {"q": {"a": 1.0, "b": 2.0, "c": 3.0}}, measure)
    assert result.per_unit(0, 0).tolist() == [0.0]

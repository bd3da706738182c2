"""What must hold for every list, whatever its numbers are."""

from __future__ import annotations

import re

from hypothesis import assume, given, settings
from hypothesis import strategies as st
from naive import DOCS, collections, in_order, without_ties

from heldout import evaluate, parse_measure
from heldout.measure.base import definitions

NOT_LISTED = {"RelString"}
CUTOFF = {"none": "", "optional": "", "rank": "@5", "recall": "@0.5"}
EVERY = [
    f"{name}{CUTOFF[family.cutoff]}"
    for name, family in sorted(definitions("ranking").items())
    if name not in NOT_LISTED and family.needs != "subtopics" and family.own is None
]
MORE = ["AP@3", "RR@3", "nDCG@5", "nDCG(dcg='exp-log2')@5", "nDCG(dcg='classic')", "ERR@3", "RBP@3"]
BINARY = ["P@5", "R@5", "F@5", "RelP@5", "Success@5", "RR", "AP", "AP@3", "Rprec", "Bpref", "infAP"]
BINARY += ["IPrec@0.5", "IPrec11", "binG", "SetP", "SetR", "SetF", "SetAP", "SetRelP", "NumRel"]
BINARY += ["NumRelRet", "NumNonrelJudgedRet", "GMAP", "gm_bpref", "SmoothAP", "Utility"]
GRADED = ["DCG", "IDCG", "nDCG", "nDCGrel", "Rndcg", "G"]
# Sums that are differences of longer sums may end a rounding error off their bound.
ROUNDED = {"nDCGrel", "Rndcg"}


def columns(qrels, run, names, **how):
    result = evaluate(qrels, run, names, **how)
    return {name: result.per_unit(0, at).tolist() for at, name in enumerate(names)}


@settings(max_examples=50)
@given(case=collections())
def test_values_stay_within_the_bounds_of_their_family(case):
    for name, values in columns(*case, [*EVERY, *MORE]).items():
        family = parse_measure(name).definition
        low, high = family.bounds
        slack = 1e-12 if family.name in ROUNDED else 0.0
        assert min(values) >= low - slack, name
        assert max(values) <= high + slack, name


@given(case=without_ties(), names=st.permutations([f"ω{n}-{'x' * n}" for n in range(len(DOCS))]))
def test_renaming_documents_changes_nothing_without_ties(case, names):
    qrels, run = case
    new = dict(zip(DOCS, names, strict=True))
    other_qrels = {q: {new[doc]: grade for doc, grade in docs.items()} for q, docs in qrels.items()}
    other_run = {q: {new[doc]: score for doc, score in docs.items()} for q, docs in run.items()}
    measures = [*EVERY, *MORE]
    assert columns(qrels, run, measures) == columns(other_qrels, other_run, measures)


@given(case=collections(), chance=st.randoms(use_true_random=False))
def test_order_of_the_input_changes_nothing_even_with_ties(case, chance):
    def shuffled(nested):
        outer = [(query, list(docs.items())) for query, docs in nested.items()]
        chance.shuffle(outer)
        for _, docs in outer:
            chance.shuffle(docs)
        return {query: dict(docs) for query, docs in outer}

    qrels, run = case
    measures = [*EVERY, *MORE]
    assert columns(qrels, run, measures) == columns(shuffled(qrels), shuffled(run), measures)


UPWARDS = ["P@3", "R@3", "F@3", "RelP@3", "Success@2", "RR", "AP", "AP@4", "Bpref", "Rprec", "ERR"]
UPWARDS += ["nDCG", "nDCG@3", "nDCG(dcg='exp-log2')", "nDCG(dcg='classic')@4", "RBP", "IPrec@0.5"]
UPWARDS += ["IPrec11", "DCG", "binG", "RBP(rel=1)@3", "ERR(top=4)@3"]
SOME = st.lists(st.none() | st.integers(-1, 4), max_size=6)  # None: not in the qrels


@settings(max_examples=50)
@given(SOME, st.none() | st.integers(-1, 3), st.integers(1, 4), SOME, SOME)
def test_a_better_document_that_moves_up_never_lowers_a_measure(above, worse, better, below, more):
    assume(worse is None or worse < better)
    docs = [f"d{number}" for number in range(len(above) + 2 + len(below) + len(more))]
    grades = zip(docs, [*above, worse, better, *below, *more], strict=True)
    judged = {doc: grade for doc, grade in grades if grade is not None}
    found, place = docs[: len(docs) - len(more)], len(above)
    swapped = [*found[:place], found[place + 1], found[place], *found[place + 2 :]]
    before, after = (
        columns({"q": judged}, {"q": {doc: -float(at) for at, doc in enumerate(order)}}, UPWARDS)
        for order in (found, swapped)
    )
    for name in UPWARDS:
        # A sum of other numbers may be rounded the other way.
        assert after[name][0] >= before[name][0] - 1e-15, name


PERFECT = ["nDCG", "nDCG@1", "nDCG@5", "nDCG(dcg='exp-log2')", "nDCG(dcg='exp-log2')@7", "AP"]
PERFECT += ["nDCG(dcg='classic')", "nDCG(dcg='classic', base=10)@20", "nDCG(gains={1: 0.1, 2: 2})"]
PERFECT += ["Rprec", "Bpref", "RR", "Success@1", "RelP@5", "IPrec11", "IPrec@1", "SetR", "binG"]


@given(
    grades=st.lists(st.integers(0, 6), min_size=1, max_size=60).filter(any),
    others=st.integers(0, 5),
    chance=st.randoms(use_true_random=False),
)
def test_a_perfect_ranking_gives_exactly_one_and_no_other_more(grades, others, chance):
    grades = sorted(grades, reverse=True)
    judged = {f"d{place}": grade for place, grade in enumerate(grades)}
    order = [f"d{place}" for place in range(len(grades) + others)]
    best = {doc: -float(place) for place, doc in enumerate(order)}
    assert columns({"q": judged}, {"q": best}, PERFECT) == {name: [1.0] for name in PERFECT}
    # Only neighbours change places, so that values come as close to 1 as they can.
    for _ in range(3):
        place = chance.randrange(len(order))
        order[place : place + 2] = order[place : place + 2][::-1]
    scores = {doc: -float(place) for place, doc in enumerate(order)}
    for name, values in columns({"q": judged}, {"q": scores}, PERFECT).items():
        assert values[0] <= 1.0, name


@given(case=without_ties())
def test_judged_only_equals_a_list_without_unjudged_documents(case):
    qrels, run = case
    kept = {
        query: {doc: score for doc, score in docs.items() if qrels.get(query, {}).get(doc, -1) >= 0}
        for query, docs in run.items()
    }
    assume(kept["q1"])
    measures = [*EVERY, *MORE]
    assert columns(qrels, run, measures, judged_only=True) == columns(qrels, kept, measures)


@given(case=collections(), depth=st.integers(1, 14))
def test_depth_equals_a_list_that_was_cut_there(case, depth):
    qrels, run = case
    cut = {query: {doc: docs[doc] for doc in in_order(docs)[:depth]} for query, docs in run.items()}
    measures = [*EVERY, *MORE]
    assert columns(qrels, run, measures, depth=depth) == columns(qrels, cut, measures)


@given(case=collections(), rel=st.integers(2, 4))
def test_a_higher_threshold_equals_judgements_made_binary_there(case, rel):
    qrels, run = case
    binary = {
        query: {doc: int(grade >= rel) if grade >= 0 else grade for doc, grade in docs.items()}
        for query, docs in qrels.items()
    }
    strict = columns(qrels, run, BINARY, rel=rel)
    assert strict == columns(binary, run, BINARY)
    named = [re.sub("(@|$)", rf"(rel={rel})\1", name, count=1) for name in BINARY]
    assert list(columns(qrels, run, named).values()) == list(strict.values())


@given(case=collections())
def test_gains_equal_judgements_with_those_grades(case):
    qrels, run = case
    gains = {1: 3, 2: 9}
    graded = {q: {doc: gains.get(one, one) for doc, one in qrels[q].items()} for q in qrels}
    with_gains = [f"{name}(gains={gains})" for name in GRADED]
    assert [*columns(qrels, run, with_gains).values()] == [*columns(graded, run, GRADED).values()]

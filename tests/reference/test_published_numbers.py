"""Numbers that others printed, with their source. Named slips are corrected."""

from __future__ import annotations

import math

import pytest

from heldout import evaluate


def ranked(grades, more=()):
    """Qrels and a run with these grades in rank order; `more` were not retrieved."""
    judged = {f"d{place:02}": grade for place, grade in enumerate([*grades, *more])}
    return judged, {f"d{place:02}": -float(place) for place in range(len(grades))}


def evaluated(lists, measures):
    """Lists of grades, one per query, as they were ranked."""
    pairs = {f"q{number}": ranked(grades) for number, grades in enumerate(lists)}
    qrels = {query: judged for query, (judged, _) in pairs.items()}
    run = {query: scores for query, (_, scores) in pairs.items()}
    return evaluate(qrels, run, measures)


def marks(text, relevant):
    return [int(mark == relevant) for mark in text]


# Järvelin & Kekäläinen, Cumulated gain-based evaluation of IR techniques, TOIS 20(4), 2002: the
# gain vector of their example, its first ten ranks. The ideal list is that of the same ten
# documents, as in the worked example that lectures make of it.
GAINS = [3, 2, 3, 0, 0, 1, 2, 2, 3, 0]
CLASSIC = {
    "DCG": [3, 5, 6.89, 6.89, 6.89, 7.28, 7.99, 8.66, 9.61, 9.61],
    "IDCG": [3, 6, 7.89, 8.89, 9.75, 10.53, 10.88, 10.88, 10.88, 10.88],
    # At rank four 6.89 / 8.89 is .775; a printed .76 is a slip.
    "nDCG": [1, 0.833, 0.873, 0.775, 0.707, 0.691, 0.734, 0.796, 0.882, 0.882],
}


def test_classic_dcg_of_jarvelin_and_kekalainen():
    for family, printed in CLASSIC.items():
        result = evaluated([GAINS], [f"{family}(dcg='classic')@{k}" for k in range(1, 11)])
        found = [result.value(0, at) for at in range(10)]
        assert found == pytest.approx(printed, abs=0.001 if family == "nDCG" else 0.006), family


# Manning, Raghavan & Schütze, Introduction to Information Retrieval (2008), exercise 8.8: a list
# of twenty, eight relevant documents in all. Precision, F1, precision at a recall of 25 %,
# interpolated precision at 33 %, average precision.
TEXTBOOK = marks("RRNNNNNNRNRNNNRNNNNR", "R")
# A worked example: O X O X X X X X O X, O being relevant.
ALONG = marks("OXOXXXXXOX", "O")
# Wikipedia, Discounted cumulative gain, section Example: D1 … D6 with grades 3, 2, 3, 0, 1, 2;
# D7 and D8, with grades 3 and 2, are known and were not retrieved.
WIKIPEDIA = [3, 2, 3, 0, 1, 2]
ONE_LIST = [
    (TEXTBOOK, [1, 1], "P@20", 6 / 20, 1e-12),
    (TEXTBOOK, [1, 1], "F@20", 2 * 0.3 * 0.75 / (0.3 + 0.75), 1e-12),
    (TEXTBOOK, [1, 1], "P@2", 1, 0),
    (TEXTBOOK, [1, 1], "R@2", 0.25, 0),
    (TEXTBOOK, [1, 1], "IPrec@0.33", 4 / 11, 1e-12),
    (TEXTBOOK, [1, 1], "AP", (1 + 1 + 3 / 9 + 4 / 11 + 5 / 15 + 6 / 20) / 8, 1e-12),
    (ALONG, [], "P@1", 1.0, 0),
    (ALONG, [], "P@3", 0.667, 5e-4),
    (ALONG, [], "P@5", 0.4, 1e-12),
    (ALONG, [], "P@10", 0.3, 1e-12),
    (WIKIPEDIA, [3, 2], "DCG@6", 6.861, 5e-4),
    (WIKIPEDIA, [3, 2], "IDCG@6", 8.740, 5e-4),
    (WIKIPEDIA, [3, 2], "nDCG@6", 0.785, 5e-4),
    # Moffat & Zobel, Rank-biased precision for measurement of retrieval effectiveness, TOIS 27(1),
    # 2008: behind depth d a residual of p^d remains, and all relevant documents weigh 1 - p^d.
    *(
        ([1] * depth, [], f"{name}(p={p})", value, 1e-9 * value)
        for p, depth in ((0.5, 10), (0.8, 20), (0.95, 100))
        for name, value in (("RBP", 1 - p**depth), ("RBPResidual", p**depth))
    ),
    # Chapelle et al., Expected reciprocal rank for graded relevance, CIKM 2009:
    # R(g) = (2^g - 1) / 2^top, written out for grades 4, 0, 2 on a scale to 4.
    ([4, 0, 2], [], "ERR(top=4)", 15 / 16 + (1 / 16) * (3 / 16) / 3, 0),
]


def test_numbers_of_one_list():
    for grades, more, measure, printed, close in ONE_LIST:
        judged, scores = ranked(grades, more)
        found = evaluate({"q": judged}, {"q": scores}, measure).value(0, 0)
        assert abs(found - printed) <= close, (measure, found, printed)


def test_worked_example_of_two_users():
    """Relevant items at ranks 1, 2, 10 and at ranks 2, 3, 5."""
    users = [marks("RR.......R", "R"), marks(".RR.R.....", "R")]
    measures = ["HitRate@1", "HitRate@3", "AP", "nDCG(dcg='classic')@10", "nDCG(dcg='classic')@5"]
    result = evaluated(users, measures)
    # The mean of the average precisions is .678; a printed .647 is a slip.
    assert [result.value(0, at) for at in range(3)] == pytest.approx([0.5, 1, 0.6778], abs=5e-5)
    assert result.per_unit(0, "AP").tolist() == pytest.approx([0.7667, 0.5889], abs=5e-5)
    first_user = [result.per_unit(0, at)[0] for at in (3, 4)]
    assert first_user == pytest.approx([0.8746, 0.7602], abs=5e-5)


def test_mean_reciprocal_rank_of_wikipedia():
    # Wikipedia, Mean reciprocal rank: cats at rank 3, tori at 2, viruses at 1; 11/18, about 0.61.
    result = evaluated([marks(text, "R") for text in ("..R", ".R.", "R..")], "MRR")
    assert result.value(0, 0) == pytest.approx(11 / 18, rel=1e-15)


def test_ndcg_of_the_scikit_learn_documentation():
    # Documentation of ndcg_score. It prints the first digits and dots, so they are cut here.
    judged = {"a": 10, "b": 0, "c": 0, "d": 1, "e": 5}
    for scores, measure, printed in (
        ([0.1, 0.2, 0.3, 4, 70], "nDCG", 0.69),
        ([0.05, 1.1, 1.0, 0.5, 0.0], "nDCG", 0.49),
        ([0.05, 1.1, 1.0, 0.5, 0.0], "nDCG@4", 0.35),
        ([10, 0, 0, 1, 5], "nDCG@4", 1.0),
        # Two documents share the first place; one of them has it by its id.
        ([1, 0, 0, 0, 1], "nDCG@1", 0.5),
    ):
        run = {"q": dict(zip("abcde", scores, strict=True))}
        found = evaluate({"q": judged}, run, measure).value(0, 0)
        assert math.floor(found * 100 + 1e-9) / 100 == printed, (scores, measure)

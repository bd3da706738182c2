"""Numbers that others printed, with their source. Named slips are corrected."""

from __future__ import annotations

import math

import pytest

from heldout import evaluate


def ranked(grades, more=()):
    """Qrels and a run with these grades in rank order; `more` were not retrieved."""
    judged = {f"d{place:02}": grade for place, grade in enumerate([*grades, *more])}
    return judged, {f"d{place:02}": -float(place) for place in range(len(grades))}


def values(grades, measures, more=()):
    judged, scores = ranked(grades, more)
    result = evaluate({"q": judged}, {"q": scores}, measures)
    return [result.value(0, at) for at in range(len(measures))]


def places(relevant, length):
    return [int(rank in relevant) for rank in range(1, length + 1)]


# Järvelin & Kekäläinen, Cumulated gain-based evaluation of IR techniques, TOIS 20(4), 2002: the
# gain vector of their example, its first ten ranks. The ideal list is that of the same ten
# documents, as in the worked example that lectures make of it.
GAINS = [3, 2, 3, 0, 0, 1, 2, 2, 3, 0]


def at_each_rank(family):
    return values(GAINS, [f"{family}(dcg='classic')@{k}" for k in range(1, 11)])


def test_classic_dcg_of_jarvelin_and_kekalainen():
    printed = [3, 5, 6.89, 6.89, 6.89, 7.28, 7.99, 8.66, 9.61, 9.61]
    assert at_each_rank("DCG") == pytest.approx(printed, abs=0.005)


def test_classic_ideal_dcg_of_the_worked_example():
    printed = [3, 6, 7.89, 8.89, 9.75, 10.53, 10.88, 10.88, 10.88, 10.88]
    assert at_each_rank("IDCG") == pytest.approx(printed, abs=0.006)


def test_classic_ndcg_of_the_worked_example_with_its_slip_at_rank_four_corrected():
    # 6.89 / 8.89 is .775; a printed .76 is a slip.
    printed = [1, 0.833, 0.873, 0.775, 0.707, 0.691, 0.734, 0.796, 0.882, 0.882]
    found = at_each_rank("nDCG")
    assert found == pytest.approx(printed, abs=0.001)
    assert abs(found[3] - 0.76) > 0.01


# A worked example with two users: relevant items at ranks 1, 2, 10 and at ranks 2, 3, 5.
TWO_USERS = (places({1, 2, 10}, 10), places({2, 3, 5}, 10))


def two_users(*measures):
    pairs = [ranked(grades) for grades in TWO_USERS]
    qrels = {f"user{number}": judged for number, (judged, _) in enumerate(pairs, 1)}
    run = {f"user{number}": scores for number, (_, scores) in enumerate(pairs, 1)}
    return evaluate(qrels, run, list(measures))


def test_hit_rates_of_two_users():
    result = two_users("HitRate@1", "HitRate@3")
    assert result.value(0, "HitRate@1") == 0.5
    assert result.value(0, "HitRate@3") == 1.0


def test_classic_ndcg_of_the_first_user():
    result = two_users("nDCG(dcg='classic')@10", "nDCG(dcg='classic')@5")
    assert result.per_unit(0, 0)[0] == pytest.approx(0.8746, abs=5e-5)
    assert result.per_unit(0, 1)[0] == pytest.approx(0.7602, abs=5e-5)


def test_average_precision_of_two_users_and_its_mean():
    # (1 + 1 + 3/10) / 3 and (1/2 + 2/3 + 3/5) / 3; for the mean a printed .647 is a slip.
    result = two_users("AP")
    assert result.per_unit(0, "AP").tolist() == pytest.approx([0.7667, 0.5889], abs=5e-5)
    assert result.value(0, "AP") == pytest.approx(0.6778, abs=5e-5)


def test_precision_along_a_list():
    # A worked example: O X O X X X X X O X, O being relevant.
    grades = [int(mark == "O") for mark in "OXOXXXXXOX"]
    found = values(grades, ["P@1", "P@3", "P@5", "P@10"])
    assert found == pytest.approx([1.0, 0.667, 0.4, 0.3], abs=5e-4)


# Wikipedia, Discounted cumulative gain, section Example: D1 … D6 with grades 3, 2, 3, 0, 1, 2;
# D7 and D8, with grades 3 and 2, are known and were not retrieved.
WIKIPEDIA = [3, 2, 3, 0, 1, 2]


def test_discounted_cumulative_gain_of_wikipedia():
    dcg, ideal, ndcg = values(WIKIPEDIA, ["DCG@6", "IDCG@6", "nDCG@6"], more=[3, 2])
    assert dcg == pytest.approx(6.861, abs=5e-4)
    assert ideal == pytest.approx(8.740, abs=5e-4)
    assert ndcg == pytest.approx(0.785, abs=5e-4)


def test_mean_reciprocal_rank_of_wikipedia():
    # Wikipedia, Mean reciprocal rank: cats at rank 3, tori at 2, viruses at 1; 11/18, about 0.61.
    pairs = {query: ranked(places({rank}, 3)) for query, rank in (("c", 3), ("t", 2), ("v", 1))}
    result = evaluate(
        {q: j for q, (j, _) in pairs.items()}, {q: s for q, (_, s) in pairs.items()}, "MRR"
    )
    assert result.value(0, 0) == pytest.approx(11 / 18, rel=1e-15)


# scikit-learn, documentation of ndcg_score: true relevance 10, 0, 0, 1, 5.
SKLEARN = {"a": 10, "b": 0, "c": 0, "d": 1, "e": 5}


def sklearn_ndcg(scores, measure):
    return evaluate({"q": SKLEARN}, {"q": dict(zip("abcde", scores, strict=True))}, measure).value(
        0, 0
    )


@pytest.mark.parametrize(
    ("scores", "measure", "printed"),
    [
        ([0.1, 0.2, 0.3, 4, 70], "nDCG", 0.69),
        ([0.05, 1.1, 1.0, 0.5, 0.0], "nDCG", 0.49),
        ([0.05, 1.1, 1.0, 0.5, 0.0], "nDCG@4", 0.35),
        ([10, 0, 0, 1, 5], "nDCG@4", 1.0),
        # Two documents share the first place; one of them has it by its id.
        ([1, 0, 0, 0, 1], "nDCG@1", 0.5),
    ],
)
def test_ndcg_of_the_scikit_learn_documentation(scores, measure, printed):
    found = sklearn_ndcg(scores, measure)
    # The documentation prints the first digits and dots, so they are cut and not rounded.
    assert math.floor(found * 100 + 1e-9) / 100 == printed


# Manning, Raghavan & Schütze, Introduction to Information Retrieval (2008), exercise 8.8: a list
# of twenty, eight relevant documents in all. Precision, F1, precision at a recall of 25 %,
# interpolated precision at 33 %, average precision.
def test_list_of_the_textbook_exercise():
    grades = [int(mark == "R") for mark in "RRNNNNNNRNRNNNRNNNNR"]
    measures = ["P@20", "F@20", "P@2", "IPrec@0.33", "AP", "R@2"]
    p, f1, at_quarter, at_third, ap, recall = values(grades, measures, more=[1, 1])
    assert p == 6 / 20
    assert f1 == pytest.approx(2 * 0.3 * 0.75 / (0.3 + 0.75))
    assert (at_quarter, recall) == (1.0, 0.25)
    assert at_third == 4 / 11
    assert ap == pytest.approx((1 + 1 + 3 / 9 + 4 / 11 + 5 / 15 + 6 / 20) / 8)


# Moffat & Zobel, Rank-biased precision for measurement of retrieval effectiveness, TOIS 27(1),
# 2008: behind depth d a residual of p^d remains, and all relevant documents together weigh 1 - p^d.
@pytest.mark.parametrize(("p", "depth"), [(0.5, 10), (0.8, 20), (0.95, 100)])
def test_residual_of_moffat_and_zobel(p, depth):
    rbp, residual = values([1] * depth, [f"RBP(p={p})", f"RBPResidual(p={p})"])
    assert residual == pytest.approx(p**depth, rel=1e-9)
    assert rbp == pytest.approx(1 - p**depth, rel=1e-12)


# Chapelle et al., Expected reciprocal rank for graded relevance, CIKM 2009:
# R(g) = (2^g - 1) / 2^top, written out for grades 4, 0, 2 on a scale to 4: 15/16, then
# (1/16) · (3/16) / 3.
def test_expected_reciprocal_rank_of_chapelle_written_out():
    assert values([4, 0, 2], ["ERR(top=4)"]) == [15 / 16 + (1 / 16) * (3 / 16) / 3]

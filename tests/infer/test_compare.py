"""Comparisons as a whole: what is chosen, what is said, what is refused."""

import json
import re
from dataclasses import replace

import numpy as np
import pytest
from inference_data import SAKAI, A, B, codes, scores_of
from scipy import stats

from heldout import InputError, Scores, compare
from heldout.report import text


@pytest.fixture
def two():
    return scores_of({"A": A, "B": B})


@pytest.fixture
def three():
    return scores_of(dict(zip("XYZ", SAKAI.T, strict=True)))


# What is chosen


def test_two_systems_get_randomization_and_t_side_by_side(two):
    result = compare(two)
    (claim,) = result.claims
    assert (claim.first, claim.second, result.baseline) == ("B", "A", "A")
    assert (result.anova, result.sphericity, result.friedman) == (None, None, None)
    p = {outcome.test: outcome.p for outcome in claim.outcomes}
    assert p["randomization"] == pytest.approx(0.40625, abs=1e-12)
    assert p["t"] == pytest.approx(0.29771506, abs=1e-8)
    assert claim.adjusted == p["randomization"]
    assert claim.difference.estimate == pytest.approx(0.07)
    assert (claim.effects.wins, claim.effects.ties, claim.effects.losses) == (4, 4, 2)
    assert "99.9% CI" in str(compare(two, level=0.999))


def test_one_tail_asks_whether_the_new_system_is_better(two):
    greater = compare(two, alternative="greater")
    assert greater.claims[0].outcomes[0].p == pytest.approx(0.203125, abs=1e-12)
    assert "one-tail" in codes(greater.warnings)
    # Better is lower where lower is better.
    errors = scores_of({"A": A, "B": B}, higher_is_better=False)
    assert compare(errors, alternative="less").claims[0].outcomes[0].p == pytest.approx(0.203125)
    effects = compare(errors).claims[0].effects
    assert (effects.wins, effects.losses) == (2, 4)


def test_tukey_on_the_block_design_on_request(three):
    result = compare(three, correction="tukey")
    p = {(claim.second, claim.first): claim.adjusted for claim in result.claims}
    assert p["X", "Y"] == pytest.approx(0.2566977464, abs=1e-8)
    assert p["X", "Z"] == pytest.approx(0.0956868471, abs=1e-8)
    assert p["Y", "Z"] == pytest.approx(0.8549631811, abs=1e-8)
    assert result.anova.systems.f == pytest.approx(2.475, abs=5e-4)
    assert {row.letters for row in result.systems} == {"a"}
    ranks = pytest.approx(stats.rankdata(-SAKAI, axis=1).mean(0))
    assert [one.ranks for one in result.friedman] == [ranks, ranks]
    assert compare(scores_of(SAKAI[:3])).sphericity is None  # needs more units than systems
    content = result.to_dict()
    assert content["anova"]["systems"]["f"] == pytest.approx(2.475, abs=5e-4)
    assert len(content["claims"]) == 3
    assert content["claims"][0]["p_adjusted"] == pytest.approx(0.2566977464, abs=1e-9)
    assert content == json.loads(json.dumps(content))
    # F(2, 38) = 2.475, p = 0.0976
    shown = text(compare(three), full=True).split()
    assert shown[shown.index("systems", shown.index("source")) :][:6][1::3] == ["2", "2.475"]
    assert "0.0976" in shown
    assert {"Friedman", "Greenhouse-Geisser"} <= set(shown)


def test_letters_follow_the_order_of_the_systems():
    values = np.random.default_rng(1).normal([0.1, 0.5, 0.5, 0.9], 0.1, (40, 4))
    for higher, letters in ((True, "cbba"), (False, "abbc")):
        rows = compare(scores_of(values, higher_is_better=higher), replicates=999).systems
        assert "".join(row.letters for row in rows) == letters
    rows = compare(scores_of(values), baseline="s0", replicates=999).systems
    assert {row.letters for row in rows} == {""}


def test_a_constant_difference_is_told_without_nan():
    result = compare(scores_of({"A": A, "B": A + 0.5}))
    content = result.to_dict()
    assert content == json.loads(json.dumps(content, allow_nan=False))
    assert content["claims"][0]["p_adjusted"] == pytest.approx(2 / 2**10)
    assert str(result).startswith("B is significantly better than A")
    assert "constant-difference" in codes(result.warnings)
    for copies in (2, 3):  # a system is not better than its copy
        result = compare(scores_of({f"s{number}": A for number in range(copies)}))
        assert all(claim.adjusted == 1 for claim in result.claims)


def test_zeros_and_ones_get_mcnemar_and_wilson():
    scores = scores_of({"A": [0, 0, 0, 1, 0, 0, 1, 0], "B": [1, 1, 1, 1, 1, 1, 0, 1]})
    result = compare(scores)
    (outcome,) = result.claims[0].outcomes  # the randomization test is the same
    assert outcome.test == "mcnemar"
    assert outcome.p == pytest.approx(2 * 8 / 128)  # 6 against 1: P(X >= 6 of 7), both tails
    assert {row.mean.method for row in result.systems} == {"Wilson"}


def test_folds_get_the_corrected_t_test(two, three):
    result = compare(two, test_share=1 / 9)
    assert result.claims[0].outcomes[0].test == "corrected-t"
    assert result.claims[0].outcomes[0].p > result.claims[0].outcomes[1].p
    assert any("rely on corrected-t" in one.text for one in result.warnings)
    result = compare(three, test_share=1 / 9)
    assert result.analysis.correction == "holm"
    assert all(claim.outcomes[0].test == "corrected-t" for claim in result.claims)
    asked = compare(two, test_share=1 / 9, tests=["sign"]).claims[0].outcomes
    assert [one.test for one in asked] == ["sign", "corrected-t"]


def test_the_test_that_was_asked_for_decides(three):
    result = compare(three, tests=["wilcoxon"])
    assert result.analysis.correction == "holm"
    assert result.claims[0].difference.method == "t, Bonferroni"
    assert "simultaneous 95% CI" in result.to_dict()["claims"][0]["sentence"]
    for correction in ("holm", "bonferroni", "bh"):
        claims = compare(three, correction=correction).claims
        assert all(claim.adjusted >= claim.outcomes[0].p for claim in claims)
    with pytest.raises(InputError, match="pass baseline="):
        compare(three, alternative="greater")
    assert compare(three, alternative="greater", baseline="X").claims[0].adjusted > 0.5


def test_the_seed_decides_and_threads_do_not(monkeypatch):
    values = np.random.default_rng(3).random((60, 3))
    results = []
    for threads, seed in (("1", 7), ("2", 7), ("2", 8)):
        monkeypatch.setenv("HELDOUT_THREADS", threads)
        results.append(compare(scores_of(values), baseline="s0", seed=seed).to_dict())
    assert results[0] == results[1]
    assert results[0] != results[2]


def test_progress_counts_the_pairs():
    values, seen = np.random.default_rng(1).random((12, 4)), []
    compare(scores_of(values), progress=lambda done, of: seen.append((done, of)))
    assert seen == [(number, 6) for number in range(1, 7)]


def test_frames_have_a_row_per_claim(two, three):
    found = compare(two)
    frame = found.to_frame()
    assert frame.height == 1
    assert found.to_frame("pandas").to_dict("records") == frame.to_dicts()
    with pytest.raises(InputError, match="library='arrow': expected polars or pandas"):
        found.to_frame("arrow")
    assert frame["p_randomization"][0] == pytest.approx(0.40625)
    assert frame["significant"].to_list() == [False]
    assert compare(two, level=0.55).to_frame()["significant"].to_list() == [True]
    result = compare(three)
    assert result.to_frame()["first_mean"].to_list() == pytest.approx(
        [SAKAI.mean(0)["XYZ".index(claim.first)] for claim in result.claims]
    )


# What is said


def with_judged(shares):
    return replace(scores_of({"A": A, "B": B}), judged=shares)


def ties(share):
    gaps = np.r_[np.zeros(round(20 * share)), np.linspace(0.1, 0.3, 20 - round(20 * share))]
    return {"A": np.full(20, 0.5), "B": 0.5 + gaps}


MISSING = {"A": {"q1": 0.1, "q2": 0.9, "q3": 0.5}, "B": {"q3": 0.6, "q2": 0.8, "q4": 0}}
AB, PAIR = {"A": A, "B": B}, {"A": A[:9], "B": B[:9]}
SAID = [  # what is compared, how, a code, and a fragment; none if it is not said
    (AB, {"alternative": "less"}, "one-tail", "fixed in advance"),
    (AB, {}, "one-tail", None),
    (AB, {}, "few-units", None),
    (PAIR, {}, "few-units", "only 9"),
    (AB, {"tests": ["bootstrap-shift"]}, "bootstrap-shift", r"below 100 units \(here 10\)"),
    (AB, {"tests": ["sign", "wilcoxon"]}, "other-hypothesis", "do not test whether"),
    (with_judged((1.0, 0.6)), {}, "judged-apart", "judging: A 100%, B 60%"),
    (with_judged((1.0, 0.96)), {}, "judged-apart", None),
    (MISSING, {}, "missing-left-out", "2 units left out .* for them: q1, q4"),
    (ties(0.6), {}, "many-ties", "A and B have equal scores on 60% of the units"),
    (ties(0.5), {}, "many-ties", None),
    (AB, {"tuned": ["B"]}, "tuned-one", "B was tuned but A was not"),
    (AB, {"tuned": ["A", "B"]}, "tuned-one", None),
    (AB, {"correction": "holm"}, "nothing-to-correct", "holm was not used"),
    (SAKAI, {"correction": "tukey", "tests": ["t"]}, "own-test", "tukey is a test itself"),
    (AB, {"test_share": 0.1}, "folds-independent", "t treats folds as independent"),
    (AB, {"test_share": 0.1, "tests": ["corrected-t"]}, "folds-independent", None),
]


def test_notes_are_given_where_they_are_due():
    for given, settings, code, fragment in SAID:
        table = scores_of(given) if isinstance(given, np.ndarray) else given
        found = compare(table, **settings).warnings
        assert (code in codes(found)) == (fragment is not None), (settings, code)
        said = " ".join(one.text for one in found if one.code == code)
        assert re.search(fragment or "", said), (fragment, said)


@pytest.mark.parametrize(
    ("units", "systems", "settings", "expected"),
    [
        (25, 4, {}, set()),
        (25, 4, {"correction": "holm"}, {"liberal-correction"}),
        (25, 4, {"correction": "bonferroni", "tests": ["t"]}, {"liberal-correction"}),
        (25, 4, {"tests": ["wilcoxon"]}, set()),
        (10, 4, {"tests": ["t"], "test_share": 1 / 9}, set()),
        (199, 4, {"tests": ["t"]}, {"liberal-correction"}),
        (200, 4, {"tests": ["t"]}, set()),
        (200, 20, {"tests": ["t"]}, {"liberal-correction"}),
        (25, 2, {"tests": ["t"]}, set()),
        (25, 20, {}, {"many-systems"}),
        (25, 19, {}, set()),
        (25, 20, {"baseline": "s0"}, set()),
    ],
)
def test_measured_false_claims_and_lost_power_are_said(units, systems, settings, expected):
    values = np.random.default_rng(1).random((units, systems))
    found = compare(scores_of(values), replicates=100, **settings).warnings
    assert set(codes(found)) & {"liberal-correction", "many-systems"} == expected


# What is refused


def test_what_must_not_be_done_is_refused(three):
    for settings, message in (
        ({"correction": "none"}, "several comparisons mislead"),
        ({"correction": "magic"}, "unknown correction"),
        ({"tests": ["magic"]}, "unknown test"),
        ({"tests": ["anova"]}, "anova does not test pairs"),
        ({"tests": ["mcnemar"]}, "needs scores of 0 and 1, but X has 0.7 on unit q0"),
        ({"tests": ["corrected-t"]}, "test share, 0.1111"),
        ({"tests": ["prediction-powered"]}, "pass machine judgements"),
        ({"interval": "magic"}, "unknown interval"),
        ({"alternative": "both"}, "expected one of"),
        ({"level": 2}, "between 0.5 and 1"),
        ({"baseline": "nobody"}, "no system 'nobody'"),
        ({"tuned": ["nobody"]}, "no system 'nobody'"),
        ({"baseline": "X", "correction": "tukey"}, "compares all pairs"),
        ({"replicates": 99}, "at least 100"),
        ({"seed": -1}, "seed=-1"),
        ({"test_share": 0}, "expected n_test / n_train"),
        ({"by": "units"}, "by='units': expected one of auto, unit, fold"),
        ({"positive": "yes"}, "positive='yes': is for predictions"),
        ({"undefined": 0}, "undefined=0: is for predictions"),
    ):
        with pytest.raises(InputError, match=message):
            compare(three, **settings)
    for given, message in (
        ({"A": A}, "at least two"),
        ({"A": [0.1], "B": [0.2]}, "only 1 unit in common: expected at least 2"),
        ({"A": {"q": 1}, "B": {"r": 1}}, "no unit in common"),
        ({"A": [0.1, float("nan")], "B": [0.2, 0.3]}, "not a finite number"),
        ({"A": [1e200, 1.0], "B": [0.0, 1.0]}, "scale the scores"),
        (5, "is not a table of scores: expected"),
        (None, "is not a table of scores: expected"),
        ([A, B], "is not a table of scores: expected"),
    ):
        with pytest.raises(InputError, match=message):
            compare(given)
    assert compare(Scores.of(MISSING)).claims[0].difference.estimate == pytest.approx(0.0)

"""Comparisons as a whole: what is chosen, what is said, what is refused."""

import json
from dataclasses import replace

import numpy as np
import pandas as pd
import polars as pl
import pytest

from heldout import InputError, Scores, compare, read_scores
from heldout.report import text

# The ten folds of the worked example (means .41 and .48).
A = [0.2, 0.3, 0.1, 0.4, 1, 0.8, 0.3, 0.1, 0, 0.9]
B = [0.5, 0.3, 0.1, 0.4, 1, 0.9, 0.1, 0.2, 0.5, 0.8]
# Sakai, Laboratory Experiments in Information Retrieval, Table 5.1, in tenths.
SAKAI = {
    "X": [7, 3, 2, 6, 4, 4, 0, 7, 1, 3, 5, 4, 0, 6, 5, 3, 1, 5, 2, 1],
    "Y": [5, 1, 0, 2, 4, 3, 0, 5, 3, 3, 4, 4, 1, 4, 2, 1, 1, 6, 3, 2],
    "Z": [0, 0, 2, 1, 3, 3, 1, 2, 4, 4, 4, 3, 3, 2, 2, 2, 1, 5, 4, 3],
}


def scores_of(table, **more):
    named = {
        name: {f"q{at}": value for at, value in enumerate(values)} for name, values in table.items()
    }
    return Scores.of(named, "AP", **more)


@pytest.fixture
def two():
    return scores_of({"A": A, "B": B})


@pytest.fixture
def three():
    return scores_of({name: [value / 10 for value in row] for name, row in SAKAI.items()})


def test_two_systems_get_randomization_and_t_side_by_side(two):
    result = compare(two)
    (claim,) = result.claims
    assert (claim.first, claim.second) == ("B", "A")
    p = {outcome.test: outcome.p for outcome in claim.outcomes}
    assert p["randomization"] == pytest.approx(0.40625, abs=1e-12)
    assert p["t"] == pytest.approx(0.29771506, abs=1e-8)
    assert claim.adjusted == p["randomization"]
    assert claim.difference.estimate == pytest.approx(0.07)
    assert (claim.effects.wins, claim.effects.ties, claim.effects.losses) == (4, 4, 2)


def test_one_tail_asks_whether_the_new_system_is_better(two):
    greater = compare(two, alternative="greater")
    assert greater.claims[0].outcomes[0].p == pytest.approx(0.203125, abs=1e-12)
    assert any("one-sided" in warning.text for warning in greater.warnings)


def test_better_is_lower_where_lower_is_better():
    errors = scores_of({"A": A, "B": B}, higher_is_better=False)
    assert compare(errors, alternative="less").claims[0].outcomes[0].p == pytest.approx(0.203125)


def test_tukey_on_the_block_design_on_request(three):
    result = compare(three, correction="tukey")
    p = {(claim.second, claim.first): claim.adjusted for claim in result.claims}
    assert p["X", "Y"] == pytest.approx(0.2566977464, abs=1e-8)
    assert p["X", "Z"] == pytest.approx(0.0956868471, abs=1e-8)
    assert p["Y", "Z"] == pytest.approx(0.8549631811, abs=1e-8)
    assert result.anova.systems.f == pytest.approx(2.475, abs=5e-4)
    assert {row.letters for row in result.systems} == {"a"}


@pytest.mark.parametrize("correction", ["holm", "bonferroni", "bh"])
def test_corrections_never_lower_a_p_value(three, correction):
    result = compare(three, correction=correction)
    assert all(claim.adjusted >= claim.outcomes[0].p for claim in result.claims)


@pytest.mark.parametrize("copies", [2, 3])
def test_a_system_is_not_better_than_its_copy(copies):
    result = compare(scores_of({f"s{number}": A for number in range(copies)}))
    assert all(claim.adjusted == 1 for claim in result.claims)


def test_zeros_and_ones_get_mcnemar():
    scores = scores_of({"A": [0, 0, 0, 1, 0, 0, 1, 0], "B": [1, 1, 1, 1, 1, 1, 0, 1]})
    outcome = compare(scores).claims[0].outcomes[0]
    assert outcome.test == "mcnemar"
    assert outcome.p == pytest.approx(2 * 8 / 128)  # 6 against 1: P(X >= 6 of 7), both tails
    assert len(compare(scores).claims[0].outcomes) == 1  # the randomization test is the same


@pytest.mark.parametrize(
    ("units", "systems", "settings", "codes"),
    [
        (25, 4, {}, set()),
        (25, 4, {"tests": ["t"]}, {"liberal-correction"}),
        (25, 4, {"correction": "holm"}, {"liberal-correction"}),
        (25, 4, {"correction": "bonferroni", "tests": ["t"]}, {"liberal-correction"}),
        (25, 4, {"correction": "bh"}, {"liberal-correction"}),
        (25, 4, {"tests": ["wilcoxon"]}, set()),
        (10, 4, {"tests": ["t"], "test_share": 1 / 9}, set()),
        (200, 4, {"tests": ["t"]}, set()),
        (200, 20, {"tests": ["t"]}, {"liberal-correction"}),
        (25, 2, {"tests": ["t"]}, set()),
        (25, 20, {}, {"many-systems"}),
        (25, 19, {}, set()),
        (25, 20, {"baseline": "s0"}, set()),
    ],
)
def test_measured_false_claims_and_lost_power_are_said(units, systems, settings, codes):
    values = np.random.default_rng(1).random((systems, units))
    scores = scores_of({f"s{at}": row for at, row in enumerate(values)})
    found = {note.code: note for note in compare(scores, replicates=100, **settings).warnings}
    assert found.keys() & {"liberal-correction", "many-systems"} == codes
    if "many-systems" in codes:
        assert "with a baseline" in found["many-systems"].text


def test_folds_get_the_corrected_t_test(two):
    result = compare(two, test_share=1 / 9)
    assert result.claims[0].outcomes[0].test == "corrected-t"
    assert result.claims[0].outcomes[0].p > result.claims[0].outcomes[1].p
    assert any("rely on corrected-t" in one.text for one in result.warnings)


def test_units_are_paired_by_id_and_missing_ones_named():
    first, second = {"q1": 0.1, "q2": 0.9, "q3": 0.5}, {"q3": 0.6, "q2": 0.8, "q4": 0}
    scores = Scores.of({"A": first, "B": second})
    assert scores.units == ("q2", "q3")
    assert set(scores.dropped) == {"q1", "q4"}
    assert compare(scores).claims[0].difference.estimate == pytest.approx(0.0)
    assert any("for them: q1, q4" in one.text for one in compare(scores).warnings)


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"correction": "none"}, "several comparisons mislead"),
        ({"correction": "magic"}, "unknown correction"),
        ({"tests": ["magic"]}, "unknown test"),
        ({"tests": ["corrected-t"]}, "test share, 0.1111"),
        ({"alternative": "both"}, "expected one of"),
        ({"level": 2}, "between 0.5 and 1"),
        ({"baseline": "nobody"}, "no system 'nobody'"),
        ({"baseline": "X", "correction": "tukey"}, "compares all pairs"),
        ({"replicates": 1}, "at least 100"),
    ],
)
def test_what_must_not_be_done_is_refused(three, settings, message):
    with pytest.raises(InputError, match=message):
        compare(three, **settings)


def test_too_few_of_anything_is_refused():
    with pytest.raises(InputError, match="at least two"):
        compare(scores_of({"A": A}))
    with pytest.raises(InputError, match="at least 2"):
        compare(scores_of({"A": [0.1], "B": [0.2]}))
    with pytest.raises(InputError, match="no unit in common"):
        Scores.of({"A": {"q": 1}, "B": {"r": 1}})
    with pytest.raises(InputError, match="not a finite number"):
        scores_of({"A": [0.1, float("nan")], "B": [0.2, 0.3]})


def test_warnings_are_given_where_they_are_due(two):
    shift = compare(two, tests=["bootstrap-shift"])
    assert any("too liberal below 100 units (here 10)" in one.text for one in shift.warnings)
    signs = compare(two, tests=["sign", "wilcoxon"])
    assert any("do not test whether" in one.text for one in signs.warnings)
    unlike = replace(scores_of({"A": A, "B": B}), judged=(1.0, 0.6))
    assert any("judging: A 100%, B 60%" in one.text for one in compare(unlike).warnings)


def test_the_seed_decides_and_threads_do_not(monkeypatch):
    generator = np.random.default_rng(3)
    scores = scores_of({name: generator.random(60).tolist() for name in "ABC"})
    results = []
    for threads in ("1", "2"):
        monkeypatch.setenv("HELDOUT_THREADS", threads)
        results.append(compare(scores, baseline="A", seed=7).to_dict())
    assert results[0] == results[1]


def test_json_holds_everything_at_full_precision(three):
    content = compare(three, correction="tukey").to_dict()
    assert content["anova"]["systems"]["f"] == pytest.approx(2.475, abs=5e-4)
    assert len(content["claims"]) == 3
    assert content["claims"][0]["p_adjusted"] == pytest.approx(0.2566977464, abs=1e-9)
    assert content == json.loads(json.dumps(content))


def test_frame_and_notebook(two):
    frame = compare(two).to_frame()
    assert frame.height == 1
    assert frame["p_randomization"][0] == pytest.approx(0.40625)
    assert compare(two).to_dict()["baseline"] == "A"


@pytest.mark.parametrize(
    "text",
    [
        "unit,A,B\nq1,0.2,0.5\nq2,0.3,0.3\n",
        "query_id\tA\tB\nq1\t0.2\t0.5\nq2\t0.3\t0.3\n",
        "system,unit,value\nA,q1,0.2\nA,q2,0.3\nB,q1,0.5\nB,q2,0.3\n",
    ],
)
def test_tables_are_read_wide_and_long(tmp_path, text):
    (tmp_path / "scores.csv").write_text(text)
    scores = read_scores(tmp_path / "scores.csv")
    assert scores.systems == ("A", "B")
    assert scores.values.tolist() == [[0.2, 0.5], [0.3, 0.3]]  # noqa: PD011 - an array


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("unit,A,B\nq1,0.2,x\nq2,1,1\n", r"s\.csv:2: system B: 'x' is not a number"),
        ("unit,A,B\nq1,0.2,1\nq1,1,1\n", "unit q1 appears twice"),
        ("system,unit,value\nA,q1,0.2\nA,q1,0.3\n", r"s\.csv:3: unit q1 appears twice"),
        ("A,B\n1,2\n", "no column of unit ids"),
        ("unit,A,B\nq1,nan,1\nq2,1,1\n", "not a finite number"),
    ],
)
def test_bad_tables_are_refused_in_words(tmp_path, text, message):
    (tmp_path / "s.csv").write_text(text)
    with pytest.raises(InputError, match=message):
        read_scores(tmp_path / "s.csv")


@pytest.mark.parametrize("kind", ["t", "percentile", "bca"])
def test_every_interval_holds_the_difference(two, kind):
    gap = compare(two, interval=kind, replicates=2000).claims[0].difference
    assert gap.low < 0.07 < gap.high
    assert gap.low < 0 < gap.high  # nothing was shown, so 0 is inside


def test_tuning_only_some_of_the_systems_is_pointed_out(two):
    assert any("due to tuning" in one.text for one in compare(two, tuned=["B"]).warnings)
    assert not any("tuning" in one.text for one in compare(two, tuned=["A", "B"]).warnings)


def test_all_systems_together_are_reported(three):
    shown = text(compare(three), full=True).split()
    # F(2, 38) = 2.475, p = 0.0976
    assert shown[shown.index("systems", shown.index("source")) :][:6][1::3] == ["2", "2.475"]
    assert "0.0976" in shown
    assert {"Friedman", "Greenhouse-Geisser"} <= set(shown)


def test_zeros_and_ones_get_wilson_intervals():
    row = compare(scores_of({"A": [0, 1] * 10, "B": [1] * 20})).systems[0]
    assert "ilson" in row.mean.method


def test_one_tail_over_all_pairs_is_refused(three):
    with pytest.raises(InputError, match="pass baseline="):
        compare(three, alternative="greater")
    assert compare(three, alternative="greater", baseline="X").claims[0].adjusted > 0.5


def test_a_constant_difference_is_told_without_nan():
    scores = scores_of({"A": A, "B": [value + 0.5 for value in A]})
    content = compare(scores).to_dict()
    assert content == json.loads(json.dumps(content, allow_nan=False))
    assert content["claims"][0]["p_adjusted"] == pytest.approx(2 / 2**10)
    assert str(compare(scores)).startswith("B is significantly better than A")


def test_folds_of_several_systems_are_corrected_too(three):
    result = compare(three, test_share=1 / 9)
    assert result.analysis.correction == "holm"
    assert all(claim.outcomes[0].test == "corrected-t" for claim in result.claims)
    assert all(claim.adjusted >= claim.outcomes[0].p for claim in result.claims)


def test_the_test_that_was_asked_for_decides(three):
    result = compare(three, tests=["wilcoxon"])
    assert result.analysis.correction == "holm"
    assert result.claims[0].difference.method == "t, Bonferroni"
    assert "simultaneous 95% CI" in result.to_dict()["claims"][0]["sentence"]


def test_wins_are_better_units_whichever_way_the_measure_runs():
    errors = compare(scores_of({"A": A, "B": B}, higher_is_better=False)).claims[0].effects
    assert (errors.wins, errors.losses) == (2, 4)


def test_wilson_is_for_tables_of_zeros_and_ones_only():
    row = compare(scores_of({"A": [1.0] * 10, "B": [value * 2 for value in B]})).systems[0]
    assert "ilson" not in row.mean.method


def test_levels_are_not_rounded_away(two):
    assert "99.9% CI" in str(compare(two, level=0.999))


def test_scores_beyond_reason_are_refused():
    with pytest.raises(InputError, match="scale the scores"):
        scores_of({"A": [1e200, 1.0], "B": [0.0, 1.0]})


@pytest.mark.parametrize(
    "given",
    [
        {"A": A, "B": B},
        {"A": np.array(A), "B": tuple(B)},
        {"A": dict(enumerate(A)), "B": dict(enumerate(B))},
        pd.DataFrame({"qid": range(10), "A": A, "B": B}),
        pl.DataFrame({"qid": range(10), "A": A, "B": B}),
    ],
    ids=["lists", "arrays", "dictionaries", "pandas", "polars"],
)
def test_frames_and_dictionaries_are_compared(given):
    found = compare(given)
    assert found.scores.systems == ("A", "B")
    assert found.claims == compare(scores_of({"A": A, "B": B})).claims


def test_what_has_no_scores_is_refused_in_words():
    for given in (5, None, [A, B]):
        with pytest.raises(InputError, match="is not a table of scores: expected"):
            compare(given)


def test_progress_counts_the_pairs():
    values = np.random.default_rng(1).random((12, 4))
    table = {f"s{at}": dict(enumerate(values[:, at].tolist())) for at in range(4)}
    named = {name: {f"q{q}": v for q, v in one.items()} for name, one in table.items()}
    seen = []
    compare(Scores.of(named, "score"), progress=lambda done, of: seen.append((done, of)))
    assert seen == [(at, 6) for at in range(1, 7)]

"""What is said about a comparison: sentences, warnings, marks, escapes."""

import json

import numpy as np
import pytest

from heldout import InputError, Scores, compare
from heldout.as_json import json_text
from heldout.infer.compare import note_measures
from heldout.report.claim_words import analysis_lines
from heldout.report.claims import claim_records, claims_text, sentences
from heldout.report.tables import escape_markdown

A = [0.2, 0.3, 0.1, 0.4, 1, 0.8, 0.3, 0.1, 0, 0.9]
B = [0.5, 0.3, 0.1, 0.4, 1, 0.9, 0.1, 0.2, 0.5, 0.8]
C = [0.9, 0.8, 0.7, 0.9, 1, 1, 0.8, 0.9, 0.6, 0.9]


def scores_of(table, measure="AP", **more):
    named = {
        name: {f"q{at}": value for at, value in enumerate(values)} for name, values in table.items()
    }
    return Scores.of(named, measure, **more)


@pytest.fixture
def two():
    return scores_of({"A": A, "B": B})


@pytest.fixture
def three():
    return scores_of({"A": A, "B": B, "C": C})


@pytest.mark.parametrize(("tail", "word"), [("greater", "better"), ("less", "worse")])
def test_one_tail_claims_no_more_than_was_asked(two, three, tail, word):
    (said,) = sentences(compare(two, alternative=tail))
    assert said.startswith(f"B is not significantly {word} than A: ")
    assert "one-sided" in said
    assert "one-sided 95% bound: at " + ("least" if tail == "greater" else "most") in said
    for correction in ("romano-wolf", "holm"):
        result = compare(
            three, baseline="A", alternative=tail, correction=correction, replicates=999
        )
        assert all("one-sided" in said for said in sentences(result))


def test_two_tails_say_two_tailed_and_give_both_bounds(three):
    for correction in ("tukey", "holm"):
        for said in sentences(compare(three, correction=correction)):
            assert "two-sided" in said
            assert " to " in said


@pytest.mark.parametrize("higher", [True, False])
@pytest.mark.parametrize("tail", ["two-sided", "greater", "less"])
def test_json_reports_the_tail_that_was_asked_for(higher, tail):
    scores = scores_of({"A": A, "B": B}, higher_is_better=higher)
    result = compare(scores, alternative=tail, tests=["t", "sign", "wilcoxon"])
    (content,) = json.loads(json_text(claim_records([result])))
    assert content["alternative"] == tail
    assert {test["alternative"] for test in content["claims"][0]["tests"]} == {tail}


def test_lower_is_better_turns_the_bound_and_the_word():
    errors = scores_of({"A": C, "B": A}, higher_is_better=False)
    result = compare(errors, alternative="greater")
    assert sentences(result)[0].startswith("B is significantly better than A: ")
    assert "bound: at most -" in sentences(result)[0]


@pytest.mark.parametrize(
    ("correction", "words"),
    [
        ("tukey", "Tukey's test (pooled error"),
        ("holm", "holm controls the familywise error rate"),
        ("bh", "bh controls the false discovery rate"),
    ],
)
def test_each_correction_has_its_own_reason(three, correction, words):
    why = compare(three, correction=correction).advice.why
    assert words in why
    assert why.endswith("over 3 comparisons.")
    assert ("familywise error rate" in why) == (correction not in ("bh", "by"))


def test_the_reason_counts_comparisons_with_a_baseline(three):
    assert compare(three, baseline="A").advice.why.endswith("over 2 comparisons.")


def test_a_correction_of_one_comparison_is_not_passed_over_in_silence(two):
    said = compare(two, correction="tukey").warnings
    assert any("tukey was not used: two systems" in one.text for one in said)
    assert not any("was not used" in one.text for one in compare(two).warnings)


def test_a_correction_that_is_a_test_says_who_decides(three):
    said = map(str, compare(three, tests=["sign"], correction="tukey").warnings)
    assert any("tukey is a test itself and decides; sign is shown beside it" in one for one in said)


def test_several_measures_each_at_alpha_are_pointed_out(two):
    other = scores_of({"A": A, "B": B}, "RR")
    noted = note_measures([compare(two), compare(other)])
    said = "2 measures x 1 comparison, each at alpha 0.05"
    assert all(any(one.text.startswith(said) for one in result.warnings) for result in noted)
    assert all(any("the first, AP," in one.text for one in result.warnings) for result in noted)
    assert note_measures(noted)[0].warnings == noted[0].warnings
    assert note_measures([compare(two)])[0].warnings == compare(two).warnings
    first, _ = json.loads(json_text(claim_records([compare(two), compare(other)])))
    assert any(one["text"].startswith(said) for one in first["warnings"])


def test_folds_are_corrected_or_warned_of_everywhere(three):
    result = compare(three, test_share=1 / 9)
    assert all(row.mean.method == "corrected t over folds" for row in result.systems)
    anova, ranks = analysis_lines(result)[:2]
    assert "takes folds for independent" in anova
    assert "ranks take folds for independent" in ranks
    plain = "\n".join(analysis_lines(compare(three)))
    assert "folds" not in plain
    asked = compare(three, test_share=1 / 9, tests=["randomization"], correction="tukey")
    assert asked.advice.tests == ("randomization", "corrected-t")
    assert any(
        one.text.startswith("randomization and tukey treat folds as independent")
        for one in asked.warnings
    )
    kind = compare(three, test_share=1 / 9, interval="t").warnings
    assert any("the t interval treats folds as independent" in one.text for one in kind)


def test_folds_of_zeros_and_ones_get_no_wilson_interval():
    scores = scores_of({"A": [0, 1, 0, 1, 1], "B": [1, 1, 0, 1, 1]})
    row = compare(scores, test_share=0.25).systems[0]
    assert row.mean.method == "corrected t over folds"


def test_nothing_that_varies_is_said_once():
    lines = analysis_lines(compare(scores_of({"A": A, "B": A, "C": A})))
    assert lines[0] == "All systems together: nothing varies between the systems."
    assert "nan" not in "\n".join(lines).replace("anything", "")
    shifted = scores_of({"A": A, "B": [value + 1 for value in A], "C": [value + 2 for value in A]})
    text = claims_text(compare(shifted), "table")
    assert "the same on every unit: no variation" in text
    assert "nan" not in text
    assert "inf" not in text


def test_sphericity_where_two_systems_are_equal():
    text = claims_text(compare(scores_of({"A": A, "B": A, "C": C})), "table")
    assert "Greenhouse-Geisser epsilon 0.500" in text
    assert "nan" not in text
    assert "inf" not in text


def test_constant_differences_are_undefined_and_warned_of():
    result = compare(scores_of({"A": A, "B": [value + 0.5 for value in A]}))
    table = claims_text(result, "tsv")
    assert "undefined" in table
    assert "inf" not in table
    assert any(one.text.startswith("B - A is +0.5 on every unit") for one in result.warnings)
    assert not any(
        "every unit" in one.text for one in compare(scores_of({"A": A, "B": B})).warnings
    )


def test_latex_stars_are_marks_in_the_column_of_differences_only():
    text = claims_text(compare(scores_of({"A*": A, "C*": C})), "latex")
    rows = [line for line in text.splitlines() if line.startswith(("A*", "C*"))]
    assert rows[0].startswith("A* & ")
    assert rows[1].startswith("C* & ")
    assert text.count("$^{*}$") == 1


def test_names_are_escaped_in_markdown():
    names = {"<img src=x>": A, "a|b*c*": C}
    lines = claims_text(compare(scores_of(names)), "md").splitlines()
    assert all("<img" not in line.replace(r"\<img", "") for line in lines)
    assert r"a\|b\*c\*" in lines[3]
    assert lines[3].count("|") - lines[3].count(r"\|") == len(lines[0].split("|")) - 1
    assert "+0.4400*" in lines[3]


def test_markdown_escapes_what_would_be_markup():
    assert escape_markdown("[x](http://y)") == r"[x\](http://y)"
    assert escape_markdown("_a_ my_run &lt; a & b") == r"\_a\_ my_run \&lt; a & b"
    assert escape_markdown("[0.1, 0.2] p < 0.05") == "[0.1, 0.2] p < 0.05"
    assert escape_markdown("1. A", line=True) == r"1\. A"
    assert escape_markdown("> A", line=True) == r"\> A"


def test_numbers_agree_with_their_nouns():
    first, second = dict(zip("abcd", A, strict=False)), dict(zip("abc", B, strict=False))
    said = [one.text for one in compare(Scores.of({"A": first, "B": second}), tuned=["A"]).warnings]
    assert "1 unit left out because a system has no score for it: d" in said
    assert "A was tuned but B was not: the difference may be due to tuning" in said
    three = scores_of({"A": A, "B": B, "C": C})
    said = [one.text for one in compare(three, tuned=["A", "B"]).warnings]
    assert "A, B were tuned but C was not: the difference may be due to tuning" in said
    (claim,) = compare(scores_of({"A": [0, 0], "B": [1, 0]}), tests=["sign", "t"]).claims
    assert claim.outcomes[0].detail == "1 win, 0 losses, 1 tie"
    assert claim.outcomes[1].detail == "1 degree of freedom"


def test_mcnemar_names_the_score_it_cannot_take(two):
    with pytest.raises(InputError, match=r"A has 0\.2 on unit q0: use randomization, t"):
        compare(two, tests=["mcnemar"])


def test_resampled_corrections_say_how_and_how_sure():
    generator = np.random.default_rng(0)
    scores = scores_of({name: generator.random(30).tolist() for name in "ABC"})
    result = compare(scores, baseline="A", replicates=999)
    for claim, said in zip(result.claims, sentences(result), strict=True):
        assert "999 replicates, seed 0, ± 0.0" in said
        p = claim.adjusted
        assert claim.adjusted_error == pytest.approx((p * (1 - p) / 999) ** 0.5)

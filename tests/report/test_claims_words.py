"""What is said about a comparison: sentences, warnings, marks, escapes."""

import json

import pytest

from heldout import InputError, Scores, compare
from heldout.as_json import json_text
from heldout.infer.comparison import note_measures
from heldout.report.claim_words import analysis_lines
from heldout.report.claims import claim_records, claims_text, sentences

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


def test_lower_is_better_turns_the_bound_and_the_word():
    errors = scores_of({"A": C, "B": A}, higher_is_better=False)
    result = compare(errors, alternative="greater")
    assert sentences(result)[0].startswith("B is significantly better than A: ")
    assert "bound: at most -" in sentences(result)[0]


def test_a_correction_of_one_comparison_is_not_passed_over_in_silence(two):
    said = compare(two, correction="tukey").warnings
    assert any("tukey was not used: two systems" in one.text for one in said)
    assert not any("was not used" in one.text for one in compare(two).warnings)


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
    assert asked.analysis.tests == ("randomization", "corrected-t")
    assert any(
        one.text.startswith("randomization and tukey treat folds as independent")
        for one in asked.warnings
    )
    kind = compare(three, test_share=1 / 9, interval="t").warnings
    assert any("the t interval treats folds as independent" in one.text for one in kind)


def test_nothing_that_varies_is_said_once():
    lines = analysis_lines(compare(scores_of({"A": A, "B": A, "C": A})))
    assert lines[0] == "All systems together: nothing varies between the systems."
    assert "nan" not in "\n".join(lines).replace("anything", "")
    shifted = scores_of({"A": A, "B": [value + 1 for value in A], "C": [value + 2 for value in A]})
    text = claims_text(compare(shifted), "table")
    assert "the same on every unit: no variation" in text
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


def test_names_are_escaped_in_markdown():
    names = {"<img src=x>": A, "a|b*c*": C}
    lines = claims_text(compare(scores_of(names)), "md").splitlines()
    assert all("<img" not in line.replace(r"\<img", "") for line in lines)
    assert r"a\|b\*c\*" in lines[3]
    assert lines[3].count("|") - lines[3].count(r"\|") == len(lines[0].split("|")) - 1
    assert "+0.4400*" in lines[3]


def test_mcnemar_names_the_score_it_cannot_take(two):
    with pytest.raises(InputError, match=r"A has 0\.2 on unit q0: use randomization, t"):
        compare(two, tests=["mcnemar"])

"""What is said about a comparison: the answer first, in lines that fit a terminal."""

import numpy as np
import pytest

from heldout import InputError, Scores, compare
from heldout.infer.comparison import note_measures
from heldout.report import tables, text
from heldout.report.comparison import comparisons_text, paper_text
from heldout.report.page.render import tables_page
from heldout.report.table import write_tables

A = [0.2, 0.3, 0.1, 0.4, 1, 0.8, 0.3, 0.1, 0, 0.9]
B = [0.5, 0.3, 0.1, 0.4, 1, 0.9, 0.1, 0.2, 0.5, 0.8]
C = [0.9, 0.8, 0.7, 0.9, 1, 1, 0.8, 0.9, 0.6, 0.9]


def scores_of(table, measure="AP", **more):
    named = {
        name: {f"q{number}": value for number, value in enumerate(values)}
        for name, values in table.items()
    }
    return Scores.of(named, measure, **more)


def systems(count, gap=0.0, seed=5, names="system-number-{}"):
    rng = np.random.default_rng(seed)
    values = rng.random((30, 1)) + rng.normal(0, 0.05, (30, count)) + gap * np.arange(count)
    named = [names.format(number) for number in range(count)]
    return Scores("nDCG@10", named, [f"q{n}" for n in range(30)], values.clip(0, 2), unit="query")


def written(tables, kind):
    if kind == "html":
        return tables_page("tables", tables).partition("<main>")[2].partition("</main>")[0]
    return write_tables(tables, kind)


def sentences(comparison):
    return [claim["sentence"] for claim in comparison.to_dict()["claims"]]


TWO, THREE = scores_of({"A": A, "B": B}), scores_of({"A": A, "B": B, "C": C})


def test_two_systems_take_three_lines_and_the_verdict_is_first():
    found = compare(systems(2, gap=0.1))
    first, counts, test = str(found).splitlines()
    (claim,) = found.claims
    assert first.startswith("system-number-1 is significantly better than system-number-0: nDCG@10")
    assert f"difference {claim.difference.estimate:+.4f}, 95% CI [" in first
    assert counts.startswith("30 queries: ")
    assert test.startswith("Test: Fisher's randomization test (two-sided")
    assert sentences(found) == [first]


def test_the_better_system_is_named_first_in_any_order():
    (one,) = sentences(compare(scores_of({"new": C, "old": A})))
    (other,) = sentences(compare(scores_of({"old": A, "new": C})))
    assert one == other
    assert one.startswith("new is significantly better than old: AP 0.8500 vs 0.4100, difference +")
    (errors,) = sentences(compare(scores_of({"A": C, "B": A}, higher_is_better=False)))
    assert errors.startswith("B is significantly better than A: AP 0.4100 vs 0.8500 (lower is bet")
    assert "difference -0.4400" in errors


@pytest.mark.parametrize(("side", "word"), [("greater", "better"), ("less", "worse")])
def test_one_side_claims_no_more_than_was_asked(side, word):
    found = compare(TWO, alternative=side)
    bounds = r"95% CI [-" if side == "greater" else "95% CI (-∞, +"
    assert str(found).startswith(f"B is not significantly {word} than A: ")
    assert bounds in str(found)
    for correction in ("", "romano-wolf", "holm"):
        asked = {"baseline": "A", "correction": correction, "replicates": 999}
        assert "(one-sided" in str(compare(THREE, alternative=side, **asked))


def test_several_systems_fit_eighty_columns():
    found = compare(systems(9, gap=0.03), correction="tukey")
    lines = text(found, width=80).splitlines()
    assert len(lines) <= 30
    start = next(n for n, line in enumerate(lines) if line.startswith("   system"))
    table = lines[start : start + 10]
    assert max(map(len, lines[: start + 10])) <= 80
    assert [line.split()[0] for line in table[1:]] == [str(rank) for rank in range(1, 10)]
    means = [float(line.split()[2]) for line in table[1:]]
    assert means == sorted(means, reverse=True)
    assert any(line.startswith("residual") for line in lines)  # the analysis is an ANOVA
    assert "residual" not in str(compare(systems(9), correction="holm"))
    long = compare(systems(3, names="x" * 50 + "{}"), correction="holm")
    assert max(map(len, text(long, width=80).splitlines())) <= 80


def test_the_answer_names_those_that_the_best_does_not_beat():
    found = compare(systems(5, gap=0.02), correction="holm")
    best = max(found.systems, key=lambda row: row.mean.estimate).name
    beaten = {
        name
        for claim in found.claims
        if claim.adjusted <= 0.05 and best in claim[:2]
        for name in claim[:2]
    } - {best}
    answer = str(found).splitlines()[0]
    assert f"{best} is significantly better than {len(beaten)} of the other 4, but not " in answer
    equals = answer.rstrip(".").rpartition("but not than ")[2].split(", ")
    assert {*beaten, *equals, best} == set(found.scores.systems)


def test_copies_and_contradictions():
    for copies in (2, 3):
        found = compare(scores_of({f"s{number}": A for number in range(copies)}))
        assert all("have the same AP on all 10 units" in said for said in sentences(found))
    together = text(found, full=True)
    assert "Nothing varies between the systems." in together
    assert "nan" not in together.replace("variance", "")
    losses = [0.95 + gap for gap in [0.01] * 15 + [-0.9] * 3]
    (said,) = sentences(compare(scores_of({"A": [0.95] * 18, "B": losses}), tests=["sign"]))
    assert "wins and means point in different directions" in said
    shifted = scores_of({name: [value + n for value in A] for n, name in enumerate("ABC")})
    everything = text(compare(shifted), full=True)
    assert "the same on every unit: no variation" in everything
    assert "inf" not in everything


def test_full_has_all_analyses():
    everything = text(compare(THREE, correction="tukey"), full=True)
    for words in ("Partial eta squared", "Greenhouse-Geisser", "Friedman", "p (t)", "won/tied/"):
        assert words in everything, words
    assert "folds" not in everything
    folds = text(compare(THREE, test_share=1 / 9), full=True)
    assert "Both take folds for independent." in folds


def test_of_very_many_pairs_those_with_the_best_are_listed(monkeypatch):
    found = compare(systems(5), replicates=199)
    pairs = write_tables(tables(found), "tsv").count("\nsystem-number-")
    monkeypatch.setattr("heldout.report.comparison.MOST_SHOWN", 4)
    few = write_tables(tables(found), "tsv").count("\nsystem-number-")
    assert (pairs, few) == (10, 4)
    assert "4 of 10 pairs: pairs with the best system are listed" in text(found, full=True)


def test_several_measures():
    both = [compare(TWO), compare(scores_of({"A": A, "B": B}, "RR"))]
    noted = note_measures(both)
    said = "2 measures x 1 comparison, each at alpha 0.05"
    for result in noted:
        (note,) = (note for note in result.warnings if note.code == "many-measures")
        assert note.text.startswith(said)
        assert "the first, AP," in note.text
    assert note_measures(noted)[0].warnings == noted[0].warnings
    assert note_measures(both[:1])[0].warnings == both[0].warnings
    shown = comparisons_text(noted)
    assert shown.count("[many-measures]") == 1  # each note once
    assert shown.endswith("The verdict is the same in AP and RR.\n")
    assert "Warning" not in comparisons_text(noted, quiet=True)


@pytest.mark.parametrize("kind", ["text", "tsv", "md", "latex", "html"])
def test_every_format_has_systems_and_difference_and_no_markup(kind):
    shown = written(tables(compare(TWO)), kind)
    assert "+0.0700" in shown
    assert "0.4062" in shown or "0.4063" in shown
    names = {"<script>": A, "a|b*c*": C, "\\x\x1b[2J": B}
    evil = written(tables(compare(scores_of(names))), kind)
    assert "\x1b" not in evil
    markup = {"html": "<script>", "md": "a|b*c*", "latex": r"\x"}
    assert markup.get(kind, "\x1b") not in evil


@pytest.mark.parametrize("baseline", [None, "system-number-0"])
def test_a_paper_table_marks_what_is_better(baseline):
    found = compare(systems(4, gap=0.2), correction="holm", baseline=baseline)
    latex = paper_text([found, found])
    last = next(line for line in latex.splitlines() if "system-number-3" in line)
    best = rf"\textbf{{{found.systems[3].mean.estimate:.4f}}}"
    mark = "a,b,c" if baseline is None else r"\dag{}"
    assert last.count(f"{best}$^{{{mark}}}$") == 2
    assert "Holm's method, two-sided, p " in latex
    assert found.to_latex().count(r"\\") == 5
    others = compare(systems(3), correction="holm")
    with pytest.raises(InputError, match="the same systems and baseline in every measure"):
        paper_text([found, others])

"""What is said about a comparison, an evaluation and a ledger: the answer first, in few columns."""

import json

import numpy as np
import pytest

from heldout import InputError, Run, Scores, compare, evaluate
from heldout.infer.ledger import Look
from heldout.report import tables, text
from heldout.report.answers import answer
from heldout.report.comparison import paper_text
from heldout.report.evaluation import evaluation_tables
from heldout.report.ledger import ledger_tables, ledger_text
from heldout.report.standing import Gap, Row, Standing
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


def sentences(comparison):
    return [claim["sentence"] for claim in comparison.to_dict()["claims"]]


def answer_of(comparison):
    return str(comparison).splitlines()[0]


TWO, THREE = scores_of({"A": A, "B": B}), scores_of({"A": A, "B": B, "C": C})


def test_two_systems_take_three_lines_and_the_verdict_is_first():
    found = compare(systems(2, gap=0.1))
    first, counts, test = str(found).splitlines()
    (claim,) = found.claims
    assert first.startswith("system-number-1 is significantly better than system-number-0: nDCG@10")
    assert f"difference {claim.difference.estimate:+.4f}, 95% CI [" in first
    effects = claim.effects
    won = f"{effects.wins} won, {effects.ties} tied, {effects.losses} lost"
    assert counts == f"30 queries: {won}; effect size d_z {effects.standardised:+.2f}."
    assert test.startswith("Test: Fisher's randomization test (two-sided")
    assert sentences(found) == [first]
    # The better system is named first in any order, also where less is better.
    assert sentences(compare(scores_of({"new": C, "old": A}))) == sentences(
        compare(scores_of({"old": A, "new": C}))
    )
    losses = compare(Scores("loss", ["A", "C"], list("0123456789"), np.c_[A, C], False))
    assert answer_of(losses).startswith(
        "A is significantly better than C: loss 0.4100 vs 0.8500 (l"
    )


def test_the_answers_of_several_systems():
    apart = answer_of(compare(systems(3, gap=0.5), correction="holm"))
    assert apart.endswith(", and is significantly better than all others.")
    alike = answer_of(compare(systems(3), correction="holm"))
    assert alike.endswith(", but no difference to the others is significant.")
    based = answer_of(compare(THREE, baseline="B", correction="holm"))
    assert based.startswith("2 systems compared with B (AP 0.4800): ")
    assert "1 significantly better (C)" in based
    assert "1 not significantly different (A)" in based


def made_up(scores, gaps=(), **more):
    """A standing of systems A, B, …, the best first; gaps are pairs with value and p."""
    rows = [Row(name, one, one - 0.1, one + 0.1) for name, one in zip("ABC", scores, strict=False)]
    known = [Gap(*pair, value, value - 0.1, value + 0.1, p <= 0.05, p) for pair, value, p in gaps]
    return Standing("AP", True, tuple(rows), tuple(known), 0.95)._replace(**more)


def test_verdicts_word_by_word():
    pair = [("AB", 0.2, 0.0002)]
    three = [("AB", 0.0, 1.0), ("AC", 0.2, 0.01), ("BC", 0.2, 0.01)]
    for board, said in (
        (made_up([0.5]), "A reaches AP 0.5000 [0.4000, 0.6000]."),
        (
            made_up([0.5, 0.3], where="on new documents"),
            (
                "A has the best AP of 2 systems on new documents, 0.5000 [0.4000, 0.6000]; "
                "the systems were not compared."
            ),
        ),
        (
            made_up([0.5, 0.3], pair),
            (
                "A is significantly better than B: AP 0.5000 vs 0.3000, difference +0.2000, 95% CI "
                "[+0.1000, +0.3000], p = 0.0002."
            ),
        ),
        (
            made_up([0.3, 0.5], pair, up=False, simultaneous=True),
            (
                "B is significantly better than A: AP 0.5000 vs 0.3000 (lower is better), "
                "difference -0.2000, simultaneous 95% CI [-0.3000, -0.1000], p = 0.0002."
            ),
        ),
        (
            made_up([0.5, 0.5, 0.3], three),
            (
                "A, B share the highest AP of 3 systems, 0.5000 [0.4000, 0.6000]; A is "
                "significantly better than 1 of the other 2, but not than B."
            ),
        ),
        (
            made_up([0.5, 0.5, 0.3], three[1:], baseline="C"),
            "2 systems compared with C (AP 0.3000): 2 significantly better (A, B).",
        ),
    ):
        assert answer(board) == said
    # What is second minus first has the other sign, bounds and counts.
    gap = Gap("A", "B", 0.2, 0.1, 0.4, True, 0.01, counts=(5, 1, 2), effect=0.3)
    turned = Gap("B", "A", -0.2, -0.4, -0.1, True, 0.01, counts=(2, 1, 5), effect=-0.3)
    assert gap.reversed() == turned


def test_copies_and_contradictions():
    for copies in (2, 3):
        found = compare(scores_of({f"s{number}": A for number in range(copies)}))
        assert all("have the same AP on all 10 units" in said for said in sentences(found))
        assert " won" not in str(found)
    together = text(found, full=True)
    assert "Nothing varies between the systems." in together
    assert "nan" not in together.replace("variance", "")
    losses = [0.95 + gap for gap in [0.01] * 15 + [-0.9] * 3]
    (said,) = sentences(compare(scores_of({"A": [0.95] * 18, "B": losses}), tests=["sign"]))
    assert "wins and means point in different directions" in said


def test_full_has_all_analyses_and_of_very_many_pairs_those_with_the_best(monkeypatch):
    everything = text(compare(THREE, correction="tukey"), full=True)
    for words in ("Partial eta squared", "Greenhouse-Geisser", "Friedman", "p (t)", "won/tied/"):
        assert words in everything, words
    found = compare(systems(5), replicates=199)
    pairs = write_tables(tables(found), "tsv").count("\nsystem-number-")
    monkeypatch.setattr("heldout.report.comparison.MOST_SHOWN", 4)
    few = write_tables(tables(found), "tsv").count("\nsystem-number-")
    assert (pairs, few) == (10, 4)
    assert "4 of 10 pairs: pairs with the best system are listed" in text(found, full=True)


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


def test_several_systems_fit_eighty_columns():
    found = compare(systems(9, gap=0.03), correction="tukey")
    lines = text(found, width=80).splitlines()
    start = next(n for n, line in enumerate(lines) if line.startswith("   system"))
    table = lines[start : start + 10]
    assert max(map(len, lines[: start + 10])) <= 80
    assert [line.split()[0] for line in table[1:]] == [str(rank) for rank in range(1, 10)]
    means = [float(line.split()[2]) for line in table[1:]]
    assert means == sorted(means, reverse=True)
    long = compare(systems(3, names="x" * 50 + "{}"), correction="holm")
    assert max(map(len, text(long, width=80).splitlines())) <= 80


# Evaluations


QRELS = {"q1": {"a": 1}, "q2": {"b": 1}, "q3": {"c": 1}}
RANKED = {"q1": {"x": 2.0, "y": 1.5, "a": 1.0}, "q2": {"b": 1.0}}
BETTER = {"q1": {"a": 1.0}, "q2": {"b": 1.0}, "q9": {"a": 1.0}}


def evaluated(*runs, measures=("RR",)):
    named = [Run.of(run, f"run{at}") for at, run in enumerate(runs)]
    return evaluate(QRELS, named, measures)


def test_an_evaluation_in_all_formats():
    def shown(result, kind, **options):
        return write_tables(evaluation_tables(result, kind, **options), kind)

    one = evaluated(RANKED, measures=("NumRet", "RR", "RelString"))
    lines = shown(one, "tsv", per_unit=True).splitlines()
    assert [line.split("\t")[2] for line in lines] == ["NumRet", "3", "1", "0", "4"]
    latex = shown(evaluated(RANKED, BETTER), "latex", per_unit=True)
    assert latex.count("textbf") == 1
    assert r"run1 & all & \textbf{0.6667} \\" in latex
    assert shown(evaluated(BETTER, BETTER), "latex").count(r"\textbf{0.6667}") == 2
    content = one.to_dict(per_unit=True)  # exact, and null for what is undefined
    assert json.loads(json.dumps(content, allow_nan=False)) == content
    (run,) = content["runs"]
    assert run["means"] == {"NumRet": 4.0, "RR": (1 / 3 + 1) / 3, "RelString": None}
    assert run["queries"]["q1"] == {"NumRet": 3.0, "RR": 1 / 3, "RelString": "--1"}
    assert content["queries"] == 3


def test_columns_that_do_not_fit_go_into_further_tables():
    measures = [f"P@{cutoff}" for cutoff in range(1, 9)]
    result = evaluated(RANKED, measures=measures)
    for columns, count in ((30, 3), (50, 2), (200, 1)):
        shown = text(result, width=columns, quiet=True)
        heads = [line for line in shown.splitlines() if line.startswith("run ")]
        assert [cell for head in heads for cell in head.split()[1:]] == measures
        assert max(map(len, shown.splitlines())) <= columns
        assert len(heads) == count


# Ledgers


def look(number, first="a", second="b", data="abc"):
    time = "2026-11-17T07:08:00.355429+00:00"
    facts = (data, (first, second), "nDCG@10", "t", 0.01, 0.1, 30, "heldout", time, number, 0.02)
    return Look(*facts)


def test_a_ledger_fits_eighty_columns_and_has_a_table_for_each_data_set():
    long = "a-system-with-a-very-long-name-indeed"
    for names in (("a", "b"), ("a", long), (long, long + "-2")):
        shown = ledger_text([look(1, *names), look(2, *names)], width=80)
        table = [line for line in shown.splitlines() if line.startswith(("#", "1", "2"))]
        assert len(table) == 3
        assert max(map(len, table)) <= 80
        assert " - " in table[1]
        assert "Data abc: 2 evaluations" in shown
    rows = [look(1), look(1, data="other")]
    assert ledger_text(rows).count("#  date") == 2
    tsv = write_tables(ledger_tables(rows), "tsv")
    assert "355429" not in ledger_text(rows) + tsv  # no microseconds
    assert "2026-11-17T07:08:00+00:00" in tsv
    assert ledger_text([]) == "No evaluations.\n"

"""Tables of results: escaped for where they go, the best marked, nothing rounded in JSON."""

import json

import pytest

from heldout import Run, evaluate
from heldout.report.evaluation import (
    evaluation_json,
    evaluation_text,
)

QRELS = {"q1": {"a": 1}, "q2": {"b": 1}, "q3": {"c": 1}}
RANKED = {"q1": {"x": 2.0, "y": 1.5, "a": 1.0}, "q2": {"b": 1.0}}
BETTER = {"q1": {"a": 1.0}, "q2": {"b": 1.0}, "q9": {"a": 1.0}}
MEANS = {"per_query": False, "summary": True}
ALL = {"per_query": True, "summary": True}


def evaluated(*names, measures=("RR",), **options):
    """Two runs, of which the second is better, under any names."""
    contents = [RANKED, BETTER]
    runs = [Run.of(contents[at], name) for at, name in enumerate(names)]
    return evaluate(QRELS, runs, measures, **options)


def rows_of(text):
    return [line.split("\t") for line in text.splitlines()]


def test_counts_are_printed_as_whole_numbers():
    rows = rows_of(
        evaluation_text(evaluated("one", measures=("NumRet", "RR")), "tsv", digits=4, **ALL)
    )
    assert [row[2] for row in rows] == ["NumRet", "3", "1", "0", "4"]


def test_a_name_cannot_break_out_of_a_tsv_cell_or_steer_a_terminal():
    text = evaluation_text(evaluated("tab\there\nline\x1b[31m\x9b"), "tsv", digits=4, **MEANS)
    assert text.count("\n") == 2
    assert [row[0] for row in rows_of(text)] == ["run", "tab\ufffdhere\ufffdline\ufffd[31m\ufffd"]


def test_latex_escapes_every_special_character():
    text = evaluation_text(evaluated(r"a_b&c%d#e$f{g}h~i^j\k"), "latex", digits=4, **MEANS)
    expected = (
        r"a\_b\&c\%d\#e\$f\{g\}h\textasciitilde{}i\textasciicircum{}j\textbackslash{}k"
        r" & 0.4444 \\"
    )
    assert expected in text.splitlines()


def test_latex_sets_the_best_mean_in_bold_and_nothing_else():
    text = evaluation_text(evaluated("one", "two"), "latex", digits=4, **ALL)
    assert text.count("textbf") == 1
    assert r"two & all & \textbf{0.6667} \\" in text


def test_latex_marks_all_of_several_equal_means():
    result = evaluate(QRELS, [Run.of(BETTER, "one"), Run.of(BETTER, "two")], "RR")
    assert evaluation_text(result, "latex", digits=4, **MEANS).count(r"\textbf{0.6667}") == 2


def test_json_is_exact_and_has_null_for_what_is_undefined():
    content = json.loads(evaluation_json(evaluated("one", measures=("RR", "RelString")), **ALL))
    (run,) = content["runs"]
    assert run["means"] == {"RR": (1 / 3 + 1) / 3, "RelString": None}
    assert run["queries"]["q1"] == {"RR": 1 / 3, "RelString": "--1"}
    assert content["queries"] == 3


@pytest.mark.parametrize("columns", [30, 50, 200])
def test_columns_that_do_not_fit_go_into_further_tables(monkeypatch, columns):
    monkeypatch.setenv("COLUMNS", str(columns))
    measures = [f"P@{cutoff}" for cutoff in range(1, 9)]
    text = evaluation_text(
        evaluated("one", measures=measures), "table", digits=4, terminal=True, **MEANS
    )
    heads = [line for line in text.splitlines() if line.startswith("run")]
    shown = [cell for head in heads for cell in head.split()[1:]]
    assert shown == measures
    assert max(map(len, text.splitlines())) <= columns
    assert len(heads) == {30: 3, 50: 2, 200: 1}[columns]

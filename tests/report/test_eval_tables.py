"""Tables of results: escaped for where they go, the best marked, nothing rounded in JSON."""

import json

import pytest

from heldout import Run, evaluate
from heldout.report import text
from heldout.report.evaluation import evaluation_tables
from heldout.report.table import write_tables

QRELS = {"q1": {"a": 1}, "q2": {"b": 1}, "q3": {"c": 1}}
RANKED = {"q1": {"x": 2.0, "y": 1.5, "a": 1.0}, "q2": {"b": 1.0}}
BETTER = {"q1": {"a": 1.0}, "q2": {"b": 1.0}, "q9": {"a": 1.0}}


def evaluated(*names, measures=("RR",), **options):
    """Two runs, of which the second is better, under any names."""
    contents = [RANKED, BETTER]
    runs = [Run.of(contents[at], name) for at, name in enumerate(names)]
    return evaluate(QRELS, runs, measures, **options)


def written(evaluation, kind, **options):
    return write_tables(evaluation_tables(evaluation, kind, **options), kind)


def rows_of(shown):
    return [line.split("\t") for line in shown.splitlines()]


def test_counts_are_printed_as_whole_numbers():
    rows = rows_of(written(evaluated("one", measures=("NumRet", "RR")), "tsv", per_unit=True))
    assert [row[2] for row in rows] == ["NumRet", "3", "1", "0", "4"]


def test_a_name_cannot_break_out_of_a_tsv_cell_or_steer_a_terminal():
    shown = written(evaluated("tab\there\nline\x1b[31m\x9b"), "tsv")
    assert shown.count("\n") == 2
    assert [row[0] for row in rows_of(shown)] == ["run", "tab\ufffdhere\ufffdline\ufffd[31m\ufffd"]


def test_latex_escapes_every_special_character():
    shown = written(evaluated(r"a_b&c%d#e$f{g}h~i^j\k"), "latex")
    expected = (
        r"a\_b\&c\%d\#e\$f\{g\}h\textasciitilde{}i\textasciicircum{}j\textbackslash{}k"
        r" & 0.4444 \\"
    )
    assert expected in shown.splitlines()


def test_latex_sets_the_best_mean_in_bold_and_nothing_else():
    shown = written(evaluated("one", "two"), "latex", per_unit=True)
    assert shown.count("textbf") == 1
    assert r"two & all & \textbf{0.6667} \\" in shown


def test_latex_marks_all_of_several_equal_means():
    result = evaluate(QRELS, [Run.of(BETTER, "one"), Run.of(BETTER, "two")], "RR")
    assert written(result, "latex").count(r"\textbf{0.6667}") == 2


def test_json_is_exact_and_has_null_for_what_is_undefined():
    content = evaluated("one", measures=("RR", "RelString")).to_dict(per_unit=True)
    assert json.loads(json.dumps(content, allow_nan=False)) == content
    (run,) = content["runs"]
    assert run["means"] == {"RR": (1 / 3 + 1) / 3, "RelString": None}
    assert run["queries"]["q1"] == {"RR": 1 / 3, "RelString": "--1"}
    assert content["queries"] == 3


@pytest.mark.parametrize(("columns", "tables"), [(30, 3), (50, 2), (200, 1)])
def test_columns_that_do_not_fit_go_into_further_tables(columns, tables):
    measures = [f"P@{cutoff}" for cutoff in range(1, 9)]
    shown = text(evaluated("one", measures=measures), width=columns, quiet=True)
    heads = [line for line in shown.splitlines() if line.startswith("run")]
    assert [cell for head in heads for cell in head.split()[1:]] == measures
    assert max(map(len, shown.splitlines())) <= columns
    assert len(heads) == tables

"""Tables of results: escaped for where they go, the best marked, nothing rounded in JSON."""

import json

import pytest

from heldout import Run, evaluate
from heldout.report.evaluation import (
    evaluation_json,
    evaluation_text,
    policy_lines,
)
from heldout.report.measures import describe_measures

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


def test_tsv_is_rounded_to_the_digits():
    result = evaluated("one", "two")
    assert rows_of(evaluation_text(result, "tsv", digits=2, **MEANS)) == [
        ["run", "RR"],
        ["one", "0.44"],
        ["two", "0.67"],
    ]


def test_tsv_of_queries_has_a_row_for_each_and_one_for_the_mean():
    rows = rows_of(evaluation_text(evaluated("one"), "tsv", digits=4, **ALL))
    assert rows == [
        ["run", "query", "RR"],
        ["one", "q1", "0.3333"],
        ["one", "q2", "1.0000"],
        ["one", "q3", "0.0000"],
        ["one", "all", "0.4444"],
    ]


def test_counts_are_printed_as_whole_numbers():
    rows = rows_of(
        evaluation_text(evaluated("one", measures=("NumRet", "RR")), "tsv", digits=4, **ALL)
    )
    assert [row[2] for row in rows] == ["NumRet", "3", "1", "0", "4"]


def test_a_name_cannot_break_out_of_a_tsv_cell_or_steer_a_terminal():
    text = evaluation_text(evaluated("tab\there\nline\x1b[31m\x9b"), "tsv", digits=4, **MEANS)
    assert text.count("\n") == 2
    assert [row[0] for row in rows_of(text)] == ["run", "tab\ufffdhere\ufffdline\ufffd[31m\ufffd"]


def test_markdown_escapes_bars():
    text = evaluation_text(evaluated("a|b"), "md", digits=4, **MEANS)
    assert text.splitlines()[2] == r"| a\|b | 0.4444 |"


def test_markdown_aligns_texts_left_and_numbers_right():
    result = evaluated("one", measures=("RR", "P@1"))
    assert (
        evaluation_text(result, "md", digits=4, **MEANS).splitlines()[1] == "| --- | ---: | ---: |"
    )
    assert (
        evaluation_text(result, "md", digits=4, **ALL).splitlines()[1]
        == "| --- | --- | ---: | ---: |"
    )


def test_markdown_says_what_was_done_below_the_table():
    result = evaluated("one")
    text = evaluation_text(result, "md", digits=4, **MEANS)
    assert text.splitlines()[-1] == "; ".join(policy_lines(result))


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


def test_latex_marks_nothing_when_there_is_one_run():
    assert "textbf" not in evaluation_text(evaluated("one"), "latex", digits=4, **MEANS)


def test_latex_marks_all_of_several_equal_means():
    result = evaluate(QRELS, [Run.of(BETTER, "one"), Run.of(BETTER, "two")], "RR")
    assert evaluation_text(result, "latex", digits=4, **MEANS).count(r"\textbf{0.6667}") == 2


def test_json_is_exact_and_has_null_for_what_is_undefined():
    content = json.loads(evaluation_json(evaluated("one", measures=("RR", "RelString")), **ALL))
    (run,) = content["runs"]
    assert run["means"] == {"RR": (1 / 3 + 1) / 3, "RelString": None}
    assert run["queries"]["q1"] == {"RR": 1 / 3, "RelString": "--1"}
    assert content["queries"] == 3


def test_what_is_undefined_is_called_so():
    rows = rows_of(
        evaluation_text(evaluated("one", measures=("RelString",)), "tsv", digits=4, **MEANS)
    )
    assert rows[1] == ["one", "undefined"]


def test_html_escapes_names():
    page = evaluation_text(evaluated("<script>alert('x')</script>&"), "html")
    assert "<script>" not in page
    assert ">&lt;script&gt;alert(&#x27;x&#x27;)&lt;/script&gt;&amp;</th>" in page
    assert evaluated("one")._repr_html_().startswith("<style>")


def test_policies_tell_of_missing_and_unjudged_queries_of_each_run():
    lines = policy_lines(evaluated("one", "two"))
    assert lines[0] == "queries: 3"
    assert "one lacks 1 judged query" in lines
    assert "two lacks 1 judged query" in lines
    assert "two has 1 query without judgements: ignored" in lines
    assert not any(line.startswith("one has") for line in lines)


def test_policies_tell_how_many_queries_count():
    assert policy_lines(evaluated("one", "two", missing="skip"))[0] == "queries: 2 of 3 judged"


def test_the_table_is_plain_text_unless_for_a_terminal():
    text = evaluation_text(evaluated("one", "two"), "table", digits=4, **MEANS)
    assert "\x1b" not in text
    cells = [line.split() for line in text.splitlines()]
    assert cells[0] == ["run", "RR"]
    assert cells[1:] == [["two", "0.6667"], ["one", "0.4444"]]  # the best first


def test_a_name_in_square_brackets_is_no_markup_and_no_control_gets_through():
    text = evaluation_text(evaluated("[bold]x[/bold]\x1b[2J"), "table", digits=4, **MEANS)
    assert "[bold]x[/bold]\ufffd[2J" in text


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


def test_every_family_is_described_by_a_sentence():
    lines = describe_measures([]).splitlines()
    measures = [line.split(None, 1) for line in lines if line.startswith("  ")]
    assert len(measures) > 80
    assert [cells for cells in measures if len(cells) < 2 or len(cells[1]) <= 10] == []


def test_a_family_is_described_under_any_of_its_names():
    expected = describe_measures(["nDCG"])
    assert expected.startswith("nDCG(")
    for name in ("ndcg", "nDCG@10", "ndcg_cut_5", "nDCG(dcg='exp')@3"):
        assert describe_measures([name]) == expected

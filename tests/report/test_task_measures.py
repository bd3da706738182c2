"""The list of measures: everything that can be asked for is in it, and nothing else."""

import pytest

from heldout.cli import main
from heldout.measure.names import definitions
from heldout.measure.parse import parse_measures
from heldout.measure.ranking.names import families
from heldout.report.formulas import FORMULAS
from heldout.report.measures import describe_measures, listed_measures
from heldout.report.task_measures import task_measures


def names(task):
    return [one.name for one in task_measures([]) if one.task == task]


def test_every_measure_is_described():
    for task in ("classification", "regression", "text"):
        assert names(task) == list(definitions(task))
    for one in task_measures([]):
        [parsed] = parse_measures([one.name], one.task)
        assert parsed.higher_is_better == one.higher_is_better
        assert one.formula


def test_all_tasks_are_listed(capsys):
    """One line for each measure, under its kind of input."""
    main(["list", "measures"])
    out = capsys.readouterr().out
    heads = [line.split()[0] for line in out.splitlines() if line.startswith("  ")]
    assert len(heads) == len(listed_measures([]))
    assert {"nDCG[@k]", "alpha_nDCG@k", "F1", "RMSE", "Kendall", "BLEU", "Embedding"} <= set(heads)
    assert "\nRanking, from judgements by subtopic, and a run:\n" in out
    assert "Classification, from true classes and probabilities:\n" in out
    assert "Lower is better. Also: mean_squared_error." in out


def test_a_named_measure_has_parameters_formula_and_input(capsys):
    main(["list", "measures", "kappa", "BLEU", "alpha_nDCG"])
    out = capsys.readouterr().out
    assert "\nkappa(linear | quadratic, undefined=0)\n" in out
    assert "BLEU(order=4" in out
    assert "    input: judgements by subtopic, and a run\n" in out
    assert "    formula: 1 - Σ w_ij n_ij / Σ w_ij e_ij" in out


def test_every_measure_has_a_formula_and_no_other_has_one():
    for task, formulas in FORMULAS.items():
        listed = [one for one in listed_measures([]) if one.task == task]
        own = {one.name for one in listed if not hasattr(family_of(one), "own")}
        assert own == set(formulas)
    assert all(one.input and one.summary for one in listed_measures([]))


def family_of(one):
    """The function of a ranking measure; a test may have defined its own."""
    return getattr(families().get(one.name), "compute", None) if one.task == "ranking" else None


@pytest.mark.parametrize(
    ("name", "heads"),
    [
        ("MCC", ["MCC"]),
        ("rmse", ["RMSE"]),
        ("ROUGE-L(stem=True)", ["ROUGE-L"]),
        ("F1", ["F", "F1", "TokenF1"]),  # of rankings, of classes, of answers
        ("em", ["ExactMatch"]),
    ],
)
def test_a_measure_is_found_by_its_names(name, heads):
    lines = describe_measures([name]).splitlines()
    assert [line.partition("(")[0] for line in lines if line[0] != " "] == heads

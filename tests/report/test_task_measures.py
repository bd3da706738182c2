"""The list of measures: everything that can be asked for is in it, and nothing else."""

import pytest

from heldout.cli import main
from heldout.measure.base import TASKS, definitions
from heldout.report.measures import describe_measures, listed_measures


def own(one):
    """Whether it was defined by another test."""
    return definitions(one.task)[one.name].own is not None


def test_every_measure_is_described():
    listed = [one for one in listed_measures([]) if not own(one)]
    for task in TASKS:
        known = [name for name, one in definitions(task).items() if one.own is None]
        assert sorted(one.name for one in listed if one.task == task) == sorted(known)
    assert all(one.input and one.summary for one in listed)
    without = {one.name for one in listed if not one.formula}  # counts say what they are
    assert all(name.startswith("Num") or name == "RelString" for name in without)


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

"""The list of measures: everything that can be asked for is in it, and nothing else."""

import pytest

from heldout.cli import main
from heldout.measure.base import TASKS, definitions
from heldout.report.listings import listed_measures, measures_text


def own(measure):
    """Whether it was defined by another test."""
    return definitions(measure["task"])[measure["name"]].own is not None


def test_every_measure_is_described():
    listed = [measure for measure in listed_measures() if not own(measure)]
    for task in TASKS:
        known = [name for name, measure in definitions(task).items() if measure.own is None]
        names = [measure["name"] for measure in listed if measure["task"] == task]
        assert sorted(names) == sorted(known)
    assert all(measure["input"] and measure["summary"] for measure in listed)
    # Counts say what they are.
    without = {measure["name"] for measure in listed if not measure["formula"]}
    assert all(name.startswith("Num") or name == "RelString" for name in without)


def test_all_tasks_are_listed(capsys):
    """One line for each measure, under its kind of input."""
    main(["list", "measures"])
    out = capsys.readouterr().out
    rows = [part.splitlines()[2:] for part in out.split("\n\n")]  # below a title and a head
    heads = [line.split()[0] for lines in rows for line in lines]
    assert len(heads) == len(listed_measures())
    assert {"nDCG[@k]", "alpha_nDCG@k", "F1", "RMSE", "Kendall", "BLEU", "Embedding"} <= set(heads)
    assert "\nRanking, from judgements by subtopic, and a run\n" in out
    assert "Classification, from true classes and probabilities\n" in out
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
    lines = measures_text([name]).splitlines()
    assert [line.partition("(")[0] for line in lines if line[0] != " "] == heads

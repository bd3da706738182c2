"""The list of measures: everything that can be asked for is in it, and nothing else."""

import json

import pytest

from heldout.cli import main
from heldout.measure.parse import parse_measures
from heldout.measure.prediction.names import CLASS_MEASURES, NUMBER_MEASURES
from heldout.measure.text.names import text_measure_kinds
from heldout.report.measures import describe_measures
from heldout.report.task_measures import task_measures


def names(task):
    return [one.name for one in task_measures([]) if one.task == task]


def test_every_measure_of_predictions_is_described():
    assert names("classification") == list(CLASS_MEASURES)
    assert names("regression") == list(NUMBER_MEASURES)
    for one in task_measures([]):
        if one.task != "text":
            [parsed] = parse_measures([one.name], one.task)
            assert parsed.higher_is_better == one.higher_is_better


def test_every_measure_of_texts_is_described():
    """Longer n-grams of ROUGE are told of with the first."""
    longer = {f"ROUGE-{size}" for size in range(2, 10)}
    assert set(names("text")) == set(text_measure_kinds()) - longer


def test_settings_that_are_shown_are_understood():
    for shown in ("F(beta=2, weighted)", "ECE(bins=5, equal-count)", "AUC(ovo, weighted)"):
        parse_measures([shown], "classification")
    [bleu] = task_measures(["bleu"])
    assert "smooth='exp'" in bleu.settings
    assert "level" not in task_measures(["sentBLEU"])[0].settings


def test_all_tasks_are_listed(capsys):
    main(["measures"])
    out = capsys.readouterr().out
    for line in ("nDCG(", "F1(macro | micro", "RMSE()", "BLEU(order=4", "Embedding(vectors, kind="):
        assert f"\n{line}" in out
    assert "    Text: exp of minus the mean log-probability" in out
    assert "Lower is better." in out


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


def test_an_unknown_name_is_refused(capsys):
    with pytest.raises(SystemExit) as ended:
        main(["measures", "accurracy"])
    assert ended.value.code == 2
    assert "unknown measure" in capsys.readouterr().err


def test_plain_values_for_programs():
    assert json.dumps([one._asdict() for one in task_measures([])])

"""The commands eval and compare on predicted classes and numbers."""

import re
import shlex
from pathlib import Path

import pytest

from commands import ended, parsed, printed
from heldout.data.prediction_files import detect_task

SPAM = ("weak.csv", "strong.csv", "noise.csv")
PAIR = ("old.csv", "new.csv")
pytestmark = pytest.mark.usefixtures("here")


def values(record, at=0):
    return {name: one["value"] for name, one in record["systems"][at]["measures"].items()}


def write(name, rows, head="unit,truth,prediction"):
    lines = [",".join(map(str, row)) for row in rows]
    Path(name).write_text("\n".join([head, *lines]) + "\n")
    return name


@pytest.fixture
def lecture(here):
    """TP 80, FN 20, FP 5, TN 195."""
    counts = [(80, "yes", "yes"), (20, "yes", "no"), (5, "no", "yes"), (195, "no", "no")]
    pairs = [(truth, guess) for count, truth, guess in counts for _ in range(count)]
    return here / write("lecture.csv", [(n, *pair) for n, pair in enumerate(pairs)])


def test_the_worked_matrix_with_its_baselines(lecture, capsys):
    shown = printed(capsys, "eval", lecture, "--positive", "yes", "--per-class")
    main_table, per_class = shown.out.split("\n\n")
    rows = [line.split("\t") for line in main_table.splitlines()]
    assert rows[0] == [
        *("system", "accuracy", "interval", "balanced-accuracy", "F1(macro)", "MCC", "kappa")
    ]
    assert rows[1][:4] == ["lecture", "0.9167", "[0.8799, 0.9429]", "0.8875"]
    assert rows[2] == ["(majority class)", "0.6667", "—", "0.5000", "—", "—", "0.0000"]
    assert rows[3] == ["(random by shares)", "0.5556", "—", "0.5000", "0.5000", "0.0000", "0.0000"]
    yes = per_class.splitlines()[2].split("\t")
    assert yes == ["lecture", "yes", "100", "0.9412", "0.8000", "0.9750", "0.0250", "0.8649"]
    assert "F1(macro) of (majority class) does not exist: class yes: it was never" in shown.err
    record = parsed(capsys, "eval", lecture)
    undefined = record["systems"][1]["measures"]["F1(macro)"]
    assert (undefined["value"], "never predicted" in undefined["undefined"]) == (None, True)
    assert record["confusion"][0]["confusion"] == [[195, 5], [20, 80]]
    assert record["systems"][0]["measures"]["accuracy"]["interval"]["method"] == "Wilson"


def test_the_hull_names_who_never_helps(lecture, capsys):
    shown = printed(capsys, "eval", *SPAM, "--hull")
    assert "noise" in shown.err.partition("dominated: ")[2].splitlines()[0]
    assert "hull\tFP rate\tTP rate\tthreshold" in shown.out
    # Predictions without scores are points.
    assert "lecture\t0.0250\t0.8000\t—" in printed(capsys, "eval", lecture, "--hull").out


def test_two_classifiers_on_one_hold_out(capsys):
    [record] = parsed(capsys, "compare", *PAIR)
    claim = record["claims"][0]
    assert (record["measure"], record["units"], record["baseline"]) == ("accuracy", 80, "old")
    assert (claim["first"], claim["second"]) == ("new", "old")
    assert claim["tests"][0]["test"] == "mcnemar"
    assert claim["significant"]
    accuracy = [f"{one['estimate']:.4f}" for one in reversed(record["systems"])]
    assert f"accuracy {' vs '.join(accuracy)}" in printed(capsys, "compare", *PAIR).out
    assert [record] == parsed(capsys, "compare", "--task", "classification", *PAIR)
    ledger = ("--gate", "non-inferior", "--margin", "0.05", "--ledger", "mine.jsonl")
    shown = printed(capsys, "compare", *PAIR, *ledger)
    assert "passed: new is not worse than old" in shown.err
    _, err, code = ended(capsys, "compare", *PAIR[::-1], "-m", "F1(macro)", *ledger)
    assert code == 1
    assert "failed: old is worse than new by more than 0.05 in F1(macro)" in err
    assert "evaluation 2 of these data" in err


def test_numbers(capsys):
    gaps = (("old", 2), ("new", 1))
    rows = [
        (at, system, at + 1, at + 1 + gap * (-1) ** at) for system, gap in gaps for at in range(20)
    ]
    path = write("n.csv", rows, "unit,system,truth,prediction")
    given = ("--task", "regression", path, "-m", "RMSE", "-m", "R2")
    lines = printed(capsys, "eval", *given).out.splitlines()
    assert lines[1].startswith("old\t2.0000\t0.8")
    assert lines[3].startswith("(mean)\t5.7663\t0.0000")
    both = parsed(capsys, "compare", *given)
    assert [one["claims"][0]["difference"] < 0 for one in both] == [True, False]
    assert any("2 measures" in warning["text"] for warning in both[0]["warnings"])
    write("n.csv", [("a", 1, 2), ("b", 0, 1)])
    said = printed(capsys, "eval", "--task", "regression", path).err
    assert "MAPE of n does not exist" in said
    assert "the truth is 0 for 1 unit (b)" in said


def test_predictions_are_told_by_their_columns(here):
    for text, task in {
        "unit,truth,prediction\n1,a,b\n": "classification",
        "unit,truth,prediction\n1,0,1\n2,1,1\n": "classification",
        "unit,truth,prediction\n1,3,3.5\n": "regression",
        '{"unit": 1, "truth": 2.5, "prediction": 2}\n': "regression",
        '{"unit": 1, "truth": "a", "probabilities": {"a": 1}}\n': "classification",
        "q1 0 d1 1\nq1 0 d2 0\n": "",
        "{broken\n": "",
    }.items():
        (here / "file").write_text(text)
        assert detect_task([here / "file"]) == task, text


def test_notes_of_predictions_are_beside_the_result(capsys):
    rows = [(name, n, n % 2, n % 3 % 2, "g", n // 8) for name in "AB" for n in range(24)]
    write("g.csv", rows, "system,unit,truth,prediction,group,fold")
    code = "[crossing-groups]"
    table, tsv = (printed(capsys, "compare", "g.csv", "-f", kind) for kind in ("table", "tsv"))
    assert (table.out.count(code), table.err.count(code)) == (1, 0)
    assert (tsv.out.count(code), tsv.err.count(code)) == (0, 1)
    assert printed(capsys, "eval", "g.csv").err.count(code) == 1
    assert [one["code"] for one in parsed(capsys, "eval", "g.csv")["warnings"]] == [code[1:-1]]


def test_the_documentation_shows_what_is_printed(capsys):
    """Wherever a page has a table of predictions, followed by commands of eval."""
    seen = 0
    for path in (Path(__file__).parents[1] / "docs").rglob("*.md"):
        page = path.read_text(encoding="utf-8")
        tables = re.findall(r"```csv\n(.*?)```", page, re.DOTALL)
        for command, shown in re.findall(
            r"```sh\n\$ heldout eval (.*?)\n(.*?)```", page, re.DOTALL
        ):
            seen += 1
            names = [word for word in shlex.split(command) if word.endswith(".csv")]
            for name, table in zip(dict.fromkeys(names), tables, strict=False):
                Path(name).write_text(table)
            found = printed(capsys, "eval", *shlex.split(command))
            assert found.out == shown, path.name
            if "--hull" in command:  # of Fawcett's example
                assert "area under the ROC convex hull: 0.7550" in found.err
    assert seen

"""The commands eval and compare on predicted classes and numbers, and what they refuse."""

import json
import re
import shlex
from pathlib import Path

import numpy as np
import pytest
from sklearn import metrics

from heldout.cli import main


def typed(task, *arguments):
    """``compare`` if the arguments have --compare, else ``eval``."""
    given = list(map(str, arguments))
    command = "compare" if "--compare" in given else "eval"
    return [command, "--task", task, *(one for one in given if one != "--compare")]


def run(capsys, *arguments):
    main(typed(*arguments))
    return capsys.readouterr()


def fails(capsys, *arguments):
    with pytest.raises(SystemExit) as ended:
        main(typed(*arguments))
    assert ended.value.code == 2
    error = capsys.readouterr().err
    assert "Traceback" not in error
    return error


@pytest.fixture
def lecture(tmp_path):
    """TP 80, FN 20, FP 5, TN 195."""
    counts = [(80, "yes", "yes"), (20, "yes", "no"), (5, "no", "yes"), (195, "no", "no")]
    rows = [(truth, guess) for count, truth, guess in counts for _ in range(count)]
    text = "".join(f"{at},{truth},{guess}\n" for at, (truth, guess) in enumerate(rows))
    path = tmp_path / "lecture.csv"
    path.write_text("unit,truth,prediction\n" + text)
    return path


@pytest.fixture
def spam(tmp_path):
    """Three systems of different strength, in five folds."""
    random = np.random.default_rng(0)
    truth = random.integers(0, 2, 120)
    paths = []
    for name, strength in (("weak", 0.8), ("strong", 2.0), ("noise", 0.0)):
        values = strength * (2 * truth - 1) + random.normal(size=120)
        shares = 1 / (1 + np.exp(-values))
        path = tmp_path / f"{name}.csv"
        lines = [
            f"u{at},{'spam' if truth[at] else 'ham'},{shares[at]:.6f},{at % 5}\n"
            for at in range(120)
        ]
        path.write_text("unit,truth,probability,fold\n" + "".join(lines))
        paths.append(path)
    return paths


def test_the_worked_matrix_with_its_baselines(lecture, capsys):
    shown = run(capsys, "classification", lecture, "--positive", "yes", "--per-class")
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
    assert "Wilson" in shown.err


def test_json_has_what_is_undefined_as_null_with_its_reason(lecture, capsys):
    found = json.loads(run(capsys, "classification", lecture, "--json").out)
    majority = found["systems"][1]
    assert majority["measures"]["F1(macro)"]["value"] is None
    assert "never predicted" in majority["measures"]["F1(macro)"]["undefined"]
    assert found["confusion"][0]["confusion"] == [[195, 5], [20, 80]]
    assert found["systems"][0]["measures"]["accuracy"]["interval"]["method"] == "Wilson"


@pytest.mark.parametrize("form", ["table", "md", "latex"])
def test_formats(lecture, capsys, form):
    shown = run(capsys, "classification", lecture, "--format", form, "--confusion").out
    assert "0.9167" in shown
    assert "195" in shown
    assert {"table": "accuracy  ", "md": "| --- |", "latex": r"\toprule"}[form] in shown


def test_scores_agree_with_scikit_learn(spam, capsys):
    lines = [line.split(",") for line in spam[0].read_text().splitlines()]
    path = spam[0].with_name("whole.csv")  # without the folds, over which values are means
    path.write_text("".join(",".join(line[:3]) + "\n" for line in lines))
    found = json.loads(run(capsys, "classification", path, "--json").out)
    rows = lines[1:]
    truth = np.array([row[1] == "spam" for row in rows])
    shares = np.array([float(row[2]) for row in rows])
    values = {name: one["value"] for name, one in found["systems"][0]["measures"].items()}
    assert values["accuracy"] == pytest.approx(metrics.accuracy_score(truth, shares >= 0.5))
    assert values["AUC"] == pytest.approx(metrics.roc_auc_score(truth, shares))
    assert values["log-loss"] == pytest.approx(metrics.log_loss(truth, shares))
    assert values["Brier"] == pytest.approx(metrics.brier_score_loss(truth, shares))
    assert "ECE(bins=10)" in values


def test_two_classifiers_on_one_hold_out_by_mcnemar(spam, capsys):
    shown = run(capsys, "classification", *spam[:2], "--compare", "--by-unit")
    assert "McNemar" in shown.out
    assert "a test over folds does" in shown.out
    # Files may stand behind options.
    same = run(capsys, "classification", spam[0], "--compare", "--by-unit", spam[1])
    assert same.out == shown.out
    asked = ("classification", *spam[:2], "--compare", "--by-unit", "--json")
    found = json.loads(run(capsys, *asked).out)
    assert found[0]["claims"][0]["tests"][0]["test"] == "mcnemar"


def test_folds_by_the_corrected_test(spam, capsys):
    shown = run(capsys, "classification", *spam, "-m", "F1(macro)", "-m", "AUC", "--compare")
    assert shown.out.count("corrected resampled t test") >= 2
    found = json.loads(run(capsys, "classification", *spam, "--compare", "--json").out)
    claim = found[0]["claims"][0]
    assert claim["tests"][0]["test"] == "corrected-t"
    assert claim["n"] == 5


def test_areas_by_delong(spam, capsys):
    asked = ("classification", *spam, "-m", "AUC", "--compare", "--by-unit", "--json")
    [found] = json.loads(run(capsys, *asked).out)
    pairs = {(one["first"], one["second"]): one for one in found["claims"]}
    assert set(pairs) == {("strong", "weak"), ("noise", "weak"), ("noise", "strong")}
    assert pairs["strong", "weak"]["difference"] > 0
    assert all(one["p_adjusted"] >= one["p_delong"] for one in pairs.values())
    assert found["correction"] == "romano-wolf"
    # Over folds areas are not one sample; on one hold-out they have DeLong's interval.
    found = json.loads(run(capsys, "classification", spam[0], "-m", "AUC", "--json").out)
    assert "over folds" in found["systems"][0]["measures"]["AUC"]["interval"]["method"]
    held = spam[0].with_name("held.csv")
    held.write_text(
        "".join(line.rpartition(",")[0] + "\n" for line in spam[0].read_text().splitlines())
    )
    found = json.loads(run(capsys, "classification", held, "-m", "AUC", "--json").out)
    assert found["systems"][0]["measures"]["AUC"]["interval"]["method"] == "DeLong"


def test_the_hull_names_who_never_helps(spam, capsys):
    shown = run(capsys, "classification", *spam, "--hull")
    assert "dominated: " in shown.err
    assert "noise" in shown.err.partition("dominated: ")[2].splitlines()[0]
    assert "hull\tFP rate\tTP rate\tthreshold" in shown.out


def test_predictions_without_scores_are_points_of_the_hull(lecture, capsys):
    shown = run(capsys, "classification", lecture, "--hull")
    assert "lecture\t0.0250\t0.8000\t—" in shown.out


def test_regression(tmp_path, capsys):
    path = tmp_path / "n.csv"
    rows = "".join(
        f"{at},{system},{at + 1},{at + 1 + gap * (-1) ** at}\n"
        for system, gap in (("old", 2), ("new", 1))
        for at in range(20)
    )
    path.write_text("unit,system,truth,prediction\n" + rows)
    shown = run(capsys, "regression", path, "-m", "RMSE", "-m", "R2")
    lines = shown.out.splitlines()
    assert lines[0] == "system\tRMSE\tR2"  # all errors are the same: no draw differs
    assert lines[1].startswith("old\t2.0000\t0.8")
    assert lines[3].startswith("(mean)\t5.7663\t0.0000")
    shown = run(capsys, "regression", path, "-m", "RMSE", "--compare", "--format", "table")
    assert "new is significantly better than old (p < 0.0001)" in " ".join(shown.out.split())


def test_an_actual_of_zero_is_named(tmp_path, capsys):
    path = tmp_path / "n.csv"
    path.write_text("unit,truth,prediction\na,1,2\nb,0,1\n")
    shown = run(capsys, "regression", path)
    assert "MAPE of n does not exist" in shown.err
    assert f"b in {path}:3" in shown.err
    error = fails(capsys, "regression", path, "-m", "MAPE")
    assert f"the truth is 0 for 1 unit (b in {path}:3)" in error


def test_groups_are_what_is_tested(tmp_path, capsys):
    path = tmp_path / "g.csv"
    rows = "".join(
        f"{system},{at},{at % 2},{guess(at)},{at // 4}\n"
        for system, guess in (("A", lambda at: at % 2), ("B", lambda at: at % 3 % 2))
        for at in range(24)
    )
    path.write_text("system,unit,truth,prediction,group\n" + rows)
    [compared] = json.loads(run(capsys, "classification", path, "--compare", "--json").out)
    assert compared["units"] == 6
    found = json.loads(run(capsys, "classification", path, "--json").out)
    # All of A is right, so that no draw differs; B has an interval over groups.
    assert "interval" not in found["systems"][0]["measures"]["accuracy"]
    interval = found["systems"][1]["measures"]["accuracy"]["interval"]
    assert interval["method"] == "bootstrap percentile over 6 groups"
    assert interval["low"] < interval["estimate"] < interval["high"]
    assert any("resample whole groups" in line for line in found["about"])
    claim = compared["claims"][0]
    assert claim["tests"][0]["test"] == "randomization"
    assert claim["n"] == 6


def test_a_note_of_the_scores_and_of_the_comparison_is_shown_once(tmp_path, capsys):
    path = tmp_path / "crossed.csv"
    rows = "".join(
        f"{system},{at},{at % 2},{guess(at)},g,{at // 8}\n"
        for system, guess in (("A", lambda at: at % 2), ("B", lambda at: at % 3 % 2))
        for at in range(24)
    )
    path.write_text("system,unit,truth,prediction,group,fold\n" + rows)
    crossing = "[crossing-groups]"
    both = ["classification", path, "--compare"]
    table, tsv = (run(capsys, *both, "--format", kind) for kind in ("table", "tsv"))
    assert (table.out.count(crossing), table.err.count(crossing)) == (1, 0)
    assert (tsv.out.count(crossing), tsv.err.count(crossing)) == (0, 1)
    assert run(capsys, *both[:2]).err.count(crossing) == 1
    found = json.loads(run(capsys, *both[:2], "--json").out)
    assert [one["code"] for one in found["warnings"]] == ["crossing-groups"]
    found = json.loads(run(capsys, *both, "--json").out)
    assert "crossing-groups" in [one["code"] for one in found[0]["warnings"]]


def test_what_does_not_fit_is_refused(lecture, spam, tmp_path, capsys):
    assert "at least two" in fails(capsys, "classification", lecture, "--compare")
    assert "unknown measure 'RMSE'" in fails(capsys, "classification", lecture, "-m", "RMSE")
    assert "--positive maybe: no such class" in fails(
        capsys, "classification", lecture, "--positive", "maybe"
    )
    assert "at least 1 bin" in fails(capsys, "classification", lecture, "-m", "ECE(bins=0)")
    assert "no such class" in fails(capsys, "classification", lecture, "-m", "F1(class=maybe)")
    assert "--threshold 0.3 needs scores" in fails(
        capsys, "classification", lecture, "--threshold", "0.3"
    )
    (tmp_path / "more").mkdir()
    namesake = tmp_path / "more" / "weak.csv"
    namesake.write_text(spam[1].read_text())
    assert "duplicate system name weak" in fails(capsys, "classification", spam[0], namesake)
    asked = ("classification", *spam[:2], "--compare", "--by-unit", "-m", "MCC")
    assert "wilcoxon is a test of means" in fails(capsys, *asked, "--test", "wilcoxon")
    assert "a test of means" in fails(capsys, *asked, "--correction", "tukey")
    assert "unrecognized arguments: --gate" in fails(
        capsys, "classification", *spam, "--gate", "equivalent", "--margin", "1"
    )
    assert "needs a baseline" in fails(
        capsys, "classification", *spam, "--compare", "--gate", "equivalent", "--margin", "1"
    )
    other = tmp_path / "other.csv"
    other.write_text("unit,truth,prediction\n0,no,no\n1,yes,no\n")
    error = fails(capsys, "classification", lecture, other, "--compare")
    assert f"{other}:2: the truth of unit 0 is no, but yes in {lecture}:2" in error
    other.write_text("unit,truth,prediction\nx,no,no\ny,yes,no\n")
    assert "no unit in common" in fails(capsys, "classification", lecture, other, "--compare")
    assert "no such file" in fails(capsys, "classification", tmp_path / "missing.csv")


def test_one_class_only(tmp_path, capsys):
    path = tmp_path / "one.csv"
    path.write_text("unit,truth,prediction\n1,x,x\n2,x,x\n")
    shown = run(capsys, "classification", path)
    assert shown.out.splitlines()[1].split("\t")[1] == "1.0000"
    assert "MCC of one does not exist: all units are of one class" in shown.err
    assert "kappa of one does not exist" in shown.err
    path.write_text("unit,truth,prob_x,prob_y\n1,x,.6,.4\n2,x,.7,.3\n")
    lines = run(capsys, "classification", path, "-m", "AUC").out.splitlines()
    assert [line.split("\t")[1] for line in lines[1:]] == ["—", "—", "—"]


def test_output_goes_to_a_file_when_it_is_complete(lecture, tmp_path, capsys):
    out = tmp_path / "out.tsv"
    run(capsys, "classification", lecture, "-o", out)
    assert out.read_text().startswith("system\taccuracy")


def test_the_page_shows_what_is_printed(tmp_path, monkeypatch, capsys):
    page = (Path(__file__).parents[1] / "docs" / "classification.md").read_text(encoding="utf-8")
    monkeypatch.chdir(tmp_path)
    [data] = re.findall(r"```csv\n(.*?)```", page, re.DOTALL)
    Path("fawcett.csv").write_text(data)
    blocks = re.findall(r"```sh\n\$ heldout eval (.*?)\n(.*?)```", page, re.DOTALL)
    assert len(blocks) == 2
    for command, shown in blocks:
        main(["eval", *shlex.split(command)])
        printed = capsys.readouterr()
        assert printed.out == shown
    assert "area under the ROC convex hull: 0.7550" in printed.err

"""The commands eval and compare on predicted classes and numbers, and what they refuse."""

import json
import re
import shlex
from pathlib import Path

import numpy as np
import polars as pl
import pytest
from sklearn import metrics

from heldout.cli import main
from heldout.data.prediction_files import detect_task


def run(capsys, *arguments, code=None):
    if code is None:
        main(list(map(str, arguments)))
    else:
        with pytest.raises(SystemExit) as ended:
            main(list(map(str, arguments)))
        assert ended.value.code == code
    shown = capsys.readouterr()
    assert "Traceback" not in shown.err
    return shown


def found(capsys, *arguments):
    return json.loads(run(capsys, *arguments, "--json").out)


def values(record, at=0):
    return {name: one["value"] for name, one in record["systems"][at]["measures"].items()}


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
        shares = 1 / (1 + np.exp(-strength * (2 * truth - 1) - random.normal(size=120)))
        rows = [
            f"u{at},{'spam' if truth[at] else 'ham'},{shares[at]:.6f},{at % 5}\n"
            for at in range(120)
        ]
        paths.append(tmp_path / f"{name}.csv")
        paths[-1].write_text("unit,truth,probability,fold\n" + "".join(rows))
    return paths


@pytest.fixture
def files(tmp_path):
    """Two classifiers on 80 units; the second is right more often."""
    source = np.random.default_rng(0)
    truth = source.integers(0, 2, 80)
    paths = []
    for name, share in (("old", 0.6), ("new", 0.9)):
        guess = np.where(source.random(80) < share, truth, 1 - truth)
        words = ("no", "yes")
        rows = [f"u{n},{words[truth[n]]},{words[guess[n]]}\n" for n in range(80)]
        paths.append(tmp_path / f"{name}.csv")
        paths[-1].write_text("unit,truth,prediction\n" + "".join(rows))
    return paths


def test_the_worked_matrix_with_its_baselines(lecture, capsys):
    shown = run(capsys, "eval", lecture, "--positive", "yes", "--per-class")
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
    record = found(capsys, "eval", lecture)
    undefined = record["systems"][1]["measures"]["F1(macro)"]
    assert (undefined["value"], "never predicted" in undefined["undefined"]) == (None, True)
    assert record["confusion"][0]["confusion"] == [[195, 5], [20, 80]]
    assert record["systems"][0]["measures"]["accuracy"]["interval"]["method"] == "Wilson"


def test_scores_agree_with_scikit_learn(spam, capsys):
    lines = [line.split(",") for line in spam[0].read_text().splitlines()]
    path = spam[0].with_name("whole.csv")  # without the folds, over which values are means
    path.write_text("".join(",".join(line[:3]) + "\n" for line in lines))
    record = found(capsys, "eval", path)
    truth = np.array([row[1] == "spam" for row in lines[1:]])
    shares = np.array([float(row[2]) for row in lines[1:]])
    theirs = {
        "accuracy": metrics.accuracy_score(truth, shares >= 0.5),
        "AUC": metrics.roc_auc_score(truth, shares),
        "log-loss": metrics.log_loss(truth, shares),
        "Brier": metrics.brier_score_loss(truth, shares),
    }
    assert {name: values(record)[name] for name in theirs} == pytest.approx(theirs)
    assert record["systems"][0]["measures"]["AUC"]["interval"]["method"] == "DeLong"


def test_folds_by_the_corrected_test_and_units_by_mcnemar(spam, capsys):
    shown = run(capsys, "compare", *spam[:2], "--by-unit")
    assert "McNemar" in shown.out
    assert "a test over folds does" in shown.out
    [record] = found(capsys, "compare", *spam, "-m", "F1(macro)")
    claim = record["claims"][0]
    assert (claim["tests"][0]["test"], claim["n"]) == ("corrected-t", 5)
    interval = found(capsys, "eval", spam[0])["systems"][0]["measures"]["AUC"]["interval"]
    assert "over folds" in interval["method"]


def test_areas_by_delong(spam, capsys):
    [record] = found(capsys, "compare", *spam, "-m", "AUC", "--by-unit")
    pairs = {(one["first"], one["second"]): one for one in record["claims"]}
    assert set(pairs) == {("strong", "weak"), ("noise", "weak"), ("noise", "strong")}
    assert pairs["strong", "weak"]["difference"] > 0
    assert all(one["p_adjusted"] >= one["p_delong"] for one in pairs.values())


def test_the_hull_names_who_never_helps(spam, lecture, capsys):
    shown = run(capsys, "eval", *spam, "--hull")
    assert "noise" in shown.err.partition("dominated: ")[2].splitlines()[0]
    assert "hull\tFP rate\tTP rate\tthreshold" in shown.out
    # Predictions without scores are points.
    assert "lecture\t0.0250\t0.8000\t—" in run(capsys, "eval", lecture, "--hull").out


def test_two_classifiers_on_one_hold_out(files, capsys):
    [record] = found(capsys, "compare", *files)
    claim = record["claims"][0]
    assert (record["measure"], record["units"], record["baseline"]) == ("accuracy", 80, "old")
    assert (claim["first"], claim["second"]) == ("new", "old")
    assert claim["tests"][0]["test"] == "mcnemar"
    assert claim["significant"]
    assert "accuracy 0.8625 vs 0.5375" in run(capsys, "compare", *files).out
    assert [record] == found(capsys, "compare", "--task", "classification", *files)
    head, *rows = files[1].read_text().splitlines()  # neither order nor comments matter
    files[1].write_text("\n".join(["# held-out data", "", head, *rows[::-1]]) + "\n")
    assert [record] == found(capsys, "compare", *files)


def test_gate_and_ledger(files, tmp_path, capsys):
    gate = ("--gate", "non-inferior", "--margin", "0.05")
    ledger = ("--ledger", tmp_path / "looks.jsonl")
    shown = run(capsys, "compare", *files, *gate, *ledger)
    assert "passed: new is not worse than old" in shown.err
    shown = run(capsys, "compare", *files[::-1], "-m", "F1(macro)", *gate, *ledger, code=1)
    assert "failed: old is worse than new by more than 0.05 in F1(macro)" in shown.err
    assert "evaluation 2 of these data" in shown.err


@pytest.mark.parametrize("measure", ["MCC", "accuracy"])
def test_the_gate_reads_the_interval_of_the_comparison(files, capsys, measure):
    asked = ("compare", *files, "-m", measure)
    [gated] = found(capsys, *asked, "--gate", "equivalent", "--margin", "0.9")
    [ninety] = found(capsys, *asked, "--level", "0.9")
    for bound in ("low", "high"):
        assert gated["gate"][0]["interval"][bound] == ninety["claims"][0][bound]


def test_repeated_folds(tmp_path, capsys):
    source = np.random.default_rng(3)
    lines = ["system,unit,truth,prediction,repeat,fold"]
    for system, share in (("A", 0.6), ("B", 0.7), ("C", 0.75)):
        for repeat in range(2):
            guess = (source.random(40) < share).astype(int)
            lines += [
                f"{system},{n},1,{guess[n]},{repeat},{(n // 8, n % 5)[repeat]}" for n in range(40)
            ]
    path = tmp_path / "repeated.csv"
    path.write_text("\n".join(lines) + "\n")
    [record] = found(capsys, "compare", path)
    assert record["units"] == 10
    assert {one["tests"][0]["test"] for one in record["claims"]} == {"corrected-t"}
    shown = run(capsys, "eval", path)
    assert "corrected t over folds" in shown.err
    assert "means over the folds" in shown.err
    path.write_text("\n".join([*lines, lines[-1]]) + "\n")
    shown = run(capsys, "compare", path, code=2)
    assert f"{path}:242: C has unit 39 twice in repeat 1 (first in {path}:241)" in shown.err


def test_numbers(tmp_path, capsys):
    path = tmp_path / "n.csv"
    rows = "".join(
        f"{at},{system},{at + 1},{at + 1 + gap * (-1) ** at}\n"
        for system, gap in (("old", 2), ("new", 1))
        for at in range(20)
    )
    path.write_text("unit,system,truth,prediction\n" + rows)
    task = ("--task", "regression")
    lines = run(capsys, "eval", *task, path, "-m", "RMSE", "-m", "R2").out.splitlines()
    assert lines[0] == "system\tRMSE\tR2"  # all errors are the same: no draw differs
    assert lines[1].startswith("old\t2.0000\t0.8")
    assert lines[3].startswith("(mean)\t5.7663\t0.0000")
    both = found(capsys, "compare", *task, path, "-m", "RMSE", "-m", "R2")
    assert [one["claims"][0]["difference"] < 0 for one in both] == [True, False]
    assert any("2 measures" in warning["text"] for warning in both[0]["warnings"])
    assert (
        "for predicted classes"
        in run(capsys, "compare", *task, path, "--positive", "1", code=2).err
    )
    path.write_text("unit,truth,prediction\na,1,2\nb,0,1\n")
    shown = run(capsys, "eval", *task, path)
    assert "MAPE of n does not exist" in shown.err
    assert "the truth is 0 for 1 unit (b)" in shown.err


def test_groups_are_what_is_tested(tmp_path, capsys):
    path = tmp_path / "g.csv"
    guesses = (("A", lambda at: at % 2), ("B", lambda at: at % 3 % 2))
    rows = [(system, at, at % 2, guess(at)) for system, guess in guesses for at in range(24)]

    def write(head, more):
        lines = [",".join(map(str, (*row, *more(row[1])))) for row in rows]
        path.write_text("\n".join([f"system,unit,truth,prediction,{head}", *lines]) + "\n")

    write("group", lambda at: (at // 4,))
    [compared] = found(capsys, "compare", path)
    claim = compared["claims"][0]
    assert (compared["units"], claim["tests"][0]["test"], claim["n"]) == (6, "randomization", 6)
    record = found(capsys, "eval", path)
    # All of A is right, so that no draw differs; B has an interval over groups.
    assert "interval" not in record["systems"][0]["measures"]["accuracy"]
    interval = record["systems"][1]["measures"]["accuracy"]["interval"]
    assert interval["method"] == "bootstrap percentile over 6 groups"
    assert interval["low"] < interval["estimate"] < interval["high"]
    assert any("resample whole groups" in line for line in record["about"])
    write("group,fold", lambda at: ("g", at // 8))
    crossing = "[crossing-groups]"
    table, tsv = (run(capsys, "compare", path, "--format", kind) for kind in ("table", "tsv"))
    assert (table.out.count(crossing), table.err.count(crossing)) == (1, 0)
    assert (tsv.out.count(crossing), tsv.err.count(crossing)) == (0, 1)
    assert run(capsys, "eval", path).err.count(crossing) == 1
    assert [one["code"] for one in found(capsys, "eval", path)["warnings"]] == ["crossing-groups"]


def test_one_class_only(tmp_path, capsys):
    paths = [tmp_path / "one.csv", tmp_path / "two.csv"]
    for path in paths:
        path.write_text("unit,truth,prediction\n1,x,x\n2,x,x\n3,x,x\n")
    shown = run(capsys, "eval", paths[0])
    assert shown.out.splitlines()[1].split("\t")[1] == "1.0000"
    assert "MCC of one does not exist: all units are of one class" in shown.err
    shown = run(capsys, "compare", *paths, "-m", "MCC", code=2)
    assert "MCC of one is undefined (all units are of one class)" in shown.err


def test_a_class_unseen_in_training_has_probability_zero(tmp_path, capsys):
    path = tmp_path / "unseen.csv"
    path.write_text("unit,truth,prob_a,prob_b\n1,a,.6,.4\n2,b,.3,.7\n3,c,.5,.5\n")
    shown = run(capsys, "eval", path)
    assert "counts as probability 0" in shown.err
    assert "log-loss of unseen does not exist: infinite" in shown.err


@pytest.mark.parametrize("positive", ["spam", "ham"])
def test_scores_of_the_other_class_are_warned_about(tmp_path, capsys, positive):
    source = np.random.default_rng(2)
    score = source.random(60)
    noisy = score + source.normal(0, 0.2, 60)
    truth, guess = (np.where(one > 0.5, "spam", "ham") for one in (noisy, score))
    rows = [f"u{n},{truth[n]},{guess[n]},{score[n]}\n" for n in range(60)]
    path = tmp_path / "s.csv"
    path.write_text("unit,truth,prediction,score\n" + "".join(rows))
    said = run(capsys, "eval", path, "--positive", positive).err
    # The scores are for spam.
    assert ("[reversed-scores]" in said) == (positive == "ham")


@pytest.mark.parametrize(
    ("text", "task"),
    [
        ("unit,truth,prediction\n1,a,b\n", "classification"),
        ("unit,truth,prediction\n1,0,1\n2,1,1\n", "classification"),
        ("unit;truth;prob_x;prob_y\n1;x;1;0\n", "classification"),
        ("id\tlabel\tscore\n1\t1\t.5\n", "classification"),
        ("unit,truth,prediction\n1,3,3.5\n", "regression"),
        ('{"unit": 1, "truth": 2.5, "prediction": 2}\n', "regression"),
        ('{"unit": 1, "truth": "a", "probabilities": {"a": 1}}\n', "classification"),
        ("q1 0 d1 1\nq1 0 d2 0\n", ""),
        ("query_id,doc_id,relevance\nq1,d1,1\n", ""),
        ("query_id,doc_id,score\nq1,d1,1.5\n", ""),
        ("unit,A,B\n1,.1,.2\n", ""),
        ('{"q1": {"d1": 1}}\n', ""),
        ("{broken\n", ""),
    ],
)
def test_predictions_are_told_by_their_columns(tmp_path, text, task):
    path = tmp_path / "file"
    path.write_text(text)
    assert detect_task([path]) == task
    pl.DataFrame({"unit": [1], "truth": ["a"], "prediction": ["a"]}).write_parquet(path)
    assert detect_task([path]) == "classification"


BAD = {
    "unseen": (
        "truth,score_a,score_b\n1,a,1,0\n2,c,0,1\n",
        "for the classes a, b, but the true classes are a, c",
    ),
    "outside": ("truth,prob_a,prob_b\n1,a,1.2,-.2\n", ":2: 1.2, -0.2 are no probabilities"),
    "beyond": ("truth,probability\n1,a,.5\n2,b,1.7\n", ":3: -0.7, 1.7 are no probabilities"),
    "sum": ("truth,prob_a,prob_b\n1,a,.6,.6\n", "add up to 1.2, not 1"),
    "alone": ("truth,probability\n1,a,.6\n2,a,.7\n", "is for two classes, found 1 (a)"),
    "twice": ("truth,prediction\n1,a,a\n1,a,b\n", ":3: twice has unit 1 twice"),
    "zero -m MAPE": ("truth,prediction\nx,1.5,1\ny,0,1\n", "the truth is 0 for 1 unit (y)"),
    "words -m accuracy": ("truth,prediction\nx,1.5,1\ny,0,1\n", "unknown measure"),
    "empty": ("truth,prediction\n", "no predictions below the header"),
    "ratings": ("truth,prediction\n1,3,4\n2,5,5\n3,1,2\n", "choose --task classification or"),
}


@pytest.mark.parametrize("name", BAD)
def test_bad_files_are_named(tmp_path, capsys, name):
    text, said = BAD[name]
    name, *more = name.split()
    paths = [tmp_path / f"{name}.csv", tmp_path / "other.csv"]
    for path in paths:
        path.write_text(f"unit,{text}")
    task = [] if name in {"ratings", "zero", "words"} else ["--task", "classification"]
    shown = run(capsys, "compare", *paths, *task, *more, code=2)
    assert said in shown.err
    assert shown.err.count("\n") == 1


WRONG = {
    "eval L -m RMSE": "unknown measure 'RMSE'",
    "eval L --positive maybe": "--positive maybe: no such class",
    "eval L -m ECE(bins=0)": "bins=0: expected an integer of at least 1",
    "eval L -m F1(class=maybe)": "no such class",
    "eval L --threshold 0.3": "--threshold 0.3 needs scores",
    "eval L --gate better": "--gate is an option of heldout compare",
    "eval no.csv --task classification": "no such file",
    "eval weak.csv more/weak.csv": "duplicate system name weak",
    "compare L": "one system cannot be compared",
    "compare L other.csv": "the truth of unit 0 is no in other, but yes in lecture",
    "compare L strangers.csv": "no unit in common",
    "compare L L --test-share 0.1": "--test-share",
    "compare L other.csv --lower-is-better": "--lower-is-better",
    "compare L other.csv --intersection": "--intersection",
    "compare weak.csv strong.csv -m nDCG@10": "unknown measure 'nDCG@10'",
    "compare --scores L --task regression": "--task is for runs and",
    "compare weak.csv strong.csv --by-unit -m MCC --test wilcoxon": "wilcoxon is a test of means",
    "compare weak.csv strong.csv --by-unit -m MCC --correction tukey": "a test of means",
    "compare weak.csv strong.csv noise.csv --gate better": "needs a baseline",
    "compare qrels.txt baseline.run improved.run --positive x": "--positive is for predicted",
    "compare qrels.txt baseline.run improved.run --by-unit": "--by-unit is for predicted classes",
}


@pytest.mark.usefixtures("lecture", "spam")
def test_what_does_not_fit_is_refused(tmp_path, capsys, monkeypatch):
    monkeypatch.chdir(tmp_path)
    main(["demo", "--files", "."])
    Path("more").mkdir()
    Path("more/weak.csv").write_text(Path("strong.csv").read_text())
    Path("other.csv").write_text("unit,truth,prediction\n0,no,no\n1,yes,no\n")
    Path("strangers.csv").write_text("unit,truth,prediction\nx,no,no\ny,yes,no\n")
    for command, said in WRONG.items():
        arguments = ["lecture.csv" if one == "L" else one for one in command.split()]
        assert said in run(capsys, *arguments, code=2).err, command


def test_the_page_shows_what_is_printed(tmp_path, monkeypatch, capsys):
    page = (Path(__file__).parents[1] / "docs" / "classification.md").read_text(encoding="utf-8")
    monkeypatch.chdir(tmp_path)
    [data] = re.findall(r"```csv\n(.*?)```", page, re.DOTALL)
    Path("fawcett.csv").write_text(data)
    blocks = re.findall(r"```sh\n\$ heldout eval (.*?)\n(.*?)```", page, re.DOTALL)
    assert len(blocks) == 2
    for command, shown in blocks:
        printed = run(capsys, "eval", *shlex.split(command))
        assert printed.out == shown
    assert "area under the ROC convex hull: 0.7550" in printed.err

"""Compare files of predictions: told by their columns, with gate, ledger and tails as runs have."""

import json

import numpy as np
import pytest

from heldout.cli import main
from heldout.data.prediction_task import detect_task


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


@pytest.fixture
def files(tmp_path):
    """Two classifiers on 80 units; the second is right more often."""
    source = np.random.default_rng(0)
    truth = source.integers(0, 2, 80)
    paths = []
    for name, share in (("old", 0.6), ("new", 0.9)):
        guess = np.where(source.random(80) < share, truth, 1 - truth)
        path = tmp_path / f"{name}.csv"
        words = ("no", "yes")
        rows = [f"u{n},{words[truth[n]]},{words[guess[n]]}\n" for n in range(80)]
        path.write_text("unit,truth,prediction\n" + "".join(rows))
        paths.append(path)
    return paths


def claims(shown):
    return json.loads(shown.out)


def test_two_classifiers_by_mcnemar(files, capsys):
    [found] = claims(run(capsys, "compare", *files, "--json"))
    claim = found["claims"][0]
    assert (found["measure"], found["units"], found["baseline"]) == ("accuracy", 80, "old")
    assert (claim["first"], claim["second"]) == ("new", "old")
    assert claim["tests"][0]["test"] == "mcnemar"
    assert claim["significant"]
    shown = run(capsys, "compare", *files)
    assert "accuracy: 0.8625 vs 0.5375" in shown.out


def test_a_comment_above_the_header_is_skipped(files, capsys):
    plain = claims(run(capsys, "compare", *files, "--json"))
    for path in files:
        path.write_text(f"# held-out data\n\n{path.read_text()}")
    assert claims(run(capsys, "compare", *files, "--json")) == plain


def test_both_commands_say_the_same(files, capsys):
    asked = ("-m", "accuracy", "-m", "F1(macro)", "--alternative", "greater", "--json")
    ours = claims(run(capsys, "compare", *files, *asked))
    theirs = claims(run(capsys, "compare", "--task", "classification", *files, *asked))
    assert theirs == ours
    assert [one["alternative"] for one in ours] == ["greater", "greater"]
    assert any("2 measures" in warning["text"] for warning in ours[0]["warnings"])


def test_the_order_of_units_does_not_matter(files, capsys):
    plain = run(capsys, "compare", *files, "--json").out
    head, *rows = files[1].read_text().splitlines()
    files[1].write_text("\n".join([head, *rows[::-1]]) + "\n")
    assert run(capsys, "compare", *files, "--json").out == plain


def test_gate_and_ledger_through_either_command(files, tmp_path, capsys):
    gate = ("--gate", "non-inferior", "--margin", "0.05")
    ledger = tmp_path / "looks.jsonl"
    shown = run(capsys, "compare", *files, *gate, "--ledger", ledger, "--data", "mine")
    assert "passed: new is not worse than old" in shown.err
    assert "evaluation 1 of these data" in shown.err
    back = ("compare", "--task", "classification", *files[::-1], "-m", "F1(macro)", *gate)
    shown = run(capsys, *back, "--ledger", ledger, "--data", "mine", code=1)
    assert "failed: old is worse than new by more than 0.05 in F1(macro)" in shown.err
    assert "evaluation 2 of these data" in shown.err
    assert ledger.read_text().count("\n") == 2


@pytest.mark.parametrize("measure", ["MCC", "accuracy"])
def test_the_gate_reads_the_interval_of_the_comparison(files, capsys, measure):
    asked = ("compare", *files, "-m", measure, "--json")
    [found] = claims(run(capsys, *asked, "--gate", "equivalent", "--margin", "0.9"))
    [ninety] = claims(run(capsys, *asked, "--level", "0.9"))
    bounds = found["gate"][0]["interval"]
    assert (bounds["low"], bounds["high"]) == (
        ninety["claims"][0]["low"],
        ninety["claims"][0]["high"],
    )


def test_a_look_at_the_same_units_is_counted_without_a_name(files, tmp_path, capsys):
    ledger = tmp_path / "looks.jsonl"
    run(capsys, "compare", *files, "--ledger", ledger)
    shown = run(capsys, "compare", *files, "-m", "kappa", "--ledger", ledger)
    assert "evaluation 2 of these data (systems: 2, measures: 2)" in shown.err


def test_folds_and_repeats_by_the_corrected_test(tmp_path, capsys):
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
    [found] = claims(run(capsys, "compare", path, "--json"))
    assert found["units"] == 10
    assert {one["tests"][0]["test"] for one in found["claims"]} == {"corrected-t"}
    shown = run(capsys, "eval", "--task", "classification", path)
    assert "corrected t over folds" in shown.err
    assert "means over the folds" in shown.err
    path.write_text("\n".join([*lines, lines[-1]]) + "\n")
    shown = run(capsys, "compare", path, code=2)
    assert f"{path}:242: C has unit 39 twice in repeat 1 (first in {path}:241)" in shown.err


def test_numbers(tmp_path, capsys):
    source = np.random.default_rng(1)
    truth = source.normal(size=50)
    for name, off in (("old", 1.0), ("new", 0.3)):
        guess = truth + off * source.normal(size=50)
        rows = [json.dumps({"id": n, "y_true": truth[n], "y_pred": guess[n]}) for n in range(50)]
        (tmp_path / f"{name}.jsonl").write_text("\n".join(rows) + "\n")
    paths = [tmp_path / "old.jsonl", tmp_path / "new.jsonl"]
    found = claims(run(capsys, "compare", *paths, "-m", "MAE", "-m", "R2", "--json"))
    assert [one["measure"] for one in found] == ["MAE", "R2"]
    assert [one["claims"][0]["difference"] < 0 for one in found] == [True, False]
    assert "for classes" in run(capsys, "compare", *paths, "--positive", "1", code=2).err


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


def test_parquet_is_told_too(tmp_path):
    import polars as pl

    path = tmp_path / "p"
    pl.DataFrame({"unit": [1], "truth": ["a"], "prediction": ["a"]}).write_parquet(path)
    assert detect_task([path]) == "classification"


def test_what_does_not_fit_is_refused(files, tmp_path, capsys):
    path = tmp_path / "ratings.csv"
    path.write_text("unit,truth,prediction\n1,3,4\n2,5,5\n3,1,2\n")
    error = run(capsys, "compare", path, path, code=2).err
    assert "choose --task classification or --task regression" in error
    (tmp_path / "more").mkdir()
    namesake = tmp_path / "more" / "ratings.csv"
    namesake.write_text(path.read_text())
    error = run(capsys, "compare", path, namesake, "--task", "regression", code=2).err
    assert "duplicate system name ratings" in error
    for option in (("--test-share", "0.1"), ("--lower-is-better",), ("--intersection",)):
        assert option[0] in run(capsys, "compare", *files, *option, code=2).err
    assert "one system cannot be compared" in run(capsys, "compare", files[0], code=2).err
    assert (
        "--task is for files"
        in run(capsys, "compare", "--scores", path, "--task", "regression", code=2).err
    )
    assert (
        "unknown measure 'nDCG@10'" in run(capsys, "compare", *files, "-m", "nDCG@10", code=2).err
    )


def test_options_of_predictions_are_refused_for_runs(tmp_path, capsys):
    main(["demo", "--files", str(tmp_path)])
    runs = [tmp_path / name for name in ("qrels.txt", "baseline.run", "improved.run")]
    for option in (("--positive", "x"), ("--by-unit",)):
        assert (
            f"{option[0]} is for predictions" in run(capsys, "compare", *runs, *option, code=2).err
        )


BAD = [
    ("unseen", "unit,truth,score_a,score_b\n1,a,1,0\n2,c,0,1\n", (), ":3: class c has no column"),
    ("outside", "unit,truth,prob_a,prob_b\n1,a,1.2,-.2\n", (), ":2: 1.2 is not a probability"),
    ("beyond", "unit,truth,probability\n1,a,.5\n2,b,1.7\n", (), ":3: 1.7 is not a probability"),
    ("sum", "unit,truth,prob_a,prob_b\n1,a,.6,.6\n", (), ":2: the probabilities add up to 1.2"),
    ("alone", "unit,truth,probability\n1,a,.6\n2,a,.7\n", (), "is for two classes, but there is 1"),
    ("twice", "unit,truth,prediction\n1,a,a\n1,a,b\n", (), ":3: twice has unit 1 twice"),
    ("zero", "unit,truth,prediction\nx,1.5,1\ny,0,1\n", ("-m", "MAPE"), "y in "),
    ("words", "unit,truth,prediction\nx,1.5,1\ny,0,1\n", ("-m", "accuracy"), "unknown measure"),
    ("empty", "unit,truth,prediction\n", (), "no predictions below the header"),
]


@pytest.mark.parametrize("command", ["compare", "score"])
@pytest.mark.parametrize("bad", BAD, ids=[one[0] for one in BAD])
def test_bad_input_is_named(tmp_path, capsys, command, bad):
    name, text, more, said = bad
    path = tmp_path / f"{name}.csv"
    path.write_text(text)
    other = tmp_path / "other.csv"
    other.write_text(text)
    task = "regression" if name in {"zero", "words"} else "classification"
    if command == "compare":
        shown = run(capsys, "compare", path, other, "--task", task, *more, code=2)
    else:
        shown = run(capsys, "compare", "--task", task, path, other, *more, code=2)
    assert said in shown.err
    assert shown.err.count("\n") == 1


def test_a_class_unseen_in_training_has_probability_zero(tmp_path, capsys):
    path = tmp_path / "unseen.csv"
    path.write_text("unit,truth,prob_a,prob_b\n1,a,.6,.4\n2,b,.3,.7\n3,c,.5,.5\n")
    shown = run(capsys, "eval", "--task", "classification", path)
    assert "counts as probability 0" in shown.err
    assert "log-loss of unseen does not exist: infinite" in shown.err


def test_one_class_only_is_undefined_not_zero(tmp_path, capsys):
    for name in ("one", "two"):
        (tmp_path / f"{name}.csv").write_text("unit,truth,prediction\n1,x,x\n2,x,x\n3,x,x\n")
    paths = [tmp_path / "one.csv", tmp_path / "two.csv"]
    shown = run(capsys, "compare", *paths, "-m", "MCC", code=2)
    assert "MCC of one is undefined (all units are of one class)" in shown.err


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
    if positive == "ham":
        assert "units predicted as ham have lower scores" in said
        assert "--positive" in said

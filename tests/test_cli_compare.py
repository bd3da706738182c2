"""The commands compare, plan and ledger."""

import json
import math
import re
from pathlib import Path

import numpy as np
import pytest

from heldout.cli import main
from heldout.errors import InputError
from heldout.infer.analysis import CORRECTIONS, TESTS


@pytest.fixture(autouse=True)
def example(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("HELDOUT_LEDGER", raising=False)
    main(["demo", "--files", "."])
    capsys.readouterr()


def run(capsys, *arguments):
    main(["compare", "qrels.txt", *arguments])
    return capsys.readouterr()


def refused(capsys, *arguments):
    with pytest.raises(SystemExit) as caught:
        main(list(arguments))
    said = capsys.readouterr()
    assert caught.value.code == 2
    assert said.err.startswith("heldout")
    assert said.err.count("\n") == 1
    return said.err


def test_two_runs_end_in_a_sentence(capsys):
    out = run(capsys, "baseline.run", "improved.run").out
    verdict, counts, *_ = out.splitlines()
    assert verdict == (
        "improved is significantly better than baseline: nDCG@10 0.4985 vs 0.3766, difference "
        "+0.1220, 95% CI [+0.0703, +0.1736], p < 0.0001."
    )
    assert counts.startswith("50 queries: 40 won, 0 tied, 10 lost")  # of nDCG@10, not of AP
    assert "paired t test p < 0.0001" in out
    full = run(capsys, "baseline.run", "improved.run", "--full").out
    assert "p (t)" in full
    assert "95% CI of score" in full


def test_the_same_data_have_the_same_fingerprint_in_any_order(capsys, tmp_path):
    (first,) = json.loads(run(capsys, "baseline.run", "improved.run", "--json").out)
    lines = (tmp_path / "qrels.txt").read_text().splitlines(keepends=True)
    (tmp_path / "qrels.txt").write_text("".join(reversed(lines)))
    (second,) = json.loads(run(capsys, "baseline.run", "improved.run", "--json").out)
    assert first["data"] == second["data"]
    (tmp_path / "qrels.txt").write_text("".join(lines[1:]))
    (third,) = json.loads(run(capsys, "baseline.run", "improved.run", "--json").out)
    assert first["data"] != third["data"]


def uncertain(path):
    """A gain with p between .025 and .05 by a one-sided test: .08 two-sided."""
    gaps = [0.3, 0.2, 0.25, -0.1, 0.15, -0.15, 0.1, 0.05, -0.05, 0.1, -0.02, 0.1]
    rows = (f"q{n},{0.4 + n / 100},{0.4 + n / 100 + gap}\n" for n, gap in enumerate(gaps))
    path.write_text("unit,old,new\n" + "".join(rows))
    return str(path)


def test_gate_better_and_the_verdict_are_the_same_one_sided_test(capsys, tmp_path):
    compared = ["compare", "--scores", uncertain(tmp_path / "s.csv")]
    main(compared)
    assert "No significant difference between new and old" in capsys.readouterr().out
    main([*compared, "--gate", "better"])
    said = capsys.readouterr()
    assert said.out.startswith("new is significantly better than old")
    assert said.err.startswith("passed: new is better than old in ")
    assert "one-tail" not in said.out + said.err
    main([*compared, "--gate", "better", "--json"])
    (record,) = json.loads(capsys.readouterr().out)
    p = next(test["p"] for test in record["claims"][0]["tests"] if test["test"] == "randomization")
    assert p == record["gate"][0]["p"]
    bound = f"{record['claims'][0]['low']:+.4f}"
    with pytest.raises(SystemExit) as caught:  # not by more than that
        main([*compared, "--gate", "better", "--margin", "0.06"])
    assert caught.value.code == 1
    said = capsys.readouterr()
    assert f"95% CI [{bound}, ∞)" in said.out
    assert f"95% CI [{bound}, ∞), p = 0.3350)" in said.err  # the same, and no other


def noisy_run(folder, name, lucky, rng):
    """A run with the relevant document at a random rank, sometimes at the first."""
    rows = []
    for query in range(30):
        docs = [f"x{at}" for at in range(9)]
        rank = rng.integers(10)
        docs.insert(0 if rng.random() < lucky else rank, "d")
        rows += [f"q{query} Q0 {doc} {at + 1} {100 - at} x\n" for at, doc in enumerate(docs)]
    (folder / f"{name}.run").write_text("".join(rows))


def test_a_gate_on_tuned_systems_counts_the_choice_of_parameters(capsys, tmp_path):
    (tmp_path / "q.txt").write_text("".join(f"q{n} 0 d 1\n" for n in range(30)))
    systems = ["--system", "mine=n*.run", "--system", "base.run", "--baseline", "base"]
    codes = []
    for seed in range(8):
        rng = np.random.default_rng(seed)
        for at in range(6):
            noisy_run(tmp_path, f"n{at}", 0.3, rng)
        noisy_run(tmp_path, "base", 0.1, rng)
        main(["run", "q.txt", *systems, "--folds", "5", "-m", "RR", "-o", f"res{seed}"])
        capsys.readouterr()
        try:
            main(["compare", "--scores", f"res{seed}", "--gate", "better"])
            codes.append(0)
        except SystemExit as ended:
            codes.append(ended.code)
        said = capsys.readouterr()
        p = re.search(r"p = (0\.\d+)\.", said.out).group(1)
        assert said.out.startswith("mine is significantly better") == (codes[-1] == 0)
        assert f", p = {p})" in said.err
    assert set(codes) == {0, 1}


def test_the_documentation_shows_what_the_gate_says(capsys):
    said = run(capsys, "baseline.run", "improved.run", "--gate", "non-inferior", "--margin", "0.01")
    page = Path(__file__).parents[1] / "docs" / "compare.md"
    assert said.err.strip() in " ".join(page.read_text(encoding="utf-8").split())


def test_the_ledger_counts_looks(capsys, monkeypatch):
    for _ in range(2):
        run(capsys, "baseline.run", "improved.run", "--ledger", "looks.jsonl")
    monkeypatch.setenv("HELDOUT_LEDGER", "looks.jsonl")
    said = run(capsys, "baseline.run", "improved.run", "-m", "AP").err
    assert "evaluation 3 of these data (systems: 2, measures: 2)" in said
    main(["ledger", "looks.jsonl"])
    lines = capsys.readouterr().out.splitlines()
    assert lines[0].split("\t")[-1] == "Holm"
    assert "." not in lines[1].split("\t")[2]  # no fractions of seconds
    assert len(lines) == 4


def table(folder, *rows, name="t.csv"):
    lines = [",".join(map(str, row)) for row in rows]
    (folder / name).write_text("".join(line + "\n" for line in ["unit,old,new", *lines]))
    return name


def some_scores(folder):
    return table(folder, *((f"q{n}", n % 7 / 10, (n % 7 + n % 3) / 10) for n in range(20)))


def test_looks_at_tables_are_counted_by_the_name_of_the_data(capsys, tmp_path):
    name = some_scores(tmp_path)
    main(["compare", "--scores", name, "--ledger", "l.jsonl"])
    assert "name the data with --data" in capsys.readouterr().err
    for number in (1, 2):
        main(["compare", "--scores", name, "--ledger", "l.jsonl", "--data", "spring"])
        said = capsys.readouterr().err
        assert f"evaluation {number} of these data" in said
        assert "--data" not in said
    main(["compare", "--scores", name, "--json", "--data", " spring "])
    assert json.loads(capsys.readouterr().out)[0]["data"] == "spring"
    main(["compare", "qrels.txt", "baseline.run", "improved.run", "--ledger", "l.jsonl"])
    assert "--data" not in capsys.readouterr().err  # judgements have a fingerprint of their own
    main(["ledger", "l.jsonl"])
    assert capsys.readouterr().out.count("\nspring\t") == 2


def test_what_fails_late_leaves_nothing_behind(capsys, tmp_path):
    name = some_scores(tmp_path)
    before = sorted(tmp_path.iterdir())
    ledger = ["--ledger", "l.jsonl"]
    for wrong in (["--baseline", "magic"], ["-o", "nowhere/out.txt"]):
        refused(capsys, "compare", "--scores", name, *ledger, *wrong)
    assert sorted(tmp_path.iterdir()) == before
    # The other way round: without a ledger nothing is shown.
    (tmp_path / "notes.txt").write_text("not a ledger\n" * 100)
    with pytest.raises(SystemExit):
        main(["compare", "--scores", name, "-o", "out.txt", "--ledger", "notes.txt"])
    assert not (tmp_path / "out.txt").exists()
    with pytest.raises(SystemExit):
        main(["ledger", "notes.txt"])
    assert capsys.readouterr().out == ""


def test_a_look_is_written_down_before_the_result_is_put_in_place(capsys, tmp_path, monkeypatch):
    def broken(*_):
        raise InputError("the ledger broke")

    monkeypatch.setattr("heldout.infer.ledger.record_looks", broken)
    arguments = ["compare", "--scores", some_scores(tmp_path), "--ledger", "l.jsonl"]
    assert "the ledger broke" in refused(capsys, *arguments, "-o", "out.txt")
    assert not (tmp_path / "out.txt").exists()
    with pytest.raises(SystemExit):
        main(arguments)
    assert capsys.readouterr().out == ""


def test_the_gate_goes_by_the_test_that_is_asked_for(capsys, tmp_path):
    rows = ((f"q{n}", 0.5, 0.54 + math.sin(n) / 10) for n in range(60))
    gate = ["compare", "--scores", table(tmp_path, *rows), "--gate", "better", "--json"]
    found = {}
    for options in ([], ["--test", "t"], ["--test-share", "0.01"]):
        main([*gate, *options])
        (claims,) = json.loads(capsys.readouterr().out)
        (record,) = claims["gate"]
        found[record["test"]] = record["p"]
        assert record["p"] == claims["claims"][0]["tests"][0]["p"]
        assert (record["verdict"], record["passed"], record["n"]) == ("shown", True, 60)
    assert set(found) == {"t", "randomization", "corrected-t"}
    assert len(set(found.values())) == 3


def test_scores_too_close_to_compute_with_are_refused(capsys, tmp_path):
    for exponent in (-320, -300, -170, -110):
        rows = ((f"q{n}", 0, f"{n + 1}e{exponent}") for n in range(4))
        said = refused(capsys, "compare", "--scores", table(tmp_path, *rows))
        assert said.endswith("differ by less than 1e-100 everywhere: scale the scores\n")
    main(["compare", "--scores", table(tmp_path, ("a", 0, 1e-99), ("b", 0, 3e-99), ("c", 1, 1))])
    small = capsys.readouterr().out.splitlines()[0].rpartition(", ")[2]
    main(["compare", "--scores", table(tmp_path, ("a", 0, 1), ("b", 0, 3), ("c", 1, 1))])
    assert capsys.readouterr().out.splitlines()[0].endswith(small)


def test_help_names_every_test_and_correction(capsys):
    main(["compare", "--help"])
    notes = capsys.readouterr().out.partition("tests (--test):")[2]
    assert re.findall(r"^  ([a-z-]+)  ", notes, re.MULTILINE) == [*TESTS, *CORRECTIONS]


def test_only_the_queries_that_all_runs_have(capsys, tmp_path):
    lines = (tmp_path / "improved.run").read_text().splitlines(keepends=True)
    lost = sorted({line.split()[0] for line in lines})[:3]
    (tmp_path / "part.run").write_text(
        "".join(line for line in lines if line.split()[0] not in lost)
    )
    said = run(capsys, "baseline.run", "part.run", "--intersection")
    assert f"a system has no score for them: {', '.join(lost)}" in " ".join(said.out.split())
    (record,) = json.loads(run(capsys, "baseline.run", "part.run", "--intersection", "--json").out)
    assert record["units_left_out"] == lost
    assert record["units"] == 47
    (whole,) = json.loads(run(capsys, "baseline.run", "part.run", "--json").out)
    assert (whole["units"], whole["units_left_out"]) == (50, [])


FOLDS = [(1, 0.80, 0.84), (2, 0.82, 0.83), (3, 0.79, 0.85), (4, 0.81, 0.82), (5, 0.83, 0.88)]


def test_plan_from_a_pilot_from_folds_and_from_a_standard_deviation(capsys, tmp_path):
    main(["power", "qrels.txt", "baseline.run", "improved.run", "--difference", "0.02"])
    out = capsys.readouterr().out
    assert "improved - baseline, nDCG@10: differences have standard deviation 0.18" in out
    table(tmp_path, *((n, a, b) for n, a, b in FOLDS), name="folds.csv")
    main(["power", "--scores", "folds.csv", "--test-share", "0.25", "--difference", "0.05"])
    out = capsys.readouterr().out
    assert "standard error 0.0154 over 5 folds" in out
    assert re.search(r"\b0\.05 +135\n", out)
    main(["power", "--sd", "0.15", "--difference", "0.02", "--queries", "100"])
    # z approximation: (1.96 + 0.8416)^2 * (0.15 / 0.02)^2 = 441.5, and a little more for t
    assert re.search(r"\b0\.02 +444\n", capsys.readouterr().out)


def test_plan_for_proportions_widths_and_by_simulation(capsys):
    given = ["power", "qrels.txt", "baseline.run", "improved.run", "-m", "Success@1"]
    more = ["--difference", "0.1", "--queries", "50", "--half-width", "0.05"]
    main([*given, *more, "--simulate"])
    out = capsys.readouterr().out
    assert "one system succeeds where the other fails on 36.0% of the units" in out
    assert re.search(r"\b0\.1 +297\n", out)
    assert re.search(r"± 0\.05 +556\n", out)
    assert "mcnemar test on 500 samples of the pilot's units" in out
    main([*given, *more, "--simulate", "--json"])
    (plan,) = json.loads(capsys.readouterr().out)
    assert plan["needed"] == [{"difference": 0.1, "queries": 297}]
    assert plan["intervals"] == [{"half_width": 0.05, "queries": 556}]
    assert plan["simulated"][0]["simulations"] == 500


def test_plan_from_predictions_that_are_no_mean(capsys, tmp_path):
    rows = [("yes" if n % 3 else "no", n) for n in range(30)]
    for name, wrong in (("old", 4), ("new", 9)):
        flip = {"yes": "no", "no": "yes"}
        lines = [f"{n},{truth},{flip[truth] if n % wrong == 0 else truth}" for truth, n in rows]
        (tmp_path / f"{name}.csv").write_text("unit,truth,prediction\n" + "\n".join(lines) + "\n")
    files = [str(tmp_path / "old.csv"), str(tmp_path / "new.csv")]
    more = ["-m", "F1(macro)", "--difference", "0.1", "--units", "60"]
    main(["power", *files, *more, "--simulate"])
    out = capsys.readouterr().out
    assert "new - old, F1(macro): differences have standard deviation" in out
    assert "Units needed to detect a difference" in out
    assert "randomization test on 500 samples of the pilot's units" in out


RUNS = "qrels.txt baseline.run improved.run"
BOTH = f"compare {RUNS}"
WRONG = {
    "compare qrels.txt": "at least one run",
    "compare qrels.txt baseline.run": "at least two",
    "compare --scores x qrels.txt baseline.run": "not both",
    "compare --scores nowhere.csv": "no such file",
    "compare --scores t.csv -m AP -m RR": "-m names 2 measures: give one -m and one table",
    "compare --scores l.csv": "l.csv:2: the unit is missing",
    "compare --scores three.csv --gate better": "name it with --baseline",
    "list measures --bad": "unknown option --bad",
    "ledger nowhere.jsonl": "no such file",
    "ledger qrels.txt": "qrels.txt:1: not an evaluation",
    "power": "or --scores FILE",
    "power --sd -1": "sd",
    "power --task text baseline.run improved.run": "texts cannot be planned from",
    "power --sd 1 --test-share 0.1": "--test-share is for runs",
    "power --sd 1 --simulate": "simulations need a pilot",
    "power --sd 1 qrels.txt baseline.run": "not both",
    "power qrels.txt baseline.run": "one system (baseline)",
    f"{BOTH} --magic": "unknown option --magic",
    f"{BOTH} --test magic": "unknown test 'magic'",
    f"{BOTH} --baseline magic": "no system 'magic'",
    f"{BOTH} --level 2": "--level 2",
    f"{BOTH} --level 0.05": "did you mean 0.95?",
    f"{BOTH} --data=": "--data: expected a name",
    f"{BOTH} --ledger nowhere/l.jsonl": "create it first",
    f"{BOTH} --ledger .": "not a file",
    f"{BOTH} --unit qid": "--unit is for tables of scores",
    f"{BOTH} --lower-is-better": "--lower-is-better is for tables of scores",
    f"{BOTH} -m relstring": "RelString has no mean over queries",
    f"{BOTH} -m GMAP": "GMAP has no mean over queries: compare another, such as AP",
    f"{BOTH} -m NumRet -m AP": "NumRet has no better or worse",
    f"{BOTH} -m Judged@10": "Judged@10 has no better or worse",
    f"{BOTH} -f junit": "add --gate",
    f"{BOTH} --gate non-inferior": "--gate non-inferior needs --margin X",
    f"{BOTH} --gate better --margin -1": "expected 0 or more",
    f"{BOTH} --gate equivalent --margin 0": "expected a number above 0",
    f"{BOTH} --gate equivalent --margin -1": "expected a number above 0",
    f"{BOTH} --gate equivalent --margin 1 --level 0.5": "above 0.5",
    f"{BOTH} --gate equivalent --margin 1 --test sign": "is about ranks or signs",
    f"{BOTH} --gate equivalent --margin 1 --test t --test-share 0.1": "treats folds as",
    f"{BOTH} --gate better --alternative less": "the gate better reads",
    # The ledger is tried before any file is read.
    "compare --scores nowhere.csv --ledger qrels.txt": "qrels.txt:1: not an evaluation in a ledger",
}


def test_wrong_use_is_refused_in_a_line(capsys):
    Path("t.csv").write_text("unit,A,B\nq1,0.5,0.4\nq2,0.1,0.3\n")
    Path("l.csv").write_text("system,unit,value\nA,,1\nA,,2\nB,b,1\n")
    Path("three.csv").write_text("unit,a,b,c\nq1,1,2,3\nq2,1,2,2\nq3,1,3,2\n")
    for command, message in WRONG.items():
        assert message in refused(capsys, *command.split()), command


def test_the_column_of_units_can_be_named(capsys):
    named = ["compare", "--scores", "t.csv", "--unit", "number"]
    Path("t.csv").write_text("number,n,A,B\n7,1,0.5,0.4\n8,2,0.1,0.3\n9,3,0.1,0.2\n")
    assert "column n looks like ids" in refused(capsys, *named)
    Path("t.csv").write_text("number,A,B\n7,0.5,0.4\n8,0.1,0.3\n9,0.1,0.2\n")
    assert "no column of unit ids" in refused(capsys, "compare", "--scores", "t.csv")
    main([*named, "--json"])
    (content,) = json.loads(capsys.readouterr().out)
    assert [row["name"] for row in content["systems"]] == ["A", "B"]
    assert content["units"] == 3


@pytest.mark.parametrize("command", ["eval", "compare"])
def test_options_may_stand_anywhere(capsys, command):
    orders = [
        ["qrels.txt", "baseline.run", "improved.run", "-m", "AP", "-f", "tsv"],
        ["-m", "AP", "-f", "tsv", "qrels.txt", "baseline.run", "improved.run"],
        ["qrels.txt", "-m", "AP", "baseline.run", "-f", "tsv", "improved.run"],
        ["qrels.txt", "baseline.run", "-m", "AP", "improved.run", "-f", "tsv"],
    ]
    printed = set()
    for order in orders:
        main([command, *order])
        printed.add(capsys.readouterr().out)
    assert len(printed) == 1

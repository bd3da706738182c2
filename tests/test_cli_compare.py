"""The commands compare, plan and ledger."""

import json

import pytest

from heldout.cli import main


@pytest.fixture(autouse=True)
def example(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("HELDOUT_LEDGER", raising=False)
    main(["demo", "."])
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
    assert "improved is better than baseline: nDCG@10 0.4985 against 0.3766" in out
    assert "p randomization" in out
    assert "p t" in out
    assert "39/" not in out  # W/T/L of nDCG@10, not of AP


def test_every_measure_that_is_asked_for_is_compared(capsys):
    out = run(capsys, "baseline.run", "improved.run", "-m", "AP", "-m", "P@5").out
    assert "better than baseline: AP 0.4025" in out
    assert "P@5" in out


@pytest.mark.parametrize("form", ["table", "tsv", "md", "latex"])
def test_every_format_has_the_difference(capsys, form):
    assert "+0.1220" in run(capsys, "baseline.run", "improved.run", "-f", form).out


def test_json_is_at_full_precision(capsys):
    (content,) = json.loads(run(capsys, "baseline.run", "improved.run", "--json").out)
    claim = content["claims"][0]
    assert claim["difference"] == pytest.approx(0.12196, abs=1e-4)
    assert {test["test"] for test in claim["tests"]} == {"randomization", "t"}
    assert content["data"]


def test_the_same_data_have_the_same_fingerprint_in_any_order(capsys, tmp_path):
    (first,) = json.loads(run(capsys, "baseline.run", "improved.run", "--json").out)
    lines = (tmp_path / "qrels.txt").read_text().splitlines(keepends=True)
    (tmp_path / "qrels.txt").write_text("".join(reversed(lines)))
    (second,) = json.loads(run(capsys, "baseline.run", "improved.run", "--json").out)
    assert first["data"] == second["data"]
    (tmp_path / "qrels.txt").write_text("".join(lines[1:]))
    (third,) = json.loads(run(capsys, "baseline.run", "improved.run", "--json").out)
    assert first["data"] != third["data"]


def test_a_table_of_scores_is_compared(capsys, tmp_path):
    (tmp_path / "scores.csv").write_text(
        "unit,A,B\n" + "".join(f"q{n},{n / 10},{n / 10 + 0.05 * (n % 3)}\n" for n in range(20))
    )
    main(["compare", "--table", "scores.csv", "--test", "sign", "--test", "t"])
    out = capsys.readouterr().out
    assert "p sign" in out
    assert "sign test on 20 units" in out


def test_the_gate_opens_and_shuts(capsys):
    gate = ["--gate", "non-inferior", "--margin", "0.01"]
    said = run(capsys, "baseline.run", "improved.run", *gate)
    assert said.err.startswith("passed: improved is not worse than baseline by more than 0.01")
    with pytest.raises(SystemExit) as caught:
        run(capsys, "improved.run", "baseline.run", *gate)
    assert caught.value.code == 1
    assert capsys.readouterr().err.startswith("failed: baseline is worse than that")


def test_an_undecided_gate_says_how_many_queries_would_decide(capsys, tmp_path):
    rows = [(0.5, 0.5 + (0.3 if n % 2 else -0.29)) for n in range(20)]
    (tmp_path / "s.csv").write_text(
        "unit,old,new\n" + "".join(f"q{n},{a},{b}\n" for n, (a, b) in enumerate(rows))
    )
    with pytest.raises(SystemExit) as caught:
        main(["compare", "--table", "s.csv", "--gate", "non-inferior", "--margin", "0.02"])
    assert caught.value.code == 1
    assert "queries would decide it" in capsys.readouterr().err


def test_the_ledger_counts_looks(capsys, monkeypatch):
    for _ in range(2):
        run(capsys, "baseline.run", "improved.run", "--ledger", "looks.sqlite")
    monkeypatch.setenv("HELDOUT_LEDGER", "looks.sqlite")
    said = run(capsys, "baseline.run", "improved.run", "-m", "AP").err
    assert "look number 3 at these data (systems: 2, measures: 2)" in said
    main(["ledger", "looks.sqlite"])
    lines = capsys.readouterr().out.splitlines()
    assert lines[0].split("\t")[-2:] == ["Holm", "LORD++"]
    assert len(lines) == 4


def test_plan_from_a_pilot_and_from_a_standard_deviation(capsys):
    main(["plan", "qrels.txt", "baseline.run", "improved.run", "--difference", "0.02"])
    out = capsys.readouterr().out
    assert "improved - baseline, nDCG@10: differences have standard deviation 0.18" in out
    main(["plan", "--sd", "0.15", "--difference", "0.02", "--queries", "100"])
    # z approximation: (1.96 + 0.8416)^2 * (0.15 / 0.02)^2 = 441.5, and a little more for t
    assert "0.02          444" in capsys.readouterr().out


WRONG = {
    "no runs": (["compare", "qrels.txt"], "runs are missing"),
    "one run": (["compare", "qrels.txt", "baseline.run"], "at least two"),
    "table and runs": (["compare", "--table", "x", "qrels.txt", "baseline.run"], "not both"),
    "no such table": (["compare", "--table", "nowhere.csv"], "no such file"),
    "unknown test": (
        ["compare", "qrels.txt", "baseline.run", "improved.run", "--test", "magic"],
        "unknown test 'magic'",
    ),
    "gate without margin": (
        ["compare", "qrels.txt", "baseline.run", "improved.run", "--gate", "non-inferior"],
        "go together",
    ),
    "no ledger": (["ledger", "nowhere.sqlite"], "no such file"),
    "not a ledger": (["ledger", "qrels.txt"], "qrels.txt"),
    "bad sd": (["plan", "--sd", "-1"], "sd"),
}


@pytest.mark.parametrize(("arguments", "message"), WRONG.values(), ids=WRONG)
def test_wrong_use_is_refused_in_a_line(capsys, arguments, message):
    assert message in refused(capsys, *arguments)


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


def test_unknown_options_are_refused(capsys):
    said = refused(capsys, "compare", "qrels.txt", "baseline.run", "improved.run", "--magic")
    assert "unrecognized arguments: --magic" in said
    assert "unrecognized arguments: --bad" in refused(capsys, "measures", "--bad")


@pytest.mark.parametrize("name", ["relstring", "GMAP", "NumRet", "Judged@10"])
def test_what_has_no_mean_or_no_direction_is_not_compared(capsys, name):
    refused(capsys, "compare", "qrels.txt", "baseline.run", "improved.run", "-m", name)


def test_a_run_that_lacks_queries_is_pointed_out(capsys, tmp_path):
    lines = (tmp_path / "improved.run").read_text().splitlines(keepends=True)
    (tmp_path / "part.run").write_text("".join(lines[300:]))
    out = run(capsys, "baseline.run", "part.run").out
    assert "lacks 3 judged queries, which count 0" in out


def test_lower_can_be_better_in_a_table(capsys, tmp_path):
    rows = "".join(f"q{n},{n % 7 + 5},{n % 7}\n" for n in range(20))
    (tmp_path / "ms.csv").write_text("unit,old,new\n" + rows)
    main(["compare", "--table", "ms.csv", "--lower-is-better"])
    assert "new is better than old" in capsys.readouterr().out


def test_a_gate_over_folds_is_refused(capsys):
    gate = ["--gate", "non-inferior", "--margin", "0.01", "--test-share", "0.1"]
    refused(capsys, "compare", "qrels.txt", "baseline.run", "improved.run", *gate)


def test_empty_ids_in_a_long_table_are_refused(capsys, tmp_path):
    (tmp_path / "l.csv").write_text("system,unit,value\nA,,1\nA,,2\nB,b,1\n")
    assert "l.csv:2: the unit is missing" in refused(capsys, "compare", "--table", "l.csv")

"""The commands compare, power and ledger: verdicts, gates, exit codes, looks at the same data."""

import json
import math
import re
import xml.etree.ElementTree as ET
from pathlib import Path

import pytest

from commands import ended, parsed, printed, refused_in_a_line
from heldout.errors import InputError
from heldout.infer.analysis import CORRECTIONS, TESTS

RUNS = ("qrels.txt", "baseline.run", "improved.run")
COMPARE = ("compare", *RUNS)
pytestmark = pytest.mark.usefixtures("here")


def test_two_runs_end_in_a_sentence(capsys):
    out = printed(capsys, *COMPARE).out
    verdict, counts, *_ = out.splitlines()
    assert verdict == (
        "improved is significantly better than baseline: nDCG@10 0.4985 vs 0.3766, difference "
        "+0.1220, 95% CI [+0.0703, +0.1736], p < 0.0001."
    )
    assert counts.startswith("50 queries: 40 won, 0 tied, 10 lost")  # of nDCG@10, not of AP
    assert "paired t test p < 0.0001" in out
    full = printed(capsys, *COMPARE, "--full").out
    assert "p (t)" in full
    assert "95% CI of score" in full


def test_the_same_data_have_the_same_fingerprint_in_any_order(here, capsys):
    def data():
        return parsed(capsys, *COMPARE)[0]["data"]

    first = data()
    lines = (here / "qrels.txt").read_text().splitlines(keepends=True)
    (here / "qrels.txt").write_text("".join(reversed(lines)))
    assert data() == first
    (here / "qrels.txt").write_text("".join(lines[1:]))
    assert data() != first


def test_every_test_is_in_the_help(capsys):
    notes = printed(capsys, "compare", "--help").out.partition("tests (--test):")[2]
    assert re.findall(r"^  ([a-z-]+)  ", notes, re.MULTILINE) == [*TESTS, *CORRECTIONS]


@pytest.mark.usefixtures("here")
def test_results_are_compared_at_the_level_of_their_experiment(capsys):
    run = ("run", "small", "--system", "bm25", "--system", "ql-jm", "--folds", "3", "--quiet")
    printed(capsys, *run, "--level", "0.9", "--seed", "7", "-o", "ninety")
    for options, expected in (((), (0.9, 7)), (("--level", "0.8", "--seed", "1"), (0.8, 1))):
        (record,) = parsed(capsys, "compare", "--scores", "ninety", *options)
        assert (record["level"], record["seed"]) == expected


# Gates


def uncertain(path):
    """A gain with p between .025 and .05 by a one-sided test: .08 two-sided."""
    gaps = [0.3, 0.2, 0.25, -0.1, 0.15, -0.15, 0.1, 0.05, -0.05, 0.1, -0.02, 0.1]
    rows = (f"q{n},{0.4 + n / 100},{0.4 + n / 100 + gap}\n" for n, gap in enumerate(gaps))
    path.write_text("unit,old,new\n" + "".join(rows))
    return "compare", "--scores", path


def test_gate_better_and_the_verdict_are_the_same_one_sided_test(here, capsys):
    compared = uncertain(here / "s.csv")
    assert "No significant difference between new and old" in printed(capsys, *compared).out
    said = printed(capsys, *compared, "--gate", "better")
    assert said.out.startswith("new is significantly better than old")
    assert said.err.startswith("passed: new is better than old in ")
    assert "one-tail" not in said.out + said.err
    (record,) = parsed(capsys, *compared, "--gate", "better")
    p = next(test["p"] for test in record["claims"][0]["tests"] if test["test"] == "randomization")
    assert p == record["gate"][0]["p"]
    bound = f"{record['claims'][0]['low']:+.4f}"
    out, err, code = ended(capsys, *compared, "--gate", "better", "--margin", "0.06")
    assert code == 1  # not by more than that
    assert f"95% CI [{bound}, ∞)" in out
    assert f"95% CI [{bound}, ∞), p = 0.3350)" in err  # the same, and no other


def test_the_words_of_a_gate(capsys):
    gate = (*COMPARE, "--gate")
    swapped = ("compare", "qrels.txt", "improved.run", "baseline.run", "--gate")
    for command, code, words in (
        ((*gate, "better"), 0, "passed: improved is better than baseline in nDCG@10"),
        ((*swapped, "better"), 1, "failed: not shown that baseline is better than improved"),
        ((*swapped, "better"), 1, "the observed gain itself fails: more queries would hardly help"),
        (
            (*gate, "better", "--margin", "0.9"),
            1,
            "improved is better than baseline by more than 0",
        ),
        (
            (*swapped, "non-inferior", "--margin", "0.05"),
            1,
            "failed: baseline is worse than improv",
        ),
        ((*gate, "equivalent", "--margin", "0.5"), 0, "passed: improved is within 0.5 of baseline"),
    ):
        out, err, found = ended(capsys, *command)
        assert (found, out.count("\n") > 2) == (code, True), command
        assert words in err, command
        quiet = ended(capsys, *command, "--quiet")
        assert quiet[1].splitlines() == [line for line in err.splitlines() if "ed: " in line][:1]
    pages = [path.read_text("utf-8") for path in (Path(__file__).parents[1] / "docs").rglob("*.md")]
    (verdict,) = printed(capsys, *gate, "non-inferior", "--margin", "0.01", "--quiet").err.split(
        "\n"
    )[:-1]
    assert any(verdict in " ".join(page.split()) for page in pages)


def test_a_gate_as_markdown_and_as_junit(capsys):
    gate = (*COMPARE, "--gate", "better")
    shown = printed(capsys, *gate, "--format", "md")
    assert shown.out.startswith("**passed**: improved is better than baseline in nDCG@10 (")
    assert "passed" not in shown.err  # once is enough
    assert "| --- |" in shown.out
    assert "p (t)" not in shown.out
    assert "p (t)" in printed(capsys, *gate, "--format", "md", "--full").out
    printed(capsys, *gate, "-m", "AP", "-m", "nDCG@10", "-o", "gate.xml")
    suite = ET.parse("gate.xml").getroot()  # noqa: S314 - written above
    assert (suite.tag, suite.get("tests"), suite.get("failures")) == ("testsuite", "2", "0")
    names = [one.get("name") for one in suite]
    assert names == [f"improved better baseline in {one}" for one in ("AP", "nDCG@10")]
    out, _, code = ended(capsys, *gate, "--margin", "0.5", "-f", "junit")
    (case,) = ET.fromstring(out)  # noqa: S314 - written above
    assert (code, case[0].tag) == (1, "failure")
    assert case[0].get("message").startswith("failed: not shown that improved is better")


def test_the_gate_goes_by_the_test_that_is_asked_for(here, capsys):
    rows = (f"q{n},0.5,{0.54 + math.sin(n) / 10}\n" for n in range(60))
    (here / "t.csv").write_text("unit,old,new\n" + "".join(rows))
    found = {}
    for options in ([], ["--test", "t"], ["--test-share", "0.01"]):
        command = ("compare", "--scores", "t.csv", "--gate", "better", *options)
        (claims,) = parsed(capsys, *command)
        (record,) = claims["gate"]
        found[record["test"]] = record["p"]
        assert record["p"] == claims["claims"][0]["tests"][0]["p"]
        assert (record["verdict"], record["passed"], record["n"]) == ("shown", True, 60)
    assert set(found) == {"t", "randomization", "corrected-t"}
    assert len(set(found.values())) == 3


# The ledger


def test_the_ledger_counts_looks(capsys, monkeypatch):
    for _ in range(2):
        printed(capsys, *COMPARE, "--ledger", "l.jsonl")
    monkeypatch.setenv("HELDOUT_LEDGER", "l.jsonl")
    said = printed(capsys, *COMPARE, "-m", "AP").err
    assert "evaluation 3 of these data" in said
    assert "--data" not in said  # judgements have a fingerprint of their own
    lines = printed(capsys, "ledger", "l.jsonl").out.splitlines()
    assert lines[0].split("\t")[-1] == "Holm"
    assert "." not in lines[1].split("\t")[2]  # no fractions of seconds
    assert len(lines) == 4
    looks = json.loads(printed(capsys, "ledger", "l.jsonl", "--json").out)
    assert [look["systems"] for look in looks] == [["improved", "baseline"]] * 3
    assert all(0 < look["p"] < look["holm"] < 0.001 for look in looks)
    monkeypatch.delenv("HELDOUT_LEDGER")
    table = ("compare", "--scores", "scores.csv", "--ledger", "l.jsonl")  # has no name of its own
    assert "name the data with --data" in printed(capsys, *table).err
    assert "--data" not in printed(capsys, *table, "--data", "spring").err
    assert printed(capsys, "ledger", "l.jsonl").out.count("\nspring\t") == 3  # pairs


def test_a_look_is_written_down_before_the_result_is_put_in_place(capsys, monkeypatch):
    def broken(*_):
        raise InputError("the ledger broke")

    monkeypatch.setattr("heldout.infer.ledger.record_looks", broken)
    arguments = ("compare", "--scores", "scores.csv", "--ledger", "l.jsonl")
    for more in ((), ("-o", "out.txt")):
        assert "the ledger broke" in refused_in_a_line(capsys, *arguments, *more)


# Plans


FOLDS = [(1, 0.80, 0.84), (2, 0.82, 0.83), (3, 0.79, 0.85), (4, 0.81, 0.82), (5, 0.83, 0.88)]


def test_plan_from_a_pilot_from_folds_and_from_a_standard_deviation(capsys):
    out = printed(capsys, "power", *RUNS, "--difference", "0.02").out
    assert "improved - baseline, nDCG@10: differences have standard deviation 0.18" in out
    rows = "".join(f"{number},{old},{new}\n" for number, old, new in FOLDS)
    Path("folds.csv").write_text(f"unit,old,new\n{rows}")
    folds = ("--scores", "folds.csv", "--test-share", "0.25")
    out = printed(capsys, "power", *folds, "--difference", "0.05").out
    assert "standard error 0.0154 over 5 folds" in out
    assert re.search(r"\b0\.05 +135\n", out)
    known = ("--sd", "0.15", "--difference", "0.02", "--queries", "100")
    simulated = ("-m", "Success@1", "--difference", "0.1", "--queries", "50", "--simulate")
    (plan,) = parsed(capsys, "power", *RUNS, *simulated)
    assert plan["needed"] == [{"difference": 0.1, "queries": 297}]
    assert plan["simulated"][0]["simulations"] == 500
    # z approximation: (1.96 + 0.8416)^2 * (0.15 / 0.02)^2 = 441.5, and a little more for t
    assert re.search(r"\b0\.02 +444\n", printed(capsys, "power", *known).out)

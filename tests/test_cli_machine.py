"""The command line with human and machine judgements."""

import json

import numpy as np
import pytest

import heldout
from heldout.cli import main

QUERIES, PEOPLE = 90, 30


@pytest.fixture(scope="module")
def files(tmp_path_factory):
    """Human and machine judgements and three runs, of 90 queries."""
    folder = tmp_path_factory.mktemp("judged")
    generator = np.random.default_rng(4)
    docs = [f"d{number}" for number in range(12)]
    human, machine, runs = {}, {}, {"old": {}, "new": {}, "other": {}}
    for number in range(QUERIES):
        query = f"q{number:02}"
        grades = generator.random(12) < 0.1 + 0.5 * generator.random()
        for name, skill in (("old", 0.5), ("new", 2.5), ("other", 0.5)):
            scores = skill * grades + generator.normal(0, 1, 12)
            runs[name][query] = dict(zip(docs, scores.tolist(), strict=True))
        given = grades ^ (generator.random(12) < 0.04)
        machine[query] = dict(zip(docs, given.astype(int).tolist(), strict=True))
        human[query] = dict(zip(docs, grades.astype(int).tolist(), strict=True))
    few = generator.permutation(list(human))[:PEOPLE].tolist()
    heldout.Qrels.of({query: human[query] for query in few}).write(folder / "human.qrels")
    heldout.Qrels.of(machine).write(folder / "llm.qrels")
    for name, run in runs.items():
        heldout.Run.of(run, name).write(folder / f"{name}.run")
    return folder


def run(files, capsys, command, *arguments):
    named = [str(files / one) if one.endswith((".qrels", ".run")) else one for one in arguments]
    try:
        code = main([command, *named]) or 0
    except SystemExit as end:
        code = end.code
    out, err = capsys.readouterr()
    return code, out, err


def test_compare_says_what_the_human_queries_count_like(files, capsys):
    arguments = ("human.qrels", "old.run", "new.run", "--machine", "llm.qrels")
    code, out, _ = run(files, capsys, "compare", *arguments)
    assert code == 0
    assert out.startswith("new is significantly better than old: nDCG@10 ")
    assert "Human judgements alone: difference" in out
    assert "Machine judgements alone (90 queries, biased)" in out
    assert "Your 30 human queries count like" in out
    assert "[random-sample]" in out
    _, out, _ = run(files, capsys, "compare", *arguments, "--assume-random")
    assert "[random-sample]" not in out


def test_compare_gives_all_estimates_as_json_and_tables(files, capsys):
    arguments = ("human.qrels", "old.run", "new.run", "other.run", "--machine", "llm.qrels")
    more = ("--baseline", "old", "-m", "P@5")
    _, out, _ = run(files, capsys, "compare", *arguments, *more, "-f", "json")
    (record,) = json.loads(out)
    first = record["machine"]["differences"][0]
    assert (first["first"], first["machine"]["biased"]) == ("new", True)
    assert first["human"]["low"] < first["combined"]["estimate"] < first["human"]["high"]
    assert record["claims"][0]["effective_n"] == first["effective_queries"]
    _, out, _ = run(files, capsys, "compare", *arguments, *more, "--full")
    assert "machine (biased)" in out


def test_eval_shows_three_estimates_per_run_and_measure(files, capsys):
    arguments = ("human.qrels", "old.run", "new.run", "--machine", "llm.qrels")
    code, out, err = run(files, capsys, "eval", *arguments, "-f", "csv")
    rows = [line.split(",")[:2] for line in out.splitlines()]
    assert code == 0
    assert rows[1:] == [[name, one] for name in ("old", "new") for one in ("nDCG@10", "AP", "P@10")]
    assert "[random-sample]" in err
    _, out, _ = run(files, capsys, "eval", *arguments, "-f", "json", "-m", "AP")
    estimates = json.loads(out)["runs"][1]["estimates"]["AP"]
    by_people = heldout.evaluate(files / "human.qrels", files / "new.run", "AP").value("AP")
    assert estimates["human"]["estimate"] == pytest.approx(by_people)
    assert estimates["machine"]["biased"] is True


def test_a_gate_reads_the_combined_difference(files, capsys):
    given = ("human.qrels", "old.run", "new.run", "--machine", "llm.qrels", "--assume-random")
    code, out, _ = run(files, capsys, "compare", *given, "--gate", "better", "--json")
    (found,) = json.loads(out)
    (gate,), (claim,) = found["gate"], found["claims"]
    assert (gate["test"], gate["p"]) == ("prediction-powered", claim["p_adjusted"])
    assert gate["passed"] == claim["significant"] == (code == 0)


@pytest.mark.parametrize(
    ("command", "arguments", "words"),
    [
        ("eval", ("--per-unit",), "--per-unit does not go with --machine"),
        ("eval", ("-f", "trec"), "--format trec does not go with --machine"),
        ("compare", ("--test", "t"), "uses human judgements alone"),
    ],
)
def test_options_that_do_not_fit_are_refused(files, capsys, command, arguments, words):
    given = ("human.qrels", "old.run", "new.run", "--machine", "llm.qrels", *arguments)
    code, out, err = run(files, capsys, command, *given)
    assert (code, out) == (2, "")
    assert words in err


def test_run_has_the_estimates_of_compare(files, capsys):
    given = ("human.qrels", "--machine", "llm.qrels", "-m", "P@5")
    code, out, _ = run(
        files, capsys, "run", *given, "--system", "old.run", "--system", "new.run", "--json"
    )
    (found,) = json.loads(out)["comparisons"]
    _, out, _ = run(files, capsys, "compare", *given, "old.run", "new.run", "-f", "json")
    (expected,) = json.loads(out)
    assert code == 0
    ours, theirs = (one["machine"]["differences"][0] for one in (found, expected))
    assert ours["combined"] == pytest.approx(theirs["combined"])
    assert ours["effective_queries"] == pytest.approx(theirs["effective_queries"])


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (("--system", "old.run", "--by", "document", "--machine", "llm.qrels"), "leave it out"),
        (("--machine", "llm.qrels"), "--machine is for systems (--system)"),
        (("--assume-random",), "--assume-random goes with --machine"),
    ],
)
def test_options_of_run_that_do_not_fit_are_refused(files, capsys, arguments, words):
    code, out, err = run(files, capsys, "run", "human.qrels", *arguments)
    assert (code, out) == (2, "")
    assert words in err


def test_assume_random_needs_a_machine(files, capsys):
    code, _, err = run(files, capsys, "eval", "human.qrels", "old.run", "--assume-random")
    assert code == 2
    assert "--assume-random goes with --machine" in err


def test_split_draws_queries_for_people_to_judge(files, capsys, tmp_path):
    arguments = ("llm.qrels", "--sample", "5", "--seed", "1")
    code, out, err = run(files, capsys, "split", *arguments)
    assert code == 0
    assert "5 of 90 queries, drawn at random (seed 1)" in err
    drawn = out.split()
    assert len(set(drawn)) == 5
    topics = tmp_path / "topics.tsv"
    rows = (f"q{number:02}\tquery {number}\n" for number in range(QUERIES))
    topics.write_text("".join(rows), encoding="utf-8")
    _, out, _ = run(files, capsys, "split", str(topics), "--sample", "5", "--seed", "1")
    assert out.split() == drawn
    code, _, err = run(files, capsys, "split", "llm.qrels", "--sample", "91")
    assert (code, "expected fewer than the 90 queries" in err) == (2, True)

"""The command line with human and machine judgements."""

import numpy as np
import pytest

import heldout
from commands import ended, parsed, printed

QUERIES, PEOPLE = 90, 30


PAIR = ("human.qrels", "old.run", "new.run", "--machine", "llm.qrels")


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


@pytest.fixture(autouse=True)
def _here(files, monkeypatch):
    monkeypatch.chdir(files)


def test_compare_says_what_the_human_queries_count_like(capsys):
    out = printed(capsys, "compare", *PAIR).out
    assert out.startswith("new is significantly better than old: nDCG@10 ")
    assert "Human judgements alone: difference" in out
    assert "Machine judgements alone (90 queries, biased)" in out
    assert "Your 30 human queries count like" in out
    assert "[random-sample]" in out
    assert "[random-sample]" not in printed(capsys, "compare", *PAIR, "--assume-random").out


def test_compare_gives_all_estimates_as_json_and_tables(capsys):
    arguments = ("compare", *PAIR, "other.run", "--baseline", "old", "-m", "P@5")
    (record,) = parsed(capsys, *arguments)
    first = record["machine"]["differences"][0]
    assert (first["first"], first["machine"]["biased"]) == ("new", True)
    assert first["human"]["low"] < first["combined"]["estimate"] < first["human"]["high"]
    assert record["claims"][0]["effective_n"] == first["effective_queries"]
    assert "machine (biased)" in printed(capsys, *arguments, "--full").out


def test_eval_shows_three_estimates_per_run_and_measure(capsys):
    said = printed(capsys, "eval", *PAIR, "-f", "csv")
    rows = [line.split(",")[:2] for line in said.out.splitlines()]
    assert rows[1:] == [[name, one] for name in ("old", "new") for one in ("nDCG@10", "AP", "P@10")]
    assert "[random-sample]" in said.err
    estimates = parsed(capsys, "eval", *PAIR, "-m", "AP")["runs"][1]["estimates"]["AP"]
    by_people = heldout.evaluate("human.qrels", "new.run", "AP").value("AP")
    assert estimates["human"]["estimate"] == pytest.approx(by_people)
    assert estimates["machine"]["biased"] is True


def test_run_has_the_estimates_of_compare(capsys):
    given = ("human.qrels", "--machine", "llm.qrels", "-m", "P@5")
    run = ("run", *given, "--system", "old.run", "--system", "new.run")
    (found,) = parsed(capsys, *run)["comparisons"]
    (expected,) = parsed(capsys, "compare", *given, "old.run", "new.run")
    ours, theirs = (one["machine"]["differences"][0] for one in (found, expected))
    assert ours["combined"] == pytest.approx(theirs["combined"])
    assert ours["effective_queries"] == pytest.approx(theirs["effective_queries"])


def test_split_draws_queries_for_people_to_judge(capsys, tmp_path):
    sample = ("--sample", "5", "--seed", "1")
    said = printed(capsys, "split", "llm.qrels", *sample)
    assert "5 of 90 queries, drawn at random (seed 1)" in said.err
    drawn = said.out.split()
    assert len(set(drawn)) == 5
    rows = (f"q{number:02}\tquery {number}\n" for number in range(QUERIES))
    (tmp_path / "topics.tsv").write_text("".join(rows), encoding="utf-8")
    assert printed(capsys, "split", tmp_path / "topics.tsv", *sample).out.split() == drawn
    _, err, code = ended(capsys, "split", "llm.qrels", "--sample", "91")
    assert (code, "expected fewer than the 90 queries" in err) == (2, True)

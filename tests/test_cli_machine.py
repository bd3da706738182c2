"""The command line with human judgements of some queries, and machine judgements of all."""

import pytest

import heldout
from commands import parsed, printed

PAIR = ("human.qrels", "baseline.run", "improved.run", "--machine", "machine.qrels")
pytestmark = pytest.mark.usefixtures("here")


def test_compare_says_what_the_human_queries_count_like(capsys):
    swapped = (PAIR[0], PAIR[2], PAIR[1], *PAIR[3:])
    for files, sign in ((PAIR, 1), (swapped, -1)):  # the better system comes first in any order
        out = " ".join(printed(capsys, "compare", *files).out.split())
        assert out.startswith("improved is significantly better than baseline: nDCG@10 ")
        (record,) = parsed(capsys, "compare", *files)
        (found,) = record["machine"]["differences"]
        human, machine = found["human"], found["machine"]
        said = f"Human judgements alone: difference {sign * human['estimate']:+.4f}, 95% CI "
        assert f"{said}[{min(sign * human['low'], sign * human['high']):+.4f}, " in out
        said = "Machine judgements alone (50 queries, biased): "
        assert f"{said}{sign * machine['estimate']:+.4f}." in out
        count = round(found["effective_queries"])
        assert f"Your 20 human queries count like {count} (weight of the machine " in out
        assert "[random-sample]" in out
    assert "[random-sample]" not in printed(capsys, "compare", *PAIR, "--assume-random").out


def test_compare_gives_all_estimates_and_a_gate_reads_the_combined_one(capsys):
    compare = ("compare", *PAIR, "--assume-random", "-m", "nDCG@10", "--gate", "better")
    (record,) = parsed(capsys, *compare)
    (first,), (claim,), (gate,) = record["machine"]["differences"], record["claims"], record["gate"]
    assert (first["first"], first["machine"]["biased"]) == ("improved", True)
    assert first["human"]["low"] < first["combined"]["estimate"] < first["human"]["high"]
    assert claim["effective_n"] == first["effective_queries"]
    assert (gate["test"], gate["p"]) == ("prediction-powered", claim["p_adjusted"])
    assert gate["passed"] is claim["significant"] is True
    assert "machine (biased)" in printed(capsys, *compare, "--full").out
    run = ("run", *PAIR[:1], *PAIR[3:], "--system", PAIR[1], "--system", PAIR[2], "-m", "nDCG@10")
    (found,) = parsed(capsys, *run, "--assume-random")["comparisons"]
    ours = found["machine"]["differences"][0]
    assert ours["combined"] == pytest.approx(first["combined"])
    assert ours["effective_queries"] == pytest.approx(first["effective_queries"])


def test_eval_shows_three_estimates_per_run_and_measure(capsys):
    said = printed(capsys, "eval", *PAIR, "-f", "csv")
    rows = [line.split(",")[:2] for line in said.out.splitlines()]
    measures = ("nDCG@10", "AP", "P@10")
    assert rows[1:] == [[name, one] for name in ("baseline", "improved") for one in measures]
    assert "[random-sample]" in said.err
    estimates = parsed(capsys, "eval", *PAIR, "-m", "AP")["runs"][1]["estimates"]["AP"]
    by_people = heldout.evaluate("human.qrels", "improved.run", "AP").value("AP")
    assert estimates["human"]["estimate"] == pytest.approx(by_people)
    assert estimates["machine"]["biased"] is True


def test_split_draws_queries_for_people_to_judge(capsys):
    sample = ("--sample", "5", "--seed", "1")
    said = printed(capsys, "split", "machine.qrels", *sample)
    assert "5 of 50 queries, drawn at random (seed 1)" in said.err
    drawn = said.out.split()
    assert len(set(drawn)) == 5

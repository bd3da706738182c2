"""Experiments keep what tuning in query folds adds to differences, or say that they do not know."""

import pytest
from experiment_data import overlap, small_collection

from heldout import HoldOut, KFold
from heldout.data.scores import ChoiceSpread
from heldout.experiment.experiment import Experiment
from heldout.experiment.results import Results
from heldout.experiment.systems.base import System

TUNED = "bm25(k1=0.2:2.2:5, b=0:1:3)"
FIXED = "A=bm25(k1=0.9, b=0.4)"


def run(*systems, plan=None, **fields):
    return Experiment(
        collection=small_collection(),
        systems=list(systems),
        plan=plan or KFold(4),
        measures=["nDCG@10", "AP"],
        **fields,
    ).run()


def codes(comparison):
    return [note.code for note in comparison.warnings]


@pytest.fixture(scope="module")
def results():
    return run(FIXED, TUNED, "ql-jm(lambda=0.1,0.5)")


def test_pairs_with_a_tuned_system_have_a_spread_in_each_measure(results):
    for measure in ("nDCG@10", "AP"):
        scores = results.scores(measure, systems=["A", "bm25", "ql-jm"])
        assert set(scores.choices) == {("bm25", "A"), ("ql-jm", "A"), ("ql-jm", "bm25")}
        assert all(one.units > 0 and one.choices >= 0 for one in scores.choices.values())
        assert scores.choices["bm25", "A"].choices > 0
    spreads = [results.scores(name).choices["bm25", "A"] for name in ("nDCG@10", "AP")]
    assert spreads[0] != spreads[1]


def test_the_claim_is_wider_than_a_t_interval(results):
    mine = results.compare(systems=["A", "bm25"]).claims[0]
    plain = results.compare(systems=["A", "bm25"], interval="t").claims[0]
    assert mine.outcomes[0].test == "retuned-t"
    assert mine.difference.low < plain.difference.low
    assert mine.difference.high > plain.difference.high


def test_they_are_written_and_read(results, tmp_path):
    results.write(tmp_path / "results")
    again = Results.read(tmp_path / "results")
    assert again.scores().choices == results.scores().choices
    assert isinstance(again.scores().choices["bm25", "A"], ChoiceSpread)


def test_one_hold_out_shares_no_choices():
    found = run(FIXED, TUNED, plan=HoldOut(0.5)).compare()
    assert found.claims[0].outcomes[0].test == "randomization"
    assert "shared-choices" not in codes(found)


def test_fixed_systems_are_compared_as_ever():
    found = run(FIXED, "B=bm25(k1=2)").compare()
    assert found.claims[0].outcomes[0].test == "randomization"
    assert "shared-choices" not in codes(found)


def test_a_function_that_is_tuned_is_warned_about():
    function = System.of(overlap, "f", space={"power": [0.5, 1.0]})
    found = run(FIXED, function).compare()
    assert found.claims[0].outcomes[0].test == "randomization"
    assert "shared-choices" in codes(found)

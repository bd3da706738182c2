"""Experiments keep what tuning in query folds adds to differences, or say that they do not know."""

import pytest
from experiment_data import overlap, small_collection

from heldout import Experiment, HoldOut, KFold, Results, System

TUNED = "bm25(k1=0.2:2.2:5, b=0:1:3)"
FIXED = "A=bm25(k1=0.9, b=0.4)"


def run(*systems, plan=None):
    given = {"collection": small_collection(), "measures": ["nDCG@10", "AP"]}
    return Experiment(systems=systems, plan=plan or KFold(4), **given).run()


@pytest.fixture(scope="module")
def results():
    return run(FIXED, TUNED, "ql-jm(lambda=0.1,0.5)")


def test_pairs_with_a_tuned_system_have_a_spread_in_each_measure(results, tmp_path):
    results.write(tmp_path / "results")
    again = Results.read(tmp_path / "results")
    spreads = []
    for measure in ("nDCG@10", "AP"):
        choices = results.scores(measure, systems=["A", "bm25", "ql-jm"]).choices
        assert set(choices) == {("bm25", "A"), ("ql-jm", "A"), ("ql-jm", "bm25")}
        assert all(spread.units > 0 and spread.choices >= 0 for spread in choices.values())
        assert again.scores(measure).choices == choices
        spreads.append(choices["bm25", "A"])
    assert spreads[0] != spreads[1]
    assert spreads[0].choices > 0


def test_the_claim_is_wider_than_a_t_interval(results):
    mine = results.compare(systems=["A", "bm25"]).claims[0]
    plain = results.compare(systems=["A", "bm25"], interval="t").claims[0]
    assert mine.outcomes[0].test == "retuned-t"
    assert mine.difference.low < plain.difference.low
    assert mine.difference.high > plain.difference.high


@pytest.mark.parametrize(
    ("other", "plan", "warned"),
    [
        (TUNED, HoldOut(0.5), False),  # a single hold-out shares no choices
        ("B=bm25(k1=2)", None, False),
        (System.of(overlap, "f", space={"power": [0.5, 1.0]}), None, True),  # it is not known
    ],
)
def test_without_spreads_systems_are_compared_as_ever(other, plan, warned):
    found = run(FIXED, other, plan=plan).compare()
    assert found.claims[0].outcomes[0].test == "randomization"
    assert ("shared-choices" in {note.code for note in found.warnings}) == warned

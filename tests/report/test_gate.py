"""The gate in words and in JSON."""

from __future__ import annotations

import json

import numpy as np
import pytest

from heldout import InputError, Scores, compare
from heldout.infer.gates import gate_results, gate_test
from heldout.report.claims import claim_records, json_claims
from heldout.report.gate import gate_record, gate_sentence, with_gates

RNG = np.random.default_rng(3)
OLD = RNG.uniform(0.2, 0.8, 60)
NOISE = RNG.normal(0, 0.1, 60)
NOISE -= NOISE.mean()


def comparison(gain, *, spread=1.0, lower=False, **settings):
    """A new system that gains so much over the old one."""
    turn = -1 if lower else 1
    values = np.stack([OLD, OLD + turn * (gain + spread * NOISE)], axis=1)
    units = [f"q{at}" for at in range(60)]
    scores = Scores("AP", ("old", "new"), units, values, higher_is_better=not lower)
    return compare(scores, **settings)


def only(results):
    (result,) = results
    return result


@pytest.mark.parametrize("lower", [False, True])
@pytest.mark.parametrize(
    ("kind", "gain", "words"),
    [
        ("non-inferior", 0.001, "passed: new is not worse than old by more than 0.05 in AP"),
        ("non-inferior", -0.2, "failed: new is worse than old by more than 0.05 in AP"),
        ("non-inferior", -0.04, "failed: not shown that new is not worse than old by more"),
        ("equivalent", 0.001, "passed: new is within 0.05 of old in AP"),
        ("equivalent", 0.2, "failed: new is better than old by more than 0.05 in AP"),
    ],
)
def test_verdicts_in_words(kind, gain, words, lower):
    result = only(gate_results(comparison(gain, lower=lower), kind, 0.05))
    assert gate_sentence(result).startswith(words)
    assert result.passed == words.startswith("passed")
    assert f"gain {gain:+.4f}, 90% interval" in gate_sentence(result)
    assert not result.notes


def test_an_undecided_gate_says_what_would_decide_it():
    within = only(gate_results(comparison(-0.04), "non-inferior", 0.05))
    needed = within.gate.queries_needed
    assert needed is not None
    assert gate_sentence(within).endswith(f"; about {needed:,} queries would decide it")
    beyond = only(gate_results(comparison(-0.06), "non-inferior", 0.05))
    assert gate_sentence(beyond).endswith("more queries would hardly show it")
    folds = only(
        gate_results(comparison(-0.04, test_share=0.1), "non-inferior", 0.05, test_share=0.1)
    )
    assert "corrected resampled t test" in gate_sentence(folds)
    assert gate_sentence(folds).endswith("more data would decide it")


def test_the_test_reaches_the_gate():
    found = comparison(0.0)
    t = only(gate_results(found, "non-inferior", 0.05, test="t"))
    flips = only(gate_results(found, "non-inferior", 0.05, test="randomization", seed=4))
    again = only(gate_results(found, "non-inferior", 0.05, test="randomization", seed=4))
    assert (t.gate.test, flips.gate.test) == ("t", "randomization")
    assert t.gate.p != flips.gate.p == again.gate.p
    assert t.gate.interval.method == "t"
    assert flips.gate.interval.method == "randomization inversion"


@pytest.mark.parametrize(
    ("tests", "share", "expected"),
    [
        ((), None, "auto"),
        ((), 0.1, "auto"),
        (("t",), None, "t"),
        (("randomization", "t"), None, "randomization"),
        (("sign", "t"), None, "t"),
        (("t", "corrected-t"), 0.1, "corrected-t"),
    ],
)
def test_which_test_the_gate_goes_by(tests, share, expected):
    assert gate_test(tests, share) == expected


def test_tests_without_a_margin_are_refused():
    with pytest.raises(InputError, match="test='wilcoxon' cannot test a margin"):
        gate_test(["wilcoxon", "sign"], None)
    with pytest.raises(InputError, match="test='t' treats folds as independent"):
        gate_test(["t"], 0.1)


def test_units_that_hardly_differ_are_pointed_out():
    values = np.stack([OLD, OLD + np.where(np.arange(60) < 3, -0.1, 0.0)], axis=1)
    found = compare(Scores("AP", ("old", "new"), range(60), values))
    result = only(gate_results(found, "non-inferior", 0.05))
    assert result.passed
    (note,) = result.notes
    assert (note.code, note.severity) == ("few-differ", "warning")
    assert note.text.startswith("new and old differ on only 3 of 60 units")
    assert gate_record(result)["warning_codes"] == ["few-differ"]


def test_json_has_the_gate_at_full_precision():
    comparisons = [comparison(0.0), comparison(-0.04)]
    gates = [gate_results(one, "non-inferior", 0.05, level=0.9) for one in comparisons]
    plain = json.loads(json_claims(comparisons))
    content = json.loads(json.dumps(with_gates(claim_records(comparisons), gates)))
    assert [one.pop("gate")[0]["passed"] for one in content] == [True, gates[1][0].passed]
    assert content == plain
    record = with_gates(claim_records(comparisons), gates)[0]["gate"][0]
    gate = gates[0][0].gate
    assert record["p"] == gate.p
    assert record["interval"]["low"] == gate.interval.low
    assert record["interval"]["level"] == pytest.approx(0.8)
    wanted = ("kind", "first", "second", "verdict", "margin", "test", "method", "n", "sentence")
    assert [record[key] for key in wanted] == [
        *("non-inferior", "new", "old", "shown", 0.05, "t", "t", 60),
        gate_sentence(gates[0][0]),
    ]
    assert record["queries_needed"] is None


def test_an_interval_without_bounds_is_null_in_json():
    scores = Scores("AP", ("old", "new"), ["a", "b"], [[0.1, 0.2], [0.1, 0.3]])
    result = only(gate_results(compare(scores), "non-inferior", 0.05))
    assert "interval without bounds" in gate_sentence(result)
    assert (gate_record(result)["interval"]["low"], result.gate.queries_needed) == (None, 5)


def test_without_a_baseline_there_is_no_gate():
    scores = Scores("AP", ("a", "b", "c"), range(60), np.stack([OLD, OLD + NOISE, 1 - OLD], axis=1))
    with pytest.raises(InputError, match="needs a baseline"):
        gate_results(compare(scores), "non-inferior", 0.05)
    results = gate_results(compare(scores, baseline="b"), "non-inferior", 0.05)
    assert [(one.first, one.second) for one in results] == [("a", "b"), ("c", "b")]

"""C/W/L measures, compatibility and accuracy: against cwl-eval, ir_measures and plain loops."""

from __future__ import annotations

import logging

import numpy as np
import pytest

from heldout import evaluate
from heldout.errors import MeasureError
from heldout.measure.base import definitions

NAMES = [
    *("INST(max_rel=3)", "INST(T=2.5,max_rel=3)", "INSQ(max_rel=3)", "INSQ(T=3.0,max_rel=2)"),
    *("BPM(max_rel=3)@10", "BPM(T=2.0,min_rel=1,max_rel=3)@20", "SDCG(max_rel=3)@10"),
    *("SDCG(max_rel=3)@2000", "NERR8(max_rel=3)@10", "NERR9(max_rel=3)@10", "NERR10(max_rel=3)"),
    *("NERR10(p=0.5,max_rel=3)", "NERR11(max_rel=3)", "NERR11(T=2.0,max_rel=3)", "Compat"),
    *("Compat(p=0.8)", "Compat(p=0.8,normalize=False)", "Accuracy", "Accuracy(rel=2)@5"),
]


def random_case(seed, queries=6):
    rng = np.random.default_rng(seed)
    qrels, run = {}, {}
    for query in range(queries):
        judged = rng.choice(60, int(rng.integers(5, 30)), replace=False)
        qrels[f"q{query}"] = {f"d{doc}": int(rng.integers(-1, 4)) for doc in judged}
        ranked = rng.choice(60, int(rng.integers(2, 50)), replace=False)
        scores = rng.permutation(len(ranked)).tolist()
        run[f"q{query}"] = {
            f"d{doc}": score + 1.0 for doc, score in zip(ranked, scores, strict=True)
        }
    return qrels, run


@pytest.mark.parametrize("seed", range(4))
def test_values_are_those_of_ir_measures(seed, monkeypatch):
    ir_measures = pytest.importorskip("ir_measures")
    pytest.importorskip("cwl")
    monkeypatch.setattr(logging.getLogger("ir_measures.cwl_eval"), "disabled", True)
    qrels, run = random_case(seed)
    result = evaluate(qrels, run, NAMES)
    for number, name in enumerate(NAMES):
        mine = dict(zip(result.units(), result.per_unit(0, number).tolist(), strict=True))
        theirs = list(ir_measures.iter_calc([ir_measures.parse_measure(name)], qrels, run))
        for metric in theirs:
            assert mine[metric.query_id] == pytest.approx(metric.value, rel=1e-9, abs=1e-13), name


def expected_gain(gains, goes_on, depth=1000):
    """The definition of C/W/L, in a loop."""
    examined, total, weight = 1.0, 0.0, 0.0
    for rank in range(1, depth + 1):
        gain = gains[rank - 1] if rank <= len(gains) else 0.0
        total, weight = total + examined * gain, weight + examined
        examined *= goes_on(rank, gain, sum(gains[:rank]))
    return total / weight


MODELS = {
    "INST(T=2)": lambda rank, _, found: ((rank + 3 - found) / (rank + 4 - found)) ** 2,
    "INSQ": lambda rank, *_: ((rank + 1) / (rank + 2)) ** 2,
    "BPM(T=2)@4": lambda rank, _, found: float(found < 2 and rank < 4),
    "NERR8@4": lambda rank, gain, _: (1 - gain) * (rank < 4),
    "NERR9@4": lambda rank, gain, _: (1 - gain) * rank / (rank + 1) * (rank < 4),
    "NERR10(p=0.7)": lambda _, gain, __: 0.7 * (1 - gain),
    "NERR11": lambda rank, gain, _: ((rank + 1) / (rank + 2)) ** 2 * (1 - gain),
    "SDCG@4": lambda rank, *_: float(np.log(rank + 1) / np.log(rank + 2)) * (rank < 4),
}


@pytest.mark.parametrize("name", MODELS)
def test_values_are_those_of_the_definition(name):
    """The highest grade is that of the judgements, and unjudged documents have no gain."""
    qrels = {"q": {"a": 4, "b": 1, "c": 2, "d": 0, "z": 4}}
    ranked = ["b", "x", "a", "d", "c"]
    run = {"q": {doc: -float(rank) for rank, doc in enumerate(ranked)}}
    gains = [max(qrels["q"].get(doc, 0), 0) / 4 for doc in ranked]
    found = evaluate(qrels, run, name).value(0, 0)
    assert found == pytest.approx(expected_gain(gains, MODELS[name]), rel=1e-12)


def test_sdcg_of_relevant_documents_alone_is_one():
    qrels = {"q": {f"d{n}": 3 for n in range(10)}}
    run = {"q": {f"d{n}": float(n) for n in range(10)}}
    for name in ("SDCG@10", "INST@", "NERR8@5"):
        assert evaluate(qrels, run, name.rstrip("@")).value(0, 0) <= 1.0
    assert evaluate(qrels, run, "SDCG@10").value(0, 0) == pytest.approx(1.0)


def overlap(one, other, p, depth):
    shares = [len({*one[:k]} & {*other[:k]}) / k for k in range(1, depth + 1)]
    return sum(p**place * share for place, share in enumerate(shares))


def test_compatibility_is_overlap_with_the_ideal_list():
    qrels = {"q1": {"a": 2, "b": 1, "c": 0}, "q2": {"d": 1}, "q3": {"e": 1}}
    run = {"q1": {"b": 3.0, "x": 2.0, "a": 1.0}, "q2": {"d": 1.0}}
    ranked, ideal = ["b", "x", "a"], ["a", "b"]
    expected = [overlap(ranked, ideal, 0.8, 3) / overlap(ideal, ideal, 0.8, 3), 1.0, 0.0]
    found = evaluate(qrels, run, "Compat(p=0.8)").per_unit(0, 0).tolist()
    assert found == pytest.approx(expected, rel=1e-12)


def test_accuracy_counts_pairs_in_the_right_order():
    qrels = {"q1": {"a": 1, "b": 1}, "q2": {"c": 1}, "q3": {"d": 1}}
    run = {"q1": {"a": 4, "x": 3, "b": 2, "y": 1}, "q2": {"c": 1}, "q3": {"x": 1}}
    # q1: a is above x and y, b above y only; q2 has no pair; q3 finds nothing
    found = evaluate(qrels, run, ["Accuracy", "Accuracy@1"])
    assert found.per_unit(0, 0).tolist() == [0.75, 1.0, 0.0]
    assert found.per_unit(0, 1).tolist() == [1.0, 1.0, 0.0]


@pytest.mark.parametrize(
    ("name", "says"),
    [
        ("INST(T=0.1)", "expected a number of at least 0.5"),
        ("SDCG", "SDCG needs a cutoff"),
        ("INST@5", "INST takes no cutoff"),
        ("NERR8(min_rel=3, max_rel=2)@5", r"min_rel=3: must be less than max_rel \(2\)"),
        ("INSQ(T=-1)", "expected a non-negative number"),
    ],
)
def test_wrong_parameters_are_refused(name, says):
    with pytest.raises(MeasureError, match=says):
        evaluate({"q": {"a": 1}}, {"q": {"a": 1.0}}, name)


def test_many_queries_are_computed_in_blocks():
    qrels, run = random_case(9)
    many = {f"{query}.{copy}": docs for copy in range(400) for query, docs in qrels.items()}
    runs = {f"{query}.{copy}": docs for copy in range(400) for query, docs in run.items()}
    few = dict(zip(qrels, evaluate(qrels, run, "INST").per_unit(0, 0).tolist(), strict=True))
    result = evaluate(many, runs, "INST")
    assert result.per_unit(0, 0).tolist() == [few[name.split(".")[0]] for name in result.units()]


def test_every_docstring_states_the_model_in_its_first_line():
    models = [
        name for name in definitions("ranking") if name.startswith(("NERR", "INS", "BPM", "SDCG"))
    ]
    assert len(models) == 8
    assert all(definitions("ranking")[name].summary.startswith("Users ") for name in models)

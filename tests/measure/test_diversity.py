"""Measures of diversity: against ndeval, worked examples, and what must hold for all of them."""

from __future__ import annotations

import math

import numpy as np
import pytest

import heldout
from heldout import InputError, Qrels, Run, compare, evaluate, read_qrels
from heldout.cli import main
from heldout.errors import MeasureError
from heldout.measure.base import definitions

NAMES = {
    "alpha_DCG": "alpha-DCG",
    "alpha_nDCG": "alpha-nDCG",
    "ERR_IA": "ERR-IA",
    "nERR_IA": "nERR-IA",
    "P_IA": "P-IA",
    "StRecall": "strec",
}
# One query with three subtopics; C is relevant to the last alone.
ROWS = [("q", "A", 1, "a"), ("q", "B", 1, "b"), ("q", "D", 1, "b"), ("q", "C", 1, "c")]
RUN = {"q": {"A": 9.0, "D": 8.0, "E": 7.0, "B": 6.0}}
QRELS_FILE = "q a A 1\nq b B 1\nq b D 2\nq c C 1\nq b A 0\n"
RUN_FILE = "q Q0 A 1 9 x\nq Q0 D 2 8 x\nq Q0 E 3 7 x\nq Q0 B 4 6 x\n"


def qrels_of(rows):
    columns = map(list, zip(*rows, strict=True))
    names = ("query", "doc", "grade", "subtopic")
    return Qrels.of(dict(zip(names, columns, strict=True)), subtopics=True)


def random_case(seed, queries=3, subtopics=4):
    """Judgements (query, document, grade, subtopic) and a run, without ties."""
    rng = np.random.default_rng(seed)
    rows, run = [], {}
    for query in range(queries):
        for doc in rng.choice(40, 20, replace=False):
            for subtopic in np.flatnonzero(rng.random(subtopics) < 0.5):
                grade = int(rng.integers(-1, 4)) if rng.random() < 0.6 else 0
                rows.append((f"q{query}", f"d{doc}", grade, str(subtopic)))
        ranked = rng.choice(40, int(rng.integers(1, 35)), replace=False)
        scores = rng.permutation(len(ranked)).tolist()
        run[f"q{query}"] = {
            f"d{doc}": float(score) for doc, score in zip(ranked, scores, strict=True)
        }
    return rows, run


@pytest.mark.parametrize("seed", range(8))
def test_values_are_those_of_ndeval(seed):
    pyndeval = pytest.importorskip("pyndeval")
    rows, run = random_case(seed)
    alpha, beta, rel = [(0.5, 0.5, 1), (0.3, 0.8, 1), (1.0, 0.5, 2), (0.0, 0.9, 1)][seed % 4]
    ours, theirs = ["AP_IA", "NRBP", "nNRBP"], ["MAP-IA", "NRBP", "nNRBP"]
    for name, other in NAMES.items():
        # ndeval does not normalise at rank 1
        cutoffs = (2, 5, 20) if name in {"alpha_DCG", "ERR_IA"} else (1, 5, 20)
        ours += [f"{name}@{k}" for k in cutoffs]
        theirs += [f"{other}@{k}" for k in cutoffs]
    judged = [pyndeval.SubtopicQrel(query, sub, doc, grade) for query, doc, grade, sub in rows]
    evaluator = pyndeval.RelevanceEvaluator(
        judged, theirs, relevance_level=rel, alpha=alpha, beta=beta
    )
    ranked = [pyndeval.ScoredDoc(q, d, s) for q, docs in run.items() for d, s in docs.items()]
    wanted = evaluator.evaluate(ranked)
    measures = heldout.parse_measures(ours, "ranking", rel=rel, alpha=alpha, beta=beta)
    result = evaluate(qrels_of(rows), run, measures)
    for number, other in enumerate(theirs):
        expected = [wanted[query][other] for query in result.units()]
        assert result.per_unit(0, number).tolist() == pytest.approx(expected, rel=1e-12), other


def test_worked_example():
    """The README of pyndeval has the same list and values."""
    log3, log5 = math.log2(3), math.log2(5)
    gain = 1 + 1 / log3 + 0.5 / log5  # A, D, then b again at rank 4
    best = 1 + 1 / log3 + 1 / 2 + 0.5 / log5  # three subtopics, then b again
    complete = sum(0.5 ** (rank - 1) / math.log2(rank + 1) for rank in range(1, 6))
    expected = {
        "alpha_nDCG@5": gain / best,
        "alpha_DCG@5": gain / (3 * complete),
        "StRecall@5": 2 / 3,
        "P_IA@5": 3 / (3 * 5),
        "AP_IA": (1 + (1 / 2 + 2 / 4) / 2 + 0) / 3,
        "NRBP": (1 + 0.5 + 0.5 * 0.5**3) * (1 - 0.25) / 3,
    }
    result = evaluate(qrels_of(ROWS), RUN, list(expected))
    assert result.summary()["run"] == pytest.approx(expected, rel=1e-12)
    shown = evaluate(qrels_of(ROWS), RUN, ["ERR_IA@5", "nERR_IA@5", "nNRBP", "alpha_nDCG@5"])
    assert [round(value, 4) for value in shown.summary()["run"].values()] == [
        *(0.3933, 0.8298, 0.8621, 0.7869),
    ]


def test_at_rank_one_values_are_normalised_too():
    result = evaluate(qrels_of(ROWS), RUN, ["alpha_DCG@1", "ERR_IA@1", "P_IA@1"])
    assert result.summary()["run"] == pytest.approx(
        {"alpha_DCG@1": 1 / 3, "ERR_IA@1": 1 / 3, "P_IA@1": 1 / 3}
    )


@pytest.mark.parametrize("seed", range(3))
def test_one_subtopic_is_ordinary_evaluation(seed):
    rows, run = random_case(seed, subtopics=1)
    flat = Qrels.of(
        {query: {doc: grade for q, doc, grade, _ in rows if q == query} for query, *_ in rows}
    )
    pairs = {"AP_IA": "AP", "P_IA@5": "P@5", "StRecall@5": "Success@5"}
    mine, plain = evaluate(qrels_of(rows), run, [*pairs]), evaluate(flat, run, [*pairs.values()])
    for number in range(3):
        assert mine.per_unit(0, number).tolist() == pytest.approx(
            plain.per_unit(0, number).tolist()
        )
    assert [note.code for note in mine.notes] == ["one-subtopic"]


def test_a_second_document_of_a_subtopic_has_less_gain_and_a_swap_towards_the_top_never_hurts():
    every = [
        f"{name}{'@5' if family.cutoff == 'rank' else ''}"
        for name, family in definitions("ranking").items()
        if family.needs == "subtopics"
    ]
    assert len(every) == 9
    for seed in range(3):
        rows, run = random_case(seed, queries=1)
        qrels = qrels_of(rows)
        covers = {doc for _, doc, grade, _ in rows if grade > 0}
        before = evaluate(qrels, run, every)
        ranked = sorted(run["q0"], key=run["q0"].get, reverse=True)
        for place in range(len(ranked) - 1):
            if ranked[place] in covers or ranked[place + 1] not in covers:
                continue
            swapped = [*ranked]
            swapped[place : place + 2] = swapped[place + 1], swapped[place]
            better = {"q0": {doc: -float(rank) for rank, doc in enumerate(swapped)}}
            after = evaluate(qrels, better, every)
            for number, name in enumerate(every):
                assert after.value(0, number) >= before.value(0, number) - 1e-12, name


# Files and objects


def test_file_is_read_with_subtopics_only_for_measures_that_need_them(tmp_path):
    (tmp_path / "qrels").write_text(QRELS_FILE)
    path = tmp_path / "qrels"
    with pytest.raises(InputError, match=r"qrels:5: .*document A appears twice for query q"):
        evaluate(path, RUN, "AP")
    result = evaluate(path, RUN, ["StRecall@5", "AP"])
    assert result.value(0, 0) == pytest.approx(2 / 3)
    highest = {"q": {"A": 1, "B": 1, "C": 1, "D": 2}}
    assert result.value(0, 1) == evaluate(highest, RUN, "AP").value(0, 0)
    assert read_qrels(path, subtopics=True).to_dict() == highest


@pytest.mark.parametrize("ending", ["txt", "csv", "tsv", "parquet", "txt.gz"])
def test_qrels_with_subtopics_are_written_and_read_back(tmp_path, ending):
    rows, run = random_case(1)
    qrels = qrels_of(rows)
    qrels.write(tmp_path / f"qrels.{ending}")
    again = read_qrels(tmp_path / f"qrels.{ending}", subtopics=True)
    assert again.fingerprint() == qrels.fingerprint()
    assert again.to_frame().equals(qrels.to_frame())
    names = ["alpha_nDCG@10", "AP"]
    assert evaluate(again, run, names).summary() == evaluate(qrels, run, names).summary()


def test_selected_queries_keep_their_subtopics():
    rows, run = random_case(2)
    qrels = qrels_of(rows)
    whole = evaluate(qrels, run, "alpha_nDCG@10")
    part = evaluate(qrels.select(["q2", "q0"]), run, "alpha_nDCG@10")
    assert part.per_unit(0, 0).tolist() == whole.per_unit(0, 0)[[0, 2]].tolist()
    others = [(*row[:2], 1, row[3]) if row[0] == "q1" else row for row in rows]
    assert qrels_of(others).fingerprint() != qrels.fingerprint()


def test_frames_and_records(tmp_path):
    polars = pytest.importorskip("polars")
    frame = polars.DataFrame(ROWS, ["query_id", "doc_id", "relevance", "iteration"], orient="row")
    expected = evaluate(qrels_of(ROWS), RUN, "alpha_nDCG@5").summary()
    assert evaluate(frame, RUN, "alpha_nDCG@5").summary() == expected
    (tmp_path / "a").write_text("q a A 1\nq b B 1\n")
    (tmp_path / "b").write_text("q b D 1\nq c C 1\n")
    joined = read_qrels(tmp_path / "a", tmp_path / "b", subtopics=True)
    assert evaluate(joined, RUN, "alpha_nDCG@5").summary() == expected
    ir_measures = pytest.importorskip("ir_measures")
    records = [ir_measures.Qrel(query, doc, grade, sub) for query, doc, grade, sub in ROWS]
    assert evaluate(records, RUN, ir_measures.alpha_nDCG @ 5).summary() == expected


def test_judgements_without_subtopics_are_refused(tmp_path):
    with pytest.raises(MeasureError, match="need judgements by subtopic"):
        evaluate({"q": {"A": 1}}, RUN, "alpha_nDCG@5")
    (tmp_path / "three").write_text("q A 1\n")
    with pytest.raises(InputError, match="has no subtopics: expected lines of 4"):
        evaluate(tmp_path / "three", RUN, "alpha_nDCG@5")
    (tmp_path / "lists.json").write_text('{"q": {"A": 1}}')
    with pytest.raises(InputError, match="JSON has no subtopics"):
        evaluate(tmp_path / "lists.json", RUN, "alpha_nDCG@5")
    (tmp_path / "t.csv").write_text("query_id,doc_id,relevance\nq,A,1\n")
    with pytest.raises(InputError, match="no column of subtopics"):
        evaluate(tmp_path / "t.csv", RUN, "alpha_nDCG@5")


def test_two_grades_for_one_subtopic_are_refused():
    with pytest.raises(InputError, match="A appears twice for query q and subtopic a with grades"):
        qrels_of([*ROWS, ("q", "A", 2, "a")])
    assert qrels_of([*ROWS, ROWS[0]]).repeated == 1


def test_parameters_out_of_range():
    for name in ("alpha_nDCG(alpha=1.5)@5", "alpha_nDCG", "AP_IA@5"):
        with pytest.raises(MeasureError):
            evaluate(qrels_of(ROWS), RUN, name)
    with pytest.raises(MeasureError, match="beta=2: expected a number from 0 to 1"):
        evaluate(qrels_of(ROWS), RUN, "NRBP(beta=2)")


# The command line


def test_commands(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    rows, run = random_case(5, queries=6)
    qrels_of(rows).write("qrels")
    Run.of(run, "one").write("one.run")
    better = {query: {doc: -score for doc, score in docs.items()} for query, docs in run.items()}
    Run.of(better, "two").write("two.run")
    main(["eval", "qrels", "one.run", "-m", "alpha_nDCG@5", "-m", "AP"])
    wanted = evaluate("qrels", "one.run", "alpha_nDCG@5").value(0, 0)
    assert f"{wanted:.4f}" in capsys.readouterr().out
    main(["compare", "qrels", "one.run", "two.run", "-m", "alpha_nDCG@5"])
    found = compare("qrels", ["one.run", "two.run"], "alpha_nDCG@5")
    assert f"{found.systems[0].mean.estimate:.4f}" in capsys.readouterr().out

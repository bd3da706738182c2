"""Measures of diversity: against ndeval, a worked example, what must hold for all of them."""

from __future__ import annotations

import math

import numpy as np
import pytest
from samples import by_subtopic, random_run

from heldout import InputError, evaluate, parse_measures, read_qrels
from heldout.errors import MeasureError

# One query with three subtopics; C is relevant to the last alone.
ROWS = [("q", "A", 1, "a"), ("q", "B", 1, "b"), ("q", "D", 1, "b"), ("q", "C", 1, "c")]
RUN = {"q": {"A": 9.0, "D": 8.0, "E": 7.0, "B": 6.0}}


def random_case(seed, queries=3, subtopics=4):
    """Judgements (query, document, grade, subtopic) and a run, without ties."""
    rng = np.random.default_rng(seed)
    rows, run = [], {}
    for query in range(queries):
        for doc in rng.choice(40, 20, replace=False):
            for subtopic in np.flatnonzero(rng.random(subtopics) < 0.5):
                grade = int(rng.integers(-1, 4)) if rng.random() < 0.6 else 0
                rows.append((f"q{query}", f"d{doc}", grade, str(subtopic)))
        run[f"q{query}"] = random_run(rng, 40, 1, 35)
    return rows, run


THEIRS = {"AP_IA": "MAP-IA", "NRBP": "NRBP", "nNRBP": "nNRBP"}
for ours, name in {
    "alpha_DCG": "alpha-DCG",
    "alpha_nDCG": "alpha-nDCG",
    "ERR_IA": "ERR-IA",
    "nERR_IA": "nERR-IA",
    "P_IA": "P-IA",
    "StRecall": "strec",
}.items():
    # ndeval does not normalise these at rank 1.
    cutoffs = (2, 5, 20) if ours in {"alpha_DCG", "ERR_IA"} else (1, 5, 20)
    THEIRS |= {f"{ours}@{k}": f"{name}@{k}" for k in cutoffs}


def test_values_are_those_of_ndeval():
    pyndeval = pytest.importorskip("pyndeval")
    for seed, (alpha, beta, rel) in enumerate(
        [(0.5, 0.5, 1), (0.3, 0.8, 1), (1.0, 0.5, 2), (0.0, 0.9, 1)] * 2
    ):
        rows, run = random_case(seed)
        judged = [pyndeval.SubtopicQrel(query, sub, doc, grade) for query, doc, grade, sub in rows]
        settings = {"alpha": alpha, "beta": beta}
        evaluator = pyndeval.RelevanceEvaluator(
            judged, [*THEIRS.values()], relevance_level=rel, **settings
        )
        ranked = [pyndeval.ScoredDoc(q, d, s) for q, docs in run.items() for d, s in docs.items()]
        wanted = evaluator.evaluate(ranked)
        measures = parse_measures([*THEIRS], "ranking", rel=rel, **settings)
        result = evaluate(by_subtopic(rows), run, measures)
        for number, other in enumerate(THEIRS.values()):
            expected = [wanted[query][other] for query in result.units()]
            found = result.per_unit(0, number).tolist()
            assert found == pytest.approx(expected, rel=1e-12), (seed, other)


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
        # At rank one values are normalised, too.
        **dict.fromkeys(("alpha_DCG@1", "ERR_IA@1", "P_IA@1"), 1 / 3),
    }
    result = evaluate(by_subtopic(ROWS), RUN, list(expected))
    assert result.summary()["run"] == pytest.approx(expected, rel=1e-12)
    published = {"ERR_IA@5": 0.3933, "nERR_IA@5": 0.8298, "nNRBP": 0.8621, "alpha_nDCG@5": 0.7869}
    shown = evaluate(by_subtopic(ROWS), RUN, list(published)).summary()["run"]
    assert shown == pytest.approx(published, abs=5e-5)


# Files and objects


def test_a_file_is_read_with_subtopics_only_for_measures_that_need_them(tmp_path):
    path = tmp_path / "qrels"
    path.write_text("q a A 1\nq b B 1\nq b D 2\nq c C 1\nq b A 0\n")
    with pytest.raises(InputError, match=r"qrels:5: .*document A appears twice for query q"):
        evaluate(path, RUN, "AP")
    result = evaluate(path, RUN, ["StRecall@5", "AP"])
    assert result.value(0, 0) == pytest.approx(2 / 3)
    highest = {"q": {"A": 1, "B": 1, "C": 1, "D": 2}}
    assert result.value(0, 1) == evaluate(highest, RUN, "AP").value(0, 0)
    assert read_qrels(path, subtopics=True).to_dict() == highest


def test_judgements_with_subtopics_in_any_form(tmp_path):
    rows, run = random_case(1)
    qrels = by_subtopic(rows)
    names = ["alpha_nDCG@10", "AP"]
    wanted = evaluate(qrels, run, names).summary()
    for ending in ("txt", "csv", "parquet"):
        qrels.write(tmp_path / f"qrels.{ending}")
        again = read_qrels(tmp_path / f"qrels.{ending}", subtopics=True)
        assert again.fingerprint() == qrels.fingerprint()
        assert evaluate(again, run, names).summary() == wanted
    forms = [qrels.to_frame()]
    for query in ("q0", "q1", "q2"):
        by_subtopic([row for row in rows if row[0] == query]).write(tmp_path / query)
    forms.append(read_qrels(*(tmp_path / f"q{n}" for n in range(3)), subtopics=True))
    ir_measures = pytest.importorskip("ir_measures")
    forms.append([ir_measures.Qrel(query, doc, grade, sub) for query, doc, grade, sub in rows])
    for form in forms:
        assert evaluate(form, run, names).summary() == wanted
    one = [(*row[:3], "1") for row in {row[:2]: row for row in rows}.values()]
    assert [note.code for note in evaluate(by_subtopic(one), run, names).notes] == ["one-subtopic"]
    # Selected queries keep their subtopics.
    whole, part = (evaluate(one, run, names[0]) for one in (qrels, qrels.select(["q2", "q0"])))
    assert part.per_unit().tolist() == whole.per_unit()[[0, 2]].tolist()
    others = [(*row[:2], 1, row[3]) if row[0] == "q1" else row for row in rows]
    assert by_subtopic(others).fingerprint() != qrels.fingerprint()


def test_judgements_without_subtopics_are_refused(tmp_path):
    with pytest.raises(MeasureError, match="need judgements by subtopic"):
        evaluate({"q": {"A": 1}}, RUN, "alpha_nDCG@5")
    for name, text, says in (
        ("three", "q A 1\n", "has no subtopics: expected lines of 4"),
        ("lists.json", '{"q": {"A": 1}}', "JSON has no subtopics"),
        ("t.csv", "query_id,doc_id,relevance\nq,A,1\n", "no column of subtopics"),
    ):
        (tmp_path / name).write_text(text)
        with pytest.raises(InputError, match=says):
            evaluate(tmp_path / name, RUN, "alpha_nDCG@5")
    with pytest.raises(InputError, match="A appears twice for query q and subtopic a with grades"):
        by_subtopic([*ROWS, ("q", "A", 2, "a")])
    assert by_subtopic([*ROWS, ROWS[0]]).repeated == 1

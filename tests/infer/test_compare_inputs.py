"""What compare takes: tables, evaluations, results, and truth and systems in one call."""

import numpy as np
import pandas as pd
import polars as pl
import pytest
from inference_data import A, B, codes, of_classes, of_numbers, scores_of

import heldout
from heldout import InputError, Qrels, Run, Scores, compare, evaluate
from heldout.cli import main
from heldout.errors import MeasureError

QRELS = {f"q{n}": {f"d{n}": 1, f"e{n}": 2, "x": 0} for n in range(12)}


def made_run(seed):
    source = np.random.default_rng(seed)
    return {
        query: {doc: float(source.random()) for doc in (*docs, "y", "z")}
        for query, docs in QRELS.items()
    }


RUNS = {"old": made_run(1), "new": made_run(2)}
CLAIMS = compare(evaluate(QRELS, RUNS, "nDCG@10").scores("nDCG@10")).claims


def rows_of(nested):
    return [(q, d, v) for q, docs in nested.items() for d, v in docs.items()]


def frame_of(nested, value, module):
    columns = zip(("query_id", "doc_id", value), zip(*rows_of(nested), strict=True), strict=True)
    return module.DataFrame({name: list(values) for name, values in columns})


# Tables


@pytest.mark.parametrize(
    "given",
    [
        {"A": A, "B": tuple(B)},
        {"A": dict(enumerate(A)), "B": dict(enumerate(B))},
        pd.DataFrame({"qid": range(10), "A": A, "B": B}),
        pl.DataFrame({"qid": range(10), "A": A, "B": B}),
    ],
    ids=["values", "dictionaries", "pandas", "polars"],
)
def test_frames_and_dictionaries_are_compared(given):
    found = compare(given)
    assert found.scores.systems == ("A", "B")
    assert found.claims == compare(scores_of({"A": A, "B": B})).claims


# Evaluations and results


def test_an_evaluation_is_compared_in_a_measure():
    found = evaluate(QRELS, RUNS, ["nDCG@10", "RR"])
    for comparison in (
        compare(found, "nDCG@10"),
        compare(found, measure="ndcg_cut_10"),
        compare(evaluate(QRELS, RUNS, ["nDCG@10", "Judged@10"])),
    ):
        assert comparison.scores.measure == "nDCG@10"
        assert comparison.claims == CLAIMS
    with pytest.raises(InputError, match=r"there are 2 measures \(nDCG@10, RR\): name one"):
        compare(found)
    with pytest.raises(MeasureError, match="AP was not computed"):
        compare(found, "AP")


def test_queries_that_a_run_lacks_are_left_out_and_named():
    short = {"old": RUNS["old"], "new": {q: RUNS["new"][q] for q in list(QRELS)[2:]}}
    assert compare(evaluate(QRELS, short, "RR")).scores.dropped == ()
    skipped = compare(evaluate(QRELS, short, "RR", missing="skip"))
    assert skipped.scores.dropped == ("q0", "q1")


def test_unequal_judging_is_noticed_whatever_was_measured():
    unjudged = {q: docs | {f"u{n}": 2.0 for n in range(5)} for q, docs in RUNS["old"].items()}
    runs = {"old": unjudged, "new": RUNS["new"]}
    evaluation = evaluate(QRELS, runs, ["RR", "Judged@10"])
    shares = tuple(evaluation.value(name, "Judged@10") for name in runs)
    for comparison in (compare(QRELS, runs, "RR"), compare(evaluate(QRELS, runs, "RR"))):
        assert comparison.scores.judged == shares
        assert "judged-apart" in codes(comparison.warnings)
        assert "unequal judging: old 30%, new 60% of the top" in str(comparison)


def test_results_are_compared_as_they_say():
    texts = {f"d{n}": f"word{n} common text" for n in range(8)}
    queries = {f"q{n}": f"word{n} common" for n in range(8)}
    small = heldout.Collection(texts, queries, {f"q{n}": {f"d{n}": 1} for n in range(8)})
    results = heldout.Experiment(
        collection=small,
        systems=["bm25", "tf-idf"],
        plan={"folds": 4},
        measures=["RR", "P@1"],
        level=0.9,
        seed=3,
        baseline="tf-idf",
    ).run()
    found = compare(results)
    assert found.claims == results.compare().claims
    assert (found.level, found.analysis.seed, found.baseline) == (0.9, 3, "tf-idf")
    assert compare(results, "P@1", level=0.95).scores.measure == "P@1"
    assert compare(results, "P@1", level=0.95).level == 0.95
    with pytest.raises(InputError, match="set by the experiment"):
        compare(results, positive="x")


# Truth and systems in one call


def test_judgements_and_runs():
    found = compare(QRELS, RUNS, "nDCG@10")
    assert found.scores.systems == ("old", "new")
    assert found.claims == CLAIMS
    assert len(found.scores.judged) == 2
    turned = compare(QRELS, RUNS, "nDCG@10", baseline="new", level=0.9, alternative="less")
    assert (turned.claims[0].first, turned.level, turned.alternative) == ("old", 0.9, "less")
    for module in (pd, pl):
        runs = {name: frame_of(run, "score", module) for name, run in RUNS.items()}
        assert compare(frame_of(QRELS, "relevance", module), runs, "nDCG@10").claims == CLAIMS
    qrels, runs = Qrels.of(QRELS), [Run.of(run, name) for name, run in RUNS.items()]
    assert compare(qrels, runs, "nDCG@10").claims == CLAIMS
    ir_measures = pytest.importorskip("ir_measures")
    qrels = [ir_measures.Qrel(*row) for row in rows_of(QRELS)]
    runs = {
        name: [ir_measures.ScoredDoc(*row) for row in rows_of(run)] for name, run in RUNS.items()
    }
    once = {name: iter(run) for name, run in runs.items()}
    for measure in ("nDCG@10", ir_measures.nDCG @ 10):
        assert compare(qrels, runs, measure).claims == CLAIMS
    assert compare(iter(qrels), once, "nDCG@10").claims == CLAIMS
    ranx = pytest.importorskip("ranx")
    runs = [ranx.Run(run, name=name) for name, run in RUNS.items()]
    assert compare(ranx.Qrels(QRELS), runs, "nDCG@10").claims == CLAIMS


def test_references_and_texts(tmp_path):
    texts = {"A": ["a b", "a", "d e f", "x"], "B": ["a b c", "a b", "d e f", "y"]}
    references = ["a b c", "a b", "d e f g", "y"]
    expected = compare(evaluate(references, texts, ["ROUGE-1", "TokenF1"]), "ROUGE-1")
    assert compare(references, texts, "ROUGE-1").claims == expected.claims
    assert compare([[text, "z"] for text in references], texts, "TokenF1").claims
    (tmp_path / "references.txt").write_text("\n".join(references) + "\n")
    files = [tmp_path / f"{name}.txt" for name in texts]
    for file, several in zip(files, texts.values(), strict=True):
        file.write_text("\n".join(several) + "\n")
    found = compare(tmp_path / "references.txt", files, "ROUGE-1")
    assert (found.scores.systems, found.claims) == (("A", "B"), expected.claims)


TRUTH = np.array(["ham", "spam"] * 30)
CLASSED = [of_classes("weak", 0.3, 60), of_classes("strong", 1.2, 60)]
PROBABLE = {one.name: one.scores[:, 1] for one in CLASSED}


def test_classes_and_scores_of_classes():
    labels = {name: np.where(one >= 0.5, "spam", "ham") for name, one in PROBABLE.items()}
    both = {one.name: one.scores for one in CLASSED}
    for measure in ("accuracy", "MCC"):
        claims = compare(CLASSED, measure).claims
        assert compare(TRUTH, labels, measure).claims == claims
        assert compare(TRUTH, both, measure).claims == claims
        assert compare(TRUTH, PROBABLE, measure).claims == claims
        assert compare(evaluate(None, CLASSED, [measure])).claims == claims
    for measure in ("AUC", "Brier"):
        claims = compare(CLASSED, measure).claims
        assert compare(TRUTH, PROBABLE, measure).claims == claims
        assert compare(TRUTH, both, measure).claims == claims
    numbers = {name: (one >= 0.5) * 1.0 for name, one in PROBABLE.items()}
    truth = np.array([0, 1] * 30)
    for positive in (1, 0):
        found = compare(truth, numbers, "FP-rate", positive=positive)
        wrong = [np.mean(one[truth != positive] == positive) for one in numbers.values()]
        assert [row.mean.estimate for row in found.systems] == pytest.approx(wrong)
    logits = {name: 8 * one - 4 for name, one in PROBABLE.items()}
    assert compare(TRUTH, logits, "AUC").claims[0].outcomes == (
        compare(TRUTH, PROBABLE, "AUC").claims[0].outcomes
    )


def test_numbers():
    expected = [of_numbers("bad", 2.0, 40), of_numbers("better", 1.0, 40)]
    truth, guesses = expected[0].truth, {one.name: one.predicted for one in expected}
    for measure in ("MAE", "R2"):
        assert compare(truth, guesses, measure).claims == compare(expected, measure).claims
    assert compare(pd.Series(truth), {n: pd.Series(x) for n, x in guesses.items()}, "MAE").claims


def test_no_zero_is_negative(tmp_path, capsys):
    # The lower bound of the difference is -0.00001.
    gains = [0.012, 0.003, -0.004, 0.009, 0.0015, 0.006, -0.002, 0.0045]
    rows = "".join(f"{at},0,{gain + 0.00071:.8f}\n" for at, gain in enumerate(gains))
    (tmp_path / "s.csv").write_text(f"unit,A,B\n{rows}")
    main(["compare", "--scores", str(tmp_path / "s.csv"), "--full"])
    shown = capsys.readouterr().out
    assert "[+0.0000, " in shown
    assert "-0.0000" not in shown


def test_what_does_not_fit_is_refused():
    few = ["a", "b", "c"], {"A": [0.1, 0.2, 0.3], "B": [0.1] * 3}
    for arguments, message in (
        ((QRELS, RUNS), "no measure: name one"),
        ((QRELS, RUNS, "nonsense"), "unknown measure 'nonsense'"),
        ((QRELS, RUNS, "BLEU"), "unknown measure 'BLEU'"),
        ((TRUTH, PROBABLE, "nDCG@10"), "qrels: expected Qrels.*got an object of type ndarray"),
        ((TRUTH, [TRUTH, TRUTH], "accuracy"), "system: 2 predictions, but 60 true values"),
        ((TRUTH, {"A": TRUTH, "B": TRUTH[:9]}, "accuracy"), "B: 9 predictions, but 60 true"),
        ((TRUTH, {"A": TRUTH, "B": np.ones((60, 3))}, "accuracy"), "3 columns .* there are 2"),
        ((*few, "AUC"), "for two classes, found 3"),
        (([1.0, 2.0], {"A": [1.0, np.nan], "B": [1.0, 2.0]}, "RMSE"), "A, row 2: prediction: nan"),
        ((Scores.of({"A": [1, 2], "B": [2, 1]}, "AP"), "RR"), "these are scores in AP, not in RR"),
        ((QRELS, {"A": RUNS["old"]}, "RR"), "one system cannot be compared"),
    ):
        with pytest.raises((InputError, MeasureError), match=message):
            compare(*arguments)

"""What compare takes: evaluations, results, and truth and systems in one call."""

import sys

import numpy as np
import pandas as pd
import polars as pl
import pytest

import heldout
from heldout import InputError, Qrels, Run, Scores, compare, evaluate
from heldout.cli import main
from heldout.data.predictions import ClassPredictions, NumberPredictions
from heldout.errors import MeasureError

SOURCE = np.random.default_rng(5)
QRELS = {f"q{n}": {f"d{n}": 1, f"e{n}": 2, "x": 0} for n in range(12)}


def made_run(seed):
    source = np.random.default_rng(seed)
    return {
        query: {doc: float(source.random()) for doc in (*docs, "y", "z")}
        for query, docs in QRELS.items()
    }


RUNS = {"old": made_run(1), "new": made_run(2)}
CLAIMS = compare(evaluate(QRELS, RUNS, "nDCG@10").scores("nDCG@10")).claims


def frame_of(nested, value, module):
    rows = [(q, d, v) for q, docs in nested.items() for d, v in docs.items()]
    columns = dict(zip(("query_id", "doc_id", value), zip(*rows, strict=True), strict=True))
    return module.DataFrame({name: list(values) for name, values in columns.items()})


def by_ir_measures(nested, kind):
    return [kind(q, d, v) for q, docs in nested.items() for d, v in docs.items()]


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
    for comparison in (
        compare(QRELS, runs, "RR"),
        compare(evaluate(QRELS, runs, "RR")),
        compare(evaluate(QRELS, runs, "RR").scores("RR")),
    ):
        assert comparison.scores.judged == shares
        assert "judged-apart" in {note.code for note in comparison.warnings}
        assert "unequal judging: old 30%, new 60% of the top" in str(comparison)


def test_judgements_and_runs_in_one_call():
    found = compare(QRELS, RUNS, "nDCG@10")
    assert found.scores.systems == ("old", "new")
    assert found.claims == CLAIMS
    assert len(found.scores.judged) == 2
    turned = compare(QRELS, RUNS, "nDCG@10", baseline="new", level=0.9, alternative="less")
    assert (turned.claims[0].first, turned.level, turned.alternative) == ("old", 0.9, "less")


@pytest.mark.parametrize("module", [pd, pl])
def test_frames(module):
    runs = {name: frame_of(run, "score", module) for name, run in RUNS.items()}
    assert compare(frame_of(QRELS, "relevance", module), runs, "nDCG@10").claims == CLAIMS


def test_objects_and_files(tmp_path):
    qrels = Qrels.of(QRELS)
    runs = [Run.of(run, name) for name, run in RUNS.items()]
    assert compare(qrels, runs, "nDCG@10").claims == CLAIMS
    paths = {"qrels": tmp_path / "qrels.txt", "old": tmp_path / "old.run", "new": tmp_path / "new"}
    rows = [f"{q} 0 {d} {g}\n" for q, docs in QRELS.items() for d, g in docs.items()]
    paths["qrels"].write_text("".join(rows))
    for name, run in RUNS.items():
        rows = [f"{q} Q0 {d} 1 {s!r} {name}\n" for q, docs in run.items() for d, s in docs.items()]
        paths[name].write_text("".join(rows))
    files = {name: str(paths[name]) for name in RUNS}
    assert compare(str(paths["qrels"]), files, "nDCG@10").claims == CLAIMS


def test_objects_of_ir_measures():
    ir_measures = pytest.importorskip("ir_measures")
    qrels = by_ir_measures(QRELS, ir_measures.Qrel)
    runs = {name: by_ir_measures(run, ir_measures.ScoredDoc) for name, run in RUNS.items()}
    assert compare(qrels, runs, ir_measures.nDCG @ 10).claims == CLAIMS
    assert (
        compare(iter(qrels), {n: iter(one) for n, one in runs.items()}, "nDCG@10").claims == CLAIMS
    )
    assert evaluate(qrels, runs["old"], "RR").value(0, "RR") == evaluate(QRELS, RUNS["old"]).value(
        0, "RR"
    )


def test_objects_of_ranx():
    ranx = pytest.importorskip("ranx")
    qrels = ranx.Qrels(QRELS)
    runs = {name: ranx.Run(run, name=name) for name, run in RUNS.items()}
    assert compare(qrels, runs, "nDCG@10").claims == CLAIMS
    assert compare(qrels, list(runs.values()), "nDCG@10").claims == CLAIMS


TEXTS = {"A": ["a b", "a", "d e f", "x"], "B": ["a b c", "a b", "d e f", "y"]}
REFERENCES = ["a b c", "a b", "d e f g", "y"]


def test_references_and_texts_in_one_call(tmp_path):
    expected = compare(evaluate(REFERENCES, TEXTS, ["ROUGE-1", "TokenF1"]), "ROUGE-1")
    assert compare(REFERENCES, TEXTS, "ROUGE-1").claims == expected.claims
    several = [[text, "z"] for text in REFERENCES]
    assert compare(several, TEXTS, "TokenF1").claims
    (tmp_path / "references.txt").write_text("\n".join(REFERENCES) + "\n")
    for name, texts in TEXTS.items():
        (tmp_path / f"{name}.txt").write_text("\n".join(texts) + "\n")
    paths = {name: tmp_path / f"{name}.txt" for name in TEXTS}
    for files in (paths, list(paths.values())):
        found = compare(tmp_path / "references.txt", files, "ROUGE-1")
        assert (found.scores.systems, found.claims) == (("A", "B"), expected.claims)
    assert found.linearised


TRUTH = np.array(["ham", "spam"] * 30)
CODES = np.array([0, 1] * 30)
PROBABLE = {name: SOURCE.random(60) * 0.6 + 0.4 * by * CODES for name, by in (("A", 0.3), ("B", 1))}


def made_predictions(name):
    share = PROBABLE[name]
    return ClassPredictions(
        name,
        tuple(map(str, range(1, 61))),
        ("ham", "spam"),
        CODES,
        (share >= 0.5).astype(int),
        np.column_stack([1 - share, share]),
        probabilities=True,
    )


def test_classes_and_scores_of_classes_in_one_call():
    expected = [made_predictions(name) for name in PROBABLE]
    labels = {name: np.where(one >= 0.5, "spam", "ham") for name, one in PROBABLE.items()}
    both = {name: np.column_stack([1 - one, one]) for name, one in PROBABLE.items()}
    for measure in ("accuracy", "F1(macro)", "MCC", "recall"):
        claims = compare(expected, measure).claims
        assert compare(TRUTH, labels, measure).claims == claims
        assert compare(TRUTH.tolist(), {n: x.tolist() for n, x in labels.items()}, measure)
        assert compare(TRUTH, both, measure).claims == claims
        assert compare(TRUTH, PROBABLE, measure).claims == claims
        assert compare(evaluate(None, expected, [measure])).claims == claims
    for measure in ("AUC", "Brier", "average-precision"):
        claims = compare(expected, measure).claims
        assert compare(TRUTH, PROBABLE, measure).claims == claims
        assert compare(TRUTH, both, measure).claims == claims
    numbers = {name: np.where(one >= 0.5, 1.0, 0.0) for name, one in PROBABLE.items()}
    assert compare(CODES, numbers, "F1", positive=1).claims
    logits = {name: 8 * one - 4 for name, one in PROBABLE.items()}
    assert compare(TRUTH, logits, "AUC").claims[0].outcomes == (
        compare(TRUTH, PROBABLE, "AUC").claims[0].outcomes
    )


def test_numbers_in_one_call():
    truth = SOURCE.random(40)
    guesses = {"A": truth + SOURCE.normal(size=40), "B": truth + 0.1}
    units = tuple(map(str, range(1, 41)))
    expected = [NumberPredictions(name, units, truth, one) for name, one in guesses.items()]
    for measure in ("RMSE", "MAE", "R2"):
        assert compare(truth, guesses, measure).claims == compare(expected, measure).claims
    assert compare(pd.Series(truth), {n: pd.Series(x) for n, x in guesses.items()}, "MAE").claims


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


def test_the_command_and_the_call_agree(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    main(["demo", "--files", "."])
    main(["compare", "qrels.txt", "baseline.run", "improved.run", "-f", "csv"])
    shown = capsys.readouterr().out
    found = compare("qrels.txt", ["baseline.run", "improved.run"], "nDCG@10")
    assert repr(found.claims[0].difference.estimate) in shown


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ((QRELS, RUNS), "no measure: name one"),
        ((QRELS, RUNS, "nonsense"), "unknown measure 'nonsense'"),
        ((QRELS, RUNS, "BLEU"), "unknown measure 'BLEU'"),
        ((TRUTH, PROBABLE, "nDCG@10"), "qrels: expected Qrels.*got an object of type ndarray"),
        ((TRUTH, [TRUTH, TRUTH], "accuracy"), "system: 2 predictions, but 60 true values"),
        (
            (TRUTH, {"A": TRUTH, "B": TRUTH[:9]}, "accuracy"),
            "B: 9 predictions, but 60 true values",
        ),
        (
            (TRUTH, {"A": TRUTH, "B": np.ones((60, 3))}, "accuracy"),
            "3 columns of scores, but there are 2",
        ),
        (
            (["a", "b", "c"], {"A": [0.1, 0.2, 0.3], "B": [0.1] * 3}, "AUC"),
            "for two classes, found 3",
        ),
        (([1.0, 2.0], {"A": [1.0, np.nan], "B": [1.0, 2.0]}, "RMSE"), "A, row 2: prediction: nan"),
        ((Scores.of({"A": [1, 2], "B": [2, 1]}, "AP"), "RR"), "these are scores in AP, not in RR"),
        ((QRELS, {"A": RUNS["old"]}, "RR"), "one system cannot be compared"),
    ],
)
def test_what_does_not_fit_is_refused(arguments, message):
    with pytest.raises((InputError, MeasureError), match=message):
        compare(*arguments)


def test_a_comparison_becomes_a_frame_of_pandas_without_pyarrow(monkeypatch):
    found = compare({"a": [1, 2, 3], "b": [2, 3, 5]})
    monkeypatch.setitem(sys.modules, "pyarrow", None)  # not a dependency
    frame = found.to_frame("pandas")
    assert isinstance(frame, pd.DataFrame)
    assert frame.to_dict("records") == found.to_frame().to_dicts()
    with pytest.raises(InputError, match="library='arrow': expected polars or pandas"):
        found.to_frame("arrow")


@pytest.mark.parametrize("name", [None, "user_input", "qid", "unit"])
def test_the_index_of_a_pandas_frame_has_the_units(name):
    index = pd.Index(["x", "y", "z"], name=name)
    frame = pd.DataFrame({"A": [0.1, 0.2, 0.4], "B": [0.2, 0.3, 0.5]}, index=index)
    for scores in (compare(frame).scores, Scores.of(frame)):
        assert (scores.units, scores.systems) == (("x", "y", "z"), ("A", "B"))


def test_the_advice_about_a_column_of_texts_works():
    frame = pd.DataFrame({"question": ["x", "y"], "A": [0.1, 0.2], "B": [0.2, 0.5]})
    with pytest.raises(
        InputError, match=r"no column of unit ids \(found question, A, B\): name it"
    ):
        compare(frame)
    renamed, named = frame.rename(columns={"question": "unit"}), Scores.of(frame, units="question")
    assert compare(renamed).scores.units == compare(named).scores.units == ("x", "y")


@pytest.mark.parametrize("library", [pd, pl])
def test_a_dictionary_of_frames_is_refused(library):
    frame = library.DataFrame({"unit": ["x", "y"], "score": [0.1, 0.2]})
    with pytest.raises(InputError, match=r"^system old has an object of type DataFrame, not a li"):
        compare({"old": frame, "new": frame})


def test_swapped_dictionaries_are_noticed():
    judged, run = {"q": {"a": 1, "b": 0}}, {"q": {"a": 2.0, "b": 1.0}}
    assert "swapped" not in [note.code for note in evaluate(judged, run, "RR").notes]
    assert evaluate(run, judged, "RR").notes[0].code == "swapped"
    assert "swapped" in [note.code for note in evaluate(run, {"A": judged}, "RR").scores().notes]


def test_no_zero_is_negative(tmp_path, capsys):
    # The lower bound of the difference is -0.00001.
    gains = [0.012, 0.003, -0.004, 0.009, 0.0015, 0.006, -0.002, 0.0045]
    rows = "".join(f"{at},0,{gain + 0.00071:.8f}\n" for at, gain in enumerate(gains))
    (tmp_path / "s.csv").write_text(f"unit,A,B\n{rows}")
    main(["compare", "--scores", str(tmp_path / "s.csv"), "--full"])
    shown = capsys.readouterr().out
    assert "[+0.0000, " in shown
    assert "-0.0000" not in shown

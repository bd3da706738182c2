"""Run files as the points of a grid: against evaluation by hand, shared folds, honest notes."""

import numpy as np
import pandas as pd
import pytest

from heldout.data.run import Qrels, Run
from heldout.errors import InputError, MeasureError
from heldout.infer.compare import compare
from heldout.measure.evaluate import evaluate
from heldout.notes import Note
from heldout.resample.plans import KFold
from heldout.tune.choice import choose
from heldout.tune.runs import relevant_a_query, tune_runs

QUERIES = [f"q{number:02}" for number in range(30)]
GENERATOR = np.random.default_rng(7)
QRELS = {
    query: {f"d{at}": int(GENERATOR.random() < 0.3) for at in range(20)} | {"d0": 1}
    for query in QUERIES
}


def noisy_run(weight, seed):
    """Documents by relevance × weight + noise."""
    generator = np.random.default_rng(seed)
    return Run.from_dict(
        {
            query: {doc: weight * grade + generator.random() for doc, grade in judged.items()}
            for query, judged in QRELS.items()
        },
        "same tag in all files",
    )


@pytest.fixture
def folder(tmp_path):
    for at, weight in enumerate((0.0, 0.1, 0.2, 0.3)):
        noisy_run(weight, at).write(tmp_path / f"w={weight}.run")
    noisy_run(0.1, 99).write(tmp_path / "plain.run")
    return tmp_path


def test_the_run_is_chosen_on_train_queries_and_scored_on_the_others(folder):
    tuned = tune_runs(QRELS, f"{folder}/w=*.run", "AP", plan=KFold(5))
    (system,) = tuned.systems
    assert system.runs == ("w=0.0", "w=0.1", "w=0.2", "w=0.3")
    files = {name: folder / f"{name}.run" for name in system.runs}
    values = evaluate(QRELS, files, "AP")
    table = np.array([values.values(name, "AP") for name in system.runs])
    by_hand = {}
    for split, fold in zip(KFold(5).splits(values.queries()), system.folds.folds, strict=True):
        number = choose(table[:, split.train > 0]).number
        assert fold.number == number
        for at in np.flatnonzero(split.test):
            by_hand[values.queries()[at]] = table[number, at]
    scores = tuned.scores()
    assert dict(zip(scores.units, scores.column("tuned"), strict=True)) == by_hand
    assert scores.measure == "AP"
    assert scores.data == Qrels.from_dict(QRELS).fingerprint()


def test_a_list_of_paths_and_a_pattern_are_the_same(folder):
    paths = sorted(folder.glob("w=*.run"), reverse=True)
    listed = tune_runs(QRELS, paths)
    pattern = tune_runs(QRELS, f"{folder}/w=*.run")
    assert listed.systems[0].runs == pattern.systems[0].runs
    assert listed.systems[0].folds.units.tolist() == pattern.systems[0].folds.units.tolist()


def test_the_order_of_equal_runs_is_that_of_their_parameters(tmp_path):
    for value in (10, 9, 100):
        noisy_run(0.5, 1).write(tmp_path / f"mu={value}.run")
    (system,) = tune_runs(QRELS, f"{tmp_path}/*.run").systems
    assert system.runs == ("mu=9", "mu=10", "mu=100")
    assert {fold.number for fold in system.folds.folds} == {0}
    assert system.shipped == "mu=9"


def test_systems_share_the_folds_and_can_be_compared(folder):
    tuned = tune_runs(
        QRELS, {"A": f"{folder}/w=*.run", "B": [folder / "plain.run"]}, plan=KFold(5, seed=3)
    )
    first, second = tuned.systems
    assert [fold.key for fold in first.folds.folds] == [fold.key for fold in second.folds.folds]
    assert (first.tuned, second.tuned) == (True, False)
    whole = evaluate(QRELS, folder / "plain.run", "nDCG@10").values(0, 0)
    assert second.folds.units.tolist() == whole.tolist()  # nothing to choose: its own scores
    comparison = compare(tuned.scores(), tuned=["A"])
    assert any("A was tuned but B was not" in one.text for one in comparison.warnings)


def test_very_different_search_effort_is_pointed_out(folder):
    grids = {"A": f"{folder}/w=*.run", "B": [folder / "w=0.1.run", folder / "plain.run"]}
    assert tune_runs(QRELS, grids).notes == ()
    for at in range(4, 6):
        noisy_run(0.1, at).write(folder / f"w={at / 10}.run")
    (note,) = tune_runs(QRELS, grids).notes
    text = "A was chosen from 6 runs and B from 2: a difference may be due to the search"
    assert note == Note("uneven-tuning", text)


def test_queries_that_a_run_lacks_count_0_and_are_pointed_out(folder):
    short = Run.from_dict({query: {"d0": 1.0} for query in QUERIES[:28]})
    short.write(folder / "w=0.4.run")
    tuned = tune_runs(QRELS, f"{folder}/w=*.run")
    text = "tuned: w=0.4 lacks 2 judged queries, which count 0"
    assert tuned.notes == (Note("missing-zero", text),)
    assert len(tuned.splits.ids) == 30
    fewer = tune_runs(QRELS, f"{folder}/w=*.run", missing="skip")
    assert len(fewer.splits.ids) == 28
    text = "tuned: w=0.4 lacks 2 judged queries: 2 are left out for all runs"
    assert fewer.notes == (Note("missing-left-out", text),)


def test_a_value_at_the_edge_is_found_by_parameter(folder):
    (system,) = tune_runs(QRELS, f"{folder}/w=*.run").systems
    assert system.shipped == "w=0.3"
    (edge,) = [one for one in system.folds.edges if one.shipped]
    assert (edge.name, edge.value, edge.side) == ("w", 0.3, "highest")


def test_runs_in_memory():
    runs = {f"w={weight}": noisy_run(weight, 1) for weight in (0.3, 0.1)}
    (system,) = tune_runs(QRELS, runs).systems
    assert system.runs == system.sources == ("w=0.1", "w=0.3")
    both = tune_runs(QRELS, {"A": runs, "B": runs})
    assert [one.name for one in both.systems] == ["A", "B"]
    assert both.system("B").folds.units.tolist() == system.folds.units.tolist()
    with pytest.raises(InputError, match="no system 'C'; there are A, B"):
        both.system("C")


def test_files_of_one_name_in_two_folders_are_told_apart(tmp_path):
    for at, place in enumerate(("one", "two")):
        (tmp_path / place).mkdir()
        noisy_run(0.3, at).write(tmp_path / place / "x.run")
    (system,) = tune_runs(QRELS, f"{tmp_path}/*/x.run").systems
    assert len(set(system.runs)) == 2


def test_a_file_with_brackets_in_its_name_is_a_file(tmp_path):
    for name in ("a[1].run", "a[2].run"):
        noisy_run(0.3, len(name)).write(tmp_path / name)
    (system,) = tune_runs(QRELS, [tmp_path / "a[1].run", tmp_path / "a[2].run"]).systems
    assert system.runs == ("a[1]", "a[2]")


def test_wrong_input_is_refused(folder):
    with pytest.raises(InputError, match=r"no run matches .*x=\*\.run: .* has plain\.run, w=0\.0"):
        tune_runs(QRELS, f"{folder}/x=*.run")
    with pytest.raises(InputError, match=r"there is no folder .*nowhere"):
        tune_runs(QRELS, f"{folder}/nowhere/x=*.run")
    with pytest.raises(InputError, match="check the folders"):
        tune_runs(QRELS, f"{folder}/no*/x.run")
    with pytest.raises(InputError, match="nothing to choose from"):
        tune_runs(QRELS, folder / "plain.run")
    with pytest.raises(InputError, match="no runs given"):
        tune_runs(QRELS, [])
    with pytest.raises(InputError, match="no system"):
        tune_runs(QRELS, {})
    with pytest.raises(InputError, match="no such file"):
        tune_runs(QRELS, [folder / "plain.run", folder / "gone.run"])
    with pytest.raises(InputError, match="40 folds but only 30 queries"):
        tune_runs(QRELS, f"{folder}/w=*.run", plan=KFold(40))
    with pytest.raises(MeasureError, match="no better or worse"):
        tune_runs(QRELS, f"{folder}/w=*.run", "NumQ")
    with pytest.raises(MeasureError, match="no mean over queries"):
        tune_runs(QRELS, f"{folder}/w=*.run", "RelString")
    Run.from_dict({"other": {"d0": 1.0}}).write(folder / "w=0.5.run")
    with pytest.raises(InputError, match=r"w=0\.5 and the qrels have no query in common"):
        tune_runs(QRELS, f"{folder}/w=*.run")


def test_relevant_documents_spread_over_folds():
    qrels = Qrels.from_dict({f"q{n}": {f"d{at}": 1 for at in range(n + 1)} for n in range(40)})
    counts = relevant_a_query(qrels)
    assert [round(counts[f"q{n}"]) for n in range(40)] == list(range(1, 41))
    folds = KFold(10, stratify=counts).splits(sorted(counts)).folds()
    for fold in range(10):
        quarters = sorted(
            round(counts[one]) - 1
            for one, at in zip(sorted(counts), folds, strict=True)
            if at == fold
        )
        assert [one // 10 for one in quarters] == [0, 1, 2, 3]


def test_runs_and_judgements_in_frames():
    judged = {"qid": [f"q{n}" for n in range(6)], "docno": ["d"] * 6, "label": [1] * 6}
    runs = {
        f"w={w}": pd.DataFrame(
            {"qid": judged["qid"] * 2, "docno": ["d"] * 6 + ["e"] * 6, "score": [w] * 6 + [0.5] * 6}
        )
        for w in (0.1, 0.6)
    }
    for systems in (runs, {"mine": runs}):
        tuned = tune_runs(pd.DataFrame(judged), systems, "RR", plan=KFold(3))
        assert (tuned.systems[0].shipped, tuned.systems[0].sources) == ("w=0.6", ("w=0.1", "w=0.6"))
    with pytest.raises(InputError, match=r"not paths need names: pass {name: run}"):
        tune_runs(pd.DataFrame(judged), list(runs.values()), "RR")
    for wrong in (5, runs["w=0.1"]):
        with pytest.raises(InputError, match=r"expected paths or {name: run}"):
            tune_runs(pd.DataFrame(judged), wrong, "RR")

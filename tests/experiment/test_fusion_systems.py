"""Fusions as systems: tuned in the folds, from runs and from other systems of the experiment."""

import json

import numpy as np
import pytest
from experiment_data import overlap, small_collection, table_bytes

import heldout
from heldout.cli import main
from heldout.data import run_files
from heldout.data.qrels import Qrels
from heldout.data.run import Run
from heldout.errors import HeldoutError
from heldout.experiment.experiment import Experiment
from heldout.experiment.systems.base import System
from heldout.experiment.systems.fusions import FusionSystem
from heldout.resample.plans import KFold
from heldout.retrieve.index import Index
from heldout.retrieve.search import search

MEASURES = ["nDCG@10", "AP"]
PLAN = {"folds": 4}


@pytest.fixture(scope="module")
def collection():
    return small_collection()


@pytest.fixture(scope="module")
def runs(collection):
    """Two runs that are good at different queries, and one of noise."""
    index = Index.build(collection.documents)
    first = search(index, collection.queries, "bm25(k1=2, b=0)", k=20, name="first")
    second = search(index, collection.queries, "ql-jm(lambda=0.9)", k=25, name="second")
    random = np.random.default_rng(0)
    noise = {
        query: {f"d{doc:03}": float(random.random()) for doc in random.permutation(60)[:15]}
        for query in collection.queries.ids
    }
    return {"first": first, "second": second, "noise": heldout.Run.of(noise, "noise")}


@pytest.fixture
def folder(tmp_path, collection, runs, monkeypatch):
    """The runs and the judgements in files, beside the experiment."""
    collection.qrels.write(tmp_path / "qrels.txt")
    for name, run in runs.items():
        run.write(tmp_path / f"{name}.run")
    monkeypatch.chdir(tmp_path)
    return tmp_path


def test_each_point_is_the_evaluation_of_the_fused_run(collection, runs):
    parts = list(runs.values())
    for how, norm, point in (
        ("wsum", "minmax", {"w1": 0.2, "w2": 0.5, "w3": 0.3}),
        ("wsum", "zscore", {"w1": 1, "w2": 1, "w3": 0}),
        ("rrf", None, {"k": 5}),
        ("combmnz", "sum", {}),
    ):
        weights = [point[name] for name in point if name.startswith("w")] or None
        options = {name: one for name, one in point.items() if not name.startswith("w")}
        fused = heldout.fuse(parts, how, norm=norm, weights=weights, **options)
        fixed = {**point, **({} if norm is None else {"norm": norm})}
        systems = [System.fusion(how, parts, "hybrid", parameters=fixed), System.of(fused, "run")]
        results = Experiment(
            collection=collection, systems=systems, measures=[*MEASURES, "RR@5", "Bpref"], plan=PLAN
        ).run()
        for measure in ("nDCG@10", "AP", "RR@5", "Bpref"):
            mine, other = (results.scores(measure).values[:, at] for at in (0, 1))
            np.testing.assert_allclose(mine, other, rtol=0, atol=1e-12)


def chosen_by_hand(collection, splits, table):
    """The best of some runs on the training queries of each split, its values held out, and all."""
    per_query = []
    for run in table:
        found = heldout.evaluate(collection.qrels, run, ["nDCG@10"])
        own = dict(zip(found.units(), found.per_unit(), strict=True))
        per_query.append([own[query] for query in collection.queries.ids])
    per_query = np.array(per_query)
    numbers = [int(per_query[:, split.train > 0].mean(axis=1).argmax()) for split in splits]
    held_out = np.zeros(per_query.shape[1])
    for split, number in zip(splits, numbers, strict=True):
        held_out[split.test > 0] = per_query[number, split.test > 0]
    return numbers, held_out


def parameters_of(results, name):
    rows = results.folds.filter(results.folds["system"] == name)
    return [json.loads(one) for one in rows["parameters"]]


def test_weights_are_chosen_on_training_queries_alone(collection, runs):
    weights = [0.0, 0.25, 0.5, 0.75, 1.0]
    first, second = runs["first"], runs["second"]
    table = [heldout.fuse([first, second], "wsum", weights=[w, 1 - w]) for w in weights]
    system = System.fusion("wsum", [first, second], "hybrid", space={"w": weights})
    results = Experiment(collection=collection, systems=[system], plan=KFold(4, seed=1)).run()
    splits = KFold(4, seed=1).splits(collection, "query")
    numbers, held_out = chosen_by_hand(collection, splits, table)
    assert [one["w"] for one in parameters_of(results, "hybrid")] == [weights[n] for n in numbers]
    np.testing.assert_allclose(results.scores().values[:, 0], held_out, atol=1e-12)


def test_a_tuned_part_is_fused_as_it_was_chosen_for_the_split(collection):
    weights = [0.0, 0.5, 1.0]
    plan, splits = KFold(6, seed=2), KFold(6, seed=2).splits(collection, "query")
    results = Experiment(
        collection=collection,
        systems=[
            "bm25(k1=3:9:4, b=0.9,1)",
            "ql-jm(lambda=0.7)",
            "hybrid=wsum(bm25, ql-jm, norm=rank, w=0,0.5,1)",
        ],
        plan=plan,
    ).run()
    index = Index.build(collection.documents)
    other = search(index, collection.queries, "ql-jm(lambda=0.7)")
    held_out = np.zeros(len(collection.queries))
    chosen = parameters_of(results, "bm25")
    assert len({str(one) for one in chosen}) > 1  # or nothing would be shown here
    for at, (split, own) in enumerate(zip(splits, chosen, strict=True)):
        part = search(index, collection.queries, f"bm25(k1={own['k1']}, b={own['b']})")
        table = [
            heldout.fuse([part, other], "wsum", norm="rank", weights=[w, 1 - w]) for w in weights
        ]
        numbers, values = chosen_by_hand(collection, splits, table)
        assert parameters_of(results, "hybrid")[at]["w"] == weights[numbers[at]]
        held_out[split.test > 0] = values[split.test > 0]
    scores = results.scores()
    np.testing.assert_allclose(
        scores.values[:, scores.systems.index("hybrid")], held_out, atol=1e-12
    )


def test_a_command_a_file_and_python_agree(folder, capsys):
    text = "wsum(first.run, second.run, norm=minmax, w=0:1:5)"
    systems = ["--system", f"hybrid={text}", "--system", "dense=second.run"]
    main(["run", "qrels.txt", *systems, "--folds", "4", "-o", "command", "--quiet"])
    printed = capsys.readouterr().out
    assert "hybrid" in printed
    (folder / "experiment.toml").write_text(
        """collection = {qrels = "qrels.txt"}
        [plan]
        folds = 4
        [[systems]]
        name = "hybrid"
        system = "wsum(first.run, second.run, norm=minmax, w=0:1:5)"
        [[systems]]
        name = "dense"
        system = "second.run"
        """
    )
    main(["run", "experiment.toml", "-o", "file", "--quiet"])
    assert capsys.readouterr().out == printed
    first, second = table_bytes(folder / "command"), table_bytes(folder / "file")
    assert first == second
    system = System.fusion(
        "wsum",
        ["first.run", "second.run"],
        "hybrid",
        parameters={"norm": "minmax"},
        space={"w": "0:1:5"},
    )
    found = Experiment(
        collection={"qrels": "qrels.txt"},
        systems=[system, System.of("dense=second.run")],
        plan={"folds": 4},
    ).run(folder / "python")
    assert table_bytes(folder / "python") == first
    assert found.scores().systems == ("hybrid", "dense")


def test_judgements_alone_show_every_document(folder):
    results = Experiment(
        collection={"qrels": "qrels.txt"},
        systems=["hybrid=rrf(first.run, noise.run, k=1,60)"],
        plan={"folds": 3},
    ).run(folder / "results")
    assert not results.held_out["document"].has_nulls()


def test_workers_and_interruptions_leave_the_same_bytes(folder, collection, monkeypatch):
    hybrid = "hybrid=wsum(bm25, first.run, noise.run, w=0:1:3)"
    systems = ["bm25(k1=0.2,3)", hybrid, System.of(overlap, "mine")]
    experiment = Experiment(collection=collection, systems=systems, plan={"folds": 3})
    experiment.run(folder / "one")
    experiment.run(folder / "two", workers=2)
    assert table_bytes(folder / "one") == table_bytes(folder / "two")
    perform = FusionSystem.runs

    def interrupted(*_):
        raise KeyboardInterrupt

    monkeypatch.setattr(FusionSystem, "runs", interrupted)
    with pytest.raises(KeyboardInterrupt):
        experiment.run(folder / "three")
    monkeypatch.setattr(FusionSystem, "runs", perform)
    experiment.run(folder / "three", resume=True)
    assert table_bytes(folder / "one") == table_bytes(folder / "three")


def test_three_parts_have_a_simplex_of_weights(runs):
    parts = list(runs.values())
    grid = System.fusion("wsum", parts, space={"w": "0:1:5", "norm": ["minmax", "rank"]})
    assert len(grid.points()) == 2 * 15
    assert all(sum(one[f"w{at}"] for at in (1, 2, 3)) == 1 for one in grid.points())
    drawn = System.fusion("wsum", parts, space={"w": "0:1:5"}, search="random", trials=20)
    assert len({str(one) for one in drawn.points()}) == 20
    for one in drawn.points():
        assert sum(one[f"w{at}"] for at in (1, 2, 3)) == pytest.approx(1, abs=2e-4)


def test_a_search_finds_the_good_weights(collection, runs):
    pytest.importorskip("optuna", reason="needs the extra optuna")
    parts = [runs["noise"], runs["second"], runs["first"]]
    system = System.fusion(
        "wsum", parts, "hybrid", space={"w": "0:1:5"}, search="optuna", trials=12
    )
    results = Experiment(collection=collection, systems=[system], plan={"folds": 3}).run()
    for one in parameters_of(results, "hybrid"):
        assert one["w1"] < max(one["w2"], one["w3"])  # the first is noise


def test_a_weight_at_its_limit_is_not_at_an_edge(collection, runs):
    parts = [runs["noise"], runs["second"]]
    system = System.fusion("wsum", parts, "hybrid", space={"w": "0:1:3"})
    results = Experiment(collection=collection, systems=[system], plan={"folds": 3}).run()
    assert {one["w"] for one in parameters_of(results, "hybrid")} == {0}
    assert "at-an-end" not in {note.code for note in results.notes}


@pytest.mark.parametrize(
    ("systems", "words"),
    [
        (["hybrid=wsum(first.run, secnd.run, w=0.5)"], "secnd.run is neither another system"),
        (["hybrid=wsum()"], "fuses two or more parts, got 0"),
        (["hybrid=wsum(first.run, w=0.5)"], "fuses two or more parts, got 1"),
        (["hybrid=wsum(first.run, first.run, w=0.5)"], "first.run is given twice"),
        (["hybrid=wsum(first.run, second.run)"], "wsum needs weights: write w=0:1:11"),
        (["hybrid=wsum(first.run, second.run, w=2)"], "w=2: expected a number between 0 and 1"),
        (["hybrid=wsum(first.run, second.run, w=a,b)"], "w=a: expected a number between 0 and 1"),
        (["hybrid=wsum(first.run, second.run, k=3, w=0.5)"], "has no parameter k; it has norm, w"),
        (["hybrid=wsum(first.run, second.run, w=0.5, norm=x)"], "norm='x': expected one of"),
        (
            ["hybrid=rrf(first.run, second.run, norm=minmax)"],
            "rrf of 2 parts has no parameter norm",
        ),
        (
            ["hybrid=wsum(first.run, second.run, noise.run, w=1,2)"],
            "no 3 of its values add up to 1",
        ),
        (["hybrid=rrf(first.run, *.run)"], "*.run matches 3 runs: make it a system of its own"),
        (
            ["a=rrf(first.run, second.run)", "b=rrf(a, noise.run)"],
            "a cannot be fused: it is a fusion",
        ),
        (["a=rrf(a, noise.run)"], "a is neither another system"),
        (["hybrid=rrf(first.run, second.run, k=-1)"], "k is -1: expected a number of at least 0"),
    ],
)
@pytest.mark.usefixtures("folder")
def test_what_cannot_be_fused_is_named(systems, words):
    with pytest.raises(HeldoutError) as error:
        Experiment(collection={"qrels": "qrels.txt"}, systems=systems, plan=PLAN).check()
    assert words in str(error.value)


def test_systems_that_learn_cannot_be_parts(collection):
    systems = [System.of(overlap, "mine"), "bm25", "hybrid=rrf(bm25, mine)"]
    with pytest.raises(
        HeldoutError, match="mine cannot be fused: its ranking of a query can depend"
    ):
        Experiment(collection=collection, systems=systems, plan=PLAN).check()
    pytest.importorskip("optuna", reason="needs the extra optuna")
    searched = System.of("bm25(k1=0.5:3:6)", search="optuna", trials=3)
    systems = [searched, "ql-jm", "hybrid=rrf(bm25, ql-jm)"]
    with pytest.raises(HeldoutError, match="Optuna searches each training side by itself"):
        Experiment(collection=collection, systems=systems, plan=PLAN).check()


def test_files_of_parts_are_read_once_per_setting_of_the_parts_before(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    qrels = {f"q{at}": {"a": 1, "b": 0} for at in range(4)}
    Qrels.of(qrels).write("qrels.txt")
    for part in "xy":
        for at in range(3):
            run = {query: {"a": at + 1.0, "b": 2.5} for query in qrels}
            Run.of(run).write(f"{part}-k={at}.run")
    opened, read = run_files.open_source, []

    def counted(path):
        read.append(path)
        return opened(path)

    monkeypatch.setattr(run_files, "open_source", counted)
    systems = {"x": "x-k=*.run", "y": "y-k=*.run", "both": "wsum(x, y, w=0:1:3)"}
    Experiment(collection={"qrels": "qrels.txt"}, systems=systems, plan=KFold(2)).check()
    runs = [path for path in read if str(path).endswith(".run")]
    assert len(runs) == 3 + 3 + (3 + 3 * 3)

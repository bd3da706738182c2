"""Fusions as systems: tuned in the folds, from runs and from other systems of the experiment."""

from collections import Counter

import numpy as np
import pytest
from experiment_data import (
    check_bytes,
    interrupted,
    longer,
    overlap,
    small_collection,
    table_bytes,
)

import heldout
from heldout import Experiment, HeldoutError, Index, KFold, Qrels, Run, System, search
from heldout.cli import main

COLLECTION = small_collection()
INDEX = Index.build(COLLECTION.documents)
IDS = COLLECTION.documents.ids


def noise():
    random = np.random.default_rng(0)
    return {
        query: {IDS[row]: float(random.random()) for row in random.permutation(60)[:15].tolist()}
        for query in COLLECTION.queries.ids
    }


# Two runs that are good at different queries, and one of noise.
RUNS = {
    "first": search(INDEX, COLLECTION.queries, "bm25(k1=2, b=0)", k=20, name="first"),
    "second": search(INDEX, COLLECTION.queries, "ql-jm(lambda=0.9)", k=25, name="second"),
    "noise": Run.of(noise(), "noise"),
}
PARTS = list(RUNS.values())


def experiment(*systems, collection=COLLECTION, **more):
    return Experiment(collection=collection, systems=systems, **{"plan": KFold(4)} | more)


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """The runs and the judgements in files, beside the experiment."""
    COLLECTION.qrels.write(tmp_path / "qrels.txt")
    for name, run in RUNS.items():
        run.write(tmp_path / f"{name}.run")
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.mark.parametrize(
    ("how", "norm", "point"),
    [
        ("wsum", "minmax", {"w1": 0.2, "w2": 0.5, "w3": 0.3}),
        ("wsum", "zscore", {"w1": 1, "w2": 1, "w3": 0}),
        ("rrf", None, {"k": 5}),
        ("combmnz", "sum", {}),
    ],
)
def test_each_point_is_the_evaluation_of_the_fused_run(how, norm, point):
    weights = [point[name] for name in point if name.startswith("w")] or None
    options = {name: value for name, value in point.items() if not name.startswith("w")}
    fused = heldout.fuse(PARTS, how, norm=norm, weights=weights, **options)
    fixed = {**point, **({} if norm is None else {"norm": norm})}
    hybrid = System.of(how, "hybrid", parts=PARTS, parameters=fixed)
    measures = ["nDCG@10", "AP", "RR@5", "Bpref"]
    results = experiment(hybrid, System.of(fused, "run"), measures=measures).run()
    for measure in measures:
        mine, other = results.scores(measure).values.T
        np.testing.assert_allclose(mine, other, rtol=0, atol=1e-12)


@pytest.mark.parametrize("how", ["grid", "optuna"])
def test_a_tuned_part_is_fused_as_it_was_chosen_for_the_split(how):
    """And the weight is the best one for that on the training queries of the split."""
    options = {"search": "optuna", "trials": 6} if how == "optuna" else {}
    if options:
        pytest.importorskip("optuna", reason="needs the extra optuna")
    plan, weights = KFold(6, seed=2), [0.0, 0.5, 1.0]
    part = System.of("bm25(k1=3:9:4, b=0.9,1)", **options)
    hybrid = "hybrid=wsum(bm25, ql-jm, norm=rank, w=0,0.5,1)"
    results = experiment(part, "ql-jm(lambda=0.7)", hybrid, plan=plan).run()
    other = search(INDEX, COLLECTION.queries, "ql-jm(lambda=0.7)")
    held_out = np.zeros(len(COLLECTION.queries))
    chosen = results.chosen("bm25")
    assert len({str(point) for point in chosen}) > 1  # or nothing would be shown here
    splits = plan.splits(COLLECTION, "query")
    for split, own, mine in zip(splits, chosen, results.chosen("hybrid"), strict=True):
        run = search(INDEX, COLLECTION.queries, f"bm25(k1={own['k1']}, b={own['b']})")
        table = []
        for weight in weights:
            fused = heldout.fuse([run, other], "wsum", norm="rank", weights=[weight, 1 - weight])
            found = heldout.evaluate(COLLECTION.qrels, fused, "nDCG@10")
            values = dict(zip(found.units(), found.per_unit(), strict=True))
            table.append([values[query] for query in COLLECTION.queries.ids])
        best = np.mean(np.array(table)[:, split.train > 0], axis=1).argmax()
        assert mine["w"] == weights[best]
        held_out[split.test > 0] = np.array(table)[best, split.test > 0]
    np.testing.assert_allclose(results.scores().values[:, 2], held_out, atol=1e-12)


def test_a_command_a_file_and_python_agree(folder, capsys):
    text = "wsum(first.run, second.run, norm=minmax, w=0:1:5)"
    systems = ["--system", f"hybrid={text}", "--system", "dense=second.run"]
    main(["run", "qrels.txt", *systems, "--folds", "4", "-o", "command", "--quiet"])
    printed = capsys.readouterr().out
    assert "hybrid" in printed
    (folder / "experiment.toml").write_text(
        'collection = {qrels = "qrels.txt"}\nplan = {folds = 4}\n'
        f'[[systems]]\nname = "hybrid"\nsystem = "{text}"\n'
        '[[systems]]\nname = "dense"\nsystem = "second.run"\n'
    )
    main(["run", "experiment.toml", "-o", "file", "--quiet"])
    assert capsys.readouterr().out == printed
    names, fixed = ["first.run", "second.run"], {"norm": "minmax"}
    system = System.of("wsum", "hybrid", parts=names, parameters=fixed, space={"w": "0:1:5"})
    given = {"qrels": "qrels.txt"}
    results = experiment(system, System.of("dense=second.run"), collection=given).run("python")
    assert table_bytes(folder / "command") == table_bytes(folder / "file")
    assert table_bytes(folder / "command") == table_bytes(folder / "python")
    # With judgements alone, too, all documents that are shown are known.
    assert not results.held_out["document"].has_nulls()


def test_workers_and_interruptions_leave_the_same_bytes(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    options = {"comparable": True, "space": {"power": [0.5, 1.0]}}
    systems = [
        "bm25(k1=0.2,3)",
        System.of(interrupted, "mine", learns=False, **options),
        "wsum(bm25, mine, w=0:1:3)",
        System.of(longer, first="mine", comparable=True, space={"weight": [-1, 0]}),
    ]
    check_bytes(experiment(*systems, by="document", plan=KFold(2)), 1)


def test_three_parts_have_a_simplex_of_weights():
    space = {"w": "0:1:5", "norm": ["minmax", "rank"]}
    points = System.of("wsum", parts=PARTS, space=space).search.points
    assert len(points) == 2 * 15
    assert all(point["w1"] + point["w2"] + point["w3"] == 1 for point in points)
    drawn = System.of("wsum", parts=PARTS, space={"w": "0:1:5"}, search="random", trials=20)
    assert len({str(point) for point in drawn.search.points}) == 20
    for point in drawn.search.points:
        assert point["w1"] + point["w2"] + point["w3"] == pytest.approx(1, abs=2e-4)


def test_a_search_finds_the_good_weights():
    pytest.importorskip("optuna", reason="needs the extra optuna")
    search_for = {"space": {"w": "0:1:5"}, "search": "optuna", "trials": 12}
    results = experiment(System.of("wsum", "hybrid", parts=PARTS, **search_for)).run()
    for point in results.chosen("hybrid"):
        assert point["w3"] < max(point["w1"], point["w2"])  # the last is noise


def test_a_weight_at_its_limit_is_not_at_an_edge():
    results = experiment(System.of("wsum", "hybrid", parts=PARTS[1:], space={"w": "0:1:3"})).run()
    assert {point["w"] for point in results.chosen("hybrid")} == {1}
    assert "at-an-end" not in {note.code for note in results.notes}


TWO = "first.run, second.run"


@pytest.mark.parametrize(
    ("systems", "words"),
    [
        (["wsum(first.run, secnd.run, w=0.5)"], "secnd.run is neither another system"),
        (["wsum()"], "fuses two or more parts, got 0"),
        (["wsum(first.run, w=0.5)"], "fuses two or more parts, got 1"),
        (["wsum(first.run, first.run, w=0.5)"], "first.run is given twice"),
        ([f"wsum({TWO})"], "wsum needs weights: write w=0:1:11"),
        ([f"wsum({TWO}, w=2)"], "w=2: expected a number between 0 and 1"),
        ([f"wsum({TWO}, w=a,b)"], "w='a': expected a number between 0 and 1"),
        ([f"wsum({TWO}, k=3, w=0.5)"], "wsum has no k: it is a parameter of rrf"),
        ([f"rrf({TWO}, w=0.5)"], "rrf of 2 parts has no parameter w"),
        ([f"wsum({TWO}, w=0.5, norm=x)"], "norm='x': expected one of"),
        ([f"rrf({TWO}, norm=minmax)"], "rrf uses ranks alone: leave out norm=minmax"),
        ([f"wsum({TWO}, noise.run, w=1,2)"], "no 3 of its values add up to 1"),
        (["rrf(first.run, *.run)"], "add it to the systems, such as part=*.run"),
        ([f"a=rrf({TWO})", "b=rrf(a, noise.run)"], "a cannot be fused: it is a fusion"),
        (["a=rrf(a, noise.run)"], "a is neither another system"),
        ([f"rrf({TWO}, k=-1)"], "k is -1: expected a number of at least 0"),
        ([System.of(overlap, "f"), "rrf(f, first.run)"], "f cannot be fused: its ranking of a qu"),
    ],
)
@pytest.mark.parametrize("collection", [COLLECTION, {"qrels": "qrels.txt"}], ids=["whole", "qrels"])
@pytest.mark.usefixtures("folder")
def test_what_cannot_be_fused_is_named(systems, words, collection):
    with pytest.raises(HeldoutError) as error:
        experiment(*systems, collection=collection).check()
    assert words in str(error.value)


def test_files_of_parts_are_read_a_few_times(tmp_path, monkeypatch):
    """Not once per combination of settings: two systems of 8 files have 64."""
    monkeypatch.chdir(tmp_path)
    qrels = {f"q{number}": {"a": 1, "b": 0} for number in range(8)}
    Qrels.of(qrels).write("qrels.txt")
    for name in (f"{part}-k={k}" for part in "xy" for k in range(8)):
        run = {query: {"a": float(query[1:] == name[-1]), "b": 0.5} for query in qrels}
        Run.of(run).write(f"{name}.run")
    read, of = [], Run.of
    monkeypatch.setattr(Run, "of", lambda given, *more: read.append(given) or of(given, *more))
    systems = ["x=x-k=*.run", "y=y-k=*.run", "both=wsum(x, y, w=0:1:3)"]
    whole = experiment(*systems, collection={"qrels": "qrels.txt"}, plan=KFold(8))
    whole.check()
    whole.run()
    times = Counter(path for path in read if isinstance(path, str))
    assert len(times) == 16
    assert max(times.values()) <= 4

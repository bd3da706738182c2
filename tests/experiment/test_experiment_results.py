"""Results: what is written is what is read, what was changed is named, claims are of compare."""

import hashlib
import json
import os
import shutil

import numpy as np
import pytest
from experiment_data import overlap, small_collection, table_bytes
from sklearn.neighbors import KNeighborsClassifier

import heldout
from commands import printed, refused
from heldout import (
    Bootstrap,
    Experiment,
    HoldOut,
    InputError,
    KFold,
    Note,
    Results,
    System,
    cross,
)
from heldout.cli import main
from heldout.experiment.results.tables import split_table
from heldout.report import text

COLLECTION = small_collection()


def ranking(**fields):
    given = {
        "collection": COLLECTION,
        "systems": ["bm25(k1=0.2:2.2:9)", "ql-jm(lambda=0.1,0.5)", System.of(overlap, "f")],
        "plan": KFold(4, repeats=3),
        "measures": ["nDCG@10", "RR", "Judged@10"],
        "baseline": "f",
    }
    return Experiment(**given | fields)


def classes(**fields):
    knn = KNeighborsClassifier(), {"n_neighbors": [1, 3]}
    data = ([[n % 5, n % 3] for n in range(30)], ["ab"[n % 2] for n in range(30)])
    fields = fields or {"plan": {"folds": 3}, "inner": 2}
    return Experiment(task="classification", data=data, systems={"k-NN": knn}, **fields)


@pytest.fixture(scope="module")
def of_rankings(tmp_path_factory):
    place = tmp_path_factory.mktemp("rankings") / "results"
    return ranking().run(place), place


@pytest.fixture(scope="module")
def results(of_rankings):
    return of_rankings[0]


@pytest.fixture(scope="module")
def of_classes(tmp_path_factory):
    place = tmp_path_factory.mktemp("classes") / "results"
    return classes().run(place), place


@pytest.fixture(params=["of_rankings", "of_classes"])
def place(request, tmp_path):
    """A copy of results, to be changed."""
    return shutil.copytree(request.getfixturevalue(request.param)[1], tmp_path / "results")


# ---- what they say ------------------------------------------------------------------------------


def test_the_comparison_is_that_of_the_held_out_scores(results):
    mine = results.compare("RR")
    theirs = heldout.compare(results.scores("RR"), baseline="f", tuned=["bm25", "ql-jm"])
    assert mine.baseline == "f"
    assert [one.adjusted for one in mine.claims] == [one.adjusted for one in theirs.claims]
    assert any("tuned" in one.text for one in mine.warnings)
    assert results.compare(baseline="bm25").baseline == "bm25"
    # A measure without a direction is shown, but not compared.
    assert [one.scores.measure for one in results.comparisons.compared] == ["nDCG@10", "RR"]
    assert "Judged@10" in text(results)
    with pytest.raises(InputError, match="no direction"):
        results.compare("Judged@10")
    with pytest.raises(InputError, match="was not computed"):
        results.scores("AP")
    with pytest.raises(InputError, match="run=1: expected 0 to 0"):
        results.predictions("bm25", run=1)
    # The question about other queries is answered on request alone, and here it is not another.
    assert "For new queries on these documents" not in text(results, full=True)


# ---- files --------------------------------------------------------------------------------------


def test_what_is_written_is_what_is_read(of_rankings, tmp_path):
    results, place = of_rankings
    tables = ("folds", "lists", "splits", "surface", "values")
    names = {f"{table}.parquet" for table in tables} | {"manifest.json", "summary.json"}
    assert table_bytes(place).keys() == names
    results.write(tmp_path / "results")
    assert table_bytes(tmp_path / "results") == table_bytes(place)
    again = Results.read(place)
    for name in ("values", "folds", "surface", "held_out", "splits"):
        assert getattr(again, name).equals(getattr(results, name))
    assert again.summary == results.summary
    assert again.manifest == results.manifest
    assert text(again) == text(results)
    # The codes of notes are kept.
    more = {**COLLECTION.queries.to_dict(), "q99": "a query that nobody judged"}
    unjudged = heldout.Collection(COLLECTION.documents, more, COLLECTION.qrels)
    found = Experiment(collection=unjudged, systems="bm25", plan=KFold(3)).run(tmp_path / "out")
    note = Note("unjudged-queries", "queries without a judgement: 1 (q99)", "info", 1)
    assert note in found.notes
    assert f"Note: {note.text}. [{note.code}]" in text(Results.read(tmp_path / "out"))
    (tmp_path / "results" / "manifest.json").unlink()
    with pytest.raises(InputError, match="has no results"):
        Results.read(tmp_path / "results")


# ---- checksums ----------------------------------------------------------------------------------


def test_every_file_that_was_changed_is_named(place, capsys):
    manifest = json.loads((place / "manifest.json").read_text())
    changed = {one.name for one in place.iterdir()} - {"manifest.json", "timings.json"}
    assert set(manifest["files"]) == changed
    for name in changed:
        before = (place / name).read_bytes()
        assert hashlib.sha256(before).hexdigest() == manifest["files"][name]
        (place / name).write_bytes(before[:-1] + b" ")
        with pytest.raises(InputError, match=f"results/{name}: changed after the experiment"):
            Results.read(place)
        (place / name).write_bytes(before)
    assert Results.read(place).manifest == Results.read(place, verify=False).manifest
    values = (place / "values.parquet").read_bytes()
    (place / "values.parquet").unlink()
    with pytest.raises(InputError, match=r"values\.parquet: cannot be read"):
        Results.read(place)
    (place / "values.parquet").write_bytes(values)
    # An edited manifest never has the exit code of a gate.
    del manifest["settings"]["task"]
    (place / "manifest.json").write_text(json.dumps(manifest))
    with pytest.raises(SystemExit, match="2"):
        main(["report", str(place), "-o", str(place.parent / "page.html")])
    assert capsys.readouterr().err.splitlines()[-1].startswith("heldout: ")


def test_numbers_that_were_edited_are_in_no_page_and_no_chart(tmp_path, capsys):
    whole = ranking(plan=KFold(3), measures=["nDCG@10"])
    value = whole.run(tmp_path / "results").estimate("bm25")["value"]
    summary = tmp_path / "results" / "summary.json"
    summary.write_text(summary.read_text().replace(f"{value!r}", f"{value / 2 + 0.123!r}"))
    out = tmp_path / "out.json"
    for command in (
        ["report", tmp_path / "results", "-o", tmp_path / "page.html"],
        ["chart", tmp_path / "results", "forest", "-o", out],
    ):
        assert "summary.json: changed after the experiment" in refused(capsys, *command)
        assert not command[-1].exists()
        printed(capsys, *command, "--unverified")
        assert command[-1].exists()
    for name in ("compare", "power"):
        said = refused(capsys, name, "--scores", tmp_path / "results")
        assert "read it anyway with --unverified" in said
        printed(capsys, name, "--scores", tmp_path / "results", "--unverified")
    with pytest.raises(InputError, match=r"summary\.json: changed after the experiment"):
        whole.run(tmp_path / "results", resume=True)
    whole.run(tmp_path / "results", force=True)
    assert Results.read(tmp_path / "results").systems


# ---- links --------------------------------------------------------------------------------------


NAMES = [
    *("lock", "heldout-work", "experiment.toml", "manifest.json"),
    *("values.parquet", "lists.parquet", "summary.json", "timings.json"),
    *("heldout-work/key", "heldout-work/index", f"heldout-work/{0:064}.npz"),
]


@pytest.mark.skipif(os.name != "posix", reason="needs links of POSIX")
def test_links_and_pipes_in_a_folder_of_somebody_else_are_named_and_not_followed(tmp_path):
    small = Experiment(collection=small_collection(20, 8), systems="bm25", plan={"folds": 2})
    victim = tmp_path / "victim"
    victim.write_text("precious")
    for number, name in enumerate(NAMES):
        place = tmp_path / str(number) / "results"
        (place / name).parent.mkdir(parents=True)
        (place / name).symlink_to(victim)
        with pytest.raises(InputError, match=f"results/{name}: a link, expected a regular"):
            small.run(place, force=True)
        assert victim.read_text() == "precious"
        assert (place / name).is_symlink()
        (place / name).unlink()
        os.mkfifo(place / name)  # whoever opens it would wait for ever
        with pytest.raises(InputError, match=f"{name}: a pipe, expected a regular file"):
            small.run(place, resume=True)


# ---- splits -------------------------------------------------------------------------------------


PLANS = [
    KFold(3, repeats=2),
    HoldOut(0.3, repeats=3, validation=0.2),
    Bootstrap(5),
    cross(KFold(2, repeats=2), HoldOut(0.4)),
]


def test_every_split_can_be_made_again():
    """Of folds, all others of the repeat are seen; of other plans, every side is kept."""
    for plan in PLANS:
        splits = plan.splits(COLLECTION)
        table = split_table(splits)
        for split in splits:
            key = split.key
            sides = [("query", key.fold, split)]
            if split.documents is not None:
                sides.append(("document", key.other, split.documents))
            for kind, fold, given in sides:
                own = table.filter(repeat=key.repeat, kind=kind)
                for name in ("train", "test", "validation"):
                    weights = getattr(given, name)
                    weights = np.zeros(0, int) if weights is None else weights
                    wanted = {given.ids[at]: weights[at] for at in np.flatnonzero(weights)}
                    found = dict(own.filter(fold=fold, side=name).select("unit", "count").rows())
                    if name == "train" and "train" not in own["side"]:
                        tested = own.filter(fold=fold)["unit"]
                        found = dict.fromkeys(set(own["unit"]) - set(tested), 1)
                    assert found == wanted, (plan, key, name)


def test_results_keep_their_splits(of_classes):
    experiment = ranking(systems="bm25", by="both", plan=None, baseline=None)
    assert experiment.run().splits.equals(split_table(experiment.check().splits))
    found, places = of_classes[0], ["repeat", "fold", "unit"]
    assert set(found.splits["kind"]) == {"instance"}
    predicted = found.held_out.filter(system="k-NN").select(places).sort(places)
    assert predicted.equals(found.splits.select(places).sort(places))

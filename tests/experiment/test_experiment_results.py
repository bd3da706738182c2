"""Results: what is written is what is read, what was changed is named, claims are of compare."""

import hashlib
import json
import os
import shutil

import numpy as np
import polars as pl
import pytest
from experiment_data import overlap, small_collection, table_bytes
from sklearn.neighbors import KNeighborsClassifier

import heldout
from commands import printed, refused
from heldout import (
    Bootstrap,
    Chronological,
    Experiment,
    HoldOut,
    InputError,
    KFold,
    LeaveOneOut,
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


def test_the_lists_are_the_top_of_what_was_measured(results):
    """The first relevant document in the kept lists gives the reciprocal rank."""
    judged = COLLECTION.qrels.to_dict()
    lists = results.held_out.filter(system="bm25")
    assert lists["rank"].max() == 10
    ranks = {}
    for repeat, unit, rank, document in lists.select(
        "repeat", "unit", "rank", "document"
    ).iter_rows():
        if judged[unit].get(document, 0) > 0:
            ranks.setdefault((repeat, unit), []).append(rank)
    values = results.values.filter(system="bm25", measure="RR")
    for repeat, unit, value in values.select("repeat", "unit", "value").iter_rows():
        if (repeat, unit) in ranks:
            assert value == pytest.approx(1 / min(ranks[repeat, unit]))
        else:
            assert value < 1 / 10


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
    (tmp_path / "results" / "manifest.json").unlink()
    with pytest.raises(InputError, match="has no results"):
        Results.read(tmp_path / "results")


def test_notes_are_kept_with_their_codes(tmp_path):
    more = {**COLLECTION.queries.to_dict(), "q99": "a query that nobody judged"}
    unjudged = heldout.Collection(COLLECTION.documents, more, COLLECTION.qrels)
    found = Experiment(collection=unjudged, systems="bm25", plan=KFold(3)).run(tmp_path / "out")
    words = "queries without a judgement: 1 (q99)"
    kept = [{"code": "unjudged-queries", "text": words, "severity": "info", "count": 1}]
    assert json.loads((tmp_path / "out" / "manifest.json").read_text())["notes"] == kept
    assert Note("unjudged-queries", words, "info", 1) in found.notes
    again = text(Results.read(tmp_path / "out"))
    assert f"Note: {words}. [unjudged-queries]" in again
    assert "tun" not in again  # nothing was tuned


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
    """The page would show 0.9… in one place and 0.3… in another; nor are they gone on with."""
    whole = ranking(plan=KFold(3), measures=["nDCG@10"])
    value = whole.run(tmp_path / "results").estimate("bm25")["value"]
    summary = tmp_path / "results" / "summary.json"
    summary.write_text(summary.read_text().replace(f"{value!r}", f"{value / 2 + 0.123!r}"))
    page, chart = tmp_path / "page.html", tmp_path / "chart.json"
    for command in (
        ["report", tmp_path / "results", "-o", page],
        ["chart", tmp_path / "results", "forest", "-o", chart],
        ["list", "charts", tmp_path / "results"],
    ):
        said = refused(capsys, *command)
        assert "summary.json: changed after the experiment" in said
        assert "--unverified" in said
        assert not page.exists()
        assert not chart.exists()
    for command in ("compare", "power"):
        said = refused(capsys, command, "--scores", tmp_path / "results")
        assert "read it anyway with --unverified" in said
        printed(capsys, command, "--scores", tmp_path / "results", "--unverified")
    printed(capsys, "report", tmp_path / "results", "-o", page, "--unverified")
    printed(capsys, "chart", tmp_path / "results", "forest", "-o", chart, "--unverified")
    assert page.exists()
    assert chart.exists()
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
def test_links_and_pipes_in_a_folder_of_somebody_else_are_named_and_not_followed(tmp_path, capsys):
    small = Experiment(collection=small_collection(20, 8), systems="bm25", plan={"folds": 2})
    victim = tmp_path / "victim"
    victim.write_text("precious")
    for number, name in enumerate(NAMES):
        place = tmp_path / str(number) / "results"
        (place / name).parent.mkdir(parents=True)
        (place / name).symlink_to(victim)
        for options in ({}, {"force": True}):
            with pytest.raises(InputError, match=f"results/{name}: a link, expected a regular"):
                small.run(place, **options)
            assert victim.read_text() == "precious"
            assert [path for path in place.rglob("*") if not path.is_dir()] == [place / name]
            assert (place / name).is_symlink()
        (place / name).unlink()
        os.mkfifo(place / name)  # whoever opens it would wait for ever
        with pytest.raises(InputError, match=f"{name}: a pipe, expected a regular file"):
            small.run(place, resume=True)
    heldout.export_collection(small_collection(20, 8), tmp_path / "data")
    command = ["run", tmp_path / "data", "--system", "bm25", "-o", tmp_path / "0" / "results"]
    assert refused(capsys, *command).count("\n") == 1


# ---- splits -------------------------------------------------------------------------------------


SIDES = ("train", "test", "validation")
PLANS = [
    KFold(4),
    KFold(3, repeats=2),
    LeaveOneOut(),
    HoldOut(0.3),
    HoldOut(0.3, repeats=3, validation=0.2),
    Bootstrap(5),
    Chronological(order=[str(n) for n in range(24)], test=6),
    cross(KFold(3), KFold(2)),
    cross(KFold(2, repeats=2), HoldOut(0.4)),
]


def sides_again(table, repeat, fold, kind):
    """The weights of a split by unit, made from the table alone."""
    own = table.filter((pl.col("repeat") == repeat) & (pl.col("kind") == kind))
    here = own.filter(pl.col("fold") == fold)
    found = {
        side: dict(here.filter(pl.col("side") == side).select("unit", "count").rows())
        for side in SIDES
    }
    if not own["side"].is_in(["train"]).any():  # folds: all the others of the repeat are seen
        found["train"] = dict.fromkeys(set(own["unit"]) - set(found["test"]), 1)
    return found


def sides_of(split):
    weights = {side: getattr(split, side) for side in SIDES}
    return {
        side: {}
        if one is None
        else {split.ids[at]: int(one[at]) for at in np.flatnonzero(one).tolist()}
        for side, one in weights.items()
    }


def test_every_split_can_be_made_again():
    for plan in PLANS:
        splits = plan.splits(COLLECTION)
        table = split_table(splits)
        for split in splits:
            key = split.key
            assert sides_again(table, key.repeat, key.fold, "query") == sides_of(split), plan
            if split.documents is not None:
                documents = sides_of(split.documents)
                assert sides_again(table, key.repeat, key.other, "document") == documents, plan


def test_results_keep_their_splits(of_classes):
    for by in ("query", "document", "both"):
        experiment = ranking(systems="bm25", by=by, plan=None, baseline=None)
        found = experiment.run()
        assert found.splits.equals(split_table(experiment.check().splits))
        assert set(found.splits["kind"]) == ({"query", "document"} if by == "both" else {by})
        if by == "query":
            places = ["repeat", "fold", "unit"]
            measured = found.values.select(places).unique()
            assert measured.join(found.splits, on=places, how="anti").is_empty()
    found = Results.read(of_classes[1])
    assert set(found.splits["kind"]) == {"instance"}
    places = ["repeat", "fold", "unit"]
    predicted = found.held_out.filter(system="k-NN").select(places).sort(places)
    assert predicted.equals(found.splits.select(places).sort(places))

"""Checksums of results: what was changed after the experiment is named, not believed."""

import hashlib
import json
import shutil

import polars as pl
import pytest
from experiment_data import small_collection, table_bytes
from sklearn.neighbors import KNeighborsClassifier

from commands import printed, refused
from heldout import Experiment, InputError, Results
from heldout.cli import main


def ranking():
    return Experiment(
        collection=small_collection(30, 12),
        systems=["bm25(k1=0.2:2.2:3)", "ql-jm(lambda=0.1,0.5)"],
        plan={"folds": 3},
    )


def classes(**fields):
    knn = KNeighborsClassifier(), {"n_neighbors": [1, 3]}
    data = ([[n % 5, n % 3] for n in range(30)], ["ab"[n % 2] for n in range(30)])
    fields = fields or {"plan": {"folds": 3}, "inner": 2}
    return Experiment(task="classification", data=data, systems={"k-NN": knn}, **fields)


@pytest.fixture(scope="module", params=[ranking, classes])
def whole(request, tmp_path_factory):
    folder = tmp_path_factory.mktemp("whole")
    request.param().run(folder / "results")
    return folder / "results"


@pytest.fixture
def place(whole, tmp_path):
    return shutil.copytree(whole, tmp_path / "results")


def names(place):
    return sorted(one.name for one in place.iterdir())


def test_every_file_that_was_changed_is_named(place):
    manifest = json.loads((place / "manifest.json").read_text())
    changed = {*names(place)} - {"manifest.json", "timings.json"}
    assert set(manifest["files"]) == changed
    for name in changed:
        before = (place / name).read_bytes()
        assert hashlib.sha256(before).hexdigest() == manifest["files"][name]
        (place / name).write_bytes(before[:-1] + b" ")
        with pytest.raises(InputError, match=f"results/{name}: changed after the experiment"):
            Results.read(place)
        (place / name).write_bytes(before)
    assert Results.read(place).manifest == Results.read(place, verify=False).manifest
    (place / "values.parquet").unlink()
    with pytest.raises(InputError, match=r"values\.parquet: cannot be read"):
        Results.read(place)


def test_an_edited_manifest_never_has_the_exit_code_of_a_gate(place, capsys):
    manifest = json.loads((place / "manifest.json").read_text())
    del manifest["settings"]["task"]
    (place / "manifest.json").write_text(json.dumps(manifest))
    with pytest.raises(SystemExit) as end:
        main(["report", str(place), "-o", str(place.parent / "page.html")])
    assert end.value.code == 2
    assert capsys.readouterr().err.splitlines()[-1].startswith("heldout: ")


@pytest.mark.parametrize(
    "fields",
    [
        {"plan": {"folds": 3}, "inner": 2},
        {"plan": {"folds": 2}},
        {"plan": {"kind": "holdout", "test": 0.2, "validation": 0.2}},
    ],
)
def test_the_same_bytes_from_one_worker_from_two_and_when_written_again(tmp_path, fields):
    classes(**fields).run(tmp_path / "one")
    classes(**fields).run(tmp_path / "two", workers=2)
    Results.read(tmp_path / "one").write(tmp_path / "again")
    assert table_bytes(tmp_path / "one") == table_bytes(tmp_path / "two")
    assert table_bytes(tmp_path / "one") == table_bytes(tmp_path / "again")


def test_results_that_were_changed_are_not_gone_on_with(tmp_path):
    ranking().run(tmp_path / "results")
    ranking().run(tmp_path / "results", resume=True)
    frame = pl.read_parquet(tmp_path / "results" / "values.parquet")
    frame.with_columns(value=pl.lit(1.0)).write_parquet(tmp_path / "results" / "values.parquet")
    with pytest.raises(InputError, match=r"values\.parquet: changed after the experiment"):
        ranking().run(tmp_path / "results", resume=True)
    ranking().run(tmp_path / "results", force=True)
    assert Results.read(tmp_path / "results").systems


def test_numbers_that_were_edited_are_in_no_page_and_no_chart(tmp_path, capsys):
    """The page would show 0.9… in one place and 0.3… in another."""
    results = ranking().run(tmp_path / "results")
    value = results.estimate("bm25")["value"]
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
    printed(capsys, "report", tmp_path / "results", "-o", page, "--unverified")
    printed(capsys, "chart", tmp_path / "results", "forest", "-o", chart, "--unverified")
    assert page.exists()
    assert chart.exists()

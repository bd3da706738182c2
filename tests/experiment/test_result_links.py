"""Links in a results folder, which may come from somebody else: never followed, always named."""

import os

import pytest
from experiment_data import small_collection

from heldout.cli import main
from heldout.data.export import export_collection
from heldout.errors import InputError
from heldout.experiment.execution.folder import locked
from heldout.experiment.execution.journal import Journal
from heldout.experiment.experiment import JOURNAL, Experiment
from heldout.experiment.results import Results

pytestmark = pytest.mark.skipif(os.name != "posix", reason="needs links of POSIX")
NAMES = ["lock", JOURNAL, "values.parquet", "summary.json", "timings.json", "manifest.json"]


def experiment():
    return Experiment(collection=small_collection(20, 8), systems="bm25", plan={"folds": 2})


@pytest.mark.parametrize("options", [{}, {"resume": True}, {"force": True}])
@pytest.mark.parametrize("name", [*NAMES, "predictions.parquet"])
def test_a_link_is_refused_and_its_target_stays(tmp_path, name, options):
    place, victim = tmp_path / "results", tmp_path / "victim"
    place.mkdir()
    victim.write_text("precious")
    (place / name).symlink_to(victim)
    with pytest.raises(InputError, match=f"results/{name}: a link, expected a regular file"):
        experiment().run(place, **options)
    assert victim.read_text() == "precious"
    assert [one.name for one in place.iterdir()] == [name]
    assert (place / name).is_symlink()


@pytest.mark.parametrize("name", ["lock", JOURNAL])
def test_so_is_a_link_to_nothing(tmp_path, name):
    place = tmp_path / "results"
    place.mkdir()
    (place / name).symlink_to(tmp_path / "new")
    with pytest.raises(InputError, match="a link, expected a regular file"):
        experiment().run(place)
    assert not (tmp_path / "new").exists()


@pytest.mark.parametrize("options", [{"resume": True}, {"force": True}])
@pytest.mark.parametrize("name", [*NAMES, "folds.parquet", "experiment.toml"])
def test_a_pipe_is_refused_and_not_waited_for(tmp_path, name, options):
    place = tmp_path / "results"
    place.mkdir()
    os.mkfifo(place / name)
    with pytest.raises(InputError, match=f"{name}: a device or a pipe, expected a regular file"):
        experiment().run(place, **options)


@pytest.mark.parametrize("verify", [True, False])
@pytest.mark.parametrize("name", ["values.parquet", "summary.json"])
def test_nor_is_it_waited_for_when_results_are_read(tmp_path, name, verify):
    experiment().run(tmp_path)
    (tmp_path / name).unlink()
    os.mkfifo(tmp_path / name)
    with pytest.raises(InputError, match=f"{name}: not a regular file"):
        Results.read(tmp_path, verify=verify)


def test_a_link_that_is_made_meanwhile_is_not_followed(tmp_path, monkeypatch):
    """Between the look and the opening: the system is asked not to follow either."""
    monkeypatch.setattr("heldout.experiment.execution.folder.refuse_irregular", lambda path: path)
    victim = tmp_path / "victim"
    victim.write_text("precious")
    (tmp_path / "lock").symlink_to(victim)
    (tmp_path / JOURNAL).symlink_to(victim)
    with pytest.raises(InputError, match="lock: a link"), locked(tmp_path):
        pass
    with pytest.raises(InputError, match=f"{JOURNAL}: a link"):
        Journal(tmp_path / JOURNAL)
    assert victim.read_text() == "precious"


def test_the_command_says_it_in_a_line(tmp_path, capsys):
    export_collection(small_collection(20, 8), tmp_path / "data")
    (tmp_path / "results").mkdir()
    (tmp_path / "results" / "lock").symlink_to(tmp_path / "new")
    with pytest.raises(SystemExit) as ended:
        main(["run", str(tmp_path / "data"), "--system", "bm25", "-o", str(tmp_path / "results")])
    assert ended.value.code == 2
    assert capsys.readouterr().err.count("\n") == 1


def test_a_folder_that_is_a_link_is_a_folder(tmp_path):
    (tmp_path / "there").mkdir()
    (tmp_path / "results").symlink_to(tmp_path / "there")
    experiment().run(tmp_path / "results")
    assert (tmp_path / "there" / "manifest.json").is_file()

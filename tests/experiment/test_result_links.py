"""Links in a results folder, which may come from somebody else: never followed, always named."""

import os

import pytest
from experiment_data import small_collection

from commands import refused
from heldout.data.export import export_collection
from heldout.errors import InputError
from heldout.experiment.experiment import Experiment

pytestmark = pytest.mark.skipif(os.name != "posix", reason="needs links of POSIX")
NAMES = [
    *("lock", "heldout-work", "experiment.toml", "manifest.json"),
    *("values.parquet", "lists.parquet", "summary.json", "timings.json"),
    *("heldout-work/key", "heldout-work/index", f"heldout-work/{0:064}.npz"),
]


def experiment():
    return Experiment(collection=small_collection(20, 8), systems="bm25", plan={"folds": 2})


@pytest.mark.parametrize("options", [{}, {"force": True}])
@pytest.mark.parametrize("name", NAMES)
def test_a_link_is_refused_and_its_target_stays(tmp_path, name, options):
    place, victim = tmp_path / "results", tmp_path / "victim"
    (place / name).parent.mkdir(parents=True)
    victim.write_text("precious")
    (place / name).symlink_to(victim)
    with pytest.raises(InputError, match=f"results/{name}: a link, expected a regular file"):
        experiment().run(place, **options)
    assert victim.read_text() == "precious"
    assert [path for path in place.rglob("*") if not path.is_dir()] == [place / name]
    assert (place / name).is_symlink()


@pytest.mark.parametrize("name", NAMES)
def test_a_pipe_is_refused(tmp_path, name):
    """Whoever opens it would wait for ever."""
    (tmp_path / name).parent.mkdir(exist_ok=True)
    os.mkfifo(tmp_path / name)
    with pytest.raises(InputError, match=f"{name}: a pipe, expected a regular file"):
        experiment().run(tmp_path, resume=True)


def test_the_command_says_it_in_a_line(tmp_path, capsys):
    export_collection(small_collection(20, 8), tmp_path / "data")
    (tmp_path / "results").mkdir()
    (tmp_path / "results" / "lock").symlink_to(tmp_path / "new")
    command = ["run", tmp_path / "data", "--system", "bm25", "-o", tmp_path / "results"]
    assert refused(capsys, *command).count("\n") == 1

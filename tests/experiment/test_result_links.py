"""Links in a results folder, which may come from somebody else: never followed, always named."""

import os

import pytest
from experiment_data import small_collection

from heldout.cli import main
from heldout.data.export import export_collection
from heldout.errors import InputError
from heldout.experiment.experiment import JOURNAL, Experiment

pytestmark = pytest.mark.skipif(os.name != "posix", reason="needs links of POSIX")
NAMES = ["lock", JOURNAL, "values.parquet", "summary.json", "timings.json", "manifest.json"]


def experiment():
    return Experiment(collection=small_collection(20, 8), systems="bm25", plan={"folds": 2})


@pytest.mark.parametrize("options", [{}, {"force": True}])
@pytest.mark.parametrize("name", NAMES)
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


def test_the_command_says_it_in_a_line(tmp_path, capsys):
    export_collection(small_collection(20, 8), tmp_path / "data")
    (tmp_path / "results").mkdir()
    (tmp_path / "results" / "lock").symlink_to(tmp_path / "new")
    with pytest.raises(SystemExit) as ended:
        main(["run", str(tmp_path / "data"), "--system", "bm25", "-o", str(tmp_path / "results")])
    assert ended.value.code == 2
    assert capsys.readouterr().err.count("\n") == 1

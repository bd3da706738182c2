"""Code of users that calls sys.exit or raises what is no Exception: an error of that system."""

import os
import subprocess
import sys

import pytest
from experiment_data import small_collection

import heldout
from commands import refused
from heldout import HeldoutError

AT_IMPORT = "import sys\nsys.exit(0)\n"
IN_THE_CALL = "import sys\ndef rank(train, test):\n    sys.exit('bye')\n"
RAISES = "class Stop(BaseException): pass\ndef rank(train, test):\n    raise {}\n"
RANKING = """
collection = "data"
[plan]
folds = 2
[[systems]]
name = "mine"
system = "code.py:rank"
"""
ESTIMATOR = """
import sys
from sklearn.base import BaseEstimator, ClassifierMixin

class Exits(ClassifierMixin, BaseEstimator):
    def __init__(self, level=1):
        self.level = level

    def fit(self, X, y):
        sys.exit(0)

    def predict(self, X):
        return X

def make():
    sys.exit(0)
"""
CLASSES = """
task = "classification"
[data]
file = "table.csv"
target = "y"
[plan]
folds = 2
[[systems]]
name = "mine"
estimator = "code.py:NAME"
"""


@pytest.fixture
def arguments(tmp_path):
    """The command, with an experiment for it."""

    def write(experiment, source):
        heldout.export_collection(small_collection(20, 8), tmp_path / "data")
        rows = "".join(f"{row % 5},{row % 2}\n" for row in range(20))
        (tmp_path / "table.csv").write_text(f"x,y\n{rows}")
        (tmp_path / "code.py").write_text(source)
        (tmp_path / "experiment.toml").write_text(experiment)
        return ["run", str(tmp_path / "experiment.toml"), "-o", str(tmp_path / "out"), "--quiet"]

    return write


def is_clear(said, cause):
    assert said.count("\n") == 1
    assert "mine" in said
    assert cause in said
    assert " in code.py, line " in said


@pytest.mark.parametrize(
    ("experiment", "source", "cause"),
    [
        (RANKING, AT_IMPORT, "sys.exit(0) was called"),
        (RANKING, IN_THE_CALL, "sys.exit('bye') was called"),
        (RANKING, RAISES.format("Stop('enough')"), "Stop: enough was raised"),
        (RANKING, RAISES.format("GeneratorExit"), "GeneratorExit was raised"),
        (CLASSES.replace("NAME", "Exits"), ESTIMATOR, "sys.exit(0) was called"),
        (
            CLASSES.replace("NAME", "Exits") + "space = {level = [1, 2]}",
            ESTIMATOR,
            "mine/tune/r0/f0/i0/p0 failed: sys.exit(0) was called",
        ),
        (CLASSES.replace("NAME", "make"), ESTIMATOR, "sys.exit(0) was called"),
    ],
)
def test_it_is_the_error_of_a_system(arguments, capsys, tmp_path, experiment, source, cause):
    is_clear(refused(capsys, *arguments(experiment, source)), cause)
    assert not (tmp_path / "out" / "manifest.json").exists()


@pytest.fixture
def address():
    """The address of a Dask cluster with one worker process."""
    distributed = pytest.importorskip("distributed", reason="needs the extra dask")
    with distributed.LocalCluster(
        n_workers=1,
        threads_per_worker=1,
        processes=True,
        dashboard_address=None,
        scheduler_kwargs={"dashboard_address": "127.0.0.1:0"},
        silence_logs=50,
    ) as cluster:
        yield cluster.scheduler_address


@pytest.mark.parametrize("where", ["jobs", "dask"])
def test_so_it_is_in_other_processes(arguments, request, where):
    dask = where == "dask"
    options = ["--dask", request.getfixturevalue("address")] if dask else ["--jobs", "2"]
    command = [sys.executable, "-c", "from heldout.cli import main; main()"]
    # On a busy machine a worker may be stopped as it starts: loky then says that it cleans up.
    quiet = "ignore::UserWarning:joblib.externals.loky.backend.resource_tracker"
    done = subprocess.run(  # noqa: S603 - this Python
        [*command, *arguments(RANKING, IN_THE_CALL), *options],
        capture_output=True,
        text=True,
        check=False,
        env={**os.environ, "PYTHONWARNINGS": quiet},
    )
    assert (done.returncode, done.stdout) == (2, "")
    is_clear(done.stderr, "sys.exit('bye') was called")


@pytest.mark.parametrize(
    ("text", "said"), [(AT_IMPORT, r"sys\.exit\(0\) was called"), ("1 / 0\n", "ZeroDivisionError")]
)
def test_a_module_that_fails_at_import_is_named(tmp_path, monkeypatch, text, said):
    monkeypatch.syspath_prepend(tmp_path)
    (tmp_path / "fails_at_import.py").write_text(text)
    fields = {"systems": "mine=fails_at_import:rank", "plan": {"folds": 2}}
    with pytest.raises(HeldoutError, match=f"mine: fails_at_import failed: .*{said}"):
        heldout.Experiment(collection=small_collection(20, 8), **fields).run()


class Exits:
    def fit(self, train):
        del train
        return self

    def predict(self, test):
        sys.exit(0 if test else 1)


def test_an_exit_of_an_object_is_its_error():
    experiment = heldout.Experiment(
        collection=small_collection(20, 8), systems={"mine": Exits()}, plan={"folds": 2}
    )
    with pytest.raises(HeldoutError, match=r"mine failed: sys\.exit\(0\) was called in test_user_"):
        experiment.run()


def test_an_exit_of_a_transformer_is_its_error():
    pytest.importorskip("pyterrier", reason="python-terrier is not installed")
    with pytest.raises(HeldoutError, match=r"mine failed: sys\.exit\(0\) was called"):
        heldout.System.of(lambda: sys.exit(0), "mine", kind="transformer")


def test_an_exit_of_a_measure_is_its_error():
    @heldout.define_measure
    def exits_here(ranked):
        sys.exit(ranked.query)

    with pytest.raises(HeldoutError, match=r"the measure exits_here failed: sys\.exit\('q'\)"):
        heldout.evaluate({"q": {"a": 1}}, {"q": {"a": 1.0}}, "exits_here")

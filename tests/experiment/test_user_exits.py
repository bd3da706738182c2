"""Code of users that calls sys.exit or raises what is no Exception: an error of that system."""

import os
import subprocess
import sys

import pytest
from experiment_data import small_collection

import heldout
from heldout.cli import main
from heldout.data.export import export_collection
from heldout.errors import HeldoutError, InputError, MeasureError

AT_IMPORT = "import sys\nsys.exit({code})\n"
IN_THE_CALL = "import sys\ndef rank(train, test):\n    sys.exit({code})\n"
RAISES = "class Stop(BaseException): pass\ndef rank(train, test):\n    raise {code}\n"
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


class ExitsAtOnce(Exits):
    def __init__(self):
        sys.exit(0)
"""
RANKING = """
collection = "data"
[plan]
folds = 2
[[systems]]
name = "mine"
system = "code.py:rank"
"""
CLASSES = """
task = "classification"
measures = ["accuracy"]
[data]
file = "table.csv"
target = "y"
features = ["x"]
[plan]
folds = 2
[[systems]]
name = "mine"
"""


def arguments(folder):
    return ["run", str(folder / "experiment.toml"), "-o", str(folder / "out"), "--quiet"]


def is_refused(code, out, err, *parts):
    """One line that names the system, exit code 2, no results."""
    assert code == 2, err
    assert out == ""
    assert err.count("\n") == 1, err
    assert err.startswith("heldout: ")
    for part in ("mine", "code.py", *parts):
        assert part in err


@pytest.fixture
def refused(tmp_path, capsys):
    """Run the experiment here, and see that it is refused."""

    def run(*parts):
        capsys.readouterr()
        with pytest.raises(SystemExit) as ended:
            main(arguments(tmp_path))
        is_refused(ended.value.code, *capsys.readouterr(), *parts)

    return run


@pytest.mark.parametrize(("source", "code"), [(AT_IMPORT, "0"), (IN_THE_CALL, "'bye'")])
def test_an_exit_of_a_function_is_its_error(tmp_path, refused, source, code):
    export_collection(small_collection(20, 8), tmp_path / "data")
    (tmp_path / "code.py").write_text(source.format(code=code))
    (tmp_path / "experiment.toml").write_text(RANKING)
    refused(f"sys.exit({code}) was called in code.py, line ")
    assert not (tmp_path / "out" / "manifest.json").exists()


@pytest.mark.parametrize("code", ["Stop('enough')", "GeneratorExit"])
def test_so_is_what_is_no_exception(tmp_path, refused, code):
    export_collection(small_collection(20, 8), tmp_path / "data")
    (tmp_path / "code.py").write_text(RAISES.format(code=code))
    (tmp_path / "experiment.toml").write_text(RANKING)
    refused({"GeneratorExit": code}.get(code, "Stop: enough") + " was raised in code.py, line 3")


@pytest.mark.parametrize(
    ("options", "source", "said"),
    [
        (("--jobs", "2"), IN_THE_CALL.format(code=0), "sys.exit(0) was called"),
        (("--dask", "local:1"), IN_THE_CALL.format(code=0), "sys.exit(0) was called"),
    ],
)
def test_so_it_is_in_other_processes(tmp_path, options, source, said):
    if "--dask" in options:
        pytest.importorskip("distributed")
    export_collection(small_collection(20, 8), tmp_path / "data")
    (tmp_path / "code.py").write_text(source)
    (tmp_path / "experiment.toml").write_text(RANKING)
    command = [sys.executable, "-c", "from heldout.cli import main; main()", *arguments(tmp_path)]
    # On a busy machine a worker may be stopped as it starts: loky then says that it cleans up.
    quiet = "ignore::UserWarning:joblib.externals.loky.backend.resource_tracker"
    done = subprocess.run(  # noqa: S603 - this Python
        [*command, *options],
        capture_output=True,
        text=True,
        check=False,
        env={**os.environ, "PYTHONWARNINGS": quiet},
    )
    is_refused(done.returncode, done.stdout, done.stderr, f"{said} in code.py, line 3")


@pytest.mark.parametrize("system", ["Exits", "ExitsAtOnce"])
def test_an_exit_of_an_estimator_is_its_error(tmp_path, refused, system):
    (tmp_path / "code.py").write_text(ESTIMATOR)
    rows = [f"{n % 5},{n % 2}\n" for n in range(20)]
    (tmp_path / "table.csv").write_text("x,y\n" + "".join(rows))
    (tmp_path / "experiment.toml").write_text(f'{CLASSES}estimator = "code.py:{system}"\n')
    refused("sys.exit(0) was called in code.py, line ")


def test_a_module_that_fails_at_import_is_named(tmp_path, monkeypatch):
    monkeypatch.syspath_prepend(tmp_path)
    for name, text, said in (
        ("exits_at_import", AT_IMPORT.format(code=0), r"sys\.exit\(0\) was called"),
        ("fails_at_import", "1 / 0\n", "ZeroDivisionError"),
    ):
        (tmp_path / f"{name}.py").write_text(text)
        experiment = heldout.Experiment(
            collection=small_collection(20, 8), systems=f"mine={name}:rank", plan={"folds": 2}
        )
        with pytest.raises(HeldoutError, match=f"mine: {name} cannot be imported .*{said}"):
            experiment.run()


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
    with pytest.raises(InputError, match=r"mine failed: sys\.exit\(0\) was called in test_user_ex"):
        experiment.run()


def test_an_exit_of_a_transformer_is_its_error():
    pytest.importorskip("pyterrier", reason="python-terrier is not installed")
    experiment = heldout.Experiment(
        collection=small_collection(20, 8),
        systems=heldout.System.of(lambda: sys.exit(0), "mine", kind="transformer"),
        plan={"folds": 2},
    )
    with pytest.raises(InputError, match=r"mine failed: sys\.exit\(0\) was called"):
        experiment.run()


def test_an_exit_of_a_measure_is_its_error():
    @heldout.define_measure
    def exits_here(ranked):
        sys.exit(ranked.query)

    with pytest.raises(MeasureError, match=r"the measure exits_here failed: sys\.exit\('q'\)"):
        heldout.evaluate({"q": {"a": 1}}, {"q": {"a": 1.0}}, "exits_here")

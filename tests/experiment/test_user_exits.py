"""Code of users that calls sys.exit or raises what is no Exception: an error of that system."""

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
estimator = "code.py:Exits"
space = {level = [1, 2]}
"""


@pytest.fixture
def arguments(tmp_path):
    """The command, with an experiment for it."""

    def write(experiment, source):
        heldout.export_collection(small_collection(20, 8), tmp_path / "data", force=True)
        rows = "".join(f"{row % 5},{row % 2}\n" for row in range(20))
        (tmp_path / "table.csv").write_text(f"x,y\n{rows}")
        (tmp_path / "code.py").write_text(source)
        (tmp_path / "experiment.toml").write_text(experiment)
        return ["run", str(tmp_path / "experiment.toml"), "--quiet"]

    return write


CASES = [
    (RANKING, AT_IMPORT, "sys.exit(0) was called"),
    (RANKING, IN_THE_CALL, "sys.exit('bye') was called"),
    (RANKING, RAISES.format("Stop('enough')"), "Stop: enough was raised"),
    (RANKING, RAISES.format("GeneratorExit"), "GeneratorExit was raised"),
    (CLASSES, ESTIMATOR, "mine/tune/r0/f0/i0/p0 failed: sys.exit(0) was called"),
]


def test_it_is_the_error_of_a_system(arguments, capsys):
    for experiment, source, cause in CASES:
        said = refused(capsys, *arguments(experiment, source))
        assert said.count("\n") == 1
        for part in ("mine", cause, " in code.py, line "):
            assert part in said


class Exits:
    def fit(self, train):
        del train
        return self

    def predict(self, test):
        sys.exit(0 if test else 1)


def test_modules_objects_transformers_and_measures_are_named(tmp_path, monkeypatch):
    monkeypatch.syspath_prepend(tmp_path)
    fields = {"collection": small_collection(20, 8), "plan": {"folds": 2}}
    for name, text, said in (
        ("exits_at_import", AT_IMPORT, r"sys\.exit\(0\) was called"),
        ("fails_at_import", "1 / 0\n", "ZeroDivisionError"),
    ):
        (tmp_path / f"{name}.py").write_text(text)
        with pytest.raises(HeldoutError, match=f"mine: {name} failed: .*{said}"):
            heldout.Experiment(systems=f"mine={name}:rank", **fields).run()
    with pytest.raises(HeldoutError, match=r"mine failed: sys\.exit\(0\) was called in test_user_"):
        heldout.Experiment(systems={"mine": Exits()}, **fields).run()

    @heldout.define_measure
    def exits_here(ranked):
        sys.exit(ranked.query)

    with pytest.raises(HeldoutError, match=r"the measure exits_here failed: sys\.exit\('q'\)"):
        heldout.evaluate({"q": {"a": 1}}, {"q": {"a": 1.0}}, "exits_here")
    pytest.importorskip("pyterrier", reason="python-terrier is not installed")
    with pytest.raises(HeldoutError, match=r"mine failed: sys\.exit\(0\) was called"):
        heldout.System.of(lambda: sys.exit(0), "mine", kind="transformer")

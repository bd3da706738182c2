"""Code of users that calls sys.exit or raises what is no Exception: an error of that system."""

import sys

import pytest
from experiment_data import small_collection
from sklearn.base import BaseEstimator, ClassifierMixin

import heldout
from commands import refused
from heldout import HeldoutError

AT_IMPORT = "import sys\nsys.exit(0)\n"
IN_THE_CALL = "import sys\ndef rank(train, test):\n    sys.exit('bye')\n"
RAISES = "class Stop(BaseException): pass\ndef rank(train, test):\n    raise {}\n"
CASES = [
    (AT_IMPORT, r"sys\.exit\(0\) was called"),
    (IN_THE_CALL, r"sys\.exit\('bye'\) was called"),
    (RAISES.format("Stop('enough')"), "Stop: enough was raised"),
    (RAISES.format("GeneratorExit"), "GeneratorExit was raised"),
]
FIELDS = {"collection": small_collection(20, 8), "plan": {"folds": 2}}


def test_it_is_the_error_of_a_system(tmp_path, capsys):
    heldout.export_collection(FIELDS["collection"], tmp_path / "data")
    for number, (source, cause) in enumerate(CASES):
        code = tmp_path / f"code{number}.py"
        code.write_text(source)
        with pytest.raises(HeldoutError, match=f"mine.*{cause}.* in code.*py, line "):
            heldout.Experiment(systems=f"mine={code}:rank", **FIELDS).run()
    command = ["run", tmp_path / "data", "--system", f"mine={tmp_path}/code1.py:rank"]
    assert refused(capsys, *command, "--quiet").count("\n") == 1


class Unfit(ClassifierMixin, BaseEstimator):
    def __init__(self, level=1):
        self.level = level

    def fit(self, rows, labels):
        del rows, labels
        sys.exit(0)

    def predict(self, rows):
        return rows


class Exits:
    def fit(self, train):
        del train
        return self

    def predict(self, test):
        sys.exit(0 if test else 1)


def test_estimators_objects_transformers_and_measures_are_named():
    data = [[row] for row in range(20)], ["a", "b"] * 10
    system = {"mine": (Unfit(), {"level": [1, 2]})}
    with pytest.raises(HeldoutError, match=r"mine/tune/r0/f0/i0/p0 failed: sys\.exit\(0\) was ca"):
        heldout.Experiment(task="classification", data=data, systems=system).run()
    with pytest.raises(HeldoutError, match=r"mine failed: sys\.exit\(0\) was called in test_user_"):
        heldout.Experiment(systems={"mine": Exits()}, **FIELDS).run()

    @heldout.define_measure
    def exits_here(ranked):
        sys.exit(ranked.query)

    with pytest.raises(HeldoutError, match=r"the measure exits_here failed: sys\.exit\('q'\)"):
        heldout.evaluate({"q": {"a": 1}}, {"q": {"a": 1.0}}, "exits_here")
    pytest.importorskip("pyterrier", reason="python-terrier is not installed")
    with pytest.raises(HeldoutError, match=r"mine failed: sys\.exit\(0\) was called"):
        heldout.System.of(lambda: sys.exit(0), "mine", kind="transformer")

"""Starting up is most of the time of a small evaluation, so what gets imported is kept in check."""

import json
import subprocess
import sys

import pytest

SLOW = {"numpy", "polars", "pandas", "rich", "scipy", "numba", "pyarrow", "zstandard"}

# Python's own start has imported something already: that does not count.
SCRIPT = """
import json, sys
before = set(sys.modules)
{code}
sys.stderr.write(json.dumps(sorted(set(sys.modules) - before)))
"""


def imported(code, folder):
    """The modules that `code` imports in a fresh Python."""
    done = subprocess.run(  # noqa: S603 - this Python
        [sys.executable, "-c", SCRIPT.format(code=code)],
        capture_output=True,
        text=True,
        check=True,
        cwd=folder,
    )
    # A first run says before that that it compiles.
    return set(json.loads(done.stderr.splitlines()[-1]))


def command(*arguments):
    return f"""
from heldout.cli import main
try:
    main({list(arguments)!r})
except SystemExit as ended:
    assert not ended.code
"""


@pytest.fixture
def folder(tmp_path):
    (tmp_path / "qrels").write_text("q1 0 a 1\n")
    (tmp_path / "a.run").write_text("q1 Q0 a 1 2.0 t\nq1 Q0 b 2 1.0 t\n")
    return tmp_path


def test_importing_the_package_is_quick(folder):
    found = imported("import heldout", folder)
    assert "heldout" in found
    assert not found & SLOW
    # 30 with Python 3.11, all of its standard library; NumPy alone would be more than 100.
    assert len(found) < 60


def test_names_are_imported_when_they_are_used(folder):
    found = imported("import heldout; heldout.Run", folder)
    assert "numpy" in found
    assert not found & (SLOW - {"numpy"})


def test_every_public_name_can_be_imported(folder):
    code = """
import heldout
assert all(getattr(heldout, name) is not None for name in heldout.__all__)
assert set(heldout.__all__) < set(dir(heldout))
"""
    assert "heldout.measure.evaluate" in imported(code, folder)


@pytest.mark.parametrize("arguments", [["--help"], ["eval", "--help"]])
def test_help_needs_no_numpy(folder, arguments):
    found = imported(command(*arguments), folder)
    assert "argparse" in found
    assert not found & SLOW


@pytest.mark.parametrize("form", ["tsv", "json", "md", "latex", "trec"])
def test_evaluating_trec_files_needs_numpy_only(folder, form):
    found = imported(command("eval", "qrels", "a.run", "--format", form, "--quiet"), folder)
    assert found & SLOW == {"numpy"}


def test_an_unknown_name_of_the_package_is_an_attribute_error(folder):
    code = """
import heldout
try:
    heldout.evaluat
except AttributeError as error:
    assert "evaluat" in str(error)
else:
    raise AssertionError
"""
    assert "heldout" in imported(code, folder)


def test_a_run_of_a_model_loads_nothing_for_predictions(folder):
    (folder / "docs.jsonl").write_text('{"_id": "a", "text": "x y"}\n{"_id": "b", "text": "y"}\n')
    (folder / "queries.tsv").write_text("q1\tx\nq2\ty\n")
    (folder / "qrels").write_text("q1 0 a 1\nq2 0 b 1\n")
    arguments = ["run", "docs.jsonl", "--queries", "queries.tsv", "--qrels", "qrels"]
    arguments += ["--system", "bm25", "--folds", "2", "--quiet"]
    found = imported(command(*arguments), folder)
    assert "heldout.experiment.systems.models" in found
    for other in (
        "sklearn",
        "heldout.measure.prediction.curves",
        "heldout.measure.prediction.delong",
    ):
        assert other not in found
    assert not {one for one in found if "predict" in one and one.startswith("heldout.")}


def test_one_command_imports_no_other(folder):
    found = imported(command("eval", "qrels", "a.run", "--quiet"), folder)
    assert "heldout.cli.eval" in found
    assert not {one for one in found if one.startswith("heldout.cli.")} & {
        f"heldout.cli.{name}" for name in ("compare", "run", "search", "study", "chart", "demo")
    }
    # Slow to import, and a small evaluation needs none of them.
    assert not found & {"pathlib", "logging", "hashlib", "html", "json", "shutil", "lzma"}
    assert not found & {"csv", "locale", "heldout.measure.ranking.machine"}


def test_two_small_runs_need_no_threads(folder):
    (folder / "b.run").write_text("q1 Q0 b 1 2.0 u\n")
    found = imported(command("eval", "qrels", "a.run", "b.run", "--quiet"), folder)
    assert not found & {"concurrent.futures", "logging", "hashlib"}


def test_a_comparison_of_runs_imports_no_other_task(folder):
    (folder / "qrels").write_text("q1 0 a 1\nq2 0 a 1\n")
    for name, order in (("a", "ab"), ("b", "ba")):
        rows = [f"q{q} Q0 {d} 1 {s} {name}\n" for q in (1, 2) for s, d in enumerate(order)]
        (folder / f"{name}.run").write_text("".join(rows))
    found = imported(command("compare", "qrels", "a.run", "b.run", "--quiet"), folder)
    assert "heldout.infer.compare" in found
    assert not found & (SLOW - {"numpy", "scipy"})
    others = ("experiment", "retrieve", "resample", "tune", "measure.text", "report.page")
    assert not {one for one in found if one.startswith(tuple(f"heldout.{name}" for name in others))}


def test_runs_are_evaluated_without_threads_for_matrices(folder, monkeypatch):
    monkeypatch.delenv("OPENBLAS_NUM_THREADS", raising=False)  # Dask sets it in this process
    code = command("eval", "qrels", "a.run", "--quiet") + (
        "import os, numpy\nassert 'OPENBLAS_NUM_THREADS' not in os.environ\n"
    )
    assert "numpy" in imported(code, folder)
    monkeypatch.setenv("OPENBLAS_NUM_THREADS", "2")
    code = code.replace("not in os.environ", "in os.environ")
    assert "numpy" in imported(code, folder)

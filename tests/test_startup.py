"""Starting up is most of the time of a small evaluation, so what gets imported is kept in check."""

import ast
import importlib
import json
import sys
from pathlib import Path

import numba
import pytest

import heldout
from commands import process
from heldout import compiled

SLOW = {"numpy", "polars", "pandas", "rich", "scipy", "numba", "pyarrow", "zstandard"}

# Python's own start has imported something already: that does not count.
SCRIPT = """
import json, sys
before = set(sys.modules)
{code}
sys.stderr.write(json.dumps(sorted(set(sys.modules) - before)))
"""


def imported(code):
    """The modules that `code` imports in a fresh Python."""
    done = process(code=SCRIPT.format(code=code))
    assert done.returncode == 0, done.stderr
    # A first run says before that that it compiles.
    return set(json.loads(done.stderr.splitlines()[-1]))


def command(line):
    return f"""
from heldout.cli import main
try:
    main({line.split()!r})
except SystemExit as ended:
    assert not ended.code
"""


def of_heldout(found, *names):
    """The modules of some parts of heldout."""
    return {one for one in found if one.startswith(tuple(f"heldout.{name}" for name in names))}


@pytest.mark.usefixtures("here")
class TestImports:
    def test_importing_the_package_is_quick(self):
        found = imported("import heldout")
        assert "heldout" in found
        assert not found & SLOW
        # 30 with Python 3.11, all of its standard library; NumPy alone would be more than 100.
        assert len(found) < 60
        found = imported("import heldout; heldout.Run")  # names are imported when they are used
        assert found & SLOW == {"numpy"}

    def test_every_public_name_can_be_imported_and_no_other(self):
        assert all(getattr(heldout, name) is not None for name in heldout.__all__)
        assert set(heldout.__all__) < set(dir(heldout))
        with pytest.raises(AttributeError, match="evaluat"):
            heldout.evaluat  # noqa: B018

    def test_help_needs_no_numpy(self):
        found = imported(command("--help") + command("eval --help"))
        assert "argparse" in found
        assert not found & SLOW

    def test_evaluating_trec_files_needs_numpy_only(self, monkeypatch):
        monkeypatch.delenv("OPENBLAS_NUM_THREADS", raising=False)  # Dask sets it in this process
        forms = ("tsv", "json", "md", "latex", "trec")
        line = "eval small.qrels bm25.run ql-jm.run --quiet"
        found = imported("".join(command(f"{line} --format {form}") for form in forms))
        assert found & SLOW == {"numpy"}
        assert of_heldout(found, "cli.") & {"heldout.cli.eval"}
        others = ("compare", "run", "search", "study", "chart", "demo")
        assert not of_heldout(found, *(f"cli.{name}" for name in others))
        assert not found & {"concurrent.futures", "logging", "hashlib"}
        # Slow to import, and a small evaluation needs none of them.
        slow = {"pathlib", "html", "json", "shutil", "lzma", "csv", "locale"}
        check = "import os, numpy\nassert 'OPENBLAS_NUM_THREADS' not in os.environ\n"
        found = imported(command(line) + check)  # nor threads for matrices
        assert not found & {*slow, "heldout.measure.ranking.machine"}

    def test_one_task_loads_nothing_of_another(self):
        run = "run small --system bm25 --folds 2 --quiet"
        found = imported(command(run))
        assert "heldout.experiment.systems.models" in found
        assert "sklearn" not in found
        assert not of_heldout(found, "measure.prediction.curves", "measure.prediction.delong")
        assert not {one for one in of_heldout(found, "") if "predict" in one}
        found = imported(command("compare small.qrels bm25.run ql-jm.run --quiet"))
        assert "heldout.infer.compare" in found
        assert not found & (SLOW - {"numpy", "scipy"})
        others = ("experiment", "retrieve", "resample", "tune", "measure.text", "report.page")
        assert not of_heldout(found, *others)


# Compiled loops: announced once, kept where it is possible, never code of another version


LOOPS = """
from heldout.compiled import announce, kernel, part

@part
def scaled(number):
    return 2 * number

@kernel
def shifted(number):
    return scaled(number) + 1

announce("some loops", shifted)
RESULT = shifted(2)
announce("some loops", shifted)
"""
MESSAGE = "compiling some loops (once, takes a few seconds)\n"


@pytest.fixture
def load(tmp_path, monkeypatch, capsys):
    """The result of the loops, and the messages, when the module is imported again."""
    (tmp_path / "loops_to_compile.py").write_text(LOOPS)
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.setattr(sys, "dont_write_bytecode", True)

    def loaded(folder):
        monkeypatch.setenv("NUMBA_CACHE_DIR", str(folder))
        compiled._folder.cache_clear()
        importlib.invalidate_caches()
        result = importlib.import_module("loops_to_compile").RESULT
        del sys.modules["loops_to_compile"]
        return result, capsys.readouterr().err

    yield loaded
    compiled._folder.cache_clear()


def test_the_message_is_shown_once_in_each_folder_and_for_each_version(load, tmp_path, monkeypatch):
    for folder in (tmp_path / "one", tmp_path):
        assert load(folder) == (5, MESSAGE)
        assert load(folder) == (5, "")
    assert "compiled-" not in numba.config.CACHE_DIR  # other code keeps its own folder
    changed = tmp_path / "loops_to_compile.py"
    changed.write_text(changed.read_text().replace("2 *", "3 *"))
    assert load(tmp_path)[0] == 7
    monkeypatch.setattr(heldout, "__version__", "0")
    assert load(tmp_path) == (7, MESSAGE)


def test_kernels_use_constants_of_kernel_files_alone():
    """The folder of their code is named after these files."""
    root = Path(heldout.__file__).parent
    for path in root.rglob("kernels/*.py"):
        for statement in ast.parse(path.read_text()).body:  # not those for type checkers
            if isinstance(statement, ast.ImportFrom) and "heldout" in statement.module:
                assert ".kernels." in statement.module or statement.module == "heldout.compiled"

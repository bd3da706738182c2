"""Compiled loops: announced once, kept where it is possible, never code of another version."""

import ast
import importlib
import os
import subprocess
import sys
from pathlib import Path

import pytest

import heldout
from heldout import compiled

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


def test_the_message_is_shown_once_in_each_cache_folder(load, tmp_path):
    import numba

    for folder in (tmp_path / "one", tmp_path / "another"):
        assert load(folder) == (5, MESSAGE)
        assert load(folder) == (5, "")
    assert "compiled-" not in numba.config.CACHE_DIR  # other code keeps its own folder


def test_changed_code_or_another_version_is_compiled_again(load, tmp_path, monkeypatch):
    assert load(tmp_path) == (5, MESSAGE)
    changed = tmp_path / "loops_to_compile.py"
    changed.write_text(changed.read_text().replace("2 *", "3 *"))
    assert load(tmp_path)[0] == 7
    monkeypatch.setattr(heldout, "__version__", "0")
    assert load(tmp_path) == (7, MESSAGE)


def test_loops_work_where_nothing_can_be_written(load, tmp_path):
    occupied = tmp_path / "file"
    occupied.write_text("")
    for _ in range(2):
        assert load(occupied / "cache") == (5, MESSAGE)


def test_several_processes_compile_at_once(tmp_path, load):
    code = f"import sys; sys.path.insert(0, {str(tmp_path)!r}); import loops_to_compile as loops"
    command = [sys.executable, "-c", f"{code}; print(loops.RESULT)"]
    environment = {**os.environ, "NUMBA_CACHE_DIR": str(tmp_path / "shared")}
    started = [
        subprocess.Popen(command, stdout=subprocess.PIPE, env=environment)  # noqa: S603 - this Python
        for _ in range(3)
    ]
    assert [one.communicate()[0].split() for one in started] == [[b"5"]] * 3
    assert load(tmp_path / "shared") == (5, "")


def test_another_process_compiles_for_the_types_in_use(tmp_path):
    """Otherwise its work would be for nothing."""
    code = """
from heldout.compiled import compile_elsewhere
from heldout.retrieve.index import Index
from heldout.retrieve.kernels.rank import rank
from heldout.retrieve.search import search

compile_elsewhere(rank, "heldout.retrieve.first_use")
search(Index.build({"d1": "red apples", "d2": "green"}), {"q": "apples"}, "bm25-plus")
print(*rank.stats.cache_hits.values(), *rank.stats.cache_misses.values())
"""
    environment = {**os.environ, "NUMBA_CACHE_DIR": str(tmp_path), "HELDOUT_THREADS": "2"}
    command = [sys.executable, "-c", code]
    assert subprocess.check_output(command, env=environment).split() == [b"1"]  # noqa: S603


def test_kernels_use_constants_of_kernel_files_alone():
    """The folder of their code is named after these files."""
    root = Path(heldout.__file__).parent
    for path in root.rglob("kernels/*.py"):
        for statement in ast.parse(path.read_text()).body:  # not those for type checkers
            if isinstance(statement, ast.ImportFrom) and "heldout" in statement.module:
                assert ".kernels." in statement.module or statement.module == "heldout.compiled"

"""Compiled loops: the message is shown once, and the cache never has code of another version."""

import importlib
import os
import subprocess
import sys

import pytest

from heldout.compiled import kernel
from heldout.compiled_cache import code_digest, environment

SCALE = """
from heldout.compiled import part

@part
def scaled(number):
    return 2 * number
"""

LOOPS = """
from heldout.compiled import announce, kernel
from scale_of_loops import scaled

OFFSET = 1

@kernel
def shifted(number):
    return scaled(number) + OFFSET

announce("some loops", shifted)
RESULT = shifted(2)
announce("some loops", shifted)
"""

MESSAGE = "compiling some loops (once, takes a few seconds)\n"


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """Two modules, whose code is kept beside them, wherever that of heldout is kept."""
    import numba

    monkeypatch.delenv("NUMBA_CACHE_DIR", raising=False)
    monkeypatch.setattr(numba.config, "CACHE_DIR", "")
    (tmp_path / "scale_of_loops.py").write_text(SCALE)
    (tmp_path / "loops_to_compile.py").write_text(LOOPS)
    return tmp_path


@pytest.fixture
def load(folder, monkeypatch, capsys):
    """The result of the loops, and the messages, when the modules are imported again."""
    monkeypatch.syspath_prepend(folder)
    monkeypatch.setattr(sys, "dont_write_bytecode", True)

    def loaded():
        importlib.invalidate_caches()
        result = importlib.import_module("loops_to_compile").RESULT
        del sys.modules["loops_to_compile"], sys.modules["scale_of_loops"]
        return result, capsys.readouterr().err

    return loaded


def compiled_files(folder):
    return sorted(path.name for path in folder.rglob("*.nbc"))


def replace(path, old, new):
    path.write_text(path.read_text().replace(old, new))


def test_the_message_is_shown_once_in_each_cache_folder(load, folder, monkeypatch):
    import numba

    for place in ("", str(folder / "elsewhere")):
        monkeypatch.setattr(numba.config, "CACHE_DIR", place)  # NUMBA_CACHE_DIR
        assert load() == (5, MESSAGE)
        assert load() == (5, "")
    assert len(compiled_files(folder)) == 2


def test_a_change_in_another_file_is_compiled(load, folder):
    """Numba looks at the file of the kernel alone."""
    assert load() == (5, MESSAGE)
    replace(folder / "scale_of_loops.py", "2 *", "3 *")
    assert load() == (7, MESSAGE)
    assert load() == (7, "")
    assert len(compiled_files(folder)) == 1  # the code of the earlier version is removed


def test_a_changed_constant_is_compiled_and_a_comment_is_not(load, folder):
    assert load() == (5, MESSAGE)
    replace(folder / "loops_to_compile.py", "OFFSET = 1", "# What is added.\nOFFSET = 1")
    assert load() == (5, "")
    replace(folder / "loops_to_compile.py", "OFFSET = 1", "OFFSET = 2")
    assert load() == (6, MESSAGE)


@pytest.mark.parametrize("content", [b"", b"\x80\x04K\x01.", b"not a pickle"])
def test_a_damaged_file_is_compiled_again(load, folder, content):
    assert load() == (5, MESSAGE)
    (damaged,) = folder.rglob("*.nbc")
    damaged.write_bytes(content)
    assert load()[0] == 5
    assert len(damaged.read_bytes()) > 100


def test_the_key_has_versions_processor_and_options(monkeypatch):
    import numba

    import heldout.compiled_cache as cache

    keys = [environment()]
    for module, name, value in (
        (cache, "__version__", "0"),
        (numba, "__version__", "0"),
        (numba.config, "BOUNDSCHECK", 1),
        (cache.platform, "python_version", lambda: "4.0"),
    ):
        with monkeypatch.context() as patch:
            patch.setattr(module, name, value)
            keys.append(environment())
    codegen = type(numba.core.registry.cpu_target.target_context.codegen())
    with monkeypatch.context() as patch:
        patch.setattr(codegen, "magic_tuple", lambda _: ("x86_64", "another processor", ""))
        keys.append(environment())
    assert len(set(keys)) == 6
    assert environment() == keys[0]


def test_the_digest_is_the_same_in_every_process(folder):
    code = (
        f"import sys; sys.path.insert(0, {str(folder)!r})\n"
        "from heldout.compiled_cache import code_digest\n"
        "from heldout.retrieve.kernels.lists import rank\n"
        "from heldout.data.text_hashes import hash_kernel\n"
        "print(code_digest(rank.py_func), code_digest(hash_kernel.py_func))"
    )
    from heldout.data.text_hashes import hash_kernel
    from heldout.retrieve.kernels.lists import rank

    ended = subprocess.run(  # noqa: S603 - this Python
        [sys.executable, "-c", code], capture_output=True, text=True, check=True
    )
    expected = [code_digest(one.py_func) for one in (rank, hash_kernel)]
    assert ended.stdout.split() == expected


def test_several_processes_compile_at_once(folder):
    """Each gets the right result, for both types; what remains are complete files."""
    code = (
        f"import sys; sys.path.insert(0, {str(folder)!r})\n"
        "from loops_to_compile import shifted\n"
        "print(shifted(2), shifted(float(sys.argv[1])))"
    )
    started = [
        subprocess.Popen(  # noqa: S603 - this Python
            [sys.executable, "-c", code, str(number)], stdout=subprocess.PIPE, text=True
        )
        for number in range(3)
    ]
    said = [one.communicate()[0].split() for one in started]
    assert said == [["5", str(2.0 * number + 1)] for number in range(3)]
    assert len(compiled_files(folder)) == 2
    assert not list(folder.rglob("*.tmp"))


def test_loops_work_where_nothing_can_be_written(monkeypatch):
    import heldout.compiled_cache as cache

    def refuse(_):
        raise RuntimeError("cannot cache function: no locator available")

    monkeypatch.setattr(cache, "KernelCache", refuse)
    twice = kernel(lambda number: 2 * number)
    assert twice(2) == 4


def test_numba_compiles_other_functions_as_before():
    import numba

    usual = numba.types.BaseFunction.get_call_type
    with pytest.raises(numba.TypingError):
        kernel(lambda number: number + "text")(2)
    assert numba.types.BaseFunction.get_call_type is usual
    assert kernel(lambda number: number + 2)(2) == numba.njit(lambda number: number + 2)(2) == 4
    assert numba.types.BaseFunction.get_call_type is usual


FIRST_USE = """
import sys
from heldout.compiled import compile_elsewhere
from loops_elsewhere import shifted

compile_elsewhere(sys.argv[1], "2", shifted)
print(shifted(2), sum(shifted.stats.cache_hits.values()))
"""

ELSEWHERE = """
import sys
from heldout.compiled import kernel

@kernel
def shifted(number):
    return number + 1

if __name__ == "__main__":
    from loops_elsewhere import shifted
    shifted(int(sys.argv[1]))
"""


@pytest.mark.parametrize(("module", "hits"), [("loops_elsewhere", 1), ("no_such_module", 0)])
def test_another_process_compiles(folder, module, hits, monkeypatch):
    """This one loads what it compiled, or compiles itself if that failed."""
    (folder / "loops_elsewhere.py").write_text(ELSEWHERE)
    monkeypatch.setenv("HELDOUT_THREADS", "2")
    monkeypatch.setenv("PYTHONPATH", str(folder), prepend=os.pathsep)
    ended = subprocess.run(  # noqa: S603 - this Python
        [sys.executable, "-c", FIRST_USE, module],
        capture_output=True,
        text=True,
        check=True,
    )
    assert ended.stdout.split() == ["3", str(hits)]
    assert not ended.stderr
    assert len(compiled_files(folder)) == 1


@pytest.mark.parametrize("what", ["ranking", "search"])
def test_the_other_process_compiles_for_the_types_in_use(what):
    """Otherwise its work would be for nothing."""
    from heldout.retrieve import first_use
    from heldout.retrieve.index import Index
    from heldout.retrieve.kernels.lists import rank
    from heldout.retrieve.kernels.search import search as search_loop
    from heldout.retrieve.search import search

    compiled = rank if what == "ranking" else search_loop
    index = Index.build({"d1": "red apples", "d2": "green apples"})
    search(index, {"q": "apples"}, "ql-jm" if what == "ranking" else "bm25")
    before = list(compiled.signatures)
    first_use.call(what)
    assert compiled.signatures == before
    search(index, {"q": "apples"}, "bm25-plus")
    assert compiled.signatures == before  # one code for likelihoods and sums


def test_an_unknown_version_of_numba_compiles_in_its_own_way(load, monkeypatch):
    from heldout import compiled

    monkeypatch.setattr(compiled, "_KNOWN_NUMBA", (0, 0))
    monkeypatch.setitem(sys.modules, "heldout.compiled_parts", None)  # cannot be imported
    monkeypatch.delattr("heldout.compiled_parts", raising=False)
    assert load() == (5, MESSAGE)

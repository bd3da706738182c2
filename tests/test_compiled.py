"""The note about compiling: said once, and never when the code is in the cache."""

import importlib
import os
import sys
import time

import pytest

MODULE = """
from heldout.compiled import announce, kernel

@kernel
def twice(number):
    return 2 * number

@kernel
def thrice(number):
    return 3 * number

announce("some loops", twice, thrice)
assert (twice(2), thrice(2)) == (4, 6)
announce("some loops", twice, thrice)
"""


@pytest.fixture
def said(tmp_path, monkeypatch, capsys):
    """What is said when the module is loaded anew, with functions that nobody has called."""
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.setattr(sys, "dont_write_bytecode", True)

    def load():
        importlib.invalidate_caches()
        importlib.import_module("loops_to_compile")
        del sys.modules["loops_to_compile"]
        return capsys.readouterr().err

    return load


def test_compiling_is_said_once_and_again_only_when_the_source_changes(tmp_path, monkeypatch, said):
    import numba

    source = tmp_path / "loops_to_compile.py"
    source.write_text(MODULE)
    for folder in ("", str(tmp_path / "elsewhere")):
        monkeypatch.setattr(numba.config, "CACHE_DIR", folder)  # NUMBA_CACHE_DIR
        assert said() == "compiling some loops (once, takes a few seconds)\n"
        assert said() == ""
    monkeypatch.setattr(numba.config, "CACHE_DIR", "")
    # Two seconds from now: a file system may count time in steps of that size.
    later = time.time_ns() + 2_000_000_000
    os.utime(source, ns=(later, later))
    assert said() == "compiling some loops (once, takes a few seconds)\n"

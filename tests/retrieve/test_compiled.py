"""The note about compiling: said once, and never when the code is in the cache."""

import os
import subprocess
import sys
import time

MODULE = """
from heldout.retrieve.compiled import announce, kernel

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


def run(folder, environment):
    done = subprocess.run(
        [sys.executable, "-c", "import loops"],
        capture_output=True,
        text=True,
        check=True,
        cwd=folder,
        env={**os.environ, **environment},
    )
    return done.stderr


def test_compiling_is_said_once_and_again_only_when_the_source_changes(tmp_path):
    source = tmp_path / "loops.py"
    source.write_text(MODULE)
    for environment in ({}, {"NUMBA_CACHE_DIR": str(tmp_path / "elsewhere")}):
        assert run(tmp_path, environment) == "compiling some loops, once: a few seconds\n"
        assert run(tmp_path, environment) == ""
    # Two seconds from now: a file system may count time in steps of that size.
    later = time.time_ns() + 2_000_000_000
    os.utime(source, ns=(later, later))
    assert run(tmp_path, {}) == "compiling some loops, once: a few seconds\n"


def test_the_note_stands_on_one_line_of_standard_error_when_an_index_is_built(tmp_path):
    code = "from heldout.retrieve.index import Index; Index.build(['a b', 'b'])"
    for expected in (["compiling the index builder, once: a few seconds"], []):
        done = subprocess.run(  # noqa: S603 - this Python
            [sys.executable, "-c", code],
            capture_output=True,
            text=True,
            check=True,
            env={**os.environ, "NUMBA_CACHE_DIR": str(tmp_path)},
        )
        assert done.stderr.splitlines() == expected
        assert done.stdout == ""

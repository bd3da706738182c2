"""Forked processes give the results, the order and the errors of one process.

All of it in another process: that of pytest may have threads, and is not to be forked.
"""

import os
import subprocess
import sys

import pytest

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="processes are forked on Linux")

EVALUATE = """
import os, sys
from heldout.cli import main
from heldout.data import many_files

forks, fork = [], os.fork
os.fork = lambda: forks.append(1) or fork()
many_files._SMALL, many_files._WORTH = 0, 1
code = 0
try:
    main(sys.argv[1:])
except SystemExit as error:
    code = error.code
print(len(forks), "forks, exit code", code)
"""


def run(code, *arguments, count=2):
    environment = {**os.environ, "HELDOUT_THREADS": str(count), "OPENBLAS_NUM_THREADS": "1"}
    command = [sys.executable, "-c", code, *map(str, arguments)]
    done = subprocess.run(  # noqa: S603 - a fixed script of this file
        command, env=environment, capture_output=True, text=True, check=True, timeout=60
    )
    return done.stdout.splitlines(), done.stderr


def streamed(code):
    """Run code that has `here`, the number of this process, and `stream_forked`."""
    before = "import os\nfrom heldout.data.many_files import stream_forked\nhere = os.getpid()\n"
    return run(before + code)[0]


@pytest.fixture
def files(tmp_path):
    (tmp_path / "qrels").write_text("q1 0 a 1\nq1 0 b 0\nq2 0 c 2\n")
    for number in range(5):
        docs = "abcd"[number % 4 :]
        lines = [
            f"q{query} Q0 {doc} 1 {number % 3 + at} run"
            for query in (1, 2, 9)
            for at, doc in enumerate(docs)
        ]
        (tmp_path / f"{number}.run").write_text("\n".join(lines))
    return [tmp_path / "qrels", *(tmp_path / f"{number}.run" for number in range(5))]


@pytest.mark.parametrize("options", [[], ["-q"], ["--format", "json", "--intersection"]])
def test_evaluations_and_warnings_are_the_same_in_other_processes(files, options):
    here, said_here = run(EVALUATE, "eval", *options, *files, count=1)
    apart, said_apart = run(EVALUATE, "eval", *options, *files)
    assert here.pop() == "0 forks, exit code 0"
    assert apart.pop() == "2 forks, exit code 0"
    assert apart == here
    assert said_apart == said_here


@pytest.mark.parametrize("count", [1, 2])
def test_the_error_names_the_first_wrong_file_and_its_line(files, count):
    files[2].write_text("q1 Q0 a 1 2 run\nq1 Q0 b 1 1 run\nq1 Q0 a 1 0 run\n")
    files[4].write_text("q1 Q0 a 1 many run\n")
    said, error = run(EVALUATE, "eval", *files, count=count)
    assert said == [f"{2 * (count - 1)} forks, exit code 2"]
    assert error.startswith(f"heldout: {files[2]}:3: ")
    assert "first in line 1" in error


def test_results_are_in_order_and_made_elsewhere_on_one_thread():
    code = """
from heldout.data.parallel import threads
for made in stream_forked(lambda item: (item, os.getpid() != here, threads()), range(5), 2):
    print(*made)
"""
    assert streamed(code) == [f"{item} True 1" for item in range(5)]


def test_what_a_killed_process_leaves_is_done_here():
    code = """
def task(item):
    if item == 3 and os.getpid() != here:
        os._exit(9)
    return item if item != 3 else os.getpid() == here
print(*stream_forked(task, range(8), 2))
"""
    assert streamed(code) == ["0 1 2 True 4 5 6 7"]


def test_no_process_is_left_when_the_results_are_not_wanted():
    code = """
results = stream_forked(lambda item: bytes(1 << 18), range(1000), 2)
next(results)
results.close()
try:
    os.waitpid(-1, 0)
except ChildProcessError:
    print("none")
"""
    assert streamed(code) == ["none"]


def test_another_thread_keeps_from_forking():
    code = """
import threading
from heldout.data.many_files import _alone
end = threading.Event()
print(_alone())
threading.Thread(target=end.wait).start()
print(_alone())
end.set()
"""
    assert streamed(code) == ["True", "False"]

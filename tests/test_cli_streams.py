"""Full disks, closed streams, readers that go away, terminals: exit codes 0, 1, 2 and 141."""

import os
import shlex
import subprocess
import sys
from contextlib import contextmanager, suppress
from pathlib import Path

import pytest

from commands import COMMAND, COMMANDS, ended, printed, process

FULL = Path("/dev/full")
needs_full = pytest.mark.skipif(not FULL.exists(), reason="there is no /dev/full")
needs_shell = pytest.mark.skipif(os.name != "posix", reason="needs a shell of POSIX")

RUNS = "small.qrels bm25.run ql-jm.run"
GATE = f"compare {RUNS} --gate non-inferior --margin 0.9"
SPLIT = "split small --by query --folds 2"
RUN = "run small --system bm25(k1=0.5:2:3) --folds 2"
STUDY = "study bias small --system bm25 --draws 2 -m AP"
TEXTS = "eval -r references.txt a.txt -m TokenF1"
PRINTS = (
    *(f"eval {RUNS}", f"eval {RUNS} --json", f"eval {RUNS} -f trec", TEXTS, "eval weak.csv"),
    *("eval --task regression numbers.csv", f"compare {RUNS}", f"compare {RUNS} --json", GATE),
    *(f"power {RUNS}", "ledger looks.jsonl", "collection small", SPLIT, f"{SPLIT} --assignments -"),
    *("run small.qrels --system x=*.run --folds 2", STUDY, RUN, f"{RUN} --dry-run", "list charts"),
    *("chart results forest --data -", "index small.index", "search small"),
    *("search small --query stone", "agree qrels.txt machine.qrels", "fuse bm25.run ql-jm.run"),
    *("list measures", "demo --files another"),
)
# Those that write a file, without its name, which comes last.
WRITES = (
    *(f"eval {RUNS} -o x", f"eval {RUNS} -o x.parquet", f"compare {RUNS} -o x"),
    *(f"compare {RUNS} -o x.html", f"compare {RUNS} --ledger x", "eval weak.csv -o x"),
    *("collection small -o x", f"{SPLIT} -o x", f"{SPLIT} --assignments x", f"{STUDY} -o x"),
    *(f"{STUDY} --figures x", "report results -o x.html", "chart results forest -o x.json"),
    *("chart results forest --data x", "index docs.jsonl -o x", "search small -o x"),
    *("agree qrels.txt machine.qrels -o x", "fuse bm25.run ql-jm.run -o x", "demo --files x"),
)


def test_every_command_is_tried():
    tried = {line.split()[0] for line in (*PRINTS, *WRITES)}
    assert tried == set(COMMANDS)


def is_one_line(said, code):
    assert code == 2, said
    last = said.splitlines()[-1]  # notes and the first compilation come before
    assert last.startswith("heldout: "), said


@needs_full
@pytest.mark.usefixtures("here")
def test_standard_output_on_a_full_disk(monkeypatch, capsys):
    for line in PRINTS:
        full = FULL.open("w")
        try:
            with monkeypatch.context() as changed:
                changed.setattr(sys, "stdout", full)
                _, err, code = ended(capsys, *line.split(), *quiet_of(line))
            is_one_line(err or line, code)
        finally:
            with suppress(OSError):
                full.close()


def quiet_of(line):
    return [] if line.split()[0] in {"demo", "ledger", "list"} else ["--quiet"]


@contextmanager
def largest_file(size):
    """Let no file of this process grow beyond `size`, as if the disk were full then."""
    resource = pytest.importorskip("resource")
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    # Python would cut the compiled form of a module that is imported here for the first time.
    bytecode = sys.dont_write_bytecode
    sys.dont_write_bytecode = True
    resource.setrlimit(resource.RLIMIT_FSIZE, (size, before[1]))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, before)
        sys.dont_write_bytecode = bytecode


@pytest.mark.parametrize("line", WRITES)
def test_a_file_on_a_full_disk(here, capsys, line):
    # Once with room, so that everything is compiled and the command is known to be right.
    *words, name = line.split()
    _, err, code = ended(capsys, *words, name)
    assert code == 0, err
    assert (here / name).exists()
    before = {path: path.stat().st_mtime_ns for path in here.iterdir()}
    place = here / "full"
    place.mkdir()
    with largest_file(20):
        _, err, code = ended(capsys, *words, place / name)
    is_one_line(err, code)
    assert [*place.iterdir()] == []
    place.rmdir()
    assert {path: path.stat().st_mtime_ns for path in here.iterdir()} == before
    if line.startswith("eval") and name == "x":  # what was there stays
        with largest_file(20):
            is_one_line(*ended(capsys, *words[:-1], "-q", "-o", name)[1:])
        assert {path: path.stat().st_mtime_ns for path in here.iterdir()} == before


# Processes and their streams


def shell(line):
    """A command as a shell runs it, with its exit code; PIPESTATUS needs bash."""
    heldout_command = f"{shlex.quote(sys.executable)} -c {shlex.quote(COMMAND[-1])}"
    return subprocess.run(  # noqa: S603 - this Python
        ["bash", "-c", line.replace("heldout", heldout_command, 1)],  # noqa: S607
        capture_output=True,
        text=True,
        check=False,
    )


LOST = f"heldout compare {RUNS} --gate better --margin 0.9"
IN_A_SHELL = {
    # Python writes what is left when it ends, and would end with 120 and two lines.
    "heldout list measures > /dev/full": (2, "cannot be written (No space left on device)"),
    "heldout eval qrels.txt nowhere.run 2> /dev/full": (2, ""),
    "heldout list measures > /dev/full 2> /dev/full": (2, ""),
    # A reader that goes away is no gate and no traceback.
    "heldout list measures | true; exit ${PIPESTATUS[0]}": (141, ""),
    # Some want nothing but the exit code of a gate.
    LOST: (1, "failed: "),
    f"{LOST} >&- 2>&-": (1, ""),
    f"heldout {GATE} >&- 2>&-": (0, ""),
    "heldout eval qrels.txt - <&-": (2, "<stdin> is empty"),
    "heldout eval qrels.txt baseline.run --quiet >&-": (
        2,
        "cannot be written (standard output is closed)",
    ),
    "ulimit -n 12; heldout run small --system my.py:rank --folds 2 --jobs 2 --quiet": (
        2,
        "heldout: Too many open",
    ),
}


@needs_full
@needs_shell
@pytest.mark.usefixtures("here")
def test_exit_codes_and_the_true_reason():
    for line, (code, reason) in IN_A_SHELL.items():
        done = shell(line)
        assert done.returncode == code, (line, done.stderr)
        assert reason in done.stderr, line
        assert done.stderr.count("\n") == bool(reason), (line, done.stderr)


@pytest.mark.long
def test_a_user_without_a_home(here):
    """Libraries for charts look for it when they are imported."""
    code = f"""
import os, pwd, sys
def nobody(number):
    raise KeyError(number)
pwd.getpwuid = nobody
del os.environ["HOME"]
from heldout.cli import main
main([*"compare {RUNS} -o page.html --quiet".split()])
"""
    done = process(code=code, HOME=str(here))
    assert done.returncode == 0, done.stderr
    assert (here / "page.html").exists()


# A bar on a terminal, nothing elsewhere


BAR = "\x1b[?25l"
"""A bar hides the cursor, even one that is gone before it is drawn."""


def errors_on_a_terminal(*arguments):
    """Standard error of a command whose standard error is a terminal, and its standard output."""
    pty = pytest.importorskip("pty")
    ours, theirs = pty.openpty()
    environment = os.environ | {"TERM": "xterm-256color", "COLUMNS": "80"}
    with subprocess.Popen(  # noqa: S603
        [*COMMAND, *arguments], stdout=subprocess.PIPE, stderr=theirs, env=environment
    ) as child:
        os.close(theirs)
        shown = b""
        while True:
            try:
                part = os.read(ours, 4096)
            except OSError:  # Linux says so when the other side is closed
                break
            if not part:
                break
            shown += part
        output = child.stdout.read().decode()
    os.close(ours)
    assert child.returncode == 0
    return shown.decode(), output


@pytest.mark.usefixtures("here")
def test_bars_on_a_terminal_that_is_not_asked_to_be_quiet(capsys):
    command = ("compare", "--scores", "scores.csv")
    shown, output = errors_on_a_terminal(*command)
    assert shown.count(BAR) == 1
    assert BAR not in errors_on_a_terminal(*command, "--quiet")[0]
    elsewhere = printed(capsys, *command)
    assert BAR not in elsewhere.err
    assert output == elsewhere.out

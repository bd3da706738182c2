"""A bar on a terminal, nothing elsewhere: commands in a real pseudo-terminal."""

from __future__ import annotations

import os
import subprocess
import sys

import pytest

pty = pytest.importorskip("pty")

COMMAND = [sys.executable, "-c", "from heldout.cli import main; main()"]


def errors_on_a_terminal(*arguments):
    """Standard error of a command whose standard error is a terminal, and its standard output."""
    ours, theirs = pty.openpty()
    environment = os.environ | {"TERM": "xterm-256color", "COLUMNS": "80"}
    with subprocess.Popen(  # noqa: S603
        [*COMMAND, *arguments], stdout=subprocess.PIPE, stderr=theirs, env=environment
    ) as process:
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
        output = process.stdout.read()
    os.close(ours)
    assert process.returncode == 0
    return shown.decode(), output


def without_a_terminal(*arguments):
    done = subprocess.run([*COMMAND, *arguments], capture_output=True, check=True)  # noqa: S603
    return done.stderr.decode(), done.stdout


@pytest.fixture
def table(tmp_path):
    rows = [f"q{at},{at % 7 / 9},{at % 5 / 9},{at % 3 / 9}" for at in range(30)]
    path = tmp_path / "scores.csv"
    path.write_text("\n".join(["unit,A,B,C", *rows]) + "\n")
    return str(path)


def test_compare_shows_how_many_pairs_are_done(table):
    shown, output = errors_on_a_terminal("compare", "--table", table)
    assert "pairs" in shown
    quiet, same = errors_on_a_terminal("compare", "--table", table, "--quiet")
    assert "pairs" not in quiet
    assert output == same


def test_compare_shows_nothing_where_there_is_no_terminal(table):
    assert without_a_terminal("compare", "--table", table)[0] == ""

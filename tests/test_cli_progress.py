"""A bar on a terminal, nothing elsewhere: commands in a real pseudo-terminal."""

from __future__ import annotations

import os
import subprocess
import sys

import pytest

pty = pytest.importorskip("pty")

BAR = "\x1b[?25l"
"""A bar hides the cursor, even one that is gone before it is drawn."""

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
    shown, output = errors_on_a_terminal("compare", "--scores", table)
    assert BAR in shown
    quiet, same = errors_on_a_terminal("compare", "--scores", table, "--quiet")
    assert BAR not in quiet
    assert output == same


def test_compare_shows_nothing_where_there_is_no_terminal(table):
    assert without_a_terminal("compare", "--scores", table)[0] == ""


@pytest.fixture
def predictions(tmp_path):
    paths = []
    for name in "AB":
        rows = [f"u{at},{'xy'[at % 2]},{'xy'[at * ord(name) % 3 % 2]}" for at in range(30)]
        path = tmp_path / f"{name}.csv"
        path.write_text("\n".join(["unit,truth,prediction", *rows]) + "\n")
        paths.append(str(path))
    return paths


def test_scores_show_how_far_they_are(predictions):
    command = ("compare", "--task", "classification", *predictions)
    shown, output = errors_on_a_terminal(*command)
    assert shown.count(BAR) == 2  # reading, comparing
    quiet, _ = errors_on_a_terminal(*command, "--quiet")
    assert quiet == ""
    said, same = without_a_terminal(*command)
    assert BAR not in said
    assert output == same


def test_texts_show_how_far_they_are(tmp_path):
    pytest.importorskip("sacrebleu")
    for name in ("r", "a"):
        (tmp_path / name).write_text("the cat sat on the mat\n" * 3)
    command = (
        "eval",
        "--task",
        "text",
        "-r",
        str(tmp_path / "r"),
        str(tmp_path / "a"),
        "-m",
        "BLEU",
    )
    shown, output = errors_on_a_terminal(*command)
    assert shown.count(BAR) == 2  # counting, intervals
    said, same = without_a_terminal(*command)
    assert BAR not in said
    assert output == same

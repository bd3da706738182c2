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
def files(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    rows = [f"q{at},{at % 7 / 9},{at % 5 / 9},{at % 3 / 9}" for at in range(30)]
    (tmp_path / "scores.csv").write_text("\n".join(["unit,A,B,C", *rows]) + "\n")
    for name in "AB":
        rows = [f"u{at},{'xy'[at % 2]},{'xy'[at * ord(name) % 3 % 2]}" for at in range(30)]
        (tmp_path / f"{name}.csv").write_text("\n".join(["unit,truth,prediction", *rows]) + "\n")
        (tmp_path / name).write_text("the cat sat on the mat\n" * 3)


@pytest.mark.usefixtures("files")
@pytest.mark.parametrize(
    ("command", "bars"),
    [
        ("compare --scores scores.csv", 1),
        ("compare --task classification A.csv B.csv", 2),  # reading, comparing
        ("eval --task text -r A B -m BLEU", 1),
    ],
)
def test_bars_on_a_terminal_that_is_not_asked_to_be_quiet(command, bars):
    if "BLEU" in command:
        pytest.importorskip("sacrebleu")
    shown, output = errors_on_a_terminal(*command.split())
    assert shown.count(BAR) == bars
    assert BAR not in errors_on_a_terminal(*command.split(), "--quiet")[0]
    said, same = without_a_terminal(*command.split())
    assert BAR not in said
    assert output == same

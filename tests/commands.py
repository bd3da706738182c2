"""Commands in this process: what they print, and how they refuse."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from heldout.cli import main
from heldout.cli.main import COMMANDS  # noqa: F401 - of other tests, too
from heldout.cli.options import options_of

COMMAND = [sys.executable, "-c", "from heldout.cli import main; main()"]


def flags_of(command):
    """All options of a command."""
    return {flag for option in options_of(command) for flag in option.flags}


def printed(capsys, *arguments):
    """What a command prints, to both streams."""
    capsys.readouterr()
    main([str(one) for one in arguments])
    return capsys.readouterr()


def parsed(capsys, *arguments):
    """What a command prints with --json."""
    return json.loads(printed(capsys, *arguments, "--json", "--quiet").out)


def ended(capsys, *arguments):
    """What a command prints, and its exit code."""
    capsys.readouterr()
    try:
        main([str(one) for one in arguments])
        code = 0
    except SystemExit as end:
        code = end.code
    said = capsys.readouterr()
    assert "Traceback" not in said.err
    return said.out, said.err, code


def refused(capsys, *arguments):
    """What a command says that refuses its input: with code 2, no output and no traceback."""
    with pytest.raises(SystemExit) as end:
        main([str(one) for one in arguments])
    said = capsys.readouterr()
    assert end.value.code == 2
    assert said.out == ""
    assert said.err.startswith("heldout"), said.err
    assert "Traceback" not in said.err
    return said.err


def refused_in_a_line(capsys, *arguments):
    """What a command says that refuses its input in one line, and leaves nothing behind."""
    before = _files()
    capsys.readouterr()
    said = refused(capsys, *arguments)
    assert said.count("\n") == 1, said
    assert _files() == before, "a file was left behind"
    return said


def _files():
    """All files below this folder, except compiled modules of users."""
    return sorted(path for path in Path().rglob("*") if "__pycache__" not in path.parts)


def process(*arguments, folder=None, code=COMMAND[-1], **environment):
    """A command in a process of its own."""
    return subprocess.run(  # noqa: S603 - this Python
        [sys.executable, "-c", code, *map(str, arguments)],
        capture_output=True,
        text=True,
        check=False,
        cwd=folder,
        env={**os.environ, **environment},
    )

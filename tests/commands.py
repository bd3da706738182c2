"""Commands in this process: what they print, and how they refuse."""

import pytest

from heldout.cli import main
from heldout.cli.main import COMMANDS  # noqa: F401 - of other tests, too
from heldout.cli.options import options_of


def flags_of(command):
    """All options of a command."""
    return {flag for option in options_of(command) for flag in option.flags}


def printed(capsys, *arguments):
    """What a command prints, to both streams."""
    main([str(one) for one in arguments])
    return capsys.readouterr()


def refused(capsys, *arguments):
    """What a command says that refuses its input: with code 2, no output and no traceback."""
    with pytest.raises(SystemExit) as ended:
        main([str(one) for one in arguments])
    said = capsys.readouterr()
    assert ended.value.code == 2
    assert said.out == ""
    assert said.err.startswith("heldout"), said.err
    assert "Traceback" not in said.err
    return said.err

"""The command line: arguments to library calls, nothing else.

It uses argparse and imports what a command needs when the command runs: for a small run, start-up
is most of the time, and the usual frameworks cost more than the evaluation.
"""

from __future__ import annotations

import errno
import io
import os
import sys
from functools import cache
from importlib import import_module
from typing import TYPE_CHECKING, Final, NoReturn

from heldout import __version__
from heldout.cli.files import emit, split_paths
from heldout.cli.help import Formatter, Parser, add_help_options, command
from heldout.cli.quick_start import collect_garbage_rarely
from heldout.cli.signals import Terminated, terminable
from heldout.errors import HeldoutError, cause_of

if TYPE_CHECKING:
    import argparse
    from collections.abc import Sequence

__all__ = ["emit", "main", "parser", "split_paths"]

_READER_GONE: Final = 141
"""128 + SIGPIPE, as other programs exit on a closed pipe; 1 would be a failed gate."""

_TERMINATED: Final = 143
"""128 + SIGTERM."""
_WRITING: Final = (errno.ENOSPC, errno.EFBIG, errno.EDQUOT, errno.EIO, errno.EBADF)

_TAGLINE = "Is system B really better than system A on data it has never seen?"

_EPILOG = """\
Results go to standard output, notes to standard error. --quiet prints the result only, --json is
for programs. Exit code: 0; 1 if a gate fails; 2 for wrong input. heldout
COMMAND --help explains a command.

examples:
  heldout demo                                      tune and compare two rankers
  heldout eval qrels.txt bm25.run dense.run         measure runs
  heldout compare qrels.txt bm25.run dense.run      test whether one is better
  heldout run pydocs --system 'bm25(k1=0.5:3:6)'    tune on training folds, measure held-out ones
"""


_COMMANDS: Final = (
    *("eval", "compare", "run", "report", "chart", "split", "collection"),
    *("index", "search", "fuse", "agree", "power", "ledger", "study", "list", "demo"),
)
"""In the order of the help. ``NAME`` is added by ``add_NAME`` of ``heldout.cli.NAME``."""


@cache
def parser(name: str = "") -> argparse.ArgumentParser:
    """Return the parser of the command line; parsing does not change it.

    Parameters
    ----------
    name
        The only command to add (default: all of them). All of them take as long as NumPy to import.
    """
    whole = Parser(
        "heldout",
        description=_TAGLINE,
        epilog=_EPILOG,
        formatter_class=Formatter,
        allow_abbrev=False,
    )
    whole.add_argument("--version", action="version", version=f"heldout {__version__}")
    commands = whole.add_subparsers(title="commands", metavar="COMMAND", required=True)
    for one in [name] if name else _COMMANDS:
        module = import_module(f"heldout.cli.{one}")
        getattr(module, f"add_{one}")(command, commands)
    add_help_options(whole)
    return whole


def _parse(arguments: Sequence[str] | None) -> argparse.Namespace:
    """Parse arguments; files may come before, between and after options, as with getopt."""
    given = list(sys.argv[1:] if arguments is None else arguments)
    whole = parser(given[0] if given and given[0] in _COMMANDS else "")
    options, rest = whole.parse_known_args(given)
    files = [one for one in rest if one == "-" or not one.startswith("-")]
    several = next((name for name in ("runs", "files") if hasattr(options, name)), None)
    if len(files) < len(rest) or (files and several is None):
        whole.error(f"unrecognized arguments: {' '.join(rest)}")
    if several is not None and files:
        setattr(options, several, [*getattr(options, several), *files])
    return options


def _run(options: argparse.Namespace) -> int | None:
    """Run a command; commands return their exit code, so only code of the user's exits."""
    try:
        code: int | None = options.run(options)
    except (Exception, KeyboardInterrupt):
        raise
    except BaseException as error:
        raise HeldoutError(f"your code failed: {cause_of(error)}") from error
    return code


def _parsed(arguments: Sequence[str] | None) -> argparse.Namespace:
    try:
        return _parse(arguments)
    except SystemExit:  # --help was asked for, or an option is wrong
        sys.stdout.flush()
        raise


def _end(code: int, said: str = "") -> NoReturn:
    """Exit with a code, even if a stream cannot be written."""
    for name, text in (("stderr", said), ("stdout", "")):
        stream = getattr(sys, name)
        try:
            stream.write(text)
            stream.flush()
        except (OSError, ValueError):
            # Nothing more can be written there, and Python must not try when it closes the stream.
            setattr(sys, name, None)
    sys.exit(code)


def _message(error: HeldoutError, options: argparse.Namespace | None) -> str:
    """The message of an error in the words of the command line."""
    from heldout.cli.places import as_options
    from heldout.report.tables import plain_text  # the message may quote ids of a file

    said = as_options(str(error), options)
    return "\n".join(map(plain_text, said.split("\n")))


def _prepare() -> None:
    """Replace what a caller may have left out: open streams, and a home folder."""
    if sys.stdin is None:
        sys.stdin = open(os.devnull, encoding="utf-8")  # noqa: PTH123, SIM115
    if sys.stdout is None:  # whoever closes it may want nothing but the exit code of a gate
        sys.stdout = io.TextIOWrapper(io.BytesIO(), encoding="utf-8")
    if sys.stderr is None:
        sys.stderr = open(os.devnull, "w", encoding="utf-8")  # noqa: PTH123, SIM115
    for stream in (sys.stdout, sys.stderr):
        if hasattr(stream, "reconfigure"):  # without UTF-8 it shows ? instead of failing
            stream.reconfigure(errors="replace")
    if os.path.expanduser("~") == "~":  # noqa: PTH111 - libraries look there and fail
        os.environ["HOME"] = "/nonexistent"


def _refuse_closed(options: argparse.Namespace) -> None:
    """Raise an error if a closed standard output was written to; a gate's answer is its code."""
    if sys.stdout.buffer.tell() and not getattr(options, "gate", None):
        raise OSError(errno.EBADF, "standard output is closed")


def _system_fault(error: OSError) -> str:
    """Return an error of the operating system as a message."""
    reason = error.strerror or str(error).partition("\n")[0]
    if error.errno == errno.EMFILE:
        return f"{reason}: allow more (ulimit -n), or use fewer --jobs"
    if error.filename:
        return f"{error.filename}: no access ({reason})"
    # Opened files have a name; what has none is what all commands write to.
    if error.errno in _WRITING:
        return f"the output cannot be written ({reason})"
    return reason


def main(arguments: Sequence[str] | None = None) -> None:
    """Run the command line; wrong input is reported in one line, with exit code 2."""
    collect_garbage_rarely()
    closed = sys.stdout is None
    _prepare()
    options = None
    try:
        options = _parsed(arguments)
        with terminable():
            code = _run(options)
        sys.stdout.flush()
        if closed:
            _refuse_closed(options)
    except HeldoutError as error:
        _end(2, f"heldout: {_message(error, options)}\n")
    except MemoryError as error:
        why = f" ({error})" if str(error) else ""
        _end(
            2,
            f"heldout: not enough memory{why}: use a smaller index buffer (heldout index "
            "--max-memory), fewer parameter settings or fewer --jobs\n",
        )
    except Terminated:
        _end(_TERMINATED, "heldout: terminated\n")
    except KeyboardInterrupt:
        _end(130, "heldout: interrupted\n")
    except BrokenPipeError:
        _end(_READER_GONE)  # head, less
    except OSError as error:
        _end(2, f"heldout: {_system_fault(error)}\n")
    except Exception as error:  # noqa: BLE001 - a fault of ours; exit code 1 is that of a gate
        import traceback

        traceback.print_exc()
        _end(2, f"heldout: internal error, please report it ({type(error).__name__}: {error})\n")
    if code:
        sys.exit(code)

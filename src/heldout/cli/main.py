"""The entry of the command line: the first argument selects a module, which has its own parser.

A command module has ``parser()``, and ``run(arguments)``, which returns an exit code. It imports
what it needs when it runs: for a small run, start-up is most of the time.
"""

from __future__ import annotations

import atexit
import errno
import gc
import io
import os
import signal
import sys
import threading
from contextlib import contextmanager
from importlib import import_module
from typing import TYPE_CHECKING, Any, Final, NoReturn

from heldout.errors import HeldoutError, InputError

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

OK, GATE_FAILED, WRONG, INTERRUPTED, READER_GONE, TERMINATED = 0, 1, 2, 130, 141, 143
"""Exit codes: those of signals are 128 and the signal, as other programs have them."""

_WRITING: Final = (errno.ENOSPC, errno.EFBIG, errno.EDQUOT, errno.EIO, errno.EBADF)
_HELP: Final = frozenset({"-h", "--help"})

SUMMARY: Final = "Is system B really better than system A on data it has never seen?"
COMMANDS: Final = (
    *("eval", "compare", "run", "report", "chart", "split", "collection", "index"),
    *("search", "fuse", "agree", "power", "ledger", "study", "list", "demo"),
)
NOTES: Final = """\
Results go to standard output, notes to standard error. --quiet prints the result only, --json is
for programs. Exit code: 0; 1 if a gate fails; 2 for wrong input. heldout COMMAND --help explains a
command.

examples:
  heldout demo                                      tune and compare two rankers
  heldout eval qrels.txt bm25.run dense.run         measure runs
  heldout compare qrels.txt bm25.run dense.run      test whether one is better
  heldout run pydocs --system 'bm25(k1=0.5:3:6)'    tune on training folds, measure held-out ones
"""


class Terminated(KeyboardInterrupt):
    """SIGTERM, which `timeout` and batch systems send: what Ctrl-C cleans up is cleaned up, too."""


def main(arguments: Sequence[str] | None = None) -> None:
    """Run the command line; wrong input is reported in one line, with exit code 2."""
    # Imports make many objects and hardly any garbage: looking for it takes a tenth of the time to
    # start, and looking through all objects at the end another twentieth.
    atexit.register(gc.freeze)
    gc.set_threshold(max(50_000, gc.get_threshold()[0]), *gc.get_threshold()[1:])
    closed = sys.stdout is None
    _prepare()
    given = list(sys.argv[1:] if arguments is None else arguments)
    try:
        with _terminable():
            code = _run(given)
        sys.stdout.flush()
        gate = any(word.startswith("--gate") for word in given)  # whose answer is the exit code
        if closed and sys.stdout.buffer.tell() and not gate:
            raise OSError(errno.EBADF, "standard output is closed")  # noqa: TRY301
    except HeldoutError as error:
        from heldout.cli.options import spelled

        _end(WRONG, error.in_words(lambda argument: spelled(argument, given[0])))
    except Terminated:
        _end(TERMINATED, "terminated")
    except KeyboardInterrupt:
        _end(INTERRUPTED, "interrupted")
    except BrokenPipeError:
        _end(READER_GONE)  # head, less
    except BaseException as error:  # noqa: BLE001 - exit code 1 is that of a gate
        _end(WRONG, _fault(error))
    if code:
        sys.exit(code)


def _run(arguments: list[str]) -> int:
    """Run a command, or show help or the version, and return the exit code."""
    command, *rest = arguments or [""]
    if command in COMMANDS and _HELP.isdisjoint(rest):
        return int(import_module(f"heldout.cli.{command}").run(rest))
    if command == "--version":
        from heldout import __version__

        sys.stdout.write(f"heldout {__version__}\n")
        return OK
    if command not in {*COMMANDS, *_HELP}:
        from heldout.cli.options import meant

        unknown = f"unknown command {command!r}: {meant(command, COMMANDS)}"
        raise InputError(f"{unknown if command else 'no command'} (see heldout --help)")
    from heldout.cli.help import help_of, help_of_all

    names = [command] if command in COMMANDS else COMMANDS
    parsers = [import_module(f"heldout.cli.{name}").parser() for name in names]
    about = help_of(parsers[0]) if command in COMMANDS else help_of_all(SUMMARY, parsers, NOTES)
    sys.stdout.write(about)
    return OK


def _end(code: int, message: str = "") -> NoReturn:
    """Exit with a code, even if a stream cannot be written."""
    if message:
        from heldout.report.table import printable  # the message may quote ids of a file

        lines = f"heldout: {message}".split("\n")
        message = "".join(f"{printable(line)}\n" for line in lines)
    for name, text in (("stderr", message), ("stdout", "")):
        stream = getattr(sys, name)
        try:
            stream.write(text)
            stream.flush()
        except (OSError, ValueError):
            # Nothing more can be written there, and Python must not try when it closes the stream.
            setattr(sys, name, None)
    sys.exit(code)


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


@contextmanager
def _terminable() -> Iterator[None]:
    """Raise `Terminated` on SIGTERM, unless the caller has another use for the signal."""
    usual = signal.SIG_DFL
    if (
        threading.current_thread() is not threading.main_thread()
        or signal.getsignal(signal.SIGTERM) is not usual
    ):
        yield
        return

    def end(number: int, frame: Any) -> None:
        del frame
        signal.signal(number, usual)
        raise Terminated

    signal.signal(signal.SIGTERM, end)
    try:
        yield
    finally:
        signal.signal(signal.SIGTERM, usual)


def _fault(error: BaseException) -> str:
    """What no command reports itself: faults of the system, of the user's code, and of ours."""
    if not isinstance(error, Exception):  # no code of ours exits
        from heldout.errors import cause_of

        return f"your code failed: {cause_of(error)}"
    if isinstance(error, MemoryError):
        why = f" ({error})" if str(error) else ""
        return (
            f"not enough memory{why}: use a smaller index buffer (heldout index --max-memory), "
            "fewer parameter settings or fewer --jobs"
        )
    cause = error if isinstance(error, OSError) else error.__context__
    if isinstance(cause, OSError) and cause.errno == errno.EMFILE:  # a library may stumble over it
        return f"{cause.strerror}: allow more (ulimit -n), or use fewer --jobs"
    if isinstance(error, OSError):
        reason = error.strerror or str(error).partition("\n")[0]
        if error.filename:
            return f"{error.filename}: no access ({reason})"
        # Opened files have a name; what has none is what all commands write to.
        return f"the output cannot be written ({reason})" if error.errno in _WRITING else reason
    import traceback

    traceback.print_exception(error)
    return f"internal error, please report it ({type(error).__name__}: {error})"

"""The command line: arguments to library calls, nothing else.

It stands on argparse and imports what a command needs when the command runs: for a small run,
starting up is most of the time, and the usual frameworks cost more than the evaluation.
"""

from __future__ import annotations

import os
import sys
from functools import cache
from typing import TYPE_CHECKING, Any, Final, NoReturn

from heldout import __version__
from heldout.cli.chart import add_chart
from heldout.cli.collection import add_collection
from heldout.cli.compare import add_compare
from heldout.cli.eval import add_eval
from heldout.cli.files import emit, split_paths
from heldout.cli.help import Formatter, Parser, add_json, add_quiet, command
from heldout.cli.index import add_index
from heldout.cli.ledger import add_ledger
from heldout.cli.plan import add_plan
from heldout.cli.report import add_report
from heldout.cli.run import add_run
from heldout.cli.score import add_score
from heldout.cli.search import add_search
from heldout.cli.split import add_split
from heldout.cli.study import add_study
from heldout.cli.tune import add_tune
from heldout.errors import HeldoutError, cause_of

if TYPE_CHECKING:
    import argparse
    from collections.abc import Sequence

__all__ = ["emit", "main", "parser", "split_paths"]

_READER_GONE: Final = 141
"""As of other programs that a closed pipe ends (128 + SIGPIPE); 1 would be a gate that fails."""

_TAGLINE = "Is system B really better than system A on data it has never seen?"

_EPILOG = """\
examples:
  heldout demo                                        two rankers, tuned and compared
  heldout eval qrels.txt bm25.run dense.run           measures of runs
  heldout compare qrels.txt bm25.run dense.run        which is better, and how sure that is
  heldout run pydocs --system 'bm25(k1=0.5:3:6)'      tune on what is seen, measure what is held out

heldout COMMAND --help says more. Results go to standard output, notes to standard error; --quiet
leaves the notes out, --json is for programs. The exit code is 0, 1 where a gate stays shut, and 2
where something given is wrong. Colours are used on a terminal only; NO_COLOR turns them off.
"""


@cache
def parser() -> argparse.ArgumentParser:
    """The parser of the whole command line; parsing does not change it."""
    whole = Parser(
        "heldout",
        description=_TAGLINE,
        epilog=_EPILOG,
        formatter_class=Formatter,
        allow_abbrev=False,
    )
    whole.add_argument("--version", action="version", version=f"heldout {__version__}")
    commands = whole.add_subparsers(title="commands", metavar="COMMAND", required=True)
    add_eval(command, commands)
    add_compare(command, commands)
    add_score(command, commands)
    add_plan(command, commands)
    add_ledger(command, commands)
    add_collection(command, commands)
    add_split(command, commands)
    add_tune(command, commands)
    add_study(command, commands)
    add_run(command, commands)
    add_report(command, commands)
    add_chart(command, commands)
    add_index(command, commands)
    add_search(command, commands)
    _add_measures(commands)
    _add_demo(commands)
    _add_example(commands)
    return whole


def _add_measures(commands: Any) -> None:
    parser = command(
        commands,
        "measures",
        "List the measures, their parameters and their other spellings.",
        "  heldout measures\n  heldout measures nDCG\n",
    )
    parser.add_argument("names", metavar="NAME", nargs="*", help="only these")
    add_json(parser, "a list of objects, for programs")
    parser.set_defaults(run=_measures)


def _measures(options: argparse.Namespace) -> None:
    from heldout.report.measures import describe_measures, json_measures

    sys.stdout.write((json_measures if options.json else describe_measures)(options.names))


def _add_demo(commands: Any) -> None:
    parser = command(
        commands,
        "demo",
        "Tune and compare two rankers on the embedded collection; leave a report to open.",
        "  heldout demo\n  heldout demo my-folder\n",
    )
    parser.add_argument(
        "folder", nargs="?", default="demo-report", help="where to put it (default demo-report)"
    )
    add_quiet(parser, "write the report, say nothing")
    parser.set_defaults(run=_demo)


def _demo(options: argparse.Namespace) -> None:
    from heldout.demo import run_demo

    terminal = sys.stdout.isatty() and not options.quiet
    for paragraph in run_demo(options.folder, terminal=terminal):
        sys.stdout.write("" if options.quiet else paragraph + "\n")
        sys.stdout.flush()


def _add_example(commands: Any) -> None:
    parser = command(
        commands,
        "example",
        "Write a small example (judgements, two runs) to try the commands on.",
        "  heldout example\n  heldout example my-folder\n",
    )
    parser.add_argument(
        "folder", nargs="?", default="example", help="where to put it (default example)"
    )
    add_quiet(parser, "write the files, say nothing")
    parser.set_defaults(run=_example)


def _example(options: argparse.Namespace) -> None:
    from heldout.example_files import write_example

    for paragraph in write_example(options.folder, terminal=sys.stdout.isatty()):
        sys.stdout.write("" if options.quiet else paragraph + "\n")


def _parse(arguments: Sequence[str] | None) -> argparse.Namespace:
    """Parse arguments; files may stand before, between and behind options, as getopt allows."""
    whole = parser()
    options, rest = whole.parse_known_args(arguments)
    files = [one for one in rest if one == "-" or not one.startswith("-")]
    several = next((name for name in ("runs", "files") if hasattr(options, name)), None)
    if len(files) < len(rest) or (files and several is None):
        whole.error(f"unrecognized arguments: {' '.join(rest)}")
    if several is not None and files:
        setattr(options, several, [*getattr(options, several), *files])
    return options


def _run(options: argparse.Namespace) -> int | None:
    """Run a command; commands give their exit code, so an exit is the doing of code they ran."""
    try:
        code: int | None = options.run(options)
    except SystemExit as error:
        raise HeldoutError(f"code that the command has run failed: {cause_of(error)}") from error
    return code


def _parsed(arguments: Sequence[str] | None) -> argparse.Namespace:
    try:
        return _parse(arguments)
    except SystemExit:  # --help was asked for, or an option is wrong
        sys.stdout.flush()
        raise


def _end(code: int, said: str = "") -> NoReturn:
    """Exit with a code, which a stream that cannot be written must not change."""
    for name, text in (("stderr", said), ("stdout", "")):
        stream = getattr(sys, name)
        try:
            stream.write(text)
            stream.flush()
        except (OSError, ValueError):
            # Nothing more can be said there, and Python must not try when it closes the stream.
            setattr(sys, name, None)
    sys.exit(code)


def main(arguments: Sequence[str] | None = None) -> None:
    """Run the command line; what a user can mend is one line and exit code 2."""
    for name in ("stdout", "stderr"):
        stream = getattr(sys, name)
        if stream is None:  # closed by whoever wants nothing but the exit code
            setattr(sys, name, open(os.devnull, "w", encoding="utf-8"))  # noqa: PTH123, SIM115
        elif hasattr(stream, "reconfigure"):  # without UTF-8 it shows ? instead of failing
            stream.reconfigure(errors="replace")
    try:
        code = _run(_parsed(arguments))
        sys.stdout.flush()
    except HeldoutError as error:
        from heldout.report.tables import plain_text  # ids of a file can stand in the message

        lines = (plain_text(line) for line in str(error).split("\n"))
        _end(2, "heldout: " + "\n".join(lines) + "\n")
    except MemoryError as error:
        why = str(error) or "no more could be had"
        _end(
            2,
            f"heldout: there is not enough memory ({why}): give less at a time "
            "(heldout index --memory, --shards), fewer values or workers, or a larger machine\n",
        )
    except KeyboardInterrupt:
        _end(130, "heldout: interrupted\n")
    except BrokenPipeError:
        _end(_READER_GONE)  # head, less
    except OSError as error:
        # Opened files have a name; what has none is what all commands write to.
        where = f"{error.filename}: no access" if error.filename else "the output cannot be written"
        _end(2, f"heldout: {where} ({error.strerror or error})\n")
    if code:
        sys.exit(code)

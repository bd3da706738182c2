"""Commands in the old style, until all are converted."""

from __future__ import annotations

import sys
from importlib import import_module

from heldout.cli.old_help import Formatter, Parser, add_help_options, command
from heldout.errors import HeldoutError, cause_of


def run_old(given: list[str]) -> int:
    name = given[0]
    whole = Parser("heldout", formatter_class=Formatter, allow_abbrev=False)
    commands = whole.add_subparsers(title="commands", metavar="COMMAND", required=True)
    getattr(import_module(f"heldout.cli.{name}"), f"add_{name}")(command, commands)
    add_help_options(whole)
    try:
        options, rest = whole.parse_known_args(given)
        files = [one for one in rest if one == "-" or not one.startswith("-")]
        several = next((name for name in ("runs", "files") if hasattr(options, name)), None)
        if len(files) < len(rest) or (files and several is None):
            whole.error(f"unrecognized arguments: {' '.join(rest)}")
    except SystemExit:
        sys.stdout.flush()
        raise
    if several is not None and files:
        setattr(options, several, [*getattr(options, several), *files])
    try:
        code = options.run(options)
    except HeldoutError as error:
        from heldout.cli.places import as_options

        raise HeldoutError(as_options(str(error), options)) from error
    except (Exception, KeyboardInterrupt):
        raise
    except BaseException as error:
        raise HeldoutError(f"your code failed: {cause_of(error)}") from error
    return int(code or 0)

"""The command ``demo``: arguments to library calls."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Any

from heldout.cli.options import add_quiet

if TYPE_CHECKING:
    import argparse
    from collections.abc import Callable

__all__ = ["add_demo"]


def add_demo(command: Callable[..., argparse.ArgumentParser], commands: Any) -> None:
    """Add the command ``demo``."""
    parser = command(
        commands,
        "demo",
        "Tune and compare two rankers on the built-in collection and write a report.",
        "  heldout demo\n  heldout demo my-folder\n"
        "  heldout demo --files              judgements and two runs to try commands on\n",
    )
    parser.add_argument(
        "folder",
        nargs="?",
        metavar="FOLDER",
        help="output folder (default: demo-report; with --files: example)",
    )
    parser.add_argument(
        "--files",
        action="store_true",
        help="write small example files (judgements, two runs) instead",
    )
    add_quiet(parser, "write the files and print nothing")
    parser.set_defaults(run=_demo)


def _demo(options: argparse.Namespace) -> None:
    terminal = sys.stdout.isatty() and not options.quiet
    if options.files:
        from heldout.demo import write_example

        paragraphs = write_example(options.folder or "example", terminal=terminal)
    else:
        from heldout.demo import run_demo

        paragraphs = run_demo(options.folder or "demo-report", terminal=terminal)
    for paragraph in paragraphs:
        sys.stdout.write("" if options.quiet else paragraph + "\n")
        sys.stdout.flush()

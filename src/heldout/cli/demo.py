"""heldout demo: the first impression."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

from heldout.cli.options import Parser, complete

if TYPE_CHECKING:
    from collections.abc import Sequence


def parser() -> Parser:
    """The parser of this command."""
    return Parser(
        "demo",
        "Tune and compare two rankers on the built-in collection and write a report.",
        {"folder? FOLDER": "output folder (default: demo-report; with --files: example)"},
        examples="  heldout demo\n  heldout demo my-folder\n"
        "  heldout demo --files              judgements and two runs to try commands on\n",
    )


def run(arguments: Sequence[str]) -> int:
    """Write example files, or tune and compare."""
    options = complete(parser().read(arguments), "demo")
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
    return 0

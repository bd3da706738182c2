"""Runs that commands write: to a file whose suffix decides the format, or to standard output."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Any, Final

from heldout.cli.files import emit
from heldout.cli.old_help import group
from heldout.cli.old_options import add_json
from heldout.cli.old_output import output_format, suffixes_of

if TYPE_CHECKING:
    import argparse

    from heldout.data.run import Run

__all__ = ["add_run_output", "print_run", "run_format"]

_FORMATS: Final = ("trec", "csv", "tsv", "json", "parquet")


def add_run_output(parser: argparse.ArgumentParser, json: str) -> None:
    """Add ``--output`` and ``--json``.

    Parameters
    ----------
    json
        What ``--json`` prints.
    """
    add = group(parser, "output").add_argument
    suffixes = " ".join(suffixes_of(_FORMATS))
    add(
        "-o",
        "--output",
        metavar="FILE",
        help=f"write the run to FILE; format by suffix: {suffixes}, else trec",
    )
    add_json(parser, json)


def run_format(options: argparse.Namespace) -> Any:
    """Return the format of the file that the run is written to, which may be compressed."""
    from heldout.data.files import EXTENSIONS

    if options.output is None:
        return "trec"
    name, dot, compression = options.output.rpartition(".")
    plain = name if dot + compression.lower() in EXTENSIONS else options.output
    return output_format("auto", plain, _FORMATS, "trec")


def print_run(run: Run, *, json: bool) -> None:
    """Print a run as TREC lines or JSON."""
    if json:
        from heldout.as_json import json_text

        emit(json_text(run.to_dict(), indent=None))
        return
    from heldout.data.trec import run_lines

    sys.stdout.writelines(run_lines(run))

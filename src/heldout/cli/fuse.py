"""The command ``fuse``: arguments to library calls."""

from __future__ import annotations

import argparse
import sys
from typing import TYPE_CHECKING, Any

from heldout.cli.files import refuse_same_file
from heldout.cli.old_options import add_quiet, positive
from heldout.cli.run_output import add_run_output, print_run, run_format
from heldout.errors import InputError
from heldout.notes import count_of

if TYPE_CHECKING:
    from collections.abc import Callable

    from heldout.data.run import Run
    from heldout.retrieve.fuse import Fusion

__all__ = ["add_fuse"]

_EXAMPLES = """\
  heldout fuse bm25.run dense.run -o hybrid.run
  heldout fuse bm25.run dense.run --k 10 -o hybrid.run
  heldout fuse bm25.run dense.run --how wsum --norm minmax --weights 0.3,0.7 -o hybrid.run
  heldout fuse bm25.run dense.run splade.run --how combmnz --norm zscore --depth 1000 > hybrid.run
"""

_NOTES = """\
Weights and k are taken as given. To tune them without overstating the score, let an experiment
choose them on training queries and measure them on held-out ones:
  heldout run qrels.txt --system 'hybrid=wsum(bm25.run, dense.run, w=0:1:11)' --system dense.run
"""


def add_fuse(command: Callable[..., argparse.ArgumentParser], commands: Any) -> None:
    """Add the command ``fuse``."""
    parser = command(
        commands, "fuse", "Fuse the ranked lists of several runs.", _EXAMPLES, notes=_NOTES
    )
    add = parser.add_argument
    add("runs", nargs="+", metavar="RUN", help="run files, two or more (- is standard input)")
    add(
        "--how",
        default="rrf",
        metavar="NAME",
        help="method: see heldout list (default: rrf)",
    )
    add(
        "--norm",
        metavar="NAME",
        help="normalisation of scores per query: minmax, max, sum, zscore, rank, none "
        "(default: minmax; rrf has none)",
    )
    add(
        "--weights",
        type=_numbers,
        metavar="X,Y",
        help="for wsum: one weight per run, separated by commas",
    )
    add("--k", type=float, metavar="X", help="for rrf (default: 60)")
    add("--depth", type=positive, metavar="N", help="documents per query (default: all)")
    add("--name", metavar="NAME", help="name of the run (default: the method)")
    add_run_output(parser, "print the run as JSON")
    add_quiet(parser)
    parser.set_defaults(run=_fuse)


def _numbers(text: str) -> tuple[float, ...]:
    try:
        return tuple(float(one) for one in text.split(","))
    except ValueError:
        message = f"{text!r} is not a list of numbers such as 0.3,0.7"
        raise argparse.ArgumentTypeError(message) from None


def _fuse(options: argparse.Namespace) -> int:
    from heldout.data.run import read_run  # NumPy comes with it
    from heldout.retrieve.fuse import Fusion, fuse_runs

    kind = run_format(options)
    if options.json and options.output is not None:
        raise InputError("--json prints the run and -o writes it: give one of them")
    refuse_same_file(options.runs)
    fusion = Fusion(options.how, options.norm, options.weights, options.k)
    fusion.check_runs(len(options.runs))  # before minutes of reading
    runs = [read_run(path) for path in options.runs]
    run = fuse_runs(runs, fusion, depth=options.depth, name=options.name)
    if options.output is None:
        print_run(run, json=options.json)
    else:
        run.write(options.output, kind)
    if not options.quiet:
        sys.stderr.write(_note(runs, run, fusion))
    return 0


def _note(runs: list[Run], run: Run, fusion: Fusion) -> str:
    """Say what was fused, and by which policies."""
    from heldout.report.tables import plain_text

    size = f"{count_of(len(run.queries), 'query', 'queries')}, {count_of(len(run), 'row')}"
    lines = [
        f"{fusion} of {len(runs)} runs: {size}",
        f"documents missing from a run: {fusion.method.policy}",
    ]
    lines += [
        f"{one.name}: lacks {count_of(lacking, 'query', 'queries')} of {len(run.queries):,}"
        for one in runs
        if (lacking := len(set(run.queries) - set(one.queries)))
    ]
    return "".join(plain_text(line) + "\n" for line in lines)

"""The command ``agree``: arguments to library calls."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Any, Final

from heldout.cli.files import emit, refuse_same_file, show, split_paths
from heldout.cli.old_help import group
from heldout.cli.old_options import add_level, add_measures, add_quiet, add_seed, positive
from heldout.cli.old_output import TABLE_FORMATS, add_output, output_format
from heldout.cli.progress import progress_bar
from heldout.errors import InputError

if TYPE_CHECKING:
    import argparse
    from collections.abc import Callable

    from heldout.infer.agreement import Agreement

__all__ = ["add_agree"]

_EXAMPLES: Final = """\
  heldout agree human.qrels machine.qrels
  heldout agree human.qrels gpt.qrels llama.qrels mistral.qrels --rel 2
  heldout agree human.qrels machine.qrels --runs bm25.run dense.run hybrid.run
  heldout agree human.qrels machine.qrels --runs runs/*.run -m nDCG@10 -m AP -o agreement.html
  heldout agree human.csv machine.jsonl --json
"""

_NOTES: Final = """\
Judgements are TREC qrels, or CSV, TSV, JSON and Parquet with query, document and grade, also
compressed. Agreement is computed on the pairs of query and document that both judged; a negative
grade means not judged. With --runs, systems are compared under both judgements, as heldout compare
does.
"""


def add_agree(command: Callable[..., argparse.ArgumentParser], commands: Any) -> None:
    """Add the command ``agree``."""
    parser = command(
        commands,
        "agree",
        "Measure how far machine judgements agree with human ones.",
        _EXAMPLES,
        notes=_NOTES,
        usage="HUMAN MACHINE [MACHINE ...] [--runs RUN RUN [RUN ...]]",
    )
    add = parser.add_argument
    add("files", metavar="FILE", nargs="+", help="human judgements, then those of each machine")
    add(
        "--runs",
        dest="ranked",
        nargs="+",
        action="extend",
        metavar="RUN",
        help="runs to rank under both judgements",
    )
    add_measures(parser, "with --runs: measure (repeat for more; default: nDCG@10)")
    add(
        "-l",
        "--rel",
        type=positive,
        default=1,
        metavar="GRADE",
        help="lowest grade that counts as relevant (default: 1)",
    )
    add_level(parser)
    add_seed(parser)
    add_output(parser, named=False)
    group(parser, "output").add_argument(
        "--full", action="store_true", help="print all intervals and confusion matrices"
    )
    add_quiet(parser)
    parser.set_defaults(run=_agree)


def _agree(options: argparse.Namespace) -> int:
    human, *machines = options.files
    if not machines:
        raise InputError(f"{human}: expected human judgements and those of at least one machine")
    if options.measure and not options.ranked:
        raise InputError("-m goes with --runs: agreement of judgements needs no measure")
    options.format = output_format(options.format, options.output, TABLE_FORMATS, "table")
    if options.format == "html":
        from heldout.cli.report import check_page

        check_page(options.output)
    refuse_same_file([*options.files, *(options.ranked or ())])
    agreement = _computed(options, human, machines)
    if options.format == "html":
        _write(agreement, options, options.output)
    else:
        _print(agreement, options)
    return 0


def _computed(options: argparse.Namespace, human: str, machines: list[str]) -> Agreement:
    from heldout.data.qrels import read_qrels
    from heldout.infer.agreement import agree

    with progress_bar("judges", quiet=options.quiet) as progress:
        return agree(
            read_qrels(*split_paths(human)),
            machines,
            options.ranked,
            options.measure or "nDCG@10",
            rel=options.rel,
            level=options.level,
            seed=options.seed,
            progress=progress,
        )


def _print(agreement: Agreement, options: argparse.Namespace) -> None:
    from heldout.report.agreement import agreement_dict, agreement_text
    from heldout.report.tables import note_lines

    if options.format == "json":
        from heldout.as_json import json_text

        emit(json_text(agreement_dict(agreement)), options.output)
        return
    terminal = options.output is None and sys.stdout.isatty()
    text = agreement_text(agreement, options.format, full=options.full, terminal=terminal)
    (show if options.format == "table" else emit)(text, options.output)
    if options.format in {"tsv", "csv"} and not options.quiet:  # which have no place for notes
        sys.stderr.write("".join(f"{line}\n" for line in note_lines(agreement.notes)))


def _write(agreement: Agreement, options: argparse.Namespace, path: str) -> None:
    from heldout.cli.report import this_command
    from heldout.report.page.of_agreement import part_of_agreement
    from heldout.report.page.render import render_page, write_page

    files = [("judgements", ", ".join(options.files))]
    files += [("runs", ", ".join(options.ranked))] if options.ranked else []
    part = part_of_agreement(agreement, provenance=files)
    title = "Do machine judgements agree with human ones?"
    write_page(path, render_page(title, [part], made=[("command", this_command())]))
    if not options.quiet:
        sys.stderr.write(f"Open {path} in a browser.\n")

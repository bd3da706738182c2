"""The command ``eval``: arguments to library calls."""

from __future__ import annotations

import argparse
import sys
from typing import TYPE_CHECKING, Any

from heldout.cli.files import emit, is_file, refuse_same_file, split_paths
from heldout.cli.output import TABLE_FORMATS, add_output, output_format
from heldout.errors import InputError

if TYPE_CHECKING:
    from collections.abc import Callable

    from heldout.data.run import Qrels
    from heldout.measure.ranking.evaluate import RankingEvaluation

__all__ = ["add_eval"]

_EVAL_EXAMPLES = """\
  heldout eval qrels.txt bm25.run
  heldout eval qrels.txt bm25.run dense.run.gz -m nDCG@10 -m "P(rel=2)@5"
  heldout eval qrels.txt runs/*.run --format md
  heldout eval qrels.txt bm25.run -q --format json > values.json
  zcat bm25.run.gz | heldout eval qrels.txt -
  heldout eval --format trec -m all_trec -q qrels.txt bm25.run    what trec_eval prints

Files may be TREC, CSV or TSV with a header, JSON or Parquet, plain or packed (.gz .xz .bz2 .zst).
Measures are named as in ir_measures, ranx or trec_eval; heldout measures lists them.
"""

# Options that only trec_eval has, and the one value that changes nothing.
_TREC_OPTIONS = {"-R": "qrels", "-T": "trec_results", "-Z": "", "-D": "0"}

FORMATS = (*TABLE_FORMATS, "parquet", "trec")


def add_eval(command: Callable[..., argparse.ArgumentParser], commands: Any) -> None:
    """Add the command ``eval``."""
    parser = command(
        commands, "eval", "Evaluate runs against relevance judgements.", _EVAL_EXAMPLES
    )
    add = parser.add_argument
    add("qrels", metavar="QRELS", help="judgements; several files are joined by commas")
    add("runs", metavar="RUN", nargs="+", help="a run; - is standard input")
    add("-m", "--measure", action="append", metavar="NAME", help="a measure (repeat for more)")
    add("-q", "--per-query", action="store_true", help="print the value of every query")
    add("-n", "--no-summary", action="store_true", help="print no means (with -q)")
    add(
        "-l",
        "--rel",
        type=_grade,
        default=1,
        metavar="GRADE",
        help="the least grade that counts as relevant (default 1)",
    )
    add(
        "-J",
        "--judged-only",
        action="store_true",
        help="leave out documents that have no judgement",
    )
    add(
        "-M",
        "--depth",
        type=_positive,
        metavar="N",
        help="look at the first N documents of a query only",
    )
    group = parser.add_mutually_exclusive_group()
    group.add_argument(
        "-c",
        "--complete",
        action="store_true",
        help="judged queries that a run lacks count 0: the default, except with --format trec, "
        "which leaves them out as trec_eval does",
    )
    group.add_argument(
        "--intersection",
        action="store_true",
        help="average over the judged queries that all runs have",
    )
    add("--queries", metavar="IDS", help="only these queries: ids with commas, or a file of ids")
    add(
        "-N",
        "--docs",
        type=int,
        default=0,
        metavar="N",
        help="documents in the collection (for utility)",
    )
    add(
        "--ties",
        choices=("docid-desc", "docid-asc", "input"),
        default="docid-desc",
        help="order of documents with equal scores (default docid-desc, as trec_eval)",
    )
    add(
        "--single-precision",
        action="store_true",
        help="hold scores as 32-bit floats, as trec_eval 9 and pytrec_eval do",
    )
    add("--skip-bad-lines", action="store_true", help="leave out lines that cannot be read")
    add_output(parser, FORMATS, auto="auto is a table on a terminal and TSV elsewhere")
    add(
        "--digits",
        type=_digits,
        metavar="N",
        help="decimals (default 4; with -q in TSV and CSV: all)",
    )
    add("--quiet", action="store_true", help="only the result, no notes")
    for option, usual in _TREC_OPTIONS.items():
        add(option, dest=option, default=usual, help=argparse.SUPPRESS)
    parser.set_defaults(run=_eval)


def _grade(text: str) -> int:
    if not text.isdecimal():
        raise argparse.ArgumentTypeError(f"{text!r} is not a grade (a whole number from 0 on)")
    return int(text)


def _positive(text: str) -> int:
    if not text.isdigit() or not int(text):
        raise argparse.ArgumentTypeError(f"{text!r} is not a whole number from 1 on")
    return int(text)


def _digits(text: str) -> int:
    if not text.isdigit() or int(text) > 17:
        raise argparse.ArgumentTypeError(f"{text!r} is not a number of decimals from 0 to 17")
    return int(text)


def _eval(options: argparse.Namespace) -> None:
    from heldout.data.files import read_qrels  # NumPy comes with it

    if options.no_summary and not options.per_query:
        raise InputError("--no-summary without --per-query leaves nothing to print")
    _refuse_trec_options(options)
    terminal = options.output is None and sys.stdout.isatty()
    default = "table" if terminal else "tsv"
    options.format = output_format(options.format, options.output, FORMATS, default)
    refuse_same_file(options.runs)
    skipped = _Skipped(quiet=options.quiet)
    reading: dict[str, Any] = {"skip_bad_lines": options.skip_bad_lines, "report": skipped}
    judgements = read_qrels(*split_paths(options.qrels), **reading)
    if options.queries is not None:
        judgements = _select(judgements, _query_ids(options.queries), quiet=options.quiet)
    reading |= {"ties": options.ties, "single_precision": options.single_precision}
    if options.format == "trec":
        emit(_trec(judgements, options, reading), options.output)
    else:
        _show(_evaluate(judgements, options, reading), options)
    skipped.summary()


def _refuse_trec_options(options: argparse.Namespace) -> None:
    from heldout.measure.ranking.trec_names import refuse_unsupported

    for option, usual in _TREC_OPTIONS.items():
        value = getattr(options, option)
        if value != usual:
            refuse_unsupported(f"{option} {value}")


def _select(judgements: Qrels, wanted: list[str], *, quiet: bool) -> Qrels:
    selected = judgements.select(wanted)
    unknown = sorted(set(wanted) - set(judgements.queries))
    if unknown and not quiet:
        _note(f"{len(unknown)} of the wanted queries are not judged: {', '.join(unknown[:5])}")
    return selected


class _Skipped:
    """Says which lines were left out: the first ten, then how many in all."""

    def __init__(self, *, quiet: bool) -> None:
        self._quiet = quiet
        self._count = 0

    def __call__(self, sentence: str) -> None:
        self._count += 1
        if self._count <= 10 and not self._quiet:
            _note(sentence)

    def summary(self) -> None:
        if self._count:
            lines = "bad line was" if self._count == 1 else "bad lines were"
            _note(f"{self._count:,} {lines} left out")


def _note(sentence: str) -> None:
    sys.stderr.write(sentence + "\n")


def _query_ids(given: str) -> list[str]:
    from pathlib import Path

    if is_file(given):
        try:
            text = Path(given).read_text(encoding="utf-8")
        except (OSError, UnicodeDecodeError) as error:
            raise InputError(f"{given}: cannot be read as a list of ids ({error})") from None
        lines = (line.split() for line in text.splitlines())
        return [fields[0] for fields in lines if fields and not fields[0].startswith("#")]
    return [one.strip() for one in given.split(",") if one.strip()]


def _trec(judgements: Qrels, options: argparse.Namespace, reading: dict[str, Any]) -> str:
    from heldout.data.files import read_run
    from heldout.measure.ranking.trec_names import trec_lines
    from heldout.report.trec import trec_output

    if options.intersection:
        raise InputError("--format trec averages over the run's queries already; leave it out")
    lines = trec_lines(options.measure or [], options.rel, options.docs)
    return "".join(
        line
        for path in options.runs
        for line in trec_output(
            judgements,
            read_run(path, **reading),
            lines,
            per_query=options.per_query,
            complete=options.complete,
            summary=not options.no_summary,
            judged_only=options.judged_only,
            depth=options.depth,
        )
    )


def _evaluate(
    judgements: Qrels, options: argparse.Namespace, reading: dict[str, Any]
) -> RankingEvaluation:
    from heldout.measure.ranking.evaluate import DEFAULT_MEASURES, evaluate_runs

    settings = {
        "missing": "skip" if options.intersection else "zero",
        "depth": options.depth,
        "rel": options.rel,
        "judged_only": options.judged_only,
        **reading,
    }
    wanted = options.measure or DEFAULT_MEASURES
    if len(options.runs) < 2 or not sys.stderr.isatty():
        return evaluate_runs(judgements, options.runs, wanted, **settings)
    from rich.console import Console  # only for the progress bar
    from rich.progress import Progress

    with Progress(console=Console(stderr=True), transient=True) as bar:
        task = bar.add_task("runs", total=len(options.runs))
        settings["progress"] = lambda _: bar.advance(task)
        return evaluate_runs(judgements, options.runs, wanted, **settings)


def _show(result: RankingEvaluation, options: argparse.Namespace) -> None:
    from heldout.report.evaluation import evaluation_json, evaluation_text, policy_lines

    kind = options.format
    rows: dict[str, Any] = {"per_query": options.per_query, "summary": not options.no_summary}
    if kind == "parquet":
        _write_parquet(result, options.output)
    elif kind == "json":
        emit(evaluation_json(result, **rows), options.output)
    else:
        terminal = options.output is None and sys.stdout.isatty()
        digits = options.digits
        if digits is None and not (options.per_query and kind in {"tsv", "csv"}):
            digits = 4  # values of queries are read by other programs, heldout compare among them
        text = evaluation_text(result, kind, digits=digits, terminal=terminal, **rows)
        emit(text, options.output)
    if not options.quiet and kind in {"tsv", "csv", "table", "parquet"}:
        _note("\n".join(policy_lines(result)))


def _write_parquet(result: RankingEvaluation, output: str) -> None:
    from heldout.data.files import write_atomically

    with write_atomically(output) as aside:
        result.to_frame().write_parquet(aside)

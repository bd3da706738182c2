"""The command line: arguments to library calls, nothing else.

It stands on argparse and imports what a command needs when the command runs: for a small run,
starting up is most of the time, and the usual frameworks cost more than the evaluation.
"""

from __future__ import annotations

import argparse
import sys
from typing import TYPE_CHECKING, Any, NoReturn

from heldout import __version__
from heldout.cli_collection import add_collection
from heldout.cli_compare import add_compare
from heldout.cli_index import add_index
from heldout.cli_ledger import add_ledger
from heldout.cli_plan import add_plan
from heldout.cli_run import add_run
from heldout.cli_score import add_score
from heldout.cli_search import add_search
from heldout.cli_split import add_split
from heldout.cli_study import add_study
from heldout.cli_tune import add_tune
from heldout.errors import HeldoutError, InputError

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from heldout.data.run import Qrels
    from heldout.measure.evaluate import Evaluation

__all__ = ["emit", "main", "split_paths"]

_TAGLINE = "Is system B really better than system A on data it has never seen?"


class _Parser(argparse.ArgumentParser):
    """A parser whose complaint is one line that says where help is."""

    def error(self, message: str) -> NoReturn:
        self.exit(2, f"{self.prog}: {message} (see {self.prog} --help)\n")


def _parser() -> argparse.ArgumentParser:
    parser = _Parser("heldout", description=_TAGLINE, allow_abbrev=False)
    parser.add_argument("--version", action="version", version=f"heldout {__version__}")
    commands = parser.add_subparsers(title="commands", metavar="COMMAND", required=True)
    _add_eval(commands)
    add_compare(_command, commands)
    add_score(_command, commands)
    add_plan(_command, commands)
    add_ledger(_command, commands)
    add_collection(_command, commands)
    add_split(_command, commands)
    add_tune(_command, commands)
    add_study(_command, commands)
    add_run(_command, commands)
    add_index(_command, commands)
    add_search(_command, commands)
    _add_measures(commands)
    _add_demo(commands)
    _add_example(commands)
    return parser


def _command(commands: Any, name: str, summary: str, examples: str) -> argparse.ArgumentParser:
    parser: argparse.ArgumentParser = commands.add_parser(
        name,
        help=summary,
        description=summary,
        epilog=f"examples:\n{examples}",
        formatter_class=argparse.RawDescriptionHelpFormatter,
        allow_abbrev=False,
    )
    return parser


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

FORMATS = ("auto", "table", "tsv", "json", "md", "latex", "parquet", "trec")


def _add_eval(commands: Any) -> None:
    parser = _command(
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
        type=int,
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
    add(
        "-f",
        "--format",
        choices=FORMATS,
        default="auto",
        help="auto is a table on a terminal and TSV elsewhere",
    )
    add("--digits", type=_digits, default=4, metavar="N", help="decimals (default 4)")
    add("-o", "--output", metavar="FILE", help="write to a file instead")
    add("--quiet", action="store_true", help="only the result, no notes")
    parser.set_defaults(run=_eval)


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


def split_paths(given: str) -> list[str]:
    """The files in a list with commas, unless there is a file of that very name."""
    return [given] if _is_file(given) else given.split(",")


def _is_file(given: str) -> bool:
    from pathlib import Path

    try:
        return Path(given).is_file()
    except OSError:  # a list of ids can be too long for a path
        return False


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
            _note(f"{self._count} bad lines were left out")


def _note(sentence: str) -> None:
    sys.stderr.write(sentence + "\n")


def _query_ids(given: str) -> list[str]:
    from pathlib import Path

    if _is_file(given):
        try:
            text = Path(given).read_text(encoding="utf-8")
        except (OSError, UnicodeDecodeError) as error:
            raise InputError(f"{given}: cannot be read as a list of ids ({error})") from None
        lines = (line.split() for line in text.splitlines())
        return [fields[0] for fields in lines if fields and not fields[0].startswith("#")]
    return [one.strip() for one in given.split(",") if one.strip()]


def _trec(judgements: Qrels, options: argparse.Namespace, reading: dict[str, Any]) -> str:
    from heldout.data.files import read_run
    from heldout.measure.trec_names import trec_lines
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
) -> Evaluation:
    from heldout.measure.evaluate import DEFAULT_MEASURES, evaluate

    settings = {
        "missing": "skip" if options.intersection else "zero",
        "depth": options.depth,
        "rel": options.rel,
        "judged_only": options.judged_only,
        **reading,
    }
    wanted = options.measure or DEFAULT_MEASURES
    if len(options.runs) < 2 or not sys.stderr.isatty():
        return evaluate(judgements, options.runs, wanted, **settings)
    from rich.console import Console  # only for the progress bar
    from rich.progress import Progress

    with Progress(console=Console(stderr=True), transient=True) as bar:
        task = bar.add_task("runs", total=len(options.runs))
        settings["progress"] = lambda _: bar.advance(task)
        return evaluate(judgements, options.runs, wanted, **settings)


def _show(result: Evaluation, options: argparse.Namespace) -> None:
    from heldout.report import tables

    kind = options.format
    if kind == "auto":
        kind = "table" if options.output is None and sys.stdout.isatty() else "tsv"
    rows: dict[str, Any] = {"per_query": options.per_query, "summary": not options.no_summary}
    writers: dict[str, Callable[..., str]] = {
        "tsv": tables.tsv_text,
        "md": tables.markdown_text,
        "latex": tables.latex_text,
        "table": tables.table_text,
    }
    if kind == "parquet":
        _write_parquet(result, options.output)
    elif kind == "json":
        emit(tables.json_text(result, **rows), options.output)
    else:
        if kind == "table":
            rows["terminal"] = options.output is None and sys.stdout.isatty()
        emit(writers[kind](result, digits=options.digits, **rows), options.output)
    if not options.quiet and kind in {"tsv", "table", "parquet"}:
        _note("\n".join(tables.policy_lines(result)))


def _write_parquet(result: Evaluation, output: str | None) -> None:
    from heldout.data.files import write_atomically

    if output is None:
        raise InputError("Parquet is not text: say where to write it with -o FILE")
    with write_atomically(output) as aside:
        result.to_frame().write_parquet(aside)


def emit(text: str, output: str | None) -> None:
    """Print a text, or write it to a file when it is complete."""
    if output is None:
        sys.stdout.write(text)
        return
    from heldout.data.files import write_atomically

    with write_atomically(output) as aside:
        aside.write_text(text, encoding="utf-8", newline="\n")


def _add_measures(commands: Any) -> None:
    parser = _command(
        commands,
        "measures",
        "List the measures, their parameters and their other spellings.",
        "  heldout measures\n  heldout measures nDCG\n",
    )
    parser.add_argument("names", metavar="NAME", nargs="*", help="only these")
    parser.set_defaults(run=_measures)


def _measures(options: argparse.Namespace) -> None:
    from heldout.report.measures import describe_measures

    sys.stdout.write(describe_measures(options.names))


def _add_demo(commands: Any) -> None:
    parser = _command(
        commands,
        "demo",
        "Tune and compare two rankers on the embedded collection; leave a report to open.",
        "  heldout demo\n  heldout demo my-folder\n",
    )
    parser.add_argument(
        "folder", nargs="?", default="demo-report", help="where to put it (default demo-report)"
    )
    parser.set_defaults(run=_demo)


def _demo(options: argparse.Namespace) -> None:
    from heldout.demo import run_demo

    for paragraph in run_demo(options.folder, terminal=sys.stdout.isatty()):
        sys.stdout.write(paragraph + "\n")
        sys.stdout.flush()


def _add_example(commands: Any) -> None:
    parser = _command(
        commands,
        "example",
        "Write a small example (judgements, two runs) to try the commands on.",
        "  heldout example\n  heldout example my-folder\n",
    )
    parser.add_argument(
        "folder", nargs="?", default="example", help="where to put it (default example)"
    )
    parser.set_defaults(run=_example)


def _example(options: argparse.Namespace) -> None:
    from heldout.example_files import write_example

    for paragraph in write_example(options.folder, terminal=sys.stdout.isatty()):
        sys.stdout.write(paragraph + "\n")


def _parse(arguments: Sequence[str] | None) -> argparse.Namespace:
    """Parse arguments; files may stand before, between and behind options, as getopt allows."""
    parser = _parser()
    options, rest = parser.parse_known_args(arguments)
    files = [one for one in rest if one == "-" or not one.startswith("-")]
    several = next((name for name in ("runs", "files") if hasattr(options, name)), None)
    if len(files) < len(rest) or (files and several is None):
        parser.error(f"unrecognized arguments: {' '.join(rest)}")
    if several is not None and files:
        setattr(options, several, [*getattr(options, several), *files])
    return options


def main(arguments: Sequence[str] | None = None) -> None:
    """Run the command line; what a user can mend is one line and exit code 2."""
    for stream in (sys.stdout, sys.stderr):
        if hasattr(stream, "reconfigure"):  # a terminal without UTF-8 shows ? instead of failing
            stream.reconfigure(errors="replace")
    try:
        options = _parse(arguments)
        code = options.run(options)
        sys.stdout.flush()
    except HeldoutError as error:
        sys.stderr.write(f"heldout: {error}\n")
        sys.exit(2)
    except KeyboardInterrupt:
        sys.stderr.write("heldout: interrupted\n")
        sys.exit(130)
    except BrokenPipeError:
        # Whoever read our output went away (head, less). Nothing more can be said there, and
        # Python must not try when it closes the stream.
        sys.stdout = None
        sys.exit(1)
    if code:
        sys.exit(code)

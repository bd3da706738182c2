"""The command line: arguments to library calls, nothing else."""

from __future__ import annotations

import sys
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from heldout.errors import HeldoutError, InputError

if TYPE_CHECKING:
    from collections.abc import Callable

    from heldout.data.run import Qrels
    from heldout.measure.evaluate import Evaluation

__all__ = ["main"]

app = typer.Typer(
    name="heldout",
    help="Is system B really better than system A on data it has never seen?",
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)


class Format(StrEnum):
    """How results are printed."""

    auto = "auto"
    table = "table"
    tsv = "tsv"
    json = "json"
    md = "md"
    latex = "latex"
    parquet = "parquet"
    trec = "trec"


class Ties(StrEnum):
    """How documents with equal scores are ordered."""

    desc = "docid-desc"
    asc = "docid-asc"
    input = "input"


def _version(wanted: bool) -> None:
    if wanted:
        from heldout import __version__  # noqa: PLC0415

        typer.echo(f"heldout {__version__}")
        raise typer.Exit


@app.callback()
def _root(
    version: Annotated[
        bool, typer.Option("--version", callback=_version, is_eager=True, help="Print the version.")
    ] = False,
) -> None:
    """Is system B really better than system A on data it has never seen?"""


_EVAL_HELP = """Evaluate runs against relevance judgements.

Files may be TREC, CSV/TSV with a header, JSON or Parquet, plain or packed (.gz .xz .bz2 .zst);
- is standard input. Measures are named as in ir_measures, ranx or trec_eval; `heldout measures`
lists them.

[bold]Examples[/bold]

heldout eval qrels.txt bm25.run

heldout eval qrels.txt bm25.run dense.run.gz -m nDCG@10 -m "P(rel=2)@5"

heldout eval qrels.txt runs/*.run --format md

heldout eval qrels.txt bm25.run -q --format json > values.json

heldout eval qrels.txt bm25.run --format trec -m all_trec -q     (what trec_eval prints)
"""


@app.command("eval", help=_EVAL_HELP, rich_help_panel="Measure")
def eval_command(
    qrels: Annotated[str, typer.Argument(help="Judgements; several files joined by a comma.")],
    runs: Annotated[list[str], typer.Argument(help="One or more runs.")],
    measures: Annotated[
        list[str] | None,
        typer.Option("-m", "--measure", help="A measure, or several separated by blanks."),
    ] = None,
    per_query: Annotated[
        bool, typer.Option("-q", "--per-query", help="Print the value of every query.")
    ] = False,
    no_summary: Annotated[
        bool, typer.Option("-n", "--no-summary", help="Print no means (with -q).")
    ] = False,
    rel: Annotated[
        int, typer.Option("-l", "--rel", help="The least grade that counts as relevant.")
    ] = 1,
    judged_only: Annotated[
        bool, typer.Option("-J", "--judged-only", help="Leave out documents without judgement.")
    ] = False,
    depth: Annotated[
        int | None,
        typer.Option("-M", "--depth", min=1, help="Look at the first N documents of a query only."),
    ] = None,
    complete: Annotated[
        bool,
        typer.Option(
            "-c",
            "--complete",
            help="Judged queries that a run lacks count 0. The default, except with "
            "--format trec, which leaves them out as trec_eval does.",
        ),
    ] = False,
    intersection: Annotated[
        bool,
        typer.Option("--intersection", help="Average over the judged queries that all runs have."),
    ] = False,
    queries: Annotated[
        str | None,
        typer.Option("--queries", help="Only these: ids joined by commas, or a file of ids."),
    ] = None,
    docs: Annotated[
        int, typer.Option("-N", "--docs", help="Documents in the collection (for utility).")
    ] = 0,
    ties: Annotated[
        Ties, typer.Option("--ties", help="How documents with equal scores are ordered.")
    ] = Ties.desc,
    single_precision: Annotated[
        bool,
        typer.Option("--single-precision", help="Scores as 32-bit floats, as trec_eval 9 had."),
    ] = False,
    skip_bad_lines: Annotated[
        bool, typer.Option("--skip-bad-lines", help="Leave out lines that cannot be read.")
    ] = False,
    output_format: Annotated[
        Format,
        typer.Option("-f", "--format", help="auto: a table on a terminal, TSV elsewhere."),
    ] = Format.auto,
    digits: Annotated[int, typer.Option("--digits", min=0, max=17, help="Decimals.")] = 4,
    output: Annotated[
        Path | None, typer.Option("-o", "--output", help="Write to a file instead.")
    ] = None,
    quiet: Annotated[bool, typer.Option("--quiet", help="Only the result, no notes.")] = False,
) -> None:
    from heldout.data.files import read_qrels  # noqa: PLC0415 - NumPy comes with it

    if complete and intersection:
        raise InputError("--complete and --intersection exclude each other: give one")
    if no_summary and not per_query:
        raise InputError("--no-summary without --per-query leaves nothing to print")
    skipped = _Skipped(quiet)
    reading: dict[str, Any] = {"skip_bad_lines": skip_bad_lines, "report": skipped}
    judgements = read_qrels(*qrels.split(","), **reading)
    if queries is not None:
        judgements = judgements.select(_query_ids(queries))
    options = {"ties": ties.value, "single_precision": single_precision, **reading}
    if output_format is Format.trec:
        text = _trec(
            judgements,
            runs,
            measures or [],
            options,
            rel=rel,
            docs=docs,
            per_query=per_query,
            complete=complete,
            summary=not no_summary,
            judged_only=judged_only,
            depth=depth,
        )
        _emit(text, output)
        skipped.summary()
        return
    result = _evaluate(
        judgements,
        runs,
        measures,
        missing="skip" if intersection else "zero",
        depth=depth,
        rel=rel,
        judged_only=judged_only,
        **options,
    )
    _show(
        result, output_format, output, per_query=per_query, summary=not no_summary, digits=digits,
        quiet=quiet,
    )
    skipped.summary()


class _Skipped:
    """Says which lines were left out: the first ten, then how many in all."""

    def __init__(self, quiet: bool) -> None:
        self._quiet = quiet
        self._count = 0

    def __call__(self, sentence: str) -> None:
        self._count += 1
        if self._count <= 10 and not self._quiet:
            typer.echo(sentence, err=True)

    def summary(self) -> None:
        if self._count:
            typer.echo(f"{self._count} bad lines were left out", err=True)


def _query_ids(given: str) -> list[str]:
    path = Path(given)
    if path.is_file():
        lines = (line.split() for line in path.read_text(encoding="utf-8").splitlines())
        return [fields[0] for fields in lines if fields and not fields[0].startswith("#")]
    return [one.strip() for one in given.split(",") if one.strip()]


def _trec(
    judgements: Qrels,
    runs: list[str],
    measures: list[str],
    options: dict[str, Any],
    *,
    rel: int,
    docs: int,
    **settings: Any,
) -> str:
    from heldout.data.files import read_run  # noqa: PLC0415
    from heldout.measure.trec_names import trec_lines  # noqa: PLC0415
    from heldout.report.trec import trec_output  # noqa: PLC0415

    lines = trec_lines(measures, rel, docs)
    return "".join(
        "".join(trec_output(judgements, read_run(path, **options), lines, **settings))
        for path in runs
    )


def _evaluate(
    judgements: Qrels, runs: list[str], measures: list[str] | None, **options: Any
) -> Evaluation:
    from heldout.measure.evaluate import DEFAULT_MEASURES, evaluate  # noqa: PLC0415

    wanted = measures or list(DEFAULT_MEASURES)
    if len(runs) < 2 or not sys.stderr.isatty():
        return evaluate(judgements, runs, wanted, **options)
    from rich.console import Console  # noqa: PLC0415
    from rich.progress import Progress  # noqa: PLC0415

    with Progress(console=Console(stderr=True), transient=True) as progress:
        bar = progress.add_task("runs", total=len(runs))
        return evaluate(
            judgements, runs, wanted, progress=lambda _: progress.advance(bar), **options
        )


def _show(
    result: Evaluation,
    output_format: Format,
    output: Path | None,
    *,
    per_query: bool,
    summary: bool,
    digits: int,
    quiet: bool,
) -> None:
    from heldout.report import tables  # noqa: PLC0415

    if output_format is Format.auto:
        terminal = output is None and sys.stdout.isatty()
        output_format = Format.table if terminal else Format.tsv
    rows: dict[str, Any] = {"per_query": per_query, "summary": summary}
    if output_format is Format.parquet:
        _write_parquet(result, output)
    elif output_format is Format.json:
        _emit(tables.json_text(result, **rows), output)
    elif output_format is Format.table:
        _print_table(result, output, digits=digits, **rows)
    else:
        writers: dict[Format, Callable[..., str]] = {
            Format.tsv: tables.tsv_text,
            Format.md: tables.markdown_text,
            Format.latex: tables.latex_text,
        }
        _emit(writers[output_format](result, digits=digits, **rows), output)
    if not quiet and output_format in {Format.tsv, Format.table, Format.parquet}:
        for line in tables.policy_lines(result):
            typer.echo(line, err=True)


def _print_table(result: Evaluation, output: Path | None, **settings: Any) -> None:
    from io import StringIO  # noqa: PLC0415

    from rich.console import Console  # noqa: PLC0415

    from heldout.report.tables import rich_table  # noqa: PLC0415

    table = rich_table(result, **settings)
    if output is None:
        width = None if sys.stdout.isatty() else 1000
        Console(width=width).print(table)
        return
    buffer = StringIO()
    Console(file=buffer, width=1000).print(table)
    _emit("".join(line.rstrip() + "\n" for line in buffer.getvalue().splitlines()), output)


def _write_parquet(result: Evaluation, output: Path | None) -> None:
    from heldout.data.files import write_atomically  # noqa: PLC0415
    from heldout.report.tables import write_parquet  # noqa: PLC0415

    if output is None:
        raise InputError("Parquet is not text: say where to write it with -o FILE")
    with write_atomically(output) as aside:
        write_parquet(result, aside)


def _emit(text: str, output: Path | None) -> None:
    if output is None:
        sys.stdout.write(text)
        return
    from heldout.data.files import write_atomically  # noqa: PLC0415

    with write_atomically(output) as aside:
        aside.write_text(text, encoding="utf-8", newline="\n")


@app.command("measures", rich_help_panel="Measure")
def measures_command() -> None:
    """List the measures, their parameters and their other spellings."""
    from heldout.measure.names import families, spellings  # noqa: PLC0415

    for name, known in sorted(families().items(), key=lambda item: item[0].lower()):
        if name == "ir_measures":
            continue
        params = ", ".join(f"{key}={value!r}" for key, value in known.defaults)
        at = {"none": "", "optional": "[@k]", "rank": "@k", "recall": "@recall"}[known.cutoff]
        typer.echo(f"{name}({params}){at}")
        typer.echo(f"    {known.summary}")
        others = spellings(name)
        if others:
            typer.echo(f"    also: {', '.join(others)}")


@app.command("demo", rich_help_panel="Start here")
def demo_command(
    folder: Annotated[
        Path, typer.Argument(help="Where to put the example's files.")
    ] = Path("demo-report"),
) -> None:
    """Make a small example (judgements and two runs), evaluate it, and leave its files."""
    from heldout.data.example import example  # noqa: PLC0415
    from heldout.data.files import write_atomically  # noqa: PLC0415
    from heldout.measure.evaluate import evaluate  # noqa: PLC0415
    from heldout.report import tables  # noqa: PLC0415

    qrels, runs = example()
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise InputError(f"{folder}: cannot be made ({error.strerror})") from None
    qrels.write(folder / "qrels.txt")
    for run in runs:
        run.write(folder / f"{run.name}.run")
    result = evaluate(qrels, runs)
    with write_atomically(folder / "report.md") as aside:
        text = tables.markdown_text(result, per_query=False, summary=True, digits=4)
        aside.write_text("# Example\n\n" + text, encoding="utf-8", newline="\n")
    _print_table(result, None, per_query=False, summary=True, digits=4)
    for line in tables.policy_lines(result):
        typer.echo(line, err=True)
    typer.echo(f"\nWritten to {folder}: qrels.txt, baseline.run, improved.run, report.md")
    typer.echo(
        f"Try: heldout eval {folder / 'qrels.txt'} {folder / 'baseline.run'} -m nDCG@10 -q"
    )


def main() -> None:
    """Run the command line; what a user can mend is one line and exit code 2."""
    try:
        app()
    except HeldoutError as error:
        sys.stderr.write(f"heldout: {error}\n")
        sys.exit(2)
    except BrokenPipeError:
        # The reader of our output went away (head, less): no message, and no second error when
        # Python closes the stream.
        sys.stdout = None  # type: ignore[assignment]
        sys.exit(1)

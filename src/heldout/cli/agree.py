"""heldout agree: machine judgements beside human ones."""

from heldout.cli.inputs import refuse_same_file, split_paths
from heldout.cli.options import Parser, complete
from heldout.cli.output import check_page, format_of, note, this_command, write
from heldout.cli.progress import progress_bar
from heldout.errors import InputError


def parser() -> Parser:
    """The parser of this command."""
    return Parser(
        "agree",
        "Measure how far machine judgements agree with human ones.",
        {"files+ FILE": "human judgements, then those of each machine"},
        usage="HUMAN MACHINE [MACHINE ...] [--runs RUN RUN [RUN ...]]",
        examples="""\
  heldout agree human.qrels machine.qrels
  heldout agree human.qrels gpt.qrels llama.qrels mistral.qrels --rel 2
  heldout agree human.qrels machine.qrels --runs runs/*.run -m nDCG@10 -m AP -o agreement.html
  heldout agree human.csv machine.jsonl --json
""",
        notes="""\
Judgements are TREC qrels, or CSV, TSV, JSON and Parquet with query, document and grade, also
compressed. Agreement is computed on the pairs of query and document that both judged; a negative
grade means not judged. With --runs, systems are compared under both judgements, as heldout compare
does.
""",
    )


def run(arguments: list[str]) -> int:
    """Compare the judgements, and the systems under both."""
    options = complete(parser().read(arguments), "agree")
    human, *machines = options.files
    if not machines:
        raise InputError(f"{human}: expected human judgements and those of at least one machine")
    if options.measure and not options.runs:
        raise InputError("-m goes with --runs: agreement of judgements needs no measure")
    kind = format_of(options)
    if kind == "html":
        check_page(options.output)
    refuse_same_file([*options.files, *(options.runs or ())])
    from heldout.data.qrels import read_qrels  # NumPy comes with it
    from heldout.infer.agreement import agree
    from heldout.report.agreement import judges_tables
    from heldout.report.page import page
    from heldout.report.table import note_lines, write_tables

    with progress_bar("judges", quiet=options.quiet) as progress:
        agreement = agree(
            read_qrels(*split_paths(human)),
            machines,
            options.runs,
            options.measure or "nDCG@10",
            rel=options.rel,
            level=options.level,
            seed=options.seed,
            progress=progress,
        )
    tables = judges_tables(agreement, full=options.full)
    given = {"judgements": options.files, "runs": options.runs or []}
    files = [(name, ", ".join(paths)) for name, paths in given.items() if paths]
    made = [("command", this_command()), *files]
    own = {
        "html": lambda: page([agreement], made=made),
        "latex": lambda: write_tables(tables, "paper"),
    }
    shown = None if kind == "table" else lambda: tables
    write([agreement], options, kind, tables=shown, frames=("csv", "tsv"), own=own)
    if kind == "html":
        note([f"Open {options.output} in a browser."], options)
    elif kind in {"csv", "tsv"}:  # which have no place for notes
        note(note_lines(agreement.notes), options)
    return 0

"""heldout split: training and held-out parts of a collection, described or written."""

from __future__ import annotations

import os
import warnings
from contextlib import suppress
from typing import TYPE_CHECKING, Any

from heldout.cli.inputs import of_both, open_collection, plan_table, split_paths
from heldout.cli.options import Parser, complete, option_of
from heldout.cli.output import by_suffix, emit, note, write
from heldout.errors import InputError
from heldout.notes import count_of

if TYPE_CHECKING:
    import argparse
    from collections.abc import Sequence

    from heldout.data.collection import Collection
    from heldout.resample.split import Splits


def parser() -> Parser:
    """The parser of this command."""
    return Parser(
        "split",
        "Split a collection into training and held-out parts.",
        {"collection COLLECTION": "pydocs, irds:NAME, a folder or a file"},
        examples="""\
  heldout split pydocs --folds 10                                sizes and checks
  heldout split pydocs --folds 10 --assignments folds.tsv
  heldout split qrels.txt --stratify relevance --assignments folds.csv
  heldout split pydocs --by document --folds 5 --stratify relevance -o parts --to lines
  heldout split parts/r0-f0/train --by document --hold-out 0.2 -o again --to beir
  heldout split pydocs --folds-file folds.tsv
  heldout split pydocs --by document --sample 1000 -o small      a smaller collection
  heldout split topics.tsv --sample 30 --seed 1 > judge.txt      queries for people to judge
""",
        notes="""\
Without -o the splits are described: sizes, relevant documents in each part, overlaps. With -o each
part of each split is written as a collection of its own (r0-f0/train, r0-f0/test, …); its
doc_map.tsv maps its ids to the original ones, also when a written split is split again. The same
ids and seed give the same splits, whatever the order or format of the collection. Judgements
alone can be split by query.
""",
    )


def run(arguments: list[str]) -> int:
    """Split, and describe, list or write the parts."""
    given = parser().read(arguments)
    seeded = hasattr(given, "seed")
    options = complete(given, "split")
    _refuse(options, seeded=seeded)
    output, table = options.output, options.assignments
    if options.sample is not None and output is None and table is None:
        _print_sample(options)
        return 0
    file = None if table == "-" else table
    mark = "," if by_suffix(file, ("tsv", "csv"), "tsv") == "csv" else "\t"
    collection = _collection(options)
    plan = plan_table(options)
    if options.sample is not None:
        plan = {"kind": "holdout", "test": options.sample}
    plan = of_both(plan) if options.by == "both" else plan
    splits = splits_of(plan, options.by, collection, options)
    if output is None and table is None:
        from heldout.resample.describe import describe_splits

        write([describe_splits(splits, collection)], options, options.format or "table")
        return 0
    from heldout.report.table import note_lines, printable
    from heldout.resample.export import export_splits, fold_table, maps_beside, standalone

    how: dict[str, Any] = {"to": options.to or "beir", "force": options.force}
    if table is not None:
        emit("".join(fold_table(splits, mark)), file)
        lines = []
    elif options.sample is not None:
        from heldout.data.export import export_collection

        part, _, _ = standalone(splits[0].view(collection, "test"))
        export_collection(part, output, **how)
        lines = [f"{output}: {part.sizes()}"]
    else:
        written = export_splits(
            splits, collection, output, maps=maps_beside(options.collection), **how
        )
        names = written[0] if len(written) == 1 else f"{written[0]} to {written[-1]}"
        count = count_of(len(written), "split")
        lines = [f"{output}: {count} ({names}), fingerprint {splits.fingerprint}"]
    note([*note_lines(splits.notes), *map(printable, lines)], options)
    return 0


def _refuse(options: argparse.Namespace, *, seeded: bool) -> None:
    """Refuse options that would have no effect."""
    sample, table, folder = options.sample, options.assignments, options.output
    planned, to_table = plan_table(options), (folder or "").endswith((".csv", ".tsv", ".json"))
    fixed = options.folds_file or options.test_ids or options.later or options.leave_one_out
    for wrong, why in (
        (table and folder, "--assignments writes a table and -o collections: give one of them"),
        (sample and not folder and options.by != "query", "--sample of documents needs -o FOLDER"),
        (sample and (planned or options.by == "both"), "--sample draws units without a plan"),
        (not folder and (options.to or options.force), "--to and --force go with -o FOLDER"),
        (folder and options.format, "a description is printed: leave -o out, or redirect it"),
        (
            (table or sample) and options.format,
            "--json prints a description of a plan: leave it out",
        ),
        (to_table, f"-o {folder}: expected a folder; for a table of folds use --assignments"),
        (seeded and fixed, "--seed has no effect: nothing is random here"),
    ):
        if wrong:
            raise InputError(why)


def _print_sample(options: argparse.Namespace) -> None:
    """Print the ids of randomly drawn queries, one per line: those that -o would write."""
    from heldout.resample.plans import HoldOut

    ids, size = _query_ids(options), options.sample
    if size >= len(ids):
        raise InputError(f"--sample {size}: expected fewer than the {len(ids)} queries")
    split = HoldOut(size, seed=options.seed).splits(ids)[0]
    drawn = [ids[row] for row in split.rows("test").tolist()]
    emit("".join(f"{query}\n" for query in sorted(drawn, key=str.encode)))
    queries = count_of(len(ids), "query", "queries")
    note([f"{size} of {queries}, drawn at random (seed {options.seed})"], options)


def _query_ids(options: argparse.Namespace) -> Sequence[str]:
    """The ids of all queries: of judgements, of a collection, or of a file of queries."""
    try:
        return _collection(options).queries.ids
    except InputError:
        from heldout.data.files import Reading
        from heldout.data.queries import read_queries

        with suppress(InputError):
            return read_queries(options.collection, Reading()).ids
        raise


def _collection(options: argparse.Namespace) -> Collection:
    """The collection, or judgements alone."""
    paths = split_paths(options.collection)
    alone = options.qrels is None and options.queries is None and options.by == "query"
    if not alone or paths[0].endswith(".toml") or not all(map(os.path.isfile, paths)):
        return open_collection(options)
    from heldout.experiment.given import judged_collection

    if options.output is not None:
        raise InputError("judgements alone have no documents to write: use --assignments FILE")
    return judged_collection(paths)


def splits_of(
    table: dict[str, Any], by: Any, collection: Collection, options: argparse.Namespace
) -> Splits:
    """The splits of a collection by the plan in a table."""
    from heldout.experiment.given import plan_from_table
    from heldout.experiment.problems import ExperimentError, Problems
    from heldout.resample.plan import Plan, ResamplingWarning

    problems = Problems()
    plan = plan_from_table(table, by, options.seed, problems)
    if plan is None or problems.found:
        raise ExperimentError(problems.found, place_of=option_of)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ResamplingWarning)  # they are notes of the splits, too
        return plan.splits(collection, by) if isinstance(plan, Plan) else plan.splits(collection)

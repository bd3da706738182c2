"""The command ``split``: arguments to library calls."""

from __future__ import annotations

import sys
import warnings
from typing import TYPE_CHECKING, Any

from heldout.cli.collection import open_collection
from heldout.cli.files import emit, is_file, show, split_paths
from heldout.cli.groups import of_both
from heldout.cli.old_help import group
from heldout.cli.old_options import (
    add_json,
    add_plan_options,
    add_queries,
    add_quiet,
    add_seed,
    add_source,
    check_plan_options,
    plan_table,
    positive,
)
from heldout.cli.old_output import output_format
from heldout.errors import InputError
from heldout.notes import count_of

if TYPE_CHECKING:
    import argparse
    from collections.abc import Callable

    from heldout.data.collection import Collection
    from heldout.resample.split import Splits

__all__ = ["add_split"]

_FORMATS = ("tsv", "csv")

_EXAMPLES = """\
  heldout split pydocs --folds 10                                sizes and checks
  heldout split pydocs --folds 10 --assignments folds.tsv
  heldout split qrels.txt --stratify relevance --assignments folds.csv
  heldout split pydocs --by document --folds 5 --stratify relevance -o parts --to lines
  heldout split parts/r0-f0/train --by document --hold-out 0.2 -o again --to beir
  heldout split pydocs --folds-file folds.tsv
  heldout split pydocs --by document --sample 1000 -o small      a smaller collection
  heldout split topics.tsv --sample 30 --seed 1 > judge.txt      queries for people to judge
"""

_NOTES = """\
Without -o the splits are described: sizes, relevant documents in each part, overlaps. With -o each
part of each split is written as a collection of its own (r0-f0/train, r0-f0/test, …); its
doc_map.tsv maps its ids to the original ones, also when a written split is split again. The same
ids and seed give the same splits, whatever the order or format of the collection. Judgements
alone can be split by query.
"""


def add_split(command: Callable[..., argparse.ArgumentParser], commands: Any) -> None:
    """Add the command ``split``."""
    parser = command(
        commands,
        "split",
        "Split a collection into training and held-out parts.",
        _EXAMPLES,
        notes=_NOTES,
    )
    add_source(parser)
    add_queries(parser)
    add = parser.add_argument
    add(
        "--by",
        choices=("query", "document", "both"),
        default="query",
        help="what is held out: queries, documents, or both (default: query)",
    )
    add(
        "--assignments",
        metavar="FILE",
        help="write the fold of each unit, as --folds-file reads it (.tsv or .csv; - prints it)",
    )
    add(
        "--sample",
        type=positive,
        metavar="N",
        help="draw N random units: print the ids of queries, or write a collection with -o",
    )
    add_plan_options(parser)
    add_seed(parser, None)
    add = group(parser, "output").add_argument
    add("-o", "--output", metavar="FOLDER", help="write the parts as collections to FOLDER")
    add(
        "--to",
        choices=("beir", "trec", "lines"),
        default="beir",
        help="format of the collections (default: beir)",
    )
    add("--force", action="store_true", help="replace an earlier export")
    add_json(parser, "print the description as JSON")
    add_quiet(parser, "print no notes")
    parser.set_defaults(run=_split)


def _split(options: argparse.Namespace) -> int:
    from heldout.resample.plan import ResamplingWarning

    _refuse_strange(options)
    if options.sample is not None and options.output is None and options.assignments is None:
        return _print_sample(options)
    kind = ""
    if options.assignments is not None:
        file = None if options.assignments == "-" else options.assignments
        kind = output_format("auto", file, _FORMATS, "tsv")
    collection = _collection(options)
    with warnings.catch_warnings():
        # The same sentences are notes of the splits, which are printed below.
        warnings.simplefilter("ignore", ResamplingWarning)
        splits = _splits(collection, options)
    if options.assignments is not None:
        _assignments(splits, kind, options)
    elif options.sample is not None:
        _export_sample(splits, collection, options)
    elif options.output is not None:
        _export(splits, collection, options)
    else:
        _describe(splits, collection, options)
    return 0


def _print_sample(options: argparse.Namespace) -> int:
    """Print the ids of randomly drawn queries, one per line: those that -o would write."""
    from heldout.resample.plans import HoldOut

    ids = _query_ids(options)
    if options.sample > len(ids):
        raise InputError(f"--sample {options.sample}: there are only {len(ids)} queries")
    drawn = ids
    if options.sample < len(ids):
        split = HoldOut(options.sample, seed=options.seed or 0).splits(ids)[0]
        drawn = [ids[row] for row in split.rows("test").tolist()]
    emit("".join(f"{query}\n" for query in sorted(drawn, key=str.encode)))
    if not options.quiet:
        queries = count_of(len(ids), "query", "queries")
        sys.stderr.write(
            f"{options.sample} of {queries}, drawn at random (seed {options.seed or 0})\n"
        )
    return 0


def _query_ids(options: argparse.Namespace) -> list[str]:
    """The ids of all queries: of judgements, of a file of queries or ids, or of a collection."""
    source = options.collection
    if options.qrels is not None or options.queries is not None or not is_file(source):
        return list(open_collection(options).queries.ids)
    from heldout.data.files import Reading
    from heldout.data.qrels import read_qrels
    from heldout.data.queries import read_queries

    try:
        return list(read_qrels(source).queries)
    except InputError as not_judgements:
        lines = _lines(source)
        if lines and all(len(line.split()) == 1 for line in lines):
            return lines
        try:
            return list(read_queries(source, Reading()).ids)
        except InputError:
            raise not_judgements from None


def _lines(path: str) -> list[str]:
    """The lines of a text without blanks around them; none of a file that is not text."""
    from pathlib import Path

    try:
        text = Path(path).read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError):
        return []
    return [line.strip() for line in text.splitlines() if line.strip()]


def _refuse_strange(options: argparse.Namespace) -> None:
    """Refuse options that would have no effect."""
    check_plan_options(options)
    _refuse_strange_output(options)
    fixed = options.folds_file or options.test_ids or options.later or options.leave_one_out
    if options.seed is not None and fixed:
        raise InputError("--seed has no effect: nothing is random here")
    if options.sample is not None and (plan_table(options) or options.by == "both"):
        raise InputError("--sample draws units by query or by document, without a plan")


def _refuse_strange_output(options: argparse.Namespace) -> None:
    if options.assignments is not None and options.output is not None:
        raise InputError("--assignments writes a table and -o collections: give one of them")
    if options.sample is not None and options.output is None and options.by != "query":
        raise InputError("--sample of documents writes a collection: add -o FOLDER")
    if options.force and options.output is None:
        raise InputError("--force goes with -o FOLDER")
    if options.output is None:
        return
    if options.json:
        raise InputError("a description is printed: leave -o out, or redirect the output")
    if options.output.lower().endswith((".csv", ".tsv", ".json")):
        raise InputError(
            f"-o {options.output}: expected a folder; for a table of folds use --assignments "
            f"{options.output}"
        )


def _collection(options: argparse.Namespace) -> Collection:
    """The collection, or judgements alone."""
    source = options.collection
    alone = options.qrels is None and options.queries is None and not source.endswith(".toml")
    if not alone or options.by != "query" or not all(map(is_file, split_paths(source))):
        return open_collection(options)
    from heldout.experiment.given import judged_collection

    if options.output is not None:
        raise InputError("judgements alone have no documents to write: use --assignments FILE")
    return judged_collection(split_paths(source), ())


def _splits(collection: Collection, options: argparse.Namespace) -> Splits:
    from heldout.cli.places import plan_option
    from heldout.experiment.given import plan_from_table
    from heldout.experiment.problems import ExperimentError, Problems
    from heldout.resample.plan import Plan

    table, seed = plan_table(options), options.seed or 0
    if options.sample is not None:
        table = {"kind": "holdout", "test": options.sample}
    if options.by == "both":
        if options.folds_file or options.test_ids or options.later:
            raise InputError("--by both needs a plan for queries and documents: --folds, …")
        table = of_both(table)
    problems = Problems()
    plan = plan_from_table(table, options.by, seed, problems)
    if problems.found:
        raise ExperimentError(problems.found, place_of=plan_option)
    if plan is None:
        raise InputError("there is no plan")  # cannot be: refuse has said why
    if isinstance(plan, Plan):
        return plan.splits(collection, options.by)
    return plan.splits(collection)


def _assignments(splits: Splits, kind: str, options: argparse.Namespace) -> None:
    from heldout.resample.export import fold_table

    file = None if options.assignments == "-" else options.assignments
    emit("".join(fold_table(splits, "," if kind == "csv" else "\t")), file)
    if not options.quiet:
        _say(splits, options)


def _describe(splits: Splits, collection: Collection, options: argparse.Namespace) -> None:
    from dataclasses import replace

    from heldout.as_json import json_text
    from heldout.cli.places import as_options
    from heldout.report.splits import splits_text
    from heldout.resample.describe import describe_splits

    found = describe_splits(splits, collection)
    if options.json:
        emit(json_text(found.to_dict()))
        return
    if options.quiet:
        found = replace(found, notes=())
    show(as_options(splits_text(found), options))


def _export_sample(splits: Splits, collection: Collection, options: argparse.Namespace) -> None:
    from heldout.data.export import export_collection
    from heldout.resample.export import standalone

    part, _, _ = standalone(splits[0].view(collection, "test"))
    export_collection(part, options.output, options.to, force=options.force)
    if not options.quiet:
        sys.stderr.write(f"{options.output}: {part.sizes()}\n")


def _export(splits: Splits, collection: Collection, options: argparse.Namespace) -> None:
    from heldout.resample.export import export_splits, maps_beside

    written = export_splits(
        splits,
        collection,
        options.output,
        options.to,
        maps=maps_beside(options.collection),
        force=options.force,
    )
    if options.quiet:
        return
    _say(splits, options)
    sys.stderr.write(
        f"{options.output}: {count_of(len(written), 'split')} ({written[0]}"
        f"{f' to {written[-1]}' if len(written) > 1 else ''}), fingerprint {splits.fingerprint}\n"
    )


def _say(splits: Splits, options: argparse.Namespace) -> None:
    from heldout.cli.places import as_options
    from heldout.report.tables import note_lines

    lines = (as_options(line, options) + "\n" for line in note_lines(splits.notes))
    sys.stderr.write("".join(lines))

"""The command ``split``: arguments to library calls."""

from __future__ import annotations

import sys
import warnings
from typing import TYPE_CHECKING, Any

from heldout.cli.collection import add_collection_options, open_collection
from heldout.cli.files import emit, show
from heldout.cli.groups import add_groups, given_groups
from heldout.cli.help import add_quiet
from heldout.cli.output import add_format, output_format
from heldout.data.notes import count_of
from heldout.errors import InputError

if TYPE_CHECKING:
    import argparse
    from collections.abc import Callable

    from heldout.data.collection import Collection
    from heldout.resample.plan import Plan
    from heldout.resample.split import Split, Splits

__all__ = ["add_split"]

_FORMATS = ("auto", "tsv", "csv")

_EXAMPLES = """\
  heldout split pydocs --by query --folds 10                     sizes and checks
  heldout split pydocs --by query --folds 10 --table -o folds.tsv
  heldout split pydocs --by document --folds 5 --stratify relevance -o parts --to lines
  heldout split parts/r0-f0/train --by document --hold-out 0.2 -o again --to beir
  heldout split pydocs --by query --given folds.tsv --describe

Without -o the splits are described: sizes, relevant documents on each side, overlaps. With -o each
side of each split is written as a collection of its own (r0-f0/train, r0-f0/test, …); doc_map.tsv
in it leads from its ids to the first original ones, also when a written split is split again.
The same ids and seed give the same splits, in whatever order or format the collection comes.
"""


def add_split(command: Callable[..., argparse.ArgumentParser], commands: Any) -> None:
    """Add the command ``split``."""
    parser = command(
        commands, "split", "Divide a collection into seen and held out, and write it.", _EXAMPLES
    )
    add_collection_options(parser)
    add = parser.add_argument
    add(
        "--by",
        choices=("query", "document", "both"),
        required=True,
        help="what is held out: queries, documents, or both together",
    )
    _add_plans(parser)
    add("--repeats", type=int, metavar="N", help="divide anew N times (folds, hold-out)")
    add("--validation", type=_share, metavar="SHARE", help="a third side (with --hold-out)")
    add(
        "--stratify",
        metavar="WHAT",
        help="relevance (spreads each query's relevant documents over document folds; for queries, "
        "their number), length, or a field of the queries",
    )
    add_groups(add)
    add("--seed", type=int, metavar="N", help="where chance starts (default 0)")
    add("--fold", type=int, metavar="N", help="only this fold (with -o)")
    add("-o", "--output", metavar="FOLDER", help="write the splits there (with --table: a file)")
    add("--to", choices=("beir", "trec", "lines"), default="beir", help="format (default beir)")
    add_format(parser, _FORMATS, "format of --table (default: by the suffix of -o; tsv)")
    add("--force", action="store_true", help="replace an earlier export")
    shown = parser.add_mutually_exclusive_group()
    add = shown.add_argument
    add("--describe", action="store_true", help="print the description (default without -o)")
    add("--table", action="store_true", help="print the fold of each unit, as --given reads it")
    add("--json", action="store_true", help="print the description as JSON")
    add_quiet(parser, "no notes, no word of what was written")
    parser.set_defaults(run=_split)


def _add_plans(parser: argparse.ArgumentParser) -> None:
    add = parser.add_mutually_exclusive_group().add_argument
    add(
        "--folds",
        type=int,
        metavar="K",
        help="each is held out once, in one of K folds (default: 10 of queries, 5 of documents)",
    )
    add("--hold-out", type=_share, metavar="SHARE", help="a random share, or a number of units")
    add("--leave-one-out", action="store_true", help="each is held out alone")
    add("--bootstrap", type=int, metavar="N", help="N draws with replacement; test: never drawn")
    add("--given", metavar="FILE", help="folds from a table of id and fold, or JSON")
    add("--test-ids", metavar="FILE", help="hold out the ids in a file, one a line")
    add("--later", metavar="FILE", help="hold out the last fifth by a table of id and time")


def _share(text: str) -> float:
    import argparse

    try:
        return int(text) if text.isdigit() else float(text)
    except ValueError:
        raise argparse.ArgumentTypeError(f"{text!r} is neither a share nor a number") from None


def _split(options: argparse.Namespace) -> int:
    from heldout.resample.notices import ResamplingWarning

    _refuse_strange(options)
    kind = output_format(options.format, options.output, _FORMATS, "tsv") if options.table else ""
    collection = open_collection(options)
    with warnings.catch_warnings():
        # The same sentences are notes of the splits, which are printed below.
        warnings.simplefilter("ignore", ResamplingWarning)
        splits = _splits(collection, options)
    if options.table:
        _table(splits, kind, options)
    elif options.output is not None and not (options.describe or options.json):
        _export(splits, collection, options)
    else:
        _describe(splits, collection, options)
    return 0


def _refuse_strange(options: argparse.Namespace) -> None:
    """Refuse options that would be passed over."""
    if options.validation is not None and options.hold_out is None:
        raise InputError("--validation goes with --hold-out")
    _refuse_strange_output(options)
    chance = options.folds or options.hold_out or _is_default(options)
    for name in ("repeats", "stratify"):
        if getattr(options, name) is not None and not chance:
            raise InputError(f"--{name} goes with --folds and --hold-out")
    drawn = options.leave_one_out or options.bootstrap
    if options.groups is not None and not (chance or drawn):
        raise InputError("--groups goes with --folds, --hold-out, --leave-one-out and --bootstrap")
    fixed = options.given or options.test_ids or options.later or options.leave_one_out
    if options.seed is not None and fixed:
        raise InputError("--seed changes nothing here: nothing is left to chance")


def _refuse_strange_output(options: argparse.Namespace) -> None:
    if options.format != "auto" and not options.table:
        raise InputError("--format goes with --table; the format of datasets is --to")
    writes = options.output is not None and not (options.table or options.describe or options.json)
    if options.fold is not None and not writes:
        raise InputError("--fold says which fold to write: give -o FOLDER as well")
    if writes and options.output.lower().endswith((".csv", ".tsv", ".json")):
        raise InputError(
            f"-o {options.output}: the splits are written to a folder; for a table of folds add "
            "--table"
        )
    if options.force and not writes:
        raise InputError("--force is for writing datasets (-o FOLDER)")
    if options.output is not None and (options.describe or options.json) and not options.table:
        raise InputError("a description is printed: leave -o out, or redirect the output")


def _is_default(options: argparse.Namespace) -> bool:
    others = (options.given, options.test_ids, options.later, options.bootstrap)
    return not options.leave_one_out and all(one is None for one in others)


def _splits(collection: Collection, options: argparse.Namespace) -> Splits:
    from heldout.resample.combined import TwoWay
    from heldout.resample.groups import KINDS, NEAR

    if options.by == "both":
        groups = options.groups
        if groups not in {None, *KINDS}:
            raise InputError("--groups FILE names one kind of unit: split --by query or document")
        if options.given or options.test_ids or options.later:
            raise InputError("--by both needs a plan for queries and documents: --folds, …")
        of_queries = None if groups == NEAR else groups
        plans = _plan(options, 5, of_queries), _plan(options, 5, groups)
        return TwoWay(*plans).splits(collection)
    plan = _plan(options, 10 if options.by == "query" else 5, given_groups(options.groups))
    return plan.splits(collection, options.by)


def _plan(options: argparse.Namespace, folds: int, groups: Any) -> Plan:
    from heldout.resample.holdout import HoldOut
    from heldout.resample.plans import Bootstrap, KFold, LeaveOneOut

    seed = 0 if options.seed is None else options.seed
    chance: dict[str, Any] = {
        "repeats": 1 if options.repeats is None else options.repeats,
        "stratify": options.stratify,
        "groups": groups,
        "seed": seed,
    }
    if options.hold_out is not None:
        return HoldOut(options.hold_out, options.validation or 0.0, **chance)
    if options.leave_one_out:
        return LeaveOneOut(groups)
    if options.bootstrap is not None:
        return Bootstrap(options.bootstrap, seed=seed, groups=groups)
    if options.given or options.test_ids or options.later:
        return _named_plan(options)
    return KFold(folds if options.folds is None else options.folds, **chance)


def _named_plan(options: argparse.Namespace) -> Plan:
    from pathlib import Path

    from heldout.resample.given import GivenFolds
    from heldout.resample.holdout import Chronological, TestSet

    if options.given is not None:
        return GivenFolds(options.given)
    if options.test_ids is not None:
        return TestSet(Path(options.test_ids))
    return Chronological(_values(options.later, "time"))


def _values(path: str, what: str) -> dict[str, str]:
    from heldout.resample.fold_files import read_values

    return {entry.unit: entry.value for entry in read_values(path, what)}


def _table(splits: Splits, kind: str, options: argparse.Namespace) -> None:
    from heldout.resample.export import fold_table

    emit("".join(fold_table(splits, "," if kind == "csv" else "\t")), options.output)
    if not options.quiet:
        _say(splits)


def _describe(splits: Splits, collection: Collection, options: argparse.Namespace) -> None:
    from dataclasses import replace

    from heldout.as_json import json_text
    from heldout.report.tables import plain_text
    from heldout.resample.describe import describe_splits

    found = describe_splits(splits, collection)
    if options.json:
        emit(json_text(found.to_dict()))
        return
    if options.quiet:
        found = replace(found, notes=())
    show("".join(plain_text(line) + "\n" for line in str(found).split("\n")))


def _export(splits: Splits, collection: Collection, options: argparse.Namespace) -> None:
    from heldout.resample.export import export_splits
    from heldout.resample.id_maps import maps_beside

    def wanted(split: Split) -> bool:
        return options.fold is None or split.key.fold == options.fold

    written = export_splits(
        splits,
        collection,
        options.output,
        options.to,
        only=wanted,
        maps=maps_beside(options.collection),
        force=options.force,
    )
    if options.quiet:
        return
    _say(splits)
    sys.stderr.write(
        f"{options.output}: {count_of(len(written), 'split')} ({written[0]}"
        f"{f' to {written[-1]}' if len(written) > 1 else ''}), fingerprint {splits.fingerprint}\n"
    )


def _say(splits: Splits) -> None:
    from heldout.report.tables import note_lines

    sys.stderr.write("".join(line + "\n" for line in note_lines(splits.notes)))

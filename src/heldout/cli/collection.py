"""The command ``collection``: arguments to library calls."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Any

from heldout.cli.files import emit, show, split_paths
from heldout.cli.old_help import group
from heldout.cli.old_options import (
    add_json,
    add_queries,
    add_query_field,
    add_quiet,
    add_reading,
    add_source,
)
from heldout.errors import InputError

if TYPE_CHECKING:
    import argparse
    from collections.abc import Callable

    from heldout.data.collection import Collection

__all__ = ["add_collection", "open_collection"]

_EXAMPLES = """\
  heldout collection pydocs
  heldout collection cranfield/config.toml
  heldout collection docs.jsonl.gz --queries topics.txt --qrels qrels.txt --json
  heldout collection pydocs -o pydocs-beir
  heldout collection scifact --split train -o scifact-train --to lines
"""

_NOTES = """\
A collection is a BEIR folder, a MeTA folder or its config toml (line corpus), TREC documents (file
or folder), JSON lines, CSV, TSV or Parquet of documents, irds:NAME through ir_datasets, or pydocs,
which is made of the documentation of NumPy, SciPy and scikit-learn. Text may be compressed (.gz
.xz .bz2 .zst). Without -o its sizes, lengths, judgements, possible problems and fingerprint are
printed.
"""


def add_collection(command: Callable[..., argparse.ArgumentParser], commands: Any) -> None:
    """Add the command ``collection``."""
    parser = command(
        commands,
        "collection",
        "Show a collection, or write it in another format.",
        _EXAMPLES,
        notes=_NOTES,
    )
    add_source(parser)
    add_queries(parser)
    add_query_field(parser)
    add_reading(parser)
    add = group(parser, "input").add_argument
    add("--split", metavar="NAME", help="split of a BEIR folder (default: test)")
    add = group(parser, "output").add_argument
    add("-o", "--output", metavar="FOLDER", help="write the collection to FOLDER")
    add("--to", choices=("beir", "trec", "lines"), help="its format (default: beir)")
    add("--force", action="store_true", help="replace an earlier export")
    add_json(parser, "print the description as JSON")
    add_quiet(parser, "print no notes and possible problems")
    parser.set_defaults(run=_collection)


def open_collection(options: argparse.Namespace, **reading: Any) -> Collection:
    """Read the collection that the options name."""
    from heldout.data.collection_files import read_collection  # NumPy comes with it

    return read_collection(
        options.collection,
        queries=options.queries,
        qrels=None if options.qrels is None else split_paths(options.qrels),
        **reading,
    )


def _collection(options: argparse.Namespace) -> int:
    if options.output is None and (options.to or options.force):
        raise InputError("--to and --force go with -o FOLDER")
    if options.output is not None and options.json:
        raise InputError("a description is printed: leave -o out, or redirect the output")
    collection = open_collection(
        options,
        encoding=options.encoding,
        fields=None if options.fields is None else options.fields.split(","),
        query_field=options.query_field,
        split=options.split,
    )
    if options.output is None:
        _show(collection, options)
    else:
        _export(collection, options)
    return 0


def _show(collection: Collection, options: argparse.Namespace) -> None:
    from heldout.as_json import json_text
    from heldout.report.collection import collection_text, describe

    if options.json:
        emit(json_text(describe(collection)))
    else:
        show(collection_text(collection, notes=not options.quiet))


def _export(collection: Collection, options: argparse.Namespace) -> None:
    from heldout.data.export import export_collection
    from heldout.report.tables import note_lines, plain_text

    export_collection(collection, options.output, options.to or "beir", force=options.force)
    if options.quiet:
        return
    sys.stderr.write("".join(line + "\n" for line in note_lines(collection.notes)))
    sys.stderr.write(
        f"{plain_text(options.output)}: {collection.sizes()}; fingerprint of the "
        f"original {collection.fingerprint()}\n"
    )

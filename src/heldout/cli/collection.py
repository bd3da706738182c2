"""The command ``collection``: arguments to library calls."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Any

from heldout.cli.files import emit, show, split_paths
from heldout.cli.help import group
from heldout.cli.options import (
    add_json,
    add_queries,
    add_query_field,
    add_quiet,
    add_reading,
    add_source,
)
from heldout.cli.output import add_output, output_format

if TYPE_CHECKING:
    import argparse
    from collections.abc import Callable

    from heldout.data.collection import Collection

__all__ = ["add_collection", "open_collection"]

_EXAMPLES = """\
  heldout collection show pydocs
  heldout collection show scifact --split train
  heldout collection export pydocs --to beir -o pydocs-beir
"""

_SHOW_EXAMPLES = """\
  heldout collection show pydocs
  heldout collection show cranfield/config.toml
  heldout collection show docs.jsonl.gz --queries topics.txt --qrels qrels.txt --json
"""

_SHOW_NOTES = """\
A collection is a BEIR folder, a MeTA folder or its config toml (line corpus), TREC documents (file
or folder), JSON lines, CSV, TSV or Parquet of documents, irds:NAME through ir_datasets, or pydocs,
which is made of the documentation of NumPy, SciPy and scikit-learn. Text may be compressed (.gz
.xz .bz2 .zst).
"""

_SHOW_FORMATS = ("auto", "text", "json")

_EXPORT_EXAMPLES = """\
  heldout collection export pydocs --to trec -o pydocs-trec
  heldout collection export scifact --split test --to lines -o scifact-lines
"""


def add_collection(command: Callable[..., argparse.ArgumentParser], commands: Any) -> None:
    """Add the command ``collection``."""
    parser = command(
        commands, "collection", "Show a collection, or write it in another format.", _EXAMPLES
    )
    parts = parser.add_subparsers(title="commands", metavar="COMMAND", required=True)
    _add_show(command, parts)
    _add_export(command, parts)


def open_collection(options: argparse.Namespace, **reading: Any) -> Collection:
    """Read the collection that the options name."""
    from heldout.data.collection_files import read_collection  # NumPy comes with it

    return read_collection(
        options.collection,
        queries=options.queries,
        qrels=None if options.qrels is None else split_paths(options.qrels),
        **reading,
    )


def _add_input(parser: argparse.ArgumentParser) -> None:
    add_source(parser)
    add_queries(parser)
    add_query_field(parser)
    add_reading(parser)
    add = group(parser, "input").add_argument
    add("--split", metavar="NAME", help="split of a BEIR folder (default: test)")


def _open(options: argparse.Namespace) -> Collection:
    return open_collection(
        options,
        encoding=options.encoding,
        fields=None if options.fields is None else options.fields.split(","),
        query_field=options.query_field,
        split=options.split,
    )


def _add_show(command: Callable[..., argparse.ArgumentParser], parts: Any) -> None:
    parser = command(
        parts,
        "show",
        "Print sizes, lengths, judgements, possible problems and the fingerprint.",
        _SHOW_EXAMPLES,
        notes=_SHOW_NOTES,
    )
    _add_input(parser)
    add_output(parser, _SHOW_FORMATS)
    add_quiet(parser, "leave out possible problems")
    parser.set_defaults(run=_show)


def _show(options: argparse.Namespace) -> int:
    from dataclasses import replace

    from heldout.data.describe import describe
    from heldout.report.collection import collection_json, collection_text

    kind = output_format(options.format, options.output, _SHOW_FORMATS, "text")
    description = describe(_open(options))
    if kind == "json":
        emit(collection_json(description), options.output)
    else:
        shown = replace(description, notes=()) if options.quiet else description
        show(collection_text(shown), options.output)
    return 0


def _add_export(command: Callable[..., argparse.ArgumentParser], parts: Any) -> None:
    parser = command(parts, "export", "Write a collection in another format.", _EXPORT_EXAMPLES)
    _add_input(parser)
    add = parser.add_argument
    add("--to", choices=("beir", "trec", "lines"), required=True, help="format")
    add = group(parser, "output").add_argument
    add("-o", "--output", metavar="FOLDER", required=True, help="folder to write")
    add("--force", action="store_true", help="replace an earlier export")
    add_json(parser, "print what was written as JSON")
    add_quiet(parser, "print nothing")
    parser.set_defaults(run=_export)


def _export(options: argparse.Namespace) -> int:
    from heldout.data.collection import collection_sizes
    from heldout.data.export import export_collection
    from heldout.report.tables import note_lines, plain_text

    collection = _open(options)
    export_collection(collection, options.output, options.to, force=options.force)
    if options.json:
        emit(_written(collection, options))
    if options.quiet:
        return 0
    sys.stderr.write("".join(line + "\n" for line in note_lines(collection.notes)))
    sys.stderr.write(
        f"{plain_text(options.output)}: {collection_sizes(collection)}; fingerprint of the "
        f"original {collection.fingerprint()}\n"
    )
    return 0


def _written(collection: Collection, options: argparse.Namespace) -> str:
    from heldout.as_json import json_text

    found = {
        "folder": options.output,
        "format": options.to,
        "documents": len(collection.documents),
        "queries": len(collection.queries),
        "judgements": len(collection.qrels),
        "fingerprint": collection.fingerprint(),
        "notes": [note.to_dict() for note in collection.notes],
    }
    return json_text(found)

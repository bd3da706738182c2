"""heldout collection: show a collection, or write it in another format."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from heldout.cli.inputs import open_collection
from heldout.cli.options import Parser, complete
from heldout.cli.output import emit, note
from heldout.errors import InputError

if TYPE_CHECKING:
    from collections.abc import Sequence

EXAMPLES: Final = """\
  heldout collection pydocs
  heldout collection cranfield/config.toml
  heldout collection docs.jsonl.gz --queries topics.txt --qrels qrels.txt --json
  heldout collection pydocs -o pydocs-beir
  heldout collection scifact --split train -o scifact-train --to lines
"""
NOTES: Final = """\
A collection is a BEIR folder, a MeTA folder or its config toml (line corpus), TREC documents (file
or folder), JSON lines, CSV, TSV or Parquet of documents, irds:NAME through ir_datasets, or pydocs,
which is made of the documentation of NumPy, SciPy and scikit-learn. Text may be compressed (.gz
.xz .bz2 .zst). Without -o its sizes, lengths, judgements, possible problems and fingerprint are
printed.
"""


def parser() -> Parser:
    """The parser of this command."""
    return Parser(
        "collection",
        "Show a collection, or write it in another format.",
        {"collection COLLECTION": "pydocs, irds:NAME, a folder or a file"},
        examples=EXAMPLES,
        notes=NOTES,
    )


def run(arguments: Sequence[str]) -> int:
    """Read the collection, and describe or export it."""
    options = complete(parser().read(arguments), "collection")
    if options.output is None and (options.to or options.force):
        raise InputError("--to and --force go with -o FOLDER")
    if options.output is not None and options.format:
        raise InputError("a description is printed: leave -o out, or redirect the output")
    collection = open_collection(
        options,
        encoding=options.encoding,
        fields=options.fields and options.fields.split(","),
        query_field=options.query_field,
        split=options.split,
    )
    from heldout.report.table import note_lines, paragraphs, printable

    notes = note_lines(collection.notes)
    if options.output is not None:
        from heldout.data.export import export_collection

        export_collection(collection, options.output, options.to or "beir", force=options.force)
        original = f"fingerprint of the original {collection.fingerprint()}"
        written = f"{printable(options.output)}: {collection.sizes()}; {original}"
        note([*notes, written], options)
        return 0
    from heldout.report.listings import collection_record, record_text

    record = collection_record(collection)
    if options.format:
        from heldout.as_json import json_text

        emit(json_text(record))
    else:
        emit(record_text(record) + paragraphs([] if options.quiet else notes))
    return 0

"""heldout collection: show a collection, or write it in another format."""

from heldout.as_json import json_text
from heldout.cli.inputs import open_collection
from heldout.cli.options import Parser, complete
from heldout.cli.output import emit, note
from heldout.errors import InputError


def parser() -> Parser:
    """The parser of this command."""
    return Parser(
        "collection",
        "Show a collection, or write it in another format.",
        {"collection COLLECTION": "pydocs, irds:NAME, a folder or a file"},
        examples="""\
  heldout collection pydocs
  heldout collection cranfield/config.toml
  heldout collection docs.jsonl.gz --queries topics.txt --qrels qrels.txt --json
  heldout collection scifact --split train -o scifact-train --to lines
""",
        notes="""\
A collection is a BEIR folder, a MeTA folder or its config toml (line corpus), TREC documents (file
or folder), JSON lines, CSV, TSV or Parquet of documents, irds:NAME through ir_datasets, or pydocs,
which is made of the documentation of NumPy, SciPy and scikit-learn. Text may be compressed (.gz
.xz .bz2 .zst). Without -o its sizes, lengths, judgements, possible problems and fingerprint are
printed.
""",
    )


def run(arguments: list[str]) -> int:
    """Read the collection, and describe or export it."""
    options = complete(parser().read(arguments), "collection")
    if options.output is None and (options.to or options.force):
        raise InputError("--to and --force go with -o FOLDER")
    if options.output is not None and options.format:
        raise InputError("a description is printed: leave -o out, or redirect the output")
    from heldout.report.listings import collection_record, record_text
    from heldout.report.table import note_lines, paragraphs, printable

    collection = open_collection(
        options,
        encoding=options.encoding,
        fields=options.fields and options.fields.split(","),
        query_field=options.query_field,
        split=options.split,
    )
    notes = note_lines(collection.notes)
    if options.output is not None:
        from heldout.data.export import export_collection

        export_collection(collection, options.output, options.to or "beir", force=options.force)
        original = f"fingerprint of the original {collection.fingerprint()}"
        written = f"{printable(options.output)}: {collection.sizes()}; {original}"
        note([*notes, written], options)
        return 0
    record = collection_record(collection)
    below = paragraphs([] if options.quiet else notes)
    emit(json_text(record) if options.format else record_text(record) + below)
    return 0

"""heldout index: index a collection, or show an index."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

from heldout.as_json import json_text
from heldout.cli.options import Parser, complete
from heldout.cli.output import emit, note
from heldout.cli.progress import progress_bar
from heldout.errors import Argument, InputError

if TYPE_CHECKING:
    import argparse

    from heldout.data.documents import Documents
    from heldout.retrieve.analyze import Analyzer
    from heldout.retrieve.index import Index


def parser() -> Parser:
    """The parser of this command."""
    words = "pydocs, irds:NAME, a folder or a file; or an index: show it"
    return Parser(
        "index",
        "Index a collection, or show an index.",
        {"collection COLLECTION_OR_INDEX": words},
        examples="""\
  heldout index pydocs -o pydocs.index
  heldout index scifact --stemmer english --stop english -o scifact.index
  heldout index docs.jsonl.gz --max-memory 500MB --jobs 4 -o docs.index
  heldout index pydocs.index                            show an index
  heldout index pydocs.index --verify                   compare every byte with its checksums
""",
        notes="""\
One index serves every model, every split of the documents and every bootstrap sample. It does not
depend on the number of threads or the memory that built it, and it knows its documents. Queries
and judgements are not needed to build it.
""",
    )


def run(arguments: list[str]) -> int:
    """Build and write an index, or show one."""
    given = parser().read(arguments)
    from heldout.report.listings import index_record, record_text
    from heldout.retrieve.index import Index
    from heldout.retrieve.index_files import index_size, is_index

    shown = is_index(given.collection)
    options = complete(given, "index", "index" if shown else "collection")
    if shown:
        index = Index.open(options.collection)
        if options.verify:
            try:
                index.verify()
            except InputError as error:
                raise InputError(f"{options.collection}: {error}") from None
            note(["all checksums match"], options)
    else:
        index = _build(options)
    if shown or options.format or not options.quiet:
        record = index_record(index, index_size(options.collection if shown else options.output))
        text = record_text(record | {"analyzer": record["analyzer"].replace("|", ", ")})
        emit(json_text(record) if options.format else text)
    return 0


def _build(options: argparse.Namespace) -> Index:
    from heldout.data.collection_files import read_documents
    from heldout.report.table import note_lines
    from heldout.retrieve.index import MEMORY
    from heldout.retrieve.index_files import is_index

    source, output = options.collection, options.output
    if output is None:
        raise InputError(f"{source} is not an index: to build one, name it with -o FOLDER")
    if Path(output).exists():
        if not is_index(output):
            raise InputError(f"{output} exists and is not an index: choose another name with -o")
        if not options.force:
            raise InputError(f"{output} exists: replace it with ", Argument("force", "True"))
    analyzer = given_analyzer(options)
    fields = options.fields and options.fields.split(",")
    documents = read_documents(source, encoding=options.encoding, fields=fields)
    settings = {"memory": options.max_memory or MEMORY, "threads": options.jobs}
    index = build_index(documents, analyzer, quiet=options.quiet, path=output, **settings)
    note(note_lines(documents.notes), options)
    return index


def given_analyzer(options: argparse.Namespace) -> Analyzer | None:
    """The analyzer that the options ask for; None where they ask for nothing."""
    given = {name: getattr(options, name) for name in ("stop", "stemmer")}
    values: dict[str, Any] = {name: value for name, value in given.items() if value is not None}
    values |= {"lower": False} if getattr(options, "keep_case", False) else {}
    if not values:
        return None
    from heldout.retrieve.analyze import Analyzer  # NumPy comes with it

    return Analyzer(**values)


def build_index(
    documents: Documents, analyzer: Analyzer | None, *, quiet: bool, **settings: Any
) -> Index:
    """Build an index; a bar on a terminal shows progress."""
    from heldout.retrieve.index import Index

    with progress_bar("documents", quiet=quiet) as progress:
        return Index.build(documents, analyzer, progress=progress, **settings)

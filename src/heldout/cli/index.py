"""heldout index: index a collection, or show an index."""

from __future__ import annotations

import re
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from heldout.cli.options import Parser, complete
from heldout.cli.output import emit, note
from heldout.cli.progress import progress_bar
from heldout.errors import Argument, InputError

if TYPE_CHECKING:
    import argparse
    from collections.abc import Sequence

    from heldout.data.documents import Documents
    from heldout.retrieve.analyze import Analyzer
    from heldout.retrieve.index import Index

EXAMPLES: Final = """\
  heldout index pydocs -o pydocs.index
  heldout index scifact --stemmer english --stop english -o scifact.index
  heldout index docs.jsonl.gz --max-memory 500MB --jobs 4 -o docs.index
  heldout index pydocs.index                            show an index
  heldout index pydocs.index --verify                   compare every byte with its checksums
"""
NOTES: Final = """\
One index serves every model, every split of the documents and every bootstrap sample. It does not
depend on the number of threads or the memory that built it, and it knows its documents. Queries
and judgements are not needed to build it.
"""


def parser() -> Parser:
    """The parser of this command."""
    words = "pydocs, irds:NAME, a folder or a file; or an index: show it"
    summary = "Index a collection, or show an index."
    what = {"collection COLLECTION_OR_INDEX": words}
    return Parser("index", summary, what, examples=EXAMPLES, notes=NOTES)


def run(arguments: Sequence[str]) -> int:
    """Build and write an index, or show one."""
    given = parser().read(arguments)
    from heldout.retrieve.index_files import is_index

    kind = "index" if is_index(given.collection) else "collection"
    options = complete(given, "index", kind)
    return _show(options) if kind == "index" else _build(options)


def given_analyzer(options: argparse.Namespace) -> Analyzer | None:
    """The analyzer that the options ask for; None where they ask for nothing."""
    names = [name for name in ("stop", "stemmer") if getattr(options, name) is not None]
    values: dict[str, Any] = {name: getattr(options, name) for name in names}
    values |= {"lower": False} if getattr(options, "keep_case", False) else {}
    if not values:
        return None
    from heldout.retrieve.analyze import Analyzer  # NumPy comes with it

    return Analyzer(**values)


def build_index(
    documents: Documents, analyzer: Analyzer | None, *, quiet: bool = False, **settings: Any
) -> Index:
    """Build an index; a bar on a terminal shows progress."""
    from heldout.retrieve.index import Index

    with progress_bar("documents", quiet=quiet) as progress:
        return Index.build(documents, analyzer, progress=progress, **settings)


def _show(options: argparse.Namespace) -> int:
    from heldout.retrieve.index import Index

    index = Index.open(options.collection)
    if options.verify:
        try:
            index.verify()
        except InputError as error:
            raise InputError(f"{options.collection}: {error}") from None
    _print(index, options.collection, options)
    note(["all checksums match"] if options.verify else [], options)
    return 0


def _build(options: argparse.Namespace) -> int:
    import time

    from heldout.data.collection_files import read_documents
    from heldout.report.table import note_lines
    from heldout.retrieve.index import MEMORY
    from heldout.retrieve.index_files import is_index

    output = options.output
    if output is None:
        try:
            read_documents(options.collection)
        except InputError as error:
            raise InputError(f"neither an index of heldout nor a collection: {error}") from None
        raise InputError(f"name the index of {options.collection} to write: -o FOLDER")
    if Path(output).exists():
        if not is_index(output):
            raise InputError(f"{output} exists and is not an index: choose another name with -o")
        if not options.force:
            raise InputError(f"{output} exists: replace it with ", Argument("force", "True"))
    analyzer, begin = given_analyzer(options), time.perf_counter()
    fields = options.fields and options.fields.split(",")
    documents = read_documents(options.collection, encoding=options.encoding, fields=fields)
    limit = options.max_memory or MEMORY
    settings = {"path": output, "memory": limit, "threads": options.jobs}
    index = build_index(documents, analyzer, quiet=options.quiet, **settings)
    lines = [*note_lines(documents.notes), f"indexed in {time.perf_counter() - begin:.1f} s"]
    if options.format or not options.quiet:
        _print(index, output, options)
    if options.max_memory is not None and (peak := _peak_memory()) > limit:
        lines.append(
            f"note: the process took {peak >> 20:,} MB, more than --max-memory {limit >> 20:,} MB: "
            "the program, ids and vocabulary need that much"
        )
    note(lines, options)
    return 0


def _peak_memory() -> int:
    """The peak memory of this process in bytes; 0 where the system does not say."""
    status = Path("/proc/self/status")  # `resource` would include the peak of the parent
    found = re.search(r"VmHWM:\s*(\d+) kB", status.read_text("ascii")) if status.exists() else None
    return int(found[1]) << 10 if found else 0


def _print(index: Index, path: str, options: argparse.Namespace) -> None:
    from heldout.as_json import json_text
    from heldout.report.listings import index_record, record_text
    from heldout.retrieve.index_files import index_size

    record = index_record(index, index_size(path))
    shown = record | {"analyzer": record["analyzer"].replace("|", ", ")}
    emit(json_text(record) if options.format else record_text(shown))

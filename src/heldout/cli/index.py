"""The command ``index``: arguments to library calls."""

from __future__ import annotations

import re
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from heldout.cli.files import emit, show
from heldout.cli.old_help import group
from heldout.cli.old_options import (
    TEXT,
    add_json,
    add_quiet,
    add_reading,
    add_source,
    add_stemming,
    positive,
    size,
)
from heldout.cli.progress import progress_bar
from heldout.errors import InputError

if TYPE_CHECKING:
    import argparse
    import os
    from collections.abc import Callable

    from heldout.data.documents import Documents
    from heldout.retrieve.analyze import Analyzer
    from heldout.retrieve.index import Index

__all__ = ["add_index", "build_index", "given_analyzer"]

_EXAMPLES = """\
  heldout index pydocs -o pydocs.index
  heldout index scifact --stemmer english --stop english -o scifact.index
  heldout index docs.jsonl.gz --max-memory 500MB --jobs 4 -o docs.index
  heldout index pydocs.index                            show an index
  heldout index pydocs.index --verify                   compare every byte with its checksums
"""

_NOTES = """\
One index serves every model, every split of the documents and every bootstrap sample. It does not
depend on the number of threads or the memory that built it, and it knows its documents. Queries
and judgements are not needed to build it.
"""

_ANALYZER_OPTIONS: Final = ("keep_case", "stop", "stemmer")


def given_analyzer(options: argparse.Namespace) -> Analyzer | None:
    """The analyzer that the options ask for; None where they ask for nothing."""
    values: dict[str, Any] = {name: getattr(options, name, None) for name in _ANALYZER_OPTIONS}
    values = {name: value for name, value in values.items() if value is not None}
    if not values:
        return None
    from heldout.retrieve.analyze import Analyzer  # NumPy comes with it

    if values.pop("keep_case", False):
        values["lower"] = False
    return Analyzer(**values)


def build_index(
    documents: Documents,
    analyzer: Analyzer | None,
    *,
    path: str | None = None,
    memory: int | None = None,
    threads: int | None = None,
    quiet: bool = False,
) -> Index:
    """Build an index; a bar on a terminal shows progress."""
    from heldout.retrieve.index import MEMORY, Index

    room = MEMORY if memory is None else memory
    with progress_bar("documents", quiet=quiet) as progress:
        return Index.build(
            documents, analyzer, path=path, memory=room, threads=threads, progress=progress
        )


def add_index(command: Callable[..., argparse.ArgumentParser], commands: Any) -> None:
    """Add the command ``index``."""
    parser = command(
        commands, "index", "Index a collection, or show an index.", _EXAMPLES, notes=_NOTES
    )
    add_source(parser, "show it")
    add_reading(parser)
    add_stemming(parser)
    group(parser, TEXT).add_argument(
        "--keep-case", action="store_true", default=None, help="keep upper and lower case"
    )
    add = parser.add_argument
    add("--verify", action="store_true", help="compare every byte of an index with its checksums")
    add = group(parser, "output").add_argument
    add("-o", "--output", metavar="FOLDER", help="index to write")
    add("--force", action="store_true", help="replace an existing index")
    add_json(parser, "print the contents of the index as JSON")
    add_quiet(parser, "build silently; show an index without notes")
    add = group(parser, "execution").add_argument
    add("--jobs", type=positive, metavar="N", help="threads (default: one per core)")
    add(
        "--max-memory",
        type=size,
        metavar="SIZE",
        help="memory of the process (default: 1GB), unless ids and vocabulary need more; postings "
        "go to temporary files",
    )
    parser.set_defaults(run=_index)


def _index(options: argparse.Namespace) -> int:
    from heldout.retrieve.index_files import is_index

    if is_index(options.collection):
        return _show(options)
    if options.verify:
        raise InputError(f"{options.collection}: not an index of heldout, nothing to verify")
    if options.output is None:
        from heldout.data.collection_files import read_documents

        try:
            read_documents(options.collection)
        except InputError as error:
            raise InputError(f"neither an index of heldout nor a collection: {error}") from None
        raise InputError(f"name the index of {options.collection} to write: -o FOLDER")
    return _build(options)


def _show(options: argparse.Namespace) -> int:
    from heldout.retrieve.index import Index

    if options.output is not None:
        raise InputError(f"{options.collection} is an index already: give a collection, or no -o")
    if given_analyzer(options) is not None:
        raise InputError(f"{options.collection} is an index, which has its own analyzer")
    index = Index.open(options.collection)
    if options.verify:
        try:
            index.verify()
        except InputError as error:
            raise InputError(f"{options.collection}: {error}") from None
    _print(index, options.collection, options)
    if options.verify and not options.quiet:
        sys.stderr.write("all checksums match\n")
    return 0


def _build(options: argparse.Namespace) -> int:
    import time

    from heldout.data.collection_files import read_documents

    _refuse_to_replace(options.output, force=options.force)
    analyzer = given_analyzer(options)
    begin = time.perf_counter()
    fields = None if options.fields is None else options.fields.split(",")
    documents = read_documents(options.collection, encoding=options.encoding, fields=fields)
    index = build_index(
        documents,
        analyzer,
        path=options.output,
        memory=options.max_memory,
        threads=options.jobs,
        quiet=options.quiet,
    )
    seconds = time.perf_counter() - begin
    if options.json or not options.quiet:
        _print(index, options.output, options)
    if options.quiet:
        return 0
    from heldout.report.tables import note_lines

    sys.stderr.write("".join(line + "\n" for line in note_lines(documents.notes)))
    sys.stderr.write(f"indexed in {seconds:.1f} s\n")
    if options.max_memory is not None:
        _tell_memory(options.max_memory)
    return 0


def _tell_memory(limit: int) -> None:
    """Say that the process took more memory than it should."""
    peak = _peak_memory()
    if peak > limit:
        taken, allowed = (
            f"{size / 2**30:.1f} GB" if size >= 2**30 else f"{max(size >> 20, 1)} MB"
            for size in (peak, limit)
        )
        sys.stderr.write(
            f"note: the process took {taken}, more than --max-memory {allowed}: the program, ids "
            "and vocabulary need that much\n"
        )


def _peak_memory() -> int:
    """Return the peak memory of this process in bytes; 0 if unknown."""
    if sys.platform == "win32":
        return 0
    try:  # `resource` would include the peak of the process that started this one
        status = Path("/proc/self/status").read_text(encoding="ascii")
    except OSError:
        status = ""
    match = re.search(r"VmHWM:\s*(\d+) kB", status)
    if match:
        return int(match[1]) * 1024
    import resource

    peak = int(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss)
    return peak if sys.platform == "darwin" else peak * 1024


def _refuse_to_replace(output: str, *, force: bool) -> None:
    """Refuse, before anything is read, to destroy something at the end."""
    from heldout.retrieve.index_files import is_index

    if not Path(output).exists():
        return
    if not is_index(output):
        raise InputError(f"{output} exists and is not an index: choose another name with -o")
    if not force:
        raise InputError(f"{output} exists: replace it with --force")


def _print(index: Index, path: str | os.PathLike[str], options: argparse.Namespace) -> None:
    from heldout.report.search import index_json, index_text
    from heldout.retrieve.index_files import index_size

    size = index_size(path)
    if options.json:
        emit(index_json(index, size), None)
    else:
        show(index_text(index, size))

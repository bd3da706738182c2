"""The command ``search``: arguments to library calls."""

from __future__ import annotations

import sys
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from heldout.cli.files import emit
from heldout.cli.old_help import group
from heldout.cli.index import build_index, given_analyzer
from heldout.cli.old_options import (
    add_query_field,
    add_quiet,
    add_source,
    add_stemming,
    positive,
)
from heldout.cli.run_output import add_run_output, print_run, run_format
from heldout.cli.search_vectors import METRICS, is_vectors, refuse_text_options, search_vectors
from heldout.errors import InputError
from heldout.notes import count_of

if TYPE_CHECKING:
    import argparse
    from collections.abc import Callable

    from heldout.data.documents import Documents
    from heldout.data.queries import Queries
    from heldout.data.run import Run
    from heldout.notes import Note
    from heldout.retrieve.index import Index
    from heldout.retrieve.models import Model

__all__ = ["add_search"]

_EXAMPLES = """\
  heldout search pydocs -o bm25.run
  heldout search pydocs --query "invert a matrix"
  heldout search pydocs --model 'ql-dirichlet(mu=500)' -o ql.run
  heldout search scifact --stemmer english --model 'bm25(k1=0.9, b=0.4)' -o bm25.run
  heldout search pydocs --index pydocs.index -o bm25.run
  heldout search pydocs.index --queries topics.txt -k 100 > bm25.run
  heldout search docs.npy --queries queries.npy --metric cosine -o dense.run
"""

_NOTES = """\
A collection is indexed in memory on every call; for a large one build the index once (heldout
index) and name it with --index; it must be of the same documents. The run is written to -o FILE
(.csv, .tsv, .json, .parquet, else TREC; compressed with .gz), or as TREC lines to standard output;
heldout eval measures it.
Vectors (.npy, one row per document or query) have their ids in docs.ids or docs.txt beside them,
one per line. All documents are compared: the ranking is exact.
"""

_MOST = 1000
_MOST_SHOWN = 10


def add_search(command: Callable[..., argparse.ArgumentParser], commands: Any) -> None:
    """Add the command ``search``."""
    parser = command(
        commands, "search", "Search a collection and write a run.", _EXAMPLES, notes=_NOTES
    )
    add_source(parser, "with --queries or --query")
    add = parser.add_argument
    add(
        "--model",
        default="bm25",
        metavar="MODEL",
        help="model, such as bm25(k1=0.9, b=0.4); see heldout list models (default: bm25)",
    )
    add("--metric", choices=METRICS, help="how vectors are compared (default: cosine)")
    add("--query", metavar="WORDS", help="show the best documents for these words")
    add(
        "-k",
        "--depth",
        type=positive,
        metavar="N",
        help=f"documents per query (default: {_MOST}; with --query {_MOST_SHOWN})",
    )
    add = group(parser, "input").add_argument
    add("--queries", metavar="FILE", help="queries, if the collection has none")
    add_query_field(parser)
    add("--index", metavar="FOLDER", help="index of the collection (see heldout index)")
    add_stemming(parser)
    add_run_output(parser, "print the documents or the run as JSON")
    add_quiet(parser)
    parser.set_defaults(run=_search)


def _search(options: argparse.Namespace) -> int:
    from heldout.retrieve.index_files import is_index
    from heldout.retrieve.models import parse_model

    model = parse_model(options.model)
    _refuse_misfits(options)
    kind = run_format(options)
    if options.query is not None:
        return _show_found(options, model)
    if is_vectors(options.collection):
        run, lines = search_vectors(options, options.depth or _MOST)
    else:
        given = _from_index(options) if is_index(options.collection) else _from_collection(options)
        run = _run(given, model, options)
        lines = _notes(given, run)
    if options.output is not None:
        run.write(options.output, kind)
    if not options.quiet:
        sys.stderr.write("".join(line + "\n" for line in lines))
    if options.output is None:
        print_run(run, json=options.json)
    return 0


def _refuse_misfits(options: argparse.Namespace) -> None:
    """Refuse options that say nothing together, before anything is read."""
    refuse_text_options(options)
    if options.query is None:
        return
    for name in ("queries", "output"):
        if getattr(options, name):
            raise InputError(
                f"--query shows documents and writes no run, so --{name} has no effect: put the "
                "query into a file (--queries FILE)"
            )


@dataclass(frozen=True, slots=True)
class _Given:
    """What is searched: an index, and queries."""

    index: Index
    queries: Queries
    notes: tuple[Note, ...] = ()


def _from_collection(options: argparse.Namespace) -> _Given:
    from heldout.data.collection_files import read_collection

    named = _open_named(options)
    collection = read_collection(
        options.collection, queries=options.queries, query_field=options.query_field
    )
    index = named or build_index(collection.documents, given_analyzer(options), quiet=options.quiet)
    _refuse_other(index, collection.documents, options)
    return _Given(index, collection.queries, collection.notes)


def _from_index(options: argparse.Namespace) -> _Given:
    """An index alone: queries must be given beside it."""
    from heldout.data.files import Reading
    from heldout.data.queries import read_queries

    if options.queries is None:
        raise InputError(
            f"{options.collection} is an index, which has no queries: give --queries FILE, "
            "--query WORDS, or the collection with --index"
        )
    index = _open_alone(options)
    queries = read_queries(options.queries, Reading(), field=options.query_field, first_line=1)
    return _Given(index, queries, tuple(queries.notes()))


def _open_alone(options: argparse.Namespace) -> Index:
    from heldout.retrieve.index import Index

    if options.index is not None:
        raise InputError(
            f"{options.collection} is an index already: --index goes with a collection"
        )
    _refuse_analyzer(options, options.collection)
    return Index.open(options.collection)


def _open_named(options: argparse.Namespace) -> Index | None:
    """The index that the options name, if they do."""
    if options.index is None:
        return None
    from heldout.retrieve.index import Index

    _refuse_analyzer(options, options.index)
    return Index.open(options.index)


def _refuse_other(index: Index, documents: Documents, options: argparse.Namespace) -> None:
    """Refuse an index of other documents."""
    if index.documents_digest != documents.digest:
        raise InputError(
            f"{options.index} is not an index of the documents that {options.collection} has now "
            f"({index.n_documents} there, {len(documents)} here; text or ids differ): build it "
            f"again with heldout index {options.collection} -o {options.index} --force"
        )


def _refuse_analyzer(options: argparse.Namespace, path: str) -> None:
    if given_analyzer(options) is not None:
        raise InputError(
            f"{path} has its own analyzer, which is used for queries too: leave --stemmer, --stop "
            "and similar options out, or build another index"
        )


def _run(given: _Given, model: Model, options: argparse.Namespace) -> Run:
    from heldout.retrieve.search import search

    depth = min(options.depth or _MOST, max(given.index.n_documents, 1))
    name = str(model).replace(" ", "")
    run = search(given.index, given.queries, model, k=depth, name=name)
    if not len(run):
        raise InputError(
            f"no document contains a word of any of the {len(given.queries)} queries: wrong "
            "language, or wrong analyzer?"
        )
    return run


def _notes(given: _Given, run: Run) -> list[str]:
    """What is printed about a run."""
    from heldout.notes import Note, named_few
    from heldout.report.tables import note_lines, plain_text

    notes = list(given.notes)
    found = set(run.queries)
    without = [one for one in given.queries.ids if one not in found]
    if without:
        named = named_few(without, len(without))
        text = f"queries that no document has a word of, not in the run: {len(without)} ({named})"
        notes.append(Note("no-words", text, count=len(without)))
    made = (
        f"{run.name}: {count_of(len(run.queries), 'query', 'queries')}, "
        f"{count_of(len(run), 'row')}, from the index {given.index.fingerprint[:16]} of "
        f"{count_of(given.index.n_documents, 'document')}"
    )
    return [*note_lines(notes), plain_text(made)]


def _show_found(options: argparse.Namespace, model: Model) -> int:
    """Search for words and show the best documents."""
    import shutil

    from heldout.data.collection_files import read_documents
    from heldout.report.search import found_json, found_text
    from heldout.retrieve.index_files import is_index
    from heldout.retrieve.search import search_terms

    documents = None if is_index(options.collection) else read_documents(options.collection)
    if documents is None:
        index = _open_alone(options)
    else:
        index = _open_named(options) or build_index(
            documents, given_analyzer(options), quiet=options.quiet
        )
        _refuse_other(index, documents, options)
    depth = min(options.depth or _MOST_SHOWN, max(index.n_documents, 1))
    numbers, scores = search_terms(index, index.encode([options.query]), model, depth)
    found = [(n, s) for n, s in zip(numbers[0].tolist(), scores[0].tolist(), strict=True) if n >= 0]
    if not found:
        terms = ", ".join(dict.fromkeys(index.analyzer.analyze(options.query))) or "none"
        raise InputError(
            f"no document contains a word of the query {options.query!r} (its terms: {terms})"
        )
    rows = [
        (score, index.document_ids[number], _first_line(documents, number))
        for number, score in found
    ]
    if options.json:
        emit(found_json(rows))
        return 0
    width = shutil.get_terminal_size((100, 24)).columns if sys.stdout.isatty() else 100
    sys.stdout.write(found_text(rows, width=width))
    return 0


def _first_line(documents: Documents | None, number: int) -> str:
    if documents is None:
        return ""
    lines = (line.strip() for line in documents.text(number).splitlines())
    return next(filter(None, lines), "")

"""heldout search: rank the documents of a collection, an index or a file of vectors."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from heldout.cli.index import build_index, given_analyzer
from heldout.cli.options import Parser, complete
from heldout.cli.output import emit, note, print_run, run_format, terminal_width
from heldout.errors import InputError
from heldout.notes import Note, count_of, named_few

if TYPE_CHECKING:
    import argparse
    from collections.abc import Iterable, Sequence

    from heldout.data.documents import Documents
    from heldout.data.queries import Queries
    from heldout.data.run import Run
    from heldout.retrieve.index import Index
    from heldout.retrieve.models import Model

EXAMPLES: Final = """\
  heldout search pydocs -o bm25.run
  heldout search pydocs --query "invert a matrix"
  heldout search pydocs --model 'ql-dirichlet(mu=500)' -o ql.run
  heldout search scifact --stemmer english --model 'bm25(k1=0.9, b=0.4)' -o bm25.run
  heldout search pydocs --index pydocs.index -o bm25.run
  heldout search pydocs.index --queries topics.txt -k 100 > bm25.run
  heldout search docs.npy --queries queries.npy --metric cosine -o dense.run
"""
NOTES: Final = """\
A collection is indexed in memory on every call; for a large one build the index once (heldout
index) and name it with --index; it must be of the same documents. The run is written to -o FILE
(.csv, .tsv, .json, .parquet, else TREC; compressed with .gz), or as TREC lines to standard output;
heldout eval measures it.
Vectors (.npy, one row per document or query) have their ids in docs.ids or docs.txt beside them,
one per line. All documents are compared: the ranking is exact.
"""
MOST: Final = 1000  # documents of a query …
MOST_SHOWN: Final = 10  # … and of words that are given as a query


def parser() -> Parser:
    """The parser of this command."""
    words = "pydocs, irds:NAME, a folder or a file; or an index, with --queries or --query"
    summary = "Search a collection and write a run."
    what = {"collection COLLECTION_OR_INDEX": words}
    return Parser("search", summary, what, examples=EXAMPLES, notes=NOTES)


def run(arguments: Sequence[str]) -> int:
    """Search, and write a run or show what was found."""
    given = parser().read(arguments)
    if given.collection.lower().endswith(".npy"):
        return _search_vectors(complete(given, "search", "vectors"))
    from heldout.data.collection_files import read_collection, read_documents
    from heldout.data.files import Reading
    from heldout.data.queries import read_queries
    from heldout.retrieve.index_files import is_index
    from heldout.retrieve.models import parse_model

    source, alone = given.collection, is_index(given.collection)
    options = complete(given, "search", "index" if alone else "collection")
    model, field = parse_model(options.model), options.query_field
    run_format(options.output)  # a wrong one is refused before anything is read
    if options.query is not None:
        for name in ("queries", "output"):
            if getattr(options, name):
                raise InputError(
                    f"--query shows documents and writes no run, so --{name} has no effect: put "
                    "the query into a file (--queries FILE)"
                )
        documents = None if alone else read_documents(source)
        return _show(_index_of(documents, options), documents, model, options)
    if alone:
        if options.queries is None:
            raise InputError(
                f"{source} is an index, which has no queries: give --queries FILE, --query WORDS, "
                "or the collection with --index"
            )
        queries = read_queries(options.queries, Reading(), field=field, first_line=1)
        return _search(_index_of(None, options), queries, queries.notes(), model, options)
    collection = read_collection(source, queries=options.queries, query_field=field)
    index = _index_of(collection.documents, options)
    return _search(index, collection.queries, collection.notes, model, options)


def _index_of(documents: Documents | None, options: argparse.Namespace) -> Index:
    """The index that is named, which must be of these documents, or a new one."""
    from heldout.retrieve.index import Index

    if documents is None:
        return Index.open(options.collection)
    analyzer = given_analyzer(options)
    if options.index is None:
        return build_index(documents, analyzer, quiet=options.quiet)
    if analyzer is not None:
        raise InputError(
            f"{options.index} has its own analyzer, which is used for queries, too: leave "
            "--stemmer and --stop out, or build another index"
        )
    index = Index.open(options.index)
    if index.documents_digest != documents.digest:
        raise InputError(
            f"{options.index} is not an index of the documents that {options.collection} has now "
            f"({index.n_documents} there, {len(documents)} here; text or ids differ): build it "
            f"again with heldout index {options.collection} -o {options.index} --force"
        )
    return index


def _search(
    index: Index, queries: Queries, known: Iterable[Note], model: Model, options: argparse.Namespace
) -> int:
    """Search for all queries, write the run, and say what is noticed."""
    from heldout.report.table import note_lines
    from heldout.retrieve.search import search

    depth = min(options.depth or MOST, max(index.n_documents, 1))
    run = search(index, queries, model, k=depth, name=str(model).replace(" ", ""))
    if not len(run):
        raise InputError(
            f"no document contains a word of any of the {len(queries)} queries: wrong language, or "
            "wrong analyzer?"
        )
    notes, found = list(known), set(run.queries)
    if without := [query for query in queries.ids if query not in found]:
        named = named_few(without, len(without))
        text = f"queries that no document has a word of, not in the run: {len(without)} ({named})"
        notes.append(Note("no-words", text, count=len(without)))
    documents = count_of(index.n_documents, "document")
    how = f"from the index {index.fingerprint[:16]} of {documents}"
    return _write(run, note_lines(notes), how, options)


def _search_vectors(options: argparse.Namespace) -> int:
    """Rank vectors of documents for vectors of queries."""
    from heldout.data.embeddings import read_embeddings
    from heldout.retrieve.dense import rank_vectors

    if options.queries is None or not options.queries.lower().endswith(".npy"):
        raise InputError(
            f"{options.collection} has vectors of documents: give vectors of queries, too, such as "
            "--queries queries.npy"
        )
    run_format(options.output)
    documents, queries = map(read_embeddings, (options.collection, options.queries))
    run = rank_vectors(documents, queries, metric=options.metric, k=options.depth or MOST)
    vectors = count_of(len(documents), "vector")
    dimensions = count_of(documents.dimensions, "dimension")
    return _write(run, [], f"by {options.metric} of {vectors} of {dimensions}", options)


def _write(run: Run, lines: list[str], how: str, options: argparse.Namespace) -> int:
    size = f"{count_of(len(run.queries), 'query', 'queries')}, {count_of(len(run), 'row')}"
    if options.output is not None:
        run.write(options.output, run_format(options.output))
    note([*lines, f"{run.name}: {size}, {how}"], options)
    if options.output is None:
        print_run(run, json=bool(options.format))
    return 0


def _show(
    index: Index, documents: Documents | None, model: Model, options: argparse.Namespace
) -> int:
    """Show the best documents for the words of a query."""
    from heldout.as_json import json_text
    from heldout.report.table import Table, text_table
    from heldout.retrieve.search import search_terms

    depth, query = options.depth or MOST_SHOWN, options.query
    numbers, scores = search_terms(index, index.encode([query]), model, depth)
    hits = [
        (score, index.document_ids[number], "" if documents is None else documents.text(number))
        for number, score in zip(numbers[0].tolist(), scores[0].tolist(), strict=True)
        if number >= 0
    ]
    if not hits:
        terms = ", ".join(dict.fromkeys(index.analyzer.analyze(query))) or "none"
        raise InputError(f"no document contains a word of the query {query!r} (its terms: {terms})")
    names = ("rank", "score", "document", "text")
    hits = [(score, name, f"{text.strip()}\n".splitlines()[0]) for score, name, text in hits]
    if options.format:
        emit(json_text([dict(zip(names, (n, *hit), strict=True)) for n, hit in enumerate(hits, 1)]))
    else:
        # Of a long line the table shows the beginning and the end.
        rows = [
            [str(rank), f"{score:.4f}", document, line[:200]]
            for rank, (score, document, line) in enumerate(hits, 1)
        ]
        emit(text_table(Table(names, rows, left=4), terminal_width() or 100))
    return 0

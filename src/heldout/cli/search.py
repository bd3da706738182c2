"""heldout search: rank the documents of a collection, an index or a file of vectors."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from heldout.as_json import json_text
from heldout.cli.index import build_index, given_analyzer
from heldout.cli.options import Parser, complete
from heldout.cli.output import emit, note, run_format, terminal_width, write_run
from heldout.errors import InputError
from heldout.notes import Note, count_of, named_few

if TYPE_CHECKING:
    import argparse

    from heldout.data.documents import Documents
    from heldout.data.run import Run
    from heldout.retrieve.index import Index
    from heldout.retrieve.models import Model

MOST: Final = 1000  # documents of a query …
MOST_SHOWN: Final = 10  # … and of words that are given as a query


def parser() -> Parser:
    """The parser of this command."""
    words = "pydocs, irds:NAME, a folder or a file; or an index, with --queries or --query"
    return Parser(
        "search",
        "Search a collection and write a run.",
        {"collection COLLECTION_OR_INDEX": words},
        examples="""\
  heldout search pydocs -o bm25.run
  heldout search pydocs --query "invert a matrix"
  heldout search scifact --stemmer english --model 'bm25(k1=0.9, b=0.4)' -o bm25.run
  heldout search pydocs --index pydocs.index -o bm25.run
  heldout search pydocs.index --queries topics.txt -k 100 > bm25.run
  heldout search docs.npy --queries queries.npy --metric cosine -o dense.run
""",
        notes="""\
A collection is indexed in memory on every call; for a large one build the index once (heldout
index) and name it with --index; it must be of the same documents. The run is written to -o FILE
(.csv, .tsv, .json, .parquet, else TREC; compressed with .gz), or as TREC lines to standard output;
heldout eval measures it.
Vectors (.npy, one row per document or query) have their ids in docs.ids or docs.txt beside them,
one per line. All documents are compared: the ranking is exact.
""",
    )


def run(arguments: list[str]) -> int:
    """Search, and write a run or show what was found."""
    given = parser().read(arguments)
    if given.collection.lower().endswith(".npy"):
        _search_vectors(complete(given, "search", "vectors"))
        return 0
    from heldout.data.collection_files import read_collection, read_documents
    from heldout.data.files import Reading
    from heldout.data.queries import read_queries
    from heldout.retrieve.index_files import is_index
    from heldout.retrieve.models import parse_model

    source, alone = given.collection, is_index(given.collection)
    options = complete(given, "search", "index" if alone else "collection")
    model, field = parse_model(options.model), options.query_field
    run_format(options)  # a wrong one is refused before anything is read
    if options.query is not None:
        if options.queries or options.output:
            raise InputError("--query shows documents, no run: leave --queries and -o out")
        documents = None if alone else read_documents(source)
        _show(_index_of(documents, options), documents, model, options)
        return 0
    if alone:
        if options.queries is None:
            raise InputError(f"{source} is an index: give --queries FILE or --query WORDS, too")
        queries = read_queries(options.queries, Reading(), field=field, first_line=1)
        index, notes = _index_of(None, options), list(queries.notes())
    else:
        collection = read_collection(source, queries=options.queries, query_field=field)
        queries, notes = collection.queries, list(collection.notes)
        index = _index_of(collection.documents, options)
    from heldout.report.table import note_lines
    from heldout.retrieve.search import search

    depth = min(options.depth or MOST, max(index.n_documents, 1))
    ranked = search(index, queries, model, k=depth, name=str(model).replace(" ", ""))
    if not len(ranked):
        raise InputError("no document has a word of any query: wrong language, or analyzer?")
    answered = set(ranked.queries)
    if without := [query for query in queries.ids if query not in answered]:
        named = named_few(without, len(without))
        text = f"queries that no document has a word of, not in the run: {len(without)} ({named})"
        notes.append(Note("no-words", text, count=len(without)))
    of = f"{index.fingerprint[:16]} of {count_of(index.n_documents, 'document')}"
    _write(ranked, note_lines(notes), f"from the index {of}", options)
    return 0


def _index_of(documents: Documents | None, options: argparse.Namespace) -> Index:
    """The index that is named, which must be of these documents, or a new one."""
    from heldout.retrieve.index import Index

    if documents is None:
        return Index.open(options.collection)
    analyzer = given_analyzer(options)
    if options.index is None:
        return build_index(documents, analyzer, quiet=options.quiet)
    if analyzer is not None:
        raise InputError(f"{options.index} has its analyzer: leave --stemmer and --stop out")
    index = Index.open(options.index)
    if index.documents_digest != documents.digest:
        raise InputError(
            f"{options.index} is not an index of the documents that {options.collection} has now "
            f"({index.n_documents} there, {len(documents)} here; text or ids differ): build it "
            f"again with heldout index {options.collection} -o {options.index} --force"
        )
    return index


def _search_vectors(options: argparse.Namespace) -> None:
    """Rank vectors of documents for vectors of queries."""
    from heldout.data.embeddings import read_embeddings
    from heldout.retrieve.dense import rank_vectors

    if not (options.queries or "").lower().endswith(".npy"):
        raise InputError("give vectors of queries, too, such as --queries queries.npy")
    run_format(options)
    documents, queries = map(read_embeddings, (options.collection, options.queries))
    ranked = rank_vectors(documents, queries, metric=options.metric, k=options.depth or MOST)
    size = f"{count_of(len(documents), 'vector')} of {count_of(documents.dimensions, 'dimension')}"
    _write(ranked, [], f"by {options.metric} of {size}", options)


def _write(ranked: Run, lines: list[str], how: str, options: argparse.Namespace) -> None:
    size = f"{count_of(len(ranked.queries), 'query', 'queries')}, {count_of(len(ranked), 'row')}"
    write_run(ranked, options)
    note([*lines, f"{ranked.name}: {size}, {how}"], options)


def _show(
    index: Index, documents: Documents | None, model: Model, options: argparse.Namespace
) -> None:
    """Show the best documents for the words of a query, with the first line of each."""
    from heldout.report.table import Table, text_table
    from heldout.retrieve.search import search_terms

    depth, query = options.depth or MOST_SHOWN, options.query
    numbers, scores = search_terms(index, index.encode([query]), model, depth)
    hits = []
    for number, score in zip(numbers[0].tolist(), scores[0].tolist(), strict=True):
        if number >= 0:
            text = "" if documents is None else documents.text(number).strip()
            hits.append((score, index.document_ids[number], f"{text}\n".splitlines()[0]))
    if not hits:
        terms = ", ".join(dict.fromkeys(index.analyzer.analyze(query))) or "none"
        raise InputError(f"no document has a word of the query {query!r} (its terms: {terms})")
    names = ("rank", "score", "document", "text")
    if options.format:
        emit(json_text([dict(zip(names, (n, *hit), strict=True)) for n, hit in enumerate(hits, 1)]))
    else:
        # Of a long line the table shows the beginning and the end.
        rows = [
            [str(rank), f"{score:.4f}", document, line[:200]]
            for rank, (score, document, line) in enumerate(hits, 1)
        ]
        emit(text_table(Table(names, rows, left=4), terminal_width() or 100))

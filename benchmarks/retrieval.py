"""Search and folds × grid beside bm25s and tantivy, on one thread, in processor time.

Each contestant works in processes of its own, in turn, on an index that was built before; the least
time counts. The lists of bm25s must be those of heldout; tantivy keeps the lengths of documents in
a byte, so that its scores are others: the share of documents that both lists have is shown.

- terms: from queries as numbers of terms (query objects of tantivy) to numbers of documents;
- texts: from the texts of the queries to ids of documents;
- folds: five folds of the documents × nine settings, top 10, in passes of bm25s (top 1000).

    python benchmarks/retrieval.py pydocs FOLDER_OF_BEIR 1000000

A number is that of synthetic passages of 56 words (``heaps.py``); pydocs is repeated eight times.
"""

from __future__ import annotations

import argparse
import json
import os
import sys
import time
from importlib import import_module
from itertools import cycle, islice
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

import heaps
from harness import DATA, installed, run, show

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

K1, B = 1.2, 0.75
FOLDS, GRID, SEED = 5, {"k1": (1.0, 1.75, 2.5), "b": (0.0, 0.25, 0.5)}, 3
REPEATS, PYDOCS_QUERIES = 8, 150
NAMES = ("heldout", "bm25s", "tantivy")
WHOLE_WORDS: dict[str, Any] = {"stopwords": None, "token_pattern": r"\w+"}
TOLERANCE = 2e-5
"""How far scores held as 32-bit floats may be off, relatively."""


# Corpora: a folder with a document a line, and a query a line


def make(folder: Path, source: str, queries: int) -> Path:
    """Write a corpus, unless it is there."""
    target = folder / f"{Path(source).name}, {queries} queries"
    if target.exists():
        return target
    aside = target.with_name(target.name + ".tmp")
    aside.mkdir(parents=True, exist_ok=True)
    if source.isdigit():
        corpus = heaps.make(folder, heaps.Shape(int(source), 56))
        texts = [json.loads(line)["text"] for line in corpus.documents.open(encoding="ascii")]
        asked = corpus.queries(max(heaps.QUERY_COUNTS)).read_text("ascii").splitlines()
        write_lines(aside / "docs", texts)
        write_lines(aside / "queries", [json.loads(line)["text"] for line in asked[:queries]])
    else:
        import heldout

        collection = heldout.read_collection(source)
        times = REPEATS if source == "pydocs" else 1
        # In plain ASCII all agree what a word is.
        texts = [as_ascii(text) for _, text in collection.documents.pairs()]
        found = [as_ascii(text) for text in collection.queries.texts]
        write_lines(aside / "docs", texts * times)
        most = PYDOCS_QUERIES if source == "pydocs" else len(found)
        write_lines(aside / "queries", islice(cycle(found), min(most, queries)))
    aside.rename(target)
    return target


def as_ascii(text: str) -> str:
    return " ".join(text.encode("ascii", "ignore").decode().split())


def write_lines(path: Path, lines: Iterable[str]) -> None:
    with path.open("w", encoding="ascii", newline="\n") as file:
        file.writelines(line + "\n" for line in lines)


def read_lines(path: Path) -> list[str]:
    return path.read_text("ascii").splitlines()


# Contestants: each returns what is timed, and how its lists are numbers of documents and scores

Work = tuple["Callable[[], Any]", "Callable[[Any], tuple[Any, Any]] | None"]


def heldout_index(folder: Path) -> None:
    from heldout.retrieve.index import Index

    Index.build(read_lines(folder / "docs"), path=folder / "heldout")


def by_heldout(folder: Path, part: str, depth: int) -> Work:
    from heldout.retrieve.index import Index
    from heldout.retrieve.models import Model, grid
    from heldout.retrieve.rank import rank
    from heldout.retrieve.search import search, search_terms
    from heldout.retrieve.sides import held_out_side

    index, texts = Index.open(folder / "heldout"), read_lines(folder / "queries")
    if part == "terms":
        model, asked = Model.make("bm25-lucene", k1=K1, b=B), index.encode(texts)
        return lambda: search_terms(index, asked, model, depth), lambda found: found
    if part == "texts":
        pairs = [(str(number), text) for number, text in enumerate(texts)]
        model_name = f"bm25-lucene(k1={K1}, b={B})"
        return lambda: search(index, pairs, model_name, k=depth), None
    fold = np.random.default_rng(SEED).permutation(index.n_documents).astype(np.int32) % FOLDS
    models = grid("bm25", k1=GRID["k1"], b=GRID["b"])

    def folds() -> Any:
        vocabulary = index.encode(texts)
        side = held_out_side(index, vocabulary, fold.astype(np.int32), FOLDS)
        return rank(index, vocabulary, [models], side, k=depth, depth=depth)

    return folds, None


def bm25s_index(folder: Path) -> None:
    bm25s: Any = import_module("bm25s")
    tokens = bm25s.tokenize(read_lines(folder / "docs"), show_progress=False, **WHOLE_WORDS)
    engine = bm25s.BM25(method="lucene", k1=K1, b=B, backend="numba")
    engine.index(tokens, show_progress=False)
    engine.save(str(folder / "bm25s"), show_progress=False)


def by_bm25s(folder: Path, part: str, depth: int) -> Work:
    bm25s: Any = import_module("bm25s")
    engine = bm25s.BM25.load(str(folder / "bm25s"), show_progress=False)
    engine.backend = "numba"
    texts = read_lines(folder / "queries")

    def cut() -> Any:
        return bm25s.tokenize(texts, return_ids=False, show_progress=False, **WHOLE_WORDS)

    quietly: dict[str, Any] = {"k": depth, "n_threads": 1, "show_progress": False}
    if part == "terms":
        asked = [engine.get_tokens_ids(one) for one in cut()]
        return (
            lambda: engine.retrieve(asked, **quietly),
            lambda found: (np.asarray(found.documents), np.asarray(found.scores)),
        )
    ids = np.array([str(number) for number in range(len(read_lines(folder / "docs")))])
    return lambda: engine.retrieve(cut(), corpus=ids, **quietly), None


def tantivy_index(folder: Path) -> None:
    tantivy: Any = import_module("tantivy")
    builder = tantivy.SchemaBuilder()
    builder.add_integer_field("number", fast=True)
    builder.add_text_field("text", tokenizer_name="default", index_option="freq")
    (folder / "tantivy").mkdir()
    index = tantivy.Index(builder.build(), path=str(folder / "tantivy"))
    writer = index.writer(heap_size=500_000_000, num_threads=1)
    for number, line in enumerate(read_lines(folder / "docs")):
        writer.add_document(tantivy.Document(number=number, text=line))
    writer.commit()
    writer.wait_merging_threads()


def by_tantivy(folder: Path, part: str, depth: int) -> Work:
    tantivy: Any = import_module("tantivy")
    index = tantivy.Index.open(str(folder / "tantivy"))
    index.reload()
    searcher, texts = index.searcher(), read_lines(folder / "queries")
    ids = [str(number) for number in range(searcher.num_docs)]

    def query(text: str) -> Any:
        words = "".join(c if c.isalnum() else " " for c in text.lower()).split()
        terms = [tantivy.Query.term_query(index.schema, "text", word, "freq") for word in words]
        return tantivy.Query.boolean_query([(tantivy.Occur.Should, term) for term in terms])

    def find(asked: Any) -> Any:
        return searcher.search(asked, limit=depth, count=False).hits

    def numbers(hits: Any) -> Any:
        return searcher.fast_field_values("number", [address for _, address in hits])

    def named() -> Any:
        every = [find(query(text)) for text in texts]
        return [
            [(ids[n], score) for n, (score, _) in zip(numbers(hits), hits, strict=True)]
            for hits in every
        ]

    def lists(found: Any) -> tuple[Any, Any]:
        documents = np.full((len(found), depth), -1, np.int32)
        scores = np.full(documents.shape, -np.inf)
        for row, hits in enumerate(found):
            documents[row, : len(hits)] = numbers(hits)
            scores[row, : len(hits)] = [score for score, _ in hits]
        return documents, scores

    if part == "texts":
        return named, None
    queries = [query(text) for text in texts]
    return lambda: [find(asked) for asked in queries], lists


INDEXERS = {"heldout": heldout_index, "bm25s": bm25s_index, "tantivy": tantivy_index}
SEARCHERS = {"heldout": by_heldout, "bm25s": by_bm25s, "tantivy": by_tantivy}


def contend(options: argparse.Namespace) -> None:
    """Be one contestant: print the least processor seconds of some rounds; the first is warm-up."""
    work, lists = SEARCHERS[options.alone](options.folder, options.part, options.depth)
    found, least, rounds, start = work(), float("inf"), 0, time.process_time()
    while rounds < options.rounds or time.process_time() - start < 0.5:
        rounds += 1
        begin = time.process_time()
        found = work()
        least = min(least, time.process_time() - begin)
    if lists is not None:
        documents, scores = lists(found)
        np.savez(options.folder / f"{options.alone}.npz", documents=documents, scores=scores)
    print(least)


# Comparing


def compare_lists(folder: Path, name: str) -> str:
    """Lists beside those of heldout: documents may change places where scores are equal."""
    with np.load(folder / "heldout.npz") as ours, np.load(folder / f"{name}.npz") as theirs:
        docs, scores = ours["documents"], ours["scores"].astype(float)
        other, other_scores = theirs["documents"], theirs["scores"].astype(float)
    if name == "tantivy":
        pairs = zip(docs, other, strict=True)
        shared = sum(len(np.intersect1d(one[one >= 0], two[two >= 0])) for one, two in pairs)
        return f"{shared / max((docs >= 0).sum(), 1):.1%} shared"
    there = (docs >= 0).sum(1)
    if (there != ((other >= 0) & (other_scores > 0)).sum(1)).any():
        sys.exit(f"{name}: lists have other lengths")
    for row, count in enumerate(there.tolist()):
        mine = dict(zip(docs[row, :count].tolist(), scores[row, :count].tolist(), strict=True))
        wanted = zip(other[row, :count].tolist(), other_scores[row, :count].tolist(), strict=True)
        # A document that we lack must tie with our last one; one that we have must score the same.
        for document, score in wanted:
            if abs(mine.get(document, scores[row, count - 1]) - score) > TOLERANCE * abs(score):
                sys.exit(f"{name}: list {row} differs at document {document}")
    return "equal"


def ask(name: str, folder: Path, part: str, depth: int, rounds: int) -> float:
    words = ["--alone", name, "--part", part, "--depth", depth, "--rounds", rounds]
    command = [sys.executable, __file__, *words, "--folder", folder]
    return float(run(command, HELDOUT_THREADS="1").output.splitlines()[-1])


def rows_of(folder: Path, names: list[str], options: argparse.Namespace) -> Iterable[list[str]]:
    for name in names:
        if not (folder / name).exists():
            INDEXERS[name](folder)
    long_pass = 0.0
    for part, depth in ((part, depth) for part in ("terms", "texts") for depth in (1000, 10)):
        least = dict.fromkeys(names, float("inf"))
        for _ in range(options.processes):
            for name in names:
                least[name] = min(least[name], ask(name, folder, part, depth, options.rounds))
        cells = [folder.name, part, str(depth), f"{1000 * least['heldout']:.1f} ms"]
        for name in names[1:]:
            agreement = f" ({compare_lists(folder, name)})" if part == "terms" else ""
            cells.append(f"{least[name] / least['heldout']:.1f}×{agreement}")
        if (part, depth) == ("terms", 1000):
            long_pass = least.get("bm25s", 0.0)
        yield cells
    tries = [ask("heldout", folder, "folds", 10, options.rounds) for _ in range(options.processes)]
    passes = f"{min(tries) / long_pass:.1f} passes of bm25s" if long_pass else "–"
    cells = [folder.name, "folds", "10", f"{1000 * min(tries):.1f} ms", passes]
    yield [*cells, *("–" for _ in names[2:])]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("corpora", nargs="*", default=["pydocs"], help="see above")
    parser.add_argument("--queries", type=int, default=1000, help="at most")
    parser.add_argument("--rounds", type=int, default=5, help="in each process")
    parser.add_argument("--processes", type=int, default=2, help="of each contestant")
    parser.add_argument("--peers", nargs="*", choices=NAMES[1:], default=NAMES[1:])
    parser.add_argument("--data", type=Path, default=DATA)
    parser.add_argument("--alone", choices=NAMES, help=argparse.SUPPRESS)
    for name, kind in (("--part", str), ("--depth", int), ("--folder", Path)):
        parser.add_argument(name, type=kind, help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.alone:
        os.environ["HELDOUT_THREADS"] = "1"
        contend(options)
        return
    names = ["heldout", *installed(*options.peers)]
    for source in options.corpora:
        folder = make(options.data, source, options.queries)
        rows = rows_of(folder, names, options)
        heads = ["corpus", "from", "top", *names]
        show(folder.name, heads, rows)


if __name__ == "__main__":
    main()

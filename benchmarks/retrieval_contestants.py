"""One contestant does one piece of work in a process of its own, and says how long it took.

Used as a program, so that its memory peak is its own: ``NAME WORK FOLDER``, printing JSON. What it
found goes to a file for comparing. Times are of the work alone, after imports; loops are compiled
and data are warm before the clock starts, except where starting is the work.
"""

from __future__ import annotations

import argparse
import json
import os
import re
import shutil
import time
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Callable

    Answer = dict[str, Any]

K1, B = 1.2, 0.75
FOLDS, GRID = 5, {"k1": (1.0, 1.75, 2.5), "b": (0.0, 0.25, 0.5)}
REPLICATES, SEED = 1000, 3


def least(work: Callable[[], Any], options: argparse.Namespace) -> tuple[float, Any]:
    """The least time of several rounds, and what the last gave; the first round is not counted.

    Short work has more rounds, half a second of them. On one thread it is the time of the
    processor, which other programs disturb less.
    """
    clock = time.process_time if options.threads == 1 else time.perf_counter
    found, seconds, rounds, start = work(), float("inf"), 0, clock()
    while rounds < options.rounds or clock() - start < 0.5:
        rounds += 1
        begin = clock()
        found = work()
        seconds = min(seconds, clock() - begin)
    return seconds, found


def quietly(work: Callable[[], Answer], errors: bool) -> Answer:
    """Keep standard output for the answer; PISA shows its progress on standard error, too."""
    nothing = os.open(os.devnull, os.O_WRONLY)
    kept = {number: os.dup(number) for number in ((1, 2) if errors else (1,))}
    for number in kept:
        os.dup2(nothing, number)
    try:
        return work()
    finally:
        for number, own in kept.items():
            os.dup2(own, number)


def memory_peak() -> float | None:
    """In MB. What a parent process hears of (ru_maxrss) begins with the parent's own size."""
    status = Path("/proc/self/status")
    if not status.exists():
        return None
    found = re.search(r"VmHWM:\s*(\d+) kB", status.read_text())
    return int(found[1]) / 1024 if found else None


def lines(path: Path) -> list[str]:
    return path.read_text(encoding="utf-8").splitlines()


def queries(options: argparse.Namespace) -> list[str]:
    return lines(options.folder / f"queries-{options.queries}.txt")


def names(options: argparse.Namespace) -> list[str]:
    """Ids of the documents: their numbers, as heldout gives them to texts alone."""
    with (options.folder / "docs.dat").open("rb") as file:
        return [str(number) for number, _ in enumerate(file)]


def fold_of(documents: int) -> np.ndarray:
    """The fold of each document, the same for the contestant and for the check."""
    return np.random.default_rng(SEED).permutation(documents).astype(np.int32) % np.int32(FOLDS)


def save(options: argparse.Namespace, documents: np.ndarray, scores: np.ndarray) -> None:
    if options.out is not None:
        np.savez(options.out, documents=documents, scores=scores)


# heldout


def heldout_index(options: argparse.Namespace) -> Answer:
    from heldout.data.collection_files import read_documents
    from heldout.retrieve.index import Index

    Index.build(["warm up", "the loops"], path=options.folder / "warm.index")
    shutil.rmtree(options.folder / "warm.index")
    begin = time.perf_counter()
    documents = read_documents(options.folder / "docs.dat")
    index = Index.build(documents, path=options.folder / "heldout.index", threads=options.threads)
    return {"seconds": time.perf_counter() - begin, "postings": index.n_postings}


def heldout_open(options: argparse.Namespace) -> Answer:
    from heldout.retrieve.index import Index

    path = options.folder / "heldout.index"
    begin = time.perf_counter()
    index = Index.open(path)
    seconds = time.perf_counter() - begin
    size = sum(file.stat().st_size for file in path.iterdir())
    return {"seconds": seconds, "bytes": size, "postings": index.n_postings}


def heldout_search(options: argparse.Namespace) -> Answer:
    from heldout.retrieve.index import Index
    from heldout.retrieve.models import Model
    from heldout.retrieve.search import search_terms

    index, texts = Index.open(options.folder / "heldout.index"), queries(options)
    model, asked = Model.make("bm25-lucene", k1=K1, b=B), index.encode(texts)
    seconds, found = least(lambda: search_terms(index, asked, model, options.depth), options)
    save(options, *found)
    terms = asked.numbers[asked.places]
    postings = int((index.offsets[terms + 1] - index.offsets[terms]).sum())
    return {"seconds": seconds, "postings_a_query": postings / len(texts)}


def heldout_whole(options: argparse.Namespace) -> Answer:
    from heldout.retrieve.index import Index
    from heldout.retrieve.search import search

    index, texts = Index.open(options.folder / "heldout.index"), queries(options)
    pairs = [(str(number), text) for number, text in enumerate(texts)]
    model = f"bm25-lucene(k1={K1}, b={B})"
    return {"seconds": least(lambda: search(index, pairs, model, k=options.depth), options)[0]}


def heldout_folds(options: argparse.Namespace) -> Answer:
    from heldout.retrieve.index import Index
    from heldout.retrieve.models import grid
    from heldout.retrieve.rank import rank
    from heldout.retrieve.sides import held_out_side

    index, texts = Index.open(options.folder / "heldout.index"), queries(options)
    folds, models = fold_of(index.n_documents), grid("bm25", k1=GRID["k1"], b=GRID["b"])

    def work() -> Any:
        vocabulary = index.encode(texts)
        side = held_out_side(index, vocabulary, folds, FOLDS)
        return rank(index, vocabulary, [models], side, k=options.depth, depth=options.depth)

    seconds, found = least(work, options)
    save(options, found.documents, found.scores)
    return {"seconds": seconds}


def draw_documents(documents: int, replicates: int, seed: int, first: int = 0) -> Any:
    """Multiplicities (documents × replicates): each replicate draws as many as there are."""
    weights = np.empty((documents, replicates), np.uint8)
    for place in range(replicates):
        drawn = np.random.default_rng([seed, first + place]).integers(documents, size=documents)
        weights[:, place] = np.bincount(drawn, minlength=documents)
    return weights


def rank_bootstrap(
    index: Any, vocabulary: Any, model: Any, *, replicates: int, seed: int, k: int = 10
) -> tuple[Any, Any]:
    """The best documents of bootstrap replicates, 64 MB of multiplicities at a time."""
    from heldout.retrieve.rank import rank_times
    from heldout.retrieve.statistics import weighted_statistics

    found, step = [], max((1 << 26) // index.n_documents, 64)
    for first in range(0, replicates, step):
        weights = draw_documents(index.n_documents, min(step, replicates - first), seed, first)
        known = weighted_statistics(index, vocabulary, weights, occurrences=False)
        found.append(rank_times(index, vocabulary, model, known, weights, added=False, k=k))
    return (
        np.concatenate([documents for documents, _ in found], axis=1),
        np.concatenate([scores for _, scores in found], axis=1),
    )


def heldout_bootstrap(options: argparse.Namespace) -> Answer:
    from heldout.retrieve.index import Index
    from heldout.retrieve.models import Model

    index, texts = Index.open(options.folder / "heldout.index"), queries(options)
    model = Model.make("bm25", k1=K1, b=B)

    def work(replicates: int = REPLICATES) -> Any:
        vocabulary = index.encode(texts)
        return rank_bootstrap(
            index, vocabulary, model, replicates=replicates, seed=SEED, k=options.depth
        )

    work(10)
    seconds, found = float("inf"), None
    for _ in range(min(options.rounds, 2)):
        begin = time.perf_counter()
        found = work()
        seconds = min(seconds, time.perf_counter() - begin)
    assert found is not None
    save(options, *found)
    return {"seconds": seconds}


def heldout_kernels(options: argparse.Namespace) -> Answer:
    """Everything that is compiled, used once on a few documents."""
    begin = time.perf_counter()
    from heldout.retrieve.index import Index
    from heldout.retrieve.models import Model
    from heldout.retrieve.rank import JudgedDocuments, rank
    from heldout.retrieve.search import search_terms
    from heldout.retrieve.sides import held_out_side

    imported = time.perf_counter()
    texts = [f"a{number % 3} b{number % 5} c" for number in range(20)]
    index = Index.build(texts, path=options.folder / "few.index")
    vocabulary = index.encode(["a1 b1", "c"])
    folds = np.arange(20, dtype=np.int32) % 2
    judged = JudgedDocuments(np.array([0, 1, 2]), np.array([3, 4], np.int32))
    for name in ("bm25", "bm25-plus", "ql-jm"):
        model = Model.make(name)
        search_terms(index, index.encode(["a1 b1"]), model, 5)
        side = held_out_side(index, vocabulary, folds, 2)
        rank(index, vocabulary, [[model]], side, k=3, judged=judged)
        if name != "ql-jm":
            rank_bootstrap(index, vocabulary, model, replicates=5, seed=1)
    shutil.rmtree(options.folder / "few.index")
    return {"seconds": time.perf_counter() - imported, "import_seconds": imported - begin}


# bm25s

WHOLE_WORDS: dict[str, Any] = {"stopwords": None, "token_pattern": r"\w+"}


def bm25s_index(options: argparse.Namespace) -> Answer:
    bm25s: Any = import_module("bm25s")
    begin = time.perf_counter()
    texts = lines(options.folder / "docs.dat")
    tokens = bm25s.tokenize(texts, show_progress=False, **WHOLE_WORDS)
    tokenized = time.perf_counter()
    engine = bm25s.BM25(method="lucene", k1=K1, b=B, backend="numba")
    engine.index(tokens, show_progress=False)
    done = time.perf_counter()
    engine.save(str(options.folder / "bm25s"), show_progress=False)
    return {"seconds": done - begin, "index_alone_seconds": done - tokenized}


def bm25s_search(options: argparse.Namespace) -> Answer:
    bm25s: Any = import_module("bm25s")
    engine = bm25s.BM25.load(str(options.folder / "bm25s"), show_progress=False)
    engine.backend = "numba"
    words = bm25s.tokenize(queries(options), return_ids=False, show_progress=False, **WHOLE_WORDS)
    asked = [engine.get_tokens_ids(one) for one in words]

    def work() -> Any:
        return engine.retrieve(
            asked, k=options.depth, n_threads=options.threads, show_progress=False
        )

    seconds, found = least(work, options)
    save(options, np.asarray(found.documents), np.asarray(found.scores))
    return {"seconds": seconds}


def bm25s_whole(options: argparse.Namespace) -> Answer:
    bm25s: Any = import_module("bm25s")
    engine = bm25s.BM25.load(str(options.folder / "bm25s"), show_progress=False)
    engine.backend = "numba"
    texts, ids = queries(options), np.array(names(options))

    def work() -> Any:
        asked = bm25s.tokenize(texts, return_ids=False, show_progress=False, **WHOLE_WORDS)
        return engine.retrieve(
            asked, corpus=ids, k=options.depth, n_threads=options.threads, show_progress=False
        )

    return {"seconds": least(work, options)[0]}


# tantivy


def _tantivy_schema() -> Any:
    tantivy: Any = import_module("tantivy")

    builder = tantivy.SchemaBuilder()
    builder.add_integer_field("number", fast=True)
    builder.add_text_field("text", tokenizer_name="default", index_option="freq")
    return builder.build()


def tantivy_index(options: argparse.Namespace) -> Answer:
    tantivy: Any = import_module("tantivy")

    target = options.folder / f"tantivy-{options.threads}"
    shutil.rmtree(target, ignore_errors=True)
    target.mkdir()
    begin = time.perf_counter()
    index = tantivy.Index(_tantivy_schema(), path=str(target))
    writer = index.writer(heap_size=500_000_000, num_threads=options.threads)
    with (options.folder / "docs.dat").open(encoding="utf-8") as file:
        for number, line in enumerate(file):
            writer.add_document(tantivy.Document(number=number, text=line))
    writer.commit()
    writer.wait_merging_threads()
    return {"seconds": time.perf_counter() - begin}


def _tantivy_queries(texts: list[str], schema: Any) -> list[Any]:
    tantivy: Any = import_module("tantivy")
    cut = ["".join(c if c.isalnum() else " " for c in text.lower()).split() for text in texts]
    return [
        tantivy.Query.boolean_query(
            [
                (tantivy.Occur.Should, tantivy.Query.term_query(schema, "text", word, "freq"))
                for word in words
            ]
        )
        for words in cut
    ]


def tantivy_search(options: argparse.Namespace) -> Answer:
    tantivy: Any = import_module("tantivy")

    index = tantivy.Index.open(str(options.folder / "tantivy-1"))
    index.reload()
    searcher = index.searcher()
    asked = _tantivy_queries(queries(options), index.schema)
    seconds, found = least(
        lambda: [searcher.search(one, limit=options.depth, count=False).hits for one in asked],
        options,
    )
    documents = np.full((len(asked), options.depth), -1, np.int32)
    scores = np.full(documents.shape, -np.inf)
    for row, hits in enumerate(found):
        addresses = [address for _, address in hits]
        numbers = searcher.fast_field_values("number", addresses)
        documents[row, : len(hits)] = numbers
        scores[row, : len(hits)] = [score for score, _ in hits]
    save(options, documents, scores)
    return {"seconds": seconds, "segments": searcher.num_segments}


def tantivy_whole(options: argparse.Namespace) -> Answer:
    tantivy: Any = import_module("tantivy")

    index = tantivy.Index.open(str(options.folder / "tantivy-1"))
    index.reload()
    searcher, texts, ids = index.searcher(), queries(options), names(options)

    def work() -> Any:
        found = []
        for one in _tantivy_queries(texts, index.schema):
            hits = searcher.search(one, limit=options.depth, count=False).hits
            numbers = searcher.fast_field_values("number", [address for _, address in hits])
            found.append([(ids[n], score) for n, (score, _) in zip(numbers, hits, strict=True)])
        return found

    return {"seconds": least(work, options)[0]}


# PISA


def pisa_index(options: argparse.Namespace) -> Answer:
    pisa: Any = import_module("pyterrier_pisa")
    target = options.folder / "pisa"
    begin = time.perf_counter()
    index = pisa.PisaIndex(
        str(target), text_field="text", stemmer="none", stops="none", threads=options.threads,
        overwrite=True,
    )  # fmt: skip
    with (options.folder / "docs.dat").open(encoding="utf-8") as file:
        index.index({"docno": str(number), "text": line} for number, line in enumerate(file))
    return {"seconds": time.perf_counter() - begin}


def pisa_search(options: argparse.Namespace) -> Answer:
    import pandas as pd

    pisa: Any = import_module("pyterrier_pisa")
    index = pisa.PisaIndex(str(options.folder / "pisa"), stemmer="none", stops="none")
    engine = index.bm25(k1=K1, b=B, num_results=options.depth, threads=options.threads)
    texts = queries(options)
    frame = pd.DataFrame({"qid": [str(n) for n in range(len(texts))], "query": texts})
    seconds, found = least(lambda: engine(frame), options)
    documents = np.full((len(texts), options.depth), -1, np.int32)
    scores = np.full(documents.shape, -np.inf)
    rows, ranks = found["qid"].astype(int).to_numpy(), found["rank"].to_numpy()
    documents[rows, ranks] = found["docno"].astype(int).to_numpy()
    scores[rows, ranks] = found["score"].to_numpy()
    save(options, documents, scores)
    return {"seconds": seconds}


WORKS: dict[str, dict[str, Callable[[argparse.Namespace], Answer]]] = {
    "heldout": {
        "index": heldout_index,
        "open": heldout_open,
        "search": heldout_search,
        "whole": heldout_whole,
        "folds": heldout_folds,
        "bootstrap": heldout_bootstrap,
        "kernels": heldout_kernels,
    },
    "bm25s": {"index": bm25s_index, "search": bm25s_search, "whole": bm25s_whole},
    "tantivy": {"index": tantivy_index, "search": tantivy_search, "whole": tantivy_whole},
    "pisa": {"index": pisa_index, "search": pisa_search},
}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("name", choices=WORKS)
    parser.add_argument("work")
    parser.add_argument("folder", type=Path)
    parser.add_argument("--queries", type=int, default=150)
    parser.add_argument("--depth", type=int, default=10)
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--out", type=Path)
    options = parser.parse_args()
    os.environ["HELDOUT_THREADS"] = str(options.threads)
    answer = quietly(lambda: WORKS[options.name][options.work](options), options.name == "pisa")
    print(json.dumps({**answer, "memory_mb": memory_peak()}))


if __name__ == "__main__":
    main()

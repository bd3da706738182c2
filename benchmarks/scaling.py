"""How time, memory and index grow with the documents: index, search, folds × grid.

Corpora of several sizes, each the beginning of the next (``heaps.py``), are asked the same queries.
Every step is a command in a process of its own, as a user would give it:

    heldout index CORPUS -o INDEX
    heldout search INDEX --queries QUERIES -k 1000 -o RUN
    heldout run INDEX --by document --folds 5 (3 × 3 values of BM25, nDCG@10)

tantivy indexes the same JSON lines with as many threads beside it, if it is installed: it gets the
texts from Python and stores counts, no positions. What a step takes on a tiny corpus (to start the
interpreter and to load compiled code) is taken off before a slope is fitted: the logarithm of the
seconds on that of the documents, by least squares.

    python benchmarks/scaling.py --data FOLDER --sizes 100000 1000000 8841823

The last has the size of MS MARCO (v1, passages).
"""

from __future__ import annotations

import argparse
import json
import sys
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from harness import HELDOUT, Ended, installed, run_in_turn, show
from heaps import QUERY_COUNTS, Corpus, Shape, make

if TYPE_CHECKING:
    from collections.abc import Sequence

SYSTEM = "bm25(k1=0.6,1.2,1.8, b=0.25,0.5,0.75)"
INDEX_WITH_TANTIVY = """
import json, sys
from pathlib import Path
import tantivy

corpus, target, threads = sys.argv[1:]
builder = tantivy.SchemaBuilder()
builder.add_integer_field("number", fast=True)
builder.add_text_field("text", tokenizer_name="default", index_option="freq")
Path(target).mkdir(exist_ok=True)
index = tantivy.Index(builder.build(), path=target)
writer = index.writer(heap_size=500_000_000, num_threads=int(threads))
with open(corpus, "rb") as file:
    for number, line in enumerate(file):
        writer.add_document(tantivy.Document(number=number, text=json.loads(line)["text"]))
writer.commit()
writer.wait_merging_threads()
"""


class Measured(NamedTuple):
    """All about one size: what each step took, and what the index holds."""

    documents: int
    steps: dict[str, Ended]
    held: dict[str, int]


def measure(corpus: Corpus, options: argparse.Namespace) -> Measured:
    """Index, search and validate one corpus."""
    queries = corpus.queries(options.queries)
    with tempfile.TemporaryDirectory(dir=options.data) as name:
        place = Path(name)
        index = place / "index"
        threads = ["--jobs", str(options.threads), "--quiet"]
        making = [*HELDOUT, "index", corpus.documents, "-o", index, "--force", "--json", *threads]
        indexing = {"index": making}
        if installed("tantivy"):
            words = [corpus.documents, place / "tantivy", options.threads]
            indexing["tantivy"] = [sys.executable, "-c", INDEX_WITH_TANTIVY, *words]
        steps = run_in_turn(indexing, options.rounds)
        words = ["search", index, "--queries", queries, "-k", "1000", "-o", place / "run"]
        search = [*HELDOUT, *words, "--quiet"]
        words = ["run", index, "--queries", queries, "--qrels", corpus.qrels(options.queries)]
        words += ["--system", SYSTEM, "--by", "document", "--folds", "5", "-m", "nDCG@10"]
        folds = [*HELDOUT, *words, "-o", place / "results", "--force", "--quiet"]
        steps |= run_in_turn({"search": search, "run": folds}, options.rounds)
    held = json.loads(steps["index"].output)
    return Measured(held["documents"], steps, held)


def slope(sizes: Sequence[float], values: Sequence[float]) -> str:
    """Of log(value) on log(size)."""
    if len(sizes) < 2 or min(values) <= 0:
        return "–"
    return f"{np.polyfit(np.log(sizes), np.log(values), 1)[0]:.2f}"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    add = parser.add_argument
    add("--sizes", type=int, nargs="+", default=[10_000, 100_000, 1_000_000], metavar="N")
    add("--words", type=int, default=56, help="words of a document, on average")
    add("--queries", type=int, default=QUERY_COUNTS[0], choices=QUERY_COUNTS)
    add("--rounds", type=int, default=1, help="how often each step is done; the least counts")
    add("--threads", type=int, default=2, help="of both indexers")
    add("--data", type=Path, help="where corpora are kept (default: a temporary folder)")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as name:
        options.data = options.data or Path(name)
        tiny = make(options.data, Shape(1000, options.words))
        measure(tiny, options)  # compiled code is cached now
        fixed = measure(tiny, options)
        sizes = sorted(options.sizes)
        found = [measure(make(options.data, Shape(n, options.words)), options) for n in sizes]
    rows: list[list[str]] = []
    for step in found[0].steps:
        own, least = [one.steps[step] for one in found], fixed.steps[step]
        for one, used in zip(found, own, strict=True):
            numbers = (used.seconds, used.processor, used.memory, used.allocated)
            rows.append([step, f"{one.documents:,}", *(f"{number:,.1f}" for number in numbers)])
        above = [
            slope(sizes, [getattr(one, what) - getattr(least, what) for one in own])
            for what in ("seconds", "processor", "memory", "allocated")
        ]
        rows.append([step, "slope", *above])
    heads = ["step", "documents", "seconds", "CPU seconds", "peak MB", "allocated MB"]
    show(f"Steps, {options.queries} queries", heads, rows)
    held = [
        [f"{one.documents:,}", *(f"{one.held[what]:,}" for what in ("bytes", "postings", "terms"))]
        for one in found
    ]
    show("Indexes", ["documents", "bytes", "postings", "terms"], held)


if __name__ == "__main__":
    main()

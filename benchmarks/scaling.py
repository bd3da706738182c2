"""How time, memory and index grow with the documents: index, search, folds × grid.

Corpora of several sizes, each the beginning of the next, are asked the same queries. Every step is
a command in a process of its own, as a user would give it:

    heldout index CORPUS -o INDEX
    heldout search INDEX --queries QUERIES -k 1000 --model bm25 (and ql-dirichlet) -o RUN
    heldout run INDEX --by document --folds 5 (3 × 3 values of BM25, nDCG@10)

What a step takes on a tiny corpus (to start the interpreter and to load compiled code) is taken off
before a slope is fitted: the logarithm of the seconds on that of the documents, by least squares.

    python benchmarks/scaling.py --folder data --bytes
    python benchmarks/scaling.py --folder data --bytes --words 56 --sizes 100000 1000000 8841823

The second has the size of MS MARCO (v1, passages). The largest size is also predicted from the one
before it, and the error of that prediction is printed.
"""

from __future__ import annotations

import argparse
import json
import math
import shutil
import tempfile
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from heaps import QUERY_COUNTS, Corpus, Shape, make
from watched import Watched, heldout

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

SIZES = (10_000, 30_000, 100_000, 300_000, 1_000_000)
MODELS = ("bm25", "ql-dirichlet")
FOLDS, VALUES = 5, 9
SYSTEM = "bm25(k1=0.6,1.2,1.8, b=0.25,0.5,0.75)"


MB = 2**20


@dataclass(frozen=True)
class Step:
    """What a command took: least seconds (and of processors) of the rounds, greatest peaks."""

    seconds: float
    busy: float
    peak: float
    anonymous: float


@dataclass(frozen=True)
class Measured:
    """All about one size."""

    documents: int
    terms: int
    postings: int
    size: int
    for_postings: int
    """Bytes of the index that hold postings."""
    scored: float
    """Postings of the words of a query, on average."""
    tasks: float
    """Seconds of the folds alone, without reading and checking the collection."""
    steps: dict[str, Step]


def repeat(rounds: int, command: Callable[[], Watched]) -> tuple[Step, Watched]:
    """Do a step several times."""
    found = [command() for _ in range(rounds)]
    step = Step(
        min(one.seconds for one in found),
        min(one.busy for one in found),
        max(one.peak for one in found),
        max(one.anonymous for one in found),
    )
    return step, found[-1]


def measure(corpus: Corpus, queries: int, place: Path, rounds: int) -> Measured:
    """Index, search and validate one corpus."""
    index = place / "index"
    asked = ["--queries", str(corpus.queries(queries))]
    steps: dict[str, Step] = {}
    words = ["index", str(corpus.documents), "-o", str(index), "--force", "--json", "--quiet"]
    steps["index"], last = repeat(rounds, partial(heldout, *words))
    held = json.loads(last.output)
    for model in MODELS:
        words = ["search", str(index), *asked, "-k", "1000", "--model", model]
        words += ["-o", str(place / "run"), "--quiet"]
        steps[model], _ = repeat(rounds, partial(heldout, *words))
    results = place / "results"
    words = ["run", str(index), *asked, "--qrels", str(corpus.qrels(queries))]
    words += ["--system", SYSTEM, "--by", "document"]
    words += ["--folds", str(FOLDS), "-m", "nDCG@10", "-o", str(results), "--force", "--quiet"]
    steps["folds"], _ = repeat(rounds, partial(heldout, *words))
    return Measured(
        held["documents"],
        held["terms"],
        held["postings"],
        held["bytes"],
        posting_bytes(index),
        postings_a_query(index, corpus.queries(queries)),
        json.loads((results / "timings.json").read_text())["total"],
        steps,
    )


def posting_bytes(path: Path) -> int:
    """How much of an index are postings."""
    from heldout.retrieve.index import Index

    index = Index.open(path)
    return int(index.documents.nbytes + index.counts.nbytes)


def postings_a_query(path: Path, queries: Path) -> float:
    """How many postings the words of a query have, on average."""
    from heldout.retrieve.index import Index
    from heldout.retrieve.statistics import whole_statistics

    index = Index.open(path)
    texts = [json.loads(line)["text"] for line in queries.read_text().splitlines()]
    asked = index.encode(texts)
    return float(whole_statistics(index, asked).df[asked.places].sum()) / len(texts)


def slope(sizes: Sequence[float], values: Sequence[float]) -> float:
    """Of log(value) on log(size); nan where a value is not above zero."""
    if len(sizes) < 2 or min(values) <= 0:
        return math.nan
    return float(np.polyfit(np.log(sizes), np.log(values), 1)[0])


@dataclass(frozen=True)
class Column:
    """A column of a table; with `fixed` the slope of what is above that is shown below."""

    title: str
    form: str
    values: list[float]
    fixed: float | None = None

    def slope(self, sizes: Sequence[int], count: int) -> str:
        """Over the largest `count` sizes, as text."""
        if self.fixed is None:
            return ""
        above = [value - self.fixed for value in self.values]
        fitted = slope(sizes[-count:], above[-count:])
        return "not above" if math.isnan(fitted) else f"{fitted:.2f}"


def costs(step: str, found: Sequence[Measured], tiny: Measured) -> list[Column]:
    """Seconds and peaks of a step."""
    own, fixed = [one.steps[step] for one in found], tiny.steps[step]
    return [
        Column("seconds", ".2f", [one.seconds for one in own], fixed.seconds),
        Column("CPU seconds", ".2f", [one.busy for one in own], fixed.busy),
        Column("peak MB", ",.0f", [one.peak for one in own], fixed.peak),
        Column("anonymous MB", ",.0f", [one.anonymous for one in own], fixed.anonymous),
    ]


def beyond(step: str, found: Sequence[Measured], tiny: Measured) -> list[float]:
    """Seconds of a step beyond those of the tiny corpus."""
    return [one.steps[step].seconds - tiny.steps[step].seconds for one in found]


def show(title: str, sizes: Sequence[int], columns: Sequence[Column]) -> None:
    """Print a table: a row a size, and the slopes below."""
    rows = [["documents", *(one.title for one in columns)], ["---:"] * (len(columns) + 1)]
    for at, size in enumerate(sizes):
        rows.append([f"{size:,}", *(format(one.values[at], one.form) for one in columns)])
    fixed = ["" if one.fixed is None else format(one.fixed, one.form) for one in columns]
    rows.append(["taken off for the slopes", *fixed])
    for words, count in (("slope, largest three", 3), ("slope, all", len(sizes))):
        rows.append([words, *(one.slope(sizes, count) for one in columns)])
    print(f"\n{title}\n")
    print("\n".join("| " + " | ".join(row) + " |" for row in rows), flush=True)


def show_all(found: Sequence[Measured], tiny: Measured, queries: int) -> None:
    """Print the tables of all steps."""
    sizes = [one.documents for one in found]
    columns = [
        *costs("index", found, tiny),
        Column("index MB", ",.1f", [one.size / MB for one in found], 0.0),
        Column("postings", ",.0f", [float(one.postings) for one in found], 0.0),
        Column("terms", ",.0f", [float(one.terms) for one in found], 0.0),
        Column("bytes a posting", ".2f", [one.size / one.postings for one in found]),
    ]
    show("heldout index", sizes, columns)
    scored = Column("postings a query", ",.0f", [one.scored for one in found], 0.0)
    for model in MODELS:
        each = [1000 * one / queries for one in beyond(model, found, tiny)]
        columns = [*costs(model, found, tiny), Column("ms a query", ".3f", each), scored]
        show(f"heldout search, {model}, {queries} queries, top 1,000", sizes, columns)
    cells = queries * FOLDS * VALUES
    each = [1000 * one / cells for one in beyond("folds", found, tiny)]
    columns = [
        *costs("folds", found, tiny),
        Column("ms a query × fold × value", ".4f", each),
        Column("seconds of tasks", ".2f", [one.tasks for one in found], tiny.tasks),
    ]
    title = f"heldout run, {queries} queries × {FOLDS} document folds × {VALUES} values of BM25"
    show(title, sizes, columns)


def show_model(found: Sequence[Measured], tiny: Measured, queries: int) -> None:
    """Print what a cost model needs: bytes of the parts of an index, seconds of a posting."""
    # Postings grow with the documents, so no fit could tell them apart: they are counted.
    posting = np.array([one.for_postings / one.postings for one in found]).mean()
    rest = np.array([one.size - one.for_postings for one in found], float)
    parts = np.array([[one.documents, one.terms] for one in found], float)
    # Each size counts alike, not each byte.
    fitted, *_ = np.linalg.lstsq(parts / rest[:, None], np.ones(len(rest)))
    off = np.abs(parts @ fitted - rest) / [one.size for one in found]
    print("\nFor a cost model\n\n| what | value |\n| --- | ---: |")
    each = (posting, *fitted)
    for words, value in zip(("a posting", "a document", "a term"), each, strict=True):
        print(f"| bytes of the index for {words} | {value:.2f} |")
    print(f"| bytes of the index that this is off by, at most | {off.max():.2%} |")
    last = found[-1]
    for model in MODELS:
        seconds = beyond(model, [last], tiny)[0] / queries
        print(f"| {model}: ns a posting scored (top 1,000, written) | {_ns(seconds, last):.2f} |")
    seconds = (last.tasks - tiny.tasks) / (queries * VALUES)
    print(f"| folds: ms a query × value, all {FOLDS} folds | {1000 * seconds:.3f} |")
    print(f"| folds: ns a posting, value and fold | {_ns(seconds / FOLDS, last):.3f} |")
    seconds = beyond("index", [last], tiny)[0]
    print(f"| index: ns a posting | {1e9 * seconds / last.postings:.1f} |")
    for step in last.steps:
        own = (last.steps[step].anonymous - tiny.steps[step].anonymous) * MB
        print(f"| {step}: anonymous bytes a document, at the peak | {own / last.documents:.0f} |")


def show_check(found: Sequence[Measured], tiny: Measured) -> None:
    """Predict the largest size from the smaller ones, and say how far off that is.

    Costs beyond those of the tiny corpus are taken as proportional to what causes them, at the
    largest of the smaller sizes: this is what a prediction for a still larger collection does.
    """
    *smaller, last = found
    if not smaller:
        return
    base = smaller[-1]
    causes: dict[str, Callable[[Measured], float]] = {
        "index": lambda one: one.postings,
        "bm25": lambda one: one.scored,
        "ql-dirichlet": lambda one: one.scored,
        "folds": lambda one: one.scored,
    }
    print(f"\n{last.documents:,} documents, predicted from {base.documents:,}\n")
    print("| step | CPU seconds, predicted | measured | off by |\n| --- | ---: | ---: | ---: |")
    for step, cause in causes.items():
        fixed = tiny.steps[step].busy
        predicted = fixed + (base.steps[step].busy - fixed) * cause(last) / cause(base)
        measured = last.steps[step].busy
        print(f"| {step} | {predicted:.1f} | {measured:.1f} | {predicted / measured - 1:+.0%} |")
    predicted = base.size * last.postings / base.postings
    print(
        f"| index, MB | {predicted / MB:,.0f} | {last.size / MB:,.0f} | "
        f"{predicted / last.size - 1:+.0%} |"
    )


def _ns(seconds: float, one: Measured) -> float:
    """Nanoseconds of each posting that the words of a query have."""
    return 1e9 * seconds / one.scored


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    add = parser.add_argument
    add("--sizes", type=int, nargs="+", default=SIZES, metavar="N", help="documents")
    add("--words", type=int, default=Shape().words, help="words of a document, on average")
    add("--queries", type=int, default=QUERY_COUNTS[0], choices=QUERY_COUNTS)
    add("--rounds", type=int, default=1, help="how often each step is done; the least counts")
    add("--tiny", type=int, default=1000, help="documents of the corpus for the fixed costs")
    add("--folder", type=Path, help="of the corpora, which are kept (default: a temporary one)")
    add("--bytes", action="store_true", help="figures for a cost model, too")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory(dir=options.folder) as name:
        place = Path(name)
        folder = options.folder or place
        tiny = make(folder, Shape(options.tiny, options.words))
        measure(tiny, options.queries, place, 1)  # compiled code is cached now
        fixed = measure(tiny, options.queries, place, 3)
        found = []
        for size in sorted(options.sizes):
            corpus = make(folder, Shape(size, options.words))
            found.append(measure(corpus, options.queries, place, options.rounds))
            if options.folder is None:
                shutil.rmtree(corpus.folder)
        print(f"Fixed costs are those of {options.tiny:,} documents, the least of three.")
        show_all(found, fixed, options.queries)
        show_check(found, fixed)
        if options.bytes:
            show_model(found, fixed, options.queries)


if __name__ == "__main__":
    main()

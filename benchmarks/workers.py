"""How much sooner two workers are done than one: document folds on a Dask cluster of this machine.

An experiment with many independent tasks (the folds of several repeats) is run with ``--dask`` and
a cluster of one and of two workers in turn, one thread a worker, and its results are compared byte
for byte. The index is built before. Seconds are those of everything: starting the cluster, reading
the collection and writing the results are in it.

With ``--joblib`` the same is tried with ``--jobs``, which are for functions and estimators:
built-in models stay on the threads of one process, so that no speed-up is to be expected there.

    python benchmarks/workers.py --folder data
"""

from __future__ import annotations

import argparse
import hashlib
import os
import sys
import tempfile
from pathlib import Path

from heaps import QUERY_COUNTS, Corpus, Shape, make
from watched import HELDOUT, Process, Watched, heldout, watch

WANTED = 30.0
"""Seconds that the job must take with one worker to tell anything."""
SYSTEM = "bm25(k1=0.4:2:5, b=0.25,0.5,0.75)"
VALUES = 15
ON_A_CLUSTER = """
import sys
from distributed import LocalCluster
from heldout.cli import main

one_thread = dict(n_workers=int(sys.argv[1]), threads_per_worker=1, memory_limit=0)
with LocalCluster(**one_thread, dashboard_address="127.0.0.1:0") as cluster:
    main([*sys.argv[2:], "--dask", cluster.scheduler_address])
"""


def words_of(corpus: Corpus, index: Path, queries: int, repeats: int) -> list[str]:
    """The command, but for the workers and where results go."""
    words = ["run", str(corpus.documents), "--index", str(index)]
    words += ["--queries", str(corpus.queries(queries)), "--qrels", str(corpus.qrels(queries))]
    words += ["--system", SYSTEM, "--by", "document", "--folds", "5", "--repeats", str(repeats)]
    return [*words, "-m", "nDCG@10", "--quiet", "--force"]


def digests(place: Path) -> dict[str, str]:
    """Of all files of results but the timings."""
    return {
        one.name: hashlib.sha256(one.read_bytes()).hexdigest()
        for one in sorted(place.iterdir())
        if one.name != "timings.json"
    }


def is_worker(one: Process) -> bool:
    """Whether a process was started by another one to work."""
    return "spawn_main" in one.command or "loky" in one.command


def row(name: str, found: list[Watched], base: float) -> str:
    """A line of the table: the quickest round."""
    best = min(found, key=lambda one: one.seconds)
    workers = [one for one in best.processes.values() if is_worker(one)]
    others = [one for one in best.processes.values() if not is_worker(one)]
    cores = max((one.busy for one in workers), default=0.0) / best.seconds
    cells = [
        name,
        " ".join(f"{one.seconds:.1f}" for one in found),
        f"{base / best.seconds:.2f}",
        " ".join(f"{one.peak:,.0f}/{one.anonymous:,.0f}" for one in workers) or "none",
        f"{max(one.peak for one in others):,.0f}/{max(one.anonymous for one in others):,.0f}",
        f"{best.together:,.0f}",
        f"{cores:.2f}",
    ]
    return "| " + " | ".join(cells) + " |"


def compare(
    words: list[str], kinds: dict[str, tuple[list[str], list[str]]], place: Path, rounds: int
) -> None:
    """Run the experiment in each way (a program, more options) in turn, and print a table."""
    found: dict[str, list[Watched]] = {kind: [] for kind in kinds}
    seen: dict[str, dict[str, str]] = {}
    for number in range(rounds):
        for at, (kind, (program, more)) in enumerate(kinds.items()):
            results = place / f"results-{at}"
            run = watch([*program, *words, *more, "-o", str(results)])
            if run.code:
                sys.exit(f"{kind}: {run.failure()}")
            found[kind].append(run)
            seen[f"{kind}, round {number + 1}"] = digests(results)
    base = min(one.seconds for one in next(iter(found.values())))
    print(
        "| command | seconds | speed-up | workers: peak/anonymous MB | itself: the same | all at "
        "once, anonymous MB | cores that the busiest worker kept busy |"
    )
    print("| --- | ---: | ---: | ---: | ---: | ---: | ---: |")
    for kind, runs in found.items():
        print(row(kind, runs, base))
    first, *others = seen.values()
    names = [name for name, one in zip([*seen][1:], others, strict=True) if one != first]
    if names:
        sys.exit(f"the results are not those of the first run: {', '.join(names)}")
    print(f"\nAll {len(seen)} runs gave the same bytes ({len(first)} files).")
    if base < WANTED:
        print(f"Warning: {base:.0f} s with one worker; {WANTED:.0f} s at least would tell more.")


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    add = parser.add_argument
    add("--documents", type=int, default=1_000_000)
    add("--queries", type=int, default=max(QUERY_COUNTS), choices=QUERY_COUNTS)
    add("--repeats", type=int, default=8, help="repeats of the document folds")
    add("--most", type=int, default=2, metavar="N", help="workers at most (default 2)")
    add("--rounds", type=int, default=2, help="how often each is run; the least counts")
    add("--joblib", action="store_true", help="try --jobs, too")
    add("--folder", type=Path, help="of the corpora, which are kept (default: a temporary one)")
    options = parser.parse_args()
    if os.environ.pop("HELDOUT_THREADS", None) is not None:
        print("HELDOUT_THREADS is not passed on: a worker has one thread.")
    with tempfile.TemporaryDirectory(dir=options.folder) as name:
        place = Path(name)
        corpus = make(options.folder or place, Shape(options.documents))
        index = place / "index"
        heldout("index", corpus.documents, "-o", index, "--quiet")
        kinds: dict[str, tuple[list[str], list[str]]] = {}
        for n in map(str, range(1, options.most + 1)):
            kinds[f"--dask, {n} workers"] = [sys.executable, "-c", ON_A_CLUSTER, n], []
        for n in map(str, range(1, options.most + 1) if options.joblib else ()):
            kinds[f"--jobs {n}"] = HELDOUT, ["--jobs", n]
        print(
            f"{options.documents:,} documents, {options.queries:,} queries, {VALUES} values of "
            f"BM25, 5 document folds × {options.repeats} repeats\n"
        )
        words = words_of(corpus, index, options.queries, options.repeats)
        compare(words, kinds, place, options.rounds)


if __name__ == "__main__":
    main()

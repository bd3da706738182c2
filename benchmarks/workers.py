"""How much sooner two workers are done than one: document folds on a Dask cluster of this machine.

An experiment with many independent tasks (the folds of several repeats) is run with ``--dask`` and
a cluster of one and of two workers in turn, one thread a worker, and its results must have the same
bytes. The index is built before. Seconds are those of everything: starting the cluster, reading
the collection and writing the results are in it.

    python benchmarks/workers.py --queries 100 --repeats 16
"""

from __future__ import annotations

import argparse
import hashlib
import sys
import tempfile
from pathlib import Path

from harness import heldout, run, show
from heaps import QUERY_COUNTS, Shape, make

SYSTEM = "bm25(k1=0.4:2:5, b=0.25,0.5,0.75)"
ON_A_CLUSTER = """
import sys
from distributed import LocalCluster
from heldout.cli import main

one_thread = dict(n_workers=int(sys.argv[1]), threads_per_worker=1, memory_limit=0)
with LocalCluster(**one_thread, dashboard_address="127.0.0.1:0") as cluster:
    main([*sys.argv[2:], "--dask", cluster.scheduler_address])
"""


def digests(place: Path) -> dict[str, str]:
    """Of all files of results but the timings."""
    return {
        one.name: hashlib.sha256(one.read_bytes()).hexdigest()
        for one in sorted(place.iterdir())
        if one.name != "timings.json"
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    add = parser.add_argument
    add("--documents", type=int, default=1_000_000)
    add("--queries", type=int, default=max(QUERY_COUNTS), choices=QUERY_COUNTS)
    add("--repeats", type=int, default=8, help="repeats of the document folds")
    add("--rounds", type=int, default=2, help="how often each is run; the least counts")
    add("--data", type=Path, help="where the corpus is kept (default: a temporary folder)")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as name:
        place = Path(name)
        corpus = make(options.data or place, Shape(options.documents))
        heldout("index", corpus.documents, "-o", place / "index", "--quiet")
        queries, qrels = corpus.queries(options.queries), corpus.qrels(options.queries)
        words = ["run", corpus.documents, "--index", place / "index", "--queries", queries]
        words += ["--qrels", qrels, "--system", SYSTEM, "--by", "document", "--folds", "5"]
        words += ["--repeats", options.repeats, "-m", "nDCG@10", "--quiet", "--force"]
        least: dict[int, float] = {}
        seen: list[dict[str, str]] = []
        for _ in range(options.rounds):
            for workers in (1, 2):
                command = [sys.executable, "-c", ON_A_CLUSTER, workers, *words]
                used = run([*command, "-o", place / "results"], HELDOUT_THREADS="1")
                least[workers] = min(least.get(workers, used.seconds), used.seconds)
                seen.append(digests(place / "results"))
    if any(one != seen[0] for one in seen):
        sys.exit("the results of the runs differ")
    rows = [[n, f"{taken:.1f}", f"{least[1] / taken:.2f}×"] for n, taken in least.items()]
    show(f"{len(seen)} runs, all with the same bytes", ["workers", "seconds", "as fast"], rows)


if __name__ == "__main__":
    main()

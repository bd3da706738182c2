"""Fuse three runs side by side with ranx: from objects in memory, first call and later ones.

Each contestant is a process of its own, so that the first call shows what a user waits for (code
that is compiled once is in the cache of each library) and the memory peak is its own. The sweep is
eleven weights, evaluated as an experiment does it, against one fusion.
"""

from __future__ import annotations

import argparse
import importlib.util
import json
import sys
import time
from itertools import pairwise
from typing import TYPE_CHECKING, Any

import numpy as np

from harness import Timing, report, run_process, save

if TYPE_CHECKING:
    import heldout

RUNS, DEPTH, POOL = 3, 1000, 2000
WEIGHTS = (0.2, 0.3, 0.5)
METHODS = ("wsum", "rrf", "combmnz")
THEIRS = {"wsum": "wsum", "rrf": "rrf", "combmnz": "mnz"}
COMPARED = 20
"""Queries whose fused scores are compared one by one."""


def columns(number: int, queries: int) -> tuple[Any, Any]:
    """Documents and scores (queries × depth) of a run: half of the pool of each query."""
    generator = np.random.default_rng(number)
    docs = np.argsort(generator.random((queries, POOL)), axis=1)[:, :DEPTH]
    docs += 17 * np.arange(queries)[:, None]
    scores = np.sort(generator.random((queries, DEPTH)), axis=1)[:, ::-1]
    return docs, np.ascontiguousarray(scores)


def our_run(number: int, queries: int) -> heldout.Run:
    import heldout
    from heldout.data.ids import Ids

    docs, scores = columns(number, queries)
    ids = Ids.of(f"{doc:07}" for doc in range(int(docs.max()) + 1))
    offsets = np.arange(queries + 1) * DEPTH
    names = tuple(f"q{query:05}" for query in range(queries))
    return heldout.Run(f"run{number}", names, offsets, ids.take(docs.ravel()), scores.ravel())


def timed(work: Any) -> tuple[Any, dict[str, float]]:
    """Do some work; the seconds it took, on the clock and of all cores."""
    clock, cores = time.perf_counter(), time.process_time()
    found = work()
    return found, {
        "seconds": time.perf_counter() - clock,
        "cpu": time.process_time() - cores,
    }


def ours(queries: int, how: str) -> dict[str, Any]:
    import heldout
    from heldout.retrieve.fuse import Fusion, judged_ranks

    runs = [our_run(number, queries) for number in range(RUNS)]
    weights = WEIGHTS if how == "wsum" else None

    def fuse() -> heldout.Run:
        return heldout.fuse(runs, how, weights=weights)

    fused, cold = timed(fuse)
    _, warm = timed(fuse)
    judged = {f"q{query:05}": {f"{17 * query + 3:07}": 1} for query in range(queries)}
    qrels = heldout.Qrels.of(judged)
    points = [Fusion("wsum", weights=(w, 1 - w, 0.5)) for w in np.linspace(0, 1, 11).tolist()]
    judged_ranks(runs, qrels, points[:1])
    _, sweep = timed(lambda: judged_ranks(runs, qrels, points))
    ends = fused.offsets[: COMPARED + 1].tolist()
    docs = fused.docs.take(np.arange(ends[-1])).tolist()
    some = {
        query: dict(zip(docs[begin:end], fused.scores[begin:end].tolist(), strict=True))
        for query, (begin, end) in zip(fused.queries, pairwise(ends), strict=False)
    }
    return {"cold": cold, "warm": warm, "sweep": sweep, "fused": some}


def theirs(queries: int, how: str) -> dict[str, Any]:
    import ranx

    runs = []
    for number in range(RUNS):
        docs, scores = columns(number, queries)
        ranked = {
            f"q{query:05}": dict(zip((f"{doc:07}" for doc in own), score, strict=True))
            for query, (own, score) in enumerate(zip(docs.tolist(), scores.tolist(), strict=True))
        }
        runs.append(ranx.Run(ranked))
        del ranked
    params = {"weights": list(WEIGHTS)} if how == "wsum" else {}
    norm = None if how == "rrf" else "min-max"

    def fuse() -> Any:
        return ranx.fuse(runs, norm=norm, method=THEIRS[how], params=params)

    fused, cold = timed(fuse)
    _, warm = timed(fuse)
    some = {f"q{query:05}": dict(fused.run[f"q{query:05}"]) for query in range(COMPARED)}
    return {"cold": cold, "warm": warm, "fused": some}


def differing(first: dict[str, Any], second: dict[str, Any]) -> str:
    """How many fused scores differ, and documents that only one has, in words."""
    wrong = 0
    for query, scores in first.items():
        other = second[query]
        wrong += len(scores.keys() ^ other.keys())
        wrong += sum(abs(scores[doc] - other[doc]) > 1e-9 for doc in scores.keys() & other.keys())
    return f"{wrong} differ" if wrong else "equal"


def measure(how: str, queries: int, names: list[str]) -> dict[str, Any]:
    found, memory = {}, {}
    for name in names:
        command = [sys.executable, __file__, "--contestant", name, "--how", how]
        output, _, memory[name] = run_process([*command, "--queries", str(queries)])
        found[name] = json.loads(output.splitlines()[-1])
    agreement = {
        name: differing(found["heldout"]["fused"], one["fused"]) for name, one in found.items()
    }
    size = f"{how}, {RUNS} runs × {queries:,} × {DEPTH:,}"
    for kind in ("cold", "warm"):
        timings = {name: Timing(one[kind]["seconds"], memory[name]) for name, one in found.items()}
        report(f"{size}, {kind}", timings, agreement)
        timings = {name: Timing(one[kind]["cpu"], None) for name, one in found.items()}
        report(f"{size}, {kind}, seconds of all cores", timings, {})
    own = found["heldout"]
    ratio = own["sweep"]["cpu"] / own["warm"]["cpu"]
    print(
        f"\n  sweep of 11 weights: {own['sweep']['seconds']:.2f} s, {ratio:.2f}x one {how} by cores"
    )
    for one in found.values():
        del one["fused"]
    return {"how": how, "queries": queries, "memory": memory, **found}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--queries", type=int, default=6980)
    parser.add_argument("--how", choices=METHODS, action="append")
    parser.add_argument("--contestant", choices=("heldout", "ranx"), help=argparse.SUPPRESS)
    parser.add_argument("--without", action="append", default=[], metavar="NAME")
    options = parser.parse_args()
    methods = options.how or list(METHODS)
    if options.contestant is not None:
        work = ours if options.contestant == "heldout" else theirs
        print(json.dumps(work(options.queries, methods[0])))
        return
    names = ["heldout"] + (["ranx"] if importlib.util.find_spec("ranx") else [])
    names = [name for name in names if name not in options.without]
    save("fusion", [measure(how, options.queries, names) for how in methods])


if __name__ == "__main__":
    main()

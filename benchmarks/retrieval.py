"""Index, search, folds × grid and bootstrap beside bm25s, tantivy and PISA, in one run.

Every contestant works in processes of its own, in turn; the least time of the rounds counts, and
the memory peak is that of the process. What is found is compared in the same run. PISA takes part
when pyterrier_pisa can be imported (its wheel wants libtbb.so.2), tantivy and bm25s when they are
installed.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
from itertools import product
from pathlib import Path
from typing import Any

import harness
import retrieval_checks as checks
import zipf
from harness import Timing, report, run_process, save
from retrieval_contestants import FOLDS, GRID, REPLICATES, lines

HERE = Path(__file__).parent
PARTS = ("index", "search", "folds", "bootstrap", "disk", "compile")
PEERS = ("bm25s", "tantivy", "pisa")
MODULES = {"pisa": "pyterrier_pisa"}
VALUES = len(GRID["k1"]) * len(GRID["b"])
REINDEXED = FOLDS * VALUES


def call(name: str, work: str, folder: Path, **settings: Any) -> tuple[dict[str, Any], Timing]:
    """Let a contestant do something; what it says, and its time and memory peak."""
    options = [part for key, value in settings.items() for part in (f"--{key}", str(value))]
    script = str(HERE / "retrieval_contestants.py")
    output, _, heard = run_process([sys.executable, script, name, work, str(folder), *options])
    answer = json.loads(output)
    memory = answer.pop("memory_mb")
    return answer, Timing(answer["seconds"], heard if memory is None else memory)


def compete(
    contestants: dict[str, tuple[str, str, dict[str, Any]]], folder: Path, rounds: int
) -> tuple[dict[str, dict[str, Any]], dict[str, Timing]]:
    """Run all contestants in turn, `rounds` times."""
    answers: dict[str, dict[str, Any]] = {}
    timings: dict[str, Timing] = {}
    for _ in range(rounds):
        for label, (name, work, settings) in contestants.items():
            answer, timing = call(name, work, folder, **settings)
            if label not in timings or timing.seconds < timings[label].seconds:
                answers[label], timings[label] = answer, timing
    return answers, timings


def available(names: tuple[str, ...]) -> list[str]:
    """Peers that can be imported; why another cannot is printed."""
    found = []
    for name in names:
        module = MODULES.get(name, name)
        tried = subprocess.run(
            [sys.executable, "-c", f"import {module}"], capture_output=True, text=True, check=False
        )
        if tried.returncode:
            reason = (tried.stderr.strip().splitlines() or ["no reason given"])[-1]
            print(f"{name} does not take part: {reason}")
        else:
            found.append(name)
    return found


def as_json(timings: dict[str, Timing], **more: Any) -> dict[str, Any]:
    rows = {
        name: {"seconds": timing.seconds, "memory_mb": timing.memory}
        for name, timing in timings.items()
    }
    return {"times": rows, **more}


class Benchmark:
    """All parts for one corpus."""

    def __init__(self, folder: Path, peers: list[str], rounds: int) -> None:
        self.folder = folder
        self.peers = peers
        self.rounds = rounds
        self.cores = os.cpu_count() or 1
        self.counts = zipf.query_counts(folder)

    def _report(self, title: str, timings: dict[str, Timing], found: dict[str, str]) -> None:
        report(f"{self.folder.name}: {title}", timings, found)

    def _need(self, name: str, made: str, threads: int = 1) -> None:
        if not (self.folder / made).exists():
            call(name, "index", self.folder, threads=threads)

    def _index(self) -> Any:
        from heldout.retrieve.index import Index

        self._need("heldout", "heldout.index", self.cores)
        return Index.open(self.folder / "heldout.index")

    def index(self) -> dict[str, Any]:
        """From raw text on disk to an index on disk (bm25s: in memory)."""
        contestants: dict[str, tuple[str, str, dict[str, Any]]] = {
            "heldout": ("heldout", "index", {"threads": self.cores}),
            "heldout, 1 thread": ("heldout", "index", {"threads": 1}),
        }
        for name in self.peers:
            contestants[name] = (name, "index", {"threads": 1})
            if name != "bm25s":
                contestants[f"{name}, {self.cores} thr."] = (name, "index", {"threads": self.cores})
        answers, timings = compete(contestants, self.folder, min(self.rounds, 2))
        self._report("index from raw text", timings, {})
        return as_json(timings, answers=answers)

    def _search(self, queries: int, depth: int, threads: int, name: str) -> dict[str, Any]:
        out = self.folder / f"{name}-{queries}-{depth}.npz"
        return {"queries": queries, "depth": depth, "threads": threads, "out": out}

    def search(self) -> dict[str, Any]:
        """The best 1,000 and the best 10 documents of every query, one thread, warm.

        Twice: from queries as numbers of terms (tantivy: query objects) to numbers of documents and
        scores; and from the texts of queries to ids and scores.
        """
        index = self._index()
        for name, made in (("bm25s", "bm25s"), ("tantivy", "tantivy-1"), ("pisa", "pisa")):
            if name in self.peers:
                self._need(name, made)
        found = {}
        for queries, depth in product(self.counts, (1000, 10)):
            names = ["heldout", *self.peers]
            contestants = {
                name: (name, "search", self._search(queries, depth, 1, name)) for name in names
            }
            answers, timings = compete(contestants, self.folder, self.rounds)
            lists = {name: checks.load(contestants[name][2]["out"]) for name in names}
            agreement = {
                name: checks.same_lists(lists["heldout"], lists[name], checks.SINGLE)
                if name == "bm25s"
                else checks.overlap(lists["heldout"], lists[name])
                for name in self.peers
            }
            texts = lines(self.folder / f"queries-{queries}.txt")
            agreement["heldout"] = checks.check_search(index, texts, lists["heldout"])
            each = answers["heldout"]["postings_a_query"]
            title = f"{queries} queries, top {depth}, 1 thread, {each:,.0f} postings a query"
            self._report(title, timings, agreement)
            found[f"{queries}, top {depth}"] = as_json(
                timings, lists=agreement, postings_a_query=each
            )
            whole = {
                name: (name, "whole", {"queries": queries, "depth": depth, "threads": 1})
                for name in names
                if name != "pisa"
            }
            _, timings = compete(whole, self.folder, self.rounds)
            self._report(f"{queries} queries, top {depth}, from texts to ids", timings, {})
            found[f"{queries}, top {depth}, from texts to ids"] = as_json(timings)
        return found

    def _beside_one_pass(
        self, work: str, queries: int, rounds: int
    ) -> tuple[dict[str, Timing], Path]:
        """Our work, top 10 of every list, beside one plain search of bm25s, short and long."""
        own = self._search(queries, 10, 1, f"heldout-{work}")
        contestants: dict[str, tuple[str, str, dict[str, Any]]] = {
            "heldout": ("heldout", work, own),
            "bm25s, top 10": ("bm25s", "search", self._search(queries, 10, 1, "bm25s")),
            "bm25s, top 1k": ("bm25s", "search", self._search(queries, 1000, 1, "bm25s")),
        }
        if self.cores > 1:
            more = {**own, "threads": self.cores}
            contestants[f"heldout, {self.cores} thr."] = ("heldout", work, more)
        _, timings = compete(contestants, self.folder, rounds)
        return timings, own["out"]

    def folds(self) -> dict[str, Any]:
        """Five folds of the documents × nine values, top 10 of each."""
        index = self._index()
        self._need("bm25s", "bm25s")
        anew, _ = call("bm25s", "index", self.folder)
        found = {}
        for queries in self.counts:
            texts = lines(self.folder / f"queries-{queries}.txt")
            timings, out = self._beside_one_pass("folds", queries, self.rounds)
            # One index was made anew and timed; the others would take as long.
            timings["bm25s anew*45"] = Timing(REINDEXED * anew["index_alone_seconds"])
            agreement = {"heldout": checks.check_folds(index, texts, checks.load(out), 4)}
            title = f"{queries} queries, {FOLDS} folds x {VALUES} values, top 10, 1 thread"
            self._report(title, timings, agreement)
            found[str(queries)] = as_json(timings, lists=agreement)
        return found

    def bootstrap(self) -> dict[str, Any]:
        """A thousand bootstrap replicates of the documents, top 10 of each, weights included."""
        index = self._index()
        self._need("bm25s", "bm25s")
        queries = self.counts[0]
        texts = lines(self.folder / f"queries-{queries}.txt")
        timings, out = self._beside_one_pass("bootstrap", queries, min(self.rounds, 2))
        short, long = (timings[name].seconds for name in ("bm25s, top 10", "bm25s, top 1k"))
        agreement = {
            name: f"{timing.seconds / short:.1f} short or {timing.seconds / long:.1f} long passes"
            for name, timing in timings.items()
        }
        checked = checks.check_bootstrap(index, texts, checks.load(out), 10)
        agreement["heldout"] += f", {checked}"
        title = f"{queries} queries, {REPLICATES} bootstrap replicates, top 10, 1 thread"
        self._report(title, timings, agreement)
        return as_json(timings, lists=agreement)

    def disk(self) -> dict[str, Any]:
        """Bytes a posting, and the time to open the index."""
        self._index()
        answer, timing = call("heldout", "open", self.folder)
        each = answer["bytes"] / answer["postings"]
        print(
            f"\n{self.folder.name}: index on disk\n  {answer['bytes']:,} bytes, {each:.2f} a "
            f"posting; opened in {1000 * timing.seconds:.1f} ms"
        )
        return {**answer, "bytes_a_posting": each}

    def compile(self) -> dict[str, Any]:
        """All compiled loops with an empty cache, and in the next process."""
        with tempfile.TemporaryDirectory() as cache:
            os.environ["NUMBA_CACHE_DIR"] = cache
            try:
                first, again = (call("heldout", "kernels", self.folder)[0] for _ in range(2))
            finally:
                del os.environ["NUMBA_CACHE_DIR"]
        print(
            f"\ncompiled loops\n  all compiled in {first['seconds']:.1f} s; the next process uses "
            f"them in {again['seconds']:.2f} s"
        )
        return {"first": first, "again": again}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--documents", type=int, default=164_000, help="of the synthetic corpus")
    parser.add_argument("--repeats", type=int, default=8, help="how often pydocs is repeated")
    parser.add_argument("--beir", type=Path, help="a BEIR folder, for the corpus beir")
    parser.add_argument(
        "--corpus", choices=("zipf", "pydocs", "beir"), nargs="*", default=["zipf", "pydocs"]
    )
    parser.add_argument("--parts", choices=PARTS, nargs="*", default=list(PARTS))
    parser.add_argument("--rounds", type=int, default=2, help="processes of each contestant")
    parser.add_argument("--data", type=Path, default=HERE / "data")
    parser.add_argument("--leave-out", nargs="*", default=[], help="peers that are not to run")
    options = parser.parse_args()
    harness.PACKAGES = ("heldout", "numpy", "numba", "bm25s", "tantivy", "pyterrier-pisa")
    peers = available(tuple(name for name in PEERS if name not in options.leave_out))
    needed = {"folds", "bootstrap"}.intersection(options.parts)
    if needed and "bm25s" not in peers:
        raise SystemExit(f"{', '.join(sorted(needed))}: bm25s is needed beside it")
    results = {}
    for corpus in options.corpus:
        if corpus == "beir" and options.beir is None:
            raise SystemExit("--corpus beir needs --beir FOLDER")
        folder = {
            "zipf": lambda: zipf.make_zipf(options.data, options.documents),
            "pydocs": lambda: zipf.make_pydocs(options.data, options.repeats),
            "beir": lambda: zipf.make_beir(options.data, options.beir),
        }[corpus]()
        benchmark = Benchmark(folder, peers, options.rounds)
        parts = [part for part in options.parts if part != "compile" or corpus == "zipf"]
        results[folder.name] = {part: getattr(benchmark, part)() for part in parts}
        save("retrieval", results)


if __name__ == "__main__":
    main()

"""First use: what it takes to compile the loops, one by one and for the whole of `heldout demo`.

Each loop is compiled in a fresh process with an empty cache; its processor seconds include those
of the functions that it calls, unless another loop had them compiled. The demonstration runs with
an empty and with a full cache, in turn; the medians of both and of their differences are printed,
with processor seconds of all processes beside the wall time.

    python benchmarks/first_use.py [--rounds 5] [--parts loops demo]
"""

from __future__ import annotations

import argparse
import json
import os
import resource
import subprocess
import sys
import tempfile
import time
from statistics import median
from typing import Any

LOOPS = """
import json, sys, time
import numpy as np
from numba.core import event

seconds, open_ = {}, []

class Watch(event.Listener):
    def on_start(self, what):
        open_.append((what.data["dispatcher"].py_func.__qualname__, time.thread_time()))

    def on_end(self, what):
        name, begin = open_.pop()
        if not open_:
            seconds[name] = seconds.get(name, 0.0) + time.thread_time() - begin

event.register("numba:compile", Watch())
from heldout.retrieve.index import Index
from heldout.retrieve.models import Model
from heldout.retrieve.rank import rank
from heldout.retrieve.search import search
from heldout.retrieve.sides import whole_side

texts = [f"a{number % 3} b{number % 5} c {number}" for number in range(10_000)]
index = Index.build(texts)
search(index, {"q": "a1 b1"}, "ql-jm")
search(index, {"q": "a1 b1"}, "bm25")
vocabulary = index.encode(["a1 b1 c"])
rank(index, vocabulary, [[Model.make("bm25")]], whole_side(index, vocabulary), k=1, depth=1)
print(json.dumps(seconds))
"""


def run(arguments: list[str], cache: str, **more: str) -> tuple[str, float, float]:
    """Output, wall time and processor seconds of a process and those that it starts."""
    environment = {**os.environ, "NUMBA_CACHE_DIR": cache, **more}
    environment.pop("PYTHONDONTWRITEBYTECODE", None)
    before, begin = resource.getrusage(resource.RUSAGE_CHILDREN), time.perf_counter()
    ended = subprocess.run(
        [sys.executable, *arguments],
        env=environment,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        check=True,
        text=True,
    )
    wall, after = time.perf_counter() - begin, resource.getrusage(resource.RUSAGE_CHILDREN)
    spent = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    return ended.stdout, wall, spent


def loops(rounds: int) -> None:
    """Print the least processor seconds of every loop."""
    least: dict[str, float] = {}
    for _ in range(rounds):
        with tempfile.TemporaryDirectory() as cache:
            found: dict[str, Any] = json.loads(run(["-c", LOOPS], cache, HELDOUT_THREADS="1")[0])
        least = {name: min(least.get(name, own), own) for name, own in found.items()}
    print(f"processor seconds to compile (least of {rounds})")
    for name, own in least.items():
        print(f"  {name:20s} {own:6.2f}")
    print(f"  {'all':20s} {sum(least.values()):6.2f}")


def demo(rounds: int) -> None:
    """Print what the demonstration takes with an empty and with a full cache."""
    pairs = []
    for _ in range(rounds):
        with tempfile.TemporaryDirectory() as folder:
            asked = ["-m", "heldout", "demo", f"{folder}/shown"]
            pairs.append([run(asked, f"{folder}/cache")[1:] for _ in ("empty", "full")])
    print(f"heldout demo, medians of {rounds} pairs: wall, processor seconds")
    for name, place in (("empty cache", 0), ("full cache", 1)):
        wall, spent = (median(one[place][what] for one in pairs) for what in (0, 1))
        print(f"  {name:20s} {wall:6.2f} {spent:6.2f}")
    wall, spent = (median(one[0][what] - one[1][what] for one in pairs) for what in (0, 1))
    print(f"  {'difference':20s} {wall:6.2f} {spent:6.2f}", flush=True)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--parts", nargs="+", default=["loops", "demo"], choices=["loops", "demo"])
    options = parser.parse_args()
    if "loops" in options.parts:
        loops(options.rounds)
    if "demo" in options.parts:
        demo(options.rounds)


if __name__ == "__main__":
    main()

"""Kill one experiment at random moments, and see whether it always ends with the same bytes.

A run is started with ``--resume`` and killed (SIGKILL, no warning) after a random part of the time
that a whole run takes; then it is started again, in the same folder, until it ends by itself. Its
results are compared, byte by byte, with those of a run that nobody has killed. Every third run
has two worker processes. The numbers in docs/running.md come from

    nice -n 19 python benchmarks/random_kills.py --kills 200
"""

from __future__ import annotations

import argparse
import random
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections import Counter
from pathlib import Path

from harness import HELDOUT
from reference_data import write_files
from workers import digests

EXPERIMENT = """
measures = ["nDCG@10", "AP"]
collection = "small"
plan = {folds = 5, repeats = 2}

[[systems]]
name = "BM25"
system = "bm25(k1=0.1:3:60, b=0.25,0.5,0.75)"

[[systems]]
name = "mine"
system = "rankers.py:rank(power=0.0,0.25,0.5,0.75,1.0)"
"""


def start(folder: Path, place: str, number: int) -> subprocess.Popen[bytes]:
    command = ["run", "experiment.toml", "-o", place, "--resume", "--quiet"]
    if number % 3 == 2:
        command += ["--jobs", "2"]
    # To a file: a worker that outlives a killed run would keep a pipe open.
    with (folder / "said").open("wb") as said:
        return subprocess.Popen(
            [*HELDOUT, *command],
            cwd=folder,
            stdout=subprocess.DEVNULL,
            stderr=said,
            start_new_session=True,
        )


def state_of(place: Path) -> str:
    """How far a run had come when it was killed."""
    if not place.is_dir() or not any(place.iterdir()):
        return "before the folder was made"
    if (place / "manifest.json").exists():
        return "after the manifest was written"
    if any(one.suffix in {".parquet", ".tmp"} for one in place.iterdir()):
        return "while results were written"
    finished = any((place / "heldout-work").glob("*.npz"))
    return "between tasks or in one" if finished else "before the first task was done"


def kill_run(folder: Path, child: subprocess.Popen[bytes], seconds: float) -> bool:
    """Whether a run was killed, and had not ended by itself before."""
    try:
        child.wait(seconds)
    except subprocess.TimeoutExpired:
        # The process alone: its workers have to notice.
        child.send_signal(signal.SIGKILL)
        child.wait()
        return True
    if child.returncode:
        said = (folder / "said").read_text()
        sys.exit(f"a run ended with {child.returncode}: {said}")
    return False


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--kills", type=int, default=200)
    parser.add_argument("--seed", type=int, default=1)
    options = parser.parse_args()
    draw = random.Random(options.seed)  # noqa: S311 - no secret
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        write_files(folder)
        (folder / "experiment.toml").write_text(EXPERIMENT)
        start(folder, "warm", 0).wait()  # compiled code is cached now
        begin = time.perf_counter()
        if start(folder, "whole", 0).wait():
            sys.exit("the run without kills failed")
        took = time.perf_counter() - begin
        whole = digests(folder / "whole")
        kills, runs, ended = 0, 0, 0
        states: Counter[str] = Counter()
        while kills < options.kills or (folder / "cut").exists():
            last = kills >= options.kills
            seconds = 600.0 if last else draw.uniform(0.2, 1.1) * took
            runs += 1
            if kill_run(folder, start(folder, "cut", runs), seconds):
                kills += 1
                states[state_of(folder / "cut")] += 1
                continue
            if digests(folder / "cut") != whole:
                sys.exit(f"after {kills} kills the results differ")
            ended += 1
            shutil.rmtree(folder / "cut")
        print(f"a run takes {took:.1f} s; {kills} kills in {runs} runs")
        print(f"{ended} experiments ended by themselves, all {ended} with the same bytes")
        for state, count in states.most_common():
            print(f"  killed {state}: {count}")


if __name__ == "__main__":
    main()

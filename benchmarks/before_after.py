"""Compare the cost of some commands between two checkouts, in interleaved pairs.

    python benchmarks/before_after.py OLD NEW --pairs 10

OLD and NEW are folders of checkouts (git worktree add). Each command runs once unmeasured
in both, then in pairs, so that a change of the machine's speed meets both. Shown are medians of CPU
seconds (user and system, with all child processes), the median of the ratios new / old, and the
peak memory.
"""

from __future__ import annotations

import argparse
import os
import statistics
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import NamedTuple

import numpy as np

COMMANDS = {
    "eval": "eval qrels a.run b.run -m nDCG@10 -m AP -m RR",
    "eval --format trec": "eval qrels a.run --format trec",
    "compare runs": "compare qrels a.run b.run c.run -m nDCG@10",
    "compare table": "compare --scores scores.csv",
    "score classification": "score classification classes.csv --compare",
    "run by query": "run pydocs --system bm25(k1=0.5:2:4) --system ql-jm --folds 5 --quiet",
    "run by document": "run pydocs --system bm25(k1=0.5:2:4) --by document --folds 5 --quiet",
    "run estimators": "run classes.toml --quiet",
}
TOML = """
task = "classification"
data = {file = "rows.csv", target = "label", features = ["x", "y"]}
plan = {folds = 5}

[[systems]]
name = "knn"
estimator = "sklearn.neighbors:KNeighborsClassifier"
space = {n_neighbors = [1, 5, 9]}
"""


class Cost(NamedTuple):
    """What one command took."""

    seconds: float
    megabytes: float


def write_files(folder: Path) -> None:
    random = np.random.default_rng(0)
    qrels: list[str] = []
    runs: dict[str, list[str]] = {name: [] for name in "abc"}
    for query in range(300):
        judged = random.choice(2000, 40, replace=False)
        grades = random.integers(0, 3, 40)
        qrels += [f"q{query} 0 d{doc} {grade}\n" for doc, grade in zip(judged, grades, strict=True)]
        for at, name in enumerate("abc"):
            found = random.permutation(2000)[:300]
            scores = np.sort(random.normal(at * 0.1, 1, 300))[::-1]
            runs[name] += [
                f"q{query} Q0 d{doc} {rank} {score:.6f} {name}\n"
                for rank, (doc, score) in enumerate(zip(found, scores, strict=True), 1)
            ]
    (folder / "qrels").write_text("".join(qrels))
    for name, lines in runs.items():
        (folder / f"{name}.run").write_text("".join(lines))
    values = random.normal(0.4, 0.1, (200, 4)) + random.normal(0, 0.2, (200, 1))
    rows = [f"u{at}," + ",".join(f"{one:.6f}" for one in row) for at, row in enumerate(values)]
    (folder / "scores.csv").write_text("unit,A,B,C,D\n" + "\n".join(rows) + "\n")
    truth = random.integers(0, 3, 500)
    lines = ["system,unit,truth,prediction"]
    for name in ("old", "new"):
        guess = np.where(random.random(500) < 0.7, truth, random.integers(0, 3, 500))
        lines += [
            f"{name},{at},c{one},c{two}"
            for at, (one, two) in enumerate(zip(truth, guess, strict=True))
        ]
    (folder / "classes.csv").write_text("\n".join(lines) + "\n")
    points = random.normal(0, 1, (300, 2))
    labels = (points.sum(axis=1) + random.normal(0, 1, 300) > 0).astype(int)
    table = [f"{x:.5f},{y:.5f},{z}" for (x, y), z in zip(points, labels, strict=True)]
    (folder / "rows.csv").write_text("x,y,label\n" + "\n".join(table) + "\n")
    (folder / "classes.toml").write_text(TOML)


def cost(checkout: Path, command: str, folder: Path) -> Cost:
    environment = {**os.environ, "PYTHONPATH": str(checkout.resolve() / "src")}
    words = [sys.executable, "-c", "from heldout.cli import main; main()", *command.split(" ")]
    with subprocess.Popen(
        words, cwd=folder, env=environment, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE
    ) as process:
        _, status, used = os.wait4(process.pid, 0)
        process.returncode = os.waitstatus_to_exitcode(status)
        if process.returncode:
            said = process.stderr.read().decode() if process.stderr else ""
            raise SystemExit(f"{checkout}: {command}: exit code {process.returncode}\n{said}")
    return Cost(used.ru_utime + used.ru_stime, used.ru_maxrss / 1024)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("old", type=Path)
    parser.add_argument("new", type=Path)
    parser.add_argument("--pairs", type=int, default=10)
    parser.add_argument("--only", nargs="*", default=list(COMMANDS))
    options = parser.parse_args()
    print(f"{'command':22} {'old s':>8} {'new s':>8} {'ratio':>7} {'old MB':>8} {'new MB':>8}")
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        write_files(folder)
        for label in options.only:
            command = COMMANDS[label]
            both = (options.old, options.new)
            for one in both:
                cost(one, command, folder)
            found = [[cost(one, command, folder) for one in both] for _ in range(options.pairs)]
            seconds = [statistics.median(pair[at].seconds for pair in found) for at in (0, 1)]
            memory = [max(pair[at].megabytes for pair in found) for at in (0, 1)]
            ratio = statistics.median(new.seconds / old.seconds for old, new in found)
            print(
                f"{label:22} {seconds[0]:8.2f} {seconds[1]:8.2f} {ratio:7.2f} {memory[0]:8.0f} "
                f"{memory[1]:8.0f}",
                flush=True,
            )


if __name__ == "__main__":
    main()

"""The table of README.md: from files to the values of every query, whole programs with start-up.

trec_eval takes part when it is on the path or named by the variable TREC_EVAL; the Python packages
when they are installed. The values of each must be those of heldout. A last line has the same from
objects in memory, warm. All programs run in turn; the fastest round counts.
"""

from __future__ import annotations

import argparse
import os
import shutil
import sys
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

import heldout
from harness import DATA, Values, check_equal, installed, race, run_in_turn, show
from peers import IN_MEMORY, MEASURES, PROGRAMS, TREC_NAMES, TREC_ORDER

if TYPE_CHECKING:
    from collections.abc import Sequence

PEERS = ("trec_eval", *PROGRAMS)
DOCS = 8_841_823  # as many as the passages of MS MARCO, so that ids look alike


class Shape(NamedTuple):
    """How large a run is: queries, documents a query, judged documents a query, grades."""

    queries: int
    depth: int
    judged: float
    grades: int


SHAPES = (Shape(250, 1000, 1200, 3), Shape(1000, 1000, 1.1, 1), Shape(6980, 1000, 1.1, 1))
IN_MEMORY_SHAPE = Shape(1500, 1000, 60, 3)


def make(shape: Shape, folder: Path) -> tuple[Path, Path]:
    """Write judgements and a run, unless they are there.

    Without ties, so that peers with another order of tied documents must give the same values.
    """
    name = f"{shape.queries}x{shape.depth}-{shape.judged:g}"
    qrels, run = folder / f"{name}.qrels", folder / f"{name}.run"
    if qrels.exists() and run.exists():
        return qrels, run
    folder.mkdir(parents=True, exist_ok=True)
    generator = np.random.default_rng(20)
    with qrels.open("w") as judgements, run.open("w") as ranking:
        for query in range(100_000, 100_000 + 7 * shape.queries, 7):
            docs = generator.choice(DOCS, shape.depth, replace=False)
            # Sorted and distinct, and apart by more than a 32-bit float can blur.
            scores = np.sort(generator.choice(600_000, shape.depth, replace=False))[::-1] / 10_000
            rows = zip(docs.tolist(), scores.tolist(), strict=True)
            ranking.writelines(
                f"{query} Q0 {doc} {rank} {score:.4f} bench\n"
                for rank, (doc, score) in enumerate(rows, 1)
            )
            judgements.writelines(
                f"{query} 0 {doc} {grade}\n" for doc, grade in _judge(shape, docs, generator)
            )
    return qrels, run


def _judge(shape: Shape, docs: np.ndarray, generator: np.random.Generator) -> list[tuple[int, int]]:
    """Half of the judged documents are retrieved ones, mostly from the top."""
    count = int(shape.judged) + int(generator.random() < shape.judged % 1)
    weights = 1 / np.arange(1, shape.depth + 1) ** 0.5
    found = min(count, shape.depth) // 2 or count
    top = generator.choice(docs, found, replace=False, p=weights / weights.sum())
    picked = np.union1d(top, generator.choice(DOCS, count - found, replace=False))
    low = 0 if shape.grades > 1 else 1
    grades = generator.integers(low, shape.grades + 1, len(picked))
    return list(zip(picked.tolist(), grades.tolist(), strict=True))


def commands(qrels: Path, run: Path, peers: Sequence[str]) -> dict[str, list[object]]:
    """The programs, each with its own names of the measures."""
    asked = [word for name in MEASURES for word in ("-m", name)]
    program = Path(sys.executable).with_name("heldout")
    options = ["-q", "-n", "--format", "tsv", "--quiet", *asked]
    found: dict[str, list[object]] = {"heldout": [program, "eval", *options, qrels, run]}
    trec_eval = os.environ.get("TREC_EVAL") or shutil.which("trec_eval")
    if trec_eval and "trec_eval" in peers:
        asked = [word for name in TREC_NAMES for word in ("-m", name)]
        found["trec_eval"] = [trec_eval, "-q", "-n", *asked, qrels, run]
    script = Path(__file__).with_name("peers.py")
    for name in installed(*(name for name in PROGRAMS if name in peers)):
        found[name] = [sys.executable, script, name, qrels, run]
    return found


def parse(name: str, output: str) -> Values:
    lines = output.splitlines()
    if name == "heldout":
        cells = [line.split("\t") for line in lines[1:]]
        return {query: [float(value) for value in values] for _, query, *values in cells}
    if name == "trec_eval":
        found: dict[str, dict[str, float]] = {}
        for measure, query, value in map(str.split, lines):
            found.setdefault(query, {})[measure] = float(value)
        return {query: [row[one] for one in TREC_ORDER] for query, row in found.items()}
    return {query: [float(v) for v in values] for query, *values in map(str.split, lines)}


def row(shape: Shape, options: argparse.Namespace) -> list[str]:
    """A row of the table: peers as multiples of heldout's time and memory peak."""
    found = run_in_turn(commands(*make(shape, options.data), options.peers), options.rounds)
    ours = found["heldout"]
    values = parse("heldout", ours.output)
    kind = " graded" if shape.grades > 1 else ""
    cells = [f"{shape.queries:,} × {shape.depth}, {shape.judged:g}{kind}"]
    cells.append(f"{getattr(ours, options.clock):.2f} s, {ours.memory:.0f} MB")
    for name in options.peers:
        peer = found.get(name)
        if peer is None:
            cells.append("–")
            continue
        digits = 5.1e-5 if name == "trec_eval" else 1e-9  # trec_eval prints four digits
        check_equal(name, values, parse(name, peer.output), digits)
        times = getattr(peer, options.clock) / getattr(ours, options.clock)
        cells.append(f"{times:.2g}×, {peer.memory / ours.memory:.2g}×")
    return cells


def in_memory(options: argparse.Namespace) -> None:
    """Print the least seconds of each library from what it keeps in memory."""
    paths = make(options.memory_shape, options.data)
    qrels, run = heldout.read_qrels(paths[0]), heldout.read_run(paths[1])

    def ours() -> Values:
        found = heldout.evaluate(qrels, run, MEASURES)
        columns = [found.per_unit(0, at).tolist() for at in range(len(MEASURES))]
        return {query: [one[row] for one in columns] for row, query in enumerate(found.units())}

    works = {"heldout": ours}
    works |= {
        name: IN_MEMORY[name](qrels, run)
        for name in installed(*(name for name in IN_MEMORY if name in options.peers))
    }
    expected = ours()
    for name, work in works.items():  # compiles and warms up, too
        check_equal(name, expected, work(), 1e-9)
    least = race(works, options.rounds, options.clock)
    ratios = [f"{name} {least[name] / least['heldout']:.2g}×" for name in works]
    print(f"\n{len(run):,} rows in memory: {least['heldout']:.3f} s; {', '.join(ratios)}")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--data", type=Path, default=DATA)
    parser.add_argument("--peers", nargs="*", choices=PEERS, default=PEERS)
    parser.add_argument("--clock", choices=("seconds", "processor"), default="seconds")
    parser.add_argument("--queries", type=int, help="at most, for a quick look")
    options = parser.parse_args()
    most = options.queries or max(shape.queries for shape in SHAPES)
    shapes = [shape._replace(queries=min(shape.queries, most)) for shape in SHAPES]
    options.memory_shape = IN_MEMORY_SHAPE._replace(queries=min(IN_MEMORY_SHAPE.queries, most))
    heads = ["queries × documents, judged per query", "heldout", *options.peers]
    title = f"From files to values ({options.clock}, fastest of {options.rounds} rounds)"
    show(title, heads, (row(shape, options) for shape in shapes))
    in_memory(options)


if __name__ == "__main__":
    main()

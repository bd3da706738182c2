"""Make the data of the benchmarks: runs and judgements, seeded, without ties.

Without ties, so that peers with another order of tied documents must give the same values.
"""

from __future__ import annotations

import argparse
from dataclasses import dataclass
from pathlib import Path

import numpy as np

DOCS = 8_841_823  # as many as the passages of MS MARCO, so that ids look alike


@dataclass(frozen=True)
class Shape:
    """How large a collection is: queries, documents a query, judged documents a query."""

    queries: int
    depth: int
    judged: float
    grades: int

    @property
    def name(self) -> str:
        """A name for files and tables."""
        return f"{self.queries}x{self.depth}-{self.judged:g}"


SMALLEST = Shape(2, 1, 1, 1)
TRACK = Shape(50, 1000, 400, 3)
GRADED = Shape(250, 1000, 1200, 3)
MIDDLE = Shape(1000, 1000, 1.1, 1)
LARGE = Shape(6980, 1000, 1.1, 1)
IN_MEMORY = Shape(1500, 1000, 60, 3)


def make(shape: Shape, folder: Path) -> tuple[Path, Path]:
    """Write qrels and run of a shape, unless they are there; give their paths."""
    qrels, run = folder / f"{shape.name}.qrels", folder / f"{shape.name}.run"
    if qrels.exists() and run.exists():
        return qrels, run
    folder.mkdir(parents=True, exist_ok=True)
    generator = np.random.default_rng(20)
    with qrels.open("w") as judgements, run.open("w") as ranking:
        for query in range(shape.queries):
            name = 100_000 + 7 * query
            docs = generator.choice(DOCS, shape.depth, replace=False)
            # Sorted and distinct, and apart by more than a 32-bit float can blur.
            scores = np.sort(generator.choice(600_000, shape.depth, replace=False))[::-1] / 10_000
            rows = zip(docs.tolist(), scores.tolist(), strict=True)
            ranking.writelines(
                f"{name} Q0 {doc} {rank} {score:.4f} bench\n"
                for rank, (doc, score) in enumerate(rows, 1)
            )
            for doc, grade in _judge(shape, docs, generator):
                judgements.write(f"{name} 0 {doc} {grade}\n")
    return qrels, run


def _judge(shape: Shape, docs: np.ndarray, generator: np.random.Generator) -> list[tuple[int, int]]:
    """Half of the judged documents are retrieved ones, mostly from the top."""
    count = int(shape.judged) + int(generator.random() < shape.judged % 1)
    weights = 1 / np.arange(1, shape.depth + 1) ** 0.5
    found = min(count, shape.depth) // 2 or count
    top = generator.choice(docs, found, replace=False, p=weights / weights.sum())
    other = generator.choice(DOCS, count - found, replace=False)
    picked = np.union1d(top, other)
    low = 0 if shape.grades > 1 else 1
    grades = generator.integers(low, shape.grades + 1, len(picked))
    return list(zip(picked.tolist(), grades.tolist(), strict=True))


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description="Make the benchmark's data.")
    parser.add_argument("folder", type=Path)
    for one in (GRADED, MIDDLE, LARGE):
        make(one, parser.parse_args().folder)

"""Write a small synthetic example: judgements, those of a machine, and two runs to try."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from heldout.data.atomic import made_folder, write_atomically
from heldout.data.qrels import Qrels
from heldout.data.run import Run
from heldout.measure.ranking.evaluate import evaluate_runs
from heldout.report.evaluation import evaluation_text, policy_lines

if TYPE_CHECKING:
    from collections.abc import Iterator


def write_example(folder: str, *, terminal: bool = False) -> Iterator[str]:
    """Write the example to `folder` and evaluate it; yield the output."""
    qrels, runs = example()
    result = evaluate_runs(qrels, runs)
    with made_folder(folder) as place:
        qrels.write(place / "qrels.txt")
        example_machine(qrels).write(place / "machine.qrels")
        for run in runs:
            run.write(place / f"{run.name}.run")
        with write_atomically(place / "report.md") as aside:
            text = evaluation_text(result, "md")
            aside.write_text(f"# Two systems on a synthetic collection\n\n{text}", encoding="utf-8")
    yield evaluation_text(result, "table", terminal=terminal)
    yield "; ".join(policy_lines(result))
    files = "qrels.txt, machine.qrels, baseline.run, improved.run and report.md"
    yield f"\nWritten to {place}: {files}. Next:"
    yield f"  heldout eval {place / 'qrels.txt'} {place / 'improved.run'} -m nDCG@10 -q"


def example() -> tuple[Qrels, list[Run]]:
    """Make judgements for 50 queries and two runs of 100 documents each.

    Every document has a hidden quality. Grades are the quality in three steps, the scores of a
    system are the quality plus noise, and ``improved`` has less noise than ``baseline``.
    """
    queries, depth, pool = 50, 100, 300
    generator = np.random.default_rng(20)
    quality = generator.normal(size=(queries, pool))
    grades = np.digitize(quality, [1.3, 2.0])
    names = [f"q{number:03d}" for number in range(1, queries + 1)]
    docs = [[f"d{query:03d}-{doc:04d}" for doc in range(pool)] for query in range(1, queries + 1)]
    judged = np.argsort(-quality - generator.normal(size=quality.shape), axis=1)[:, :depth]
    qrels = Qrels.of(
        {
            name: {docs[row][doc]: int(grades[row, doc]) for doc in judged[row]}
            for row, name in enumerate(names)
        }
    )
    runs = []
    for system, noise in (("baseline", 1.4), ("improved", 1.1)):
        scores = quality + generator.normal(scale=noise, size=quality.shape)
        top = np.argsort(-scores, axis=1)[:, :depth]
        ranked = {
            name: {docs[row][doc]: float(scores[row, doc]) for doc in top[row]}
            for row, name in enumerate(names)
        }
        runs.append(Run.of(ranked, system))
    return qrels, runs


def example_machine(qrels: Qrels) -> Qrels:
    """Judge the same documents as a machine might: too kindly, and more so for some queries."""
    generator = np.random.default_rng(21)
    kindness = generator.normal(0.25, 0.25, len(qrels.queries))[qrels.query_of_row()]
    noisy = qrels.grades + kindness + generator.normal(0, 0.4, len(qrels))
    return replace(qrels, grades=np.clip(np.rint(noisy), 0, 2).astype(np.int64))

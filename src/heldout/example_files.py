"""Write a small synthetic example: judgements, those of a machine, and two runs to try."""

from __future__ import annotations

from typing import TYPE_CHECKING

from heldout.data.atomic import made_folder, write_atomically
from heldout.data.example import example, example_machine
from heldout.measure.ranking.evaluate import evaluate_runs
from heldout.report.evaluation import evaluation_text, policy_lines

if TYPE_CHECKING:
    from collections.abc import Iterator

__all__ = ["write_example"]


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

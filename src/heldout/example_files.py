"""A small example, made on the fly: judgements and two runs to try the commands on."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from heldout.data.example import example
from heldout.data.files import write_atomically
from heldout.errors import InputError
from heldout.measure.evaluate import evaluate
from heldout.report import tables

if TYPE_CHECKING:
    from collections.abc import Iterator

__all__ = ["write_example"]


def write_example(folder: str, *, terminal: bool = False) -> Iterator[str]:
    """Write the example to `folder`, evaluate it, and say what was done, paragraph by paragraph."""
    place = Path(folder)
    try:
        place.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise InputError(f"{folder}: the folder cannot be made ({error.strerror})") from None
    qrels, runs = example()
    qrels.write(place / "qrels.txt")
    for run in runs:
        run.write(place / f"{run.name}.run")
    result = evaluate(qrels, runs)
    with write_atomically(place / "report.md") as aside:
        text = tables.markdown_text(result, per_query=False, summary=True, digits=4)
        aside.write_text(f"# Two systems on a made-up collection\n\n{text}", encoding="utf-8")
    yield tables.table_text(result, per_query=False, summary=True, digits=4, terminal=terminal)
    yield "; ".join(tables.policy_lines(result))
    yield f"\nWritten to {place}: qrels.txt, baseline.run, improved.run and report.md. Next:"
    yield f"  heldout eval {place / 'qrels.txt'} {place / 'improved.run'} -m nDCG@10 -q"

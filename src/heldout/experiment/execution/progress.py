"""How far a run is: a bar with the time that is left, on a terminal."""

from __future__ import annotations

import sys
from contextlib import contextmanager
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    Step = Callable[[str], None]

__all__ = ["Step", "progress_bar"]


@contextmanager
def progress_bar(total: int, done: int, *, shown: bool) -> Iterator[Step]:
    """Give a function to call with the name of each task when it is finished.

    Parameters
    ----------
    total, done
        How many tasks there are, and how many were finished before.
    shown
        Whether to draw anything; it is only drawn on a terminal.
    """
    if not shown or not sys.stderr.isatty():
        yield lambda _: None
        return
    from rich.console import Console  # only for the bar
    from rich.progress import (
        BarColumn,
        MofNCompleteColumn,
        Progress,
        TextColumn,
        TimeElapsedColumn,
        TimeRemainingColumn,
    )

    columns = (
        TextColumn("{task.description}"),
        BarColumn(),
        MofNCompleteColumn(),
        TimeElapsedColumn(),
        TextColumn("left"),
        TimeRemainingColumn(),
    )
    with Progress(*columns, console=Console(stderr=True), transient=True) as bar:
        task = bar.add_task("tasks", total=total, completed=done)

        def step(name: str) -> None:
            bar.update(task, advance=1, description=name[:40])

        yield step

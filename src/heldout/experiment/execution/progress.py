"""A progress bar on a terminal."""

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
    """Give a function to call with the name of each finished task.

    Parameters
    ----------
    total, done
        The number of tasks, and of those that an earlier run finished.
    shown
        Whether to show the bar; it is only shown on a terminal.
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

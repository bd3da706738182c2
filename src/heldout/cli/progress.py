"""How far a command is: a bar on a terminal, nothing elsewhere."""

from __future__ import annotations

import sys
from contextlib import contextmanager
from time import monotonic
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

_PAUSE: Final = 0.1  # seconds between two drawings of a bar


@contextmanager
def progress_bar(what: str, *, quiet: bool = False) -> Iterator[Callable[[int, int], None] | None]:
    """Give a function to call with what is done, and of how much (0: unknown), or None."""
    if quiet or not sys.stderr.isatty():
        yield None
        return
    from rich.console import Console  # only for the bar
    from rich.progress import Progress

    # Not refreshed by a thread, which would compete with those that compute.
    with Progress(console=Console(stderr=True), transient=True, auto_refresh=False) as bar:
        task, drawn = bar.add_task(what, total=None), monotonic()

        def show(done: int, of: int) -> None:
            nonlocal drawn
            due = monotonic() - drawn >= _PAUSE
            bar.update(task, completed=done, total=of or None, refresh=due)
            drawn = monotonic() if due else drawn

        bar.refresh()
        yield show

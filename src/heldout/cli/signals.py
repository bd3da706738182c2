"""The signal that asks a process to end (SIGTERM), which `timeout` and batch systems send."""

from __future__ import annotations

import os
import signal
import threading
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterator

__all__ = ["Terminated", "terminable"]


class Terminated(KeyboardInterrupt):
    """The process was asked to end: what Ctrl-C cleans up and says is done and said, too."""


@contextmanager
def terminable() -> Iterator[None]:
    """Raise `Terminated` on SIGTERM, unless the caller has another use for the signal."""
    usual = signal.SIG_DFL
    if (
        threading.current_thread() is not threading.main_thread()
        or signal.getsignal(signal.SIGTERM) is not usual
    ):
        yield
        return
    own = os.getpid()

    def end(number: int, frame: Any) -> None:
        del frame
        signal.signal(number, usual)
        if os.getpid() != own:  # a forked process has nothing to clean up
            os.kill(os.getpid(), number)
            return
        raise Terminated

    signal.signal(signal.SIGTERM, end)
    try:
        yield
    finally:
        signal.signal(signal.SIGTERM, usual)

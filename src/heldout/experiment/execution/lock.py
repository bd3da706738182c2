"""One process at a time in a folder of results."""

from __future__ import annotations

import json
import os
import socket
import stat
from contextlib import contextmanager, suppress
from typing import TYPE_CHECKING

from heldout.errors import InputError
from heldout.experiment.execution.regular_files import refuse_irregular, refuse_opening

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

__all__ = ["locked"]

_NAME = "lock"


@contextmanager
def locked(folder: Path) -> Iterator[None]:
    """Hold the lock of a folder; a lock whose owner has died is taken over.

    The file is locked by the operating system, which lets go when its owner ends, however it ends;
    what stands in it says who that is.
    """
    from filelock import FileLock, Timeout

    path = folder / _NAME
    refuse_irregular(path)  # in words; whatever comes there later is not followed either
    # A file system without locks is refused: a mere marker would outlive a killed process.
    lock = FileLock(path, blocking=False, fallback_to_soft=False, on_acquired=_sign)
    try:
        lock.acquire()
    except Timeout:
        raise InputError(
            f"{folder} is in use by {_owner(path)}: wait until it has ended, or write to another "
            "folder"
        ) from None
    except OSError as error:
        refuse_opening(path, error)
    try:
        yield
    finally:
        # Still held while it is removed: whoever comes next makes a new one.
        with suppress(OSError):
            path.unlink()
        lock.release()


def _sign(file: int) -> None:
    """Write into the file who holds it."""
    if stat.S_ISREG(os.fstat(file).st_mode):
        owner = {"process": os.getpid(), "host": socket.gethostname()}
        os.ftruncate(file, 0)
        os.write(file, (json.dumps(owner) + "\n").encode())


def _owner(path: Path) -> str:
    try:
        owner = json.loads(path.read_text(encoding="utf-8"))
        return f"process {owner['process']} on {owner['host']}"
    except (OSError, ValueError, KeyError, TypeError):
        return "another process"

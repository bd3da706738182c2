"""One process at a time in a folder of results."""

from __future__ import annotations

import json
import os
import socket
import sys
from contextlib import contextmanager, suppress
from typing import TYPE_CHECKING

from heldout.errors import InputError
from heldout.experiment.execution.regular_files import open_regular

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
    path = folder / _NAME
    file = _open(path)
    while not _is_at(file, path):  # the owner before us took it away between open and lock
        os.close(file)
        file = _open(path)
    try:
        owner = {"process": os.getpid(), "host": socket.gethostname()}
        os.ftruncate(file, 0)
        os.write(file, (json.dumps(owner) + "\n").encode())
        yield
    finally:
        # Still held while it is removed: whoever comes next makes a new one.
        with suppress(OSError):
            path.unlink()
        os.close(file)


def _open(path: Path) -> int:
    """The file, locked."""
    file = open_regular(path, os.O_RDWR | os.O_CREAT)
    if _take(file):
        return file
    os.close(file)
    raise InputError(
        f"{path.parent} is in use by {_owner(path)}: wait until it has ended, or write to another "
        "folder"
    )


def _is_at(file: int, path: Path) -> bool:
    try:
        return os.path.samestat(os.fstat(file), path.lstat())
    except OSError:
        return False


def _take(file: int) -> bool:
    """Lock a file if nobody has it."""
    if sys.platform == "win32":
        import msvcrt

        try:
            msvcrt.locking(file, msvcrt.LK_NBLCK, 1)
        except OSError:
            return False
        return True
    import fcntl

    try:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        return False
    return True


def _owner(path: Path) -> str:
    try:
        owner = json.loads(path.read_text(encoding="utf-8"))
        return f"process {owner['process']} on {owner['host']}"
    except (OSError, ValueError, KeyError, TypeError):
        return "another process"

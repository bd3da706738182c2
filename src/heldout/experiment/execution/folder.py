"""Safe files in the folder of a run: one process at a time, and no links.

Links are not followed: a folder may come from somebody else, and a link in it can name any file of
the user who runs the experiment.
"""

from __future__ import annotations

import errno
import json
import os
import socket
from contextlib import contextmanager, suppress
from typing import TYPE_CHECKING, Final, NoReturn

from heldout.errors import InputError

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

__all__ = ["LOCK", "locked", "open_file", "refuse_link"]

LOCK: Final = "lock"


@contextmanager
def locked(folder: Path) -> Iterator[None]:
    """Hold the lock of a folder.

    The operating system locks the file, and unlocks it when the process ends in any way. The
    content of the file says which process holds it.
    """
    from filelock import FileLock, Timeout

    path = folder / LOCK
    refuse_link(path)
    # A file system without locks is refused: a mere marker file would outlive a killed process.
    lock = FileLock(path, blocking=False, fallback_to_soft=False, on_acquired=_sign)
    try:
        lock.acquire()
    except Timeout:
        raise InputError(
            f"{folder} is in use by {_owner(path)}: wait until it ends, or write to another folder"
        ) from None
    except OSError as error:
        _refuse_opening(path, error)
    try:
        yield
    finally:
        # Removed while it is still held, so that the next process makes a new one.
        with suppress(OSError):
            path.unlink()
        lock.release()


def _sign(file: int) -> None:
    """Write the owner into the lock."""
    owner = {"process": os.getpid(), "host": socket.gethostname()}
    os.ftruncate(file, 0)
    os.write(file, (json.dumps(owner) + "\n").encode())


def _owner(path: Path) -> str:
    try:
        owner = json.loads(path.read_text(encoding="utf-8"))
        return f"process {owner['process']} on {owner['host']}"
    except (OSError, ValueError, KeyError, TypeError):
        return "another process"


def open_file(path: Path, flags: int) -> int:
    """Open a file of the folder, or create it; refuse a link."""
    refuse_link(path)  # with a clear message, and for systems without O_NOFOLLOW
    try:
        return os.open(path, flags | getattr(os, "O_NOFOLLOW", 0), 0o644)
    except OSError as error:
        _refuse_opening(path, error)


def refuse_link(path: Path) -> None:
    """Refuse a link: it could name any file of the user."""
    if path.is_symlink():
        raise InputError(
            f"{path}: a link, expected a regular file: remove it, or write to another folder"
        )


def _refuse_opening(path: Path, error: OSError) -> NoReturn:
    if error.errno == errno.ELOOP:
        refuse_link(path)
    raise InputError(f"{path}: cannot be written ({error.strerror})") from None

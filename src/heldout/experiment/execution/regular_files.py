"""Regular files of a results folder: links are not followed, since folders come from others too."""

from __future__ import annotations

import errno
import os
import stat
from typing import TYPE_CHECKING, NoReturn

from heldout.errors import InputError

if TYPE_CHECKING:
    from pathlib import Path

__all__ = ["open_regular", "refuse_irregular", "refuse_link", "refuse_opening"]


def open_regular(path: Path, flags: int) -> int:
    """Open a file of a results folder, or make it; anything but a regular file is refused."""
    refuse_link(path)  # in words, and for systems that cannot be asked not to follow
    # A pipe must not wait for somebody at its other end.
    flags |= getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_NONBLOCK", 0)
    try:
        file = os.open(path, flags, 0o644)
    except OSError as error:
        refuse_opening(path, error)
    if not stat.S_ISREG(os.fstat(file).st_mode):
        os.close(file)
        _refuse(path, "a device or a pipe")
    return file


def refuse_opening(path: Path, error: OSError) -> NoReturn:
    """Say why a file cannot be opened."""
    if error.errno == errno.ELOOP:
        _refuse(path, "a link")
    raise InputError(f"{path}: cannot be written ({error.strerror})") from None


def refuse_link(path: Path) -> None:
    """Refuse a link: what it names may be any file of the one who runs the experiment."""
    if path.is_symlink():
        _refuse(path, "a link")


def refuse_irregular(path: Path) -> None:
    """Refuse anything but a regular file, or a name that is still free."""
    refuse_link(path)
    if path.exists() and not path.is_file() and not path.is_dir():
        _refuse(path, "a device or a pipe")


def _refuse(path: Path, what: str) -> NoReturn:
    raise InputError(
        f"{path}: {what}, expected a regular file: remove it, or write to another folder"
    )

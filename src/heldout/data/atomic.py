"""Write aside and rename, so that a file or folder is there when all of it is, or not at all."""

from __future__ import annotations

import os
import re
import shutil
import sys
from contextlib import contextmanager, suppress
from functools import lru_cache
from itertools import count
from pathlib import Path
from typing import TYPE_CHECKING, Final

from heldout.errors import InputError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

__all__ = ["made_folder", "make_aside", "write_atomically"]

_RUST: Final = re.compile(r"(?:.*: )?(.+) \(os error \d+\)", re.DOTALL)
"""How libraries in Rust speak of an error of the operating system."""


@contextmanager
def write_atomically(path: str | os.PathLike[str]) -> Iterator[Path]:
    """Give a temporary path beside `path`, and rename it when all is written.

    A device or a pipe cannot be renamed to: it is written to as it is.
    """
    target = Path(path)
    with _named(path):
        if not target.name or target.is_dir():
            raise InputError(f"{os.fspath(path)!r} is a directory, or nothing: give a file's path")
        if target.exists() and not target.is_file():
            yield target
            return
        aside = make_aside(target, lambda path: path.touch(exist_ok=False))
        try:
            yield aside
            aside.replace(target)
        except BaseException:
            with suppress(OSError):
                aside.unlink()
            raise


@contextmanager
def made_folder(path: str | os.PathLike[str]) -> Iterator[Path]:
    """Make a folder, unless it is there; what was made goes again if something fails inside."""
    place = Path(path)
    made = []
    for one in (place, *place.parents):
        if one.exists():
            break
        made.append(one)
    try:
        try:
            place.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            reason = error.strerror
            raise InputError(f"{os.fspath(path)}: the folder cannot be made ({reason})") from None
        yield place
    except BaseException:
        for one in made[:1]:
            shutil.rmtree(one, ignore_errors=True)
        for one in made[1:]:
            with suppress(OSError):  # somebody else may have put something there
                one.rmdir()
        raise


@contextmanager
def _named(path: str | os.PathLike[str]) -> Iterator[None]:
    """Say of what cannot be written which file it is, and why: the disk is full, or the like."""
    try:
        yield
    except BrokenPipeError:
        raise  # whoever read it went away, which is no fault
    except Exception as error:
        # Polars has errors of its own for a full disk. What does not use it need not import it.
        polars = sys.modules.get("polars")
        faults = OSError if polars is None else (OSError, polars.exceptions.PolarsError)
        if not isinstance(error, faults):
            raise
        reason = getattr(error, "strerror", None) or _RUST.sub(r"\1", str(error))
        raise InputError(f"{os.fspath(path)}: cannot be written ({reason})") from error


def make_aside(target: Path, make: Callable[[Path], None]) -> Path:
    """Make a file or folder beside another, under a name that nobody has.

    One of the same process number may have been killed there: in a container, all have the same.
    """
    _sweep(target)
    for number in count(os.getpid()):
        aside = target.with_name(f".{target.name}.{_machine()}-{number}.tmp")
        with suppress(FileExistsError):
            make(aside)
            return aside
    raise AssertionError  # numbers do not end


def _sweep(target: Path) -> None:
    """Remove what was written aside for the same target by processes that were killed."""
    if sys.platform == "win32":  # to ask there for a process is to end it
        return
    ours = re.compile(rf"\.{re.escape(target.name)}\.{_machine()}-([0-9]{{1,9}})\.tmp")
    with suppress(OSError), os.scandir(target.parent) as entries:
        for entry in entries:
            found = ours.fullmatch(entry.name)
            if found is None or _runs(int(found[1])):
                continue
            if entry.is_dir(follow_symlinks=False):
                shutil.rmtree(entry.path, ignore_errors=True)
            else:
                Path(entry.path).unlink(missing_ok=True)


def _runs(process: int) -> bool:
    """Whether there is a process of this number."""
    try:
        os.kill(process, 0)
    except ProcessLookupError:
        return False
    except PermissionError:  # of another user
        return True
    return True


@lru_cache(maxsize=1)
def _machine() -> str:
    """A short name for where process numbers mean the same: a machine, and a container on it."""
    import hashlib  # not when a command starts
    import socket

    name = socket.gethostname()
    with suppress(OSError):
        name += os.readlink("/proc/self/ns/pid")  # noqa: PTH115 - it leads to no path
    return hashlib.blake2b(name.encode(), digest_size=4).hexdigest()

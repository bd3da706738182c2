"""Write to a temporary path and rename: a file or folder is complete, or does not exist."""

from __future__ import annotations

import os
import re
import shutil
import sys
from contextlib import contextmanager, suppress
from itertools import count
from pathlib import Path
from typing import TYPE_CHECKING, Final

from heldout.errors import InputError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

_RUST: Final = re.compile(r"(?:.*: )?(.+) \(os error \d+\)", re.DOTALL)
"""How libraries written in Rust report an error of the operating system."""


@contextmanager
def write_atomically(path: str | os.PathLike[str]) -> Iterator[Path]:
    """Yield a temporary path beside `path`, and rename it to `path` when everything is written.

    A device or a pipe cannot be replaced: its own path is yielded.
    """
    target = Path(path)
    with _named(path):
        if not target.name or target.is_dir():
            raise InputError(
                f"{os.fspath(path)!r} is a directory, or empty: give the path of a file"
            )
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
    """Create a folder unless it exists; remove what was created if something fails inside."""
    folder = Path(path)
    created = []
    for parent in (folder, *folder.parents):
        if parent.exists():
            break
        created.append(parent)
    try:
        try:
            folder.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            reason = error.strerror
            raise InputError(
                f"{os.fspath(path)}: the folder cannot be created ({reason})"
            ) from None
        yield folder
    except BaseException:
        for parent in created[:1]:
            shutil.rmtree(parent, ignore_errors=True)
        for parent in created[1:]:
            with suppress(OSError):  # another process may have written into it
                parent.rmdir()
        raise


@contextmanager
def _named(path: str | os.PathLike[str]) -> Iterator[None]:
    """Turn a failure to write (such as a full disk) into an error that names the file."""
    try:
        yield
    except BrokenPipeError:
        raise  # the reader has closed the pipe, which is not an error
    except Exception as error:
        # Polars raises its own errors for a full disk; it is not imported just to name them.
        polars = sys.modules.get("polars")
        failures = OSError if polars is None else (OSError, polars.exceptions.PolarsError)
        if not isinstance(error, failures):
            raise
        reason = getattr(error, "strerror", None) or _RUST.sub(r"\1", str(error))
        raise InputError(f"{os.fspath(path)}: cannot be written ({reason})") from error


def make_aside(target: Path, make: Callable[[Path], None]) -> Path:
    """Create a temporary file or folder beside `target`, under a name that is not taken.

    A killed process of the same number may have left one: in a container, numbers repeat.
    """
    for number in count(os.getpid()):
        aside = target.with_name(f".{target.name}.{number}.tmp")
        with suppress(FileExistsError):
            make(aside)
            return aside
    raise AssertionError  # count() does not end

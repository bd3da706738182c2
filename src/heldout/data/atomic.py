"""Write to a temporary path and rename: a file or folder is complete, or does not exist."""

from __future__ import annotations

import os
import shutil
import sys
from contextlib import contextmanager, suppress
from itertools import count
from pathlib import Path
from typing import TYPE_CHECKING

from heldout.errors import InputError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator


@contextmanager
def write_atomically(path: str | os.PathLike[str]) -> Iterator[Path]:
    """Yield a temporary path beside `path`, and rename it to `path` when everything is written."""
    target = Path(path)
    with naming_failures(path):
        if not target.name or target.is_dir():
            raise InputError(
                f"{os.fspath(path)!r} is a directory, or empty: give the path of a file"
            )
        if target.exists() and not target.is_file():  # a device or a pipe cannot be replaced
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
def write_folder(path: str | os.PathLike[str], check: Callable[[Path], object]) -> Iterator[Path]:
    """Yield a folder beside `path`, and rename it to `path`, if `check` allows to replace it."""
    target = Path(os.path.abspath(path))  # noqa: PTH100 - a name is needed even for "."
    if target.exists():
        check(target)
    with naming_failures(path):
        target.parent.mkdir(parents=True, exist_ok=True)
        aside = make_aside(target, Path.mkdir)
        old = aside.with_suffix(".old")
        try:
            yield aside
            if target.exists():  # a folder cannot be replaced in one step
                target.rename(old)
            try:
                aside.rename(target)
            except BaseException:  # also an interruption: `old` is all there is of the folder
                if old.exists() and not target.exists():
                    old.rename(target)
                raise
        finally:
            for folder in (aside, old):
                shutil.rmtree(folder, ignore_errors=True)


@contextmanager
def made_folder(path: str | os.PathLike[str]) -> Iterator[Path]:
    """Create a folder unless it exists; remove what was created if something fails inside."""
    folder = Path(path)
    created = [parent for parent in (folder, *folder.parents) if not parent.exists()]
    try:
        try:
            folder.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise InputError(f"{path}: the folder cannot be created ({error.strerror})") from None
        yield folder
    except BaseException:
        for parent in created[-1:]:
            shutil.rmtree(parent, ignore_errors=True)
        raise


@contextmanager
def naming_failures(path: str | os.PathLike[str]) -> Iterator[None]:
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
        reason = getattr(error, "strerror", None) or error
        raise InputError(f"{os.fspath(path)}: cannot be written ({reason})") from error


def make_aside(target: Path, make: Callable[[Path], None]) -> Path:
    """Create a temporary file or folder beside `target`, under a name that is not taken."""
    # A killed process of the same number may have left one: in a container, numbers repeat.
    for number in count(os.getpid()):
        aside = target.with_name(f".{target.name}.{number}.tmp")
        with suppress(FileExistsError):
            make(aside)
            return aside
    raise AssertionError  # count() does not end

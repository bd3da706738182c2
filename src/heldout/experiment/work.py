"""Work is a map that remembers: what an earlier process has finished is read, not done again.

The result of an item depends on the experiment and the item alone. So items can be done in any
order, by any number of processes (`workers`), before or after a crash. A finished item is a file in
a folder beside the results until these are written. Links are refused: a folder may come from
somebody else, and a link in it can name any file of the user who runs the experiment.
"""

from __future__ import annotations

import hashlib
import io
import os
import shutil
import signal
import socket
import sys
from contextlib import contextmanager, nullcontext, suppress
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Final

import numpy as np

from heldout.data.atomic import naming_failures, write_atomically
from heldout.errors import Argument, InputError
from heldout.experiment.manifest import MANIFEST
from heldout.experiment.results.files import all_files, flush, resumable
from heldout.experiment.workers import SECONDS

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

    from filelock import BaseFileLock

    from heldout.experiment.workers import Arrays, Function, Items, Run

WORK: Final = "heldout-work"  # no name that users give to folders: it is removed as a whole
_LOCK: Final = "lock"


@dataclass
class Work:
    """Map functions over items: one file per finished item, in this process or by other workers."""

    run: Run  # does items, here or elsewhere
    key: str  # a hash of all that results depend on
    folder: Path | None = None  # of the finished items, in one that is locked; None: none are kept
    show: Callable[[int, int, str], None] = lambda *_: None
    seconds: dict[str, float] = field(default_factory=dict)  # of each item, also of those read

    def map(self, function: Function, items: Items, *, calls: bool = True) -> dict[str, Arrays]:
        """Return ``function(prepared, *item)`` of each item, in their order, by their unique names.

        The function is one of a module, and returns numbers and texts, never objects. An item that
        `calls` uses one core; one that uses all of them is done by a cluster or in this process.
        """
        paths = {name: self._path(function, name) for name in items}
        done = {name: known for name, path in paths.items() if (known := _read(path)) is not None}
        waiting = {name: item for name, item in items.items() if name not in done}
        self.show(len(items), len(done), "")
        # Each is stored as soon as it is there, so that it survives the failure of the next.
        for name, arrays in self.run(function, waiting, calls):
            if (path := paths[name]) is not None:
                content = io.BytesIO()
                np.savez(content, **arrays)  # type: ignore[arg-type]
                _store(path, content.getvalue())
            done[name] = arrays
            self.show(0, 1, name)
        self.seconds |= {name: float(done[name].pop(SECONDS)) for name in items}
        return {name: done[name] for name in items}

    def _path(self, function: Function, name: str) -> Path | None:
        text = f"{self.key}\0{function.__module__}\0{function.__qualname__}\0{name}"
        digest = hashlib.sha256(text.encode()).hexdigest()
        return None if self.folder is None else self.folder / f"{digest}.npz"


@contextmanager
def open_work(run: Run, key: str, folder: Path | None, *, progress: bool) -> Iterator[Work]:
    """Give the work of an experiment, beside the results in `folder`."""
    if sys.platform != "win32":
        # Importing Polars makes system calls go on after Ctrl-C: it would wait for an item.
        signal.siginterrupt(signal.SIGINT, True)
    work = Work(run, key, folder and folder / WORK)
    if work.folder is not None:
        _begin(work.folder, key)
    with _progress_bar() if progress and sys.stderr.isatty() else nullcontext(work.show) as show:
        work.show = show
        yield work


def _begin(work: Path, key: str) -> None:
    """Make the folder of finished items, or go on in it if it belongs to the same experiment."""
    stored = work / "key"
    with naming_failures(work):
        work.mkdir(exist_ok=True)
        for path in work.glob(".*"):  # half an item or index, of a run that was killed
            shutil.rmtree(path) if path.is_dir() else path.unlink()
        if stored.exists():
            refuse_other(work.parent, key, stored.read_text(errors="replace"))
        else:
            _store(stored, key.encode())


def _read(path: Path | None) -> Arrays | None:
    """Return the arrays of an item, if it is finished."""
    if path is None or not path.is_file():
        return None
    try:
        # Never a pickle: a folder from elsewhere must not execute code.
        with path.open("rb") as content, np.load(content, allow_pickle=False) as file:
            return {**file, SECONDS: np.array(float(file[SECONDS]))}
    except Exception:  # noqa: BLE001 - damaged in whatever way: it is done again
        return None


def _store(path: Path, content: bytes) -> None:
    """Write a file that is complete and on the disk, or not there."""
    with resumable(), write_atomically(path) as aside:
        aside.write_bytes(content)
        flush(aside)


@contextmanager
def _progress_bar() -> Iterator[Callable[[int, int, str], None]]:
    """Give a function that takes the number of new items, of finished ones, and a name."""
    from rich import progress  # only for the bar
    from rich.console import Console

    numbers = progress.MofNCompleteColumn(), progress.TimeElapsedColumn(), "left"
    columns = "{task.description}", progress.BarColumn(), *numbers, progress.TimeRemainingColumn()
    with progress.Progress(*columns, console=Console(stderr=True), transient=True) as bar:
        task = bar.add_task("systems × splits", total=0)

        def show(new: int, finished: int, name: str) -> None:
            total = (bar.tasks[task].total or 0) + new
            bar.update(task, total=total, advance=finished, description=name[:40] or None)

        yield show


# ---- the folder of the results -------------------------------------------------------------------


@contextmanager
def results_folder(folder: Path, *, resume: bool, force: bool) -> Iterator[bool]:
    """Make and lock a folder; yield whether it has complete results, which are to be read."""
    manifest, work, lock = folder / MANIFEST, folder / WORK, _locked(folder)
    try:
        for name in all_files():
            for aside in folder.glob(f".{name}.[0-9]*.tmp"):  # of a run that was killed
                aside.unlink()
        if force:
            manifest.unlink(missing_ok=True)
            shutil.rmtree(work, ignore_errors=True)
        complete, begun = manifest.is_file(), work.is_dir()
        others = [path.name for path in folder.iterdir() if path.name not in {_LOCK, WORK}]
        if complete and not resume:
            raise InputError(
                f"{folder} has results already: replace them with ", Argument("force", "True")
            )
        if begun and not resume:
            raise InputError(
                f"{folder} has an unfinished run: continue it with ",
                Argument("resume", "True"),
                ", or start from scratch with ",
                Argument("force", "True"),
            )
        if others and not (begun or complete or force):
            raise InputError(
                f"{folder} has other files ({min(others)}): give a new or empty folder"
            )
        yield complete
        flush(folder)  # results must be on the disk before the work is removed
        if work.exists():
            shutil.rmtree(work)
    finally:
        # Removed while it is still held, so that the next process makes a new one.
        with suppress(OSError):
            (folder / _LOCK).unlink()
        lock.release()


def _locked(folder: Path) -> BaseFileLock:
    """Make a folder and take its lock; when the process ends, the operating system opens it."""
    from filelock import FileLock, Timeout

    def sign(file: int) -> None:
        os.ftruncate(file, 0)
        os.write(file, f"process {os.getpid()} on {socket.gethostname()}".encode())

    path = folder / _LOCK
    # A file system without locks is refused: a mere marker file would outlive a killed process.
    lock = FileLock(path, blocking=False, fallback_to_soft=False, on_acquired=sign)
    with naming_failures(path):
        folder.mkdir(parents=True, exist_ok=True)
        names = *all_files(), WORK, _LOCK
        for file in (*map(folder.joinpath, names), *(folder / WORK).glob("*")):
            # A link could name any file of the user, and a pipe would block.
            kind = "link" if file.is_symlink() else "pipe" if file.is_fifo() else None
            if kind is not None:
                raise InputError(
                    f"{file}: a {kind}, expected a regular file: remove it, or write to another "
                    "folder"
                )
        try:
            lock.acquire()
        except Timeout:
            holder = "another process"
            with suppress(OSError, ValueError):  # it may be writing it just now
                holder = path.read_text(encoding="utf-8") or holder
            raise InputError(
                f"{folder} is in use by {holder}: wait until it ends, or write to another folder"
            ) from None
    return lock


def refuse_other(folder: Path, own: str, other: str) -> None:
    """Refuse to go on in the folder of an experiment with another key."""
    if own != other:
        raise InputError(
            f"{folder} belongs to another experiment (settings, data, code of a system or a "
            "version differ): give another folder, or start from scratch with ",
            Argument("force", "True"),
        )

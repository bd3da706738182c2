"""Run a command and watch it and all processes it starts: time, memory peaks, threads.

Memory is read from ``/proc`` a few times a second: the peak of the resident set (VmHWM, which the
kernel keeps; it counts pages of mapped files, too) and the largest anonymous part that was seen.
"""

from __future__ import annotations

import os
import re
import subprocess
import sys
import tempfile
import threading
import time
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

HELDOUT = [sys.executable, "-c", "from heldout.cli import main; main()"]
_PAUSE = 0.03
_TICKS = os.sysconf("SC_CLK_TCK")
_FIELD = re.compile(r"^(VmHWM|RssAnon|Threads):\s+(\d+)", re.MULTILINE)


@dataclass
class Process:
    """What was seen of a process: MB, threads, seconds of processor time."""

    command: str
    peak: float = 0.0
    anonymous: float = 0.0
    threads: int = 0
    busy: float = 0.0


@dataclass
class Watched:
    """What a command took, and what it wrote."""

    seconds: float
    output: str
    errors: str
    code: int
    processes: dict[int, Process] = field(default_factory=dict)
    together: float = 0.0
    """The largest anonymous memory of all processes at one moment, in MB."""

    @property
    def peak(self) -> float:
        """The greatest peak of a process, in MB."""
        return max((one.peak for one in self.processes.values()), default=0.0)

    @property
    def anonymous(self) -> float:
        """The greatest anonymous memory of a process, in MB."""
        return max((one.anonymous for one in self.processes.values()), default=0.0)

    @property
    def busy(self) -> float:
        """Seconds of processor time of all processes, which other work disturbs less."""
        return sum(one.busy for one in self.processes.values())

    def failure(self) -> str:
        """How a command has failed, with its last words."""
        said = self.errors.strip().splitlines() or ["not a word"]
        return f"exit code {self.code}: {said[-1].strip()}"


def watch(
    command: Sequence[str], *, cwd: Path | None = None, prepare: Callable[[], None] | None = None
) -> Watched:
    """Run a command to its end; `prepare` is called in the new process before it starts."""
    # To files: a pipe that nobody empties would stop the command.
    with tempfile.TemporaryFile("w+") as output, tempfile.TemporaryFile("w+") as errors:
        begin = time.perf_counter()
        child = subprocess.Popen(
            command,
            stdout=output,
            stderr=errors,
            cwd=cwd,
            preexec_fn=prepare,  # noqa: PLW1509 - no thread has been started here
        )
        found = Watched(0.0, "", "", 0)
        ended = threading.Event()
        watcher = threading.Thread(target=_look_on, args=(child.pid, found, ended))
        watcher.start()
        found.code = child.wait()
        found.seconds = time.perf_counter() - begin
        ended.set()
        watcher.join()
        for file in (output, errors):
            file.seek(0)
        found.output, found.errors = output.read(), errors.read()
    return found


def heldout(
    *words: str | Path, prepare: Callable[[], None] | None = None, may_fail: bool = False
) -> Watched:
    """Run heldout as a user would; a command that fails ends the benchmark, unless it may."""
    found = watch([*HELDOUT, *map(str, words)], prepare=prepare)
    if found.code and not may_fail:
        sys.exit(f"heldout {' '.join(map(str, words))}: {found.failure()}")
    return found


def _look_on(first: int, found: Watched, ended: threading.Event) -> None:
    while not ended.is_set():
        now = 0.0
        for number in _family(first):
            now += _look_at(number, found.processes)
        found.together = max(found.together, now)
        ended.wait(_PAUSE)


def _family(number: int) -> list[int]:
    """A process and all it has started."""
    found = [number]
    for one in found:
        try:
            tasks = list(Path(f"/proc/{one}/task").iterdir())
            for task in tasks:
                found += map(int, (task / "children").read_text().split())
        except OSError:
            continue  # it has ended
    return found


def _look_at(number: int, processes: dict[int, Process]) -> float:
    """Note what a process takes; gives its anonymous memory of this moment in MB."""
    place = Path(f"/proc/{number}")
    try:
        status = dict(_FIELD.findall((place / "status").read_text()))
        times = (place / "stat").read_text().rpartition(")")[2].split()
        command = (place / "cmdline").read_bytes().replace(b"\0", b" ").decode(errors="replace")
    except OSError:
        return 0.0
    if "VmHWM" not in status:
        return 0.0  # it has ended, and waits to be taken note of
    one = processes.setdefault(number, Process(command))
    if one.command != command:  # before exec it was, and took, what its parent is
        one = processes[number] = Process(command)
    anonymous = int(status["RssAnon"]) / 1024
    one.peak = max(one.peak, int(status["VmHWM"]) / 1024)
    one.anonymous = max(one.anonymous, anonymous)
    one.threads = max(one.threads, int(status["Threads"]))
    one.busy = (int(times[11]) + int(times[12])) / _TICKS
    return anonymous

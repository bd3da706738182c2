"""The memory that a run will take, estimated from sizes before it starts.

Rough by nature: what a user's code takes is its own.
"""

from __future__ import annotations

import os
import re
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Final

from heldout.data.sizes import shown_size
from heldout.errors import InputError
from heldout.experiment.settings import PROCESS_BYTES
from heldout.experiment.systems.base import Context

if TYPE_CHECKING:
    from collections.abc import Sequence

    from heldout.experiment.execution.tasks import Task
    from heldout.experiment.settings import Settings
    from heldout.retrieve.shards import AnyIndex

__all__ = [
    "Memory",
    "check_machine",
    "check_memory",
    "estimate_memory",
    "machine_memory",
    "peak_memory",
]

_SLACK: Final = 64 << 20
"""Libraries that are loaded when results are made, and what nobody has counted."""


@dataclass(frozen=True, slots=True)
class Memory:
    """What a run will take, roughly.

    Parameters
    ----------
    own
        Bytes of this process at its peak.
    worker
        Bytes of one worker process.
    processes
        How many of those there are.
    """

    own: int
    worker: int
    processes: int

    @property
    def total(self) -> int:
        """Bytes of this process and its workers."""
        return self.own + self.worker * self.processes


def estimate_memory(
    settings: Settings,
    index: AnyIndex | None,
    tasks: Sequence[Task],
    *,
    processes: int = 0,
    away: bool = False,
) -> Memory:
    """Estimate what a run will take.

    Parameters
    ----------
    tasks
        Those that are still to be done.
    processes
        Processes of this machine beside this one.
    away
        Whether those rank built-in models too.
    """
    held, context = held_memory(), Context(settings, index)
    here = there = 0
    for system in settings.systems:
        mine = [task for task in tasks if task.system == system.name]
        if not mine:
            continue
        needed = system.memory(mine, context)
        here = max(here, needed)
        if system.runs_elsewhere(cluster=away):
            there = max(there, needed)
    more = here + settings.record_bytes() * len(tasks) + _SLACK
    worker = settings.process_bytes(held) + there + (_SLACK if away else 0)
    return Memory(max(peak_memory(), held + more), worker, processes)


def check_memory(found: Memory, allowed: int, *, least: int = 0) -> int:
    """How many of the processes that are wished for fit into the memory that is allowed.

    Parameters
    ----------
    least
        How many there must be: a run for which they do not fit is refused.
    """
    needed = found.own + least * found.worker
    if needed > allowed:
        raise InputError(
            f"this run takes about {shown_size(needed)} of memory, and {shown_size(allowed)} are "
            "allowed: allow more, or take fewer values, a smaller depth, or an index that stands "
            "in a file (heldout index)"
        )
    return min(found.processes, (allowed - found.own) // found.worker)


def check_machine(processes: int) -> None:
    """Refuse more processes than this machine has memory for, were they empty."""
    needed, there = processes * PROCESS_BYTES, machine_memory()
    if processes > 1 and there and needed > there:
        raise InputError(
            f"{processes:,} processes take {shown_size(needed)} of memory before they have done "
            f"anything, and this machine has {shown_size(there)}: take fewer"
        )


def machine_memory() -> int:
    """Bytes of memory that this machine has; 0 where it does not say."""
    try:
        return os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    except (AttributeError, ValueError, OSError):  # not a Unix, or one that does not count
        return 0


def peak_memory() -> int:
    """Bytes that this process has held at most, up to now; 0 where nobody counts."""
    if sys.platform == "win32":
        return 0
    counted = _counted("VmHWM")
    if counted:  # what `resource` says counts the process that has started this one, too
        return counted
    import resource

    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return int(peak) if sys.platform == "darwin" else int(peak) * 1024


def held_memory() -> int:
    """Bytes that this process holds now, or has held at most where nobody counts that."""
    return _counted("VmRSS") or peak_memory()


def _counted(name: str) -> int:
    """What Linux counts of this process, in bytes; 0 elsewhere."""
    try:
        status = Path("/proc/self/status").read_text(encoding="ascii")
    except OSError:
        return 0
    found = re.search(rf"{name}:\s*(\d+) kB", status)
    return int(found[1]) * 1024 if found else 0

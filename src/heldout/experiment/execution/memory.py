"""The memory that a run needs, estimated from sizes before it starts.

The estimate is rough: the memory that a user's code needs is not known.
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
    from heldout.retrieve.index import Index

__all__ = [
    "Memory",
    "check_machine",
    "check_memory",
    "estimate_memory",
    "machine_memory",
    "peak_memory",
]

_SLACK: Final = 64 << 20
"""Libraries that are loaded when results are made, and everything not counted."""


@dataclass(frozen=True, slots=True)
class Memory:
    """The memory that a run needs, roughly.

    Parameters
    ----------
    own
        Bytes of this process at its peak.
    worker
        Bytes of one worker process.
    processes
        The number of worker processes.
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
    index: Index | None,
    tasks: Sequence[Task],
    *,
    processes: int = 0,
    on_cluster: bool = False,
) -> Memory:
    """Estimate the memory that a run needs.

    Parameters
    ----------
    tasks
        The tasks to run.
    processes
        Worker processes on this machine.
    on_cluster
        Whether the workers are a cluster, which ranks with built-in models, too.
    """
    held, context = held_memory(), Context(settings, index)
    here = there = 0
    for system in settings.systems:
        own = [task for task in tasks if task.system == system.name]
        if not own:
            continue
        needed = system.memory(own, context)
        here = max(here, needed)
        if any(system.runs_elsewhere(task, cluster=on_cluster) for task in own):
            there = max(there, needed)
    more = here + settings.record_bytes() * len(tasks) + _SLACK
    worker = settings.process_bytes(held) + there + (_SLACK if on_cluster else 0)
    return Memory(max(peak_memory(), held + more), worker, processes)


def check_memory(expected: Memory, limit: int, *, least: int = 0) -> int:
    """Return the number of worker processes that fit into the memory limit.

    Parameters
    ----------
    least
        The smallest number of processes; a run for which they do not fit is refused.
    """
    needed = expected.own + least * expected.worker
    if needed > limit:
        raise InputError(
            f"this run needs about {shown_size(needed)} of memory, more than max_memory "
            f"({shown_size(limit)}): raise it, or use fewer parameter settings, a smaller depth, "
            "or an index in a file (heldout index)"
        )
    return min(expected.processes, (limit - expected.own) // expected.worker)


def check_machine(processes: int) -> None:
    """Refuse more processes than this machine has memory for, even without data."""
    needed, available = processes * PROCESS_BYTES, machine_memory()
    if processes > 1 and available and needed > available:
        raise InputError(
            f"{processes:,} processes need {shown_size(needed)} of memory before they start to "
            f"work, and this machine has {shown_size(available)}: use fewer"
        )


def machine_memory() -> int:
    """Return the bytes of memory of this machine; 0 if unknown."""
    try:
        return os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    except (AttributeError, ValueError, OSError):  # not a Unix, or one without these names
        return 0


def peak_memory() -> int:
    """Return the peak memory of this process in bytes; 0 if unknown."""
    if sys.platform == "win32":
        return 0
    peak = _status("VmHWM")
    if peak:  # `resource` would include the peak of the process that started this one
        return peak
    import resource

    peak = int(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss)
    return peak if sys.platform == "darwin" else peak * 1024


def held_memory() -> int:
    """Return the memory of this process in bytes; its peak where only that is known."""
    return _status("VmRSS") or peak_memory()


def _status(name: str) -> int:
    """Return a value of ``/proc/self/status`` in bytes; 0 if it is not there."""
    try:
        status = Path("/proc/self/status").read_text(encoding="ascii")
    except OSError:
        return 0
    match = re.search(rf"{name}:\s*(\d+) kB", status)
    return int(match[1]) * 1024 if match else 0

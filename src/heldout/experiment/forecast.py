"""What a run will take, said before it starts: memory from sizes, time from a measured sample.

Rough by nature: the time of a function or an estimator is known to nobody before it is called, and
memory that a user's code takes is its own.
"""

from __future__ import annotations

import os
import re
import sys
import time
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Final

from heldout.data.sizes import shown_size
from heldout.errors import InputError
from heldout.experiment.estimator_settings import EstimatorSettings
from heldout.experiment.systems import ModelSystem, RunSystem
from heldout.experiment.tasks import CHUNK

if TYPE_CHECKING:
    from collections.abc import Sequence

    from heldout.experiment.config import Settings
    from heldout.experiment.tasks import Task
    from heldout.retrieve.shards import AnyIndex
    from heldout.retrieve.statistics import Vocabulary

__all__ = [
    "Forecast",
    "check_machine",
    "check_memory",
    "forecast",
    "machine_memory",
]

_SAMPLE: Final = 16
"""Queries that are ranked to see how fast this machine is."""
_DOCUMENT_BYTES: Final = 16
"""For each document: folds and sides."""
_RANKED_BYTES: Final = 64
"""For each document of the part of the index that is ranked: ratios, and copies of the side."""
_JUDGEMENT_BYTES: Final = 40
"""For each judgement and value: its rank, and what measures make of it."""
_LIST_BYTES: Final = {"folds": 150, "both": 170, "side": 60}
"""For each place of a ranked list that is merged and halved; measured."""
_HALVING_SECONDS: Final = 1.2e-8
"""For each place of a ranked list, replicate and measure; measured."""
_RECORD_BYTES: Final = 60
"""For each value of a measure, on its way from record to table."""
_PROCESS: Final = 160 << 20
"""A worker process before it has any data: Python, NumPy, SciPy, scikit-learn."""
_SLACK: Final = 64 << 20
"""Libraries that are loaded when results are made, and what nobody has counted."""


@dataclass(frozen=True, slots=True)
class Forecast:
    """What a run will take, roughly.

    Parameters
    ----------
    own
        Bytes of this process at its peak.
    worker
        Bytes of one worker process.
    processes
        How many of those there are.
    seconds
        Of built-in models.
    calls
        How many calls and fits there are besides, whose time is their own.
    """

    own: int
    worker: int
    processes: int
    seconds: float
    calls: int

    @property
    def memory(self) -> int:
        """Bytes of this process and its workers."""
        return self.own + self.worker * self.processes

    def sentence(self) -> str:
        """One line for people."""
        words = [f"about {shown_size(self.memory)} of memory"]
        if self.seconds:
            words.append(f"{_duration(self.seconds)} for built-in models")
        if self.calls:
            words.append(f"{self.calls:,} calls or fits, whose time and memory are their own")
        return f"expected, roughly: {', '.join(words)}"


def _duration(seconds: float) -> str:
    if seconds < 1:
        return "less than a second"
    if seconds < 120:
        return f"{seconds:.0f} s"
    return f"{seconds / 60:.0f} min" if seconds < 7200 else f"{seconds / 3600:.1f} h"


def forecast(
    settings: Settings | EstimatorSettings,
    index: AnyIndex | None,
    tasks: Sequence[Task],
    *,
    processes: int = 0,
    away: bool = False,
    timed: bool = True,
) -> Forecast:
    """Estimate what a run will take.

    Parameters
    ----------
    tasks
        Those that are still to be done.
    processes
        Processes of this machine beside this one.
    away
        Whether those rank built-in models too.
    timed
        Whether to rank some queries to see how long the others will take.
    """
    held, peak = held_memory(), peak_memory()
    if isinstance(settings, EstimatorSettings):
        worker = _PROCESS + 3 * _table_bytes(settings)
        own = max(peak, held + 2 * _table_bytes(settings) + _SLACK)
        return Forecast(own, worker, processes, 0.0, len(tasks))
    models = [one for one in tasks if isinstance(settings.systems[one.system], ModelSystem)]
    runs = sum(isinstance(settings.systems[one.system], RunSystem) for one in tasks)
    kinds = {(one.system, one.kind): one for one in models}  # others take the same
    ranking = max((_task_bytes(settings, index, one) for one in kinds.values()), default=0)
    queries, measures = len(settings.collection.queries), len(settings.measures) + 1
    more = ranking + _RECORD_BYTES * queries * measures * len(tasks) + _SLACK
    own = max(peak, held + more)
    worker = max(held, _PROCESS)  # it holds the collection too
    if away:
        worker += ranking + _SLACK
    seconds = 0.0
    if timed and index is not None and models:
        seconds = _slope(settings, index, models) * sum(_lanes(settings, one) for one in models)
        seconds += sum(_halving(settings, one) for one in models)
    calls = len(tasks) - len(models) - runs
    return Forecast(own, worker, processes, seconds, calls)


def check_memory(found: Forecast, allowed: int, *, least: int = 0) -> int:
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
    needed, there = processes * _PROCESS, machine_memory()
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


def _table_bytes(settings: EstimatorSettings) -> int:
    table = settings.data.table
    if hasattr(table, "data") and hasattr(table, "indptr"):
        return int(table.data.nbytes + table.indices.nbytes + table.indptr.nbytes)
    if hasattr(table, "nbytes"):
        return int(table.nbytes)
    if hasattr(table, "memory_usage"):
        return int(table.memory_usage(deep=True).sum())
    if hasattr(table, "estimated_size"):
        return int(table.estimated_size())
    return sum(sys.getsizeof(one) for one in table)


def _task_bytes(settings: Settings, index: AnyIndex | None, task: Task) -> int:
    """What a model holds while it is ranked.

    Postings of an index in a file are not counted: they are read from there, and the system takes
    back their pages when memory is short.
    """
    whole = settings.collection
    queries, depth = len(whole.queries), min(settings.depth, len(whole.documents))
    values = len(settings.systems[task.system].points())
    if task.kind == "grid":
        values = min(values, CHUNK)
    measures = len(settings.measures) + 1
    found = _JUDGEMENT_BYTES * len(whole.qrels) * values + 16 * queries * values * measures
    largest = len(whole.documents)
    if index is not None:
        largest = max(part.index.n_documents for part in index.parts)
    found += _DOCUMENT_BYTES * len(whole.documents) + _RANKED_BYTES * largest
    found += int(_LIST_BYTES.get(task.kind, 0)) * queries * depth
    if index is None:
        return found
    return found + _score_bytes(settings, index, task, values)


def _score_bytes(settings: Settings, index: AnyIndex, task: Task, values: int) -> int:
    from heldout.retrieve.rank import score_room
    from heldout.retrieve.statistics import Vocabulary

    system = settings.systems[task.system]
    if not isinstance(system, ModelSystem):
        raise TypeError(system.name)
    vocabulary = Vocabulary.of(index.encode(settings.collection.queries.texts))
    return score_room(index, vocabulary, system.models()[0], values)


def _lanes(settings: Settings, task: Task) -> float:
    """How many rankings of all queries a task takes."""
    values = len(settings.systems[task.system].points())
    if task.kind == "grid":
        return min(values - task.point, CHUNK)
    if task.kind == "lists":
        return min(values, len(settings.splits))
    if task.kind == "side":
        return (values if values > 1 else 0) + 12
    folds = len(settings.splits) / settings.splits.repeats
    if task.kind == "both":
        folds = float(folds**0.5)
        return (folds + 1) * values + 2 * folds
    return (folds + 1) * (values * (settings.inner or 1) if values > 1 else 0) + 4


def _halving(settings: Settings, task: Task) -> float:
    """Seconds for the intervals of document estimates."""
    if task.kind not in _LIST_BYTES:
        return 0.0
    whole = settings.collection
    places = len(whole.queries) * min(settings.depth, len(whole.documents))
    return _HALVING_SECONDS * places * settings.replicates * len(settings.measures)


def _slope(settings: Settings, index: AnyIndex, models: Sequence[Task]) -> float:
    """Seconds for one ranking of all queries by one value, from some of them on this machine."""
    from heldout.retrieve.rank import rank
    from heldout.retrieve.sides import whole_side
    from heldout.retrieve.statistics import Vocabulary

    system = settings.systems[models[0].system]
    if not isinstance(system, ModelSystem):
        raise TypeError(system.name)
    texts = settings.collection.queries.texts
    step = max(len(texts) // _SAMPLE, 1)
    every = Vocabulary.of(index.encode(texts))
    some = Vocabulary.of(index.encode(texts[::step][:_SAMPLE]))
    values = system.models()[:8]
    side = whole_side(index, some)
    for _ in range(2):  # the first may have to compile
        begin = time.perf_counter()
        rank(index, some, [list(values)], side, k=10)
        took = time.perf_counter() - begin
    share = _postings(index, some) / max(_postings(index, every), 1)
    return took / max(len(values), 1) / max(share, 1e-12)


def _postings(index: AnyIndex, vocabulary: Vocabulary) -> float:
    """How many postings the queries have, each counted as often as it is walked."""
    from heldout.retrieve.statistics import whole_statistics

    return float(whole_statistics(index, vocabulary).df[vocabulary.places].sum())

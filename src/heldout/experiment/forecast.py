"""What a run will take, said before it starts: memory from sizes, time from a measured sample.

Rough by nature: the time of a function or an estimator is known to nobody before it is called, and
memory that a user's code takes is its own.
"""

from __future__ import annotations

import re
import sys
import time
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Final

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

__all__ = ["Forecast", "check_memory", "forecast", "parse_size"]

_SIZE: Final = re.compile(r"(\d+(?:\.\d+)?)\s*(?:([KMGT])(?:i?B)?|B)?", re.IGNORECASE)
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
    memory
        Bytes at the peak, of this process and its workers.
    worker
        Bytes of one worker process.
    seconds
        Of built-in models.
    calls
        How many calls and fits there are besides, whose time is their own.
    """

    memory: int
    worker: int
    seconds: float
    calls: int

    def sentence(self) -> str:
        """One line for people."""
        words = [f"about {_shown(self.memory)} of memory"]
        if self.seconds:
            words.append(f"{_duration(self.seconds)} for built-in models")
        if self.calls:
            words.append(f"{self.calls:,} calls or fits, whose time and memory are their own")
        return f"expected, roughly: {', '.join(words)}"


def parse_size(text: str) -> int:
    """Bytes of a size such as ``500MB``.

    Examples
    --------
    >>> parse_size("1.5 kB"), parse_size("2GB") == 2 << 30
    (1536, True)
    """
    match = _SIZE.fullmatch(text.strip())
    if match is None:
        raise InputError(f"{text!r} is not a size, such as 500MB or 1.5GB")
    return int(float(match[1]) * 1024 ** " KMGT".index((match[2] or " ").upper()))


def _shown(size: int) -> str:
    return f"{size / 2**30:.1f} GB" if size >= 2**30 else f"{max(size >> 20, 1)} MB"


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
    workers: int = 1,
    timed: bool = True,
) -> Forecast:
    """Estimate what a run will take.

    Parameters
    ----------
    tasks
        Those that are still to be done.
    workers
        Processes for calls and fits.
    timed
        Whether to rank some queries to see how long the others will take.
    """
    held = peak_memory()
    if isinstance(settings, EstimatorSettings):
        worker = _PROCESS + 3 * _table_bytes(settings)
        own = 2 * _table_bytes(settings)
        return Forecast(_whole(held + own, worker, workers), worker, 0.0, len(tasks))
    models = [one for one in tasks if isinstance(settings.systems[one.system], ModelSystem)]
    runs = sum(isinstance(settings.systems[one.system], RunSystem) for one in tasks)
    kinds = {(one.system, one.kind): one for one in models}  # others take the same
    own = max((_task_bytes(settings, index, one) for one in kinds.values()), default=0)
    queries, measures = len(settings.collection.queries), len(settings.measures) + 1
    own += _RECORD_BYTES * queries * measures * len(tasks)
    worker = _PROCESS + max(held - _PROCESS, 0)  # it holds the collection too
    seconds = 0.0
    if timed and index is not None and models:
        seconds = _slope(settings, index, models) * sum(_lanes(settings, one) for one in models)
        seconds += sum(_halving(settings, one) for one in models)
    calls = len(tasks) - len(models) - runs
    return Forecast(_whole(held + own, worker, workers), worker, seconds, calls)


def check_memory(found: Forecast, allowed: int, workers: int) -> int:
    """How many workers fit into the memory that is allowed; none: the run cannot fit.

    Parameters
    ----------
    workers
        How many are wished for.
    """
    alone = found.memory - (found.worker * workers if workers > 1 else 0)
    if alone > allowed:
        raise InputError(
            f"this run takes about {_shown(alone)} of memory, and {_shown(allowed)} are allowed: "
            "allow more, or take fewer values, a smaller depth, or an index that stands in a file "
            "(heldout index)"
        )
    if workers < 2:
        return 1
    return max(min(workers, (allowed - alone) // found.worker), 1)


def _whole(own: int, worker: int, workers: int) -> int:
    return own + _SLACK + (worker * workers if workers > 1 else 0)


def peak_memory() -> int:
    """Bytes that this process has held at most, up to now; 0 where nobody counts."""
    if sys.platform == "win32":
        return 0
    status = Path("/proc/self/status")
    if status.exists():
        # What `resource` says counts the process that has started this one, too.
        found = re.search(r"VmHWM:\s*(\d+) kB", status.read_text(encoding="ascii"))
        return int(found[1]) * 1024 if found else 0
    import resource

    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return int(peak) if sys.platform == "darwin" else int(peak) * 1024


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
    """What a model holds while it is ranked, beside the index."""
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
    if isinstance(settings.index, str):
        found += index.mapped  # as far as it is read
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

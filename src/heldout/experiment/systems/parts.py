"""Systems that use the rankings of other systems: find these by name, and their choices."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from heldout.errors import InputError
from heldout.experiment.systems.runs import RunSystem

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from numpy.typing import NDArray

    from heldout.experiment.execution.tasks import Task
    from heldout.experiment.settings import RankingSettings, Settings
    from heldout.experiment.systems.base import System
    from heldout.experiment.systems.records import Record

__all__ = [
    "linked_part",
    "of_repeat",
    "part_misfits",
    "part_points",
    "shown_part",
]


def linked_part(
    name: str,
    part: System[Any] | str,
    systems: Mapping[str, System[Any]],
    home: str,
    *,
    verb: str = "fused",
) -> System[Any]:
    """Return the system, or the run file, that a part names.

    Parameters
    ----------
    name
        The system that the part belongs to.
    systems
        All systems of the experiment.
    home
        The folder that relative paths start from.
    verb
        What is done with a part, for messages.
    """
    from heldout.experiment.systems.reading import run_paths

    if not isinstance(part, str):
        return part
    others = {other: system for other, system in systems.items() if other != name}
    if part in others:
        refused = others[part].not_a_part()
        if refused is not None:
            raise InputError(f"{name}: {part} cannot be {verb}: {refused}")
        return others[part]
    paths = run_paths(f"{home}/{part}" if home else part)
    if len(paths) == 1:
        return RunSystem(name=part, runs=(paths[0],))
    if paths:
        raise InputError(
            f"{name}: {part} matches {len(paths)} runs: make it a system of its own, such "
            f"as --system 'part={part}', and name part"
        )
    known = f" ({', '.join(others)})" if others else ""
    raise InputError(
        f"{name}: {part} is neither another system of this experiment{known} nor a run file"
    )


def part_points(
    parts: Sequence[System[Any]], settings: Settings, records: Mapping[str, Record]
) -> NDArray[np.int64]:
    """Return the point of each part (splits, then all data × parts)."""
    columns = [
        part.selected(settings, records) if part.tuned else [0] * (len(settings.splits) + 1)
        for part in parts
    ]
    return np.array(columns, np.int64).T


def of_repeat(
    points: NDArray[np.int64], task: Task, settings: RankingSettings
) -> NDArray[np.int64]:
    """Return the rows of `part_points` for a task: for document folds those of its repeat."""
    if settings.by != "document":
        return points
    folds = len(settings.splits) // settings.splits.repeats
    return np.concatenate([points[task.split * folds :][:folds], points[-1:]])


def part_misfits(parts: Sequence[System[Any]], by: str, verb: str) -> Iterator[str]:
    """Yield the reasons why such splits do not work for a system with these parts.

    Parameters
    ----------
    verb
        What is done with a part.
    """
    if by == "both":
        yield f"what is {verb} cannot hold out queries and documents at once: hold out one of them"
    if by != "document":
        return
    for part in parts:
        if not part.merges_documents:
            yield (
                f"to hold out documents, say that the scores of {part.name} for documents of "
                f"different folds can be compared: make it a system of its own, with "
                "comparable=true in its brackets, and name it"
            )


def shown_part(part: System[Any] | str) -> str:
    """Return the name of a part, with the hash of a run file; systems are described elsewhere."""
    if isinstance(part, str):
        return part
    runs = part.describe().get("runs")
    return f"{part.name}: {runs[0]}" if runs is not None and len(runs) == 1 else part.name

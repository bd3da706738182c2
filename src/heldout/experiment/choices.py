"""The values that tasks of stage 0 lead to: chosen on train sides alone."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from heldout.errors import InputError
from heldout.experiment.tasks import EVERYTHING
from heldout.tune.choose import Choice, choose
from heldout.tune.cross_validate import cross_validate

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from numpy.typing import NDArray

    from heldout.experiment.config import Settings
    from heldout.experiment.estimator_settings import EstimatorSettings
    from heldout.experiment.journal import Record
    from heldout.experiment.systems import System
    from heldout.experiment.tasks import Task

    Floats = NDArray[np.float64]

__all__ = ["Chosen", "choose_for_calls", "choose_static", "grid_values"]


@dataclass(frozen=True, slots=True, eq=False)
class Chosen:
    """What was chosen for one split.

    Parameters
    ----------
    number
        The point.
    train
        Its mean on the train side, by the measure it was chosen by; NaN: there was no choice.
    surface
        The mean of every point there.
    """

    number: int
    train: float
    surface: Floats

    @classmethod
    def of(cls, choice: Choice) -> Chosen:
        """What a choice says."""
        return cls(choice.number, choice.mean, choice.means)


def grid_values(tasks: Sequence[Task], records: Mapping[str, Record], system: int) -> Floats:
    """Measures × points × queries of a system on everything, the tuning measure last."""
    mine = [task for task in tasks if task.system == system and task.kind in {"grid", "point"}]
    mine.sort(key=lambda task: task.point)
    parts = [records[task.key]["values"] for task in mine]
    return np.concatenate([one if one.ndim == 3 else one[:, None] for one in parts], axis=1)


def choose_static(
    settings: Settings, system: System, values: Floats
) -> tuple[list[Chosen], Chosen]:
    """For each split, and for everything: by the values of all points on all queries."""
    tuned = cross_validate(
        values[-1],
        settings.splits,
        rule=settings.rule,
        higher_is_better=settings.higher_is_better,
        space=system.space,
    )
    found = [Chosen(one.number, one.train, one.surface) for one in tuned.folds]
    return found, Chosen.of(tuned.final)


def choose_for_calls(
    settings: Settings | EstimatorSettings,
    tasks: Sequence[Task],
    records: Mapping[str, Record],
    number: int,
) -> dict[int, Chosen]:
    """For each split of a system that is called, and for everything."""
    system = settings.systems[number]
    splits = range(len(settings.splits))
    if not system.tuned:
        nothing = Chosen(0, float("nan"), np.full(1, np.nan))
        return dict.fromkeys([*splits, EVERYTHING], nothing)
    mine = [task for task in tasks if task.system == number and task.kind == "tune"]
    return {
        split: _choose(settings, system, [one for one in mine if one.split == split], records)
        for split in [*splits, EVERYTHING]
    }


def _choose(
    settings: Settings | EstimatorSettings,
    system: System,
    tasks: Sequence[Task],
    records: Mapping[str, Record],
) -> Chosen:
    """Choose by what each query got, averaged over the inner folds that it stood in.

    For estimators it is what each inner fold got, and a point that failed in any is not chosen.
    """
    split = tasks[0].split
    rows = []
    for point in range(len(system.points())):
        mine = [records[one.key] for one in tasks if one.point == point]
        parts = np.stack([one["values"] for one in mine])
        if any("failed" in one for one in mine):
            parts[:] = np.nan
        there = np.isfinite(parts)
        times = there.sum(axis=0)
        total = np.where(there, parts, 0.0).sum(axis=0)
        rows.append(np.where(times > 0, total / np.maximum(times, 1), np.nan))
    values = np.stack(rows)
    weights = None
    if split != EVERYTHING and settings.by in {"query", "both"}:
        weights = settings.splits[split].train
    if not np.isfinite(values).any():
        raise InputError(f"{tasks[0].key}: {_no_value(settings, [records[o.key] for o in tasks])}")
    return Chosen.of(
        choose(values, weights, rule=settings.rule, higher_is_better=settings.higher_is_better)
    )


def _no_value(settings: Settings | EstimatorSettings, records: Sequence[Record]) -> str:
    if settings.by != "instance":
        return "no query of the train side has a relevant document"
    failed = [record["failed"] for record in records if "failed" in record]
    if failed:
        return f"every point failed, the first with {failed[0]}"
    return f"{settings.tune_for} does not exist on any inner fold: set tune_for to another measure"

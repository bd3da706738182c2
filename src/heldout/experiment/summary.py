"""``summary.json``: for each system its estimates, its choices, and the parameters to use.

The types describe the file. The estimates come from `ranking_results.py`
and `prediction_results.py`.
"""

from __future__ import annotations

from typing import (
    TYPE_CHECKING,
    Any,
    Final,
    NotRequired,
    TypedDict,
)

import numpy as np

from heldout.as_json import plain
from heldout.tune.choice import TIE

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from heldout.experiment.manifest import NoteRecord
    from heldout.experiment.systems import System
    from heldout.experiment.systems.outcomes import Outcome
    from heldout.notes import Note

__all__ = [
    "SUMMARY",
    "Bounds",
    "Choice",
    "Edge",
    "EstimateRecord",
    "MachineRecord",
    "SharedChoices",
    "SystemDifference",
    "SystemSummary",
    "summarise_choices",
]

SUMMARY: Final = "summary.json"


class Bounds(TypedDict):
    """An estimate with its interval."""

    value: float
    low: float
    high: float


class MachineRecord(TypedDict):
    """What a combined estimate is made of; `machine` alone is biased."""

    human: Bounds
    machine: Bounds
    weight: float
    machine_queries: int
    effective_queries: float


class EstimateRecord(TypedDict):
    """The estimate of one measure; fields of one task only are not required."""

    measure: str
    value: float | None
    low: float | None
    high: float | None
    level: float
    interval: str
    n_queries: NotRequired[int]
    left_out: NotRequired[int]
    estimator: NotRequired[str]
    estimand: NotRequired[str]
    train: NotRequired[float | None]
    optimism: NotRequired[float | None]
    target_size: NotRequired[int | None]
    reason: NotRequired[str]
    spread: NotRequired[float | None]
    n_splits: NotRequired[int]
    machine: NotRequired[MachineRecord]


class Choice(TypedDict):
    """Parameters, and how often they were chosen."""

    parameters: dict[str, object]
    times: int


class Edge(TypedDict):
    """A value at the edge of its grid, and how often it was chosen."""

    name: str
    value: float
    folds: int
    shipped: bool


class SystemDifference(TypedDict):
    """The difference to another system on new documents."""

    system: str
    measure: str
    difference: float
    low: float
    high: float


class SharedChoices(TypedDict):
    """The variance that tuning in query folds adds to a difference."""

    system: str
    measure: str
    units: float
    choices: float


class SystemSummary(TypedDict):
    """One system."""

    name: str
    points: int
    tuned: bool
    estimates: list[EstimateRecord]
    chosen: list[Choice]
    ship: dict[str, object]
    ship_number: int
    edges: list[Edge]
    differences: NotRequired[list[SystemDifference]]
    choices: NotRequired[list[SharedChoices] | None]
    baseline: NotRequired[bool]
    notes: NotRequired[list[NoteRecord]]


def summarise_choices(
    system: System[Any],
    outcome: Outcome,
    estimates: Sequence[EstimateRecord],
    *,
    baseline: bool | None = None,
    notes: Sequence[Note] | None = None,
) -> SystemSummary:
    """Return the summary of one system, as plain values.

    Parameters
    ----------
    estimates
        One per measure.
    baseline, notes
        Of estimators: whether it is an added baseline, and its notes.
    """
    numbers = [row.chosen.number for row in outcome.folds]
    chosen = [
        {"parameters": system.settings(number), "times": numbers.count(number)}
        for number in sorted(set(numbers), key=lambda one: (-numbers.count(one), one))
    ]
    final = outcome.final.number
    described: dict[str, Any] = {
        "name": system.name,
        "points": len(system.points()),
        "tuned": system.tuned,
        **({} if baseline is None else {"baseline": baseline}),
        "estimates": list(estimates),
        **({} if notes is None else {"notes": list(notes)}),
        "chosen": chosen,
        "ship": system.settings(final),
        "ship_number": final,
        "edges": _edges(system, outcome) if system.tuned else [],
    }
    return plain(described)  # type: ignore[no-any-return]


def _edges(system: System[Any], outcome: Outcome) -> list[Edge]:
    """Return parameters whose chosen value is the first or last of its grid."""
    found: dict[str, Edge] = {}
    for chosen in [*(row.chosen for row in outcome.folds), outcome.final]:
        if _all_tie(chosen.surface):
            continue
        for name in system.edges(chosen.number):
            value: Any = system.point_at(chosen.number)[name]  # only numbers have edges
            known = found.setdefault(
                f"{name}={value}", {"name": name, "value": value, "folds": 0, "shipped": False}
            )
            if chosen is outcome.final:
                known["shipped"] = True
            else:
                known["folds"] += 1
    return list(found.values())


def _all_tie(means: NDArray[np.float64]) -> bool:
    """Return whether all points are equal, so that the first one was taken, not selected."""
    known = means[np.isfinite(means)]
    return len(known) > 1 and bool(np.ptp(known) <= TIE * np.abs(known).max())

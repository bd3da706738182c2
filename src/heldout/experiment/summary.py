"""``summary.json``: for each system its estimates, its choices, and the parameters to use.

The types describe the file, which is also read here. The estimates come from `ranking_results.py`
and `prediction_results.py`.
"""

from __future__ import annotations

from typing import (
    TYPE_CHECKING,
    Any,
    Final,
    NotRequired,
)

import numpy as np
from pydantic import with_config
from typing_extensions import TypedDict  # pydantic needs it before Python 3.12

from heldout.as_json import plain
from heldout.errors import InputError
from heldout.experiment.manifest import MANIFEST, NoteRecord
from heldout.experiment.typed_json import (
    WRITTEN,
    Count,
    FiniteNumber,
    Share,
    Variance,
    read_into,
    refuse_edited,
)
from heldout.tune.choice import TIE

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from heldout.experiment.manifest import SettingsRecord
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
    "read_summary",
    "summarise_choices",
]

SUMMARY: Final = "summary.json"


@with_config(WRITTEN)
class Bounds(TypedDict):
    """An estimate with its interval."""

    value: FiniteNumber
    low: FiniteNumber
    high: FiniteNumber


@with_config(WRITTEN)
class MachineRecord(TypedDict):
    """What a combined estimate is made of; `machine` alone is biased."""

    human: Bounds
    machine: Bounds
    weight: Share
    machine_queries: Count
    effective_queries: FiniteNumber


@with_config(WRITTEN)
class EstimateRecord(TypedDict):
    """The estimate of one measure; fields of one task only are not required (see `_OF_TASK`)."""

    measure: str
    value: FiniteNumber | None
    low: FiniteNumber | None
    high: FiniteNumber | None
    level: Share
    interval: str
    n_queries: NotRequired[Count]
    left_out: NotRequired[Count]
    estimator: NotRequired[str]
    estimand: NotRequired[str]
    train: NotRequired[FiniteNumber | None]
    optimism: NotRequired[FiniteNumber | None]
    target_size: NotRequired[Count | None]
    reason: NotRequired[str]
    spread: NotRequired[FiniteNumber | None]
    n_splits: NotRequired[Count]
    machine: NotRequired[MachineRecord]


@with_config(WRITTEN)
class Choice(TypedDict):
    """Parameters, and how often they were chosen."""

    parameters: dict[str, object]
    times: Count


@with_config(WRITTEN)
class Edge(TypedDict):
    """A value at the edge of its grid, and how often it was chosen."""

    name: str
    value: FiniteNumber
    folds: Count
    shipped: bool


@with_config(WRITTEN)
class SystemDifference(TypedDict):
    """The difference to another system on new documents."""

    system: str
    measure: str
    difference: FiniteNumber
    low: FiniteNumber
    high: FiniteNumber


@with_config(WRITTEN)
class SharedChoices(TypedDict):
    """The variance that tuning in query folds adds to a difference."""

    system: str
    measure: str
    units: Variance
    choices: Variance


@with_config(WRITTEN)
class SystemSummary(TypedDict):
    """One system."""

    name: str
    points: Count
    tuned: bool
    estimates: list[EstimateRecord]
    chosen: list[Choice]
    ship: dict[str, object]
    ship_number: Count
    edges: list[Edge]
    differences: NotRequired[list[SystemDifference]]
    choices: NotRequired[list[SharedChoices] | None]
    baseline: NotRequired[bool]
    notes: NotRequired[list[NoteRecord]]


_OF_TASK: Final = {
    True: ("n_queries", "left_out", "estimator", "estimand", "train", "optimism", "target_size"),
    False: ("reason", "spread"),
}
"""Required fields of estimates, by whether they are of rankings."""


def read_summary(content: object, settings: SettingsRecord, place: str) -> list[SystemSummary]:
    """Read the summary of results.

    Parameters
    ----------
    content
        The content of the file.
    settings
        The settings in the manifest.
    place
        The folder, for messages.
    """
    if not isinstance(content, list) or not content:
        raise InputError(f"{place}: {SUMMARY} has no systems: was it edited? Run it again")
    ranking = settings["task"] == "ranking"
    tried = {
        system["name"] for system in settings["systems"] if system["points"] or system.get("space")
    }
    found = [read_into(SystemSummary, one, place, SUMMARY) for one in content]
    for one in found:
        estimates = one["estimates"]
        if [each["measure"] for each in estimates] != settings["measures"]:
            refuse_edited(place, SUMMARY, ["estimates"])
        wrong = [name for each in estimates for name in _OF_TASK[ranking] if name not in each]
        wrong += [name for name in ("notes", "baseline") if not ranking and name not in one]
        if wrong:
            refuse_edited(place, SUMMARY, wrong)
        if one["tuned"] and one["name"] not in tried:  # the settings do not have its points
            refuse_edited(place, MANIFEST, ["systems"])
    names = [one["name"] for one in found]
    if len(set(names)) < len(names) or settings["baseline"] not in (None, *names):
        refuse_edited(place, SUMMARY, ["name"])
    return found


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

"""``summary.json``: for each system its estimates, its choices, and the parameters to use.

The estimates come from `ranking_results.py` and `prediction_results.py`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final, TypeAlias

import numpy as np

from heldout.as_json import plain
from heldout.tune.choice import TIE

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from heldout.experiment.systems.base import System
    from heldout.experiment.systems.outcomes import Outcome
    from heldout.notes import Note

__all__ = [
    "SUMMARY",
    "EstimateRecord",
    "SystemDifference",
    "SystemSummary",
    "summarise_choices",
]

SUMMARY: Final = "summary.json"


SystemSummary: TypeAlias = dict[str, Any]
"""One system: its estimates, one per measure, its choices, and the parameters to use."""
EstimateRecord: TypeAlias = dict[str, Any]
"""The estimate of one measure: value, low, high, level and more, depending on the task."""
SystemDifference: TypeAlias = dict[str, Any]
"""The difference to another system on new documents: system, measure, difference, low, high."""


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


def _edges(system: System[Any], outcome: Outcome) -> list[dict[str, Any]]:
    """Return parameters whose chosen value is the first or last of its grid."""
    found: dict[str, dict[str, Any]] = {}
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

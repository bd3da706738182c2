"""The variance that tuning in query folds adds to a difference; stored with the results."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from heldout.data.scores import ChoiceSpread
from heldout.infer.comparison_notes import TAKEN_AS_GIVEN
from heldout.notes import Note
from heldout.tune.choice_variance import (
    REPLICATES,
    Sides,
    TunedPoints,
    choice_spreads,
    draw_counts,
    rechoose,
)

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from heldout.data.words import Floats, Ints
    from heldout.experiment.settings import RankingSettings
    from heldout.experiment.systems.base import System
    from heldout.experiment.systems.outcomes import RankedOutcome

__all__ = ["query_choices", "read_choices", "unknown_choices"]


def query_choices(
    settings: RankingSettings, outcomes: Sequence[RankedOutcome]
) -> list[list[dict[str, Any]] | None]:
    """Return, for each system, its variances with each earlier one, per measure.

    None: the system was tuned, but the values of other choices are unknown, because its rankings
    depend on the training queries and not on the parameters alone.
    """
    sides = Sides.of(settings.splits)
    known = [
        not system.tuned or outcome.points is not None
        for system, outcome in zip(settings.systems, outcomes, strict=True)
    ]
    names = [system.name for system in settings.systems]
    listed: dict[str, list[dict[str, Any]] | None] = {
        name: [] if there else None for name, there in zip(names, known, strict=True)
    }
    if not sides.shared:
        return [[] for _ in names]
    judged = np.flatnonzero(
        np.isfinite(np.stack([one.per_query()[0] for one in outcomes])).any(axis=0)
    )
    counts = np.zeros((REPLICATES, sides.units), np.int64)
    counts[:, judged] = draw_counts(len(judged), REPLICATES, settings.seed)
    choices = [
        _choices(settings, system, outcome, sides, counts) if there else None
        for system, outcome, there in zip(settings.systems, outcomes, known, strict=True)
    ]
    for row, measure in enumerate(settings.measures):
        systems = {
            name: TunedPoints(_values(outcome, row), chosen)
            for name, outcome, chosen, there in zip(names, outcomes, choices, known, strict=True)
            if there
        }
        for (second, first), spread in choice_spreads(systems, sides).items():
            found = listed[second]
            if found is not None:
                found.append(
                    {
                        "measure": str(measure),
                        "system": first,
                        "units": spread.units,
                        "choices": spread.choices,
                    }
                )
    return list(listed.values())


def _choices(
    settings: RankingSettings,
    system: System[Any],
    outcome: RankedOutcome,
    sides: Sides,
    counts: Ints,
) -> Ints | None:
    if not system.tuned or outcome.points is None:
        return None
    return rechoose(
        outcome.points[-1],
        sides,
        counts,
        rule=settings.rule,
        higher_is_better=settings.higher_is_better,
    )


def _values(outcome: RankedOutcome, row: int) -> Floats:
    """Return points × queries; for a system that is not tuned, its held-out values."""
    found: Floats = (
        outcome.per_query()[row][None] if outcome.points is None else outcome.points[row]
    )
    return found


def read_choices(
    summary: Sequence[Mapping[str, Any]], measure: str, systems: Sequence[str]
) -> dict[tuple[str, str], ChoiceSpread]:
    """Return the variances of the pairs of some systems for one measure, from a summary."""
    return {
        (entry["name"], spread["system"]): ChoiceSpread(spread["units"], spread["choices"])
        for entry in summary
        for spread in entry.get("choices") or ()
        if spread["measure"] == measure and {entry["name"], spread["system"]} <= set(systems)
    }


def unknown_choices(systems: Sequence[str]) -> tuple[Note, ...]:
    """Warn that a difference does not include the variance of the selection."""
    if not systems:
        return ()
    text = (
        f"{', '.join(systems)}: tuned in folds of nearly the same queries, but the values of other "
        "parameter settings are unknown, so tests treat the selected ones as fixed; for built-in "
        f"models such intervals {TAKEN_AS_GIVEN}"
    )
    return (Note("shared-choices", text),)

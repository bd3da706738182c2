"""What tuning in query folds adds to the variance of a difference, kept with the results."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from heldout.data.scores import ChoiceSpread
from heldout.infer.analysis_warnings import TAKEN_AS_GIVEN
from heldout.notes import Note
from heldout.tune.rechoose import (
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
    from heldout.experiment.systems import System
    from heldout.experiment.systems.outcomes import RankedOutcome

__all__ = ["query_choices", "read_choices", "unknown_choices"]


def query_choices(
    settings: RankingSettings, outcomes: Sequence[RankedOutcome]
) -> list[list[dict[str, Any]] | None]:
    """For each system its spreads with those before it, in each measure.

    None: the system was tuned, but what another choice would have given is not known, because its
    rankings depend on the training queries and not on the parameters alone.
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
                found.append({"measure": str(measure), "system": first, **spread._asdict()})
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
    """Points × queries; of a system without a choice what each query got where it was held out."""
    found: Floats = (
        outcome.per_query()[row][None] if outcome.points is None else outcome.points[row]
    )
    return found


def read_choices(
    summary: Sequence[Mapping[str, Any]], measure: str, systems: Sequence[str]
) -> dict[tuple[str, str], ChoiceSpread]:
    """The spreads of the pairs of some systems in one measure, from a summary."""
    return {
        (one["name"], spread["system"]): ChoiceSpread(spread["units"], spread["choices"])
        for one in summary
        for spread in one.get("choices") or ()
        if spread["measure"] == measure and {one["name"], spread["system"]} <= set(systems)
    }


def unknown_choices(systems: Sequence[str]) -> tuple[Note, ...]:
    """Warn that a difference does not include how much the selection varies."""
    if not systems:
        return ()
    text = (
        f"{', '.join(systems)}: tuned in folds of nearly the same queries, and what other "
        "parameters would have given is not known, so that claims take the selected ones as given; "
        f"for models of heldout such intervals {TAKEN_AS_GIVEN}"
    )
    return (Note("shared-choices", text),)

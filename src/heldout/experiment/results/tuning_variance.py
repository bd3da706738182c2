"""The variance that tuning in query folds adds to a difference; stored with the results."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from heldout.data.scores import ChoiceSpread
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

    from heldout.experiment.outcomes import RankedOutcome
    from heldout.experiment.prepare import PreparedRankings


def query_choices(
    prepared: PreparedRankings, outcomes: Sequence[RankedOutcome]
) -> list[list[dict[str, Any]] | None]:
    """Return, for each system, its variances with each earlier one, per measure.

    None: the system was tuned, but the values of other choices are unknown, because its rankings
    depend on the training queries and not on the parameters alone.
    """
    # Parameters are chosen on the validation part, where there is one.
    sides = Sides.of(
        split if split.validation is None else replace(split, train=split.validation)
        for split in prepared.splits
    )
    if not sides.shared:
        return [[] for _ in outcomes]
    held_out = [outcome.per_query() for outcome in outcomes]
    judged = np.flatnonzero(np.isfinite(np.stack([own[0] for own in held_out])).any(axis=0))
    counts = np.zeros((REPLICATES, sides.units), np.int64)
    counts[:, judged] = draw_counts(len(judged), REPLICATES, prepared.experiment.seed)
    tables, spreads = {}, dict[str, list[dict[str, Any]]]()
    for system, outcome, own in zip(prepared.systems, outcomes, held_out, strict=True):
        table, choices = outcome.table, None
        if system.search.tuned:
            if table is None:
                continue
            rule, better = prepared.experiment.rule, prepared.higher_is_better
            choices = rechoose(table[-1], sides, counts, rule=rule, higher_is_better=better)
        # A system that is not tuned has its held-out values at its only point.
        tables[system.name] = own[:, None] if table is None else table, choices
        spreads[system.name] = []
    for row, measure in enumerate(prepared.measures):
        points = {
            name: TunedPoints(table[row], choices) for name, (table, choices) in tables.items()
        }
        for (second, first), spread in choice_spreads(points, sides).items():
            pair = {"measure": str(measure), "system": first, **spread._asdict()}
            spreads[second].append(pair)
    return [spreads.get(system.name) for system in prepared.systems]


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

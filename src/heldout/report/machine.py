"""Estimates from human and machine judgements, in tables and in words."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from heldout.notes import count_of
from heldout.report.answers import interval, percent
from heldout.report.standing import standing
from heldout.report.table import Table

if TYPE_CHECKING:
    from heldout.infer.comparison import Comparison
    from heldout.infer.prediction_powered import Combined

HEAD: Final = (
    *("human", "human interval", "machine (biased)", "machine interval (biased)"),
    *("combined", "combined interval", "weight", "counts like"),
)


def estimate_cells(estimates: Combined, form: str = "z.4f") -> list[str]:
    """Estimates by people, by the machine and by both: the columns of `HEAD`."""
    cells = []
    for value in (estimates.human, estimates.machine, estimates.combined):
        cells += [f"{value.estimate:{form}}", interval(value.low, value.high, form)]
    return [*cells, f"{estimates.weight:.2f}", f"{estimates.effective:.0f}"]


def comparison_estimates(comparison: Comparison) -> list[Table]:
    """One row per system, then one per pair; no table without machine judgements."""
    machine = comparison.machine
    if machine is None:
        return []
    systems = zip(comparison.systems, machine.systems, strict=True)
    claims = zip(comparison.claims, machine.differences, strict=True)
    rows = [[row.name, *estimate_cells(estimates)] for row, estimates in systems]
    rows += [
        [f"{claim.first} - {claim.second}", *estimate_cells(estimates, "+z.4f")]
        for claim, estimates in claims
    ]
    return [Table([comparison.scores.measure, *HEAD], rows)]


def estimate_lines(comparison: Comparison) -> list[str]:
    """What human and machine judgements say by themselves, and what the machine adds."""
    if comparison.machine is None:
        return []
    first, *others = comparison.machine.differences
    people = count_of(first.queries, "human query", "human queries")
    if others:
        counts = [each.effective for each in (first, *others)]
        return [f"Your {people} count like {min(counts):.0f} to {max(counts):.0f} in the pairs."]
    board, human = standing(comparison), first.human
    (gap,) = board.gaps
    sign = 1 if board.asked(gap) == gap else -1  # as in the answer
    low, high = sorted((sign * human.low, sign * human.high))
    every = count_of(first.queries + first.machine_queries, "query", "queries")
    helps = round(first.effective) > first.queries
    advice = "" if helps else "; the machine does not help: leave it out"
    alone = (
        f"Human judgements alone: difference {sign * human.estimate:+z.4f}, {percent(human.level)} "
        f"CI {interval(low, high, '+z.4f')}. Machine judgements alone ({every}, biased): "
        f"{sign * first.machine.estimate:+z.4f}."
    )
    weight = f"(weight of the machine {first.weight:.2f})"
    return [alone, f"Your {people} count like {first.effective:.0f} {weight}{advice}."]

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
    three = (estimates.human, estimates.machine, estimates.combined)
    cells = [
        text
        for each in three
        for text in (f"{each.estimate:{form}}", interval(each.low, each.high, form))
    ]
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
    differences = comparison.machine.differences
    first = differences[0]
    people = count_of(first.queries, "human query", "human queries")
    if len(differences) > 1:
        several = sorted({round(each.effective) for each in differences})
        counts = f"{several[0]}" if len(several) == 1 else f"{several[0]} to {several[-1]}"
        return [f"Your {people} count like {counts} in the pairs."]
    human, machine, like = first.human, first.machine, round(first.effective)
    board = standing(comparison)
    if board.asked(board.gaps[0]).first != board.gaps[0].first:  # as in the answer
        human = human._replace(estimate=-human.estimate, low=-human.high, high=-human.low)
        machine = machine._replace(estimate=-machine.estimate)
    bounds = f"{percent(human.level)} CI {interval(human.low, human.high, '+z.4f')}"
    every = count_of(first.queries + first.machine_queries, "query", "queries")
    weight = f"(weight of the machine {first.weight:.2f})"
    counts = f"Your {people} count like {like} {weight}."
    if like <= first.queries:
        counts = (
            f"The machine does not help: your {people} count like {like} {weight}; leave it out."
        )
    alone = (
        f"Human judgements alone: difference {human.estimate:+z.4f}, {bounds}. Machine judgements "
        f"alone ({every}, biased): {machine.estimate:+z.4f}."
    )
    return [alone, counts]

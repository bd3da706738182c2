"""Plans in words: data that are needed, differences that can be detected."""

from __future__ import annotations

from typing import TYPE_CHECKING

from heldout.infer.power import shown_value
from heldout.report.answers import percent
from heldout.report.table import Table, note_lines, paragraphs, printable, write_tables

if TYPE_CHECKING:
    from heldout.infer.power import PowerPlan


def power_text(plan: PowerPlan, *, width: int | None = None, quiet: bool = False, **_: bool) -> str:
    """The plan for one pair of systems."""
    if plan.design is None:
        return f"{printable(plan.what)}: all differences are equal: nothing to plan from.\n"
    lines = [printable(plan.about), *([] if quiet else note_lines(plan.notes))]
    return f"{paragraphs(lines, width)}\n{write_tables(power_tables(plan), 'text', width)}"


def power_tables(plan: PowerPlan) -> list[Table]:
    """A question and its answer in each row."""
    unit, goal = plan.unit, plan.goal
    sides = "two-sided" if goal.alternative == "two-sided" else "one-sided"
    test = f"power {percent(goal.power)}, level {goal.level:g}, {sides}"
    tables = [
        Table(
            ["difference", unit],
            [[f"{delta:g}", f"{n:,}"] for delta, n in plan.needed],
            f"{unit.capitalize()} needed to detect a difference ({test})",
            left=0,
        ),
        Table(
            [unit, "difference"],
            [[f"{n:,}", shown_value(delta, plan.sd)] for n, delta in plan.detectable],
            f"Smallest detectable difference by number of {unit}",
            left=0,
        ),
        Table(
            ["half-width", unit],
            [[f"± {half:g}", f"{n:,}"] for half, n in plan.intervals],
            f"{unit.capitalize()} needed for a {percent(goal.level)} interval of the difference",
            left=0,
        ),
    ]
    if plan.simulated:
        first = plan.simulated[0]
        about = (
            f"Power to detect the pilot's own difference ({first.difference:+.4f}), {first.test} "
            f"test on {first.simulations:,} samples of the pilot's units"
        )
        rows = [[f"{row.n:,}", f"{row.power:.1%}", f"± {row.error:.1%}"] for row in plan.simulated]
        tables.append(Table([unit, "power", "error"], rows, about, left=0))
    return [table for table in tables if table.cells]

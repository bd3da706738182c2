"""Planning in words: data that are needed, differences that can be detected."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from heldout.infer.power import shown_value
from heldout.report.tables import note_lines, plain_text

if TYPE_CHECKING:
    from heldout.infer.power import PowerPlan


def plan_lines(plan: PowerPlan, *, quiet: bool = False) -> list[str]:
    """The plan for one pair of systems, without notes if quiet."""
    sd, unit, goal = plan.sd, plan.unit, plan.goal
    if plan.design is None:
        return [f"{plain_text(plan.what)}: all differences are equal: nothing to plan from.", ""]
    sides = "two-sided" if goal.alternative == "two-sided" else "one-sided"
    test = f"power {goal.power:.0%}, level {goal.level:g}, {sides}"
    lines = [
        plain_text(plan.about),
        *([] if quiet else note_lines(plan.notes)),
        f"{unit.capitalize()} needed to detect a difference ({test}):",
        *(f"  {delta:<8g}{number:>9,}" for delta, number in plan.needed),
        f"Smallest detectable difference by number of {unit}:",
        *(f"  {number:<8,}{shown_value(delta, sd):>9}" for number, delta in plan.detectable),
    ]
    if plan.intervals:
        shown = f"{goal.level:.0%} interval of the difference of:"
        lines.append(f"{unit.capitalize()} needed for a {shown}")
        lines += [f"  {f'± {half:g}':<8}{number:>9,}" for half, number in plan.intervals]
    return [*lines, ""]


def simulated_lines(plan: PowerPlan) -> list[str]:
    """The power that simulations found, in words."""
    if not plan.simulated:
        return []
    first = plan.simulated[0]
    about = (
        f"{plain_text(plan.what)}: power to detect the pilot's own difference "
        f"({first.difference:+.4f}), {first.test} test on {first.simulations:,} samples of the "
        "pilot's units:"
    )
    rows = (f"  {row.n:<8,}{row.power:>9.1%} ± {row.error:.1%}" for row in plan.simulated)
    return [about, *rows, ""]


def plan_dict(plan: PowerPlan) -> dict[str, Any]:
    """The plan for one pair of systems, every number at full precision."""
    amount = "queries" if plan.unit == "queries" else "n"
    found: dict[str, Any] = {
        "what": plan.what,
        "sd": plan.sd,
        "units": plan.units,
        "bound": plan.bound,
        "unit": plan.unit,
        **plan.goal._asdict(),
        "warnings": [note.to_dict() for note in plan.notes],
        "needed": [{"difference": delta, amount: n} for delta, n in plan.needed],
        "detectable": [{amount: n, "difference": delta} for n, delta in plan.detectable],
        "intervals": [{"half_width": half, amount: n} for half, n in plan.intervals],
    }
    if plan.simulated:
        found["simulated"] = [row._asdict() for row in plan.simulated]
    return found

"""Planning in words: data that are needed, differences that can be detected."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from heldout.experiment.pilots import planned_numbers, shown_value
from heldout.report.tables import note_lines, plain_text

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from heldout.experiment.pilots import Spread
    from heldout.infer.power_designs import Goal
    from heldout.infer.power_pilot import PilotPower

__all__ = [
    "json_plan",
    "plan_lines",
    "simulated_lines",
]


def plan_lines(
    spread: Spread,
    differences: Sequence[float] | None,
    numbers: Sequence[int] | None,
    goal: Goal,
    *,
    widths: Sequence[float] | None = None,
    quiet: bool = False,
) -> list[str]:
    """The plan for one pair of systems.

    Parameters
    ----------
    spread
        What is known of the differences.
    differences, numbers, widths
        What to plan for: true differences, amounts of data, half-widths of intervals.
    quiet
        Whether to leave out notes.
    goal
        Power, level and alternative.
    """
    sd, units, unit = spread.sd, spread.units, spread.unit
    if not sd and units:
        return [f"{plain_text(spread.what)}: all differences are equal: nothing to plan from.", ""]
    sides = "two-sided" if goal.alternative == "two-sided" else "one-sided"
    test = f"power {goal.power:.0%}, level {goal.level:g}, {sides}"
    needed, seen = planned_numbers(spread, differences, numbers, goal)
    pilot = f" (pilot of {units:,} {unit})" if units else ""
    subject = f"{spread.what}: differences" if spread.what else "Differences"
    about = spread.about or f"{subject} have standard deviation {shown_value(sd, sd)}{pilot}."
    return [
        plain_text(about),
        *([] if quiet else note_lines(spread.notes)),
        f"{unit.capitalize()} needed to detect a difference ({test}):",
        *(f"  {delta:<8g}{number:>9,}" for delta, number in needed),
        f"Smallest detectable difference by number of {unit}:",
        *(f"  {number:<8,}{shown_value(delta, sd):>9}" for number, delta in seen),
        *_width_lines(spread, widths, goal.level),
        "",
    ]


def _width_lines(spread: Spread, widths: Sequence[float] | None, level: float) -> Iterator[str]:
    if not widths:
        return
    yield f"{spread.unit.capitalize()} needed for a {level:.0%} interval of the difference of:"
    for half in widths:
        yield f"  {f'± {half:g}':<8}{spread.planned.for_width(half, level):>9,}"


def simulated_lines(what: str, found: Sequence[PilotPower]) -> list[str]:
    """The power that simulations found, in words."""
    first = found[0]
    about = (
        f"{plain_text(what)}: power to detect the pilot's own difference "
        f"({first.difference:+.4f}), {first.test} test on {first.simulations:,} samples of the "
        "pilot's units:"
    )
    return [
        about,
        *(f"  {one.n:<8,}{one.power:>9.1%} ± {one.error:.1%}" for one in found),
        "",
    ]


def json_plan(
    spreads: Sequence[Spread],
    differences: Sequence[float] | None,
    numbers: Sequence[int] | None,
    goal: Goal,
    *,
    widths: Sequence[float] | None = None,
    simulated: Sequence[Sequence[PilotPower]] = (),
) -> str:
    """The plans of all pairs, every number at full precision."""
    from heldout.as_json import json_text

    plans = []
    for at, spread in enumerate(spreads):
        known = {
            name: one for name, one in spread._asdict().items() if name not in ("design", "about")
        }
        plan: dict[str, Any] = {**known, **goal._asdict()}
        plan["warnings"] = [note.to_dict() for note in spread.notes]
        plan |= {"needed": [], "detectable": []}
        if spread.sd or not spread.units:
            needed, seen = planned_numbers(spread, differences, numbers, goal)
            key = "queries" if spread.unit == "queries" else "n"
            plan["needed"] = [{"difference": delta, key: n} for delta, n in needed]
            plan["detectable"] = [{key: n, "difference": delta} for n, delta in seen]
            plan["intervals"] = [
                {"half_width": half, key: spread.planned.for_width(half, goal.level)}
                for half in widths or ()
            ]
        if simulated:
            plan["simulated"] = [one._asdict() for one in simulated[at]]
        plans.append(plan)
    return json_text(plans)

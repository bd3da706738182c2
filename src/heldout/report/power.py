"""Planning in words: data that are needed, differences that can be detected."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from heldout.experiment.pilots import planned_numbers, shown_value, usual_differences
from heldout.notes import note_texts
from heldout.report.tables import Table, note_lines, plain_text
from heldout.report.terminal import aligned, fitted, printable

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from heldout.experiment.pilots import Spread
    from heldout.infer.power_designs import Goal
    from heldout.infer.power_pilot import PilotPower
    from heldout.infer.power_several import SeveralPower

__all__ = [
    "json_plan",
    "plan_lines",
    "plan_table_lines",
    "several_lines",
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


def plan_table_lines(
    spreads: Sequence[Spread],
    differences: Sequence[float] | None,
    numbers: Sequence[int] | None,
    goal: Goal,
    *,
    width: int | None = None,
    quiet: bool = False,
) -> list[str]:
    """The plans of many pairs of systems, one line per pair.

    Parameters
    ----------
    spreads
        What is known of the differences of each pair.
    differences, numbers
        What to plan for; by default three usual differences.
    goal
        Power, level and alternative.
    width
        Columns of the terminal; names of pairs are shortened to fit. None for any width.
    quiet
        Whether to leave out notes.
    """
    varying = [spread for spread in spreads if spread.sd]
    middle = sorted(varying, key=lambda spread: spread.sd)[len(varying) // 2]
    wanted = list(differences or usual_differences(middle, goal)[1::2])
    unit = middle.unit
    sides = "two-sided" if goal.alternative == "two-sided" else "one-sided"
    test = f"power {goal.power:.0%}, level {goal.level:g}, {sides}"
    lines = [f"{unit.capitalize()} needed to detect a difference ({test}):"]
    rows = [
        [
            spread.what.rpartition(", ")[0],
            shown_value(spread.sd, spread.sd),
            *(f"{spread.planned.needed(delta, goal):,}" for delta in wanted),
        ]
        for spread in varying
    ]
    table = Table(["pair", "sd", *(f"{delta:g}" for delta in wanted)], rows)
    lines += aligned(fitted(printable(table), width)).splitlines()
    if numbers:
        rows = [
            [
                spread.what.rpartition(", ")[0],
                *(shown_value(spread.planned.detectable(n, goal), spread.sd) for n in numbers),
            ]
            for spread in varying
        ]
        table = Table(["pair", *(f"{n:,}" for n in numbers)], rows)
        lines += ["", f"Smallest detectable difference by number of {unit}:"]
        lines += aligned(fitted(printable(table), width)).splitlines()
    notes = [note for spread in varying for note in spread.notes]
    return [*lines, *([] if quiet else note_lines(notes)), ""]


def _width_lines(spread: Spread, widths: Sequence[float] | None, level: float) -> Iterator[str]:
    if not widths:
        return
    yield f"{spread.unit.capitalize()} needed for a {level:.0%} interval of the difference of:"
    for half in widths:
        yield f"  {f'± {half:g}':<8}{spread.planned.for_width(half, level):>9,}"


def simulated_lines(what: str, found: Sequence[PilotPower], unit: str = "units") -> list[str]:
    """The power that simulations found, in words."""
    first = found[0]
    about = (
        f"{plain_text(what)}: power to detect the pilot's own difference "
        f"({first.difference:+.4f}), {first.test} test on {first.simulations:,} samples of the "
        f"pilot's {unit}:"
    )
    return [
        about,
        *(f"  {one.n:<8,}{one.power:>9.1%} ± {one.error:.1%}" for one in found),
        "",
    ]


def several_lines(found: Sequence[tuple[float, SeveralPower | None]], power: float) -> list[str]:
    """Units that several systems need together, in words."""
    lines = []
    for difference, one in found:
        start = f"One system better than all others by {difference:g} (romano-wolf, all pairs): "
        if one is None:
            lines.append(
                f"{start}more than 5,000 units are needed to find {power:.0%} of its pairs."
            )
            continue
        lines.append(
            f"{start}about {one.n:,} units find {one.power:.0%} ± {one.error:.0%} of its pairs "
            f"({one.systems} systems, {one.simulations:,} samples of the pilot)."
        )
    return [*lines, ""] if lines else []


def json_plan(
    spreads: Sequence[Spread],
    differences: Sequence[float] | None,
    numbers: Sequence[int] | None,
    goal: Goal,
    *,
    widths: Sequence[float] | None = None,
    simulated: Sequence[Sequence[PilotPower]] = (),
    several: Sequence[tuple[float, SeveralPower | None]] = (),
) -> str:
    """The plans of all pairs, every number at full precision."""
    from heldout.as_json import json_text

    plans = []
    for at, spread in enumerate(spreads):
        known = {
            name: one for name, one in spread._asdict().items() if name not in ("design", "about")
        }
        plan: dict[str, Any] = {**known, **goal._asdict(), **note_texts(spread.notes)}
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
        if several:
            plan["several_systems"] = [
                {"difference": difference} if one is None else one._asdict()
                for difference, one in several
            ]
        plans.append(plan)
    return json_text(plans)

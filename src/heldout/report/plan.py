"""Planning in words: queries that are needed, differences that can be seen."""

from __future__ import annotations

import math
from itertools import combinations
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from heldout.errors import InputError
from heldout.infer.results import drop_noise
from heldout.notes import Note, note_texts
from heldout.report.tables import note_lines, plain_text

if TYPE_CHECKING:
    from collections.abc import Sequence

    from heldout.data.scores import Scores
    from heldout.infer.results import Alternative

__all__ = ["Aim", "Spread", "json_plan", "pilot_spreads", "plan_lines"]

DIFFERENCES: Final = (0.005, 0.01, 0.02, 0.03, 0.05, 0.1)
"""What to plan for by default, when differences spread as those of nDCG and AP do."""

USUAL_SPREAD: Final = 0.15

NUMBERS: Final = (25, 50, 100, 200, 400, 1000)
FEW_UNITS: Final = 10
BOUND: Final = 0.8
"""Confidence of the bound of the spread that a small pilot is shown with."""


class Aim(NamedTuple):
    """What a plan is made for.

    Parameters
    ----------
    power
        The probability of detecting the difference.
    level, alternative
        Of the test, as `heldout.compare` takes them.
    """

    power: float
    level: float
    alternative: Alternative


class Spread(NamedTuple):
    """How much the differences of two systems spread.

    Parameters
    ----------
    what
        The systems and the measure; empty when only a number was given.
    sd
        Standard deviation of the differences; 0 when all are the same.
    units
        Units of the pilot; 0 without one.
    bound
        What the true standard deviation is at most, with confidence .8; 0 if not known.
    """

    what: str
    sd: float
    units: int = 0
    bound: float = 0.0

    @property
    def notes(self) -> tuple[Note, ...]:
        """What a reader of the plan should know."""
        if not 0 < self.units < FEW_UNITS:
            return ()
        bound = _shown(self.bound, self.sd)
        text = (
            f"a pilot of {self.units} queries hardly knows the spread: it may well be {bound} "
            f"(bound with {BOUND:.0%} confidence; plan with --sd)"
        )
        return (Note("small-pilot", text),)


def pilot_spreads(scores: Scores) -> list[Spread]:
    """The spread of each pair of systems; refused when there is nothing to plan from."""
    if len(scores.systems) < 2:
        raise InputError(
            f"one system ({plain_text(scores.systems[0])}) has no differences to plan from: give a "
            "pilot of two, or --sd"
        )
    if len(scores.units) < 2:
        raise InputError(f"{len(scores.units)} unit in common: a pilot needs at least 2, or --sd")
    found = [_spread(scores, *pair) for pair in combinations(range(len(scores.systems)), 2)]
    if not any(spread.sd for spread in found):
        raise InputError(
            f"{found[0].what}: the differences are all the same, so that nothing is known about "
            "their spread: give a pilot whose systems differ on some units, or --sd"
        )
    return found


def _spread(scores: Scores, first: int, second: int) -> Spread:
    from heldout.infer.power import pilot_sd
    from heldout.infer.tests.paired import is_constant  # SciPy

    gaps = drop_noise(scores.values[:, second], scores.values[:, first])
    names = f"{plain_text(scores.systems[second])} - {plain_text(scores.systems[first])}"
    what = f"{names}, {scores.measure}"
    if is_constant(gaps):
        return Spread(what, 0.0, len(gaps))
    return Spread(what, pilot_sd(gaps), len(gaps), pilot_sd(gaps, level=BOUND))


def plan_lines(
    spread: Spread,
    differences: Sequence[float] | None,
    numbers: Sequence[int] | None,
    aim: Aim,
    *,
    quiet: bool = False,
) -> list[str]:
    """The plan for one standard deviation of differences."""
    sd, units = spread.sd, spread.units
    if not sd and units:
        return [f"{spread.what}: the differences are all the same: nothing to plan from.", ""]
    sides = "two-sided" if aim.alternative == "two-sided" else "one-sided"
    test = f"power {aim.power:.0%}, level {aim.level:g}, {sides}"
    needed, seen = _numbers(spread, differences, numbers, aim)
    pilot = f" (pilot of {units:,} queries)" if units else ""
    subject = f"{spread.what}: differences" if spread.what else "Differences"
    return [
        f"{subject} have standard deviation {_shown(sd, sd)}{pilot}.",
        *([] if quiet else note_lines(spread.notes)),
        f"Queries needed to see a difference ({test}):",
        *(f"  {delta:<8g}{number:>9,}" for delta, number in needed),
        "Smallest difference that so many queries can show:",
        *(f"  {number:<8,}{_shown(delta, sd):>9}" for number, delta in seen),
        "",
    ]


def json_plan(
    spreads: Sequence[Spread],
    differences: Sequence[float] | None,
    numbers: Sequence[int] | None,
    aim: Aim,
) -> str:
    """The plans of all pairs, every number at full precision."""
    from heldout.as_json import json_text

    plans = []
    for spread in spreads:
        plan: dict[str, Any] = {**spread._asdict(), **aim._asdict(), **note_texts(spread.notes)}
        plan |= {"needed": [], "detectable": []}
        if spread.sd or not spread.units:
            needed, seen = _numbers(spread, differences, numbers, aim)
            plan["needed"] = [{"difference": delta, "queries": n} for delta, n in needed]
            plan["detectable"] = [{"queries": n, "difference": delta} for n, delta in seen]
        plans.append(plan)
    return json_text(plans)


def _numbers(
    spread: Spread,
    differences: Sequence[float] | None,
    numbers: Sequence[int] | None,
    aim: Aim,
) -> tuple[list[tuple[float, int]], list[tuple[int, float]]]:
    """Queries needed for each difference, and the difference that each number can show."""
    from heldout.infer.power import detectable_difference, queries_needed

    sd, units = spread.sd, spread.units
    wanted = differences or _usual_differences(sd, aim.alternative)
    sizes = numbers or sorted({*NUMBERS, *([units] if units else [])})
    power, level, alternative = aim
    needed = [
        (delta, queries_needed(sd, delta, power=power, level=level, alternative=alternative))
        for delta in wanted
    ]
    seen = [
        (
            number,
            detectable_difference(sd, number, power=power, level=level, alternative=alternative),
        )
        for number in sizes
    ]
    return needed, seen


def _usual_differences(sd: float, alternative: str) -> list[float]:
    """Round numbers of the size of the spread, negative where only a loss is looked for."""
    if not (math.isfinite(sd) and sd > 0):
        return list(DIFFERENCES)  # refused with a reason by whoever plans with it
    scale = 10.0 ** round(math.log10(sd / USUAL_SPREAD))
    return [(-delta if alternative == "less" else delta) * scale for delta in DIFFERENCES]


def _shown(value: float, sd: float) -> str:
    """Four decimals, unless the scores are on quite another scale."""
    return f"{value:.4f}" if 0.001 <= sd < 10_000 else f"{value:.4g}"

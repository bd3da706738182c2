"""Planning in words: queries that are needed, differences that can be seen."""

from __future__ import annotations

from itertools import combinations
from typing import TYPE_CHECKING, Any

from heldout.infer.results import drop_noise
from heldout.report.tables import plain_text

if TYPE_CHECKING:
    from collections.abc import Sequence

    from heldout.data.scores import Scores

__all__ = ["pilot_spreads", "plan_lines"]

DIFFERENCES = (0.005, 0.01, 0.02, 0.03, 0.05, 0.1)
_TAILS = {"two": "two tails", "greater": "one tail", "less": "one tail"}
NUMBERS = (25, 50, 100, 200, 400, 1000)


def pilot_spreads(scores: Scores) -> list[tuple[str, float, int]]:
    """For each pair of systems the standard deviation of the differences, and the units."""
    from heldout.infer.power import pilot_sd  # SciPy

    found = []
    for first, second in combinations(range(len(scores.systems)), 2):
        gaps = drop_noise(scores.values[:, second], scores.values[:, first])
        names = f"{plain_text(scores.systems[second])} - {plain_text(scores.systems[first])}"
        found.append((f"{names}, {scores.measure}", pilot_sd(gaps), len(gaps)))
    return found


def plan_lines(
    what: str,
    sd: float,
    units: int,
    differences: Sequence[float] | None,
    numbers: Sequence[int] | None,
    **settings: Any,
) -> list[str]:
    """The plan for one standard deviation of differences."""
    from heldout.infer.power import detectable_difference, queries_needed

    pilot = f" (pilot of {units} queries)" if units else ""
    subject = f"{what}: differences" if what else "Differences"
    test = f"power {settings['power']:.0%}, alpha {settings['alpha']:g}, {_TAILS[settings['tail']]}"
    out = [f"{subject} have standard deviation {sd:.4f}{pilot}."]
    out.append(f"Queries needed to see a difference ({test}):")
    out += [
        f"  {delta:<8g}{queries_needed(sd, delta, **settings):>9,}"
        for delta in differences or DIFFERENCES
    ]
    out.append("Smallest difference that so many queries can show:")
    out += [
        f"  {number:<8,}{detectable_difference(sd, number, **settings):>9.4f}"
        for number in numbers or sorted({*NUMBERS, *([units] if units else [])})
    ]
    return [*out, ""]

"""What a pilot study tells about an amount of data: spreads of differences, and plans from them."""

from __future__ import annotations

import math
from itertools import combinations
from typing import TYPE_CHECKING, Final, NamedTuple

import numpy as np

from heldout.errors import InputError
from heldout.infer.results import drop_noise
from heldout.notes import Note

if TYPE_CHECKING:
    from collections.abc import Sequence

    from heldout.data.scores import Scores
    from heldout.experiment.results import Results
    from heldout.infer.power_designs import Goal, PowerDesign

__all__ = [
    "Spread",
    "document_spreads",
    "fold_spreads",
    "pilot_spreads",
    "planned_numbers",
    "shown_value",
]

DIFFERENCES: Final = (0.005, 0.01, 0.02, 0.03, 0.05, 0.1)
"""What to plan for by default, when differences spread as those of nDCG and AP do."""

USUAL_SPREAD: Final = 0.15

NUMBERS: Final = (25, 50, 100, 200, 400, 1000)
TIMES: Final = (1, 2, 4, 10)
"""Multiples of the data there are, where they are what is planned."""

ERRORS: Final = 7.0
"""A standard error times this is about the spread that fifty units would have."""

FEW_UNITS: Final = 10
BOUND: Final = 0.8
"""Confidence of the bound of the spread that a small pilot is shown with."""


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
    design
        How differences are tested; None for paired units.
    unit
        What is counted, in the plural.
    about
        The first sentence of the plan, where it is not about a standard deviation.
    """

    what: str
    sd: float
    units: int = 0
    bound: float = 0.0
    design: PowerDesign | None = None
    unit: str = "queries"
    about: str = ""

    @property
    def planned(self) -> PowerDesign:
        """How the plan is made."""
        from heldout.infer.power_designs import UnitDesign

        return UnitDesign(self.sd) if self.design is None else self.design

    @property
    def notes(self) -> tuple[Note, ...]:
        """What a reader of the plan should know."""
        if not 0 < self.units < FEW_UNITS or not self.bound:
            return ()
        bound = shown_value(self.bound, self.sd)
        text = (
            f"{self.units} pilot {self.unit} are too few to estimate the standard deviation "
            f"reliably: it may be {bound} (upper bound, {BOUND:.0%} confidence; pass --sd)"
        )
        return (Note("small-pilot", text),)


def pilot_spreads(scores: Scores, unit: str = "queries") -> list[Spread]:
    """The spread of each pair of systems; refused when there is nothing to plan from.

    Successes and failures are planned for by the share of units on which the systems differ.
    """
    _check_pilot(scores)
    found = [_spread(scores, *pair, unit) for pair in combinations(range(len(scores.systems)), 2)]
    if not any(spread.sd for spread in found):
        raise InputError(
            f"{found[0].what}: all differences are equal, so their standard deviation is unknown: "
            "give a pilot whose systems differ on some units, or --sd"
        )
    return found


def _check_pilot(scores: Scores) -> None:
    if len(scores.systems) < 2:
        raise InputError(
            f"one system ({scores.systems[0]}) has no differences to plan from: give a "
            "pilot of two, or --sd"
        )
    if len(scores.units) < 2:
        raise InputError(f"{len(scores.units)} unit in common: a pilot needs at least 2, or --sd")


def _named(scores: Scores, first: int, second: int) -> str:
    names = f"{scores.systems[second]} - {scores.systems[first]}"
    return f"{names}, {scores.measure}"


def _spread(scores: Scores, first: int, second: int, unit: str) -> Spread:
    from heldout.infer.paired import is_constant  # SciPy
    from heldout.infer.power import pilot_sd

    columns = scores.values[:, [second, first]]
    gaps = drop_noise(columns[:, 0], columns[:, 1])
    what = _named(scores, first, second)
    if is_constant(gaps):
        return Spread(what, 0.0, len(gaps), unit=unit)
    found = Spread(what, pilot_sd(gaps), len(gaps), pilot_sd(gaps, level=BOUND), unit=unit)
    if set(np.unique(columns).tolist()) <= {0.0, 1.0}:
        return _proportion_spread(float((gaps != 0).mean()), found)
    return found


def _proportion_spread(discordant: float, pilot: Spread) -> Spread:
    """The plan for successes and failures, given the share of units on which systems differ."""
    from heldout.infer.power_designs import UnitDesign

    sd = math.sqrt(discordant)  # of differences of 1, 0 and -1, if the systems are equally good
    about = (
        f"{pilot.what}: one system succeeds where the other fails on {discordant:.1%} of the units "
        f"(pilot of {pilot.units:,} {pilot.unit})."
    )
    return pilot._replace(design=UnitDesign(sd), about=about)


def fold_spreads(scores: Scores, test_share: float, rows: int | None = None) -> list[Spread]:
    """The plan for folds: how many rows in as many folds, by the corrected resampled t test.

    Parameters
    ----------
    scores
        One row per fold.
    test_share
        n_test / n_train.
    rows
        Rows in all folds; if not known, the plan counts in per cent of them.
    """
    from heldout.infer.paired import is_constant  # SciPy
    from heldout.infer.power_designs import fold_design

    _check_pilot(scores)
    found = []
    for first, second in combinations(range(len(scores.systems)), 2):
        gaps = drop_noise(scores.values[:, second], scores.values[:, first])
        what, folds = _named(scores, first, second), len(gaps)
        if is_constant(gaps):
            found.append(Spread(what, 0.0, folds, unit="folds"))
            continue
        design = fold_design(gaps, test_share, rows or 100)
        unit = "rows" if rows else "per cent of the data"
        about = (
            f"{what}: the difference has standard error "
            f"{shown_value(design.error, design.error)} over {folds} folds, corrected "
            "for shared training data. More rows, as many folds:"
        )
        found.append(Spread(what, design.error, rows or 100, 0.0, design, unit, about))
    if not any(one.design for one in found):
        raise InputError(f"{found[0].what}: all differences are equal: nothing to plan from")
    return found


def document_spreads(results: Results, measure: str | None = None) -> list[Spread]:
    """The plan for collections of another size, from an experiment by document.

    The standard error of each difference is that of its interval. It falls far more slowly than
    with the root of the number of documents (see `DOCUMENT_RATE`): with a cutoff, the top of a list
    stays as short.
    """
    from heldout.infer.power_designs import DOCUMENT_RATE, ScaledDesign
    from heldout.infer.results import t_quantile

    found = []
    for name in results.systems:
        for one in next(row for row in results.summary if row["name"] == name)["differences"]:
            if measure is not None and one["measure"] != measure:
                continue
            both = [results.estimate(system, one["measure"]) for system in (name, one["system"])]
            freedom = max(min(row["n_queries"] for row in both) - 1, 1)
            # A bound outside the range was moved inside: the other one has the full width.
            half = max(one["difference"] - one["low"], one["high"] - one["difference"])
            error = half / t_quantile(freedom, (1 - results.level) / 2)
            what = f"{name} - {one['system']}, {one['measure']}"
            size = both[0]["target_size"] or 0
            if error <= 0:
                found.append(Spread(what, 0.0, size, unit="documents"))
                continue
            about = (
                f"{what}: the difference has standard error {shown_value(error, error)} on a "
                f"collection of {size:,} documents ({freedom + 1:,} queries, unchanged). It is "
                f"assumed to fall with the power {DOCUMENT_RATE:g} of the number of documents, "
                "which is rough: more queries are more reliable."
            )
            design = ScaledDesign(error, freedom, size, DOCUMENT_RATE)
            found.append(Spread(what, error, size, 0.0, design, "documents", about))
    if not found:
        raise InputError(
            "no differences between systems on new documents: plan from an experiment of at least "
            "two systems by document, with an estimate that merges folds (pooled)"
        )
    return found


def planned_numbers(
    spread: Spread,
    differences: Sequence[float] | None,
    numbers: Sequence[int] | None,
    goal: Goal,
) -> tuple[list[tuple[float, int]], list[tuple[int, float]]]:
    """Data needed for each difference, and the difference that each amount can show."""
    design = spread.planned
    wanted = differences or _usual_differences(spread, goal)
    needed = [(delta, design.needed(delta, goal)) for delta in wanted]
    return needed, [(n, design.detectable(n, goal)) for n in numbers or _usual_numbers(spread)]


def _usual_numbers(spread: Spread) -> list[int]:
    from heldout.infer.power_designs import ScaledDesign

    if isinstance(spread.design, ScaledDesign):
        return [times * spread.design.size for times in TIMES]
    return sorted({*NUMBERS, *([spread.units] if spread.units else [])})


def _usual_differences(spread: Spread, goal: Goal) -> list[float]:
    """Round numbers of the size of the spread, negative where only a loss is looked for."""
    from heldout.infer.power_designs import ScaledDesign

    sd = spread.sd
    if isinstance(spread.design, ScaledDesign):
        sd *= ERRORS  # of as many units as are usual
    if not (math.isfinite(sd) and sd > 0):
        return list(DIFFERENCES)  # refused with a reason by whoever plans with it
    scale = 10.0 ** round(math.log10(sd / USUAL_SPREAD))
    return [goal.signed(delta) * scale for delta in DIFFERENCES]


def shown_value(value: float, sd: float) -> str:
    """Four decimals, unless the scores are on quite another scale."""
    if math.isnan(value):
        return "none"
    return f"{value:.4f}" if 0.001 <= sd < 10_000 else f"{value:.4g}"

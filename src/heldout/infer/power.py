"""How much data a comparison needs.

A design says how the standard error of a difference falls with the amount of data, and how many
degrees of freedom it has. It answers three questions: how much data a difference needs, which
difference an amount of data detects, and how much data an interval of a given width needs.
"""

from __future__ import annotations

import math
from itertools import combinations
from typing import TYPE_CHECKING, Any, Final, NamedTuple

import numpy as np

from heldout.errors import Argument, InputError
from heldout.infer.intervals import fold_factor
from heldout.infer.results import (
    Alternative,
    alpha_of,
    do_not_vary,
    drop_noise,
    mean_estimate,
    t_quantile,
)
from heldout.notes import Note

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from heldout.data.scores import Scores
    from heldout.data.words import Floats
    from heldout.infer.simulated_power import SimulatedPower

MOST: Final = 100_000_000  # plans with more units are refused: no collection is that large
FAR: Final = 1e4  # SciPy's noncentral t returns NaN for somewhat larger shifts
NOISE: Final = 1e-12  # a power, or a width, that is missed by this little is reached

DIFFERENCES: Final = (0.005, 0.01, 0.02, 0.03, 0.05, 0.1)  # planned for by default …
USUAL_SD: Final = 0.15  # … when differences vary as those of nDCG and AP do
ERRORS: Final = 7.0  # times a standard error is about the standard deviation of fifty units
AMOUNTS: Final = (25, 50, 100, 200, 400, 1000)
TIMES: Final = (1, 2, 4, 10)  # the data there are, where they are what is planned

KNOWN: Final = Argument("sd", "NUMBER")  # the standard deviation instead of a pilot
FEW_UNITS: Final = 10
BOUND: Final = 0.8  # confidence of the bound of the standard deviation of a small pilot


def power_of(shift: float, df: float, alpha: float, side: Alternative = "two-sided") -> float:
    """Return the power of a t test of a true difference of so many standard errors.

    Exact for normal differences, by the noncentral t distribution (Cohen 1988, chapter 2).
    """
    if side == "two-sided":
        critical = t_quantile(df, alpha / 2)
        return min(1.0, _beyond(critical, df, shift) + _beyond(critical, df, -shift))
    return _beyond(t_quantile(df, alpha), df, shift if side == "greater" else -shift)


def _beyond(limit: float, df: float, shift: float) -> float:
    """Return P(noncentral t > limit), via the mirror image where that keeps more digits."""
    return _below(-limit, df, -shift) if shift < 0 else 1 - _below(limit, df, shift)


def _below(limit: float, df: float, shift: float) -> float:
    """Return P(noncentral t < limit) for a shift that is not negative."""
    from scipy.special import chdtrc, nctdtr  # slow to import

    if shift > FAR:  # then t is the shift over a chi variable, up to probabilities of 1e-8
        ratio = shift / limit if limit > 0 else math.inf
        return float(chdtrc(df, df * ratio * ratio))
    below = float(nctdtr(df, shift, limit))
    return 0.0 if math.isnan(below) else below  # NaN where the result underflows


def smallest_n(enough: Callable[[int], bool], least: int = 2) -> int | None:
    """Return the smallest number that is enough, if larger ones are, too; None beyond `MOST`."""
    low, high = least - 1, least
    while not enough(high):
        if high >= MOST:
            return None
        low, high = high, min(2 * high, MOST)
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (low, middle) if enough(middle) else (middle, high)
    return high


class Goal(NamedTuple):
    """The power, the confidence level and the alternative of the test that is planned."""

    power: float = 0.8
    level: float = 0.95
    alternative: Alternative = "two-sided"

    @property
    def sign(self) -> int:
        """-1 where the planned difference is negative."""
        return -1 if self.alternative == "less" else 1


USUAL: Final = Goal()


class Design(NamedTuple):
    """The standard error of a difference, and its degrees of freedom, by the amount of data."""

    error: Callable[[float, float], float]  # with so much data, if the difference is so large
    df: Callable[[float], float]
    size: int = 0  # the data there are, if the plan is for more rows in folds
    most: float = math.inf  # no difference is larger

    @classmethod
    def of_units(cls, sd: float) -> Design:
        """Independent units, whose differences have a standard deviation: the paired t test."""
        return cls(lambda n, _: sd / math.sqrt(n), lambda n: n - 1)

    @classmethod
    def of_shares(cls, discordant: float) -> Design:
        """Successes and failures, given the share of units on which only one system succeeds.

        Approximates McNemar's exact test. A true difference reduces the variance, by a third of
        what Miettinen (1968) subtracts: most of the critical value belongs to no difference. As its
        p has steps, it needs 2 / difference more units, of which the t distribution adds two.
        """

        def error(n: float, delta: float) -> float:
            delta = min(delta, 1.0)
            share = max(discordant, delta)
            units = n + 2 - 2 / delta if delta else n
            if units <= 0:
                return math.inf
            return math.sqrt((share - delta**2 * (3 + share) / (12 * share)) / units)

        return cls(error, lambda n: n - 1, most=1.0)

    @classmethod
    def of_folds(cls, error: float, df: int, size: int) -> Design:
        """Rows in as many folds: an error that falls with their square root, at fixed df."""
        return cls(lambda n, _: error * (size / n) ** 0.5, lambda _: df, size)

    @classmethod
    def with_machine(cls, sd: float, correlation: float, total: int) -> Design:
        """Queries judged by people, of a total that a machine has judged.

        Human judgements reduce the part of the variance that the machine does not explain; if
        people have judged all queries, the machine adds nothing.
        """

        def error(n: float, _: float) -> float:
            shared = correlation**2 if n < total else 0.0
            return sd * math.sqrt((1 - shared) / n + shared / total)

        return cls(error, lambda n: n - 1)

    def power(self, n: float, delta: float, goal: Goal = USUAL) -> float:
        """Return the power of so much data if the true difference is delta."""
        shift = delta / self.error(n, abs(delta))
        return power_of(shift, self.df(n), alpha_of(goal.level), goal.alternative)

    def needed(self, delta: float, goal: Goal = USUAL) -> int:
        """Return the smallest amount of data that detects a true difference."""
        if not math.isfinite(delta) or delta == 0:
            raise InputError(
                "expected a difference other than zero", argument="differences", value=delta
            )
        side = goal.alternative
        if side != "two-sided" and delta * goal.sign < 0:
            raise InputError(
                "has the wrong sign for ",
                Argument("alternative", repr(side)),
                argument="differences",
                value=delta,
            )
        return self._smallest(
            lambda n: self.power(n, delta, goal) >= goal.power - NOISE, f"a difference of {delta:g}"
        )

    def detectable(self, n: int, goal: Goal = USUAL) -> float:
        """Return the smallest true difference that so much data detect; NaN if there is none."""
        if n < (least := 1 if self.size else 2):
            raise InputError(f"expected at least {least} units", argument="units", value=n)
        low, high = 0.0, min(self.error(n, 0.0), self.most)
        while self.power(n, goal.sign * high, goal) < goal.power:
            if high >= self.most:
                return math.nan
            low, high = high, min(2 * high, self.most)
        while low < (middle := (low + high) / 2) < high:
            enough = self.power(n, goal.sign * middle, goal) >= goal.power
            low, high = (low, middle) if enough else (middle, high)
        return goal.sign * high

    def for_width(self, half: float, level: float = 0.95) -> int:
        """Return the smallest amount whose interval is expected to be no wider than ± half."""
        if not (math.isfinite(half) and half > 0):
            raise InputError(f"half-width {half:g}: expected a number above 0")
        tail = alpha_of(level) / 2
        return self._smallest(
            lambda n: t_quantile(self.df(n), tail) * self.error(n, 0.0) <= half * (1 + NOISE),
            f"an interval of ± {half:g}",
        )

    def _smallest(self, enough: Callable[[int], bool], what: str) -> int:
        amount = smallest_n(enough, 1 if self.size else 2)
        if amount is None:
            raise InputError(f"{what} needs more than {MOST:,} units: choose a larger one")
        return amount


class PowerPlan(NamedTuple):
    """How much data the comparison of two systems needs; see `heldout.power`."""

    what: str  # the systems and the measure; empty when only a standard deviation was given
    sd: float  # of the differences, or the error over folds; 0 if all are the same
    units: int = 0  # of the pilot, if there is one
    bound: float = 0.0  # of the true standard deviation, with confidence .8; 0 if not known
    unit: str = "queries"  # what is counted
    about: str = ""  # the sentence that says what the plan starts from
    design: Design | None = None  # None if nothing can be planned
    goal: Goal = USUAL
    needed: tuple[tuple[float, int], ...] = ()  # a true difference, the data that detect it
    detectable: tuple[tuple[int, float], ...] = ()  # data, the smallest difference they detect
    intervals: tuple[tuple[float, int], ...] = ()  # a half-width, the data that it needs
    simulated: tuple[SimulatedPower, ...] = ()  # for the pilot's own difference

    @property
    def notes(self) -> tuple[Note, ...]:
        """Warnings."""
        if not 0 < self.units < FEW_UNITS or not self.bound:
            return ()
        text = (
            f"{self.units} pilot {self.unit} are too few to estimate the standard deviation "
            f"reliably: plan with {shown_value(self.bound, self.sd)}, too (its upper bound, "
            f"{BOUND:.0%} confidence)"
        )
        return (Note("small-pilot", text),)

    def to_dict(self) -> dict[str, Any]:
        """Return all numbers at full precision."""
        amount = "queries" if self.unit == "queries" else "n"
        needed, detectable = ("difference", amount), (amount, "difference")
        heads = {"needed": needed, "detectable": detectable, "intervals": ("half_width", amount)}
        answers = {
            name: [dict(zip(head, row, strict=True)) for row in getattr(self, name)]
            for name, head in heads.items()
        }
        own = {name: getattr(self, name) for name in ("what", "sd", "units", "bound", "unit")}
        warnings = {"warnings": [note.to_dict() for note in self.notes]}
        simulated = {"simulated": [row._asdict() for row in self.simulated]}
        drawn = simulated if self.simulated else {}
        return own | self.goal._asdict() | warnings | answers | drawn

    def __str__(self) -> str:
        from heldout.report import text  # the report reads results

        return text(self).rstrip()

    def answered(
        self,
        differences: Sequence[float],
        units: Sequence[int],
        half_widths: Sequence[float],
        goal: Goal,
    ) -> PowerPlan:
        """Return the plan with answers; without questions, for usual differences and amounts."""
        design = self.design
        if design is None:
            return self._replace(goal=goal)
        sd, size = (self.sd * ERRORS, design.size) if design.size else (self.sd, 0)
        scale = goal.sign * 10.0 ** round(math.log10(sd / USUAL_SD))
        usual = {size * times for times in TIMES} if size else {*AMOUNTS, self.units or AMOUNTS[0]}
        return self._replace(
            goal=goal,
            needed=tuple(
                (delta, design.needed(delta, goal))
                for delta in differences or [delta * scale for delta in DIFFERENCES]
            ),
            detectable=tuple((n, design.detectable(n, goal)) for n in units or sorted(usual)),
            intervals=tuple((half, design.for_width(half, goal.level)) for half in half_widths),
        )


def pilot_plans(scores: Scores, test_share: float | None = None, rows: int = 0) -> list[PowerPlan]:
    """Return what a pilot tells about each pair of its systems.

    With `test_share` (n_test / n_train) the units are folds, and the plan is for more rows, in per
    cent if their number is not known.
    """
    if len(scores.systems) < 2:
        raise InputError(
            f"one system ({scores.systems[0]}) has no differences to plan from: give a pilot of "
            "two, or ",
            KNOWN,
        )
    if len(scores.units) < 2:
        raise InputError(f"{len(scores.units)} unit in common: give at least 2, or ", KNOWN)
    factor = None if test_share is None else fold_factor(len(scores.units), test_share)
    plans = []
    for first, second in combinations(range(len(scores.systems)), 2):
        what = f"{scores.systems[second]} - {scores.systems[first]}, {scores.measure}"
        gaps = drop_noise(scores.values[:, second], scores.values[:, first])
        if factor is None:
            plans.append(_unit_plan(what, gaps, scores, [first, second]))
        else:
            plans.append(_fold_plan(what, gaps, factor, rows))
    if not any(plan.design for plan in plans):
        raise InputError(
            f"{plans[0].what}: all differences are equal, so their standard deviation is unknown: "
            "give a pilot whose systems differ on some units, or ",
            KNOWN,
        )
    return plans


def _unit_plan(what: str, gaps: Floats, scores: Scores, pair: list[int]) -> PowerPlan:
    from scipy.special import chdtri  # slow to import

    unit = "queries" if scores.unit in ("query", "unit") else "units"  # a table does not say
    if do_not_vary(gaps):
        return PowerPlan(what, 0.0, len(gaps), unit=unit)
    sd, df = float(gaps.std(ddof=1)), len(gaps) - 1
    bound = sd * math.sqrt(df / float(chdtri(df, BOUND)))  # Browne (1995)
    design, pilot = Design.of_units(sd), f"(pilot of {len(gaps):,} {unit})"
    about = f"differences have standard deviation {shown_value(sd, sd)}"
    if scores.machine is not None:
        known, total = scores.machine.known[:, pair], len(gaps) + len(scores.machine.extra)
        correlation = pilot_correlation(gaps, known[:, 1] - known[:, 0])
        about += f" and correlation {correlation:.2f} with those of the machine, which judged "
        about += f"{total:,} {unit} {pilot}. To be judged by people:"
        design = Design.with_machine(sd, correlation, total)
    elif np.isin(scores.values[:, pair], (0.0, 1.0)).all():
        discordant = float((gaps != 0).mean())
        about = (
            f"one system succeeds where the other fails on {discordant:.1%} of the units {pilot}."
        )
        design = Design.of_shares(discordant)
    else:
        about += f" {pilot}."
    return PowerPlan(what, sd, len(gaps), bound, unit, f"{what}: {about}", design)


def pilot_correlation(human: Floats, machine: Floats) -> float:
    """Return the correlation of differences, 0 if negative, adjusted for the size of the pilot."""
    n = len(human)
    if n < 3 or do_not_vary(machine):
        return 0.0
    plain = max(0.0, float(np.corrcoef(human, machine)[0, 1]))
    # A small pilot overstates the correlation: R² adjusted for its degrees of freedom.
    return math.sqrt(max(0.0, 1 - (1 - plain**2) * (n - 1) / (n - 2)))


def _fold_plan(what: str, gaps: Floats, factor: float, rows: int) -> PowerPlan:
    """Return the plan for more rows in as many folds (Nadeau & Bengio 2003).

    The variance of a fold's score is assumed to be inversely proportional to its rows.
    """
    if do_not_vary(gaps):
        return PowerPlan(what, 0.0, len(gaps), unit="folds")
    error = float(mean_estimate(gaps, factor).error)
    about = (
        f"{what}: the difference has standard error {shown_value(error, error)} over "
        f"{len(gaps)} folds, corrected for shared training data. More rows, as many folds:"
    )
    size, unit = (rows, "rows") if rows else (100, "per cent of the data")
    design = Design.of_folds(error, len(gaps) - 1, size)
    return PowerPlan(what, error, size, unit=unit, about=about, design=design)


def shown_value(value: float, sd: float) -> str:
    """Four decimals, unless the scores are on quite another scale."""
    if math.isnan(value):
        return "none"
    return f"{value:.4f}" if 0.001 <= sd < 10_000 else f"{value:.4g}"

"""The tests of all pairs of a comparison, and p-values adjusted for the number of pairs."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from heldout.errors import InputError
from heldout.infer.results import alpha_of, drop_noise, numeric_alternative

if TYPE_CHECKING:
    from collections.abc import Callable

    from heldout.data.scores import Scores
    from heldout.data.words import Floats, Ints
    from heldout.infer.results import Alternative, Estimate, Outcome
    from heldout.infer.romano_wolf import StepDown
    from heldout.infer.scoring import Scoring

__all__ = ["Adjusted", "Design", "adjust_claims", "claim_outcomes", "tests_at_once"]


class Design(NamedTuple):
    """What is compared, and how.

    Parameters
    ----------
    scores
        The scores.
    scoring
        How systems and resamples are scored.
    pairs
        The columns that are compared, the first minus the second.
    baseline
        The column that the others are compared with; None for all pairs.
    correction
        How p-values are adjusted; empty for one comparison.
    level
        The confidence level.
    alternative
        The alternative as requested: ``greater`` means better.
    test_share
        n_test / n_train, when the units are folds.
    replicates, seed
        Of all resampling.
    """

    scores: Scores
    scoring: Scoring
    pairs: tuple[tuple[int, int], ...]
    baseline: int | None
    correction: str
    level: float
    alternative: Alternative
    test_share: float | None
    replicates: int
    seed: int

    @property
    def alpha(self) -> float:
        """The significance level."""
        return alpha_of(self.level)

    @property
    def side(self) -> Alternative:
        """The alternative in terms of numbers: better means less where lower is better."""
        return numeric_alternative(self.alternative, higher_is_better=self.scores.higher_is_better)

    @property
    def draws(self) -> dict[str, Any]:
        """The settings of tests that resample."""
        return {"replicates": self.replicates, "seed": self.seed}

    @property
    def columns(self) -> tuple[Ints, Ints]:
        """The columns of the first and of the second system of each pair."""
        first, second = np.array(self.pairs, np.intp).T
        return first, second

    def statistics(self) -> Estimate:
        """Return mean differences and their standard errors."""
        from heldout.infer.romano_wolf import pair_statistics

        if self.scores.machine is not None:
            from heldout.infer.prediction_powered import combined_statistics

            return combined_statistics(self.scores.values, self.scores.machine, *self.columns)
        return pair_statistics(self.scores.values, *self.columns)

    def gaps(self, pair: tuple[int, int]) -> Floats:
        """Return the differences of a pair, one per unit."""
        first, second = pair
        return drop_noise(self.scores.values[:, first], self.scores.values[:, second])


class Adjusted(NamedTuple):
    """The p-values that decide.

    Parameters
    ----------
    p
        One per pair.
    detail
        How a correction that is a test itself computed them, e.g. "100,000 replicates, seed 0".
    table
        The result of Romano-Wolf; None for other corrections.
    draws
        The number of random replicates; 0 if the p-values are exact.
    """

    p: tuple[float, ...]
    detail: str = ""
    table: StepDown | None = None
    draws: int = 0

    def error(self, at: int) -> float:
        """Return the standard error of a Monte Carlo p-value; 0 for other p-values."""
        return math.sqrt(self.p[at] * (1 - self.p[at]) / self.draws) if self.draws else 0.0


def claim_outcomes(
    design: Design, tests: tuple[str, ...], progress: Callable[[int, int], None] | None = None
) -> list[tuple[Outcome, ...]]:
    """Run all tests on all pairs; the outcomes name the alternative as requested."""
    if "mcnemar" in tests:
        _check_zero_one(design.scores)
    if tests_at_once(design, tests):
        return [(outcome,) for outcome in _all_t_tests(design)]
    outcomes = []
    for pair in design.pairs:
        outcomes.append(_outcomes(design, tests, pair))
        if progress:
            progress(len(outcomes), len(design.pairs))
    return outcomes


def tests_at_once(design: Design, tests: tuple[str, ...]) -> bool:
    """Return whether all pairs are tested in one vectorized step."""
    return tests == ("t",) and not design.scoring.linearised


def _all_t_tests(design: Design) -> list[Outcome]:
    """Return the t tests of all pairs at once: there may be very many."""
    outcomes = design.statistics().outcomes("t", design.side, len(design.scores.units))
    return [outcome._replace(alternative=design.alternative) for outcome in outcomes]


def _check_zero_one(scores: Scores) -> None:
    """Refuse scores other than 0 and 1, which McNemar's test is not for."""
    odd = (scores.values != 0) & (scores.values != 1)
    if odd.any():
        row, column = (int(at) for at in np.argwhere(odd)[0])
        raise InputError(
            f"mcnemar needs scores of 0 and 1, but {scores.systems[column]} has "
            f"{scores.values[row, column]:g} on unit {scores.units[row]}: use randomization, t or "
            "wilcoxon, or a measure that is 0 or 1, such as Success@k"
        )


def _outcomes(design: Design, tests: tuple[str, ...], pair: tuple[int, int]) -> tuple[Outcome, ...]:
    outcomes = (design.scoring.outcome(test, pair, design.side) for test in tests)
    return tuple(outcome._replace(alternative=design.alternative) for outcome in outcomes)


def adjust_claims(
    design: Design,
    outcomes: list[tuple[Outcome, ...]],
    progress: Callable[[int, int], None] | None = None,
) -> Adjusted:
    """Return the p-values that decide, adjusted for the number of comparisons."""
    from heldout.infer import corrections  # SciPy

    how = design.correction
    if how == "romano-wolf":
        return _step_down(design, progress)
    if how == "tukey":
        return _tukey(design)
    raw = [tests[0].p for tests in outcomes]
    return Adjusted(tuple(float(p) for p in corrections.adjust(raw, how or "none")))


def _step_down(design: Design, progress: Callable[[int, int], None] | None) -> Adjusted:
    from heldout.infer.romano_wolf import romano_wolf  # SciPy

    pairs = len(design.pairs)

    def report_pairs(done: int, total: int) -> None:
        if progress:
            progress(pairs * done // total, pairs)

    values, base = design.scores.values, design.baseline
    table = romano_wolf(
        values,
        base,
        alternative=design.side,
        machine=design.scores.machine,
        progress=report_pairs,
        **design.draws,
    )
    p = tuple(table.p[design.columns].tolist())
    return Adjusted(p, table.detail, table, table.draws)


def _tukey(design: Design) -> Adjusted:
    from heldout.infer.tukey import tukey_hsd  # SciPy

    p_values: dict[Any, float] = {}
    for result in tukey_hsd(design.scores.values):
        p_values[result.first, result.second] = p_values[result.second, result.first] = result.p
    return Adjusted(tuple(p_values[pair] for pair in design.pairs))

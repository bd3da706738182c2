"""Tests with a margin: a new system is better than the old one, not worse, or equivalent."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any, Final, Literal, NamedTuple, get_args

import numpy as np

from heldout.errors import InputError
from heldout.infer.intervals.folds import corrected_t
from heldout.infer.intervals.units import t_interval
from heldout.infer.levels import alpha_of, check_level, level_of, refuse_old_names
from heldout.infer.power import power, smallest_n
from heldout.infer.results import Alternative, Interval, Outcome, as_values, drop_noise
from heldout.infer.tests.paired import corrected_t_test, is_constant, t_test

if TYPE_CHECKING:
    from collections.abc import Iterable

    from heldout.data.words import Floats

__all__ = ["Gate", "GateTest", "Verdict", "non_inferiority", "superiority", "tost"]

Verdict = Literal["shown", "not shown", "worse", "better"]
"""The claim holds; undecided; significantly worse, or better, by more than the margin."""

GateTest = Literal["auto", "randomization", "t", "corrected-t"]
"""The test of a gate; ``auto`` chooses the one that fits."""

REPLICATES: Final = 100_000


class Gate(NamedTuple):
    """The result of a gate.

    Parameters
    ----------
    verdict
        ``shown``: the claim is significant. ``not shown``: undecided. ``worse``: significantly
        worse by more than the margin; ``better`` is the other side of `tost`.
    p
        The p-value of the null hypothesis, the opposite of the claim.
    margin
        The margin.
    interval
        The interval of the mean difference at level 1 - 2·alpha that belongs to the test: the two
        one-sided tests at alpha compare its bounds with the margin (up to the Monte Carlo error).
    queries_needed
        When undecided: the number of units that would decide with power .8 by the t test if the
        observed difference and standard deviation were the true ones. None if no number would, if
        the verdict is decided, and for folds: more folds of the same data add little information.
    test
        The test that was used, never ``auto``.
    n
        The number of units.
    method
        ``exact``, ``grid``, ``monte carlo``, ``t`` or ``no variance``, as in `Outcome`.
    """

    verdict: Verdict
    p: float
    margin: float
    interval: Interval
    queries_needed: int | None
    test: GateTest
    n: int
    method: str


@refuse_old_names
def non_inferiority(
    differences: Iterable[float],
    margin: float,
    *,
    level: float = 0.95,
    test: GateTest = "auto",
    test_share: float | None = None,
    wanted_power: float = 0.8,
    replicates: int = REPLICATES,
    seed: int = 0,
) -> Gate:
    """Test for non-inferiority: the new system is not worse than the old by more than a margin.

    The null hypothesis is that the mean difference is -margin or less; the test is one-sided at
    alpha. The randomization test is made on the differences plus the margin, which are symmetric
    about zero under its null hypothesis.

    Parameters
    ----------
    differences
        New minus old, one per unit.
    margin
        The largest acceptable loss, above zero, fixed before looking at the data.
    level
        The confidence level; the one-sided test is at alpha = 1 - level.
    test
        ``randomization``, ``t`` or ``corrected-t`` (folds). ``auto`` uses the randomization test
        where it is exact, else the t test; over folds the corrected resampled t test.
    test_share
        n_test / n_train, when the units are folds of a cross-validation.
    wanted_power
        The power that `Gate.queries_needed` aims at.
    replicates, seed
        Of the randomization test, where it is not exact.

    Returns
    -------
    Gate
        The verdict is ``shown``, ``not shown`` or ``worse``.

    References
    ----------
    Wellek (2010). Testing Statistical Hypotheses of Equivalence and Noninferiority, 2nd ed.
    Piaggio et al. (2012). Reporting of noninferiority and equivalence randomized trials. JAMA 308.
    Nadeau & Bengio (2003). Inference for the generalization error. Machine Learning 52(3).

    Examples
    --------
    >>> gain = [0.01, -0.01, 0.0, 0.02, 0.01, 0.0, -0.01, 0.01]
    >>> gate = non_inferiority(gain, margin=0.02)
    >>> gate.verdict, gate.test, gate.p == 1 / 2**8
    ('shown', 'randomization', True)
    >>> round(non_inferiority(gain, margin=0.02, test="t").p, 5)
    0.0002
    """
    values = _checked(differences, margin)
    alpha = alpha_of(check_level(level, one_sided=True))
    draws = {"replicates": replicates, "seed": seed}
    run = _OneSided(values, (margin,), test, test_share, draws)
    claim = run.outcome(margin, "greater")
    verdict: Verdict = "not shown"
    if claim.p <= alpha:
        verdict = "shown"
    elif run.outcome(margin, "less").p <= alpha:
        verdict = "worse"
    return run.gate(verdict, claim, margin, alpha, wanted_power)


@refuse_old_names
def tost(
    differences: Iterable[float],
    margin: float,
    *,
    level: float = 0.95,
    test: GateTest = "auto",
    test_share: float | None = None,
    wanted_power: float = 0.8,
    replicates: int = REPLICATES,
    seed: int = 0,
) -> Gate:
    """Test for equivalence: two systems differ by less than a margin; two one-sided tests.

    The mean difference must be significantly above -margin and below margin, each at alpha; p is
    the larger of the two p-values.

    Parameters
    ----------
    differences
        New minus old, one per unit.
    margin
        The largest difference that does not matter, above zero, fixed before looking at the data.
    level
        The confidence level; each test, and both together, are at alpha = 1 - level.
    test, test_share, replicates, seed
        As in `non_inferiority`.
    wanted_power
        The power that `Gate.queries_needed` aims at. The risks of both tests are added, which
        gives slightly more units than needed.

    Returns
    -------
    Gate
        The verdict is ``shown``, ``not shown``, ``worse`` or ``better``.

    References
    ----------
    Schuirmann (1987). A comparison of the two one-sided tests procedure and the power approach
    for assessing the equivalence of average bioavailability. Journal of Pharmacokinetics and
    Biopharmaceutics 15.
    """
    values = _checked(differences, margin)
    alpha = alpha_of(check_level(level, one_sided=True))
    draws = {"replicates": replicates, "seed": seed}
    run = _OneSided(values, (margin, -margin), test, test_share, draws)
    above, below = run.outcome(margin, "greater"), run.outcome(-margin, "less")
    claim = max(above, below, key=lambda outcome: outcome.p)
    verdict: Verdict = "not shown"
    if claim.p <= alpha:
        verdict = "shown"
    elif run.outcome(margin, "less").p <= alpha:
        verdict = "worse"
    elif run.outcome(-margin, "greater").p <= alpha:
        verdict = "better"
    return run.gate(verdict, claim, margin, alpha, wanted_power)


@refuse_old_names
def superiority(
    differences: Iterable[float],
    margin: float = 0.0,
    *,
    level: float = 0.95,
    test: GateTest = "auto",
    test_share: float | None = None,
    wanted_power: float = 0.8,
    replicates: int = REPLICATES,
    seed: int = 0,
) -> Gate:
    """Test for superiority: the new system is better than the old by more than a margin.

    The null hypothesis is that the mean difference is `margin` or less; the test is one-sided at
    alpha.

    Parameters
    ----------
    differences
        New minus old, one per unit.
    margin
        The gain required, zero or more, fixed before looking at the data.
    level
        The confidence level; the one-sided test is at alpha = 1 - level.
    test, test_share, wanted_power, replicates, seed
        As in `non_inferiority`.

    Returns
    -------
    Gate
        The verdict is ``shown``, ``not shown`` or ``worse`` (significantly worse than the old).

    Examples
    --------
    >>> gain = [0.03, 0.01, 0.02, 0.04, 0.01, 0.02, -0.01, 0.03]
    >>> gate = superiority(gain)
    >>> gate.verdict, gate.test, gate.p == 4 / 2**8
    ('shown', 'randomization', True)
    """
    if not (math.isfinite(margin) and margin >= 0):
        raise InputError(f"margin={margin}: expected the gain required, zero or more")
    values = as_values(differences, "differences")
    alpha = alpha_of(check_level(level, one_sided=True))
    draws = {"replicates": replicates, "seed": seed}
    run = _OneSided(values, (-margin,), test, test_share, draws, upward=True)
    claim = run.outcome(-margin, "greater")
    verdict: Verdict = "not shown"
    if claim.p <= alpha:
        verdict = "shown"
    elif run.outcome(0.0, "less").p <= alpha:
        verdict = "worse"
    return run.gate(verdict, claim, margin, alpha, wanted_power)


def _checked(differences: Iterable[float], margin: float) -> Floats:
    if not (math.isfinite(margin) and margin > 0):
        raise InputError(f"margin={margin}: expected the largest acceptable loss, above zero")
    return as_values(differences, "differences")


class _OneSided:
    """The one-sided tests of one gate, all of the same kind."""

    def __init__(
        self,
        values: Floats,
        shifts: tuple[float, ...],
        test: GateTest,
        test_share: float | None,
        draws: dict[str, Any],
        *,
        upward: bool = False,
    ) -> None:
        _check_test(test, test_share)
        self._values = values
        self._shifts = shifts
        self._upward = upward
        self._test_share = test_share
        self._draws = draws
        self._test = self._choose() if test == "auto" else test

    def _choose(self) -> GateTest:
        """Choose randomization where it is exact: it assumes no distribution."""
        if self._test_share is not None:
            return "corrected-t"
        exact = all(
            self._randomization(shift, "greater").method == "exact" for shift in self._shifts
        )
        return "randomization" if exact else "t"

    def _shifted(self, shift: float) -> Floats:
        """Return the distances from the margin, exactly 0 where they are rounding noise."""
        return drop_noise(self._values, np.full_like(self._values, -shift))

    def _randomization(self, shift: float, alternative: Alternative) -> Outcome:
        from heldout.infer.tests.randomization import randomization_test  # rarely needed

        return randomization_test(self._shifted(shift), alternative=alternative, **self._draws)

    def outcome(self, shift: float, alternative: Alternative) -> Outcome:
        """Test whether the mean difference plus the shift is zero."""
        if self._test == "randomization":
            return self._randomization(shift, alternative)
        if self._test_share is not None:
            return corrected_t_test(self._shifted(shift), self._test_share, alternative=alternative)
        return t_test(self._shifted(shift), alternative=alternative)

    def _interval(self, level: float) -> Interval:
        if self._test == "randomization":
            from heldout.infer.tests.randomization import randomization_interval  # rarely needed

            return randomization_interval(self._values, level=level, **self._draws)
        if self._test_share is not None:
            return corrected_t(self._values, self._test_share, level)
        return t_interval(self._values, level)

    def gate(
        self, verdict: Verdict, claim: Outcome, margin: float, alpha: float, wanted_power: float
    ) -> Gate:
        """Return the verdict with its interval and the number of units that would decide."""
        undecided = verdict == "not shown" and self._test_share is None
        needed = self._units_to_decide(alpha, wanted_power) if undecided else None
        interval = self._interval(1.0 - 2.0 * alpha)
        return Gate(
            *(verdict, claim.p, margin, interval, needed),
            *(self._test, len(self._values), claim.method),
        )

    def _units_to_decide(self, alpha: float, wanted_power: float) -> int | None:
        """Return the units at which all one-sided t tests would reject.

        The observed mean and standard deviation are taken as the true ones. The shifted mean must
        be positive for a positive shift, and negative for a negative one; upward, always positive.
        """
        deviation = float(self._values.std(ddof=1))
        means = [(shift, float(self._shifted(shift).mean())) for shift in self._shifts]
        distances = [
            mean if self._upward else math.copysign(1.0, shift) * mean for shift, mean in means
        ]
        if min(distances) <= 0:
            return None
        # The smallest p-value of the randomization test is 2^-n: it must be able to reach alpha.
        least = math.ceil(-math.log2(alpha)) if self._test == "randomization" else 2
        least = max(least, len(self._values) + 1)
        if is_constant(self._values):
            return least

        def power_at(n: int) -> float:
            risks = [
                1.0 - power(deviation, n, distance, level=level_of(alpha), alternative="greater")
                for distance in distances
            ]
            return 1.0 - sum(risks)

        needed = smallest_n(power_at, wanted_power)
        return None if needed is None else max(needed, least)


def _check_test(test: str, test_share: float | None) -> None:
    if test not in get_args(GateTest):
        raise InputError(f"test={test!r}: expected one of {', '.join(get_args(GateTest))}")
    if test_share is not None and test in {"t", "randomization"}:
        raise InputError(
            f"test={test!r} treats folds as independent and rejects too often: over folds use "
            "corrected-t"
        )
    if test_share is None and test == "corrected-t":
        raise InputError(
            "corrected-t is for folds of a cross-validation: pass test_share=n_test/n_train"
        )

"""How systems are scored on units and on resamples: everything that differs between measures.

The engine (`heldout.infer.engine`) handles pairs, corrections, effects and warnings, and takes
tests and intervals from a `Scoring`. `MeanScoring` is that of means over units; functions of sums
(BLEU, F1), measures of order and areas under curves are in `heldout.infer.resampled`.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final, Literal, NamedTuple, Protocol

from heldout.errors import InputError
from heldout.infer.results import drop_noise

if TYPE_CHECKING:
    from collections.abc import Callable

    from heldout.data.scores import Scores
    from heldout.data.words import Floats
    from heldout.infer.analysis import Analysis
    from heldout.infer.results import Alternative, Interval, Outcome

__all__ = ["RETUNED", "MeanScoring", "Scored", "Scoring", "mean_scored"]

RETUNED: Final = ("retuned-t", "randomization")
"""The tests of systems that were tuned in folds; the first decides."""


class Scoring(Protocol):
    """Scores of systems, and tests and intervals of their differences."""

    @property
    def linearised(self) -> bool:
        """Whether the score is not a mean over units: their values are linearised."""

    @property
    def tests(self) -> tuple[str, ...]:
        """The tests, of which the first decides; empty if they depend on the values."""

    @property
    def why(self) -> str:
        """Why these tests are used, in a clause."""

    def outcome(self, test: str, pair: tuple[int, int], alternative: Alternative) -> Outcome:
        """Return a test of the difference, first minus second system of a pair."""

    def difference(self, pair: tuple[int, int], level: float) -> Interval:
        """Return the difference of the scores with its interval."""

    def system(self, at: int, level: float) -> Interval:
        """Return the score of a system with its interval."""

    def signs(self, pair: tuple[int, int]) -> tuple[int, int]:
        """Return how many units favour the first system, and how many the second."""


@dataclass(frozen=True, eq=False)
class MeanScoring:
    """Means over units.

    Parameters
    ----------
    scores
        The values of the units.
    test_share
        n_test / n_train, if the units are folds.
    interval
        Of differences: ``t``, ``percentile``, ``bca``; empty for t, corrected for folds if the
        units are folds.
    replicates, seed
        Of all resampling.
    """

    scores: Scores
    test_share: float | None = None
    interval: str = ""
    replicates: int = 100_000
    seed: int = 0
    linearised: bool = False
    tests: tuple[str, ...] = ()
    why: str = ""

    def gaps(self, pair: tuple[int, int]) -> Floats:
        """Return the differences of a pair, one per unit."""
        first, second = pair
        return drop_noise(self.scores.values[:, first], self.scores.values[:, second])

    def outcome(self, test: str, pair: tuple[int, int], alternative: Alternative) -> Outcome:
        """Return any of the tests in `heldout.infer.analysis.TESTS`."""
        from heldout.infer import bootstrap, paired, randomization  # SciPy

        gaps = self.gaps(pair)
        if test == "mcnemar":
            return paired.mcnemar_test(
                *(self.scores.values[:, at] for at in pair), alternative=alternative
            )
        if test == "corrected-t":
            if self.test_share is None:
                raise InputError(
                    "corrected-t is for folds of a cross-validation: pass n_test / n_train, for 10 "
                    "folds test_share=0.1111"
                )
            return paired.corrected_t_test(gaps, self.test_share, alternative=alternative)
        if test == "prediction-powered":
            raise InputError(
                "prediction-powered is for human and machine judgements: pass machine judgements"
            )
        if test == "retuned-t":
            raise InputError(
                "retuned-t is for systems that were tuned in folds: compare results of an "
                "experiment"
            )
        if test == "randomization":
            return randomization.randomization_test(
                gaps, alternative=alternative, replicates=self.replicates, seed=self.seed
            )
        if test == "bootstrap-shift":
            return bootstrap.shift_test(
                gaps, alternative=alternative, replicates=self.replicates, seed=self.seed
            )
        plain: dict[str, Callable[..., Outcome]] = {
            "t": paired.t_test,
            "wilcoxon": paired.wilcoxon_test,
            "sign": paired.sign_test,
        }
        return plain[test](gaps, alternative=alternative)

    def difference(self, pair: tuple[int, int], level: float) -> Interval:
        """Return the requested interval; by default t, or t corrected for folds."""
        from heldout.infer import (
            bootstrap,  # SciPy
            intervals,
        )
        from heldout.infer import fold_intervals as folds  # SciPy

        gaps = self.gaps(pair)
        if not self.interval and self.test_share is not None:
            return folds.corrected_t(gaps, self.test_share, level)
        if self.interval in ("", "t"):
            return intervals.t_interval(gaps, level)
        bounds: Literal["percentile", "bca"] = (
            "percentile" if self.interval == "percentile" else "bca"
        )
        return bootstrap.bootstrap_interval(
            gaps, kind=bounds, level=level, replicates=self.replicates, seed=self.seed
        )

    def system(self, at: int, level: float) -> Interval:
        """Return corrected t for folds, else the interval of `mean_interval`."""
        from heldout.infer import fold_intervals as folds  # SciPy
        from heldout.infer import intervals

        values = self.scores.values[:, at]
        if self.test_share is not None:
            return folds.corrected_t(values, self.test_share, level)
        found = intervals.mean_interval(values, level, self.scores.range)
        if found is None or (found.method == "Wilson" and not self._are_shares()):
            return intervals.t_interval(values, level)
        return found

    def _are_shares(self) -> bool:
        """Return whether 0 and 1 are the ends of the measure, as far as is known."""
        values = self.scores.values
        return self.scores.range == (0.0, 1.0) or bool(((values == 0) | (values == 1)).all())

    def signs(self, pair: tuple[int, int]) -> tuple[int, int]:
        """Return the number of units with a higher, and with a lower value of the first system."""
        gaps = self.gaps(pair)
        return int((gaps > 0).sum()), int((gaps < 0).sum())


class Scored(NamedTuple):
    """The input of the engine.

    Parameters
    ----------
    scores
        The values of the units.
    scoring
        How systems and resamples are scored.
    test_share
        n_test / n_train, if the units are folds.
    """

    scores: Scores
    scoring: Scoring
    test_share: float | None = None


def mean_scored(scores: Scores, settings: Analysis) -> Scored:
    """Return scores to be compared by their means over units."""
    if scores.machine is not None:
        from heldout.infer.machine_scoring import machine_scored  # derived from MeanScoring

        return machine_scored(scores, settings)
    from heldout.infer.retuned import RetunedScoring  # derived from MeanScoring

    kind = RetunedScoring if scores.choices and settings.test_share is None else MeanScoring
    scoring = kind(
        scores, settings.test_share, settings.interval, settings.replicates, settings.seed
    )
    return Scored(scores, scoring, settings.test_share)

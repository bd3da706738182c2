"""The result of a comparison: claims about pairs of systems, and how they were obtained."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, NamedTuple

from heldout.data.frames import Library, frame_of
from heldout.infer.results import Interval, Outcome, alpha_of
from heldout.notes import Note, count_of, distinct

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from heldout.data.scores import Scores
    from heldout.infer.claim_intervals import Coverage
    from heldout.infer.default_analysis import Advice
    from heldout.infer.effects import Effects
    from heldout.infer.prediction_powered import Combined
    from heldout.infer.ranks import Friedman, Nemenyi
    from heldout.infer.results import Alternative
    from heldout.infer.tukey import Anova, Sphericity

__all__ = [
    "Claim",
    "Comparison",
    "MachineEstimates",
    "SystemRow",
    "claim_row",
    "claim_rows",
    "note_measures",
]


class SystemRow(NamedTuple):
    """One system: its mean with an interval, and letters shared with systems of its group."""

    name: str
    mean: Interval
    letters: str = ""


class Claim(NamedTuple):
    """The comparison of a pair of systems.

    Parameters
    ----------
    first, second
        The systems; differences are first minus second.
    difference
        The mean difference with its interval, which has one bound if the test is one-sided.
    outcomes
        The tests; the first gives the verdict.
    adjusted
        The p-value of the verdict, adjusted for the number of comparisons.
    effects
        Effect sizes, wins, ties and losses.
    adjusted_error
        The standard error of an adjusted Monte Carlo p-value; 0 for other p-values.
    """

    first: str
    second: str
    difference: Interval
    outcomes: tuple[Outcome, ...]
    adjusted: float
    effects: Effects
    adjusted_error: float = 0.0


class MachineEstimates(NamedTuple):
    """Human-only, machine-only and combined estimates.

    Parameters
    ----------
    systems
        Of the score of each system.
    differences
        Of the difference of each claim, first minus second. The intervals are those of a single
        difference; that of the claim is adjusted for the number of comparisons.
    """

    systems: tuple[Combined, ...]
    differences: tuple[Combined, ...]


@dataclass(frozen=True, slots=True, eq=False)
class Comparison:
    """The comparison of two or more systems on the same units.

    Parameters
    ----------
    scores
        What was compared.
    baseline
        The system that the others are compared with; None for all pairs.
    level, alternative
        The confidence level of intervals and tests, and the alternative of the tests.
    advice
        The analysis, its reason, and warnings.
    systems, claims
        The results.
    anova, sphericity, friedman
        The analyses of all systems together, for three or more.
    seed
        The random seed.
    coverage
        Whether the level applies to all intervals of differences at once (``simultaneous``), to
        each alone (``unadjusted``), or to the only one (``single``).
    correction_detail
        How a correction that resamples or enumerates computed its p-values.
    test_share
        n_test / n_train, if the units are folds.
    linearised
        Whether the score is not a mean over units: the values of the units are then linearised,
        so that they average to the score and vary as it does.
    machine
        With machine judgements: human-only, machine-only and combined estimates.
    intervals_at
        The intervals of the claims at another level.
    """

    scores: Scores
    baseline: str | None
    level: float
    alternative: Alternative
    advice: Advice
    systems: tuple[SystemRow, ...]
    claims: tuple[Claim, ...]
    anova: Anova | None
    sphericity: Sphericity | None
    friedman: tuple[Friedman, Nemenyi] | None
    seed: int
    coverage: Coverage = "single"
    correction_detail: str = ""
    test_share: float | None = None
    linearised: bool = False
    machine: MachineEstimates | None = None
    intervals_at: Callable[[float], list[Interval]] | None = None

    @property
    def alpha(self) -> float:
        """The significance level of the tests, 1 - `level`."""
        return alpha_of(self.level)

    @property
    def warnings(self) -> tuple[Note, ...]:
        """Warnings and notes."""
        return self.advice.warnings

    def to_frame(self, library: Library = "polars") -> Any:
        """Return a frame with one row per claim.

        Parameters
        ----------
        library
            The library of the frame: ``polars`` or ``pandas``.
        """
        import polars as pl  # slow to import, seldom needed

        return frame_of(pl.DataFrame(claim_rows(self)), library)

    def __repr__(self) -> str:
        systems = ", ".join(self.scores.systems[:3]) + (", …" if len(self.systems) > 3 else "")
        units = count_of(len(self.scores.units), "unit")
        return f"<Comparison of {systems} in {self.scores.measure} on {units}>"

    def __str__(self) -> str:
        """Return the result in a few lines."""
        from heldout.report.short_claims import short_text  # the report reads results

        return short_text(self).rstrip()

    def _repr_html_(self) -> str:
        """Show the claims as tables and a chart in a notebook."""
        from heldout.notebook import part_html
        from heldout.report.page.of_comparison import part_of_comparisons

        return part_html(part_of_comparisons([self]))


def claim_row(comparison: Comparison, claim: Claim) -> dict[str, Any]:
    """Return one claim as plain values."""
    return _row(comparison, claim, _means(comparison))


def claim_rows(comparison: Comparison) -> list[dict[str, Any]]:
    """Return all claims as plain values."""
    means = _means(comparison)
    return [_row(comparison, claim, means) for claim in comparison.claims]


def _means(comparison: Comparison) -> dict[str, float]:
    return {system.name: system.mean.estimate for system in comparison.systems}


def _row(comparison: Comparison, claim: Claim, means: dict[str, float]) -> dict[str, Any]:
    row: dict[str, Any] = {
        "measure": comparison.scores.measure,
        "first": claim.first,
        "second": claim.second,
        "n": len(comparison.scores.units),
        "first_mean": means[claim.first],
        "second_mean": means[claim.second],
        "difference": claim.difference.estimate,
        "low": claim.difference.low,
        "high": claim.difference.high,
        "interval": claim.difference.method,
        "coverage": comparison.coverage,
        "p_adjusted": claim.adjusted,
        "p_adjusted_error": claim.adjusted_error,
        "correction": comparison.advice.correction or "none",
        "significant": bool(claim.adjusted <= comparison.alpha),
    }
    for outcome in claim.outcomes:
        row[f"p_{outcome.test}"] = outcome.p
    if comparison.machine is not None:
        row |= _machine_columns(comparison.machine.differences[comparison.claims.index(claim)])
    return row | {f"effect_{key}": value for key, value in claim.effects._asdict().items()}


def _machine_columns(difference: Combined) -> dict[str, Any]:
    """Return the human-only and machine-only difference of a claim, and what the machine adds."""
    return {
        "human_difference": difference.human.estimate,
        "human_low": difference.human.low,
        "human_high": difference.human.high,
        "machine_difference": difference.machine.estimate,
        "machine_weight": difference.weight,
        "machine_n": difference.machine_queries,
        "effective_n": difference.effective,
    }


def note_measures(comparisons: Sequence[Comparison]) -> list[Comparison]:
    """Return the comparisons, with a warning if there are several measures.

    Parameters
    ----------
    comparisons
        Of the same systems on the same units, one per measure.
    """
    measures = list(dict.fromkeys(one.scores.measure for one in comparisons))
    if len(measures) < 2:
        return list(comparisons)
    return [_with_measures(one, measures) for one in comparisons]


def _with_measures(comparison: Comparison, measures: list[str]) -> Comparison:
    pairs = count_of(len(comparison.claims), "comparison")
    text = (
        f"{len(measures)} measures x {pairs}, each at alpha {comparison.alpha:g}, without a "
        f"correction for the number of measures: use the first, {measures[0]}, as the primary "
        "measure, or record all looks in a ledger"
    )
    notes = distinct([*comparison.warnings, Note("many-measures", text)])
    return replace(comparison, advice=comparison.advice._replace(warnings=notes))

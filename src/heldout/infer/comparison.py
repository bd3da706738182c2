"""The result of a comparison: claims about pairs of systems, and how they were obtained."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, NamedTuple

from heldout.as_json import plain
from heldout.data.frames import Library, frame_of
from heldout.notes import Note, count_of, distinct
from heldout.shown import Reported

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from heldout.data.scores import Scores
    from heldout.infer.analysis import Analysis
    from heldout.infer.blocks import Anova, Friedman, Nemenyi, Sphericity
    from heldout.infer.prediction_powered import Combined
    from heldout.infer.results import Alternative, Interval, Outcome


class SystemRow(NamedTuple):
    """One system: its mean with an interval, and letters shared with systems of its group."""

    name: str
    mean: Interval
    letters: str = ""


class Effects(NamedTuple):
    """Effect sizes of first against second (Cohen 1988, ch. 2; Grissom & Kim 2012, ch. 5)."""

    mean_difference: float
    standardised: float  # Cohen's d_z: the mean over the deviation, which may be 0
    superiority: float  # the share of units that the first wins, ties counting half
    wins: int
    ties: int
    losses: int
    n: int


class Claim(NamedTuple):
    """The comparison of a pair of systems, first minus second."""

    first: str
    second: str
    difference: Interval  # with one bound if the test is one-sided
    outcomes: tuple[Outcome, ...]  # the first gives the verdict
    adjusted: float  # the p-value of the verdict, adjusted for the number of comparisons
    effects: Effects
    adjusted_error: float = 0.0  # the standard error of an adjusted Monte Carlo p-value


class MachineEstimates(NamedTuple):
    """Human-only, machine-only and combined estimates of each system, and of each claim alone."""

    systems: tuple[Combined, ...]
    differences: tuple[Combined, ...]


@dataclass(frozen=True, slots=True, eq=False)
class Comparison(Reported):
    """The comparison of two or more systems on the same units.

    Parameters
    ----------
    scores
        What was compared.
    analysis
        The settings asked for and used, with the reason.
    systems, claims
        The results.
    intervals
        Returns the intervals of the claims at another level, of all or of a slice of them.
    anova, sphericity, friedman
        The analyses of all systems together, for three or more.
    correction_detail
        How a correction that resamples or enumerates computed its p-values.
    linearised
        Whether the score is not a mean over units: the values of the units are then linearised,
        so that they average to the score and vary as it does.
    machine
        With machine judgements: human-only, machine-only and combined estimates.
    warnings
        Warnings and notes.
    """

    scores: Scores
    analysis: Analysis
    systems: tuple[SystemRow, ...]
    claims: tuple[Claim, ...]
    intervals: Callable[..., list[Interval]]
    anova: Anova | None = None
    sphericity: Sphericity | None = None
    friedman: tuple[Friedman, Nemenyi] | None = None
    correction_detail: str = ""
    linearised: bool = False
    machine: MachineEstimates | None = None
    warnings: tuple[Note, ...] = ()

    @property
    def baseline(self) -> str | None:
        """The system that the others are compared with; None for all pairs."""
        return self.analysis.baseline

    @property
    def level(self) -> float:
        """The confidence level of intervals and tests."""
        return self.analysis.level

    @property
    def alpha(self) -> float:
        """The significance level of the tests, 1 - `level`."""
        return self.analysis.alpha

    @property
    def alternative(self) -> Alternative:
        """The alternative of the tests."""
        return self.analysis.alternative

    def rows(self) -> list[dict[str, Any]]:
        """Return all claims as plain values."""
        means = {system.name: system.mean.estimate for system in self.systems}
        rows = []
        for number, claim in enumerate(self.claims):
            row = {
                "measure": self.scores.measure,
                "first": claim.first,
                "second": claim.second,
                "n": len(self.scores.units),
                "first_mean": means[claim.first],
                "second_mean": means[claim.second],
                "difference": claim.difference.estimate,
                "low": claim.difference.low,
                "high": claim.difference.high,
                "interval": claim.difference.method,
                "coverage": self.analysis.coverage,
                "p_adjusted": claim.adjusted,
                "p_adjusted_error": claim.adjusted_error,
                "correction": self.analysis.correction or "none",
                "significant": bool(claim.adjusted <= self.alpha),
                **{f"p_{outcome.test}": outcome.p for outcome in claim.outcomes},
            }
            if self.machine is not None:
                both = self.machine.differences[number]
                row |= {
                    "human_difference": both.human.estimate,
                    "human_low": both.human.low,
                    "human_high": both.human.high,
                    "machine_difference": both.machine.estimate,
                    "machine_weight": both.weight,
                    "machine_n": both.machine_queries,
                    "effective_n": both.effective,
                }
            effects = {f"effect_{key}": value for key, value in claim.effects._asdict().items()}
            rows.append(row | effects)
        return rows

    def to_frame(self, library: Library = "polars") -> Any:
        """Return a frame of Polars (or ``pandas``) with one row per claim."""
        import polars as pl  # slow to import, seldom needed

        return frame_of(pl.DataFrame(self.rows()), library)

    def to_dict(self) -> dict[str, Any]:
        """Return all numbers at full precision, as JSON types, with a sentence per claim."""
        from heldout.report.answers import pair_answer  # the report reads results
        from heldout.report.standing import standing

        scores, analysis, board = self.scores, self.analysis, standing(self)
        claims = zip(self.claims, self.rows(), board.gaps, strict=True)
        content = {
            "measure": scores.measure,
            "units": len(scores.units),
            "units_left_out": scores.dropped,
            "data": scores.data,
            "baseline": self.baseline,
            "level": self.level,
            "alternative": self.alternative,
            "seed": analysis.seed,
            "correction": analysis.correction or "none",
            "correction_detail": self.correction_detail,
            "intervals": analysis.coverage,
            "why": analysis.why,
            "warnings": self.warnings,
            "systems": [
                {"name": row.name, "letters": row.letters, **row.mean._asdict()}
                for row in self.systems
            ],
            "claims": [
                {**row, "tests": claim.outcomes, "sentence": pair_answer(board, gap)}
                for claim, row, gap in claims
            ],
            "anova": self.anova,
            "sphericity": self.sphericity,
            "ranks": self.friedman,
        }
        if self.machine is not None:
            names = (
                [{"name": row.name} for row in self.systems],
                [{"first": claim.first, "second": claim.second} for claim in self.claims],
            )
            content["machine"] = {
                kind: [name | each.to_dict() for name, each in zip(*named, strict=True)]
                for kind, *named in zip(MachineEstimates._fields, names, self.machine, strict=True)
            }
        known: dict[str, Any] = plain(content)
        return known

    def to_latex(self) -> str:
        """Return the table for a paper, which needs the package booktabs."""
        from heldout.report.comparison import paper_text

        return paper_text([self])

    def __repr__(self) -> str:
        systems = ", ".join(self.scores.systems[:3]) + (", …" if len(self.systems) > 3 else "")
        units = count_of(len(self.scores.units), "unit")
        return f"<Comparison of {systems} in {self.scores.measure} on {units}>"


class Comparable:
    """What knows how its systems are to be compared: the results of an experiment."""

    __slots__ = ()
    compare: Callable[..., Comparison]


def note_measures(comparisons: Sequence[Comparison]) -> list[Comparison]:
    """Return comparisons of the same systems, with a warning if there are several measures."""
    measures = list(dict.fromkeys(comparison.scores.measure for comparison in comparisons))
    if len(measures) < 2:
        return list(comparisons)
    noted = []
    for comparison in comparisons:
        pairs = count_of(len(comparison.claims), "comparison")
        text = (
            f"{len(measures)} measures x {pairs}, each at alpha {comparison.alpha:g}, without a "
            f"correction for the number of measures: use the first, {measures[0]}, as the primary "
            "measure, or record all looks in a ledger"
        )
        notes = distinct([*comparison.warnings, Note("many-measures", text)])
        noted.append(replace(comparison, warnings=notes))
    return noted

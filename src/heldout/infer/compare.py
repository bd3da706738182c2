"""Is one system better than another? All that can be said about it, in one object."""

from __future__ import annotations

from dataclasses import dataclass, replace
from itertools import combinations
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from heldout.data.scores import Scores
from heldout.errors import InputError
from heldout.infer.advise import BY_RANK, OWN_TEST, Advice, advise
from heldout.infer.claim_intervals import claim_intervals, interval_coverage
from heldout.infer.claim_tests import Design, adjust_claims, claim_outcomes
from heldout.infer.results import Interval, Outcome, check_tail, count_of
from heldout.notes import Note, distinct

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    import polars as pl

    from heldout.data.scores import Table
    from heldout.infer.blocks import Anova, Sphericity
    from heldout.infer.claim_intervals import Coverage
    from heldout.infer.effects import Effects
    from heldout.infer.folds import FoldF
    from heldout.infer.ranks import Friedman, Nemenyi
    from heldout.infer.results import Tail

__all__ = ["Claim", "Comparison", "SystemRow", "compare", "note_measures"]

REPLICATES = 100_000
STEPWISE = ("holm", "hochberg", "maxt")


class SystemRow(NamedTuple):
    """One system: its mean with an interval, and the letters it shares with systems like it."""

    name: str
    mean: Interval
    letters: str = ""


class Claim(NamedTuple):
    """What can be said about a pair of systems.

    Parameters
    ----------
    first, second
        The systems; differences are first minus second.
    difference
        The mean difference with its interval, which has one bound if the test has one tail.
    outcomes
        The tests, the one that gives the verdict first.
    adjusted
        The p-value of the verdict, adjusted for the number of comparisons.
    effects
        Effect sizes, wins, ties and losses.
    adjusted_error
        The standard error of an adjusted p-value that was drawn; 0 else.
    """

    first: str
    second: str
    difference: Interval
    outcomes: tuple[Outcome, ...]
    adjusted: float
    effects: Effects
    adjusted_error: float = 0.0


@dataclass(frozen=True, slots=True, eq=False)
class Comparison:
    """The comparison of two or more systems on the same units.

    Parameters
    ----------
    scores
        What was compared.
    baseline
        The system that the others are compared with; None for all pairs.
    alpha, tail
        The level of the tests and their alternative.
    advice
        The analysis that was made, why, and what to be careful about.
    systems, claims
        The results.
    anova, sphericity, friedman
        The analyses of all systems together, for three or more.
    seed
        The seed of all that is drawn.
    coverage
        Whether the intervals of the differences hold all at once (``simultaneous``), each alone
        (``unadjusted``), or there is only one (``single``).
    correction_detail
        How a correction that draws or enumerates came to its p-values.
    fold_f
        The analysis of variance, corrected for overlapping folds.
    """

    scores: Scores
    baseline: str | None
    alpha: float
    tail: Tail
    advice: Advice
    systems: tuple[SystemRow, ...]
    claims: tuple[Claim, ...]
    anova: Anova | None
    sphericity: Sphericity | None
    friedman: tuple[Friedman, Friedman, Nemenyi] | None
    seed: int
    coverage: Coverage = "single"
    correction_detail: str = ""
    fold_f: FoldF | None = None

    @property
    def warnings(self) -> tuple[Note, ...]:
        """What a careful reader should know; infos too."""
        return self.advice.warnings

    def to_frame(self) -> pl.DataFrame:
        """A Polars frame with one row a claim."""
        import polars as pl  # slow to import, seldom needed

        return pl.DataFrame([claim_row(self, claim) for claim in self.claims])

    def __repr__(self) -> str:
        systems = ", ".join(self.scores.systems[:3]) + (", …" if len(self.systems) > 3 else "")
        units = count_of(len(self.scores.units), "unit")
        return f"<Comparison of {systems} in {self.scores.measure} on {units}>"

    def __str__(self) -> str:
        """Say what was found in a few lines."""
        from heldout.notebook import comparison_text  # the report reads results

        return comparison_text(self)

    def _repr_html_(self) -> str:
        """Show the claims as tables and a chart in a notebook."""
        from heldout.notebook import comparison_html  # the report reads results

        return comparison_html(self)


def claim_row(comparison: Comparison, claim: Claim) -> dict[str, Any]:
    """One claim as plain values."""
    means = {system.name: system.mean.estimate for system in comparison.systems}
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
    return row | {f"effect_{key}": value for key, value in claim.effects._asdict().items()}


def compare(
    scores: Scores | Table,
    *,
    baseline: str | None = None,
    tests: Sequence[str] = (),
    tail: str = "two",
    alpha: float = 0.05,
    correction: str = "",
    interval: str = "",
    test_share: float | None = None,
    tuned: Sequence[str] = (),
    replicates: int = REPLICATES,
    seed: int = 0,
    progress: Callable[[int, int], None] | None = None,
) -> Comparison:
    """Compare two or more systems on the same units.

    Parameters
    ----------
    scores
        The scores; units are paired by id. Or what `Scores.of` takes: a pandas or Polars frame,
        ``{system: {unit: value}}`` or ``{system: [values]}``.
    baseline
        Compare all others with this system. Of two systems the first is the baseline.
    tests
        ``randomization``, ``t``, ``bootstrap-shift``, ``bootstrap-shift-studentized``,
        ``wilcoxon``, ``sign``, ``mcnemar``, ``corrected-t``; by default those that fit the design.
        The first gives the verdict.
    tail
        ``two``, or ``greater`` / ``less``: is the first of a pair better / worse. Intervals of
        differences then have one bound.
    alpha
        The level of significance; intervals have level 1 - alpha.
    correction
        ``tukey``, ``randomized-tukey``, ``nemenyi`` (all pairs), ``dunnett``, ``dunnett-t`` (with
        a baseline), ``maxt``, ``holm``, ``hochberg``, ``bonferroni``, ``bh``, ``by``; by default
        what fits the design.
    interval
        Of differences: ``t``, ``percentile``, ``bca``, ``randomization`` (inversion of the test);
        by default what belongs to the correction, else ``t``, or ``t`` corrected for folds. Of
        several, all hold at once, unless the correction knows no such intervals (``bh``, ``by``,
        ``nemenyi``).
    test_share
        n_test / n_train, when the units are folds of a cross-validation.
    tuned
        The systems that were tuned; a comparison in which only some were says so.
    replicates, seed
        For tests that draw.
    progress
        Called with the pairs that are tested and the number of all.
    """
    from heldout.infer.effects import effect_sizes  # brings SciPy

    side = check_tail(tail)
    scores = _as_scores(scores)
    _check(scores, alpha, replicates, one_tail=side != "two")
    if len(scores.systems) == 2 and baseline is None:
        baseline = scores.systems[0]
    advice = advise(
        scores,
        tests=tests,
        correction=correction,
        tail=tail,
        baseline=baseline if len(scores.systems) > 2 else None,
        test_share=test_share,
        tuned=tuned,
    )
    design = Design(
        scores,
        _pairs(scores, baseline),
        None if baseline is None else scores.index(baseline),
        advice.correction,
        alpha,
        side,
        test_share,
        replicates,
        seed,
    )
    outcomes = claim_outcomes(design, advice.tests, progress)
    adjusted = adjust_claims(design, outcomes)
    intervals = claim_intervals(design, adjusted, interval)
    # Wins are units on which the first is better, whichever way the measure runs.
    better = scores.values if scores.higher_is_better else -scores.values
    claims = tuple(
        Claim(
            scores.systems[first],
            scores.systems[second],
            intervals[at],
            outcomes[at],
            adjusted.p[at],
            effect_sizes(better[:, first], better[:, second]),
            adjusted.error(at),
        )
        for at, (first, second) in enumerate(design.pairs)
    )
    late = [*_naive_intervals(design, interval), *_disagreements(design, claims)]
    advice = advice._replace(warnings=(*advice.warnings, *late))
    anova, sphericity, friedman = _together(scores, 1 - alpha)
    return Comparison(
        scores,
        baseline,
        alpha,
        side,
        advice,
        _systems(design, adjusted.p if baseline is None else None),
        claims,
        anova,
        sphericity,
        friedman,
        seed,
        interval_coverage(advice.correction),
        adjusted.detail,
        _fold_f(design),
    )


def note_measures(comparisons: Sequence[Comparison]) -> list[Comparison]:
    """The same comparisons, with a warning if several measures are judged, each at alpha.

    Parameters
    ----------
    comparisons
        Of the same systems on the same units, one a measure.
    """
    measures = list(dict.fromkeys(one.scores.measure for one in comparisons))
    if len(measures) < 2:
        return list(comparisons)
    return [_with_measures(one, measures) for one in comparisons]


def _with_measures(comparison: Comparison, measures: list[str]) -> Comparison:
    pairs = count_of(len(comparison.claims), "comparison")
    text = (
        f"{len(measures)} measures x {pairs} are judged each at alpha {comparison.alpha:g}, and "
        f"nothing corrects for the number of measures: take the first, {measures[0]}, as the "
        "primary one, or count all looks with a ledger"
    )
    notes = distinct([*comparison.warnings, Note("many-measures", text)])
    return replace(comparison, advice=comparison.advice._replace(warnings=notes))


def _naive_intervals(design: Design, kind: str) -> list[Note]:
    if design.test_share is None or not kind:
        return []
    text = f"the {kind} interval takes folds for independent: the default one is corrected"
    return [Note("folds-independent", text)]


def _disagreements(design: Design, claims: tuple[Claim, ...]) -> list[Note]:
    """Why 0 is inside an interval beside a significant p, or outside beside another."""
    how = design.correction
    if interval_coverage(how) == "unadjusted":
        return []  # which is said of the intervals, and explains it
    steps: list[str] = []
    other: list[str] = []
    for claim in claims:
        shown = claim.adjusted <= design.alpha
        outside = not claim.difference.low <= 0 <= claim.difference.high
        if shown != outside:
            stepwise = shown and how in STEPWISE
            (steps if stepwise else other).append(f"{claim.first} - {claim.second}")
    found = []
    if steps:
        text = (
            f"{_some(steps)}: significant, though 0 is inside the interval: {how} goes step by "
            "step and finds more than intervals that hold all at once"
        )
        found.append(Note("stepwise", text))
    if other:
        why = _why_they_disagree(design, claims[0].outcomes[0].test)
        text = f"{_some(other)}: test and interval disagree about 0: {why}"
        found.append(Note("disagreement", text))
    return found


def _why_they_disagree(design: Design, test: str) -> str:
    decides = design.correction if design.correction in OWN_TEST else test
    if design.test_share is not None and decides != "corrected-t":
        return f"the interval is corrected for overlapping folds, {decides} is not"
    if decides in BY_RANK:
        return f"{decides} is not about the mean, the interval is"
    return "they are made in different ways and it is close; the test decides"


def _some(names: list[str]) -> str:
    return ", ".join(names[:3]) + (f" and {len(names) - 3:,} more" if len(names) > 3 else "")


def _as_scores(given: Any) -> Scores:
    if isinstance(given, Scores):
        return given
    if callable(getattr(given, "scores", None)):  # an evaluation, results, tuned runs
        raise InputError(
            f"{type(given).__name__} is not a table of scores in one measure: give what its "
            "method scores returns, such as evaluation.scores('nDCG@10')"
        )
    return Scores.of(given)


def _check(scores: Scores, alpha: float, replicates: int, *, one_tail: bool) -> None:
    if len(scores.systems) < 2:
        raise InputError("one system cannot be compared: give at least two")
    if len(scores.units) < 2:
        raise InputError(f"{len(scores.units)} unit in common: at least 2 are needed")
    if not isinstance(alpha, int | float) or not 0 < alpha < 1:
        raise InputError(f"alpha={alpha}: expected a number between 0 and 1")
    if one_tail and alpha >= 0.5:
        raise InputError(f"alpha={alpha}: expected less than 0.5 with one tail")
    if replicates < 100:
        raise InputError(f"replicates={replicates}: at least 100 are needed")


def _pairs(scores: Scores, baseline: str | None) -> tuple[tuple[int, int], ...]:
    """Pairs of systems, the later minus the earlier, or each minus the baseline."""
    if baseline is None:
        columns = range(len(scores.systems))
        return tuple((second, first) for first, second in combinations(columns, 2))
    base = scores.index(baseline)
    return tuple((other, base) for other in range(len(scores.systems)) if other != base)


def _together(scores: Scores, level: float) -> tuple[Any, Any, Any]:
    """What is said of three or more systems at once."""
    from heldout.infer import blocks, ranks  # SciPy

    if len(scores.systems) < 3:
        return None, None, None
    values = scores.values
    # Mauchly's test needs more units than systems.
    enough = len(scores.units) > len(scores.systems)
    sphericity = blocks.sphericity(values) if enough else None
    better_first = values if scores.higher_is_better else -values
    by_rank = (
        ranks.friedman(better_first),
        ranks.iman_davenport(better_first),
        ranks.nemenyi(better_first, level),
    )
    return blocks.anova(values), sphericity, by_rank


def _fold_f(design: Design) -> FoldF | None:
    from heldout.infer.folds import corrected_f  # SciPy

    if design.test_share is None or len(design.scores.systems) < 3:
        return None
    return corrected_f(design.scores.values, design.test_share)


def _systems(design: Design, adjusted: tuple[float, ...] | None) -> tuple[SystemRow, ...]:
    from heldout.infer import tukey  # SciPy

    scores = design.scores
    letters = [""] * len(scores.systems)
    if adjusted is not None and len(scores.systems) > 2:
        different = [
            pair for pair, p in zip(design.pairs, adjusted, strict=True) if p <= design.alpha
        ]
        means = scores.values.mean(axis=0)
        order = np.argsort(-means if scores.higher_is_better else means).tolist()
        letters = tukey.compact_letters(len(scores.systems), different, order)
    return tuple(
        SystemRow(name, _mean_interval(design, at), letters[at])
        for at, name in enumerate(scores.systems)
    )


def _mean_interval(design: Design, at: int) -> Interval:
    """Corrected for folds; Wilson's interval for successes and failures; else t."""
    from heldout.infer import folds, intervals  # SciPy

    scores, level = design.scores, 1 - design.alpha
    values = scores.values[:, at]
    if design.test_share is not None:
        return folds.corrected_t(values, design.test_share, level)
    if set(np.unique(scores.values)) <= {0.0, 1.0}:
        return intervals.wilson(int(values.sum()), len(values), level)
    return intervals.t_interval(values, level)

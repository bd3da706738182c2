"""Is one system better than another? All that can be said about it, in one object."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import combinations
from typing import TYPE_CHECKING, Any, Literal, NamedTuple

import numpy as np

from heldout.errors import InputError
from heldout.infer.advise import ALL_PAIRS, Advice, advise
from heldout.infer.results import Interval, Outcome, check_tail, drop_noise

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    import polars as pl

    from heldout.data.scores import Scores
    from heldout.data.words import Floats
    from heldout.infer.blocks import Anova, Sphericity
    from heldout.infer.effects import Effects
    from heldout.infer.ranks import Friedman, Nemenyi
    from heldout.infer.results import Tail

__all__ = ["Claim", "Comparison", "SystemRow", "compare"]

REPLICATES = 100_000
INTERVALS = ("t", "percentile", "bca", "randomization")


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
        The mean difference with its interval.
    outcomes
        The tests, the one that gives the verdict first.
    adjusted
        The p-value of the verdict, adjusted for the number of comparisons.
    effects
        Effect sizes, wins, ties and losses.
    """

    first: str
    second: str
    difference: Interval
    outcomes: tuple[Outcome, ...]
    adjusted: float
    effects: Effects


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

    def to_frame(self) -> pl.DataFrame:
        """A Polars frame with one row a claim."""
        import polars as pl  # slow to import, seldom needed

        return pl.DataFrame([claim_row(self, claim) for claim in self.claims])

    def _repr_html_(self) -> str:
        """Show the claims as a table in a notebook."""
        from heldout.report.claims import html_claims  # the report reads results

        return html_claims(self)


def claim_row(comparison: Comparison, claim: Claim) -> dict[str, Any]:
    """One claim as plain values."""
    row: dict[str, Any] = {
        "measure": comparison.scores.measure,
        "first": claim.first,
        "second": claim.second,
        "n": len(comparison.scores.units),
        "difference": claim.difference.estimate,
        "low": claim.difference.low,
        "high": claim.difference.high,
        "interval": claim.difference.method,
        "p_adjusted": claim.adjusted,
        "correction": comparison.advice.correction or "none",
        "significant": bool(claim.adjusted <= comparison.alpha),
    }
    for outcome in claim.outcomes:
        row[f"p_{outcome.test}"] = outcome.p
    return row | {f"effect_{key}": value for key, value in claim.effects._asdict().items()}


def compare(
    scores: Scores,
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
) -> Comparison:
    """Compare two or more systems on the same units.

    Parameters
    ----------
    scores
        The scores; units are paired by id.
    baseline
        Compare all others with this system. Of two systems the first is the baseline.
    tests
        ``randomization``, ``t``, ``bootstrap-shift``, ``bootstrap-shift-studentized``,
        ``wilcoxon``, ``sign``, ``mcnemar``, ``corrected-t``; by default those that fit the design.
        The first gives the verdict.
    tail
        ``two``, or ``greater`` / ``less``: is the first of a pair better / worse.
    alpha
        The level of significance; intervals have level 1 - alpha.
    correction
        ``tukey``, ``randomized-tukey``, ``nemenyi`` (all pairs), ``dunnett``, ``dunnett-t`` (with
        a baseline), ``maxt``, ``holm``, ``hochberg``, ``bonferroni``, ``bh``, ``by``; by default
        what fits the design.
    interval
        Of differences: ``t``, ``percentile``, ``bca``, ``randomization`` (inversion of the test);
        by default ``t``, or the simultaneous one of Tukey's test, or the one corrected for folds.
    test_share
        n_test / n_train, when the units are folds of a cross-validation.
    tuned
        The systems that were tuned; a comparison in which only some were says so.
    replicates, seed
        For tests that draw.
    """
    side = check_tail(tail)
    _check(scores, alpha, replicates)
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
    if interval and interval not in INTERVALS:
        raise InputError(f"unknown interval {interval!r}: expected one of {', '.join(INTERVALS)}")
    pairs = _pairs(scores, baseline)
    run = _Runner(scores, advice, side, test_share, replicates=replicates, seed=seed)
    outcomes = [run.outcomes(first, second) for first, second in pairs]
    adjusted = run.adjust(pairs, outcomes, baseline)
    intervals = run.intervals(pairs, 1 - alpha, interval)
    claims = tuple(
        Claim(
            scores.systems[first],
            scores.systems[second],
            intervals[at],
            outcomes[at],
            adjusted[at],
            _effects(scores, first, second),
        )
        for at, (first, second) in enumerate(pairs)
    )
    anova, sphericity, friedman = _together(scores, 1 - alpha)
    rows = _systems(scores, alpha, pairs, adjusted if baseline is None else None)
    return Comparison(
        scores, baseline, alpha, side, advice, rows, claims, anova, sphericity, friedman, seed
    )


def _check(scores: Scores, alpha: float, replicates: int) -> None:
    if len(scores.systems) < 2:
        raise InputError("one system cannot be compared: give at least two")
    if len(scores.units) < 2:
        raise InputError(f"{len(scores.units)} unit in common: at least 2 are needed")
    if not 0 < alpha < 1:
        raise InputError(f"alpha={alpha}: expected a number between 0 and 1")
    if replicates < 100:
        raise InputError(f"replicates={replicates}: at least 100 are needed")


def _pairs(scores: Scores, baseline: str | None) -> list[tuple[int, int]]:
    """Pairs of systems, the later minus the earlier, or each minus the baseline."""
    if baseline is None:
        return [(second, first) for first, second in combinations(range(len(scores.systems)), 2)]
    base = scores.index(baseline)
    return [(other, base) for other in range(len(scores.systems)) if other != base]


def _effects(scores: Scores, first: int, second: int) -> Effects:
    from heldout.infer.effects import effect_sizes  # brings SciPy

    # Wins are units on which the first is better, whichever way the measure runs.
    better = scores.values if scores.higher_is_better else -scores.values
    return effect_sizes(better[:, first], better[:, second])


class _Runner:
    """Runs the tests of one comparison."""

    def __init__(
        self, scores: Scores, advice: Advice, tail: Tail, test_share: float | None, **draws: Any
    ) -> None:
        self._scores = scores
        self._advice = advice
        # "greater" means better, whichever way the measure runs.
        turned: dict[Tail, Tail] = {"two": "two", "greater": "less", "less": "greater"}
        self._tail = tail if scores.higher_is_better else turned[tail]
        self._test_share = test_share
        self._draws = draws

    def _difference(self, first: int, second: int) -> Floats:
        return drop_noise(self._scores.values[:, first], self._scores.values[:, second])

    def outcomes(self, first: int, second: int) -> tuple[Outcome, ...]:
        """All tests on one pair."""
        return tuple(self._outcome(test, first, second) for test in self._advice.tests)

    def _outcome(self, test: str, first: int, second: int) -> Outcome:
        from heldout.infer import bootstrap, paired, randomization  # SciPy

        gaps = self._difference(first, second)
        if test == "mcnemar":
            columns = self._scores.values[:, first], self._scores.values[:, second]
            return paired.mcnemar_test(*columns, tail=self._tail)
        if test == "corrected-t":
            if self._test_share is None:
                raise InputError(
                    "corrected-t is for folds of a cross-validation: say how large a fold is "
                    "beside its training side (--test-share, for 10 folds 0.1111)"
                )
            return paired.corrected_t_test(gaps, self._test_share, tail=self._tail)
        if test == "randomization":
            return randomization.randomization_test(gaps, tail=self._tail, **self._draws)
        if test.startswith("bootstrap-shift"):
            studentized = test.endswith("studentized")
            return bootstrap.shift_test(
                gaps, tail=self._tail, studentized=studentized, **self._draws
            )
        plain: dict[str, Callable[..., Outcome]] = {
            "t": paired.t_test,
            "wilcoxon": paired.wilcoxon_test,
            "sign": paired.sign_test,
        }
        return plain[test](gaps, tail=self._tail)

    def adjust(
        self,
        pairs: list[tuple[int, int]],
        outcomes: list[tuple[Outcome, ...]],
        baseline: str | None,
    ) -> list[float]:
        """The p-values of the verdict, adjusted for the number of comparisons."""
        from heldout.infer import multiplicity  # SciPy

        how = self._advice.correction
        if how in ALL_PAIRS:
            return self._all_pairs(how, pairs)
        if how in {"maxt", "dunnett", "dunnett-t"}:
            base = None if baseline is None else self._scores.index(baseline)
            return self._many_to_one(how, pairs, base)
        raw = [tests[0].p for tests in outcomes]
        return [float(p) for p in multiplicity.adjust(raw, how or "none")]

    def _all_pairs(self, how: str, pairs: list[tuple[int, int]]) -> list[float]:
        from heldout.infer import randomized_blocks, ranks, tukey  # SciPy

        values = self._scores.values
        if how == "tukey":
            found = {(one.first, one.second): one.p for one in tukey.tukey_hsd(values)}
            return [found[pair] if pair in found else found[pair[::-1]] for pair in pairs]
        if how == "nemenyi":
            matrix = ranks.nemenyi(values).p
            return [float(matrix[pair]) for pair in pairs]
        table = randomized_blocks.randomized_tukey(values, **self._draws)
        return [table[pair] for pair in pairs]

    def _many_to_one(self, how: str, pairs: list[tuple[int, int]], base: int | None) -> list[float]:
        from heldout.infer import max_t, tukey  # SciPy

        values = self._scores.values
        side = self._tail if base is not None else "two"
        if base is None or how == "maxt":
            table = max_t.max_t(values, baseline=base, tail=side, **self._draws)
            return [table[pair] for pair in pairs]
        if how == "dunnett":
            table = max_t.dunnett(values, base, tail=side, **self._draws)
            return [table[pair] for pair in pairs]
        found = {one.first: one.p for one in tukey.dunnett_blocks(values, base, tail=side)}
        return [found[first] for first, _ in pairs]

    def intervals(
        self, pairs: list[tuple[int, int]], level: float, kind: str = ""
    ) -> list[Interval]:
        """Intervals of the mean differences: simultaneous ones for Tukey, t intervals else."""
        from heldout.infer import folds, tukey  # SciPy

        if not kind and self._advice.correction in {"tukey", "randomized-tukey"}:
            table = tukey.tukey_hsd(self._scores.values, level)
            found = {(one.first, one.second): one for one in table}
            return [_tukey_interval(found, pair, level) for pair in pairs]
        gaps = [self._difference(first, second) for first, second in pairs]
        if not kind and self._test_share is not None:
            return [folds.corrected_t(gap, self._test_share, level) for gap in gaps]
        return [self._interval(gap, level, kind or "t") for gap in gaps]

    def _interval(self, gap: Floats, level: float, kind: str) -> Interval:
        from heldout.infer import bootstrap, intervals, randomization  # SciPy

        if kind == "t":
            return intervals.t_interval(gap, level)
        if kind == "randomization":
            return randomization.randomization_interval(gap, level=level, **self._draws)
        bounds: Literal["percentile", "bca"] = "percentile" if kind == "percentile" else "bca"
        return bootstrap.bootstrap_interval(gap, kind=bounds, level=level, **self._draws)


def _tukey_interval(found: dict[Any, Any], pair: tuple[int, int], level: float) -> Interval:
    """The simultaneous interval of a pair, whichever way round it was computed."""
    if pair in found:
        one = found[pair]
        return Interval(one.difference, one.low, one.high, level, "Tukey")
    one = found[pair[::-1]]
    return Interval(-one.difference, -one.high, -one.low, level, "Tukey")


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


def _systems(
    scores: Scores, alpha: float, pairs: list[tuple[int, int]], adjusted: list[float] | None
) -> tuple[SystemRow, ...]:
    from heldout.infer import tukey  # SciPy

    letters = [""] * len(scores.systems)
    if adjusted is not None and len(scores.systems) > 2:
        different = [pair for pair, p in zip(pairs, adjusted, strict=True) if p <= alpha]
        means = scores.values.mean(axis=0)
        order = np.argsort(-means if scores.higher_is_better else means).tolist()
        letters = tukey.compact_letters(len(scores.systems), different, order)
    return tuple(
        SystemRow(name, _mean_interval(scores, at, 1 - alpha), letters[at])
        for at, name in enumerate(scores.systems)
    )


def _mean_interval(scores: Scores, at: int, level: float) -> Interval:
    """Wilson's interval for successes and failures, else t."""
    from heldout.infer import intervals  # SciPy

    values = scores.values[:, at]
    if set(np.unique(scores.values)) <= {0.0, 1.0}:
        return intervals.wilson(int(values.sum()), len(values), level)
    return intervals.t_interval(values, level)

"""Systems sorted by their scores, with the differences between them.

Terminal, page, notebook, paper table and charts all read a `Standing`; none of them looks into a
comparison or an experiment, and none decides again which system is the best.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, NamedTuple

from heldout.infer.analysis import BY_RANK
from heldout.infer.comparison import Comparison

if TYPE_CHECKING:
    from collections.abc import Iterable

    from heldout.experiment.results.results import Results
    from heldout.infer.comparison import Claim


class Row(NamedTuple):
    """A system: its score with an interval, and the letters of groups without a difference."""

    name: str
    score: float | None
    low: float | None = None
    high: float | None = None
    group: str = ""
    judged: float | None = None  # share of its first documents that have a judgement


class Gap(NamedTuple):
    """The difference between two systems, first minus second."""

    first: str
    second: str
    value: float
    low: float  # infinite where the interval is open
    high: float
    significant: bool
    p: float | None = None  # adjusted; None where only an interval is known
    tests: tuple[tuple[str, float], ...] = ()  # each test by itself
    counts: tuple[int, int, int] | None = None  # units won, tied and lost by the first
    effect: float | None = None  # d_z
    mixed: bool = False  # a test by ranks points the other way than the means

    def reversed(self) -> Gap:
        """Second minus first."""
        return self._replace(
            first=self.second,
            second=self.first,
            value=-self.value,
            low=-self.high,
            high=-self.low,
            counts=self.counts and (self.counts[2], self.counts[1], self.counts[0]),
            effect=None if self.effect is None else -self.effect,
        )


class Standing(NamedTuple):
    """Systems in one measure, the best first; those without a score come last."""

    measure: str
    up: bool  # higher scores are better
    rows: tuple[Row, ...]
    gaps: tuple[Gap, ...]
    level: float
    baseline: str | None = None  # None: all pairs were compared
    alternative: str = "two-sided"
    simultaneous: bool = False  # the intervals of all differences hold at once
    size: str = ""  # "50 queries"
    where: str = ""  # "on new documents"

    @property
    def names(self) -> list[str]:
        """All systems, the best first."""
        return [row.name for row in self.rows]

    def row(self, name: str) -> Row:
        """The row of a system."""
        return next(row for row in self.rows if row.name == name)

    @property
    def reference(self) -> str | None:
        """The system that the others are shown against: the baseline, or the best."""
        compared = {name for gap in self.gaps for name in (gap.first, gap.second)}
        return self.baseline or next((name for name in self.names if name in compared), None)

    def against(self, reference: str) -> dict[str, Gap]:
        """For each other system its difference to the reference, the best system first."""
        gaps = {}
        for gap in self.gaps:
            if gap.second == reference:
                gaps[gap.first] = gap
            elif gap.first == reference:
                gaps[gap.second] = gap.reversed()
        return {name: gaps[name] for name in self.names if name in gaps}

    def ranked_gaps(self) -> list[Gap]:
        """All differences, the better system first in each."""
        place = {name: number for number, name in enumerate(self.names)}
        gaps = (g if place[g.first] < place[g.second] else g.reversed() for g in self.gaps)
        return sorted(gaps, key=lambda gap: (place[gap.first], place[gap.second]))

    def asked(self, gap: Gap) -> Gap:
        """The better system first, unless a one-sided test asked about one of them."""
        given = self.alternative != "two-sided" or gap.value == 0 or self.better(gap)
        return gap if given else gap.reversed()

    def better(self, gap: Gap) -> bool:
        """Whether the first system of a difference has the better score."""
        return (gap.value > 0) == self.up

    def decided(self, gap: Gap) -> bool:
        """Whether a difference is significant and has a direction."""
        return gap.significant and not gap.mixed


def standing(
    of: Comparison | Results, measure: str | None = None, compared: Comparison | None = None
) -> Standing:
    """The standing of a comparison, or of results in a measure, in which they are `compared`."""
    if isinstance(of, Comparison):
        return _of_comparison(of)
    return _of_results(of, measure or of.measures[0], compared)


def _sorted(rows: Iterable[Row], *, up: bool) -> tuple[Row, ...]:
    def key(row: Row) -> tuple[bool, float, str]:
        if row.score is None or not math.isfinite(row.score):
            return True, 0.0, row.name
        return False, -row.score if up else row.score, row.name

    return tuple(sorted(rows, key=key))


def _of_comparison(comparison: Comparison) -> Standing:
    scores, up = comparison.scores, comparison.scores.higher_is_better
    judged = scores.judged or [None] * len(comparison.systems)
    rows = (
        Row(system.name, *system.mean[:3], system.letters, share)
        for system, share in zip(comparison.systems, judged, strict=True)
    )
    return Standing(
        scores.measure,
        up,
        _sorted(rows, up=up),
        tuple(_gap(comparison, claim) for claim in comparison.claims),
        comparison.level,
        comparison.baseline if len(comparison.systems) > 2 else None,
        comparison.alternative,
        comparison.analysis.coverage == "simultaneous",
        scores.size,
    )


def _gap(comparison: Comparison, claim: Claim) -> Gap:
    difference, effects = claim.difference, claim.effects
    significant = bool(claim.adjusted <= comparison.alpha)
    better = (difference.estimate > 0) == comparison.scores.higher_is_better
    by_rank = comparison.analysis.tests[0] in BY_RANK
    return Gap(
        *claim[:2],
        *difference[:3],
        significant,
        float(claim.adjusted),
        tuple((outcome.test, outcome.p) for outcome in claim.outcomes),
        (effects.wins, effects.ties, effects.losses),
        effects.standardised if math.isfinite(effects.standardised) else None,
        significant and by_rank and better != (effects.wins > effects.losses),
    )


def is_up(results: Results, measure: str) -> bool:
    """Whether more is better; also if the measure has no direction."""
    return results.higher_is_better(measure) is not False


def _of_results(results: Results, measure: str, compared: Comparison | None) -> Standing:
    """Held-out estimates; their differences are for the same new data as the estimates."""
    settings, groups = results.manifest["settings"], dict[str, str]()
    if compared is None or settings["by"] in {"document", "both"}:
        baseline = settings["baseline"] if len(results.systems) > 2 else None
        gaps = tuple(
            Gap(
                *(system["name"], other["system"], other["difference"]),
                *(other["low"], other["high"], not other["low"] <= 0 <= other["high"]),
            )
            for system in results.summary
            for other in system.get("differences", ())
            if other["measure"] == measure
            and (baseline is None or baseline in {system["name"], other["system"]})
        )
        board = Standing(measure, is_up(results, measure), (), gaps, results.level, baseline)
    else:  # for new documents a comparison over queries would answer another question
        board = _of_comparison(compared)
        groups = {row.name: row.group for row in board.rows}
    rows = []
    for name in results.systems:
        estimate = results.estimate(name, measure)
        bounds = estimate["low"], estimate["high"]
        rows.append(Row(name, estimate["value"], *bounds, groups.get(name, "")))
    ranked = _sorted(rows, up=board.up)
    return board._replace(rows=ranked, level=results.level, where=_where(results))


def _where(results: Results) -> str:
    """What the held-out scores are for."""
    by = results.manifest["settings"]["by"]
    if results.task != "ranking":
        return "on rows not used for training"
    if by != "query":
        return "on new documents" if by == "document" else "on new queries and new documents"
    tuned = any(system["tuned"] for system in results.summary)
    return "on queries not used for tuning" if tuned else "on held-out queries"

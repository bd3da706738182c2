"""Systems sorted by their scores, with the differences between them."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, NamedTuple

from heldout.infer.analysis import BY_RANK
from heldout.report.page.directions import more_is_better

if TYPE_CHECKING:
    from collections.abc import Sequence

    from heldout.experiment.results.results import Results
    from heldout.infer.comparison import Claim, Comparison
    from heldout.infer.results import Interval

__all__ = ["Board", "Gap", "Row", "board_of_comparison", "board_of_results", "bracket"]


class Row(NamedTuple):
    """One system: its score with an interval.

    Parameters
    ----------
    name
        Of the system.
    value, low, high
        The score and its interval; None where there is none.
    letters
        Groups of systems that are not significantly different.
    judged
        Share of the first ten documents that is judged; None if not known.
    """

    name: str
    value: float | None
    low: float | None
    high: float | None
    letters: str = ""
    judged: float | None = None


class Gap(NamedTuple):
    """The difference between two systems, first minus second.

    Parameters
    ----------
    first, second
        The systems.
    estimate, low, high
        The difference and its interval; infinite where it is open.
    significant
        Whether it differs significantly from 0.
    p
        The adjusted p-value; None where there is only an interval.
    counts
        Units on which first is better, equal, worse; None if not known.
    mixed
        Whether a test by ranks points the other way than the means.
    """

    first: str
    second: str
    estimate: float
    low: float
    high: float
    significant: bool
    p: float | None = None
    counts: tuple[int, int, int] | None = None
    mixed: bool = False

    def flipped(self) -> Gap:
        """The same difference, second minus first."""
        counts = None if self.counts is None else (self.counts[2], self.counts[1], self.counts[0])
        return self._replace(
            first=self.second,
            second=self.first,
            estimate=-self.estimate,
            low=-self.high,
            high=-self.low,
            counts=counts,
        )


class Board(NamedTuple):
    """Systems sorted by one measure, the best first.

    Parameters
    ----------
    measure
        Its name.
    up
        Whether more is better.
    rows
        The systems, the best first; those without a score come last.
    gaps
        Differences of pairs.
    level
        Confidence level of the intervals.
    baseline
        The system that the others are compared with; None: all pairs.
    one_sided
        Which alternative was tested, ``better`` or ``worse``; empty for both.
    simultaneous
        Whether the intervals of the differences hold all at once.
    """

    measure: str
    up: bool
    rows: tuple[Row, ...]
    gaps: tuple[Gap, ...]
    level: float
    baseline: str | None = None
    one_sided: str = ""
    simultaneous: bool = False

    def row(self, name: str) -> Row:
        """The row of a system."""
        return next(one for one in self.rows if one.name == name)

    @property
    def reference(self) -> str | None:
        """The system that the table shows differences to: the baseline, or the best."""
        if not self.gaps:
            return None
        if self.baseline is not None:
            return self.baseline
        if len(self.gaps) == 1 and self.one_sided:
            return self.gaps[0].second
        compared = {name for gap in self.gaps for name in (gap.first, gap.second)}
        return next(one.name for one in self.rows if one.name in compared)

    def differences(self) -> dict[str, Gap]:
        """For each system its difference to the reference."""
        base = self.reference
        found = {}
        for gap in self.gaps:
            if base == gap.second:
                found[gap.first] = gap
            elif base == gap.first:
                found[gap.second] = gap.flipped()
        return found

    def ordered(self) -> list[Gap]:
        """All differences, the system with the better score first."""
        place = {row.name: at for at, row in enumerate(self.rows)}
        better = [
            gap if place[gap.first] < place[gap.second] else gap.flipped() for gap in self.gaps
        ]
        return sorted(better, key=lambda gap: (place[gap.first], place[gap.second]))


def bracket(low: float | None, high: float | None, form: str = "z.4f") -> str:
    """An interval as it is printed; a side that is open ends at infinity.

    Examples
    --------
    >>> bracket(0.1, 0.25), bracket(0.1, float("inf"), "+.2f"), bracket(None, None)
    ('[0.1000, 0.2500]', '[+0.10, ∞)', '—')
    """
    if low is None or high is None:
        return "—"
    left = f"[{low:{form}}" if math.isfinite(low) else "(-∞"
    right = f"{high:{form}}]" if math.isfinite(high) else "∞)"
    return f"{left}, {right}"


def _sorted(rows: Sequence[Row], *, up: bool) -> tuple[Row, ...]:
    sign = -1 if up else 1

    def key(row: Row) -> tuple[bool, float]:
        known = row.value is not None and math.isfinite(row.value)
        return (not known, sign * row.value if known and row.value is not None else 0.0)

    return tuple(sorted(rows, key=key))


def _bounds(interval: Interval) -> tuple[float | None, float | None]:
    return (None, None) if math.isnan(interval.low) else (interval.low, interval.high)


def board_of_comparison(comparison: Comparison) -> Board:
    """The systems of a comparison, sorted by their means."""
    scores = comparison.scores
    judged = scores.judged or (None,) * len(comparison.systems)
    rows = [
        Row(one.name, one.mean.estimate, *_bounds(one.mean), one.letters, share)
        for one, share in zip(comparison.systems, judged, strict=True)
    ]
    baseline = comparison.baseline if len(comparison.systems) > 2 else None
    return Board(
        scores.measure,
        scores.higher_is_better,
        _sorted(rows, up=scores.higher_is_better),
        tuple(_gap(comparison, claim) for claim in comparison.claims),
        comparison.systems[0].mean.level,
        baseline,
        {"greater": "better", "less": "worse"}.get(comparison.alternative, ""),
        comparison.analysis.coverage == "simultaneous",
    )


def _gap(comparison: Comparison, claim: Claim) -> Gap:
    found, effects = claim.difference, claim.effects
    significant = bool(claim.adjusted <= comparison.alpha)
    better = (found.estimate > 0) == comparison.scores.higher_is_better
    by_rank = comparison.analysis.tests[0] in BY_RANK
    return Gap(
        claim.first,
        claim.second,
        found.estimate,
        found.low,
        found.high,
        significant,
        float(claim.adjusted),
        (effects.wins, effects.ties, effects.losses),
        significant and by_rank and better != (effects.wins > effects.losses),
    )


def board_of_results(results: Results, measure: str, comparison: Comparison | None) -> Board:
    """The held-out estimates of an experiment, sorted, with the differences that were asked for.

    Parameters
    ----------
    results
        Of an experiment.
    measure
        One of its measures.
    comparison
        Of the systems in this measure, if there is one. For new documents the differences of the
        results themselves are shown: the comparison is about new queries.
    """
    up = more_is_better(results, measure)
    letters = {} if comparison is None else {one.name: one.letters for one in comparison.systems}
    documents = results.manifest["settings"]["by"] == "document"
    rows = []
    for name in results.systems:
        found = results.estimate(name, measure)
        shown = "" if documents else letters.get(name, "")
        rows.append(Row(name, found["value"], found["low"], found["high"], shown))
    ordered = _sorted(rows, up=up)
    if documents or comparison is None:
        gaps = tuple(_document_gaps(results, measure))
        baseline = results.manifest["settings"]["baseline"] if len(rows) > 2 else None
        if baseline is not None:
            gaps = tuple(one for one in gaps if baseline in {one.first, one.second})
        return Board(measure, up, ordered, gaps, results.level, baseline)
    board = board_of_comparison(comparison)
    return board._replace(rows=ordered, level=results.level)


def _document_gaps(results: Results, measure: str) -> list[Gap]:
    return [
        Gap(
            one["name"],
            found["system"],
            found["difference"],
            found["low"],
            found["high"],
            not found["low"] <= 0 <= found["high"],
        )
        for one in results.summary
        for found in one.get("differences", ())
        if found["measure"] == measure
    ]

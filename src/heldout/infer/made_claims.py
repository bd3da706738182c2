"""Comparisons whose tests and intervals are made elsewhere: of scores that are no means.

`heldout.compare` tests means over units. F1, R², corpus BLEU or an AUC is none, but everything
else about a claim is the same: which pairs, the tail, the correction, the words, the ledger.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Final, Protocol

import numpy as np

from heldout.data.notes import named_few
from heldout.errors import InputError
from heldout.infer.advise import OWN_TEST, SHIFT_NEEDS, advise
from heldout.infer.claim_intervals import interval_coverage
from heldout.infer.compare import Claim, Comparison, SystemRow
from heldout.infer.effects import effect_sizes
from heldout.infer.multiplicity import adjust
from heldout.infer.results import check_tail
from heldout.infer.tukey import compact_letters
from heldout.notes import Note

if TYPE_CHECKING:
    from collections.abc import Sequence

    from heldout.data.scores import Scores
    from heldout.infer.effects import Effects
    from heldout.infer.results import Interval, Outcome, Tail

__all__ = ["Maker", "made_comparison"]

STEPWISE: Final = ("holm", "hochberg")

_TURNED: Final[dict[Tail, Tail]] = {"two": "two", "greater": "less", "less": "greater"}


class Maker(Protocol):
    """What makes the tests and intervals of a kind of score."""

    @property
    def tests(self) -> tuple[str, ...]:
        """The tests it has, the one that decides first."""

    @property
    def why(self) -> str:
        """Why they are taken, in a clause."""

    def outcome(self, test: str, pair: tuple[int, int], tail: Tail) -> Outcome:
        """A test of the first minus the second system of a pair."""

    def difference(self, pair: tuple[int, int], level: float) -> Interval:
        """The interval of the difference."""

    def system(self, at: int, level: float) -> Interval:
        """The score of a system with its interval."""

    def signs(self, pair: tuple[int, int]) -> tuple[int, int]:
        """The numbers of units that speak for the first system, and for the second."""


def made_comparison(
    scores: Scores,
    maker: Maker,
    *,
    baseline: str | None = None,
    tests: Sequence[str] = (),
    tail: str = "two",
    alpha: float = 0.05,
    correction: str = "",
    tuned: Sequence[str] = (),
    seed: int = 0,
) -> Comparison:
    """A comparison like that of `heldout.compare`, with tests and intervals of a maker.

    Parameters
    ----------
    scores
        Values of units that average to the score of a system and vary as it does (linearised by
        the jackknife): for effect sizes and gates.
    maker
        Of tests and intervals.
    baseline, tests, tail, alpha, correction, tuned, seed
        As for `heldout.compare`; corrections that are tests of their own do not exist here.
    """
    side = check_tail(tail)
    several = len(scores.systems) > 2
    _check(scores, maker, tests, correction, alpha, one_tail=side != "two")
    if not several and baseline is None:
        baseline = scores.systems[0]
    advice = advise(
        scores,
        correction=correction or ("holm" if several else ""),
        tail=tail,
        baseline=baseline if several else None,
        tuned=tuned,
    )
    chosen = tuple(dict.fromkeys(tests)) or maker.tests
    why = f"{scores.measure} {maker.why}"
    why += f"; {advice.correction} corrects for the number of comparisons" if several else ""
    advice = advice._replace(tests=chosen, why=why + ".")
    pairs = _pairs(scores, baseline)
    numeric = side if scores.higher_is_better else _TURNED[side]
    outcomes = [
        tuple(maker.outcome(test, pair, numeric)._replace(tail=side) for test in chosen)
        for pair in pairs
    ]
    adjusted = adjust([one[0].p for one in outcomes], advice.correction or "none")
    shared = len(pairs) if interval_coverage(advice.correction) == "simultaneous" else 1
    level = 1 - alpha / shared if side == "two" else 1 - 2 * alpha / shared
    claims = tuple(
        Claim(
            scores.systems[pair[0]],
            scores.systems[pair[1]],
            _open(maker.difference(pair, level), numeric, 1 - alpha, shared),
            outcomes[at],
            float(adjusted[at]),
            _effects(scores, pair, maker),
        )
        for at, pair in enumerate(pairs)
    )
    late = [*_few_units(scores, chosen), *_disagreements(claims, advice.correction, alpha)]
    advice = advice._replace(warnings=(*advice.warnings, *late))
    return Comparison(
        scores,
        baseline,
        alpha,
        side,
        advice,
        _systems(scores, maker, pairs, claims, alpha, letters=baseline is None),
        claims,
        None,
        None,
        None,
        seed,
        interval_coverage(advice.correction),
    )


def _check(
    scores: Scores,
    maker: Maker,
    tests: Sequence[str],
    correction: str,
    alpha: float,
    *,
    one_tail: bool,
) -> None:
    if len(scores.systems) < 2:
        raise InputError("one system cannot be compared: give at least two")
    if len(scores.units) < 2:
        raise InputError(f"{len(scores.units)} unit in common: at least 2 are needed")
    if not 0 < alpha < (0.5 if one_tail else 1):
        raise InputError(f"alpha={alpha}: expected a number between 0 and 1 (0.5 with one tail)")
    for test in tests:
        if test not in maker.tests:
            raise InputError(
                f"{scores.measure} {maker.why}: it is compared by {' or '.join(maker.tests)}, not "
                f"by {test}"
            )
    if correction in OWN_TEST:
        raise InputError(
            f"{correction} is a test of means, and {scores.measure} is none: take holm, hochberg, "
            "bonferroni, bh or by"
        )


def _few_units(scores: Scores, tests: tuple[str, ...]) -> list[Note]:
    units = len(scores.units)
    if "bootstrap-shift" not in tests or units >= SHIFT_NEEDS:
        return []
    decides = "" if tests[0] == "bootstrap-shift" else f"; {tests[0]} decides"
    text = f"bootstrap-shift and the intervals are too sure with {units} units{decides}"
    return [Note("bootstrap-shift", text)]


def _disagreements(claims: tuple[Claim, ...], correction: str, alpha: float) -> list[Note]:
    """Where 0 is inside an interval beside a significant p, or outside beside another."""
    if interval_coverage(correction) == "unadjusted":
        return []  # which is said of the intervals, and explains it
    odd = [
        f"{one.first} - {one.second}"
        for one in claims
        if (one.adjusted <= alpha) != (not one.difference.low <= 0 <= one.difference.high)
    ]
    if not odd:
        return []
    stepwise = f"{correction} goes step by step, the intervals hold all at once, and " * (
        correction in STEPWISE
    )
    pairs = named_few(odd, len(odd), 3)
    why = f"{stepwise}they are made in different ways; the test decides"
    return [Note("disagreement", f"{pairs}: test and interval disagree about 0: {why}")]


def _pairs(scores: Scores, baseline: str | None) -> list[tuple[int, int]]:
    columns = range(len(scores.systems))
    if baseline is not None:
        base = scores.index(baseline)
        return [(other, base) for other in columns if other != base]
    return [(second, first) for first in columns for second in columns if second > first]


def _open(interval: Interval, side: Tail, level: float, shared: int) -> Interval:
    """An interval at the level that was asked for, open where a one-tailed test is."""
    method = f"{interval.method}, Bonferroni" if shared > 1 else interval.method
    low = -math.inf if side == "less" else interval.low
    high = math.inf if side == "greater" else interval.high
    return interval._replace(low=low, high=high, level=level, method=method)


def _effects(scores: Scores, pair: tuple[int, int], maker: Maker) -> Effects:
    sign = 1.0 if scores.higher_is_better else -1.0
    found = effect_sizes(*(sign * scores.values[:, at] for at in pair))
    wins, losses = maker.signs(pair)
    if not scores.higher_is_better:
        wins, losses = losses, wins
    ties = found.n - wins - losses
    share = (wins + ties / 2) / found.n
    return found._replace(wins=wins, ties=ties, losses=losses, superiority=share)


def _systems(
    scores: Scores,
    maker: Maker,
    pairs: list[tuple[int, int]],
    claims: tuple[Claim, ...],
    alpha: float,
    *,
    letters: bool,
) -> tuple[SystemRow, ...]:
    marks = [""] * len(scores.systems)
    means = [maker.system(at, 1 - alpha) for at in range(len(scores.systems))]
    if letters and len(scores.systems) > 2:
        different = [pair for pair, one in zip(pairs, claims, strict=True) if one.adjusted <= alpha]
        values = np.array([one.estimate for one in means])
        order = np.argsort(-values if scores.higher_is_better else values).tolist()
        marks = compact_letters(len(scores.systems), different, order)
    return tuple(SystemRow(name, means[at], marks[at]) for at, name in enumerate(scores.systems))

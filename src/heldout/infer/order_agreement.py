"""How far two sets of scores agree: on the order of the systems, and on the verdicts about them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, Literal, NamedTuple

import numpy as np

from heldout.errors import InputError
from heldout.infer.draws import check_draws
from heldout.infer.results import TIE, Interval, check_level
from heldout.measure.rank_correlation import PERSISTENCE, batch_correlations

if TYPE_CHECKING:
    from heldout.data.scores import Scores
    from heldout.data.words import Floats, Ints
    from heldout.infer.comparison import Claim, Comparison

__all__ = [
    "OrderAgreement",
    "Verdict",
    "VerdictChange",
    "order_agreement",
    "verdict_changes",
]

REPLICATES: Final = 2_000
"""Bootstrap samples of the units; correlations of few systems have few values anyway."""

JOINED: Final = "bootstrap, percentile and basic joined"

_BLOCK: Final = 2**22

Verdict = Literal["better", "worse", "no difference"]
"""Of a pair of systems: the first is significantly better, or worse, or neither."""


class OrderAgreement(NamedTuple):
    """How far two sets of scores agree on the order of the same systems.

    Parameters
    ----------
    systems, units
        The numbers of systems, and of units (queries) that both have.
    kendall, tau_ap, rbo, spearman, pearson
        The correlations with their intervals. For `tau_ap` the first order is the truth.
    """

    systems: int
    units: int
    kendall: Interval
    tau_ap: Interval
    rbo: Interval
    spearman: Interval
    pearson: Interval


class VerdictChange(NamedTuple):
    """A pair of systems with different verdicts.

    Parameters
    ----------
    first, second
        The systems.
    verdicts
        Whether `first` is better or worse than `second` in the two comparisons.
    p
        The adjusted p-values of the two comparisons.
    """

    first: str
    second: str
    verdicts: tuple[Verdict, Verdict]
    p: tuple[float, float]

    @property
    def reversed(self) -> bool:
        """Whether both verdicts are significant, in opposite directions."""
        return "no difference" not in self.verdicts


def order_agreement(
    first: Scores,
    second: Scores,
    *,
    level: float = 0.95,
    p: float = PERSISTENCE,
    replicates: int = REPLICATES,
    seed: int = 0,
) -> OrderAgreement:
    """Return rank correlations of the systems' mean scores, with intervals over the units.

    The units are resampled for both sets of scores at once. The interval is the union of the
    percentile and the basic bootstrap interval: a resample adds noise to both orders, so that its
    correlations are too low, and the percentile interval alone would exclude the true correlation
    of many systems too often.

    Parameters
    ----------
    first, second
        Scores of the same systems: in two measures, or under two sets of judgements.
    level
        The confidence level.
    p
        Of rank-biased overlap: the probability to continue to the next rank.
    replicates, seed
        Of the bootstrap.

    Examples
    --------
    >>> from heldout import Scores
    >>> ap = Scores.of({"A": [0.1, 0.3, 0.2], "B": [0.2, 0.4, 0.5], "C": [0.6, 0.5, 0.7]})
    >>> rr = Scores.of({"A": [0.1, 0.5, 0.5], "B": [0.2, 0.2, 0.5], "C": [1.0, 1.0, 0.5]})
    >>> order_agreement(ap, rr).kendall.estimate
    0.3333333333333333
    """
    check_level(level)
    check_draws(replicates, seed)
    x, y = _paired(first, second)
    estimates = batch_correlations(_means(x, None), _means(y, None), p)
    source = np.random.default_rng([seed, *x.shape])
    size = max(1, _BLOCK // len(x))
    parts: list[dict[str, Floats]] = []
    for start in range(0, replicates, size):
        rows = min(size, replicates - start)
        weights = source.multinomial(len(x), np.full(len(x), 1 / len(x)), rows)
        parts.append(batch_correlations(_means(x, weights), _means(y, weights), p))
    drawn = {name: np.concatenate([part[name] for part in parts]) for name in estimates}
    found = {
        name: _interval(float(values[0]), drawn[name], level, 0.0 if name == "rbo" else -1.0)
        for name, values in estimates.items()
    }
    return OrderAgreement(x.shape[1], len(x), **found)


def _paired(first: Scores, second: Scores) -> tuple[Floats, Floats]:
    """Return the values on the units that both have, higher always better."""
    if set(first.systems) != set(second.systems):
        raise InputError(
            f"the systems differ: {', '.join(first.systems[:3])} … and "
            f"{', '.join(second.systems[:3])} …"
        )
    if len(first.systems) < 2:
        raise InputError("the order of the systems needs at least 2 systems")
    rows = {unit: row for row, unit in enumerate(second.units)}
    common = [(row, rows[unit]) for row, unit in enumerate(first.units) if unit in rows]
    if len(common) < 2:
        raise InputError(f"the scores have {len(common)} units in common: expected at least 2")
    one, other = (list(part) for part in zip(*common, strict=True))
    columns = [second.index(name) for name in first.systems]
    x = first.values[one] * (1 if first.higher_is_better else -1)
    y = second.values[np.ix_(other, columns)] * (1 if second.higher_is_better else -1)
    return x, y


def _means(values: Floats, weights: Ints | None) -> Floats:
    """Return weighted means of the systems; those that differ by rounding noise are ties."""
    drawn = np.ones((1, len(values))) if weights is None else weights.astype(np.float64)
    means = drawn @ values / len(values)
    scale = float(np.abs(values).max()) or 1.0
    found: Floats = np.round(means / scale / TIE / 10) * (TIE * 10 * scale)
    return found


def _interval(estimate: float, drawn: Floats, level: float, least: float) -> Interval:
    known = drawn[np.isfinite(drawn)]
    if not np.isfinite(estimate) or not len(known):
        return Interval(estimate, np.nan, np.nan, level, JOINED)
    low, high = np.quantile(known, [(1 - level) / 2, (1 + level) / 2]).tolist()
    ends = (min(low, 2 * estimate - high), max(high, 2 * estimate - low))
    return Interval(estimate, max(ends[0], least), min(ends[1], 1.0), level, JOINED)


def verdict_changes(first: Comparison, second: Comparison) -> tuple[VerdictChange, ...]:
    """Return the pairs of systems whose verdicts differ between two comparisons.

    Parameters
    ----------
    first, second
        Comparisons of the same systems.
    """
    known = {_pair(claim): claim for claim in second.claims}
    found = []
    for claim in first.claims:
        other = known.get(_pair(claim))
        if other is None:
            continue
        verdicts = (_verdict(first, claim, claim.first), _verdict(second, other, claim.first))
        if verdicts[0] != verdicts[1]:
            ps = (claim.adjusted, other.adjusted)
            found.append(VerdictChange(claim.first, claim.second, verdicts, ps))
    return tuple(found)


def _pair(claim: Claim) -> frozenset[str]:
    return frozenset((claim.first, claim.second))


def _verdict(comparison: Comparison, claim: Claim, name: str) -> Verdict:
    """Return the verdict about a system of a pair."""
    if claim.adjusted > comparison.alpha or claim.difference.estimate == 0:
        return "no difference"
    better = (claim.difference.estimate > 0) == comparison.scores.higher_is_better
    return "better" if better == (claim.first == name) else "worse"

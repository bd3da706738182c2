"""Correlations of predicted numbers with the truth: Pearson, Spearman and Kendall.

Rank correlations are functions of unit weights, so that samples of units can be scored: with
integer weights, the value is that of units repeated as often.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from heldout.measure.base import UnitSums

if TYPE_CHECKING:
    from collections.abc import Callable

    from heldout.data.predictions import NumberPredictions
    from heldout.data.words import Floats, Ints

__all__ = [
    "kendall",
    "kendall_slopes",
    "pearson_sums",
    "same_everywhere",
    "spearman",
    "spearman_slopes",
]


def pearson_sums(given: NumberPredictions) -> UnitSums:
    """Return Pearson's correlation as a function of sums.

    Both variables are centred first, because squares of large numbers lose digits.
    """
    left, right = (column - column.mean() for column in (given.truth, given.predicted))
    table = np.column_stack([np.ones(len(left)), left, right, left**2, right**2, left * right])
    least = 1e-12 * np.array([(left**2).mean(), (right**2).mean()])

    def score(sums: Floats) -> Floats:
        with np.errstate(divide="ignore", invalid="ignore"):
            means = sums[:, 1:] / sums[:, :1]
            spread = means[:, 2:4] - means[:, :2] ** 2
            shared = means[:, 4] - means[:, 0] * means[:, 1]
            found: Floats = shared / np.sqrt(spread[:, 0] * spread[:, 1])
        return np.where((spread > least).all(axis=1), np.clip(found, -1.0, 1.0), np.nan)

    return UnitSums(table, score)


class _Ties(NamedTuple):
    """One variable in ascending order.

    Parameters
    ----------
    order
        The units, ascending.
    starts
        The first place of each group of ties.
    group
        The group of each unit, numbered from 0.
    """

    order: Ints
    starts: Ints
    group: Ints

    @classmethod
    def of(cls, values: Floats) -> _Ties:
        order = np.argsort(values, kind="stable")
        starts = np.flatnonzero(np.append(True, np.diff(values[order]) != 0))
        group = np.empty(len(values), np.int64)
        sizes = np.diff(starts, append=len(values))
        group[order] = np.repeat(np.arange(len(starts)), sizes)
        return cls(order, starts, group)

    def totals(self, weights: Floats) -> Floats:
        """Return the weight of each group, for each row of weights."""
        totals: Floats = np.add.reduceat(weights[:, self.order], self.starts, axis=1)
        return totals

    def centred_ranks(self, weights: Floats) -> Floats:
        """Return midranks minus their mean, for each row of weights."""
        totals = self.totals(weights)
        middle = np.cumsum(totals, axis=1) - totals / 2
        ranks: Floats = (middle - totals.sum(axis=1, keepdims=True) / 2)[:, self.group]
        return ranks

    def above(self, amounts: Floats) -> Floats:
        """Return, for each unit, the amounts of units with higher values; ties count half."""
        totals = self.totals(amounts[None])[0]
        higher: Floats = (totals[::-1].cumsum()[::-1] - totals / 2)[self.group]
        return higher


def spearman(truth: Floats, predicted: Floats) -> Callable[[Floats], Floats]:
    """Return Spearman's rank correlation as a function of rows of weights."""
    both = _Ties.of(truth), _Ties.of(predicted)

    def found(weights: Floats) -> Floats:
        left, right = (ties.centred_ranks(weights) for ties in both)
        shared = (weights * left * right).sum(axis=1)
        spread = (weights * left**2).sum(axis=1) * (weights * right**2).sum(axis=1)
        return _quotient(shared, spread)

    return found


def _quotient(shared: Floats, spread: Floats) -> Floats:
    some = spread > 0
    value = shared / np.sqrt(np.where(some, spread, 1.0))
    return np.where(some, np.clip(value, -1.0, 1.0), np.nan)


def spearman_slopes(truth: Floats, predicted: Floats, weights: Floats) -> tuple[float, Floats]:
    """Return Spearman's correlation and its derivatives in the weights.

    A unit changes the ranks of all units above it.
    """
    both = _Ties.of(truth), _Ties.of(predicted)
    left, right = (ties.centred_ranks(weights[None])[0] for ties in both)
    shared, spread_left, spread_right = (
        float((weights * product).sum()) for product in (left * right, left**2, right**2)
    )
    score = shared / float(np.sqrt(spread_left * spread_right))
    of_shared = left * right + both[0].above(weights * right) + both[1].above(weights * left)
    of_left = left**2 + 2 * both[0].above(weights * left)
    of_right = right**2 + 2 * both[1].above(weights * right)
    slopes = of_shared / float(np.sqrt(spread_left * spread_right))
    slopes -= score * (of_left / spread_left + of_right / spread_right) / 2
    return score, slopes


def _net(first: _Ties, second: Ints, weights: Floats) -> Floats:
    from heldout.measure.prediction.concordance import net_concordance  # compiled

    starts = np.append(first.starts, len(first.order))
    ranks = second[first.order] + 1
    ranked = np.ascontiguousarray(weights[:, first.order])
    net = np.empty_like(ranked)
    net[:, first.order] = net_concordance(starts, ranks, ranked, int(ranks.max()))
    return net


def _untied(ties: _Ties, weights: Floats) -> Floats:
    """Return twice the weight of pairs that are not tied in a variable."""
    pairs: Floats = weights.sum(axis=1) ** 2 - (ties.totals(weights) ** 2).sum(axis=1)
    return pairs


def kendall(truth: Floats, predicted: Floats) -> Callable[[Floats], Floats]:
    """Return Kendall's tau-b as a function of rows of weights."""
    left, right = _Ties.of(truth), _Ties.of(predicted)

    def found(weights: Floats) -> Floats:
        net = 2 * (weights * _net(left, right.group, weights)).sum(axis=1)
        return _quotient(net, _untied(left, weights) * _untied(right, weights))

    return found


def kendall_slopes(truth: Floats, predicted: Floats, weights: Floats) -> tuple[float, Floats]:
    """Return Kendall's tau-b and its derivatives in the weights."""
    left, right = _Ties.of(truth), _Ties.of(predicted)
    rows = weights[None]
    net = _net(left, right.group, rows)[0]
    net += _net(_Ties.of(-truth), right.group.max() - right.group, rows)[0]
    total = float((weights * net).sum())
    spreads = [float(_untied(ties, rows)[0]) for ties in (left, right)]
    scale = float(np.sqrt(spreads[0] * spreads[1]))
    score, slopes = total / scale, 2 * net / scale
    for ties, spread in zip((left, right), spreads, strict=True):
        own = ties.totals(rows)[0][ties.group]
        slopes -= score * (weights.sum() - own) / spread
    return score, slopes


def same_everywhere(given: Any) -> str:
    """Return the reason why there is no correlation; empty if there is one."""
    for what, values in (("truth", given.truth), ("prediction", given.predicted)):
        if (values == values[0]).all():
            return f"the {what} is the same for every unit"
    return ""

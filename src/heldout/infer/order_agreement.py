"""How far two sets of scores agree: on the order of the systems, and on the verdicts about them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final, Literal, NamedTuple

import numpy as np

from heldout.as_json import plain
from heldout.errors import InputError
from heldout.infer.comparison import note_measures
from heldout.infer.draws import check_draws
from heldout.infer.results import TIE, Interval
from heldout.measure.rank_correlation import batch_correlations

if TYPE_CHECKING:
    from collections.abc import Sequence

    from heldout.data.scores import Scores
    from heldout.data.words import Floats
    from heldout.infer.comparison import Claim, Comparison

REPLICATES: Final = 2_000  # correlations of few systems have few values anyway
MOST_SYSTEMS: Final = 300  # up to which orders are correlated: the bootstrap needs all pairs
_WORK: Final = 2**23
JOINED: Final = "bootstrap, percentile and basic joined"
_BLOCK: Final = 2**22

Verdict = Literal["better", "worse", "no difference"]  # the first system of a pair, significantly


class OrderAgreement(NamedTuple):
    """How far two sets of scores agree on the order of the same systems; the first is the truth."""

    systems: int
    units: int  # that both have
    kendall: Interval
    tau_ap: Interval
    rbo: Interval
    spearman: Interval
    pearson: Interval


class VerdictChange(NamedTuple):
    """A pair of systems with different verdicts in two comparisons."""

    first: str
    second: str
    verdicts: tuple[Verdict, Verdict]
    p: tuple[float, float]  # adjusted

    @property
    def reversed(self) -> bool:
        """Whether both verdicts are significant, in opposite directions."""
        return "no difference" not in self.verdicts


def order_agreement(
    first: Scores,
    second: Scores,
    *,
    level: float = 0.95,
    replicates: int = REPLICATES,
    seed: int = 0,
) -> OrderAgreement:
    """Return rank correlations of the systems' mean scores, with intervals over the units.

    The units are resampled for both sets of scores at once. The interval is the union of the
    percentile and the basic bootstrap interval: a resample adds noise to both orders, so that the
    percentile interval alone would exclude the true correlation of many systems too often.
    """
    check_draws(replicates, seed)
    x, y = _paired(first, second)
    units = len(x)

    def correlations(weights: Floats) -> dict[str, Floats]:
        return batch_correlations(_means(x, weights), _means(y, weights))

    estimates = correlations(np.ones((1, units)))
    source = np.random.default_rng([seed, *x.shape])
    size = max(1, _BLOCK // units)
    parts = []
    for start in range(0, replicates, size):
        rows = min(size, replicates - start)
        drawn = source.multinomial(units, np.full(units, 1 / units), rows)
        parts.append(correlations(drawn.astype(np.float64)))
    intervals = {}
    for name, values in estimates.items():
        estimate, low, high = float(values[0]), np.nan, np.nan
        known = np.concatenate([part[name] for part in parts])
        known = known[np.isfinite(known)]
        if np.isfinite(estimate) and len(known):
            low, high = np.quantile(known, [(1 - level) / 2, (1 + level) / 2]).tolist()
            low, high = min(low, 2 * estimate - high), max(high, 2 * estimate - low)
            low, high = max(low, 0.0 if name == "rbo" else -1.0), min(high, 1.0)
        intervals[name] = Interval(estimate, low, high, level, JOINED)
    return OrderAgreement(x.shape[1], units, **intervals)


def _paired(first: Scores, second: Scores) -> tuple[Floats, Floats]:
    """Return the values on the units that both have, higher always better."""
    if set(first.systems) != set(second.systems):
        names = (", ".join(scores.systems[:3]) for scores in (first, second))
        raise InputError(f"the systems differ: {' … and '.join(names)} …")
    if len(first.systems) < 2:
        raise InputError("the order of the systems needs at least 2 systems")
    rows = {unit: row for row, unit in enumerate(second.units)}
    common = [(row, rows[unit]) for row, unit in enumerate(first.units) if unit in rows]
    if len(common) < 2:
        raise InputError(f"the scores have {len(common)} units in common: expected at least 2")
    ours, theirs = (list(part) for part in zip(*common, strict=True))
    columns = [second.index(name) for name in first.systems]
    x = first.values[ours] * (1 if first.higher_is_better else -1)
    y = second.values[np.ix_(theirs, columns)] * (1 if second.higher_is_better else -1)
    return x, y


def _means(values: Floats, weights: Floats) -> Floats:
    """Return weighted means of the systems; those that differ by rounding noise are ties."""
    means = weights @ values / len(values)
    scale = float(np.abs(values).max()) or 1.0
    rounded: Floats = np.round(means / scale / TIE / 10) * (TIE * 10 * scale)
    return rounded


def measured_agreement(first: Comparison, second: Comparison) -> OrderAgreement | None:
    """Return how far two comparisons agree on the order; None for two systems, or very many."""
    systems = len(first.scores.systems)
    if not 2 < systems <= MOST_SYSTEMS or len(first.scores.units) < 2:
        return None
    replicates = min(REPLICATES, max(200, _WORK // systems**2))
    level, seed = first.level, first.analysis.seed
    return order_agreement(
        first.scores, second.scores, level=level, replicates=replicates, seed=seed
    )


def verdict_changes(first: Comparison, second: Comparison) -> tuple[VerdictChange, ...]:
    """Return the pairs of systems whose verdicts differ between two comparisons."""
    known = {frozenset(claim[:2]): claim for claim in second.claims}
    changes = []
    for claim in first.claims:
        other = known.get(frozenset(claim[:2]))
        if other is None:
            continue
        verdicts = (_verdict(first, claim, claim.first), _verdict(second, other, claim.first))
        if verdicts[0] != verdicts[1]:
            p = (claim.adjusted, other.adjusted)
            changes.append(VerdictChange(claim.first, claim.second, verdicts, p))
    return tuple(changes)


def _verdict(comparison: Comparison, claim: Claim, name: str) -> Verdict:
    """Return the verdict about a system of a pair."""
    if claim.adjusted > comparison.alpha or claim.difference.estimate == 0:
        return "no difference"
    better = (claim.difference.estimate > 0) == comparison.scores.higher_is_better
    return "better" if better == (claim.first == name) else "worse"


def comparison_records(comparisons: Sequence[Comparison]) -> list[dict[str, Any]]:
    """Return comparisons as in JSON, each with its agreement with the first."""
    first, *others = note_measures(comparisons)
    records = [first.to_dict()]
    for other in others:
        agreement = {
            "measure": first.scores.measure,
            "correlations": measured_agreement(first, other),
            "verdict_changes": verdict_changes(first, other),
        }
        records.append(other.to_dict() | {"agreement": plain(agreement)})
    return records

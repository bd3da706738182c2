"""Extrapolation: from a sample of documents to the scores expected on a set of another size.

A measure such as nDCG@10 depends on the number of ranked documents: among five times as many there
are more relevant documents, and more non-relevant ones before them. Two quantities are
extrapolated, each by an empirical Bayes estimate without a parametric form (a nonparametric
maximum-likelihood mixture; Laird 1978):

- the number of relevant documents of a query in the target, given that in the sample. Sample and
  target are modelled as one set that was divided at random, so the number in the sample is binomial
  given the number in both;
- the number of non-relevant documents before a relevant one. It is Poisson in the sample, with a
  rate that varies from document to document and with the grade.

Targets are then drawn: the number of relevant documents, and for each of them a relevant document
of the sample that lends its grade and its rate. With a probability equal to the correlation of
relevant documents within queries it is one of the same query, otherwise one of any query (each
query with equal probability). A query without a relevant document in the sample borrows all of
them. Ranks follow from the rates, and any measure from the ranks.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Final, NamedTuple

import numpy as np

from heldout.errors import InputError, MeasureError
from heldout.experiment.documents.rank_table import Rows, measure_rows
from heldout.measure.base import JUDGED_ONLY

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from heldout.data.words import Flags, Floats, Ints
    from heldout.measure.base import Measure

FARTHEST: Final = 100  # sets larger or smaller by more than this factor are refused
_STEPS: Final = 200
_FEW: Final = 30  # with fewer relevant documents of a grade, its rates are those of all grades
_LAST: Final = np.iinfo(np.int64).max
_RATES: Final = 80
_LEAST: Final = 1e-3
_WIDTH: Final = 0.5
_CELLS: Final = 1 << 22  # probabilities that are looked up together
_MODEL_ERROR: Final = 0.02  # deviation of the bias between collections, at five times the size
_NEEDS_NON_RELEVANT: Final = frozenset(
    {"Bpref", "infAP", "Judged", "Unjudged", "NumQ", "NumRet", "NumRel", "NumRelRet", "Set_P"}
)
_FIRST_ALONE: Final = frozenset({"RR", "Success", "ERR"})  # of which a sample says little


def check_extrapolation(measures: Sequence[Measure]) -> None:
    """Refuse measures that cannot be extrapolated."""
    for measure in measures:
        if measure.family in _FIRST_ALONE:
            why = (
                "it depends on the first relevant document alone, and estimates were too high by "
                "up to .12"
            )
        elif measure.family in _NEEDS_NON_RELEVANT or measure.parameters.get(JUDGED_ONLY):
            why = "it uses documents judged not relevant"
        else:
            continue
        raise MeasureError(
            f"{measure} cannot be estimated for a set of another size: {why}; leave out the target "
            "size, or choose a measure such as nDCG@10, AP, P@10 or R@100"
        )


def check_target(target: int, size: int) -> None:
    """Refuse a target size that is too far from the size of the sample."""
    if not 1 / FARTHEST <= target / max(size, 1) <= FARTHEST:
        raise InputError(
            f"{target:,}: the sample has {size:,} documents, and scores cannot be extrapolated to "
            f"sets more than {FARTHEST} times larger or smaller"
        )


def mixture(
    likelihood: Floats, weights: Floats, steps: int = _STEPS, smoothing: Floats | None = None
) -> Floats:
    """Return the posterior (observations × support) for the maximum-likelihood mixing weights."""
    mixing = np.full(likelihood.shape[1], 1 / likelihood.shape[1])
    for _ in range(steps):
        mixing = mixing * ((weights / (likelihood @ mixing)) @ likelihood)
        if smoothing is not None:  # Silverman et al. (1990)
            mixing = mixing @ smoothing
        mixing /= mixing.sum()
    joint = likelihood * mixing
    posterior: Floats = joint / joint.sum(axis=1, keepdims=True)
    return posterior


def _scaled(logs: Floats) -> Floats:
    """Return likelihoods from logarithms; a factor per row does not change the mixture."""
    likelihood: Floats = np.exp(logs - logs.max(axis=1, keepdims=True)) + 1e-300
    return likelihood


def _binomial(counts: Ints, totals: Ints, share: float) -> Floats:
    from scipy.special import gammaln

    k, n = counts[:, None].astype(np.float64), totals[None].astype(np.float64)
    possible = k <= n
    rest = np.where(possible, n - k, 0.0)
    logs = gammaln(n + 1) - gammaln(rest + 1) + k * np.log(share) + rest * np.log1p(-share)
    return _scaled(np.where(possible, logs, -np.inf))


class _Relevant(NamedTuple):
    """The relevant documents of the sample, by query and rank."""

    query: Ints
    grade: Ints
    before: Ints  # non-relevant documents before it; −1: not retrieved
    first: Ints  # for each query the place of its first relevant document
    counts: Ints  # for each query the number of relevant documents


def _relevant(sample: Rows, n_queries: int) -> _Relevant:
    rows = np.flatnonzero(sample.grade > 0)
    query, rank = sample.query[rows], sample.rank[rows].astype(np.int64)
    order = np.lexsort((np.where(rank > 0, rank, _LAST), query))
    query, rank, grade = query[order], rank[order], sample.grade[rows][order]
    count = np.bincount(query, minlength=n_queries)
    first = np.cumsum(count) - count
    nth = np.arange(len(query)) - first[query]
    before = np.where(rank > 0, rank - 1 - nth, -1)
    return _Relevant(query, grade, before, first, count)


def _rate_posteriors(sample: _Relevant, rates: Floats, steps: int) -> Floats:
    """Return the posterior of the rate of each relevant document; zeros: it is never retrieved."""
    retrieved = sample.before >= 0
    result = np.zeros((len(sample.query), len(rates)))
    # Normal weights of neighbours on the log scale.
    near = np.exp(-(((np.log(rates)[:, None] - np.log(rates)) / _WIDTH) ** 2) / 2)
    smoothing = near / near.sum(axis=1, keepdims=True)
    for grade in np.unique(sample.grade):
        mine = retrieved & (sample.grade == grade)
        if not mine.any():
            continue
        base = mine if mine.sum() >= _FEW else retrieved
        counts, place = np.unique(sample.before[base], return_inverse=True)
        seen = np.bincount(place).astype(np.float64)
        poisson = _scaled(counts[:, None] * np.log(rates) - rates)
        posterior = mixture(poisson, seen, steps, smoothing)
        result[mine] = posterior[np.searchsorted(counts, sample.before[mine])]
    return result


def _alikeness(sample: _Relevant) -> float:
    """Return the intraclass correlation of gains: how similar relevant documents of a query are."""
    gain = sample.grade / np.log2(np.maximum(sample.before, 0) + 2.0)
    gain = np.where(sample.before >= 0, gain, 0.0)
    several = sample.counts[sample.query] >= 2
    if several.sum() < _FEW or not gain[several].var():
        return 0.0
    query, gain = sample.query[several], gain[several]
    size = np.bincount(query)
    mean = np.bincount(query, gain) / np.maximum(size, 1)
    within = float(((gain - mean[query]) ** 2).sum() / (size[size > 0] - 1).sum())
    return max(0.0, 1 - within / float(gain.var()))


def _draw_rows(chances: Floats, generator: np.random.Generator) -> Ints:
    """Draw one column for each row of cumulative probabilities."""
    draw = generator.random(len(chances))[:, None]
    places: Ints = np.minimum((draw > chances).sum(axis=1), chances.shape[1] - 1)
    return places


def extrapolate(
    rows: Rows,
    n_queries: int,
    ratio: float,
    measures: Sequence[Measure],
    *,
    n_documents: int,
    answered: Flags,
    depth: int | None = None,
    seed: int = 0,
    draws: int = 40,
    steps: int = _STEPS,
) -> Floats:
    """Return the mean of each measure on a target with `ratio` times the documents of the sample.

    It is over the queries that have a relevant document in the target. Others than the `answered`
    ones, which have a relevant document somewhere in the collection, were not judged.
    """
    check_extrapolation(measures)
    sample = _relevant(rows, n_queries)
    if not len(sample.query):
        raise MeasureError("no query has a relevant document in the sample")
    generator = np.random.default_rng([seed, 0x72686F])
    rates = np.geomspace(_LEAST, max(n_documents, 10), _RATES)
    rate_chances = np.cumsum(_rate_posteriors(sample, rates, steps), axis=1)
    number_chances, totals, lenders = _number_chances(sample, answered, ratio, steps)
    alike = _alikeness(sample)
    # Shrinkage: the more relevant documents a query has, the more it lends to itself (as in the
    # best linear prediction).
    own_share = sample.counts * alike / np.maximum(1 + (sample.counts - 1) * alike, 1e-12)
    parts = []
    # Several targets are drawn together, as many as fit; their queries are numbered separately.
    together = max(_CELLS // (n_queries * len(totals)), 1)
    for begin in range(0, draws, together):
        times = min(together, draws - begin)
        source = np.tile(np.arange(n_queries), times)
        total = _draw_rows(number_chances[source], generator)
        number = np.maximum(totals[total] - sample.counts[source], 0)
        asked = np.repeat(np.arange(len(source)), np.where(answered[source], number, 0))
        query = source[asked]
        lender = lenders(total[asked], generator)
        has = sample.counts[query] > 0
        own = sample.first[query] + (generator.random(len(query)) * sample.counts[query]).astype(
            int
        )
        keep = has & (generator.random(len(query)) < own_share[query])
        lender = np.where(keep, np.minimum(own, len(sample.query) - 1), lender)
        rate = ratio * rates[_draw_rows(rate_chances[lender], generator)]
        rate[sample.before[lender] < 0] = np.inf
        asked, lender, rank = _ranked(asked, lender, rate, generator)
        target = Rows(asked, sample.grade[lender], rank)
        each = measure_rows(target, np.full(len(source), _LAST), measures, depth)
        parts.append(each.reshape(len(measures), times, n_queries))
    values = np.concatenate(parts, axis=1)  # measures × draws × queries
    there = np.isfinite(values)
    # By query first: the order of the sums decides the last bits.
    sums = np.where(there, values, 0.0).sum(axis=1).sum(axis=1)
    means: Floats = sums / np.maximum(there.sum(axis=(1, 2)), 1)
    return means


def model_variance(ratio: float) -> float:
    """Return the variance of the model error for a target of `ratio` times the sample size."""
    return (_MODEL_ERROR * math.log(ratio) / math.log(5)) ** 2


def _ranked(
    query: Ints, lender: Ints, rate: Floats, generator: np.random.Generator
) -> tuple[Ints, Ints, Ints]:
    """Draw the ranks of relevant documents (0: not retrieved), and order them by query and rate."""
    # A document before one relevant document is also before all later ones of the query, so the
    # numbers of non-relevant documents between neighbours are Poisson. If those before each were
    # drawn independently, the best of many relevant documents would be ranked too high.
    order = np.lexsort((rate, query))
    query, lender, rate = query[order], lender[order], rate[order]
    finite = np.isfinite(rate)
    known = np.where(finite, rate, 0.0)
    starts = np.diff(query, prepend=-1) > 0
    gaps = np.where(starts, known, np.diff(known, prepend=0.0))
    steps = np.cumsum(generator.poisson(np.where(finite, np.maximum(gaps, 0.0), 0.0)))
    first = np.flatnonzero(starts)
    earlier = np.concatenate(([0], steps))[first]
    size = np.diff(first, append=len(query))
    before = steps - np.repeat(earlier, size)
    nth = np.arange(len(query)) - np.repeat(first, size) + 1
    return query, lender, np.where(finite, before + nth, 0)


def _number_chances(
    sample: _Relevant, answered: Flags, ratio: float, steps: int
) -> tuple[Floats, Ints, Callable[[Ints, np.random.Generator], Ints]]:
    """Return the chances of each total of relevant documents per query, and what draws lenders."""
    totals = np.arange(int(sample.counts.max() * (1 + ratio) * 1.5) + 11)
    seen, place = np.unique(sample.counts, return_inverse=True)
    weights = np.bincount(place[answered], minlength=len(seen)).astype(np.float64)
    posterior = mixture(_binomial(seen, totals, 1 / (1 + ratio)), weights, steps)
    group = place[sample.query]
    size = np.bincount(group, minlength=len(seen))
    # A total that is impossible for queries with a relevant document borrows from all of them.
    shares = (posterior * size[:, None]).T + 1e-12 * size
    cumulative = np.cumsum(shares, axis=1) / shares.sum(axis=1, keepdims=True)
    order, first = np.argsort(group, kind="stable"), np.cumsum(size) - size

    def lenders(total: Ints, generator: np.random.Generator) -> Ints:
        # Given the total of a query, each of its documents had the same probability of being in the
        # sample: all in the sample whose queries have the same number there have equal weight.
        own = _draw_rows(cumulative[total], generator)
        nth = (generator.random(len(total)) * size[own]).astype(np.int64)
        return order[first[own] + nth]  # type: ignore[no-any-return]

    return np.cumsum(posterior, axis=1)[place], totals, lenders

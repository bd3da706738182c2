"""Scores on sets of another size, and intervals for new documents: where the truth is known."""

import numpy as np
import pytest

from heldout.experiment.documents import uncertainty
from heldout.experiment.documents.extrapolate import (
    extrapolate,
    model_variance,
)
from heldout.experiment.documents.rank_table import RankTable, Rows, measure_rows
from heldout.experiment.documents.uncertainty import Spread, _lots, document_spread, interval
from heldout.measure.names import parse_measure

NAMES = ("nDCG@10", "AP", "P@10", "R@100")
MEASURES = [parse_measure(name) for name in NAMES]
NDCG = MEASURES[0]
QUERIES = 150
ENDLESS = np.iinfo(np.int64).max


# ---- values of another size ---------------------------------------------------------------------


class Rates:
    """Queries with expected numbers of relevant documents, and where these stand.

    Relevant documents of a set of `size` are Poisson in number. Each stands at a rate r, from a
    wide distribution with a part that depends on the query and a part that falls with the grade;
    before it stand r · size others on average, the same ones before all relevant documents of a
    query. A few are never found. Those of queries that have many may stand lower (`harder`).
    """

    def __init__(self, seed, relevant=1.2, alike=0.7, harder=0.0):
        random = np.random.default_rng([seed, 1])
        self.random = np.random.default_rng([seed, 2])
        self.number = random.gamma(0.8, relevant / 0.8, QUERIES)
        self.shift = random.normal(0, alike, QUERIES)
        self.shift += harder * np.log(np.maximum(self.number, 0.05) / relevant)

    def draw(self, size):
        count = self.random.poisson(size * self.number)
        query = np.repeat(np.arange(QUERIES), count)
        grade = self.random.integers(1, 3, len(query))
        rate = np.exp(self.shift[query] + self.random.normal(0.6, 1.6, len(query)) - 0.8 * grade)
        order = np.lexsort((rate, query))
        query, grade, rate = query[order], grade[order], rate[order]
        first = np.cumsum(count) - count
        gap = np.diff(rate, prepend=0.0)
        gap[first[count > 0]] = rate[first[count > 0]]
        steps = np.cumsum(self.random.poisson(size * gap))
        base = np.concatenate(([0], steps))[first]
        nth = np.arange(len(query)) - first[query]
        rank = steps - base[query] + nth + 1
        rank[self.random.random(len(query)) < 0.05] = 0
        return Rows(query, grade, rank)

    def mean(self, rows):
        values = measure_rows(rows, np.full(QUERIES, ENDLESS), MEASURES)
        return np.nanmean(values, axis=1)


def carried(rows, ratio, **settings):
    settings = {"n_documents": 1000, "answered": np.full(QUERIES, True)} | settings
    return extrapolate(rows, QUERIES, ratio, MEASURES, **settings)


# Relevant documents a query, ratio of the sizes, how alike they are, how much harder many are.
CASES = [(1.2, 5.0, 0.7, 0.0), (4.0, 5.0, 0.0, 0.0), (4.0, 0.3, 0.7, 0.0), (4.0, 5.0, 0.3, 0.3)]


@pytest.mark.parametrize(("relevant", "ratio", "alike", "harder"), CASES)
def test_the_truth_of_another_size_is_met(relevant, ratio, alike, harder):
    """Where the plain value is far off, by a third of its error at most."""
    population = Rates(7, relevant, alike, harder)
    truth = np.mean([population.mean(population.draw(ratio)) for _ in range(60)], axis=0)
    samples = [population.draw(1.0) for _ in range(8)]
    means = np.array([carried(rows, ratio, seed=seed) for seed, rows in enumerate(samples)])
    plain = np.mean([population.mean(rows) for rows in samples], axis=0)
    noise = means.std(axis=0, ddof=1) / np.sqrt(len(means))
    mine, its = np.abs(means.mean(axis=0) - truth), np.abs(plain - truth)
    assert (mine <= 0.012 + 3 * noise).all(), (mine, noise)
    if ratio == 5:
        far = its > 0.05
        assert far[[1, 2]].all()  # or this would prove nothing
        assert (mine[far] < its[far] / 3).all(), (mine, its)


# ---- intervals ----------------------------------------------------------------------------------


class Population:
    """Documents about topics; a query for each topic finds its own documents, more or less well.

    A document also has a quality of its own that moves it up or down for every query, so that
    queries are not independent of each other over documents.
    """

    def __init__(self, queries, relevant, documents, seed=0):
        random = np.random.default_rng([seed, queries])
        self.queries, self.documents = queries, documents
        self.share = random.gamma(2.0, relevant / 2 / documents, queries)
        self.share /= max(self.share.sum(), 1)
        self.strength = random.normal(2.0, 0.8, queries)

    def draw(self, random):
        """Ranked lists and judgements of new documents."""
        share, strength = self.share, self.strength
        n, number = self.documents, len(share)
        topic = random.choice(number + 1, n, p=[*share, max(1 - share.sum(), 0.0)])
        scores = random.normal(0, 1, (number, n)) + random.normal(0, 0.7, n)
        document = np.flatnonzero(topic < number).astype(np.int32)
        scores[topic[document], document] += strength[topic[document]]
        lists = np.argsort(-scores, axis=1).astype(np.int32)
        order = np.argsort(topic[document], kind="stable")
        document = document[order]
        query = topic[document].astype(np.int64)
        table = RankTable(query, document, np.ones(len(query), np.int64), number)
        ranks = np.empty_like(lists)
        np.put_along_axis(ranks, lists, np.arange(1, n + 1, dtype=np.int32)[None], axis=1)
        everything = np.ones(len(query), np.bool_)
        retrieved = np.full(number, n)
        values = table.evaluate(ranks[query, document][:, None], everything, retrieved, [NDCG])
        return table, lists, values[:, 0]


def spread_of(table, lists, values, replicates=60, seed=0, measures=None, **settings):
    sample = np.arange(lists.shape[1], dtype=np.int32)
    settings |= {"depth": 1000, "replicates": replicates, "seed": seed}
    found = document_spread(table, lists, sample, measures or [NDCG], values, **settings)
    return found if measures else found[0]


@pytest.mark.parametrize(("name", "out"), [("nDCG@10", 85), ("P@10", 51)])
def test_the_variance_is_that_of_slow_evaluation(name, out):
    """Lists are evaluated without a third of the documents (a fifth for P), by hand."""
    population = Population(6, 6.0, 50)
    table, lists, values = population.draw(np.random.default_rng(0))
    replicates = 12
    measures = [parse_measure(name)]
    (spread,) = spread_of(table, lists, values, replicates, seed=3, measures=measures)
    lots = _lots(50, replicates, 3, 0, np.arange(50))
    relevant = [set(table.documents[table.queries == q].tolist()) for q in range(6)]

    def mean(keep):
        scores = []
        for q in range(6):
            number = sum(keep[list(relevant[q])])
            if not number:
                continue
            left = [doc for doc in lists[q].tolist() if keep[doc]][:10]
            places = [place for place, doc in enumerate(left) if doc in relevant[q]]
            gain = sum(1 / np.log2(place + 2) for place in places)
            ideal = sum(1 / np.log2(place + 2) for place in range(min(10, number)))
            scores.append(gain / ideal if name == "nDCG@10" else len(places) / 10)
        return np.mean(scores)

    gaps = [mean(lots[:, r] >= out) - mean(lots[:, r] < 256 - out) for r in range(replicates)]
    share = out / 256
    expected = np.mean(np.square(gaps)) * (1 - share) ** 2 / (2 * share)
    assert spread.documents == pytest.approx(expected)
    assert spread.target == spread.documents
    assert spread.queries == pytest.approx(np.nanvar(values, ddof=1) / spread.n_queries)
    assert spread.n_queries == np.isfinite(values).sum()


def test_a_larger_target_varies_less_itself_and_a_smaller_one_more(monkeypatch):
    monkeypatch.setattr(uncertainty, "_CARRIED", 10)  # fewer pairs: it takes its time
    table, lists, values = Population(40, 4.0, 300).draw(np.random.default_rng(2))
    plain, larger, smaller = (
        spread_of(table, lists, values, 200, ratio=ratio) for ratio in (1.0, 5.0, 0.2)
    )
    assert larger.target == pytest.approx(plain.documents / 5)
    assert smaller.target == pytest.approx(plain.documents * 5)
    assert smaller.documents != plain.documents  # found by carrying both parts over
    assert plain.model == 0
    assert larger.model == smaller.model == model_variance(5.0) > 0
    assert model_variance(25.0) == pytest.approx(4 * model_variance(5.0))  # by the logarithm
    assert larger.variance("documents") == larger.documents + larger.target + larger.model


def test_intervals_by_hand():
    """By t with the number of queries; those of Wilson where values have bounds."""
    spread = Spread(documents=4.0, queries=9.0, shared=1.0, target=2.0, n_queries=6)
    # What documents do to all queries alike (3 of 4), in the sample and in the target.
    for estimand, variance in (("documents", 4.0 + 2.0), ("both", 9.0 + 3.0 * 1.5)):
        assert spread.variance(estimand) == variance
        half = 2.5705818366147395 * variance**0.5  # 5 degrees of freedom
        assert interval(0.5, spread, estimand) == pytest.approx((0.5 - half, 0.5 + half))
    # 15 of 148 (Newcombe 1998): (.0624, .1605), with the variance p(1 - p)/n and z.
    p, n = 15 / 148, 148
    spread = Spread(p * (1 - p) / n, 0.0, 0.0, 0.0, 10**9)
    found = interval(p, spread, "documents", bounds=(0.0, 1.0))
    assert found == pytest.approx((0.0624, 0.1605), abs=5e-5)
    wide = Spread(4.0, 0.0, 0.0, 0.0, 30)
    for value in (0.0, 1e-12, 0.3, 0.999, 1.0):
        low, high = interval(value, wide, "documents", bounds=(0.0, 1.0))
        assert 0.0 <= low <= value <= high <= 1.0

"""Sets of another size: against populations whose expected scores are known by simulation."""

import numpy as np
import pytest

from heldout.errors import MeasureError
from heldout.experiment.documents.extrapolate import (
    check_extrapolation,
    extrapolate,
    mixture,
    model_variance,
)
from heldout.experiment.documents.rank_table import Rows, measure_rows
from heldout.measure.names import parse_measure

NAMES = ("nDCG@10", "AP", "P@10", "R@100")
MEASURES = [parse_measure(name) for name in NAMES]
QUERIES = 150
ENDLESS = np.iinfo(np.int64).max


class Population:
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


CASES = [
    (1.2, 5.0, 0.7, 0.0),
    (4.0, 5.0, 0.7, 0.0),
    (4.0, 5.0, 0.0, 0.0),
    (1.2, 1.0, 0.7, 0.0),
    (4.0, 0.3, 0.7, 0.0),
    (4.0, 5.0, 0.3, 0.3),
]


@pytest.fixture(scope="module", params=CASES, ids=str)
def errors(request):
    """Of 12 samples: the ratio, carried − truth, plain − truth, the standard error of the first."""
    relevant, ratio, alike, harder = request.param
    population = Population(7, relevant, alike, harder)
    truth = np.mean([population.mean(population.draw(ratio)) for _ in range(100)], axis=0)
    samples = [population.draw(1.0) for _ in range(12)]
    means = np.array([carried(rows, ratio, seed=seed) for seed, rows in enumerate(samples)])
    plain = np.array([population.mean(rows) for rows in samples])
    se = means.std(axis=0, ddof=1) / np.sqrt(len(means))
    return ratio, means.mean(axis=0) - truth, plain.mean(axis=0) - truth, se


def test_the_truth_of_another_size_is_met(errors):
    ratio, error, plain, se = errors
    for name, mine, its, noise in zip(NAMES, error, plain, se, strict=True):
        assert abs(mine) <= 0.012 + 3 * noise, (name, mine, noise)
        if ratio == 5 and abs(its) > 0.05:
            assert abs(mine) < abs(its) / 3, (name, mine, its)


def test_the_plain_value_is_far_off_where_the_size_differs():
    """Else the test above would prove nothing."""
    population = Population(7)
    truth = np.mean([population.mean(population.draw(5.0)) for _ in range(60)], axis=0)
    plain = np.mean([population.mean(population.draw(1.0)) for _ in range(60)], axis=0)
    assert (np.abs(plain - truth)[[0, 1, 2]] > 0.05).all()


def test_ranks_of_the_target_beyond_the_depth_do_not_count():
    rows = Population(5, 4.0).draw(1.0)
    shallow = carried(rows, 5.0, depth=3, steps=50)
    deep = carried(rows, 5.0, steps=50)
    assert shallow[1] < 0.8 * deep[1]  # AP
    assert shallow[2] < deep[2]  # P@10: at most 3 of 10
    assert shallow[2] <= 0.3


def test_a_mixture_finds_the_rates_that_data_came_from():
    """Half of the counts come from rate 1, half from rate 20."""
    random = np.random.default_rng(1)
    rates = np.array([0.3, 1.0, 5.0, 20.0, 60.0])
    counts = np.concatenate([random.poisson(1.0, 500), random.poisson(20.0, 500)])
    logs = counts[:, None] * np.log(rates) - rates
    posterior = mixture(np.exp(logs - logs.max(axis=1, keepdims=True)), np.ones(1000), 300)
    assert np.allclose(posterior.sum(axis=1), 1)
    assert posterior.mean(axis=0)[[1, 3]] == pytest.approx([0.5, 0.5], abs=0.06)


@pytest.mark.parametrize("name", ["Bpref", "infAP", "Judged@10", "nDCG(judged_only=True)@10"])
def test_measures_that_look_at_other_documents_are_refused_by_name(name):
    with pytest.raises(MeasureError, match=r"cannot be estimated .* such as nDCG@10, AP"):
        check_extrapolation([parse_measure("AP"), parse_measure(name)])


def test_nothing_relevant_is_refused():
    rows = Rows(np.array([0, 1]), np.array([0, 0]), np.array([1, 2]))
    with pytest.raises(MeasureError, match="no query has a relevant document"):
        carried(rows, 2.0)


def test_queries_without_any_relevant_document_are_left_out():
    """Fifty unjudged topics more: the same estimate."""
    rows = Population(3).draw(1.0)
    answered = np.arange(QUERIES + 50) < QUERIES
    settings = {"n_documents": 1000, "seed": 4, "draws": 400}
    alone = carried(rows, 5.0, **settings)
    more = extrapolate(rows, QUERIES + 50, 5.0, MEASURES, answered=answered, **settings)
    assert more == pytest.approx(alone, abs=0.002)


def test_the_error_of_the_model_grows_with_the_logarithm_of_the_ratio():
    assert model_variance(1.0) == 0
    assert model_variance(25.0) == pytest.approx(4 * model_variance(5.0))
    assert model_variance(0.2) == pytest.approx(model_variance(5.0))

"""The study of intervals: truths of a population, and what it finds where the answer is known."""

import numpy as np
import pytest

from heldout.errors import InputError
from heldout.experiment.studies.coverage import CoverageSettings, coverage_study
from heldout.report.study import coverage_records, coverage_text

QUICK = CoverageSettings(draws=150, queries=40, folds=5, replicates=40, seed=3)


def noisy(points, queries=300, seed=0):
    """Settings that are equally good in the mean, each with noise of its own."""
    random = np.random.default_rng(seed)
    values = 0.5 + 0.3 * random.normal(size=queries) + 0.2 * random.normal(size=(points, queries))
    return values - values.mean(axis=1, keepdims=True) + 0.5


@pytest.fixture(scope="module")
def study():
    return coverage_study({"fixed": noisy(15)[:1], "tuned": noisy(15)}, "AP", QUICK)


def row(study, method, minus="fixed"):
    return next(one for one in study.rows if one.minus == minus and one.method == method)


def test_choices_that_folds_share_are_covered(study):
    retuned, plain = row(study, "t with re-tuning"), row(study, "t")
    assert (retuned.default, plain.default) == (True, False)
    assert retuned.coverage - plain.coverage > 2 * plain.coverage_se
    assert retuned.coverage > 0.9
    assert retuned.width > plain.width
    assert retuned.truth == plain.truth == pytest.approx(0)


def test_systems_by_themselves_hold_the_truth(study):
    alone = [one for one in study.rows if not one.minus]
    assert [one.system for one in alone] == ["fixed", "tuned"]
    assert all(one.coverage > 0.9 and one.default and one.claims is None for one in alone)
    assert all(abs(one.bias) < 3 * one.se for one in alone)


def test_skewed_samples_are_counted_in_the_row_of_their_system():
    values = np.random.default_rng(1).exponential(0.05, (1, 60)) ** 2
    few = CoverageSettings(draws=20, queries=15, folds=3, replicates=5)
    (found,) = coverage_study({"fixed": values}, "AP", few).rows
    assert found.method == "t or Hall"


def test_every_claim_about_equal_systems_is_wrong(study):
    found = row(study, "t")
    assert found.claims == found.wrong == pytest.approx(1 - found.coverage)


def test_the_seed_decides():
    systems = {"fixed": noisy(3)[:1], "tuned": noisy(3)}
    few = CoverageSettings(draws=3, queries=20, folds=4, replicates=5)
    first, again = (coverage_study(systems, "AP", few) for _ in range(2))
    assert first.rows == again.rows


def test_text_and_records(study):
    text = coverage_text(study)
    assert "150 samples of 40 queries, drawn with replacement from 300 judged ones" in text
    assert "Lowest coverage" in text
    records = coverage_records(study)
    assert len(records) == len(study.rows) == 4
    assert records[0]["draws"] == 150


def test_few_draws_are_pointed_out():
    few = CoverageSettings(draws=6, queries=20, folds=4, replicates=5)
    found = coverage_study({"fixed": noisy(1), "other": noisy(1, seed=1)}, "AP", few)
    assert [one.default for one in found.rows] == [True] * 3
    assert "6 draws are too few to judge that" in coverage_text(found)


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"draws": 1}, "at least 2"),
        ({"folds": 1}, "at least 2"),
        ({"replicates": 1}, "at least 2"),
        ({"level": 2}, "level"),
        ({"queries": 7}, "too few"),
    ],
)
def test_refusals(settings, message):
    with pytest.raises(InputError, match=message):
        coverage_study({"a": noisy(2)}, "AP", CoverageSettings(**settings))


def test_systems_of_different_queries_are_refused():
    with pytest.raises(InputError, match="different queries"):
        coverage_study({"a": noisy(1), "b": noisy(1, queries=20)}, "AP", QUICK)

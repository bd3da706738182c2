"""Resampled sums: counting all cases, tests of means, and sacrebleu on the same texts."""

from itertools import product

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from inference_data import MAIZE, SIDES, share_as_extreme
from scipy.stats import binomtest

from heldout import ClassPredictions, InputError, Segments, compare, evaluate, parse_measure
from heldout.data.segments import Texts
from heldout.infer import resampling
from heldout.infer.randomization import mcnemar_test, randomization_test
from heldout.infer.resampling import Replicates, bootstrap, swap_test, whole_units
from heldout.infer.scored_inputs import system_interval
from heldout.measure.base import Order, Sums

NOTHING = Segments.of(["a"])
BLEU = parse_measure("BLEU(order=2)").units(Texts(NOTHING, NOTHING)).score


def ratio(sums):
    return sums[:, 0] / sums[:, 1]


def f1(sums):
    """Of statistics: hits, true, predicted."""
    return 2 * sums[:, 0] / (sums[:, 1] + sums[:, 2])


def units(table, score, *, merge=True):
    """A score of sums; units with equal rows are of one kind, unless told otherwise."""
    table = np.asarray(table, float)
    return whole_units(Sums(table, score), np.arange(len(table))) if merge else Sums(table, score)


def means(*columns):
    """Means of columns, as sums."""
    return [units(np.column_stack([each, np.ones(len(each))]), ratio) for each in columns]


def counts(segments, seed, good=0.5):
    """Made-up counts of BLEU with two orders: lengths, matched, all."""
    source = np.random.default_rng(seed)
    length = source.integers(3, 20, segments)
    words = source.binomial(length, good)
    pairs = np.minimum(source.binomial(length - 1, good / 2), words)
    wanted = source.integers(3, 20, segments)
    return np.column_stack([length, wanted, words, pairs, length, length - 1]).astype(float)


def guesses(seed, size):
    """Tables of F1 of two classifiers of two classes."""
    source = np.random.default_rng(seed)
    truth = source.random(size) < 0.5
    found = []
    for share in (0.6, 0.8):
        guess = np.where(source.random(size) < share, truth, ~truth)
        found.append(np.column_stack([truth & guess, truth, guess]).astype(float))
    return found


def difference(one, other, score):
    return float(score(one.sum(axis=0)[None])[0] - score(other.sum(axis=0)[None])[0])


def swapped_by_hand(one, other, score, side):
    found = []
    for keep in product([True, False], repeat=len(one)):
        mask = np.array(keep)[:, None]
        swapped = np.where(mask, one, other), np.where(mask, other, one)
        found.append(difference(*swapped, score))
    return share_as_extreme(found, difference(one, other, score), side, tie=1e-9)


def draws_of(first, second, score, *, merge=True, replicates=10_000, seed=0):
    """Replicates of a difference."""
    systems = [units(table, score, merge=merge) for table in (first, second)]
    columns = bootstrap(systems, replicates=replicates, seed=seed)
    gap = systems[0].value() - systems[1].value()
    return Replicates(columns[:, 0] - columns[:, 1], gap, 1e-12, len(first), seed)


# Swaps


@pytest.mark.parametrize("side", SIDES)
def test_few_segments_are_counted_out(side):
    for seed, merge in product(range(3), (True, False)):
        one, other = counts(7, seed), counts(7, seed + 100)
        one[2] = other[2]  # a segment that does not matter
        found = swap_test(*(units(t, BLEU, merge=merge) for t in (one, other)), alternative=side)
        assert found.p == pytest.approx(swapped_by_hand(one, other, BLEU, side), abs=1e-15)
        assert (found.method, found.n) == ("exact", 7)
        assert found.detail == "all swaps of the 6 units that differ"
        assert found.statistic == pytest.approx(difference(one, other, BLEU))
    first, second = guesses(1, 12)  # exact by numbers of swaps of each kind
    found = swap_test(units(first, f1), units(second, f1), alternative=side)
    assert found.method == "exact"
    assert found.p == pytest.approx(swapped_by_hand(first, second, f1, side), rel=1e-12)


@given(st.lists(st.integers(-9, 9), min_size=2, max_size=10), st.sampled_from(SIDES))
def test_of_means_it_is_the_randomization_test(values, side):
    found = swap_test(*means(values, np.zeros(len(values))), alternative=side)
    assert found.p == pytest.approx(randomization_test(values, alternative=side).p, abs=1e-15)


def test_swaps_of_published_and_binomial_cases():
    assert round(swap_test(*means(MAIZE, np.zeros(15))).p * 2**15) == 1726
    source = np.random.default_rng(5)
    first, second = (source.random((2, 900)) < [[0.8], [0.75]]).astype(float)
    found = swap_test(*means(first, second))
    assert found.method == "exact"
    assert found.p == pytest.approx(mcnemar_test(first, second).p, rel=1e-9)
    right, wrong = np.repeat([1.0, 0.0], [1580, 1420]), np.repeat([0.0, 1.0], [1580, 1420])
    found = swap_test(*means(right, wrong))
    assert found.method == "exact"
    assert found.p == pytest.approx(binomtest(1580, 3000).pvalue, rel=1e-9)


@pytest.mark.parametrize("side", SIDES)
def test_drawn_swaps_of_kinds_and_of_units_come_near_all_of_them(side, monkeypatch):
    systems = [units(table, f1) for table in guesses(2, 60)]
    exact = swap_test(*systems, alternative=side)
    assert exact.method == "exact"
    assert exact.p > 0.0005
    for limits in (
        {"OUTCOMES": 10},
        {"FEW_KINDS": 0, "UNITS_PER_KIND": 10**9},
        {"WIDE": 0, "FILLED": 1.0},  # sparse tables
    ):
        for name, limit in limits.items():
            monkeypatch.setattr(resampling, name, limit)
        drawn = swap_test(*systems, alternative=side)
        assert drawn.method == "monte carlo"
        assert abs(drawn.p - exact.p) < 4 * drawn.error


def test_systems_without_a_difference_give_one():
    one = units(counts(40, 1), BLEU)
    found = swap_test(one, one)
    assert (found.p, found.statistic, found.detail) == (1.0, 0.0, "nothing differs")
    drawn = draws_of(counts(40, 1), counts(40, 1), BLEU, replicates=200)
    assert drawn.shift_test().p == 1
    assert drawn.interval()[:3] == (0, 0, 0)
    # The same rows in another order: outputs differ, scores do not.
    found = swap_test(one, units(counts(40, 1)[::-1], BLEU), replicates=2000)
    assert (found.p, found.method) == (1.0, "monte carlo")


def test_equal_seeds_give_equal_p_for_any_number_of_threads(monkeypatch):
    one, other = (units(counts(900, seed, good), BLEU) for seed, good in ((1, 0.5), (2, 0.507)))
    found = []
    for seed, threads in ((3, "1"), (3, "3"), (4, "1")):
        monkeypatch.setenv("HELDOUT_THREADS", threads)
        p = swap_test(one, other, replicates=999, seed=seed).p
        found.append((p, bootstrap([one], replicates=50, seed=seed).tolist()))
    assert found[0] == found[1]
    assert found[0][0] != found[2][0]
    assert found[0][0] * 1000 == pytest.approx(round(found[0][0] * 1000))  # (c + 1) / (B + 1)


def test_undefined_swaps_count_as_far_out():
    def score(sums):
        return np.where(sums[:, 1] == 1, sums[:, 0], np.nan)

    with pytest.raises(InputError, match="undefined and cannot be tested"):
        swap_test(units([[1, 1], [5, 1]], score), units([[0, 0], [3, 0]], score))
    # Both swapped or none: |14 - 3|; one swapped: a side has two, the other none.
    assert swap_test(units([[9, 1], [5, 0]], score), units([[0, 0], [3, 1]], score)).p == 1


# Draws with replacement


def test_shift_test_counts_draws():
    """Four segments: all 256 draws, against drawn ones."""
    one, other = counts(4, 5, 0.9), counts(4, 6, 0.4)
    observed = difference(one, other, BLEU)
    every = [
        difference(one[list(rows)], other[list(rows)], BLEU) for rows in product(range(4), repeat=4)
    ]
    for merge in (True, False):
        drawn = draws_of(one, other, BLEU, merge=merge, replicates=50_000)
        for side in SIDES:
            found = drawn.shift_test(side)
            expected = share_as_extreme(every, observed, side, center=observed, tie=1e-9)
            assert abs(found.p - expected) < 4 * max(found.error, 1e-5)


def many_classes(classes=30, size=400):
    """Two classifiers of many classes, one a little better."""
    source = np.random.default_rng(3)
    truth = source.integers(0, classes, size)
    names, ids = tuple(map(str, range(classes))), tuple(map(str, range(size)))
    measure = parse_measure("kappa", "classification")
    for share in (0.6, 0.68):
        guess = np.where(source.random(size) < share, truth, source.integers(0, classes, size))
        yield measure.units(ClassPredictions("A", ids, names, truth, guess))


@pytest.mark.parametrize("kind", ["few", "many classes"])
def test_kinds_units_and_sparse_tables_have_one_distribution(kind, monkeypatch):
    systems = [units(table, f1) for table in guesses(7, 200)]
    if kind == "many classes":
        systems = list(many_classes())
    ways = {"kinds": 200 if kind == "few" else 10**6, "units": 0, "dense": 0}
    found = {}
    for way, kinds in ways.items():
        monkeypatch.setattr(resampling, "FEW_KINDS", kinds)
        monkeypatch.setattr(resampling, "UNITS_PER_KIND", 10**9)
        monkeypatch.setattr(resampling, "WIDE", 10**6 if way == "dense" else 48)
        found[way] = bootstrap(systems, replicates=6_000, seed=1)
    assert found["units"] == pytest.approx(found["dense"], abs=1e-12)
    kinds, by_unit = found["kinds"], found["units"]
    error = by_unit.std(axis=0)
    assert kinds.mean(axis=0) == pytest.approx(by_unit.mean(axis=0), abs=0.07 * error.max())
    assert kinds.std(axis=0) == pytest.approx(error, rel=0.05)
    # Paired: the two systems are drawn together.
    correlations = [np.corrcoef(one.T)[0, 1] for one in (kinds, by_unit)]
    assert correlations[0] == pytest.approx(correlations[1], abs=0.05)


def test_groups_are_drawn_as_a_whole():
    """Two groups of one value each: a draw has 0, 1 or 2 copies of the first."""
    groups, values = np.array([0, 0, 0, 1]), np.array([1.0, 1.0, 1.0, 0.0])
    of_order = Order(4, lambda weights: weights @ values / weights.sum(axis=1))
    of_sums = Sums(np.column_stack([values, np.ones(4)]), ratio)
    for one in (of_order, of_sums):
        whole = whole_units(one, groups)
        found = bootstrap([whole], replicates=4000, seed=0)
        assert set(np.unique(found)) == {0.0, 0.75, 1.0}
        assert np.mean(found == 0.75) == pytest.approx(0.5, abs=0.03)
        assert (whole.size, whole.value()) == (2, 0.75)


@pytest.mark.parametrize("kind", ["ar", "bs"])
def test_p_is_that_of_sacrebleu(kind):
    """sacrebleu's bootstrap test counts one side only: it is the one-tailed shift test.

    Its draws are 10,000 (randomization) and 2,000; so much noise is allowed for.
    """
    sacrebleu = pytest.importorskip("sacrebleu")
    significance = pytest.importorskip("sacrebleu.significance")
    source, words = np.random.default_rng(12), np.array([f"w{at}" for at in range(60)])
    references = [" ".join(source.choice(words, source.integers(5, 20))) for _ in range(300)]
    one, other = (  # drop words at different rates
        [
            " ".join(word if source.random() > rate else "bad" for word in text.split())
            for text in references
        ]
        for rate in (0.32, 0.35)
    )
    samples = 10_000 if kind == "ar" else 2_000
    peer = significance.PairedTest(
        [("one", one), ("other", other)],
        {"BLEU": sacrebleu.BLEU()},
        [references],
        test_type=kind,
        n_samples=samples,
    )
    wanted = peer()[1]["BLEU"][1].p_value
    alternative = "two-sided" if kind == "ar" else "greater"
    found = compare(references, {"other": other, "one": one}, "BLEU", alternative=alternative)
    p = found.claims[0].outcomes[0 if kind == "ar" else 1].p
    assert 0.005 < wanted < 0.5
    assert abs(p - wanted) < 4 * np.sqrt(wanted * (1 - wanted) / samples * 1.3)


def test_one_segment_has_a_score_and_no_interval():
    found = evaluate(["a b"], {"A": ["a"]}, ["ROUGE-1"])
    assert found.value() == pytest.approx(2 / 3)
    assert system_interval(found, "A", found.measures[0]) is None
    with pytest.raises(InputError, match="at least 2 segments"):
        compare(found, found.measures[0])

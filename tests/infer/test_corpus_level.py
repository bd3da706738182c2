"""Tests of corpus scores: counting all cases, tests of means, and sacrebleu on the same texts."""

from __future__ import annotations

from itertools import product

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from heldout import parse_measure
from heldout.data.segments import Segments, Texts
from heldout.errors import InputError
from heldout.infer.bootstrap import shift_test
from heldout.infer.compare import compare
from heldout.infer.corpus_level import corpus_bootstrap, corpus_randomization_test
from heldout.infer.randomization import randomization_test
from heldout.infer.text_intervals import corpus_intervals
from heldout.measure.evaluate import evaluate
from heldout.measure.text.evaluate import segment_sums

TAILS = ["two-sided", "greater", "less"]


def ratio(sums):
    return sums[:, 0] / sums[:, 1]


def counts(segments, seed, good=0.5):
    """Made-up counts of BLEU with two orders: lengths, matched, all."""
    source = np.random.default_rng(seed)
    length = source.integers(3, 20, segments)
    words = source.binomial(length, good)
    pairs = np.minimum(source.binomial(length - 1, good / 2), words)
    wanted = source.integers(3, 20, segments)
    return np.column_stack([length, wanted, words, pairs, length, length - 1]).astype(float)


NOTHING = Segments.of(["a"])
BLEU = parse_measure("BLEU(order=2)").units(Texts(NOTHING, NOTHING))


def far(found, observed, tail):
    if tail == "two-sided":
        return abs(found) >= abs(observed) - 1e-9
    return found >= observed - 1e-9 if tail == "greater" else found <= observed + 1e-9


def difference(one, other, score):
    return float(score(one.sum(axis=0)[None])[0] - score(other.sum(axis=0)[None])[0])


def swapped_by_hand(one, other, score, tail):
    observed = difference(one, other, score)
    out = 0
    for keep in product([True, False], repeat=len(one)):
        mask = np.array(keep)[:, None]
        found = difference(np.where(mask, one, other), np.where(mask, other, one), score)
        out += far(found, observed, tail)
    return out / 2 ** len(one)


@pytest.mark.parametrize("tail", TAILS)
@pytest.mark.parametrize("seed", range(6))
def test_few_segments_are_counted_out(tail, seed):
    one, other = counts(7, seed), counts(7, seed + 100)
    one[2] = other[2]  # a segment that does not matter
    found = corpus_randomization_test(one, other, BLEU.score, alternative=tail)
    assert found.p == pytest.approx(swapped_by_hand(one, other, BLEU.score, tail), abs=1e-15)
    assert (found.method, found.detail, found.n) == ("exact", "all 64 assignments", 7)
    assert found.statistic == pytest.approx(difference(one, other, BLEU.score))


@pytest.mark.parametrize("tail", TAILS)
def test_drawn_assignments_come_near_all_of_them(tail, monkeypatch):
    one, other = counts(11, 3, 0.7), counts(11, 4)
    exact = corpus_randomization_test(one, other, BLEU.score, alternative=tail)
    monkeypatch.setattr("heldout.infer.corpus_level.FEW", 2)
    drawn = corpus_randomization_test(one, other, BLEU.score, alternative=tail)
    assert (exact.method, drawn.method) == ("exact", "monte carlo")
    assert 0 < exact.p < 1
    assert abs(drawn.p - exact.p) < 4 * drawn.error


@pytest.mark.parametrize("tail", TAILS)
@given(st.lists(st.integers(-9, 9), min_size=2, max_size=10))
def test_of_means_it_is_the_randomization_test(tail, values):
    one = np.column_stack([values, np.ones(len(values))])
    other = np.column_stack([np.zeros(len(values)), np.ones(len(values))])
    found = corpus_randomization_test(one, other, ratio, alternative=tail)
    wanted = randomization_test(values, alternative=tail)
    assert found.p == pytest.approx(wanted.p, abs=1e-15)


@pytest.mark.parametrize("segments", [5, 40])
def test_a_system_and_its_copy_give_one(segments):
    one = counts(segments, 1)
    found = corpus_randomization_test(one, one.copy(), BLEU.score)
    assert (found.p, found.statistic, found.method) == (1.0, 0.0, "exact")
    drawn = corpus_bootstrap([one, one.copy()], BLEU.score, replicates=200)
    assert drawn.shift_test(0, 1).p == 1
    assert drawn.difference(0, 1)[:3] == (0, 0, 0)


def test_outputs_that_differ_with_equal_scores_give_one():
    """The same rows in another order: a difference of 0 is nothing to speak of."""
    one = counts(60, 1)
    found = corpus_randomization_test(one, one[::-1], BLEU.score, replicates=2000)
    assert (found.p, found.method) == (1.0, "monte carlo")


def test_equal_seeds_give_equal_p_and_others_another():
    one, other = counts(50, 1), counts(50, 2, 0.52)
    found = [
        corpus_randomization_test(one, other, BLEU.score, replicates=999, seed=seed).p
        for seed in (3, 3, 4)
    ]
    assert found[0] == found[1] != found[2]
    assert found[0] * 1000 == pytest.approx(round(found[0] * 1000))  # (c + 1) / (B + 1)


def test_threads_do_not_matter(monkeypatch):
    one, other = counts(900, 1), counts(900, 2)
    found = []
    for threads in ("1", "3"):
        monkeypatch.setenv("HELDOUT_THREADS", threads)
        p = corpus_randomization_test(one, other, BLEU.score, replicates=3000).p
        found.append((p, corpus_bootstrap([one], BLEU.score, replicates=300).scores.tolist()))
    assert found[0] == found[1]


def test_undefined_assignments_count_as_far_out():
    """Only the first two assignments of four have a score on both sides."""
    one, other = np.array([[1.0, 1], [5, 1]]), np.array([[0.0, 0], [3, 0]])

    def score(sums):
        return np.where(sums[:, 1] == 1, sums[:, 0], np.nan)

    with pytest.raises(InputError, match="undefined and cannot be tested"):
        corpus_randomization_test(one, other, score)
    one, other = np.array([[9.0, 1], [5, 0]]), np.array([[0.0, 0], [3, 1]])
    # both swapped or none: |14 - 3|; one swapped: a side has two, the other none
    assert corpus_randomization_test(one, other, score).p == 1


def test_shift_test_counts_draws():
    """Four segments: all 256 draws, against drawn ones."""
    one, other = counts(4, 5, 0.9), counts(4, 6, 0.4)
    observed = difference(one, other, BLEU.score)
    drawn = corpus_bootstrap([one, other], BLEU.score, replicates=100_000)
    for tail in TAILS:
        out = [
            far(
                difference(one[list(rows)], other[list(rows)], BLEU.score) - observed,
                observed,
                tail,
            )
            for rows in product(range(4), repeat=4)
        ]
        found = drawn.shift_test(0, 1, tail)
        assert abs(found.p - np.mean(out)) < 4 * max(found.error, 1e-5)


def test_of_means_the_shift_test_is_that_of_means():
    values = np.random.default_rng(1).normal(0.1, 0.6, 150)
    one = np.column_stack([values, np.ones(150)])
    other = np.column_stack([np.zeros(150), np.ones(150)])
    drawn = corpus_bootstrap([one, other], ratio, replicates=20_000, seed=7)
    wanted = shift_test(values, replicates=20_000, seed=8)
    found = drawn.shift_test(0, 1)
    assert abs(found.p - wanted.p) < 4 * np.hypot(found.error, wanted.error)
    assert 0.05 < wanted.p < 0.5


def test_interval_of_bleu_is_that_of_drawn_corpora():
    """Against corpora drawn and scored one by one."""
    one = counts(80, 2)
    source = np.random.default_rng(3)
    plain = [
        float(BLEU.score(one[source.integers(0, 80, 80)].sum(axis=0)[None])[0]) for _ in range(4000)
    ]
    found = corpus_bootstrap([one], BLEU.score).interval(0)
    low, high = np.quantile(plain, [0.025, 0.975])
    assert found.low == pytest.approx(low, abs=0.08 * (high - low))
    assert found.high == pytest.approx(high, abs=0.08 * (high - low))
    assert found.low < found.estimate < found.high
    narrow = corpus_bootstrap([one], BLEU.score).interval(0, 0.5)
    assert found.low < narrow.low < narrow.high < found.high


@pytest.mark.parametrize("shape", [(5,), (5, 3), (4, 2)])
def test_statistics_that_do_not_pair_are_refused(shape):
    with pytest.raises(InputError, match="expected the same rows"):
        corpus_randomization_test(np.ones((5, 2)), np.ones(shape), ratio)


def test_wrong_input_is_refused():
    one = np.ones((5, 2))
    with pytest.raises(InputError, match="at least 2 segments, found 1"):
        corpus_bootstrap([one[:1]], ratio)
    with pytest.raises(InputError, match="expected finite numbers"):
        corpus_randomization_test(one, one * np.nan, ratio)
    with pytest.raises(InputError, match="replicates=0"):
        corpus_randomization_test(one, one, ratio, replicates=0)
    with pytest.raises(InputError, match="alternative="):
        corpus_randomization_test(one, one, ratio, alternative="both")
    with pytest.raises(InputError, match="level=95"):
        corpus_bootstrap([one], ratio, replicates=10).interval(0, 95)


def two_systems(count=300, worse=0.35):
    """References, and two systems that drop words at different rates."""
    source = np.random.default_rng(12)
    words = np.array([f"w{at}" for at in range(60)])
    references = [" ".join(source.choice(words, source.integers(5, 20))) for _ in range(count)]

    def spoil(rate):
        return [
            " ".join(one if source.random() > rate else "bad" for one in text.split())
            for text in references
        ]

    return references, spoil(0.32), spoil(worse)


@pytest.mark.parametrize("kind", ["ar", "bs"])
def test_p_is_that_of_sacrebleu(kind):
    """sacrebleu's bootstrap test counts one side only: it is the one-tailed shift test.

    Its draws are 10,000 (randomization) and 2,000; so much noise is allowed for.
    """
    sacrebleu = pytest.importorskip("sacrebleu")
    significance = pytest.importorskip("sacrebleu.significance")
    references, one, other = two_systems()
    samples = 10_000 if kind == "ar" else 2_000
    peer = significance.PairedTest(
        [("one", one), ("other", other)],
        {"BLEU": sacrebleu.BLEU()},
        [references],
        test_type=kind,
        n_samples=samples,
    )
    wanted = peer()[1]["BLEU"][1].p_value
    found = evaluate(references, {"one": one, "other": other}, ["BLEU"])
    sums = segment_sums(found, found.measures[0])
    tables, score = [one.table for one in sums], sums[0].score
    if kind == "ar":
        p = corpus_randomization_test(*tables, score).p
    else:
        p = corpus_bootstrap(tables, score).shift_test(0, 1, "greater").p
    assert 0.005 < wanted < 0.5
    assert abs(p - wanted) < 4 * np.sqrt(wanted * (1 - wanted) / samples * 1.3)


@pytest.fixture(scope="module")
def evaluation():
    pytest.importorskip("sacrebleu")
    references, one, other = two_systems(120, 0.5)
    systems = {"base": one, "copy": list(one), "worse": other}
    return evaluate(references, systems, ["BLEU", "ROUGE-1", "TER"])


def test_comparison_of_several_systems(evaluation):
    for measure in evaluation.measures:
        found = compare(evaluation, measure, baseline="base", replicates=2000, correction="holm")
        copy, worse = found.claims
        assert (copy.first, copy.second, copy.adjusted) == ("copy", "base", 1)
        assert (copy.effects.wins, copy.effects.losses) == (0, 0)
        assert found.analysis.correction == "holm"
        assert worse.adjusted == pytest.approx(min(1, 2 * worse.outcomes[0].p))
        assert worse.outcomes[0].p == pytest.approx(1 / 2001)
        assert worse.effects.wins < worse.effects.losses
        assert (worse.difference.high < 0) == measure.higher_is_better
        assert found.systems[0].mean.estimate == pytest.approx(evaluation.value(0, measure))
        alone = corpus_intervals(evaluation, measure)
        assert [one.estimate for one in alone.systems] == [
            row.mean.estimate for row in found.systems
        ]
        assert alone.signature.startswith(f"{measure}|nrefs:1|")


def test_lower_is_better_for_edits(evaluation):
    measure = evaluation.measures[2]
    claim = compare(evaluation, measure, baseline="worse", replicates=200).claims[0]
    assert (claim.first, claim.effects.wins > claim.effects.losses) == ("base", True)
    assert claim.difference.high < 0


def test_few_segments_are_pointed_out():
    found = evaluate(["a b", "c", "d"], {"A": ["a", "c", "x"], "B": ["b", "c", "d"]}, ["TokenF1"])
    warnings = compare(found, "TokenF1").warnings
    assert any("(here 3), and the bootstrap intervals" in one.text for one in warnings)


def test_one_segment_has_a_score_and_no_interval():
    found = evaluate(["a b"], {"A": ["a"]}, ["ROUGE-1"])
    interval = corpus_intervals(found, found.measures[0]).systems[0]
    assert interval.estimate == pytest.approx(2 / 3)
    assert np.isnan(interval.low)
    with pytest.raises(InputError, match="one system cannot be compared"):
        compare(found, found.measures[0])

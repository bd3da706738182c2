"""What must hold for every measure of every task: names, weights, range, direction."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
import pytest
from samples import classes, made

from heldout import ClassPredictions, NumberPredictions, Segments, Undefined, parse_measure
from heldout.data.segments import Texts
from heldout.errors import MeasureError
from heldout.measure.base import TASKS, Means, Order, Sums, definitions

CUTOFF = {"none": "", "optional": "", "rank": "@5", "recall": "@0.5"}
RANKING = [
    f"{name}{CUTOFF[family.cutoff]}"
    for name, family in sorted(definitions("ranking").items())
    if family.own is None
]
RANKING += ["nDCG(dcg='exp-log2')@10", "AP(rel=2)@7", "P(judged_only=True)@3", "RBP(p=0.5)"]
CLASSES = ["accuracy", "error", "balanced-accuracy", "precision(macro)", "recall(weighted)"]
CLASSES += ["F1(micro)", "F(beta=2, macro)", "F1(class=b)", "precision(class=b, undefined=0)"]
CLASSES += ["specificity(class=a)", "FP-rate(class=c)", "MCC", "kappa", "log-loss", "Brier"]
CLASSES += ["kappa(linear)", "kappa(quadratic)", "top-k-accuracy(k=2)", "MCC(undefined=0)"]
CLASSES += ["specificity(macro)", "specificity(micro)", "FP-rate(weighted)"]
CLASSES += ["ECE(bins=5)", "AUC", "AUC(weighted)", "average-precision(class=b)"]
NUMBERS = ["RMSE", "MSE", "MAE", "median-AE", "MAPE", "sMAPE", "R2"]
NUMBERS += ["explained-variance", "MSLE", "pinball(alpha=0.9)", "Pearson", "Spearman", "Kendall"]
TEXTS = ["BLEU", "sentBLEU", "BLEU(order=2, smooth='add-one')", "chrF", "chrF++", "TER", "ROUGE-1"]
TEXTS += ["ROUGE-L(value='recall')", "ROUGE-2", "ExactMatch", "TokenF1"]
TEXTS += ["Perplexity", "Perplexity(base=2)"]
NAMES = {"ranking": RANKING, "classification": CLASSES, "regression": NUMBERS, "text": TEXTS}
EVERY = [parse_measure(name, task) for task, names in NAMES.items() for name in names]
SCORED = [measure for measure in EVERY if measure.aggregate != "none"]
UNITS = 12
WEIGHTED = ("classification", "regression")


def test_every_measure_is_here():
    for task in TASKS:
        known = {name for name, one in definitions(task).items() if one.own is None}
        tested = {measure.family for measure in EVERY if measure.task == task}
        # ROUGE has the same code for every kind; the others have tests of their own.
        others = {name for name in known - tested if not name.startswith("ROUGE")}
        assert others <= {"METEOR", "Embedding"}
        assert all(definitions(task)[name].summary for name in known)


def test_weights_of_one_give_the_value_and_units_add_up_to_it():
    for measure in EVERY:
        for seed in range(3):
            given, about = made(measure.task, seed), (str(measure), seed)
            kept = measure.units(given)
            assert isinstance(kept, Means | Sums | Order)
            assert kept.size == UNITS
            if measure.aggregate == "none":
                assert isinstance(measure.compute(given), Undefined)
                continue
            whole = measure.compute(given)
            ones = kept.weighted(np.ones((1, UNITS)))[0]
            assert ones == pytest.approx(whole, rel=1e-12, abs=1e-14), about
            if isinstance(kept, Order):
                with pytest.raises(MeasureError, match="from all units together"):
                    kept.per_unit()
                continue
            single, floor = kept.weighted(np.eye(UNITS)), 1e-12
            if getattr(kept, "how", "") == "geometric":
                floor = 1e-5  # no value of a query counts less
            assert kept.per_unit() == pytest.approx(single, abs=floor, nan_ok=True), about
            if isinstance(kept, Means) and kept.how == "mean":
                assert kept.per_unit().mean() == pytest.approx(whole, rel=1e-12), about
            if isinstance(kept, Sums):
                total = kept.rows().sum(axis=0, keepdims=True)
                assert kept.score(total)[0] == pytest.approx(whole, rel=1e-12), about


def test_whole_weights_are_repeated_units():
    for seed in range(3):
        counts = np.random.default_rng(seed).integers(0, 4, UNITS)
        counts[:3] += 1
        for measure in SCORED:
            rows = counts[None].astype(float)
            weighted = measure.units(made(measure.task, seed)).weighted(rows)[0]
            repeated = made(measure.task, seed, tuple(counts.tolist()))
            whole = pytest.approx(measure.compute(repeated), rel=1e-9, abs=1e-12)
            assert weighted == whole, (str(measure), seed)
            if measure.task in WEIGHTED:  # units may have weights of their own, and rows of more
                heavy = replace(made(measure.task, seed), weights=counts.astype(float))
                assert measure.compute(heavy) == whole, (str(measure), seed)
                twice = measure.units(heavy).weighted(np.full((1, UNITS), 2.0))[0]
                assert twice == whole, (str(measure), seed)


def test_many_units_are_counted_by_kind():
    rng = np.random.default_rng(2)
    given = classes(rng, (1,) * 110_000)  # too many for a row of numbers each
    kept = parse_measure("F1(macro)").units(given)
    rows = rng.integers(0, 3, (2, 110_000)).astype(float)
    plain = [kept.score(row @ kept.table[kept.kinds])[0] for row in rows[:, None]]
    assert kept.weighted(rows) == pytest.approx(plain, rel=1e-12)


def test_values_are_within_the_range():
    for measure in SCORED:
        low, high = measure.range
        for seed in range(10):
            value = measure.compute(made(measure.task, seed))
            assert not isinstance(value, Undefined), str(measure)
            assert low - 1e-12 <= value <= high + 1e-12, str(measure)


def perfect(given):
    """Predictions that are the truth."""
    if isinstance(given, ClassPredictions):
        sure = np.eye(3)[given.truth]
        return replace(given, predicted=given.truth, scores=sure)
    if isinstance(given, NumberPredictions):
        return replace(given, predicted=given.truth)
    wanted = given.references
    sure = ((0.0,),) * len(wanted.ids)
    return Texts(wanted, Segments("P", wanted.ids, wanted.texts, log_probs=sure))


def test_what_is_perfect_is_best():
    for measure in SCORED:
        if measure.task == "ranking":
            continue
        for seed in range(5):
            given = made(measure.task, seed)
            best, other = measure.compute(perfect(given)), measure.compute(given)
            better = (best >= other) if measure.higher_is_better else (best <= other)
            assert better, str(measure)
            reached = measure.range[1 if measure.higher_is_better else 0]
            # Perplexity is 1 where every token is certain.
            reached = 1 if measure.family == "Perplexity" else reached
            assert best == pytest.approx(reached, abs=1e-9), str(measure)


def test_range_and_direction():
    """What the tables of the documentation say."""
    for names, *expected in (
        ("AP accuracy ROUGE-L", True, (0, 1)),
        ("MCC kappa Kendall", True, (-1, 1)),
        ("R2", True, (-math.inf, 1)),
        ("BLEU", True, (0, 100)),
        ("error FP-rate ECE", False, (0, 1)),
        ("Brier sMAPE", False, (0, 2)),
        ("log-loss TER Perplexity", False, (0, math.inf)),
        ("Unjudged@5", None, (0, 1)),
        ("NumRet", None, (0, math.inf)),
    ):
        for name in names.split():
            measure = parse_measure(name)
            assert [measure.higher_is_better, measure.range] == expected, name

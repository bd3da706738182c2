"""A system's interval depends on that system alone: in `eval`, and beside any other system."""

import math
from dataclasses import replace

import numpy as np
import pytest

from heldout import ClassPredictions, NumberPredictions, compare, evaluate
from heldout.infer.scored_inputs import system_interval
from heldout.measure.prediction.evaluate import evaluate_predictions

SOURCE = np.random.default_rng(4)
IDS = tuple(map(str, range(240)))


def classed(name, share):
    truth = np.arange(240) % 3
    guess = np.where(SOURCE.random(240) < share, truth, SOURCE.integers(0, 3, 240))
    scores = SOURCE.random((240, 3)) + np.eye(3)[guess]
    return ClassPredictions(name, IDS, ("a", "b", "c"), truth, guess, scores)


def numbered(name, off):
    truth = np.linspace(1, 10, 240)
    return NumberPredictions(name, IDS, truth, truth + off * SOURCE.exponential(size=240))


CLASSED = [classed(name, share) for name, share in (("A", 0.6), ("B", 0.7), ("C", 0.9))]
NUMBERED = [numbered(name, off) for name, off in (("A", 1.0), ("B", 0.9), ("C", 3.0))]
WORDS = [" ".join(SOURCE.choice(list("abcdefgh"), 9)) for _ in range(90)]
TEXTS = {
    name: [" ".join(w if SOURCE.random() < share else "x" for w in text.split()) for text in WORDS]
    for name, share in (("A", 0.6), ("B", 0.7), ("C", 0.9))
}


@pytest.mark.parametrize(
    "measure",
    ["F1(macro)", "accuracy", "average-precision(class=b)", "RMSE", "MAE", "median-AE", "BLEU"],
)
def test_the_interval_of_a_system_is_the_same_alone_and_beside_any_other(measure):
    if measure == "BLEU":
        pytest.importorskip("sacrebleu")
        makers = {name: TEXTS[name] for name in "ABC"}
        together = {pair: {name: makers[name] for name in pair} for pair in ("AB", "AC", "ABC")}
        compared = [compare(WORDS, several, measure, seed=3) for several in together.values()]
        found = evaluate(WORDS, {"A": TEXTS["A"]}, [measure])
    else:
        several = NUMBERED if measure in {"RMSE", "MAE", "median-AE"} else CLASSED
        ways = [several[:2], several[::2], several]
        compared = [compare(systems, measure, seed=3) for systems in ways]
        found = evaluate_predictions(several[:1], [measure])
    alone = system_interval(found, "A", found.measures[0], seed=3)
    assert alone.low < alone.estimate < alone.high
    for one in compared:
        row = next(row for row in one.systems if row.name == "A")
        assert row.mean == alone


def folded(name, wrong):
    """Five folds of twelve units; the first units of each are wrong."""
    truth = np.tile([0, 1], 30)
    guess = np.where(np.arange(60) % 12 < wrong, 1 - truth, truth)
    shares = np.where(np.eye(2)[guess] == 1, 0.8, 0.2)
    folds = tuple(str(row // 12) for row in range(60))
    more = {"probabilities": True, "folds": folds}
    return ClassPredictions(name, IDS[:60], ("n", "y"), truth, guess, shares, **more)


@pytest.mark.parametrize("by", ["unit", "fold"])
@pytest.mark.parametrize(
    ("measure", "method"), [("accuracy", "Wilson"), ("ECE", None), ("F1(macro)", None)]
)
def test_systems_that_are_always_right_and_biased_scores(measure, method, by):
    """Either way there is Wilson's interval over units, or none, never one without width."""
    several = [folded("A", 0), folded("B", 1)]
    if by == "unit":
        several = [replace(one, folds=()) for one in several]
    elif measure == "F1(macro)":
        pytest.skip("over folds it has a corrected t interval")
    found = evaluate_predictions(several, [measure])
    row = compare(several, measure).systems[0].mean
    alone = system_interval(found, "A", found.measures[0])
    if method is None:
        assert (alone, row.method) == (None, "none")
        assert math.isnan(row.low)
        assert math.isnan(row.high)
    else:
        assert alone == row
        assert (row.method, row.high) == (method, 1.0)
        assert row.low == pytest.approx(60 / (60 + 1.959964**2))

"""Predictions of several systems as scores: paired by unit, group or fold."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from heldout import ClassPredictions, NumberPredictions, Undefined, compare, evaluate, parse_measure
from heldout.errors import InputError, MeasureError
from heldout.infer.results import mean_estimate
from heldout.measure.prediction.folds import data_fingerprint, fold_scores, unit_scores

UNITS = tuple(f"u{n}" for n in range(12))
TRUTH = np.array([0, 1] * 6)
FOLDS = tuple(str(n // 3) for n in range(12))
ACCURACY, ERROR = parse_measure("accuracy", "classification"), parse_measure("error")


def made(name, wrong, **more):
    predicted = TRUTH.copy()
    predicted[list(wrong)] = 1 - predicted[list(wrong)]
    return ClassPredictions(name, UNITS, ("no", "yes"), TRUTH, predicted, **more)


def twice(name, wrong, again, folds=FOLDS):
    """The same units in two repeats, where other units are wrong."""
    one, two = made(name, wrong), made(name, again)
    return ClassPredictions(
        name,
        UNITS * 2,
        one.classes,
        np.tile(TRUTH, 2),
        np.append(one.predicted, two.predicted),
        repeats=("1",) * 12 + ("2",) * 12,
        folds=folds and (*folds, *(folds[::-1] if folds == FOLDS else folds)),
    )


def test_folds_know_their_share_of_test_to_train():
    systems = [made("A", [0, 1, 5, 9], folds=FOLDS), made("B", [3, 10], folds=FOLDS)]
    scores, share = fold_scores(systems, ACCURACY)
    assert share == pytest.approx(1 / 3)
    assert scores.column("A") == pytest.approx([1 / 3, 2 / 3, 1, 2 / 3])
    gaps = scores.column("B") - scores.column("A")
    p = compare(scores, test_share=share).claims[0].outcomes[0].p
    assert p == pytest.approx(mean_estimate(gaps, 1 / 4 + 1 / 3).p())
    # Folds of different sizes: the mean of their shares.
    _, share = fold_scores([made("A", [0], folds=tuple("aaaa" + "b" * 8))], ACCURACY)
    assert share == pytest.approx((4 / 8 + 8 / 4) / 2)


def test_a_value_is_the_mean_over_folds_or_repeats():
    """By hand: folds of 2 and 10 units, of which 1 and 9 are right, have the mean .7."""
    found = evaluate(None, made("A", [0, 5], folds=tuple("aa" + "b" * 10)), "accuracy")
    assert found.value() == pytest.approx((1 / 2 + 9 / 10) / 2)
    assert "values and intervals are means over the folds" in found.about
    # Without folds, repeats on the same units: the mean over the repeats.
    found = evaluate(None, twice("A", [0], [0, 1, 2], folds=()), "F1(class=yes)")
    # 6 of 6 "yes" are right and 1 "no" is not; then 5 of 6, and 2
    assert found.value() == pytest.approx((12 / 13 + 10 / 13) / 2)
    assert "values are means over the repeats" in found.about
    # In fold 0 "yes" is never predicted, so the mean over the folds does not exist.
    lacking = evaluate(None, made("A", [1], folds=FOLDS), "precision(macro)").value()
    assert lacking == Undefined("in fold 0: class yes: it was never predicted")


def test_folds_of_repeats():
    """Each fold of each repeat counts; the same folds in several repeats count as their mean."""
    systems = [twice("A", [0, 1, 5], [9]), twice("B", [3], [4, 7])]
    scores, share = fold_scores(systems, ACCURACY)
    assert share == pytest.approx(1 / 3)
    assert len(scores.units) == 4
    assert scores.column("A") == pytest.approx([2 / 3, 5 / 6, 1, 5 / 6])
    assert [note.code for note in scores.notes] == ["runs"]
    other = tuple("0123"[n % 4] for n in range(12))
    mixed = [replace(one, folds=(*FOLDS, *other)) for one in systems]
    scores, _ = fold_scores(mixed, ACCURACY)
    assert scores.units == tuple(f"{run}/{fold}" for run in "12" for fold in "0123")
    assert scores.notes == ()


def test_a_fold_on_which_a_measure_does_not_exist_is_left_out_and_named():
    systems = [made("A", [1], folds=FOLDS), made("B", [3], folds=FOLDS)]
    scores, _ = fold_scores(systems, parse_measure("precision(macro)"))
    assert scores.dropped == ("0",)
    (note,) = scores.notes
    assert "precision(macro) of A is undefined in fold 0" in note.text
    assert "precision(macro, undefined=0) counts such a class as 0" in note.text


def test_units_are_paired_by_id_and_not_by_position():
    first, second = made("A", [0]), made("B", [11]).select(range(11, -1, -1))
    scores = unit_scores([first, second], ACCURACY)
    assert scores.units == UNITS
    assert scores.column("A").tolist() == [0.0] + [1.0] * 11
    assert scores.column("B").tolist() == [1.0] * 11 + [0.0]
    assert unit_scores([first, made("B", [11])], ACCURACY).data == scores.data
    assert unit_scores([first, second.select(range(6))], ERROR).dropped == UNITS[:6]
    # A unit of several repeats counts with its mean.
    scores = unit_scores([twice("A", [0], [0, 1]), twice("B", [], [2])], ACCURACY)
    assert scores.column("A").tolist() == [0, 0.5] + [1.0] * 10
    assert scores.column("B").tolist() == [1, 1, 0.5] + [1.0] * 9


def test_groups_count_by_their_means():
    groups = ("g",) * 4 + ("h",) * 8
    both = [made("A", [0, 4], groups=groups), made("B", [1, 2], groups=groups)]
    scores = unit_scores(both, ACCURACY)
    assert scores.units == ("g", "h")
    assert scores.values.tolist() == [[0.75, 0.5], [0.875, 1.0]]
    assert [note.code for note in scores.notes] == ["grouped"]


def test_what_cannot_be_paired_is_refused():
    groups, sure = ("g",) * 4 + ("h",) * 8, np.eye(2)[np.zeros(12, int)]
    folded = made("A", [0], folds=FOLDS)
    heavy = replace(folded, name="B", weights=np.arange(12.0))
    even = replace(heavy, name="C", weights=np.ones(12))
    other = replace(folded, name="B", truth=1 - TRUTH)
    all_yes = made("A", TRUTH.nonzero()[0], folds=tuple("01" * 6))
    grouped = [made("A", [0], groups=groups), made("B", [0], groups=groups[::-1])]
    certain = made("A", [0], scores=sure, probabilities=True)
    number = NumberPredictions("N", ("u0",), np.array([1.0]), np.array([2.0]))
    numbers = [number, replace(number, name="M", truth=np.array([1.5]))]
    by_fold = {
        "do not have the same units in the same folds": [folded, made("B", [0], folds=FOLDS[::-1])],
        "no column fold": [made("A", [0])],
        "only one fold": [made("A", [0], folds=("0",) * 12)],
        "only some of A, B have weights": [folded, heavy],
        "unit u0 has weight 0 in B, but 1 in C": [heavy, even],
        "is undefined in every fold": [all_yes],
    }
    for says, systems in by_fold.items():
        measure = "precision(class=yes)" if systems[0] is all_yes else "error"
        with pytest.raises(InputError, match=says):
            fold_scores(systems, parse_measure(measure))
    by_unit = {
        "the truth of unit u0 is yes in B, but no in A": ("error", [folded, other]),
        "B: units have weights": ("error", [heavy]),
        "MCC is not a mean over units": ("MCC", [folded]),
        "infinite: 6 units have probability 0": ("log-loss", [certain]),
        "in group g, but in group h": ("error", grouped),
        r"truth of unit u0 is 1\.5 in M, but 1\.0 in N": ("MAE", numbers),
    }
    for says, (measure, systems) in by_unit.items():
        with pytest.raises((InputError, MeasureError), match=says):
            unit_scores(systems, parse_measure(measure))


def test_the_fingerprint_does_not_depend_on_the_order():
    classes, numbers = made("A", [0]), NumberPredictions("N", UNITS, TRUTH / 3, TRUTH / 4)
    turned = classes.select(range(11, -1, -1))
    plain = [data_fingerprint(one) for one in ([classes], [classes, turned], [numbers])]
    assert plain[0] == plain[1] != plain[2]
    # Written out once, so that ledgers keep knowing their data.
    assert plain[0] == "f6300611ca82cbd8"

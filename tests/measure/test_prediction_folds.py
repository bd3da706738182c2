"""Predictions of several systems as scores: paired by unit, group or fold."""

import numpy as np
import pytest

from heldout import ClassPredictions, InputError, NumberPredictions, compare
from heldout.errors import MeasureError
from heldout.infer.results import mean_estimate
from heldout.measure.names import parse_measures
from heldout.measure.prediction.folds import data_fingerprint, fold_scores, unit_scores

UNITS = tuple(f"u{n}" for n in range(12))
TRUTH = np.array([0, 1] * 6)
FOLDS = tuple(str(n // 3) for n in range(12))


def made(name, wrong, **more):
    predicted = TRUTH.copy()
    predicted[list(wrong)] = 1 - predicted[list(wrong)]
    return ClassPredictions(name, UNITS, ("no", "yes"), TRUTH, predicted, **more)


def measure(name, task="classification"):
    return parse_measures([name], task)[0]


def test_folds_know_their_share_of_test_to_train():
    systems = [made("A", [0, 1, 5, 9], folds=FOLDS), made("B", [3, 10], folds=FOLDS)]
    scores, share = fold_scores(systems, measure("accuracy"))
    assert share == pytest.approx(1 / 3)
    assert scores.column("A") == pytest.approx([1 / 3, 2 / 3, 1, 2 / 3])
    result = compare(scores, test_share=share)
    gaps = scores.column("B") - scores.column("A")
    assert result.claims[0].outcomes[0].p == pytest.approx(mean_estimate(gaps, 1 / 4 + 1 / 3).p())
    # Folds of different sizes: the mean of their shares.
    uneven = tuple("a" if n < 4 else "b" for n in range(12))
    _, share = fold_scores([made("A", [0], folds=uneven)], measure("accuracy"))
    assert share == pytest.approx((4 / 8 + 8 / 4) / 2)


def test_a_fold_on_which_a_measure_does_not_exist_is_left_out_and_named():
    # In fold 0 "yes" is never predicted, so its precision does not exist.
    systems = [made("A", [1], folds=FOLDS), made("B", [3], folds=FOLDS)]
    scores, _ = fold_scores(systems, measure("precision(macro)"))
    assert scores.dropped == ("0",)
    assert "precision(macro) of A is undefined in fold 0" in scores.notes[0].text


def test_units_are_paired_by_id_and_not_by_position():
    first, second = made("A", [0]), made("B", [11]).select(range(11, -1, -1))
    scores = unit_scores([first, second], measure("accuracy"))
    assert scores.units == UNITS
    assert scores.column("A").tolist() == [0.0] + [1.0] * 11
    assert scores.column("B").tolist() == [1.0] * 11 + [0.0]
    part = unit_scores([first, second.select(range(6))], measure("error"))
    assert part.dropped == UNITS[:6]
    assert not part.higher_is_better


def test_groups_count_by_their_means():
    groups = ("g",) * 4 + ("h",) * 8
    scores = unit_scores(
        [made("A", [0, 4], groups=groups), made("B", [1, 2], groups=groups)], measure("accuracy")
    )
    assert scores.units == ("g", "h")
    assert scores.values.tolist() == [[0.75, 0.5], [0.875, 1.0]]
    with pytest.raises(InputError, match="in group g, but in group h"):
        unit_scores(
            [made("A", [0], groups=groups), made("B", [0], groups=groups[::-1])],
            measure("accuracy"),
        )


def test_what_cannot_be_paired_is_refused():
    with pytest.raises(InputError, match="do not have the same units in the same folds"):
        fold_scores(
            [made("A", [0], folds=FOLDS), made("B", [0], folds=FOLDS[::-1])], measure("accuracy")
        )
    with pytest.raises(InputError, match="no column fold"):
        fold_scores([made("A", [0])], measure("accuracy"))
    with pytest.raises(InputError, match="only one fold"):
        fold_scores([made("A", [0], folds=("0",) * 12)], measure("accuracy"))
    with pytest.raises(InputError, match="units have weights"):
        unit_scores([made("A", [0], weights=np.ones(12))], measure("accuracy"))
    with pytest.raises(MeasureError, match="MCC is not a mean over units"):
        unit_scores([made("A", [0])], measure("MCC"))
    with pytest.raises(MeasureError, match="A: log-loss: there are no probabilities"):
        unit_scores([made("A", [0])], measure("log-loss"))
    sure = np.zeros((12, 2))
    sure[:, 0] = 1
    with pytest.raises(MeasureError, match=r"infinite: 6 units have probability 0"):
        unit_scores([made("A", [0], scores=sure, probabilities=True)], measure("log-loss"))
    other = NumberPredictions("N", ("u0",), np.array([1.0]), np.array([2.0]))
    again = NumberPredictions("M", ("u0",), np.array([1.5]), np.array([2.0]))
    with pytest.raises(InputError, match=r"truth of unit u0 is 1\.5 in M, but 1\.0 in N"):
        unit_scores([other, again], measure("MAE", "regression"))


def test_the_fingerprint_does_not_depend_on_the_order():
    classes, numbers = made("A", [0]), NumberPredictions("N", UNITS, TRUTH / 3, TRUTH / 4)
    turned = classes.select(range(11, -1, -1))
    plain = [data_fingerprint(one) for one in ([classes], [classes, turned], [numbers])]
    assert plain[0] == plain[1] != plain[2]
    # Written out once, so that ledgers keep knowing their data.
    assert plain[0] == "f6300611ca82cbd8"


def test_the_same_units_in_the_same_order_are_scored_as_in_any_other():
    first, second = made("A", [0, 3]), made("B", [1])
    turned = second.select(range(11, -1, -1))
    straight, paired = (unit_scores([first, one], measure("accuracy")) for one in (second, turned))
    assert straight.units == paired.units
    assert straight.values.tolist() == paired.values.tolist()
    assert (straight.data, straight.dropped) == (paired.data, paired.dropped)


def test_the_first_unit_with_another_truth_is_named():
    other = ClassPredictions("B", UNITS, ("no", "yes"), 1 - TRUTH, TRUTH)
    with pytest.raises(InputError, match="the truth of unit u0 is yes in B, but no in A"):
        unit_scores([made("A", [0]), other], measure("accuracy"))

"""Predictions of one system, and the value of a measure on them, for tests."""

import numpy as np

from heldout import ClassPredictions, NumberPredictions, parse_measure


def classed(truth, guess=None, classes=(), weights=None, scores=None, **more):
    """Predictions of classes given by name; scores have one column per class."""
    names = tuple(classes) or tuple(sorted({*truth, *(guess or ())}))
    return ClassPredictions(
        "A",
        tuple(map(str, range(len(truth)))),
        names,
        np.array([names.index(one) for one in truth]),
        None if guess is None else np.array([names.index(one) for one in guess]),
        None if scores is None else np.asarray(scores, float),
        weights=None if weights is None else np.asarray(weights, float),
        **more,
    )


def ranked(flags, scores, weights=None):
    """Predictions of two classes by the score of the positive one."""
    pair = np.column_stack([-np.asarray(scores, float), np.asarray(scores, float)])
    truth = ["yes" if flag else "no" for flag in flags]
    return classed(truth, classes=("no", "yes"), weights=weights, scores=pair)


def numbered(truth, guess, weights=None):
    units = tuple("abcdefghij"[: len(truth)]) if len(truth) < 11 else range(len(truth))
    return NumberPredictions(
        "A",
        tuple(map(str, units)),
        np.asarray(truth, float),
        np.asarray(guess, float),
        None if weights is None else np.asarray(weights, float),
    )


def value(name, given):
    task = "classification" if isinstance(given, ClassPredictions) else "regression"
    return parse_measure(name, task).compute(given)

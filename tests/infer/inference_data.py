"""Published data, tables of scores and predictions, shared by the tests of inference."""

import numpy as np

from heldout import ClassPredictions, NumberPredictions, Scores

SIDES = ("two-sided", "greater", "less")
# The ten folds of a worked example: means .41 and .48.
A = np.array([0.2, 0.3, 0.1, 0.4, 1, 0.8, 0.3, 0.1, 0, 0.9])
B = np.array([0.5, 0.3, 0.1, 0.4, 1, 0.9, 0.1, 0.2, 0.5, 0.8])
# Darwin's maize, as tested by Fisher (1935), The Design of Experiments, section 21.
MAIZE = np.array([49, -67, 8, 16, 6, 23, 28, 41, 14, 29, 56, 24, 75, 60, -48.0])
# T. Sakai (2018), Laboratory Experiments in Information Retrieval, table 5.1.
SAKAI = (
    np.array(
        [
            [7, 3, 2, 6, 4, 4, 0, 7, 1, 3, 5, 4, 0, 6, 5, 3, 1, 5, 2, 1],
            [5, 1, 0, 2, 4, 3, 0, 5, 3, 3, 4, 4, 1, 4, 2, 1, 1, 6, 3, 2],
            [0, 0, 2, 1, 3, 3, 1, 2, 4, 4, 4, 3, 3, 2, 2, 2, 1, 5, 4, 3],
        ]
    ).T
    / 10
)


def scores_of(columns, **more):
    """Scores of systems by name, or of the columns of an array, named s0, s1, …"""
    if isinstance(columns, np.ndarray):
        columns = {f"s{number}": column for number, column in enumerate(columns.T)}
    named = {
        name: {f"q{row}": float(value) for row, value in enumerate(values)}
        for name, values in columns.items()
    }
    return Scores.of(named, "AP", **more)


def smooth(units, seed=0, shift=0.05):
    """Differences that lie on no lattice."""
    return np.random.default_rng(seed).normal(shift, 0.2, units)


def share_as_extreme(sums, observed, side, center=0.0, tie=1e-12):
    """The share of sums around a centre that are as extreme as the observed one."""
    sums = np.asarray(sums) - center
    far = {
        "two-sided": np.abs(sums) >= abs(observed) - tie,
        "greater": sums >= observed - tie,
        "less": sums <= observed + tie,
    }
    return np.mean(far[side])


def of_classes(name, strength, units=200, seed=0, **more):
    """Predictions of two classes; the stronger, the more often they are right."""
    truth = np.arange(units) % 2
    noise = np.random.default_rng([seed, len(name), ord(name[0])]).normal(size=units)
    share = 1 / (1 + np.exp(-strength * (2 * truth - 1) - noise))
    return ClassPredictions(
        name,
        tuple(f"u{number}" for number in range(units)),
        ("ham", "spam"),
        truth,
        (share > 0.5).astype(int),
        np.column_stack([1 - share, share]),
        probabilities=True,
        **more,
    )


def of_numbers(name, off, units=60, **more):
    """Predictions of numbers with errors of this standard deviation."""
    truth = np.linspace(1, 10, units)
    guess = truth + off * np.random.default_rng(len(name)).normal(size=units)
    return NumberPredictions(name, tuple(map(str, range(units))), truth, guess, **more)


def excludes_zero(interval):
    return not interval.low <= 0 <= interval.high


def codes(notes):
    return [note.code for note in notes]

"""Warnings about scores under human and machine judgements."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import numpy as np

from heldout.infer.results import drop_noise
from heldout.notes import Note

if TYPE_CHECKING:
    from heldout.data.scores import MachineScores, Scores
    from heldout.data.words import Floats

__all__ = ["FEWEST", "SUSPICIOUS", "machine_warnings"]

FEWEST: Final = 25
"""Human queries from which on coverage was measured; benchmarks/machine_judgements.py."""

DIFFERING: Final = 10
"""Human queries on which two systems must differ: below, intervals are too narrow."""

SUSPICIOUS: Final = 0.01
"""p-value below which a check of the assumptions is worth a warning."""

SHOWN: Final = 3
"""Pairs that a warning names at most."""


def machine_warnings(scores: Scores) -> list[Note]:
    """Return what could mislead about combined estimates, for a measure and all systems.

    Parameters
    ----------
    scores
        The scores under both judgements.
    """
    machine = scores.machine
    if machine is None:
        return []
    notes = []
    if len(scores.units) < FEWEST:
        text = (
            f"only {len(scores.units)} queries with human judgements: combined intervals were "
            f"checked from {FEWEST} on, and may be too narrow"
        )
        notes.append(Note("few-human-queries", text))
    return [*notes, *_unlike(scores, machine), *_favours(scores, machine), *_few_differ(scores)]


def _unlike(scores: Scores, machine: MachineScores) -> list[Note]:
    """Warn if the machine's scores of human queries are unlike those of the others."""
    known, extra = machine.known.mean(1), machine.extra.mean(1)
    p = _welch(known, extra)
    if p >= SUSPICIOUS:
        return []
    text = (
        f"the queries with human judgements are not like the others: under machine judgements the "
        f"mean {scores.measure} is {known.mean():.4f} on them and {extra.mean():.4f} on the "
        f"others (p = {p:.2g}); combined estimates need a random sample of all queries"
    )
    return [Note("unlike-queries", text)]


def _favours(scores: Scores, machine: MachineScores) -> list[Note]:
    """Warn if the machine overrates or underrates a system more than the others."""
    errors = machine.known - scores.values
    count = errors.shape[1]
    if count < 2:
        return []
    excess = (errors - errors.mean(1, keepdims=True)) * count / (count - 1)
    p_values = np.array([_one_sample(column) for column in excess.T])
    # With two systems the second excess is the first with the opposite sign: one test.
    tests = 1 if count == 2 else count
    means = excess.mean(0)
    order = np.lexsort((-means, p_values))
    system = int(order[0]) if count > 2 else int(means.argmax())
    if tests * p_values[system] >= SUSPICIOUS:
        return []
    how = "overrates" if means[system] > 0 else "underrates"
    text = (
        f"the machine {how} {scores.systems[system]} by {abs(means[system]):.4f} {scores.measure} "
        f"compared with the other systems (p = {tests * p_values[system]:.2g}): do not trust "
        "machine-only scores, least of all if a system uses the model that judges; the combined "
        "estimates correct it"
    )
    return [Note("machine-favours", text)]


def _few_differ(scores: Scores) -> list[Note]:
    """Warn about pairs that differ on few human queries: their variance is hardly known."""
    few = []
    for second in range(1, len(scores.systems)):
        gaps = drop_noise(scores.values[:, second, None], scores.values[:, :second])
        for first, differ in enumerate(np.count_nonzero(gaps, axis=0).tolist()):
            if differ < DIFFERING:
                few.append(f"{scores.systems[second]} - {scores.systems[first]} {differ}")
    if not few:
        return []
    more = f" and {len(few) - SHOWN} more pairs" if len(few) > SHOWN else ""
    text = (
        f"systems differ on few of the {len(scores.units)} queries with human judgements "
        f"({', '.join(few[:SHOWN])}{more}): the interval is too narrow; judge more queries, or use "
        "a measure that tells more systems apart"
    )
    return [Note("few-differ", text)]


def _one_sample(values: Floats) -> float:
    from scipy.special import stdtr  # slow to import

    error = values.std(ddof=1) / np.sqrt(len(values))
    if error <= 1e-12:
        return 1.0
    return float(2 * stdtr(len(values) - 1, -abs(values.mean() / error)))


def _welch(first: Floats, second: Floats) -> float:
    """Return the p-value of Welch's t test."""
    from scipy.special import stdtr  # slow to import

    one, two = first.var(ddof=1) / len(first), second.var(ddof=1) / len(second)
    if one + two <= 1e-24:
        return 1.0
    freedom = (one + two) ** 2 / (one**2 / (len(first) - 1) + two**2 / (len(second) - 1))
    return float(2 * stdtr(freedom, -abs(first.mean() - second.mean()) / np.sqrt(one + two)))

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
    """Warn if the machine prefers a system that people do not prefer as much.

    Errors at random make all differences smaller, which overrates the worse systems; that is no
    preference. So the system must be ahead of the others under machine judgements.
    """
    if len(scores.systems) < 2:
        return []
    sign = 1.0 if scores.higher_is_better else -1.0
    by_people, by_machine = (sign * _excess(part) for part in (scores.values, machine.known))
    preferred = by_machine - by_people
    ahead = (by_machine.mean(0) > np.maximum(by_people.mean(0), 0)).tolist()
    tests = len(scores.systems) if len(scores.systems) > 2 else 1  # of two, one mirrors the other
    p_values = [
        tests * _one_sample(column) if ahead[at] else 1.0 for at, column in enumerate(preferred.T)
    ]
    system = int(np.argmin(p_values))
    if p_values[system] >= SUSPICIOUS:
        return []
    text = (
        f"the machine overrates {scores.systems[system]} by {preferred[:, system].mean():.4f} "
        f"{scores.measure} compared with the other systems (p = {p_values[system]:.2g}): do not "
        "use scores under machine judgements alone, least of all if a system uses the model that "
        "judges; the combined estimates correct it"
    )
    return [Note("machine-favours", text)]


def _excess(values: Floats) -> Floats:
    """Return scores minus the mean score of the other systems."""
    systems = values.shape[1]
    excess: Floats = (values - values.mean(1, keepdims=True)) * (systems / (systems - 1))
    return excess


def _few_differ(scores: Scores) -> list[Note]:
    """Warn about pairs that differ on few human queries: their variance is hardly known."""
    from heldout.infer.intervals import DIFFERING, from_commonest  # rarely needed

    few = []
    for second in range(1, len(scores.systems)):
        gaps = drop_noise(scores.values[:, second, None], scores.values[:, :second])
        for first, differ in enumerate(np.count_nonzero(from_commonest(gaps), axis=0).tolist()):
            if differ < DIFFERING:
                few.append(f"{scores.systems[second]} - {scores.systems[first]} {differ}")
    if not few:
        return []
    more = f" and {len(few) - SHOWN} more pairs" if len(few) > SHOWN else ""
    text = (
        f"systems differ on few of the {len(scores.units)} queries with human judgements "
        f"({', '.join(few[:SHOWN])}{more}): intervals are wider for it, and rough; judge more "
        "queries, or use a measure that tells more systems apart"
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

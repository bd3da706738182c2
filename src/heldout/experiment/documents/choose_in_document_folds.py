"""Choose parameters in document folds: each fold on its training documents alone.

The held-out documents of a fold have no influence on its choice: neither their judgements nor their
term statistics are used.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from heldout.errors import InputError
from heldout.retrieve.sides import seen_side

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from heldout.experiment.documents.candidates import Candidates
    from heldout.measure.base import Measure
    from heldout.tune.choice import Rule

    Floats = NDArray[np.float64]
    Numbers = NDArray[np.int32]

__all__ = ["Choices", "choose_values"]


@dataclass(frozen=True, slots=True, eq=False)
class Choices:
    """The parameter settings chosen on training sides.

    Parameters
    ----------
    chosen
        The number of the setting of each fold.
    surface
        Folds × settings: mean of the tuning measure on each training side.
    final, final_surface
        The setting chosen on all documents, and the means by which it was chosen.
    """

    chosen: tuple[int, ...]
    surface: Floats
    final: int
    final_surface: Floats


def choose_values(
    candidates: Candidates,
    folds: Numbers,
    number: int,
    tune_for: Measure,
    *,
    rule: Rule = "best",
) -> Choices:
    """Choose parameters on each training side, and on all data.

    Parameters
    ----------
    folds, number
        The fold of each document (−1: not in the sample), and the number of folds.
    """
    from heldout.tune.choice import choose

    sample = folds >= 0
    if len(candidates) == 1:
        flat = np.full((number, 1), np.nan)
        return Choices((0,) * number, flat, 0, flat[0])
    chosen, surface = [], []
    for fold in [*range(number), None]:
        seen = sample & (folds != fold) if fold is not None else sample
        side = seen_side(candidates.index, candidates.vocabulary, seen)
        values = candidates.evaluate(side, [tune_for])[0]
        if not np.isfinite(values).any():
            raise InputError("no query has a relevant document on a training side: use fewer folds")
        choice = choose(
            values,
            None,
            rule=rule,
            higher_is_better=tune_for.higher_is_better is not False,
        )
        chosen.append(int(choice.number))
        surface.append(np.asarray(choice.means, np.float64))
    return Choices(tuple(chosen[:-1]), np.stack(surface[:-1]), chosen[-1], surface[-1])

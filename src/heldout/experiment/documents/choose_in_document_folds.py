"""Choose parameters in document folds: each fold on its training documents alone.

The held-out documents of a fold have no influence on its choice: neither their judgements nor their
term statistics are used.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from heldout.errors import InputError
from heldout.retrieve.sides import held_out_side, seen_side

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from heldout.experiment.documents.candidates import Candidates
    from heldout.measure.ranking.names import RankingMeasure
    from heldout.retrieve.sides import Side
    from heldout.tune.choice import Rule

    Floats = NDArray[np.float64]
    Groups = NDArray[np.int64]
    Numbers = NDArray[np.int32]

__all__ = ["Choices", "choose_values", "train_side"]


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


def _inner_side(
    candidates: Candidates,
    seen: NDArray[np.bool_],
    inner: int,
    seed: int,
    groups: Groups | None = None,
) -> Side:
    """Return the documents of a training side, each held out once by inner folds."""
    numbers = np.flatnonzero(seen)
    by_id = numbers[np.argsort(np.asarray(candidates.index.id_order)[numbers])]
    codes = np.full(len(seen), -1, np.int32)
    codes[np.random.default_rng([seed, 0x696E]).permutation(by_id)] = np.arange(len(by_id)) % inner
    if groups is not None:  # all documents of a group get the fold of one of them
        fold_of = np.zeros(int(groups.max()) + 1, np.int32)
        fold_of[groups[numbers]] = codes[numbers]
        codes[numbers] = fold_of[groups[numbers]]
    return held_out_side(candidates.index, candidates.vocabulary, codes, inner, pooled=True)


def train_side(
    candidates: Candidates,
    seen: NDArray[np.bool_],
    inner: int | None,
    seed: int,
    groups: Groups | None = None,
) -> Side:
    """Return the documents that parameters are chosen on.

    Parameters
    ----------
    seen
        Which documents.
    inner
        None: they are ranked with their own statistics; a number: by that many inner folds, in
        which every document is held out once.
    groups
        The group of each document; groups are not divided by inner folds. None: no groups.
    """
    if inner is None:
        return seen_side(candidates.index, candidates.vocabulary, seen)
    return _inner_side(candidates, seen, inner, seed, groups)


def choose_values(
    candidates: Candidates,
    folds: Numbers,
    number: int,
    tune_for: RankingMeasure,
    *,
    inner: int | None = None,
    rule: Rule = "best",
    seed: int = 0,
    groups: Groups | None = None,
) -> Choices:
    """Choose parameters on each training side, and on all data.

    Parameters
    ----------
    folds, number
        The fold of each document (−1: not in the sample), and the number of folds.
    inner
        None: by the ranking of the training documents themselves; a number: by that many inner
        folds, in which every training document is held out once.
    groups
        The group of each document; groups are not divided by inner folds. None: no groups.
    """
    from heldout.tune.choice import choose

    sample = folds >= 0
    if len(candidates) == 1:
        flat = np.full((number, 1), np.nan)
        return Choices((0,) * number, flat, 0, flat[0])
    chosen, surface = [], []
    for fold in [*range(number), None]:
        seen = sample & (folds != fold) if fold is not None else sample
        side = train_side(
            candidates, seen, inner, seed + (fold if fold is not None else number), groups
        )
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

"""Candidates: the parameter settings of a model, ranked on any side of the documents."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from heldout.errors import InputError
from heldout.experiment.documents.lists import Lists
from heldout.experiment.documents.rank_table import RankTable, needed_depth
from heldout.retrieve.rank import rank
from heldout.retrieve.sides import seen_side
from heldout.tune.choice import NO_CHOICE, choose

if TYPE_CHECKING:
    from collections.abc import Sequence

    from heldout.data.collection import Collection
    from heldout.data.words import Flags, Floats
    from heldout.measure.base import Measure
    from heldout.retrieve.index import Index
    from heldout.retrieve.kernels.types import Numbers
    from heldout.retrieve.models import Model
    from heldout.retrieve.rank import Ranking
    from heldout.retrieve.sides import Side
    from heldout.retrieve.statistics import Vocabulary
    from heldout.tune.choice import Choice


@dataclass(frozen=True, slots=True, eq=False)
class Candidates:
    """Parameter settings of one model, with one index and one set of queries."""

    index: Index
    vocabulary: Vocabulary  # the terms of the queries
    table: RankTable  # the judgements
    models: tuple[Model, ...]  # at each setting, the simplest first
    depth: int = 1000  # ranks beyond it count as not retrieved
    priors: Floats | None = None  # documents × settings: added to scores, for studies of bias

    @classmethod
    def make(
        cls,
        index: Index,
        collection: Collection,
        models: Sequence[Model],
        *,
        depth: int = 1000,
        priors: Floats | None = None,
    ) -> Candidates:
        """Look up the queries of a collection in its index."""
        vocabulary = index.encode(collection.queries.texts)
        return cls(index, vocabulary, RankTable.of(collection), tuple(models), depth, priors)

    def __len__(self) -> int:
        return len(self.models)

    def rank(
        self,
        side: Side,
        numbers: Sequence[int] | None = None,
        *,
        by_fold: bool = False,
        k: int = 0,
        depth: int | None = None,
    ) -> Ranking:
        """Rank a side under some settings (None: all), or each fold under the one given for it.

        Judged documents get ranks, exact up to `depth`; with `k`, there are lists of `k` places.
        """
        some = list(range(len(self)) if numbers is None else numbers)
        models, priors = [self.models[number] for number in some], self.priors
        if priors is not None:
            priors = priors[:, some]
            if by_fold:
                own = np.maximum(side.statistics, 0)[:, None]
                priors = np.take_along_axis(priors, own, axis=1)
        settings = [[model] for model in models] if by_fold else [models]
        asked = None if k else self.table.asked()
        index, terms = self.index, self.vocabulary
        return rank(
            index, terms, settings, side, k=k, judged=asked, priors=priors, depth=k or depth
        )

    def lists(
        self, side: Side, numbers: Sequence[int], k: int, *, by_fold: bool = False
    ) -> list[Lists]:
        """Return lists of `k` places under each setting, or of each fold under its own."""
        ranking = self.rank(side, numbers, by_fold=by_fold, k=k)
        queries = len(ranking.documents)
        documents = ranking.documents.reshape(queries, -1, k)
        scores = ranking.scores.reshape(queries, -1, k)
        return [Lists(documents[:, n], scores[:, n]) for n in range(documents.shape[1])]

    def evaluate(
        self, side: Side, measures: Sequence[Measure], numbers: Sequence[int] | None = None
    ) -> Floats:
        """Return measures × settings × queries on a side with a list per query; NaN: undefined."""
        ranking = self.rank(side, numbers, depth=needed_depth(measures, self.depth))
        return self.table.evaluate(
            ranking.ranks, self.counted(side), ranking.retrieved[:, 0], measures, self.depth
        )

    def counted(self, side: Side) -> Flags:
        """Return which judgements are of documents that the side ranks."""
        counted: Flags = side.statistics[self.table.documents] >= 0
        return counted


def choose_in_folds(
    candidates: Candidates, folds: Numbers, number: int, tune_for: Measure
) -> tuple[list[Choice], Choice]:
    """Choose on the training documents of each of a `number` of folds alone, and on all of them."""
    if len(candidates) == 1:
        return [NO_CHOICE] * number, NO_CHOICE
    choices = []
    for fold in range(number + 1):  # the last one has no documents
        side = seen_side(candidates.index, candidates.vocabulary, (folds >= 0) & (folds != fold))
        values = candidates.evaluate(side, [tune_for])[0]
        if not np.isfinite(values).any():
            raise InputError("no query has a relevant document on a training side: use fewer folds")
        better = tune_for.higher_is_better is not False
        choices.append(choose(values, higher_is_better=better))
    return choices[:-1], choices[-1]

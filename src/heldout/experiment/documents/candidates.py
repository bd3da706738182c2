"""Candidates: the parameter settings of a model, ranked on any side of the documents."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from heldout.experiment.documents.rank_table import RankTable, needed_depth
from heldout.retrieve.rank import rank

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from heldout.data.collection import Collection
    from heldout.measure.base import Measure
    from heldout.retrieve.index import Index
    from heldout.retrieve.models import Model
    from heldout.retrieve.rank import Ranking
    from heldout.retrieve.sides import Side
    from heldout.retrieve.statistics import Vocabulary

    Flags = NDArray[np.bool_]
    Floats = NDArray[np.float64]

__all__ = ["Candidates"]


@dataclass(frozen=True, slots=True, eq=False)
class Candidates:
    """Parameter settings of one model, with one index and one set of queries.

    Parameters
    ----------
    index, vocabulary, table
        The documents, the terms of the queries, the judgements.
    models
        The model at each setting, the simplest first.
    priors
        Documents × settings: added to the score of each document; None: nothing.
    depth
        Ranks beyond it count as not retrieved.
    """

    index: Index
    vocabulary: Vocabulary
    table: RankTable
    models: tuple[Model, ...]
    priors: Floats | None = None
    depth: int = 1000

    @classmethod
    def make(
        cls,
        index: Index,
        collection: Collection,
        models: Sequence[Model],
        *,
        priors: Floats | None = None,
        depth: int = 1000,
    ) -> Candidates:
        """Look up the queries of a collection in its index."""
        vocabulary = index.encode(collection.queries.texts)
        deepest = max(min(depth, index.n_documents), 1)  # lists are never longer
        return cls(index, vocabulary, RankTable.of(collection), tuple(models), priors, deepest)

    def __len__(self) -> int:
        return len(self.models)

    def rank(
        self,
        side: Side,
        numbers: Sequence[int] | None = None,
        *,
        k: int = 0,
        judged: bool = True,
        depth: int | None = None,
    ) -> Ranking:
        """Rank a side under some settings (None: all); for a setting per fold see `rank_chosen`.

        Parameters
        ----------
        k
            Number of documents in each list.
        judged
            Whether the ranks of judged documents are needed.
        depth
            Ranks beyond it are not needed; None: all are.
        """
        some = range(len(self)) if numbers is None else numbers
        return rank(
            self.index,
            self.vocabulary,
            [[self.models[number] for number in some]],
            side,
            k=k,
            judged=self.table.asked() if judged else None,
            priors=None if self.priors is None else self.priors[:, list(some)],
            depth=depth,
        )

    def rank_chosen(
        self,
        side: Side,
        chosen: Sequence[int],
        *,
        k: int = 0,
        judged: bool = True,
        depth: int | None = None,
    ) -> Ranking:
        """Rank a side; the documents of each fold are scored under the setting chosen for it."""
        priors = None
        if self.priors is not None:
            own = np.asarray(chosen)[np.maximum(side.statistics, 0)]
            priors = np.take_along_axis(self.priors, own[:, None], axis=1)
        return rank(
            self.index,
            self.vocabulary,
            [[self.models[number]] for number in chosen],
            side,
            k=k,
            judged=self.table.asked() if judged else None,
            priors=priors,
            depth=depth,
        )

    def evaluate(
        self, side: Side, measures: Sequence[Measure], numbers: Sequence[int] | None = None
    ) -> Floats:
        """Return measures × settings × queries on a side with a list per query; NaN: undefined."""
        found = self.rank(side, numbers, depth=needed_depth(measures, self.depth))
        return self.table.evaluate(
            found.ranks, self.counted(side), found.retrieved[:, 0], measures, self.depth
        )

    def counted(self, side: Side) -> Flags:
        """Return which judgements are of documents that the side ranks."""
        counted: Flags = side.statistics[self.table.documents] >= 0
        return counted

"""Many splits of the documents at once, such as bootstrap replicates: each one is a lane.

The scores of a model in two replicates differ only by the statistics of the terms, so a document is
read once for all replicates. Every value is bitwise the one that a single split gives. It is
several times faster, for models that sum over terms and for measures with a cutoff: these need only
the top of a list.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Final

import numpy as np

from heldout.experiment.documents.estimate import mean_of
from heldout.experiment.documents.make_estimates import document_estimates
from heldout.experiment.documents.ranked_lists import Lists, measure_lists
from heldout.experiment.documents.uncertainty import places_that_matter
from heldout.experiment.systems.model_records import SideRecord
from heldout.experiment.systems.model_schemes import choose_point
from heldout.experiment.systems.outcomes import Chosen
from heldout.measure.base import JUDGED_ONLY
from heldout.retrieve.kernels.types import LIKELIHOOD
from heldout.retrieve.rank import rank_times
from heldout.retrieve.statistics import weighted_statistics

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from numpy.typing import NDArray

    from heldout.experiment.documents.candidates import Candidates
    from heldout.experiment.settings import RankingSettings
    from heldout.measure.base import Measure
    from heldout.resample.split import Split
    from heldout.retrieve.models import Model

    Flags = NDArray[np.bool_]
    Floats = NDArray[np.float64]

__all__ = ["PARTS", "evaluate_splits", "splits_at_once", "train_parts"]

PARTS: Final = 10
"""Parts of a training side that are evaluated beside a held-out one, at most."""
_CELLS: Final = 1 << 23
"""Places of ranked lists held at once."""
_MOST: Final = 64


def splits_at_once(settings: RankingSettings, model: Model) -> int:
    """Return the number of splits that are evaluated together; 1: this is not possible."""
    measures = [*settings.measures, settings.tune_for]
    if model.form.kind == LIKELIHOOD or not all(map(_needs_the_top, measures)):
        return 1
    cells = len(settings.collection.queries) * _places(settings)
    return min(max(_CELLS // max(cells, 1), 1), _MOST, len(settings.splits))


def _needs_the_top(measure: Measure) -> bool:
    """Return whether nothing below its cutoff can change its value."""
    own = measure.definition.own is not None  # of a user, may look at any rank
    return measure.cutoff is not None and not own and not measure.parameters.get(JUDGED_ONLY)


def _places(settings: RankingSettings) -> int:
    """Return how much of a list is kept: for the table, the measures, and the jackknife."""
    longest = max(settings.depth, settings.kept)
    return max(
        places_that_matter(longest, settings.measures), settings.kept, _cutoff([settings.tune_for])
    )


def _cutoff(measures: Sequence[Measure]) -> int:
    return max(int(measure.cutoff or 0) for measure in measures)


def train_parts(
    settings: RankingSettings, candidates: Candidates, seen: Flags, size: int
) -> NDArray[np.int32]:
    """Return parts of the training documents as large as the held-out side; −1: in none.

    A score depends on the number of documents, and the training side has another number. It is
    therefore cut into parts of the size of the held-out side, each ranked by itself. None, if it
    is smaller than that.
    """
    index, rows = candidates.index, np.flatnonzero(seen)
    part = np.full(index.n_documents, -1, np.int32)
    parts = min(len(rows) // max(size, 1), PARTS)
    if parts:
        by_id = rows[np.argsort(np.asarray(index.id_order)[rows])]
        random = np.random.default_rng([settings.seed, 0x7365656E])
        drawn = random.permutation(by_id)[: parts * size]
        part[drawn] = np.arange(len(drawn)) % parts
    return part


def evaluate_splits(
    settings: RankingSettings, candidates: Candidates, splits: Sequence[Split]
) -> Iterator[SideRecord]:
    """Choose on the training side of each split, and evaluate the choice on the held-out side."""
    block = _Block(settings, candidates, splits)
    chosen = block.choices()
    numbers = [one.number for one in chosen]
    held = [split.test > 0 for split in splits]
    lists = block.ranked(numbers, held, range(len(splits)), added=True, k=_places(settings))
    parts = [
        train_parts(settings, candidates, split.train > 0, int(own.sum()))
        for split, own in zip(splits, held, strict=True)
    ]
    train = block.means_of_parts(numbers, parts)
    measures = [*settings.measures, settings.tune_for]
    for choice, mine, own, means in zip(chosen, lists, held, train, strict=True):
        values = block.measured(mine, own, measures)
        estimates = document_estimates(
            settings,
            candidates.table,
            mine.documents,
            own,
            values[:-1],
            share=len(settings.splits),
        )
        yield SideRecord(
            number=choice.number,
            train=choice.train,
            surface=choice.surface,
            values=values,
            estimates=tuple(
                replace(one, train=mean, optimism=mean - one.value)
                for one, mean in zip(estimates, means, strict=True)
            ),
            documents=mine.documents[:, : settings.kept],
            scores=mine.scores[:, : settings.kept],
        )


class _Block:
    """Some splits, and the statistics of their training sides."""

    def __init__(
        self, settings: RankingSettings, candidates: Candidates, splits: Sequence[Split]
    ) -> None:
        self.settings, self.candidates = settings, candidates
        drawn = np.stack([split.train for split in splits], axis=1)
        self.weights = np.minimum(drawn, 255).astype(np.uint8)
        self.known = weighted_statistics(
            candidates.index, candidates.vocabulary, self.weights, occurrences=False
        )

    def choices(self) -> list[Chosen]:
        """Choose a point on each training side."""
        splits, points = self.weights.shape[1], len(self.candidates)
        if points == 1:
            return [Chosen.none()] * splits
        measure, queries = self.settings.tune_for, self.candidates.table.n_queries
        seen = [self.weights[:, at] > 0 for at in range(splits)]
        values = np.empty((splits, points, queries))
        for point in range(points):
            lists = self.ranked(
                [point] * splits, seen, range(splits), added=False, k=_cutoff([measure])
            )
            for at, one in enumerate(lists):
                values[at, point] = self.measured(one, seen[at], [measure])[0]
        everybody = np.ones(queries, np.int32)
        return [Chosen.of(choose_point(self.settings, value, everybody)) for value in values]

    def ranked(
        self,
        numbers: Sequence[int],
        documents: Sequence[Flags],
        columns: Sequence[int],
        *,
        added: bool,
        k: int,
    ) -> list[Lists]:
        """Rank some documents, each list by the statistics of its training side.

        Parameters
        ----------
        numbers, documents, columns
            For each list its point, its documents, and its training side.
        """
        candidates, found = self.candidates, {}
        for number in sorted(set(numbers)):
            mine = [at for at, one in enumerate(numbers) if one == number]
            tops, scores = rank_times(
                candidates.index,
                candidates.vocabulary,
                candidates.models[number],
                self.known.take([columns[at] for at in mine]),
                np.stack([documents[at] for at in mine], axis=1).astype(np.uint8),
                added=added,
                k=k,
            )
            for place, at in enumerate(mine):
                found[at] = Lists(tops[:, place], scores[:, place])
        return [found[at] for at in range(len(numbers))]

    def measured(self, lists: Lists, ranked: Flags, measures: Sequence[Measure]) -> Floats:
        """Return measures × queries of lists of some documents."""
        table = self.candidates.table
        return measure_lists(table, lists, ranked[table.documents], measures, self.settings.depth)

    def means_of_parts(
        self, numbers: Sequence[int], parts: Sequence[NDArray[np.int32]]
    ) -> Iterator[list[float]]:
        """Return the mean of each measure on parts of each training side; NaN: it has none."""
        measures = self.settings.measures
        named = [
            (at, number) for at, part in enumerate(parts) for number in range(int(part.max()) + 1)
        ]
        found: list[list[list[float]]] = [[] for _ in parts]
        for begin in range(0, len(named), len(parts)):
            some = named[begin : begin + len(parts)]
            columns = [at for at, _ in some]
            ranked = [parts[at] == one for at, one in some]
            points, k = [numbers[at] for at in columns], _cutoff(measures)
            lists = self.ranked(points, ranked, columns, added=False, k=k)
            for at, own, documents in zip(columns, lists, ranked, strict=True):
                values = self.measured(own, documents, measures)
                found[at].append([mean_of(value) for value in values])
        for means in found:
            columns_of = zip(*means, strict=True) if means else [()] * len(measures)
            yield [mean_of(np.array(one, np.float64)) for one in columns_of]

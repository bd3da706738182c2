"""Bootstraps and hold-outs of documents for built-in models: each held-out side by itself.

Many splits are evaluated at once, each one as a lane. The scores of a model in two replicates
differ only by the statistics of the terms, so a document is read once for all replicates. Every
value is bitwise the one that a split evaluated alone gives. It is several times faster, for models
that sum over terms and for measures with a cutoff: these need only the top of a list.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Final

import numpy as np

from heldout.experiment.documents.estimates import Estimate, document_estimates, mean_of
from heldout.experiment.documents.lists import Lists
from heldout.experiment.documents.rank_table import needed_depth
from heldout.experiment.documents.uncertainty import places_that_matter
from heldout.experiment.systems.base import Part
from heldout.experiment.tuning import Units, choose_by
from heldout.measure.base import JUDGED_ONLY
from heldout.retrieve.kernels.types import LIKELIHOOD
from heldout.retrieve.rank import rank_times
from heldout.retrieve.sides import Side
from heldout.retrieve.statistics import weighted_statistics
from heldout.tune.choice import NO_CHOICE

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from numpy.typing import NDArray

    from heldout.data.words import Flags, Floats
    from heldout.experiment.documents.candidates import Candidates
    from heldout.experiment.prepare import PreparedRankings
    from heldout.experiment.systems.base import Points
    from heldout.experiment.systems.models import ModelSystem
    from heldout.measure.base import Measure
    from heldout.resample.split import Split
    from heldout.retrieve.kernels.types import Numbers
    from heldout.tune.choice import Choice

    # The choice for a split, the held-out lists, and the mean of each measure on each of some
    # parts of the training side.
    Ranked = tuple[Choice, Lists, list[list[float]]]
    # The place of a split, the number of a setting, and the documents to rank.
    Lane = tuple[int, int, Flags]

PARTS: Final = 10  # parts of a training side that are evaluated beside a held-out one, at most
_CELLS: Final = 1 << 23  # places of ranked lists held at once
_MOST: Final = 64


def splits_at_once(prepared: PreparedRankings, system: ModelSystem) -> int:
    """Return the number of splits that are evaluated together; 1: this is not possible."""
    (model,) = system.models(system.search.points[:1])
    if model.form.kind == LIKELIHOOD or prepared.splits.validates:
        return 1
    for measure in (*prepared.measures, prepared.tune_for):
        # Below a cutoff, only a user's own measure may look.
        own = measure.definition.own is not None
        if measure.cutoff is None or own or measure.parameters.get(JUDGED_ONLY):
            return 1
    cells = len(prepared.data.collection.queries) * _places(prepared)
    return min(max(_CELLS // max(cells, 1), 1), _MOST, len(prepared.splits))


def _places(prepared: PreparedRankings) -> int:
    """Return how much of a list is kept: for the table, the measures, and the jackknife."""
    longest = max(prepared.experiment.depth, prepared.kept)
    matter = places_that_matter(longest, prepared.measures)
    return max(matter, prepared.kept, _cutoff([prepared.tune_for]))


def _cutoff(measures: Sequence[Measure]) -> int:
    return max(int(measure.cutoff or 0) for measure in measures)


def evaluate_documents(
    prepared: PreparedRankings, system: ModelSystem, splits: Sequence[Split], points: Points
) -> list[tuple[int, float, Floats, Floats, tuple[Estimate, ...], Lists]]:
    """Return, per split, a `Choice`, measures × queries with the tuning one, estimates, lists."""
    candidates = system.candidates(prepared.data, points)
    if len(splits) > 1:
        ranked = _Together(prepared, candidates, splits).ranked()
    else:
        ranked = (_alone(prepared, candidates, split) for split in splits)
    measures, outcomes = [*prepared.measures, prepared.tune_for], []
    for split, (choice, lists, parts) in zip(splits, ranked, strict=True):
        values = prepared.data.measured(lists, Part(split.test), measures)
        estimates = document_estimates(
            prepared, lists.documents, split.test > 0, values[:-1], share=len(prepared.splits)
        )
        train = np.reshape(parts, (-1, len(estimates)))
        known = tuple(
            estimate._replace(train=mean, optimism=mean - estimate.value)
            for estimate, mean in zip(estimates, map(mean_of, train.T), strict=True)
        )
        outcomes.append((*choice, values, known, lists.top(prepared.kept)))
    return outcomes


def _train_parts(prepared: PreparedRankings, candidates: Candidates, split: Split) -> Numbers:
    """Return parts of the training documents, each as large as the held-out side; −1: in none."""
    # Scores depend on the number of documents: only those of such parts can be compared with it.
    index, rows, size = candidates.index, np.flatnonzero(split.train), int((split.test > 0).sum())
    part = np.full(index.n_documents, -1, np.int32)
    parts = min(len(rows) // max(size, 1), PARTS)
    if parts:
        by_id = rows[np.argsort(np.asarray(index.id_order)[rows])]
        random = np.random.default_rng([prepared.experiment.seed, 0x7365656E])
        drawn = random.permutation(by_id)[: parts * size]
        part[drawn] = np.arange(len(drawn)) % parts
    return part


def _weights(splits: Sequence[Split]) -> NDArray[np.uint8]:
    """Return documents × splits: how often each is in the training data, at most 255 times."""
    drawn = np.stack([split.train for split in splits], axis=1)
    return np.minimum(drawn, 255).astype(np.uint8)


def _alone(prepared: PreparedRankings, candidates: Candidates, split: Split) -> Ranked:
    """Choose on the training side, or on the validation part; rank the held-out side."""
    terms = weighted_statistics(candidates.index, candidates.vocabulary, _weights([split]))
    zero = np.zeros(candidates.index.n_documents, np.int32)

    def side(weights: NDArray[np.int32], added: bool) -> Side:
        ranked = np.where(weights > 0, 0, -1).astype(np.int32)
        return Side(ranked, zero, 1, terms, added=added, relative=added)

    seen, choice = side(split.train, added=False), NO_CHOICE
    if len(candidates) > 1:
        tuning = seen if split.validation is None else side(split.validation, added=True)
        values = candidates.evaluate(tuning, [prepared.tune_for])[0]
        choice = choose_by(prepared, f"split {split.key}", Units(values))
    k = max(prepared.experiment.depth, prepared.kept)
    unseen = side(split.test, added=True)
    (lists,) = candidates.lists(unseen, [choice.number], k)
    part = _train_parts(prepared, candidates, split)
    number, means = int(part.max()) + 1, []
    if number:
        statistics = np.where(part >= 0, 0, -1).astype(np.int32)
        seen = replace(seen, statistics=statistics, lists=np.maximum(part, 0), n_lists=number)
        table, measures, depth = candidates.table, prepared.measures, prepared.experiment.depth
        ranking = candidates.rank(seen, [choice.number], depth=needed_depth(measures, depth))
        for own in range(number):
            counted, retrieved = part[table.documents] == own, ranking.retrieved[:, own]
            values = table.evaluate(ranking.ranks, counted, retrieved, measures, depth)[:, 0]
            means.append([mean_of(row) for row in values])
    return choice, lists, means


class _Together:
    """Some splits, and the statistics of their training sides."""

    def __init__(
        self, prepared: PreparedRankings, candidates: Candidates, splits: Sequence[Split]
    ) -> None:
        self.prepared, self.candidates, self.splits = prepared, candidates, splits
        self.known = weighted_statistics(
            candidates.index, candidates.vocabulary, _weights(splits), occurrences=False
        )

    def ranked(self) -> Iterator[Ranked]:
        """Yield what `_alone` returns for each split."""
        choices = self._choices()
        numbers = [choice.number for choice in choices]
        lanes = [(row, numbers[row], split.test > 0) for row, split in enumerate(self.splits)]
        lists = self._lists(lanes, added=True, k=_places(self.prepared))
        return zip(choices, lists, self._means_of_parts(numbers), strict=True)

    def _choices(self) -> list[Choice]:
        """Choose a point on each training side."""
        splits, points, prepared = self.splits, len(self.candidates), self.prepared
        if points == 1:
            return [NO_CHOICE] * len(splits)
        values = np.empty((len(splits), points, self.candidates.table.n_queries))
        for point in range(points):
            lanes = [(row, point, split.train > 0) for row, split in enumerate(splits)]
            lists = self._lists(lanes, added=False, k=_cutoff([prepared.tune_for]))
            for row, split in enumerate(splits):
                own = prepared.data.measured(lists[row], Part(split.train), [prepared.tune_for])
                values[row, point] = own[0]
        return [
            choose_by(prepared, f"split {split.key}", Units(own))
            for split, own in zip(splits, values, strict=True)
        ]

    def _means_of_parts(self, numbers: Sequence[int]) -> list[list[list[float]]]:
        """Return the mean of each measure on parts of each training side."""
        data, measures, step = self.prepared.data, self.prepared.measures, len(self.splits)
        parts = [_train_parts(self.prepared, self.candidates, split) for split in self.splits]
        named = [(row, own) for row, part in enumerate(parts) for own in range(int(part.max()) + 1)]
        means: list[list[list[float]]] = [[] for _ in parts]
        for begin in range(0, len(named), step):
            some = named[begin : begin + step]
            lanes = [(row, numbers[row], parts[row] == own) for row, own in some]
            lists = self._lists(lanes, added=False, k=_cutoff(measures))
            for (row, _, documents), ranked in zip(lanes, lists, strict=True):
                values = data.measured(ranked, Part(documents.astype(np.int32)), measures)
                means[row].append([mean_of(value) for value in values])
        return means

    def _lists(self, lanes: Sequence[Lane], *, added: bool, k: int) -> list[Lists]:
        """Return the lists of all lanes; those with the same setting are ranked together."""
        candidates, lists = self.candidates, dict[int, Lists]()
        for number in sorted({number for _, number, _ in lanes}):
            mine = [place for place, lane in enumerate(lanes) if lane[1] == number]
            tops, scores = rank_times(
                candidates.index,
                candidates.vocabulary,
                candidates.models[number],
                self.known.take([lanes[place][0] for place in mine]),
                np.stack([lanes[place][2] for place in mine], axis=1).astype(np.uint8),
                added=added,
                k=k,
            )
            for nth, place in enumerate(mine):
                lists[place] = Lists(tops[:, nth], scores[:, nth])
        return [lists[place] for place in range(len(lanes))]

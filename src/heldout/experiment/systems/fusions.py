"""Fusion of runs, or of other systems of the experiment, as a system.

The ranking of a query depends on the fused rankings and the parameters alone: all settings of them
are evaluated in one pass over the joined runs, and each split chooses by its training queries. A
part that is tuned itself is fused as it was chosen for the split.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, ClassVar, Final, Self

import numpy as np

from heldout.errors import InputError
from heldout.experiment.documents.estimate import mean_of
from heldout.experiment.documents.rank_table import RankTable
from heldout.experiment.documents.ranked_lists import TOP, Lists, lists_of_run, padded_lists
from heldout.experiment.execution.tasks import Task
from heldout.experiment.systems.base import System
from heldout.experiment.systems.model_records import FoldsRecord
from heldout.experiment.systems.outcomes import FoldRow, HeldOut, Place, RankedOutcome
from heldout.experiment.systems.parts import (
    linked_part,
    of_repeat,
    part_misfits,
    part_points,
    shown_part,
)
from heldout.experiment.systems.records import Record
from heldout.experiment.systems.static import (
    FOLDS,
    choose_static,
    folds_needed,
    folds_tasks,
    lists_of_some,
)
from heldout.notes import count_of
from heldout.retrieve.fuse import METHODS, Fusion, fuse_tops, judged_ranks

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from numpy.typing import NDArray

    from heldout.data.run import Run
    from heldout.experiment.settings import RankingSettings
    from heldout.experiment.systems.base import Context, Point
    from heldout.experiment.systems.outcomes import Chosen
    from heldout.resample.split import Splits

    Floats = NDArray[np.float64]
    Ints = NDArray[np.int64]
    Combination = tuple[int, ...]
    RankingContext = Context[RankingSettings]

__all__ = [
    "FusionRecord",
    "FusionSystem",
    "at_limit",
    "first_lists",
    "fusion_at",
    "measured",
]

FUSION: Final = "fusion"
"""The kind of the only task."""


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class FusionRecord(Record):
    """All parameter settings on all queries.

    Parameters
    ----------
    chosen
        Splits + 1 (all data) × parts: the point of each part.
    values
        Combinations of the points of the parts, in the order of first appearance × measures ×
        points × queries, the tuning measure last.
    tops
        The combination and the point of each ranked list that is kept.
    documents, scores
        As many × queries × places.
    """

    chosen: Ints
    values: Floats
    tops: Ints
    documents: NDArray[np.int32]
    scores: Floats

    def lists(self) -> dict[tuple[int, int], Lists]:
        """The first documents of each list, by combination and point."""
        rows = enumerate(map(tuple, self.tops.tolist()))
        return {pair: Lists(self.documents[at], self.scores[at]) for at, pair in rows}


@dataclass(frozen=True, slots=True, kw_only=True)
class FusionSystem(System["RankingSettings"]):
    """A fusion of runs or systems.

    Parameters
    ----------
    how
        The method; see `heldout.fuse`.
    parts
        What is fused. A text is the name of another system of the experiment, or the path of a run
        file; `linked` finds out which.
    home
        The folder that relative paths start from.
    """

    RECORDS: ClassVar[Mapping[str, type[Record]]] = {FUSION: FusionRecord, FOLDS: FoldsRecord}
    needs_text: ClassVar[bool] = False
    needs_documents: ClassVar[bool] = False

    how: str
    parts: tuple[System[Any] | str, ...]
    home: str = ""

    def linked(self, systems: Mapping[str, System[Any]]) -> FusionSystem:
        """Return the system with the systems and run files that its parts name."""
        parts = tuple(linked_part(self.name, one, systems, self.home) for one in self.parts)
        return replace(self, parts=parts)

    def not_a_part(self) -> str:
        """Say that fusions are not nested."""
        return "it is a fusion itself; name its parts"

    @property
    def learns(self) -> bool:
        """Return False: rankings depend on the parameters alone."""
        return False

    def fusions(self) -> tuple[Fusion, ...]:
        """Return the fusion at every point."""
        count = len(self.parts)
        return tuple(
            fusion_at(self.how, self.settings(number), count)
            for number in range(len(self.points()))
        )

    def edges(self, number: int) -> tuple[str, ...]:
        """Return parameters at an end of their grid; a weight cannot go beyond 0 and 1."""
        point = self.settings(number)
        ends = System.edges(self, number)
        return tuple(name for name in ends if not at_limit(name, point[name]))

    def describe(self) -> dict[str, Any]:
        """Return what it is as plain values, with the name or the hash of each part."""
        parts = [shown_part(part) for part in self.parts]
        return {**System.describe(self), "fusion": self.how, "parts": parts}

    def ranked(self, top: int = TOP) -> Iterator[Run]:
        """Yield its runs, and the first documents of all that can be made of them."""
        fixed = [part for part in self.linked_parts() if not part.needs_documents]
        if len(fixed) < len(self.parts):
            return
        fusions = self.fusions()
        for runs in _combinations(fixed, top):
            yield from runs
            yield from fuse_tops(runs, fusions, top)

    def linked_parts(self) -> tuple[System[Any], ...]:
        """Return its parts as systems."""
        parts = tuple(part for part in self.parts if not isinstance(part, str))
        if len(parts) < len(self.parts):
            raise InputError(f"{self.name}: its parts are known inside an experiment only")
        return parts

    def misfits(self, by: str) -> Iterator[str]:
        """Yield the reasons why it cannot be evaluated on such splits."""
        yield from part_misfits(self.linked_parts(), by, "fused")

    def plan_problems(self, splits: Splits, by: str) -> Iterator[tuple[str, str]]:
        """Yield that documents must be divided into folds, if they are not."""
        return folds_needed(self.name, splits, by)

    def tasks(self, settings: RankingSettings) -> Iterator[Task]:
        """Yield the only task, or one per repeat of document folds; they wait for the parts."""
        if settings.by == "document":
            for task in folds_tasks(self.name, settings):
                yield replace(task, stage=self.stage())
            return
        yield Task(f"{self.name}/fusion", self.name, FUSION, stage=self.stage())

    def stage(self) -> int:
        """Return the stage of its tasks: 1 if they need the choices of its parts."""
        return int(any(part.tuned for part in self.linked_parts()))

    def resolve(
        self, tasks: Sequence[Task], settings: RankingSettings, records: Mapping[str, Record]
    ) -> list[Task]:
        """Set the points of the parts for each split, one split after another."""
        points = part_points(self.linked_parts(), settings, records)
        return [
            replace(task, points=tuple(of_repeat(points, task, settings).ravel().tolist()))
            for task in tasks
        ]

    def perform(self, task: Task, context: RankingContext) -> Record:
        """Evaluate all points for every combination, and keep the lists that are chosen."""
        settings, parts = context.settings, self.linked_parts()
        chosen = np.array(task.points, np.int64).reshape(-1, len(parts))
        if task.kind == FOLDS:
            return self._perform_folds(task.split, chosen, context)
        combinations, fusions = _distinct(chosen), self.fusions()
        values, tops, lists = [], [], []
        for at, combination in enumerate(combinations):
            runs = self.runs(combination, context)
            values.append(measured(settings, runs, fusions))
            picked, _ = choose_static(settings, values[-1])
            mine = {picked[split].number for split in _splits_of(chosen, combination)}
            points = sorted(mine)
            tops += [(at, point) for point in points]
            lists += first_lists(settings, runs, [fusions[point] for point in points])
        return FusionRecord(
            chosen=chosen,
            values=np.stack(values),
            tops=np.array(tops, np.int64).reshape(-1, 2),
            documents=np.stack([one.documents for one in lists]),
            scores=np.stack([one.scores for one in lists]),
        )

    def _perform_folds(self, repeat: int, chosen: Ints, context: RankingContext) -> FoldsRecord:
        from heldout.experiment.systems.fused_documents import FusedPoints
        from heldout.experiment.systems.point_folds import perform_folds

        settings, fusions = context.settings, self.fusions()
        parts = [
            part.folded_runs(repeat, points, context)
            for part, points in zip(self.linked_parts(), chosen.T.tolist(), strict=True)
        ]
        folds = settings.splits.folds(repeat)
        return perform_folds(settings, folds, FusedPoints(settings, parts, fusions), len(fusions))

    def runs(self, combination: Combination, context: RankingContext) -> list[Run]:
        """Return the rankings of the parts at some points."""
        pairs = zip(self.linked_parts(), combination, strict=True)
        return [part.ranking(number, context) for part, number in pairs]

    def collect(self, settings: RankingSettings, records: Mapping[str, Record]) -> RankedOutcome:
        """Read the values of the held-out queries of each split, or combine document folds."""
        if settings.by == "document":
            from heldout.experiment.systems.model_folds import collect_folds

            return collect_folds(self.tasks(settings), records)
        (task,) = self.tasks(settings)
        record: FusionRecord = records[task.key]  # type: ignore[assignment]
        combinations = _distinct(record.chosen)
        numbers = [combinations.index(tuple(row)) for row in record.chosen.tolist()]
        choices = [choose_static(settings, one) for one in record.values]
        lists, folds, held_out = record.lists(), [], []
        for at, split in enumerate(settings.splits):
            number, place, mine = numbers[at], Place.of(split.key), split.test > 0
            choice: Chosen = choices[number][0][at]
            own = np.where(mine, record.values[number][:, choice.number], np.nan)
            folds.append(FoldRow(place, choice, mean_of(np.repeat(own[-1], split.test))))
            top = lists_of_some(lists[number, choice.number], mine)
            held_out.append(HeldOut(place, choice.number, own[:-1], top))
        final = choices[numbers[-1]][1]
        # With parts that are tuned, another sample of queries could change these, too.
        fixed = not any(part.tuned for part in self.linked_parts())
        return RankedOutcome(
            tuple(folds),
            final,
            tuple(held_out),
            record.values[numbers[-1]][:-1, final.number],
            points=record.values[0] if fixed else None,
        )

    def runs_elsewhere(self, task: Task, *, cluster: bool) -> bool:
        """Return False: runs are fused where their files are, by all cores."""
        del task, cluster
        return False

    def sendable(self) -> Self:
        """Return the system without its parts, which are not sent."""
        return replace(self, parts=())


def fusion_at(how: str, settings: Point, parts: int) -> Fusion:
    """Return the fusion that some parameters describe.

    ``w`` is the weight of the first of two parts, and the second has 1 − w; ``w1``, ``w2``, … are
    the weights of the first, the second, …

    Examples
    --------
    >>> fusion_at("wsum", {"norm": "rank", "w": 0.25}, 2).weights
    (0.25, 0.75)
    """
    values: dict[str, Any] = dict(settings)
    known = {name for name in METHODS[how].parameters if name != "weights"}
    known |= {"norm"} if METHODS[how].uses_scores else set()
    weights = _weights(how, values, parts)
    for name in values:
        if name not in known:
            allowed = sorted(known) + (["w" if parts == 2 else "w1, w2, …"] if weights else [])
            raise InputError(
                f"{how} of {count_of(parts, 'part')} has no parameter {name}; it has "
                f"{', '.join(allowed) or 'none'}"
            )
    fusion = Fusion(how, weights=weights, **values)
    fusion.check_runs(parts)
    return fusion


def _weights(how: str, values: dict[str, Any], parts: int) -> tuple[float, ...] | None:
    """Take the weights out of some parameters."""
    if "weights" not in METHODS[how].parameters:
        return None
    names = [f"w{at + 1}" for at in range(parts)]
    if "w" in values and parts == 2:
        first = values.pop("w")
        if isinstance(first, str | bool) or not 0 <= first <= 1:
            raise InputError(f"w={first}: expected a number between 0 and 1; the second has 1 − w")
        return first, round(1 - first, 12)
    if not set(names) & set(values):
        what = "w=0:1:11 (the weight of the first)" if parts == 2 else "w=0:1:5"
        raise InputError(
            f"{how} needs weights: write {what} to tune them, or {'=…, '.join(names)}=…"
        )
    found = tuple(values.pop(name, 0) for name in names)
    return found if any(found) else (1.0,) * parts  # a corner of the space, for a search


def at_limit(name: str, value: object) -> bool:
    """Return whether this is a weight that cannot go further, so that a wider grid is no help."""
    return (name == "w" or (name[0] == "w" and name[1:].isdigit())) and value in {0, 1}


def measured(
    settings: RankingSettings,
    runs: Sequence[Run],
    fusions: Sequence[Fusion],
    counted: NDArray[np.bool_] | None = None,
) -> Floats:
    """Evaluate fusions on all queries: measures × fusions × queries, the tuning measure last.

    Parameters
    ----------
    counted
        Which judgements count, in the order of a `RankTable`; None: all.
    """
    collection = settings.collection
    ranks, retrieved = judged_ranks(runs, collection.qrels, fusions)
    table, judged = RankTable.of(collection), collection.judgements
    order = np.argsort(judged.queries, kind="stable")  # as the table has them
    lengths = np.zeros(len(collection.queries), np.int64)
    lengths[judged.queries[collection.qrels.offsets[:-1]]] = retrieved
    measures = [*settings.measures, settings.tune_for]
    if counted is None:
        counted = np.ones(len(table), np.bool_)
    return table.evaluate(ranks[order], counted, lengths, measures, settings.depth)


def first_lists(
    settings: RankingSettings, runs: Sequence[Run], fusions: Sequence[Fusion]
) -> list[Lists]:
    """Return the first documents of fused lists, all with the same number of places."""
    tops = fuse_tops(runs, fusions, settings.kept)
    return [
        padded_lists(lists_of_run(top, settings.collection, settings.kept), settings.kept)
        for top in tops
    ]


def _distinct(chosen: Ints) -> list[Combination]:
    return list(dict.fromkeys(map(tuple, chosen.tolist())))


def _splits_of(chosen: Ints, combination: Combination) -> list[int]:
    """Return the splits, without all data, that have this combination."""
    return [at for at, row in enumerate(chosen[:-1].tolist()) if tuple(row) == combination]


def _combinations(parts: Sequence[System[Any]], top: int) -> Iterator[tuple[Run, ...]]:
    """Yield a run of each part, for all their settings; only one of each is in memory at a time."""
    if not parts:
        yield ()
        return
    for run in parts[0].ranked(top):
        for others in _combinations(parts[1:], top):
            yield run, *others

"""Functions and PyTerrier transformers that rerank the documents of another system."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, ClassVar, Final, Self

import numpy as np

from heldout.errors import InputError
from heldout.experiment.documents.ranked_lists import Lists, lists_of_run, padded_lists
from heldout.experiment.execution.tasks import Task
from heldout.experiment.systems.base import System
from heldout.experiment.systems.calls import CallSystem, call_sides, takes
from heldout.experiment.systems.choose_in_folds import TUNE
from heldout.experiment.systems.parts import linked_part, part_misfits, part_points, shown_part
from heldout.experiment.systems.point_folds import as_run, lists_of_documents
from heldout.experiment.systems.records import Record
from heldout.experiment.systems.static import folds_needed, lists_of_some

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from numpy.typing import NDArray

    from heldout.data.collection import View
    from heldout.data.run import Run
    from heldout.experiment.settings import RankingSettings
    from heldout.experiment.systems.base import Context
    from heldout.experiment.systems.calls import CallSide
    from heldout.resample.split import Splits

    RankingContext = Context[RankingSettings]

__all__ = ["DEPTH", "FirstRecord", "RerankSystem"]

DEPTH: Final = 100
"""Documents of the first stage that are reranked, unless there is a parameter `depth`."""
FIRST: Final = "first"
"""The kind of task that ranks the first stage."""


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class FirstRecord(Record):
    """The rankings of the first stage.

    Parameters
    ----------
    sides
        Splits + 1 (all data) × 2: the ranking of the training side and of the held-out side.
    documents, scores
        Rankings × queries × places.
    """

    sides: NDArray[np.int64]
    documents: NDArray[np.int32]
    scores: NDArray[np.float64]


@dataclass(frozen=True, slots=True, kw_only=True)
class RerankSystem(CallSystem):
    """A function ``f(train, test, candidates, **parameters)``, or a PyTerrier transformer.

    Parameters
    ----------
    first
        The first stage: a system, the name of another system of the experiment, the path of a run,
        or a built-in model without parameters to tune.
    """

    RECORDS: ClassVar[Mapping[str, type[Record]]] = {**CallSystem.RECORDS, FIRST: FirstRecord}

    first: System[Any] | str

    def linked(self, systems: Mapping[str, System[Any]]) -> RerankSystem:
        """Return the system with its first stage."""
        first = self.first
        if isinstance(first, str) and (first not in systems or first == self.name):
            first = _model(first) or first
        if isinstance(first, System) and first.tuned and systems.get(first.name) != first:
            raise InputError(
                f"{self.name}: a first stage that is tuned must be a system of its own: add "
                f"{first.name} to the systems, and name it as first"
            )
        part = linked_part(self.name, first, systems, self.home, verb="reranked")
        return replace(self, first=part)

    def linked_parts(self) -> tuple[System[Any], ...]:
        """Return its first stage, in an experiment."""
        return () if isinstance(self.first, str) else (self.first,)

    def checked(self) -> RerankSystem:
        """Return the system if all depths are positive integers."""
        for number in range(len(self.points())):
            depth = self.settings(number).get("depth", DEPTH)
            if not isinstance(depth, int) or isinstance(depth, bool) or depth < 1:
                raise InputError(f"{self.name}: the depth must be a positive integer, not {depth}")
        return self

    def describe(self) -> dict[str, Any]:
        """Return what it is as plain values, with the first stage."""
        first = shown_part(self.first)
        for part in self.linked_parts():
            values = part.describe().get("values", [])  # of a built-in model
            first = values[0] if len(values) == 1 else first
        return {**CallSystem.describe(self), "first": first}

    def misfits(self, by: str) -> Iterator[str]:
        """Yield the reasons why it cannot be evaluated on such splits."""
        yield from part_misfits(self.linked_parts(), by, "reranked")
        if by == "document" and not self.comparable:
            yield (
                "to hold out documents, say that its scores of documents in different calls can be "
                "compared, with comparable=true; otherwise hold out queries"
            )

    def plan_problems(self, splits: Splits, by: str) -> Iterator[tuple[str, str]]:
        """Yield that documents must be divided into folds, if they are not."""
        return folds_needed(self.name, splits, by)

    def tasks(self, settings: RankingSettings) -> Iterator[Task]:
        """Yield the task of the first stage, after its choices, then those of any function."""
        later = int(any(part.tuned for part in self.linked_parts()))
        yield Task(f"{self.name}/first", self.name, FIRST, stage=later)
        for task in CallSystem.tasks(self, settings):
            yield replace(task, stage=task.stage + later + 1)

    def resolve(
        self, tasks: Sequence[Task], settings: RankingSettings, records: Mapping[str, Record]
    ) -> list[Task]:
        """Set the points of the first stage; then the own point, with the candidates."""
        if tasks[0].kind == FIRST:
            points = part_points(self.linked_parts(), settings, records)[:, 0]
            return [replace(task, points=tuple(points.tolist())) for task in tasks]
        first: Any = records[f"{self.name}/first"]
        chosen = CallSystem.resolve(self, tasks, settings, records)
        return [replace(task, inputs=self._inputs(task, first)) for task in chosen]

    def _inputs(self, task: Task, first: FirstRecord) -> tuple[NDArray[Any], ...]:
        """Return documents and scores of the first stage for both sides of a task."""
        number = task.points[0] if task.points else 0
        places = self._depth(number)
        seen, ranked = first.sides[task.split]  # all data have the last row, and the number −1
        rows = [seen, seen if task.kind == TUNE else ranked]
        return tuple(
            table[row, :, :places] for row in rows for table in (first.documents, first.scores)
        )

    def _depth(self, number: int) -> int:
        given: Any = self.settings(number).get("depth", DEPTH)
        return int(given)

    def perform(self, task: Task, context: RankingContext) -> Record:
        """Rank the first stage, or call the function as any other."""
        if task.kind == FIRST:
            return self._first(task, context)
        return CallSystem.perform(self, task, context)

    def _first(self, task: Task, context: RankingContext) -> FirstRecord:
        """Keep the first documents of all rankings that the tasks need."""
        settings, (part,) = context.settings, self.linked_parts()
        places = max(self._depth(number) for number in range(len(self.points())))
        if settings.by == "document":
            runs, sides = _document_sides(part, task.points, context)
        else:
            numbers = list(dict.fromkeys(task.points))
            runs = [part.ranking(number, context) for number in numbers]
            sides = [(numbers.index(number),) * 2 for number in task.points]
        lists = [
            padded_lists(lists_of_run(run, settings.collection, places), places) for run in runs
        ]
        return FirstRecord(
            sides=np.array(sides, np.int64),
            documents=np.stack([one.documents for one in lists]),
            scores=np.stack([one.scores for one in lists]),
        )

    def rank_task(self, task: Task, context: RankingContext, train: View, test: View) -> Run:
        """Let the function rerank the candidates of the test side."""
        whole = context.settings.collection
        number, sides = task.points[0], call_sides(context.settings, task)
        given = (Lists(*task.inputs[:2]), Lists(*task.inputs[2:]))
        seen, ranked = (
            as_run(candidates_of(lists, side), whole, self.name)
            for lists, side in zip(given, sides, strict=True)
        )
        more: dict[str, object] = {"candidates": ranked}
        if self.kind == "transformer" or takes(self.call, "train_candidates"):
            more["train_candidates"] = seen
        return self.rank(train, test, number, self.task_seed(task, context.settings), more)

    def _called(self, train: View, test: View, settings: Mapping[str, object], seed: int) -> object:
        own: Any = dict(settings)
        if not takes(self.call, "depth"):
            own.pop("depth", None)
        if self.kind == "transformer":
            return _transformed(self.call, own, seed, train, test)
        return CallSystem._called(self, train, test, own, seed)  # noqa: SLF001 - its own class

    def runs_elsewhere(self, task: Task, *, cluster: bool) -> bool:
        """Return whether it is a call: the first stage is ranked where its index or run is."""
        del cluster
        return task.kind != FIRST

    def sendable(self) -> Self:
        """Return the system without its first stage; tasks have their candidates."""
        return replace(CallSystem.sendable(self), first="")


def _transformed(call: Any, settings: dict[str, Any], seed: int, train: View, test: View) -> object:
    """Let a PyTerrier transformer rerank frames of candidates."""
    from heldout.experiment.systems.transformers import candidate_frame, transformed

    both = {id(test): settings.pop("candidates"), id(train): settings.pop("train_candidates")}

    def inputs(view: View, numbers: Sequence[int] | None = None) -> Any:
        return candidate_frame(both[id(view)], view, numbers)

    return transformed(call, settings, seed, train, test, inputs)


def _document_sides(
    part: System[Any], points: Sequence[int], context: RankingContext
) -> tuple[list[Run], list[tuple[int, int]]]:
    """Return the rankings of a part under document folds, and those of both sides of each split.

    The held-out documents of a fold are candidates if they are among the first of all held-out
    documents: a list that is as long as in use.
    """
    splits = context.settings.splits
    folds = len(splits) // splits.repeats
    runs: list[Run] = []
    sides: list[tuple[int, int]] = []
    for repeat in range(splits.repeats):
        mine = [*points[repeat * folds :][:folds], points[-1]]
        found = part.folded_runs(repeat, mine, context)
        pooled = len(runs) + folds
        sides += [(len(runs) + fold, pooled) for fold in range(folds)]
        runs += [*found.training, found.pooled]
    return [*runs, found.whole], [*sides, (len(runs), len(runs))]


def candidates_of(lists: Lists, side: CallSide) -> Lists:
    """Return the lists of the queries and documents of a side."""
    if side.documents is not None:
        lists = lists_of_documents(lists, side.documents > 0)
    return lists if side.queries is None else lists_of_some(lists, side.queries > 0)


def _model(text: str) -> System[Any] | None:
    """Return a built-in model from a text; None: it is not one."""
    from heldout.experiment.systems.reading import is_model_text

    return System.of(text) if is_model_text(text) else None

"""Built-in models, functions and objects with a search by Optuna."""

from __future__ import annotations

from abc import abstractmethod
from dataclasses import dataclass, fields, replace
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from heldout.errors import InputError
from heldout.experiment.documents.candidates import Candidates
from heldout.experiment.documents.ranked_lists import Lists
from heldout.experiment.execution.tasks import EVERYTHING, Task
from heldout.experiment.systems.call_outcomes import collect_tests
from heldout.experiment.systems.calls import CallSystem
from heldout.experiment.systems.choose_in_folds import TEST, TUNE, fold_means
from heldout.experiment.systems.fusions import (
    FusionSystem,
    at_limit,
    first_lists,
    fusion_at,
    measured,
)
from heldout.experiment.systems.models import ModelSystem
from heldout.experiment.systems.optuna_base import SEARCH, Searched, SearchRecord
from heldout.experiment.systems.parts import part_points
from heldout.experiment.systems.records import RankedRecord, Record
from heldout.experiment.systems.static import lists_of_some
from heldout.retrieve.sides import whole_side
from heldout.tune.search import check_optuna

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from numpy.typing import NDArray

    from heldout.data.run import Run
    from heldout.experiment.settings import RankingSettings, Settings
    from heldout.experiment.systems.base import Context, Point, System
    from heldout.experiment.systems.optuna_base import Objective
    from heldout.experiment.systems.outcomes import RankedOutcome
    from heldout.retrieve.fuse import Fusion
    from heldout.tune.space import Point as TrialPoint

    Floats = NDArray[np.float64]
    RankingContext = Context[RankingSettings]

__all__ = ["RankedSearch", "SearchedCall", "SearchedFusion", "SearchedModel", "searched"]


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class RankedSearch(SearchRecord):
    """A search on one training side, and the ranking by the chosen point on the other side.

    Parameters
    ----------
    values, documents, scores
        As for `RankedRecord`, for the held-out queries.
    """

    values: Floats
    documents: NDArray[np.int32]
    scores: Floats


class _RankingSearch(Searched):
    """A search for a system that ranks."""

    __slots__ = ()

    RECORDS: ClassVar[Mapping[str, type[Record]]] = {SEARCH: RankedSearch}

    @abstractmethod
    def objective(self, task: Task, context: RankingContext) -> Objective:
        """Return a function from a point to values per query, on the training side of a task."""

    @abstractmethod
    def held_out(self, task: Task, context: RankingContext, point: TrialPoint) -> RankedRecord:
        """Return the record of a point on the held-out side of a task; on all data, if none is."""

    @abstractmethod
    def measures_final(self, settings: RankingSettings) -> NDArray[np.bool_]:
        """Return the measures for which the final point has training values."""

    def not_a_part(self) -> str:
        """Say that each training side has a search of its own."""
        return "Optuna searches each training side by itself; use a grid for it"

    def perform(self, task: Task, context: RankingContext) -> RankedSearch:
        """Search on the training side, and evaluate the chosen point on the other side."""
        value_of = self.objective(task, context)
        counts = _train_counts(context.settings, task)

        def seen(point: TrialPoint) -> Floats:
            values = value_of(point)
            return values if counts is None else np.repeat(values, counts)

        found = self.search(task, context.settings, seen)
        record = self.held_out(task, context, found.best)
        return RankedSearch(
            points=tuple(tuple(point.values()) for point in found.points),
            means=found.choice.means,
            trial=found.choice.number,
            values=record.values,
            documents=record.documents,
            scores=record.scores,
        )

    def collect(self, settings: RankingSettings, records: Mapping[str, Record]) -> RankedOutcome:
        """Combine the splits, each with the choice of its own search."""
        chosen, tests = self.choices(settings, records), {}
        for task in self.tasks(settings):
            one: Any = records[task.key]
            tests[task.split] = RankedRecord(
                number=chosen[task.split].number,
                values=one.values,
                documents=one.documents,
                scores=one.scores,
            )
        final = tests.pop(EVERYTHING).values[:-1]
        training = np.where(self.measures_final(settings)[:, None], final, np.nan)
        pooled = settings.by != "query" and bool(getattr(self, "comparable", None))
        return collect_tests(settings, chosen, tests, training, pooled=pooled)


def _train_counts(settings: RankingSettings, task: Task) -> NDArray[np.int32] | None:
    """Return the weight of each query on the training side; None: all have weight 1."""
    if task.split == EVERYTHING or settings.by == "document":
        return None
    return settings.splits[task.split].train


class _StaticSearch(_RankingSearch):
    """A search for a system whose ranking of a query depends on its parameters alone."""

    __slots__ = ()

    @abstractmethod
    def point_values(
        self, task: Task, context: RankingContext, point: TrialPoint, *, tuning: bool
    ) -> Floats:
        """Return measures × queries at a point, the tuning measure last, or that alone."""

    @abstractmethod
    def point_lists(self, task: Task, context: RankingContext, point: TrialPoint) -> Lists:
        """Return the first documents of all queries at a point."""

    def objective(self, task: Task, context: RankingContext) -> Objective:
        """Evaluate all queries at a point; only those of the training side are used."""

        def values(point: TrialPoint) -> Floats:
            found: Floats = self.point_values(task, context, point, tuning=True)[-1]
            return found

        return values

    def held_out(self, task: Task, context: RankingContext, point: TrialPoint) -> RankedRecord:
        """Return the record of the held-out queries at a point."""
        values = self.point_values(task, context, point, tuning=False)
        lists = self.point_lists(task, context, point)
        if task.split != EVERYTHING:
            mine = context.settings.splits[task.split].test > 0
            values, lists = np.where(mine, values, np.nan), lists_of_some(lists, mine)
        return RankedRecord(number=0, values=values, documents=lists.documents, scores=lists.scores)

    def measures_final(self, settings: RankingSettings) -> NDArray[np.bool_]:
        """Return all measures."""
        return np.ones(len(settings.measures), np.bool_)


@dataclass(frozen=True, slots=True, kw_only=True)
class SearchedModel(_StaticSearch, ModelSystem):
    """A built-in model whose parameters Optuna searches.

    Parameters
    ----------
    trials
        The number of trials per search.
    tried
        The points that were tried, when all tasks are finished.
    """

    trials: int
    tried: tuple[Point, ...] = ()

    def describe(self) -> dict[str, Any]:
        """Return the model and the search, as plain values."""
        return self.describe_search(ModelSystem.describe(self))

    def misfits(self, by: str) -> Iterator[str]:
        """Yield the reasons why it cannot be evaluated on such splits."""
        if by != "query":
            yield (
                'search = "optuna" for a built-in model needs held-out queries; when documents are '
                'held out, use search = "random" or a grid'
            )

    def point_values(
        self, task: Task, context: RankingContext, point: TrialPoint, *, tuning: bool
    ) -> Floats:
        """Return measures × queries at a point, the tuning measure last, or that alone."""
        del task
        settings, candidates = context.settings, self._candidates(context, point)
        side = whole_side(candidates.index, candidates.vocabulary)
        others = () if tuning else settings.measures
        found: Floats = candidates.evaluate(side, [*others, settings.tune_for])[:, 0]
        return found

    def point_lists(self, task: Task, context: RankingContext, point: TrialPoint) -> Lists:
        """Return the first documents of all queries at a point."""
        del task
        candidates, kept = self._candidates(context, point), context.settings.kept
        side = whole_side(candidates.index, candidates.vocabulary)
        found = candidates.rank(side, k=kept, judged=False, depth=kept)
        return Lists(found.documents[:, 0, 0], found.scores[:, 0, 0])

    def _at(self, point: TrialPoint) -> ModelSystem:
        parameters = (*self.parameters, *point.items())
        return ModelSystem(name=self.name, model=self.model, parameters=parameters)

    def _candidates(self, context: RankingContext, point: TrialPoint) -> Candidates:
        """Return the model at a point; queries are looked up once for all searches of a process."""
        if context.index is None:
            raise InputError(f"{self.name}: there is no index")
        settings, index = context.settings, context.index
        known = context.last(
            "queries in the index",
            None,
            lambda: Candidates.make(index, settings.collection, (), depth=settings.depth),
        )
        return replace(known, models=self._at(point).models())


@dataclass(frozen=True, slots=True, kw_only=True)
class SearchedCall(_RankingSearch, CallSystem):
    """A function or object whose parameters Optuna searches.

    Parameters
    ----------
    trials
        The number of trials per search.
    tried
        The points that were tried, when all tasks are finished.
    """

    trials: int
    tried: tuple[Point, ...] = ()

    def describe(self) -> dict[str, Any]:
        """Return the call and the search as plain values, with a hash of the source."""
        return self.describe_search(CallSystem.describe(self))

    def objective(self, task: Task, context: RankingContext) -> Objective:
        """Let it rank the training side, or inner folds of it."""
        inner = context.settings.inner
        folds = [-1] if inner is None else range(inner)
        parts = [replace(task, kind=TUNE, inner=fold, points=(0,)) for fold in folds]

        def values(point: TrialPoint) -> Floats:
            plain = self._at(point)
            found: list[Any] = [plain.perform(part, context) for part in parts]
            return fold_means(found)

        return values

    def held_out(self, task: Task, context: RankingContext, point: TrialPoint) -> RankedRecord:
        """Call it with the training side, and let it rank the other one."""
        found: Any = self._at(point).perform(replace(task, kind=TEST, points=(0,)), context)
        return found  # type: ignore[no-any-return]

    def measures_final(self, settings: RankingSettings) -> NDArray[np.bool_]:
        """Return the tuning measure, if points are chosen on the whole training side."""
        alike = [
            settings.inner is None and measure == settings.tune_for for measure in settings.measures
        ]
        return np.array(alike, np.bool_)

    def _at(self, point: TrialPoint) -> CallSystem:
        given = {field.name: getattr(self, field.name) for field in fields(CallSystem)}
        return CallSystem(
            **given | {"space": None, "parameters": (*self.parameters, *point.items())}
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class SearchedFusion(_StaticSearch, FusionSystem):
    """A fusion whose weights or constants Optuna searches.

    Parameters
    ----------
    trials
        The number of trials per search.
    tried
        The points that were tried, when all tasks are finished.
    """

    trials: int
    tried: tuple[Point, ...] = ()

    def misfits(self, by: str) -> Iterator[str]:
        """Yield the reasons why it cannot be evaluated on such splits."""
        if by != "query":
            yield (
                'search = "optuna" for a fusion needs held-out queries; when documents are held '
                'out, use search = "random" or a grid'
            )

    def describe(self) -> dict[str, Any]:
        """Return the fusion and the search, as plain values."""
        return self.describe_search(FusionSystem.describe(self))

    def edges(self, number: int) -> tuple[str, ...]:
        """Return parameters at an end of their range that could go further."""
        ends = Searched.edges(self, number)
        return tuple(name for name in ends if not at_limit(name, self.tried[number][name]))

    def tasks(self, settings: Settings) -> Iterator[Task]:
        """Yield one task per split and one for all data; they wait for the choices of the parts."""
        stage = self.stage()
        for task in Searched.tasks(self, settings):
            yield replace(task, stage=stage)

    def resolve(
        self, tasks: Sequence[Task], settings: Settings, records: Mapping[str, Record]
    ) -> list[Task]:
        """Set the points of the parts for the split of each task."""
        points = part_points(self.linked_parts(), settings, records)
        # All data have the last row, and the number −1.
        return [replace(task, points=tuple(points[task.split].tolist())) for task in tasks]

    def point_values(
        self, task: Task, context: RankingContext, point: TrialPoint, *, tuning: bool
    ) -> Floats:
        """Return measures × queries at a point, the tuning measure last."""
        del tuning  # ranks take the time, not measures
        found: Floats = measured(
            context.settings, self._task_runs(task, context), [self._fusion(point)]
        )[:, 0]
        return found

    def point_lists(self, task: Task, context: RankingContext, point: TrialPoint) -> Lists:
        """Return the first documents of all queries at a point."""
        (lists,) = first_lists(
            context.settings, self._task_runs(task, context), [self._fusion(point)]
        )
        return lists

    def _task_runs(self, task: Task, context: RankingContext) -> list[Run]:
        """Return the rankings of the parts, read once for splits with the same choices."""
        key = self.name, task.points
        return context.last("fused runs", key, lambda: self.runs(task.points, context))

    def _fusion(self, point: TrialPoint) -> Fusion:
        return fusion_at(self.how, {**dict(self.parameters), **point}, len(self.parts))


_KINDS: dict[type[System[Any]], Any] = {
    ModelSystem: SearchedModel,
    CallSystem: SearchedCall,
    FusionSystem: SearchedFusion,
}


def searched(system: System[Any], trials: int) -> System[Any]:
    """Return the system with a search by Optuna instead of its grid."""
    kind = _KINDS.get(type(system))
    if kind is None:
        raise InputError(
            f'{system.name}: search = "optuna" works with built-in models, fusions, functions '
            "that learn (not with learns = false) and objects with fit and predict: use grid or "
            "random"
        )
    check_optuna()
    given = {field.name: getattr(system, field.name) for field in fields(type(system))}
    made: System[Any] = kind(**given, trials=trials)
    return made

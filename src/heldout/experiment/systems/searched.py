"""Systems that rank, and whose points Optuna proposes, each in the light of those before it."""

from __future__ import annotations

from abc import abstractmethod
from dataclasses import dataclass, fields, replace
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from heldout.errors import InputError
from heldout.experiment.documents.candidates import Candidates
from heldout.experiment.documents.ranked_lists import TOP, Lists
from heldout.experiment.execution.tasks import EVERYTHING, Task
from heldout.experiment.systems.call_outcomes import collect_tests
from heldout.experiment.systems.calls import CallSystem
from heldout.experiment.systems.models import ModelSystem
from heldout.experiment.systems.nested import TEST, TUNE, fold_means
from heldout.experiment.systems.optuna_search import SEARCH, Searched, SearchRecord
from heldout.experiment.systems.records import RankedRecord, Record
from heldout.experiment.systems.static import lists_of_some
from heldout.retrieve.sides import whole_side
from heldout.tune.search import check_optuna

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from numpy.typing import NDArray

    from heldout.experiment.settings import RankingSettings
    from heldout.experiment.systems.base import Context, Point, System
    from heldout.experiment.systems.optuna_search import Objective
    from heldout.experiment.systems.outcomes import RankedOutcome

    Floats = NDArray[np.float64]
    RankingContext = Context[RankingSettings]

__all__ = ["RankedSearch", "SearchedCall", "SearchedModel", "searched"]


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class RankedSearch(SearchRecord):
    """A search on one train side, and what the chosen point got on the other.

    Parameters
    ----------
    values, documents, scores
        As for `RankedRecord`, of the queries that were held out.
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
        """What gives the value of each query at a point, on the train side of a task alone."""

    @abstractmethod
    def held_out(self, task: Task, context: RankingContext, point: Point) -> RankedRecord:
        """What a point gets on what a task holds out; on everything, if nothing is held out."""

    @abstractmethod
    def measures_final(self, settings: RankingSettings) -> NDArray[np.bool_]:
        """The measures by which the final point is known on the data it was chosen on."""

    def first_point(self) -> Point:
        """The first value of each parameter."""
        return {one.name: one.values[0] for one in self.space.axes}

    def perform(self, task: Task, context: RankingContext) -> RankedSearch:
        """Search on the train side, and measure what was chosen on the other one."""
        value_of = self.objective(task, context)
        counts = _train_counts(context.settings, task)

        def seen(point: Point) -> Floats:
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
        """Each split as its own search has chosen for it."""
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
    """How often each query counts on the train side; None: all count once."""
    if task.split == EVERYTHING or settings.by == "document":
        return None
    return settings.splits[task.split].train


@dataclass(frozen=True, slots=True, kw_only=True)
class SearchedModel(_RankingSearch, ModelSystem):
    """A built-in model whose parameters are searched for by Optuna.

    Parameters
    ----------
    trials
        How many points each search tries.
    tried
        The points that were tried, when all is done.
    """

    trials: int
    tried: tuple[Point, ...] = ()

    def describe(self) -> dict[str, Any]:
        """What it is, as plain values."""
        return {**ModelSystem.describe(self), **self.described_search()}

    def misfits(self, by: str) -> Iterator[str]:
        """Why it cannot be evaluated on such splits."""
        if by != "query":
            yield (
                'search = "optuna" of a built-in model is for held-out queries: where documents '
                'are held out, take search = "random", or a grid'
            )

    def memory(self, tasks: Sequence[Task], context: RankingContext) -> int:
        """As much as one point takes."""
        return self._at(self.first_point()).memory(tasks, context)

    def objective(self, task: Task, context: RankingContext) -> Objective:
        """Rank all queries at a point; those of the other side are not looked at."""
        del task
        settings, candidates = context.settings, self._candidates(context)
        side = whole_side(candidates.index, candidates.vocabulary)

        def values(point: Point) -> Floats:
            mine = replace(candidates, models=self._at(point).models())
            found: Floats = mine.evaluate(side, [settings.tune_for])[0, 0]
            return found

        return values

    def held_out(self, task: Task, context: RankingContext, point: Point) -> RankedRecord:
        """The held-out queries at a point."""
        settings = context.settings
        candidates = replace(self._candidates(context), models=self._at(point).models())
        side = whole_side(candidates.index, candidates.vocabulary)
        values = candidates.evaluate(side, [*settings.measures, settings.tune_for])[:, 0]
        found = candidates.rank(side, k=TOP, judged=False, depth=TOP)
        lists = Lists(found.documents[:, 0, 0], found.scores[:, 0, 0])
        if task.split != EVERYTHING:
            mine = settings.splits[task.split].test > 0
            values, lists = np.where(mine, values, np.nan), lists_of_some(lists, mine)
        return RankedRecord(number=0, values=values, documents=lists.documents, scores=lists.scores)

    def measures_final(self, settings: RankingSettings) -> NDArray[np.bool_]:
        """All of them."""
        return np.ones(len(settings.measures), np.bool_)

    def _at(self, point: Point) -> ModelSystem:
        parameters = (*self.parameters, *point.items())
        return ModelSystem(name=self.name, model=self.model, parameters=parameters)

    def _candidates(self, context: RankingContext) -> Candidates:
        """The queries looked up in the index, once for all searches of a process."""
        if context.index is None:
            raise InputError(f"{self.name}: there is no index")
        settings, index = context.settings, context.index
        return context.last(
            "queries in the index",
            None,
            lambda: Candidates.make(index, settings.collection, (), depth=settings.depth),
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class SearchedCall(_RankingSearch, CallSystem):
    """A function or object whose parameters are searched for by Optuna.

    Parameters
    ----------
    trials
        How many points each search tries.
    tried
        The points that were tried, when all is done.
    """

    trials: int
    tried: tuple[Point, ...] = ()

    def describe(self) -> dict[str, Any]:
        """What it is, as plain values, with a hash of its source."""
        return {**CallSystem.describe(self), **self.described_search()}

    def objective(self, task: Task, context: RankingContext) -> Objective:
        """Let it rank the train side, or inner folds of it."""
        inner = context.settings.inner
        folds = [-1] if inner is None else range(inner)
        parts = [replace(task, kind=TUNE, inner=fold, points=(0,)) for fold in folds]

        def values(point: Point) -> Floats:
            plain = self._at(point)
            found: list[Any] = [plain.perform(part, context) for part in parts]
            return fold_means(found)

        return values

    def held_out(self, task: Task, context: RankingContext, point: Point) -> RankedRecord:
        """Let it see the train side and rank the other one."""
        found: Any = self._at(point).perform(replace(task, kind=TEST, points=(0,)), context)
        return found  # type: ignore[no-any-return]

    def measures_final(self, settings: RankingSettings) -> NDArray[np.bool_]:
        """The one that points are chosen by, if they are chosen on all that is seen."""
        alike = [settings.inner is None and one == settings.tune_for for one in settings.measures]
        return np.array(alike, np.bool_)

    def _at(self, point: Point) -> CallSystem:
        given = {one.name: getattr(self, one.name) for one in fields(CallSystem)}
        return CallSystem(
            **given | {"space": None, "parameters": (*self.parameters, *point.items())}
        )


_KINDS: dict[type[System[Any]], Any] = {ModelSystem: SearchedModel, CallSystem: SearchedCall}


def searched(system: System[Any], trials: int) -> System[Any]:
    """The same system, with a search by Optuna in place of its grid; 0 trials: as it is."""
    if not trials:
        return system
    kind = _KINDS.get(type(system))
    if kind is None:
        raise InputError(
            f'{system.name}: search = "optuna" is for built-in models, functions and objects with '
            "fit and predict"
        )
    check_optuna()
    given = {one.name: getattr(system, one.name) for one in fields(type(system))}
    made: System[Any] = kind(**given, trials=trials)
    return made

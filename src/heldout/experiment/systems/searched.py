"""Systems whose points Optuna proposes, each in the light of those before it.

What is proposed depends on what was found on a train side, so each train side has a search of its
own. One task does all of it, and then measures the point it has chosen on what is held out: it is
sequential inside, and depends on no other task, so that it can be done anywhere, or again.
"""

from __future__ import annotations

from abc import abstractmethod
from dataclasses import dataclass, fields, replace
from typing import TYPE_CHECKING, Any, ClassVar, Self

import numpy as np

from heldout.data.notes import count_of
from heldout.errors import InputError
from heldout.experiment.documents.candidates import Candidates
from heldout.experiment.documents.ranked_lists import TOP, Lists
from heldout.experiment.execution.tasks import EVERYTHING, Task
from heldout.experiment.systems.call_outcomes import collect_tests
from heldout.experiment.systems.calls import CallSystem
from heldout.experiment.systems.models import ModelSystem
from heldout.experiment.systems.nested import (
    TEST,
    TUNE,
    call_seed,
    fold_means,
    named_splits,
    shown_split,
)
from heldout.experiment.systems.outcomes import Chosen
from heldout.experiment.systems.records import RankedRecord, Record
from heldout.experiment.systems.static import lists_of_some
from heldout.retrieve.sides import whole_side
from heldout.tune.search import check_optuna, search_optuna

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence

    from numpy.typing import NDArray

    from heldout.experiment.settings import RankingSettings
    from heldout.experiment.systems.base import Context, Point, System, Value
    from heldout.experiment.systems.outcomes import RankedOutcome
    from heldout.tune.space import Space

    Floats = NDArray[np.float64]
    RankingContext = Context[RankingSettings]
    Objective = Callable[[Point], Floats]

__all__ = ["SearchRecord", "SearchedCall", "SearchedModel", "searched"]

SEARCH = "search"
"""The kind of a task that searches on one train side."""


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class SearchRecord(Record):
    """A search on one train side, and what the chosen point got on the other.

    Parameters
    ----------
    points
        The values of the parameters at each trial, in the order of the trials.
    means
        What each trial got on the train side, by the measure that points are chosen by.
    trial
        The one that was chosen.
    values, documents, scores
        As for `RankedRecord`, of the queries that were held out.
    """

    points: tuple[tuple[Value, ...], ...]
    means: Floats
    trial: int
    values: Floats
    documents: NDArray[np.int32]
    scores: Floats


class _Searched:
    """What systems have in common whose points Optuna proposes; comes before their own class."""

    __slots__ = ()

    RECORDS: ClassVar[Mapping[str, type[Record]]] = {SEARCH: SearchRecord}
    PACKAGES: ClassVar[tuple[str, ...]] = ("optuna",)
    tries_everywhere: ClassVar[bool] = False

    if TYPE_CHECKING:  # fields of the classes that it comes before
        name: str
        space: Space
        parameters: tuple[tuple[str, Value], ...]
        trials: int
        tried: tuple[Point, ...]

    @abstractmethod
    def objective(self, task: Task, context: RankingContext) -> Objective:
        """What gives the value of each query at a point, on the train side of a task alone."""

    @abstractmethod
    def held_out(self, task: Task, context: RankingContext, point: Point) -> RankedRecord:
        """What a point gets on what a task holds out; on everything, if nothing is held out."""

    @abstractmethod
    def measures_final(self, settings: RankingSettings) -> NDArray[np.bool_]:
        """The measures by which the final point is known on the data it was chosen on."""

    def points(self) -> tuple[Point, ...]:
        """The points that were tried on any train side; none before the run."""
        return self.tried

    def shown_points(self) -> str:
        """How many points are tried, in words."""
        return f"{count_of(self.trials, 'trial')} of Optuna on each train side"

    @property
    def tuned(self) -> bool:
        """Yes: that is what a search is for."""
        return True

    def edges(self, number: int) -> tuple[str, ...]:
        """The parameters whose value is at an end of their range."""
        point = self.tried[number]
        return tuple(one.name for one in self.space.axes if one.at_edge(point[one.name]))

    def first_point(self) -> Point:
        """The first value of each parameter."""
        return {one.name: one.values[0] for one in self.space.axes}

    def described_search(self) -> dict[str, Any]:
        """The search as plain values."""
        axes = {
            one.name: {"values": list(one.values), "scale": one.scale} for one in self.space.axes
        }
        return {"search": "optuna", "trials": self.trials, "space": axes}

    def tasks(self, settings: RankingSettings) -> Iterator[Task]:
        """One for each split, and one for everything."""
        for split, shown in [*named_splits(settings), (EVERYTHING, "all")]:
            yield Task(f"{self.name}/search/{shown}", self.name, SEARCH, split)

    def resolve(
        self, tasks: Sequence[Task], settings: RankingSettings, records: Mapping[str, Record]
    ) -> list[Task]:
        """Nothing is left to choose between tasks."""
        del settings, records
        return list(tasks)

    def perform(self, task: Task, context: RankingContext) -> SearchRecord:
        """Search on the train side, and measure what was chosen on the other one."""
        settings, value_of = context.settings, self.objective(task, context)
        counts = _train_counts(settings, task)

        def seen(point: Point) -> Floats:
            values = value_of(point)
            return values if counts is None else np.repeat(values, counts)

        try:
            found = search_optuna(
                seen,
                self.space,
                self.trials,
                call_seed(settings.seed, SEARCH, self.name, shown_split(settings, task)),
                rule=settings.rule,
                higher_is_better=settings.higher_is_better,
            )
        except InputError as error:
            raise InputError(f"{task.key}: {error}") from error
        record = self.held_out(task, context, found.best)
        return SearchRecord(
            points=tuple(tuple(point.values()) for point in found.points),
            means=found.choice.means,
            trial=found.choice.number,
            values=record.values,
            documents=record.documents,
            scores=record.scores,
        )

    def as_tried(self, settings: RankingSettings, records: Mapping[str, Record]) -> Self:
        """The same with the points that were tried on any train side, each once."""
        rows = dict.fromkeys(
            row for task in self.tasks(settings) for row in _record(records, task).points
        )
        names = [one.name for one in self.space.axes]
        tried = tuple(dict(zip(names, row, strict=True)) for row in rows)
        return replace(self, tried=tried)  # type: ignore[type-var]

    def collect(self, settings: RankingSettings, records: Mapping[str, Record]) -> RankedOutcome:
        """Each split as its own search has chosen for it."""
        numbers = {tuple(point.values()): at for at, point in enumerate(self.tried)}
        chosen, tests = {}, {}
        for task in self.tasks(settings):
            one = _record(records, task)
            surface = np.full(len(self.tried), np.nan)
            surface[[numbers[row] for row in one.points]] = one.means
            number = numbers[one.points[one.trial]]
            chosen[task.split] = Chosen(number, float(one.means[one.trial]), surface)
            tests[task.split] = RankedRecord(
                number=number, values=one.values, documents=one.documents, scores=one.scores
            )
        final = tests.pop(EVERYTHING).values[:-1]
        training = np.where(self.measures_final(settings)[:, None], final, np.nan)
        pooled = settings.by != "query" and bool(getattr(self, "comparable", None))
        return collect_tests(settings, chosen, tests, training, pooled=pooled)


def _record(records: Mapping[str, Record], task: Task) -> SearchRecord:
    return records[task.key]  # type: ignore[return-value]


def _train_counts(settings: RankingSettings, task: Task) -> NDArray[np.int32] | None:
    """How often each query counts on the train side; None: all count once."""
    if task.split == EVERYTHING or settings.by == "document":
        return None
    return settings.splits[task.split].train


@dataclass(frozen=True, slots=True, kw_only=True)
class SearchedModel(_Searched, ModelSystem):
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
        found = candidates.rank(side, k=TOP, judged=False)
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
class SearchedCall(_Searched, CallSystem):
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

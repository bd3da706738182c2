"""Systems: what is evaluated, and how. Each kind of system is a subclass, in a module of its own.

A system lists its tasks, performs one of them in any process, and collects the records of all of
them into an outcome. Nobody else knows what its tasks mean.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar, Generic, Literal, Self, TypeVar

from heldout.data.notes import count_of
from heldout.errors import InputError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence

    from heldout.data.run import Run
    from heldout.experiment.execution.tasks import Task
    from heldout.experiment.manifest import SystemRecord
    from heldout.experiment.schema import RankingFields
    from heldout.experiment.settings import Settings
    from heldout.experiment.systems.outcomes import Outcome
    from heldout.experiment.systems.records import Record
    from heldout.resample.split import Splits
    from heldout.retrieve.shards import AnyIndex
    from heldout.tune.listed import Listed
    from heldout.tune.space import Space

    Value = float | int | str | bool
    Point = dict[str, Any]

__all__ = ["Context", "System"]

S = TypeVar("S", bound="Settings")
R = TypeVar("R")


class Context(Generic[S]):
    """All that tasks need, in one process: this one, or a worker anywhere.

    Parameters
    ----------
    settings
        The experiment.
    index
        For built-in models.
    """

    def __init__(self, settings: S, index: AnyIndex | None = None) -> None:
        self.settings, self.index = settings, index
        self._known: dict[str, tuple[object, Any]] = {}

    def perform(self, task: Task) -> Record:
        """Let the system of a task do it."""
        return self.settings.system(task.system).perform(task, self)

    def last(self, name: str, of: object, make: Callable[[], R]) -> R:
        """What was made under this name, if it was the last time of the same; else make it."""
        known = self._known.get(name)
        if known is None or known[0] != of:
            known = self._known[name] = of, make()
        return known[1]


@dataclass(frozen=True, slots=True, kw_only=True)
class System(ABC, Generic[S]):
    """Something that is evaluated; `System.of` makes one of what Python has at hand.

    Parameters
    ----------
    name
        Its name in tables.
    space
        The parameters that are tuned; None: nothing is.
    parameters
        Parameters that are fixed.
    """

    RECORDS: ClassVar[Mapping[str, type[Record]]] = {}
    """What a task of each kind finds."""
    needs_index: ClassVar[bool] = False
    """Whether it searches an index of the collection."""
    needs_text: ClassVar[bool] = True
    """Whether it reads the text of the documents itself."""
    needs_documents: ClassVar[bool] = True
    """Whether it searches documents, so that judgements alone are not enough."""
    PACKAGES: ClassVar[tuple[str, ...]] = ()
    """Packages whose versions may change its results, beside those of all experiments."""
    tries_everywhere: ClassVar[bool] = True
    """Whether every point is tried on every train side."""
    has_document_methods: ClassVar[bool] = False
    """Whether held-out documents can be estimated by any method, for any number of documents."""

    name: str
    space: Space | Listed | None = None
    parameters: tuple[tuple[str, Value], ...] = ()

    @staticmethod
    def of(
        given: Any,
        name: str | None = None,
        *,
        space: Space | Mapping[str, Any] | None = None,
        parameters: Mapping[str, Value] | None = None,
        sample: int | None = None,
        search: Literal["grid", "random", "optuna"] | None = None,
        trials: int | None = None,
        comparable: bool | None = None,
        kind: Literal["function", "object", "transformer"] | None = None,
    ) -> System[Any]:
        """Make a system.

        Parameters
        ----------
        given
            A text such as ``bm25(k1=0.5:3:6, b=0.75)``, ``runs/lambda=*.run`` or
            ``ranker.py:rank``; a `Model`; a `Run` or several of them by name; a function
            ``f(train, test, **parameters)``; a class or object with ``fit`` and ``predict``; a
            PyTerrier transformer, or a function that makes one (with ``kind="transformer"``).
        name
            What to call it.
        space
            The values to choose from, such as ``{"k1": "0.5:3:6", "b": [0.3, 0.75]}``.
        parameters
            Values that stay as they are.
        search, trials
            How the space is searched: all of its points (``grid``), or as many `trials` that are
            drawn (``random``) or proposed (``optuna``).
        sample
            The same as ``search="random"`` with as many trials.
        comparable
            Whether the scores of a function or object for documents of different parts of a
            collection can be compared, so that folds of documents can be merged.
        kind
            What is called, if it cannot be told by looking at it.

        Examples
        --------
        >>> system = System.of("bm25(k1=1:3:3, b=0.5,0.75)")
        >>> system.name, len(system.points()), system.points()[1]
        ('bm25', 6, {'k1': 1, 'b': 0.75})
        """
        from heldout.experiment.systems.reading import (  # it makes systems
            SystemOptions,
            system_of,
        )

        options = SystemOptions(parameters, space, sample, comparable, search, trials)
        return system_of(given, name, options, kind)

    def points(self) -> tuple[Point, ...]:
        """The parameter values to choose from, in order: the earlier is the simpler."""
        if self.space is None:
            return ({},)
        return tuple(dict(point) for point in self.space.points())

    def shown_points(self) -> str:
        """How many points are tried, in words."""
        return count_of(len(self.points()), "value")

    @property
    def tuned(self) -> bool:
        """Whether there is anything to choose."""
        return len(self.points()) > 1

    @property
    def learns(self) -> bool:
        """Whether what it gives may depend on the train side, other than by its parameters."""
        return True

    def settings(self, number: int) -> Point:
        """All parameters at a point, the fixed ones first."""
        return {**dict(self.parameters), **self.points()[number]}

    def edges(self, number: int) -> tuple[str, ...]:
        """The parameters whose value is the first or last of its grid."""
        return () if self.space is None else tuple(self.space.edges(number))

    def ranked(self) -> Iterator[Run]:
        """Read the runs that were made before; a system that searches has none."""
        return iter(())

    def describe(self) -> SystemRecord:
        """Return what it is as plain values; they change when the system does."""
        return {
            "name": self.name,
            "parameters": dict(self.parameters),
            "points": list(self.points()) if self.space is not None else [],
        }

    def loaded(self) -> tuple[str, ...]:
        """The files and modules whose code was loaded for it."""
        return ()

    # Whether it fits the experiment, asked before anything runs.

    @abstractmethod
    def misfits(self, by: str) -> Iterator[str]:
        """Why it cannot be evaluated on such splits."""

    def plan_problems(
        self, splits: Splits, by: str, given: RankingFields
    ) -> Iterator[tuple[str, str]]:
        """The fields, each with a reason, that do not go with these splits.

        Parameters
        ----------
        given
            The fields of the experiment.
        """
        del splits, by, given
        return iter(())

    # What it does.

    @abstractmethod
    def tasks(self, settings: S) -> Iterator[Task]:
        """All its tasks; the same whenever they are asked for."""

    def resolve(
        self, tasks: Sequence[Task], settings: S, records: Mapping[str, Record]
    ) -> list[Task]:
        """Tasks of a stage with the points that were chosen for them.

        Parameters
        ----------
        records
            What earlier stages have found, by the key of the task.
        """
        del settings, records
        return list(tasks)

    @abstractmethod
    def perform(self, task: Task, context: Context[S]) -> Record:
        """Do one task."""

    @abstractmethod
    def collect(self, settings: S, records: Mapping[str, Record]) -> Outcome:
        """Put together what its tasks have found."""

    def as_tried(self, settings: S, records: Mapping[str, Record]) -> System[S]:
        """The same when all tasks are done: with the points that were tried, if it has found them.

        Parameters
        ----------
        records
            What all tasks have found, by the key of the task.
        """
        del settings, records
        return self

    def read_record(self, task: Task, plain: Mapping[str, Any]) -> Record:
        """The record of a task from what the journal, or another process, holds."""
        try:
            return self.RECORDS[task.kind].of(plain)
        except (TypeError, ValueError, AttributeError) as error:
            raise InputError(f"{task.key}: not the record of such a task ({error})") from None

    # Where its tasks are done.

    def runs_elsewhere(self, *, cluster: bool) -> bool:
        """Whether its tasks go to other processes.

        Parameters
        ----------
        cluster
            Whether those are a cluster, or else processes that share this machine's cores.
        """
        del cluster
        return True

    def sendable(self) -> Self:
        """The same for another process; what stands in a file is loaded there."""
        return self

    def source(self) -> str | None:
        """A hash of the file that it is loaded from where it is sent to; None: it is sent whole."""
        return None

    def reloaded(self, source: str) -> System[Any]:
        """What `sendable` has left out, loaded again."""
        del source
        return self

    def restored(self, source: str | None) -> System[Any]:
        """A system as it was before it was sent.

        Parameters
        ----------
        source
            What `source` was where it was sent from.
        """
        if source is None:
            return self
        whole = self.reloaded(source)
        if whole.source() != source:
            raise InputError(f"{self.name}: its source is another one where a worker runs")
        return whole

    # What its tasks take, roughly.

    def memory(self, tasks: Sequence[Task], context: Context[S]) -> int:
        """Bytes that the largest of some tasks takes; 0: not known."""
        del tasks, context
        return 0

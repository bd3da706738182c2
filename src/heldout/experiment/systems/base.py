"""Systems: what is evaluated, and how. Each kind of system is a subclass, in a module of its own.

A system lists its tasks, performs one of them in any process, and collects the records of all of
them into an outcome. Only the system knows what its tasks mean.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar, Generic, Literal, Self, TypeVar

from heldout.errors import InputError
from heldout.experiment.documents.ranked_lists import TOP
from heldout.notes import count_of

if TYPE_CHECKING:
    import os
    from collections.abc import Callable, Iterator, Mapping, Sequence

    from heldout.data.embeddings import Embeddings
    from heldout.data.run import Run
    from heldout.experiment.execution.tasks import Task
    from heldout.experiment.settings import Settings
    from heldout.experiment.systems.outcomes import Outcome
    from heldout.experiment.systems.point_folds import FoldedRuns
    from heldout.experiment.systems.records import Record
    from heldout.resample.split import Splits
    from heldout.retrieve.dense import Metric
    from heldout.retrieve.index import Index
    from heldout.tune.listed import Listed
    from heldout.tune.space import Space

    Value = float | int | str | bool
    Point = dict[str, object]

__all__ = ["Context", "System"]

S = TypeVar("S", bound="Settings")
R = TypeVar("R")


class Context(Generic[S]):
    """What tasks need, in this process or on a worker.

    Parameters
    ----------
    settings
        The experiment.
    index
        The index, for built-in models.
    """

    def __init__(self, settings: S, index: Index | None = None) -> None:
        self.settings, self.index = settings, index
        self._known: dict[str, tuple[object, Any]] = {}

    def perform(self, task: Task) -> Record:
        """Let the system of a task perform it."""
        return self.settings.system(task.system).perform(task, self)

    def last(self, name: str, of: object, make: Callable[[], R]) -> R:
        """Return the last object made under this name if it was made for the same; else make it."""
        known = self._known.get(name)
        if known is None or known[0] != of:
            known = self._known[name] = of, make()
        return known[1]


@dataclass(frozen=True, slots=True, kw_only=True)
class System(ABC, Generic[S]):
    """Something that is evaluated; `System.of` makes one from Python objects and texts.

    Parameters
    ----------
    name
        Its name in tables.
    space
        The parameters that are tuned; None: none are.
    parameters
        Fixed parameters.
    """

    RECORDS: ClassVar[Mapping[str, type[Record]]] = {}
    """The record of each kind of task."""
    needs_index: ClassVar[bool] = False
    """Whether it searches an index of the collection."""
    needs_text: ClassVar[bool] = True
    """Whether it reads the text of the documents itself."""
    needs_documents: ClassVar[bool] = True
    """Whether it searches documents, so that judgements alone are not enough."""
    PACKAGES: ClassVar[tuple[str, ...]] = ()
    """Packages whose versions can change its results, in addition to those of all experiments."""
    tries_everywhere: ClassVar[bool] = True
    """Whether every parameter setting is tried on the training data of every split."""
    has_document_methods: ClassVar[bool] = False
    """Whether all estimation methods and target sizes for held-out documents work with it."""

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
        search: Literal["grid", "random", "optuna"] | None = None,
        trials: int | None = None,
        comparable: bool | None = None,
        learns: bool | None = None,
        first: Run | System[Any] | str | os.PathLike[str] | None = None,
        kind: Literal["function", "object", "transformer"] | None = None,
    ) -> System[Any]:
        """Make a system.

        Parameters
        ----------
        given
            A text such as ``bm25(k1=0.5:3:6, b=0.75)``, ``runs/lambda=*.run``,
            ``wsum(bm25.run, dense.run, w=0:1:11)`` or ``ranker.py:rank``; a `Model`; a `Run` or
            several of them by name; a function ``f(train, test, **parameters)``; a class or object
            with ``fit`` and ``predict``; a PyTerrier transformer, or a function without ``train``
            and ``test`` that makes one.
        name
            Its name in tables.
        space
            The values to tune over, such as ``{"k1": "0.5:3:6", "b": [0.3, 0.75]}``.
        parameters
            Fixed parameters.
        search, trials
            How the space is searched: all parameter settings (``grid``), or a number of `trials`
            that are drawn (``random``) or proposed (``optuna``).
        comparable
            Whether the scores of a function, object or run for documents of different parts of a
            collection can be compared, so that folds of documents can be merged.
        learns
            False: the ranking of a query by a function does not depend on the training queries and
            judgements. It is then called once per parameter setting when queries are held out, gets
            no judgements, and can be fused and reranked.
        first
            The first stage of a function ``f(train, test, candidates, **parameters)`` that reranks:
            a system, the name of another system of the experiment, a run or its path, or a built-in
            model. `candidates` is a run with its first documents for the test queries; their number
            is the parameter ``depth`` (default: 100). A parameter ``train_candidates`` gets those
            of the training queries.
        kind
            What is called, if that is ambiguous.

        Examples
        --------
        >>> system = System.of("bm25(k1=1:3:3, b=0.5,0.75)")
        >>> system.name, len(system.points()), system.points()[1]
        ('bm25', 6, {'k1': 1, 'b': 0.75})
        """
        from heldout.experiment.systems.parameters import SystemOptions
        from heldout.experiment.systems.reading import system_of  # it makes systems

        options = SystemOptions(parameters, space, comparable, search, trials, first, learns)
        return system_of(given, name, options, kind)

    @staticmethod
    def vectors(
        documents: Embeddings | str | os.PathLike[str],
        queries: Embeddings | str | os.PathLike[str],
        name: str | None = None,
        *,
        metric: Metric = "cosine",
    ) -> System[Any]:
        """Make a system that ranks documents by their vectors; see `heldout.rank_vectors`.

        Parameters
        ----------
        documents, queries
            Their vectors, or ``.npy`` files; see `heldout.read_embeddings`.
        name
            Its name in tables.
        metric
            ``cosine`` or ``ip``.

        Examples
        --------
        >>> from heldout import Embeddings
        >>> documents = Embeddings(["d1", "d2"], [[1.0, 0.0], [0.6, 0.8]])
        >>> System.vectors(documents, Embeddings(["q1"], [[0.0, 1.0]]), "dense").name
        'dense'
        """
        from heldout.experiment.systems.parameters import SystemOptions
        from heldout.experiment.systems.text_forms import vectors_of  # it makes systems

        return vectors_of(documents, queries, name, SystemOptions({"metric": metric}))

    @staticmethod
    def fusion(
        how: str,
        parts: Sequence[Run | System[Any] | str | os.PathLike[str]],
        name: str | None = None,
        *,
        space: Space | Mapping[str, Any] | None = None,
        parameters: Mapping[str, Value] | None = None,
        search: Literal["grid", "random", "optuna"] | None = None,
        trials: int | None = None,
    ) -> System[Any]:
        """Make a system that fuses runs, or other systems of the experiment.

        Parameters
        ----------
        how
            The method; see `heldout.fuse`.
        parts
            Runs, paths of runs, or names of other systems.
        name
            Its name in tables; by default the method.
        space, parameters
            What is tuned and what is fixed: ``norm``, ``k``, and weights. With two parts
            ``w`` is the weight of the first, and the second has 1 − w; with more, ``w`` stands for
            all weights that add up to 1, and ``w1``, ``w2``, … for single ones.
        search, trials
            As for `System.of`.

        Examples
        --------
        >>> system = System.fusion("wsum", ["bm25", "dense", "splade"], space={"w": "0:1:3"})
        >>> len(system.points()), system.points()[0]
        (6, {'w1': 0.0, 'w2': 0.0, 'w3': 1.0})
        """
        from heldout.experiment.systems.fusion_reading import fusion_of_parts  # it makes systems
        from heldout.experiment.systems.parameters import SystemOptions

        options = SystemOptions(parameters, space, None, search, trials)
        return fusion_of_parts(how, parts, options, name)

    def points(self) -> tuple[Point, ...]:
        """Return the parameter settings to choose from; of two, the earlier one is simpler."""
        if self.space is None:
            return ({},)
        return tuple(dict(point) for point in self.space.points())

    def point_at(self, number: int) -> Point:
        """Return one of the parameter settings, without making the others."""
        return {} if self.space is None else dict(self.space.point(number))

    def shown_points(self) -> str:
        """Describe how many parameter settings are tried."""
        return count_of(len(self.points()), "value")

    @property
    def tuned(self) -> bool:
        """Whether there is more than one parameter setting."""
        return len(self.points()) > 1

    @property
    def learns(self) -> bool:
        """Whether its output depends on the training data other than through its parameters."""
        return True

    def settings(self, number: int) -> Point:
        """Return all parameters at a point, the fixed ones first."""
        return {**dict(self.parameters), **self.point_at(number)}

    def edges(self, number: int) -> tuple[str, ...]:
        """Return the parameters whose value is the first or last of its grid."""
        return () if self.space is None else tuple(self.space.edges(number))

    def ranked(self, top: int = TOP) -> Iterator[Run]:
        """Yield the runs that the system consists of; a system that searches has none.

        Parameters
        ----------
        top
            Number of documents per query that results keep.
        """
        del top
        return iter(())

    def describe(self) -> dict[str, Any]:
        """Return what it is as plain values; they change when the system does."""
        return {
            "name": self.name,
            "parameters": dict(self.parameters),
            "points": list(self.points()) if self.space is not None else [],
        }

    def loaded(self) -> tuple[str, ...]:
        """Return the files and modules whose code was loaded for it."""
        return ()

    # Does it fit the experiment? Asked before anything runs.

    @abstractmethod
    def misfits(self, by: str) -> Iterator[str]:
        """Yield the reasons why it cannot be evaluated on such splits."""

    def plan_problems(self, splits: Splits, by: str) -> Iterator[tuple[str, str]]:
        """Yield the fields that do not work with these splits, each with the reason."""
        del splits, by
        return iter(())

    # As a part of another system.

    def linked(self, systems: Mapping[str, System[Any]]) -> System[Any]:
        """Return the system with those that it refers to by name; most refer to none.

        Parameters
        ----------
        systems
            All systems of the experiment.
        """
        del systems
        return self

    def linked_parts(self) -> tuple[System[Any], ...]:
        """Return the systems whose rankings it uses, in an experiment; most use none."""
        return ()

    def not_a_part(self) -> str | None:
        """Return why its rankings cannot be used by another system; None: they can."""
        return (
            "its ranking of a query can depend on the training side; write its run to a file, and "
            "name that"
        )

    @property
    def merges_documents(self) -> bool:
        """Whether the held-out documents of all folds are merged into one ranking."""
        return False

    def selected(self, settings: S, records: Mapping[str, Record]) -> list[int]:
        """Return the point chosen for each split and, last, for all data, if it can be a part.

        Parameters
        ----------
        records
            The records of stage 0, by the key of the task.
        """
        del settings, records
        raise InputError(f"{self.name}: {self.not_a_part()}")

    def ranking(self, number: int, context: Context[S]) -> Run:
        """Return the ranked lists of all queries at a point, if it can be a part."""
        del number, context
        raise InputError(f"{self.name}: {self.not_a_part()}")

    def folded_runs(self, repeat: int, points: Sequence[int], context: Context[S]) -> FoldedRuns:
        """Return its rankings under document folds, if it can be a part and merges documents.

        Parameters
        ----------
        points
            The point of each fold and, last, of all data.
        """
        del repeat, points, context
        raise InputError(f"{self.name}: {self.not_a_part()}")

    # Tasks.

    @abstractmethod
    def tasks(self, settings: S) -> Iterator[Task]:
        """Yield all its tasks; they are the same each time."""

    def resolve(
        self, tasks: Sequence[Task], settings: S, records: Mapping[str, Record]
    ) -> list[Task]:
        """Return the tasks of a stage with the parameter settings chosen for them.

        Parameters
        ----------
        records
            The records of earlier stages, by the key of the task.
        """
        del settings, records
        return list(tasks)

    @abstractmethod
    def perform(self, task: Task, context: Context[S]) -> Record:
        """Perform one task."""

    @abstractmethod
    def collect(self, settings: S, records: Mapping[str, Record]) -> Outcome:
        """Combine the records of its tasks into an outcome."""

    def as_tried(self, settings: S, records: Mapping[str, Record]) -> System[S]:
        """Return the system after all tasks, with the points that a search has tried.

        Parameters
        ----------
        records
            The records of all tasks, by the key of the task.
        """
        del settings, records
        return self

    def read_record(self, task: Task, plain: Mapping[str, Any]) -> Record:
        """Return the record of a task from its values in the journal or from another process."""
        try:
            return self.RECORDS[task.kind].of(plain)
        except (TypeError, ValueError, AttributeError) as error:
            raise InputError(f"{task.key}: not a record of this kind of task ({error})") from None

    # Other processes.

    def runs_elsewhere(self, task: Task, *, cluster: bool) -> bool:
        """Whether a task runs in other processes.

        Parameters
        ----------
        cluster
            Whether these are a cluster; otherwise they share this machine's cores.
        """
        del task, cluster
        return True

    def sendable(self) -> Self:
        """Return the system for another process, without parts that can be loaded from a file."""
        return self

    def source(self) -> str | None:
        """Return a hash of the file that another process loads it from; None: it is sent itself."""
        return None

    def reloaded(self, source: str) -> System[Any]:
        """Return the system with the parts that `sendable` left out."""
        del source
        return self

    def restored(self, source: str | None) -> System[Any]:
        """Return the system as it was before it was sent.

        Parameters
        ----------
        source
            The result of `source` in the sending process.
        """
        if source is None:
            return self
        whole = self.reloaded(source)
        if whole.source() != source:
            raise InputError(f"{self.name}: its source file is different on a worker")
        return whole

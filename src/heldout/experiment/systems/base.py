"""What a system is: a class with one method, `rank`. Read this to write one.

A system learns from one part of a collection and ranks another:

>>> from dataclasses import dataclass
>>> from heldout import Collection, Experiment, KFold, Run, System
>>> from heldout.experiment.documents.lists import lists_of_run
>>> from heldout.tune.search import Search
>>> from heldout.tune.space import Space, parse_axis
>>> @dataclass(frozen=True, kw_only=True, eq=False)
... class Longest(System):
...     learns: bool = False  # it needs no training data
...     comparable: bool | None = True  # a length does not depend on the other documents
...
...     def rank(self, data, train, test, point, parts):
...         view = test.sealed(data.collection, judged=False)  # nothing else can be read from it
...         pairs = view.documents.pairs()
...         scores = {name: point["sign"] * len(text) for name, text in pairs}
...         run = Run.of(dict.fromkeys(view.queries.ids, scores))
...         return lists_of_run(run, data.collection, data.depth)
>>> texts = {f"d{number}": "word " * number for number in range(1, 9)}
>>> queries = {f"q{number}": "word" for number in range(6)}
>>> judged = {f"d{number}": 1 for number in range(4, 9)}
>>> collection = Collection(texts, queries, dict.fromkeys(queries, judged))
>>> longest = Longest(name="longest", search=Search(Space((parse_axis("sign=-1,1"),))))
>>> for by in ("query", "document"):
...     results = Experiment(
...         collection=collection, systems=[longest], measures=["RR"], by=by, plan=KFold(2)
...     ).run()
...     print(by, results.value("longest", "RR"), results.chosen("longest")[0])
query 1.0 {'sign': 1}
document 1.0 {'sign': 1}

The engine (`rankings`) calls `rank` for every split and every parameter setting that it tries; a
system never sees which split that is. The fields say what may be done with its lists. `grid` and
`pool` have defaults that call `rank`; a kind of system overrides them if it has a faster way to the
same numbers. What is in `Part`, `Data` and `Parts` comes after the system.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, ClassVar, Literal, NamedTuple

import numpy as np

from heldout.data.collection import Collection, View
from heldout.errors import InputError
from heldout.experiment.documents.lists import (
    as_run,
    id_order,
    lists_of_documents,
    lists_of_queries,
    measure_lists,
)
from heldout.experiment.documents.pooling import pool_points
from heldout.experiment.documents.rank_table import RankTable
from heldout.notes import named_few
from heldout.tune.search import Search

if TYPE_CHECKING:
    import os
    from collections.abc import Callable, Hashable, Iterator, Mapping, Sequence

    from numpy.typing import NDArray

    from heldout.data.embeddings import Embeddings
    from heldout.data.run import Run
    from heldout.data.words import Flags, Floats
    from heldout.experiment.documents.lists import Lists
    from heldout.measure.base import Measure
    from heldout.resample.split import SplitKey, Splits
    from heldout.retrieve.index import Index
    from heldout.tune.search import How
    from heldout.tune.space import Point, Value

    Weights = NDArray[np.int32]
    Points = Sequence[Point]
    Measures = Sequence[Measure]


@dataclass(frozen=True, kw_only=True, eq=False)
class System(ABC):
    """Something that ranks documents; `System.of` makes one from Python objects and texts."""

    is_model: ClassVar[bool] = False
    """Whether it searches the index, and documents can be held out by every method."""
    needs_documents: ClassVar[bool] = True
    """Whether it searches documents, so that judgements alone are not enough."""
    calls: ClassVar[bool] = False
    """Whether `rank` uses one thread, as a user's code does: worker processes are started for it.

    A system that uses all cores is evaluated in this process, or by a cluster.
    """
    pools: ClassVar[bool] = False
    """Whether `pool` ranks the held-out documents of all folds itself."""

    name: str
    """Its name in tables."""
    search: Search = field(default_factory=Search)
    """Its parameter settings, and how they are searched."""
    learns: bool = True
    """False: its ranking of a query depends on the documents and its parameters alone."""
    comparable: bool | None = None
    """Whether scores of documents of different parts of a collection can be compared, so that the
    held-out documents of all folds can be merged; None: it was not said."""
    parts: tuple[System | str, ...] = ()
    """The systems whose lists it uses; a text is a name, until the experiment is prepared."""

    @abstractmethod
    def rank(self, data: Data, train: Part, test: Part, point: Point, parts: Parts) -> Lists:
        """Learn from `train` and rank the documents of `test` for its queries.

        A point has all parameters by name. `parts` has the runs of the systems in `self.parts` at
        the points that were chosen for the same split, of whole sides: to be restricted.
        """

    def grid(
        self, data: Data, train: Part, test: Part, points: Points, measures: Measures, parts: Parts
    ) -> Floats:
        """Return measures × points × queries of `test`."""
        ranked = (self.rank(data, train, test, point, parts) for point in points)
        return np.stack([data.measured(lists, test, measures) for lists in ranked], axis=1)

    def pool(self, data: Data, folds: Weights, chosen: Points, final: Point, parts: Parts) -> Lists:
        """Return one ranking of the held-out documents of all folds, if `pools`.

        Each document (its fold is in `folds`; −1: in none) is as the `chosen` point of its fold
        ranks it, on the scale of the `final` point. `parts.test` has the pooled runs of the parts.
        """
        points = [*chosen, final]
        *own, reference = [points.index(point) for point in points]
        lists = {}
        for number in {*own, reference}:
            ranked = self.rank(data, Part(), Part(), points[number], parts)
            lists[number] = lists_of_documents(ranked, folds >= 0)
        return pool_points(lists, own, reference, folds, id_order(data.collection), data.depth)

    def run(self, data: Data, train: Part, test: Part, point: Point, parts: Parts) -> Run:
        """Return what it ranks as a run, for a system that it is a part of."""
        lists = self.rank(data, train, test, point, parts)
        return as_run(lists, data.collection, self.name)

    def misfits(self, by: str, splits: Splits | None) -> Iterator[str]:
        """Yield why it cannot be evaluated if this is held out; None: the splits are not known."""
        merged, written = self.pools or self.parts, getattr(self, "reference", "") or "NAME"
        if merged and by == "both":
            yield "queries and documents cannot both be held out of it: hold out one of them"
        elif merged and by == "document" and splits and not splits.partitions:
            yield "its held-out documents are merged, which needs folds: plan kfold or given"
        elif merged and by == "document" and not self.comparable:
            yield (
                "to hold out documents, their scores in different folds must be comparable: if the "
                "score of a document does not depend on the others (vectors of a fixed model), say "
                f"so: {written}(comparable=true); otherwise hold out queries, or give a function "
                "that searches one side"
            )
        elif not merged and by != "query" and self.comparable is None:
            yield (
                "say whether scores from different fits can be compared: comparable=true merges "
                "the held-out documents of all folds into one ranking; comparable=false evaluates "
                "every fold by itself, which estimates the score on a collection as small as a "
                f"fold; in a text: {written}(comparable=true)"
            )
        for part in self.parts if by == "document" else ():
            if isinstance(part, System) and not part.comparable:
                yield (
                    f"to hold out documents, say that the scores of {part.name} for documents of "
                    "different folds can be compared: make it a system of its own, with "
                    "comparable=true in its brackets, and name it"
                )

    def edges(self, point: Point) -> tuple[str, ...]:
        """Return the parameters whose value is at an end of its grid, and could go further."""
        return self.search.edges(point)

    def runs(self) -> Iterator[Run]:
        """Yield the runs that it consists of, for their ids; a system that searches has none."""
        return iter(())

    def describe(self) -> dict[str, Any]:
        """Return what it is as plain values; they change when the system does."""
        described: dict[str, Any] = {"name": self.name, "points": list(self.search.points)}
        if self.search.how == "optuna":
            axes = self.search.space.axes
            described["space"] = {
                axis.name: {"values": list(axis.values), "scale": axis.scale} for axis in axes
            }
            described |= {"search": "optuna", "trials": self.search.trials}
        if self.parts:
            parts = self.parts
            described["parts"] = [p if isinstance(p, str) else p.describe() for p in parts]
        return described

    @staticmethod
    def of(
        given: Any,
        name: str | None = None,
        *,
        parts: Sequence[Run | System | Embeddings | str | os.PathLike[str]] = (),
        space: Mapping[str, Any] | None = None,
        parameters: Mapping[str, Value] | None = None,
        search: How | None = None,
        trials: int | None = None,
        comparable: bool | None = None,
        learns: bool | None = None,
        first: Run | System | str | os.PathLike[str] | None = None,
        kind: Literal["function", "object", "transformer"] | None = None,
    ) -> System:
        """Make a system.

        Parameters
        ----------
        given
            A text such as ``bm25(k1=0.5:3:6, b=0.75)``, ``runs/lambda=*.run``,
            ``wsum(bm25.run, dense.run, w=0:1:11)`` or ``ranker.py:rank``; a `Model`; a `Run` or
            several of them by name; a function ``f(train, test, **parameters)``; a class or object
            with ``fit`` and ``predict``; a PyTerrier transformer, or a function without ``train``
            and ``test`` that makes one; a method of `heldout.fuse`, or ``vectors``.
        name
            Its name in tables.
        parts
            What a fusion fuses: runs, their paths, or (names of) other systems. Of ``vectors``,
            those of documents and of queries, or their files; see `heldout.rank_vectors`.
        space
            The values to tune over, such as ``{"k1": "0.5:3:6", "b": [0.3, 0.75]}``. In a fusion of
            two parts ``w`` is the weight of the first, and the second has 1 − w; of more, ``w`` is
            for all weights that add up to 1, and ``w1``, ``w2``, … are single ones.
        parameters
            Fixed parameters.
        search, trials
            How the space is searched: all parameter settings (``grid``), or a number of `trials`
            that are drawn (``random``) or proposed (``optuna``).
        comparable
            Whether scores of documents of different parts of a collection can be compared, so that
            folds of documents can be merged: for a function, an object or a run.
        learns
            False: the ranking of a query by a function does not depend on the training queries and
            judgements. If queries are held out it is called once per parameter setting, without
            judgements, and it can be fused and reranked.
        first
            The first stage of a function ``f(train, test, candidates, **parameters)`` that reranks:
            a system, the name of another one, a run or its path, or a built-in model. `candidates`
            is a run with its first ``depth`` documents (a parameter; default: 100) for the test
            queries; a parameter ``train_candidates`` gets those of the training queries.
        kind
            What is called, if that is ambiguous.

        Examples
        --------
        >>> system = System.of("bm25(k1=1:3:3, b=0.5,0.75)")
        >>> system.name, len(system.search.points), system.search.points[1]
        ('bm25', 6, {'k1': 1, 'b': 0.75})
        >>> system = System.of("wsum", parts=["bm25", "dense", "splade"], space={"w": "0:1:3"})
        >>> len(system.search.points), system.search.points[0]
        (6, {'w1': 0.0, 'w2': 0.0, 'w3': 1.0})
        """
        from heldout.experiment.systems.build import Given, axes_of, build  # it makes systems

        axes = axes_of(parameters, space)
        options = Given(name, tuple(parts), axes, search, trials, comparable, learns, first, kind)
        return build(given, options)


# ---- what a system is given ----------------------------------------------------------------------


@dataclass(frozen=True, eq=False)
class Part:
    """Some documents and queries of a collection, as weights; None: all of them, once."""

    documents: Weights | None = None
    queries: Weights | None = None
    split: str = "all"  # the split that it belongs to, which seeds what is random
    inner: int = -1  # the inner fold of that split; −1: none
    key: SplitKey | None = None  # of the split

    def counted(self, table: RankTable) -> Flags:
        """Return which judgements are of documents and queries of this part."""
        counted = np.ones(len(table), np.bool_)
        if self.documents is not None:
            counted &= self.documents[table.documents] > 0
        if self.queries is not None:
            counted &= self.queries[table.queries] > 0
        return counted

    def restrict(self, lists: Lists) -> Lists:
        """Return lists without documents and queries of other parts."""
        if self.documents is not None:
            lists = lists_of_documents(lists, self.documents > 0)
        return lists if self.queries is None else lists_of_queries(lists, self.queries > 0)

    def sealed(self, whole: Collection, *, judged: bool) -> View:
        """Return the part as a collection of its own, so that nothing else can be read from it."""
        view = View(whole, self.documents, self.queries)
        documents, queries = view.document_weights, view.query_weights
        qrels = view.qrels if judged and len(view.qrels) else None
        alone = Collection(view.documents, view.queries, qrels, name=whole.name)
        return View(alone, documents[documents > 0], queries[queries > 0])


@dataclass(frozen=True, eq=False)
class Data:
    """What all systems of an experiment share."""

    collection: Collection
    depth: int  # ranks beyond it are ignored
    seed: int
    index: Index | None = None  # opened when the experiment runs, if a system needs it
    table: RankTable = field(init=False)  # the judgements
    _known: dict[Hashable, Any] = field(default_factory=dict, init=False, repr=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "table", RankTable.of(self.collection))

    def measured(self, lists: Lists, part: Part, measures: Sequence[Measure]) -> Floats:
        """Return measures × queries; NaN: no relevant document of the part."""
        return measure_lists(self.table, lists, part.counted(self.table), measures, self.depth)

    def once(self, name: Hashable, make: Callable[[], Any]) -> Any:
        """Return what was made under this name; it is made again when it was forgotten."""
        value = self._known.pop(name) if name in self._known else make()
        self._known[name] = value  # the last used comes last
        if len(self._known) > 32:  # ranked lists, or other large values
            del self._known[next(iter(self._known))]
        return value


class Parts(NamedTuple):
    """What the parts of a fusion or reranker rank, as runs of whole sides."""

    train: Sequence[Run] = ()
    test: Sequence[Run] = ()


def with_parts(systems: Sequence[Any]) -> Iterator[Any]:
    """Yield systems, each followed by its parts; an estimator has none."""
    for system in systems:
        yield system
        yield from with_parts(getattr(system, "parts", ()))


def refuse_others(
    run: Run, view: View, where: str, *, documents: bool = True, why: str = ""
) -> None:
    """Refuse a run with queries, or documents, that are not in the part that was to be ranked."""
    known = set(view.queries.ids)
    strange = {"queries": [query for query in run.queries if query not in known]}
    if documents:
        ranked = list(dict.fromkeys(run.docs.tolist()))
        rows = np.flatnonzero(view.documents.ids.find(ranked) < 0)
        strange["documents"] = [ranked[row] for row in rows.tolist()]
    for what, ids in strange.items():
        if ids:
            raise InputError(
                f"{where} ranks {what} that are not on the test side: {len(ids):,} "
                f"({named_few(ids, len(ids))}){why}"
            )

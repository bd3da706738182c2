"""Functions, and objects with fit and predict, as systems.

A `View` leads to its whole collection, including held-out judgements. A system therefore gets a
view of a collection that contains only one side of the split: documents and queries of the other
side are not in it, and the held-out side has no judgements.
"""

from __future__ import annotations

import copy
import inspect
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar, Literal, Self

import numpy as np

from heldout.data.collection import Collection, View
from heldout.data.run import Run
from heldout.errors import HeldoutError, InputError, failure
from heldout.experiment.documents.rank_table import RankTable
from heldout.experiment.documents.ranked_lists import lists_of_run, measure_lists
from heldout.experiment.execution.tasks import EVERYTHING
from heldout.experiment.systems.base import System
from heldout.experiment.systems.call_outcomes import collect_calls
from heldout.experiment.systems.choose_in_folds import (
    TEST,
    TUNE,
    NestedSystem,
    call_seed,
    shown_split,
)
from heldout.experiment.systems.records import RankedRecord, TuneRecord
from heldout.experiment.systems.references import (
    load_reference,
    qualified_name,
    reference_hash,
    source_hash,
)
from heldout.notes import named_few
from heldout.resample.plans import KFold

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from numpy.typing import NDArray

    from heldout.experiment.documents.ranked_lists import Lists
    from heldout.experiment.execution.tasks import Task
    from heldout.experiment.settings import RankingSettings
    from heldout.experiment.systems.base import Context, Point
    from heldout.experiment.systems.outcomes import RankedOutcome
    from heldout.experiment.systems.records import Record
    from heldout.resample.split import Split

    Weights = NDArray[np.int32] | None

__all__ = [
    "CallKind",
    "CallSide",
    "CallSystem",
    "call_sides",
    "comparable_misfit",
    "kept_lists",
    "refuse_strangers",
    "sealed",
    "takes",
    "with_seed",
]

CallKind = Literal["function", "object", "transformer"]


@dataclass(frozen=True, slots=True, kw_only=True)
class CallSystem(NestedSystem["RankingSettings"]):
    """A user's function, or object with fit and predict.

    Parameters
    ----------
    call
        The function, class or object.
    kind
        Which of these it is.
    comparable
        Whether scores from different fits can be compared, so that the held-out documents of all
        folds can be merged into one ranking.
    reference
        The reference it was loaded from (``ranker.py:rank``), if any.
    home
        The folder that a relative reference is resolved from.
    """

    RECORDS: ClassVar[Mapping[str, type[Record]]] = {TUNE: TuneRecord, TEST: RankedRecord}

    call: Any = field(repr=False)
    kind: CallKind = "function"
    comparable: bool | None = None
    reference: str = ""
    home: str = ""

    def describe(self) -> dict[str, Any]:
        """Return what it is as plain values, with a hash of its source."""
        record = System.describe(self)
        # The path of a file can be written in many ways; its content is hashed.
        record[self.kind] = Path(self.reference).name or qualified_name(self.call)
        record["comparable"] = self.comparable
        record["source"] = self.source_hash()
        return record

    def loaded(self) -> tuple[str, ...]:
        """Return the file or module of its reference."""
        return (self.reference.rpartition(":")[0],) if self.reference else ()

    def source_hash(self) -> str:
        """Return a hash of its file or of its own source, which changes when it does."""
        return reference_hash(self.reference, self.home) or source_hash(self.call)

    def misfits(self, by: str) -> Iterator[str]:
        """Yield the reasons why it cannot be evaluated on such splits."""
        if by != "query" and self.comparable is None:
            yield comparable_misfit(self.reference or "file.py:name")

    def why_no_choice(self, settings: RankingSettings, tried: Sequence[TuneRecord]) -> str:
        """Return why no parameter setting can be chosen."""
        del settings, tried
        return "no query on the training side has a relevant document"

    def perform(self, task: Task, context: Context[RankingSettings]) -> Record:
        """Call the system with the training side, let it rank the other side, and evaluate that."""
        settings, whole = context.settings, context.settings.collection
        seen, ranked = call_sides(settings, task)
        sides = seen.sealed(whole, judged=True), ranked.sealed(whole, judged=False)
        lists = lists_of_run(self.rank_task(task, context, *sides), whole, settings.depth)
        table = RankTable.of(whole)
        counted = ranked.counted(table)
        if task.kind == TUNE:
            values = measure_lists(table, lists, counted, [settings.tune_for], settings.depth)
            return TuneRecord(values=values[0])
        measures = [*settings.measures, settings.tune_for]
        values = measure_lists(table, lists, counted, measures, settings.depth)
        kept = kept_lists(lists, settings, comparable=self.comparable)
        return RankedRecord(
            number=task.points[0], values=values, documents=kept.documents, scores=kept.scores
        )

    def rank_task(
        self, task: Task, context: Context[RankingSettings], train: View, test: View
    ) -> Run:
        """Return the ranking of the test side of a task."""
        return self.rank(train, test, task.points[0], self.task_seed(task, context.settings))

    def task_seed(self, task: Task, settings: RankingSettings) -> int:
        """Return a seed: the same for all points, which are compared under the same numbers."""
        return call_seed(settings.seed, self.name, shown_split(settings, task), task.inner)

    def collect(self, settings: RankingSettings, records: Mapping[str, Record]) -> RankedOutcome:
        """Combine the records of its calls."""
        return collect_calls(self, settings, records)

    def rank(
        self,
        train: View,
        test: View,
        number: int,
        seed: int,
        more: Mapping[str, object] | None = None,
    ) -> Run:
        """Return the ranking of a test side by the system, trained on a train side.

        Parameters
        ----------
        train, test
            The two sides; the test side has no judgements.
        number
            The point with the parameters.
        seed
            Passed to systems that have a parameter `seed`.
        more
            More arguments, which are not parameters of the system.
        """
        settings = self.settings(number)
        arguments: Point = {**settings, **(more or {})}
        try:
            run = _as_run(self._called(train, test, arguments, seed), self.name)
        except (HeldoutError, KeyboardInterrupt):
            raise
        except BaseException as error:
            raise InputError(failure(f"{self.name}{_shown(settings)}", error)) from error
        refuse_strangers(run, test, self.name)
        return run

    def _called(self, train: View, test: View, settings: Point, seed: int) -> object:
        if self.kind == "function":
            return self.call(train, test, **with_seed(self.call, settings, seed))
        made = _made(self.call, settings, seed)
        fitted = made.fit(train)
        return (fitted if hasattr(fitted, "predict") else made).predict(test)

    def sendable(self) -> Self:
        """Return the system without the call if a worker can load that from its file."""
        if not self.reference:
            return self
        return replace(self, call=None, home=str(Path(self.home).resolve()))

    def source(self) -> str | None:
        """Return a hash of the file, if it has one."""
        return self.source_hash() if self.reference else None

    def reloaded(self, source: str) -> Self:
        """Return the system with the call that its reference names."""
        del source
        call = load_reference(self.reference, Path(self.home), system=self.name)
        return replace(self, call=call)


def comparable_misfit(text: str) -> str:
    """Return what to say about scores if documents are held out.

    Parameters
    ----------
    text
        The system as a text.
    """
    return (
        "say whether scores from different fits can be compared: comparable=true merges "
        "the held-out documents of all folds into one ranking; comparable=false evaluates "
        "every fold by itself, which estimates the score on a collection as small as a "
        f"fold; in a text: {text}(comparable=true)"
    )


def kept_lists(lists: Lists, settings: RankingSettings, *, comparable: bool | None) -> Lists:
    """Return the part of ranked lists that results need: all, if folds are merged."""
    return lists if comparable and settings.by != "query" else lists.top(settings.kept)


def with_seed(call: Any, settings: Point, seed: int) -> Point:
    """Return the parameters, and the seed if the system has a parameter for it that is not set."""
    needed = "seed" not in settings and takes(call, "seed")
    return {**settings, "seed": seed} if needed else settings


def takes(call: Any, name: str) -> bool:
    """Return whether a function or class has a parameter of this name."""
    try:
        return name in inspect.signature(call).parameters
    except (TypeError, ValueError):
        return False


def _made(call: Any, settings: Point, seed: int) -> Any:
    """Return a new object, made or copied, so that no fit influences another."""
    if isinstance(call, type) or (callable(call) and not hasattr(call, "predict")):
        return call(**with_seed(call, settings, seed))
    return copy.deepcopy(call)


def _shown(settings: Point) -> str:
    return f"({', '.join(f'{key}={value}' for key, value in settings.items())})" if settings else ""


def _as_run(found: object, name: str) -> Run:
    """Return the output of a system as a run."""
    if isinstance(found, Run):
        return found
    if isinstance(found, Mapping):
        return Run.of(found, name)
    if hasattr(found, "columns"):
        return Run.of(found, name)
    raise InputError(
        f"{name} returned {type(found).__name__}: expected a Run, {{query: {{document: score}}}}, "
        "or a frame with the columns qid, docno and score"
    )


def refuse_strangers(run: Run, test: View, name: str) -> None:
    """Raise an error if a run has queries or documents that are not on the test side."""
    known = set(test.collection.queries.ids)
    strange = [query for query in run.queries if query not in known]
    if strange:
        raise InputError(
            f"{name} ranked queries that are not on the test side: {len(strange)} "
            f"({named_few(strange, len(strange))})"
        )
    documents = run.docs.tolist()
    places = test.collection.documents.ids.find(documents)
    lost = [documents[at] for at in np.flatnonzero(places < 0)[:1000].tolist()]
    if lost:
        raise InputError(
            f"{name} ranked documents that are not on the test side: "
            f"{named_few(dict.fromkeys(lost), len(lost))}"
        )


@dataclass(frozen=True, slots=True, eq=False)
class CallSide:
    """The weight of each document and query on one side; None: all have weight 1."""

    documents: Weights = None
    queries: Weights = None

    def counted(self, table: RankTable) -> NDArray[np.bool_]:
        """Return which judgements are of queries and documents of this side."""
        counted = np.ones(len(table), np.bool_)
        if self.documents is not None:
            counted &= self.documents[table.documents] > 0
        if self.queries is not None:
            counted &= self.queries[table.queries] > 0
        return counted

    def sealed(self, whole: Collection, *, judged: bool) -> View:
        """Return the side as a system gets it."""
        return sealed(View(whole, self.documents, self.queries), judged=judged)


def call_sides(settings: RankingSettings, task: Task) -> tuple[CallSide, CallSide]:
    """Return the side to learn from and the side to rank."""
    if task.split == EVERYTHING and task.inner < 0:
        return CallSide(), CallSide()
    split = _split(settings, task)
    train = _side(split, "train", settings.by)
    if task.kind == TUNE and task.inner < 0:
        return train, train  # parameters are chosen on the training side itself
    return train, _side(split, "test", settings.by)


def _split(settings: RankingSettings, task: Task) -> Split:
    """Return the split of a task, or its inner split."""
    if task.inner < 0:
        return settings.splits[task.split]
    inner = KFold(settings.inner or 2, seed=settings.seed)
    if task.split == EVERYTHING:
        units = settings.splits.units  # with their groups
        return inner.splits(units, units.unit)[task.inner]
    split = settings.splits[task.split]
    return split.inner(inner, "query" if settings.by == "both" else None)[task.inner]


def _side(split: Split, side: str, by: str) -> CallSide:
    if split.documents is not None:
        return CallSide(split.documents.weights(side), split.weights(side))
    own = split.weights(side)
    return CallSide(documents=own) if by == "document" else CallSide(queries=own)


def sealed(view: View, *, judged: bool) -> View:
    """Return a side as a view of a collection of its own, so that nothing else can be read from it.

    Parameters
    ----------
    view
        A side of a split.
    judged
        Whether to include judgements (for the train side) or not (for the test side).
    """
    documents, queries = view.document_weights, view.query_weights
    qrels = view.qrels if judged and len(view.qrels) else None
    side = Collection(view.documents, view.queries, qrels, name=view.collection.name)
    return View(side, documents[documents > 0], queries[queries > 0])

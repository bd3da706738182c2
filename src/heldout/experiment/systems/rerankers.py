"""Functions and PyTerrier transformers that rerank the documents of another system."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Final, Self

import numpy as np

from heldout.data.run import Run
from heldout.errors import InputError
from heldout.experiment.systems.base import System
from heldout.experiment.systems.calls import CallSystem, takes
from heldout.experiment.systems.models import ModelSystem
from heldout.experiment.systems.parts import linked_part, part_points, shown_part

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from heldout.data.view import View
    from heldout.experiment.execution.tasks import Task
    from heldout.experiment.manifest import SystemRecord
    from heldout.experiment.settings import RankingSettings
    from heldout.experiment.systems.base import Context
    from heldout.experiment.systems.records import Record

    RankingContext = Context[RankingSettings]

__all__ = ["DEPTH", "RerankSystem", "first_documents"]

DEPTH: Final = 100
"""Documents of the first stage that are reranked, unless there is a parameter `depth`."""


@dataclass(frozen=True, slots=True, kw_only=True)
class RerankSystem(CallSystem):
    """A function ``f(train, test, candidates, **parameters)``, or a PyTerrier transformer.

    Parameters
    ----------
    first
        The first stage: a system, the name of another system of the experiment, the path of a run,
        or a built-in model without parameters to tune.
    """

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

    def describe(self) -> SystemRecord:
        """Return what it is as plain values, with the first stage."""
        first = shown_part(self.first)
        if isinstance(self.first, ModelSystem) and not self.first.tuned:
            first = str(self.first.models()[0])
        return {**CallSystem.describe(self), "first": first}

    def misfits(self, by: str) -> Iterator[str]:
        """Yield the reasons why it cannot be evaluated on such splits."""
        if by != "query":
            yield (
                "the first stage ranks all documents together, so documents cannot be held out of "
                "a reranker: hold out queries, or give a function f(train, test) that does both"
            )

    def tasks(self, settings: RankingSettings) -> Iterator[Task]:
        """Yield the tasks of any function, after the choices of the first stage."""
        later = int(any(part.tuned for part in self.linked_parts()))
        for task in CallSystem.tasks(self, settings):
            yield replace(task, stage=task.stage + later)

    def resolve(
        self, tasks: Sequence[Task], settings: RankingSettings, records: Mapping[str, Record]
    ) -> list[Task]:
        """Set the own point, then the point that the first stage has chosen for the split."""
        first = part_points(self.linked_parts(), settings, records)[:, 0].tolist()
        chosen = CallSystem.resolve(self, tasks, settings, records)
        # All data have the last point, and the number −1.
        return [replace(task, points=(*task.points, first[task.split])) for task in chosen]

    def rank_task(self, task: Task, context: RankingContext, train: View, test: View) -> Run:
        """Let the function rerank the candidates of the test side."""
        number, first = task.points
        (part,) = self.linked_parts()
        ranked = context.last(
            f"first stage of {self.name}", first, lambda: part.ranking(first, context)
        )
        given: Any = self.settings(number).get("depth", DEPTH)
        more: dict[str, object] = {"candidates": first_documents(ranked, test, given)}
        if self.kind == "transformer" or takes(self.call, "train_candidates"):
            more["train_candidates"] = first_documents(ranked, train, given)
        return self.rank(train, test, number, self.task_seed(task, context.settings), more)

    def _called(self, train: View, test: View, settings: Mapping[str, object], seed: int) -> object:
        own: Any = dict(settings)
        if not takes(self.call, "depth"):
            own.pop("depth", None)
        if self.kind == "transformer":
            return _transformed(self.call, own, seed, train, test)
        return CallSystem._called(self, train, test, own, seed)  # noqa: SLF001 - its own class

    def runs_elsewhere(self, *, cluster: bool) -> bool:
        """Return False: the first stage is ranked in this process."""
        del cluster
        return False

    def sendable(self) -> Self:
        """Return the system without its function and first stage, which are not sent."""
        return replace(self, call=None, first="")

    def source(self) -> None:
        """Return None: other processes do not load it."""


def _transformed(call: Any, settings: dict[str, Any], seed: int, train: View, test: View) -> object:
    """Let a PyTerrier transformer rerank frames of candidates."""
    from heldout.experiment.systems.transformers import candidate_frame, transformed

    both = {id(test): settings.pop("candidates"), id(train): settings.pop("train_candidates")}

    def inputs(view: View, numbers: Sequence[int] | None = None) -> Any:
        return candidate_frame(both[id(view)], view, numbers)

    return transformed(call, settings, seed, train, test, inputs)


def first_documents(run: Run, side: View, depth: int) -> Run:
    """Return the first documents of the queries of a side."""
    asked = set(side.collection.queries.ids)
    kept = np.array([query in asked for query in run.queries], np.bool_)
    counts = np.where(kept, np.minimum(np.diff(run.offsets), depth), 0)
    within = np.arange(int(counts.sum())) - np.repeat(np.cumsum(counts) - counts, counts)
    rows = np.repeat(run.offsets[:-1], counts) + within
    queries = tuple(query for query in run.queries if query in asked)
    offsets = np.concatenate(([0], np.cumsum(counts[kept])))
    return Run(run.name, queries, offsets, run.docs.take(rows), run.scores[rows], run.ties)


def _model(text: str) -> System[Any] | None:
    """Return a built-in model from a text; None: it is not one."""
    from heldout.experiment.systems.reading import is_model_text

    return System.of(text) if is_model_text(text) else None

"""Documents ranked by vectors from files or arrays, as a system."""

from __future__ import annotations

from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar, NamedTuple, Self

from heldout.data.embeddings import Embeddings, read_embeddings
from heldout.errors import InputError
from heldout.experiment.systems.base import System
from heldout.experiment.systems.static_calls import StaticCallSystem
from heldout.retrieve.dense import check_metric, rank_vectors

if TYPE_CHECKING:
    import os

    from heldout.data.collection import View
    from heldout.data.run import Run
    from heldout.experiment.execution.tasks import Task
    from heldout.experiment.settings import RankingSettings
    from heldout.experiment.systems.base import Context

    Given = Embeddings | str | os.PathLike[str]
    RankingContext = Context[RankingSettings]

__all__ = ["VectorPair", "VectorSystem", "vector_pair"]


class VectorPair(NamedTuple):
    """The vectors of documents and queries."""

    documents: Embeddings
    queries: Embeddings


def vector_pair(documents: Given, queries: Given, folder: Path | None = None) -> VectorPair:
    """Open two files of vectors, or take vectors as they are.

    Parameters
    ----------
    folder
        Where relative paths start.
    """
    opened = [
        given if isinstance(given, Embeddings) else read_embeddings((folder or Path()) / given)
        for given in (documents, queries)
    ]
    return VectorPair(*opened)


@dataclass(frozen=True, slots=True, kw_only=True)
class VectorSystem(StaticCallSystem):
    """Documents ranked by vectors. Nothing is fitted.

    Parameters
    ----------
    call
        A `VectorPair`.
    """

    needs_text: ClassVar[bool] = False

    comparable: bool | None = True

    @property
    def learns(self) -> bool:
        """Return False: vectors are fixed."""
        return False

    def checked(self) -> Self:
        """Return the system if all its parameters are right."""
        for number in range(len(self.points())):
            for key, value in self.settings(number).items():
                if key != "metric":
                    raise InputError(f"vectors have no parameter {key}; they have metric")
                check_metric(value)
        return self

    def describe(self) -> dict[str, Any]:
        """Return what it is as plain values, with a hash of the vectors."""
        hashes = [one.fingerprint() for one in self.call]
        return {**System.describe(self), "vectors": hashes}

    def rank_task(self, task: Task, context: RankingContext, train: View, test: View) -> Run:
        """Return the nearest documents of the test side."""
        del train
        documents, queries = self.call
        collection = test.collection
        metric = check_metric(self.settings(task.points[0]).get("metric", "cosine"))
        return rank_vectors(
            documents,
            queries,
            metric=metric,
            k=context.settings.depth,
            name=self.name,
            document_rows=documents.rows(collection.documents.ids, "documents"),
            query_rows=queries.rows(collection.queries.ids, "queries"),
        )

    def runs_elsewhere(self, task: Task, *, cluster: bool) -> bool:
        """Return False: vectors are ranked where their files are, by all cores."""
        del task, cluster
        return False

    def sendable(self) -> Self:
        """Return the system without the vectors, which are not sent."""
        return replace(self, call=None)

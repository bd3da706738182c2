"""Documents ranked by vectors from files or arrays, as a system."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from heldout.data.embeddings import Embeddings, read_embeddings
from heldout.errors import InputError
from heldout.experiment.documents.lists import lists_of_run
from heldout.experiment.systems.base import System
from heldout.retrieve.dense import check_metric, rank_vectors

if TYPE_CHECKING:
    from heldout.experiment.documents.lists import Lists
    from heldout.experiment.systems.base import Data, Part, Parts, Weights
    from heldout.experiment.systems.build import Given
    from heldout.tune.space import Point


@dataclass(frozen=True, kw_only=True, eq=False)
class VectorSystem(System):
    """The nearest documents of each query; nothing is learned."""

    documents: Embeddings = field(repr=False)
    queries: Embeddings = field(repr=False)
    learns: bool = False
    comparable: bool | None = True

    def rank(self, data: Data, train: Part, test: Part, point: Point, parts: Parts) -> Lists:
        """Rank the documents of the test side."""
        whole = data.collection
        documents = self.documents.rows(_some(whole.documents.ids, test.documents), "documents")
        queries = self.queries.rows(_some(whole.queries.ids, test.queries), "queries")
        run = rank_vectors(
            self.documents,
            self.queries,
            metric=check_metric(point.get("metric", "cosine")),
            k=data.depth,
            document_rows=documents,
            query_rows=queries,
        )
        return lists_of_run(run, whole, data.depth)

    def describe(self) -> dict[str, Any]:
        """Return what it is as plain values, with a hash of the vectors."""
        hashes = [self.documents.fingerprint(), self.queries.fingerprint()]
        return {**super().describe(), "vectors": hashes}


def _some(ids: Any, weights: Weights | None) -> Any:
    return ids if weights is None else [ids[row] for row in np.flatnonzero(weights).tolist()]


def vector_system(given: Given) -> System:
    """Make a system of vectors or their files, which relative paths name from a folder."""
    name = given.name or "vectors"
    given.only(name, "parts", "parameters", "search", "trials")
    if len(given.parts) != 2:
        raise InputError(
            f"vectors needs two files, got {len(given.parts)}: write "
            "vectors(docs.npy, queries.npy, metric=cosine)"
        )
    opened = [
        each if isinstance(each, Embeddings) else read_embeddings((given.folder or Path()) / each)
        for each in given.parts
    ]
    search = given.searched()
    for axis in search.space.axes:
        if axis.name != "metric":
            raise InputError(f"vectors have no parameter {axis.name}; they have metric")
        for value in axis.values:
            check_metric(value)
    return VectorSystem(name=name, search=search, documents=opened[0], queries=opened[1])

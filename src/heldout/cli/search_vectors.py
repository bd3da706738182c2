"""The command ``search`` with vectors in place of a collection."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from heldout.errors import InputError

if TYPE_CHECKING:
    import argparse

    from heldout.data.run import Run

__all__ = ["METRICS", "is_vectors", "refuse_text_options", "search_vectors"]

METRICS: Final = ("cosine", "ip")
"""As `heldout.retrieve.dense.Metric` has them; NumPy is not loaded for the help."""


def is_vectors(path: str) -> bool:
    """Return whether a path names a file of vectors."""
    return path.lower().endswith(".npy")


def refuse_text_options(options: argparse.Namespace) -> None:
    """Refuse options of text for vectors, and of vectors for text."""
    if not is_vectors(options.collection):
        if options.metric is not None:
            raise InputError("--metric is for vectors: heldout search docs.npy --queries q.npy")
        return
    for name in ("query", "index"):
        if getattr(options, name):
            raise InputError(
                f"--{name} is for text, and {options.collection} has vectors: leave it out"
            )
    if options.queries is None or not is_vectors(options.queries):
        raise InputError(
            f"{options.collection} has vectors of documents: give vectors of queries, too, such as "
            "--queries queries.npy"
        )


def search_vectors(options: argparse.Namespace, depth: int) -> tuple[Run, list[str]]:
    """Rank a file of vectors for those of ``--queries``; also return what is printed about it."""
    from heldout.data.embeddings import read_embeddings
    from heldout.notes import count_of
    from heldout.retrieve.dense import check_metric, rank_vectors

    documents, queries = map(read_embeddings, (options.collection, options.queries))
    metric = check_metric(options.metric or "cosine")
    run = rank_vectors(documents, queries, metric=metric, k=depth, name="dense")
    made = (
        f"dense: {count_of(len(run.queries), 'query', 'queries')}, {count_of(len(run), 'row')}, "
        f"by {metric} of {count_of(len(documents), 'vector')} of "
        f"{count_of(documents.dimensions, 'dimension')}"
    )
    return run, [made]

"""A collection made from judgements alone, for experiments in which all systems are run files."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from heldout.data.collection import Collection
from heldout.data.qrels import read_qrels
from heldout.errors import InputError
from heldout.experiment.documents.ranked_lists import TOP

if TYPE_CHECKING:
    from collections.abc import Sequence

    from heldout.data.qrels import Qrels
    from heldout.data.run import Run
    from heldout.experiment.systems.base import System

__all__ = ["judged_collection"]


def judged_collection(
    qrels: Sequence[str],
    systems: Sequence[System[Any]],
    *,
    name: str | None = None,
    intersection: bool = False,
    top: int = TOP,
    machine: Qrels | None = None,
) -> Collection:
    """Return a collection of the judged queries, without texts.

    Its documents are those with a judgement, and the first ones of each run.

    Parameters
    ----------
    qrels
        Files of judgements.
    systems
        The systems; all must be run files.
    name
        The name of the collection (default: that of the first file).
    intersection
        Leave out queries that are missing in a run; otherwise they count as 0 there.
    top
        Number of documents per query that results keep.
    machine
        Judgements of a machine, whose queries and documents belong to the collection, too.
    """
    searching = [one.name for one in systems if one.needs_documents]
    if searching:
        raise InputError(
            f"{', '.join(searching)} searches documents, but only judgements were given: name a "
            "collection, or use run files"
        )
    judged = read_qrels(*qrels)
    every = [judged, *([] if machine is None else [machine])]
    documents = dict.fromkeys((doc for one in every for doc in one.docs.tolist()), "")
    asked = dict.fromkeys(query for one in every for query in one.queries)
    kept = set(asked)
    for system in systems:
        for run in system.ranked(top):
            documents.update(dict.fromkeys(_first(run, top), ""))
            kept.intersection_update(run.queries if intersection else kept)
    if not kept:
        raise InputError("no judged query is in all runs")
    queries = [query for query in asked if query in kept]
    whole = Collection(
        documents,
        dict.fromkeys(queries, ""),
        judged.select(queries),
        name=name or Path(qrels[0]).name,
    )
    whole.notes = ()  # they are about missing texts
    return whole


def _first(run: Run, top: int) -> list[str]:
    """Return the documents of a run that results show."""
    rows = run.offsets[:-1, None] + np.arange(top)
    return run.docs.take(rows[rows < run.offsets[1:, None]]).tolist()

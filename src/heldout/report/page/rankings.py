"""Ranked lists as compact columns: documents by number, their first lines and grades once."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    import polars as pl

    from heldout.data.collection import Collection
    from heldout.data.qrels import Qrels
    from heldout.data.run import Run

__all__ = ["Ranked", "lists_of_results", "lists_of_runs", "ranking_columns"]

TOP: Final = 10
MISSED: Final = 10
"""Relevant documents of a query that are listed though no system shows them."""
LINE: Final = 140
"""Characters of the beginning of a document."""
LETTERS: Final = 8_000_000
"""Characters of all beginnings together; with more documents each is shorter."""
ABSENT: Final = "(not in the collection)"
READ: Final = 2_000
"""Bytes of a document that are read to find its beginning."""


class Ranked(NamedTuple):
    """The top of ranked lists.

    Parameters
    ----------
    lists
        For each system: for each unit ids of documents, best first.
    note
        A sentence about the lists.
    """

    lists: dict[str, dict[str, list[str]]]
    note: str = ""


def lists_of_results(lists: pl.DataFrame, systems: Sequence[str]) -> Ranked:
    """The first held-out list of each query."""
    import polars as pl

    found: dict[str, dict[str, list[str]]] = {name: {} for name in systems}
    keys = ["system", "repeat", "fold", "other", "run"]
    # A query that was held out several times has several lists: the first one is shown.
    first = pl.struct([one for one in keys[1:] if one in lists.columns])
    marked = lists.with_columns(first.rank("dense").over("system", "unit").alias("which"))
    several = bool(len(marked) and marked["which"].max() > 1)  # type: ignore[operator]
    kept = marked.filter((pl.col("which") == 1) & (pl.col("rank") <= TOP))
    grouped = kept.sort("rank").group_by("system", "unit").agg(pl.col("document"))
    for system, unit, documents in grouped.iter_rows():
        found[system][unit] = [ABSENT if one is None else one for one in documents]
    note = (
        "Queries were held out several times; the first list of each is shown." if several else ""
    )
    return Ranked(found, note)


def lists_of_runs(runs: Mapping[str, Run]) -> Ranked:
    """The top of each run."""
    import numpy as np

    found = {}
    for name, run in runs.items():
        ends = run.offsets.tolist()
        found[name] = {
            query: run.docs.take(np.arange(begin, min(begin + TOP, end))).tolist()
            for query, begin, end in zip(run.queries, ends, ends[1:], strict=False)
        }
    return Ranked(found)


def ranking_columns(
    ranked: Ranked,
    units: Sequence[str],
    systems: Sequence[str],
    *,
    qrels: Qrels | None = None,
    collection: Collection | None = None,
) -> dict[str, Any] | None:
    """Rankings as columns, with documents as numbers; None if there are no lists.

    Parameters
    ----------
    ranked
        The lists.
    units, systems
        In the order of the other columns.
    qrels
        Judgements; by default those of the collection, if it is known.
    collection
        Where the texts of the documents are, if it is known.
    """
    if not any(ranked.lists.values()):
        return None
    if qrels is None and collection is not None:
        qrels = collection.qrels
    numbers: dict[str, int] = {}

    def number(document: str) -> int:
        return numbers.setdefault(document, len(numbers))

    lists = [
        [[number(one) for one in ranked.lists.get(system, {}).get(unit, ())] for unit in units]
        for system in systems
    ]
    columns: dict[str, Any] = {"lists": lists, "note": ranked.note, "top": TOP}
    if qrels is not None:
        columns |= _judged(ranked, units, qrels, number)
    columns["documents"] = list(numbers)
    columns["lines"] = None if collection is None else _beginnings(list(numbers), collection)
    return columns


def _judged(ranked: Ranked, units: Sequence[str], qrels: Qrels, number: Any) -> dict[str, Any]:
    """For each unit: grades of listed documents, number of relevant ones, those not listed."""
    judged = qrels.to_dict()
    grades, relevant, missed = [], [], []
    for unit in units:
        own = judged.get(unit, {})
        # In the order of the lists: that of a set differs between two calls of Python.
        listed = dict.fromkeys(
            one for lists in ranked.lists.values() for one in lists.get(unit, ())
        )
        grades.append([part for one in listed if one in own for part in (number(one), own[one])])
        good = sorted((one for one, grade in own.items() if grade > 0), key=lambda one: -own[one])
        relevant.append(len(good))
        lost = [one for one in good if one not in listed][:MISSED]
        missed.append([part for one in lost for part in (number(one), own[one])])
    return {"grades": grades, "relevant": relevant, "missed": missed}


def _beginnings(documents: list[str], collection: Collection) -> list[str]:
    """The first line of each document, as far as there is room."""
    room = max(40, min(LINE, LETTERS // max(1, len(documents))))
    found = collection.documents.ids.find(documents)
    lines = [""] * len(documents)
    wanted = {number: place for place, number in enumerate(found.tolist()) if number >= 0}
    number = 0
    # One pass over all texts: single lookups are slower where they are in files.
    for batch in collection.documents.batches():
        for at in range(len(batch)):
            if number + at in wanted:
                text = batch.raw(at)[:READ].decode("utf-8", "ignore")
                lines[wanted[number + at]] = beginning(text, room)
        number += len(batch)
    return lines


def beginning(text: str, room: int = LINE) -> str:
    r"""The first words of a text, on one line.

    Examples
    --------
    >>> beginning("  Red\n\napples and pears", 12)
    'Red apples…'
    """
    words = " ".join(text.split())
    if len(words) <= room:
        return words
    cut = words[: room + 1].rpartition(" ")[0] or words[:room]
    return f"{cut}…"

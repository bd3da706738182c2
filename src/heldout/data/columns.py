"""Columns that runs and judgements are made of, brought into one form."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Final, NamedTuple, TypeAlias

import numpy as np

from heldout.data.ids import IdColumn, as_id, encode_ids, id_column
from heldout.errors import InputError

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    import pandas as pd
    import polars as pl

    from heldout.data.words import Floats, Ints

    Frame: TypeAlias = pl.DataFrame | pd.DataFrame

__all__ = [
    "GREATEST_GRADE",
    "ID_COLUMNS",
    "QRELS_COLUMNS",
    "QUERY_NAMES",
    "RUN_COLUMNS",
    "Stretches",
    "id_columns",
    "is_frame",
    "is_nested",
    "pick_columns",
    "pick_names",
    "three_columns",
]

GREATEST_GRADE: Final = 2**31

QUERY_NAMES: Final = ("query_id", "qid", "query-id", "q_id", "query", "topic", "topic_id")
"""What a column of query ids is called, by the tools of the field."""

RUN_COLUMNS = {
    "query": QUERY_NAMES,
    "doc": (
        "doc_id",
        "docno",
        "docid",
        "corpus-id",
        "corpus_id",
        "document_id",
        "did",
        "doc",
        "document",
    ),
    "score": ("score", "sim", "similarity"),
}
QRELS_COLUMNS = {
    "query": QUERY_NAMES,
    "doc": RUN_COLUMNS["doc"],
    "grade": ("relevance", "label", "grade", "rel", "score", "relevancy"),
}


def is_frame(given: object) -> bool:
    """Whether this is a pandas or Polars frame; neither package is imported for it."""
    # In this order: a lazy frame of Polars has no shape, and warns when its columns are asked for.
    return hasattr(given, "shape") and hasattr(given, "columns")


def is_nested(given: object) -> bool:
    """Whether this is ``{query: {document: number}}``, as far as its types tell."""
    return isinstance(given, Mapping) and all(isinstance(one, Mapping) for one in given.values())


ID_COLUMNS: Final = ("query_id", "doc_id")
"""The names of the columns of query and document ids, unless a frame had others."""


def id_columns(frame: Frame, known: dict[str, tuple[str, ...]]) -> tuple[str, str]:
    """The names of the columns of query and document ids in a frame."""
    picked = pick_names(list(map(str, frame.columns)), known, "frame")
    return picked["query"], picked["doc"]


def pick_columns(frame: Frame, known: dict[str, tuple[str, ...]], what: str) -> dict[str, Any]:
    """Find the columns of a frame by the names that the tools of the field give them."""
    picked = pick_names(list(map(str, frame.columns)), known, what)
    return {role: frame[name] for role, name in picked.items()}


def pick_names(
    names: Sequence[str], known: dict[str, tuple[str, ...]], what: str
) -> dict[str, str]:
    """The name of the column for each role."""
    picked = {}
    for role, spellings in known.items():
        found = next((name for name in spellings if name in names), None)
        if found is None:
            raise InputError(
                f"{what}: no column for the {role}; found {', '.join(names) or 'no columns'}, "
                f"expected one of {', '.join(spellings)}"
            )
        picked[role] = found
    return picked


class Stretches(NamedTuple):
    """Which query each row belongs to: stretches of rows with one query.

    Parameters
    ----------
    starts
        The first row of each stretch.
    names
        Its query.
    rows
        How many rows there are in all.
    """

    starts: Ints
    names: list[str]
    rows: int

    @classmethod
    def of(cls, queries: Iterable[Any]) -> Stretches:
        """Find the stretches in a column with one query id a row."""
        column = [as_id(query) for query in queries]
        changes = [row for row in range(1, len(column)) if column[row] != column[row - 1]]
        starts = [0, *changes] if column else []
        names = [column[row] for row in starts]
        encode_ids(set(names))
        return cls(np.array(starts, np.int64), names, len(column))

    def codes(self, names: Iterable[str]) -> Ints:
        """The number in `names` of the query of each row."""
        numbers = {name: number for number, name in enumerate(names)}
        of_stretch = np.fromiter(map(numbers.__getitem__, self.names), np.int64, len(self.names))
        return np.repeat(of_stretch, np.diff(self.starts, append=self.rows))


def three_columns(
    queries: Iterable[Any], docs: Iterable[Any], numbers: Iterable[float], what: str, number: str
) -> tuple[Stretches, IdColumn, Floats]:
    """Three columns of equal length, brought into our form."""
    try:
        values = np.array(list(numbers), np.float64)
    except (OverflowError, TypeError, ValueError) as error:
        raise InputError(f"{what}: a {number} is not a number ({error})") from None
    stretches, doc_column = Stretches.of(queries), id_column(docs)
    if not stretches.rows == len(doc_column) == len(values):
        raise InputError(
            f"{what}: columns of different lengths ({stretches.rows} queries, "
            f"{len(doc_column)} documents, {len(values)} {number}s)"
        )
    if not len(values):
        raise InputError(f"{what} has no rows")
    return stretches, doc_column, values

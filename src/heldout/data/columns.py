"""Columns of runs and judgements, and the frames that they come from and are returned as."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Final, Literal, NamedTuple, TypeAlias

import numpy as np

from heldout.data.ids import IdColumn, as_id, encode_ids, is_missing, pack_ids
from heldout.data.notes import named_few
from heldout.errors import InputError

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    import pandas as pd
    import polars as pl

    from heldout.data.words import Flags, Floats, Ints

    Frame: TypeAlias = pl.DataFrame | pd.DataFrame

__all__ = [
    "GREATEST_GRADE",
    "QRELS_COLUMNS",
    "QUERY_NAMES",
    "RUN_COLUMNS",
    "Library",
    "Stretches",
    "check_library",
    "frame_of",
    "grade_problem",
    "is_frame",
    "is_nested",
    "pick_columns",
    "pick_names",
    "three_columns",
    "wrong_grades",
]

GREATEST_GRADE: Final = 2**31
"""The largest grade, as trec_eval has it."""

QUERY_NAMES: Final = ("query_id", "qid", "query-id", "q_id", "query", "topic", "topic_id")
"""Usual names of a column of query ids."""

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
    """Return whether this is a pandas or Polars frame, without importing either package."""
    # In this order: a lazy frame of Polars has no shape, and warns when its columns are read.
    return hasattr(given, "shape") and hasattr(given, "columns")


def is_nested(given: object) -> bool:
    """Return whether this is a mapping of mappings, as in ``{query: {document: number}}``."""
    return isinstance(given, Mapping) and all(isinstance(one, Mapping) for one in given.values())


def pick_columns(frame: Frame, known: dict[str, tuple[str, ...]], what: str) -> dict[str, Any]:
    """Return the columns of a frame by role, found by their usual names."""
    picked = pick_names(list(map(str, frame.columns)), known, what)
    return {role: frame[name] for role, name in picked.items()}


def pick_names(
    names: Sequence[str], known: dict[str, tuple[str, ...]], what: str
) -> dict[str, str]:
    """Return the name of the column for each role."""
    picked = {}
    for role, spellings in known.items():
        found = next((name for name in spellings if name in names), None)
        if found is None:
            there = named_few(names, len(names), 10) or "no columns"
            raise InputError(
                f"{what}: no column for the {role}; found {there}, "
                f"expected one of {', '.join(spellings)}"
            )
        picked[role] = found
    return picked


def wrong_grades(values: Floats) -> Flags:
    """Return which values are not grades: integers that are not too large."""
    wrong: Flags = ~(np.abs(values) <= GREATEST_GRADE) | (values != np.rint(values))
    return wrong


def grade_problem(value: float) -> str:
    """Say why a number is not a grade.

    Examples
    --------
    >>> grade_problem(0.5), grade_problem(1e12)
    ('is not an integer', 'is too large')
    """
    return "is too large" if GREATEST_GRADE < abs(value) < np.inf else "is not an integer"


class Stretches(NamedTuple):
    """The query of each row, as runs of consecutive rows with the same query.

    Parameters
    ----------
    starts
        The first row of each run of rows.
    names
        Its query.
    rows
        The total number of rows.
    """

    starts: Ints
    names: list[str]
    rows: int

    @classmethod
    def of(cls, column: list[str]) -> Stretches:
        """Find the runs of equal ids in a column of query ids."""
        changes = [row for row in range(1, len(column)) if column[row] != column[row - 1]]
        starts = [0, *changes] if column else []
        names = [column[row] for row in starts]
        encode_ids(set(names))
        return cls(np.array(starts, np.int64), names, len(column))

    def codes(self, names: Iterable[str]) -> Ints:
        """Return the number in `names` of the query of each row."""
        numbers = {name: number for number, name in enumerate(names)}
        of_stretch = np.fromiter(map(numbers.__getitem__, self.names), np.int64, len(self.names))
        return np.repeat(of_stretch, np.diff(self.starts, append=self.rows))


def three_columns(
    queries: Iterable[Any], docs: Iterable[Any], numbers: Iterable[float], what: str, number: str
) -> tuple[Stretches, IdColumn, Floats]:
    """Check three columns of equal length, and convert them."""
    try:
        values = np.array(list(numbers), np.float64)
    except (OverflowError, TypeError, ValueError) as error:
        raise InputError(f"{what}: a {number} is not a number ({error})") from None
    stretches = Stretches.of(_ids(queries, what, "query"))
    doc_column = pack_ids(_ids(docs, what, "document"))
    if not stretches.rows == len(doc_column) == len(values):
        raise InputError(
            f"{what}: columns of different lengths ({stretches.rows} queries, "
            f"{len(doc_column)} documents, {len(values)} {number}s)"
        )
    if not len(values):
        raise InputError(f"{what} has no rows")
    return stretches, doc_column, values


def _ids(column: Iterable[Any], what: str, role: str) -> list[str]:
    """Return a column of ids as strings; raise an error for the first one that is missing."""
    ids = ["" if is_missing(one) else as_id(one) for one in column]
    if "" in ids:
        raise InputError(f"{what}: the {role} id in row {ids.index('') + 1} is missing or empty")
    return ids


Library: TypeAlias = Literal["polars", "pandas"]
"""The library of a frame."""


def check_library(library: str) -> None:
    """Raise an error for the name of another library."""
    if library not in {"polars", "pandas"}:
        raise InputError(f"library={library!r}: expected polars or pandas")


def frame_of(frame: pl.DataFrame, library: Library) -> Any:
    """Return a Polars frame, or the same as a pandas frame.

    Parameters
    ----------
    frame
        The data.
    library
        ``polars`` or ``pandas``.
    """
    check_library(library)
    if library == "polars":
        return frame
    import pandas as pd

    # Not to_pandas(), which needs pyarrow.
    return pd.DataFrame(
        {
            name: frame[name].to_numpy()
            if frame[name].dtype.is_numeric()
            else frame[name].to_list()
            for name in frame.columns
        }
    )

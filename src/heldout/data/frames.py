"""Frames and columns in Python: their usual names, and tables made from them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Any, Final, Literal, TypeAlias

from heldout.errors import FormatError, InputError

if TYPE_CHECKING:
    from collections.abc import Sequence

    import pandas as pd
    import polars as pl

    Frame: TypeAlias = pl.DataFrame | pd.DataFrame

Library: TypeAlias = Literal["polars", "pandas"]  # of a frame

_QUERY: Final = ("query_id", "qid", "query-id", "q_id", "query", "topic", "topic_id")
_DOCUMENT: Final = ("doc_id", "docno", "docid", "corpus-id", "corpus_id", "document_id", "did")

# Where two names are there, the first in this list counts: PyTerrier has qid and query.
USUAL_NAMES: Final[dict[str, tuple[str, ...]]] = {
    "query": _QUERY,
    "doc": (*_DOCUMENT, "doc", "document"),
    "score": ("score", "sim", "similarity"),
    "grade": ("relevance", "label", "grade", "rel", "score", "relevancy"),
    "subtopic": ("subtopic", "subtopic_id", "iteration", "intent", "aspect"),
    # tables of scores
    "scored unit": ("unit", *_QUERY, "fold", "id"),
    "system": ("system", "run", "name", "model"),
    "value": ("value", "score", "measure_value"),
    "measure": ("measure", "metric"),
    # tables of predictions
    "unit": ("unit", "unit_id", "id", "instance", "row", "query_id", "qid", "doc_id"),
    "truth": ("truth", "true", "label", "target", "actual", "gold", "y_true", "y"),
    "prediction": ("prediction", "predicted", "pred", "y_pred", "output"),
    "predictor": ("system", "model", "run", "name"),
    "fold": ("fold", "split"),
    "repeat": ("repeat", "repetition"),
    "group": ("group",),
    "weight": ("weight", "sample_weight"),
    "probability": ("probability", "prob", "p", "proba"),
    "class score": ("score",),
}
"""Usual names of columns by role; upper and lower case do not matter."""


def find_column(names: Sequence[str], role: str) -> str | None:
    """Return the column that has a usual name of a role."""
    spelled = {name.strip().lower(): name for name in reversed(names)}
    return next((spelled[name] for name in USUAL_NAMES[role] if name in spelled), None)


def header_cells(line: bytes) -> list[str]:
    """Return the cells of a line, if it were the header of a table."""
    text = line.decode(errors="replace")
    mark = max("\t,;", key=text.count)
    return [cell.strip().strip('"') for cell in text.split(mark)]


def refuse_repeated(names: Sequence[str], place: str) -> None:
    """Raise an error if a column name appears twice; other readers rename or drop one."""
    for number, name in enumerate(names):
        first = names.index(name)
        if name and first < number:
            raise FormatError(
                place,
                f"two columns are named {name!r} (columns {first + 1} and {number + 1}): rename "
                "one of them",
            )


def is_frame(given: object) -> bool:
    """Return whether this is a pandas or Polars frame, without importing either package."""
    # In this order: a lazy frame of Polars has no shape, and warns when its columns are read.
    return hasattr(given, "shape") and hasattr(given, "columns")


def is_nested(given: object) -> bool:
    """Return whether this is a mapping of mappings, as in ``{query: {document: number}}``."""
    return isinstance(given, Mapping) and all(isinstance(row, Mapping) for row in given.values())


def frame_columns(frame: Frame, name: str) -> dict[str, list[Any]]:
    """Return the columns of a frame as lists; missing values of pandas are None."""
    names = [str(column).strip() for column in frame.columns]
    refuse_repeated(names, name)
    columns = {}
    for column, own in zip(names, frame.columns, strict=True):
        cells = frame[own]
        listed = cells.to_list()
        if hasattr(cells, "isna"):
            gaps = cells.isna().to_list()
            listed = [None if gap else cell for cell, gap in zip(listed, gaps, strict=True)]
        columns[column] = listed
    return columns


def as_list(given: Any, what: str) -> list[Any]:
    """Return the items of a list, an array or a series; a text is none of these."""
    if isinstance(given, str | bytes) or not isinstance(given, Iterable):
        raise InputError(f"{what}={given!r}: expected a list")
    return given.tolist() if hasattr(given, "tolist") else list(given)


def frame_of(frame: pl.DataFrame, library: Library) -> Any:
    """Return a Polars frame, or the same as a pandas frame."""
    if library == "polars":
        return frame
    if library != "pandas":
        raise InputError("expected polars or pandas", argument="library", value=library)
    import pandas as pd

    # Not to_pandas(), which needs pyarrow.
    return pd.DataFrame(
        {
            column.name: column.to_numpy() if column.dtype.is_numeric() else column.to_list()
            for column in frame.get_columns()
        }
    )

"""Records (rows with named cells) as tables."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from heldout.report.tables import Table, tables_page, tables_text

if TYPE_CHECKING:
    import os
    from collections.abc import Sequence

__all__ = ["records_text", "write_records"]


def records_text(records: Sequence[dict[str, Any]], kind: str) -> str:
    r"""One row per record, with all digits in CSV and TSV, with four decimals elsewhere.

    Parameters
    ----------
    kind
        ``csv``, ``tsv``, ``md``, ``latex`` or ``html``.

    Examples
    --------
    >>> records_text([{"system": "a", "mean": 1 / 3}], "csv")
    'system,mean\na,0.3333333333333333\n'
    """
    head = list(dict.fromkeys(name for record in records for name in record))
    every = kind in {"csv", "tsv"}
    rows = [[_cell(record.get(name), every=every) for name in head] for record in records]
    return tables_page(tables_text([Table(head, rows)], kind), kind, "Results")


def _cell(value: Any, *, every: bool) -> str:
    if value is None:
        return ""
    if isinstance(value, float):
        return repr(value) if every else f"{value:.4f}"
    return str(value)


def write_records(records: Sequence[dict[str, Any]], path: str | os.PathLike[str]) -> None:
    """Write one row per record as Parquet."""
    import polars as pl  # slow to import

    from heldout.data.atomic import write_atomically

    with write_atomically(path) as aside:
        pl.DataFrame(records, infer_schema_length=None).write_parquet(aside)

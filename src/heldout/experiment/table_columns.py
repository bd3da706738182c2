"""The columns of the tables of results: names and types."""

from __future__ import annotations

from typing import TYPE_CHECKING, TypeAlias

if TYPE_CHECKING:
    from collections.abc import Sequence

    import polars as pl
    from polars._typing import PolarsDataType

    Columns: TypeAlias = dict[str, PolarsDataType]

__all__ = [
    "fold_columns",
    "list_columns",
    "no_values",
    "place_columns",
    "prediction_columns",
    "split_columns",
    "surface_columns",
    "value_columns",
]


def place_columns() -> Columns:
    """Return the columns that say where a value comes from."""
    import polars as pl

    return {"repeat": pl.Int32, "fold": pl.Int32, "other": pl.Int32, "run": pl.Int32}


def value_columns() -> Columns:
    """Return the columns of ``values`` besides system and place."""
    import polars as pl

    return {"unit": pl.String, "measure": pl.String, "value": pl.Float64, "parameters": pl.String}


def no_values() -> pl.DataFrame:
    """Return an empty table of values."""
    import polars as pl

    return pl.DataFrame(schema={"system": pl.String, **place_columns(), **value_columns()})


def fold_columns() -> Columns:
    """Return the columns of ``folds`` besides system and place."""
    import polars as pl

    return {
        "number": pl.Int32,
        "parameters": pl.String,
        "train": pl.Float64,
        "held_out": pl.Float64,
        "edges": pl.String,
    }


def surface_columns() -> Columns:
    """Return the columns of ``surface`` besides system and place."""
    import polars as pl

    return {
        "number": pl.Int32,
        "parameters": pl.String,
        "mean": pl.Float64,
        "held_out": pl.Float64,
    }


def list_columns() -> Columns:
    """Return the columns of ``lists``, the held-out rankings, besides system and place."""
    import polars as pl

    return {"unit": pl.String, "rank": pl.Int32, "document": pl.String, "score": pl.Float64}


def prediction_columns(classes: Sequence[str], *, groups: bool = False) -> Columns:
    """Return the columns of ``predictions`` besides system and place.

    Parameters
    ----------
    classes
        The names of the classes; empty: numbers are predicted. Scores have the name of their class,
        so that the file can be read without the manifest.
    groups
        Whether the rows have groups.
    """
    import polars as pl

    kind: PolarsDataType = pl.String if classes else pl.Float64
    scores = pl.Struct(dict.fromkeys(classes, pl.Float64)) if classes else pl.List(pl.Float64)
    group: Columns = {"group": pl.String} if groups else {}
    return {
        "unit": pl.String,
        **group,
        "truth": kind,
        "prediction": kind,
        "scores": scores,
        "probabilities": pl.Boolean,
    }


def split_columns() -> Columns:
    """Return the columns of ``splits``."""
    import polars as pl

    return {
        "repeat": pl.Int32,
        "fold": pl.Int32,
        "kind": pl.String,
        "unit": pl.String,
        "side": pl.String,
        "count": pl.Int32,
    }

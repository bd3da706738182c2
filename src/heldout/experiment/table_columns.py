"""The columns of the tables of results: names and types, for writing and for reading."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, TypeAlias

from heldout.experiment.typed_json import refuse_edited

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    import polars as pl
    from polars._typing import PolarsDataType

    from heldout.experiment.manifest import SettingsRecord

    Columns: TypeAlias = dict[str, PolarsDataType]

__all__ = [
    "check_tables",
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


def check_tables(
    place: str,
    tables: Mapping[str, pl.DataFrame],
    systems: Sequence[str],
    settings: SettingsRecord,
) -> None:
    """Refuse tables that were not written by an experiment.

    Parameters
    ----------
    place
        The folder, for messages.
    tables
        By name.
    systems
        The names of the systems.
    """
    import polars as pl

    ranking = settings["task"] == "ranking"
    whole: Columns = {"system": pl.String, **place_columns()}
    if not ranking:
        whole.pop("other")
    held_out = list_columns() if ranking else prediction_columns(settings["data"]["classes"])
    wanted = {
        "splits": split_columns(),
        "values": whole | value_columns(),
        "machine": whole | value_columns() if ranking else {},
        "folds": whole | fold_columns(),
        "surface": whole | surface_columns(),
        "held_out": whole | held_out,
    }
    for name, columns in wanted.items():
        table = tables[name]
        wrong = [one for one, kind in columns.items() if table.schema.get(one) != kind]
        if not wrong and "system" in columns:
            wrong = [] if _only(table["system"], systems) else ["system"]
            if name in ("folds", "values", "machine") and not _readable(table["parameters"]):
                wrong.append("parameters")
        if wrong:
            refuse_edited(place, f"the table {name}", wrong)
    filled = ("unit", "measure", "value") if ranking else ("measure",)
    for name in ("values", "machine") if ranking else ("values",):
        values = tables[name]
        missing = [column for column in filled if values[column].has_nulls()]
        if ranking and not values["value"].is_finite().all():
            missing.append("value")
        if missing:
            refuse_edited(place, f"the table {name}", missing)


def _only(names: pl.Series, known: Sequence[str]) -> bool:
    return bool(names.is_in(list(known)).fill_null(value=False).all())


def _readable(parameters: pl.Series) -> bool:
    """Return whether parameters are JSON objects, or missing."""
    try:
        return all(isinstance(json.loads(one), dict) for one in parameters.drop_nulls().unique())
    except (ValueError, RecursionError):
        return False

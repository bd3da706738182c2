"""A table of which unit was held out where, so that readers of results can check it."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Final

import numpy as np

from heldout.experiment.table_columns import split_columns

if TYPE_CHECKING:
    from collections.abc import Iterator

    import polars as pl
    from numpy.typing import NDArray

    from heldout.resample.split import Splits

    Numbers = NDArray[np.integer]

__all__ = ["no_splits", "split_table"]

_ROWS: Final = 1 << 16


def no_splits() -> pl.DataFrame:
    """Return a table without rows."""
    import polars as pl

    return pl.DataFrame(schema=split_columns())


def split_table(splits: Splits) -> pl.DataFrame:
    """Return one row per split and unit: its side, and how often it was drawn.

    For folds there are only the test sides: the training side of a fold is all other units of its
    repeat, once. Other plans have all sides. If queries and documents are both held out, rows of
    documents have the fold that other tables call ``other``.
    """
    import polars as pl

    splits = replace(splits, runs=1)  # all runs have the same sides
    parts = _single(splits) if splits.crossed is None else _both(splits, splits.crossed)
    return pl.concat([no_splits(), *parts], rechunk=True)


def _both(splits: Splits, crossed: tuple[Splits, Splits]) -> Iterator[pl.DataFrame]:
    """Yield the sides of queries and documents; a plan with one repeat is used for all repeats."""
    import polars as pl

    for part in crossed:
        table = split_table(part)
        if part.repeats == splits.repeats:
            yield table
            continue
        for repeat in range(splits.repeats):
            yield table.with_columns(repeat=pl.lit(repeat, dtype=pl.Int32))


def _single(splits: Splits) -> Iterator[pl.DataFrame]:
    if splits.partitions:
        for repeat in range(splits.repeats):
            folds = splits.folds(repeat)
            places = np.flatnonzero(folds >= 0)
            places = places[np.argsort(folds[places], kind="stable")]
            yield from _rows(splits, repeat, folds[places], places, "test", np.ones_like(places))
        return
    for split in splits:
        for side, weights in split.sides().items():
            places = np.flatnonzero(weights)
            folds = np.full(len(places), split.key.fold)
            yield from _rows(splits, split.key.repeat, folds, places, side, weights[places])


def _rows(
    splits: Splits, repeat: int, folds: Numbers, places: Numbers, side: str, counts: Numbers
) -> Iterator[pl.DataFrame]:
    """Yield the rows of some units in parts: a corpus can have millions of ids."""
    import polars as pl

    for begin in range(0, len(places), _ROWS):
        part = slice(begin, begin + _ROWS)
        ids = [splits.ids[place] for place in places[part].tolist()]
        columns = {
            "repeat": np.full(len(ids), repeat),
            "fold": folds[part],
            "kind": pl.repeat(splits.unit, len(ids), eager=True),
            "unit": ids,
            "side": pl.repeat(side, len(ids), eager=True),
            "count": counts[part],
        }
        yield pl.DataFrame(columns).cast(pl.Schema(split_columns()))

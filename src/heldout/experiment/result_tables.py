"""Outcomes as tables: one row per system, place, unit and measure."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import numpy as np

from heldout.experiment.documents.ranked_lists import ABSENT, NONE
from heldout.experiment.split_table import split_table
from heldout.experiment.systems.outcomes import listed_splits
from heldout.experiment.table_columns import (
    fold_columns,
    list_columns,
    place_columns,
    surface_columns,
    value_columns,
)

if TYPE_CHECKING:
    from collections.abc import Sequence

    import polars as pl

    from heldout.experiment.settings import RankingSettings
    from heldout.experiment.systems.base import System
    from heldout.experiment.systems.outcomes import HeldOut, Outcome, Place, RankedOutcome

__all__ = ["fold_tables", "make_tables", "shown_parameters"]


def make_tables(
    settings: RankingSettings,
    outcomes: Sequence[RankedOutcome],
    machine: Sequence[RankedOutcome] = (),
) -> dict[str, pl.DataFrame]:
    """Return the tables `values`, `folds`, `surface`, `lists` and `splits`.

    Parameters
    ----------
    machine
        The outcomes under machine judgements, if there are any, for the table `machine`.
    """
    pairs = list(zip(settings.systems, outcomes, strict=True))
    judged = list(zip(settings.systems, machine, strict=bool(machine)))
    own = {
        "values": _values(settings, pairs),
        "machine": _values(settings, judged),
        "held_out": _lists(settings, pairs),
        "splits": split_table(settings.splits),
    }
    return {**own, **fold_tables(pairs)}


def fold_tables(pairs: Sequence[tuple[System[Any], Outcome]]) -> dict[str, pl.DataFrame]:
    """Return the tables `folds` and `surface`, for systems of any kind."""
    return {"folds": _folds(pairs), "surface": _surface(pairs)}


def shown_parameters(system: System[Any], number: int) -> str | None:
    """Return the parameters at a point as JSON; None for several points."""
    return None if number < 0 else json.dumps(system.settings(number), ensure_ascii=False)


def _row(system: System[Any], place: Place) -> list[Any]:
    return [system.name, place.repeat, place.fold, place.other, place.run]


def _stacked(parts: list[pl.DataFrame], schema: dict[str, Any]) -> pl.DataFrame:
    import polars as pl

    return pl.concat(parts) if parts else pl.DataFrame(schema=schema)


def _at(frame: pl.DataFrame, system: System[Any], place: Place) -> pl.DataFrame:
    """Return a frame with the columns of its place before its own."""
    import polars as pl

    constants = [pl.lit(system.name).alias("system")] + [
        pl.lit(getattr(place, name), dtype=kind).alias(name)
        for name, kind in place_columns().items()
    ]
    return frame.select(*constants, pl.all())


def _values(
    settings: RankingSettings, pairs: list[tuple[System[Any], RankedOutcome]]
) -> pl.DataFrame:
    import polars as pl

    ids = np.array(settings.collection.queries.ids, dtype=object)
    own = value_columns()
    parts = []
    for system, outcome in pairs:
        for one in outcome.held_out:
            row, query = np.nonzero(np.isfinite(one.values))
            names = np.array([str(measure) for measure in settings.measures], dtype=object)
            frame = pl.DataFrame(
                {
                    "unit": ids[query].tolist(),
                    "measure": names[row].tolist(),
                    "value": one.values[row, query],
                    "parameters": [shown_parameters(system, one.number)] * len(row),
                },
                schema=own,
            )
            parts.append(_at(frame, system, one.place))
    return _stacked(parts, {"system": pl.String, **place_columns(), **own})


def _folds(pairs: Sequence[tuple[System[Any], Outcome]]) -> pl.DataFrame:
    import polars as pl

    own = fold_columns()
    rows = [
        [
            *_row(system, fold.place),
            fold.chosen.number,
            shown_parameters(system, fold.chosen.number),
            _defined(fold.chosen.train),
            _defined(fold.held_out),
            ",".join(system.edges(fold.chosen.number)) if system.tuned else "",
        ]
        for system, outcome in pairs
        for fold in outcome.folds
    ]
    return pl.DataFrame(rows, schema={"system": pl.String, **place_columns(), **own}, orient="row")


def _defined(value: float) -> float | None:
    return value if np.isfinite(value) else None


def _surface(pairs: Sequence[tuple[System[Any], Outcome]]) -> pl.DataFrame:
    import polars as pl

    rows: list[list[Any]] = []
    for system, outcome in pairs:
        if not system.tuned:
            continue
        shown = [shown_parameters(system, number) for number in range(len(system.points()))]
        named = [(_row(system, fold.place), fold.chosen) for fold in outcome.folds]
        nowhere = [system.name, None, None, None, None]
        for place, chosen in [*named, (nowhere, outcome.final)]:
            means, held_out = chosen.surface, chosen.held_out
            if held_out is None:
                held_out = np.full_like(means, np.nan)
            rows += [
                [*place, number, shown[number], _defined(mean), _defined(other)]
                for number, (mean, other) in enumerate(
                    zip(means.tolist(), held_out.tolist(), strict=True)
                )
                if system.tries_everywhere or np.isfinite(mean)
            ]
    own = surface_columns()
    return pl.DataFrame(rows, schema={"system": pl.String, **place_columns(), **own}, orient="row")


def _lists(
    settings: RankingSettings, pairs: list[tuple[System[Any], RankedOutcome]]
) -> pl.DataFrame:
    import polars as pl

    own = list_columns()
    parts = [
        _at(_top(settings, one), system, one.place)
        for system, outcome in pairs
        for one in outcome.held_out[: listed_splits(settings)]
    ]
    return _stacked(parts, {"system": pl.String, **place_columns(), **own})


def _top(settings: RankingSettings, one: HeldOut) -> pl.DataFrame:
    import polars as pl

    query, place = np.nonzero(one.lists.documents != NONE)
    numbers = one.lists.documents[query, place].tolist()
    scores = one.lists.scores[query, place]
    ids, queries = settings.collection.documents.ids, settings.collection.queries.ids
    return pl.DataFrame(
        {
            "unit": [queries[at] for at in query.tolist()],
            "rank": (place + 1).astype(np.int32),
            "document": [None if at == ABSENT else ids[at] for at in numbers],
            "score": np.where(np.isfinite(scores), scores, np.nan),
        },
        schema=list_columns(),
    ).with_columns(pl.col("score").fill_nan(None))

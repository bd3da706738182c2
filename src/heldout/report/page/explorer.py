"""The values of all units as compact columns, for the table of the page."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from heldout.data.scores import Scores
    from heldout.experiment.results.results import Results

__all__ = ["unit_columns", "units_of_results", "units_of_scores"]

DIGITS = 6


def unit_columns(
    noun: tuple[str, str],
    units: Sequence[str],
    systems: Sequence[str],
    measures: Sequence[tuple[str, bool]],
    values: Sequence[Sequence[Sequence[float | None]]],
    *,
    texts: Mapping[str, str] | None = None,
    source: str = "",
    first: str | None = None,
) -> dict[str, Any]:
    """Columns for the page.

    Parameters
    ----------
    noun
        What a unit is called, one and several.
    units, systems
        Their names.
    measures
        Names, and whether more is better.
    values
        Measures × systems × units; None where there is none.
    texts
        The text of a unit, if it is known.
    source
        Where the values come from.
    first
        The system that is system A at first; by default the first one.
    """
    begin = systems.index(first) if first in systems else 0
    return {
        "noun": list(noun),
        "units": list(units),
        "texts": None if texts is None else [texts.get(one, "") for one in units],
        "systems": list(systems),
        "measures": [{"name": name, "up": up} for name, up in measures],
        "values": [[_rounded(column) for column in table] for table in values],
        "source": source,
        "first": begin,
        "second": _rival(values[0], begin, up=measures[0][1]),
    }


def _rival(table: Sequence[Sequence[float | None]], first: int, *, up: bool) -> int:
    """The best system besides the first."""
    means = {}
    for at, column in enumerate(table):
        known = [one for one in column if one is not None]
        if at != first and known:
            means[at] = sum(known) / len(known)
    return (max if up else min)(means, key=means.__getitem__) if means else first


def _rounded(values: Sequence[float | None]) -> list[float | int | None]:
    return [None if one is None or not math.isfinite(one) else _short(one) for one in values]


def _short(value: float) -> float | int:
    """The value in as few characters as possible: most are 0 and 1."""
    cut = round(float(value), DIGITS)
    return int(cut) if cut == int(cut) else cut


def units_of_results(
    results: Results, measures: Sequence[tuple[str, bool]]
) -> tuple[list[str], list[list[list[float | None]]]]:
    """Units, and measures × systems × units: means over the folds that held a unit out."""
    import polars as pl

    rows = results.values.filter(pl.col("unit").is_not_null())
    means = rows.group_by("measure", "system", "unit").agg(pl.col("value").mean())
    units = rows["unit"].unique(maintain_order=True).to_list()
    place = {unit: at for at, unit in enumerate(units)}
    systems = {name: at for at, name in enumerate(results.systems)}
    which = {name: at for at, (name, _) in enumerate(measures)}
    values: list[list[list[float | None]]] = [
        [[None] * len(units) for _ in systems] for _ in measures
    ]
    for measure, system, unit, value in means.iter_rows():
        if measure in which:
            values[which[measure]][systems[system]][place[unit]] = value
    return units, values


def units_of_scores(several: Sequence[Scores]) -> tuple[list[str], list[list[list[float | None]]]]:
    """The same of scores, one table per measure."""
    units = list(dict.fromkeys(unit for one in several for unit in one.units))
    values: list[list[list[float | None]]] = []
    for scores in several:
        place = {unit: at for at, unit in enumerate(scores.units)}
        at = [place.get(unit) for unit in units]
        columns = scores.values.T.tolist()
        values.append([[None if one is None else column[one] for one in at] for column in columns])
    return units, values

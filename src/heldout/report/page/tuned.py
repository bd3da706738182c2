"""What was tried, chosen and shipped, and how each split came out."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any, Final

from heldout.infer.results import count_of
from heldout.report.page.directions import more_is_better
from heldout.report.page.parts import PageTable
from heldout.report.ranking_results import parameters
from heldout.report.tables import Table

if TYPE_CHECKING:
    from heldout.experiment.results import Results
    from heldout.experiment.summary import SystemSummary

__all__ = ["split_tables", "tuning_tables"]

BEST: Final = 5
"""Values that are shown beside those that were chosen."""
ROWS: Final = 60
"""Splits that are shown; the file has all."""


def tuning_tables(results: Results) -> tuple[PageTable, ...]:
    """For each tuned system the values that were chosen, and the best on everything."""
    return tuple(_tuning(results, one) for one in results.summary if one["tuned"])


def _tuning(results: Results, one: SystemSummary) -> PageTable:
    import polars as pl

    settings = results.manifest["settings"]
    own = results.surface.filter(pl.col("system") == one["name"])
    final = own.filter(pl.col("repeat").is_null())
    tried = [(json.loads(shown), mean) for shown, mean in final["parameters", "mean"].iter_rows()]
    means = {_key(values): mean for values, mean in tried}
    written = {_key(values): parameters(values) for values, _ in tried}
    times = {_key(found["parameters"]): found["times"] for found in one["chosen"]}
    sign = -1 if more_is_better(results, settings["tune_for"]) else 1
    known = [key for key in means if means[key] is not None]
    best = sorted(known, key=lambda key: sign * means[key])
    listed = list(dict.fromkeys([_key(one["ship"]), *times, *best[:BEST]]))
    rows = tuple(
        (
            written.get(key) or parameters(json.loads(key)),
            str(times.get(key, 0)),
            _number(means.get(key)),
            "yes" if key == _key(one["ship"]) else "",
        )
        for key in listed
    )
    splits = count_of(settings["splits"], "split")
    chosen, mean = f"chosen (of {splits})", f"{settings['tune_for']} on everything"
    sources = (
        (chosen, "folds.parquet: how often the train side chose it"),
        (mean, "surface.parquet where repeat is null: the mean on all data, which flatters"),
        ("to ship", "summary.json: chosen on everything"),
    )
    title = f"{one['name']}: {count_of(one['points'], 'value')} tried"
    return PageTable(Table(("values", chosen, mean, "to ship"), rows, title), sources)


def _key(values: dict[str, Any]) -> str:
    return json.dumps(values, sort_keys=True)


def _number(value: float | None) -> str:
    return "—" if value is None else f"{value:.4f}"


def split_tables(results: Results) -> tuple[PageTable, ...]:
    """One row a split and system: what was chosen, seen and held-out scores."""
    tune_for = results.manifest["settings"]["tune_for"]
    rows = []
    for row in results.folds.head(ROWS).iter_rows(named=True):
        shown = json.loads(row["parameters"]) if row["parameters"] else {}
        rows.append(
            (
                _place(row),
                row["system"],
                parameters(shown),
                _number(row["train"]),
                _number(row["held_out"]),
            )
        )
    more = len(results.folds) - len(rows)
    note = (f"The first {ROWS:,} of {len(results.folds):,} rows of folds.parquet.",) if more else ()
    seen, held_out = f"{tune_for} seen", f"{tune_for} held out"
    head = ("split", "system", "chosen", seen, held_out)
    sources = (
        ("chosen", "folds.parquet: parameters"),
        (seen, "folds.parquet: train, the score that the choice was made by"),
        (held_out, "folds.parquet: held_out, on the other side of the split"),
    )
    return (PageTable(Table(head, rows, "Every split", texts=3, notes=note), sources),)


def _place(row: dict[str, Any]) -> str:
    names = {"repeat": "repeat", "fold": "fold", "other": "document fold", "run": "run"}
    parts = [f"{words} {row[name]}" for name, words in names.items() if row.get(name) is not None]
    return ", ".join(parts)

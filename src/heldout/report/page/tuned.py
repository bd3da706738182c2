"""Tables of the tuning: the settings that were tried and selected, and each fold."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any, Final

from heldout.notes import count_of
from heldout.report.page.directions import more_is_better
from heldout.report.page.parts import PageTable
from heldout.report.ranking_results import parameters
from heldout.report.tables import Table

if TYPE_CHECKING:
    from collections.abc import Iterator

    from heldout.experiment.results.results import Results
    from heldout.experiment.results.summary import EstimateRecord, SystemSummary

__all__ = ["split_tables", "tuning_tables"]

BEST: Final = 5
"""The best settings that are shown beside those that were selected."""
ROWS: Final = 60
"""Folds that are shown; the file has all."""
_PESSIMISTIC: Final = (
    "The held-out score applies to these parameters; it is slightly pessimistic because each fold "
    "tuned on less data."
)


def tuning_tables(results: Results) -> tuple[PageTable, ...]:
    """The selected parameters of all tuned systems, then the best settings of each, folded."""
    tuned = [one for one in results.summary if one["tuned"]]
    if not tuned:
        return ()
    return (_selected(results, tuned), *(_settings(results, one) for one in tuned))


def _selected(results: Results, tuned: list[SystemSummary]) -> PageTable:
    """One row per tuned system: its final parameters and its training score."""
    measure = str(results.manifest["settings"]["tune_for"])
    splits = results.manifest["settings"]["splits"]
    rows = []
    for one in tuned:
        times = {_key(found["parameters"]): found["times"] for found in one["chosen"]}
        estimate = _estimate(results, one["name"], measure)
        rows.append(
            (
                one["name"],
                parameters(one["ship"]),
                f"{one['points']:,}",
                f"{times.get(_key(one['ship']), 0)} of {splits}",
                _number(estimate.get("train")),
                _number(estimate.get("optimism"), "+.4f"),
            )
        )
    head = (
        "system",
        "selected parameters",
        "settings tried",
        "folds",
        "training score",
        "optimism",
    )
    shown = [at for at in range(len(head)) if at < 4 or any(row[at] != "—" for row in rows)]
    sources = (
        ("settings tried", "size of the grid: manifest.json"),
        ("selected parameters", f"tuned for {measure} on all data: summary.json"),
        ("folds", "folds that selected the same parameters: folds.parquet"),
        ("training score", f"{measure} on the data used for tuning, optimistic: summary.json"),
        ("optimism", "training score minus held-out score: summary.json"),
    )
    known = {head[at] for at in shown}
    table = Table(
        tuple(head[at] for at in shown),
        tuple(tuple(row[at] for at in shown) for row in rows),
        "Selected parameters (tuned on all data)",
        texts=2,
        notes=(_PESSIMISTIC,),
    )
    return PageTable(table, tuple(one for one in sources if one[0] in known))


def _estimate(results: Results, name: str, measure: str) -> EstimateRecord:
    """The estimate in the measure that was tuned for; empty if it was not measured."""
    if measure not in results.measures:
        return {}
    return results.estimate(name, measure)


def _settings(results: Results, one: SystemSummary) -> PageTable:
    """The settings that were selected somewhere, and the best on all data."""
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
        )
        for key in listed
    )
    folds, mean = f"folds (of {settings['splits']})", f"{settings['tune_for']} on all data"
    sources = (
        (folds, "folds that selected these parameters: folds.parquet"),
        (mean, "training score, optimistic: surface.parquet where repeat is null"),
    )
    title = f"{one['name']}: best of {count_of(one['points'], 'setting')}"
    table = Table(("parameters", folds, mean), rows, title)
    return PageTable(table, sources, fold=f"{one['name']}: the best settings")


def _key(values: dict[str, Any]) -> str:
    return json.dumps(values, sort_keys=True)


def _number(value: float | None, form: str = ".4f") -> str:
    return "—" if value is None else f"{value:{form}}"


def split_tables(results: Results) -> tuple[PageTable, ...]:
    """One row per fold: the parameters and the scores of each system.

    Scores on folds of documents are left out: a fold is a smaller collection, and its scores are
    not comparable with those of the whole.
    """
    settings = results.manifest["settings"]
    tuned = [one["name"] for one in results.summary if one["tuned"]]
    kinds = ["training", "held out"] if settings["by"] not in {"document", "both"} else []
    columns = [
        (name, kind)
        for name in tuned or results.systems
        for kind in [*(["parameters"] if name in tuned else []), *kinds]
        if kind != "training" or name in tuned
    ]
    if not columns:
        return ()
    keys = [name for name in ("repeat", "fold", "other", "run") if name in results.folds.columns]
    cells = {(row["system"], *(row[key] for key in keys)): row for row in _rows(results)}
    places = results.folds.select(keys).unique(maintain_order=True).rows()
    alone = len({name for name, _ in columns}) == 1
    titles = [kind if alone else f"{name}: {kind}" for name, kind in columns]
    rows = [
        [
            _place(dict(zip(keys, place, strict=True))),
            *(_cell(cells.get((name, *place)), kind) for name, kind in columns),
        ]
        for place in places[:ROWS]
    ]
    what = "Parameters and scores" if tuned and kinds else "Parameters" if tuned else "Scores"
    more = f"The first {ROWS:,} of {len(places):,} folds; folds.parquet has all."
    title = f"{what} of each fold ({settings['tune_for']})"
    notes = (more,) if len(places) > ROWS else ()
    table = Table(["fold", *titles], rows, title, notes=notes)
    sources = zip(titles, (_SOURCES[kind] for _, kind in columns), strict=True)
    return (PageTable(table, tuple(sources), fold="" if _differ(results) else "Each fold"),)


_SOURCES: Final = {
    "parameters": "selected on the training side of the fold: folds.parquet, parameters",
    "training": "score on the training side of the fold: folds.parquet, train",
    "held out": "score on the held-out side of the fold: folds.parquet, held_out",
}


def _rows(results: Results) -> Iterator[dict[str, Any]]:
    return results.folds.iter_rows(named=True)


def _cell(row: dict[str, Any] | None, kind: str) -> str:
    if row is None:
        return "—"
    if kind == "parameters":
        return parameters(json.loads(row["parameters"]) if row["parameters"] else {})
    return _number(row["train" if kind == "training" else "held_out"])


def _differ(results: Results) -> bool:
    """Whether a system has other parameters in one fold than in another."""
    return any(one["tuned"] and len(one["chosen"]) > 1 for one in results.summary)


def _place(row: dict[str, Any]) -> str:
    names = {"repeat": "repeat", "fold": "fold", "other": "document fold", "run": "run"}
    parts = [f"{words} {row[name]}" for name, words in names.items() if row.get(name) is not None]
    return ", ".join(parts)

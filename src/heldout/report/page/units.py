"""The values of all units, and the lists behind them, as compact columns for the script."""

from __future__ import annotations

import math
from collections import Counter
from typing import TYPE_CHECKING, Any, Final

from heldout.report.standing import is_up, standing

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from heldout.data.collection import Collection
    from heldout.data.qrels import Qrels
    from heldout.data.run import Run
    from heldout.experiment.results.results import Results
    from heldout.infer.comparison import Comparison
    from heldout.report.standing import Standing

    Table = Mapping[str, Mapping[str, float]]  # the values of a measure by system and unit
    Lists = Mapping[str, Mapping[str, list[str]]]  # by system and unit, the best document first

DIGITS: Final = 6
TOP: Final = 10
MISSED: Final = 10  # relevant documents of a query that are listed though no system shows them
LINE: Final = 140  # characters of the beginning of a document
LETTERS: Final = 8_000_000  # of all beginnings together; with more documents each is shorter
READ: Final = 2_000  # bytes of a document that are read to find its beginning
PREDICTED: Final = 3  # different predictions for one row, if it was held out several times
ABSENT: Final = "(not in the collection)"


def of_comparisons(
    comparisons: Sequence[Comparison],
    collection: Collection | None,
    runs: Mapping[str, Run] | None,
    qrels: Qrels | None,
) -> dict[str, Any]:
    """The fields `units` and `rankings` of a part: scores, and the top of each run."""
    several = [comparison.scores for comparison in comparisons]
    tables = [
        {
            name: dict(zip(scores.units, scores.column(name).tolist(), strict=True))
            for name in scores.systems
        }
        for scores in several
    ]
    up = [(scores.measure, scores.higher_is_better) for scores in several]
    columns = _columns(standing(comparisons[0]), up, tables, several[0].unit, collection)
    columns["source"] = "the scores that were compared"
    lists: dict[str, dict[str, list[str]]] = {}
    for name, run in (runs or {}).items():
        ends = run.offsets.tolist()
        lists[name] = {
            query: run.docs.take(slice(begin, min(begin + TOP, end))).tolist()
            for query, begin, end in zip(run.queries, ends, ends[1:], strict=False)
        }
    return {"units": columns, "rankings": _rankings(lists, columns["units"], "", qrels, collection)}


def of_results(results: Results, collection: Collection | None) -> dict[str, Any]:
    """The same of an experiment: means over the folds in which a unit was held out, and lists."""
    import polars as pl  # slow to import

    rows, held_out = results.values.filter(pl.col("unit").is_not_null()), results.held_out
    noun = "query" if results.task == "ranking" else "row"
    source = f"values.parquet: mean over the folds in which the {noun} was held out"
    up = {name: is_up(results, name) for name in results.measures if name in set(rows["measure"])}
    if not up:  # no measure is a mean over rows: whether they are correct, or the absolute error
        classes, truth, said = (
            results.task == "classification",
            pl.col("truth"),
            pl.col("prediction"),
        )
        up = {"correct" if classes else "absolute error": classes}
        value = (truth == said).cast(pl.Float64) if classes else (truth - said).abs()
        rows = held_out.with_columns(value=value, measure=pl.lit(next(iter(up))))
        source = "predictions.parquet, truth and prediction"
    means = rows.group_by("measure", "system", "unit", maintain_order=True).agg(pl.mean("value"))
    values: dict[str, dict[str, dict[str, float]]] = {
        name: {system: {} for system in results.systems} for name in up
    }
    for measure, system, unit, mean in means.iter_rows():
        values[measure][system][unit] = mean
    tables = list(values.values())
    columns = _columns(standing(results), up.items(), tables, noun, collection)
    columns["source"] = source
    if noun == "row":
        return {"units": columns | _predicted(results, columns["units"])}
    keys = [key for key in ("repeat", "fold", "other", "run") if key in held_out.columns]
    which = pl.struct(keys).rank("dense").over("system", "unit")
    kept = held_out.filter((which == 1) & (pl.col("rank") <= TOP)).sort("rank")
    grouped = kept.group_by("system", "unit").agg(pl.col("document").fill_null(ABSENT))
    lists: dict[str, dict[str, list[str]]] = {name: {} for name in results.systems}
    for system, unit, documents in grouped.iter_rows():
        lists[system][unit] = documents
    several = held_out.select((which > 1).any()).item()
    note = (
        "Queries were held out several times; the first list of each is shown." if several else ""
    )
    return {
        "units": columns,
        "rankings": _rankings(lists, columns["units"], note, None, collection),
    }


def _columns(
    board: Standing,
    measures: Iterable[tuple[str, bool]],
    tables: Sequence[Table],
    noun: str,
    collection: Collection | None,
) -> dict[str, Any]:
    """Measures × systems × units; B − A is at first the best system minus baseline or second."""
    systems = list(tables[0])
    units = list(dict.fromkeys(unit for table in tables for of in table.values() for unit in of))
    texts = None if collection is None else collection.queries.to_dict()
    first = board.baseline or board.names[min(1, len(systems) - 1)]
    return {
        "noun": [noun, "queries" if noun == "query" else f"{noun}s"],
        "units": units,
        "texts": None if texts is None else [texts.get(unit, "") for unit in units],
        "systems": systems,
        "measures": [{"name": name, "up": up} for name, up in measures],
        "values": [
            [[_short(of.get(unit)) for unit in units] for of in table.values()] for table in tables
        ],
        "first": systems.index(first),
        "second": systems.index(next((name for name in board.names if name != first), first)),
    }


def _short(value: float | None) -> float | int | None:
    """The value in as few characters as possible: most are 0 and 1."""
    if value is None or not math.isfinite(value):
        return None
    return int(value) if value == int(value) else round(value, DIGITS)


def _predicted(results: Results, units: Sequence[str]) -> dict[str, Any]:
    """The true value of each row, and all predictions for it."""

    def shown(value: Any) -> str:
        return f"{value:.6g}" if isinstance(value, float) else str(value)

    def together(predictions: Sequence[Any]) -> str:
        times = Counter(map(shown, predictions))
        if len(times) == 1:
            return next(iter(times))
        few = ", ".join(f"{said} ×{count}" for said, count in times.most_common(PREDICTED))
        return few + (", …" if len(times) > PREDICTED else "")

    rows = results.held_out.group_by("system", "unit").agg("prediction", "truth")
    said, truth = {}, {}
    for system, unit, predictions, (true, *_) in rows.iter_rows():
        said[system, unit], truth[unit] = together(predictions), shown(true)
    every = [[said.get((system, unit), "") for unit in units] for system in results.systems]
    return {"truth": [truth.get(unit, "") for unit in units], "predicted": every}


def _rankings(
    lists: Lists,
    units: Sequence[str],
    note: str,
    qrels: Qrels | None,
    collection: Collection | None,
) -> dict[str, Any] | None:
    """Lists with documents as numbers, their judgements and beginnings; None without lists."""
    if not any(lists.values()):
        return None
    if qrels is None and collection is not None:
        qrels = collection.qrels
    numbers: dict[str, int] = {}

    def number(document: str) -> int:
        return numbers.setdefault(document, len(numbers))

    shown = [[list(map(number, own.get(unit, ()))) for unit in units] for own in lists.values()]
    columns: dict[str, Any] = {"lists": shown, "note": note, "top": TOP}
    if qrels is not None:
        judged = qrels.to_dict()
        columns |= {"grades": [], "relevant": []}
        for unit in units:
            grades = judged.get(unit, {})
            # Not a set: its order differs between two calls of Python.
            listed = dict.fromkeys(doc for own in lists.values() for doc in own.get(unit, ()))
            good = sorted((doc for doc in grades if grades[doc] > 0), key=lambda doc: -grades[doc])
            missed = [doc for doc in good if doc not in listed][:MISSED]
            told = [doc for doc in listed if doc in grades] + missed
            columns["grades"].append([[number(doc), grades[doc]] for doc in told])
            columns["relevant"].append(len(good))
    columns["documents"] = list(numbers)
    columns["lines"] = None if collection is None else _beginnings(list(numbers), collection)
    return columns


def _beginnings(documents: list[str], collection: Collection) -> list[str]:
    """The first words of each document on one line, as far as there is room."""
    room = max(40, min(LINE, LETTERS // len(documents)))
    places = collection.documents.ids.find(documents).tolist()
    wanted = {number: place for place, number in enumerate(places) if number >= 0}
    lines = [""] * len(documents)
    # One pass over all texts: single lookups are slower where they are in files.
    for batch in collection.documents.batches():
        for number in range(len(batch)):
            if (place := wanted.get(batch.first + number)) is not None:
                words = " ".join(batch.raw(number)[:READ].decode("utf-8", "ignore").split())
                lines[place] = words if len(words) <= room else f"{words[:room]}…"
    return lines

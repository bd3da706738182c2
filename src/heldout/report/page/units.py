"""The values of all units, and the lists behind them, as compact columns for the script."""

from __future__ import annotations

import math
from collections import Counter, defaultdict
from itertools import count
from typing import TYPE_CHECKING, Any, Final

from heldout.report.standing import is_up, standing

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from heldout.data.collection import Collection
    from heldout.data.qrels import Qrels
    from heldout.data.run import Run
    from heldout.experiment.results.results import Results
    from heldout.infer.comparison import Comparison
    from heldout.report.standing import Standing

    Measured = tuple[str, bool, Mapping[str, Mapping[str, float]]]  # values by system and unit
    Lists = Mapping[str, Mapping[str, list[str]]]  # by system and unit, the best document first

DIGITS: Final = 6
TOP: Final = 10
MISSED: Final = 10  # relevant documents of a query that are listed though no system shows them
LINE: Final = 100  # characters of the beginning of a document
READ: Final = 2_000  # bytes of a document that are read to find its beginning
PREDICTED: Final = 3  # different predictions for one row, if it was held out several times
ABSENT: Final = "(not in the collection)"


def of_comparisons(
    comparisons: Sequence[Comparison],
    collection: Collection | None,
    runs: Mapping[str, Run],
    qrels: Qrels | None,
) -> dict[str, Any]:
    """The fields `units` and `rankings` of a part: scores, and the top of each run."""
    measured = []
    for scores in [comparison.scores for comparison in comparisons]:
        by_system = zip(scores.systems, scores.values.T.tolist(), strict=True)
        table = {name: dict(zip(scores.units, values, strict=True)) for name, values in by_system}
        measured.append((scores.measure, scores.higher_is_better, table))
    noun = comparisons[0].scores.unit
    columns = _columns(standing(comparisons[0]), measured, noun, collection)
    columns["source"] = "the scores that were compared"
    lists = {}
    for name, run in runs.items():
        ends = run.offsets.tolist()
        lists[name] = {
            query: run.docs.take(slice(begin, min(begin + TOP, end))).tolist()
            for query, begin, end in zip(run.queries, ends, ends[1:], strict=False)
        }
    return {"units": columns, "rankings": _rankings(lists, columns["units"], qrels, collection)}


def of_results(results: Results, collection: Collection | None) -> dict[str, Any]:
    """The same of an experiment: means over the folds in which a unit was held out, and lists."""
    import polars as pl  # slow to import

    rows, held_out = results.values.drop_nulls("unit"), results.held_out
    noun = "query" if results.task == "ranking" else "row"
    source = f"values.parquet: mean over the folds in which the {noun} was held out"
    known = set(rows["measure"])
    ups = {name: is_up(results, name) for name in results.measures if name in known}
    if not ups:  # no measure is a mean over rows
        truth, prediction = pl.col("truth"), pl.col("prediction")
        value, ups = (truth == prediction).cast(pl.Float64), {"correct": True}
        if results.task == "regression":
            value, ups = (truth - prediction).abs(), {"absolute error": False}
        rows = held_out.with_columns(value=value, measure=pl.lit(next(iter(ups))))
        source = "predictions.parquet, truth and prediction"
    means = rows.group_by("measure", "system", "unit", maintain_order=True).agg(pl.mean("value"))
    measured = []
    for name, up in ups.items():
        own = {key: part for (key,), part in means.filter(measure=name).group_by("system")}
        # A system has no values in a measure that is undefined for it.
        table = {
            key: dict(own[key]["unit", "value"].iter_rows()) if key in own else {}
            for key in results.systems
        }
        measured.append((name, up, table))
    columns = _columns(standing(results), measured, noun, collection) | {"source": source}
    if noun == "row":
        return {"units": columns | _predicted(results, columns["units"])}
    keys = [key for key in ("repeat", "fold", "other", "run") if key in held_out.columns]
    which = pl.struct(keys).rank("dense").over("system", "unit")
    top = held_out.filter((which == 1) & (pl.col("rank") <= TOP)).sort("rank")
    top = top.group_by("system", "unit").agg(pl.col("document").fill_null(ABSENT))
    lists: dict[str, dict[str, list[str]]] = {name: {} for name in results.systems}
    for system, unit, documents in top.iter_rows():
        lists[system][unit] = documents
    qrels = None if collection is None else collection.qrels
    rankings = _rankings(lists, columns["units"], qrels, collection)
    if rankings and held_out.select((which > 1).any()).item():
        rankings["note"] = "Queries were held out several times; the first list of each is shown."
    return {"units": columns, "rankings": rankings}


def _columns(
    board: Standing, measured: Sequence[Measured], noun: str, collection: Collection | None
) -> dict[str, Any]:
    """Measures × systems × units; B − A is at first the best system minus baseline or second."""
    tables, systems = [table for *_, table in measured], list(measured[0][2])
    units = list(dict.fromkeys(unit for table in tables for of in table.values() for unit in of))
    texts = None if collection is None else collection.queries.to_dict()
    first = board.baseline or board.names[min(1, len(systems) - 1)]
    return {
        "noun": [noun, "queries" if noun == "query" else f"{noun}s"],
        "units": units,
        "texts": None if texts is None else [texts.get(unit, "") for unit in units],
        "systems": systems,
        "measures": [{"name": name, "up": up} for name, up, _ in measured],
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
        times = Counter(map(shown, predictions)).most_common()
        few = [f"{said} ×{often}" for said, often in times[:PREDICTED]]
        more = ", …" if len(times) > PREDICTED else ""
        return ", ".join(few) + more if len(times) > 1 else times[0][0]

    rows = results.held_out.group_by("system", "unit").agg("prediction", "truth")
    said, truth = {}, {}
    for system, unit, predictions, (true, *_) in rows.iter_rows():
        said[system, unit], truth[unit] = together(predictions), shown(true)
    every = [[said.get((system, unit), "") for unit in units] for system in results.systems]
    return {"truth": [truth.get(unit, "") for unit in units], "predicted": every}


def _rankings(
    lists: Lists, units: Sequence[str], qrels: Qrels | None, collection: Collection | None
) -> dict[str, Any] | None:
    """Lists with documents as numbers, their judgements and beginnings; None without lists."""
    if not any(lists.values()):
        return None
    numbers = defaultdict[str, int](count().__next__)
    shown = [
        [[numbers[doc] for doc in own.get(unit, ())] for unit in units] for own in lists.values()
    ]
    columns: dict[str, Any] = {"lists": shown, "top": TOP}
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
            columns["grades"].append([[numbers[doc], grades[doc]] for doc in told])
            columns["relevant"].append(len(good))
    columns["documents"] = list(numbers)
    columns["lines"] = None if collection is None else _beginnings(list(numbers), collection)
    return columns


def _beginnings(documents: list[str], collection: Collection) -> list[str]:
    """The first words of each document on one line."""
    places = collection.documents.ids.find(documents).tolist()
    wanted = {number: place for place, number in enumerate(places) if number >= 0}
    lines = [""] * len(documents)
    # One pass over all texts: single lookups are slower where they are in files.
    for batch in collection.documents.batches():
        for number in range(len(batch)):
            if (place := wanted.get(batch.first + number)) is not None:
                words = " ".join(batch.raw(number)[:READ].decode("utf-8", "ignore").split())
                lines[place] = words if len(words) <= LINE else f"{words[:LINE]}…"
    return lines

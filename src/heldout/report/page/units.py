"""The values of all units, and the lists behind them, as compact columns for the script."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any, Final

from heldout.notes import count_of
from heldout.report.standing import is_up, standing

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from heldout.data.collection import Collection
    from heldout.data.qrels import Qrels
    from heldout.data.run import Run
    from heldout.experiment.results.results import Results
    from heldout.infer.comparison import Comparison
    from heldout.report.standing import Standing

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
    *,
    collection: Collection | None = None,
    runs: Mapping[str, Run] | None = None,
    qrels: Qrels | None = None,
) -> dict[str, Any]:
    """The fields `units` and `rankings` of a part: scores, and the top of each run."""
    several = [comparison.scores for comparison in comparisons]
    units = list(dict.fromkeys(unit for scores in several for unit in scores.units))
    values = []
    for scores in several:
        rows = dict(zip(scores.units, scores.values.tolist(), strict=True))
        unknown = [None] * len(scores.systems)
        values.append(zip(*(rows.get(unit, unknown) for unit in units), strict=True))
    measures = [(scores.measure, scores.higher_is_better) for scores in several]
    noun = several[0].unit if runs is None else "query"
    board, systems = standing(comparisons[0]), several[0].systems
    columns = _columns(board, units, systems, measures, values, noun, collection)
    columns["source"] = "the scores that were compared"
    if runs is None:
        return {"units": columns}
    lists = {}
    for name in systems:
        run, ends = runs[name], runs[name].offsets.tolist()
        lists[name] = {
            query: run.docs.take(slice(begin, min(begin + TOP, end))).tolist()
            for query, begin, end in zip(run.queries, ends, ends[1:], strict=False)
        }
    return {"units": columns, "rankings": _rankings(lists, units, "", qrels, collection)}


def of_results(results: Results, *, collection: Collection | None = None) -> dict[str, Any]:
    """The same of an experiment: means over the folds in which a unit was held out, and lists."""
    import polars as pl  # slow to import

    rows, held_out = results.values.filter(pl.col("unit").is_not_null()), results.held_out
    known, noun = set(rows["measure"]), "query" if results.task == "ranking" else "row"
    measures = [(name, is_up(results, name)) for name in results.measures if name in known]
    source = f"values.parquet: mean over the folds in which the {noun} was held out"
    if not measures:  # none is a mean over rows: whether they are correct, or the absolute error
        classes = results.task == "classification"
        measures = [("correct" if classes else "absolute error", classes)]
        truth, predicted = pl.col("truth"), pl.col("prediction")
        value = (truth == predicted).cast(pl.Float64) if classes else (truth - predicted).abs()
        rows = held_out.with_columns(value=value, measure=pl.lit(measures[0][0]))
        source = "predictions.parquet, truth and prediction"
    units = rows["unit"].unique(maintain_order=True).to_list()
    means = rows.group_by("measure", "system", "unit").agg(pl.col("value").mean())
    mean_of, systems = {row[:3]: row[3] for row in means.iter_rows()}, results.systems
    values = [
        [[mean_of.get((name, system, unit)) for unit in units] for system in systems]
        for name, _ in measures
    ]
    columns = _columns(standing(results), units, systems, measures, values, noun, collection)
    columns["source"] = source
    if noun == "row":
        return {"units": columns | _predicted(results, units)}
    keys = [key for key in ("repeat", "fold", "other", "run") if key in held_out.columns]
    which = pl.struct(keys).rank("dense").over("system", "unit")
    kept = held_out.filter((which == 1) & (pl.col("rank") <= TOP)).sort("rank")
    grouped = kept.group_by("system", "unit").agg(pl.col("document").fill_null(ABSENT))
    lists: dict[str, dict[str, list[str]]] = {name: {} for name in systems}
    for system, unit, documents in grouped.iter_rows():
        lists[system][unit] = documents
    several = held_out.select((which > 1).any()).item()
    note = "Queries were held out several times; the first list of each is shown."
    rankings = _rankings(lists, units, note if several else "", None, collection)
    return {"units": columns, "rankings": rankings}


def _columns(  # noqa: PLR0917 - it is called twice, with the same names
    board: Standing,
    units: Sequence[str],
    systems: Sequence[str],
    measures: Iterable[tuple[str, bool]],
    values: Iterable[Iterable[Iterable[float | None]]],
    noun: str,
    collection: Collection | None,
) -> dict[str, Any]:
    """Measures × systems × units; B − A is at first the best system minus baseline or second."""
    first = board.baseline or board.names[min(1, len(board.names) - 1)]
    second = next((name for name in board.names if name != first), first)
    texts = None if collection is None else collection.queries.to_dict()
    return {
        "noun": [noun, "queries" if noun == "query" else f"{noun}s"],
        "units": list(units),
        "texts": None if texts is None else [texts.get(unit, "") for unit in units],
        "systems": list(systems),
        "measures": [{"name": name, "up": up} for name, up in measures],
        "values": [[[_short(value) for value in column] for column in table] for table in values],
        "first": list(systems).index(first),
        "second": list(systems).index(second),
    }


def _short(value: float | None) -> float | int | None:
    """The value in as few characters as possible: most are 0 and 1."""
    if value is None or not math.isfinite(value):
        return None
    cut = round(float(value), DIGITS)
    return int(cut) if cut == int(cut) else cut


def _predicted(results: Results, units: Sequence[str]) -> dict[str, Any]:
    """The true value of each row, and all predictions for it."""

    def shown(value: Any) -> str:
        return f"{value:.6g}" if isinstance(value, float) else "" if value is None else str(value)

    def together(predictions: Sequence[Any]) -> str:
        every = [shown(value) for value in predictions]
        different = list(dict.fromkeys(every))
        if len(different) == 1:
            return different[0]
        few = [f"{text} ×{every.count(text)}" for text in different[:PREDICTED]]
        more = len(different) - PREDICTED
        return ", ".join([*few, *([count_of(more, "other")] if more > 0 else [])])

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
        columns |= {"grades": [], "relevant": [], "missed": []}
        for unit in units:
            grades = judged.get(unit, {})
            # Not a set: its order differs between two calls of Python.
            listed = dict.fromkeys(doc for own in lists.values() for doc in own.get(unit, ()))
            good = sorted((doc for doc in grades if grades[doc] > 0), key=lambda doc: -grades[doc])
            columns["relevant"].append(len(good))
            missed = [doc for doc in good if doc not in listed][:MISSED]
            for key, docs in (("grades", [d for d in listed if d in grades]), ("missed", missed)):
                columns[key].append([part for doc in docs for part in (number(doc), grades[doc])])
    columns["documents"] = list(numbers)
    columns["lines"] = None if collection is None else _beginnings(list(numbers), collection)
    return columns


def _beginnings(documents: list[str], collection: Collection) -> list[str]:
    """The first words of each document on one line, as far as there is room."""
    room = max(40, min(LINE, LETTERS // max(1, len(documents))))
    places = collection.documents.ids.find(documents).tolist()
    wanted = {number: place for place, number in enumerate(places) if number >= 0}
    lines = [""] * len(documents)
    before = 0
    # One pass over all texts: single lookups are slower where they are in files.
    for batch in collection.documents.batches():
        for number in range(len(batch)):
            if (place := wanted.get(before + number)) is not None:
                words = " ".join(batch.raw(number)[:READ].decode("utf-8", "ignore").split())
                if len(words) > room:
                    words = f"{words[: room + 1].rpartition(' ')[0] or words[:room]}…"
                lines[place] = words
        before += len(batch)
    return lines

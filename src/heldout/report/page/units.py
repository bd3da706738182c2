"""The values of all units, and the lists behind them, as compact columns for the script."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any, Final

from heldout.notes import count_of

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from heldout.data.collection import Collection
    from heldout.data.qrels import Qrels
    from heldout.data.run import Run
    from heldout.data.scores import Scores
    from heldout.experiment.results.results import Results
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


def units_of_scores(
    several: Sequence[Scores], board: Standing, texts: Mapping[str, str] | None = None
) -> dict[str, Any]:
    """Scores of the same systems, one table per measure."""
    units = list(dict.fromkeys(unit for scores in several for unit in scores.units))
    values = []
    for scores in several:
        rows = dict(zip(scores.units, scores.values.tolist(), strict=True))
        unknown = [None] * len(scores.systems)
        values.append(list(zip(*(rows.get(unit, unknown) for unit in units), strict=True)))
    measures = [(scores.measure, scores.higher_is_better) for scores in several]
    source = "the scores that were compared"
    return _columns(
        board, several[0].unit, units, several[0].systems, measures, values, source, texts
    )


def units_of_results(
    results: Results, boards: Sequence[Standing], texts: Mapping[str, str] | None = None
) -> dict[str, Any]:
    """Means over the folds in which a unit was held out; of predictions the rows themselves."""
    import polars as pl  # slow to import, as everywhere

    rows = results.values.filter(pl.col("unit").is_not_null())
    known = set(rows["measure"])
    measures = [(board.measure, board.up) for board in boards if board.measure in known]
    ranked = results.task == "ranking"
    noun, source = "query", "values.parquet: mean over the folds in which the query was held out"
    if not ranked:
        noun, source = "row", source.replace("query", "row")
        if not measures:  # no measure is a mean over rows: correct, or the absolute error
            classes = results.task == "classification"
            measures = [("correct" if classes else "absolute error", classes)]
            truth, said = pl.col("truth"), pl.col("prediction")
            value = (truth == said).cast(pl.Float64) if classes else (truth - said).abs()
            rows = results.held_out.with_columns(value=value, measure=pl.lit(measures[0][0]))
            source = "predictions.parquet, truth and prediction"
    units = rows["unit"].unique(maintain_order=True).to_list()
    means = rows.group_by("measure", "system", "unit").agg(pl.col("value").mean())
    known_means = {tuple(row[:3]): row[3] for row in means.iter_rows()}
    values = [
        [[known_means.get((name, system, unit)) for unit in units] for system in results.systems]
        for name, _ in measures
    ]
    columns = _columns(boards[0], noun, units, results.systems, measures, values, source, texts)
    return columns if ranked else columns | _predicted(results, units)


def _columns(
    board: Standing,
    noun: str,
    units: Sequence[str],
    systems: Sequence[str],
    measures: Iterable[tuple[str, bool]],
    values: Iterable[Iterable[Iterable[float | None]]],
    source: str,
    texts: Mapping[str, str] | None,
) -> dict[str, Any]:
    """Measures × systems × units; B − A is at first the best system minus baseline or second."""
    first = board.baseline or board.names[min(1, len(board.names) - 1)]
    second = next((name for name in board.names if name != first), first)
    return {
        "noun": [noun, "queries" if noun == "query" else f"{noun}s"],
        "units": list(units),
        "texts": None if texts is None else [texts.get(unit, "") for unit in units],
        "systems": list(systems),
        "measures": [{"name": name, "up": up} for name, up in measures],
        "values": [[[_short(value) for value in column] for column in table] for table in values],
        "source": source,
        "first": list(systems).index(first),
        "second": list(systems).index(second),
    }


def _short(value: float | None) -> float | int | None:
    """The value in as few characters as possible: most are 0 and 1."""
    if value is None or not math.isfinite(value):
        return None
    cut = round(float(value), DIGITS)
    return int(cut) if cut == int(cut) else cut


def _predicted(results: Results, units: list[str]) -> dict[str, Any]:
    """The true value of each row, and all predictions for it."""
    said: dict[tuple[str, str], list[str]] = {}
    truth: dict[str, str] = {}
    rows = results.held_out.select("system", "unit", "truth", "prediction").iter_rows()
    for system, unit, true, prediction in rows:
        said.setdefault((system, unit), []).append(_text(prediction))
        truth[unit] = _text(true)
    return {
        "truth": [truth.get(unit, "") for unit in units],
        "predicted": [
            [_together(said.get((system, unit), [""])) for unit in units]
            for system in results.systems
        ],
    }


def _text(value: Any) -> str:
    if value is None:
        return ""
    return f"{value:.6g}" if isinstance(value, float) else str(value)


def _together(predictions: list[str]) -> str:
    different = list(dict.fromkeys(predictions))
    if len(different) == 1:
        return different[0]
    few = [f"{text} ×{predictions.count(text)}" for text in different[:PREDICTED]]
    more = len(different) - PREDICTED
    return ", ".join([*few, *([count_of(more, "other")] if more > 0 else [])])


# ---- ranked lists --------------------------------------------------------------------------------


def lists_of_results(results: Results) -> tuple[Lists, str]:
    """The first held-out list of each query, and a sentence if there are more."""
    import polars as pl

    lists: dict[str, dict[str, list[str]]] = {name: {} for name in results.systems}
    keys = [key for key in ("repeat", "fold", "other", "run") if key in results.held_out.columns]
    which = pl.struct(keys).rank("dense").over("system", "unit").alias("which")
    marked = results.held_out.with_columns(which)
    kept = marked.filter((pl.col("which") == 1) & (pl.col("rank") <= TOP)).sort("rank")
    grouped = kept.group_by("system", "unit").agg(pl.col("document").fill_null(ABSENT))
    for system, unit, documents in grouped.iter_rows():
        lists[system][unit] = documents
    several = len(kept) and len(marked.filter(pl.col("which") > 1))
    note = "Queries were held out several times; the first list of each is shown."
    return lists, note if several else ""


def lists_of_runs(runs: Mapping[str, Run]) -> Lists:
    """The top of each run."""
    import numpy as np

    lists = {}
    for name, run in runs.items():
        ends = run.offsets.tolist()
        lists[name] = {
            query: run.docs.take(np.arange(begin, min(begin + TOP, end))).tolist()
            for query, begin, end in zip(run.queries, ends, ends[1:], strict=False)
        }
    return lists


def ranking_columns(
    lists: Lists,
    units: Sequence[str],
    *,
    note: str = "",
    qrels: Qrels | None = None,
    collection: Collection | None = None,
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
            missed = [doc for doc in good if doc not in listed][:MISSED]
            own = [doc for doc in listed if doc in grades]
            columns["relevant"].append(len(good))
            for key, documents in (("grades", own), ("missed", missed)):
                columns[key].append([v for doc in documents for v in (number(doc), grades[doc])])
    columns["documents"] = list(numbers)
    columns["lines"] = None if collection is None else _beginnings(list(numbers), collection)
    return columns


def _beginnings(documents: list[str], collection: Collection) -> list[str]:
    """The first line of each document, as far as there is room."""
    room = max(40, min(LINE, LETTERS // max(1, len(documents))))
    places = collection.documents.ids.find(documents).tolist()
    wanted = {number: place for place, number in enumerate(places) if number >= 0}
    lines = [""] * len(documents)
    before = 0
    # One pass over all texts: single lookups are slower where they are in files.
    for batch in collection.documents.batches():
        for number in range(len(batch)):
            if (place := wanted.get(before + number)) is not None:
                text = batch.raw(number)[:READ].decode("utf-8", "ignore")
                lines[place] = _beginning(text, room)
        before += len(batch)
    return lines


def _beginning(text: str, room: int) -> str:
    """The first words of a text, on one line."""
    words = " ".join(text.split())
    if len(words) <= room:
        return words
    return f"{words[: room + 1].rpartition(' ')[0] or words[:room]}…"

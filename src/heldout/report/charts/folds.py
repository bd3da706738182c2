"""Sizes of the folds, and relevant documents per query in each."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

import altair as alt
import polars as pl

from heldout.errors import InputError
from heldout.report.charts.builders import dots, row_chart, span, tip
from heldout.report.charts.marks import rows_height
from heldout.report.charts.theme import WIDTH

if TYPE_CHECKING:
    from heldout.data.collection import Collection
    from heldout.experiment.results import Results
    from heldout.report.charts.named import Drawing
    from heldout.resample.describe import Description

__all__ = ["draw_folds", "folds_data", "folds_data_of_results"]

MOST: Final = 60
"""Number of splits that are drawn."""

_COLUMNS: Final = ("split", "train", "test", "least", "median", "most", "without")


def folds_data(description: Description) -> pl.DataFrame:
    """Return one row per split.

    Parameters
    ----------
    description
        Of `heldout.resample.describe.describe_splits`.

    Returns
    -------
    polars.DataFrame
        split, train and test (units of each side; train is null if it is not known), least,
        median and most (relevant documents in the test side of a query that has any), without
        (queries that have none there).
    """
    return _frame(
        (
            row.key,
            row.train,
            row.test,
            row.relevant_least,
            row.relevant_median,
            row.relevant_most,
            row.without_test,
        )
        for row in description.rows
    )


def _frame(rows: Any) -> pl.DataFrame:
    kinds = [pl.String, pl.Int64, pl.Int64, pl.Int64, pl.Float64, pl.Int64, pl.Int64]
    schema = dict(zip(_COLUMNS, kinds, strict=True))
    return pl.DataFrame(list(rows), schema=schema, orient="row")


def folds_data_of_results(results: Results, collection: Collection | None = None) -> pl.DataFrame:
    """The same from results, by their table of values.

    Parameters
    ----------
    results
        With held-out queries or instances. Folds of documents are merged in the table: describe
        the splits instead.
    collection
        With the judgements, for the number of relevant documents.
    """
    if results.manifest["settings"]["by"] in {"document", "both"}:
        raise InputError(
            "results do not say which documents were held out; describe the splits with heldout "
            "split"
        )
    first = results.systems[0]
    own = results.values.filter(
        (pl.col("system") == first) & pl.col("unit").is_not_null() & pl.col("fold").is_not_null()
    )
    if not len(own):
        own = results.held_out.filter(pl.col("system") == first)
    sides = own.select("repeat", "fold", "unit").unique(maintain_order=True)
    relevant = _relevant(collection) if collection is not None else {}
    everyone = sides["unit"].n_unique()
    parted = _parted(sides)
    rows = []
    for (repeat, fold), part in sides.group_by("repeat", "fold", maintain_order=True):
        counts = [relevant[unit] for unit in part["unit"].to_list() if relevant.get(unit)]
        known: tuple[Any, ...] = (None, None, None)
        if counts:
            known = (min(counts), float(pl.Series(counts).median()), max(counts))  # type: ignore[arg-type]
        seen = everyone - len(part) if parted else None
        rows.append((f"r{repeat}/f{fold}", seen, len(part), *known, None))
    return _frame(rows)


def _parted(sides: pl.DataFrame) -> bool:
    """Whether each repeat holds every unit out once, so that the others are training units.

    The table does not know units that are never held out, as in a hold-out split.
    """
    counts = sides.group_by("repeat").agg(
        pl.len().alias("rows"), pl.col("unit").n_unique(), pl.col("fold").n_unique()
    )
    once = (counts["rows"] == sides["unit"].n_unique()).all()
    return bool(once and (counts["rows"] == counts["unit"]).all() and (counts["fold"] > 1).all())


def _relevant(collection: Collection) -> dict[str, int]:
    from heldout.resample.stratify import relevant_per_query

    counts = relevant_per_query(collection).tolist()
    return dict(zip(collection.queries.ids, counts, strict=True))


def draw_folds(frame: pl.DataFrame, *, unit: str = "query") -> Drawing:
    """Draw the number of held-out units and, if known, relevant documents per query.

    Parameters
    ----------
    frame
        Of `folds_data`.
    unit
        What is held out.
    """
    shown = frame.head(MOST)
    plural = {"query": "queries"}.get(unit, f"{unit}s")
    height = rows_height(len(shown), 24 if len(shown) <= 20 else 14)
    known = shown.filter(pl.col("median").is_not_null())
    hover = tip(("split:N", "split"), ("test:Q", "held out", ","), ("train:Q", "training", ","))
    held_out = alt.X("test:Q", title=f"held-out {plural}")
    base = row_chart(shown, "split", hover).encode(x=held_out)
    bars = base.mark_bar(height={"band": 0.6})
    labels = base.mark_text(align="left", dx=4, style="label").encode(
        text=alt.Text("test:Q", format=",")
    )
    sizes = alt.layer(bars, labels)
    words = f"Number of held-out {plural} in each split"
    if not len(known):
        return sizes.properties(width=WIDTH, height=height, description=words + ".")
    return alt.hconcat(
        sizes.properties(width=WIDTH // 2 - 30, height=height),
        _relevance(known, shown["split"].to_list()).properties(
            width=WIDTH // 2 - 30, height=height
        ),
        description=words + ", and relevant documents per query: minimum, median and maximum.",
    )


def _relevance(known: pl.DataFrame, order: list[str]) -> alt.LayerChart | alt.FacetChart:
    hover = tip(
        ("split:N", "split"),
        ("least:Q", "minimum"),
        ("median:Q", "median"),
        ("most:Q", "maximum"),
        ("without:Q", "queries without any"),
    )
    base = row_chart(known, "split", hover, order)
    title = "relevant documents per query: minimum, median, maximum"
    line = span(base, ("least", "most"), title=title)
    return alt.layer(line, dots(base, "median", size=80))

"""Objects in a notebook: tables, charts, and charts by name.

This module imports `heldout.report`; objects of other folders import it only when they are shown.
"""

from __future__ import annotations

import os
from html import escape
from typing import TYPE_CHECKING, Any, Final

from heldout.errors import InputError

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from heldout.measure.evaluation import Evaluation
    from heldout.report.charts.named import Drawing, NamedChart
    from heldout.report.page.parts import PageTable, Part
    from heldout.report.tables import Table


def charts(
    of: Any, *, measure: str | None = None, collection: Any = None
) -> tuple[NamedChart, ...]:
    """Return all charts of an object.

    Parameters
    ----------
    of
        Results, a comparison, a bias study, predictions of classes (one or a list), or the path of
        a file or folder written by a command.
    measure
        For results: the measure (default: the first).
    collection
        For results, comparisons and studies: the collection with the texts of the queries.

    Returns
    -------
    tuple of NamedChart
        Each with key, title, caption, frame (its numbers) and chart (an Altair chart).

    Examples
    --------
    >>> import heldout
    >>> table = {"A": {"q1": 0.1, "q2": 0.4, "q3": 0.3}, "B": {"q1": 0.3, "q2": 0.4, "q3": 0.5}}
    >>> found = heldout.charts(heldout.compare(heldout.Scores.of(table)))
    >>> [one.key for one in found]
    ['forest', 'pairs', 'query-differences', 'heatmap', 'null']
    >>> found[0].frame["mean"].round(2).to_list()
    [0.4, 0.27]
    """
    from heldout.data.predictions import ClassPredictions
    from heldout.experiment.results.results import Results
    from heldout.experiment.studies.bias import BiasStudy
    from heldout.infer.comparison import Comparison
    from heldout.report.charts import of_comparison, of_files, of_predictions, of_results, of_study

    queries = None if collection is None else collection.queries
    match of:
        case str() | os.PathLike():
            found = of_files.charts_of_path(os.fspath(of), measure=measure)
        case Results():
            found = of_results.charts_of(of, measure=measure, collection=collection)
        case Comparison():
            texts = None if queries is None else queries.to_dict()
            found = of_comparison.charts_of_comparison(of, texts=texts)
        case BiasStudy():
            found = of_study.charts_of_study(of, queries=queries)
        case ClassPredictions():
            found = of_predictions.charts_of_predictions([of])
        case [ClassPredictions(), *_]:
            found = of_predictions.charts_of_predictions(of)
        case _:
            raise InputError(
                f"no charts of {type(of).__name__}; expected results, a comparison, a bias study, "
                "predicted classes, or a path"
            )
    return found


def chart(
    of: Any,
    name: str,
    *,
    measure: str | None = None,
    collection: Any = None,
    dark: bool = False,
) -> Drawing:
    """Return one chart of an object as an Altair chart in the theme of this package.

    Parameters
    ----------
    of, measure, collection
        As for `charts`.
    name
        The name of the chart: ``forest``, ``pairs``, …; see ``heldout list charts``.
        `heldout.save_chart` writes the chart to a file.
    dark
        Use light text on a dark background.
    """
    from heldout.report.charts.of_files import chosen_chart
    from heldout.report.charts.theme import themed, titled

    found = chosen_chart(
        name,
        lambda: charts(of, measure=measure, collection=collection),
        f"this {type(of).__name__}",
    )
    return themed(titled(found.chart, found.title, found.caption), dark=dark)


_STYLE: Final = (
    "<style>.heldout{max-width:76em;overflow-x:auto}"
    ".heldout .claim{font-size:1.1em;margin:.3em 0}"
    ".heldout table{border-collapse:collapse;margin:.6em 0;font-variant-numeric:tabular-nums}"
    ".heldout caption{text-align:left;font-weight:600;padding:.2em 0;color:inherit}"
    ".heldout :is(th,td){text-align:right;padding:.2em .7em;border:0;white-space:nowrap;"
    "border-bottom:1px solid #8886}"
    ".heldout :is(th:first-child,.text){text-align:left}.heldout td.text{white-space:normal}"
    ".heldout tbody th{font-weight:600}.heldout p{margin:.3em 0}"
    ".heldout figure{margin:.8em 0;padding:.4em;background:#fff;color:#1b1f24}"
    ".heldout figcaption{font-size:.92em;color:#565e68}</style>"
)
"""The style, repeated in every output: a notebook has no common place for it."""


def _styled(*parts: str) -> str:
    return f'{_STYLE}<div class="heldout">{"".join(parts)}</div>'


def _picture(charts: Sequence[NamedChart]) -> str:
    """Return the first chart as SVG without a script, which works in every kind of notebook."""
    from heldout.report.charts.export import chart_bytes
    from heldout.report.charts.theme import themed

    return "".join(
        f"<figure>{chart_bytes(themed(one.chart), '.svg').decode()}<figcaption>"
        f"<b>{escape(one.title)}.</b> {escape(one.caption)}</figcaption></figure>"
        for one in charts[:1]
    )


def part_html(part: Part) -> str:
    """Return a part of a page: its answer, tables, first chart, and notes."""
    from heldout.report.tables import html_table, note_lines, notes_text

    def shown(tables: Iterable[PageTable]) -> str:
        return "".join(html_table(one.table, dict(one.sources)) for one in tables if not one.fold)

    first, *more = part.answer
    return _styled(
        f'<p class="claim"><b>{escape(first)}</b></p>',
        *(f"<p>{escape(line)}</p>" for line in more),
        shown(part.tables),
        _picture(part.charts),
        shown(part.tuning),
        *(f"<p>{escape(line)}</p>" for line in part.splits_about),
        notes_text(note_lines(part.checks), "html"),
    )


def table_html(table: Table, charts: Sequence[NamedChart] = ()) -> str:
    """Return a table and the first of some charts."""
    from heldout.report.tables import tables_text

    return _styled(tables_text([table], "html"), _picture(charts))


def _values_table(evaluation: Evaluation) -> Table:
    """The values of systems in measures, one row per system."""
    from heldout.report.evaluation import evaluation_table
    from heldout.report.scores import show
    from heldout.report.tables import Table

    if evaluation.task == "ranking":
        return evaluation_table(evaluation)
    rows = [[name, *map(show, found.values())] for name, found in evaluation.summary().items()]
    return Table(["system", *map(str, evaluation.measures)], rows)


def evaluation_text(evaluation: Evaluation) -> str:
    """A table to print."""
    from heldout.report.terminal import aligned, printable

    return aligned(printable(_values_table(evaluation))).rstrip()


def evaluation_html(evaluation: Evaluation) -> str:
    """Return the values of systems in measures as a table."""
    return table_html(_values_table(evaluation))

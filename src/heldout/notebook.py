"""Objects in a notebook: tables, charts, and charts by name.

This module imports `heldout.report`; objects of other folders import it only when they are shown.
"""

from __future__ import annotations

import html
from typing import TYPE_CHECKING, Any, Final

from heldout.errors import InputError
from heldout.notes import count_of

if TYPE_CHECKING:
    from collections.abc import Iterable

    from heldout.experiment.results import Results
    from heldout.experiment.studies.bias import BiasStudy
    from heldout.experiment.studies.curve import LearningCurve
    from heldout.infer.compare import Comparison
    from heldout.measure.evaluate import Evaluation
    from heldout.notes import Note
    from heldout.report.charts.named import Drawing, NamedChart
    from heldout.report.page.parts import PageTable
    from heldout.report.tables import Table

__all__ = [
    "chart",
    "charts",
    "comparison_html",
    "comparison_text",
    "curve_html",
    "evaluation_html",
    "evaluation_text",
    "results_html",
    "results_text",
    "study_html",
]


def charts(of: Any, *, measure: str | None = None, collection: Any = None) -> Any:
    """Return all charts of an object.

    Parameters
    ----------
    of
        Results, a comparison, a bias study, a learning curve, predictions of classes (one or a
        list), or the path of a file or folder written by a command.
    measure
        For results: the measure (default: the first); for a learning curve: its name.
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
    made: tuple[NamedChart, ...] = _made(of, measure, collection)
    return made


def _made(of: Any, measure: str | None, collection: Any) -> tuple[NamedChart, ...]:
    from heldout.data.predictions import ClassPredictions
    from heldout.experiment.results import Results
    from heldout.report.charts import of_files, of_predictions, of_results

    if isinstance(of, str) or hasattr(of, "__fspath__"):
        return of_files.charts_of_path(str(of), measure=measure)
    if isinstance(of, Results):
        return of_results.charts_of(of, measure=measure, collection=collection)
    several = list(of) if isinstance(of, list | tuple) else [of]
    if several and all(isinstance(one, ClassPredictions) for one in several):
        return of_predictions.charts_of_predictions(several)
    return _studied(of, measure, None if collection is None else collection.queries)


def _studied(of: Any, measure: str | None, queries: Any) -> tuple[NamedChart, ...]:
    from heldout.experiment.studies.bias import BiasStudy
    from heldout.experiment.studies.curve import LearningCurve
    from heldout.infer.compare import Comparison
    from heldout.report.charts import of_comparison, of_study

    if isinstance(of, Comparison):
        texts = None if queries is None else queries.to_dict()
        return of_comparison.charts_of_comparison(of, texts=texts)
    if isinstance(of, BiasStudy):
        return of_study.charts_of_study(of, queries=queries)
    if isinstance(of, LearningCurve):
        return of_study.charts_of_curve(of, measure=measure or of.measure, by=of.by)
    raise InputError(
        f"no charts of {type(of).__name__}; expected results, a comparison, a bias study, "
        "a learning curve, predicted classes, or a path"
    )


def chart(
    of: Any,
    name: str,
    *,
    measure: str | None = None,
    collection: Any = None,
    dark: bool = False,
) -> Any:
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

    found = chosen_chart(name, lambda: _made(of, measure, collection), f"this {type(of).__name__}")
    drawn: Drawing = themed(titled(found.chart, found.title, found.caption), dark=dark)
    return drawn


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


def _sentences(answer: Iterable[str]) -> str:
    """Return the headline and the other sentences as HTML."""
    first, *more = answer
    lines = [f'<p class="claim"><b>{html.escape(first)}</b></p>']
    return "".join([*lines, *(f"<p>{html.escape(line)}</p>" for line in more)])


def _tables(tables: Iterable[PageTable]) -> str:
    """Return the tables that are not collapsed as HTML."""
    from heldout.report.tables import html_table

    return "".join(html_table(one.table, dict(one.sources)) for one in tables if not one.fold)


def _notes(notes: Iterable[Note]) -> str:
    from heldout.report.tables import note_lines, notes_text

    return notes_text(note_lines(notes), "html")


def _picture(found: NamedChart) -> str:
    """Return a chart as SVG without a script, which works in every kind of notebook."""
    from heldout.report.charts.export import chart_bytes
    from heldout.report.charts.theme import themed

    drawn = chart_bytes(themed(found.chart), ".svg").decode()
    title, caption = html.escape(found.title), html.escape(found.caption)
    return f"<figure>{drawn}<figcaption><b>{title}.</b> {caption}</figcaption></figure>"


def results_html(results: Results) -> str:
    """Return which system is better, the table of each measure, a chart, and the tuned parameters.

    Parameters
    ----------
    results
        Of an experiment of any task.
    """
    from heldout.notes import distinct
    from heldout.report.experiment import comparisons
    from heldout.report.page.provenance import plan_line
    from heldout.report.page.tuned import tuning_tables

    compared, refused = comparisons(results)
    known = {one.scores.measure: one for one in compared}
    if results.task == "ranking":
        from heldout.report.page.of_rankings import ranking_answer as answer
        from heldout.report.page.of_rankings import ranking_tables as tables
    else:
        from heldout.report.page.of_predictions import prediction_answer as answer
        from heldout.report.page.of_predictions import prediction_tables as tables
    first = known.get(results.measures[0])
    warnings = [note for one in compared for note in one.warnings]
    return _styled(
        _sentences(answer(results, first)),
        *(_tables(tables(results, one, known.get(one))) for one in results.measures),
        *map(_picture, _results_charts(results, first)),
        _tables(tuning_tables(results)),
        f"<p>{html.escape(plan_line(results))}</p>",
        _notes(distinct([*results.notes, *refused, *warnings])),
    )


def _results_charts(results: Results, comparison: Comparison | None) -> list[NamedChart]:
    """Return the chart of the difference of two systems, or of all systems if there are more."""
    from heldout.report.charts.of_comparison import pairs_of_comparison
    from heldout.report.charts.of_results import forest_chart
    from heldout.report.page.board import board_of_results
    from heldout.report.page.document_charts import document_charts

    if len(results.systems) < 2:
        return []
    if comparison is not None and len(comparison.systems) == 2:
        if results.manifest["settings"]["by"] == "document":
            board = board_of_results(results, results.measures[0], comparison)
            return list(document_charts(board))
        return [pairs_of_comparison(comparison)]
    return [forest_chart(results, comparison=comparison)]


def _values_table(evaluation: Evaluation) -> Table:
    """The values of systems in measures, one row per system."""
    from heldout.measure.ranking.evaluate import RankingEvaluation
    from heldout.report.evaluation import evaluation_table
    from heldout.report.scores import show
    from heldout.report.tables import Table

    if isinstance(evaluation, RankingEvaluation):
        return evaluation_table(evaluation)
    rows = [[name, *map(show, found.values())] for name, found in evaluation.summary().items()]
    return Table(["system", *map(str, evaluation.measures)], rows)


def evaluation_text(evaluation: Evaluation) -> str:
    """A table to print."""
    from heldout.report.terminal import aligned, printable

    return aligned(printable(_values_table(evaluation))).rstrip()


def evaluation_html(evaluation: Evaluation) -> str:
    """Return the values of systems in measures as a table.

    Parameters
    ----------
    evaluation
        Of one or more systems.
    """
    from heldout.report.tables import tables_text

    return _styled(tables_text([_values_table(evaluation)], "html"))


def results_text(results: Results) -> str:
    """The table and the verdicts of an experiment, to print."""
    from heldout.report.experiment import results_text as lines_of

    return lines_of(results).rstrip()


def comparison_text(comparison: Comparison) -> str:
    """Return a few lines to print."""
    from heldout.report.short_claims import short_text

    return short_text(comparison).rstrip()


def comparison_html(comparison: Comparison) -> str:
    """Return which system is better, the table of systems, and a chart.

    The chart is the difference of two systems, or the means of more with their letters.

    Parameters
    ----------
    comparison
        Of two or more systems.
    """
    from heldout.report.charts.of_comparison import forest_of_comparison, pairs_of_comparison
    from heldout.report.page.answer import board_answer
    from heldout.report.page.board import board_of_comparison
    from heldout.report.page.board_tables import comparison_tables, decision_line

    noun = ("unit", "units")
    two = len(comparison.systems) == 2
    drawn = pairs_of_comparison(comparison) if two else forest_of_comparison(comparison)
    where = f"on {count_of(len(comparison.scores.units), *noun)}"
    return _styled(
        _sentences(
            [
                *board_answer(board_of_comparison(comparison), where),
                decision_line(comparison, noun),
            ]
        ),
        _tables(comparison_tables(comparison, noun)),
        _picture(drawn),
        _notes(comparison.warnings),
    )


def study_html(study: BiasStudy) -> str:
    """Return the table of estimators, and their biases as a chart.

    Parameters
    ----------
    study
        Of `heldout.experiment.studies.bias.bias_study`.
    """
    from heldout.report.charts.of_study import charts_of_biases
    from heldout.report.study import study_table
    from heldout.report.tables import html_table

    measure = str(study.settings.measure)
    drawn = charts_of_biases(study.rows, measure=measure)[0]
    return _styled(html_table(study_table(study)), _picture(drawn))


def curve_html(curve: LearningCurve) -> str:
    """Return the table of a learning curve, and the curve.

    Parameters
    ----------
    curve
        Of `heldout.experiment.studies.curve.learning_curve`.
    """
    from heldout.report.charts.of_study import charts_of_curve
    from heldout.report.study import curve_table
    from heldout.report.tables import html_table

    unit = {"document": "documents", "query": "queries"}[curve.by]
    drawn = charts_of_curve(curve, measure=curve.measure, by=curve.by)[0]
    return _styled(html_table(curve_table(tuple(curve), unit)), _picture(drawn))

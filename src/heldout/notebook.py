"""Objects in a notebook: tables, charts, and charts by name.

It stands above the report: objects of other folders that show themselves import it when they do.
"""

from __future__ import annotations

import html
from typing import TYPE_CHECKING, Any

from heldout.errors import InputError

if TYPE_CHECKING:
    from heldout.data.collection import Collection
    from heldout.data.run import Qrels, Run
    from heldout.experiment.results import Results
    from heldout.experiment.studies.bias import BiasStudy
    from heldout.experiment.studies.curve import LearningCurve
    from heldout.infer.compare import Comparison
    from heldout.measure.evaluate import Evaluation
    from heldout.report.charts.named import Drawing, NamedChart
    from heldout.resample.split import Splits

__all__ = [
    "chart",
    "charts",
    "collection_html",
    "comparison_html",
    "comparison_text",
    "curve_html",
    "evaluation_html",
    "qrels_html",
    "results_html",
    "run_html",
    "splits_html",
    "study_html",
]


def charts(of: Any, *, measure: str | None = None, collection: Any = None) -> Any:
    """Every chart that an object allows.

    Parameters
    ----------
    of
        Results, a comparison, a bias study, a learning curve, predictions of classes (one or a
        list), a description of splits, or the path of what a command has written.
    measure
        Of results: which, by default the first; of a learning curve: what to call it.
    collection
        Of results, comparisons and studies: where the texts of the queries stand.

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
    ['forest', 'pairs', 'query-differences', 'heatmap', 'null', 'power']
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
    from heldout.report.charts import of_comparison, of_results, of_study
    from heldout.resample.describe import Description

    if isinstance(of, Comparison):
        texts = None if queries is None else queries.to_dict()
        return of_comparison.charts_of_comparison(of, texts=texts)
    if isinstance(of, BiasStudy):
        return of_study.charts_of_study(of, queries=queries)
    if isinstance(of, LearningCurve):
        return of_study.charts_of_curve(of, measure=measure or of.measure, by=of.by)
    if isinstance(of, Description):
        return of_results.charts_of_splits(of)
    raise InputError(
        f"there is no chart of {type(of).__name__}: give results, a comparison, a bias study, a "
        "learning curve, predictions of classes, a description of splits, or a path"
    )


def chart(
    of: Any,
    name: str,
    *,
    measure: str | None = None,
    collection: Any = None,
    dark: bool = False,
) -> Any:
    """One chart of an object, as an Altair chart in the theme of this package.

    Parameters
    ----------
    of, measure, collection
        As for `charts`.
    name
        Which: ``forest``, ``pairs``, ``query-differences``, …; ``heldout chart --list`` explains
        them. `heldout.save_chart` writes it to a file.
    dark
        Light letters on dark paper.
    """
    from heldout.report.charts.of_files import chosen_chart
    from heldout.report.charts.theme import themed, titled

    found = chosen_chart(name, lambda: _made(of, measure, collection), f"this {type(of).__name__}")
    drawn: Drawing = themed(titled(found.chart, found.title, found.caption), dark=dark)
    return drawn


def _picture(found: NamedChart) -> str:
    """A chart as SVG inside the page: no script, so that it is there in every kind of notebook."""
    from heldout.report.charts.export import chart_bytes
    from heldout.report.charts.theme import themed

    drawn = chart_bytes(themed(found.chart), ".svg").decode()
    title, caption = html.escape(found.title), html.escape(found.caption)
    return (
        f'<figure style="margin:1em 0;max-width:60em">{drawn}'
        f"<figcaption><b>{title}.</b> {caption}</figcaption></figure>"
    )


def results_html(results: Results) -> str:
    """Tables of the measures, what they mean, and the forest plot where there are several systems.

    Parameters
    ----------
    results
        Of an experiment of any task.
    """
    from heldout.notes import distinct
    from heldout.report.charts.of_results import forest_chart
    from heldout.report.experiment import comparisons, result_sentences, result_tables
    from heldout.report.tables import html_table, note_lines, notes_text

    parts = [html_table(one) for one in result_tables(results)]
    notes = distinct([*results.notes, *comparisons(results).refused])
    if len(results.systems) > 1:
        parts.append(_picture(forest_chart(results)))
    said = [*result_sentences(results), *note_lines(notes)]
    return "".join(parts) + notes_text(said, "html")


def run_html(run: Run) -> str:
    """The first rows of a run."""
    from heldout.report.previews import run_preview
    from heldout.report.tables import tables_text

    return tables_text([run_preview(run)], "html")


def qrels_html(qrels: Qrels) -> str:
    """The first judgements."""
    from heldout.report.previews import qrels_preview
    from heldout.report.tables import tables_text

    return tables_text([qrels_preview(qrels)], "html")


def collection_html(collection: Collection) -> str:
    """The sizes of a collection, and its first queries."""
    from heldout.report.previews import collection_preview
    from heldout.report.tables import tables_text

    return tables_text([collection_preview(collection)], "html")


def splits_html(splits: Splits) -> str:
    """The sizes of the first splits."""
    from heldout.report.previews import splits_preview
    from heldout.report.tables import tables_text

    return tables_text([splits_preview(splits)], "html")


def evaluation_html(evaluation: Evaluation) -> str:
    """The values of systems in measures as a table.

    Parameters
    ----------
    evaluation
        Of one or more systems.
    """
    from heldout.measure.ranking.evaluate import RankingEvaluation
    from heldout.report.evaluation import evaluation_table
    from heldout.report.scores import show
    from heldout.report.tables import Table, tables_text

    if isinstance(evaluation, RankingEvaluation):
        return tables_text([evaluation_table(evaluation)], "html")
    rows = [[name, *map(show, found.values())] for name, found in evaluation.summary().items()]
    return tables_text([Table(["system", *map(str, evaluation.measures)], rows)], "html")


def comparison_text(comparison: Comparison) -> str:
    """A few lines to print."""
    from heldout.report.short_claims import short_text

    return short_text(comparison).rstrip()


def comparison_html(comparison: Comparison) -> str:
    """Tables and sentences, and the forest plot with its letters.

    Parameters
    ----------
    comparison
        Of two or more systems.
    """
    from heldout.report.charts.of_comparison import forest_of_comparison
    from heldout.report.claims import claims_text

    return claims_text(comparison, "html") + _picture(forest_of_comparison(comparison))


def study_html(study: BiasStudy) -> str:
    """The table of estimators, and their biases as a chart.

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
    return html_table(study_table(study)) + _picture(drawn)


def curve_html(curve: LearningCurve) -> str:
    """The table of a learning curve, and the curve.

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
    return html_table(curve_table(tuple(curve), unit)) + _picture(drawn)

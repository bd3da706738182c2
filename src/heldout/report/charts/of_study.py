"""The charts of bias studies and learning curves."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, Literal

from heldout.report.charts.bias import bias_data, draw_bias
from heldout.report.charts.bias_means import bias_means_data, draw_bias_means
from heldout.report.charts.bias_queries import bias_queries_data, draw_bias_queries
from heldout.report.charts.learning_curve import draw_learning_curve, learning_curve_data
from heldout.report.charts.named import NamedChart

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from heldout.data.queries import Queries
    from heldout.experiment.curve import CurvePoint
    from heldout.experiment.study import BiasStudy

__all__ = ["charts_of_curve", "charts_of_study"]

_FIGURES: Final = ("pooled", "training", "per-fold", "pro-weighted", "dynamic-cutoff")
"""The estimators that have a figure of their own; empty queries that count 0 are per-fold's."""


def charts_of_study(study: BiasStudy, *, queries: Queries | None = None) -> tuple[NamedChart, ...]:
    """Bias of each estimator, mean of each strategy and set, difference of each query.

    Parameters
    ----------
    study
        Of `heldout.experiment.study.bias_study`.
    queries
        Of the collection: their ids and texts.
    """
    return tuple(_charts(study, queries))


def _charts(study: BiasStudy, queries: Queries | None) -> Iterator[NamedChart]:
    settings, measure = study.settings, str(study.settings.measure)
    sizes = (
        f"{study.sample_size:,} documents seen, {study.target_size:,} unseen, "
        f"{settings.draws} draws"
    )
    frame = bias_data(study.rows)
    yield NamedChart(
        "bias",
        "How far is each estimator from the truth?",
        f"Mean of estimate − truth in {measure} over the draws, with one and two standard errors; "
        f"{sizes}.",
        frame,
        draw_bias(frame, measure=measure),
    )
    means = bias_means_data(study)
    yield NamedChart(
        "bias-means",
        "Mean of each strategy in each training set",
        f"Mean {measure} over the draws, beside the truth on unseen documents; {sizes}.",
        means,
        draw_bias_means(means, measure=measure),
    )
    known = {row[2] for row in study.queries}
    figures = [name for name in _FIGURES if name in known]
    ids: Sequence[str] = () if queries is None else queries.ids
    texts: Sequence[str] = () if queries is None else queries.texts
    for number, name in enumerate(figures, 1):
        points = bias_queries_data(study, name, ids, texts)
        yield NamedChart(
            "bias-queries" if number == 1 else f"bias-queries-{number}",
            f"Each query: {name} minus truth",
            f"Estimate − truth in {measure} of the first draw, a panel a training set. Pro10: the "
            "share of ten relevant documents that the sample has.",
            points,
            draw_bias_queries(points, measure=measure, estimator=name),
        )


def charts_of_curve(
    points: Iterable[CurvePoint],
    *,
    measure: str = "score",
    by: Literal["document", "query"] = "document",
) -> tuple[NamedChart, ...]:
    """The learning curve.

    Parameters
    ----------
    points
        Of `heldout.experiment.curve.learning_curve`.
    measure
        What was measured.
    by
        What was held out.
    """
    frame = learning_curve_data(points, by=by)
    unit = {"document": "documents", "query": "queries"}[by]
    return (
        NamedChart(
            "learning-curve",
            f"{measure} by the {unit} seen",
            f"Held-out {measure} after tuning on so many {unit}; the band is a standard error over "
            "the draws.",
            frame,
            draw_learning_curve(frame, measure=measure, by=by),
        ),
    )

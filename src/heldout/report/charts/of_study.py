"""The charts of bias studies."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from heldout.report.charts.named import NamedChart
from heldout.report.charts.studies import (
    bias_data,
    bias_means_data,
    bias_queries_data,
    draw_bias,
    draw_bias_means,
    draw_bias_queries,
)

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Iterator, Sequence

    from heldout.data.queries import Queries
    from heldout.experiment.studies.bias import BiasRow, BiasStudy

    Means = Collection[tuple[int, int, str, float, float]]
    PerQuery = Collection[tuple[int, int, str, float, float, float]]

__all__ = ["charts_of_biases", "charts_of_figures", "charts_of_study"]

_FIGURES: Final = ("pooled", "training", "per-fold", "pro-weighted", "dynamic-cutoff")
"""The estimators with their own figure; that of per-fold-zero would repeat per-fold."""


def charts_of_study(study: BiasStudy, *, queries: Queries | None = None) -> tuple[NamedChart, ...]:
    """Return the bias of each estimator, its mean in each set, and its error on each query.

    Parameters
    ----------
    study
        Of `heldout.experiment.studies.bias.bias_study`.
    queries
        Of the collection: their ids and texts.
    """
    settings, measure = study.settings, str(study.settings.measure)
    sizes = (
        f"{study.sample_size:,} training documents, {study.target_size:,} new ones, "
        f"{settings.draws} draws"
    )
    return (
        *charts_of_biases(study.rows, measure=measure, sizes=sizes),
        *charts_of_figures(
            study.means,
            study.queries,
            measure=measure,
            ids=() if queries is None else queries.ids,
            texts=() if queries is None else queries.texts,
        ),
    )


def charts_of_biases(
    rows: Iterable[BiasRow], *, measure: str = "score", sizes: str = ""
) -> tuple[NamedChart, ...]:
    """The bias of each estimator.

    Parameters
    ----------
    rows
        One per estimator.
    measure
        What was estimated.
    sizes
        Numbers of documents and draws, in words.
    """
    frame = bias_data(rows)
    caption = (
        f"Mean of estimate − true value in {measure} over the draws, with one and two standard "
        "errors"
    )
    return (
        NamedChart(
            "bias",
            "Bias of each estimator",
            f"{caption}; {sizes}." if sizes else f"{caption}.",
            frame,
            draw_bias(frame, measure=measure),
        ),
    )


def charts_of_figures(
    means: Means,
    queries: PerQuery,
    *,
    measure: str = "score",
    ids: Sequence[str] = (),
    texts: Sequence[str] = (),
) -> tuple[NamedChart, ...]:
    """Return the mean of each estimator and set, and the error on each query.

    Parameters
    ----------
    means, queries
        As in `heldout.experiment.studies.bias.BiasStudy`.
    measure
        What was estimated.
    ids, texts
        Of the queries, by their numbers.
    """
    return tuple(_figures(means, queries, measure, ids, texts))


def _figures(
    means: Means, queries: PerQuery, measure: str, ids: Sequence[str], texts: Sequence[str]
) -> Iterator[NamedChart]:
    frame = bias_means_data(means)
    yield NamedChart(
        "bias-means",
        "Mean of each estimator in each training set",
        f"Mean {measure} over the draws, and the true value on new documents.",
        frame,
        draw_bias_means(frame, measure=measure),
    )
    known = {row[2] for row in queries}
    for number, name in enumerate([one for one in _FIGURES if one in known], 1):
        points = bias_queries_data(queries, name, ids, texts)
        yield NamedChart(
            "bias-queries" if number == 1 else f"bias-queries-{number}",
            f"Error on each query: {name}",
            f"Estimate − true value in {measure} of the first draw, one panel per training set. "
            "Pro10: number of relevant documents in the sample, up to ten, divided by ten.",
            points,
            draw_bias_queries(points, measure=measure, estimator=name),
        )

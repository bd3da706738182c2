"""A study of estimation methods as text."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from heldout.notes import count_of
from heldout.report.answers import percent
from heldout.report.table import Table, paragraphs, text_table, write_tables

if TYPE_CHECKING:
    from collections.abc import Sequence

    from heldout.experiment.studies.bias import BiasStudy

COVERAGE_KNOWN: Final = 0.025  # with a larger standard error, 90 % may be 95 %
METHODS: Final = {
    "pooled": "held-out documents of all folds in one ranking (default)",
    "pooled-unmatched": "the same, not adjusted to the size of the collection",
    "training": "no hold-out",
    "per-fold": "mean over folds; folds without relevant documents left out",
    "per-fold-zero": "mean over folds; those folds count 0, also in the truth",
    "pro-weighted": "mean over folds weighted by Pro10",
    "dynamic-cutoff": "mean over folds with the cutoff scaled to the fold",
}
TUNING: Final = {
    "fixed": "Nothing is tuned.",
    "nested": "Parameters are tuned on the training side of each fold, and on the whole sample for "
    "the truth.",
    "pre-split": "Parameters are tuned once on the whole sample, before it is split: this leaks.",
}


def study_text(
    study: BiasStudy, *, width: int | None = None, quiet: bool = False, **_: bool
) -> str:
    """A verdict and a table of all methods; unless `quiet`, the design and what the methods are."""
    shown = f"{paragraphs([_verdict(study)], width)}\n{text_table(study_tables(study)[0], width)}"
    if quiet:
        return shown
    methods = [f"{row.estimator}: {METHODS[row.estimator]}." for row in study.rows]
    return f"{shown}\n{paragraphs([*_design(study), *methods], width)}"


def study_tables(study: BiasStudy) -> list[Table]:
    """One row per method."""
    head = ["estimator", "estimate", "truth", "bias", "± se", "RMSE", "coverage", "± se"]
    rows = [
        [
            row.estimator,
            f"{row.mean:.4f}",
            f"{row.truth:.4f}",
            f"{row.bias:+.4f}",
            f"{row.se:.4f}",
            f"{row.rmse:.4f}",
            "" if row.coverage is None else f"{row.coverage:.1%}",
            "" if row.coverage_se is None else f"{row.coverage_se:.1%}",
        ]
        for row in study.rows
    ]
    return [Table(head, rows)]


def _verdict(study: BiasStudy) -> str:
    row = next(row for row in study.rows if row.default)
    bias = "bias" if abs(row.bias) > 2 * row.se else "no bias"
    text = (
        f"{row.estimator} (the default): {bias} of more than two standard errors "
        f"({row.bias:+.4f} ± {row.se:.4f})"
    )
    if row.coverage is None or row.coverage_se is None:
        return f"{text}."
    few = row.coverage_se > COVERAGE_KNOWN
    doubt = f" ({study.settings.draws} draws are too few to judge that)" if few else ""
    return (
        f"{text}; {row.coverage:.1%} ± {row.coverage_se:.1%} of its "
        f"{percent(study.settings.level)} intervals for these queries on "
        f"{count_of(study.target_size, 'new document')} include the truth{doubt}."
    )


def _design(study: BiasStudy) -> list[str]:
    settings = study.settings
    sets = f" in each of {settings.sets} sets" if settings.sets > 1 else ""
    draws = (
        f"{study.system}, {settings.measure}: {count_of(settings.draws, 'draw')} of "
        f"{count_of(study.sample_size, 'training document')}{sets}, truth on "
        f"{count_of(study.target_size, 'other document')}, {settings.folds} folds."
    )
    left_out = f"Left out: queries without a relevant document, {study.left_out:.1f} per draw."
    return [draws, TUNING[settings.tuning], left_out]


def study_figures(study: BiasStudy, query_ids: Sequence[str]) -> dict[str, str]:
    """The data of the figures as CSV, by file name."""
    means = [
        [str(draw), str(number), name, repr(value), repr(truth)]
        for draw, number, name, value, truth in study.means
    ]
    queries = [
        [str(number), query_ids[query], name, *map(repr, (value, truth, value - truth, pro))]
        for number, query, name, value, truth, pro in study.queries
    ]
    head = ["estimator", "estimate", "truth"]
    tables = {
        "means.csv": Table(["draw", "set", *head], means),
        "queries.csv": Table(["set", "query", *head, "difference", "pro10"], queries),
    }
    return {name: write_tables([table], "csv") for name, table in tables.items()}

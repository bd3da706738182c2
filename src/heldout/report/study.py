"""Studies of estimators as text."""

from __future__ import annotations

from dataclasses import asdict
from typing import TYPE_CHECKING, Final

from heldout.as_json import json_text
from heldout.notes import count_of
from heldout.report.tables import Table, tables_text
from heldout.report.terminal import aligned

if TYPE_CHECKING:
    from collections.abc import Sequence

    from heldout.experiment.studies.bias import BiasStudy

__all__ = ["figure_tables", "study_json", "study_table", "study_text"]

COVERAGE_KNOWN: Final = 0.025
"""The largest standard error at which a coverage of 90 % still differs from one of 95 %."""

_HINTS: Final = {
    "pooled": "held-out documents of all folds in one ranking (default)",
    "pooled-unmatched": "the same, not adjusted to the size of the collection",
    "training": "no hold-out",
    "per-fold": "mean over folds; folds without relevant documents left out",
    "per-fold-zero": "mean over folds; those folds count 0, also in the truth",
    "pro-weighted": "mean over folds weighted by Pro10",
    "dynamic-cutoff": "mean over folds with the cutoff scaled to the fold",
}


def study_text(study: BiasStudy, system: str) -> str:
    """Return a verdict, a table of all estimators with the default first, and the design."""
    settings = study.settings
    sets = f" in each of {settings.sets} sets" if settings.sets > 1 else ""
    design = (
        f"{system}, {settings.measure}: {count_of(settings.draws, 'draw')} of "
        f"{count_of(study.sample_size, 'training document')}{sets}, truth on "
        f"{count_of(study.target_size, 'other document')}, {settings.folds} folds."
    )
    left_out = (
        f"{study.left_out:.1f} queries per draw have no relevant document in the sample and are "
        "left out."
    )
    return "\n".join(
        [
            *(_verdict(study), "", aligned(study_table(study))),
            *(design, _tuning(study), left_out, ""),
            *_legend(study),
        ]
    )


def study_table(study: BiasStudy) -> Table:
    """One row per estimator."""
    rows = [
        [
            row.estimator,
            f"{row.mean:.4f}",
            f"{row.truth:.4f}",
            f"{row.bias:+.4f}",
            f"{row.se:.4f}",
            f"{row.rmse:.4f}",
            _percent(row.coverage),
            _percent(row.coverage_se),
        ]
        for row in study.rows
    ]
    head = ["estimator", "estimate", "truth", "bias", "± se", "RMSE", "coverage", "± se"]
    return Table(head, rows)


def _legend(study: BiasStudy) -> list[str]:
    """What each estimator is, in columns."""
    width = max(len(row.estimator) for row in study.rows)
    return [*(f"{row.estimator:{width}}  {_HINTS[row.estimator]}" for row in study.rows), ""]


def _tuning(study: BiasStudy) -> str:
    words = {
        "fixed": "Nothing is tuned.",
        "nested": "Parameters are tuned on the training side of each fold, and on the whole "
        "sample for the truth.",
        "pre-split": "Parameters are tuned once on the whole sample, before it is split: this "
        "leaks.",
    }
    return words[study.settings.tuning]


def _percent(share: float | None) -> str:
    return "" if share is None else f"{share:.1%}"


def _verdict(study: BiasStudy) -> str:
    row = next(row for row in study.rows if row.default)
    biased = abs(row.bias) > 2 * row.se
    text = (
        f"{row.estimator} (the default): {'bias' if biased else 'no bias'} of more than two "
        f"standard errors ({row.bias:+.4f} ± {row.se:.4f})"
    )
    if row.coverage is None or row.coverage_se is None:
        return text + "."
    text += (
        f"; {row.coverage:.1%} ± {row.coverage_se:.1%} of its {study.settings.level:.0%} intervals "
        f"for these queries on {count_of(study.target_size, 'new document')} include the truth"
    )
    few = row.coverage_se > COVERAGE_KNOWN
    return text + (f" ({study.settings.draws} draws are too few to judge that)." if few else ".")


def study_json(study: BiasStudy, system: str) -> str:
    """Return one object per estimator on a line, with the settings of the study in each."""
    settings = study.settings
    shared = {
        "system": system,
        "measure": str(settings.measure),
        "tuning": settings.tuning,
        "fraction": settings.fraction,
        "draws": settings.draws,
        "sets": settings.sets,
        "folds": settings.folds,
        "seed": settings.seed,
        "sample_size": study.sample_size,
        "target_size": study.target_size,
        "queries_left_out": study.left_out,
        "estimand": "these queries on new documents",
    }
    objects = [{**asdict(row), **shared} for row in study.rows]
    lines = [json_text(record, indent=None).rstrip("\n") for record in objects]
    return "[\n" + ",\n".join(lines) + "\n]\n"


def figure_tables(study: BiasStudy, query_ids: Sequence[str]) -> dict[str, str]:
    """The data of the study's figures, as CSV by file name."""
    means = [
        [str(draw), str(number), name, repr(value), repr(truth)]
        for draw, number, name, value, truth in study.means
    ]
    queries = [
        [str(number), query_ids[query], name, *map(repr, (value, truth, value - truth, pro))]
        for number, query, name, value, truth, pro in study.queries
    ]
    head = ["set", "query", "estimator", "estimate", "truth", "difference", "pro10"]
    tables = {
        "means.csv": Table(["draw", "set", "estimator", "estimate", "truth"], means),
        "queries.csv": Table(head, queries),
    }
    return {name: tables_text([table], "csv") for name, table in tables.items()}

"""Studies of estimators, and learning curves, as text."""

from __future__ import annotations

import json
from dataclasses import asdict
from typing import TYPE_CHECKING, Any, Final

from heldout.infer.results import count_of

if TYPE_CHECKING:
    from collections.abc import Sequence

    from heldout.experiment.studies.bias import BiasStudy
    from heldout.experiment.studies.curve import CurvePoint

__all__ = [
    "curve_json",
    "curve_records",
    "curve_text",
    "figure_tables",
    "study_json",
    "study_records",
    "study_text",
]

COVERAGE_KNOWN: Final = 0.025
"""The largest standard error at which a coverage of 90 % still differs from one of 95 %."""

_HINTS: Final = {
    "pooled": "held-out documents of all folds in one ranking (default)",
    "pooled-unmatched": "the same, without regard to the target's size",
    "training": "no hold-out",
    "per-fold": "mean over folds, empty left out",
    "per-fold-zero": "mean over folds, empty = 0, in the truth too",
    "pro-weighted": "folds weighted by Pro10",
    "dynamic-cutoff": "cutoff scaled to the fold",
}


def study_text(study: BiasStudy, system: str) -> str:
    """Return a table of all estimators, the default first, and a verdict below it."""
    settings = study.settings
    sets = f" in each of {settings.sets} sets" if settings.sets > 1 else ""
    title = (
        f"{system}, {settings.measure}: {count_of(study.sample_size, 'document')} seen{sets}, "
        f"{study.target_size:,} unseen, {settings.folds} folds, {settings.draws:,} draws"
    )
    left_out = (
        f"{study.left_out:.1f} queries per draw have no relevant document in the sample; "
        "they are left out"
    )
    head = (
        f"{'estimator':<17} {'estimate':>8} {'truth':>6} {'bias':>8} {'± se':>7} {'rmse':>6} "
        f"{'covers':>6} {'± se':>5}"
    )
    lines = [title, _tuning(study), left_out, "", head]
    for row in study.rows:
        covers, error = (_percent(one) for one in (row.coverage, row.coverage_se))
        lines.append(
            f"{row.estimator:<17} {row.mean:>8.4f} {row.truth:>6.4f} {row.bias:>+8.4f} "
            f"{row.se:>7.4f} {row.rmse:>6.4f} {covers:>6} {error:>5}  {_HINTS[row.estimator]}"
        )
    lines += ["", _verdict(study), ""]
    return "\n".join(lines)


def _tuning(study: BiasStudy) -> str:
    words = {
        "fixed": "nothing is tuned",
        "nested": "values are chosen on each train side, and on all seen documents for the truth",
        "pre-split": "values are chosen once on the whole sample, before it is split: this leaks",
    }
    return words[study.settings.tuning]


def _percent(share: float | None) -> str:
    return "" if share is None else f"{share:.1%}"


def _verdict(study: BiasStudy) -> str:
    row = next(row for row in study.rows if row.default)
    biased = abs(row.bias) > 2 * row.se
    found = "biased by more" if biased else "no bias of more"
    text = (
        f"{row.estimator} (the default): {found} than two standard errors "
        f"({row.bias:+.4f} ± {row.se:.4f})"
    )
    if row.coverage is None or row.coverage_se is None:
        return text + "."
    text += (
        f"; {row.coverage:.1%} ± {row.coverage_se:.1%} of its {study.settings.level:.0%} intervals "
        f"for these queries on {count_of(study.target_size, 'new document')} hold the truth"
    )
    few = row.coverage_se > COVERAGE_KNOWN
    return text + (f" ({study.settings.draws} draws are too few to judge that)." if few else ".")


def study_records(study: BiasStudy, system: str) -> list[dict[str, Any]]:
    """One record per estimator, at full precision, the settings of the study in each."""
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
    return [{**asdict(row), **shared} for row in study.rows]


def study_json(study: BiasStudy, system: str) -> str:
    """The same as JSON, one line per estimator."""
    objects = study_records(study, system)
    return "[\n" + ",\n".join(json.dumps(one, ensure_ascii=False) for one in objects) + "\n]\n"


def figure_tables(study: BiasStudy, query_ids: Sequence[str]) -> dict[str, str]:
    """The data of the study's figures, as CSV by file name."""
    means = [
        f"{draw},{one},{name},{value!r},{truth!r}" for draw, one, name, value, truth in study.means
    ]
    queries = [
        f"{one},{_quoted(query_ids[query])},{name},{value!r},{truth!r},{value - truth!r},{pro!r}"
        for one, query, name, value, truth, pro in study.queries
    ]
    return {
        "means.csv": "\n".join(["draw,set,estimator,estimate,truth", *means, ""]),
        "queries.csv": "\n".join(
            ["set,query,estimator,estimate,truth,difference,pro10", *queries, ""]
        ),
    }


def _quoted(text: str) -> str:
    """A cell of a CSV file; what a spreadsheet would take for a formula is marked as text."""
    text = "'" + text if text[:1] in ("=", "+", "-", "@") else text
    return '"' + text.replace('"', '""') + '"' if any(c in text for c in ',"\n\r') else text


def curve_text(points: Sequence[CurvePoint], title: str, unit: str) -> str:
    """A table of a learning curve."""
    # The score on the documents that were seen falls as they grow more, so it says nothing here.
    trained = unit == "queries"
    lines = [title, "", f"{unit:>10} {'share':>6} {'held out':>9} {'± se':>7}"]
    lines[-1] += f" {'train':>7}" if trained else ""
    for point in points:
        shown = f"{point.size:>10} {point.share:>6.0%} {point.held_out:>9.4f} {point.se:>7.4f}"
        lines.append(shown + (f" {point.train:>7.4f}" if trained else ""))
    return "\n".join([*lines, ""])


def curve_records(points: Sequence[CurvePoint]) -> list[dict[str, Any]]:
    """One record per size, at full precision."""
    return [asdict(point) for point in points]


def curve_json(points: Sequence[CurvePoint], title: str) -> str:
    """The same at full precision."""
    return json.dumps({"title": title, "points": curve_records(points)}) + "\n"

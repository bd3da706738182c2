"""What ``heldout score classification`` and ``regression`` do: read, score, compare, print."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from heldout.data.prediction_files import read_class_predictions, read_number_predictions
from heldout.data.predictions import ClassPredictions, positive_number
from heldout.errors import InputError, MeasureError
from heldout.infer.auc import delong_claims
from heldout.infer.prediction_scores import score_predictions
from heldout.measure.hull import roc_hull
from heldout.measure.paired_predictions import fold_scores, unit_scores
from heldout.measure.predicted import parse_prediction_measures
from heldout.measure.roc import roc_curve
from heldout.report import scores as report
from heldout.report.grid import grids_text

if TYPE_CHECKING:
    import argparse
    from collections.abc import Sequence

    from heldout.infer.auc import AucClaim
    from heldout.infer.compare import Comparison
    from heldout.infer.prediction_scores import PredictionScores
    from heldout.measure.hull import RocHull
    from heldout.measure.predicted import PredictionMeasure

__all__ = ["score_files"]

# A root of a mean is no mean: its order is that of the mean itself.
STANDS_FOR = {"RMSE": "MSE"}


class Compared(NamedTuple):
    """The comparisons that were asked for, one a measure."""

    comparisons: list[Comparison]
    areas: tuple[AucClaim, ...]
    notes: list[str]


def score_files(options: argparse.Namespace) -> None:
    """Score the files of ``options`` and print what was asked for.

    Parameters
    ----------
    options
        As the command line makes them.
    """
    from heldout.cli import emit  # the main module imports commands

    scores = score_predictions(
        _read(options),
        options.measure or (),
        positive=getattr(options, "positive", None),
        level=1 - options.alpha,
    )
    hull = _hull(scores) if getattr(options, "hull", False) else None
    compared = _compare(scores, options) if options.compare else Compared([], (), [])
    if options.format == "json":
        emit(_json(scores, hull, compared, options), options.output)
        return
    emit(_tables(scores, hull, compared, options), options.output)
    notes = [*report.score_notes(scores), *compared.notes]
    if options.format == "tsv":  # the other formats hold their warnings themselves
        warnings = [warning for one in compared.comparisons for warning in one.warnings]
        notes += [f"Careful: {warning}." for warning in dict.fromkeys(warnings)]
    if hull is not None:
        at = options.fp_rate
        notes += report.hull_lines(hull, None if at is None else hull.mix(at))
    sys.stderr.write("".join(note + "\n" for note in notes))


def _read(options: argparse.Namespace) -> list[Any]:
    if options.task == "regression":
        return [one for path in options.files for one in read_number_predictions(path)]
    return [
        one
        for path in options.files
        for one in read_class_predictions(
            path, positive=options.positive, threshold=options.threshold
        )
    ]


def _tables(
    scores: PredictionScores, hull: RocHull | None, compared: Compared, options: argparse.Namespace
) -> str:
    grids = [report.score_grid(scores)]
    if options.task == "classification":
        grids += [report.class_grid(scores, options.beta)] if options.per_class else []
        grids += report.confusion_grids(scores) if options.confusion else []
        grids += [report.calibration_grid(scores)] if options.calibration else []
    grids += [report.hull_grid(hull)] if hull is not None else []
    grids += [report.auc_grid(compared.areas)] if compared.areas else []
    terminal = options.output is None and sys.stdout.isatty()
    text = grids_text([grid for grid in grids if grid.rows], options.format, terminal=terminal)
    if compared.comparisons:
        from heldout.report.claims import claims_text

        for one in compared.comparisons:
            text += "\n" + claims_text(one, options.format, terminal=terminal)
    return text


def _json(
    scores: PredictionScores, hull: RocHull | None, compared: Compared, options: argparse.Namespace
) -> str:
    import json

    from heldout.report.claims import json_claims

    claims = json.loads(json_claims(compared.comparisons)) if compared.comparisons else []
    return report.json_scores(
        scores,
        beta=getattr(options, "beta", 1.0),
        hull=hull,
        claims=compared.areas,
        comparisons=claims,
    )


def _two_classes(scores: PredictionScores, what: str) -> list[ClassPredictions]:
    """The systems that have scores of two classes."""
    if scores.positive is None:
        raise InputError(f"{what} is for two classes")
    return [
        one
        for one in scores.predictions
        if isinstance(one, ClassPredictions) and one.scores is not None
    ]


def _hull(scores: PredictionScores) -> RocHull:
    """Curves of systems with scores, points of those without."""
    _two_classes(scores, "--hull")
    found: dict[str, Any] = {}
    for one in scores.predictions:
        if not isinstance(one, ClassPredictions):
            continue
        at = positive_number(one.classes, scores.positive)
        positive = one.truth == at
        if one.scores is not None:
            found[one.name] = roc_curve(positive, one.scores[:, at], one.weights)
        elif one.predicted is not None:
            # A prediction is a score of two values: the middle point of its curve.
            curve = roc_curve(positive, (one.predicted == at).astype(float), one.weights)
            found[one.name] = curve.at(0.5)
    return roc_hull(found)


def _measures(options: argparse.Namespace) -> list[PredictionMeasure]:
    usual = "accuracy" if options.task == "classification" else "MSE"
    names = options.measure or [usual]
    return parse_prediction_measures(options.task, names)


def _compare(scores: PredictionScores, options: argparse.Namespace) -> Compared:
    from heldout.infer.compare import note_measures

    several = scores.predictions
    if len(several) < 2:
        raise InputError("one system cannot be compared: give at least two")
    found: list[Comparison] = []
    areas: tuple[AucClaim, ...] = ()
    notes: list[str] = []
    for measure in _measures(options):
        if measure.base == "AUC" and scores.positive is not None and not options.by_fold:
            areas = _areas(scores, options)
            continue
        found.append(_comparison(several, measure, scores.positive, options, notes))
    return Compared(note_measures(found), areas, list(dict.fromkeys(notes)))


def _comparison(
    several: Sequence[Any],
    measure: PredictionMeasure,
    positive: str | None,
    options: argparse.Namespace,
    notes: list[str],
) -> Comparison:
    from heldout.infer.compare import compare

    common: dict[str, Any] = {
        "baseline": options.baseline,
        "tests": options.test or (),
        "correction": options.correction,
        "alpha": options.alpha,
        "seed": options.seed,
    }
    if options.by_fold:
        by_fold = fold_scores(several, measure, positive)
        return compare(by_fold.scores, test_share=by_fold.test_share, **common)
    other = STANDS_FOR.get(measure.base)
    if other is not None:
        notes.append(f"{measure} is compared by {other}, which is a mean over units")
        measure = parse_prediction_measures(measure.task, [other])[0]
    if not measure.per_unit:
        raise MeasureError(
            f"{measure} is no mean over units: compare it with --by-fold and a column fold, or "
            "compare accuracy, log-loss, Brier or (of two classes) AUC"
            if measure.task == "classification"
            else f"{measure} is no mean over units: compare MSE or MAE, or --by-fold"
        )
    if any(len(set(one.folds)) > 1 for one in several):
        notes.append(
            "the units come from folds that share training data, which a test over units does not "
            "know: --by-fold does"
        )
    return compare(unit_scores(several, measure), **common)


def _areas(scores: PredictionScores, options: argparse.Namespace) -> tuple[AucClaim, ...]:
    """DeLong's test on the units that all systems have."""
    systems = _two_classes(scores, "DeLong's test")
    if len(systems) < len(scores.predictions):
        raise InputError("the AUC of a system without scores cannot be compared")
    for one in systems:
        if one.weights is not None or one.groups:
            raise InputError(f"{one.name}: DeLong's test does not know weights or groups")
    common = set.intersection(*(set(one.units) for one in systems))
    order = [unit for unit in systems[0].units if unit in common]
    if not order:
        raise InputError("the systems have no unit in common: are the ids written alike?")
    at = positive_number(systems[0].classes, scores.positive)
    columns = {}
    positive: Any = None
    for one in systems:
        place = {unit: row for row, unit in enumerate(one.units)}
        rows = np.array([place[unit] for unit in order])
        positive = one.truth[rows] == at
        columns[one.name] = one.scores[rows, at] if one.scores is not None else rows
    return delong_claims(positive, columns, baseline=options.baseline, alpha=options.alpha)

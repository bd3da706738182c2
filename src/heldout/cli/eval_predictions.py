"""What ``heldout eval`` does with predictions of classes and numbers: read, measure, print."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Any

from heldout.as_json import json_text
from heldout.cli.files import emit
from heldout.cli.inputs import read_predictions
from heldout.cli.measures import given_measures
from heldout.cli.progress import progress_bar
from heldout.data.predictions import ClassPredictions, one_set_of_classes, positive_number
from heldout.errors import InputError
from heldout.infer.intervals.evaluations import score_table
from heldout.measure.prediction.curves import curves
from heldout.measure.prediction.evaluate import evaluate_predictions
from heldout.measure.prediction.hull import roc_hull
from heldout.measure.prediction.roc import roc_curve
from heldout.report import scores as report
from heldout.report.curves import curve_grid, curve_notes, json_curves
from heldout.report.tables import note_lines, tables_page, tables_text

if TYPE_CHECKING:
    import argparse

    from heldout.infer.intervals.evaluations import ScoreTable
    from heldout.measure.prediction.hull import RocHull

__all__ = ["eval_predictions"]


def eval_predictions(task: str, options: argparse.Namespace) -> int:
    """Measure the files of ``options`` and print what was asked for.

    Parameters
    ----------
    task
        ``classification`` or ``regression``.
    options
        As the command line makes them.

    Returns
    -------
    int
        The exit code.
    """
    with progress_bar("reading", quiet=options.quiet) as progress:
        predictions = read_predictions(task, options, progress)
    if options.curve:
        emit(_curves(predictions, options.positive, options), options.output)
        return 0
    with progress_bar("measures", quiet=options.quiet) as progress:
        found = evaluate_predictions(
            predictions,
            given_measures(options.measure, task),
            positive=options.positive,
            undefined=options.undefined,
        )
        scores = score_table(found, level=options.level, seed=options.seed, progress=progress)
    hull = _hull(scores) if options.hull else None
    lines = report.score_lines(scores)
    if hull is not None:
        at = options.fp_rate
        lines += report.hull_lines(hull, None if at is None else hull.mix(at))
    if options.format == "json":
        record = report.score_record(scores, beta=options.beta, hull=hull)
        emit(json_text(record), options.output)
        return 0
    tables = _tables(task, scores, hull, options)
    emit(tables_page(tables, options.format, "Scores"), options.output)
    if not options.quiet:
        lines += note_lines(scores.evaluation.notes)
        sys.stderr.write("".join(line + "\n" for line in lines))
    return 0


def _tables(
    task: str, scores: ScoreTable, hull: RocHull | None, options: argparse.Namespace
) -> str:
    grids = [report.score_grid(scores)]
    if task == "classification":
        grids += [report.class_grid(scores, options.beta)] if options.per_class else []
        grids += report.confusion_grids(scores) if options.confusion else []
        grids += [report.calibration_grid(scores)] if options.calibration else []
    grids += [report.hull_grid(hull)] if hull is not None else []
    terminal = options.output is None and sys.stdout.isatty()
    return tables_text([grid for grid in grids if grid.rows], options.format, terminal=terminal)


def _curves(predictions: list[Any], positive: str | None, options: argparse.Namespace) -> str:
    found = curves(one_set_of_classes(predictions), options.curve, positive)
    if options.format == "json":
        return json_curves(found)
    terminal = options.output is None and sys.stdout.isatty()
    notes = "".join(f"{note}\n" for note in curve_notes(found))
    sys.stderr.write("" if options.quiet else notes)
    text = tables_text([curve_grid(found)], options.format, terminal=terminal)
    return tables_page(text, options.format, "Curves")


def _hull(scores: ScoreTable) -> RocHull:
    """Return the hull of the curves of systems with scores, and of the points of the others."""
    if scores.evaluation.positive is None:
        raise InputError("--hull is for two classes")
    found: dict[str, Any] = {}
    for one in scores.evaluation.predictions:
        if not isinstance(one, ClassPredictions):
            continue
        at = positive_number(one.classes, scores.evaluation.positive)
        positive = one.truth == at
        if one.scores is not None:
            found[one.name] = roc_curve(positive, one.scores[:, at], one.weights)
        elif one.predicted is not None:
            # A prediction is a score of two values: the middle point of its curve.
            curve = roc_curve(positive, (one.predicted == at).astype(float), one.weights)
            found[one.name] = curve.at(0.5)
    return roc_hull(found)

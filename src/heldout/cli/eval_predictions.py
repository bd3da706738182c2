"""What ``heldout eval`` does with predictions of classes and numbers: read, measure, print."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Any

from heldout.as_json import json_text
from heldout.cli.files import emit
from heldout.cli.old_inputs import read_predictions
from heldout.cli.measures import given_measures
from heldout.cli.progress import progress_bar
from heldout.data.predictions import ClassPredictions
from heldout.errors import InputError
from heldout.infer.scored_inputs import system_interval
from heldout.measure.prediction.curves import roc_curve, roc_hull
from heldout.measure.prediction.evaluate import evaluate_predictions
from heldout.report import scores as report
from heldout.report.tables import note_lines, tables_page, tables_text

if TYPE_CHECKING:
    import argparse

    from heldout.measure.evaluation import Evaluation
    from heldout.measure.prediction.curves import RocHull
    from heldout.report.scores import Intervals

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
    with progress_bar("measures", quiet=options.quiet) as progress:
        measures = given_measures(options.measure, task)
        found = evaluate_predictions(predictions, measures, options.positive)
        intervals: Intervals = {}
        for name in found.names:
            for measure in found.measures:
                intervals[name, measure] = system_interval(
                    found, name, measure, level=options.level, seed=options.seed
                )
                if progress:
                    progress(len(intervals), len(found.names) * len(found.measures))
    hull = _hull(found) if options.hull else None
    lines = report.score_lines(found, intervals)
    if hull is not None:
        lines += report.hull_lines(hull)
    if options.format == "json":
        emit(json_text(report.score_record(found, intervals, hull)), options.output)
        return 0
    tables = _tables(found, intervals, hull, options)
    emit(tables_page(tables, options.format, "Scores"), options.output)
    if not options.quiet:
        lines += note_lines(found.notes)
        sys.stderr.write("".join(line + "\n" for line in lines))
    return 0


def _tables(
    found: Evaluation, intervals: Intervals, hull: RocHull | None, options: argparse.Namespace
) -> str:
    grids = [report.score_grid(found, intervals)]
    if found.task == "classification":
        grids += [report.class_grid(found)] if options.per_class else []
        grids += report.confusion_grids(found) if options.confusion else []
    grids += [report.hull_grid(hull)] if hull is not None else []
    terminal = options.output is None and sys.stdout.isatty()
    return tables_text([grid for grid in grids if grid.rows], options.format, terminal=terminal)


def _hull(evaluation: Evaluation) -> RocHull:
    """Return the hull of the curves of systems with scores, and of the points of the others."""
    found: dict[str, Any] = {}
    for name in evaluation.names:
        one = evaluation.data[name]
        if not isinstance(one, ClassPredictions) or len(one.classes) != 2:
            raise InputError("--hull is for two classes")
        column = one.class_number()
        positive = one.truth == column
        if one.scores is not None:
            found[name] = roc_curve(positive, one.scores[:, column], one.weights)
        elif one.predicted is not None:
            # A prediction is a score of two values: the middle point of its curve.
            curve = roc_curve(positive, (one.predicted == column).astype(float), one.weights)
            found[name] = curve.at(0.5)
    return roc_hull(found)

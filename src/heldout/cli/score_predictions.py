"""What ``heldout score classification`` and ``regression`` do: read, score, compare, print."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Any

from heldout.as_json import json_text
from heldout.cli.claims import compare_measures, present
from heldout.cli.progress import progress_bar
from heldout.cli.scores import read_predictions
from heldout.data.predictions import ClassPredictions, one_set_of_classes, positive_number
from heldout.errors import InputError
from heldout.infer.intervals.evaluations import score_table
from heldout.infer.scoring.predictions import PredictionSystems
from heldout.measure.prediction.curves import curves
from heldout.measure.prediction.evaluate import evaluate_predictions
from heldout.measure.prediction.hull import roc_hull
from heldout.measure.prediction.roc import roc_curve
from heldout.report import scores as report
from heldout.report.curves import curve_grid, curve_notes, json_curves
from heldout.report.tables import note_lines, tables_page, tables_text

if TYPE_CHECKING:
    import argparse

    from heldout.infer.compare import Comparison
    from heldout.infer.intervals.evaluations import ScoreTable
    from heldout.measure.prediction.hull import RocHull

__all__ = ["score_files"]


def score_files(options: argparse.Namespace) -> int:
    """Score the files of ``options`` and print what was asked for.

    Parameters
    ----------
    options
        As the command line makes them.

    Returns
    -------
    int
        The exit code: 1 if a gate stays shut.
    """
    from heldout.cli import emit  # the main module imports commands

    with progress_bar("reading", quiet=options.quiet) as progress:
        predictions = read_predictions(options.task, options.files, options, progress)
    positive = getattr(options, "positive", None)
    if getattr(options, "curve", None):
        emit(_curves(predictions, positive, options), options.output)
        return 0
    with progress_bar("measures", quiet=options.quiet) as progress:
        found = evaluate_predictions(
            predictions,
            options.measure or (),
            positive=positive,
            undefined=getattr(options, "undefined", None),
        )
        scores = score_table(found, level=options.level, seed=options.seed, progress=progress)
    hull = _hull(scores) if getattr(options, "hull", False) else None
    lines = report.score_lines(scores)
    if hull is not None:
        at = options.fp_rate
        lines += report.hull_lines(hull, None if at is None else hull.mix(at))
    if options.format == "json":
        return _as_json(scores, hull, options)
    tables = _tables(scores, hull, options)
    if options.compare:
        compared = _compare(scores, options)
        return present(compared, options, before=tables, lines=lines, notes=scores.evaluation.notes)
    emit(tables_page(tables, options.format, "Scores"), options.output)
    if not options.quiet:
        lines += note_lines(scores.evaluation.notes)
        sys.stderr.write("".join(line + "\n" for line in lines))
    return 0


def _as_json(scores: ScoreTable, hull: RocHull | None, options: argparse.Namespace) -> int:
    from heldout.cli import emit  # the main module imports commands

    record = report.score_record(scores, beta=getattr(options, "beta", 1.0), hull=hull)
    if options.compare:
        return present(_compare(scores, options), options, content=record)
    text = json_text(record)
    emit(text, options.output)
    return 0


def _compare(scores: ScoreTable, options: argparse.Namespace) -> list[Comparison]:
    evaluation = scores.evaluation
    if options.gate and options.baseline is None and len(evaluation.predictions) > 2:
        raise InputError("a gate needs a baseline: name it with --baseline")
    systems = PredictionSystems.of(evaluation.predictions, options.baseline)
    return compare_measures(
        systems,
        systems.measures(options.measure or (), evaluation.undefined),
        options,
        positive=evaluation.positive,
        by="unit" if options.by_unit else "fold" if options.by_fold else "auto",
    )


def _tables(scores: ScoreTable, hull: RocHull | None, options: argparse.Namespace) -> str:
    grids = [report.score_grid(scores)]
    if options.task == "classification":
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
    """Curves of systems with scores, points of those without."""
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

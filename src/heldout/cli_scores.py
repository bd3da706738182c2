"""What ``compare`` and ``plan`` work on: judgements and runs, or a table of scores."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any

from heldout.errors import InputError, MeasureError

if TYPE_CHECKING:
    import argparse
    from collections.abc import Callable

    from heldout.data.scores import Scores
    from heldout.measure.evaluate import Missing
    from heldout.measure.names import Measure

__all__ = ["add_score_arguments", "prediction_task", "read_inputs", "read_predictions"]


def add_score_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the arguments that say where the scores come from."""
    add = parser.add_argument
    add("qrels", metavar="QRELS", nargs="?", help="judgements; several files joined by commas")
    add("runs", metavar="RUN", nargs="*", help="runs")
    add(
        "--table",
        metavar="FILE",
        help="scores instead of judgements and runs: CSV, TSV or Parquet, wide or long",
    )
    add("--lower-is-better", action="store_true", help="with --table: errors, times")
    add(
        "-m",
        "--measure",
        action="append",
        metavar="NAME",
        help="a measure (repeat; default nDCG@10); with --table what to call the scores",
    )
    add(
        "--intersection",
        action="store_true",
        help="only the judged queries that all runs have (else a missing one counts 0); "
        "a table is always read so",
    )


def prediction_task(options: argparse.Namespace) -> str:
    """``classification`` or ``regression`` if the files are predictions; else nothing."""
    if options.qrels is None or options.table is not None:
        if options.task is not None:
            raise InputError("--task goes with files of predictions, and none was given")
        return ""
    if options.task is not None:
        return str(options.task)
    if "-" in {options.qrels, *options.runs}:
        return ""  # a pipe is read once
    from heldout.data.prediction_kind import told_task

    return told_task([options.qrels, *options.runs])


def read_predictions(
    task: str,
    files: list[str],
    options: argparse.Namespace,
    progress: Callable[[int, int], None] | None = None,
) -> list[Any]:
    """The predictions of all files, one object a system."""
    from heldout.data.prediction_files import read_class_predictions, read_number_predictions

    read: Callable[[str], list[Any]]
    if task == "regression":
        for name in ("positive", "threshold"):
            if getattr(options, name, None) is not None:
                raise InputError(f"--{name} is for classes, and these are numbers")
        read = read_number_predictions
    else:
        read = partial(
            read_class_predictions, positive=options.positive, threshold=options.threshold
        )
    found: list[Any] = []
    for done, path in enumerate(files, 1):
        found += read(path)
        if progress:
            progress(done, len(files))
    return found


def read_inputs(options: argparse.Namespace) -> list[Scores]:
    """The scores to work on, one object a measure."""
    if options.table is not None:
        return [_read_table(options)]
    if options.lower_is_better:
        raise InputError("--lower-is-better goes with --table: a measure knows its direction")
    if options.qrels is None or not options.runs:
        raise InputError("judgements and runs are missing (or --table FILE): see --help")
    return _evaluate(options)


def _read_table(options: argparse.Namespace) -> Scores:
    from heldout.data.scores import read_scores  # NumPy comes with it

    if options.qrels is not None:
        raise InputError("give either --table or judgements and runs, not both")
    names = options.measure or ["score"]
    if len(names) > 1:
        raise InputError(
            f"a table holds the scores of one measure, but -m names {len(names)} "
            f"({', '.join(names)}): give one -m and one table a measure"
        )
    return read_scores(options.table, names[0], higher_is_better=not options.lower_is_better)


def _evaluate(options: argparse.Namespace) -> list[Scores]:
    from dataclasses import replace

    from heldout.cli import split_paths  # the main module imports this one
    from heldout.data.files import read_qrels  # NumPy comes with it
    from heldout.measure.evaluate import evaluate
    from heldout.measure.names import parse_measures

    measures = parse_measures(options.measure or ["nDCG@10"])
    for measure in measures:
        _refuse_incomparable(measure)
    judgements = read_qrels(*split_paths(options.qrels))
    missing: Missing = "skip" if options.intersection else "zero"
    result = evaluate(judgements, options.runs, [*measures, "Judged@10"], missing=missing)
    kept = set(result.queries())
    dropped = tuple(query for query in result.runs[0].queries if query not in kept)
    return [replace(result.scores(measure), dropped=dropped) for measure in measures]


def _refuse_incomparable(measure: Measure) -> None:
    """Refuse, before anything is read, what says nothing about better or worse."""
    family = measure.definition
    if family.aggregate == "text":
        reason = "it is a text; leave it out"
    elif family.aggregate == "gmean":
        reason = "it has no mean over queries; take AP instead"
    elif measure.family == "Judged":
        reason = "judged is neither better nor worse; leave it out, a column shows it at 10 anyway"
    elif family.higher_is_better is None:
        reason = "a higher value is neither better nor worse; leave it out, heldout eval shows it"
    else:
        return
    raise MeasureError(f"-m {measure} cannot be compared: {reason}")

"""What ``compare`` and ``plan`` work on: judgements and runs, or a table of scores."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any

from heldout.errors import InputError, MeasureError

if TYPE_CHECKING:
    import argparse
    from collections.abc import Callable

    from heldout.data.scores import Scores
    from heldout.measure.ranking.evaluate import Missing
    from heldout.measure.ranking.names import RankingMeasure

__all__ = [
    "add_score_arguments",
    "add_table_columns",
    "add_undefined",
    "prediction_task",
    "read_inputs",
    "read_predictions",
]


def add_score_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the arguments that say where the scores come from."""
    add = parser.add_argument
    add("qrels", metavar="QRELS", nargs="?", help="judgements; several files joined by commas")
    add("runs", metavar="RUN", nargs="*", help="runs")
    add(
        "--table",
        metavar="FILE",
        help="scores instead of judgements and runs: CSV, TSV or Parquet, wide or long, also what "
        "heldout eval -q writes",
    )
    add_table_columns(parser)
    add("--lower-is-better", action="store_true", help="with --table: errors, times")
    add(
        "-m",
        "--measure",
        action="append",
        metavar="NAME",
        help="a measure (repeat; default nDCG@10); with --table which of its measures, or what to "
        "call the scores",
    )
    add(
        "--intersection",
        action="store_true",
        help="only the judged queries that all runs have (else a missing one counts 0); "
        "a table is always read so",
    )


def add_table_columns(parser: argparse.ArgumentParser) -> None:
    """Add the arguments that say which columns of a table of scores are what."""
    add = parser.add_argument
    add(
        "--system",
        action="append",
        metavar="NAME",
        help="of a table of scores: a system (repeat; default all)",
    )
    add("--unit", metavar="NAME", help="of a table of scores: the column of unit ids")


def add_undefined(parser: argparse.ArgumentParser) -> None:
    """Add the option that says what counts where a measure of a class does not exist."""
    parser.add_argument(
        "--undefined",
        type=int,
        choices=(0,),
        help="precision, recall and F of a class count 0 where they do not exist "
        "(zero_division=0 of scikit-learn)",
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
        for name in ("positive", "threshold", "undefined"):
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
    """The scores to work on, one object per measure."""
    if options.table is not None:
        return _read_table(options)
    for name, option in (("lower_is_better", "--lower-is-better"), ("system", "--system")):
        if getattr(options, name):
            raise InputError(f"{option} goes with --table")
    if options.unit is not None:
        raise InputError("--unit goes with --table")
    if options.qrels is None or not options.runs:
        raise InputError("judgements and runs are missing (or --table FILE): see --help")
    return _evaluate(options)


def _read_table(options: argparse.Namespace) -> list[Scores]:
    from heldout.data.io.score_table import read_score_table  # NumPy comes with it
    from heldout.data.scores import table_scores

    if options.qrels is not None:
        raise InputError("give either --table or judgements and runs, not both")
    table = read_score_table(options.table, systems=options.system, units=options.unit)
    names = options.measure or [None]
    if table.measures:
        names = _measures_of_table(options.table, table.measures, options.measure or [])
    elif len(names) > 1:
        raise InputError(
            f"{options.table} does not say what its scores measure, but -m names {len(names)} "
            f"measures ({', '.join(names)}): give one -m and one table per measure, or a table "
            "with a column measure"
        )
    higher = not options.lower_is_better
    return [table_scores(table, name, higher_is_better=higher) for name in names]


def _measures_of_table(path: str, there: list[str], wanted: list[str]) -> list[str]:
    """The measures to take from a table, as it spells them."""
    if not wanted and len(there) > 1:
        raise InputError(
            f"{path} has scores in {len(there)} measures: name one or more with -m "
            f"({', '.join(there)})"
        )
    found = [name for one in wanted for name in _spellings(one, there)] or there
    for name in found:
        if name not in there:
            raise InputError(f"{path} has no scores in {name}; it has {', '.join(there)}")
        for measure in _known_measures(name):
            _refuse_incomparable(measure)
    return list(dict.fromkeys(found))


def _spellings(wanted: str, there: list[str]) -> list[str]:
    """What a measure is called in a table: as it was written, or as heldout calls it."""
    if wanted in there:
        return [wanted]
    return [str(measure) for measure in _known_measures(wanted)] or [wanted]


def _known_measures(name: str) -> list[RankingMeasure]:
    """The measures of a name; none if it is the user's own."""
    from heldout.measure.parse import parse_measures

    try:
        return parse_measures([name], "ranking")
    except MeasureError:
        return []


def _evaluate(options: argparse.Namespace) -> list[Scores]:
    from heldout.cli.files import refuse_same_file, split_paths
    from heldout.data.files import read_qrels  # NumPy comes with it
    from heldout.infer.compared_inputs import evaluation_scores
    from heldout.measure.parse import parse_measures
    from heldout.measure.ranking.evaluate import evaluate_runs

    measures = parse_measures(options.measure or ["nDCG@10"], "ranking")
    for measure in measures:
        _refuse_incomparable(measure)
    refuse_same_file(options.runs)
    judgements = read_qrels(*split_paths(options.qrels))
    missing: Missing = "skip" if options.intersection else "zero"
    result = evaluate_runs(judgements, options.runs, [*measures, "Judged@10"], missing=missing)
    return [evaluation_scores(result, measure) for measure in measures]


def _refuse_incomparable(measure: RankingMeasure) -> None:
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

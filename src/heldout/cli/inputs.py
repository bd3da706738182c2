"""What commands are given: files and what they hold, measures, plans, and what to compare."""

from __future__ import annotations

import os
import sys
from contextlib import suppress
from typing import TYPE_CHECKING, Any, Final

from heldout.errors import InputError, MeasureError

if TYPE_CHECKING:
    import argparse
    from collections.abc import Iterator, Sequence

    from heldout.data.collection import Collection
    from heldout.data.scores import Scores
    from heldout.measure.evaluation import Evaluation

USAGE: Final = (
    "QRELS RUN [RUN ...]\nPREDICTIONS [PREDICTIONS ...]\n--references FILE TEXT [TEXT ...]"
)
FILES: Final = """\
Runs and judgements are TREC files, CSV or TSV with a header, JSON or Parquet, also compressed
(.gz .xz .bz2 .zst); - is standard input. Files of predictions (CSV, TSV, Parquet, JSON lines) are
recognised by their columns: unit, truth, and prediction or scores (prob_CLASS or score_CLASS for
each class; probability or score for the positive one of two); optional: system, fold, repeat,
group, weight. Texts have one segment per line, or are JSON lines.
"""
"""What the files of eval, compare and power are; part of their help."""


# Files


def split_paths(given: str) -> list[str]:
    """The files in a list with commas, unless there is a file of that very name."""
    return [given] if os.path.isfile(given) else given.split(",")


def refuse_same_file(paths: Sequence[str]) -> None:
    """Refuse a file that is given twice, also under another spelling of its path or as a link."""
    given: dict[str, str] = {}
    for path in paths:
        place = os.path.realpath(path)
        if place in given:
            raise InputError(f"{given[place]} and {path} are the same file: leave one out")
        given[place] = path


def judgements_and_runs(files: Sequence[str]) -> tuple[str, list[str]]:
    """The file of judgements and the runs, of which none is given twice."""
    if len(files) < 2:
        raise InputError(
            f"{files[0]}: expected judgements and at least one run (or predictions, or "
            "--references and texts): see --help"
        )
    qrels, *runs = files
    refuse_same_file(runs)
    return qrels, runs


def open_collection(options: argparse.Namespace, **reading: Any) -> Collection:
    """Read the collection that the options name."""
    from heldout.data.collection_files import read_collection  # NumPy comes with it

    qrels = None if options.qrels is None else split_paths(options.qrels)
    return read_collection(options.collection, queries=options.queries, qrels=qrels, **reading)


def import_numpy_without_threads() -> None:
    """Import NumPy for commands that multiply no matrices.

    Starting threads for it is a quarter of the time to import NumPy.
    """
    if "numpy" not in sys.modules and "OPENBLAS_NUM_THREADS" not in os.environ:
        os.environ["OPENBLAS_NUM_THREADS"] = "1"
        try:
            import numpy  # noqa: F401, ICN001
        finally:
            del os.environ["OPENBLAS_NUM_THREADS"]


# What eval, compare and power are about


def kind_of(given: argparse.Namespace) -> str:
    """What is given: scores, results, ranking, classification, regression or text."""
    files = given.files
    if hasattr(given, "scores"):
        if files:
            raise InputError("give either --scores or files, not both")
        return "results" if os.path.isdir(given.scores) else "scores"
    if hasattr(given, "task"):
        return str(given.task)
    if hasattr(given, "references"):
        return "text"
    if not files or "-" in files or not os.path.isfile(files[0]):
        return "ranking"  # a pipe can be read only once
    # Four fields with a grade are a judgement: what detects predictions is slow to import.
    with suppress(OSError), open(files[0], "rb") as file:  # noqa: PTH123
        fields = file.readline(4096).split()
        if len(fields) == 4 and fields[3].isdigit() and b"," not in b"".join(fields):
            return "ranking"
    from heldout.data.prediction_files import detect_task

    return detect_task(files) or "ranking"


def given_measures(names: Sequence[str] | None, task: str) -> list[Any]:
    """The measures of ``-m``, those of ``file.py:name`` loaded."""
    if not any(".py:" in name for name in names or ()):
        return list(names or ())
    from heldout.experiment.given import load_measure  # slow to import

    return [load_measure(name, task) if ".py:" in name else name for name in names or ()]


def read_predictions(kind: str, options: argparse.Namespace) -> list[Any]:
    """Return the predictions of all files, one object per system."""
    from heldout.data.prediction_files import as_predictions

    refuse_same_file(options.files)
    threshold = getattr(options, "threshold", None)  # of eval alone
    return as_predictions(None, options.files, kind, options.positive, threshold)


def systems_of(kind: str, options: argparse.Namespace) -> Iterator[tuple[Any, Any]]:
    """What holds the systems to compare, with each of the measures."""
    if kind == "results":
        from heldout.experiment.results.results import Results

        results = Results.read(options.scores, verify=not options.unverified)
        yield from ((results, measure) for measure in options.measure or results.measures)
    elif kind == "scores":
        yield from ((scores, None) for scores in _scores_in_table(options))
    elif kind == "ranking":
        yield from ((scores, None) for scores in _scores_of_runs(options))
    elif kind == "text":
        evaluation = evaluate_texts(options)
        yield from ((evaluation, measure) for measure in evaluation.measures)
    else:
        from heldout.infer.scored_inputs import PredictionSystems

        predictions = read_predictions(kind, options)
        systems = PredictionSystems.of(predictions, getattr(options, "baseline", None))
        measures = systems.measures(given_measures(options.measure, kind))
        yield from ((systems, measure) for measure in measures)


def _scores_of_runs(options: argparse.Namespace) -> Iterator[Scores]:
    if not options.files:
        raise InputError("no input: give judgements and runs, or --scores FILE (see --help)")
    from heldout.data.qrels import read_qrels  # NumPy comes with it
    from heldout.measure.names import parse_measures
    from heldout.measure.ranking.evaluate import evaluate_runs, needs_subtopics

    measures = parse_measures(given_measures(options.measure, "ranking") or "nDCG@10", "ranking")
    qrels, runs = judgements_and_runs(options.files)
    evaluation = evaluate_runs(
        read_qrels(*split_paths(qrels), subtopics=needs_subtopics(measures)),
        runs,
        measures,
        missing="skip" if options.intersection else "zero",
        machine=getattr(options, "machine", None),
        assume_random=getattr(options, "assume_random", False),
    )
    yield from map(evaluation.scores, measures)


def _scores_in_table(options: argparse.Namespace) -> Iterator[Scores]:
    from dataclasses import replace

    from heldout.data.score_tables import scored_units  # NumPy comes with it
    from heldout.data.scores import scores_in
    from heldout.measure.names import parse_measures
    from heldout.measure.ranking.evaluate import refuse_incomparable

    path, wanted = options.scores, list(dict.fromkeys(options.measure or [None]))
    tables = scored_units(path, units=options.unit)  # by measure; "" without such a column
    if len(wanted) > 1 and "" in tables:
        raise InputError(
            f"{path} has no column measure, but -m names {len(wanted)} measures: give one -m and "
            "one table per measure, or add that column"
        )
    for name in wanted:
        known = []
        with suppress(MeasureError):  # else a name of the user's
            known = parse_measures([name or next(iter(tables))], "ranking")
        for measure in known:
            refuse_incomparable(measure)
        usual = str(known[0]) if name and known and name not in tables else name
        yield replace(scores_in(tables, usual), higher_is_better=not options.lower_is_better)


def evaluate_texts(options: argparse.Namespace) -> Evaluation:
    """Measure texts, one system per file, against ``--references`` or those in the first file."""
    from heldout.cli.progress import progress_bar
    from heldout.data.files import file_stem
    from heldout.data.segments import read_own_references, read_references
    from heldout.measure.evaluate import evaluate
    from heldout.measure.names import parse_measures
    from heldout.measure.ranking.run_checks import distinct_names
    from heldout.measure.text.evaluate import DEFAULT_TEXT_MEASURES
    from heldout.measure.text.packages import needs_references

    files, references = options.files, None
    refuse_same_file(files)
    names = given_measures(options.measure, "text") or DEFAULT_TEXT_MEASURES
    measures = parse_measures(names, "text")
    if options.references:
        references = read_references(*options.references)
    elif any(map(needs_references, measures)):
        references = read_own_references(files[0])
    systems = dict(zip(distinct_names(list(map(file_stem, files)), files), files, strict=True))
    with progress_bar("counting", quiet=options.quiet) as progress:
        return evaluate(references, systems, measures, task="text", progress=progress)


# Plans

PLANS: Final = {
    "folds": ("kfold", "folds"),
    "hold_out": ("holdout", "test"),
    "leave_one_out": ("leave-one-out", None),
    "bootstrap": ("bootstrap", "replicates"),
    "folds_file": ("given", "folds"),
    "test_ids": ("test-set", "ids"),
    "later": ("chronological", "order"),
}
"""Options that name a plan: its kind, and the field that has their value."""
_WORDS: Final = ("near-duplicates", "duplicates", "none")  # groups that are no files


def plan_table(options: argparse.Namespace) -> dict[str, Any]:
    """The options of plans as the table ``[plan]`` of an experiment."""
    table: dict[str, Any] = {}
    for name in (*PLANS, "repeats", "validation", "stratify", "groups"):
        value = getattr(options, name, None)
        if value is None or value is False:
            continue
        kind, field = PLANS.get(name, (None, name))
        table |= {"kind": kind} if kind else {}
        may_be_file = name in {"later", "groups"} and value not in _WORDS
        is_file = may_be_file and os.path.isfile(value)
        if field is not None:
            is_table = is_file or name in {"folds_file", "test_ids"}
            table[field] = {"file": value} if is_table else value
    return table


def of_both(plan: dict[str, Any]) -> dict[str, Any]:
    """The plans of queries and of documents; only documents have near-duplicates."""
    if isinstance(plan.get("groups"), dict):
        raise InputError("--groups FILE names one kind of unit: give --by query or document")
    if plan.get("kind") in {"bootstrap", "given", "test-set", "chronological"}:
        raise InputError("--by both needs --folds, --hold-out or --leave-one-out")
    near = plan.get("groups") == "near-duplicates"
    queries = {name: value for name, value in plan.items() if name != "groups" or not near}
    return {"queries": queries, "documents": plan}

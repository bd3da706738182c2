"""The command ``eval``: arguments to library calls."""

from __future__ import annotations

import argparse
import sys
from typing import TYPE_CHECKING, Any, Final

from heldout.cli.files import emit, refuse_same_file, split_paths
from heldout.cli.old_help import group
from heldout.cli.old_inputs import (
    FILES,
    USAGE,
    add_prediction_options,
    add_text_options,
    given_task,
    judgements_and_runs,
    refuse_given,
)
from heldout.cli.measures import by_subtopic, given_measures
from heldout.cli.old_options import (
    add_level,
    add_machine,
    add_measures,
    add_quiet,
    add_seed,
    machine_given,
    positive,
)
from heldout.cli.old_output import TABLE_FORMATS, add_output, output_format
from heldout.cli.quick_start import import_numpy_without_threads
from heldout.errors import InputError

if TYPE_CHECKING:
    from collections.abc import Callable

    from heldout.data.qrels import Qrels
    from heldout.measure.evaluation import Evaluation

__all__ = ["add_eval"]

_EXAMPLES = """\
  heldout eval qrels.txt bm25.run
  heldout eval qrels.txt bm25.run dense.run.gz -m nDCG@10 -m "P(rel=2)@5"
  heldout eval qrels.txt runs/*.run --format md
  heldout eval qrels.txt bm25.run -q -o values.csv
  zcat bm25.run.gz | heldout eval qrels.txt -
  heldout eval -f trec -m all_trec -q qrels.txt bm25.run    what trec_eval prints
  heldout eval human.qrels bm25.run --machine llm.qrels     few human, many machine judgements
  heldout eval qrels.txt bm25.run -m my.py:FirstGrade       a measure of your own
  heldout eval knn.csv logistic.csv --per-class             predicted classes
  heldout eval spam.jsonl --positive spam --hull
  heldout eval old.csv new.csv -m RMSE -m MAE               predicted numbers
  heldout eval -r references.txt a.txt b.txt -m BLEU        texts
"""

_NOTES = f"""\
{FILES}
Measures are named as in ir_measures, ranx, trec_eval, scikit-learn or sacrebleu; heldout list
measures has them. -m file.py:name uses a function or Measure of yours.
"""

FORMATS = (*TABLE_FORMATS, "parquet", "trec")

_OF_RUNS: Final = {
    "per_unit": False,
    "no_summary": False,
    "rel": 1,
    "docs": 0,
    "judged_only": False,
    "depth": None,
    "complete": False,
    "intersection": False,
    "ties": "docid-desc",
    "machine": None,
    "assume_random": False,
}
_OF_PREDICTIONS: Final = {"positive": None}
_OF_CLASSES: Final = {"threshold": None, "per_class": False, "confusion": False, "hull": False}


def add_eval(command: Callable[..., argparse.ArgumentParser], commands: Any) -> None:
    """Add the command ``eval``."""
    parser = command(
        commands,
        "eval",
        "Measure runs, predictions or texts.",
        _EXAMPLES,
        notes=_NOTES,
        usage=USAGE,
    )
    add = parser.add_argument
    add("files", metavar="FILE", nargs="+", help="judgements and runs, predictions, or texts")
    add_measures(parser)
    add("-q", "--per-unit", action="store_true", help="print the value of every query")
    add("-n", "--no-summary", action="store_true", help="with -q: print no means")
    add(
        "-l",
        "--rel",
        type=_grade,
        default=1,
        metavar="GRADE",
        help="lowest grade that counts as relevant (default: 1)",
    )
    add("-J", "--judged-only", action="store_true", help="ignore documents without a judgement")
    add("-M", "--depth", type=positive, metavar="N", help="use the first N documents per query")
    add("-N", "--docs", type=int, default=0, metavar="N", help="documents in all (for utility)")
    missing = parser.add_mutually_exclusive_group()
    missing.add_argument(
        "-c",
        "--complete",
        action="store_true",
        help="count judged queries missing from a run as 0 (default, except with --format trec, "
        "which leaves them out as trec_eval does)",
    )
    missing.add_argument(
        "--intersection",
        action="store_true",
        help="average over the judged queries that all runs have",
    )
    add(
        "--ties",
        choices=("docid-desc", "docid-asc", "input"),
        default="docid-desc",
        help="order of documents with equal scores (default: docid-desc, as trec_eval)",
    )
    _add_predictions(parser)
    add_text_options(parser)
    add_machine(parser)
    add_level(parser)
    add_output(parser, FORMATS, auto="table on a terminal, tsv elsewhere")
    add_quiet(parser)
    add_seed(parser)
    parser.set_defaults(run=_eval)


def _add_predictions(parser: argparse.ArgumentParser) -> None:
    add_prediction_options(parser)
    add = group(parser, "predictions").add_argument
    add(
        "--threshold",
        type=float,
        metavar="X",
        help="predict the positive class from this score on",
    )
    add("--per-class", action="store_true", help="precision, recall, … of each class")
    add("--confusion", action="store_true", help="confusion matrices")
    add("--hull", action="store_true", help="ROC convex hull of all systems (two classes)")


def _grade(text: str) -> int:
    if not text.isdecimal():
        raise argparse.ArgumentTypeError(f"{text!r} is not a grade (0 or a positive integer)")
    return int(text)


def _eval(options: argparse.Namespace) -> int:
    task = given_task(options)
    terminal = options.output is None and sys.stdout.isatty()
    default = "table" if terminal else "tsv"
    if task == "ranking":
        options.format = output_format(options.format, options.output, FORMATS, default)
        return _eval_runs(options)
    from heldout.infer.results import check_level

    check_level(options.level)
    refuse_given(options, _OF_RUNS, "runs")
    formats = TABLE_FORMATS
    if options.format not in formats:
        raise InputError(f"--format {options.format} is for runs")
    options.format = output_format(options.format, options.output, formats, default)
    if task == "text":
        from heldout.cli.eval_text import eval_text

        refuse_given(options, _OF_PREDICTIONS | _OF_CLASSES, "predictions")
        return eval_text(options)
    from heldout.cli.eval_predictions import eval_predictions

    if task == "regression":
        refuse_given(options, _OF_CLASSES, "classes, and these are numbers")
    return eval_predictions(task, options)


def _eval_runs(options: argparse.Namespace) -> int:
    if not any(":" in name for name in options.measure or []):  # else code of the user's
        import_numpy_without_threads()
    from heldout.data.qrels import read_qrels

    refuse_given(options, _OF_PREDICTIONS | _OF_CLASSES, "predictions (add --task)")
    if options.no_summary and not options.per_unit:
        raise InputError("--no-summary goes with --per-unit (-q)")
    options.qrels, options.runs = judgements_and_runs(options)
    refuse_same_file(options.runs)
    subtopics = options.format != "trec" and by_subtopic(options.measure)
    judgements = read_qrels(*split_paths(options.qrels), subtopics=subtopics)
    if options.machine is not None:
        _refuse_beside_machine(options)
        _show_estimates(_evaluate(judgements, options), options)
    elif options.format == "trec":
        emit(_trec(judgements, options), options.output)
    else:
        _show(_evaluate(judgements, options), options)
    return 0


def _refuse_beside_machine(options: argparse.Namespace) -> None:
    """Refuse what is about single queries: combined estimates are means."""
    from heldout.infer.results import check_level

    check_level(options.level)
    if options.format in {"trec", "parquet"}:
        raise InputError(f"--format {options.format} does not go with --machine")
    if options.per_unit:
        raise InputError("--per-unit does not go with --machine")


def _note(sentence: str) -> None:
    sys.stderr.write(sentence + "\n")


def _trec(judgements: Qrels, options: argparse.Namespace) -> str:
    from heldout.data.run import read_run
    from heldout.measure.ranking.trec_names import trec_lines
    from heldout.report.trec import trec_output

    if options.intersection:
        raise InputError(
            "--format trec averages over the queries of the run: leave --intersection out"
        )
    lines = trec_lines(options.measure or [], options.rel, options.docs)
    return "".join(
        line
        for path in options.runs
        for line in trec_output(
            judgements,
            read_run(path, ties=options.ties),
            lines,
            per_query=options.per_unit,
            complete=options.complete,
            summary=not options.no_summary,
            judged_only=options.judged_only,
            depth=options.depth,
        )
    )


def _evaluate(judgements: Qrels, options: argparse.Namespace) -> Evaluation:
    from heldout.measure.ranking.evaluate import DEFAULT_MEASURES, evaluate_runs

    settings = {
        "missing": "skip" if options.intersection else "zero",
        "depth": options.depth,
        "rel": options.rel,
        "judged_only": options.judged_only,
        **machine_given(options),
        "ties": options.ties,
    }
    usual = DEFAULT_MEASURES if options.machine is None else DEFAULT_MEASURES[:3]
    wanted = given_measures(options.measure, "ranking") or usual
    if len(options.runs) < 2:
        return evaluate_runs(judgements, options.runs, wanted, **settings)
    from heldout.cli.progress import progress_bar

    with progress_bar("runs", quiet=options.quiet) as progress:
        return evaluate_runs(judgements, options.runs, wanted, progress=progress, **settings)


def _show_estimates(result: Evaluation, options: argparse.Namespace) -> None:
    """Show human-only, machine-only and combined estimates."""
    from heldout.report.machine import estimates_json, estimates_notes, estimates_text
    from heldout.report.tables import note_lines

    kind, level = options.format, options.level
    if kind == "json":
        emit(estimates_json(result, level), options.output)
        return
    terminal = options.output is None and sys.stdout.isatty()
    emit(estimates_text(result, kind, level=level, terminal=terminal), options.output)
    if not options.quiet and kind in {"tsv", "csv", "table"}:
        _note("\n".join(note_lines(estimates_notes(result))) or "no warnings")


def _show(result: Evaluation, options: argparse.Namespace) -> None:
    from heldout.report.evaluation import evaluation_json, evaluation_text, policy_lines

    kind = options.format
    rows: dict[str, Any] = {"per_query": options.per_unit, "summary": not options.no_summary}
    if kind == "parquet":
        _write_parquet(result, options.output)
    elif kind == "json":
        emit(evaluation_json(result, **rows), options.output)
    else:
        terminal = options.output is None and sys.stdout.isatty()
        # Per-query values are read by other programs, such as heldout compare.
        digits = None if options.per_unit and kind in {"tsv", "csv"} else 4
        text = evaluation_text(result, kind, digits=digits, terminal=terminal, **rows)
        emit(text, options.output)
    if not options.quiet and kind in {"tsv", "csv", "table", "parquet"}:
        _note("\n".join(policy_lines(result)))


def _write_parquet(result: Evaluation, output: str) -> None:
    from heldout.data.atomic import write_atomically

    with write_atomically(output) as aside:
        result.to_frame().write_parquet(aside)

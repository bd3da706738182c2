"""The command ``score``: arguments to library calls."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Any

from heldout.cli.claims import add_claim_arguments, add_gate_and_ledger, check_claims
from heldout.cli.files import refuse_same_file
from heldout.cli.output import TABLE_FORMATS, add_output, output_format
from heldout.cli.scores import add_undefined
from heldout.errors import InputError
from heldout.infer.levels import check_level

if TYPE_CHECKING:
    import argparse
    from collections.abc import Callable

__all__ = ["add_score"]

_EXAMPLES = """\
  heldout score classification predictions.csv
  heldout score classification knn.csv logistic.csv --compare
  heldout score classification scores.jsonl --positive spam --hull --fp-rate 0.1
  heldout score regression old.csv new.csv -m RMSE -m MAE --compare
  heldout score text -r references.txt system-a.txt system-b.txt --compare
"""
_CLASS_EXAMPLES = """\
  heldout score classification predictions.csv --per-class
  heldout score classification knn.csv logistic.csv --compare
  heldout score classification folds.csv -m "F1(macro)" --compare
  heldout score classification spam.jsonl --positive spam --hull --fp-rate 0.1
  heldout score classification spam.jsonl --curve roc > points.tsv

Columns: unit, truth, and prediction or scores (prob_CLASS or score_CLASS for each class;
probability or score of the positive one of two); perhaps system, fold, repeat, group, weight.

measures (-m): accuracy, error, balanced-accuracy, precision, recall, F1, F, specificity,
FP-rate, MCC, kappa, log-loss, Brier, ECE, AUC, average-precision; with settings such as
F1(macro), F(beta=2, class=spam), AUC(ovo), ECE(bins=15, equal-count).
"""
_NUMBER_EXAMPLES = """\
  heldout score regression predictions.csv
  heldout score regression old.csv new.csv -m MAE --compare

Columns: unit, truth, prediction; perhaps system, fold, repeat, group, weight.
measures (-m): RMSE, MSE, MAE, median-AE, MAPE, sMAPE, R2.
"""
_TEXT_EXAMPLES = """\
  heldout score text -r references.txt a.txt b.txt --compare
  heldout score text answers.jsonl -m BLEU -m chrF

measures (-m): BLEU, sentBLEU, chrF, chrF++, TER, ROUGE-1, ROUGE-2, ROUGE-L, ROUGE-Lsum,
METEOR, ExactMatch, TokenF1, Perplexity, Embedding.
"""


def add_score(command: Callable[..., argparse.ArgumentParser], commands: Any) -> None:
    """Add the command ``score``."""
    parser = command(
        commands,
        "score",
        "Score predictions: classes, numbers, texts.",
        _EXAMPLES,
    )
    tasks = parser.add_subparsers(title="tasks", metavar="TASK", required=True)
    _add_classification(command, tasks)
    _add_regression(command, tasks)
    _add_text(command, tasks)


def _add_classification(command: Callable[..., argparse.ArgumentParser], tasks: Any) -> None:
    parser = command(
        tasks, "classification", "Score predicted classes, beside baselines.", _CLASS_EXAMPLES
    )
    add = parser.add_argument
    _add_files(parser)
    add("--positive", metavar="CLASS", help="the positive one of two classes (default the last)")
    add(
        "--threshold",
        type=float,
        metavar="X",
        help="a unit is positive from this score on; replaces predictions",
    )
    add_undefined(parser)
    add("--per-class", action="store_true", help="precision, recall, … of each class")
    add("--beta", type=float, default=1.0, help="of F in --per-class (default 1)")
    add("--confusion", action="store_true", help="the confusion matrices")
    add("--calibration", action="store_true", help="the bins of the calibration error")
    add("--hull", action="store_true", help="the ROC convex hull of all systems; two classes")
    add("--curve", choices=("roc", "pr"), help="the points of the curves, and nothing else")
    add("--fp-rate", type=float, metavar="X", help="with --hull: which mixture reaches this rate")
    _add_comparing(parser)
    parser.set_defaults(run=_score, task="classification")


def _add_regression(command: Callable[..., argparse.ArgumentParser], tasks: Any) -> None:
    parser = command(
        tasks, "regression", "Score predicted numbers, beside their mean.", _NUMBER_EXAMPLES
    )
    _add_files(parser)
    _add_comparing(parser)
    parser.set_defaults(run=_score, task="regression")


def _add_text(command: Callable[..., argparse.ArgumentParser], tasks: Any) -> None:
    parser = command(tasks, "text", "Score texts against references.", _TEXT_EXAMPLES)
    add = parser.add_argument
    _add_files(parser, "texts of a system: a line each, or JSON lines")
    add("-r", "--references", action="append", metavar="FILE", help="references (repeat)")
    add("--compare", action="store_true", help="compare with the first file, or --baseline")
    _add_claims_and_format(parser)
    parser.set_defaults(run=_text, task="text", by_fold=False, by_unit=False)


def _add_files(
    parser: argparse.ArgumentParser, what: str = "CSV, TSV, Parquet or JSON lines; - is stdin"
) -> None:
    add = parser.add_argument
    add("files", metavar="FILE", nargs="+", help=what)
    add("-m", "--measure", action="append", metavar="NAME", help="a measure, see below (repeat)")


def _add_comparing(parser: argparse.ArgumentParser) -> None:
    add = parser.add_argument
    add("--compare", action="store_true", help="say which system is better, and how sure that is")
    add("--by-fold", action="store_true", help="with --compare: over folds (the default for them)")
    add("--by-unit", action="store_true", help="with --compare: over units though there are folds")
    _add_claims_and_format(parser)


def _add_claims_and_format(parser: argparse.ArgumentParser) -> None:
    add = parser.add_argument
    add_claim_arguments(parser)
    add_gate_and_ledger(parser)
    add_output(parser, auto="auto is a table on a terminal and TSV elsewhere")
    add("--quiet", action="store_true", help="only the result and the gate's verdict, no notes")


def _text(options: argparse.Namespace) -> int:
    from heldout.cli.score_text import score_text

    _check(options)
    return score_text(options)


def _score(options: argparse.Namespace) -> int:
    from heldout.cli.score_predictions import score_files

    _check(options)
    return score_files(options)


def _check(options: argparse.Namespace) -> None:
    """Refuse what can be refused before any file is read."""
    refuse_same_file(options.files)
    if options.compare:
        check_claims(options)
    else:
        _refuse_without_compare(options)
    if options.by_fold and options.by_unit:
        raise InputError("--by-fold or --by-unit, not both")
    check_level(options.level, name="--level ")
    if options.task == "classification":
        _check_classification(options)
    terminal = options.output is None and sys.stdout.isatty()
    default = "table" if terminal else "tsv"
    options.format = output_format(options.format, options.output, TABLE_FORMATS, default)


def _refuse_without_compare(options: argparse.Namespace) -> None:
    """A gate that was asked for and never asked would be a trap."""
    for name in ("by_fold", "by_unit", "gate", "margin", "baseline", "test", "correction", "data"):
        if getattr(options, name):
            raise InputError(f"--{name.replace('_', '-')} goes with --compare")


def _check_classification(options: argparse.Namespace) -> None:
    if options.curve and (options.compare or options.hull):
        raise InputError("--curve prints points and nothing else: leave --compare and --hull out")
    if options.fp_rate is not None and not options.hull:
        raise InputError("--fp-rate goes with --hull")
    if options.fp_rate is not None and not 0 <= options.fp_rate <= 1:
        raise InputError(f"--fp-rate {options.fp_rate:g}: expected a share, from 0 to 1")
    if not 0 < options.beta < float("inf"):
        raise InputError(f"--beta {options.beta:g}: expected a number above 0")

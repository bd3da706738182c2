"""The command ``compare``: arguments to library calls."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from heldout.cli.compare_result import (
    add_claim_arguments,
    add_gate_and_ledger,
    check_claims,
    compare_as_asked,
    compare_measures,
    compare_results,
    notes_in_options,
    present,
)
from heldout.cli.old_help import group
from heldout.cli.old_inputs import (
    FILES,
    USAGE,
    add_prediction_options,
    add_text_options,
    given_task,
    read_predictions,
    refuse_given,
)
from heldout.cli.measures import given_measures
from heldout.cli.old_options import add_detail, add_machine, add_quiet
from heldout.cli.old_output import TABLE_FORMATS, add_output, output_format
from heldout.cli.progress import progress_bar
from heldout.cli.scores import OF_MACHINES, add_score_arguments, given_results, read_inputs
from heldout.errors import InputError

if TYPE_CHECKING:
    import argparse
    from collections.abc import Callable, Mapping, Sequence

    from heldout.infer.comparison import Comparison

__all__ = ["CORRECTION_WORDS", "TEST_WORDS", "add_compare"]

FORMATS: Final = (*TABLE_FORMATS, "parquet", "junit")

TEST_WORDS: Final = {
    "randomization": "Fisher's randomization test of the means (default); also fisher, permutation",
    "t": "paired t test of the means (shown beside it by default); also student",
    "bootstrap-shift": "bootstrap test of the means, for 100 units or more; also bootstrap",
    "wilcoxon": "Wilcoxon signed-rank test",
    "sign": "sign test of wins against losses",
    "mcnemar": "McNemar's test for scores of 0 and 1 (default for them)",
    "corrected-t": "t test for folds that share training data; needs --test-share",
    "retuned-t": "t test that includes tuning in folds (default of heldout run)",
    "prediction-powered": "t test of human and machine judgements together (with --machine)",
}
CORRECTION_WORDS: Final = {
    "romano-wolf": "stepwise bootstrap of studentized differences (default)",
    "tukey": "all pairs, studentized range; assumes that all differences vary alike",
    "holm": "any test: stepwise Bonferroni (default with --test)",
    "bonferroni": "any test: times the number of comparisons",
    "bh": "any test: false discovery rate (Benjamini-Hochberg)",
}

_EXAMPLES = """\
  heldout compare qrels.txt old.run new.run
  heldout compare qrels.txt bm25.run dense.run hybrid.run -m nDCG@10 -m AP
  heldout compare qrels.txt runs/*.run --baseline bm25 --correction holm
  heldout compare --scores scores.csv --test randomization --test t
  heldout compare --scores results/                        of heldout run -o results
  heldout compare --scores folds.csv --test-share 0.1111
  heldout compare qrels.txt old.run new.run --gate better
  heldout compare qrels.txt old.run new.run --gate non-inferior --margin 0.01 -o gate.xml
  heldout compare qrels.txt old.run new.run -o report.html
  heldout compare human.qrels old.run new.run --machine llm.qrels
  heldout compare --scores scores.csv --ledger looks.jsonl --data "test questions 2024"
  heldout compare knn.csv logistic.csv -m accuracy -m "F1(macro)"
  heldout compare -r references.txt a.txt b.txt -m BLEU -m chrF
"""

_NOTES = f"""\
Of two systems the first is the baseline; of three or more all pairs are compared, unless
--baseline names one; of texts the first file is the baseline. A table is wide (unit,A,B,...) or
long (system,unit,value).

{FILES}"""


def _listed(title: str, words: Mapping[str, str]) -> str:
    width = max(map(len, words)) + 2
    lines = [f"  {name:<{width}}{meaning}\n" for name, meaning in words.items()]
    return f"\n{title}:\n" + "".join(lines)


def add_compare(command: Callable[..., argparse.ArgumentParser], commands: Any) -> None:
    """Add the command ``compare``."""
    parser = command(
        commands,
        "compare",
        "Test which systems are better, and by how much.",
        _EXAMPLES,
        notes=_NOTES
        + _listed("tests (--test)", TEST_WORDS)
        + _listed("corrections for several comparisons (--correction)", CORRECTION_WORDS),
        usage=f"{USAGE}\n--scores FILE",
    )
    add_claim_arguments(parser)
    add_gate_and_ledger(parser)
    add_score_arguments(parser, "judgements and runs, predictions, or texts")
    add_machine(parser)
    add_prediction_options(parser)
    group(parser, "predictions").add_argument(
        "--by-unit", action="store_true", help="compare over units even if there are folds"
    )
    add_text_options(parser)
    group(parser, "analysis").add_argument(
        "--test-share",
        type=float,
        metavar="X",
        help="units are folds: n_test / n_train, 0.1111 for 10 folds (known for predictions)",
    )
    add_output(parser, FORMATS, auto="table")
    add_detail(parser)
    add_quiet(parser, "print the result and the verdict of the gate only, no notes")
    group(parser, "output").add_argument(
        "--collection", metavar="NAME", help="with an HTML report: collection with the texts"
    )
    parser.set_defaults(run=_compare)


def _compare(options: argparse.Namespace) -> int:
    check_claims(options)
    options.format = output_format(options.format, options.output, FORMATS, "table")
    if options.format == "junit" and not options.gate:
        raise InputError("JUnit XML holds the verdicts of a gate: add --gate")
    _check_page(options)
    options.task = _task(options)
    signatures: list[str] = []
    several = [notes_in_options(one, options) for one in _comparisons(options, signatures)]
    nameless = ""
    if options.scores is not None:
        nameless = (
            "ledger: a table identifies its data only by the ids of its units, which other data "
            "may share: name the data with --data"
        )
    code = present(
        several,
        options,
        signatures=signatures,
        nameless=nameless,
        shown=options.format != "html",
    )
    if options.format == "html":
        from heldout.cli.compare_page import write_comparison

        write_comparison(several, options)
    return code


def _task(options: argparse.Namespace) -> str:
    if options.scores is None:
        return given_task(options)
    refuse_given(options, {"task": None, "references": None}, "files, not for --scores")
    return "ranking"


def _comparisons(options: argparse.Namespace, signatures: list[str]) -> list[Comparison]:
    """Compare what the options name; texts add the signatures of their measures."""
    if options.task == "ranking":
        return _scores(options)
    if options.scores is None and not options.files:
        raise InputError("no input: give files, or --scores FILE (see --help)")
    if options.test_share is not None:
        raise InputError("--test-share: predictions with a column fold or repeat know their own")
    misfits = {"lower_is_better": False, "intersection": False, "unit": None}
    refuse_given(options, misfits | OF_MACHINES, "runs and tables of scores")
    return _texts(options, signatures) if options.task == "text" else _predictions(options)


def _check_page(options: argparse.Namespace) -> None:
    if options.format == "html":
        if options.output is None:
            raise InputError("an HTML report needs a file: name it with -o FILE")
        from heldout.cli.report import check_page

        check_page(options.output)
    elif options.collection is not None:
        raise InputError("--collection goes with an HTML report (-o FILE.html)")


_OF_PREDICTIONS: Final = {"positive": None, "by_unit": False}


def _scores(options: argparse.Namespace) -> list[Comparison]:
    from heldout.infer.comparison import note_measures

    refuse_given(options, _OF_PREDICTIONS, "predictions (add --task)")
    results = None if options.files else given_results(options)
    if results is not None:
        _check_gate(options, results.systems)
        measures = options.measure or results.measures
        with progress_bar("pairs", quiet=options.quiet) as progress:
            found = [compare_results(results, one, options, progress) for one in measures]
        return note_measures(found)
    inputs = read_inputs(options)
    _check_gate(options, inputs[0].systems)
    share = options.test_share
    with progress_bar("pairs", quiet=options.quiet) as progress:
        found = [
            compare_as_asked(scores, None, options, test_share=share, progress=progress)
            for scores in inputs
        ]
    return note_measures(found)


def _check_gate(options: argparse.Namespace, systems: Sequence[str]) -> None:
    if options.gate and options.baseline is None and len(systems) > 2:
        raise InputError("a gate needs a baseline: name it with --baseline")


def _predictions(options: argparse.Namespace) -> list[Comparison]:
    from heldout.infer.scored_inputs import PredictionSystems

    with progress_bar("reading", quiet=options.quiet) as progress:
        several = read_predictions(options.task, options, progress)
    _check_gate(options, [one.name for one in several])
    systems = PredictionSystems.of(several, options.baseline)
    given = given_measures(options.measure, options.task)
    return compare_measures(
        systems,
        systems.measures(given),
        options,
        positive=options.positive,
        by="unit" if options.by_unit else "auto",
    )


def _texts(options: argparse.Namespace, signatures: list[str]) -> list[Comparison]:
    from heldout.cli.eval_text import evaluate_texts

    refuse_given(options, _OF_PREDICTIONS, "predictions")
    if len(options.files) < 2:
        raise InputError("one file: there is nothing to compare it with")
    evaluation = evaluate_texts(options)
    options.baseline = options.baseline or evaluation.names[0]
    signatures += evaluation.about
    return compare_measures(evaluation, evaluation.measures, options)

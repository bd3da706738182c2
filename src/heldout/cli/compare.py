"""The command ``compare``: arguments to library calls."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from heldout.cli.claims import (
    add_claim_arguments,
    add_gate_and_ledger,
    check_claims,
    compare_as_asked,
    compare_measures,
    present,
)
from heldout.cli.output import TABLE_FORMATS, add_output, output_format
from heldout.cli.progress import progress_bar
from heldout.cli.scores import add_score_arguments, add_undefined, prediction_task, read_inputs
from heldout.errors import InputError

if TYPE_CHECKING:
    import argparse
    from collections.abc import Callable, Mapping, Sequence

    from heldout.infer.compare import Comparison

__all__ = ["CORRECTION_WORDS", "TEST_WORDS", "add_compare"]

FORMATS: Final = (*TABLE_FORMATS, "parquet")

TEST_WORDS: Final = {
    "randomization": "Fisher's test of the means by flipping signs; the default",
    "t": "paired t test of the means; beside it by default",
    "bootstrap-shift": "test of the means by resampling; for 100 units and more",
    "bootstrap-shift-studentized": "the same with t for its statistic",
    "wilcoxon": "signed ranks: are the differences symmetric about 0?",
    "sign": "wins against losses, whatever their size",
    "mcnemar": "the same for scores of 0 and 1; the default for them",
    "corrected-t": "t test for folds that share training data; with --test-share",
    "retuned-t": "t test that includes tuning in folds; the default of heldout run and tune",
}
CORRECTION_WORDS: Final = {
    "romano-wolf": "stepwise bootstrap of studentized differences; the default",
    "tukey": "all pairs, by the studentized range; takes all differences to vary alike",
    "randomized-tukey": "all pairs, by permutation",
    "nemenyi": "all pairs, of mean ranks",
    "maxt": "by permutation, stepwise",
    "dunnett": "against --baseline, by permutation",
    "dunnett-t": "against --baseline, by Dunnett's t",
    "holm": "any test: stepwise Bonferroni; the default with --test",
    "hochberg": "any test: a little stronger than holm, for tests that depend positively",
    "hommel": "any test: a little stronger than hochberg, for the same tests",
    "bonferroni": "any test: times the number of comparisons",
    "bh": "any test: the share of false alarms among those found (Benjamini-Hochberg)",
    "by": "the same however the tests depend on each other (Benjamini-Yekutieli)",
}

_EXAMPLES = """\
  heldout compare qrels.txt old.run new.run
  heldout compare qrels.txt bm25.run dense.run hybrid.run -m nDCG@10 -m AP
  heldout compare qrels.txt runs/*.run --baseline bm25 --correction holm
  heldout compare --table scores.csv --test randomization --test t
  heldout compare --table folds.csv --test-share 0.1111
  heldout compare --table two-sets.csv --unpaired
  heldout compare qrels.txt old.run new.run --gate non-inferior --margin 0.01
  heldout compare qrels.txt old.run new.run --html report.html
  heldout compare --table scores.csv --ledger looks.sqlite --data "test questions 2024"
  heldout compare knn.csv logistic.csv -m accuracy -m "F1(macro)"    predictions

Of two systems the first is the baseline; of three or more all pairs are compared, unless
--baseline names one. A table is wide (unit,A,B,...) or long (system,unit,value).
Files of predictions (CSV, TSV, Parquet, JSON lines with unit, truth, prediction or scores) are
told by their columns, or by --task; heldout score TASK FILE... --compare shows scores beside it.
"""


def _listed(title: str, words: Mapping[str, str]) -> str:
    width = max(map(len, words)) + 2
    lines = [f"  {name:<{width}}{meaning}\n" for name, meaning in words.items()]
    return f"\n{title}:\n" + "".join(lines)


def add_compare(command: Callable[..., argparse.ArgumentParser], commands: Any) -> None:
    """Add the command ``compare``."""
    parser = command(
        commands,
        "compare",
        "Say which systems are better, and how sure that is.",
        _EXAMPLES
        + _listed("tests (--test)", TEST_WORDS)
        + _listed("corrections for several comparisons (--correction)", CORRECTION_WORDS),
    )
    add = parser.add_argument
    add_score_arguments(parser)
    add("--task", choices=("classification", "regression"), help="the files are predictions of it")
    add("--positive", metavar="CLASS", help="of predictions: the positive one of two classes")
    add(
        "--threshold",
        type=float,
        metavar="X",
        help="of predictions: a unit is positive from this score on",
    )
    add_undefined(parser)
    add("--by-unit", action="store_true", help="of predictions: over units though there are folds")
    add_claim_arguments(parser)
    add(
        "--test-share",
        type=float,
        metavar="X",
        help="units are folds: n_test / n_train, for 10 folds 0.1111 (predictions know theirs)",
    )
    add(
        "--unpaired",
        action="store_true",
        help="with --table: the systems were scored on different units (Welch and permutation)",
    )
    add_gate_and_ledger(parser)
    add_output(parser, FORMATS, auto="auto is a table, csv a row per pair of systems")
    add("--quiet", action="store_true", help="only the result and the gate's verdict, no notes")
    add("--html", metavar="FILE", help="also make a page of it, to be shown (see heldout report)")
    add("--collection", metavar="NAME", help="with --html: what was searched, for its texts")
    parser.set_defaults(run=_compare)


def _compare(options: argparse.Namespace) -> int:
    check_claims(options)
    if options.unpaired:
        from heldout.cli.compare_unpaired import compare_unpaired_table

        return compare_unpaired_table(options)
    options.format = output_format(options.format, options.output, FORMATS, "table")
    pages = _pages(options)
    if options.gate:
        from heldout.report.gate import gate_test

        gate_test(options.test or (), options.test_share)
    task = prediction_task(options)
    several = _predictions(task, options) if task else _scores(options)
    nameless = ""
    if options.table is not None:
        nameless = (
            "ledger: a table says nothing about its data but the ids of the units, and other data "
            "may have the same ones: name the data with --data"
        )
    code = present(several, options, nameless=nameless, shown=options.format != "html")
    if pages:
        from heldout.cli.compare_page import write_comparison

        write_comparison(several, options, pages)
    return code


def _pages(options: argparse.Namespace) -> list[str]:
    """The pages to write, beside the result (``--html``) or as the result (``-o page.html``)."""
    wanted = [options.html]
    if options.format == "html":
        if options.output is None:
            raise InputError("a page is written to a file: say where with -o FILE")
        wanted.append(options.output)
    pages = [page for page in dict.fromkeys(wanted) if page is not None]
    if options.collection is not None and not pages:
        raise InputError("--collection goes with --html")
    if pages:
        from heldout.cli.report import check_page

        for page in pages:
            check_page(page)
    return pages


def _scores(options: argparse.Namespace) -> list[Comparison]:
    from heldout.infer.compare import note_measures

    for name in ("positive", "threshold", "by_unit", "undefined"):
        given = getattr(options, name)
        if given is not None and given is not False:  # 0 is given
            raise InputError(f"--{name.replace('_', '-')} is for predictions: add --task")
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


def _predictions(task: str, options: argparse.Namespace) -> list[Comparison]:
    from heldout.cli.files import refuse_same_file
    from heldout.cli.scores import read_predictions
    from heldout.infer.scoring.predictions import PredictionSystems

    if options.test_share is not None:
        raise InputError("--test-share: predictions with a column fold or repeat know their own")
    if options.lower_is_better or options.intersection:
        raise InputError("--lower-is-better and --intersection are not for predictions")
    files = [options.qrels, *options.runs]
    refuse_same_file(files)
    with progress_bar("reading", quiet=options.quiet) as progress:
        several = read_predictions(task, files, options, progress)
    _check_gate(options, [one.name for one in several])
    systems = PredictionSystems.of(several, options.baseline)
    return compare_measures(
        systems,
        systems.measures(options.measure or (), options.undefined),
        options,
        positive=options.positive,
        by="unit" if options.by_unit else "auto",
    )

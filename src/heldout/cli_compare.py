"""The command ``compare``: arguments to library calls."""

from __future__ import annotations

import os
import sys
from typing import TYPE_CHECKING, Any, Final

from heldout.cli_scores import add_score_arguments, read_inputs
from heldout.errors import InputError

if TYPE_CHECKING:
    import argparse
    from collections.abc import Callable, Mapping

    from heldout.data.scores import Scores
    from heldout.infer.compare import Comparison
    from heldout.report.gate import GateResult

__all__ = ["CORRECTION_WORDS", "TEST_WORDS", "add_compare"]

FORMATS: Final = ("auto", "table", "tsv", "md", "latex", "json")

TEST_WORDS: Final = {
    "randomization": "Fisher's test of the means by flipping signs; the default",
    "t": "paired t test of the means; beside it by default",
    "bootstrap-shift": "test of the means by resampling; for 100 units and more",
    "bootstrap-shift-studentized": "the same with t for its statistic",
    "wilcoxon": "signed ranks: are the differences symmetric about 0?",
    "sign": "wins against losses, whatever their size",
    "mcnemar": "the same for scores of 0 and 1; the default for them",
    "corrected-t": "t test for folds that share training data; with --test-share",
}
CORRECTION_WORDS: Final = {
    "tukey": "all pairs, by the studentized range; the default for them",
    "randomized-tukey": "all pairs, by permutation",
    "nemenyi": "all pairs, of mean ranks",
    "maxt": "by permutation, stepwise; the default with --baseline",
    "dunnett": "against --baseline, by permutation",
    "dunnett-t": "against --baseline, by Dunnett's t",
    "holm": "any test: stepwise Bonferroni; the default with --test",
    "hochberg": "any test: a little stronger than holm, for tests that depend positively",
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
  heldout compare qrels.txt old.run new.run --gate non-inferior --margin 0.01
  heldout compare --table scores.csv --ledger looks.sqlite --data "test questions 2024"

Of two systems the first is the baseline; of three or more all pairs are compared, unless
--baseline names one. A table is wide (unit,A,B,...) or long (system,unit,value).
Files of predictions are compared by heldout score TASK FILE... --compare.
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
    add("-b", "--baseline", metavar="NAME", help="compare all others with this system")
    add("--test", action="append", metavar="NAME", help="a test, see below (repeat; first decides)")
    add(
        "--tail",
        choices=("two", "greater", "less"),
        default="two",
        help="the alternative: any difference, the new system better, the new system worse",
    )
    add("--alpha", type=float, default=0.05, help="level of significance (default 0.05)")
    add("--correction", default="", metavar="NAME", help="for several comparisons, see below")
    add(
        "--interval",
        default="",
        choices=("t", "percentile", "bca", "randomization"),
        help="interval of the differences",
    )
    add("--tuned", action="append", metavar="NAME", help="a system that was tuned (repeat)")
    add(
        "--test-share",
        type=float,
        metavar="X",
        help="units are folds: n_test / n_train, for 10 folds 0.1111",
    )
    add("--replicates", type=int, default=100_000, metavar="N", help="draws (default 100,000)")
    add("--seed", type=int, default=0, help="seed of the draws (default 0)")
    _add_gate_and_ledger(parser)
    add("-f", "--format", choices=FORMATS, default="auto", help="auto is a table")
    add("--json", action="store_const", dest="format", const="json", help="same as --format json")
    add("-o", "--output", metavar="FILE", help="write to a file instead")
    parser.set_defaults(run=_compare)


def _add_gate_and_ledger(parser: argparse.ArgumentParser) -> None:
    add = parser.add_argument
    add("--gate", choices=("non-inferior", "equivalent"), help="exit 1 unless this is shown")
    add("--margin", type=float, metavar="X", help="the margin of --gate")
    add(
        "--ledger",
        metavar="FILE",
        default=os.environ.get("HELDOUT_LEDGER"),
        help="count this look at the data in FILE (default $HELDOUT_LEDGER)",
    )
    add(
        "--data",
        metavar="NAME",
        help="what the held-out data are called in the ledger (default a fingerprint)",
    )


def _compare(options: argparse.Namespace) -> int:
    _check(options)
    inputs = [_named(scores, options.data) for scores in read_inputs(options)]
    if options.gate and options.baseline is None and len(inputs[0].systems) > 2:
        raise InputError("a gate needs a baseline: name it with --baseline")
    comparisons = _comparisons(inputs, options)
    gates = [_gate(one, options) for one in comparisons] if options.gate else []
    # Everything is known now: nothing is shown or written if any of it had failed.
    notes = _publish(_text(comparisons, gates, options), comparisons, options)
    results = [result for several in gates for result in several]
    for result in results:
        notes += [result.sentence, *([result.careful] if result.careful else [])]
    sys.stderr.write("".join(note + "\n" for note in notes))
    return 0 if all(result.passed for result in results) else 1


def _check(options: argparse.Namespace) -> None:
    """Refuse what can be refused before any file is read."""
    if (options.gate is None) != (options.margin is None):
        raise InputError("--gate and --margin go together")
    if options.margin is not None and not 0 < options.margin < float("inf"):
        raise InputError(f"--margin {options.margin:g}: expected a number above 0")
    if not 0 < options.alpha < (0.5 if options.gate else 1):
        most = "0.5, the gate being one-sided" if options.gate else "1"
        raise InputError(f"--alpha {options.alpha:g}: expected a number between 0 and {most}")
    if options.data is not None and not options.data.strip():
        raise InputError("--data: expected a name of the held-out data")
    if options.gate:
        from heldout.report.gate import gate_test

        gate_test(options.test or (), options.test_share)
    if options.ledger:
        from heldout.infer.ledger import check_ledger

        check_ledger(options.ledger)


def _named(scores: Scores, data: str | None) -> Scores:
    from dataclasses import replace

    return scores if data is None else replace(scores, data=data.strip())


def _comparisons(inputs: list[Scores], options: argparse.Namespace) -> list[Comparison]:
    from heldout.infer.compare import compare, note_measures

    found = [
        compare(
            scores,
            baseline=options.baseline,
            tests=options.test or (),
            tail=options.tail,
            alpha=options.alpha,
            correction=options.correction,
            interval=options.interval,
            test_share=options.test_share,
            tuned=options.tuned or (),
            replicates=options.replicates,
            seed=options.seed,
        )
        for scores in inputs
    ]
    return note_measures(found)


def _gate(comparison: Comparison, options: argparse.Namespace) -> list[GateResult]:
    from heldout.report.gate import gate_results, gate_test

    return gate_results(
        comparison,
        options.gate,
        options.margin,
        alpha=options.alpha,
        test=gate_test(options.test or (), options.test_share),
        test_share=options.test_share,
        replicates=options.replicates,
        seed=options.seed,
    )


def _text(
    comparisons: list[Comparison], gates: list[list[GateResult]], options: argparse.Namespace
) -> str:
    from heldout.report.claims import claims_text, json_claims

    if options.format == "json":
        text = json_claims(comparisons)
        if not gates:
            return text
        from heldout.report.gate import json_with_gates

        return json_with_gates(text, gates)
    kind = "table" if options.format == "auto" else options.format
    terminal = options.output is None and sys.stdout.isatty()
    return "\n".join(claims_text(one, kind, terminal=terminal) for one in comparisons)


def _publish(text: str, comparisons: list[Comparison], options: argparse.Namespace) -> list[str]:
    """Write the looks down, then show them; a look that is not recorded is not shown.

    Returns
    -------
    list of str
        What is to be said beside the result.
    """
    notes: list[str] = []
    if options.format == "tsv":  # the other formats hold their warnings themselves
        from heldout.report.tables import plain_text

        warnings = [warning for one in comparisons for warning in one.warnings]
        notes += [f"Careful: {plain_text(warning)}." for warning in dict.fromkeys(warnings)]
    if options.output is None:
        notes += _record(comparisons, options)
        sys.stdout.write(text)
        return notes
    from heldout.data.files import write_atomically

    with write_atomically(options.output) as aside:
        aside.write_text(text, encoding="utf-8", newline="\n")
        return notes + _record(comparisons, options)


def _record(comparisons: list[Comparison], options: argparse.Namespace) -> list[str]:
    """Write the looks into the ledger, if there is one, and say how many there were."""
    if not options.ledger:
        return []
    import shlex

    from heldout.infer.ledger import Entry, Ledger

    command = shlex.join(["heldout", *sys.argv[1:]])
    with Ledger(options.ledger) as ledger:
        ledger.record_all(
            Entry(
                comparison.scores.data,
                (claim.first, claim.second),
                comparison.scores.measure,
                claim.outcomes[0].test,
                claim.outcomes[0].p,
                claim.difference.estimate,
                len(comparison.scores.units),
                command,
            )
            for comparison in comparisons
            for claim in comparison.claims
        )
        seen = ledger.summary(comparisons[0].scores.data)
    counted = f"systems: {seen.systems}, measures: {seen.measures}"
    where = (
        f"heldout ledger {shlex.quote(options.ledger)} shows all, with p-values adjusted for them"
    )
    notes = [f"ledger: look number {seen.looks} at these data ({counted}); {where}"]
    if options.table is not None and options.data is None:
        notes.append(
            "ledger: a table says nothing about its data but the ids of the units, and other data "
            "may have the same ones: name the data with --data"
        )
    return notes

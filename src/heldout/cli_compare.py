"""The commands ``compare`` and ``plan``: arguments to library calls."""

from __future__ import annotations

import os
import sys
from typing import TYPE_CHECKING, Any

from heldout.errors import InputError

if TYPE_CHECKING:
    import argparse
    from collections.abc import Callable

    from heldout.data.scores import Scores
    from heldout.infer.compare import Comparison

__all__ = ["add_compare", "add_ledger", "add_plan"]

FORMATS = ("auto", "table", "tsv", "md", "latex", "json")

_COMPARE_EXAMPLES = """\
  heldout compare qrels.txt old.run new.run
  heldout compare qrels.txt bm25.run dense.run hybrid.run -m nDCG@10 -m AP
  heldout compare qrels.txt runs/*.run --baseline bm25 --correction holm
  heldout compare --table scores.csv --test randomization --test t
  heldout compare qrels.txt old.run new.run --gate non-inferior --margin 0.01

Of two systems the first is the baseline; of three or more all pairs are compared, unless
--baseline names one. A table is wide (unit,A,B,...) or long (system,unit,value).
"""


def add_compare(command: Callable[..., argparse.ArgumentParser], commands: Any) -> None:
    """Add the command ``compare``."""
    parser = command(
        commands,
        "compare",
        "Say which systems are better, and how sure that is.",
        _COMPARE_EXAMPLES,
    )
    add = parser.add_argument
    _add_scores(parser)
    add("-b", "--baseline", metavar="NAME", help="compare all others with this system")
    add("--test", action="append", metavar="NAME", help="a test (repeat; the first decides)")
    add("--tail", choices=("two", "greater", "less"), default="two", help="the alternative")
    add("--alpha", type=float, default=0.05, help="level of significance (default 0.05)")
    add("--correction", default="", metavar="NAME", help="for several comparisons, e.g. holm")
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
    add("--gate", choices=("non-inferior", "equivalent"), help="exit 1 unless this is shown")
    add("--margin", type=float, metavar="X", help="the margin of --gate")
    add(
        "--ledger",
        metavar="FILE",
        default=os.environ.get("HELDOUT_LEDGER"),
        help="count this look at the data in FILE (default $HELDOUT_LEDGER)",
    )
    add("-f", "--format", choices=FORMATS, default="auto", help="auto is a table")
    add("--json", action="store_const", dest="format", const="json", help="same as --format json")
    add("-o", "--output", metavar="FILE", help="write to a file instead")
    parser.set_defaults(run=_compare)


def _add_scores(parser: argparse.ArgumentParser) -> None:
    add = parser.add_argument
    add("qrels", metavar="QRELS", nargs="?", help="judgements; several files joined by commas")
    add("runs", metavar="RUN", nargs="*", help="runs")
    add("--table", metavar="FILE", help="scores instead of judgements and runs")
    add("--lower-is-better", action="store_true", help="with --table: errors, times")
    add("-m", "--measure", action="append", metavar="NAME", help="a measure (default nDCG@10)")


def _scores(options: argparse.Namespace) -> list[Scores]:
    """The scores to work on, one object a measure."""
    if options.table is not None:
        from dataclasses import replace

        from heldout.data.scores import read_scores

        if options.qrels is not None:
            raise InputError("give either --table or judgements and runs, not both")
        name = " ".join(options.measure or ["score"])
        scores = read_scores(options.table, name)
        return [replace(scores, higher_is_better=not options.lower_is_better)]
    if options.qrels is None or not options.runs:
        raise InputError("judgements and runs are missing (or --table FILE): see --help")
    from heldout.cli import split_paths  # the main module imports this one
    from heldout.data.files import read_qrels  # NumPy comes with it
    from heldout.measure.evaluate import evaluate

    measures = options.measure or ["nDCG@10"]
    judgements = read_qrels(*split_paths(options.qrels))
    result = evaluate(judgements, options.runs, [*measures, "Judged@10"])
    asked = [one for one in result.measures if str(one) != "Judged@10"] or list(result.measures)
    return [result.scores(measure) for measure in asked]


def _compare(options: argparse.Namespace) -> int:
    from heldout.infer.compare import compare
    from heldout.report.claims import claims_text, json_claims

    if (options.gate is None) != (options.margin is None):
        raise InputError("--gate and --margin go together")
    if options.gate is not None and options.test_share is not None:
        raise InputError("--gate takes units for independent: leave out --test-share")
    if options.margin is not None and not 0 < options.margin < float("inf"):
        raise InputError(f"--margin {options.margin:g}: expected a number above 0")
    comparisons = [
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
        for scores in _scores(options)
    ]
    if options.format == "json":
        text = json_claims(comparisons)
    else:
        kind = "table" if options.format == "auto" else options.format
        terminal = options.output is None and sys.stdout.isatty()
        text = "\n".join(claims_text(one, kind, terminal=terminal) for one in comparisons)
    _emit(text, options.output)
    if options.ledger:
        _record(comparisons, options.ledger)
    return _gate(comparisons, options) if options.gate else 0


def _emit(text: str, output: str | None) -> None:
    from heldout.cli import emit  # the main module imports this one

    emit(text, output)


def _record(comparisons: list[Comparison], path: str) -> None:
    from heldout.infer.ledger import Ledger

    with Ledger(path) as ledger:
        for comparison in comparisons:
            for claim in comparison.claims:
                ledger.record(
                    comparison.scores.data,
                    systems=(claim.first, claim.second),
                    measure=comparison.scores.measure,
                    test=claim.outcomes[0].test,
                    p=claim.outcomes[0].p,
                    effect=claim.difference.estimate,
                    n=len(comparison.scores.units),
                    command="heldout " + " ".join(sys.argv[1:]),
                )
        seen = ledger.summary(comparisons[0].scores.data)
    sys.stderr.write(
        f"ledger: look number {seen.looks} at these data (systems: {seen.systems}, measures: "
        f"{seen.measures}); heldout ledger {path} shows all, with p-values adjusted for them\n"
    )


def _gate(comparisons: list[Comparison], options: argparse.Namespace) -> int:
    from heldout.report.gate import gate_verdicts

    passed, lines = gate_verdicts(comparisons, options.gate, options.margin, options.alpha)
    sys.stderr.write("".join(line + "\n" for line in lines))
    return 0 if passed else 1


_PLAN_EXAMPLES = """\
  heldout plan qrels.txt old.run new.run --difference 0.02
  heldout plan --table scores.csv --queries 50 100 200
  heldout plan --sd 0.15 --difference 0.01 0.02 0.05
"""


def add_plan(command: Callable[..., argparse.ArgumentParser], commands: Any) -> None:
    """Add the command ``plan``."""
    parser = command(
        commands, "plan", "How many queries are needed, and what can so many show?", _PLAN_EXAMPLES
    )
    add = parser.add_argument
    _add_scores(parser)
    add("--sd", type=float, help="standard deviation of the differences, instead of a pilot")
    add("--difference", type=float, nargs="+", metavar="X", help="differences to be seen")
    add("--queries", type=int, nargs="+", metavar="N", help="numbers of queries to have")
    add("--power", type=float, default=0.8, help="power (default 0.8)")
    add("--alpha", type=float, default=0.05, help="level of significance (default 0.05)")
    add("--tail", choices=("two", "greater", "less"), default="two", help="the alternative")
    parser.set_defaults(run=_plan)


def _plan(options: argparse.Namespace) -> int:
    from heldout.report.plan import plan_lines

    spreads: list[tuple[str, float, int]] = []
    if options.sd is not None:
        spreads.append(("", options.sd, 0))
    else:
        from heldout.report.plan import pilot_spreads

        for scores in _scores(options):
            spreads.extend(pilot_spreads(scores))
    settings = {"power": options.power, "alpha": options.alpha, "tail": options.tail}
    for what, sd, n in spreads:
        lines = plan_lines(what, sd, n, options.difference, options.queries, **settings)
        sys.stdout.write("".join(line + "\n" for line in lines))
    return 0


def add_ledger(command: Callable[..., argparse.ArgumentParser], commands: Any) -> None:
    """Add the command ``ledger``."""
    parser = command(
        commands,
        "ledger",
        "Show how often held-out data were looked at, with p-values adjusted for all looks.",
        "  heldout ledger looks.sqlite\n",
    )
    parser.add_argument("file", metavar="FILE", help="what compare --ledger wrote")
    parser.set_defaults(run=_ledger)


def _ledger(options: argparse.Namespace) -> int:
    from pathlib import Path

    from heldout.infer.ledger import Ledger
    from heldout.report.tables import plain_text

    if not Path(options.file).is_file():
        raise InputError(f"{options.file}: no such file")
    head = [
        "data",
        "look",
        "time",
        "systems",
        "measure",
        "test",
        "effect",
        "n",
        "p",
        "Holm",
        "LORD++",
    ]
    sys.stdout.write("\t".join(head) + "\n")
    with Ledger(options.file) as ledger:
        for data in ledger.fingerprints():
            for row in ledger.adjusted(data):
                look = row.look
                online = f"{'discovery' if row.discovery else 'none'} at {row.level:.4f}"
                cells = (
                    *(data, str(look.look), look.time, " - ".join(look.systems), look.measure),
                    *(look.test, f"{look.effect:+.4f}", str(look.n), f"{look.p:.4f}"),
                    *(f"{row.holm:.4f}", online),
                )
                sys.stdout.write("\t".join(plain_text(cell) for cell in cells) + "\n")
    return 0

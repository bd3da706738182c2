"""The command ``tune``: arguments to library calls."""

from __future__ import annotations

import sys
import warnings
from typing import TYPE_CHECKING, Any, Final

from heldout.cli.files import emit, show, split_paths, terminal_width
from heldout.cli.level import add_level
from heldout.cli.output import TABLE_FORMATS, add_output, output_format
from heldout.errors import InputError
from heldout.infer.levels import check_level

if TYPE_CHECKING:
    import argparse
    from collections.abc import Callable

    from heldout.data.run import Qrels
    from heldout.infer.compare import Comparison
    from heldout.resample.plan import Plan
    from heldout.tune.runs import TunedRuns

__all__ = ["add_tune"]

PLANS: Final = ("kfold", "loo", "bootstrap", "given")

_EXAMPLES = """\
  heldout tune qrels.txt 'runs/lambda=*.run' --folds 10
  heldout tune qrels.txt runs/bm25_k1=*_b=*.run -m AP --repeats 5 --stratify relevant
  heldout tune qrels.txt 'runs/mu=*.run' --rule one-se --json
  heldout tune qrels.txt 'runs/mu=*.run' --folds-file published-folds.tsv
  heldout tune qrels.txt 'runs/mu=*.run' --against bm25.run
  heldout tune qrels.txt --system bm25='bm25/k1=*.run' --system ql='ql/mu=*.run' --scores out.csv
  heldout compare --table out.csv                     any test, on the held-out scores

Parameters are read from the names of the runs: name=value, several joined by a comma, _ or -.
"""


def add_tune(command: Callable[..., argparse.ArgumentParser], commands: Any) -> None:
    """Add the command ``tune``."""
    parser = command(
        commands,
        "tune",
        "Choose among runs on the seen queries of each fold, and score on the held-out ones.",
        _EXAMPLES,
    )
    add = parser.add_argument
    add("qrels", metavar="QRELS", help="judgements; several files are joined by commas")
    add("runs", metavar="RUN", nargs="*", help="the runs to choose from; * and ? are understood")
    add(
        "--system",
        action="append",
        metavar="NAME=RUNS",
        help="a system and its runs, with * or ? (repeat): each is tuned on the same folds",
    )
    add("--against", action="extend", nargs="+", metavar="RUN", help="compare with untuned runs")
    add("-b", "--baseline", metavar="NAME", help="compare all others with this system")
    add("-m", "--measure", action="append", metavar="NAME", help="choose by it (default nDCG@10)")
    add("--intersection", action="store_true", help="only the judged queries that all runs have")
    add(
        "--plan",
        choices=PLANS,
        help="how queries are held out: folds (the default), one by one, those that a bootstrap "
        "does not draw, or folds from a file",
    )
    add("--folds", type=int, metavar="K", help="number of folds (default 10)")
    add("--folds-file", metavar="FILE", help="folds from a table of query and fold, or JSON")
    add("--repeats", type=int, metavar="N", help="divide N times; bootstrap draws (default 200)")
    add("--stratify", choices=("relevant",), help="spread queries with few relevant documents")
    add("--seed", type=int, default=0, help="seed of the folds (default 0)")
    add(
        "--rule",
        choices=("best", "one-se"),
        default="best",
        help="the best mean (the default), or the simplest within one standard error of it",
    )
    add_level(parser)
    add("--scores", metavar="FILE", help="write the held-out score of each query (.csv or .tsv)")
    add_output(parser, auto="auto is a table with sentences")
    add("--quiet", action="store_true", help="only the tables, no sentences below them")
    parser.set_defaults(run=_tune)


def _tune(options: argparse.Namespace) -> int:
    from heldout.data.files import read_qrels  # NumPy comes with it
    from heldout.resample.notices import ResamplingWarning
    from heldout.tune.runs import tune_runs

    _check(options)
    options.format = output_format(options.format, options.output, TABLE_FORMATS, "table")
    systems = _systems(options)
    judgements = read_qrels(*split_paths(options.qrels))
    with warnings.catch_warnings():
        # The same sentences are notes of the splits, which are printed with the result.
        warnings.simplefilter("ignore", ResamplingWarning)
        tuned = tune_runs(
            judgements,
            systems,
            (options.measure or ["nDCG@10"])[0],
            plan=_plan(options, judgements),
            rule=options.rule,
            missing="skip" if options.intersection else "zero",
        )
    comparison = _comparison(tuned, options)
    text = _text(tuned, comparison, options)
    if options.scores:
        _write_scores(tuned, options.scores)
    (show if options.format == "table" else emit)(text, options.output)
    if options.format in {"tsv", "csv"} and not options.quiet:
        _say(tuned, comparison)
    return 0


def _say(tuned: TunedRuns, comparison: Comparison | None) -> None:
    """What tables for programs leave out."""
    from heldout.report.claim_words import analysis_lines
    from heldout.report.tables import note_lines
    from heldout.report.tuning import tuning_lines

    lines = tuning_lines(tuned)
    if comparison is not None:
        new = [note for note in comparison.warnings if note not in tuned.all_notes]
        lines += [*analysis_lines(comparison), *note_lines(new)]
    sys.stderr.write("".join(line + "\n" for line in lines))


def _check(options: argparse.Namespace) -> None:
    """Refuse what would be passed over, before any file is read."""
    check_level(options.level, name="--level ")
    if len(options.measure or []) > 1:
        raise InputError(
            f"-m names {len(options.measure)} measures ({', '.join(options.measure)}): runs are "
            "chosen by one; ask again for another"
        )
    if options.scores and not options.scores.lower().endswith((".csv", ".tsv")):
        raise InputError(f"--scores {options.scores}: expected a name that ends in .csv or .tsv")
    if options.plan is None:
        options.plan = "given" if options.folds_file else "kfold"
    only = {
        "folds": ("kfold",),
        "folds_file": ("given",),
        "repeats": ("kfold", "bootstrap"),
        "stratify": ("kfold",),
    }
    for name, plans in only.items():
        if getattr(options, name) is not None and options.plan not in plans:
            option = "--" + name.replace("_", "-")
            raise InputError(f"{option} goes with --plan {' or '.join(plans)}, not {options.plan}")
    if options.plan == "given" and options.folds_file is None:
        raise InputError("--plan given needs the folds: --folds-file FILE")


def _systems(options: argparse.Namespace) -> dict[str, Any]:
    """The runs of each system, by its name."""
    from heldout.tune.run_groups import file_stem, matching  # NumPy comes with it

    found: dict[str, Any] = {}
    if options.system and options.runs:
        raise InputError(
            f"{options.runs[0]}: give either runs, or systems with --system NAME=RUNS (untuned "
            "runs with --against)"
        )
    for given in options.system or ():
        name, equals, runs = given.partition("=")
        if not equals or not name or not runs:
            raise InputError(f"--system {given}: expected NAME=RUNS, such as bm25='runs/k1=*.run'")
        _add(found, name, runs)
    if options.runs:
        found["tuned"] = options.runs
    if not found:
        raise InputError("no runs to choose from: give their paths, or --system NAME=RUNS")
    for given in options.against or ():
        for path in matching(given):
            _add(found, file_stem(path), path)
    return found


def _add(found: dict[str, Any], name: str, runs: str) -> None:
    if name in found:
        raise InputError(f"two systems are called {name}: give one of them with --system NAME=RUNS")
    found[name] = [runs]


def _plan(options: argparse.Namespace, judgements: Qrels) -> Plan:
    from heldout.resample.given import GivenFolds
    from heldout.resample.plans import Bootstrap, KFold, LeaveOneOut
    from heldout.tune.runs import relevant_a_query

    if options.plan == "given":
        return GivenFolds(options.folds_file)
    if options.plan == "loo":
        return LeaveOneOut()
    if options.plan == "bootstrap":
        return Bootstrap(200 if options.repeats is None else options.repeats, seed=options.seed)
    return KFold(
        10 if options.folds is None else options.folds,
        repeats=1 if options.repeats is None else options.repeats,
        stratify=relevant_a_query(judgements) if options.stratify else None,
        seed=options.seed,
    )


def _comparison(tuned: TunedRuns, options: argparse.Namespace) -> Comparison | None:
    from heldout.infer.compare import compare

    if len(tuned.systems) < 2:
        if options.baseline is not None:
            raise InputError("--baseline: there is one system only; add --against or --system")
        return None
    baseline = options.baseline
    if baseline is None and len(tuned.systems) == 2 and options.against:
        baseline = tuned.systems[1].name  # the untuned one, which the other is to beat
    return compare(
        tuned.scores(),
        baseline=baseline,
        level=options.level,
        tuned=[system.name for system in tuned.systems if system.tuned],
        seed=options.seed,
    )


def _text(tuned: TunedRuns, comparison: Comparison | None, options: argparse.Namespace) -> str:
    from heldout.report.tuning import json_tuning, tuning_tables, tuning_text

    level = options.level
    if options.format == "json":
        return json_tuning(tuned, comparison, level)
    if options.format != "table":
        return tuning_tables(tuned, comparison, options.format, level, quiet=options.quiet)
    terminal = options.output is None and sys.stdout.isatty()
    width = terminal_width() if terminal else None
    text = tuning_text(tuned, level, quiet=options.quiet, width=width)
    if comparison is None:
        return text
    from heldout.report.claims import claims_text

    known = () if options.quiet else tuned.all_notes
    claims = claims_text(comparison, "table", terminal=terminal, known=known)
    return f"{text}\nHeld-out scores compared:\n{claims}"


def _write_scores(tuned: TunedRuns, path: str) -> None:
    """A wide table that ``heldout compare --table`` reads."""
    import csv

    from heldout.data.files import write_atomically

    columns = [system.folds.units.tolist() for system in tuned.systems]
    mark = "\t" if path.lower().endswith(".tsv") else ","
    with write_atomically(path) as aside, aside.open("w", encoding="utf-8", newline="") as file:
        writer = csv.writer(file, delimiter=mark, lineterminator="\n")
        writer.writerow(["query_id", *(system.name for system in tuned.systems)])
        for query, *values in zip(tuned.splits.ids, *columns, strict=True):
            # An empty cell is a query without a score; NaN is not equal to itself.
            writer.writerow([query, *("" if one != one else repr(one) for one in values)])  # noqa: PLR0124

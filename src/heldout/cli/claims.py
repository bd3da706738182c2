"""What all commands that compare have in common: arguments, gate, ledger, and how claims appear."""

from __future__ import annotations

import os
import sys
from typing import TYPE_CHECKING, Any

from heldout.cli.files import emit, show
from heldout.cli.level import add_alternative, add_level
from heldout.cli.progress import progress_bar
from heldout.errors import InputError
from heldout.infer.levels import check_level

if TYPE_CHECKING:
    import argparse
    from collections.abc import Callable, Sequence

    from heldout.infer.compare import Comparison
    from heldout.infer.scoring.predictions import By
    from heldout.notes import Note
    from heldout.report.gate import GateResult

__all__ = [
    "add_claim_arguments",
    "add_gate_and_ledger",
    "check_claims",
    "compare_as_asked",
    "compare_measures",
    "present",
]


def add_claim_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the arguments that say how to compare."""
    add = parser.add_argument
    add("-b", "--baseline", metavar="NAME", help="compare all others with this system")
    add("--test", action="append", metavar="NAME", help="a test (repeat; the first decides)")
    add_alternative(parser, "any difference, the new system better, the new system worse")
    add_level(parser)
    add("--correction", default="", metavar="NAME", help="for several comparisons")
    add(
        "--interval",
        default="",
        choices=("t", "percentile", "bca", "randomization"),
        help="interval of the differences",
    )
    add("--tuned", action="append", metavar="NAME", help="a system that was tuned (repeat)")
    add("--replicates", type=int, default=100_000, metavar="N", help="draws (default 100,000)")
    add("--seed", type=int, default=0, help="seed of the draws (default 0)")


def add_gate_and_ledger(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of the gate and of the ledger."""
    add = parser.add_argument
    add("--gate", choices=("non-inferior", "equivalent"), help="exit 1 unless this is shown")
    add("--margin", type=float, metavar="X", help="the margin of --gate")
    add(
        "--ledger",
        metavar="FILE",
        help="count this look at the data in FILE (default $HELDOUT_LEDGER)",
    )
    add(
        "--data",
        metavar="NAME",
        help="what the held-out data are called in the ledger (default a fingerprint)",
    )


def check_claims(options: argparse.Namespace) -> None:
    """Refuse what can be refused before any file is read."""
    if (options.gate is None) != (options.margin is None):
        raise InputError("--gate and --margin go together")
    if options.margin is not None and not 0 < options.margin < float("inf"):
        raise InputError(f"--margin {options.margin:g}: expected a number above 0")
    check_level(options.level, one_sided=options.gate is not None, name="--level ")
    if options.data is not None and not options.data.strip():
        raise InputError("--data: expected a name of the held-out data")
    options.ledger = options.ledger or os.environ.get("HELDOUT_LEDGER")
    if options.ledger:
        from heldout.infer.ledger import check_ledger

        check_ledger(options.ledger)


def compare_as_asked(
    given: Any,
    measure: Any,
    options: argparse.Namespace,
    *,
    positive: str | None = None,
    by: By = "auto",
    test_share: float | None = None,
    progress: Callable[[int, int], None] | None = None,
) -> Comparison:
    """Compare systems in one measure, with the settings that `add_claim_arguments` has added.

    Parameters
    ----------
    given, measure, positive, by, test_share, progress
        As `heldout.compare` takes them.
    options
        The parsed arguments.
    """
    from heldout.infer.compare import compare

    return compare(
        given,
        measure,
        baseline=options.baseline,
        tests=options.test or (),
        alternative=options.alternative,
        level=options.level,
        correction=options.correction,
        interval=options.interval,
        test_share=test_share,
        tuned=options.tuned or (),
        replicates=options.replicates,
        seed=options.seed,
        positive=positive,
        by=by,
        progress=progress,
    )


def compare_measures(
    given: Any,
    measures: Sequence[Any],
    options: argparse.Namespace,
    *,
    positive: str | None = None,
    by: By = "auto",
) -> list[Comparison]:
    """Compare systems in each of several measures, as was asked.

    Parameters
    ----------
    given
        What `heldout.compare` takes: evaluations, predictions.
    measures
        The measures.
    options
        As `add_claim_arguments` makes them, and ``quiet``.
    positive, by
        As `heldout.compare` takes them.
    """
    from heldout.infer.compare import note_measures

    found = []
    with progress_bar("comparing", quiet=options.quiet) as progress:
        for measure in measures:
            found.append(compare_as_asked(given, measure, options, positive=positive, by=by))
            if progress:
                progress(len(found), len(measures))
    return note_measures(found)


def present(
    comparisons: Sequence[Comparison],
    options: argparse.Namespace,
    *,
    before: str = "",
    content: dict[str, Any] | None = None,
    lines: Sequence[str] = (),
    notes: Sequence[Note] = (),
    nameless: str = "",
    shown: bool = True,
) -> int:
    """Go through the gate, write the looks down, show the claims.

    Parameters
    ----------
    comparisons
        One per measure.
    options
        With ``gate``, ``margin``, ``ledger``, ``data``, ``format`` (none of them auto), ``output``.
    before
        What is printed above the claims.
    content
        As JSON: what the claims go into, under ``comparisons``; None if they stand alone.
    lines
        To be said on standard error.
    notes
        To be said there too, unless the claims have them.
    nameless
        What to say of data that have no name in the ledger; nothing if they need none.
    shown
        Whether to print or write the claims; not if the caller does, on a page.

    Returns
    -------
    int
        The exit code: 1 if the gate stays shut.
    """
    from heldout.report.tables import note_lines

    comparisons = [_named(one, options.data) for one in comparisons]
    gates = [_gate(one, options) for one in comparisons] if options.gate else []
    text = None
    if shown and options.format == "json":
        text = _json(comparisons, gates, content)
    elif shown:
        text = _text(comparisons, before, options)
    # Everything is known now: nothing is shown or written if any of it had failed.
    said = [*lines, *note_lines(_beside(notes, comparisons, options))]
    said += _publish(text, comparisons, options, nameless)
    results = [result for group in gates for result in group]
    for result in results:
        said += [result.sentence, *note_lines(result.notes)]
    if getattr(options, "quiet", False):
        said = [result.sentence for result in results]
    sys.stderr.write("".join(note + "\n" for note in said))
    return 0 if all(result.passed for result in results) else 1


def _named(comparison: Comparison, data: str | None) -> Comparison:
    from dataclasses import replace

    if data is None:
        return comparison
    return replace(comparison, scores=replace(comparison.scores, data=data.strip()))


def _gate(comparison: Comparison, options: argparse.Namespace) -> list[GateResult]:
    from heldout.report.gate import gate_results, gate_test

    share = comparison.test_share
    test = "t" if comparison.linearised else gate_test(options.test or (), share)
    return gate_results(
        comparison,
        options.gate,
        options.margin,
        level=options.level,
        test=test,
        test_share=share,
        replicates=options.replicates,
        seed=options.seed,
    )


def _json(
    comparisons: list[Comparison], gates: list[list[GateResult]], content: dict[str, Any] | None
) -> str:
    from heldout.as_json import json_text
    from heldout.report.claims import claim_records
    from heldout.report.gate import with_gates

    records = claim_records(comparisons)
    found = with_gates(records, gates) if gates else records
    whole = found if content is None else content | {"comparisons": found}
    return json_text(whole)


def _text(comparisons: list[Comparison], before: str, options: argparse.Namespace) -> str:
    from heldout.report.claims import claims_csv, claims_texts
    from heldout.report.tables import tables_page

    if options.format in {"csv", "parquet"}:
        claims = [claims_csv(comparisons)]
    else:
        terminal = options.output is None and sys.stdout.isatty()
        claims = claims_texts(comparisons, options.format, terminal=terminal)
    text = "\n".join([*([before] if before else []), *claims])
    return tables_page(text, options.format, "Scores")


def _beside(
    notes: Sequence[Note], comparisons: list[Comparison], options: argparse.Namespace
) -> list[Note]:
    """The notes that the result itself does not hold."""
    within = [note for one in comparisons for note in one.warnings]
    if options.format in {"tsv", "csv", "parquet"}:  # which have no place for words
        return [*notes, *within]
    return [note for note in notes if note not in within]


def _publish(
    text: str | None, comparisons: list[Comparison], options: argparse.Namespace, nameless: str
) -> list[str]:
    """Write the looks down, then show them; a look that is not recorded is not shown.

    Returns
    -------
    list of str
        What is to be said beside the result.
    """
    if text is None:
        return _record(comparisons, options, nameless)
    if options.output is None:
        said = _record(comparisons, options, nameless)
        (show if options.format == "table" else emit)(text)
        return said
    from heldout.data.files import write_atomically

    with write_atomically(options.output) as aside:
        if options.format == "parquet":
            from heldout.report.claims import claims_frame

            claims_frame(comparisons).write_parquet(aside)
        else:
            aside.write_text(text, encoding="utf-8", newline="\n")
        return _record(comparisons, options, nameless)


def _record(comparisons: list[Comparison], options: argparse.Namespace, nameless: str) -> list[str]:
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
    return [*notes, nameless] if nameless and options.data is None else notes

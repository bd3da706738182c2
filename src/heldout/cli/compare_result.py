"""How ``compare`` compares: arguments, gate, ledger, and how the result appears."""

from __future__ import annotations

import os
import sys
from typing import TYPE_CHECKING, Any, Final

from heldout.cli.files import emit, show, terminal_width
from heldout.cli.old_options import add_alternative, add_level, add_seed
from heldout.cli.progress import progress_bar
from heldout.errors import InputError

if TYPE_CHECKING:
    import argparse
    from collections.abc import Callable, Sequence

    from heldout.experiment.results.results import Results
    from heldout.infer.comparison import Comparison
    from heldout.infer.gate import GateResult
    from heldout.infer.scored_inputs import By
    from heldout.notes import Note

__all__ = [
    "add_claim_arguments",
    "add_gate_and_ledger",
    "check_claims",
    "compare_as_asked",
    "compare_measures",
    "compare_results",
    "notes_in_options",
    "present",
]


_WIDE: Final = 140
"""Columns of a terminal from which on all columns of a comparison are shown."""


def add_claim_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the arguments that say how to compare."""
    add = parser.add_argument
    add("-b", "--baseline", metavar="NAME", help="compare all other systems with this one")
    add("--test", action="append", metavar="NAME", help="test (repeat; the first decides)")
    add("--correction", default="", metavar="NAME", help="correction for several comparisons")
    add_alternative(parser, "any difference, the new system better, the new system worse")
    add_level(parser)
    add_seed(parser)


def add_gate_and_ledger(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of the gate and of the ledger."""
    add = parser.add_argument
    add(
        "--gate",
        choices=("better", "non-inferior", "equivalent"),
        help="exit with code 1 unless this is shown (one-sided at 1 - level)",
    )
    add("--margin", type=float, metavar="X", help="margin of --gate (default for better: 0)")
    add(
        "--ledger",
        metavar="FILE",
        help="count this evaluation of the held-out data in FILE (default: $HELDOUT_LEDGER)",
    )
    add(
        "--data",
        metavar="NAME",
        help="name of the held-out data in the ledger (default: a fingerprint)",
    )


def check_claims(options: argparse.Namespace) -> None:
    """Refuse what can be refused before any file is read."""
    from heldout.infer.results import check_level

    if options.gate == "better" and options.margin is None:
        options.margin = 0.0
    if (options.gate is None) != (options.margin is None):
        raise InputError(
            f"--gate {options.gate} needs --margin X"
            if options.gate
            else "--margin goes with --gate"
        )
    _set_side(options)
    lowest = "0 or more" if options.gate == "better" else "a number above 0"
    if options.margin is not None and not 0 <= options.margin < float("inf"):
        raise InputError(f"--margin {options.margin:g}: expected {lowest}")
    if options.margin == 0 and options.gate != "better":
        raise InputError(
            f"--margin 0: expected {lowest}; --gate better asks for a gain, however small"
        )
    check_level(options.level, one_sided=options.gate is not None)
    if options.data is not None and not options.data.strip():
        raise InputError("--data: expected a name for the held-out data")
    options.ledger = options.ledger or os.environ.get("HELDOUT_LEDGER")
    if options.ledger:
        from heldout.infer.ledger import check_ledger

        check_ledger(options.ledger)


def _set_side(options: argparse.Namespace) -> None:
    """Compare as the gate reads it: one-sided for better, else two-sided."""
    if options.gate is None:
        return
    fitting = ("two-sided", "greater") if options.gate == "better" else ("two-sided",)
    if options.alternative not in fitting:
        raise InputError(
            f"--alternative {options.alternative} does not go with --gate {options.gate}: leave it "
            "out"
        )
    options.alternative = fitting[-1]


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
        test_share=test_share,
        seed=options.seed,
        positive=positive,
        by=by,
        progress=progress,
    )


def compare_results(
    results: Results,
    measure: str,
    options: argparse.Namespace,
    progress: Callable[[int, int], None] | None = None,
) -> Comparison:
    """Compare the systems of an experiment, which knows which of them were tuned."""
    if options.test_share is not None:
        raise InputError("--test-share: results know the sizes of their folds")
    return results.compare(
        measure,
        baseline=options.baseline,
        tests=options.test or (),
        alternative=options.alternative,
        level=options.level,
        correction=options.correction,
        seed=options.seed,
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
    """Compare systems in each of several measures.

    Parameters
    ----------
    given
        What `heldout.compare` takes: evaluations, predictions.
    measures
        The measures.
    options
        Those of `add_claim_arguments`, and ``quiet``.
    positive, by
        As `heldout.compare` takes them.
    """
    from heldout.infer.comparison import note_measures

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
    signatures: Sequence[str] = (),
    nameless: str = "",
    shown: bool = True,
) -> int:
    """Test the gate, record the comparisons in the ledger, and show them.

    Parameters
    ----------
    comparisons
        One per measure.
    options
        With ``gate``, ``margin``, ``ledger``, ``data``, ``format`` (not auto), ``output``.
    signatures
        What makes the value of each measure comparable with others, if it has such a text.
    nameless
        A note on data without a name in the ledger; empty if they need none.
    shown
        Whether to print or write the comparisons; not if the caller does, on a page.

    Returns
    -------
    int
        The exit code: 1 if the gate fails.
    """
    from heldout.report.gate import gate_sentence
    from heldout.report.tables import note_lines

    comparisons = [_named(one, options.data) for one in comparisons]
    if options.gate == "better":
        comparisons = list(map(_one_sided, comparisons))
    gates = [_gate(one, options) for one in comparisons] if options.gate else []
    results = [result for found in gates for result in found]
    text = _text(comparisons, gates, signatures, options) if shown else None
    # Everything is known now: nothing is shown or written if any of it had failed.
    said = [f"signature: {one}" for one in signatures if options.format != "json"]
    said += note_lines(_beside(comparisons, options))
    said += _publish(text, comparisons, options, nameless)
    shown_above = text is not None and options.format == "md" and options.output is None
    for result in results:
        said += [] if shown_above else [gate_sentence(result)]
    if options.quiet:
        said = [] if shown_above else list(map(gate_sentence, results))
    sys.stderr.write("".join(note + "\n" for note in said))
    return 0 if all(result.passed for result in results) else 1


def _one_sided(comparison: Comparison) -> Comparison:
    """Without the warning about one-sided tests: whoever sets a gate fixes its side beforehand."""
    from dataclasses import replace

    kept = tuple(note for note in comparison.warnings if note.code != "one-tail")
    return replace(comparison, warnings=kept)


def notes_in_options(comparison: Comparison, options: argparse.Namespace) -> Comparison:
    """With the parameter of Python that a note names as an option; names of systems stay."""
    from dataclasses import replace

    from heldout.cli.places import as_options

    notes = tuple(
        replace(note, text=as_options(note.text, options)) if note.code == "many-systems" else note
        for note in comparison.warnings
    )
    return replace(comparison, warnings=notes)


def _named(comparison: Comparison, data: str | None) -> Comparison:
    from dataclasses import replace

    if data is None:
        return comparison
    return replace(comparison, scores=replace(comparison.scores, data=data.strip()))


def _gate(comparison: Comparison, options: argparse.Namespace) -> list[GateResult]:
    from heldout.infer.gate import gate

    return gate(comparison, options.gate, options.margin)


def _text(
    comparisons: list[Comparison],
    gates: list[list[GateResult]],
    signatures: Sequence[str],
    options: argparse.Namespace,
) -> str:
    from heldout.report.claims import claims_csv, claims_texts
    from heldout.report.gate import gates_junit, gates_markdown

    if options.format == "json":
        return _json(comparisons, gates, signatures)
    if options.format == "junit":
        return gates_junit([result for found in gates for result in found])
    if options.format in {"csv", "parquet"}:
        claims = [claims_csv(comparisons)]
    elif options.format == "latex":
        from heldout.report.paper import paper_table

        claims = [paper_table(comparisons)]
    else:
        terminal = options.output is None and sys.stdout.isatty()
        claims = claims_texts(
            comparisons,
            options.format,
            terminal=terminal,
            known=[note for one in comparisons for note in one.warnings] if options.quiet else (),
            full=options.full or (terminal and terminal_width() >= _WIDE),
        )
        claims += _agreement(comparisons, options.format)
    verdicts = [gates_markdown(found) for found in gates] if options.format == "md" else []
    return "\n".join([*verdicts, *claims])


def _agreement(comparisons: list[Comparison], kind: str) -> list[str]:
    """How far several measures agree; other programs find it in JSON."""
    from heldout.report.order_agreement import agreement_text

    text = agreement_text(comparisons, kind)
    return [text] if text else []


def _json(
    comparisons: list[Comparison], gates: list[list[GateResult]], signatures: Sequence[str]
) -> str:
    from heldout.as_json import json_text
    from heldout.report.claims import claim_records
    from heldout.report.gate import with_gates

    records = claim_records(comparisons)
    for record, signature in zip(records, signatures, strict=False):
        record["signature"] = signature
    return json_text(with_gates(records, gates) if gates else records)


def _beside(comparisons: list[Comparison], options: argparse.Namespace) -> list[Note]:
    """The notes that the result itself does not hold: some formats have no place for them."""
    if options.format not in {"tsv", "csv", "parquet", "junit"}:
        return []
    return [note for one in comparisons for note in one.warnings]


def _publish(
    text: str | None, comparisons: list[Comparison], options: argparse.Namespace, nameless: str
) -> list[str]:
    """Record the comparisons, then show them; nothing is shown that is not recorded.

    Returns
    -------
    list of str
        Notes to print beside the result.
    """
    if text is None:
        return _record(comparisons, options, nameless)
    if options.output is None:
        said = _record(comparisons, options, nameless)
        (show if options.format == "table" else emit)(text)
        return said
    from heldout.data.atomic import write_atomically

    with write_atomically(options.output) as aside:
        if options.format == "parquet":
            from heldout.report.claims import claims_frame

            claims_frame(comparisons).write_parquet(aside)
        else:
            aside.write_text(text, encoding="utf-8", newline="\n")
        return _record(comparisons, options, nameless)


def _record(comparisons: list[Comparison], options: argparse.Namespace, nameless: str) -> list[str]:
    """Record the comparisons in the ledger, if there is one, and say how many there were."""
    if not options.ledger:
        return []
    import shlex

    from heldout.infer.ledger import Look, record_looks

    command = shlex.join(["heldout", *sys.argv[1:]])
    looks = record_looks(
        options.ledger,
        (
            Look(
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
        ),
    )
    same = [look for look in looks if look.fingerprint == comparisons[0].scores.data]
    systems = {system for look in same for system in look.systems}
    counted = f"systems: {len(systems)}, measures: {len({look.measure for look in same})}"
    where = f"heldout ledger {shlex.quote(options.ledger)} shows all, with adjusted p-values"
    notes = [f"ledger: evaluation {len(same)} of these data ({counted}); {where}"]
    return [*notes, nameless] if nameless and options.data is None else notes

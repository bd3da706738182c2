"""heldout compare: which systems are better, and by how much."""

from __future__ import annotations

import argparse
import os
import sys
from dataclasses import replace
from typing import TYPE_CHECKING, Any, Final

from heldout.cli import inputs, output
from heldout.cli.main import GATE_FAILED, OK
from heldout.cli.options import Parser, complete
from heldout.cli.progress import progress_bar
from heldout.errors import InputError

if TYPE_CHECKING:
    from collections.abc import Sequence

    from heldout.infer.comparison import Comparison

FORMATS: Final = (*output.TABLES, "parquet", "junit")

NOTES: Final = f"""\
Of two systems the first is the baseline; of three or more all pairs are compared, unless --baseline
names one; of texts the first file is the baseline. A table is wide (unit,A,B,...) or long
(system,unit,value). Of results, level and seed are those of the experiment unless they are given.

{inputs.FILES}
tests (--test):
  randomization       Fisher's randomization test of the means (default); also fisher, permutation
  t                   paired t test of the means (shown beside it by default); also student
  bootstrap-shift     bootstrap test of the means, for 100 units or more; also bootstrap
  wilcoxon            Wilcoxon signed-rank test
  sign                sign test of wins against losses
  mcnemar             McNemar's test for scores of 0 and 1 (default for them)
  corrected-t         t test for folds that share training data; needs --test-share
  retuned-t           t test that includes tuning in folds (default of heldout run)
  prediction-powered  t test of human and machine judgements together (with --machine)

corrections for several comparisons (--correction):
  romano-wolf  stepwise bootstrap of studentized differences (default)
  tukey        all pairs, studentized range; assumes that all differences vary alike
  holm         any test: stepwise Bonferroni (default with --test)
  bonferroni   any test: times the number of comparisons
  bh           any test: false discovery rate (Benjamini-Hochberg)
"""
EXAMPLES: Final = """\
  heldout compare qrels.txt old.run new.run
  heldout compare qrels.txt runs/*.run --baseline bm25 --correction holm
  heldout compare --scores scores.csv --test randomization --test t
  heldout compare --scores results/                        of heldout run -o results
  heldout compare qrels.txt old.run new.run --gate better
  heldout compare qrels.txt old.run new.run --gate non-inferior --margin 0.01 -o gate.xml
  heldout compare qrels.txt old.run new.run -o report.html
  heldout compare human.qrels old.run new.run --machine llm.qrels
  heldout compare --scores scores.csv --ledger looks.jsonl --data "test questions 2024"
  heldout compare knn.csv logistic.csv -m accuracy -m "F1(macro)"
  heldout compare -r references.txt a.txt b.txt -m BLEU -m chrF
"""


def parser() -> Parser:
    """The parser of this command."""
    return Parser(
        "compare",
        "Test which systems are better, and by how much.",
        {"files* FILE": "judgements and runs, predictions, or texts"},
        usage=f"{inputs.USAGE}\n--scores FILE",
        examples=EXAMPLES,
        notes=NOTES,
    )


def run(arguments: Sequence[str]) -> int:
    """Compare the systems, record and write the result, and say whether the gate passes."""
    given = parser().read(arguments)
    kind = inputs.kind_of(given)
    # What is not given is as in the experiment that the results are of.
    usual = {"level": None, "seed": None} if kind == "results" else {}
    options = complete(argparse.Namespace(**usual | vars(given)), "compare", kind)
    form = output.format_of(options, FORMATS)
    _check(options, form)
    from heldout.infer.comparison import note_measures
    from heldout.infer.gate import gate
    from heldout.report import comparison as report
    from heldout.report.answers import gate_sentence
    from heldout.report.table import note_lines

    several = list(inputs.systems_of(kind, options))
    if kind == "text":
        options.baseline = options.baseline or several[0][0].names[0]
    comparisons = note_measures([_compared(*systems, options) for systems in several])
    gates = [gate(c, options.gate, options.margin) for c in comparisons if options.gate]
    results = [result for of_measure in gates for result in of_measure]
    signatures = several[0][0].about if kind == "text" else ()

    def records() -> str:
        from heldout.as_json import json_text
        from heldout.infer.order_agreement import comparison_records

        records = comparison_records(comparisons)
        for record, signature in zip(records, signatures, strict=False):
            record["signature"] = signature
        for record, of_measure in zip(records, gates, strict=False):
            record["gate"] = [r._asdict() | {"sentence": gate_sentence(r)} for r in of_measure]
        return json_text(records)

    width, shown = output.terminal_width(options), {"full": options.full, "quiet": options.quiet}
    own = {
        "table": lambda: report.comparisons_text(comparisons, width=width, **shown),
        "md": lambda: report.comparisons_markdown(comparisons, results, **shown),
        "latex": lambda: report.paper_text(comparisons),
        "junit": lambda: report.gates_junit(results),
        "json": records,
        "html": lambda: _page(kind, comparisons, options),
    }
    notes = [f"signature: {signature}" for signature in signatures if form != "json"]
    if form in {"tsv", "csv", "parquet", "junit"}:  # they have no place for notes
        notes += note_lines(note for comparison in comparisons for note in comparison.warnings)

    def record() -> None:
        if options.ledger:
            notes.extend(_recorded(kind, comparisons, options))

    if form == "html":  # the page shows what the ledger holds
        record()
        notes.append(f"Open {options.output} in a browser.")
    first = None if form == "html" else record
    output.write(comparisons, options, form, frames=("csv", "parquet"), own=own, first=first)
    output.note(notes, options)
    if form != "md" or options.output is not None:  # else they were printed with the result
        sys.stderr.writelines(f"{gate_sentence(result)}\n" for result in results)
    return OK if all(result.passed for result in results) else GATE_FAILED


def _check(options: argparse.Namespace, form: str) -> None:
    """Refuse what can be refused before any file is read."""
    from heldout.infer.ledger import check_ledger
    from heldout.infer.results import check_level

    if options.gate == "better":
        options.margin = options.margin or 0.0
        if options.alternative == "two-sided":
            options.alternative = "greater"  # as the gate reads it
    html, gate = form == "html", options.gate
    refused = {
        f"--gate {gate} needs --margin X": gate and options.margin is None,
        "JUnit XML holds the verdicts of a gate: add --gate": form == "junit" and not gate,
        "an HTML report needs a file: name it with -o FILE": html and not options.output,
        "--collection goes with an HTML report (-o FILE.html)": options.collection and not html,
        "--data: expected a name for the held-out data": options.data == "",
    }
    for message, is_so in refused.items():
        if is_so:
            raise InputError(message)
    if html:
        output.check_page(options.output)
    if options.level is not None:
        check_level(options.level, one_sided=gate is not None)
    options.ledger = options.ledger or os.environ.get("HELDOUT_LEDGER") or None
    if options.ledger:
        check_ledger(options.ledger)


def _compared(systems: Any, measure: Any, options: argparse.Namespace) -> Comparison:
    from heldout.infer.compare import compare

    if options.gate and options.baseline is None and len(getattr(systems, "systems", ())) > 2:
        raise InputError("a gate needs a baseline: name it with --baseline")
    with progress_bar("pairs", quiet=options.quiet) as progress:
        comparison = compare(
            systems,
            measure,
            baseline=options.baseline,
            tests=options.test or (),
            alternative=options.alternative,
            level=options.level,
            correction=options.correction or "",
            test_share=options.test_share,
            seed=options.seed,
            positive=options.positive,
            by="unit" if options.by_unit else "auto",
            progress=progress,
        )
    if options.gate:  # who sets a gate fixes its side beforehand
        kept = tuple(note for note in comparison.warnings if note.code != "one-tail")
        comparison = replace(comparison, warnings=kept)
    if options.data is not None:
        comparison = replace(comparison, scores=replace(comparison.scores, data=options.data))
    return comparison


def _page(kind: str, comparisons: Sequence[Comparison], options: argparse.Namespace) -> str:
    """The page, with the ranked lists behind the scores where there are any."""
    from heldout.report.page import page

    files = ", ".join(options.files or [options.scores])
    made = [("command", output.this_command()), ("files", files)]
    behind: dict[str, Any] = {}
    if kind == "ranking" and "-" not in options.files:
        from heldout.data.collection_files import read_collection
        from heldout.data.qrels import read_qrels
        from heldout.data.run import Run, read_run
        from heldout.measure.ranking.evaluate import policies_in_words

        qrels, *runs = options.files
        behind["qrels"] = read_qrels(*inputs.split_paths(qrels))
        behind["runs"] = dict(zip(comparisons[0].scores.systems, map(read_run, runs), strict=True))
        if options.collection is not None:
            behind["collection"] = read_collection(options.collection)
        ties = str(Run.__dataclass_fields__["ties"].default)
        policies = policies_in_words([ties], "skip" if options.intersection else "zero")
        made += [(f"policy: {name}", words) for name, words in policies]
    return page(comparisons, ledger=options.ledger, made=made, **behind)


def _recorded(
    kind: str, comparisons: Sequence[Comparison], options: argparse.Namespace
) -> list[str]:
    """Record the comparisons in the ledger, and say how many there were."""
    import shlex

    from heldout.infer.ledger import Look, record_looks

    command = output.this_command()
    looks = record_looks(
        options.ledger,
        (
            Look(
                *(each.scores.data, claim[:2], each.scores.measure, *claim.outcomes[0][:2]),
                *(claim.difference.estimate, len(each.scores.units), command),
            )
            for each in comparisons
            for claim in each.claims
        ),
    )
    count = sum(look.fingerprint == comparisons[0].scores.data for look in looks)
    where = f"heldout ledger {shlex.quote(options.ledger)} shows all, with adjusted p-values"
    notes = [f"ledger: evaluation {count} of these data; {where}"]
    if kind in {"scores", "results"} and options.data is None:
        notes.append(
            "ledger: a table identifies its data only by the ids of its units, which other data "
            "may share: name the data with --data"
        )
    return notes

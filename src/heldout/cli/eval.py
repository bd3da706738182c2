"""heldout eval: measure runs, predictions or texts."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from heldout.as_json import json_text
from heldout.cli import inputs
from heldout.cli.options import Parser, complete
from heldout.cli.output import TABLES, format_of, note, terminal_width, write
from heldout.cli.progress import progress_bar
from heldout.errors import InputError

if TYPE_CHECKING:
    import argparse

    from heldout.data.qrels import Qrels
    from heldout.measure.evaluation import Evaluation

OF_RUNS: Final = ("parquet", "trec")


def parser() -> Parser:
    """The parser of this command."""
    return Parser(
        "eval",
        "Measure runs, predictions or texts.",
        {"files+ FILE": "judgements and runs, predictions, or texts"},
        usage=inputs.USAGE,
        examples="""\
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
""",
        notes=f"""\
{inputs.FILES}
Measures are named as in ir_measures, ranx, trec_eval, scikit-learn or sacrebleu; heldout list
measures has them. -m file.py:name uses a function or Measure of yours.
""",
    )


def run(arguments: list[str]) -> int:
    """Measure the files and write the values."""
    given = parser().read(arguments)
    kind = inputs.kind_of(given)
    options = complete(given, "eval", kind)
    formats = (*TABLES, *OF_RUNS) if kind == "ranking" else TABLES
    form = format_of(options, formats, "tsv" if terminal_width(options) is None else "table")
    if form not in formats:
        raise InputError(f"--format {form} is for runs")
    if kind == "ranking":
        _rankings(options, form)
        return 0
    if kind == "text":
        _scores(inputs.evaluate_texts(options), options, form)
        return 0
    from heldout.measure.prediction.evaluate import evaluate_predictions

    predictions = inputs.read_predictions(kind, options)
    measures = inputs.given_measures(options.measure, kind)
    _scores(evaluate_predictions(predictions, measures, options.positive), options, form)
    return 0


def _rankings(options: argparse.Namespace, form: str) -> None:
    if options.machine is not None and (form in OF_RUNS or options.per_unit):
        wrong = "--per-unit" if options.per_unit else f"--format {form}"
        raise InputError(f"{wrong} does not go with --machine, whose estimates are means")
    if options.docs and form != "trec":
        raise InputError("--docs is for --format trec; elsewhere name them: -m 'Utility(docs=100)'")
    names = options.measure or []
    if not any(":" in name for name in names):  # else code of the user's
        inputs.import_numpy_without_threads()
    from heldout.data.qrels import read_qrels
    from heldout.measure.names import parse_measures
    from heldout.measure.ranking.evaluate import needs_subtopics

    known = [] if form == "trec" else [name for name in names if ".py:" not in name]
    subtopics = needs_subtopics(parse_measures(known, "ranking"))
    qrels, runs = inputs.judgements_and_runs(options.files)
    judgements = read_qrels(*inputs.split_paths(qrels), subtopics=subtopics)
    if form == "trec":
        write([], options, form, own={"trec": lambda: _trec(judgements, runs, options)})
        return
    result = _evaluated(judgements, runs, options)
    from heldout.report.evaluation import evaluation_lines, evaluation_tables

    rows: dict[str, Any] = {"per_unit": options.per_unit, "summary": not options.no_summary}
    rows |= {"level": options.level}
    write(
        [result],
        options,
        form,
        tables=lambda: evaluation_tables(result, form, **rows),
        own={"json": lambda: json_text(result.to_dict(**rows))},
    )
    if form not in {"json", "md", "latex", "html"}:  # where notes are with the table
        note(evaluation_lines(result), options)


def _trec(judgements: Qrels, runs: list[str], options: argparse.Namespace) -> str:
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
        for path in runs
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


def _evaluated(judgements: Qrels, runs: list[str], options: argparse.Namespace) -> Evaluation:
    from heldout.measure.ranking.evaluate import DEFAULT_MEASURES, evaluate_runs

    usual = DEFAULT_MEASURES if options.machine is None else DEFAULT_MEASURES[:3]
    with progress_bar("runs", quiet=options.quiet or len(runs) < 2) as progress:
        return evaluate_runs(
            judgements,
            runs,
            inputs.given_measures(options.measure, "ranking") or usual,
            missing="skip" if options.intersection else "zero",
            depth=options.depth,
            rel=options.rel,
            judged_only=options.judged_only,
            ties=options.ties,
            progress=progress,
            machine=options.machine,
            assume_random=options.assume_random,
        )


def _scores(result: Evaluation, options: argparse.Namespace, form: str) -> None:
    """Write the scores of predictions or texts, with their intervals."""
    from heldout.infer.results import check_level
    from heldout.report import evaluation as report

    how: dict[str, Any] = {"level": check_level(options.level), "seed": options.seed}
    hull = None
    if options.hull:
        from heldout.measure.prediction.curves import hull_of

        hull = hull_of([result.data[name] for name in result.names])

    def record() -> str:
        more = {} if hull is None else {"hull": hull.to_dict()}
        return json_text(result.to_dict(**how) | more)

    tables = report.evaluation_tables(result, form, **how)
    tables += [report.class_table(result)] if options.per_class else []
    tables += report.confusion_tables(result) if options.confusion else []
    tables += [] if hull is None else [report.hull_table(hull)]
    tables = [table for table in tables if table.cells]
    write([result], options, form, tables=lambda: tables, own={"json": record})
    if form != "json":
        note(report.evaluation_lines(result, hull=hull, **how), options)

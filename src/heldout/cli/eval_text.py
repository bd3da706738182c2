"""What ``heldout eval`` does with texts, and how ``heldout compare`` reads them."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

from heldout.as_json import json_text
from heldout.cli.files import emit, refuse_same_file
from heldout.cli.measures import given_measures
from heldout.cli.progress import progress_bar
from heldout.errors import InputError

if TYPE_CHECKING:
    import argparse

    from heldout.data.segments import Segments
    from heldout.measure.evaluation import Evaluation
    from heldout.report.scores import Intervals

__all__ = ["eval_text", "evaluate_texts"]


def evaluate_texts(options: argparse.Namespace) -> Evaluation:
    """Read and measure texts.

    Parameters
    ----------
    options
        ``files`` (one per system), ``references`` (parallel files, or one of JSON lines; none if
        the first file holds them itself), ``measure`` (names), ``quiet``.
    """
    from heldout.measure.names import parse_measures
    from heldout.measure.text.evaluate import DEFAULT_TEXT_MEASURES
    from heldout.measure.text.evaluate import evaluate_texts as evaluate
    from heldout.measure.text.packages import needs_references

    refuse_same_file(options.files)
    given = given_measures(options.measure, "text")
    measures = parse_measures(given or DEFAULT_TEXT_MEASURES, "text")
    needed = any(needs_references(one) for one in measures)
    references = _references(options) if needed else None
    with progress_bar("counting", quiet=options.quiet) as progress:
        return evaluate(references, _systems(options.files), measures, progress)


def eval_text(options: argparse.Namespace) -> int:
    """Measure texts against references and print their scores; return the exit code."""
    from heldout.infer.scored_inputs import system_interval
    from heldout.report.tables import note_lines, tables_page
    from heldout.report.text_scores import about_line, text_score_record, text_scores_text

    evaluation = evaluate_texts(options)
    measures, notes = evaluation.measures, evaluation.notes
    with progress_bar("intervals", quiet=options.quiet) as progress:
        intervals: Intervals = {}
        for done, measure in enumerate(measures, 1):
            for name in evaluation.names:
                intervals[name, measure] = system_interval(
                    evaluation, name, measure, level=options.level, seed=options.seed
                )
            if progress:
                progress(done, len(measures))
    if options.format == "json":
        record = text_score_record(evaluation, intervals, options.level)
        emit(json_text(record), options.output)
        return 0
    terminal = options.output is None and sys.stdout.isatty()
    text = text_scores_text(evaluation, intervals, options.format, terminal=terminal)
    emit(tables_page(text, options.format, "Scores"), options.output)
    if not options.quiet:
        lines = [about_line(evaluation, intervals, options.level), *note_lines(notes)]
        sys.stderr.write("".join(line + "\n" for line in lines))
    return 0


def _references(options: argparse.Namespace) -> Segments:
    from heldout.data.segments import read_own_references, read_references

    if options.references:
        return read_references(*options.references)
    try:
        return read_own_references(options.files[0])
    except InputError as error:
        raise InputError(
            f"no references: add --references FILE, since the first file has none ({error})"
        ) from None


def _systems(files: list[str]) -> list[Segments]:
    """One system per file, named by it, or by its whole path where two have the same name."""
    from dataclasses import replace

    from heldout.data.segments import read_hypotheses

    found = [read_hypotheses(path) for path in files]
    names = [one.name for one in found]
    return [
        replace(one, name=path) if names.count(one.name) > 1 else one
        for one, path in zip(found, files, strict=True)
    ]

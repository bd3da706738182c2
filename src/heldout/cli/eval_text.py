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
    from heldout.infer.text_intervals import TextScores
    from heldout.measure.evaluation import Evaluation

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
    from heldout.infer.text_intervals import corpus_intervals
    from heldout.report.tables import note_lines, tables_page
    from heldout.report.text_scores import about_line, text_score_record

    evaluation = evaluate_texts(options)
    measures, notes = evaluation.measures, evaluation.notes
    with progress_bar("intervals", quiet=options.quiet) as progress:
        scores = []
        for one in measures:
            scores.append(corpus_intervals(evaluation, one, seed=options.seed, level=options.level))
            if progress:
                progress(len(scores), len(measures))
    if options.format == "json":
        record = text_score_record(evaluation.names, scores, notes)
        emit(json_text(record), options.output)
        return 0
    text = tables_page(_text(evaluation.names, scores, options), options.format, "Scores")
    emit(text, options.output)
    if not options.quiet:
        lines = [about_line(scores), *note_lines(notes)]
        sys.stderr.write("".join(line + "\n" for line in lines))
    return 0


def _text(names: tuple[str, ...], scores: list[TextScores], options: argparse.Namespace) -> str:
    from heldout.report import text_scores

    terminal = options.output is None and sys.stdout.isatty()
    return text_scores.text_scores_text(names, scores, options.format, terminal=terminal)


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

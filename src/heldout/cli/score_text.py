"""What ``heldout score text`` does: read, score, compare, print."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

from heldout.as_json import json_text
from heldout.cli.progress import progress_bar
from heldout.errors import InputError

if TYPE_CHECKING:
    import argparse

    from heldout.data.segments import Segments
    from heldout.infer.intervals.texts import TextScores
    from heldout.measure.text.evaluate import TextEvaluation
    from heldout.notes import Note

__all__ = ["score_text"]


def score_text(options: argparse.Namespace) -> int:
    """Score text files against references.

    Parameters
    ----------
    options
        ``files`` (a system each), ``references`` (parallel files, or one of JSON lines; none if
        the first file holds them itself), ``measure`` (names), ``compare`` (with the first file,
        or the one that ``baseline`` names), ``format``, ``output``, and how to compare.

    Returns
    -------
    int
        The exit code: 1 if a gate stays shut.
    """
    from heldout.cli import emit  # the main module imports commands
    from heldout.infer.intervals.texts import corpus_intervals
    from heldout.measure.parse import parse_measures
    from heldout.measure.text.evaluate import DEFAULT_TEXT_MEASURES, evaluate_text
    from heldout.report.tables import note_lines, tables_page
    from heldout.report.text_scores import about_line, text_score_record

    if options.compare and len(options.files) < 2:
        raise InputError("one file: there is nothing to compare it with")
    measures = parse_measures(options.measure or DEFAULT_TEXT_MEASURES, "text")
    needed = any(one.needs_references for one in measures)
    references = _references(options) if needed else None
    with progress_bar("counting", quiet=options.quiet) as progress:
        evaluation = evaluate_text(references, _systems(options.files), measures, progress=progress)
    notes = evaluation.notes
    if options.compare:
        return _compared(evaluation, notes, options)
    with progress_bar("intervals", quiet=options.quiet) as progress:
        scores = []
        for one in measures:
            scores.append(corpus_intervals(evaluation, one, seed=options.seed, level=options.level))
            if progress:
                progress(len(scores), len(measures))
    if options.format == "json":
        record = text_score_record(evaluation.names, scores, notes)
        text = json_text(record)
        emit(text, options.output)
        return 0
    text = tables_page(_text(evaluation.names, scores, options), options.format, "Scores")
    emit(text, options.output)
    if not options.quiet:
        lines = [about_line(scores), *note_lines(notes)]
        sys.stderr.write("".join(line + "\n" for line in lines))
    return 0


def _compared(
    evaluation: TextEvaluation, notes: tuple[Note, ...], options: argparse.Namespace
) -> int:
    from heldout.cli.claims import compare_measures, present
    from heldout.infer.intervals.texts import TextScores
    from heldout.report.text_scores import about_line, text_score_record

    options.baseline = options.baseline or evaluation.names[0]
    found = compare_measures(evaluation, evaluation.measures, options)
    scores = [
        TextScores(
            measure,
            evaluation.signature(measure),
            tuple(row.mean for row in one.systems),
            len(one.scores.units),
        )
        for measure, one in zip(evaluation.measures, found, strict=True)
    ]
    if options.format == "json":
        return present(found, options, content=text_score_record(evaluation.names, scores, notes))
    return present(
        found,
        options,
        before=_text(evaluation.names, scores, options),
        lines=[about_line(scores)],
        notes=notes,
    )


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
            f"no references were given, and the first file holds none ({error})"
        ) from None


def _systems(files: list[str]) -> list[Segments]:
    """A system a file, named by it; by the whole path where two files have one name."""
    from dataclasses import replace

    from heldout.data.segments import read_hypotheses

    found = [read_hypotheses(path) for path in files]
    names = [one.name for one in found]
    return [
        replace(one, name=path) if names.count(one.name) > 1 else one
        for one, path in zip(found, files, strict=True)
    ]

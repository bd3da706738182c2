"""What ``heldout score text`` does: read, score, compare, print."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

from heldout.errors import InputError

if TYPE_CHECKING:
    import argparse

    from heldout.data.segments import Segments

__all__ = ["score_text"]


def score_text(options: argparse.Namespace) -> None:
    """Score text files against references.

    Parameters
    ----------
    options
        ``files`` (a system each), ``references`` (parallel files, or one of JSON lines; none if
        the first file holds them itself), ``measure`` (names), ``compare`` (with the first file),
        ``json``, ``output``, ``seed``.
    """
    from heldout.cli import emit  # the main module imports commands
    from heldout.infer.corpus_compare import compare_corpora, corpus_intervals
    from heldout.measure.text_evaluate import DEFAULT_TEXT_MEASURES, evaluate_text
    from heldout.measure.text_names import parse_text_measures
    from heldout.report import text_scores

    if options.compare and len(options.files) < 2:
        raise InputError("one file: there is nothing to compare it with")
    measures = parse_text_measures(options.measure or DEFAULT_TEXT_MEASURES)
    needed = any(one.needs_references for one in measures)
    references = _references(options) if needed else None
    evaluation = evaluate_text(references, _systems(options.files), measures)
    weigh = compare_corpora if options.compare else corpus_intervals
    comparisons = [weigh(evaluation, one, seed=options.seed) for one in measures]
    names, notes = evaluation.names, evaluation.notes()
    if options.json:
        emit(text_scores.json_text_scores(names, comparisons, notes), options.output)
        return
    terminal = options.output is None and sys.stdout.isatty()
    write = text_scores.text_scores_table if terminal else text_scores.text_scores_tsv
    emit(write(names, comparisons), options.output)
    sys.stderr.write("\n".join(text_scores.note_lines(notes, comparisons)) + "\n")


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

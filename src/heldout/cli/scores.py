"""What ``compare`` and ``power`` work on: judgements and runs, or a table of scores."""

from __future__ import annotations

import os
from dataclasses import replace
from typing import TYPE_CHECKING

from heldout.cli.old_help import group
from heldout.cli.old_inputs import judgements_and_runs, refuse_given
from heldout.cli.measures import given_measures
from heldout.cli.old_options import add_measures, machine_given
from heldout.errors import InputError, MeasureError

if TYPE_CHECKING:
    import argparse

    from heldout.data.scores import Scores
    from heldout.experiment.results.results import Results
    from heldout.measure.base import Measure
    from heldout.measure.ranking.evaluate import Missing

__all__ = [
    "OF_MACHINES",
    "add_score_arguments",
    "given_results",
    "read_inputs",
]

OF_MACHINES = {"machine": None, "assume_random": False}
_OF_TABLES = {"lower_is_better": False, "unit": None}


def add_score_arguments(parser: argparse.ArgumentParser, files: str) -> None:
    """Add the arguments that say where the scores come from.

    Parameters
    ----------
    files
        What the files are, for the help.
    """
    parser.add_argument("files", metavar="FILE", nargs="*", help=files)
    add_measures(
        parser,
        "measure (repeat for more; default: nDCG@10); with --scores: one of its measures, or a "
        "name for the scores",
    )
    add = group(parser, "input").add_argument
    add(
        "--scores",
        metavar="FILE",
        help="table of scores (CSV, TSV or Parquet; wide or long; also the output of heldout eval "
        "-q), or a results folder of heldout run",
    )
    add("--unit", metavar="NAME", help="with --scores: column of unit ids")
    add("--lower-is-better", action="store_true", help="with --scores: errors, times")
    add(
        "--intersection",
        action="store_true",
        help="use the judged queries that all runs have (default: a missing query counts 0; a "
        "table is always read so)",
    )


def given_results(options: argparse.Namespace) -> Results | None:
    """Return the results of an experiment that ``--scores`` names; None if it names a table."""
    if options.scores is None or not os.path.isdir(options.scores):
        return None
    from heldout.experiment.results.results import Results

    refuse_given(options, _OF_TABLES | {"intersection": False}, "tables of scores, not results")
    return Results.read(options.scores)


def read_inputs(options: argparse.Namespace) -> list[Scores]:
    """Return the scores to work on, one object per measure."""
    if options.scores is not None:
        refuse_given(options, OF_MACHINES, "judgements and runs")
        if options.files:
            raise InputError("give either --scores or judgements and runs, not both")
        results = given_results(options)
        if results is not None:
            return [results.scores(name) for name in options.measure or results.measures[:1]]
        return _read_table(options)
    refuse_given(options, _OF_TABLES, "tables of scores (--scores FILE)")
    if not options.files:
        raise InputError("no input: give judgements and runs, or --scores FILE (see --help)")
    return _evaluate(options)


def _read_table(options: argparse.Namespace) -> list[Scores]:
    from heldout.data.score_tables import scored_units  # NumPy comes with it
    from heldout.data.scores import paired_scores

    tables = scored_units(options.scores, units=options.unit)
    names = options.measure or ["score"]
    if "" not in tables:
        names = _measures_of_table(options.scores, list(tables), options.measure or [])
    elif len(names) > 1:
        raise InputError(
            f"{options.scores} has no column measure, but -m names {len(names)} measures "
            f"({', '.join(names)}): give one -m and one table per measure, or add that column"
        )
    higher = not options.lower_is_better
    scores = [paired_scores(tables[name if name in tables else ""], name) for name in names]
    return [replace(one, higher_is_better=higher) for one in scores]


def _measures_of_table(path: str, there: list[str], wanted: list[str]) -> list[str]:
    """Return the measures to take from a table, as it spells them."""
    from heldout.notes import named_few

    if not wanted and len(there) > 1:
        raise InputError(
            f"{path} has {len(there)} measures: choose with -m ({named_few(there, len(there), 10)})"
        )
    found = [name for one in wanted for name in _spellings(one, there)] or there
    for name in found:
        if name not in there:
            raise InputError(
                f"{path} has no measure {name}; it has {named_few(there, len(there), 10)}"
            )
        for measure in _known_measures(name):
            _refuse_incomparable(measure)
    return list(dict.fromkeys(found))


def _spellings(wanted: str, there: list[str]) -> list[str]:
    """Return the name of a measure in a table: as it was typed, or as heldout writes it."""
    if wanted in there:
        return [wanted]
    return [str(measure) for measure in _known_measures(wanted)] or [wanted]


def _known_measures(name: str) -> list[Measure]:
    """Return the measures of a name; none if it is a name of the user's."""
    from heldout.measure.names import parse_measures

    try:
        return parse_measures([name], "ranking")
    except MeasureError:
        return []


def _evaluate(options: argparse.Namespace) -> list[Scores]:
    from heldout.cli.files import refuse_same_file, split_paths
    from heldout.data.qrels import read_qrels  # NumPy comes with it
    from heldout.measure.names import parse_measures
    from heldout.measure.ranking.evaluate import evaluate_runs, needs_subtopics

    wanted = given_measures(options.measure, "ranking") or ["nDCG@10"]
    measures = parse_measures(wanted, "ranking")
    for measure in measures:
        _refuse_incomparable(measure)
    qrels, runs = judgements_and_runs(options)
    refuse_same_file(runs)
    judgements = read_qrels(*split_paths(qrels), subtopics=needs_subtopics(measures))
    missing: Missing = "skip" if options.intersection else "zero"
    result = evaluate_runs(
        judgements, runs, [*measures, "Judged@10"], missing=missing, **machine_given(options)
    )
    return [result.scores(measure) for measure in measures]


def _refuse_incomparable(measure: Measure) -> None:
    """Refuse, before anything is read, measures without a better and a worse."""
    family = measure.definition
    if family.how == "text":
        reason = "it is text, not a number"
    elif family.how == "geometric":
        reason = "it has no mean over queries; use AP instead"
    elif measure.family == "Judged":
        reason = "it is not a quality measure; the comparison shows it at 10 anyway"
    elif family.higher_is_better is None:
        reason = "neither high nor low values are better; heldout eval shows it"
    else:
        return
    raise MeasureError(f"-m {measure} cannot be compared: {reason}")

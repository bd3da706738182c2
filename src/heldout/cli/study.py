"""The command ``study bias``: arguments to library calls."""

from __future__ import annotations

import sys
from contextlib import nullcontext
from pathlib import Path
from typing import TYPE_CHECKING, Any

from heldout.cli.collection import open_collection
from heldout.cli.files import emit, show
from heldout.cli.groups import add_groups, given_groups
from heldout.cli.old_help import group
from heldout.cli.index import build_index, given_analyzer
from heldout.cli.measures import given_measures
from heldout.cli.old_options import (
    add_measures,
    add_queries,
    add_quiet,
    add_seed,
    add_source,
    add_stemming,
    positive,
)
from heldout.cli.old_output import add_output, output_format
from heldout.cli.progress import progress_bar
from heldout.errors import InputError

if TYPE_CHECKING:
    import argparse
    from collections.abc import Callable

    from heldout.data.collection import Collection
    from heldout.experiment.documents.candidates import Candidates
    from heldout.experiment.studies.bias import Tuning
    from heldout.experiment.systems.models import ModelSystem

__all__ = ["add_study"]

_FORMATS = ("table", "json")

_EXAMPLES = """\
  heldout study bias pydocs --fraction 0.5 --draws 20 --system 'bm25(k1=1, b=0.5)'
  heldout study bias pydocs --fraction 0.1667 --draws 20           the truth is 5x the sample
  heldout study bias pydocs --sets 5 --system 'bm25(b=0:1:5)' --pre-split    as older studies did it
  heldout study bias scifact --stemmer english --system 'bm25(k1=0.2:5:10:log, b=0:1:11)' --json
"""

_NOTES = """\
Each repetition draws a fraction of the documents (--fraction) as training data. The system is
tuned on them; its score on the other documents is the truth, which every estimation method has to
predict from the training data alone.
"""


def add_study(command: Callable[..., argparse.ArgumentParser], commands: Any) -> None:
    """Add the command ``study``."""
    study = command(
        commands, "study", "Check estimation methods where the truth is known.", _EXAMPLES
    )
    parts = study.add_subparsers(title="commands", metavar="COMMAND", required=True)
    parser = command(
        parts,
        "bias",
        "Compare estimation methods with the true score on unseen documents.",
        _EXAMPLES,
        notes=_NOTES,
    )
    add_source(parser)
    add_queries(parser)
    add = parser.add_argument
    add(
        "--system",
        default="bm25",
        metavar="SYSTEM",
        help="model (see heldout list models); ranges are tuned: bm25(k1=0.5:3:6, b=0.3,0.75), "
        "ql-dirichlet(mu=10:9999:7:log) (default: bm25)",
    )
    add_measures(parser, "measure (default: nDCG@10)", action="store", default="nDCG@10")
    add("--draws", type=positive, default=200, metavar="N", help="repetitions (default: 200)")
    add_groups(add)
    add_seed(parser)
    add_output(parser, _FORMATS, named=False)
    add_quiet(parser, "print the table and the verdict only")
    add_stemming(parser)
    add(
        "--fraction",
        type=float,
        default=0.5,
        metavar="X",
        help="fraction of the documents used as training data (default: 0.5)",
    )
    add(
        "--sets",
        type=positive,
        default=1,
        metavar="N",
        help="disjoint samples of that size per repetition (default: 1)",
    )
    add("--folds", type=positive, default=5, metavar="K", help="document folds (default: 5)")
    add("--pre-split", action="store_true", help="tune once before splitting (leaks)")
    add(
        "--replicates",
        type=int,
        default=100,
        metavar="N",
        help="random half-samples per interval (default: 100)",
    )
    group(parser, "output").add_argument(
        "--figures", metavar="FOLDER", help="write the data of the figures as CSV"
    )
    parser.set_defaults(run=_bias)


def _system(options: argparse.Namespace) -> ModelSystem:
    from heldout.experiment.systems.base import System
    from heldout.experiment.systems.models import ModelSystem

    system = System.of(options.system)
    if not isinstance(system, ModelSystem):
        raise InputError(f"--system {options.system}: a study needs a built-in model")
    return system


def _candidates(options: argparse.Namespace, system: ModelSystem) -> tuple[Candidates, Collection]:
    from heldout.experiment.documents.candidates import Candidates

    collection = open_collection(options)
    if not len(collection.qrels):
        raise InputError(f"{options.collection} has no judgements: give --qrels")
    index = build_index(collection.documents, given_analyzer(options), quiet=options.quiet)
    models = system.models(system.search.points)
    return Candidates.make(index, collection, models), collection


def _groups(options: argparse.Namespace, collection: Collection) -> Any:
    """The group of each document, or None; notes about them go to standard error."""
    import warnings

    from heldout.report.tables import note_lines
    from heldout.resample.plan import ResamplingWarning
    from heldout.resample.plans import KFold

    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ResamplingWarning)  # the notes say the same
        plan = KFold(2, groups=given_groups(options.groups))
        splits = plan.splits(collection, "document")
    if not options.quiet:
        sys.stderr.write("".join(line + "\n" for line in note_lines(splits.notes)))
    return splits.groups


def _named(system: ModelSystem) -> str:
    models = system.models(system.search.points)
    return str(models[0]) if len(models) == 1 else f"{system.model}, {len(models)} settings"


def _bias(options: argparse.Namespace) -> int:
    from heldout.data.atomic import made_folder
    from heldout.experiment.studies.bias import StudySettings, bias_study
    from heldout.measure.names import parse_measure
    from heldout.report.study import figure_tables, study_json, study_text

    options.format = output_format(options.format, options.output, _FORMATS, "table")
    system = _system(options)
    tuned = system.search.tuned
    if options.pre_split and not tuned:
        raise InputError("--pre-split needs ranges to tune, such as --system 'bm25(k1=0.5:3:6)'")
    tuning: Tuning = "pre-split" if options.pre_split else "nested" if tuned else "fixed"
    settings = StudySettings(
        parse_measure(given_measures([options.measure], "ranking")[0], "ranking"),
        options.fraction,
        options.draws,
        options.sets,
        options.folds,
        tuning,
        max(options.replicates, 0),
        seed=options.seed,
    )
    # Made first: a wrong folder should be noticed before minutes of work.
    with made_folder(options.figures) if options.figures else nullcontext():
        candidates, collection = _candidates(options, system)
        groups = _groups(options, collection)
        with progress_bar("draws", quiet=options.quiet) as progress:
            study = bias_study(candidates, settings, progress, groups=groups)
        if options.figures:
            for name, text in figure_tables(study, collection.queries.ids).items():
                emit(text, str(Path(options.figures, name)))
    if options.format == "json":
        emit(study_json(study, _named(system)), options.output)
    else:
        show(study_text(study, _named(system)), options.output)
    return 0

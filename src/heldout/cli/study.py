"""heldout study bias: estimation methods where the truth is known."""

from contextlib import nullcontext

from heldout.cli.index import build_index, given_analyzer
from heldout.cli.inputs import given_measures, open_collection, plan_table
from heldout.cli.options import Parser, complete
from heldout.cli.output import emit, format_of, note, write
from heldout.cli.progress import progress_bar
from heldout.cli.split import splits_of
from heldout.errors import InputError


def parser() -> Parser:
    """The parser of this command."""
    return Parser(
        "study",
        "Compare estimation methods with the true score on unseen documents.",
        {
            "study bias": "what to study: the bias of estimation methods",
            "collection COLLECTION": "pydocs, irds:NAME, a folder or a file",
        },
        examples="""\
  heldout study bias pydocs --fraction 0.5 --draws 20 --system 'bm25(k1=1, b=0.5)'
  heldout study bias pydocs --fraction 0.1667 --draws 20           the truth is 5x the sample
  heldout study bias pydocs --sets 5 --system 'bm25(b=0:1:5)' --pre-split    as older studies did it
  heldout study bias scifact --stemmer english --system 'bm25(k1=0.2:5:10:log, b=0:1:11)' --json
""",
        notes="""\
Each repetition draws a fraction of the documents (--fraction) as training data. The system is
tuned on them; its score on the other documents is the truth, which every estimation method has to
predict from the training data alone.
""",
    )


def run(arguments: list[str]) -> int:
    """Draw training data, estimate, and compare with the truth."""
    options = complete(parser().read(arguments), "study")
    if options.study != "bias":
        raise InputError(f"unknown study {options.study!r}: did you mean bias?")
    kind = format_of(options, ("table", "json"))
    from heldout.data.atomic import made_folder
    from heldout.experiment.documents.candidates import Candidates
    from heldout.experiment.studies.bias import StudySettings, bias_study
    from heldout.experiment.systems.base import System
    from heldout.experiment.systems.models import ModelSystem
    from heldout.measure.names import parse_measure
    from heldout.report.studies import study_figures
    from heldout.report.table import note_lines

    system = System.of(options.system)
    if not isinstance(system, ModelSystem):
        raise InputError(f"--system {options.system}: a study needs a built-in model")
    tuned = system.search.tuned
    if options.pre_split and not tuned:
        raise InputError("--pre-split needs ranges to tune, such as --system 'bm25(k1=0.5:3:6)'")
    settings = StudySettings(
        parse_measure(given_measures([options.measure], "ranking")[0], "ranking"),
        options.fraction,
        options.draws,
        options.sets,
        options.folds,
        "pre-split" if options.pre_split else "nested" if tuned else "fixed",
        options.replicates,
        seed=options.seed,
    )
    # Made first: a wrong folder should be noticed before minutes of work.
    with made_folder(options.figures) if options.figures else nullcontext():
        collection = open_collection(options)
        if not len(collection.qrels):
            raise InputError(f"{options.collection} has no judgements: give --qrels")
        index = build_index(collection.documents, given_analyzer(options), quiet=options.quiet)
        candidates = Candidates.make(index, collection, system.models(system.search.points))
        splits = splits_of(plan_table(options) | {"folds": 2}, "document", collection, options)
        note(note_lines(splits.notes), options)
        with progress_bar("draws", quiet=options.quiet) as progress:
            study = bias_study(candidates, settings, progress, groups=splits.groups)
        if options.figures:
            for name, text in study_figures(study, collection.queries.ids).items():
                emit(text, f"{options.figures}/{name}")
    write([study], options, kind)
    return 0

"""heldout run: tune systems on training data, measure them on held-out data, and compare them."""

from __future__ import annotations

import os
import sys
from typing import TYPE_CHECKING, Any

from heldout.as_json import json_text
from heldout.cli.inputs import of_both, plan_table, split_paths
from heldout.cli.options import Parser, complete, place_of
from heldout.cli.output import emit, note, terminal_width, this_command
from heldout.errors import InputError
from heldout.notes import count_of

if TYPE_CHECKING:
    import argparse
    from collections.abc import Iterable

    from heldout.experiment.experiment import Experiment


def parser() -> Parser:
    """The parser of this command."""
    given = (
        "collection (pydocs, irds:NAME, a folder, a file, an index), judgements if all systems are "
        "run files, an experiment (.toml), or a results folder to repeat"
    )
    return Parser(
        "run",
        "Tune systems on training data, measure them on held-out data, and compare them.",
        {"experiment INPUT": given},
        usage="""\
COLLECTION --system 'NAME=MODEL(PARAMETER=VALUES, ...)' [--system ...]
QRELS --system 'NAME=RUNS' [--system 'NAME=RUNS' ...]
EXPERIMENT.toml
RESULTS""",
        examples="""\
  heldout run pydocs --system 'bm25(k1=0.5:3:6, b=0:1:5)' --system 'ql-jm(lambda=0:1:11)'
  heldout run pydocs --system 'bm25(k1=0.5:3:6)' --by document --folds 5 -m nDCG@10 -m AP
  heldout run scifact --system 'A=bm25(k1=0.9, b=0.4)' --system 'B=bm25(k1=0.5:3:6)' -o results
  heldout run scifact --system 'ranker.py:rank(dims=50,100)' --leave-one-out
  heldout run scifact --system 'bm25(k1=0.5:3:6)' --hold-out 0.2 --validation 0.2
  heldout run qrels.txt --system 'hybrid=wsum(bm25.run, dense.run, w=0:1:11)' --system dense.run
  heldout run scifact --system bm25 --system 'rerank(first=bm25, depth=100, function=rank.py:f)'
  heldout run qrels.txt --system 'ql=runs/mu=*.run' --against bm25.run
  heldout run qrels.txt --system 'mine=folds/{fold}.run' --system bm25.run --folds 5
  heldout run scifact --qrels human.qrels --machine llm.qrels --system 'bm25(k1=0.5:3:6)'
  heldout run experiment.toml --dry-run
  heldout run experiment.toml -o results --resume      continue after an interruption
  heldout run experiment.toml -o results --dask tcp://node1:8786
  heldout run results -o again                         repeat an experiment
""",
        notes="""\
A system is a model with parameters, run files, or a function f(train, test, **parameters) in a
Python file, which is executed. k1=0.9 is fixed; k1=0.5:3:6 (from:to:count) and b=0.3,0.75 are
tuned on the training data of each split. Run files with * or ? are the settings of one system,
read from their names (name=value, joined by a comma, _ or -). NAME= before a system names it.
A fusion, such as wsum(bm25.run, dense.run, norm=minmax, w=0:1:11) or rrf(bm25, dense.run, k=10,60),
combines run files and other systems of the experiment; w is the weight of the first of two (see
heldout list methods). rerank(first=..., function=...) lets a function f(train, test, candidates)
reorder the first documents of a model, a run or another system. vectors(docs.npy, queries.npy)
ranks by embeddings, with their ids in docs.ids and queries.ids. folds/{fold}.run are runs of each
fold, made by another tool (also {repeat} and {split}, such as r0-f3).

Fields without an option (rule, runs, keep_depth, replicates, tune_on, and a table as collection
with query_field, split, fields, encoding) are written into an experiment file, such as the
experiment.toml that -o FOLDER keeps, or given in Python.

If all systems are run files or fusions of them and queries are held out, judgements are enough.
A file with task = "classification" or "regression" has a table as [data] (file, target, text or
features) and scikit-learn estimators as systems (estimator = "module:name", step__param in space).
""",
    )


def run(arguments: list[str]) -> int:
    """Run an experiment, or show what would be run."""
    given = parser().read(arguments)
    described = hasattr(given, "system")
    options = complete(given, "run", "systems" if described else "experiment")
    if options.resume and options.output is None:
        raise InputError("--resume needs the folder of the run: -o FOLDER")
    if options.resume and options.force:
        raise InputError("--resume continues and --force starts from scratch: give one of them")
    from heldout.experiment.experiment import Experiment
    from heldout.experiment.problems import ExperimentError

    place = options.experiment
    if not (described or place.endswith(".toml") or os.path.isfile(f"{place}/manifest.json")):
        raise InputError(f"{place} is no experiment (.toml): name systems to run with --system")
    experiment = Experiment(**_fields(options)) if described else Experiment.read(place)
    try:
        if options.dry_run:
            _show_plan(experiment, options)
        else:
            _run(experiment, options)
    except ExperimentError as error:
        if described:  # else the fields are those of a file
            error.place_of = place_of(options)
        raise
    return 0


def _show_plan(experiment: Experiment, options: argparse.Namespace) -> None:
    from heldout.experiment.manifest import make_manifest
    from heldout.report.experiment import loaded_code, plan_text

    prepared = experiment.check()
    if options.format:
        settings = make_manifest(prepared)["settings"]
        settings.pop("analyzer", None)  # of an index, which a dry run does not open
        loaded = loaded_code(prepared)
        emit(json_text({"settings": settings, "loaded": loaded, "notes": prepared.notes}))
    else:
        emit(plan_text(prepared, terminal_width()))


def _run(experiment: Experiment, options: argparse.Namespace) -> None:
    try:
        results = experiment.run(
            options.output,
            workers=options.jobs,
            dask=options.dask,
            resume=options.resume,
            force=options.force,
            progress=not options.quiet,
            on_message=lambda sentence: note([sentence], options),
            command=this_command(),
        )
    except KeyboardInterrupt:
        sys.stderr.write(f"heldout: {_how_to_continue(options)}\n")
        raise
    if options.format:
        emit(json_text(results.to_dict()))
    else:
        from heldout.report import text

        emit(text(results, full=options.full, width=terminal_width(), quiet=options.quiet))
    took = f"{count_of(results.manifest['settings']['splits'], 'split')}, "
    took += f"{results.timings['total']:.1f} s"
    kept = options.output is not None
    where = f"results in {options.output}" if kept else "results were not kept (use -o FOLDER)"
    note([f"{took}; {where}"], options)


def _how_to_continue(options: argparse.Namespace) -> str:
    """The command that continues this run."""
    import shlex

    if options.output is None:
        return "nothing was kept; with -o FOLDER a run can be continued"
    words = [word for word in sys.argv[1:] if word not in {"--resume", "--force"}]
    return f"continue with: {shlex.join(['heldout', *words, '--resume'])}"


# What the options describe


def _fields(options: argparse.Namespace) -> dict[str, Any]:
    """The fields of an experiment, of those that were given."""
    from heldout.data.files import file_stem
    from heldout.experiment.fields import FIELDS
    from heldout.tune.run_names import matching

    untuned = [path for pattern in options.against or () for path in matching(pattern)]
    fields: dict[str, Any] = {"collection": _collection(options)}
    fields |= {"systems": [*options.system, *untuned]} | _given(options, FIELDS)
    if len(untuned) == len(options.system) == 1:
        fields.setdefault("baseline", file_stem(untuned[0]))
    if options.measure:
        fields["measures"] = options.measure
    if plan := plan_table(options):
        fields["plan"] = of_both(plan) if options.by == "both" else plan
    if analyzer := _given(options, ("stemmer", "stop")):
        fields["analyzer"] = analyzer
    return fields


def _given(options: argparse.Namespace, names: Iterable[str]) -> dict[str, Any]:
    values = {name: getattr(options, name) for name in names}
    # By identity: 0 is a value.
    return {name: value for name, value in values.items() if not (value is None or value is False)}


def _collection(options: argparse.Namespace) -> dict[str, Any]:
    """The collection; judgements alone if that is what was given."""
    source, files = options.experiment, split_paths(options.experiment)
    own = _given(options, ("queries",))
    if options.qrels is not None:
        own["qrels"] = split_paths(options.qrels)
    if not own and not source.endswith(".toml") and all(map(os.path.isfile, files)):
        return {"qrels": files}
    return {"source": source} | own

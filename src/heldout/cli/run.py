"""The command ``run``: arguments to library calls."""

from __future__ import annotations

import os
import sys
from typing import TYPE_CHECKING, Any, Final, Literal, get_args, get_origin

from heldout.cli.files import emit, is_file, show, split_paths
from heldout.cli.groups import of_both
from heldout.cli.old_help import group
from heldout.cli.old_options import (
    add_detail,
    add_json,
    add_measures,
    add_plan_options,
    add_queries,
    add_quiet,
    add_stemming,
    check_plan_options,
    given_plan_options,
    plan_table,
    positive,
)
from heldout.cli.places import option_of
from heldout.cli.main import Terminated
from heldout.errors import InputError
from heldout.notes import count_of

if TYPE_CHECKING:
    import argparse
    from collections.abc import Callable, Iterable

    from heldout.experiment.experiment import Experiment
    from heldout.experiment.manifest import Timings

__all__ = ["add_run"]

_EXAMPLES = """\
  heldout run pydocs --system 'bm25(k1=0.5:3:6, b=0:1:5)' --system 'ql-jm(lambda=0:1:11)'
  heldout run pydocs --system 'bm25(k1=0.5:3:6)' --by document --folds 5 -m nDCG@10 -m AP
  heldout run scifact --system 'A=bm25(k1=0.9, b=0.4)' --system 'B=bm25(k1=0.5:3:6)' -o results
  heldout run scifact --system 'ranker.py:rank(dims=50,100)' --leave-one-out
  heldout run scifact --system 'bm25(k1=0.5:3:6)' --hold-out 0.2 --validation 0.2
  heldout run qrels.txt --system 'hybrid=wsum(bm25.run, dense.run, w=0:1:11)' --system dense.run
  heldout run scifact --system bm25 --system 'rerank(first=bm25, depth=100, function=rank.py:f)'
  heldout run scifact --system bm25 --system 'dense=vectors(docs.npy, queries.npy, metric=cosine)'
  heldout run qrels.txt --system 'ql=runs/mu=*.run' --against bm25.run
  heldout run qrels.txt --system 'mine=folds/{fold}.run' --system bm25.run --folds 5
  heldout run scifact --qrels human.qrels --machine llm.qrels --system 'bm25(k1=0.5:3:6)'
  heldout run experiment.toml -o results
  heldout run experiment.toml --dry-run
  heldout run experiment.toml -o results --resume      continue after an interruption
  heldout run experiment.toml -o results --dask tcp://node1:8786
  heldout run results -o again                         repeat an experiment
"""

_NOTES = """\
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
"""

_FIELDS: Final = {
    "by": ("options", None),
    "tune_for": ("options", "NAME"),
    "inner": ("options", "K"),
    "method": ("options", "NAME"),
    "target_size": ("options", "N"),
    "depth": ("options", "N"),
    "baseline": ("options", "NAME"),
    "index": ("input", "FOLDER"),
    "machine": ("machine judgements", "FILE"),
    "assume_random": ("machine judgements", None),
    "level": ("analysis", "X"),
    "seed": ("execution", "N"),
}
"""Fields of an experiment with an option of their name: its group, and what its value is called."""

_DESCRIBING: Final = (
    *_FIELDS,
    *("measure", "stemmer", "stop", "queries", "qrels", "against"),
)
"""Options that describe an experiment; a file does that itself."""


def add_run(command: Callable[..., argparse.ArgumentParser], commands: Any) -> None:
    """Add the command ``run``."""
    parser = command(
        commands,
        "run",
        "Tune systems on training data, measure them on held-out data, and compare them.",
        _EXAMPLES,
        notes=_NOTES,
        usage="COLLECTION --system SYSTEM [--system SYSTEM ...]\n"
        "QRELS --system 'NAME=RUNS' [--system 'NAME=RUNS' ...]\nEXPERIMENT.toml\nRESULTS",
    )
    add = parser.add_argument
    add(
        "experiment",
        metavar="INPUT",
        help="collection (pydocs, irds:NAME, a folder, a file, an index), judgements if all "
        "systems are run files, an experiment (.toml), or a results folder to repeat",
    )
    add("--system", action="append", metavar="SYSTEM", help="system (repeat for more)")
    add(
        "--against",
        action="extend",
        nargs="+",
        metavar="RUN",
        help="run files to compare with, not tuned",
    )
    add_measures(parser, "measure (repeat for more; default: nDCG@10)")
    add_queries(parser)
    _add_fields(parser)
    add_plan_options(parser)
    add_stemming(parser)
    _add_output(parser)
    _add_execution(parser)
    parser.set_defaults(run=_run)


def _add_fields(parser: argparse.ArgumentParser) -> None:
    """Add the options of fields, from their declarations; none has a default of its own."""
    from heldout.experiment.experiment import Experiment  # other commands do not need pydantic

    for name, field in Experiment.model_fields.items():
        if name not in _FIELDS:
            continue
        title, value = _FIELDS[name]
        known = field.default is not None and field.default is not False
        default = f" (default: {field.default})" if known else ""
        given: dict[str, Any] = {"help": f"{field.description}{default}"}
        kind = field.annotation
        if value is not None:
            while get_args(kind):  # of Annotated[int, …] | None
                kind = get_args(kind)[0]
            given |= {"metavar": value, "type": kind if kind in {int, float} else str}
        elif get_origin(kind) is Literal:
            given["choices"] = get_args(kind)
        else:
            given["action"] = "store_true"
        flags = [*(["-b"] if name == "baseline" else []), f"--{name.replace('_', '-')}"]
        group(parser, title).add_argument(*flags, **given)


def _add_output(parser: argparse.ArgumentParser) -> None:
    add = group(parser, "output").add_argument
    add("-o", "--output", metavar="FOLDER", help="keep the results in FOLDER")
    add_json(parser)
    add_detail(parser)
    add_quiet(parser, "print the result only: no progress bar, no notes")


def _add_execution(parser: argparse.ArgumentParser) -> None:
    add = group(parser, "execution").add_argument
    add("--resume", action="store_true", help="continue an interrupted run")
    add("--force", action="store_true", help="start from scratch, overwriting existing results")
    add("--dry-run", action="store_true", help="check everything and show what would be run")
    add(
        "--jobs",
        type=positive,
        default=1,
        metavar="N",
        help="processes for functions and estimators (default: 1; same results for any number)",
    )
    where = "tcp://HOST:PORT, tls://HOST:PORT, or a scheduler file"
    add("--dask", metavar="CLUSTER", help=f"run on a Dask cluster: {where}")


def _run(options: argparse.Namespace) -> int:
    from heldout.experiment.problems import ExperimentError

    _check(options)
    experiment = _experiment(options)
    try:
        return (_dry_run if options.dry_run else _run_experiment)(experiment, options)
    except ExperimentError as error:
        if options.system:  # else the fields are those of a file
            error.place_of = option_of(options)
        raise


def _run_experiment(experiment: Experiment, options: argparse.Namespace) -> int:
    from heldout.cli.report import this_command

    try:
        results = experiment.run(
            options.output,
            workers=options.jobs,
            dask=options.dask,
            resume=options.resume,
            force=options.force,
            progress=not options.quiet,
            on_message=None if options.quiet else _tell,
            command=this_command(),
        )
    except KeyboardInterrupt as error:
        ended = isinstance(error, Terminated)
        word = "terminated" if ended else "interrupted"
        sys.stderr.write(f"heldout: {word}; {_how_to_go_on(options)}\n")
        return 143 if ended else 130
    from heldout.report.experiment import json_results, results_text

    if options.json:
        text = json_results(results)
    else:
        text = results_text(
            results,
            terminal=sys.stdout.isatty(),
            full=options.full,
            quiet=options.quiet,
        )
    (emit if options.json else show)(text)
    if not options.quiet:
        sys.stderr.write(_where(results.timings, options))
    return 0


def _tell(sentence: str) -> None:
    sys.stderr.write(sentence + "\n")


def _check(options: argparse.Namespace) -> None:
    """Refuse options that do not go together, before anything is read."""
    if options.resume and options.output is None:
        raise InputError("--resume needs the folder of the run: -o FOLDER")
    if options.resume and options.force:
        raise InputError("--resume continues and --force starts from scratch: give one of them")
    if options.dask is not None and options.jobs > 1:
        raise InputError("--jobs are processes here, --dask is a cluster: give one of them")
    check_plan_options(options)
    if options.by == "both" and any(
        getattr(options, name) is not None
        for name in ("bootstrap", "folds_file", "test_ids", "later")
    ):
        raise InputError("--by both needs --folds, --hold-out or --leave-one-out")
    if options.system:
        return
    given = [*_given(options, _DESCRIBING), *given_plan_options(options)]
    if given:
        flag = "-m" if given[0] == "measure" else f"--{given[0].replace('_', '-')}"
        raise InputError(
            f"{flag} describes an experiment and goes with --system; in an experiment file it is a "
            "field"
        )


def _experiment(options: argparse.Namespace) -> Experiment:
    from heldout.experiment.experiment import Experiment

    if options.system:
        return Experiment(**_fields(options))
    if options.experiment.endswith(".toml") or _has_results(options.experiment):
        return Experiment.read(options.experiment)
    what = "folder has no results" if os.path.isdir(options.experiment) else "is not an experiment"
    raise InputError(
        f"{options.experiment}: {what} (.toml): name the systems to run with --system, or give an "
        "experiment file"
    )


def _has_results(place: str) -> bool:
    from pathlib import Path

    return Path(place, "manifest.json").is_file() or Path(place, "experiment.toml").is_file()


def _fields(options: argparse.Namespace) -> dict[str, Any]:
    """The fields of an experiment, of those that were given."""
    fields: dict[str, Any] = {"collection": _collection(options), "systems": options.system}
    if options.measure:
        fields["measures"] = options.measure
    fields |= _given(options, _FIELDS)
    plan = plan_table(options)
    if plan:
        fields["plan"] = of_both(plan) if options.by == "both" else plan
    analyzer = _given(options, ("stemmer", "stop"))
    if analyzer:
        fields["analyzer"] = analyzer
    if options.against:
        _add_untuned(fields, options)
    return fields


def _given(options: argparse.Namespace, names: Iterable[str]) -> dict[str, Any]:
    values = {name: getattr(options, name) for name in names}
    # By identity: 0 is a value.
    return {name: value for name, value in values.items() if not (value is None or value is False)}


def _collection(options: argparse.Namespace) -> dict[str, Any]:
    """The collection; judgements alone if that is what was given."""
    source = options.experiment
    own = _given(options, ("queries",))
    if options.qrels is None and not own and _names_files(source):
        return {"qrels": split_paths(source)}
    if options.qrels is not None:
        own["qrels"] = split_paths(options.qrels)
    return {"source": source, **own}


def _names_files(source: str) -> bool:
    """Whether these are files, and none that describes a collection."""
    return not source.endswith(".toml") and all(map(is_file, split_paths(source)))


def _add_untuned(fields: dict[str, Any], options: argparse.Namespace) -> None:
    """Add the runs of ``--against``; one alone is the baseline of one system."""
    from heldout.data.files import file_stem
    from heldout.tune.run_names import matching  # NumPy comes with it

    untuned = [path for given in options.against for path in matching(given)]
    fields["systems"] = [*options.system, *untuned]
    if len(untuned) == len(options.system) == 1:
        fields.setdefault("baseline", file_stem(untuned[0]))


def _dry_run(experiment: Experiment, options: argparse.Namespace) -> int:
    from heldout.as_json import json_text
    from heldout.experiment.manifest import make_manifest
    from heldout.report.experiment import loaded_code, plan_text

    prepared = experiment.check()
    if options.json:
        settings = make_manifest(prepared)["settings"]
        settings.pop("analyzer", None)  # of an index, which a dry run does not open
        loaded = loaded_code(prepared)
        emit(json_text({"settings": settings, "loaded": loaded, "notes": prepared.notes}))
    else:
        sys.stdout.write(plan_text(prepared))
    return 0


def _how_to_go_on(options: argparse.Namespace) -> str:
    """The command that continues this run."""
    import shlex

    if options.output is None:
        return "nothing was kept; with -o FOLDER a run can be continued"
    words = [one for one in sys.argv[1:] if one not in {"--resume", "--force"}]
    return f"continue with: {shlex.join(['heldout', *words, '--resume'])}"


def _where(timings: Timings, options: argparse.Namespace) -> str:
    took = f"{count_of(len(timings['items']), 'task')}, {timings['total']:.1f} s"
    if options.output is None:
        return f"{took}; results were not kept (use -o FOLDER)\n"
    return f"{took}; results in {options.output}\n"

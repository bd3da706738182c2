"""The command ``run``: arguments to library calls."""

from __future__ import annotations

import argparse
import sys
from typing import TYPE_CHECKING, Any

from heldout.cli.files import emit, show
from heldout.cli.groups import add_groups
from heldout.cli.index import positive
from heldout.cli.level import add_level
from heldout.data.notes import count_of
from heldout.errors import InputError

if TYPE_CHECKING:
    from collections.abc import Callable

    from heldout.experiment.experiment import Experiment

__all__ = ["add_run"]

_EXAMPLES = """\
  heldout run experiment.toml -o results
  heldout run experiment.toml --dry-run
  heldout run pydocs --system 'bm25(k1=0.5:3:6, b=0:1:5)' --system 'ql-jm(lambda=0:1:11)'
  heldout run pydocs --system 'bm25(k1=0.5:3:6)' --by document --folds 5 -m nDCG@10 -m AP
  heldout run scifact --system 'A=bm25(k1=0.9, b=0.4)' --system 'B=bm25(k1=0.5:3:6)' -o results
  heldout run scifact --system ranker.py:rank --system 'dense=runs/lambda=*.run'
  heldout run experiment.toml -o results --resume      go on after an interruption
  heldout run experiment.toml -o results --dask tcp://node1:8786
  heldout run classes.toml -o results --workers 2      task = "classification": estimators

A system is a model with its parameters (k1=0.9 is fixed; k1=0.5:3:6, from:to:count, and b=0.3,0.75
are tuned), runs with * or ?, or a function f(train, test, **parameters) in a Python file, which is
run. NAME= before it gives it a name.

A file with task = "classification" or "regression" has a table as [data] (file, target, text or
features) and scikit-learn estimators as systems (estimator = "module:name", step__param in space).
"""

# Options that describe an experiment; a file does that itself.
_DESCRIBING = {
    "by": "by",
    "folds": "folds",
    "repeats": "repeats",
    "bootstrap": "bootstrap",
    "stratify": "stratify",
    "groups": "groups",
    "measure": "-m",
    "tune_for": "tune-for",
    "seed": "seed",
    "inner": "inner",
    "rule": "rule",
    "method": "method",
    "target_size": "target-size",
    "depth": "depth",
    "baseline": "baseline",
    "level": "level",
    "index": "index",
    "stemmer": "stemmer",
    "stop": "stop",
    "queries": "queries",
    "qrels": "qrels",
    "query_field": "query-field",
    "split": "split",
}


def add_run(command: Callable[..., argparse.ArgumentParser], commands: Any) -> None:
    """Add the command ``run``."""
    parser = command(
        commands,
        "run",
        "Tune systems on what is seen, measure them on what is held out, and compare them.",
        _EXAMPLES,
    )
    add = parser.add_argument
    add(
        "experiment",
        metavar="EXPERIMENT",
        help="a file (.toml); or with --system a collection: pydocs, irds:NAME, a folder or a file",
    )
    add("-o", "--output", metavar="FOLDER", help="keep the results there; a run can then go on")
    add("--resume", action="store_true", help="go on with a run that was interrupted")
    add("--force", action="store_true", help="start anew, whatever is in the folder")
    add(
        "--workers",
        type=positive,
        default=1,
        metavar="N",
        help="processes for functions, estimators and other systems of yours (default 1); the "
        "results do not depend on it",
    )
    add(
        "--dask",
        metavar="CLUSTER",
        help="let a Dask cluster do the work: tcp://HOST:PORT, tls://HOST:PORT, a scheduler file, "
        "or local:4 for four processes of this machine; the results do not depend on it",
    )
    add(
        "--max-memory",
        metavar="SIZE",
        help="what the run may take, such as 2GB, by a rough estimate: fewer workers are taken if "
        "need be, and a run that cannot fit is refused before it starts",
    )
    add(
        "--dry-run",
        action="store_true",
        help="check everything, show what would be run, and end; Python files and modules that the "
        "experiment names are loaded",
    )
    add("--json", action="store_true", help="every number at full precision")
    add("--quiet", action="store_true", help="only the result: no bar, no notes")
    _add_description(parser)
    parser.set_defaults(run=_run)


def _add_description(parser: argparse.ArgumentParser) -> None:
    add = parser.add_argument_group("the experiment, if it is not in a file").add_argument
    add("--system", action="append", metavar="SYSTEM", help="a system (repeat for more)")
    add("--by", choices=("query", "document", "both"), help="what is held out (default query)")
    add(
        "--folds",
        type=positive,
        metavar="K",
        help="how many folds (default 10 of queries, 5 of documents, 5 of each of both)",
    )
    add("--repeats", type=positive, metavar="N", help="divide N times (default 1)")
    add(
        "--bootstrap",
        type=positive,
        metavar="N",
        help="N draws with replacement in place of folds; what was never drawn is held out",
    )
    add("--stratify", metavar="NAME", help="relevance, length, or a field of the queries")
    add_groups(add)
    add("-m", "--measure", action="append", metavar="NAME", help="a measure (repeat)")
    add("--tune-for", metavar="NAME", help="choose parameters by it (default the first measure)")
    add("--seed", type=int, help="the root of all chance (default 0)")
    add("--inner", type=positive, metavar="K", help="choose by K inner folds of what is seen")
    add("--rule", choices=("best", "one-se"), help="how to choose (default best)")
    add("--method", metavar="NAME", help="how to estimate for new documents (default pooled)")
    add("--estimator", dest="method", help=argparse.SUPPRESS)  # its name in 0.1
    add("--target-size", type=positive, metavar="N", help="documents to speak of")
    add("--depth", type=positive, metavar="N", help="documents of a list that count (1000)")
    add("-b", "--baseline", metavar="NAME", help="compare all others with this system")
    add_level(parser, None)
    add("--index", metavar="FILE", help="an index of the collection (see heldout index)")
    add("--stemmer", metavar="NAME", help="a Snowball stemmer, such as english")
    add("--stop", metavar="LIST", help="words to leave out: english, or a file of words")
    add("--queries", metavar="FILE", help="queries, when the collection has none of its own")
    add("--qrels", metavar="FILE", help="judgements; several files are joined by commas")
    add("--query-field", metavar="NAME", help="title (default), description, narrative, or joined")
    add("--split", metavar="NAME", help="split of a BEIR folder (default test)")


def _run(options: argparse.Namespace) -> int:
    from heldout.cli.report import this_command

    _check(options)
    experiment = _experiment(options)
    if options.dry_run:
        return _dry_run(experiment, options)
    try:
        results = experiment.run(
            options.output,
            workers=options.workers,
            dask=options.dask,
            resume=options.resume,
            force=options.force,
            progress=not options.quiet,
            max_memory=options.max_memory,
            told=None if options.quiet else _tell,
            command=this_command(),
        )
    except KeyboardInterrupt:
        sys.stderr.write(f"heldout: interrupted; {_how_to_go_on(options)}\n")
        return 130
    from heldout.report.experiment import json_results, results_text

    text = json_results(results) if options.json else results_text(
        results, terminal=sys.stdout.isatty()
    )  # fmt: skip
    (emit if options.json else show)(text)
    if not options.quiet:
        sys.stderr.write(_where(results.timings, options))
    return 0


def _tell(sentence: str) -> None:
    sys.stderr.write(sentence + "\n")


def _check(options: argparse.Namespace) -> None:
    """Refuse what says nothing together, before anything is read."""
    if options.resume and options.output is None:
        raise InputError("--resume needs the folder of the run: -o FOLDER")
    if options.resume and options.force:
        raise InputError("--resume goes on and --force starts anew: give one of them")
    if options.dask is not None and options.workers > 1:
        raise InputError("--workers are processes here, --dask is a cluster: give one of them")
    for name in ("folds", "repeats", "stratify"):
        if options.bootstrap is not None and getattr(options, name) is not None:
            raise InputError(f"--bootstrap draws, --{name} divides: give one of them")
    if options.bootstrap is not None and options.by == "both":
        raise InputError("--bootstrap draws queries or documents: give --by query or document")
    if options.system:
        return
    given = [flag for name, flag in _DESCRIBING.items() if getattr(options, name) is not None]
    if given:
        flag = given[0] if given[0].startswith("-") else f"--{given[0]}"
        raise InputError(f"{flag} describes an experiment with --system; in a file it is a field")
    if not options.experiment.endswith(".toml"):
        raise InputError(
            f"{options.experiment} is no experiment (.toml): give one, or say with --system what "
            "to run on this collection"
        )


def _experiment(options: argparse.Namespace) -> Experiment:
    from heldout.experiment.experiment import Experiment

    if not options.system:
        return Experiment.read(options.experiment)
    return Experiment(**_fields(options))


def _fields(options: argparse.Namespace) -> dict[str, Any]:
    """The fields of an experiment, of those that were given."""
    collection: dict[str, Any] = {"source": options.experiment}
    for name in ("queries", "query_field", "split"):
        if getattr(options, name) is not None:
            collection[name] = getattr(options, name)
    if options.qrels is not None:
        from heldout.cli import split_paths

        collection["qrels"] = split_paths(options.qrels)
    fields: dict[str, Any] = {"collection": collection, "systems": options.system}
    if options.measure:
        fields["measures"] = options.measure
    names = ("by", "tune_for", "seed", "inner", "rule", "method", "target_size", "depth")
    for name in (*names, "baseline", "level", "index"):
        if getattr(options, name) is not None:
            fields[name] = getattr(options, name)
    plan = {
        name: getattr(options, name)
        for name in ("folds", "repeats", "stratify", "groups")
        if getattr(options, name) is not None
    }
    if options.bootstrap is not None:
        plan |= {"kind": "bootstrap", "replicates": options.bootstrap}
    if plan:
        fields["plan"] = _of_both(plan) if options.by == "both" else plan
    analyzer = {
        name: getattr(options, name)
        for name in ("stemmer", "stop")
        if getattr(options, name) is not None
    }
    if analyzer:
        fields["analyzer"] = analyzer
    return fields


def _of_both(plan: dict[str, Any]) -> dict[str, Any]:
    """The plans of queries and of documents; only documents have near-duplicates."""
    from heldout.resample.groups import KINDS, NEAR

    groups = plan.get("groups")
    if groups is not None and groups not in KINDS:
        raise InputError("--groups FILE names one kind of unit: give --by query or document")
    left_out = {"groups"} if groups == NEAR else set()
    queries = {name: value for name, value in plan.items() if name not in left_out}
    return {"queries": {"folds": 5} | queries, "documents": {"folds": 5} | plan}


def _dry_run(experiment: Experiment, options: argparse.Namespace) -> int:
    from heldout.experiment.execution.tasks import plan_tasks
    from heldout.report.experiment import plan_text

    del options
    settings = experiment.check()
    sys.stdout.write(plan_text(settings, plan_tasks(settings)))
    return 0


def _how_to_go_on(options: argparse.Namespace) -> str:
    """The command that goes on with this run."""
    import shlex

    if options.output is None:
        return "nothing was kept; with -o FOLDER a run can go on"
    words = [one for one in sys.argv[1:] if one not in {"--resume", "--force"}]
    return f"go on with: {shlex.join(['heldout', *words, '--resume'])}"


def _where(timings: dict[str, Any], options: argparse.Namespace) -> str:
    took = f"{count_of(len(timings['tasks']), 'task')}, {timings['total']:.1f} s"
    if options.output is None:
        return f"{took}; nothing was written: -o FOLDER keeps the results\n"
    return f"{took}; results in {options.output}\n"

"""What fields of an experiment mean, one by one: measures, plan, collection, index, machine.

Mistakes are added to `Problems`; what is returned then is None, so that others are found, too.
"""

from __future__ import annotations

import os
import re
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import fields
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Final, NamedTuple

import numpy as np
from pydantic import BeforeValidator, ValidationInfo

from heldout.data.collection import Collection
from heldout.errors import Argument, InputError, MeasureError
from heldout.experiment.documents.lists import TOP
from heldout.experiment.documents.rank_table import check_measures, needed_depth
from heldout.experiment.problems import Table, checked
from heldout.experiment.systems.base import with_parts
from heldout.measure.base import Measure
from heldout.measure.names import is_function, is_one_measure, parse_measure, parse_measures
from heldout.resample.fold_files import read_column
from heldout.resample.plan import Plan
from heldout.resample.plans import PLANS, KFold
from heldout.resample.two_way import Crossed, cross

if TYPE_CHECKING:
    from collections.abc import Sequence

    from heldout.data.documents import Documents
    from heldout.data.qrels import Qrels
    from heldout.experiment.experiment import Experiment
    from heldout.experiment.problems import Problems
    from heldout.experiment.systems.base import System
    from heldout.retrieve.analyze import Analyzer
    from heldout.retrieve.index import Index

_DEFAULTS: Final = {"ranking": "nDCG@10", "classification": "accuracy", "regression": "MSE"}
_STRATIFIED: Final = ("kfold", "holdout")
_MEASURE_FILE: Final = re.compile(r"(.*\.py):([A-Za-z_]\w*)(.*)", re.DOTALL)


# Measures


def given_measures(
    experiment: Experiment, problems: Problems
) -> tuple[tuple[Measure, ...], Measure | None]:
    """Return the measures, each once, and the one to tune for."""
    given: Any = experiment.measures
    given = _DEFAULTS[experiment.task] if given is None else given
    listed = [given] if is_one_measure(given) else given
    if not isinstance(listed, list | tuple) or not listed:
        problems.add("measures", f"{given!r} is not a list of measures")
        return (), None
    measures: dict[Measure, None] = {}
    for number, name in enumerate(listed):
        with problems.at(f"measures[{number}]"):
            measures |= dict.fromkeys(_parsed(name, experiment))
    tune_for = next(iter(measures), None)
    if experiment.tune_for is not None:
        with problems.at("tune_for"):
            tune_for, *others = _parsed(experiment.tune_for, experiment)
            if others:
                raise MeasureError(f"{experiment.tune_for!r} names several measures, expected one")
    return tuple(measures), tune_for


def _parsed(given: Any, experiment: Experiment) -> list[Measure]:
    if isinstance(given, str) and _MEASURE_FILE.fullmatch(given.strip()):
        given = load_measure(given, experiment.task, experiment.home)
    measures = parse_measures([given], experiment.task)
    if experiment.task == "ranking":
        for measure in measures:
            if measure.definition.aggregate != "mean":
                raise InputError(f"{measure} has no mean over queries: use another, such as AP")
        check_measures(measures)
    return measures


def load_measure(reference: str, task: str, folder: Path | None = None) -> Measure:
    """Load a function or `Measure` from a file: ``my.py:First`` or ``my.py:Top(scale=2)@10``."""
    from heldout.experiment.systems.references import load_reference

    match = _MEASURE_FILE.fullmatch(reference.strip())
    if match is None:
        raise MeasureError(f"{reference}: expected file.py:name")
    place, name, rest = match.groups()
    loaded = load_reference(f"{place}:{name}", folder)
    if not is_function(loaded) and (rest or not isinstance(loaded, Measure)):
        raise MeasureError(f"{name}{rest}: expected a function, or a Measure with nothing after it")
    measure = parse_measure(loaded, task)
    return parse_measure(f"{measure.family}{rest}", task) if rest else measure


# Plans


def given_plan(experiment: Experiment, problems: Problems) -> Plan | Crossed | None:
    """Return the plan; classes are stratified unless it says otherwise."""
    plan: Any = experiment.plan
    by = str(experiment.by) if experiment.task == "ranking" else "instance"
    if isinstance(plan, Plan | Crossed):
        if isinstance(plan, Crossed) == (by == "both"):
            return plan
        problems.add("plan", f"{plan} does not fit by = {by!r}")
        return None
    if plan is not None and not isinstance(plan, Mapping):
        problems.add("plan", f"{plan!r} is not a plan: give a table such as {{folds = 10}}")
        return None
    table = dict(plan or {})
    if by == "instance":
        if "groups" in table:
            problems.add("plan.groups", "give groups with the data: data.groups")
        if table.get("stratify") == "none":
            del table["stratify"]
        elif experiment.task == "classification" and table.get("kind", KFold.kind) in _STRATIFIED:
            table.setdefault("stratify", "labels")
    return plan_from_table(table, by, experiment.seed, problems, experiment.home)


def plan_from_table(
    table: Mapping[str, Any], by: str, seed: int, problems: Problems, folder: Path | None = None
) -> Plan | Crossed | None:
    """Make a plan, of queries and documents if `by` is both; folds are 5 unless only of queries."""
    usual = {"seed": seed, **({"folds": 5} if by in {"document", "both"} else {})}
    if by != "both":
        return _plan(table, "plan", usual, problems, folder)
    problems.unknown(table, ("queries", "documents"), "plan.")
    queries, documents = (
        _plan(table.get(kind, {}), f"plan.{kind}", usual, problems, folder)
        for kind in ("queries", "documents")
    )
    return None if queries is None or documents is None else cross(queries, documents)


def _plan(
    table: Any, place: str, usual: dict[str, Any], problems: Problems, folder: Path | None
) -> Plan | None:
    if not isinstance(table, Mapping):
        problems.add(place, "expected a table such as {folds = 5}")
        return None
    kind = table.get("kind", KFold.kind)
    if not isinstance(kind, str) or kind not in PLANS:
        problems.add(f"{place}.kind", f"unknown plan {kind!r}: expected one of {', '.join(PLANS)}")
        return None
    fields_of = {each: [field.name for field in fields(PLANS[each])] for each in PLANS}  # type: ignore[arg-type]
    names = fields_of[kind]
    for name in (name for name in table if name not in {"kind", *names}):
        if kinds := " or ".join(each for each in fields_of if name in fields_of[each]):
            problems.add(f"{place}.{name}", f"goes with plans of kind {kinds}, not with {kind}")
        else:
            problems.unknown([name], ("kind", *names), f"{place}.")
    if "kind" in table:
        usual = {"seed": usual["seed"]}
    values = {**usual, **table}
    with problems.at(place):
        given = {name: _of_file(name, values[name], folder) for name in names if name in values}
        return PLANS[kind](**given)


def _of_file(name: str, value: Any, folder: Path | None) -> Any:
    """Return what the file of a value like ``{file = "groups.tsv"}`` holds, or the value itself."""
    if not isinstance(value, Mapping) or list(value) != ["file"]:
        return value
    path = (folder or Path()) / str(value["file"])
    if not path.is_file():
        raise InputError(f"{path}: no such file")
    if name in {"folds", "ids"}:
        return path  # the plan reads it
    return read_column(path, {"groups": "group", "order": "time"}.get(name, name))


# Collections


def _path(value: Any, info: ValidationInfo) -> Any:
    """Return a path as seen from the folder of the experiment; other values are refused later."""
    path_of: Any = info.context
    return path_of(value) if isinstance(value, str | os.PathLike) else value


def _listed(value: Any) -> Any:
    return tuple(value) if isinstance(value, list | tuple) else (value,)


FilePath = Annotated[str, BeforeValidator(_path)]


class CollectionTable(Table):
    """A collection in files; see `heldout.read_collection`. Run files need only judgements."""

    source: FilePath | None = None
    queries: FilePath | None = None
    qrels: Annotated[tuple[FilePath, ...], BeforeValidator(_listed)] | None = None
    fields: Annotated[tuple[str, ...], BeforeValidator(_listed)] | None = None
    query_field: str = "title"
    split: str | None = None
    encoding: str = "utf-8"
    name: str | None = None

    def read(self) -> Collection:
        """Read the collection, or take the documents of an index."""
        from heldout.data.collection_files import read_collection
        from heldout.retrieve.index import Index, IndexedDocuments
        from heldout.retrieve.index_files import is_index

        source: Any = self.source
        options = self.model_dump(exclude={"source"})
        if is_index(source):
            options["name"] = self.name or Path(source).stem
            source = IndexedDocuments(Index.open(source))
        return read_collection(source, **options)


def given_collection(
    experiment: Experiment, systems: Sequence[System], machine: Machine | None, problems: Problems
) -> Collection | None:
    """Return the collection; of judgements alone, that of `judged_collection`."""
    given: Any = experiment.collection
    if given is None:
        problems.add("collection", "missing: give its name or path")
        return None
    collection = given if isinstance(given, Collection) else None
    if collection is None:
        described = given if isinstance(given, Mapping) else {"source": given}
        table = checked(CollectionTable, described, problems, "collection.", experiment.path_of)
        with problems.at("collection"):
            if table is not None and table.source is not None:
                collection = table.read()
            elif table is not None and experiment.by == "query":
                others = sorted(table.model_fields_set - {"source", "qrels", "name"})
                if table.qrels is None or others:
                    why = f"; {', '.join(others)} cannot go with judgements alone" if others else ""
                    raise InputError(f"source is missing{why}")
                limits = {"top": experiment.keep_depth, "depth": experiment.depth}
                collection = judged_collection(table.qrels, systems, table.name, machine, **limits)
            elif table is not None:
                problems.add(
                    "by",
                    "with judgements alone only queries can be held out, since the documents "
                    "without a judgement are unknown: name the collection, and give the judgements "
                    "as its qrels",
                )
    if collection is not None and not len(collection.qrels):
        problems.add("collection", "has no judgements, so nothing can be evaluated: give qrels")
    return collection


def judged_collection(
    qrels: Sequence[str],
    systems: Sequence[System] = (),
    name: str | None = None,
    machine: Machine | None = None,
    *,
    top: int = TOP,
    depth: int = 1000,
) -> Collection:
    """Return a collection of judged queries and documents, and the first of each run, no texts."""
    from heldout.data.qrels import read_qrels

    judged = read_qrels(*qrels)
    both = [judged] if machine is None else [judged, machine.qrels]
    documents = dict.fromkeys((doc for each in both for doc in each.docs.tolist()), "")
    for system in systems:  # of what is fused, any document may come first
        first = depth if system.parts else max(top, 0 if machine is None else machine.depth)
        for part in with_parts([system]):
            if isinstance(part, str):  # the name of an unknown part, which is a problem already
                continue
            if part.needs_documents:
                raise InputError(
                    f"{system.name} searches documents, but only judgements were given: name a "
                    "collection, or use run files"
                )
            for run in part.runs():
                rows = run.offsets[:-1, None] + np.arange(first)
                shown = run.docs.take(rows[rows < run.offsets[1:, None]])
                documents.update(dict.fromkeys(shown.tolist(), ""))
    queries = dict.fromkeys((query for each in both for query in each.queries), "")
    collection = Collection(documents, queries, judged, name=name or Path(qrels[0]).name)
    collection.notes = ()  # they are about missing texts
    return collection


class Machine(NamedTuple):
    """Judgements of a machine, its name, and the depth to which rankings are judged by them."""

    qrels: Qrels
    name: str
    depth: int


def given_machine(
    experiment: Experiment, measures: Sequence[Measure], problems: Problems
) -> Machine | None:
    """Return the judgements of a machine, if they were given."""
    given = experiment.machine
    if given is None:
        for name in {"tune_on", "assume_random"} & experiment.given().keys():
            problems.add(
                name, "goes with judgements of a machine: give judgements of a machine, too"
            )
        return None
    if experiment.by != "query":
        problems.add(
            "machine",
            "is for held-out queries, not for ",
            Argument("by", repr(experiment.by)),
            ": further queries make estimates for new queries more precise, but intervals for new "
            "documents come from the documents; leave it out",
        )
        return None
    from heldout.data.qrels import Qrels
    from heldout.measure.ranking.machine import machine_name  # rarely needed

    if isinstance(given, str | os.PathLike):
        given = experiment.path_of(given)
    with problems.at("machine"):
        depth = needed_depth(measures, experiment.depth)
        return Machine(Qrels.of(given), machine_name(given), depth)


# Indexes


class AnalyzerTable(Table):
    """How text is turned into terms; see `heldout.Analyzer`."""

    stemmer: str | None = None
    stop: Any = "none"
    lower: bool = True


def given_index(
    experiment: Experiment, problems: Problems
) -> tuple[Index | str | None, Analyzer | None]:
    """Return an index or its path, and the analyzer of an index that is built."""
    from heldout.retrieve.analyze import STOP_LISTS, Analyzer
    from heldout.retrieve.index import Index
    from heldout.retrieve.index_files import is_index

    index: Any = experiment.index
    given: Any = experiment.analyzer
    analyzer = None
    if isinstance(index, str | os.PathLike):
        index = experiment.path_of(index)
        if not is_index(index):
            problems.add("index", f"{index}: no such index; build it with heldout index")
    elif index is not None and not isinstance(index, Index):
        problems.add("index", f"expected an index or the path of one, not {index!r}")
    if given is not None and index is not None and getattr(given, "function", None) is None:
        problems.add("analyzer", "the index has its own analyzer: leave out one of them")
    elif isinstance(given, Mapping):
        table = checked(AnalyzerTable, given, problems, "analyzer.")
        with problems.at("analyzer"):
            if table is not None:
                stop = table.stop
                if isinstance(stop, str) and stop not in STOP_LISTS:
                    stop = experiment.path_of(stop)
                analyzer = Analyzer(table.lower, stop, table.stemmer)
    elif given is None or isinstance(given, Analyzer):
        analyzer = given
    else:
        problems.add("analyzer", "expected a table such as {stemmer = 'english'}")
    return index, analyzer


def open_index(
    documents: Documents, given: Index | str | None, analyzer: Analyzer | None, path: Path | None
) -> Index:
    """Open the index that was given, or build one, which is kept at `path` if that is given."""
    from heldout.retrieve.analyze import Analyzer
    from heldout.retrieve.first_use import prepare_ranking
    from heldout.retrieve.index import Index
    from heldout.retrieve.index_files import is_index

    analyzer = analyzer or Analyzer()
    if given is not None:
        index = Index.open(given, function=analyzer.function) if isinstance(given, str) else given
        if index.documents_digest != documents.digest:
            raise InputError(
                f"{given}: not an index of these documents ({index.n_documents} there, "
                f"{len(documents)} here; text or ids differ): build it again with heldout index"
            )
        return index
    # The code of a function can change while its name, which is all that is kept, does not.
    if path is not None and is_index(path) and analyzer.function is None:
        with suppress(InputError):  # damaged, or of another version: it is built again
            kept = Index.open(path)
            kept.verify()
            same = kept.analyzer.signature() == analyzer.signature()
            if same and kept.documents_digest == documents.digest:
                return kept
    if path is not None:
        path.parent.mkdir(exist_ok=True)
    prepare_ranking()
    return Index.build(documents, analyzer, path=path)

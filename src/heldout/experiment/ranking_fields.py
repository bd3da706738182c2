"""Check the fields of an experiment with systems that rank, all at once, before it runs."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from heldout.data.collection import Collection
from heldout.errors import HeldoutError, InputError
from heldout.experiment.documents.extrapolate import check_extrapolation
from heldout.experiment.documents.rank_table import check_measures
from heldout.experiment.field_checks import (
    check_names,
    check_validation,
    given_measures,
    given_plan,
    splitting,
)
from heldout.experiment.judged_collection import judged_collection
from heldout.experiment.machine_fields import given_judges, given_machine
from heldout.experiment.measure_files import loaded
from heldout.experiment.plan_fields import plan_from_table
from heldout.experiment.schema import (
    AnalyzerTable,
    By,
    CollectionTable,
    RankingFields,
    SystemTable,
    checked,
)
from heldout.experiment.settings import RankingSettings
from heldout.experiment.systems.outcomes import listed_splits
from heldout.experiment.systems.parameters import SystemOptions
from heldout.experiment.systems.reading import system_of
from heldout.measure.names import parse_measures
from heldout.notes import Note
from heldout.resample.groups import NEAR, near_notes
from heldout.resample.plan import Plan
from heldout.resample.plans import KFold
from heldout.resample.two_way import Crossed

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from pathlib import Path

    from heldout.experiment.machine_fields import GivenMachine
    from heldout.experiment.problems import Problems
    from heldout.experiment.systems.base import System
    from heldout.experiment.two_judges import TwoJudges
    from heldout.measure.base import Measure
    from heldout.resample.split import Splits
    from heldout.retrieve.analyze import Analyzer
    from heldout.retrieve.index import Index


__all__ = ["check_fitting", "check_ranking_fields", "check_splits"]


def check_ranking_fields(
    fields: Mapping[str, object], problems: Problems, folder: Path | None = None
) -> RankingSettings | None:
    """Check all fields; mistakes are added to `problems`, and None is returned.

    Parameters
    ----------
    folder
        Where relative paths start.
    """
    given = checked(RankingFields, fields, problems) or RankingFields()
    measures, tune_for = given_measures(
        given, "nDCG@10", lambda one: _parse(loaded(one, "ranking", folder)), problems
    )
    if tune_for is not None and tune_for.higher_is_better is None:
        problems.add("tune_for", f"{tune_for} has no direction (better or worse): use another")
    by = _by(given)
    systems = _systems(given.systems, problems, folder)
    check_names(systems, given.baseline, problems)
    check_fitting(systems, by, measures, given, problems)
    index, analyzer = _index(given, problems, folder)
    machine = given_machine(given, by, measures, problems, _found_from(folder))
    collection, source = _collection(given, systems, problems, folder, machine)
    judges = given_judges(given, collection, machine, problems)
    if judges is not None:
        collection = judges.tuned
        source = source if given.tune_on == "human" else None  # its judgements are others
    plan = _plan(given, by, problems, folder)
    splits = _splits(plan, collection, by, systems, given, problems)
    if judges is not None and splits is not None:
        with problems.at("plan"):
            judges.check_splits(splits)
    if problems.found or collection is None or splits is None or tune_for is None:
        return None
    settings = RankingSettings(
        task="ranking",
        collection=collection,
        source=source,
        systems=systems,
        by=by,
        splits=splits,
        measures=measures,
        tune_for=tune_for,
        seed=given.seed,
        depth=given.depth,
        keep_depth=given.keep_depth,
        inner=given.inner,
        target_size=given.target_size,
        replicates=given.replicates,
        rule=given.rule,
        method=given.method,
        level=given.level,
        baseline=given.baseline,
        index=index,
        analyzer=analyzer,
        machine=judges,
        judged_depth=0 if machine is None else machine.depth,
        notes=_notes(collection, splits, systems, by, given.inner, judges),
    )
    listed, every = listed_splits(settings), len(splits)
    if listed < every:
        text = f"ranked lists are kept for the first {listed} of {every:,} splits"
        note = Note("lists-kept", text, "info")
        return replace(settings, notes=(*settings.notes, note))
    return settings


def _notes(
    collection: Collection,
    splits: Splits,
    systems: tuple[System[Any], ...],
    by: By,
    inner: int | None,
    judges: TwoJudges | None,
) -> tuple[Note, ...]:
    found = [*collection.notes, *splits.notes] if judges is None else [*judges.notes, *splits.notes]
    fixed = [
        system.name
        for system in systems
        if system.tuned and not system.learns and (by == "query" or system.needs_index)
    ]
    if inner is not None and fixed:
        text = (
            f"inner folds are for systems that learn: {', '.join(fixed)} was tuned on the whole "
            "training side"
        )
        found.append(Note("inner-folds", text, "info"))
    learning = [system.name for system in systems if system.learns]
    if by != "query" and learning:
        found += _near_duplicates(splits, learning)
    return tuple(found)


def _near_duplicates(splits: Splits, learning: list[str]) -> list[Note]:
    """Return a note about nearly equal documents on both sides, unless they are kept together."""
    documents = (splits.crossed or [splits])[-1]
    groups = getattr(documents.plan, "groups", None)
    if isinstance(groups, str) and groups == NEAR:
        return []
    advice = "keep them together with groups='near-duplicates' (--groups near-duplicates)"
    if not hasattr(documents.plan, "groups"):
        advice = "move them to one side"
    return near_notes(documents, learning, advice)


def _parse(given: Any) -> tuple[Measure, ...]:
    found = parse_measures([given], "ranking")
    for measure in found:
        _refuse_measure(measure)
    return tuple(found)


def _refuse_measure(measure: Measure) -> None:
    if measure.definition.aggregate != "mean":
        raise InputError(f"{measure} has no mean over queries: use another, such as AP")
    check_measures([measure])


def _by(given: RankingFields) -> By:
    if isinstance(given.plan, Crossed) and given.by == "query":
        return "both"
    return given.by


def _systems(given: Any, problems: Problems, folder: Path | None) -> tuple[System[Any], ...]:
    listed: Sequence[Any]
    if isinstance(given, Mapping):
        listed = [(name, one) for name, one in given.items()]
    else:
        listed = list(given) if isinstance(given, list | tuple) else [given]
    if not listed:
        problems.add("systems", "missing: name at least one system")
    found: list[System[Any]] = []
    for at, one in enumerate(listed):
        with problems.at(f"systems[{at}]"):
            made = _system(one, f"systems[{at}].", problems, folder)
            found += [] if made is None else [made]
    if len(found) < len(listed):
        return tuple(found)
    named = {system.name: system for system in found}
    linked: list[System[Any]] = []
    for at, system in enumerate(found):
        with problems.at(f"systems[{at}]"):
            linked.append(system.linked(named))
    return tuple(linked)


def _system(one: Any, under: str, problems: Problems, folder: Path | None) -> System[Any] | None:
    if isinstance(one, tuple) and len(one) == 2 and isinstance(one[0], str):
        return system_of(one[1], one[0], folder=folder)
    # In Python, a mapping is runs by name; in a file it is a table.
    if isinstance(one, dict) and folder is not None:
        before = len(problems.found)
        table = checked(SystemTable, one, problems, under)
        if table is None or len(problems.found) > before:
            return None
        options = SystemOptions(search=table.search, trials=table.trials)
        return system_of(table.system, table.name, options, folder=folder)
    return system_of(one, folder=folder)


def _found_from(folder: Path | None) -> Callable[[str], str]:
    """Return a function that finds paths beside the experiment file; other texts are unchanged."""

    def find(path: str) -> str:
        beside = folder is not None and os.path.exists(folder / path)
        return os.fspath(folder / path) if folder is not None and beside else path

    return find


def _collection(
    fields: RankingFields,
    systems: tuple[System[Any], ...],
    problems: Problems,
    folder: Path | None,
    machine: GivenMachine | None,
) -> tuple[Collection | None, CollectionTable | None]:
    """Return the collection, and how it was read (None: it was given as an object)."""
    given = fields.collection
    if isinstance(given, Collection):
        return _judged(given, problems), None
    if given is None:
        problems.add("collection", "missing: give its name or path")
        return None, None
    table = given if isinstance(given, Mapping) else {"source": given}
    before = len(problems.found)
    found = checked(CollectionTable, table, problems, "collection.")
    if found is None or len(problems.found) > before:
        return None, None
    source, collection = found.moved(_found_from(folder)), None
    if source.source is None:
        top = fields.keep_depth
        return _judged_alone(source, systems, _by(fields), top, machine, problems), None
    if source.intersection:
        problems.add("collection.intersection", "is only for judgements without a collection")
    with problems.at("collection"):
        collection = _judged(source.read(), problems)
    return collection, source


def _judged_alone(
    table: CollectionTable,
    systems: tuple[System[Any], ...],
    by: By,
    top: int,
    machine: GivenMachine | None,
    problems: Problems,
) -> Collection | None:
    """Make a collection from judgements and the run files of all systems."""
    if table.qrels is None:
        problems.add("collection.source", "is missing")
        return None
    if by != "query":
        problems.add(
            "by",
            "with judgements alone only queries can be held out, since the documents without a "
            "judgement are unknown: name the collection, and give the judgements as its qrels",
        )
        return None
    for name in sorted(table.model_fields_set - {"qrels", "name", "intersection"}):
        if getattr(table, name) is not None:
            problems.add(
                f"collection.{name}", "is only for a collection with documents: give its source"
            )
    try:
        return judged_collection(
            table.qrels,
            systems,
            name=table.name,
            intersection=table.intersection,
            top=top if machine is None else max(top, machine.depth),
            machine=None if machine is None else machine.qrels,
        )
    except HeldoutError as error:
        problems.add("collection", str(error))
        return None


def _judged(collection: Collection, problems: Problems) -> Collection:
    if not len(collection.qrels):
        problems.add("collection", "has no judgements, so nothing can be evaluated: give qrels")
    return collection


def _index(
    given: RankingFields, problems: Problems, folder: Path | None
) -> tuple[Index | str | None, Analyzer | None]:
    from heldout.retrieve.analyze import Analyzer
    from heldout.retrieve.index_files import is_index

    index, described = given.index, given.analyzer
    find = _found_from(folder)
    if isinstance(index, str | os.PathLike):
        index = find(os.fspath(index))
        if not is_index(index):
            problems.add("index", f"{index}: no such index; build it with heldout index")
    if described is None or isinstance(described, Analyzer):
        return index, described
    if index is not None:
        problems.add("analyzer", "the index has its own analyzer: leave out one of them")
    if not isinstance(described, Mapping):
        problems.add("analyzer", "expected a table such as {stemmer = 'english'}")
        return index, None
    before = len(problems.found)
    table = checked(AnalyzerTable, described, problems, "analyzer.")
    analyzer: Analyzer | None = None
    if table is not None and len(problems.found) == before:
        with problems.at("analyzer"):
            analyzer = table.analyzer(find)
    return index, analyzer


def _plan(
    given: RankingFields, by: By, problems: Problems, folder: Path | None
) -> Plan | Crossed | None:
    plan = given_plan(given.plan, problems)
    if plan is None:
        return None
    if isinstance(plan, Plan | Crossed):
        if isinstance(plan, Crossed) != (by == "both"):
            problems.add("plan", f"{plan} does not fit by = {by!r}")
            return None
        return plan
    if by == "document" and "kind" not in plan:
        plan = {"folds": 5, **plan}
    return plan_from_table(plan, by, given.seed, problems, folder)


def _splits(
    plan: Plan | Crossed | None,
    collection: Collection | None,
    by: By,
    systems: tuple[System[Any], ...],
    given: RankingFields,
    problems: Problems,
) -> Splits | None:
    if plan is None or collection is None:
        return None
    splits: Splits | None = None
    with splitting(problems):
        if isinstance(plan, Crossed):
            splits = plan.splits(collection)
        else:
            splits = plan.splits(collection, "document" if by == "document" else "query")
        splits = replace(splits, runs=given.runs)
        check_validation(splits, problems)
        check_splits(splits, by, systems, given, problems)
        inner = given.inner
        if inner is not None:
            unit = "query" if by == "both" else None
            for split in splits:
                split.inner(KFold(inner), unit)  # type: ignore[arg-type]
    return splits


def check_fitting(
    systems: tuple[System[Any], ...],
    by: By,
    measures: tuple[Measure, ...],
    given: RankingFields,
    problems: Problems,
) -> None:
    """Add combinations that do not work, whatever the splits are."""
    for at, system in enumerate(systems):
        for why in system.misfits(by):
            problems.add(f"systems[{at}]", f"{system.name}: {why}")
    for name in _of_documents(given):
        _check_for_documents(name, systems, by, problems)
    if by != "query" and given.target_size is not None:
        with problems.at("target_size"):
            check_extrapolation(measures)


def _of_documents(given: RankingFields) -> list[str]:
    """Return the fields about estimates for documents that differ from the default."""
    changed = {
        "target_size": given.target_size is not None,
        "method": given.method != "pooled",
    }
    return [name for name, there in changed.items() if there]


def _check_for_documents(
    name: str, systems: tuple[System[Any], ...], by: By, problems: Problems
) -> None:
    if by == "query":
        problems.add(name, "is only for held-out documents: set by = 'document'")
    elif by == "both":
        problems.add(
            name,
            "cannot be set when queries and documents are held out: folds of all documents are "
            "pooled",
        )
    elif not all(system.has_document_methods for system in systems):
        problems.add(name, "is only for built-in models, and there are other systems")


def check_splits(
    splits: Splits,
    by: By,
    systems: tuple[System[Any], ...],
    given: RankingFields,
    problems: Problems,
) -> None:
    """Add what the systems cannot do with these splits, each once."""
    found = [one for system in systems for one in system.plan_problems(splits, by)]
    for name, message in dict.fromkeys(found):
        problems.add(name, message)
    methods = any(one.has_document_methods for one in systems)
    if by == "document" and methods and not splits.partitions:
        for name in _of_documents(given):
            problems.add(
                name, "is only for folds; under this plan each held-out side is evaluated alone"
            )

"""The fields of an experiment with systems that rank: checked as a whole before it runs."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, Any, Final

from heldout.data.collection import Collection
from heldout.data.paths import is_there, names_file
from heldout.errors import HeldoutError, InputError
from heldout.experiment.compatibility import check_fitting, check_splits
from heldout.experiment.documents.rank_table import check_measures
from heldout.experiment.field_checks import check_names, given_measures, given_plan, splitting
from heldout.experiment.judged import judged_collection
from heldout.experiment.measure_files import loaded
from heldout.experiment.plan_fields import named_plan, plan_from_table
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
from heldout.experiment.systems.reading import SYSTEM_SOURCES, system_from_table, system_of
from heldout.measure.parse import parse_measures
from heldout.notes import Note
from heldout.resample.combined import TwoWay
from heldout.resample.plan import Plan
from heldout.resample.plans import KFold

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from pathlib import Path

    from heldout.data.collection_files import Known
    from heldout.experiment.problems import Problems
    from heldout.experiment.systems import System
    from heldout.measure.ranking.names import RankingMeasure
    from heldout.resample.split import Splits
    from heldout.retrieve.analyze import Analyzer
    from heldout.retrieve.shards import AnyIndex

__all__ = ["check_ranking_fields"]

_OLD_NAMES: Final = {"estimator": "method"}
"""What fields of a file were called in 0.1; they can still be called so."""


def check_ranking_fields(
    fields: Mapping[str, object], problems: Problems, folder: Path | None = None
) -> RankingSettings | None:
    """Look at everything; what is wrong goes to `problems`, and nothing comes back then.

    Parameters
    ----------
    folder
        Where relative paths are looked for.
    """
    given = checked(RankingFields, _renamed(fields, problems), problems) or RankingFields()
    measures, tune_for = given_measures(
        given, "nDCG@10", lambda one: _parse(loaded(one, "ranking", folder)), problems
    )
    if tune_for is not None and tune_for.higher_is_better is None:
        problems.add("tune_for", f"{tune_for} has no better or worse: nothing can be chosen by it")
    by = _by(given)
    systems = _systems(given.systems, problems, folder)
    check_names(systems, given.baseline, problems)
    check_fitting(systems, by, measures, given, problems)
    index, analyzer = _index(given, problems, folder)
    known = None if given.verify_index else _known(index)
    collection, source = _collection(given.collection, systems, problems, folder, known)
    plan = _plan(given, by, problems, folder)
    splits = _splits(plan, collection, by, systems, given, problems)
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
        inner=given.inner,
        target_size=given.target_size,
        replicates=given.replicates,
        rule=given.rule,
        method=given.method,
        level=given.level,
        baseline=given.baseline,
        index=index,
        analyzer=analyzer,
        notes=_notes(collection, splits, systems, by, given.inner),
    )
    listed, every = listed_splits(settings), len(splits)
    if listed < every:
        text = f"ranked lists are kept for the first {listed} of {every:,} splits"
        note = Note("lists-kept", text, "info")
        return replace(settings, notes=(*settings.notes, note))
    return settings


def _renamed(fields: Mapping[str, object], problems: Problems) -> dict[str, object]:
    """The fields by their names of today; problems are told under those that were given."""
    found = dict(fields)
    for old, new in _OLD_NAMES.items():
        if old not in found:
            continue
        if new in found:
            problems.add(old, f"the old name of {new}: give {new} alone")
        found[new] = found.pop(old)
        problems.given_as[new] = old
    return found


def _notes(
    collection: Collection,
    splits: Splits,
    systems: tuple[System[Any], ...],
    by: By,
    inner: int | None,
) -> tuple[Note, ...]:
    found = [*collection.notes, *splits.notes]
    fixed: list[str] = []
    if inner is not None and by == "query":
        fixed = [one.name for one in systems if one.tuned and not one.learns]
    if fixed:
        text = (
            f"inner folds are for systems that learn from what is seen: {', '.join(fixed)} was "
            "chosen on all of it, which comes to the same"
        )
        found.append(Note("inner-folds", text, "info"))
    return tuple(found)


def _parse(given: Any) -> tuple[RankingMeasure, ...]:
    found = parse_measures([given], "ranking")
    for measure in found:
        _refuse_measure(measure)
    return tuple(found)


def _refuse_measure(measure: RankingMeasure) -> None:
    if measure.definition.aggregate != "mean":
        raise InputError(f"{measure} has no mean over queries: take another, such as AP")
    check_measures([measure])


def _by(given: RankingFields) -> By:
    if isinstance(given.plan, TwoWay) and given.by == "query":
        return "both"
    return given.by


def _systems(given: Any, problems: Problems, folder: Path | None) -> tuple[System[Any], ...]:
    listed: Sequence[Any]
    if isinstance(given, Mapping):
        listed = [(name, one) for name, one in given.items()]
    else:
        listed = list(given) if isinstance(given, list | tuple) else [given]
    if not listed:
        problems.add("systems", "there are none: what is to be evaluated?")
    found: list[System[Any]] = []
    for at, one in enumerate(listed):
        with problems.at(f"systems[{at}]"):
            made = _system(one, f"systems[{at}].", problems, folder)
            found += [] if made is None else [made]
    return tuple(found)


def _system(one: Any, under: str, problems: Problems, folder: Path | None) -> System[Any] | None:
    if isinstance(one, tuple) and len(one) == 2 and isinstance(one[0], str):
        name, described = one
        if not (isinstance(described, dict) and set(described) & set(SYSTEM_SOURCES)):
            return system_of(described, name, folder=folder)
        one = {"name": name, **described}
    # In Python a mapping may also be runs by name; in a file it is always a table.
    if isinstance(one, dict) and (folder is not None or set(one) & set(SYSTEM_SOURCES)):
        before = len(problems.found)
        table = checked(SystemTable, one, problems, under)
        if table is None or len(problems.found) > before:
            return None
        return system_from_table(table, folder)
    return system_of(one, folder=folder)


def _found_from(folder: Path | None) -> Callable[[str], str]:
    """A path beside the experiment's file, if there is something; else the text as it is."""

    def find(path: str) -> str:
        beside = folder is not None and is_there(folder / path)
        return os.fspath(folder / path) if folder is not None and beside else path

    return find


def _known(index: AnyIndex | str | None) -> Known | None:
    """Return what finds documents in the index, if it can be opened (else a problem is told)."""
    if index is None:
        return None
    from heldout.retrieve.known import known_to
    from heldout.retrieve.shards import open_index

    try:
        return known_to(open_index(index) if isinstance(index, str) else index)
    except HeldoutError:
        return None


def _collection(
    given: Any,
    systems: tuple[System[Any], ...],
    problems: Problems,
    folder: Path | None,
    known: Known | None,
) -> tuple[Collection | None, CollectionTable | None]:
    """The collection, and how it was read (None: it came as an object)."""
    if isinstance(given, Collection):
        return _judged(given, problems), None
    if given is None:
        problems.add("collection", "there is none: give its name or path")
        return None, None
    table = given if isinstance(given, Mapping) else {"source": given}
    before = len(problems.found)
    found = checked(CollectionTable, table, problems, "collection.")
    if found is None or len(problems.found) > before:
        return None, None
    source, collection = found.moved(_found_from(folder)), None
    if source.source is None:
        return _judged_alone(source, systems, problems), None
    if source.intersection:
        problems.add("collection.intersection", "is for judgements without a collection")
    with problems.at("collection"):
        collection = _judged(source.read(known), problems)
    return collection, source


def _judged_alone(
    table: CollectionTable, systems: tuple[System[Any], ...], problems: Problems
) -> Collection | None:
    """What judgements and the run files of all systems make known of a collection."""
    if table.qrels is None:
        problems.add("collection.source", "is missing")
        return None
    for name in sorted(table.model_fields_set - {"qrels", "name", "intersection"}):
        if getattr(table, name) is not None:
            problems.add(
                f"collection.{name}", "is for a collection with documents: give its source"
            )
    try:
        return judged_collection(
            table.qrels, systems, name=table.name, intersection=table.intersection
        )
    except HeldoutError as error:
        problems.add("collection", str(error))
        return None


def _judged(collection: Collection, problems: Problems) -> Collection:
    if not len(collection.qrels):
        problems.add("collection", "it has no judgements, so nothing can be measured: give qrels")
    return collection


def _index(
    given: RankingFields, problems: Problems, folder: Path | None
) -> tuple[AnyIndex | str | None, Analyzer | None]:
    from heldout.retrieve.analyze import Analyzer
    from heldout.retrieve.indexing.manifest import is_sharded

    index, described = given.index, given.analyzer
    find = _found_from(folder)
    if isinstance(index, str | os.PathLike):
        index = find(os.fspath(index))
        if not names_file(index) and not is_sharded(index):
            problems.add("index", f"{index}: there is no such index; build it with heldout index")
    if described is None or isinstance(described, Analyzer):
        return index, described
    if index is not None:
        problems.add("analyzer", "the index has its own: leave one of the two out")
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


def _plan(given: RankingFields, by: By, problems: Problems, folder: Path | None) -> Plan | None:
    plan = given_plan(given.plan, problems)
    if plan is None:
        return None
    if isinstance(plan, Plan):
        if isinstance(plan, TwoWay) != (by == "both"):
            problems.add("plan", f"{plan} does not go with by = {by!r}")
            return None
        return plan
    if by != "both":
        plan = named_plan(plan, problems)
        if "kind" not in plan and "folds" not in plan:
            plan = {**plan, "folds": 10 if by == "query" else 5}
    return plan_from_table(plan, by, given.seed, problems, folder)


def _splits(
    plan: Plan | None,
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
        splits = plan.splits(collection, "document" if by == "document" else "query")
        check_splits(splits, by, systems, given, problems)
        inner = given.inner
        if inner is not None:
            unit = "query" if by == "both" else None
            for split in splits:
                split.inner(KFold(inner), unit)  # type: ignore[arg-type]
    return splits

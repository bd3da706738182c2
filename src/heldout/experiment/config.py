"""The settings of an experiment: what a user gives, looked at from end to end before it runs."""

from __future__ import annotations

import os
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Final

from heldout.data.collection import Collection
from heldout.data.paths import is_there, names_file
from heldout.errors import HeldoutError, InputError
from heldout.experiment.compatibility import check_fitting, check_splits
from heldout.experiment.documents.rank_table import check_measures
from heldout.experiment.judged import judged_collection
from heldout.experiment.measure_files import loaded
from heldout.experiment.plan_settings import named_plan, plan_from_table
from heldout.experiment.schema import (
    AnalyzerTable,
    By,
    CollectionTable,
    RankingFields,
    SystemTable,
    checked,
)
from heldout.experiment.settings import RankingSettings
from heldout.experiment.systems.reading import SYSTEM_SOURCES, system_from_table, system_of
from heldout.measure.parse import parse_measure, parse_measures
from heldout.measure.syntax import is_one_measure
from heldout.notes import Note
from heldout.resample.combined import TwoWay
from heldout.resample.plan import Plan
from heldout.resample.plans import KFold

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from heldout.experiment.problems import Problems
    from heldout.experiment.systems import System
    from heldout.measure.ranking.names import RankingMeasure
    from heldout.resample.split import Splits
    from heldout.retrieve.analyze import Analyzer
    from heldout.retrieve.shards import AnyIndex

__all__ = ["check_fields"]

_OLD_NAMES: Final = {"estimator": "method"}
"""What fields of a file were called in 0.1; they can still be called so."""


def check_fields(
    fields: Mapping[str, Any], problems: Problems, folder: Path | None = None
) -> RankingSettings | None:
    """Look at everything; what is wrong goes to `problems`, and nothing comes back then.

    Parameters
    ----------
    folder
        Where relative paths are looked for.
    """
    given = checked(RankingFields, _renamed(fields, problems), problems) or RankingFields()
    measures, tune_for = _measures(given, problems, folder)
    by = _by(given)
    systems = _systems(given.systems, problems, folder)
    check_fitting(systems, by, measures, given, problems)
    index, analyzer = _index(given, problems, folder)
    collection, source = _collection(given.collection, systems, problems, folder)
    plan = _plan(given.plan, by, given.seed, problems, folder)
    splits = _splits(plan, collection, by, systems, given, problems)
    if problems.found or collection is None or splits is None or tune_for is None:
        return None
    return RankingSettings(
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


def _renamed(fields: Mapping[str, Any], problems: Problems) -> dict[str, Any]:
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


def _measures(
    given: RankingFields, problems: Problems, folder: Path | None
) -> tuple[tuple[RankingMeasure, ...], RankingMeasure | None]:
    wanted = ("nDCG@10",) if given.measures is None else given.measures
    listed = [wanted] if is_one_measure(wanted) else wanted
    if not isinstance(listed, list | tuple) or not listed:
        problems.add("measures", f"{wanted!r} is not a list of measures")
        return (), None
    found: list[RankingMeasure] = []
    for at, one in enumerate(listed):
        with problems.at(f"measures[{at}]"):
            for measure in parse_measures([loaded(one, "ranking", folder)], "ranking"):
                _refuse_measure(measure)
                if measure not in found:
                    found.append(measure)
    tune_for = found[0] if found else None
    if given.tune_for is not None:
        with problems.at("tune_for"):
            wished = parse_measure(loaded(given.tune_for, "ranking", folder), "ranking")
            _refuse_measure(wished)
            tune_for = wished
    if tune_for is not None and tune_for.higher_is_better is None:
        problems.add("tune_for", f"{tune_for} has no better or worse: nothing can be chosen by it")
    return tuple(found), tune_for


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
    names = [one.name for one in found]
    for name in dict.fromkeys(names):
        if names.count(name) > 1:
            problems.add("systems", f"{names.count(name)} are called {name!r}: name them apart")
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


def _located(value: Any, folder: Path | None) -> Any:
    """A path beside the experiment's file, if there is something."""
    if folder is None or not isinstance(value, str) or not is_there(folder / value):
        return value
    return os.fspath(folder / value)


def _collection(
    given: Any, systems: tuple[System[Any], ...], problems: Problems, folder: Path | None
) -> tuple[Collection | None, dict[str, Any] | None]:
    if isinstance(given, Collection):
        return _judged(given, problems), None
    if given is None:
        problems.add("collection", "there is none: give its name or path")
        return None, None
    table = dict(given) if isinstance(given, Mapping) else {"source": given}
    before = len(problems.found)
    found = checked(CollectionTable, table, problems, "collection.")
    if found is None or len(problems.found) > before:
        return None, None
    options = _located_files(found.given(), folder)
    if found.source is None:
        return _judged_alone(found, options, systems, problems), None
    if options.pop("intersection", False):
        problems.add("collection.intersection", "is for judgements without a collection")
    try:
        from heldout.data.collection_files import read_collection

        return _judged(read_collection(**options), problems), options
    except HeldoutError as error:
        problems.add("collection", str(error))
    except TypeError as error:
        problems.add("collection", f"cannot be read so ({error})")
    return None, None


def _located_files(options: dict[str, Any], folder: Path | None) -> dict[str, Any]:
    for key in ("source", "queries"):
        if key in options:
            options[key] = _located(options[key], folder)
    if "qrels" in options:
        several = options["qrels"] if isinstance(options["qrels"], list) else [options["qrels"]]
        options["qrels"] = [_located(one, folder) for one in several]
    return options


def _judged_alone(
    table: CollectionTable,
    options: dict[str, Any],
    systems: tuple[System[Any], ...],
    problems: Problems,
) -> Collection | None:
    """What judgements and the run files of all systems make known of a collection."""
    if table.qrels is None:
        problems.add("collection.source", "is missing")
        return None
    for name in sorted(set(options) - {"qrels", "name", "intersection"}):
        problems.add(f"collection.{name}", "is for a collection with documents: give its source")
    try:
        return judged_collection(
            options["qrels"], systems, name=table.name, intersection=table.intersection
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
    if isinstance(index, str | os.PathLike):
        index = _located(os.fspath(index), folder)
        if not names_file(index) and not is_sharded(index):
            problems.add("index", f"{index}: there is no such index; build it with heldout index")
    if described is None or isinstance(described, Analyzer):
        return index, described
    if index is not None:
        problems.add("analyzer", "the index has its own: leave one of the two out")
    if not isinstance(described, Mapping):
        problems.add("analyzer", "expected a table such as {stemmer = 'english'}")
        return index, None
    table = checked(AnalyzerTable, described, problems, "analyzer.")
    settings = {} if table is None else table.given()
    if isinstance(settings.get("ngrams"), list):
        settings["ngrams"] = tuple(settings["ngrams"])
    if isinstance(settings.get("stop"), str) and settings["stop"] != "english":
        settings["stop"] = _located(settings["stop"], folder)
    try:
        return index, Analyzer(**settings)
    except (HeldoutError, TypeError, ValueError) as error:
        problems.add("analyzer", str(error))
    return index, None


def _plan(given: Any, by: By, seed: int, problems: Problems, folder: Path | None) -> Plan | None:
    if isinstance(given, Plan):
        if isinstance(given, TwoWay) != (by == "both"):
            problems.add("plan", f"{given} does not go with by = {by!r}")
            return None
        return given
    if given is None:
        if by == "both":
            return TwoWay(KFold(5, seed=seed), KFold(5, seed=seed))
        return KFold(10 if by == "query" else 5, seed=seed)
    if not isinstance(given, Mapping):
        problems.add("plan", f"{given!r} is not a plan: give a table such as {{folds = 10}}")
        return None
    table = dict(given)
    if by != "both":
        table = named_plan(given, problems)
        if "kind" not in table:
            table.setdefault("folds", 10 if by == "query" else 5)
    return plan_from_table(table, by, seed, problems, folder)


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
    import warnings

    from heldout.resample.notices import ResamplingWarning

    splits: Splits | None = None
    with problems.at("plan"), warnings.catch_warnings():
        # What plans warn of stands in the notes of the results.
        warnings.simplefilter("ignore", ResamplingWarning)
        splits = plan.splits(collection, "document" if by == "document" else "query")
        check_splits(splits, by, systems, given, problems)
        inner = given.inner
        if inner is not None:
            unit = "query" if by == "both" else None
            for split in splits:
                split.inner(KFold(inner), unit)  # type: ignore[arg-type]
    return splits

"""The settings of an experiment: what a user gives, looked at from end to end before it runs."""

from __future__ import annotations

import os
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Final, get_args

from heldout.data.collection import Collection
from heldout.data.paths import is_there, names_file
from heldout.errors import HeldoutError, InputError
from heldout.experiment.compatibility import check_fitting, check_splits
from heldout.experiment.documents.methods import METHODS
from heldout.experiment.documents.rank_table import check_measures
from heldout.experiment.plan_settings import BY, By, plan_from_table
from heldout.experiment.settings import RankingSettings
from heldout.experiment.systems.reading import (
    SYSTEM_KEYS,
    SYSTEM_SOURCES,
    system_from_table,
    system_of,
)
from heldout.infer.levels import check_level
from heldout.measure.parse import parse_measure, parse_measures
from heldout.measure.syntax import is_one_measure
from heldout.notes import Note
from heldout.resample.combined import TwoWay
from heldout.resample.plan import MOST_REPEATS, Plan
from heldout.resample.plans import KFold
from heldout.tune.choose import Rule

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from heldout.experiment.problems import Problems
    from heldout.experiment.systems import System
    from heldout.measure.ranking.names import RankingMeasure
    from heldout.resample.split import Splits
    from heldout.retrieve.analyze import Analyzer
    from heldout.retrieve.shards import AnyIndex

__all__ = ["COLLECTION_KEYS", "DEFAULTS", "FIELDS", "OLD_NAMES", "check_fields"]

DEFAULTS: Final[dict[str, Any]] = {
    "task": "ranking",
    "collection": None,
    "systems": (),
    "by": "query",
    "plan": None,
    "measures": ("nDCG@10",),
    "tune_for": None,
    "seed": 0,
    "depth": 1000,
    "rule": "best",
    "inner": None,
    "method": "pooled",
    "target_size": None,
    "replicates": 500,
    "level": 0.95,
    "baseline": None,
    "index": None,
    "analyzer": None,
}
"""The fields of an experiment with rankings, with their defaults."""

FIELDS: Final = (*DEFAULTS, "data")
"""All fields of experiments of any kind."""

OLD_NAMES: Final = {"estimator": "method"}
"""What fields were called in 0.1; they can still be called so."""

COLLECTION_KEYS: Final = (
    "source",
    "queries",
    "qrels",
    "fields",
    "query_field",
    "split",
    "encoding",
    "errors",
    "name",
)
_ANALYZER_KEYS: Final = ("stemmer", "stop", "tokens", "ngrams", "min_length", "lower")


def check_fields(
    fields: Mapping[str, Any], problems: Problems, folder: Path | None = None
) -> RankingSettings | None:
    """Look at everything; what is wrong goes to `problems`, and nothing comes back then.

    Parameters
    ----------
    folder
        Where relative paths are looked for.
    """
    fields = _renamed(fields, problems)
    problems.unknown(fields, tuple(DEFAULTS))
    given = {**DEFAULTS, **{key: value for key, value in fields.items() if key in DEFAULTS}}
    numbers = _numbers(given, problems)
    measures, tune_for = _measures(given, problems)
    by = _by(given, problems)
    systems = _systems(given["systems"], problems, folder)
    check_fitting(systems, by, measures, given, problems)
    index, analyzer = _index(given, problems, folder)
    collection, source = _collection(given["collection"], problems, folder)
    plan = _plan(given["plan"], by, numbers["seed"], problems, folder)
    splits = _splits(plan, collection, by, systems, {**given, **numbers}, problems)
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
        rule=given["rule"],
        method=given["method"],
        level=float(given["level"]),
        baseline=given["baseline"],
        index=index,
        analyzer=analyzer,
        notes=_notes(collection, splits, systems, by, numbers["inner"]),
        **numbers,
    )


def _renamed(fields: Mapping[str, Any], problems: Problems) -> dict[str, Any]:
    """The fields by their names of today; problems are told under those that were given."""
    found = dict(fields)
    for old, new in OLD_NAMES.items():
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


def _whole(value: Any, least: int) -> bool:
    return isinstance(value, int) and not isinstance(value, bool) and value >= least


def _numbers(given: Mapping[str, Any], problems: Problems) -> dict[str, Any]:
    """Fields that are whole numbers, or may be left out."""
    found: dict[str, Any] = {}
    for name, least, optional in (
        ("seed", 0, False),
        ("depth", 1, False),
        ("inner", 2, True),
        ("target_size", 1, True),
        ("replicates", 100, False),
    ):
        value = given[name]
        if not (optional and value is None) and not _whole(value, least):
            problems.add(name, f"{value!r} is not a whole number from {least} on")
            value = DEFAULTS[name]
        found[name] = value
    if found["replicates"] > MOST_REPEATS:
        problems.add("replicates", f"at most {MOST_REPEATS:,} are drawn; take fewer")
    if given["rule"] not in get_args(Rule):
        problems.add("rule", f"there is no rule {given['rule']!r}; there are best, one-se")
    if given["method"] not in METHODS:
        there = ", ".join(METHODS)
        problems.add("method", f"there is no method {given['method']!r}; there are {there}")
    with problems.at("level"):
        check_level(given["level"], name="")
    return found


def _measures(
    given: Mapping[str, Any], problems: Problems
) -> tuple[tuple[RankingMeasure, ...], RankingMeasure | None]:
    wanted = given["measures"]
    listed = [wanted] if is_one_measure(wanted) else wanted
    if not isinstance(listed, list | tuple) or not listed:
        problems.add("measures", f"{wanted!r} is not a list of measures")
        return (), None
    found: list[RankingMeasure] = []
    for at, one in enumerate(listed):
        with problems.at(f"measures[{at}]"):
            for measure in parse_measures([one], "ranking"):
                _refuse_measure(measure)
                if measure not in found:
                    found.append(measure)
    tune_for = found[0] if found else None
    if given["tune_for"] is not None:
        with problems.at("tune_for"):
            wished = parse_measure(given["tune_for"], "ranking")
            _refuse_measure(wished)
            tune_for = wished
    if tune_for is not None and tune_for.higher_is_better is None:
        problems.add("tune_for", f"{tune_for} has no better or worse: nothing can be chosen by it")
    return tuple(found), tune_for


def _refuse_measure(measure: RankingMeasure) -> None:
    if measure.definition.aggregate != "mean":
        raise InputError(f"{measure} has no mean over queries: take another, such as AP")
    check_measures([measure])


def _by(given: Mapping[str, Any], problems: Problems) -> By:
    by = given["by"]
    if isinstance(given["plan"], TwoWay) and by == "query":
        return "both"
    if by not in BY:
        problems.add("by", f"{by!r} is not one of {', '.join(BY)}")
        return "query"
    return by  # type: ignore[no-any-return]


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
            found.append(_system(one, f"systems[{at}].", problems, folder))
    names = [one.name for one in found]
    for name in dict.fromkeys(names):
        if names.count(name) > 1:
            problems.add("systems", f"{names.count(name)} are called {name!r}: name them apart")
    return tuple(found)


def _system(one: Any, under: str, problems: Problems, folder: Path | None) -> System[Any]:
    if isinstance(one, tuple) and len(one) == 2 and isinstance(one[0], str):
        name, described = one
        if not (isinstance(described, dict) and set(described) & set(SYSTEM_SOURCES)):
            return system_of(described, name)
        one = {"name": name, **described}
    # In Python a mapping may also be runs by name; in a file it is always a table.
    if isinstance(one, dict) and (folder is not None or set(one) & set(SYSTEM_SOURCES)):
        problems.unknown(one, SYSTEM_KEYS, under)
        return system_from_table(one, folder)
    return system_of(one)


def _located(value: Any, folder: Path | None) -> Any:
    """A path beside the experiment's file, if there is something."""
    if folder is None or not isinstance(value, str) or not is_there(folder / value):
        return value
    return os.fspath(folder / value)


def _collection(
    given: Any, problems: Problems, folder: Path | None
) -> tuple[Collection | None, dict[str, Any] | None]:
    if isinstance(given, Collection):
        return _judged(given, problems), None
    if given is None:
        problems.add("collection", "there is none: give its name or path")
        return None, None
    table = dict(given) if isinstance(given, Mapping) else {"source": given}
    before = len(problems.found)
    problems.unknown(table, COLLECTION_KEYS, "collection.")
    if "source" not in table:
        problems.add("collection", "source is missing: its name or path")
    if len(problems.found) > before:
        return None, None
    for key in ("source", "queries"):
        if key in table:
            table[key] = _located(table[key], folder)
    if "qrels" in table:
        several = table["qrels"] if isinstance(table["qrels"], list) else [table["qrels"]]
        table["qrels"] = [_located(one, folder) for one in several]
    try:
        from heldout.data.collection_files import read_collection

        source = table["source"]
        rest = {key: value for key, value in table.items() if key != "source"}
        return _judged(read_collection(source, **rest), problems), table
    except HeldoutError as error:
        problems.add("collection", str(error))
    except TypeError as error:
        problems.add("collection", f"cannot be read so ({error})")
    return None, None


def _judged(collection: Collection, problems: Problems) -> Collection:
    if not len(collection.qrels):
        problems.add("collection", "it has no judgements, so nothing can be measured: give qrels")
    return collection


def _index(
    given: Mapping[str, Any], problems: Problems, folder: Path | None
) -> tuple[AnyIndex | str | None, Analyzer | None]:
    from heldout.retrieve.analyze import Analyzer
    from heldout.retrieve.indexing.manifest import is_sharded

    index, described = given["index"], given["analyzer"]
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
    problems.unknown(described, _ANALYZER_KEYS, "analyzer.")
    settings = {key: value for key, value in described.items() if key in _ANALYZER_KEYS}
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
    table = given if by == "both" or "kind" in given or "folds" in given else {
        **given,
        "folds": 10 if by == "query" else 5,
    }  # fmt: skip
    return plan_from_table(table, by, seed, problems, folder)


def _splits(
    plan: Plan | None,
    collection: Collection | None,
    by: By,
    systems: tuple[System[Any], ...],
    given: Mapping[str, Any],
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
        inner = given["inner"]
        if inner is not None:
            unit = "query" if by == "both" else None
            for split in splits:
                split.inner(KFold(inner), unit)  # type: ignore[arg-type]
    return splits

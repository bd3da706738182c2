"""From the fields of an experiment to what they mean together: data, splits, systems, measures."""

from __future__ import annotations

import warnings
from collections.abc import Mapping
from contextlib import contextmanager
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from heldout.errors import Argument, InputError
from heldout.experiment.documents.extrapolate import check_extrapolation, check_target
from heldout.experiment.documents.lists import TOP
from heldout.experiment.documents.rank_table import needed_depth
from heldout.experiment.given import (
    given_collection,
    given_index,
    given_machine,
    given_measures,
    given_plan,
    open_index,
)
from heldout.experiment.systems.base import Data, with_parts
from heldout.notes import Note
from heldout.resample.groups import NEAR, near_notes
from heldout.resample.plan import Plan, ResamplingWarning, is_default
from heldout.resample.plans import KFold
from heldout.resample.two_way import Crossed

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from pathlib import Path

    from heldout.data.collection import Collection
    from heldout.experiment.experiment import Experiment
    from heldout.experiment.instances import Instances
    from heldout.experiment.problems import Problems
    from heldout.experiment.results.two_judges import TwoJudges
    from heldout.experiment.systems.base import System
    from heldout.experiment.systems.estimators import Estimator
    from heldout.measure.base import Measure
    from heldout.resample.split import Splits


_OF_RANKINGS: Final = (
    *("collection", "by", "depth", "keep_depth", "method", "target_size", "replicates"),
    *("index", "analyzer", "machine", "tune_on", "assume_random"),
)
_OF_PREDICTIONS: Final = ("data",)
INNER: Final = 5  # inner folds for estimators, unless the experiment says


@dataclass(frozen=True, eq=False, kw_only=True)
class Prepared:
    """What an experiment of any task means; its plain fields are read from `experiment`."""

    experiment: Experiment
    systems: tuple[Any, ...]
    splits: Splits
    measures: tuple[Measure, ...]
    tune_for: Measure
    notes: tuple[Note, ...] = ()

    def opened(self, folder: Path | None = None) -> Prepared:
        """Return it ready to run; what takes long to make is kept in the folder of the results."""
        del folder
        return self


@dataclass(frozen=True, eq=False, kw_only=True)
class PreparedPredictions(Prepared):
    """An experiment with scikit-learn estimators."""

    systems: tuple[Estimator, ...]
    data: Instances


@dataclass(frozen=True, eq=False, kw_only=True)
class PreparedRankings(Prepared):
    """An experiment with systems that rank."""

    systems: tuple[System, ...]
    data: Data
    judges: TwoJudges | None = None  # human and machine judgements, if there are both

    @property
    def shown(self) -> int:
        """The number of documents of each held-out ranking that results keep."""
        return max(TOP, min(self.experiment.keep_depth, self.experiment.depth))

    @property
    def kept(self) -> int:
        """The number of documents of each held-out ranking that outcomes keep."""
        judged = self.judges is not None  # again, by both
        return max(self.shown, needed_depth(self.measures, self.experiment.depth) if judged else 0)

    @property
    def collection(self) -> Collection:
        """The collection as it was given: with the human judgements, if there are two kinds."""
        return self.data.collection if self.judges is None else self.judges.collection

    def opened(self, folder: Path | None = None) -> PreparedRankings:
        """Return it with the index for built-in models; one that is built is kept in `folder`."""
        if not any(system.is_model for system in with_parts(self.systems)):
            return self
        from heldout.experiment.work import WORK
        from heldout.retrieve.index import IndexedDocuments

        documents, experiment = self.data.collection.documents, self.experiment
        given: Any = experiment.index
        analyzer: Any = experiment.analyzer
        if isinstance(documents, IndexedDocuments):
            if given is not None or analyzer is not None:
                raise InputError("the collection is an index: leave index and analyzer out")
            return replace(self, data=replace(self.data, index=documents.index))
        index = open_index(documents, given, analyzer, folder and folder / WORK / "index")
        # A worker opens it, and it is not sent, unless that takes a function that nobody has there.
        if index.path and (index.analyzer.function is None or analyzer is not None):
            function = None if index.analyzer.function is None else analyzer
            experiment = experiment.model_copy(update={"index": index.path, "analyzer": function})
        return replace(self, experiment=experiment, data=replace(self.data, index=index))


# Both tasks


def prepare(experiment: Experiment, problems: Problems) -> Prepared | None:
    """Prepare an experiment; mistakes in its fields are added to `problems`."""
    from heldout.infer.results import check_level  # slow to import

    if "task" in dict(problems.found):
        return None
    ranks = experiment.task == "ranking"
    others = _OF_PREDICTIONS if ranks else _OF_RANKINGS
    known = [name for name in type(experiment).model_fields if name not in others]
    problems.unknown(experiment.given(), known)
    with problems.at("level"):
        check_level(experiment.level)
    prepared = (_prepare_rankings if ranks else _prepare_predictions)(experiment, problems)
    return None if problems.found else prepared


def _check_names(systems: Sequence[Any], baseline: str | None, problems: Problems) -> None:
    names = [system.name for system in systems]
    for name in dict.fromkeys(names):
        if names.count(name) > 1:
            problems.add("systems", f"{names.count(name)} systems are called {name!r}: rename them")
    if baseline is not None and baseline not in names:
        known = ", ".join(names)
        problems.add("baseline", f"unknown system {baseline!r}: expected one of {known}")


@contextmanager
def _splitting(problems: Problems) -> Iterator[None]:
    """Add errors of the plan inside to the problems; warnings are in the notes of results."""
    with problems.at("plan"), warnings.catch_warnings():
        warnings.simplefilter("ignore", ResamplingWarning)
        yield


def _check_validation(splits: Splits, inner: int | None, problems: Problems) -> None:
    """Add what does not go with a validation part; `inner` is None if it was not given."""
    if not splits.validates:
        return
    if inner is not None:
        message = "parameters are chosen on the validation part of the plan: leave out one of them"
        problems.add("inner", message)
    if splits.crossed is not None and splits[0].validation is None:
        message = "queries and documents are held out: give both plans a validation part, or none"
        problems.add("plan.validation", message)


# Rankings


def _prepare_rankings(experiment: Experiment, problems: Problems) -> PreparedRankings | None:
    index, analyzer = given_index(experiment, problems)
    crossed = isinstance(experiment.plan, Crossed) and experiment.by == "query"
    by = "both" if crossed else experiment.by
    experiment = experiment.model_copy(update={"by": by, "index": index, "analyzer": analyzer})
    measures, tune_for = given_measures(experiment, problems)
    if tune_for is not None and tune_for.higher_is_better is None:
        problems.add("tune_for", f"{tune_for} has no direction (better or worse): use another")
    systems = _systems(experiment, problems)
    _check_names(systems, experiment.baseline, problems)
    machine = given_machine(experiment, measures, problems)
    collection = given_collection(experiment, systems, machine, problems)
    judges: TwoJudges | None = None
    if collection is not None and machine is not None and len(collection.qrels):
        from heldout.experiment.results.two_judges import two_judges  # rarely needed

        with problems.at("machine"):
            sampled = experiment.assume_random
            judges = two_judges(collection, machine, experiment.tune_on, assume_random=sampled)
            collection = judges.tuned
    plan, splits = given_plan(experiment, problems), None
    if plan is not None and collection is not None:
        with _splitting(problems):
            if isinstance(plan, Crossed):
                splits = plan.splits(collection)
            else:
                splits = plan.splits(collection, "document" if by == "document" else "query")
            splits = replace(splits, runs=experiment.runs)
            _check_validation(splits, experiment.inner, problems)
            if experiment.inner is not None:
                for split in splits:
                    split.inner(KFold(experiment.inner), "query" if by == "both" else None)
            if judges is not None:
                judges.check_splits(splits)
    _check_fitting(experiment, systems, measures, splits, problems)
    if problems.found or collection is None or splits is None or tune_for is None:
        return None
    known = collection.notes if judges is None else judges.notes
    return PreparedRankings(
        experiment=experiment,
        systems=systems,
        splits=splits,
        measures=measures,
        tune_for=tune_for,
        notes=(*known, *splits.notes, *_notes(experiment, systems, splits)),
        data=Data(collection, experiment.depth, experiment.seed),
        judges=judges,
    )


def _notes(experiment: Experiment, systems: Sequence[System], splits: Splits) -> Iterator[Note]:
    from heldout.experiment.rankings import listed_splits  # slow to import

    fixed = [system.name for system in systems if system.search.tuned and not system.learns]
    if experiment.inner is not None and fixed:
        text = (
            f"inner folds are for systems that learn: {', '.join(fixed)} was tuned on the whole "
            "training side"
        )
        yield Note("inner-folds", text, "info")
    learning = [system.name for system in systems if system.learns]
    if experiment.by != "query" and learning:
        documents = splits.by_unit[-1]
        advice = "move them to one side"
        if hasattr(documents.plan, "groups"):
            advice = "keep them together with the groups 'near-duplicates'"
        if not is_default(getattr(documents.plan, "groups", None), NEAR):
            yield from near_notes(documents, learning, advice)
    listed, every = listed_splits(splits, experiment.by), len(splits)
    if listed < every:
        text = f"ranked lists are kept for the first {listed} of {every:,} splits"
        yield Note("lists-kept", text, "info")


def _systems(experiment: Experiment, problems: Problems) -> tuple[System, ...]:
    from heldout.experiment.systems.build import Given, build, link

    given: Any = experiment.systems
    listed = list(given) if isinstance(given, list | tuple) else [given]
    if isinstance(given, Mapping):
        listed = list(given.items())
    if not listed:
        problems.add("systems", "missing: name at least one system")
    systems: list[System] = []
    for number, described in enumerate(listed):
        table: dict[str, Any] = {"system": described}
        if isinstance(described, tuple) and len(described) == 2 and isinstance(described[0], str):
            table = dict(zip(("name", "system"), described, strict=True))
        elif isinstance(described, dict) and experiment.home:  # in Python: runs by name
            table, before = described, len(problems.found)
            problems.unknown(table, ("system", "name", "search", "trials"), f"systems[{number}].")
            if "system" not in table:
                problems.add(f"systems[{number}].system", "is missing")
            if len(problems.found) > before:
                continue
        with problems.at(f"systems[{number}]"):
            options = {name: value for name, value in table.items() if name != "system"}
            systems.append(build(table["system"], Given(folder=experiment.home, **options)))
    if len(systems) == len(listed):
        with problems.at("systems"):
            return link(systems, experiment.home)
    return tuple(systems)


def _check_fitting(
    experiment: Experiment,
    systems: Sequence[System],
    measures: Sequence[Measure],
    splits: Splits | None,
    problems: Problems,
) -> None:
    """Add combinations that do not work; without splits, those that no splits would change."""
    by = experiment.by
    for number, system in enumerate(systems):
        for why in system.misfits(by, splits):
            problems.add(f"systems[{number}]", f"{system.name}: {why}")
    for name in [name for name in ("target_size", "method") if name in experiment.given()]:
        if by == "query":
            by_document = Argument("by", "'document'")
            problems.add(name, "is only for held-out documents: set ", by_document)
        elif by == "both":
            problems.add(
                name,
                "cannot be set when queries and documents are held out: folds of all documents "
                "are pooled",
            )
        elif not all(system.is_model for system in systems):
            problems.add(name, "is only for built-in models, and there are other systems")
        elif splits and not splits.partitions:
            why = "is only for folds; under this plan each held-out side is evaluated alone"
            problems.add(name, why)
    if by != "query" and experiment.target_size is not None:
        with problems.at("target_size"):
            check_extrapolation(measures)
            if splits and by == "document" and splits.partitions:
                check_target(experiment.target_size, int((splits.folds(0) >= 0).sum()))


# Predictions


def _prepare_predictions(experiment: Experiment, problems: Problems) -> PreparedPredictions | None:
    from heldout.data.predictions import NumberPredictions
    from heldout.experiment.instances import instances_of  # scikit-learn is slow to import
    from heldout.experiment.systems.estimators import baselines, estimators_of

    home, task = experiment.home, experiment.task
    measures, tune_for = given_measures(experiment, problems)
    own = estimators_of(experiment.systems, task, tune_for, problems, home)
    systems = (*own, *baselines(task))
    _check_names(systems, experiment.baseline, problems)
    data = instances_of(experiment.data, task, problems, home)
    if data is not None:
        for number, measure in enumerate(measures):
            with problems.at(f"measures[{number}]"):
                label = measure.parameters.get("class")
                if label and label not in data.classes:
                    known = ", ".join(data.classes)
                    raise InputError(f"unknown class {label!r}: expected one of {known}")
                if measure.family == "MAPE":  # is undefined for some truths, under any prediction
                    truth = data.y.astype(np.float64)
                    measure.units(NumberPredictions("data", data.ids, truth, truth))
    plan, splits, unseen = given_plan(experiment, problems), None, list[Note]()
    if data is not None and isinstance(plan, Plan):
        with _splitting(problems):
            splits = replace(data.divided(plan), runs=experiment.runs)
            _check_validation(splits, experiment.inner, problems)
            unseen = _class_notes(data, splits)
        tuned = any(system.search.tuned for system in systems)
        if splits is not None and not splits.validates:
            inner = experiment.inner or INNER
            experiment = experiment.model_copy(update={"inner": inner})
            with problems.at("inner"):
                for split in (None, *splits) if tuned else ():
                    data.inner_folds(split, inner, experiment.seed)
    if problems.found or data is None or splits is None or tune_for is None:
        return None
    return PreparedPredictions(
        experiment=experiment,
        systems=systems,
        splits=splits,
        measures=measures,
        tune_for=tune_for,
        notes=(*splits.notes, *unseen),
        data=data,
    )


def _class_notes(data: Instances, splits: Splits) -> list[Note]:
    """Refuse a training side with a single class; note classes that are only held out."""
    unseen: dict[str, None] = {}
    for split in splits if data.classes else ():
        seen, held = (np.unique(data.codes[side > 0]) for side in (split.train, split.test))
        if len(seen) < 2:
            names = ", ".join(data.classes[code] for code in seen.tolist())
            raise InputError(
                f"split {split.key}: all training rows have the same class, {names}: nothing can "
                "be learned there"
            )
        unseen |= dict.fromkeys(data.classes[code] for code in np.setdiff1d(held, seen))
    text = f"class {', '.join(unseen)} is held out in a split without it in the training data"
    return [Note("unseen-class", text)] if unseen else []

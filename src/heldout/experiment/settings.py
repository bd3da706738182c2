"""The settings of an experiment: everything that its results depend on, checked and ready to run.

Code that runs an experiment, sends it to other machines or stores it uses `Settings`; what differs
between rankings and predictions is in the two subclasses.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, ClassVar, Self

from heldout.data.run import Run
from heldout.errors import InputError
from heldout.experiment.documents.ranked_lists import TOP
from heldout.experiment.own_measures import describe_own

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from heldout.data.collection import Collection
    from heldout.data.words import Ints
    from heldout.experiment.execution.payload import Replacement
    from heldout.experiment.instances import Instances
    from heldout.experiment.manifest import Manifest, SettingsRecord, Timings
    from heldout.experiment.results import Results
    from heldout.experiment.schema import CollectionTable
    from heldout.experiment.systems.base import System
    from heldout.experiment.systems.estimators import EstimatorSystem
    from heldout.experiment.systems.outcomes import Outcome
    from heldout.experiment.two_judges import TwoJudges
    from heldout.measure.base import Measure
    from heldout.notes import Note
    from heldout.resample.split import Split, Splits
    from heldout.retrieve.analyze import Analyzer
    from heldout.retrieve.index import Index
    from heldout.tune.choice import Rule

__all__ = ["PredictionSettings", "RankingSettings", "Settings"]


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class Settings(ABC):
    """A checked experiment.

    Parameters
    ----------
    task
        ``ranking``, ``classification`` or ``regression``.
    systems, by, splits
        The systems, what is held out, and the splits.
    measures, tune_for
        The measures to compute, and the measure to tune for.
    seed, rule, inner, level, baseline
        As they were given.
    notes
        Warnings and notes for readers of the results.
    """

    PACKAGES: ClassVar[tuple[str, ...]]
    """The packages whose versions can change the results."""
    POLICIES: ClassVar[Mapping[str, str]]
    """Decisions that are the same for all experiments of this kind."""

    task: str
    systems: tuple[System[Any], ...]
    by: str
    splits: Splits
    measures: tuple[Measure, ...]
    tune_for: Measure
    seed: int
    rule: Rule
    inner: int | None
    level: float
    baseline: str | None
    notes: tuple[Note, ...] = ()

    @property
    def policies(self) -> Mapping[str, str]:
        """How queries, ties and failures were treated, in words."""
        return self.POLICIES

    def system(self, name: str) -> System[Any]:
        """Return the system with a name."""
        return next(system for system in self.systems if system.name == name)

    @property
    @abstractmethod
    def higher_is_better(self) -> bool:
        """The direction of the tuning measure."""

    def open_index(self) -> Index | None:
        """Return the index for built-in models; None: it is not needed."""
        return None

    @abstractmethod
    def describe(self, index: Index | None) -> SettingsRecord:
        """Return all settings as plain values."""

    @abstractmethod
    def fingerprints(self, index: Index | None) -> dict[str, Any]:
        """Return fingerprints of the data, the splits and the index."""

    @abstractmethod
    def results(self, outcomes: Sequence[Outcome], manifest: Manifest, timings: Timings) -> Results:
        """Return the tables and the summary of all systems."""

    # Other processes.

    def sendable(self) -> Self:
        """Return the settings without what other processes load or open themselves."""
        return replace(self, systems=tuple(system.sendable() for system in self.systems))

    def restored(self, sources: Sequence[str | None]) -> Self:
        """Return the settings as they were before they were sent.

        Parameters
        ----------
        sources
            The result of `System.source` for each system, in the sending process.
        """
        pairs = zip(self.systems, sources, strict=True)
        return replace(self, systems=tuple(one.restored(source) for one, source in pairs))

    def replacements(self, index: Index | None) -> Sequence[Replacement]:
        """Return large objects, each with a call that makes it again in another process."""
        del index
        return ()

    def plan_in_words(self) -> str:
        """Return how the data are split: ``10 folds of the queries (seed 0)``."""
        return self.splits.words()

    def _described(self) -> SettingsRecord:
        """Return the settings that all tasks have."""
        systems = [system.describe() for system in self.systems]
        by: Any = self.by
        own = describe_own([*self.measures, self.tune_for])
        described: SettingsRecord = {
            "task": self.task,
            "systems": systems,
            "by": by,
            "plan": repr(self.splits.plan),
            "runs": self.splits.runs,
            "plan_in_words": self.plan_in_words(),
            "plan_seed": self.splits.seed,
            "splits": len(self.splits),
            "measures": [str(measure) for measure in self.measures],
            "tune_for": str(self.tune_for),
            "seed": self.seed,
            "rule": self.rule,
            "inner": self.inner,
            "level": self.level,
            "baseline": self.baseline,
        }
        if own:
            described["own_measures"] = own
        return described


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class RankingSettings(Settings):
    """An experiment with systems that rank documents.

    Parameters
    ----------
    collection, source
        The collection, and how it was read (None: it was given as an object).
    depth, keep_depth
        Ranking depth; how many documents of each held-out ranking are kept.
    method, target_size, replicates
        How scores on new documents are estimated.
    index, analyzer
        An index or its path; or how text is turned into terms.
    machine
        Human and machine judgements, if there are both.
    judged_depth
        The depth to which held-out rankings are judged again, by both.
    """

    PACKAGES: ClassVar[tuple[str, ...]] = ("numpy", "scipy", "numba", "polars", "pystemmer")
    POLICIES: ClassVar[Mapping[str, str]] = {
        "ties": str(Run.__dataclass_fields__["ties"].default),
        "queries without a relevant document": "left out, and counted",
        "judged queries without a ranked list": "count 0",
        "a query held out several times": "its mean counts once",
    }

    measures: tuple[Measure, ...]
    tune_for: Measure
    collection: Collection
    source: CollectionTable | None
    depth: int
    keep_depth: int
    method: str
    target_size: int | None
    replicates: int
    index: Index | str | None
    analyzer: Analyzer | None
    machine: TwoJudges | None = None
    judged_depth: int = 0

    @property
    def higher_is_better(self) -> bool:
        """The direction of the tuning measure."""
        return bool(self.tune_for.higher_is_better)

    @property
    def kept(self) -> int:
        """The number of documents of each held-out ranking that systems return."""
        return max(self.shown, min(self.judged_depth, self.depth))

    @property
    def shown(self) -> int:
        """The number of documents of each held-out ranking that results keep."""
        return max(TOP, min(self.keep_depth, self.depth))

    @property
    def policies(self) -> Mapping[str, str]:
        """How queries and ties were treated; with a machine, no query is left out by a judge."""
        if self.machine is None:
            return self.POLICIES
        counted = {"queries without a relevant document": "count 0; left out of tuning"}
        return {**self.POLICIES, **counted}

    @property
    def tune_on_machine(self) -> bool:
        """Whether parameters are tuned on machine judgements."""
        return self.machine is not None and self.machine.tune_on == "machine"

    @property
    def document_groups(self) -> Ints | None:
        """The group of each document, if documents are held out; None: no groups."""
        if self.by == "query":
            return None
        return (self.splits.crossed or [self.splits])[-1].groups

    def open_index(self) -> Index | None:
        """Return the index for built-in models; it is built if none was given."""
        every = [part for system in self.systems for part in (system, *system.linked_parts())]
        if not any(system.needs_index for system in every):
            return None
        from heldout.retrieve.first_use import prepare_ranking
        from heldout.retrieve.index import Index, IndexedDocuments

        documents, given = self.collection.documents, self.index
        if isinstance(documents, IndexedDocuments):
            if given is not None or self.analyzer is not None:
                raise InputError("the collection is an index: leave index and analyzer out")
            return documents.index
        if given is None:
            prepare_ranking()
            return Index.build(documents, self.analyzer)
        index = Index.open(given) if isinstance(given, str) else given
        if index.documents_digest != documents.digest:
            raise InputError(
                f"{given}: not an index of these documents ({index.n_documents} there, "
                f"{len(documents)} here; text or ids differ): build it again with heldout index"
            )
        return index

    def describe(self, index: Index | None) -> SettingsRecord:
        """Return all settings as plain values."""
        collection = self.collection if self.machine is None else self.machine.collection
        record: SettingsRecord = {
            **self._described(),
            "collection": {
                "name": collection.name,
                "documents": len(collection.documents),
                "queries": len(collection.queries),
                "judgements": len(collection.qrels),
            },
            "depth": self.depth,
            "keep_depth": self.keep_depth,
            "estimator": self.method,
            "target_size": self.target_size,
            "replicates": self.replicates,
            "analyzer": None if index is None else index.analyzer.signature(),
        }
        if self.machine is not None:
            judged = self.machine.judged
            record["machine"] = {
                "name": judged.name,
                "queries": len(judged.machine.queries),
                "judgements": len(judged.machine),
                "human_queries": len(judged.human.queries),
                "tune_on": self.machine.tune_on,
                "assume_random": judged.assume_random,
            }
        return record

    def fingerprints(self, index: Index | None) -> dict[str, Any]:
        """Return fingerprints of the collection, the splits and the index."""
        judges = self.machine
        judged = self.collection if judges is None else judges.collection
        found: dict[str, Any] = {
            "collection": judged.fingerprint(),
            "splits": self.splits.fingerprint,
            "index": None if index is None else index.fingerprint,
        }
        if judges is not None:
            found["machine"] = judges.judged.machine.fingerprint()
        return found

    def results(self, outcomes: Sequence[Outcome], manifest: Manifest, timings: Timings) -> Results:
        """Return the tables and the summary of all systems."""
        from heldout.experiment.ranking_results import ranking_results

        ranked: Any = outcomes  # all systems of these settings rank
        return ranking_results(self, ranked, manifest, timings)

    def sendable(self) -> Self:
        """Return the settings without the index, which is sent beside them.

        Held-out rankings are judged by both judgements when all tasks are done, not by workers.
        """
        return replace(Settings.sendable(self), index=None, machine=None)

    def replacements(self, index: Index | None) -> Sequence[Replacement]:
        """Return the collection, its parts, the index, and measures of the user."""
        from heldout.experiment.execution.payload import ranking_replacements

        return tuple(ranking_replacements(self, index))


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class PredictionSettings(Settings):
    """An experiment with scikit-learn estimators.

    Parameters
    ----------
    data
        The instances.
    """

    PACKAGES: ClassVar[tuple[str, ...]] = ("numpy", "scipy", "scikit-learn", "joblib", "polars")
    POLICIES: ClassVar[Mapping[str, str]] = {
        "threads of a fit": "1",
        "an estimator without a seed": "its random_state follows from seed, system and split",
        "a point that fails on an inner fold": "is not chosen",
    }

    measures: tuple[Measure, ...]
    tune_for: Measure
    systems: tuple[EstimatorSystem, ...]
    inner: int
    by: str = "instance"
    data: Instances

    @property
    def higher_is_better(self) -> bool:
        """The direction of the tuning measure."""
        return bool(self.tune_for.higher_is_better)

    def inner_splits(self, split: Split | None) -> Splits:
        """Return the inner folds of a training side; None: of all data."""
        return self.data.inner_folds(split, self.inner, self.seed)

    def describe(self, index: Index | None) -> SettingsRecord:
        """Return all settings as plain values."""
        del index
        data = self.data
        shares = [split.n_test / split.n_train for split in self.splits]
        return {
            **self._described(),
            "data": {
                "name": data.name,
                "rows": len(data),
                "groups": len(set(data.groups)) or None,
                "classes": list(data.classes),
            },
            "test_share": sum(shares) / len(shares),
        }

    def fingerprints(self, index: Index | None) -> dict[str, Any]:
        """Return fingerprints of the instances and the splits."""
        del index
        return {"data": self.data.fingerprint(), "splits": self.splits.fingerprint}

    def results(self, outcomes: Sequence[Outcome], manifest: Manifest, timings: Timings) -> Results:
        """Return the tables and the summary of all systems."""
        from heldout.experiment.prediction_results import prediction_results

        predicted: Any = outcomes  # all systems of these settings are estimators
        return prediction_results(self, predicted, manifest, timings)

"""The settings of an experiment: all that its results depend on, checked and ready to run.

Whoever runs an experiment, sends it to other machines or writes it down knows `Settings` alone;
what is different for rankings and for predictions is in the two subclasses.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass, replace
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any, ClassVar, Final, Self

from heldout.data.run import Run
from heldout.errors import InputError

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from contextlib import ExitStack

    from heldout.data.collection import Collection
    from heldout.data.words import Ints
    from heldout.experiment.execution.payload import Replacement
    from heldout.experiment.instances import Instances
    from heldout.experiment.manifest import Fingerprints, Manifest, SettingsRecord, Timings
    from heldout.experiment.results import Results
    from heldout.experiment.schema import CollectionTable
    from heldout.experiment.systems import EstimatorSystem, System
    from heldout.experiment.systems.outcomes import Outcome
    from heldout.measure.base import Measure
    from heldout.measure.ranking.names import RankingMeasure
    from heldout.notes import Note
    from heldout.resample.split import Split, Splits
    from heldout.retrieve.analyze import Analyzer
    from heldout.retrieve.shards import AnyIndex
    from heldout.tune.choice import Rule

__all__ = ["PROCESS_BYTES", "PredictionSettings", "RankingSettings", "Settings"]

PROCESS_BYTES: Final = 160 << 20
"""A worker process before it has any data: Python, NumPy, SciPy, scikit-learn."""
_VALUE_BYTES: Final = 60
"""For each value of a measure, on its way from record to table."""


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class Settings(ABC):
    """An experiment that can be run.

    Parameters
    ----------
    task
        ``ranking``, ``classification`` or ``regression``.
    systems, by, splits
        The systems, what is divided, and how.
    measures, tune_for
        What is measured, and what parameters are chosen by.
    seed, rule, inner, level, baseline
        As they were given.
    notes
        What a reader of the results should know.
    """

    PACKAGES: ClassVar[tuple[str, ...]]
    """The packages whose versions may change the results."""
    POLICIES: ClassVar[Mapping[str, str]]
    """What is decided once for all experiments of the kind."""

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

    def system(self, name: str) -> System[Any]:
        """The system of that name."""
        return next(one for one in self.systems if one.name == name)

    @property
    @abstractmethod
    def higher_is_better(self) -> bool:
        """The direction of the measure that parameters are chosen by."""

    def open_index(self, limit: int | None = None, stack: ExitStack | None = None) -> Any:
        """The index that built-in models need; None: nobody needs one.

        Parameters
        ----------
        limit, stack
            Bytes that the run may take: an index that has to be built is then built in a file,
            which goes when `stack` is left.
        """
        del limit, stack

    @abstractmethod
    def describe(self, index: AnyIndex | None) -> SettingsRecord:
        """All settings as plain values."""

    @abstractmethod
    def fingerprints(self, index: AnyIndex | None) -> Fingerprints:
        """Of the data, the splits and the index."""

    @abstractmethod
    def results(self, outcomes: Sequence[Outcome], manifest: Manifest, timings: Timings) -> Results:
        """Tables and summary of what is known of each system."""

    # On their way to other processes.

    @property
    def reads_files(self) -> bool:
        """Whether other processes read something from files again."""
        return False

    def sendable(self) -> Self:
        """The same without what other processes load or open themselves."""
        return replace(self, systems=tuple(one.sendable() for one in self.systems))

    def restored(self, sources: Sequence[str | None]) -> Self:
        """The same as before it was sent.

        Parameters
        ----------
        sources
            What `System.source` said of each system where it was sent from.
        """
        pairs = zip(self.systems, sources, strict=True)
        return replace(self, systems=tuple(one.restored(source) for one, source in pairs))

    def replacements(self, index: AnyIndex | None, *, embed: bool) -> Sequence[Replacement]:
        """Return large objects, each with a call that makes it again in another process.

        Parameters
        ----------
        embed
            Send the contents of files, too: the other process cannot read the files.
        """
        del index, embed
        return ()

    # What a run takes, roughly.

    def record_bytes(self) -> int:
        """Bytes that the record of one task takes until it is in a table."""
        return 0

    @abstractmethod
    def process_bytes(self, held: int) -> int:
        """Bytes of a worker process before it does anything.

        Parameters
        ----------
        held
            Bytes of this process.
        """

    def _described(self) -> SettingsRecord:
        """What the settings of all tasks have."""
        systems = [system.describe() for system in self.systems]
        by: Any = self.by
        return {
            "task": self.task,
            "systems": systems,
            "by": by,
            "plan": repr(self.splits.plan),
            "plan_seed": self.splits.seed,
            "splits": len(self.splits),
            "measures": [str(one) for one in self.measures],
            "tune_for": str(self.tune_for),
            "seed": self.seed,
            "rule": self.rule,
            "inner": self.inner,
            "level": self.level,
            "baseline": self.baseline,
        }


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class RankingSettings(Settings):
    """An experiment with systems that rank documents.

    Parameters
    ----------
    collection, source
        What is searched, and how it was read (None: it came as an object).
    depth
        How many documents of a ranked list count.
    method, target_size, replicates
        How scores on new documents are estimated.
    index, analyzer
        An index, or its path, and how text becomes terms if there is none.
    """

    PACKAGES: ClassVar[tuple[str, ...]] = ("numpy", "scipy", "numba", "polars", "pystemmer")
    POLICIES: ClassVar[Mapping[str, str]] = {
        "ties": str(Run.__dataclass_fields__["ties"].default),
        "queries without a relevant document": "left out, and counted",
        "judged queries without a ranked list": "count 0",
        "a query held out several times": "its mean counts once",
    }

    measures: tuple[RankingMeasure, ...]
    tune_for: RankingMeasure
    collection: Collection
    source: CollectionTable | None
    depth: int
    method: str
    target_size: int | None
    replicates: int
    index: AnyIndex | str | None
    analyzer: Analyzer | None

    @property
    def higher_is_better(self) -> bool:
        """The direction of the measure that parameters are chosen by."""
        return bool(self.tune_for.higher_is_better)

    @property
    def document_groups(self) -> Ints | None:
        """The group of each document, where documents are held out; None: there are no groups."""
        if self.by == "query":
            return None
        return self.splits.documents.groups if self.by == "both" else self.splits.groups  # type: ignore[attr-defined]

    def open_index(
        self, limit: int | None = None, stack: ExitStack | None = None
    ) -> AnyIndex | None:
        """The index that built-in models need, built if none was given."""
        if not any(one.needs_index for one in self.systems):
            return None
        from heldout.retrieve.index import Index
        from heldout.retrieve.shards import open_index

        documents, given = self.collection.documents, self.index
        if given is None:
            if limit is None or stack is None:
                return Index.build(documents, self.analyzer)
            from heldout.experiment.execution.memory import peak_memory

            folder = stack.enter_context(TemporaryDirectory(prefix="heldout-"))
            room = max((limit - peak_memory()) // 2, 1 << 20)
            return Index.build(documents, self.analyzer, path=Path(folder) / "index", memory=room)
        index = open_index(given) if isinstance(given, str) else given
        if not index.made_of(documents):
            raise InputError(
                f"{given}: not an index of these documents ({index.n_documents} there, "
                f"{len(documents)} here; text or ids differ): build it again with heldout index"
            )
        return index

    def describe(self, index: AnyIndex | None) -> SettingsRecord:
        """All settings as plain values."""
        collection = self.collection
        return {
            **self._described(),
            "collection": {
                "name": collection.name,
                "documents": len(collection.documents),
                "queries": len(collection.queries),
                "judgements": len(collection.qrels),
            },
            "depth": self.depth,
            "estimator": self.method,
            "target_size": self.target_size,
            "replicates": self.replicates,
            "analyzer": None if index is None else index.analyzer.signature(),
        }

    def fingerprints(self, index: AnyIndex | None) -> Fingerprints:
        """Of the collection, the splits and the index."""
        return {
            "collection": self.collection.fingerprint(),
            "splits": self.splits.fingerprint,
            "index": None if index is None else index.fingerprint,
        }

    def results(self, outcomes: Sequence[Outcome], manifest: Manifest, timings: Timings) -> Results:
        """Tables and summary of what is known of each system."""
        from heldout.experiment.ranking_results import ranking_results

        ranked: Any = outcomes  # systems that rank have no other outcomes
        return ranking_results(self, ranked, manifest, timings)

    @property
    def reads_files(self) -> bool:
        """Whether the collection or the index is read from files."""
        return self.source is not None or isinstance(self.index, str)

    def sendable(self) -> Self:
        """Return the settings without the index, which is sent beside them."""
        return replace(Settings.sendable(self), index=None)

    def replacements(self, index: AnyIndex | None, *, embed: bool) -> Sequence[Replacement]:
        """Return the collection, its parts, the index, and measures of the user."""
        from heldout.experiment.execution.payload import ranking_replacements

        return tuple(ranking_replacements(self, index, embed=embed))

    def record_bytes(self) -> int:
        """Bytes of the values of all queries."""
        return _VALUE_BYTES * len(self.collection.queries) * (len(self.measures) + 1)

    def process_bytes(self, held: int) -> int:
        """As much as this one: it holds the collection too."""
        return max(held, PROCESS_BYTES)


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
        """The direction of the measure that points are chosen by."""
        return bool(self.tune_for.higher_is_better)

    def inner_splits(self, split: Split | None) -> Splits:
        """The folds of a train side that points are chosen on; None: of everything."""
        return self.data.inner_folds(split, self.inner, self.seed)

    def describe(self, index: AnyIndex | None) -> SettingsRecord:
        """All settings as plain values."""
        del index
        data = self.data
        shares = [one.n_test / one.n_train for one in self.splits]
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

    def fingerprints(self, index: AnyIndex | None) -> Fingerprints:
        """Of the instances and the splits."""
        del index
        return {"data": self.data.fingerprint(), "splits": self.splits.fingerprint}

    def results(self, outcomes: Sequence[Outcome], manifest: Manifest, timings: Timings) -> Results:
        """Tables and summary of what is known of each system."""
        from heldout.experiment.prediction_results import prediction_results

        predicted: Any = outcomes  # estimators have no other outcomes
        return prediction_results(self, predicted, manifest, timings)

    def process_bytes(self, held: int) -> int:
        """The data, in an empty process."""
        del held
        return PROCESS_BYTES + self.data.table_bytes()

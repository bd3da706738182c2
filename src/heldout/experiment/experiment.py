"""Experiment: the front door, from fields to results."""

from __future__ import annotations

import os
import re
from contextlib import ExitStack, suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, Literal

from heldout.data.atomic import write_atomically
from heldout.data.files import parse_toml, toml_text
from heldout.errors import InputError
from heldout.experiment.execution.folder import locked
from heldout.experiment.execution.resources import Resources
from heldout.experiment.execution.run import JOURNAL, earlier_results, make_folder, run_experiment
from heldout.experiment.manifest import MANIFEST, make_manifest
from heldout.experiment.problems import Problems
from heldout.experiment.ranking_fields import check_ranking_fields
from heldout.experiment.result_files import EXPERIMENT, flush
from heldout.experiment.schema import PredictionFields, RankingFields

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from heldout.data.collection import Collection
    from heldout.experiment.documents.methods import Method
    from heldout.experiment.results import Results
    from heldout.experiment.schema import By, TuneOn
    from heldout.experiment.settings import Settings
    from heldout.measure.base import Measure
    from heldout.resample.plan import Plan
    from heldout.resample.two_way import Crossed
    from heldout.retrieve.analyze import Analyzer
    from heldout.retrieve.index import Index
    from heldout.tune.choice import Rule

__all__ = ["JOURNAL", "Experiment"]

_HOME: Final = re.compile(r"^\s*folder\s*=", re.MULTILINE)
_DEFAULTS: Final = {
    name: field.default
    for kind in (PredictionFields, RankingFields)
    for name, field in kind.model_fields.items()
}


def _is_default(name: str, value: object) -> bool:
    default = _DEFAULTS[name]
    return value is default or (isinstance(value, str | int | float) and value == default)


class Experiment:
    """Tune systems on training data and evaluate them on held-out data.

    Parameters
    ----------
    collection
        A `Collection`, its name or path, or ``{"source": …, "queries": …}`` with the options of
        `heldout.read_collection`. An index can be named as the source, with queries and qrels: its
        documents are not read.
    systems
        One or several systems, or ``{name: system}``; see `System.of`.
    by
        What is held out: ``query``, ``document``, or ``both``.
    plan
        How it is split: a plan such as ``KFold(10)``, or a table as in ``experiment.toml``.
        Default: 10 folds of queries, 5 folds of documents, 5 × 5 of both.
    runs
        How often each split is used, for systems that depend on a random seed.
    measures, tune_for
        The measures to compute, and the measure to tune for (default: the first).
    seed
        Random seed of folds, systems with a seed, and resampling.
    depth
        Ranking depth: documents below it are ignored.
    keep_depth
        How many documents of each held-out ranking are kept with the results, at least 10.
    rule, inner
        How parameters are chosen on training data: ``best`` or ``one-se``; on all of it (None)
        or by a number of inner folds.
    method, target_size, replicates
        For held-out documents: the estimation method (see `heldout.experiment.documents.methods`),
        the collection size that the estimate is for, and the number of jackknife replicates for
        intervals.
    level, baseline
        The confidence level of intervals and tests, and the system that others are compared with.
    index, analyzer
        An `Index` or its path; or, if one is built, how text is turned into terms.
    machine
        For held-out queries: judgements of a machine (a file, an object or a dictionary) for all
        queries; those of the collection are then human judgements of a random sample of them.
        Scores and differences are combined estimates, as in `heldout.compare`.
    tune_on, assume_random
        Of `machine`: whether parameters are tuned on the ``human`` or the ``machine`` judgements of
        the training queries; confirm that the queries with human judgements are a random sample.
    task
        ``ranking``, or ``classification`` or ``regression`` with estimators. These have `data`
        instead of a collection: ``(X, y)``, ``{"X": …, "y": …, "ids": …, "groups": …}``, or a table
        in a file, ``{"file": …, "target": …, "text": …}``. Systems are scikit-learn estimators or
        pipelines, ``{name: estimator}`` or ``{name: (estimator, {"step__param": [values]})}``;
        parameters are chosen by `inner` folds (5) of the training data. Baselines are added.

    Examples
    --------
    >>> from heldout.data.collection import Collection
    >>> texts = {f"d{n}": f"word{n} common text" for n in range(8)}
    >>> small = Collection(
    ...     texts,
    ...     {f"q{n}": f"word{n} common" for n in range(8)},
    ...     {f"q{n}": {f"d{n}": 1} for n in range(8)},
    ... )
    >>> results = Experiment(
    ...     collection=small, systems="bm25(k1=0.5:2:4)", plan={"folds": 4}, measures=["RR"]
    ... ).run()
    >>> results.estimate("bm25")["value"]
    1.0

    >>> from sklearn.datasets import load_iris
    >>> from sklearn.neighbors import KNeighborsClassifier
    >>> knn = KNeighborsClassifier(), {"n_neighbors": [1, 5, 9]}
    >>> data = load_iris(return_X_y=True)
    >>> results = Experiment(task="classification", data=data, systems={"k-NN": knn}).run()
    >>> [round(results.estimate(one)["value"], 2) for one in ("k-NN", "(majority class)")]
    [0.97, 0.33]
    """

    def __init__(  # noqa: PLR0913 - each is a field of the file
        self,
        *,
        collection: Collection | str | os.PathLike[str] | Mapping[str, Any] | None = None,
        systems: Any = (),
        data: Any = None,
        task: Literal["ranking", "classification", "regression"] = "ranking",
        by: By = "query",
        plan: Plan | Crossed | Mapping[str, Any] | None = None,
        runs: int = 1,
        measures: str | Measure | Sequence[str | Measure] | None = None,
        tune_for: str | Measure | None = None,
        seed: int = 0,
        depth: int = 1000,
        keep_depth: int = 10,
        rule: Rule = "best",
        inner: int | None = None,
        method: Method = "pooled",
        target_size: int | None = None,
        replicates: int = 500,
        level: float = 0.95,
        baseline: str | None = None,
        index: Index | str | os.PathLike[str] | None = None,
        analyzer: Analyzer | Mapping[str, Any] | None = None,
        machine: Any = None,
        tune_on: TuneOn = "human",
        assume_random: bool = False,
    ) -> None:
        every: dict[str, object] = {
            "collection": collection,
            "systems": systems,
            "data": data,
            "task": task,
            "by": by,
            "plan": plan,
            "runs": runs,
            "measures": measures,
            "tune_for": tune_for,
            "seed": seed,
            "depth": depth,
            "keep_depth": keep_depth,
            "rule": rule,
            "inner": inner,
            "method": method,
            "target_size": target_size,
            "replicates": replicates,
            "level": level,
            "baseline": baseline,
            "index": index,
            "analyzer": analyzer,
            "machine": machine,
            "tune_on": tune_on,
            "assume_random": assume_random,
        }
        # Some fields belong to one task only. A field with its default value counts as not given.
        self.fields = {name: one for name, one in every.items() if not _is_default(name, one)}
        self._source = ""
        self._text = ""
        self._folder: Path | None = None
        self.place_of: Callable[[str], str] | None = None
        """Return where the value of a field was given, for messages; by default its name."""

    @classmethod
    def read(cls, path: str | os.PathLike[str]) -> Experiment:
        """Read ``experiment.toml``, or a folder of results, to repeat the experiment.

        Relative paths start from the folder of the file, or from the field ``folder`` in it.
        """
        place = Path(path)
        if place.is_dir():
            place = _stored(place)
        try:
            fields, text = parse_toml(place.read_bytes(), str(place))
        except OSError as error:
            raise InputError(f"{place}: cannot be read ({error.strerror})") from None
        made = cls()
        made._source = str(place)
        made._text = text
        home = fields.pop("folder", "")
        if not isinstance(home, str):
            raise InputError(f"{place}: folder: expected a path, not {home!r}")
        made._folder = place.parent / home
        made.fields = fields
        return made

    def path_of(self, path: str) -> str:
        """Return a path of a field, seen from the folder of the experiment if it is there."""
        beside = None if self._folder is None else self._folder / path
        return os.fspath(beside) if beside is not None and beside.exists() else path

    def check(self) -> Settings:
        """Check all fields before anything runs, and raise all mistakes at once."""
        problems = Problems(self.place_of or str)
        settings: Settings | None = None
        task = self.fields.get("task", "ranking")
        if task == "ranking":
            settings = check_ranking_fields(self.fields, problems, self._folder)
        elif task == "classification" or task == "regression":  # noqa: PLR1714 - for the types
            # Imported here: measures of predictions and scikit-learn are slow to import.
            from heldout.experiment.prediction_fields import check_prediction_fields

            settings = check_prediction_fields(task, self.fields, problems, self._folder)
        else:
            problems.add("task", f"{task!r} is not ranking, classification or regression")
        problems.refuse(self._source)
        if settings is None:
            raise InputError("the experiment cannot be run")  # unreachable: there was a problem
        return settings

    def run(
        self,
        folder: str | os.PathLike[str] | None = None,
        *,
        workers: int = 1,
        dask: Any = None,
        resume: bool = False,
        force: bool = False,
        progress: bool = False,
        command: str = "",
        on_message: Callable[[str], None] | None = None,
    ) -> Results:
        """Run the experiment.

        Parameters
        ----------
        folder
            Where results are written; only then can a killed run be resumed. None: nowhere.
        workers
            Processes for systems that are called or fitted (built-in models use threads). Results
            do not depend on it.
        dask
            A Dask cluster to use instead: ``tcp://HOST:PORT``, ``tls://HOST:PORT``, a scheduler
            file, ``local:4`` for four processes of this machine, or a ``distributed.Client``.
            Results do not depend on it.
        resume
            Continue a run that was interrupted; if it is complete, read its results.
        force
            Start from scratch, overwriting existing results.
        progress
            Show a progress bar on a terminal.
        command
            The command that was typed; it is stored with the timings, not with the results.
        on_message
            Called with a message if a cluster has no workers.
        """
        resources = Resources(workers, dask, on_message)
        resources.check()
        settings = self.check()
        with ExitStack() as stack:
            index = settings.open_index()
            manifest = make_manifest(settings, index)
            if folder is None:
                return run_experiment(settings, index, manifest, None, resources, progress=progress)
            place = Path(folder)
            make_folder(place)
            stack.enter_context(locked(place))
            earlier = earlier_results(place, manifest, resume=resume, force=force)
            if earlier is not None:
                return earlier
            results = run_experiment(settings, index, manifest, place, resources, progress=progress)
            if command:
                results.timings["command"] = command
            self._store(place)
            results.write(place)
            flush(place)  # results must be on the disk before the journal is removed
            (place / JOURNAL).unlink(missing_ok=True)
        return results

    def _store(self, place: Path) -> None:
        """Store the fields with the results, unless they contain Python objects."""
        home = (self._folder or Path()).resolve()
        with suppress(ValueError):  # on another drive of Windows
            home = Path(os.path.relpath(home, place.resolve()))
        try:
            text = self._text or toml_text(self.fields)
        except TypeError:
            (place / EXPERIMENT).unlink(missing_ok=True)
            return
        if _HOME.search(text):  # repeated from results, so the folder is a different one now
            text = toml_text(self.fields)
        with write_atomically(place / EXPERIMENT) as aside:
            whole = toml_text({"folder": home.as_posix()}) + text
            aside.write_text(whole, encoding="utf-8", newline="\n")
            flush(aside)


def _stored(place: Path) -> Path:
    """Return the path of the experiment stored with results."""
    kept = place / EXPERIMENT
    if not kept.is_file():
        what = "results" if (place / MANIFEST).is_file() else "a folder without results"
        raise InputError(
            f"{place}: {what} that cannot be repeated: no {EXPERIMENT} (experiments with "
            "Python objects have none)"
        )
    return kept

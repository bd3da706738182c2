"""Experiment: systems on splits, from settings to results."""

from __future__ import annotations

import os
import re
from contextlib import ExitStack, suppress
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, Literal

from heldout.data.aside import write_atomically
from heldout.data.io.toml import toml_text
from heldout.data.sizes import parse_size
from heldout.errors import InputError
from heldout.experiment.execution.execute import execute
from heldout.experiment.execution.journal import Journal
from heldout.experiment.execution.lock import locked
from heldout.experiment.execution.progress import progress_bar
from heldout.experiment.execution.regular_files import refuse_link
from heldout.experiment.execution.resources import Resources
from heldout.experiment.execution.tasks import Task, plan_tasks
from heldout.experiment.manifest import MANIFEST, experiment_key, make_manifest
from heldout.experiment.problems import Problems
from heldout.experiment.ranking_fields import check_ranking_fields
from heldout.experiment.result_files import EXPERIMENT, all_files, flush
from heldout.experiment.results import Results
from heldout.experiment.schema import PredictionFields, RankingFields
from heldout.experiment.toml_lines import place_in, read_fields

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from heldout.data.collection import Collection
    from heldout.experiment.documents.methods import Method
    from heldout.experiment.execution.progress import Step
    from heldout.experiment.manifest import Manifest
    from heldout.experiment.schema import By
    from heldout.experiment.settings import Settings
    from heldout.experiment.systems.records import Record
    from heldout.measure.base import Measure
    from heldout.resample.plan import Plan
    from heldout.retrieve.analyze import Analyzer
    from heldout.retrieve.shards import AnyIndex
    from heldout.tune.choice import Rule

__all__ = ["JOURNAL", "Experiment"]

JOURNAL: Final = "journal.jsonl"
_FILES: Final = (*all_files(), JOURNAL)
_HOME: Final = re.compile(r"^\s*folder\s*=", re.MULTILINE)
_ASIDE: Final = re.compile(r"\..+\.(parquet|json|toml)\.([0-9a-f]{8}-)?\d+\.tmp")


_DEFAULTS: Final = {
    name: field.default
    for kind in (PredictionFields, RankingFields)
    for name, field in kind.model_fields.items()
}


def _is_default(name: str, value: object) -> bool:
    default = _DEFAULTS[name]
    return value is default or (isinstance(value, str | int | float) and value == default)


class Experiment:
    """Systems that are tuned on train sides and measured on what was held out.

    Parameters
    ----------
    collection
        A `Collection`, its name or path, or ``{"source": …, "queries": …}`` with the options of
        `heldout.read_collection`.
    systems
        One or several, or ``{name: system}``; see `System.of`.
    by
        What is held out: ``query``, ``document``, or ``both``.
    plan
        How it is divided: a plan such as ``KFold(10)``, or a table as in ``experiment.toml``; by
        default 10 folds of queries, 5 folds of documents, 5 × 5 of both.
    measures, tune_for
        What is measured, and the measure that parameters are chosen by (the first by default).
    seed
        The root of all chance: folds, systems that take a seed, bootstrap.
    depth
        How many documents of a ranked list count.
    rule, inner
        How a value is chosen on a train side: ``best`` or ``one-se``; on all of it (None) or by so
        many inner folds.
    method, target_size, replicates
        For documents: see `heldout.experiment.documents.methods`; the number of documents to speak
        of; how many replicates intervals on new documents have. `method` was called
        `estimator`, and can still be called so.
    level, baseline
        The confidence level of intervals and tests, and the system that others are compared with.
    index, analyzer
        An `Index` or its path; or how text becomes terms, if one is to be built. The files of the
        collection are not read again if path, size and time are those that the index recorded.
    verify_index
        Read and compare the whole collection with the index all the same.
    task
        ``ranking``, or ``classification`` or ``regression`` by estimators. Those have `data` in
        place of a collection: ``(X, y)``, ``{"X": …, "y": …, "ids": …, "groups": …}``, or a table
        in a file, ``{"file": …, "target": …, "text": …}``. Systems are scikit-learn estimators or
        pipelines, ``{name: estimator}`` or ``{name: (estimator, {"step__param": [values]})}``;
        values are chosen by `inner` folds (5) of each train side. Baselines stand beside them.

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
        plan: Plan | Mapping[str, Any] | None = None,
        measures: str | Measure | Sequence[str | Measure] | None = None,
        tune_for: str | Measure | None = None,
        seed: int = 0,
        depth: int = 1000,
        rule: Rule = "best",
        inner: int | None = None,
        method: Method = "pooled",
        target_size: int | None = None,
        replicates: int = 500,
        level: float = 0.95,
        baseline: str | None = None,
        index: AnyIndex | str | os.PathLike[str] | None = None,
        verify_index: bool = False,
        analyzer: Analyzer | Mapping[str, Any] | None = None,
    ) -> None:
        every: dict[str, object] = {
            "collection": collection,
            "systems": systems,
            "data": data,
            "task": task,
            "by": by,
            "plan": plan,
            "measures": measures,
            "tune_for": tune_for,
            "seed": seed,
            "depth": depth,
            "rule": rule,
            "inner": inner,
            "method": method,
            "target_size": target_size,
            "replicates": replicates,
            "level": level,
            "baseline": baseline,
            "index": index,
            "verify_index": verify_index,
            "analyzer": analyzer,
        }
        # Some fields are of one task alone: what was left as it is, was not given.
        self.fields = {name: one for name, one in every.items() if not _is_default(name, one)}
        self._source = ""
        self._text = ""
        self._folder: Path | None = None
        self.place_of: Callable[[str], str] | None = None
        """Say where the value of a field was given, for messages; by default its name."""

    @classmethod
    def read(cls, path: str | os.PathLike[str]) -> Experiment:
        """Read ``experiment.toml``, or the folder of results, to repeat their experiment.

        Relative paths start from the folder of the file, or from the field ``folder`` in it.
        """
        place = Path(path)
        if place.is_dir():
            place = _stored(place)
        fields, text = read_fields(place)
        made = cls()
        made._source = str(place)
        made._text = text
        home = fields.pop("folder", "")
        if not isinstance(home, str):
            raise InputError(f"{place}: folder: expected a path, not {home!r}")
        made._folder = place.parent / home
        made.fields = fields
        return made

    def check(self) -> Settings:
        """Look at everything before anything runs, and raise all that is wrong at once."""
        problems = Problems(place_in(self._text) if self._text else self.place_of or str)
        settings: Settings | None = None
        task = self.fields.get("task", "ranking")
        if task == "ranking":
            settings = check_ranking_fields(self.fields, problems, self._folder)
        elif task == "classification" or task == "regression":  # noqa: PLR1714 - for the types
            # Only here: measures of predictions and scikit-learn are slow to import.
            from heldout.experiment.prediction_fields import check_prediction_fields

            settings = check_prediction_fields(task, self.fields, problems, self._folder)
        else:
            problems.add("task", f"{task!r} is not ranking, classification or regression")
        problems.refuse(self._source)
        if settings is None:
            raise InputError("the experiment cannot be run")  # cannot be: refuse has said why
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
        max_memory: int | str | None = None,
        told: Callable[[str], None] | None = None,
    ) -> Results:
        """Run it.

        Parameters
        ----------
        folder
            Where results go; with it a run that is killed can go on. None: nothing is written.
        workers
            Processes for systems that are called or fitted (built-in models use threads). The
            results do not depend on it.
        dask
            A Dask cluster that does the work instead: ``tcp://HOST:PORT``, a scheduler file,
            ``local:4`` for four processes of this machine, or a ``distributed.Client``. The results
            do not depend on it.
        resume
            Go on with a run that was interrupted; if it is complete, its results are read.
        force
            Start anew, whatever is in the folder.
        progress
            Show a bar on a terminal.
        command
            What was typed to run it: kept beside the timings, since it is no part of the results.
        max_memory
            Bytes, or a text such as ``2GB``, that this process and its workers may take: an index
            is built on the disk, fewer workers are taken if need be, and a run that cannot fit is
            refused before it starts. It goes by an estimate, and a rough one; what systems of yours
            take is not known.
        told
            Called with a sentence about memory that is short, or a cluster without workers.
        """
        limit = parse_size(max_memory) if isinstance(max_memory, str) else max_memory
        resources = Resources(workers, dask, limit, told)
        resources.check()
        settings = self.check()
        with ExitStack() as stack:
            index = settings.open_index(limit, stack)
            manifest = make_manifest(settings, index)
            resources = resources.within_memory(settings, index)
            if folder is None:
                return _run(settings, index, manifest, None, resources, progress=progress)
            place = Path(folder)
            _make_folder(place)
            for name in _FILES:
                refuse_link(place / name)
            stack.enter_context(locked(place))
            ready = _look_into(place, manifest, resume=resume, force=force)
            if ready is not None:
                return ready
            results = _run(settings, index, manifest, place, resources, progress=progress)
            if command:
                results.timings["command"] = command
            self._store(place)
            results.write(place)
            flush(place)  # the journal goes when the power may go too
            (place / JOURNAL).unlink(missing_ok=True)
        return results

    def _store(self, place: Path) -> None:
        """Keep the fields with the results, unless they are objects that no file can hold."""
        home = (self._folder or Path()).resolve()
        with suppress(ValueError):  # on another drive
            home = Path(os.path.relpath(home, place.resolve()))
        try:
            text = self._text or toml_text(self.fields)
        except TypeError:
            (place / EXPERIMENT).unlink(missing_ok=True)
            return
        if _HOME.search(text):  # it was repeated from results: its folder is another one now
            text = toml_text(self.fields)
        with write_atomically(place / EXPERIMENT) as aside:
            whole = toml_text({"folder": home.as_posix()}) + text
            aside.write_text(whole, encoding="utf-8", newline="\n")
            flush(aside)


def _stored(place: Path) -> Path:
    """The experiment that is kept with results."""
    kept = place / EXPERIMENT
    if not kept.is_file():
        what = "results" if (place / MANIFEST).is_file() else "a folder without results"
        raise InputError(
            f"{place}: {what} that cannot be repeated: there is no {EXPERIMENT} (heldout 0.1 kept "
            "none, and experiments with Python objects have none)"
        )
    return kept


def _make_folder(place: Path) -> None:
    try:
        place.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise InputError(f"{place}: cannot be made ({error.strerror})") from None


def _look_into(place: Path, manifest: Manifest, *, resume: bool, force: bool) -> Results | None:
    """Results that are there already, if they are wanted; refuse what would be lost."""
    for left in place.glob(".*.tmp"):
        # Written aside by a run that was killed; nobody else is in this folder.
        if _ASIDE.fullmatch(left.name):
            left.unlink(missing_ok=True)
    complete, begun = (place / MANIFEST).is_file(), (place / JOURNAL).is_file()
    if force:
        for name in (MANIFEST, JOURNAL):
            (place / name).unlink(missing_ok=True)
        return None
    if complete and resume:
        found = Results.read(place)
        _refuse_other(place, experiment_key(manifest), experiment_key(found.manifest))
        (place / JOURNAL).unlink(missing_ok=True)  # a run was killed between the two
        return found
    if complete:
        raise InputError(f"{place} has results already: replace them with --force")
    if begun and not resume:
        raise InputError(
            f"{place} has a run that was not finished: go on with --resume, or start anew with "
            "--force"
        )
    strangers = [one.name for one in place.iterdir() if one.name not in {"lock", JOURNAL}]
    if strangers and not begun:
        raise InputError(
            f"{place} holds other files ({min(strangers)}): give a new or empty folder"
        )
    return None


def _refuse_other(place: Path, mine: str, theirs: str) -> None:
    if mine != theirs:
        raise InputError(
            f"{place} belongs to another experiment (settings, data, code of a system or a version "
            "differ): give another folder, or start anew with --force"
        )


def _run(
    settings: Settings,
    index: AnyIndex | None,
    manifest: Manifest,
    place: Path | None,
    resources: Resources,
    *,
    progress: bool,
) -> Results:
    tasks = plan_tasks(settings)
    records: dict[str, Record] = {}
    seconds: dict[str, float] = {}
    with ExitStack() as stack:
        journal = None
        if place is not None:
            journal = stack.enter_context(Journal(place / JOURNAL))
            _refuse_or_begin(journal, place, experiment_key(manifest))
            _take_up(settings, journal, tasks, records, seconds)
        done = sum(task.key in records for task in tasks)
        step: Step = stack.enter_context(progress_bar(len(tasks), done, shown=progress))

        def finished(task: Task, record: Record, took: float) -> None:
            seconds[task.key] = took
            if journal is not None:
                line = {"key": task.key, "seconds": took, "record": record.plain()}
                journal.add(line)
            step(task.key)

        if done < len(tasks):
            resources.tell(settings, index, [one for one in tasks if one.key not in records])
            executor = stack.enter_context(resources.executor(settings, index))
            execute(settings, index, tasks, records, executor=executor, finished=finished)
    return _results(settings, tasks, records, manifest, seconds)


def _refuse_or_begin(journal: Journal, place: Path, key: str) -> None:
    """Refuse the journal of another experiment; begin one that is new."""
    if not journal.records:
        journal.add({"experiment": key})
    else:
        _refuse_other(place, key, str(journal.records[0].get("experiment")))


def _take_up(
    settings: Settings,
    journal: Journal,
    tasks: tuple[Task, ...],
    records: dict[str, Record],
    seconds: dict[str, float],
) -> None:
    """Take over what a run before this one has finished."""
    known = {task.key: task for task in tasks}
    for line in journal.records[1:]:
        name, record, took = (line.get(one) for one in ("key", "record", "seconds"))
        if isinstance(name, str) and name in known and isinstance(record, dict):
            task = known[name]
            with suppress(InputError):  # a record that does not fit: the task is done again
                records[name] = settings.system(task.system).read_record(task, record)
                seconds[name] = took if isinstance(took, float) else 0.0


def _results(
    settings: Settings,
    tasks: tuple[Task, ...],
    records: Mapping[str, Record],
    manifest: Manifest,
    seconds: dict[str, float],
) -> Results:
    timings: dict[str, Any] = {"tasks": {task.key: seconds[task.key] for task in tasks}}
    timings["total"] = sum(seconds.values())
    systems = tuple(system.as_tried(settings, records) for system in settings.systems)
    settings = replace(settings, systems=systems)
    outcomes = [system.collect(settings, records) for system in systems]
    return settings.results(outcomes, manifest, timings)

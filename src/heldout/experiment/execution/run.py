"""Run an experiment: resume what was finished before, execute the rest, and make the results."""

from __future__ import annotations

import re
from contextlib import ExitStack, suppress
from dataclasses import replace
from typing import TYPE_CHECKING, Final

from heldout.errors import InputError
from heldout.experiment.execution.executors import InProcess
from heldout.experiment.execution.folder import LOCK, refuse_link
from heldout.experiment.execution.journal import Journal
from heldout.experiment.execution.progress import progress_bar
from heldout.experiment.execution.tasks import plan_tasks
from heldout.experiment.manifest import MANIFEST, experiment_key
from heldout.experiment.result_files import all_files
from heldout.experiment.results import Results
from heldout.experiment.systems.base import Context

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence
    from pathlib import Path

    from heldout.experiment.execution.executors import Executor
    from heldout.experiment.execution.resources import Resources
    from heldout.experiment.execution.tasks import Task
    from heldout.experiment.manifest import Manifest, Timings
    from heldout.experiment.settings import Settings
    from heldout.experiment.systems.records import Record
    from heldout.retrieve.index import Index

__all__ = ["JOURNAL", "earlier_results", "execute", "make_folder", "run_experiment"]

JOURNAL: Final = "journal.jsonl"
_TEMPORARY: Final = re.compile(r"\..+\.(parquet|json|toml)\.\d+\.tmp")


def make_folder(folder: Path) -> None:
    """Make the folder of results; refuse one in which a name of ours is a link."""
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise InputError(f"{folder}: the folder cannot be created ({error.strerror})") from None
    for name in (*all_files(), JOURNAL):
        refuse_link(folder / name)


def earlier_results(
    folder: Path, manifest: Manifest, *, resume: bool, force: bool
) -> Results | None:
    """Return the complete results of an earlier run, if asked for; refuse to overwrite others.

    Parameters
    ----------
    folder
        The folder, locked.
    manifest
        Of the experiment to run.
    resume, force
        As for `heldout.Experiment.run`.
    """
    for left in folder.glob(".*.tmp"):
        if _TEMPORARY.fullmatch(left.name):  # of a run that was killed
            left.unlink(missing_ok=True)
    complete, begun = (folder / MANIFEST).is_file(), (folder / JOURNAL).is_file()
    if force:
        for name in (MANIFEST, JOURNAL):
            (folder / name).unlink(missing_ok=True)
        return None
    if complete and resume:
        results = Results.read(folder)
        _refuse_other(folder, experiment_key(manifest), experiment_key(results.manifest))
        (folder / JOURNAL).unlink(missing_ok=True)  # the run was killed before it did this
        return results
    if complete:
        raise InputError(f"{folder} has results already: replace them with force=True")
    if begun and not resume:
        raise InputError(
            f"{folder} has an unfinished run: continue it with resume=True, or start from scratch "
            "with force=True"
        )
    others = [path.name for path in folder.iterdir() if path.name not in {LOCK, JOURNAL}]
    if others and not begun:
        raise InputError(f"{folder} has other files ({min(others)}): give a new or empty folder")
    return None


def _refuse_other(folder: Path, own: str, other: str) -> None:
    if own != other:
        raise InputError(
            f"{folder} belongs to another experiment (settings, data, code of a system or a "
            "version differ): give another folder, or start from scratch with force=True"
        )


def run_experiment(
    settings: Settings,
    index: Index | None,
    manifest: Manifest,
    folder: Path | None,
    resources: Resources,
    *,
    progress: bool,
) -> Results:
    """Run all tasks that are not finished, and make the results.

    Parameters
    ----------
    folder
        Where the journal is; None: there is none.
    progress
        Show a bar on a terminal.
    """
    tasks = plan_tasks(settings)
    records: dict[str, Record] = {}
    seconds: dict[str, float] = {}
    with ExitStack() as stack:
        journal = None
        if folder is not None:
            journal = stack.enter_context(Journal(folder / JOURNAL))
            _resume(settings, journal, experiment_key(manifest), tasks, records, seconds)
        step = stack.enter_context(progress_bar(len(tasks), len(records), shown=progress))

        def finished(task: Task, record: Record, took: float) -> None:
            seconds[task.key] = took
            if journal is not None:
                journal.add({"key": task.key, "seconds": took, "record": record.plain()})
            step(task.key)

        if len(records) < len(tasks):
            executor = stack.enter_context(resources.executor(settings, index))
            execute(settings, index, tasks, records, executor=executor, finished=finished)
    return _results(settings, tasks, records, manifest, seconds)


def _resume(
    settings: Settings,
    journal: Journal,
    key: str,
    tasks: Sequence[Task],
    records: dict[str, Record],
    seconds: dict[str, float],
) -> None:
    """Take over the records of an earlier run; the first line of a journal is the experiment.

    The key covers settings, data, code and versions. Records are only exchangeable if all of them
    are the same, so a journal with another key is refused and not merged.
    """
    if not journal.records:
        journal.add({"experiment": key})
        return
    _refuse_other(journal.path.parent, key, str(journal.records[0].get("experiment")))
    known = {task.key: task for task in tasks}
    for line in journal.records[1:]:
        name, record, took = (line.get(part) for part in ("key", "record", "seconds"))
        if isinstance(name, str) and name in known and isinstance(record, dict):
            task = known[name]
            with suppress(InputError):  # the task of a record that does not fit runs again
                records[name] = settings.system(task.system).read_record(task, record)
                seconds[name] = took if isinstance(took, float) else 0.0


def execute(
    settings: Settings,
    index: Index | None,
    tasks: Sequence[Task],
    records: dict[str, Record],
    *,
    executor: Executor | None,
    finished: Callable[[Task, Record, float], None],
) -> None:
    """Run the tasks that have no record yet, stage by stage.

    Parameters
    ----------
    records
        The records that exist, by key; new ones are added.
    executor
        Runs the tasks that can run elsewhere; None: all tasks run in this process.
    finished
        Called with each task, its record and its seconds.
    """
    in_process = InProcess(Context(settings, index))
    for stage in sorted({task.stage for task in tasks}):
        waiting = [task for task in tasks if task.stage == stage and task.key not in records]
        # Points are chosen before anything is submitted: an error while submitting would be lost.
        ready = list(_resolved(settings, waiting, records))
        elsewhere = [task for task in ready if _runs_elsewhere(settings, task, executor)]
        here = [task for task in ready if not _runs_elsewhere(settings, task, executor)]
        other: Executor = in_process
        # A single task is not worth starting a process; a cluster is already there.
        if executor is not None and (executor.cluster or len(elsewhere) > 1):
            other = executor
        for chosen, own in ((in_process, here), (other, elsewhere)):
            for task, record, seconds in chosen.run_tasks(own):
                records[task.key] = record
                finished(task, record, seconds)


def _resolved(
    settings: Settings, tasks: Sequence[Task], records: dict[str, Record]
) -> Iterator[Task]:
    """Yield the tasks with the points that their systems chose for them."""
    for system in settings.systems:
        own = [task for task in tasks if task.system == system.name]
        if own:
            yield from system.resolve(own, settings, records)


def _runs_elsewhere(settings: Settings, task: Task, executor: Executor | None) -> bool:
    if executor is None:
        return False
    return settings.system(task.system).runs_elsewhere(task, cluster=executor.cluster)


def _results(
    settings: Settings,
    tasks: Sequence[Task],
    records: Mapping[str, Record],
    manifest: Manifest,
    seconds: dict[str, float],
) -> Results:
    timings: Timings = {
        "tasks": {task.key: seconds[task.key] for task in tasks},
        "total": sum(seconds.values()),
    }
    systems = tuple(system.as_tried(settings, records) for system in settings.systems)
    settings = replace(settings, systems=systems)
    outcomes = [system.collect(settings, records) for system in systems]
    return settings.results(outcomes, manifest, timings)

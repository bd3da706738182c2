"""Records of tasks: what the journal holds is what the tasks have found."""

from dataclasses import fields

import numpy as np
import pytest
from experiment_data import overlap, small_collection
from sklearn.datasets import load_iris
from sklearn.neighbors import KNeighborsClassifier

from heldout.data.run import Run
from heldout.errors import InputError
from heldout.experiment.documents.estimate import Estimate
from heldout.experiment.execution.journal import Journal, decode, encode
from heldout.experiment.execution.tasks import Task, plan_tasks
from heldout.experiment.experiment import JOURNAL, Experiment
from heldout.experiment.systems import Context
from heldout.experiment.systems.model_records import SideRecord

RANKING = {
    "queries": {"systems": "bm25(k1=0.5:2:3)", "plan": {"folds": 3}},
    "folds": {"systems": "bm25(k1=0.5:2:3)", "by": "document", "plan": {"folds": 3}},
    "both": {
        "systems": "bm25(k1=0.5:2:3)",
        "by": "both",
        "plan": {"queries": {"folds": 2}, "documents": {"folds": 2}},
    },
    "sides": {
        "systems": "bm25(k1=0.5:2:3)",
        "by": "document",
        "plan": {"kind": "holdout", "test": 0.3, "repeats": 2},
        "measures": ["AP"],
    },
    "sides at once": {
        "systems": "bm25(k1=0.5:2:3)",
        "by": "document",
        "plan": {"kind": "bootstrap", "replicates": 3},
    },
    "search": {
        "systems": [{"model": "bm25(k1=0.5:2:3)", "search": "optuna", "trials": 3}],
        "plan": {"folds": 3},
    },
    "calls": {
        "systems": [
            {"name": "mine", "function": "experiment_data:overlap", "space": {"power": [0, 1]}}
        ],
        "plan": {"folds": 3},
        "inner": 2,
    },
    "runs": {"plan": {"folds": 3}},
}


def settings_of(name):
    if name == "fits":
        knn = KNeighborsClassifier(), {"n_neighbors": [1, 5]}
        data = load_iris(return_X_y=True)
        fields = {"data": data, "systems": {"k-NN": knn}, "plan": {"folds": 3}, "inner": 2}
        return Experiment(task="classification", **fields).check()
    given = dict(RANKING[name])
    collection = small_collection()
    if name == "runs":
        ranked = {q: {"d000": 2.0, "d001": 1.0} for q in collection.queries.ids}
        given["systems"] = [{"k=1": Run.from_dict(ranked), "k=2": Run.from_dict(ranked)}]
    return Experiment(collection=collection, **given).check()


def records_of(settings):
    """All tasks with their records, done here."""
    context, done = Context(settings, settings.open_index()), {}
    for stage in (0, 1):
        for system in settings.systems:
            tasks = [one for one in system.tasks(settings) if one.stage == stage]
            for task in system.resolve(tasks, settings, done):
                done[task.key] = context.perform(task)
    return done


def same(one, other):
    if isinstance(one, np.ndarray):
        return one.dtype == other.dtype and np.array_equal(
            one, other, equal_nan=one.dtype.kind == "f"
        )
    if isinstance(one, Estimate | SideRecord):
        return all(same(getattr(one, f.name), getattr(other, f.name)) for f in fields(one))
    if isinstance(one, tuple):
        return len(one) == len(other) and all(map(same, one, other))
    return one == other or bool(np.isnan(one) and np.isnan(other))


@pytest.mark.parametrize("name", [*RANKING, "fits"])
def test_a_record_comes_back_from_the_journal_as_it_was(name):
    settings = settings_of(name)
    records = records_of(settings)
    tasks = plan_tasks(settings)
    assert list(records) == [task.key for task in tasks]
    kinds = set()
    for task in tasks:
        record = records[task.key]
        read = settings.system(task.system).read_record(task, decode(encode(record.plain())))
        assert type(read) is type(record)
        for one in fields(record):
            assert same(getattr(record, one.name), getattr(read, one.name)), one.name
        kinds.add(type(record).__name__)
    expected = {
        "queries": {"GridRecord", "ListsRecord"},
        "folds": {"FoldsRecord"},
        "both": {"TwoWayRecord"},
        "sides": {"GridRecord", "SideRecord"},
        "sides at once": {"GridRecord", "SidesRecord"},
        "search": {"RankedSearch"},
        "calls": {"TuneRecord", "RankedRecord"},
        "runs": {"RankedRecord"},
        "fits": {"TriedFit", "HeldOutFit"},
    }
    assert kinds == expected[name]


def test_a_fit_that_failed_says_so():
    system = settings_of("fits").systems[0]
    former = {"values": np.full(2, np.nan), "failed": "ValueError: no", "warned": []}
    read = system.read_record(Task("k", "k-NN", "tune"), former)
    assert (read.failed, read.warned) == ("ValueError: no", ())
    assert list(read.plain()) == ["values", "failed", "warned"]


@pytest.mark.parametrize("plain", [{}, {"values": np.zeros(3), "more": 1}, {"other": []}])
def test_a_record_of_something_else_is_refused(plain):
    system = settings_of("queries").systems[0]
    with pytest.raises(InputError, match="bm25/grid/p0: not a record of this kind of task"):
        system.read_record(next(system.tasks(settings_of("queries"))), plain)


def test_a_task_with_a_strange_record_is_done_again(tmp_path):
    def experiment():
        systems = [("mine", overlap), "bm25(k1=0.5:2:3)"]
        return Experiment(collection=small_collection(), systems=systems, plan={"folds": 3})

    experiment().run(tmp_path / "whole")
    whole = (tmp_path / "whole" / "summary.json").read_bytes()
    # A journal with the right head and one line that means nothing.
    from heldout.experiment.manifest import experiment_key, make_manifest

    settings = experiment().check()
    key = experiment_key(make_manifest(settings, settings.open_index()))
    (tmp_path / "cut").mkdir()
    with Journal(tmp_path / "cut" / JOURNAL) as journal:
        journal.add({"experiment": key})
        journal.add({"key": "bm25/grid/p0", "seconds": 1.0, "record": {"value": [1, 2]}})
    experiment().run(tmp_path / "cut", resume=True)
    assert (tmp_path / "cut" / "summary.json").read_bytes() == whole

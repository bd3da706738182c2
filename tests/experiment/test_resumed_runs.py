"""The same bytes for any number of workers and after any interruption; faults, each for real."""

import io
import os
import re
import shutil
import signal
import subprocess
import sys

import numpy as np
import pytest
from experiment_data import (
    Interrupted,
    check_bytes,
    interrupted,
    longer,
    small_collection,
    table_bytes,
)

import heldout
from heldout import Experiment, InputError, KFold, System

COLLECTION = small_collection(30, 12)


def experiment(**fields):
    given = {
        "collection": COLLECTION,
        "systems": {"bm25": "bm25(k1=0.5:2:40)", "ql": "ql-dirichlet(mu=50:3200:7:log)"},
        "plan": {"folds": 3},
    }
    return Experiment(**given | fields)


@pytest.fixture(scope="module")
def whole(tmp_path_factory):
    """The results of a run that nothing has happened to."""
    place = tmp_path_factory.mktemp("whole") / "results"
    experiment().run(place)
    return table_bytes(place)


# ---- workers and interruptions ------------------------------------------------------------------


POWER = {"space": {"power": [0.5, 1.0]}}
SEARCHED = {"space": {"power": "0:1.5:4"}, "search": "optuna", "trials": 5}
PARTS = {"kind": "holdout", "test": 0.2, "validation": 0.2}
CLASSES = {
    "task": "classification",
    "collection": None,
    "data": ([[n % 5, n % 3] for n in range(30)], ["ab"[n % 2] for n in range(30)]),
    "systems": {"vote": (Interrupted(), {"level": [0, 1]})},
}
MACHINE = COLLECTION.qrels.to_dict()
HUMAN = {query: docs for query, docs in MACHINE.items() if query < "q08"}
KINDS = {
    "systems of systems": {
        "systems": [
            "bm25(k1=0.2,3)",
            System.of(interrupted, "mine", learns=False, comparable=True, **POWER),
            "wsum(bm25, mine, w=0:1:3)",
            System.of(longer, first="mine", comparable=True, space={"weight": [-1, 0]}),
        ],
        "by": "document",
        "plan": KFold(2),
    },
    "searches": {"systems": [System.of(interrupted, "mine", **SEARCHED)]},
    "estimators": CLASSES | {"inner": 2},
    "validation": CLASSES | {"plan": PARTS | {"repeats": 2}},
    "two judges": {
        "collection": heldout.Collection(COLLECTION.documents, COLLECTION.queries, HUMAN),
        "systems": [System.of(interrupted, "mine", **POWER)],
        "machine": MACHINE,
        "tune_on": "machine",
        "assume_random": True,
    },
}


@pytest.mark.parametrize("kind", KINDS)
def test_workers_and_an_interruption_leave_the_same_bytes(tmp_path, monkeypatch, kind):
    if kind == "searches":
        pytest.importorskip("optuna", reason="needs the extra optuna")
    monkeypatch.chdir(tmp_path)
    check_bytes(experiment(**KINDS[kind]), 8 if kind == "searches" else 1)


# ---- folders ------------------------------------------------------------------------------------


CHANGES = [
    {"seed": 1},
    {"measures": ["AP"]},
    {"depth": 5},
    {"systems": "bm25(k1=2)"},
    {"plan": KFold(4)},
    {"analyzer": {"stemmer": "english"}},
]


def test_results_are_not_replaced_or_mixed_unasked(tmp_path):
    fields = {"collection": COLLECTION, "systems": "bm25", "plan": KFold(3)}
    one, place = Experiment(**fields), tmp_path / "results"
    one.run(place)
    with pytest.raises(InputError, match="has results already: replace them with force=True"):
        one.run(place)
    assert one.run(place, resume=True).estimate("bm25") == one.run().estimate("bm25")
    for change in CHANGES:
        with pytest.raises(InputError, match="belongs to another experiment"):
            Experiment(**{**fields, **change}).run(place, resume=True)
    one.run(place, force=True)
    (tmp_path / "thesis").mkdir()
    (tmp_path / "thesis" / "thesis.tex").write_text("")
    with pytest.raises(InputError, match=r"has other files \(thesis\.tex\)"):
        one.run(tmp_path / "thesis")
    assert [path.name for path in (tmp_path / "thesis").iterdir()] == ["thesis.tex"]


@pytest.mark.skipif(sys.platform == "win32", reason="needs limits of POSIX")
def test_files_that_may_not_grow_are_named_and_the_run_goes_on(tmp_path, whole):
    """As on a full disk: in an item, in the index, or nowhere."""
    import resource

    places, before = set(), resource.getrlimit(resource.RLIMIT_FSIZE)
    for limit in (100, 1000, 2000, 3000, 4000, 6000, 10_000, 100_000):
        place, said = tmp_path / str(limit), ""
        resource.setrlimit(resource.RLIMIT_FSIZE, (limit, before[1]))
        try:
            experiment().run(place)
        except InputError as error:
            said = str(error)
        finally:
            resource.setrlimit(resource.RLIMIT_FSIZE, before)
        if said:
            assert "cannot be written (File too large)" in said
            assert not (place / "manifest.json").exists()
            experiment().run(place, resume=True)
        places.add(re.sub(r".*/|[0-9a-f]{64}|:? cannot.*", "", said))
        assert table_bytes(place) == whole
    assert {"index", ".npz", ""} <= places


@pytest.mark.skipif(not hasattr(os, "geteuid") or not os.geteuid(), reason="root writes everywhere")
def test_a_folder_that_is_read_only_is_refused(tmp_path):
    tmp_path.chmod(0o500)
    try:
        with pytest.raises(InputError, match=r"cannot be written \(Permission"):
            experiment().run(tmp_path / "results")
    finally:
        tmp_path.chmod(0o700)


# ---- finished items -----------------------------------------------------------------------------


def finished_items(place):
    """The files of a run that ended when its last item was done, by name."""

    def stop(self, folder):
        del self, folder
        raise KeyboardInterrupt

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(heldout.Results, "write", stop)
        with pytest.raises(KeyboardInterrupt):
            experiment().run(place)
    return sorted((place / "heldout-work").glob("*.npz"))


def stored(content):
    """The file of an item with other arrays, which may be objects."""
    file = io.BytesIO()
    np.savez(file, **content)
    return file.getvalue()


class Trap:
    """A pickle that does something when it is opened."""

    def __reduce__(self):
        return os._exit, (3,)


def test_whatever_is_wrong_with_a_finished_item_the_results_are_the_same(tmp_path, whole):
    """Torn, empty, of other bytes, or a pickle, which is never opened."""
    *_, last = finished_items(tmp_path / "first")
    content, draw = last.read_bytes(), np.random.default_rng(1)
    damaged = {
        "torn": content[:-7],
        "half": content[: len(content) // 2],
        "nothing": b"",
        "zeros, as after a power cut": content[:100] + bytes(len(content) - 100),
        "garbage": bytes(range(256)) * 3,
        "garbage behind it": content + bytes(range(256)) * 3,
        "a pickle": stored({"values": np.array([Trap()]), "_seconds": np.array(1.0)}),
        "no seconds": stored({"values": np.zeros(3)}),
    }
    flips = draw.integers(len(content), size=6).tolist()
    damaged |= {f"byte {place}": flipped(content, place) for place in flips}
    for name, other in damaged.items():
        place = tmp_path / name
        shutil.copytree(tmp_path / "first", place)
        (place / "heldout-work" / last.name).write_bytes(other)
        (place / "heldout-work" / f".{last.name}.7.tmp").write_bytes(content[:50])
        experiment().run(place, resume=True)
        assert table_bytes(place) == whole, name


def flipped(content, place):
    changed = bytearray(content)
    changed[place] ^= 4
    return bytes(changed)


def test_killed_between_the_manifest_and_the_end(tmp_path, whole):
    place = tmp_path / "results"
    finished_items(place)
    shutil.copytree(place / "heldout-work", tmp_path / "kept")
    experiment().run(place, resume=True)
    shutil.copytree(tmp_path / "kept", place / "heldout-work")
    (place / "lock").write_text("{}")
    experiment().run(place, resume=True)
    assert table_bytes(place) == whole
    # Items of another experiment are not taken, even if the file that says whose they are is gone.
    (tmp_path / "kept" / "key").unlink()
    shutil.copytree(tmp_path / "kept", tmp_path / "first" / "heldout-work")
    experiment(seed=1).run(tmp_path / "first", resume=True)
    experiment(seed=1).run(tmp_path / "other")
    assert table_bytes(tmp_path / "first") == table_bytes(tmp_path / "other") != whole


# ---- processes ----------------------------------------------------------------------------------


SLOW = """
import fcntl
import os
from pathlib import Path

HERE = Path(__file__).parent


def rank(train, test, power=1.0):
    if not (HERE / "go").exists():
        global pipe
        pipe = open(HERE / "pipe", "w")  # stays open as long as the process lives
        pipe.write(str(os.getpid()) + "\\n")
        pipe.flush()
        fcntl.flock(open(HERE / "gate"), fcntl.LOCK_SH)
    ids = test.collection.documents.ids
    return {query: {ids[0]: power, ids[1]: 0.1} for query in test.collection.queries.ids}
"""


@pytest.mark.skipif(sys.platform != "linux", reason="needs named pipes and Linux")
def test_a_parent_that_is_killed_leaves_no_workers_and_a_run_that_goes_on(tmp_path):
    import fcntl

    os.mkfifo(tmp_path / "pipe")
    (tmp_path / "slow.py").write_text(SLOW)
    heldout.export_collection(small_collection(20, 8), tmp_path / "data")
    main = [sys.executable, "-c", "from heldout.cli import main; main()"]
    run = ["run", tmp_path / "data", "--folds", "2", "--system", f"mine={tmp_path}/slow.py:rank"]
    kept = ["--quiet", "-o", tmp_path / "results"]
    with (tmp_path / "gate").open("w") as gate:
        fcntl.flock(gate, fcntl.LOCK_EX)
        child = subprocess.Popen([*main, *run, *kept, "--jobs", "2"])  # noqa: S603 - this Python
        try:
            with (tmp_path / "pipe").open() as pipe:
                busy = {int(pipe.readline()), int(pipe.readline())}  # both calls wait
                assert child.pid not in busy
                child.send_signal(signal.SIGKILL)
                child.wait(timeout=300)
                assert pipe.read() == ""  # no worker is left that could write, though calls hang
        finally:
            child.kill()
            child.wait()
    (tmp_path / "go").touch()
    for options in ([*kept, "--resume"], ["--quiet", "-o", tmp_path / "here"]):
        subprocess.run([*main, *run, *options], check=True, capture_output=True)  # noqa: S603
    assert table_bytes(tmp_path / "results") == table_bytes(tmp_path / "here")

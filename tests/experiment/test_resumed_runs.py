"""The same bytes for any number of workers and after any interruption; faults, each for real."""

import contextlib
import gc
import io
import os
import re
import select
import shutil
import signal
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from experiment_data import check_bytes, interrupted, longer, overlap, small_collection, table_bytes

import heldout
from heldout import Experiment, InputError, KFold, System

linux = pytest.mark.skipif(sys.platform != "linux", reason="needs Linux")


def experiment(**fields):
    given = {
        "collection": small_collection(30, 12),
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


def test_workers_and_an_interruption_leave_the_same_bytes(tmp_path, monkeypatch):
    """Of systems that depend on each other; and of a search, amid that of the second split."""
    monkeypatch.chdir(tmp_path)
    powers = {"comparable": True, "space": {"power": [0.5, 1.0]}}
    systems = [
        "bm25(k1=0.2,3)",
        System.of(interrupted, "mine", learns=False, **powers),
        "wsum(bm25, mine, w=0:1:3)",
        System.of(longer, first="mine", comparable=True, space={"weight": [-1, 0]}),
    ]
    check_bytes(experiment(systems=systems, by="document", plan=KFold(2)), 1)


def test_a_search_in_workers_or_interrupted_has_the_same_bytes(tmp_path, monkeypatch):
    pytest.importorskip("optuna", reason="needs the extra optuna")
    monkeypatch.chdir(tmp_path)
    space = {"power": "0:1.5:4"}
    system = System.of(interrupted, "mine", space=space, search="optuna", trials=5)
    check_bytes(experiment(systems=[system]), 8)


@pytest.mark.parametrize(
    "fields",
    [
        {"plan": {"folds": 3}, "inner": 2},
        {"plan": {"kind": "holdout", "test": 0.2, "validation": 0.2}},
    ],
)
def test_estimators_have_the_same_bytes_in_two_workers(tmp_path, fields):
    knn = {"k-NN": {"estimator": "sklearn.neighbors:KNeighborsClassifier"}}
    knn["k-NN"]["space"] = {"n_neighbors": [1, 3]}
    data = ([[n % 5, n % 3] for n in range(30)], ["ab"[n % 2] for n in range(30)])
    classes = Experiment(task="classification", data=data, systems=knn, **fields)
    classes.run(tmp_path / "one")
    classes.run(tmp_path / "two", workers=2)
    assert table_bytes(tmp_path / "one") == table_bytes(tmp_path / "two")


def test_after_an_interruption_at_any_call(tmp_path):
    calls = []

    def counted(train, test, power=1.0):
        calls.append(power)
        if len(calls) == end:
            raise KeyboardInterrupt
        return overlap(train, test, power)

    mine = System.of(counted, "f", space={"power": [0.0, 0.5, 1.0]})
    whole = experiment(systems=[mine, "bm25(k1=0.1:4:40)"])
    end = 0
    whole.run(tmp_path / "whole")
    for end in (1, 2, 8, 13, 15):
        folder = tmp_path / str(end)
        calls.clear()
        with pytest.raises(KeyboardInterrupt):
            whole.run(folder)
        assert not (folder / "manifest.json").exists()
        assert len([*(folder / "heldout-work").glob("*.npz")]) == end - 1
        with pytest.raises(InputError, match="unfinished run: continue it with resume=True"):
            whole.run(folder)
        whole.run(folder, resume=True)
        assert len(calls) == (3 + 1) * 3 + 3 + 1  # one call was made twice
        assert not (folder / "heldout-work").exists()
        assert table_bytes(folder) == table_bytes(tmp_path / "whole")


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
    fields = {"collection": small_collection(30, 12), "systems": "bm25", "plan": KFold(3)}
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


def mounted(place, options):
    mount = shutil.which("mount")
    if mount is None or os.name != "posix" or os.geteuid() != 0:
        pytest.skip("only root can mount a small disk")
    place.mkdir(exist_ok=True)
    done = subprocess.run(  # noqa: S603 - a program of the system
        [mount, *options, "-t", "tmpfs", "tmpfs", str(place)], capture_output=True, check=False
    )
    if done.returncode:
        pytest.skip("no file system can be mounted here")


def unmount(place):
    gc.collect()  # what a run that failed has mapped of its index
    subprocess.run(["umount", str(place)], check=True)  # noqa: S603, S607 - same


@linux
def test_a_full_disk_at_any_place_is_named_and_the_run_goes_on(tmp_path, whole):
    """A disk of 8 kB, 16 kB, …: full in the index, in an item, in a table, or large enough."""
    disk, places = tmp_path / "disk", set()
    for pages in (*range(2, 38, 3), 60):
        mounted(disk, ["-o", f"size={4 * pages}k"])
        try:
            said = outcome(disk / "results")
            places.add(re.sub(r".*/|[0-9a-f]{64}|:? cannot.*", "", said.partition(" cannot")[0]))
            if said:
                assert "No space left on device" in said
                assert not (disk / "results" / "manifest.json").exists()
                mount = ["mount", "-o", "remount,size=1m", str(disk)]
                subprocess.run(mount, check=True)  # noqa: S603 - same
                experiment().run(disk / "results", resume=True)
            assert table_bytes(disk / "results") == whole
        finally:
            unmount(disk)
    assert {"index:", ".npz:", ""} <= places
    assert any(place.endswith(".parquet:") for place in places)


def outcome(place):
    """What a run says in the end; nothing if all is well."""
    try:
        experiment().run(place)
    except InputError as error:
        return str(error)
    return ""


LIMITED = """
import resource, sys
sys.path.insert(0, sys.argv[1])
from test_resumed_runs import experiment
from heldout.errors import InputError
whole = experiment()
whole.check()
limit = int(sys.argv[3])
resource.setrlimit(resource.RLIMIT_FSIZE, (limit, limit))
try:
    whole.run(sys.argv[2])
except InputError as error:
    print(error)
    sys.exit(2)
"""


@linux
def test_a_file_that_may_not_grow(tmp_path, whole):
    """The same without root: files of this process are limited."""
    place = tmp_path / "results"
    command = [sys.executable, "-B", "-c", LIMITED, str(Path(__file__).parent), str(place), "3000"]
    done = subprocess.run(command, capture_output=True, text=True, check=False)  # noqa: S603
    assert done.returncode == 2, done.stderr
    assert "cannot be written (File too large)" in done.stdout
    assert (place / "heldout-work").is_dir()
    experiment().run(place, resume=True)
    assert table_bytes(place) == whole


@linux
def test_a_folder_that_is_read_only_is_named_before_anything_runs(tmp_path):
    disk = tmp_path / "disk"
    mounted(disk, ["-o", "ro"])
    try:
        for place in (disk, disk / "new"):
            with pytest.raises(InputError, match=r"cannot be (created|written) \(Read-only"):
                experiment(systems={"mine": never_called}).run(place)
    finally:
        unmount(disk)


def never_called(train, test):
    raise AssertionError((train, test))


def test_a_folder_without_permission_is_named(tmp_path):
    if os.name != "posix" or os.geteuid() == 0:
        pytest.skip("root may write everywhere")
    tmp_path.chmod(0o500)
    try:
        with pytest.raises(InputError, match=r"cannot be (created|written)"):
            experiment(systems={"mine": never_called}).run(tmp_path / "new")
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


def test_items_of_another_experiment_are_not_taken(tmp_path, whole):
    """Not even if the file that says whose they are is gone."""
    finished_items(tmp_path / "first")
    (tmp_path / "first" / "heldout-work" / "key").unlink()
    experiment(seed=1).run(tmp_path / "first", resume=True)
    experiment(seed=1).run(tmp_path / "other")
    assert table_bytes(tmp_path / "first") == table_bytes(tmp_path / "other") != whole


def test_killed_between_the_manifest_and_the_end(tmp_path, whole):
    place = tmp_path / "results"
    finished_items(place)
    shutil.copytree(place / "heldout-work", tmp_path / "kept")
    experiment().run(place, resume=True)
    shutil.copytree(tmp_path / "kept", place / "heldout-work")
    (place / "lock").write_text("{}")
    experiment().run(place, resume=True)
    assert table_bytes(place) == whole


# ---- processes ----------------------------------------------------------------------------------


RACER = """
import sys
from pathlib import Path
from heldout.errors import InputError
from heldout.experiment.work import results_folder
sys.stdin.readline()
try:
    with results_folder(Path(sys.argv[1]), resume=True, force=False):
        print("held", flush=True)
        sys.stdin.readline()
except InputError as error:
    print(error, flush=True)
"""


def test_of_many_that_come_at_once_one_gets_the_folder(tmp_path):
    command = [sys.executable, "-c", RACER, str(tmp_path)]
    racers = [
        subprocess.Popen(  # noqa: S603 - this Python
            command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
        )
        for _ in range(4)
    ]
    try:
        for one in racers:
            one.stdin.write("go\n")
            one.stdin.flush()
        said = [one.stdout.readline().strip() for one in racers]
        assert said.count("held") == 1
        owner = racers[said.index("held")].pid
        assert all(f"process {owner} on" in one or "another process" in one
                   for one in said if one != "held")  # fmt: skip
    finally:
        for one in racers:
            one.communicate("end\n", timeout=300)


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

PARENT = """
import sys
sys.path.insert(0, {tests!r})
from test_resumed_runs import experiment
system = "mine={folder}/slow.py:rank"
experiment(systems=[system], plan={{"folds": 2}}).run("{folder}/results", workers=3)
"""


@linux
def test_a_parent_that_is_killed_leaves_a_run_that_goes_on(tmp_path):
    """Killed when worker processes have begun, and one waits for a task."""
    import fcntl

    os.mkfifo(tmp_path / "pipe")
    (tmp_path / "slow.py").write_text(SLOW)
    code = PARENT.format(tests=str(Path(__file__).parent), folder=str(tmp_path))
    with (tmp_path / "gate").open("w") as gate:
        fcntl.flock(gate, fcntl.LOCK_EX)
        child = subprocess.Popen([sys.executable, "-c", code])  # noqa: S603 - this Python
        kill_when_begun(tmp_path, child)
    (tmp_path / "go").touch()
    system = f"mine={tmp_path}/slow.py:rank"
    both = [experiment(systems=[system], plan={"folds": 2}) for _ in range(2)]
    both[0].run(tmp_path / "results", resume=True)
    both[1].run(tmp_path / "here")
    assert table_bytes(tmp_path / "results") == table_bytes(tmp_path / "here")


def kill_when_begun(folder, child):
    try:
        with (folder / "pipe").open() as pipe:
            busy = {int(pipe.readline()), int(pipe.readline())}  # both calls have begun, and wait
            children = children_of(child.pid)
            # Of three workers one was never given a task; beside them runs what tracks resources.
            assert busy < children.keys()
            assert len(children) >= 4
            child.send_signal(signal.SIGKILL)
            child.wait(timeout=300)
            pipe.read()  # ends when no worker is left that could write, though their calls hang
        for number, handle in children.items():
            with handle:
                ended, _, _ = select.select([handle], [], [], 300)
                assert ended, number
    finally:
        child.kill()
        child.wait()


def children_of(parent):
    """Handles of processes, which cannot become those of others, by number."""
    found = {}
    for place in Path("/proc").glob("[0-9]*"):
        with contextlib.suppress(OSError):  # it has ended
            state = (place / "stat").read_text().rpartition(")")[2].split()
            if int(state[1]) == parent:
                found[int(place.name)] = os.fdopen(os.pidfd_open(int(place.name)))
    return found

"""Faults, each done for real: full disks, folders that are read-only, kills, clocks, other runs."""

import ast
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
from experiment_data import small_collection, table_bytes

import heldout
from heldout.errors import InputError
from heldout.experiment.experiment import Experiment

SOURCE = Path(heldout.__file__).parent
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
    """A disk of 8 kB, 12 kB, …: full in the index, in an item, in a table, or large enough."""
    disk, places = tmp_path / "disk", set()
    for pages in (*range(2, 40), 60):
        mounted(disk, ["-o", f"size={4 * pages}k"])
        try:
            said = _outcome(disk / "results")
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
    assert {"index:", ".npz:", "values.parquet:", ""} <= places


def _outcome(place):
    """What a run says in the end; nothing if all is well."""
    try:
        experiment().run(place)
    except InputError as error:
        return str(error)
    return ""


LIMITED = """
import resource, sys
sys.path.insert(0, sys.argv[1])
from test_faults import experiment
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
                experiment(systems={"mine": _never}).run(place)
    finally:
        unmount(disk)


def _never(train, test):
    raise AssertionError((train, test))


def test_a_folder_without_permission_is_named(tmp_path):
    if os.name != "posix" or os.geteuid() == 0:
        pytest.skip("root may write everywhere")
    tmp_path.chmod(0o500)
    try:
        with pytest.raises(InputError, match=r"cannot be (created|written)"):
            experiment(systems={"mine": _never}).run(tmp_path / "new")
    finally:
        tmp_path.chmod(0o700)


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
    flips = draw.integers(len(content), size=12).tolist()
    damaged |= {f"byte {place}": _flipped(content, place) for place in flips}
    for name, other in damaged.items():
        place = tmp_path / name
        shutil.copytree(tmp_path / "first", place)
        (place / "heldout-work" / last.name).write_bytes(other)
        (place / "heldout-work" / f".{last.name}.7.tmp").write_bytes(content[:50])
        experiment().run(place, resume=True)
        assert table_bytes(place) == whole, name


def _flipped(content, place):
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
        _kill_when_begun(tmp_path, child)
    (tmp_path / "go").touch()
    system = f"mine={tmp_path}/slow.py:rank"
    both = [experiment(systems=[system], plan={"folds": 2}) for _ in range(2)]
    both[0].run(tmp_path / "results", resume=True)
    both[1].run(tmp_path / "here")
    assert table_bytes(tmp_path / "results") == table_bytes(tmp_path / "here")


def _kill_when_begun(folder, child):
    try:
        with (folder / "pipe").open() as pipe:
            busy = {int(pipe.readline()), int(pipe.readline())}  # both calls have begun, and wait
            children = _children(child.pid)
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


def _children(parent):
    """Handles of processes, which cannot become those of others, by number."""
    found = {}
    for place in Path("/proc").glob("[0-9]*"):
        with contextlib.suppress(OSError):  # it has ended
            state = (place / "stat").read_text().rpartition(")")[2].split()
            if int(state[1]) == parent:
                found[int(place.name)] = os.fdopen(os.pidfd_open(int(place.name)))
    return found


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
from test_faults import experiment
system = "mine={folder}/slow.py:rank"
experiment(systems=[system], plan={{"folds": 2}}).run("{folder}/results", workers=3)
"""

WRITES = {"write_text", "write_bytes", "write_parquet", "write_csv", "touch", "save", "savez"}
OWN_WAY = {
    # file: why what it opens is not renamed into place
    "cli/main.py": "is the null device, in place of a stream that is closed",
    "experiment/work.py": "is in memory, and stored aside",
    "compiled.py": "is a temporary file without a name, to see whether there can be one",
    "data/atomic.py": "is what writes atomically",
    "infer/ledger.py": "is appended to, under a lock",
    "retrieve/invert.py": "is a temporary file without a name",
}
CALLED_INSIDE = {
    # functions that are given a path aside, or write into a folder that is renamed as a whole
    "data/export.py",
    "resample/export.py",
    "retrieve/index_files.py",
}


def test_every_file_is_written_aside_and_renamed():
    """No call that writes to a path stands outside ``with write_atomically``, but for the known."""
    found = {}
    for path in sorted(SOURCE.rglob("*.py")):
        name = path.relative_to(SOURCE).as_posix()
        tree = ast.parse(path.read_text(encoding="utf-8"))
        lines = [node.lineno for node in _unsheltered(tree)]
        if lines:
            found[name] = lines
    strange = {name: at for name, at in found.items() if name not in {*OWN_WAY, *CALLED_INSIDE}}
    assert strange == {}
    # The lists have no file that has long stopped to write.
    assert set(found) == {*OWN_WAY, *CALLED_INSIDE}


def _unsheltered(node, *, inside=False):
    """Calls that write to a path, outside of ``with write_atomically(…)``."""
    if isinstance(node, ast.With):
        names = [ast.unparse(item.context_expr) for item in node.items]
        inside = inside or any("aside" in one or "write_atomically" in one for one in names)
    if isinstance(node, ast.Call) and not inside and _writes(node):
        yield node
    for child in ast.iter_child_nodes(node):
        yield from _unsheltered(child, inside=inside)


def _writes(call):
    name = call.func.attr if isinstance(call.func, ast.Attribute) else getattr(call.func, "id", "")
    if name in WRITES:
        # A frame that is written to no path gives its text.
        return bool(call.args) or name == "touch"
    if name in {"open", "open_file"}:
        shown = ast.unparse(call)
        return "O_CREAT" in shown or bool(re.search(r"""['"][wax]b?\+?['"]""", shown))
    return name in {"TemporaryFile", "NamedTemporaryFile", "mkstemp"}

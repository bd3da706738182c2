"""Experiments on real Dask clusters: the same bytes as here, whatever happens to the workers."""

import os
import re
import select
import shutil
import signal
import subprocess
import sys
import threading
from collections import Counter
from contextlib import contextmanager

import pytest
from experiment_data import small_collection, table_bytes

import heldout
from commands import printed, refused
from heldout import Experiment, Index, InputError
from heldout.errors import MissingExtraError
from heldout.experiment import workers
from heldout.experiment.manifest import make_manifest, reopened

distributed = pytest.importorskip("distributed", reason="needs the extra dask")
dask = pytest.importorskip("dask")
OPENSSL = shutil.which("openssl")
linux = pytest.mark.skipif(sys.platform != "linux", reason="needs /proc and named pipes")

RANKER = '''
import os
import sys
from pathlib import Path

HERE = Path(__file__).parent


def note(name, text):
    with open(HERE / name, "a") as file:
        file.write(text + "\\n")


note("loaded", str(os.getpid()))


def first():
    """Whether no call was here before."""
    try:
        os.close(os.open(HERE / "claimed", os.O_CREAT | os.O_EXCL))
    except FileExistsError:
        return False
    return True


def rank(train, test, power=1.0):
    """Two documents; in trouble if a file says so."""
    trouble = (HERE / "trouble").read_text()
    note("called", f"{power} {sorted(train.queries.ids)} {sorted(test.queries.ids)}")
    if trouble == "waits" and power == 0.5 and first():
        import fcntl

        with open(HERE / "pipe", "w") as pipe:
            pipe.write(str(os.getpid()))
        fcntl.flock(open(HERE / "gate"), fcntl.LOCK_EX)  # the test has it, and does not let go
    if trouble == "fails once" and power == 0.5 and first():
        raise OSError("the storage is away")
    if trouble == "fails":
        raise ValueError("this never works")
    if trouble == "exits":
        sys.exit("bye")
    # One call alone: a worker that is killed as it starts does not come back, and a run whose
    # workers are all gone waits.
    everything = power == 0.5 and len(train.queries.ids) == 12
    if trouble == "kills" and everything and str(os.getpid()) != (HERE / "parent").read_text():
        os.kill(os.getpid(), 9)
    ids = test.collection.documents.ids
    return {query: {ids[0]: power, ids[1]: 0.7} for query in test.collection.queries.ids}
'''
CLUSTER = """
import sys
from distributed import LocalCluster

with LocalCluster(n_workers=1, threads_per_worker=1, processes=False, dashboard_address=None,
                  scheduler_kwargs={"dashboard_address": "127.0.0.1:0"}, host="127.0.0.1",
                  protocol="tcp", silence_logs=50) as cluster:
    print(cluster.scheduler_address, flush=True)
    sys.stdin.read()
"""
MAIN = [sys.executable, "-c", "from heldout.cli import main; main()"]


def start_cluster(**options):
    given = {"n_workers": 2, "threads_per_worker": 1, "memory_limit": "1GiB", "silence_logs": 50}
    quiet = {"dashboard_address": "127.0.0.1:0"}
    return distributed.LocalCluster(
        **given | options, dashboard_address=None, scheduler_kwargs=quiet
    )


@pytest.fixture(scope="module")
def clusters():
    """The cluster that all tests share, the last of the list; two deaths are enough."""
    with dask.config.set({"distributed.scheduler.allowed-failures": 1}):
        made = [start_cluster(processes=True)]
        yield made
        for one in made:
            one.close()


@pytest.fixture
def client(clusters):
    """A cluster with both workers: on a busy machine one that was killed may not come back."""
    with distributed.Client(clusters[-1]) as client:
        try:
            client.wait_for_workers(2, timeout=30)
        except TimeoutError:
            clusters.append(start_cluster(processes=True))
    with distributed.Client(clusters[-1]) as made:
        made.wait_for_workers(2)
        yield made


@pytest.fixture
def folder(tmp_path):
    """The files of an experiment with a model and a function."""
    heldout.export_collection(small_collection(documents=30, queries=12), tmp_path / "data")
    (tmp_path / "ranker.py").write_text(RANKER)
    (tmp_path / "trouble").touch()
    (tmp_path / "parent").write_text(str(os.getpid()))
    return tmp_path


@pytest.fixture
def gate(folder):
    """Who waits tells of itself in a pipe, and goes on at the end of the test."""
    import fcntl

    os.mkfifo(folder / "pipe")
    with (folder / "gate").open("w") as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        yield


@contextmanager
def cluster_alone(before=""):
    """A cluster that is one process of its own, and its address."""
    process = subprocess.Popen(  # noqa: S603 - this Python
        [sys.executable, "-c", before + CLUSTER],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL if before else None,
        text=True,
    )
    try:
        yield process, process.stdout.readline().strip()
    finally:
        process.kill()
        process.communicate()


@pytest.fixture
def alone():
    with cluster_alone() as made:
        yield made


def mine(folder):
    return f"mine={folder}/ranker.py:rank(power=0.5,1)"


def experiment(folder, trouble="", **fields):
    (folder / "trouble").write_text(trouble)
    given = {
        "collection": folder / "data",
        "systems": ["bm25(k1=0.5:2:3)", mine(folder)],
        "plan": {"folds": 3},
    }
    return Experiment(**given | fields)


def command(folder, *options):
    return ["run", str(folder / "data"), "--system", "bm25", "--folds", "2", "--quiet", *options]


def told(folder):
    """The number of the process that waits."""
    pipe = os.open(folder / "pipe", os.O_RDONLY | os.O_NONBLOCK)
    try:
        assert select.select([pipe], [], [], 120)[0], "nobody has come so far"
        return int(os.read(pipe, 100))
    finally:
        os.close(pipe)


def lines(path):
    return path.read_text().splitlines() if path.exists() else []


# ---- the same results ---------------------------------------------------------------------------


def test_the_same_bytes_and_every_process_is_told_once(folder, client, capsys):
    whole = experiment(folder)
    whole.run(folder / "here")
    (folder / "loaded").unlink()
    (folder / "called").unlink()
    whole.run(folder / "there", dask=client)
    assert table_bytes(folder / "there") == table_bytes(folder / "here")
    # 3 folds and everything × 2 values, then 3 held-out sides: none of it in this process.
    assert len(lines(folder / "called")) == 4 * 2 + 3
    # The first line is this process, where the settings are checked.
    assert lines(folder / "loaded")[0] == str(os.getpid())
    others = lines(folder / "loaded")[1:]
    assert str(os.getpid()) not in others
    assert set(Counter(others).values()) == {1}

    def kept(dask_scheduler):
        return [str(key) for key in dask_scheduler.tasks]

    # The workers forget the experiment. The scheduler hears on another connection, perhaps a
    # little later, what is released.
    assert any(client.run_on_scheduler(kept) == [] for _ in range(10_000))
    address = client.scheduler.address
    here = printed(capsys, *command(folder))
    assert printed(capsys, *command(folder, "--dask", address)) == here


@heldout.define_measure
def ShareOfOne(ranked, *, scale=1.0):  # noqa: N802 - a name of a measure
    """Whether the first document is relevant, times a scale."""
    return scale * float(len(ranked.grades) > 0 and ranked.grades[0] > 0)


COLLECTION = small_collection(40, 12)
RUN = heldout.search(Index.build(COLLECTION), COLLECTION.queries, "bm25")
OBJECTS = {
    "document": {"by": "document", "systems": "bm25(k1=0.5:2:3)", "plan": {"repeats": 2}},
    "both": {"by": "both", "systems": "bm25(k1=0.5:2:3)"},
    "fusion": {"systems": ["a=bm25(k1=1,2)", "b=ql-jm", "wsum(a, b, w=0:1:3)"]},
    "own": {"systems": {"run": RUN}, "measures": ["ShareOfOne@3", "own.py:Found"]},
}


def test_objects_are_sent_to_the_workers(tmp_path, client, monkeypatch):
    """The collection, runs and measures, so that clusters need no shared disk."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "own.py").write_text("def Found(ranked):\n    return float(len(ranked.grades))\n")
    for name, fields in OBJECTS.items():
        whole = Experiment(collection=COLLECTION, **fields)
        whole.run(tmp_path / name / "here")
        whole.run(tmp_path / name / "there", dask=client)
        assert table_bytes(tmp_path / name / "there") == table_bytes(tmp_path / name / "here"), name


# ---- faults of workers --------------------------------------------------------------------------


def in_background(whole, place, where):
    """A run in a thread, and what it fails with."""
    failed = []

    def run():
        try:
            whole.run(place, dask=where)
        except BaseException as error:  # noqa: BLE001 - for the test to see
            failed.append(str(error))

    runner = threading.Thread(target=run)
    runner.start()
    return runner, failed


def ended(runner):
    runner.join(timeout=300)
    return not runner.is_alive()


@linux
@pytest.mark.usefixtures("gate")
def test_a_worker_that_is_killed_costs_only_what_it_did(folder, client):
    experiment(folder, systems=mine(folder)).run(folder / "here")
    (folder / "called").unlink()
    whole = experiment(folder, "waits", systems=mine(folder))
    runner, failed = in_background(whole, folder / "there", client)
    worker, before = told(folder), set(client.run(os.getpid, on_error="ignore").values())
    assert worker in before
    finished = len([*(folder / "there").glob("heldout-work/*.npz")])
    os.kill(worker, signal.SIGKILL)
    assert ended(runner)
    assert failed == []
    assert table_bytes(folder / "there") == table_bytes(folder / "here")
    after = set(client.run(os.getpid).values())
    assert worker not in after
    assert before - {worker} <= after
    # What had come back was not done again; of the rest, what the dead worker had at most.
    repeated = sum(count - 1 for count in Counter(lines(folder / "called")).values())
    assert 1 <= repeated <= 4 * 2 - finished


def test_what_fails_once_is_tried_again_and_what_always_fails_is_named_as_it_is_here(
    folder, client
):
    experiment(folder).run(folder / "here")
    experiment(folder, "fails once").run(folder / "there", dask=client)
    assert (folder / "claimed").exists()
    assert table_bytes(folder / "there") == table_bytes(folder / "here")
    for trouble, message in (
        ("fails", r"mine\(power=.*this never works"),
        ("exits", r"sys\.exit\('bye'\) was called in ranker\.py, line"),
    ):
        said = set()
        # In this process it is the first split; elsewhere it can be any.
        for where in ({}, {"dask": client}, {"workers": 2}):
            with pytest.raises(InputError, match=message) as caught:
                experiment(folder, trouble).run(**where)
            said.add(re.sub(r"/f\d|all|power=[\d.]+", "", str(caught.value)))
        assert len(said) == 1


def test_a_system_that_kills_its_workers_ends_the_run_and_not_the_results(
    folder, client, monkeypatch
):
    monkeypatch.setattr(workers, "DEATHS", 1)  # given up early: new workers take time to start
    whole = experiment(folder, "kills")
    whole.run(folder / "here")  # in the process that the function does not kill
    for number, how in enumerate(({"dask": client}, {"workers": 2})):
        place = folder / str(number)
        with pytest.raises(InputError, match="died"):
            whole.run(place, **how)
        whole.run(place, resume=True)
        assert table_bytes(place) == table_bytes(folder / "here")


def test_a_worker_that_has_something_else_is_refused(folder):
    index = Index.build(experiment(folder).check().data.collection, path=folder / "index")
    prepared = experiment(folder, index=str(folder / "index")).check().opened()
    manifest = make_manifest(prepared)

    def said(**changed):
        with pytest.raises(InputError) as error:
            reopened(prepared.experiment, manifest | changed)
        return str(error.value)

    assert reopened(prepared.experiment, manifest).data.index.fingerprint == index.fingerprint
    found = said(versions={"numpy": "1.0"})
    assert re.search(r"a worker has numpy 2\S+, the run was started with 1\.0", found)
    assert "a worker has no-such (not installed)" in said(versions={"no-such": "1.0"})
    with (folder / "ranker.py").open("a") as file:
        file.write("# changed\n")
    assert "the source of mine is different on a worker" in said()
    judged = folder / "data" / "qrels" / "test.tsv"
    judged.write_text(judged.read_text().replace("\t1", "\t2"))
    assert "the collection is different on a worker than where the run was" in said()
    Index.build({"d": "other words"}, path=folder / "index")
    assert "not an index of these documents" in said()


@linux
def test_what_a_worker_does_not_see_and_what_cannot_be_sent_is_named(folder, client):
    """An open folder has a path that means something else to every other process."""
    Index.build(COLLECTION, path=folder / "index")
    opened = os.open(folder / "index", os.O_RDONLY)
    path = f"/proc/self/fd/{opened}"
    given = {"collection": COLLECTION, "systems": "bm25(k1=0.5:2:3)", "index": path}
    with pytest.raises(InputError, match=rf"^worker tcp://[\d.:]+: index: {path}: no such"):
        Experiment(**given).run(dask=client)
    os.close(opened)
    lock = threading.Lock()

    def rank(train, test, power=1.0):
        del train, test, power
        return lock

    system = heldout.System.of(rank, "mine", space={"power": [0, 1]})
    with pytest.raises(InputError, match="cannot be sent to other processes"):
        Experiment(collection=COLLECTION, systems=[system]).run(workers=2)


# ---- faults of clusters -------------------------------------------------------------------------


@linux
@pytest.mark.usefixtures("gate")
def test_a_cluster_that_is_killed_leaves_a_run_that_goes_on(folder, alone, monkeypatch):
    """Scheduler and worker are one process here, and gone at once."""
    monkeypatch.setattr(workers, "_SECONDS_TO_CONNECT", 2)
    process, address = alone
    whole = experiment(folder, "waits")
    runner, failed = in_background(whole, folder / "there", address)
    assert told(folder) == process.pid
    process.kill()
    assert ended(runner)
    (said,) = failed
    assert said.startswith("the Dask cluster is lost (")
    assert said.endswith("continue with resume=True, there or elsewhere")
    whole.run(folder / "there", resume=True)
    whole.run(folder / "here")
    assert table_bytes(folder / "there") == table_bytes(folder / "here")


def test_workers_without_heldout_are_named(folder):
    """They would die of the first task, and the run would wait for others for ever."""
    missing = "import sys\nsys.modules['heldout'] = None\n"
    with (
        cluster_alone(missing) as (_, address),
        pytest.raises(InputError, match=r"cannot load the experiment \(.*heldout.*install"),
    ):
        experiment(folder).run(dask=address)


def interrupted(folder, *where):
    """Press Ctrl-C when the function is called, and give a handle of the process that does it."""
    (folder / "trouble").write_text("waits")
    # On a busy machine a worker may be stopped as it starts: loky then says that it cleans up.
    quiet = "ignore::UserWarning:joblib.externals.loky.backend.resource_tracker"
    process = subprocess.Popen(  # noqa: S603 - this Python
        [*MAIN, *command(folder, "--system", mine(folder), *where)],
        env={**os.environ, "PYTHONWARNINGS": quiet},
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
    )
    try:
        number = told(folder)
        assert number != process.pid
        worker = os.pidfd_open(number)
        os.killpg(process.pid, signal.SIGINT)
        said = process.communicate(timeout=300)[1]
        assert said.splitlines() == [
            "heldout: nothing was kept; with -o FOLDER a run can be continued",
            "heldout: interrupted",
        ]
        assert process.returncode == 130
        return os.fdopen(worker)
    finally:
        process.kill()
        process.communicate()


@linux
@pytest.mark.usefixtures("gate")
def test_an_interruption_from_a_terminal_ends_all_processes_in_good_order(folder):
    """Ctrl-C goes to every process; only the first says something."""
    # So many folds that work waits for a free worker.
    with interrupted(folder, "--jobs", "2", "--folds", "12") as worker:
        assert select.select([worker], [], [], 300)[0]


@pytest.mark.long
@linux
@pytest.mark.usefixtures("gate")
def test_an_interruption_leaves_the_cluster_to_others(folder, alone):
    with interrupted(folder, "--dask", alone[1]):
        assert alone[0].poll() is None


def test_what_is_no_cluster_is_named(folder, capsys, monkeypatch):
    monkeypatch.setattr(workers, "_SECONDS_TO_CONNECT", 0.5)
    whole = experiment(folder)

    def said(where):
        with pytest.raises(InputError, match="no Dask scheduler at ") as caught:
            whole.run(dask=where)
        return str(caught.value)

    assert "0.5 s" in said("tcp://127.0.0.1:1")  # nobody is there
    assert "distributed.comm.tls" in said("tls://127.0.0.1:1")
    for content in ("[collection]", '{"id": "x"}', "[]", "null"):
        (folder / "scheduler.json").write_text(content)
        said(folder / "scheduler.json")
    for where, message in (
        (["--dask", "nowhere"], "'nowhere' is not a Dask cluster"),
        (["--dask", "local:2"], "'local:2' is not a Dask cluster"),
        (["--dask", "tcp://127.0.0.1:1", "--jobs", "2"], "are processes here, dask is a cluster"),
    ):
        assert message in refused(capsys, *command(folder, *where))
    monkeypatch.setitem(sys.modules, "distributed", None)
    with pytest.raises(MissingExtraError, match=r"pip install '\.\[dask\]'"):
        whole.run(dask="tcp://127.0.0.1:1")


@pytest.mark.long
@pytest.mark.skipif(OPENSSL is None, reason="needs openssl for a certificate")
def test_with_certificates_and_without(folder, capsys):
    """A cluster is reached with certificates of Dask's own configuration, and not without."""
    cert, key = str(folder / "cert.pem"), str(folder / "key.pem")
    signed = ["req", "-x509", "-newkey", "rsa:2048", "-nodes", "-days", "30", "-subj", "/CN=x"]
    make = [OPENSSL, *signed, "-out", cert, "-keyout", key]
    subprocess.run(make, check=True, capture_output=True)  # noqa: S603
    roles = ("scheduler", "worker", "client")
    files = {f"tls_{role}_cert": cert for role in roles} | {
        f"tls_{role}_key": key for role in roles
    }
    security = distributed.Security(tls_ca_file=cert, require_encryption=True, **files)
    settings = {
        "DASK_DISTRIBUTED__COMM__TLS__CA_FILE": cert,
        "DASK_DISTRIBUTED__COMM__TLS__CLIENT__CERT": cert,
        "DASK_DISTRIBUTED__COMM__TLS__CLIENT__KEY": key,
    }
    printed(capsys, *command(folder, "-o", folder / "here"))
    options = {"n_workers": 1, "processes": False, "protocol": "tls://", "security": security}
    with start_cluster(**options) as cluster:
        where = ["--dask", cluster.scheduler_address]
        done = subprocess.run(  # noqa: S603 - this Python
            [*MAIN, *command(folder, "-o", str(folder / "there"), *where)],
            env={**os.environ, **settings},
            capture_output=True,
            text=True,
            check=False,
        )
        assert done.returncode == 0, done.stderr
        assert table_bytes(folder / "there") == table_bytes(folder / "here")
        said = refused(capsys, *command(folder, "-o", folder / "without", *where))
    assert "does Dask's configuration name the certificates" in said
    assert said.count("\n") == 1
    assert not (folder / "without" / "manifest.json").exists()

"""Experiments on real Dask clusters: the same bytes as here, whatever happens to the workers."""

import json
import os
import re
import select
import shutil
import signal
import socket
import subprocess
import sys
import threading
from collections import Counter
from pathlib import Path

import pytest
from experiment_data import small_collection, table_bytes

import heldout
from commands import printed, refused
from heldout import Experiment, Index, InputError
from heldout.cli import main
from heldout.errors import MissingExtraError
from heldout.experiment import workers
from heldout.experiment.manifest import make_manifest, reopened

distributed = pytest.importorskip("distributed", reason="needs the extra dask")
dask = pytest.importorskip("dask")
OPENSSL = shutil.which("openssl")
linux = pytest.mark.skipif(sys.platform != "linux", reason="needs /proc and named pipes")
RANKER = '''
import os
from pathlib import Path

HERE = Path(__file__).parent
TROUBLE = {trouble!r}


def note(name, text):
    with open(HERE / name, "a") as file:
        file.write(text + "\\n")


note("loaded", str(os.getpid()))


def first(name):
    """Whether no process was here before."""
    try:
        os.close(os.open(HERE / name, os.O_CREAT | os.O_EXCL))
    except FileExistsError:
        return False
    return True


def rank(train, test, power=1.0):
    """Shared words over a power of the length."""
    note("called", f"{{power}} {{sorted(train.queries.ids)}} {{sorted(test.queries.ids)}}")
    if TROUBLE == "killed" and power == 0.5 and first("claimed"):
        import fcntl

        gate = open(HERE / "gate")
        with open(HERE / "pipe", "w") as pipe:
            pipe.write(str(os.getpid()) + " ")
        fcntl.flock(gate, fcntl.LOCK_EX)  # the test has it, and does not let go
    if TROUBLE == "fails once" and power == 0.5 and first("claimed"):
        raise OSError("the storage is away")
    if TROUBLE == "fails":
        raise ValueError("this never works")
    # One call alone: a worker that is killed as it starts does not come back, and a run whose
    # workers are all gone waits.
    everything = power == 0.5 and len(train.queries.ids) == 12
    if TROUBLE == "kills" and everything and os.getpid() != int((HERE / "parent").read_text()):
        os.kill(os.getpid(), 9)
    found = {{}}
    queries = test.collection.queries
    for query, text in zip(queries.ids, queries.texts, strict=True):
        words = set(text.split())
        scores = {{
            one: sum(word in words for word in body.split()) / len(body.split()) ** power
            for one, body in test.collection.documents.pairs()
        }}
        found[query] = {{one: score for one, score in scores.items() if score}}
    return found
'''


def start_cluster():
    """Two worker processes; what kills its worker is given up when two have died."""
    return distributed.LocalCluster(
        n_workers=2,
        threads_per_worker=1,
        processes=True,
        dashboard_address=None,
        scheduler_kwargs={"dashboard_address": "127.0.0.1:0"},
        memory_limit="1GiB",
        silence_logs=50,
    )


@pytest.fixture(scope="module")
def clusters():
    """The cluster that all tests share, the last of the list."""
    with dask.config.set({"distributed.scheduler.allowed-failures": 1}):
        made = [start_cluster()]
        yield made
        for one in made:
            one.close()


@pytest.fixture
def cluster(clusters):
    """A cluster with both workers: on a busy machine one that was killed may not come back."""
    with distributed.Client(clusters[-1]) as client:
        try:
            client.wait_for_workers(2, timeout=30)
        except TimeoutError:
            clusters.append(start_cluster())
    return clusters[-1]


@pytest.fixture
def client(cluster):
    with distributed.Client(cluster) as made:
        made.wait_for_workers(2)
        yield made


@pytest.fixture
def folder(tmp_path):
    """The files of an experiment with a model and a function."""
    whole = small_collection(documents=30, queries=12)
    with (tmp_path / "docs.jsonl").open("w") as file:
        for one, text in whole.documents.pairs():
            file.write(json.dumps({"_id": one, "text": text}) + "\n")
    asked = zip(whole.queries.ids, whole.queries.texts, strict=True)
    (tmp_path / "queries.tsv").write_text("".join(f"{one}\t{text}\n" for one, text in asked))
    judged = whole.qrels.to_dict().items()
    lines = [f"{query} 0 {doc} {grade}\n" for query, docs in judged for doc, grade in docs.items()]
    (tmp_path / "qrels").write_text("".join(lines))
    (tmp_path / "parent").write_text(str(os.getpid()))
    return tmp_path


def mine(folder):
    return f"mine={folder}/ranker.py:rank(power=0.5,1)"


def experiment(folder, trouble="", **fields):
    (folder / "ranker.py").write_text(RANKER.format(trouble=trouble))
    files = {"source": "docs.jsonl", "queries": "queries.tsv", "qrels": "qrels"}
    given = {
        "collection": {key: str(folder / name) for key, name in files.items()},
        "systems": ["bm25(k1=0.5:2:3)", mine(folder)],
        "plan": {"folds": 3},
        "measures": ["nDCG@10"],
        "seed": 2,
    }
    return Experiment(**given | fields)


def told(pipe):
    """The number of the first process that writes it into a pipe."""
    number = os.open(pipe, os.O_RDONLY | os.O_NONBLOCK)
    try:
        assert select.select([number], [], [], 120)[0], "nobody has come so far"
        return int(os.read(number, 1000).split()[0])
    finally:
        os.close(number)


def lines(path):
    return path.read_text().splitlines() if path.exists() else []


# ---- the same results ---------------------------------------------------------------------------


def test_the_same_bytes_and_every_process_is_told_once(folder, client):
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
    workers = lines(folder / "loaded")[1:]
    assert str(os.getpid()) not in workers
    assert workers
    assert set(Counter(workers).values()) == {1}

    def kept(dask_scheduler):
        return [str(key) for key in dask_scheduler.tasks]

    # The workers forget the experiment. The scheduler hears on another connection, perhaps a
    # little later, what is released.
    assert any(client.run_on_scheduler(kept) == [] for _ in range(10_000))


@heldout.define_measure
def ShareOfOne(ranked, *, scale=1.0):  # noqa: N802 - a name of a measure
    """Whether the first document is relevant, times a scale."""
    return scale * float(len(ranked.grades) > 0 and ranked.grades[0] > 0)


COLLECTION = small_collection(40, 12)
OBJECTS = {
    "documents": {
        "by": "document",
        "systems": "bm25(k1=0.5:2:3)",
        "plan": {"folds": 3, "repeats": 2},
    },
    "both": {"by": "both", "systems": "bm25(k1=0.5:2:3)", "measures": ["AP"]},
    "fusion": {"systems": ["a=bm25(k1=1,2)", "b=ql-jm", "wsum(a, b, w=0:1:3)"]},
    "own": {
        "systems": {"run": heldout.search(Index.build(COLLECTION), COLLECTION.queries, "bm25")},
        "measures": ["ShareOfOne@3", "own.py:Found"],
    },
}


def test_objects_are_sent_to_the_workers(tmp_path, client, monkeypatch):
    """The collection, run files and measures, so that clusters need no shared disk."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "own.py").write_text("def Found(ranked):\n    return float(len(ranked.grades))\n")
    for name, fields in OBJECTS.items():
        whole = Experiment(collection=COLLECTION, **{"plan": {"folds": 3}} | fields)
        if name == "both":
            whole = Experiment(collection=COLLECTION, **fields)
        whole.run(tmp_path / name / "here")
        whole.run(tmp_path / name / "there", dask=client)
        assert table_bytes(tmp_path / name / "there") == table_bytes(tmp_path / name / "here"), name


def command(folder, *options):
    names = [str(folder / name) for name in ("docs.jsonl", "queries.tsv", "qrels")]
    fixed = ["run", names[0], "--queries", names[1], "--qrels", names[2], "--system", "bm25"]
    return [*fixed, "--quiet", *options]


def test_by_address_from_the_command_line(folder, cluster, capsys):
    here = printed(capsys, *command(folder))
    assert printed(capsys, *command(folder, "--dask", cluster.scheduler_address)) == here


# ---- faults of workers --------------------------------------------------------------------------


@linux
def test_a_worker_that_is_killed_costs_only_what_it_did(folder, client):
    import fcntl

    experiment(folder, systems=mine(folder)).run(folder / "here")
    (folder / "called").unlink()
    os.mkfifo(folder / "pipe")
    (folder / "gate").touch()
    whole, failed = experiment(folder, "killed", systems=mine(folder)), []

    def run():
        try:
            whole.run(folder / "there", dask=client)
        except BaseException as error:  # noqa: BLE001 - for the test to see
            failed.append(error)

    with (folder / "gate").open() as gate:
        fcntl.flock(gate, fcntl.LOCK_EX)
        runner = threading.Thread(target=run)
        runner.start()
        worker = told(folder / "pipe")  # waits until a call has begun
        before = set(client.run(os.getpid).values())
        assert worker in before
        assert len(before) == 2
        finished = len([*(folder / "there").glob("heldout-work/*.npz")])
        os.kill(worker, signal.SIGKILL)
        runner.join(timeout=300)
    assert not runner.is_alive()
    assert failed == []
    here, there = table_bytes(folder / "here"), table_bytes(folder / "there")
    # The source of the system has changed, and with it only what says so.
    assert {name for name in here if here[name] != there[name]} <= {"manifest.json"}
    after = set(client.run(os.getpid).values())
    assert worker not in after
    assert before - {worker} <= after
    # What had come back was not done again; of the rest, what the dead worker had at most.
    repeated = sum(count - 1 for count in Counter(lines(folder / "called")).values())
    assert 1 <= repeated <= 4 * 2 - finished


def test_what_fails_once_is_tried_again(folder, client):
    whole = experiment(folder, "fails once")
    whole.run(folder / "there", dask=client)
    assert (folder / "claimed").exists()
    experiment(folder).run(folder / "here")
    values = [(folder / one / "values.parquet").read_bytes() for one in ("here", "there")]
    assert values[0] == values[1]


def test_what_always_fails_is_named_as_it_is_here(folder, client):
    """In this process it is the first split; elsewhere it can be any."""
    said = set()
    for where in ({}, {"dask": client}, {"workers": 2}):
        with pytest.raises(InputError, match=r"mine\(power=.*this never works") as caught:
            experiment(folder, "fails").run(**where)
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


@linux
def test_an_index_that_a_worker_does_not_see_is_named_with_the_worker(folder, client):
    """An open folder has a path that means something else to every other process."""
    collection = small_collection(30, 12)
    Index.build(collection, path=folder / "index")
    opened = os.open(folder / "index", os.O_RDONLY)
    path = f"/proc/self/fd/{opened}"
    given = {"collection": collection, "systems": "bm25(k1=0.5:2:3)", "index": path}
    with pytest.raises(InputError, match=rf"^worker tcp://[\d.:]+: index: {path}: no such"):
        Experiment(**given).run(dask=client)
    os.close(opened)


def test_a_worker_that_has_something_else_is_refused(folder):
    whole = experiment(folder)
    index = Index.build(whole.check().data.collection, path=folder / "index")
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
    with (folder / "qrels").open("a") as file:
        file.write("q00 0 d000 3\n")
    assert "the collection is different on a worker than where the run was" in said()
    Index.build({"d": "other words"}, path=folder / "index")
    assert "not an index of these documents" in said()


def test_what_cannot_be_sent_is_named(tmp_path):
    lock = threading.Lock()

    def rank(train, test, power=1.0):
        del train, test, power
        return lock

    whole = Experiment(
        collection=small_collection(20, 8),
        systems=[heldout.System.of(rank, "mine", space={"power": [0, 1]})],
        plan={"folds": 2},
    )
    with pytest.raises(InputError, match="cannot be sent to other processes"):
        whole.run(tmp_path / "there", workers=2)


# ---- faults of clusters -------------------------------------------------------------------------


CLUSTER = """
import sys
from distributed import LocalCluster

with LocalCluster(n_workers=1, threads_per_worker=1, processes=False, dashboard_address=None,
                  scheduler_kwargs={"dashboard_address": "127.0.0.1:0"}, host="127.0.0.1",
                  protocol="tcp", silence_logs=50) as cluster:
    print(cluster.scheduler_address, flush=True)
    sys.stdin.read()
"""
WAITING = """
import fcntl, os
from pathlib import Path

HERE = Path(__file__).parent


def rank(train, test):
    if not (HERE / "go").exists():
        with open(HERE / "pipe", "w") as pipe:
            pipe.write(str(os.getpid()) + " ")
        fcntl.flock(open(HERE / "gate"), fcntl.LOCK_SH)
    ids = test.collection.documents.ids
    return {query: {ids[0]: 1.0} for query in test.collection.queries.ids}
"""


def waiting(folder):
    """One model, and one function that waits until it may go on."""
    (folder / "ranker.py").write_text(WAITING)
    system = f"mine={folder}/ranker.py:rank"
    return Experiment(
        collection=small_collection(20, 8), systems=["bm25", system], plan={"folds": 2}
    )


@pytest.fixture
def gate(tmp_path):
    """Whoever calls the function tells of itself in a pipe, and waits for the end of the test."""
    import fcntl

    os.mkfifo(tmp_path / "pipe")
    with (tmp_path / "gate").open("w") as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        yield


def started(before=""):
    """A process with a cluster, and its address."""
    process = subprocess.Popen(  # noqa: S603 - this Python
        [sys.executable, "-c", before + CLUSTER],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL if before else None,
        text=True,
    )
    return process, process.stdout.readline().strip()


@pytest.fixture
def alone():
    """A cluster that is one process of its own, and its address."""
    process, address = started()
    yield process, address
    process.kill()
    process.communicate()


@linux
@pytest.mark.usefixtures("gate")
def test_a_cluster_that_is_killed_leaves_a_run_that_goes_on(tmp_path, alone, monkeypatch):
    """Scheduler and worker are one process here, and gone at once."""
    monkeypatch.setattr(workers, "_SECONDS_TO_CONNECT", 2)
    process, address = alone
    failed = []

    def run():
        try:
            waiting(tmp_path).run(tmp_path / "there", dask=address)
        except InputError as error:
            failed.append(str(error))

    runner = threading.Thread(target=run)
    runner.start()
    assert told(tmp_path / "pipe") == process.pid
    process.kill()
    runner.join(timeout=300)
    assert not runner.is_alive()
    assert len(failed) == 1
    assert failed[0].startswith("the Dask cluster is lost (")
    assert failed[0].endswith("continue with resume=True, there or elsewhere")
    (tmp_path / "go").touch()
    waiting(tmp_path).run(tmp_path / "there", resume=True)
    waiting(tmp_path).run(tmp_path / "here")
    assert table_bytes(tmp_path / "there") == table_bytes(tmp_path / "here")


def test_workers_without_heldout_are_named(tmp_path):
    """They would die of the first task, and the run would wait for others for ever."""
    process, address = started("import sys\nsys.modules['heldout'] = None\n")
    try:
        with pytest.raises(InputError, match=r"cannot load the experiment \(.*heldout.*install"):
            waiting(tmp_path).run(dask=address)
    finally:
        process.kill()
        process.communicate()


INTERRUPTED = """
import sys
sys.path.insert(0, sys.argv[1])
from experiment_data import small_collection
from heldout import Experiment

def waiting(path):
    return Experiment(collection=small_collection(20, 8), systems=["bm25", sys.argv[2]],
                      plan={"folds": 2})

if __name__ == "__main__":
    from heldout.cli import main
    Experiment.read = waiting
    main(["run", "small.toml", "--quiet", *sys.argv[3:]])
"""


def interrupted(folder, *where):
    """Press Ctrl-C when the function is called, and give a handle of the process that does it."""
    (folder / "main.py").write_text(INTERRUPTED)
    (folder / "ranker.py").write_text(WAITING)
    system = f"mine={folder}/ranker.py:rank"
    command = [sys.executable, "main.py", str(Path(__file__).parent), system, *where]
    # On a busy machine a worker may be stopped as it starts: loky then says that it cleans up.
    quiet = "ignore::UserWarning:joblib.externals.loky.backend.resource_tracker"
    process = subprocess.Popen(  # noqa: S603 - this Python
        command,
        cwd=folder,
        env={**os.environ, "PYTHONWARNINGS": quiet},
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
    )
    try:
        number = told(folder / "pipe")
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
def test_an_interruption_from_a_terminal_ends_all_processes_in_good_order(tmp_path):
    """Ctrl-C goes to every process; only the first says something."""
    with interrupted(tmp_path, "--jobs", "2") as worker:
        assert select.select([worker], [], [], 300)[0]


@pytest.mark.long
@linux
@pytest.mark.usefixtures("gate")
def test_an_interruption_leaves_the_cluster_to_others(tmp_path, alone):
    with interrupted(tmp_path, "--dask", alone[1]):
        assert alone[0].poll() is None


@pytest.fixture
def stranger():
    """Something that answers, but not as a scheduler does."""
    with socket.create_server(("127.0.0.1", 0)) as server:

        def answer():
            while True:
                try:
                    caller, _ = server.accept()
                except OSError:
                    return
                with caller:
                    caller.sendall(b"HTTP/1.1 400 Bad Request\r\n\r\n" * 10)

        thread = threading.Thread(target=answer)
        thread.start()
        yield f"tcp://127.0.0.1:{server.getsockname()[1]}"
        server.shutdown(socket.SHUT_RDWR)
        thread.join(timeout=300)


def test_what_is_no_cluster_is_named(folder, stranger, capsys, monkeypatch):
    monkeypatch.setattr(workers, "_SECONDS_TO_CONNECT", 0.5)
    whole = experiment(folder)

    def said(where):
        with pytest.raises(InputError, match="no Dask scheduler at ") as caught:
            whole.run(dask=where)
        return str(caught.value)

    assert stranger in said(stranger)
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


# ---- TLS ----------------------------------------------------------------------------------------


@pytest.fixture
def certificate(tmp_path):
    """A certificate that signs itself, with its key."""
    made = [str(tmp_path / "cert.pem"), str(tmp_path / "key.pem")]
    subject = ["-nodes", "-days", "30", "-subj", "/CN=heldout"]
    command = ["req", "-x509", "-newkey", "rsa:2048", *subject, "-out", made[0], "-keyout", made[1]]
    subprocess.run([OPENSSL, *command], check=True, capture_output=True)  # noqa: S603
    return made


@pytest.fixture
def encrypted(certificate):
    cert, key = certificate
    files = {f"tls_{role}_cert": cert for role in ("scheduler", "worker", "client")}
    files |= {f"tls_{role}_key": key for role in ("scheduler", "worker", "client")}
    with distributed.LocalCluster(
        n_workers=1,
        threads_per_worker=1,
        processes=False,
        dashboard_address=None,
        scheduler_kwargs={"dashboard_address": "127.0.0.1:0"},
        protocol="tls://",
        security=distributed.Security(tls_ca_file=cert, require_encryption=True, **files),
        silence_logs=50,
    ) as one:
        yield one


@pytest.mark.long
@pytest.mark.skipif(OPENSSL is None, reason="needs openssl for a certificate")
def test_with_certificates_and_without(folder, encrypted, certificate, capsys):
    """A cluster is reached with certificates of Dask's own configuration, and not without."""
    address = encrypted.scheduler_address
    assert address.startswith("tls://")
    settings = {
        "DASK_DISTRIBUTED__COMM__TLS__CA_FILE": certificate[0],
        "DASK_DISTRIBUTED__COMM__TLS__CLIENT__CERT": certificate[0],
        "DASK_DISTRIBUTED__COMM__TLS__CLIENT__KEY": certificate[1],
    }
    main(command(folder, "-o", str(folder / "here")))
    code = [sys.executable, "-c", "from heldout.cli import main; main()"]
    done = subprocess.run(  # noqa: S603 - this Python
        [*code, *command(folder, "-o", str(folder / "there"), "--dask", address)],
        env={**os.environ, **settings},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    assert table_bytes(folder / "there") == table_bytes(folder / "here")
    capsys.readouterr()
    said = refused(capsys, *command(folder, "-o", str(folder / "without"), "--dask", address))
    assert "does Dask's configuration name the certificates" in said
    assert said.count("\n") == 1
    assert not (folder / "without" / "manifest.json").exists()

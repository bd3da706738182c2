"""Clusters that are not there, that go away, and that are interrupted."""

import os
import select
import signal
import socket
import subprocess
import sys
import threading
from pathlib import Path

import pytest
from experiment_data import small_collection, table_bytes

from heldout.errors import InputError
from heldout.experiment import workers
from heldout.experiment.experiment import Experiment

pytest.importorskip("distributed", reason="needs the extra dask")
linux = pytest.mark.skipif(sys.platform != "linux", reason="needs named pipes and signals")

RANKER = """
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

CLUSTER = """
import sys
from distributed import LocalCluster

with LocalCluster(n_workers=1, threads_per_worker=1, processes=False, dashboard_address=None,
                  scheduler_kwargs={"dashboard_address": "127.0.0.1:0"}, host="127.0.0.1",
                  protocol="tcp", silence_logs=50) as cluster:
    print(cluster.scheduler_address, flush=True)
    sys.stdin.read()
"""


def experiment(folder):
    """One model, and one function that waits until it may go on."""
    (folder / "ranker.py").write_text(RANKER)
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


@pytest.fixture
def alone():
    """A cluster that is one process of its own, and its address."""
    process = subprocess.Popen(  # noqa: S603 - this Python
        [sys.executable, "-c", CLUSTER], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    )
    yield process, process.stdout.readline().strip()
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
            experiment(tmp_path).run(tmp_path / "there", dask=address)
        except InputError as error:
            failed.append(str(error))

    runner = threading.Thread(target=run)
    runner.start()
    assert int((tmp_path / "pipe").read_text().split()[0]) == process.pid
    process.kill()
    runner.join(timeout=300)
    assert not runner.is_alive()
    assert len(failed) == 1
    assert failed[0].startswith("the Dask cluster is lost (")
    assert failed[0].endswith("continue with resume=True, there or elsewhere")
    (tmp_path / "go").touch()
    experiment(tmp_path).run(tmp_path / "there", resume=True)
    experiment(tmp_path).run(tmp_path / "here")
    assert table_bytes(tmp_path / "there") == table_bytes(tmp_path / "here")


def test_workers_without_heldout_are_named(tmp_path):
    """They would die of the first task, and the run would wait for others for ever."""
    code = "import sys\nsys.modules['heldout'] = None\n" + CLUSTER
    process = subprocess.Popen(  # noqa: S603 - this Python
        [sys.executable, "-c", code],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        text=True,
    )
    try:
        address = process.stdout.readline().strip()
        with pytest.raises(InputError, match=r"cannot load the experiment \(.*heldout.*install"):
            experiment(tmp_path).run(dask=address)
    finally:
        process.kill()
        process.communicate()


INTERRUPTED = """
import sys
sys.path.insert(0, sys.argv[1])
from pathlib import Path
from test_dask_troubles import experiment
from heldout import Experiment

if __name__ == "__main__":
    from heldout.cli import main
    Experiment.read = lambda path: experiment(Path(sys.argv[2]))
    main(["run", "small.toml", "--quiet", *sys.argv[3:]])
"""


def interrupted(folder, *where):
    """Press Ctrl-C when the function is called, and give a handle of the process that does it."""
    (folder / "main.py").write_text(INTERRUPTED)
    command = [sys.executable, "main.py", str(Path(__file__).parent), str(folder), *where]
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
        number = int((folder / "pipe").read_text().split()[0])
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


def test_what_is_no_scheduler_is_named(tmp_path, stranger, monkeypatch):
    monkeypatch.setattr(workers, "_SECONDS_TO_CONNECT", 0.5)
    whole = experiment(tmp_path)

    def refused(where):
        with pytest.raises(InputError, match="no Dask scheduler at ") as caught:
            whole.run(dask=where)
        return str(caught.value)

    assert stranger in refused(stranger)
    assert "0.5 s" in refused("tcp://127.0.0.1:1")  # nobody is there
    assert "distributed.comm.tls" in refused("tls://127.0.0.1:1")
    for content in ("[collection]", '{"id": "x"}', "[]", "null"):
        (tmp_path / "scheduler.json").write_text(content)
        refused(tmp_path / "scheduler.json")

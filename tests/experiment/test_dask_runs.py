"""Experiments on a real Dask cluster: the same bytes as here, whatever happens to its workers."""

import json
import os
import re
import signal
import sys
import threading
from collections import Counter

import pytest
from experiment_data import small_collection, table_bytes

import heldout
from commands import refused
from heldout.cli import main
from heldout.errors import InputError, MissingExtraError
from heldout.experiment import workers
from heldout.experiment.experiment import Experiment
from heldout.experiment.manifest import make_manifest, reopened
from heldout.retrieve.index import Index

distributed = pytest.importorskip("distributed", reason="needs the extra dask")
dask = pytest.importorskip("dask")
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


def lines(path):
    return path.read_text().splitlines() if path.exists() else []


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


@heldout.define_measure
def ShareOfOne(ranked, *, scale=1.0):  # noqa: N802 - a name of a measure
    """Whether the first document is relevant, times a scale."""
    return scale * float(len(ranked.grades) > 0 and ranked.grades[0] > 0)


def as_here(whole, folder, client):
    """Run an experiment here and there, and compare."""
    whole.run(folder / "here")
    whole.run(folder / "there", dask=client)
    assert table_bytes(folder / "there") == table_bytes(folder / "here")


@pytest.mark.parametrize(
    "fields",
    [
        {"by": "document", "systems": "bm25(k1=0.5:2:3)", "plan": {"folds": 3, "repeats": 2}},
        {"by": "both", "systems": "bm25(k1=0.5:2:3)", "measures": ["AP"]},
        {"systems": ["a=bm25(k1=1,2)", "b=ql-jm", "wsum(a, b, w=0:1:3)"], "plan": {"folds": 3}},
    ],
    ids=["documents", "both", "fusion"],
)
def test_models_are_ranked_there(tmp_path, client, fields):
    """The collection is an object, so that all of it goes to the workers."""
    as_here(Experiment(collection=small_collection(40, 12), **fields), tmp_path, client)


def test_measures_of_ones_own_and_a_run_of_ones_own(tmp_path, client):
    (tmp_path / "own.py").write_text("def Found(ranked):\n    return float(len(ranked.grades))\n")
    measures = ["ShareOfOne@3", f"{tmp_path}/own.py:Found"]
    collection = small_collection(30, 12)
    run = heldout.search(Index.build(collection), collection.queries, "bm25")
    systems = {"run": run, "bm25": "bm25"}
    whole = Experiment(collection=collection, systems=systems, measures=measures)
    as_here(whole, tmp_path, client)


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
        worker = int((folder / "pipe").read_text().split()[0])  # waits until a call has begun
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


@pytest.mark.parametrize("where", ["dask", "workers"])
def test_a_system_that_kills_its_workers_ends_the_run_and_not_the_results(
    folder, client, where, monkeypatch
):
    monkeypatch.setattr(workers, "DEATHS", 1)  # given up early: new workers take time to start
    how = {"dask": client} if where == "dask" else {"workers": 2}
    with pytest.raises(InputError, match="died"):
        experiment(folder, "kills").run(folder / "there", **how)
    # In the process that the function does not kill, the run goes on to its end.
    experiment(folder, "kills").run(folder / "there", resume=True)
    experiment(folder, "kills").run(folder / "here")
    assert table_bytes(folder / "there") == table_bytes(folder / "here")


def test_the_workers_forget_the_experiment(folder, client):
    experiment(folder).run(dask=client)

    def kept(dask_scheduler):
        return [str(key) for key in dask_scheduler.tasks]

    # The scheduler hears on another connection, perhaps a little later, what is released.
    left = next((one for one in range(10_000) if client.run_on_scheduler(kept) == []), None)
    assert left is not None


def another_index(folder):
    Index.build({"d": "other words"}, path=folder / "index")


def another_judgement(folder):
    with (folder / "qrels").open("a") as file:
        file.write("q00 0 d000 3\n")


def another_code(folder):
    with (folder / "ranker.py").open("a") as file:
        file.write("# changed\n")


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (another_index, "not an index of these documents"),
        (another_judgement, "the collection is different on a worker than where the run was"),
        (another_code, "the source of mine is different on a worker"),
        ({"versions": {"numpy": "1.0"}}, r"a worker has numpy 2\S+, the run was started with 1\.0"),
        ({"versions": {"no-such": "1.0"}}, r"a worker has no-such \(not installed\)"),
    ],
)
def test_a_worker_that_has_something_else_is_refused(folder, change, message):
    whole = experiment(folder)
    index = Index.build(whole.check().data.collection, path=folder / "index")
    prepared = experiment(folder, index=str(folder / "index")).check().opened()
    manifest = make_manifest(prepared)
    assert reopened(prepared.experiment, manifest).data.index.fingerprint == index.fingerprint
    if isinstance(change, dict):
        manifest |= change
    else:
        change(folder)
    with pytest.raises(InputError, match=message):
        reopened(prepared.experiment, manifest)


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


def test_without_the_package_it_says_what_to_install(folder, monkeypatch):
    monkeypatch.setitem(sys.modules, "distributed", None)
    with pytest.raises(MissingExtraError, match=r"pip install '\.\[dask\]'"):
        experiment(folder).run(dask="tcp://127.0.0.1:1")


def command(folder):
    names = [str(folder / name) for name in ("docs.jsonl", "queries.tsv", "qrels")]
    return ["run", names[0], "--queries", names[1], "--qrels", names[2], "--system", "bm25"]


@pytest.mark.parametrize(
    ("where", "message"),
    [
        (["--dask", "nowhere"], "'nowhere' is not a Dask cluster"),
        (["--dask", "local:2"], "'local:2' is not a Dask cluster"),
        (["--dask", "tcp://127.0.0.1:1", "--jobs", "2"], "are processes here, dask is a cluster"),
    ],
)
def test_refuses(folder, capsys, where, message):
    assert message in refused(capsys, *command(folder), *where)


def test_by_address_from_the_command_line(folder, cluster, capsys):
    main([*command(folder), "--quiet"])
    here = capsys.readouterr()
    main([*command(folder), "--quiet", "--dask", cluster.scheduler_address])
    assert capsys.readouterr() == here

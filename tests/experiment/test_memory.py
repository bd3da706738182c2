"""The memory a run will take: kept to, and not too far from what it takes."""

import re
import subprocess
import sys
from pathlib import Path

import pytest
from experiment_data import overlap, small_collection, table_bytes

from heldout.cli import main
from heldout.data.sizes import parse_size
from heldout.errors import InputError
from heldout.experiment.execution.memory import Memory, check_memory, estimate_memory
from heldout.experiment.execution.tasks import plan_tasks
from heldout.experiment.experiment import Experiment

GB = 1 << 30


def experiment(**fields):
    systems = ["bm25(k1=0.5:2:3)", ("mine", overlap)]
    given = {"collection": small_collection(), "systems": systems, "plan": {"folds": 3}}
    return Experiment(**given | fields)


@pytest.mark.parametrize(
    ("text", "size"),
    [("1", 1), ("2 KB", 2048), ("1.5MiB", 3 << 19), ("2g", 2 * GB), ("0.5T", GB << 9)],
)
def test_sizes(text, size):
    assert parse_size(text) == size


@pytest.mark.parametrize("text", ["", "much", "-1", "1e9", "5 X", "9999999TB", "9" * 400])
def test_no_sizes(text):
    with pytest.raises(InputError, match="is not a size"):
        parse_size(text)


def test_workers_are_as_many_as_fit():
    found = Memory(own=GB, worker=GB // 4, processes=8)
    assert found.total == 3 * GB
    assert check_memory(found, 100 * GB) == 8
    assert check_memory(found, 2 * GB) == 4
    assert check_memory(found, GB + GB // 8) == 0
    with pytest.raises(
        InputError, match=r"needs about 1\.0 GB of memory, more than max_memory \(512 MB\)"
    ):
        check_memory(found, GB // 2)
    # A cluster of this machine has at least one.
    with pytest.raises(
        InputError, match=r"needs about 1\.2 GB of memory, more than max_memory \(1\.1 GB\)"
    ):
        check_memory(found, GB + GB // 8, least=1)


@pytest.mark.parametrize("where", [{"workers": 999999}, {"dask": "local:999999"}])
def test_more_processes_than_any_machine_has_memory_for(tmp_path, where):
    if "dask" in where:
        pytest.importorskip("distributed", reason="needs the extra dask")
    with pytest.raises(InputError, match=r"999,999 processes need [\d.]+ GB of memory before"):
        experiment().run(tmp_path / "results", **where)
    assert not (tmp_path / "results").exists()


def test_more_of_everything_takes_more(monkeypatch):
    """Memory rises with values and documents, whatever other tests have taken before."""
    for name in ("held_memory", "peak_memory"):
        monkeypatch.setattr(f"heldout.experiment.execution.memory.{name}", lambda: 1 << 20)

    def expected(**fields):
        settings = experiment(systems="bm25(k1=0.5:2:3)", by="document").check()
        settings = Experiment(
            **{"collection": settings.collection, "by": "document", "systems": "bm25"} | fields
        ).check()
        return estimate_memory(settings, settings.open_index(), plan_tasks(settings)).total

    assert expected(systems="bm25(k1=0.1:3:900)") > expected(systems="bm25(k1=0.1:3:9)")
    assert expected(collection=small_collection(9000, 60)) > expected()


def test_a_run_that_cannot_fit_leaves_nothing_behind(tmp_path):
    with pytest.raises(
        InputError, match=r"needs about [\d.]+ [MG]B of memory, more than max_memory \(50 MB\)"
    ):
        experiment().run(tmp_path / "results", max_memory="50MB")
    assert not (tmp_path / "results").exists()


def test_fewer_workers_and_an_index_on_the_disk_give_the_same_bytes(tmp_path):
    experiment().run(tmp_path / "free")
    said = []
    limit = estimate_memory(experiment().check(), None, ()).total + 300 * 2**20
    experiment().run(tmp_path / "bound", workers=64, max_memory=limit, on_message=said.append)
    assert table_bytes(tmp_path / "bound") == table_bytes(tmp_path / "free")
    assert len(said) == 1
    assert re.fullmatch(r"[12] of 64 workers, to stay within the memory", said[0])


def test_too_little_memory_is_told(monkeypatch):
    said = []
    experiment().run(on_message=said.append)
    assert said == []
    monkeypatch.setattr("heldout.experiment.execution.resources.machine_memory", lambda: 10 << 20)
    experiment().run(on_message=said.append)
    assert len(said) == 1
    assert re.search(r"needs about [\d.]+ [MG]B of memory, and this machine has 10 MB", said[0])


def test_the_command_refuses_what_cannot_fit(tmp_path, capsys):
    (tmp_path / "d.jsonl").write_text('{"_id": "d1", "text": "a b"}\n{"_id": "d2", "text": "b"}\n')
    (tmp_path / "q.tsv").write_text("q1\ta\nq2\tb\n")
    (tmp_path / "qrels").write_text("q1 0 d1 1\nq2 0 d2 1\n")
    command = ["run", str(tmp_path / "d.jsonl"), "--queries", str(tmp_path / "q.tsv")]
    command += ["--qrels", str(tmp_path / "qrels"), "--system", "bm25", "--folds", "2"]
    main(command)
    assert "memory" not in capsys.readouterr().err  # there is enough of it
    main([*command, "--quiet"])
    assert capsys.readouterr().err == ""
    with pytest.raises(SystemExit) as ended:
        main([*command, "--max-memory", "10MB"])
    assert ended.value.code == 2
    assert "more than --max-memory (10 MB)" in capsys.readouterr().err


MEASURED = """
import sys
sys.path.insert(0, sys.argv[1])
from experiment_data import small_collection
from heldout.experiment.execution.memory import estimate_memory, peak_memory
from heldout.experiment.experiment import Experiment
from heldout.experiment.execution.tasks import plan_tasks
fields = {"by": sys.argv[2], "measures": ["nDCG@10", "AP"], "systems": "bm25(k1=0.5:3:20)"}
whole = Experiment(collection=small_collection(1500, 250), **fields)
settings = whole.check()
index = settings.open_index()
print(estimate_memory(settings, index, plan_tasks(settings)).total)
whole.run()
print(peak_memory())
"""


@pytest.mark.skipif(sys.platform == "win32", reason="nobody counts memory there")
@pytest.mark.parametrize("by", ["query", "document"])
def test_the_estimate_is_near_what_is_taken(by):
    command = [sys.executable, "-c", MEASURED, str(Path(__file__).parent), by]
    said = subprocess.run(command, capture_output=True, text=True, check=True)  # noqa: S603
    expected, taken = map(int, said.stdout.split())
    assert taken / 1.5 <= expected <= 1.5 * taken

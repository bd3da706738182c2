"""Results do not depend on the number of threads."""

import os
import random
import subprocess
import sys

import pytest

from heldout import evaluate, read_qrels, read_run
from heldout.data import files as source_module
from heldout.data.parallel import run_threads, stream_threads, threads
from heldout.errors import FormatError

QUERIES, DEPTH = 40, 50


@pytest.fixture
def collection(tmp_path):
    """Qrels and a run of many pieces, with ties, interleaved queries and one long id."""
    generator = random.Random(3)  # noqa: S311 - the same numbers every time
    rows = [
        f"q{query} Q0 d{generator.randrange(10**6)}-{doc} 0 {generator.randrange(20) / 8} t"
        for query in range(QUERIES)
        for doc in range(DEPTH)
    ]
    generator.shuffle(rows)
    rows[len(rows) // 2] = "q7 Q0 http://example.org/" + "x" * 70 + " 0 1.25 t"
    (tmp_path / "a.run").write_text("\n".join(rows) + "\n")
    judged = [row.split()[:3] for row in rows[::7]]
    (tmp_path / "qrels").write_text(
        "".join(f"{query} 0 {doc} {number % 3}\n" for number, (query, _, doc) in enumerate(judged))
    )
    return tmp_path


def small_pieces(patch, count):
    patch.setenv("HELDOUT_THREADS", str(count))
    patch.setattr(source_module, "PIECE", 700)


def outcome(folder, count):
    with pytest.MonkeyPatch.context() as patch:
        small_pieces(patch, count)
        run = read_run(folder / "a.run")
        qrels = read_qrels(folder / "qrels")
        result = evaluate(qrels, [run, folder / "a.run"], ["nDCG@10", "AP", "RR"])
        values = [result.per_unit(0, at).tolist() for at in range(3)]
        return run.queries, run.docs.tolist(), run.scores.tolist(), qrels.to_dict(), values


def test_one_and_two_threads_give_the_same(collection):
    one = outcome(collection, 1)
    assert len(one[1]) == QUERIES * DEPTH
    assert outcome(collection, 2) == one
    assert outcome(collection, 5) == one


@pytest.mark.parametrize("count", [1, 2])
def test_bad_lines_are_told_in_the_order_of_the_file(tmp_path, monkeypatch, count):
    small_pieces(monkeypatch, count)
    lines = [f"q Q0 d{row} 1 {row} t" for row in range(400)]
    for row in (17, 180, 333):
        lines[row] = "broken"
    path = tmp_path / "a.run"
    path.write_text("\n".join(lines))
    with pytest.raises(FormatError, match=r"a\.run:18: .*and 2 more bad lines\)"):
        read_run(path)


@pytest.mark.parametrize("count", [1, 2])
def test_a_document_twice_is_the_same_error_on_any_number_of_threads(tmp_path, monkeypatch, count):
    small_pieces(monkeypatch, count)
    lines = [f"q Q0 d{row} 1 {row} t" for row in range(400)]
    lines[300] = "q Q0 d20 1 300 t"
    path = tmp_path / "a.run"
    path.write_text("\n".join(lines))
    with pytest.raises(FormatError, match=r"a\.run:301: .*document d20 .*first in .*:21"):
        read_run(path)


@pytest.mark.parametrize("count", ["1", "2", "3"])
def test_results_stand_in_the_order_of_the_items(monkeypatch, count):
    monkeypatch.setenv("HELDOUT_THREADS", count)
    assert run_threads(str, range(100)) == list(map(str, range(100)))
    assert run_threads(str, []) == []


@pytest.mark.parametrize("count", ["1", "2"])
def test_an_error_in_a_task_comes_out(monkeypatch, count):
    monkeypatch.setenv("HELDOUT_THREADS", count)
    with pytest.raises(ZeroDivisionError):
        run_threads(lambda item: 1 // (item - 50), range(100))


def test_only_a_few_items_are_worked_on_ahead(monkeypatch):
    monkeypatch.setenv("HELDOUT_THREADS", "2")
    begun: list[int] = []
    results = stream_threads(begun.append, range(1000))
    next(results)
    del results
    assert len(begun) < 20


@pytest.mark.parametrize("wanted", ["", "0", "many", "-2"])
def test_without_a_number_there_are_as_many_threads_as_cores(monkeypatch, wanted):
    monkeypatch.setenv("HELDOUT_THREADS", wanted)
    allowed = getattr(os, "sched_getaffinity", lambda _: range(os.cpu_count() or 1))
    assert threads() == len(allowed(0))


@pytest.mark.skipif(not hasattr(os, "sched_setaffinity"), reason="no affinity on this system")
def test_a_process_that_is_bound_to_one_core_uses_one_thread():
    code = (
        "import os; os.sched_setaffinity(0, [min(os.sched_getaffinity(0))]);"
        "from heldout.data.parallel import threads; print(threads())"
    )
    environment = {name: at for name, at in os.environ.items() if name != "HELDOUT_THREADS"}
    found = subprocess.run(  # noqa: S603 - this Python
        [sys.executable, "-c", code], env=environment, capture_output=True, text=True, check=True
    )
    assert found.stdout == "1\n"

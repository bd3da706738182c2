"""The journal and the lock: what is whole is kept, what is torn is dropped."""

import os
import subprocess
import sys

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from heldout.errors import InputError
from heldout.experiment.execution.folder import locked
from heldout.experiment.execution.journal import Journal, decode, encode

RECORDS = [
    {"key": "a", "record": {"values": np.array([[0.1, np.nan], [-np.inf, 1e-300]])}},
    {"key": "b", "seconds": 0.5, "record": {"chosen": [1, 2], "number": 3, "note": "é\n"}},
    {"key": "c", "record": {"documents": np.array([3, -1], np.int32), "mean": float("nan")}},
]


def written(path):
    with Journal(path) as journal:
        for record in RECORDS:
            journal.add(record)
    return path.read_bytes()


def test_what_is_read_is_what_was_written(tmp_path):
    written(tmp_path / "journal")
    with Journal(tmp_path / "journal") as journal:
        found = journal.records
    assert [one["key"] for one in found] == ["a", "b", "c"]
    first = found[0]["record"]["values"]
    assert first.tobytes() == RECORDS[0]["record"]["values"].tobytes()
    assert found[1] == RECORDS[1]
    assert found[2]["record"]["documents"].dtype == np.int32
    assert np.isnan(found[2]["record"]["mean"])


@given(st.floats(allow_nan=True), st.text(), st.integers(-(2**63), 2**63 - 1))
def test_every_value_comes_back(number, text, whole):
    found = decode(encode({"number": number, "text": text, "whole": whole}))
    assert repr(found) == repr({"number": number, "text": text, "whole": whole})


def test_a_torn_tail_is_dropped_at_every_byte(tmp_path):
    whole = written(tmp_path / "journal")
    ends = [at + 1 for at, byte in enumerate(whole) if byte == ord("\n")]
    for cut in range(len(whole)):
        path = tmp_path / "cut"
        path.write_bytes(whole[:cut])
        with Journal(path) as journal:
            complete = sum(end <= cut for end in ends)
            assert len(journal.records) == complete
            kept = ends[complete - 1] if complete else 0
            assert journal.dropped == cut - kept
        assert path.read_bytes() == whole[:kept]


def test_a_changed_byte_ends_the_journal_there(tmp_path):
    whole = bytearray(written(tmp_path / "journal"))
    second = whole.index(b"\n") + 1
    for at in range(second, second + 60):
        changed = whole.copy()
        changed[at] ^= 1
        (tmp_path / "changed").write_bytes(changed)
        with Journal(tmp_path / "changed") as journal:
            assert [one["key"] for one in journal.records] == ["a"]


def test_goes_on_behind_what_was_kept(tmp_path):
    path = tmp_path / "journal"
    path.write_bytes(written(path)[:-5])
    with Journal(path) as journal:
        journal.add({"key": "new"})
    with Journal(path) as journal:
        assert [one["key"] for one in journal.records] == ["a", "b", "new"]


def test_a_journal_that_cannot_be_written_says_so(tmp_path):
    with pytest.raises(InputError, match="cannot be written"):
        Journal(tmp_path / "no folder" / "journal")


HOLDER = """
import sys
from pathlib import Path
from heldout.experiment.execution.folder import locked
with locked(Path(sys.argv[1])):
    print("held", flush=True)
    sys.stdin.read()
"""


def test_two_processes_cannot_hold_one_folder(tmp_path):
    holder = subprocess.Popen(  # noqa: S603 - this Python
        [sys.executable, "-c", HOLDER, str(tmp_path)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    )
    try:
        assert holder.stdout.readline() == "held\n"
        with (
            pytest.raises(InputError, match=f"in use by process {holder.pid} on"),
            locked(tmp_path),
        ):
            pass
    finally:
        holder.kill()
        holder.communicate()
    # The owner has died without a word: its lock does not stand in the way.
    assert (tmp_path / "lock").exists()
    with locked(tmp_path):
        assert str(os.getpid()) in (tmp_path / "lock").read_text()
    assert not (tmp_path / "lock").exists()


def test_the_lock_goes_when_the_work_fails(tmp_path):
    with pytest.raises(ZeroDivisionError), locked(tmp_path):
        raise ZeroDivisionError
    assert list(tmp_path.iterdir()) == []

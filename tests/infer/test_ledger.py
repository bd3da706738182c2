"""The ledger: what it keeps, who may write, and what it makes of the history."""

import errno
import json
import os
import subprocess
import sys

import pytest
from filelock import FileLock

from heldout.errors import InputError
from heldout.infer.ledger import Look, check_ledger, read_ledger, record_looks


@pytest.fixture
def path(tmp_path):
    return tmp_path / "looks.jsonl"


def look(data="x", systems=("A", "B"), p=0.5, effect=0.1, measure="AP"):
    return Look(data, systems, measure, "t", p, effect, 9, "heldout compare")


def test_looks_are_kept_in_order_by_their_data(path):
    record_looks(path, [look(), look("y", ("A", "Ç"), measure="P@10")])
    written = record_looks(path, [look(p=0.03)])
    kept = read_ledger(path)
    assert kept == written
    assert [(one.fingerprint, one.look, one.p) for one in kept] == [
        *(("x", 1, 0.5), ("x", 2, 0.03), ("y", 1, 0.5))
    ]
    assert kept[2].systems == ("A", "Ç")
    assert kept[0].time <= kept[1].time
    assert len([json.loads(line) for line in path.read_text().splitlines()]) == 3
    assert [*path.parent.iterdir()] == [path]  # no lock is left


def test_holm_over_all_looks_at_the_same_data(path):
    # p.adjust(c(0.01, 0.02, 0.03, 0.04, 0.05), "holm") of R
    record_looks(path, [look(p=p) for p in (0.01, 0.02, 0.03, 0.04, 0.05)])
    record_looks(path, [look("y", p=0.2)])
    adjusted = [one.holm for one in read_ledger(path)]
    assert adjusted == pytest.approx([0.05, 0.08, 0.09, 0.09, 0.09, 0.2])


WRITER = """
import sys
from heldout.infer.ledger import Look, record_looks
for at in range(20):
    record_looks(sys.argv[1], [Look("x", (sys.argv[2], str(at)), "AP", "t", 0.5, 0.0, 9, "")])
"""


def test_several_writers_at_once(path):
    # The file is not there yet: making it is part of the race.
    writers = [
        subprocess.Popen(  # noqa: S603 - the text above
            [sys.executable, "-c", WRITER, str(path), f"writer {at}"]
        )
        for at in range(3)
    ]
    assert [writer.wait(timeout=300) for writer in writers] == [0] * 3
    looks = read_ledger(path)
    assert [one.look for one in looks] == list(range(1, 61))
    assert {one.systems for one in looks} == {
        (f"writer {at}", str(row)) for at in range(3) for row in range(20)
    }


def test_all_or_none(path):
    record_looks(path, [look()])
    before = path.read_bytes()
    for wrong in (look(p=1.5), look(p=float("nan")), look(effect=float("inf")), look(systems=())):
        with pytest.raises(InputError, match="not to be kept in a ledger"):
            record_looks(path, [look(), wrong])
    assert path.read_bytes() == before


def test_a_write_that_fails_leaves_the_ledger_as_it_was(path, monkeypatch):
    record_looks(path, [look()])
    before, write = path.read_bytes(), os.write

    def full(file, content):
        if os.fstat(file).st_size > len(before):
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
        return write(file, content[:30])

    monkeypatch.setattr(os, "write", full)
    with pytest.raises(InputError, match="cannot be written \\(No space left"):
        record_looks(path, [look()])
    assert path.read_bytes() == before


def test_a_line_with_an_impossible_p_is_named(path):
    record_looks(path, [look(p=0.5)])
    path.write_text(path.read_text().replace('"p": 0.5', '"p": 1.5'))
    with pytest.raises(InputError, match=r"looks.jsonl:1: not an evaluation"):
        read_ledger(path)


def test_an_incomplete_line_is_named_and_nothing_is_added(path):
    record_looks(path, [look(), look()])
    cut = path.read_bytes()[:-20]
    path.write_bytes(cut)
    for call in (lambda: read_ledger(path), lambda: record_looks(path, [look()])):
        with pytest.raises(
            InputError, match=r"looks.jsonl:2: not an evaluation .* delete the line"
        ):
            call()
    assert path.read_bytes() == cut


def test_a_last_line_without_its_end_is_kept(path):
    record_looks(path, [look()])
    path.write_bytes(path.read_bytes().rstrip())
    assert len(record_looks(path, [look()])) == len(read_ledger(path)) == 2


@pytest.mark.parametrize(
    "line", ["query,score", "[]", "{}", '{"p": 2}', "[" * 100_000, "\x00", "3", '"x"']
)
def test_other_files_are_refused_and_stay(path, line):
    path.write_text(line + "\n")
    for call in (check_ledger, read_ledger):
        with pytest.raises(InputError, match=r"looks.jsonl:1: not an evaluation"):
            call(path)
    assert path.read_text() == line + "\n"


def test_checking_makes_nothing(path, tmp_path):
    check_ledger(path)
    assert not path.exists()
    with pytest.raises(InputError, match="no such file"):
        read_ledger(path)
    with pytest.raises(InputError, match="not a file"):
        check_ledger(tmp_path)
    with pytest.raises(InputError, match="create it first"):
        check_ledger(tmp_path / "none" / "looks.jsonl")


@pytest.mark.skipif(
    not hasattr(os, "geteuid") or os.geteuid() == 0, reason="root writes everywhere"
)
def test_no_permission(path, tmp_path):
    record_looks(path, [look()])
    tmp_path.chmod(0o500)
    with pytest.raises(InputError, match="no permission to write the ledger there"):
        check_ledger(path)


def test_locked(path, monkeypatch):
    monkeypatch.setattr("heldout.infer.ledger.PATIENCE", 0.01)
    with FileLock(f"{path}.lock"), pytest.raises(InputError, match="kept the ledger locked"):
        record_looks(path, [look()])

"""The ledger: what it keeps, who may write, and what it makes of the history."""

import errno
import json
import os
import subprocess
import sys

import pytest
from filelock import FileLock

from heldout import InputError
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
for at in range(int(sys.argv[3])):
    record_looks(sys.argv[1], [Look("x", (sys.argv[2], str(at)), "AP", "t", 0.5, 0.0, 9, "")])
    print(at, flush=True)
"""


def writer(path, name, looks):
    command = [sys.executable, "-c", WRITER, str(path), name, str(looks)]
    return subprocess.Popen(command, stdout=subprocess.PIPE, text=True)  # noqa: S603 - the text above


def test_several_writers_at_once(path):
    # The file is not there yet: making it is part of the race.
    writers = [writer(path, f"writer {number}", 20) for number in range(3)]
    assert [len(one.communicate()[0].split()) for one in writers] == [20] * 3
    assert [one.returncode for one in writers] == [0] * 3
    looks = read_ledger(path)
    assert [one.look for one in looks] == list(range(1, 61))
    expected = {(f"writer {number}", str(row)) for number in range(3) for row in range(20)}
    assert {one.systems for one in looks} == expected


def test_a_writer_that_is_killed_leaves_whole_looks_and_locks_nobody_out(path):
    killed = writer(path, "killed", 10**6)
    said = [int(killed.stdout.readline()) for _ in range(5)]
    killed.kill()
    said += map(int, killed.communicate()[0].split())
    kept = read_ledger(path)
    assert [one.systems[1] for one in kept[: len(said)]] == list(map(str, said))
    assert len(kept) - len(said) in {0, 1}  # written, but not yet said
    assert len(record_looks(path, [look()])) == len(kept) + 1


def test_all_or_none(path, monkeypatch):
    record_looks(path, [look()])
    before, write = path.read_bytes(), os.write
    for wrong in (look(p=1.5), look(p=float("nan")), look(effect=float("inf")), look(systems=())):
        with pytest.raises(InputError, match="not to be kept in a ledger"):
            record_looks(path, [look(), wrong])
        assert path.read_bytes() == before

    def full(file, content):
        if os.fstat(file).st_size > len(before):
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
        return write(file, content[:30])

    monkeypatch.setattr(os, "write", full)
    with pytest.raises(InputError, match="cannot be written \\(No space left"):
        record_looks(path, [look()])
    assert path.read_bytes() == before


def test_damaged_and_other_files_are_refused_and_stay(path):
    record_looks(path, [look(p=0.5), look()])
    good = path.read_text()
    others = ["query,score", "[]", "{}", '{"p": 2}', "[" * 100_000, "\x00", "3", '"x"']
    cases = [(f"{line}\n", 1) for line in others]
    cases += [(good.replace('"p": 0.5', '"p": 1.5'), 1), (good[:-20], 2)]
    for content, line in cases:
        path.write_text(content)
        for call in (check_ledger, read_ledger, lambda file: record_looks(file, [look()])):
            with pytest.raises(InputError, match=rf"looks.jsonl:{line}: not an evaluation"):
                call(path)
        assert path.read_text() == content
    path.write_text(good.rstrip())  # a last line without its end
    assert len(record_looks(path, [look()])) == len(read_ledger(path)) == 3


def test_paths_are_checked_and_nothing_is_made(path, tmp_path, monkeypatch):
    check_ledger(path)
    assert not path.exists()
    for call, file, words in (
        (read_ledger, path, "no such file"),
        (check_ledger, tmp_path, "not a file"),
        (check_ledger, tmp_path / "none" / "looks.jsonl", "create it first"),
    ):
        with pytest.raises(InputError, match=words):
            call(file)
    monkeypatch.setattr("heldout.infer.ledger.PATIENCE", 0.01)
    link = tmp_path / "link.jsonl"  # one lock, whatever the name
    link.symlink_to(path)
    for file in (path, link):
        with FileLock(f"{path}.lock"), pytest.raises(InputError, match="kept the ledger locked"):
            record_looks(file, [look()])


@pytest.mark.skipif(
    not hasattr(os, "geteuid") or os.geteuid() == 0, reason="root writes everywhere"
)
def test_no_permission(path, tmp_path):
    record_looks(path, [look()])
    tmp_path.chmod(0o500)
    with pytest.raises(InputError, match="no permission to write the ledger there"):
        check_ledger(path)

"""Files that are written aside: what a killed process has left goes with the next one."""

import os
import signal
import subprocess
import sys

import pytest

from heldout.cli import main
from heldout.data.atomic import make_aside, write_atomically

pytestmark = pytest.mark.skipif(os.name != "posix", reason="needs signals of POSIX")

# The process is killed when the first file that it writes for the target is open.
KILLED = """
import os, signal, sys
from pathlib import Path
from heldout.cli import main
real = Path.open
def killed(path, mode="r", *rest, **options):
    file = real(path, mode, *rest, **options)
    if "w" in mode and ".tmp" in str(path) and ".nbc." not in str(path):  # not compiled code
        file.write(b"half of it" if "b" in mode else "half of it")
        file.flush()
        os.kill(os.getpid(), signal.SIGKILL)
    return file
Path.open = killed
main(sys.argv[1:])
"""


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    lines = [f'{{"_id": "d{n}", "text": "word{n} other"}}\n' for n in range(20)]
    (tmp_path / "docs.jsonl").write_text("".join(lines))
    (tmp_path / "queries.tsv").write_text("".join(f"q{n}\tword{n}\n" for n in range(6)))
    (tmp_path / "qrels").write_text("".join(f"q{n} 0 d{n} 1\n" for n in range(6)))
    (tmp_path / "out").mkdir()
    return tmp_path


COLLECTION = ["docs.jsonl", "--queries", "queries.tsv", "--qrels", "qrels"]
COMMANDS = {
    "index": ["index", *COLLECTION, "-o", "out/index"],
    "split": ["split", *COLLECTION, "--by", "query", "--folds", "2", "-o", "out/split"],
    "search": ["search", *COLLECTION, "-o", "out/a.run"],
}


@pytest.mark.parametrize("name", COMMANDS)
def test_what_a_killed_command_has_left_is_swept_by_the_next(folder, name):
    command = [sys.executable, "-c", KILLED, *COMMANDS[name]]
    for _ in range(2 if name == "split" else 1):
        done = subprocess.run(command, check=False, capture_output=True)  # noqa: S603 - this Python
        assert done.returncode == -signal.SIGKILL, done.stderr
        left = [one.name for one in (folder / "out").iterdir()]
        assert len(left) == 1  # what the first one has left was swept by the second
        assert left[0].endswith(".tmp")
    main(COMMANDS[name])
    assert [one.name for one in (folder / "out").iterdir()] == [COMMANDS[name][-1].split("/")[1]]


def test_nothing_else_is_swept(tmp_path):
    gone = subprocess.Popen([sys.executable, "-c", ""])
    gone.wait()
    aside = make_aside(tmp_path / "a", lambda path: path.touch(exist_ok=False))
    ours, mine = aside.name.removesuffix(f"{os.getpid()}.tmp"), str(os.getpid())
    assert ours.startswith(".a.")
    kept = [
        aside.name,  # of a process that runs: this one
        f"{ours}{mine}.tmp",
        f".a.0000ffff-{gone.pid}.tmp",  # of another machine
        f".a.{gone.pid}.tmp",
        f"{ours}{gone.pid}.tmp.txt",
        f"{ours}x{gone.pid}.tmp",
        f".b{ours.removeprefix('.a')}{gone.pid}.tmp",  # for another target
        f"..a{ours.removeprefix('.a')}{gone.pid}.tmp",
        "a",
    ]
    for name in {*kept, f"{ours}{gone.pid}.tmp"}:
        (tmp_path / name).write_text("x")
    with write_atomically(tmp_path / "a") as aside:
        aside.write_text("new")
    assert {one.name for one in tmp_path.iterdir()} == set(kept)
    assert (tmp_path / "a").read_text() == "new"


def test_a_link_is_removed_and_not_what_it_names(tmp_path):
    gone = subprocess.Popen([sys.executable, "-c", ""])
    gone.wait()
    aside = make_aside(tmp_path / "a", lambda path: path.touch(exist_ok=False))
    (tmp_path / "precious").mkdir()
    (tmp_path / "precious" / "file").write_text("x")
    link = tmp_path / aside.name.replace(f"-{os.getpid()}.", f"-{gone.pid}.")
    link.symlink_to(tmp_path / "precious")
    aside.unlink()
    with write_atomically(tmp_path / "a") as aside:
        aside.write_text("new")
    assert (tmp_path / "precious" / "file").exists()
    assert not link.is_symlink()

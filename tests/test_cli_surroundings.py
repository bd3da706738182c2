"""Commands where something is missing that is usually there: streams, a home, room."""

import os
import subprocess
import sys

import polars as pl
import pytest

from heldout.cli import main

pytestmark = pytest.mark.skipif(os.name != "posix", reason="needs a shell of POSIX")
SHELL = 'exec "$0" -c "from heldout.cli import main; main()" '


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "qrels.txt").write_text("q1 0 d1 1\nq2 0 d2 1\n")
    for name in ("one", "two"):
        (tmp_path / f"{name}.run").write_text(f"q1 Q0 d1 1 1.0 {name}\nq2 Q0 d1 1 1.0 {name}\n")
    (tmp_path / "docs.jsonl").write_text('{"id": "d1", "text": "a b"}\n')
    return tmp_path


def is_one_line(code, said):
    assert (code, said.count("\n"), said[:9]) == (2, 1, "heldout: "), said


def refused(capsys, *arguments):
    with pytest.raises(SystemExit) as ended:
        main(list(arguments))
    said = capsys.readouterr().err
    is_one_line(ended.value.code, said)
    return said


def shell(line, before=""):
    return subprocess.run(  # noqa: S603 - this Python
        ["sh", "-c", f"{before}{SHELL}{line}", sys.executable],  # noqa: S607
        capture_output=True,
        text=True,
        check=False,
    )


@pytest.mark.parametrize(
    ("line", "before", "reason"),
    [
        ("eval qrels.txt - <&-", "", "<stdin> is empty"),
        ("eval qrels.txt one.run --quiet >&-", "", "cannot be written (standard output is closed)"),
        (
            "run docs.jsonl --system my.py:rank --jobs 2 --quiet",
            "ulimit -n 12; ",
            "heldout: Too many open",
        ),
    ],
)
def test_the_true_reason_is_given(folder, line, before, reason):
    (folder / "my.py").write_text("def rank(train, test):\n    return {}\n")
    (folder / "queries.tsv").write_text("q1\ta\nq2\tb\n")
    if "run docs" in line:
        line += " --queries queries.tsv --qrels qrels.txt --folds 2"
    done = shell(line, before)
    is_one_line(done.returncode, done.stderr)
    assert reason in done.stderr


def test_a_user_without_a_home(folder):
    """Libraries for charts look for it when they are imported."""
    code = """
import os, pwd, sys
def nobody(number):
    raise KeyError(number)
pwd.getpwuid = nobody
del os.environ["HOME"]
from heldout.cli import main
main(["compare", "qrels.txt", "one.run", "two.run", "-o", "page.html", "--quiet"])
"""
    environment = {**os.environ, "HOME": str(folder)}
    done = subprocess.run(  # noqa: S603 - this Python
        [sys.executable, "-c", code],
        capture_output=True,
        text=True,
        check=False,
        env=environment,
    )
    assert done.returncode == 0, done.stderr
    assert (folder / "page.html").exists()


def test_messages_name_a_few_of_many_columns(folder, capsys):
    names = [f"column{number}" for number in range(3000)]
    pl.DataFrame({name: [1] for name in names}).write_parquet("wide.parquet")
    (folder / "wide.csv").write_text(",".join(names * 20) + "\n" + ",".join("1" * 60000) + "\n")
    for file in ("wide.parquet", "wide.csv"):
        for command in (["eval", "qrels.txt", file], ["eval", file, "one.run"]):
            said = refused(capsys, *command)
            assert ("column7, …" if file == "wide.parquet" else "needs a header: query_id") in said
            assert len(said) < 300
        assert len(refused(capsys, "compare", "--scores", file)) < 300
    assert "column9, …" in refused(capsys, "search", "wide.parquet", "--query", "a")


def test_an_index_does_not_depend_on_the_memory(folder):
    main(["index", "docs.jsonl", "-o", "a.index", "--max-memory", "1MB"])
    main(["index", "docs.jsonl", "-o", "b.index", "--max-memory", "1TB"])
    made = [
        {file.name: file.read_bytes() for file in (folder / name).iterdir()}
        for name in ("a.index", "b.index")
    ]
    assert made[0] == made[1]

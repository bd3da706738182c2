"""The command fuse: what it writes, prints and refuses."""

import json

import pytest

import heldout
from heldout.cli import main

FIRST = {"q1": {"a": 12.0, "b": 9.0, "c": 2.0}, "q2": {"a": 1.0}}
SECOND = {"q1": {"b": 0.9, "d": 0.7, "a": 0.5}}


@pytest.fixture(autouse=True)
def _files(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    heldout.Run.of(FIRST).write("first.run")
    heldout.Run.of(SECOND).write("second.run")


def test_what_is_written_is_what_the_library_makes(capsys):
    main(["fuse", "first.run", "second.run", "-o", "fused.run"])
    assert heldout.read_run("fused.run").to_dict() == heldout.fuse([FIRST, SECOND]).to_dict()
    notes = capsys.readouterr().err
    assert "rrf(k=60) of 2 runs: 2 queries, 5 rows\n" in notes
    assert "documents missing from a run: get 0 from the run\n" in notes
    assert "lacks 1 query of 2\n" in notes


def test_methods_parameters_and_formats(capsys):
    weighted = ["--how", "wsum", "--norm", "max", "--weights", "0.3,0.7"]
    main(["fuse", "first.run", "second.run", *weighted, "-o", "fused.csv.gz", "--quiet"])
    wanted = heldout.fuse([FIRST, SECOND], "wsum", norm="max", weights=[0.3, 0.7])
    assert heldout.read_run("fused.csv.gz").to_dict() == wanted.to_dict()
    main(["fuse", "first.run", "second.run", "--how", "combmed", "--json", "--quiet"])
    found = capsys.readouterr()
    assert json.loads(found.out) == heldout.fuse([FIRST, SECOND], "combmed").to_dict()
    assert found.err == ""
    main(["fuse", "first.run", "second.run", "--k", "1", "--depth", "2", "--name", "mine"])
    lines = capsys.readouterr().out.splitlines()
    assert lines[0].split() == ["q1", "Q0", "b", "1", lines[0].split()[4], "mine"]
    assert len(lines) == 3


def test_the_list_of_methods(capsys):
    main(["list", "methods"])
    printed = capsys.readouterr().out
    assert "rrf      ranks, k" in printed
    assert max(map(len, printed.splitlines())) <= 110


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["first.run"], "fusion needs two or more runs, got 1"),
        (["first.run", "first.run"], "first.run and first.run are the same file"),
        (["first.run", "third.run"], "third.run"),
        (["first.run", "second.run", "--how", "average"], "--how average: expected one of rrf"),
        (["first.run", "second.run", "--norm", "minmax"], "rrf uses ranks alone"),
        (["first.run", "second.run", "--how", "wsum"], "wsum needs a weight per run"),
        (
            ["first.run", "second.run", "--how", "wsum", "--weights", "1,2,3"],
            "3 weights for 2 runs",
        ),
        (
            ["first.run", "second.run", "--weights", "1,x"],
            "--weights 1,x: expected numbers such as",
        ),
        (["first.run", "second.run", "--k", "nan"], "k is nan: expected a number of at least 0"),
        (["first.run", "second.run", "--depth", "0"], "--depth 0: expected a positive integer"),
        (["first.run", "second.run", "--json", "-o", "x.run"], "give one of them"),
        (["first.run", "second.run", "-o", "x.xlsx"], "unknown suffix '.xlsx'"),
    ],
)
def test_wrong_input_is_one_line(arguments, words, capsys):
    with pytest.raises(SystemExit) as end:
        main(["fuse", *arguments])
    error = capsys.readouterr().err
    assert end.value.code == 2
    assert words in error
    assert error.count("\n") == 1

"""Output that cannot be written: one line, exit code 2, nothing half-written; never code 1."""

import os
import shlex
import subprocess
import sys
from contextlib import contextmanager, suppress
from pathlib import Path

import pytest

import heldout
from commands import COMMANDS
from heldout.cli import main
from heldout.data.atomic import made_folder
from heldout.data.export import export_collection
from heldout.errors import InputError
from heldout.infer.ledger import Look, record_looks

FULL = Path("/dev/full")
WORDS = ["red", "green", "blue", "fish", "bird", "tree", "stone", "river"]
BM25 = ["--system", "bm25(k1=0.5:2:3)", "--folds", "2"]
RUNS = ["qrels.txt", "one.run", "two.run"]
SPLIT = ["split", "data", "--by", "query", "--folds", "2"]
STUDY = ["data", "--system", "bm25", "--draws", "2", "-m", "AP"]

# Every command with what it prints, by the name of its test.
PRINTS = {
    "eval": ["eval", *RUNS],
    "eval --json": ["eval", *RUNS, "--json"],
    "compare": ["compare", *RUNS],
    "compare --json": ["compare", *RUNS, "--json"],
    "compare --gate": ["compare", *RUNS, "--gate", "non-inferior", "--margin", "0.9"],
    "eval text": ["eval", "--task", "text", "texts", "-r", "references", "-m", "BLEU"],
    "eval classification": ["eval", "--task", "classification", "classes.csv"],
    "eval regression": ["eval", "--task", "regression", "numbers.csv"],
    "power": ["power", *RUNS],
    "ledger": ["ledger", "looks.jsonl"],
    "collection": ["collection", "data"],
    "split": SPLIT,
    "split --assignments -": [*SPLIT, "--assignments", "-"],
    "run of judgements": ["run", "qrels.txt", "--system", "x=*o*.run", "--folds", "2"],
    "study bias": ["study", "bias", *STUDY],
    "run": ["run", "data", *BM25],
    "run --dry-run": ["run", "data", *BM25, "--dry-run"],
    "list charts": ["list", "charts"],
    "chart --data": ["chart", "results", "forest", "--data", "-"],
    "index": ["index", "data.index"],
    "search": ["search", "data"],
    "search --query": ["search", "data", "--query", "red fish"],
    "agree": ["agree", "qrels.txt", "machine.txt"],
    "fuse": ["fuse", "one.run", "two.run"],
    "list measures": ["list", "measures"],
    "demo --files": ["demo", "--files", "another"],
}
# The commands that write a file, without its name, which comes last.
WRITES = {
    "eval -o": ["eval", *RUNS, "-o"],
    "eval parquet": ["eval", *RUNS, "--format", "parquet", "-o"],
    "compare -o": ["compare", *RUNS, "-o"],
    "compare html": ["compare", *RUNS, "--quiet", "--format", "html", "-o"],
    "compare --ledger": ["compare", *RUNS, "--ledger"],
    "eval predictions -o": ["eval", "--task", "classification", "classes.csv", "-o"],
    "collection -o": ["collection", "data", "-o"],
    "split -o": [*SPLIT, "-o"],
    "split --assignments": [*SPLIT, "--assignments"],
    "study bias -o": ["study", "bias", *STUDY, "-o"],
    "study bias --figures": ["study", "bias", *STUDY, "--figures"],
    "report": ["report", "results", "-o"],
    "chart json": ["chart", "results", "forest", "-o"],
    "chart --data": ["chart", "results", "forest", "--data"],
    "index": ["index", "data", "-o"],
    "search -o": ["search", "data", "-o"],
    "agree -o": ["agree", "qrels.txt", "machine.txt", "-o"],
    "fuse -o": ["fuse", "one.run", "two.run", "-o"],
    "demo --files": ["demo", "--files"],
}
SUFFIX = {"eval parquet": ".parquet", "chart json": ".json"}


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """Files of all kinds, small."""
    place = tmp_path_factory.mktemp("full")
    documents = {
        f"d{at}": " ".join(WORDS[(at * step) % 8] for step in range(1, 5)) for at in range(24)
    }
    queries = {f"q{at}": f"{WORDS[at % 8]} {WORDS[(3 * at + 1) % 8]}" for at in range(10)}
    judged = {f"q{at}": {f"d{at}": 1, f"d{at + 9}": 2} for at in range(10)}
    collection = heldout.Collection(documents, queries, judged)
    export_collection(collection, place / "data")
    heldout.Index.build(collection).save(place / "data.index")
    for file in ("qrels.txt", "machine.txt"):
        heldout.Qrels.of(judged).write(place / file)
    for at, name in enumerate(("one", "two")):
        scores = {
            query: {doc: (number + at) % 7 + 1 / (number + 1) for number, doc in enumerate(docs)}
            for query, docs in ((query, [*documents][at : at + 20]) for query in queries)
        }
        heldout.Run.of(scores, name).write(place / f"{name}.run")
    rows = [f"u{n},{'ab'[n % 2]},{'aab'[n % 3]}\n" for n in range(20)]
    (place / "classes.csv").write_text("unit,truth,prediction\n" + "".join(rows))
    rows = [f"u{n},{n},{n + n % 3}.5\n" for n in range(20)]
    (place / "numbers.csv").write_text("unit,truth,prediction\n" + "".join(rows))
    lines = [" ".join(WORDS[(n + step) % 8] for step in range(6)) + "\n" for n in range(6)]
    (place / "references").write_text("".join(lines))
    (place / "texts").write_text("".join(reversed(lines)))
    record_looks(place / "looks.jsonl", [Look("abc", ("A",), "AP", "t", 0.1, 0.1, 9, "")])
    systems = ["bm25(k1=0.5:2:3)", "ql-jm(lambda=0.2:0.8:2)"]
    heldout.Experiment(collection=collection, systems=systems, plan={"folds": 2}).run(
        place / "results"
    )
    return place


def test_every_command_is_tried():
    tried = {words[0] for words in (*PRINTS.values(), *WRITES.values())}
    # demo is run and report in one.
    assert tried | {"demo"} == set(COMMANDS)


def outcome(capsys, arguments):
    """The exit code, and what was said on standard error."""
    try:
        main(arguments)
        code = 0
    except SystemExit as ended:
        code = ended.code
    return code, capsys.readouterr().err


def is_one_line(code, said):
    assert code == 2, said
    said = said.splitlines(keepends=True)[-1]  # notes and the first compilation come before
    assert said.startswith("heldout: ")
    assert said.count("\n") == 1, said


@pytest.mark.skipif(not FULL.exists(), reason="there is no /dev/full")
@pytest.mark.parametrize("name", PRINTS)
def test_standard_output_on_a_full_disk(folder, monkeypatch, capsys, name):
    monkeypatch.chdir(folder)
    quiet = (
        []
        if "ledger" in name or name in ("list measures", "list charts", "demo --files")
        else ["--quiet"]
    )
    full = FULL.open("w")
    try:
        with monkeypatch.context() as changed:
            changed.setattr(sys, "stdout", full)
            is_one_line(*outcome(capsys, [*PRINTS[name], *quiet]))
    finally:
        with suppress(OSError):
            full.close()


@contextmanager
def largest_file(size):
    """Let no file of this process grow beyond `size`, as if the disk were full then."""
    resource = pytest.importorskip("resource")
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    # Python would cut the compiled form of a module that is imported here for the first time.
    bytecode = sys.dont_write_bytecode
    sys.dont_write_bytecode = True
    resource.setrlimit(resource.RLIMIT_FSIZE, (size, before[1]))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, before)
        sys.dont_write_bytecode = bytecode


@pytest.mark.parametrize("name", WRITES)
def test_a_file_on_a_full_disk(folder, tmp_path, monkeypatch, capsys, name):
    monkeypatch.chdir(folder)
    target = f"out{SUFFIX.get(name, '.html' if 'html' in name or name == 'report' else '')}"
    # Once with room, so that everything is compiled and the command is known to be right.
    code, said = outcome(capsys, [*WRITES[name], str(tmp_path / target)])
    assert code == 0, said
    assert (tmp_path / target).exists()
    place = tmp_path / "full"
    place.mkdir()
    with largest_file(20):
        code, said = outcome(capsys, [*WRITES[name], str(place / target)])
    is_one_line(code, said)
    assert "Traceback" not in said
    assert [*place.iterdir()] == []


def test_what_was_there_before_stays(folder, tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(folder)
    (tmp_path / "out").write_text("what was there")
    with largest_file(20):
        is_one_line(*outcome(capsys, [*WRITES["eval -o"], str(tmp_path / "out")]))
    assert (tmp_path / "out").read_text() == "what was there"


def shell(folder, line, **environment):
    """A command as a shell runs it, with its exit code; PIPESTATUS needs bash."""
    heldout_command = f"{shlex.quote(sys.executable)} -c 'from heldout.cli import main; main()'"
    return subprocess.run(  # noqa: S603 - this Python
        ["bash", "-c", line.replace("heldout", heldout_command, 1)],  # noqa: S607
        capture_output=True,
        text=True,
        check=False,
        cwd=folder,
        env={**os.environ, **environment},
    )


@pytest.mark.skipif(not FULL.exists(), reason="there is no /dev/full")
@pytest.mark.parametrize("unbuffered", ["", "1"])
@pytest.mark.parametrize("line", ["heldout list measures", "heldout --help", "heldout --version"])
def test_the_end_of_a_process_on_a_full_disk(folder, line, unbuffered):
    """Python writes what is left when it ends, and would end with 120 and two lines."""
    done = shell(folder, f"{line} > /dev/full", PYTHONUNBUFFERED=unbuffered)
    is_one_line(done.returncode, done.stderr)
    assert "cannot be written (No space left on device)" in done.stderr


@pytest.mark.skipif(not FULL.exists(), reason="there is no /dev/full")
def test_notes_that_cannot_be_written_do_not_change_what_is_wrong(folder):
    assert shell(folder, "heldout eval qrels.txt nowhere.run 2> /dev/full").returncode == 2
    assert shell(folder, "heldout list measures > /dev/full 2> /dev/full").returncode == 2


@pytest.mark.skipif(os.name != "posix", reason="needs pipes of POSIX")
@pytest.mark.parametrize("unbuffered", ["", "1"])
def test_a_reader_that_goes_away_is_no_gate_and_no_traceback(folder, unbuffered):
    line = "heldout list measures | true; exit ${PIPESTATUS[0]}"
    done = shell(folder, line, PYTHONUNBUFFERED=unbuffered)
    assert (done.returncode, done.stderr) == (141, "")


@pytest.mark.skipif(os.name != "posix", reason="needs a shell of POSIX")
def test_streams_that_are_closed(folder):
    """Some want nothing but the exit code."""
    gate = "heldout compare qrels.txt one.run two.run --gate better"
    closed = shell(folder, gate)
    assert (closed.returncode, closed.stderr[:7]) == (1, "failed:")
    assert shell(folder, f"{gate} >&-").returncode == 1
    assert shell(folder, f"{gate} >&- 2>&-").returncode == 1


def fail_in(folder):
    with made_folder(folder) as place:
        (place / "half").write_text("of it")
        raise ZeroDivisionError


def test_a_folder_is_made_and_goes_if_something_fails(tmp_path):
    with pytest.raises(ZeroDivisionError):
        fail_in(tmp_path / "a" / "b")
    assert [*tmp_path.iterdir()] == []
    (tmp_path / "mine").mkdir()
    (tmp_path / "mine" / "file").write_text("")
    with pytest.raises(ZeroDivisionError):
        fail_in(tmp_path / "mine")
    assert (tmp_path / "mine" / "file").exists()
    with pytest.raises(InputError, match="file: the folder cannot be created"):
        fail_in(tmp_path / "mine" / "file")

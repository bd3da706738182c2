"""Whatever is wrong with the input: one line that says it, exit code 2, nothing left behind."""

import gzip
import os
import subprocess
import sys

import pytest

from heldout.cli import main

QRELS = "q1 0 a 1\nq2 0 b 1\n"
RUN = "q1 Q0 a 1 2.0 t\nq1 Q0 b 2 1.0 t\n"
COMMAND = [sys.executable, "-c", "from heldout.cli import main; main()"]

BAD_RUNS = {
    "truncated gz": (gzip.compress(RUN.encode() * 50)[:-12], "damaged or truncated"),
    "binary": (bytes(range(256)) * 20, ":1: not a text file (byte 0x00)"),
    "picture": (b"\x89PNG\r\n\x1a\n" + bytes(100), "bad.run:"),
    "NaN score": (b"q1 Q0 a 1 NaN t\n", ":1: score 'NaN' is not a finite number"),
    "inf score": (b"q1 Q0 a 1 1 t\nq1 Q0 b 1 -inf t\n", ":2: score '-inf' is not a finite number"),
    "too large score": (b"q1 Q0 a 1 1e999 t\n", ":1: score '1e999' is not a finite number"),
    "duplicate": (RUN.encode() + b"q1 Q0 a 3 0 t\n", ":3: document a appears twice"),
    "5 columns": (RUN.encode() + b"q1 Q0 c 3 0\n", ":3: 5 fields, expected 6: query Q0 document"),
    "no number": (b"q1 Q0 a 1 high t\n", ":1: score 'high' is not a number"),
    "empty": (b"", "bad.run is empty"),
    "empty inside gz": (gzip.compress(b""), "bad.run is empty"),
    "only comments": (b"# a\n# b\n", "bad.run has no rows"),
    "only a byte order mark": (b"\xef\xbb\xbf", "bad.run is empty"),
    "not UTF-8": ("q1 Q0 é 1 1 t\n".encode("latin1"), ":1: byte 0xe9 is not UTF-8"),
    "UTF-16": (RUN.encode("utf-16"), "bad.run:1: this is UTF-16: "),
    "UTF-16 without a mark": (RUN.encode("utf-16-le"), "bad.run:1: not a text file"),
    "bad JSON": (b'{"q1": {"a": 1.0}', "bad.run:1: not JSON"),
    "JSON of another shape": (b'{"q1": [1]}', ":1: 'q1' is a list, expected one value"),
    "CSV with a missing column": (b"query_id,doc_id,rank\nq1,a,1\n", "no column of scores"),
    "CSV with no number": (b"query_id,doc_id,score\nq1,a,x\n", "bad.run:2: 'x' is not a number"),
    "broken parquet": (b"PAR1" + bytes(50) + b"PAR1", "the Parquet file cannot be read"),
    "qrels instead": (QRELS.encode(), "are the arguments swapped?"),
}
BAD_QRELS = {
    "truncated gz": (gzip.compress(QRELS.encode() * 50)[:-12], "damaged or truncated"),
    "binary": (bytes(range(256)) * 20, "not a text file"),
    "5 columns": (b"q1 0 a 1 x\n", ":1: 5 fields, expected 4: query iteration document grade"),
    "run instead": (RUN.encode(), "are the arguments swapped?"),
    "no number": (b"q1 0 a yes\n", ":1: grade 'yes' is not a number"),
    "NaN": (b"q1 0 a nan\n", ":1: grade 'nan' is not a finite number"),
    "half a grade": (b"q1 0 a 0.5\n", "0.5"),
    "exponent": (b"q1 0 a 1\nq2 0 a 1e1\n", ":2: grade '1e1' is not an integer"),
    "hexadecimal": (b"q1 0 a 0x2\n", ":1: grade '0x2' is not a number"),
    "two grades": (b"q1 0 a 1\nq1 0 a 0\n", ":2: document a appears twice"),
    "empty": (b"", "bad.qrels is empty"),
    "only comments": (b"# a\n", "bad.qrels has no rows"),
    "CSV with a missing column": (b"query_id,doc_id,rank\nq1,a,1\n", "no column of grades"),
}


@pytest.fixture(autouse=True)
def files(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "qrels").write_text(QRELS)
    (tmp_path / "good.run").write_text(RUN)
    return tmp_path


def refused(capsys, *arguments):
    """Run a command that must fail properly; give back what it says."""
    before = sorted(os.listdir())  # noqa: PTH208 - names only
    with pytest.raises(SystemExit) as caught:
        main(list(arguments))
    captured = capsys.readouterr()
    assert caught.value.code == 2
    assert captured.out == ""
    assert captured.err.startswith("heldout")
    assert captured.err.endswith("\n")
    assert captured.err.count("\n") == 1
    assert sorted(os.listdir()) == before  # noqa: PTH208
    return captured.err


@pytest.mark.parametrize("form", ["tsv", "trec"])
@pytest.mark.parametrize(("content", "message"), BAD_RUNS.values(), ids=BAD_RUNS)
def test_a_bad_run_is_refused(capsys, files, content, message, form):
    (files / "bad.run").write_bytes(content)
    said = refused(capsys, "eval", "qrels", "bad.run", "-f", form, "-o", "out")
    assert "bad.run" in said
    assert message in said


@pytest.mark.parametrize(("content", "message"), BAD_QRELS.values(), ids=BAD_QRELS)
def test_bad_qrels_are_refused(capsys, files, content, message):
    (files / "bad.qrels").write_bytes(content)
    said = refused(capsys, "eval", "bad.qrels", "good.run", "-o", "out")
    assert "bad.qrels" in said
    assert message in said


def test_an_old_result_survives_a_failure(capsys, files):
    (files / "out").write_text("old")
    (files / "bad.run").write_text("q1 Q0 a 1 high t\n")
    refused(capsys, "eval", "qrels", "bad.run", "-o", "out")
    assert (files / "out").read_text() == "old"


@pytest.mark.parametrize("form", ["tsv", "trec"])
def test_ids_of_both_sides_are_shown_when_no_query_is_common(capsys, files, form):
    (files / "other.run").write_text("MS-17 Q0 a 1 1 t\nMS-18 Q0 a 1 1 t\n")
    said = refused(capsys, "eval", "qrels", "other.run", "-f", form, "-o", "out")
    assert "no query in common" in said
    assert "MS-17, MS-18" in said
    assert "q1, q2" in said


def test_no_query_that_all_runs_have_is_refused(capsys, files):
    (files / "other.run").write_text("q2 Q0 a 1 1 t\n")
    said = refused(capsys, "eval", "qrels", "good.run", "other.run", "--intersection", "-o", "out")
    assert "no judged query is in all runs" in said


@pytest.mark.parametrize("name", ["nowhere", "folder"])
@pytest.mark.parametrize("arguments", [["{}", "good.run"], ["qrels", "{}"]])
def test_what_is_no_file_is_refused(capsys, files, arguments, name):
    (files / "folder").mkdir()
    said = refused(capsys, "eval", *(one.format(name) for one in arguments), "-o", "out")
    assert {"nowhere": "nowhere: no such file", "folder": "folder is a directory"}[name] in said


@pytest.fixture
def ordinary_user(files):
    """Root may read everything, so root becomes nobody for the time of a test."""
    if os.geteuid():
        yield
        return
    files.chmod(0o777)
    os.seteuid(65534)
    yield
    os.seteuid(0)


@pytest.mark.skipif(sys.platform == "win32", reason="Windows has other permissions")
def test_a_file_without_permission_is_refused(capsys, files, request):
    (files / "good.run").chmod(0)
    request.getfixturevalue("ordinary_user")
    said = refused(capsys, "eval", "qrels", "good.run", "-o", "out")
    assert "good.run: permission denied" in said


@pytest.mark.parametrize(
    ("name", "near"),
    [("nDGC@10", "nDCG@10"), ("precision_at", "P"), ("mapp", "AP"), ("bprf", "Bpref")],
)
def test_an_unknown_measure_is_refused_with_near_names(capsys, name, near):
    said = refused(capsys, "eval", "qrels", "good.run", "-m", name, "-o", "out")
    assert f"unknown measure {name!r}" in said
    assert near in said.partition("did you mean ")[2].rstrip("?\n").split(" or ")


def test_trec_output_takes_the_names_of_trec_eval_only(capsys):
    said = refused(capsys, "eval", "qrels", "good.run", "-m", "nDCG@10", "-f", "trec", "-o", "out")
    assert "'nDCG@10' is not a measure of trec_eval" in said
    assert "ndcg_cut" in said


WRONG_USE = {
    "-f excel": "--format excel: expected one of",
    "--ties random": "--ties random: expected one of",
    "-M 0": "--depth 0: expected a positive integer",
    "-M -3": "--depth -3: expected",
    "-M ten": "--depth ten: expected",
    "-l high": "--rel high: expected 0 or a positive integer",
    "--frobnicate": "unknown option --frobnicate: see heldout eval --help",
    "--per": "unknown option --per: did you mean --per-",
    "-n": "goes with --per-unit",
    "-c --intersection": "exclude each other",
    "-f trec --intersection": "--format trec averages",
    "-f parquet": "-o FILE",
    "-o nowhere/out": "nowhere/out: cannot be written",
    "-f parquet -o nowhere/out": "nowhere/out: cannot be written",
    "-o .": "is a directory",
    "-m F": "F needs a cutoff, for example F@10",
    "-m nDCG@0": "a cutoff must be a positive integer",
    "-m P@1.2.3": "cannot read 'P@1.2.3'",
    "-m AP(depth=3)": "AP has no parameter 'depth'",
    "-m AP(rel=1e999)": "expected an integer",
    "-m relstring -f parquet -o out": "RelString",
}


def test_wrong_use_is_refused(capsys):
    for arguments, message in WRONG_USE.items():
        said = refused(capsys, "eval", "qrels", "good.run", *arguments.split())
        assert message in said, arguments


def test_an_incomplete_command_says_where_help_is(capsys):
    for arguments in ([], ["eval"], ["eval", "qrels"], ["evaluate"], ["--magic"]):
        assert "--help" in refused(capsys, *arguments)


def test_an_example_in_place_of_a_file_is_refused(capsys):
    assert "qrels: the folder cannot be created" in refused(capsys, "demo", "--files", "qrels")


def test_bad_standard_input_is_called_by_its_name():
    done = subprocess.run(  # noqa: S603 - this Python
        [*COMMAND, "eval", "qrels", "-"],
        input="q1 Q0 a 1 high t\n",
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 2
    assert done.stderr == "heldout: <stdin>:1: score 'high' is not a number\n"

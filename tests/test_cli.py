"""The command line: what it prints, where it puts it, and what its switches change."""

import io
import json
import os
import re
import subprocess
import sys
import threading

import polars as pl
import pytest

from heldout import __version__
from heldout.cli import main

QRELS = "q1 0 a 1\nq1 0 b 0\nq1 0 c 2\nq2 0 d 1\nq3 0 e 1\n"
# q1 has an unjudged document on top; q3 is missing; q9 is not judged.
RUN = """\
q1 Q0 x 1 4.0 first
q1 Q0 b 2 3.0 first
q1 Q0 a 3 2.0 first
q1 Q0 c 4 1.0 first
q2 Q0 d 1 1.0 first
q9 Q0 a 1 1.0 first
"""
OTHER = "q1 Q0 a 1 2.0 second\nq2 Q0 x 1 2.0 second\nq2 Q0 d 2 1.0 second\nq3 Q0 e 1 1.0 second\n"
TIED = "q1 Q0 b 1 1.0 tied\nq1 Q0 c 2 1.0 tied\nq1 Q0 a 3 1.0 tied\n"
COMMAND = [sys.executable, "-c", "from heldout.cli import main; main()"]


@pytest.fixture(autouse=True)
def files(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    texts = {"qrels": QRELS, "first.run": RUN, "second.run": OTHER, "tied.run": TIED}
    for name, text in texts.items():
        (tmp_path / name).write_text(text)
    return tmp_path


def printed(capsys, *arguments):
    main(list(arguments))
    return capsys.readouterr()


def result(capsys, *arguments):
    return json.loads(printed(capsys, "eval", "--format", "json", *arguments).out)


def means(capsys, *arguments):
    return [list(run["means"].values()) for run in result(capsys, *arguments)["runs"]]


def per_query(capsys, *arguments):
    """The values of the only measure, by query, of the first run."""
    queries = result(capsys, "-q", *arguments)["runs"][0]["queries"]
    return {query: next(iter(values.values())) for query, values in queries.items()}


def test_tsv_has_a_header_and_a_line_a_run(capsys):
    out = printed(capsys, "eval", "qrels", "first.run", "second.run", "-m", "RR", "-m", "P@1").out
    # first: RR is 1/3, 1 and 0; second: 1, 1/2 and 1.
    assert out == "run\tRR\tP@1\nfirst\t0.4444\t0.3333\nsecond\t0.8333\t0.6667\n"


def test_policies_go_to_standard_error_beside_tsv(capsys):
    err = printed(capsys, "eval", "qrels", "first.run", "-m", "RR").err
    assert err.splitlines() == [
        "queries: 3",
        "ties: by score, then document id descending (as trec_eval)",
        "judged queries that a run lacks: count 0 (an empty list)",
        "first lacks 1 judged query",
        "first has 1 query without judgements: ignored",
    ]


def test_switches_are_told_in_the_policies(capsys):
    arguments = ["--ties", "docid-asc", "--intersection", "-M", "7"]
    err = printed(capsys, "eval", "qrels", "first.run", *arguments).err
    assert err.splitlines()[:4] == [
        "queries: 2 of 3 judged",
        "ties: by score, then document id ascending",
        "judged queries that a run lacks: are left out (queries that all runs have)",
        "depth: first 7 documents",
    ]


def test_per_query_prints_every_judged_query_and_then_the_mean(capsys):
    out = printed(capsys, "eval", "qrels", "first.run", "-m", "RR", "-q").out
    assert out.splitlines() == [
        "run\tquery\tRR",
        f"first\tq1\t{1 / 3!r}",
        "first\tq2\t1.0",
        "first\tq3\t0.0",
        f"first\tall\t{4 / 9!r}",
    ]


def test_no_summary_prints_the_queries_only(capsys):
    out = printed(capsys, "eval", "qrels", "first.run", "-m", "RR", "-q", "-n").out
    assert [line.split("\t")[1] for line in out.splitlines()] == ["query", "q1", "q2", "q3"]


def test_json_is_at_full_precision(capsys):
    whole = result(capsys, "qrels", "first.run", "second.run", "-m", "RR", "-q")
    first, second = whole["runs"]
    assert whole["measures"] == ["RR"]
    assert first["queries"] == {"q1": {"RR": 1 / 3}, "q2": {"RR": 1.0}, "q3": {"RR": 0.0}}
    assert first["means"] == {"RR": (1 / 3 + 1 + 0) / 3}
    assert second["means"] == {"RR": (1 + 1 / 2 + 1) / 3}
    assert (first["judged_queries_missing"], first["queries_without_judgements"]) == (1, 1)
    assert "judged queries that a run lacks: count 0 (an empty list)" in whole["about"]


def test_json_without_queries_or_without_means_has_none(capsys):
    (run,) = result(capsys, "qrels", "first.run")["runs"]
    assert "queries" not in run
    (run,) = result(capsys, "qrels", "first.run", "-q", "-n")["runs"]
    assert "means" not in run


def test_latex_is_a_table_with_the_best_in_bold(capsys):
    out = printed(
        capsys, "eval", "qrels", "first.run", "second.run", "-m", "RR", "--format", "latex"
    ).out
    assert out.count("\\begin{tabular}{lr}") == out.count("\\end{tabular}") == 1
    assert r"first & 0.4444 \\" in out
    assert r"second & \textbf{0.8333} \\" in out
    assert "% queries: 3" in out


def test_parquet_holds_the_values_of_all_queries(capsys, files):
    printed(capsys, "eval", "qrels", "first.run", "-m", "RR", "-f", "parquet", "-o", "out.parquet")
    assert pl.read_parquet(files / "out.parquet").rows() == [
        ("first", "q1", "RR", 1 / 3),
        ("first", "q2", "RR", 1.0),
        ("first", "q3", "RR", 0.0),
    ]


def test_trec_prints_what_trec_eval_prints(capsys):
    # trec_eval leaves out the query that the run lacks, unless -c is given.
    out = printed(
        capsys,
        "eval",
        "-f",
        "trec",
        "-q",
        "-m",
        "recip_rank",
        "-m",
        "num_ret",
        "qrels",
        "first.run",
    ).out
    assert out.splitlines() == [
        "num_ret               \tq1\t4",
        "recip_rank            \tq1\t0.3333",
        "num_ret               \tq2\t1",
        "recip_rank            \tq2\t1.0000",
        "num_ret               \tall\t5",
        "recip_rank            \tall\t0.6667",
    ]


def test_trec_with_c_counts_the_missing_query_as_zero(capsys):
    out = printed(capsys, "eval", "-f", "trec", "-c", "-m", "recip_rank", "qrels", "first.run").out
    assert out == "recip_rank            \tall\t0.4444\n"


def test_output_leaves_no_other_file(capsys, files):
    before = set(files.iterdir())
    for form in ("tsv", "parquet"):
        printed(capsys, "eval", "qrels", "first.run", "--format", form, "-o", "result")
    assert set(files.iterdir()) - before == {files / "result"}


def test_an_old_result_is_replaced(capsys, files):
    (files / "result").write_text("old " * 1000)
    printed(capsys, "eval", "qrels", "first.run", "-m", "RR", "-o", "result")
    assert (files / "result").read_text() == "run\tRR\nfirst\t0.4444\n"


@pytest.mark.parametrize(
    ("option", "values"),
    [
        (("-l", "2"), [1 / 4, 0, 0]),
        (("-J",), [1 / 2, 1, 0]),
        (("-M", "2"), [0, 1, 0]),
        (("-M", "3"), [1 / 3, 1, 0]),
    ],
)
def test_what_counts_can_be_said(capsys, option, values):
    found = per_query(capsys, "qrels", "first.run", "-m", "RR", *option)
    assert list(found.values()) == values


def test_a_measure_that_sets_its_own_grade_keeps_it(capsys):
    values = means(capsys, "qrels", "second.run", "-m", "RR(rel=1)", "-m", "RR", "-l", "2")
    assert values[0][-1] == 0.0


def test_intersection_averages_over_what_all_runs_have(capsys):
    both = ["qrels", "first.run", "second.run", "-m", "RR"]
    assert means(capsys, *both, "--intersection") == [[(1 / 3 + 1) / 2], [(1 + 1 / 2) / 2]]
    assert means(capsys, *both, "-c") == means(capsys, *both)


@pytest.mark.parametrize(("ties", "grade"), [("docid-desc", 2), ("docid-asc", 1), ("input", 0)])
def test_each_tie_policy_puts_another_document_on_top(capsys, ties, grade):
    for least in (1, 2):
        asked = ["qrels", "tied.run", "-m", f"P(rel={least})@1", "--ties", ties]
        assert per_query(capsys, *asked)["q1"] == float(grade >= least)


def test_qrels_are_joined_by_commas(capsys, files):
    lines = QRELS.splitlines(keepends=True)
    (files / "one").write_text("".join(lines[:2]))
    (files / "two").write_text("".join(lines[2:]))
    joined = printed(capsys, "eval", "one,two", "first.run").out
    assert joined == printed(capsys, "eval", "qrels", "first.run").out


def test_runs_of_one_tag_are_called_by_their_files(capsys, files):
    (files / "again.run").write_text(RUN)
    out = printed(capsys, "eval", "qrels", "first.run", "again.run", "-m", "RR").out
    assert [line.split("\t")[0] for line in out.splitlines()] == ["run", "first.run", "again.run"]


def test_a_file_may_come_from_standard_input(capsys, monkeypatch):
    for given, text in ((("qrels", "-"), RUN), (("-", "first.run"), QRELS)):
        monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(text.encode())))
        from_pipe = printed(capsys, "eval", *given).out
        assert from_pipe == printed(capsys, "eval", "qrels", "first.run").out


def test_the_help_lists_the_commands(capsys):
    main(["--help"])
    out = capsys.readouterr().out
    assert all(f"\n  {name} " in out for name in ("eval", "list", "demo"))
    assert "None" not in out


def test_the_version_is_printed(capsys):
    main(["--version"])
    assert capsys.readouterr().out == f"heldout {__version__}\n"


def test_example_writes_files_that_can_be_evaluated(capsys, files):
    out = printed(capsys, "demo", "--files", "shown").out
    names = {path.name for path in (files / "shown").iterdir()}
    assert names == {"qrels.txt", "machine.qrels", "baseline.run", "improved.run", "report.md"}
    assert "heldout eval" in out.splitlines()[-1]
    runs = ["shown/baseline.run", "shown/improved.run"]
    (baseline,), (improved,) = means(capsys, "shown/qrels.txt", *runs, "-m", "nDCG@10")
    assert 0 < baseline < improved < 1
    # The report shows the very numbers that evaluating the files gives.
    report = (files / "shown" / "report.md").read_text()
    again = printed(capsys, "eval", "shown/qrels.txt", *runs, "--format", "md").out
    assert report.endswith(again)


def test_the_command_that_example_offers_works(capsys):
    command = printed(capsys, "demo", "--files").out.splitlines()[-1].split()
    assert command[0] == "heldout"
    assert printed(capsys, *command[1:]).out.count("\n") == 1 + 50 + 1


STARVED = """
import re, resource, sys
from pathlib import Path
import heldout.retrieve.index
from heldout.cli import main
held = int(re.search(r"VmData:\\s*(\\d+) kB", Path("/proc/self/status").read_text())[1]) * 1024
resource.setrlimit(resource.RLIMIT_DATA, (held + (24 << 20), -1))
main(sys.argv[1:])
"""


@pytest.mark.skipif(sys.platform != "linux", reason="needs a limit of memory that is kept to")
def test_too_little_memory_is_said_in_one_line(tmp_path):
    (tmp_path / "docs.tsv").write_text(
        "".join(f"d{n}\tword{n} " + "x " * 60 + "\n" for n in range(99999))
    )
    command = [sys.executable, "-c", STARVED, "index", str(tmp_path / "docs.tsv"), "-o"]
    ended = subprocess.run(  # noqa: S603
        [*command, str(tmp_path / "index")], capture_output=True, text=True, check=False
    )
    assert ended.returncode == 2
    said = ended.stderr.splitlines()[-1]  # loops may have been compiled, generators closed
    assert re.fullmatch(r"heldout: not enough memory.*: use a smaller .*", said)
    assert not [one.name for one in tmp_path.iterdir() if "index" in one.name]


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="there are no named pipes")
def test_judgements_can_come_from_a_named_pipe(tmp_path, capsys):
    """A pipe can be read only once, so that it is not looked at before it is read."""
    pipe, run = tmp_path / "pipe", tmp_path / "a.run"
    os.mkfifo(pipe)
    run.write_text("q1 Q0 a 1 2.0 t\n")
    writer = threading.Thread(target=pipe.write_text, args=("q1 0 a 1\n",), daemon=True)
    writer.start()
    main(["eval", str(pipe), str(run), "-m", "AP", "--quiet"])
    assert capsys.readouterr().out == "run\tAP\nt\t1.0000\n"

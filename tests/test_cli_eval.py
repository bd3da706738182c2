"""The command eval on runs: values, formats, what its switches change, and what it warns about."""

import io
import os
import sys
import threading

import polars as pl
import pytest

from commands import parsed, printed
from heldout import evaluate

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
BOTH = ("eval", "qrels", "first.run", "second.run", "-m", "RR")
FIRST = ("eval", "qrels", "first.run", "-m", "RR")


@pytest.fixture(autouse=True)
def files(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    texts = {"qrels": QRELS, "first.run": RUN, "second.run": OTHER, "tied.run": TIED}
    for name, text in texts.items():
        (tmp_path / name).write_text(text)
    return tmp_path


def values(capsys, *arguments):
    """The values of the only measure, of all queries, of the first run."""
    queries = parsed(capsys, "eval", "qrels", *arguments, "-q")["runs"][0]["queries"]
    return [value for of_query in queries.values() for value in of_query.values()]


SHOWN = {
    # First: RR is 1/3, 1 and 0; second: 1, 1/2 and 1.
    "qrels first.run second.run -m RR -m P@1": "run\tRR\tP@1\nfirst\t0.4444\t0.3333\nsecond\t0.8333"
    "\t0.6667\n",
    "qrels first.run -m RR -q": f"run\tquery\tRR\nfirst\tq1\t{1 / 3!r}\nfirst\tq2\t1.0\n"
    f"first\tq3\t0.0\nfirst\tall\t{4 / 9!r}\n",
    # trec_eval leaves out the query that the run lacks, unless -c is given.
    "-f trec -q -m recip_rank -m num_ret qrels first.run": "num_ret               \tq1\t4\n"
    "recip_rank            \tq1\t0.3333\nnum_ret               \tq2\t1\n"
    "recip_rank            \tq2\t1.0000\nnum_ret               \tall\t5\n"
    "recip_rank            \tall\t0.6667\n",
    "-f trec -c -m recip_rank qrels first.run": "recip_rank            \tall\t0.4444\n",
}


def test_what_is_printed(capsys):
    for arguments, out in SHOWN.items():
        assert printed(capsys, "eval", *arguments.split()).out == out, arguments


def test_policies_go_to_standard_error(capsys):
    assert printed(capsys, *FIRST).err.splitlines() == [
        "queries: 3",
        "ties: by score, then document id descending (as trec_eval)",
        "judged queries that a run lacks: count 0 (an empty list)",
        "first lacks 1 judged query",
        "first has 1 query without judgements: ignored",
    ]
    said = printed(capsys, *FIRST, "--ties", "docid-asc", "--intersection", "-M", "7").err
    assert said.splitlines()[:4] == [
        "queries: 2 of 3 judged",
        "ties: by score, then document id ascending",
        "judged queries that a run lacks: are left out (queries that all runs have)",
        "depth: first 7 documents",
    ]


def test_json_is_at_full_precision(capsys):
    whole = parsed(capsys, *BOTH, "-q")
    first, second = whole["runs"]
    assert whole["measures"] == ["RR"]
    assert first["queries"] == {"q1": {"RR": 1 / 3}, "q2": {"RR": 1.0}, "q3": {"RR": 0.0}}
    assert first["means"] == {"RR": (1 / 3 + 1 + 0) / 3}
    assert second["means"] == {"RR": (1 + 1 / 2 + 1) / 3}
    assert (first["judged_queries_missing"], first["queries_without_judgements"]) == (1, 1)
    assert "judged queries that a run lacks: count 0 (an empty list)" in whole["about"]
    assert "queries" not in parsed(capsys, *FIRST)["runs"][0]
    assert "means" not in parsed(capsys, *FIRST, "-q", "-n")["runs"][0]


def test_parquet_holds_the_values_of_all_queries(capsys, files):
    printed(capsys, *FIRST, "-f", "parquet", "-o", "out.parquet")
    assert pl.read_parquet("out.parquet").rows() == [
        ("first", "q1", "RR", 1 / 3),
        ("first", "q2", "RR", 1.0),
        ("first", "q3", "RR", 0.0),
    ]
    (files / "result").write_text("old " * 1000)
    printed(capsys, *FIRST, "-o", "result")
    assert (files / "result").read_text() == "run\tRR\nfirst\t0.4444\n"


def test_what_counts_can_be_said(capsys):
    for options, expected in {
        "-m RR -l 2": [1 / 4, 0, 0],
        "-m RR -J": [1 / 2, 1, 0],
        "-m RR -M 2": [0, 1, 0],
        "-m RR -M 3": [1 / 3, 1, 0],
        "-m RR --intersection": [1 / 3, 1],
        "-m RR -c": [1 / 3, 1, 0],
    }.items():
        given = (*options.split(), *(["second.run"] if "inter" in options else []))
        assert values(capsys, "first.run", *given) == expected, options
    for ties, grade in {"docid-desc": 2, "docid-asc": 1, "input": 0}.items():
        for least in (1, 2):
            first, *_ = values(capsys, "tied.run", "-m", f"P(rel={least})@1", "--ties", ties)
            assert first == float(grade >= least)
    # A measure that sets its own grade keeps it.
    own = parsed(capsys, "eval", "qrels", "second.run", "-m", "RR(rel=1)", "-m", "RR", "-l", "2")
    assert list(own["runs"][0]["means"].values())[-1] == 0.0


def test_files_may_be_joined_named_alike_and_come_from_standard_input(capsys, files, monkeypatch):
    whole = printed(capsys, *FIRST).out
    lines = QRELS.splitlines(keepends=True)
    (files / "one").write_text("".join(lines[:2]))
    (files / "two").write_text("".join(lines[2:]))
    assert printed(capsys, "eval", "one,two", *FIRST[2:]).out == whole
    for place, text in ((2, RUN), (1, QRELS)):
        monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(text.encode())))
        given = [*FIRST[:place], "-", *FIRST[place + 1 :]]
        assert printed(capsys, *given).out == whole
    (files / "again.run").write_text(RUN)  # two runs of one tag are called by their files
    out = printed(capsys, "eval", "qrels", "first.run", "again.run").out
    assert [line.split("\t")[0] for line in out.splitlines()] == ["run", "first.run", "again.run"]
    if hasattr(os, "mkfifo"):  # a pipe can be read only once: it is not looked at before
        os.mkfifo("pipe")
        writer = threading.Thread(target=(files / "pipe").write_text, args=(QRELS,), daemon=True)
        writer.start()
        assert printed(capsys, "eval", "-m", "RR", "pipe", "first.run").out == whole


# Corners of trec_eval 10.0, on inputs that are done by hand


def trec(capsys, files, qrels, run, *arguments):
    (files / "qrels").write_text(qrels)
    (files / "run").write_text(run)
    return printed(capsys, "eval", "--quiet", *arguments, "qrels", "run").out.split()


def test_corners_of_trec_eval(capsys, files):
    qrels, run = "1 0 a 1\n1 0 b 2\n2 0 a 1\n", "1 Q0 a 1 1.0 t\n2 Q0 a 1 1.0 t\n"

    def shown(*arguments):
        return trec(capsys, files, qrels, run, *arguments)

    for level in "0123":
        # RBP is graded and scaled by query. Query 1: grade 1 of 2 is .1 / 2; query 2: 1 of 1 is .1.
        assert shown("-f", "trec", "-l", level, "-m", "rbp")[-1] == "0.0750"
        assert shown("-f", "tsv", "-l", level, "-m", "rbp")[-1] == "0.0750"
        # Scaled by the qrels: .2 * 1/2 in both.
        assert shown("-f", "tsv", "-l", level, "-m", "RBP")[-1] == "0.1000"
    # The total of relevant documents ignores the level with -c.
    wanted = ["-f", "trec", "-q", "-m", "num_rel"]
    assert shown(*wanted, "-l", "2")[2::3] == ["1", "0", "1"]
    assert shown(*wanted, "-l", "2", "-c")[2::3] == ["1", "0", "3"]
    assert shown(*wanted, "-l", "0", "-c")[2::3] == ["2", "1", "3"]
    assert shown("-f", "trec", "-m", "ndcg_cut.23.4")[0] == "ndcg_cut_23"
    run = "2 Q0 a 1 1.0 t\n"  # trec_eval 10.0 stops here with exit code 4
    assert shown("-f", "trec", "-m", "num_q", "-m", "map")[2::3] == ["1", "1.0000"]


def test_last_digit_of_the_residual(capsys, files):
    # 1.0 and 0.7461, mean 0.87305: summed as trec_eval sums (p^n + (1 - p) * what is unjudged) it
    # is just above that number and rounds up; as 1 - (1 - p) * what is judged, just below.
    qrels = "1 0 x 1\n2 0 a 1\n2 0 c 0\n2 0 d 0\n"
    ranked = "".join(f"2 Q0 {doc} 0 {9 - place} t\n" for place, doc in enumerate("abcd"))
    run = "1 Q0 a 1 1.0 t\n" + ranked
    shares = trec(capsys, files, qrels, run, "-f", "trec", "-q", "-m", "rbp_resid")[2::3]
    assert shares == ["1.0000", "0.7461", "0.8731"]


# Files that do not belong together


def test_the_gravest_warning_comes_first(capsys, files):
    run = "".join(f"q{n} Q0 d{n} 1 2.5 one\nq{n} Q0 e{n} 2 1.5 one\n" for n in range(9))
    texts = {
        "q.txt": "".join(f"q{n} 0 d{n} 1\nq{n} 0 e{n} 0\n" for n in range(9)),
        "a.run": run,
        "x.run": run.replace(" d", " X-d").replace(" e", " X-e").replace("one", "strange"),
        "copy.run": run.replace("one", "copy"),
        "short.run": "".join(run.replace("one", "two").splitlines(keepends=True)[:8]),
    }
    for name, text in texts.items():
        (files / name).write_text(text)
    first = printed(capsys, "eval", "q.txt", "x.run").err.splitlines()[0]
    assert first == (
        "Warning: strange has none of the judged documents, so nothing in it counts as "
        "relevant: check that the run and the judgements use the same document ids (the run has "
        "X-d0, X-e0, X-d1, …; the judgements have d0, e0, d1, …). [no-common-document]"
    )
    missing = "Warning: two lacks 5 of the 9 judged queries, which count 0: "
    for form in ("tsv", "md"):
        said = printed(capsys, "eval", "q.txt", "short.run", "-f", form)
        notes = said.out[said.out.index("Warning") :] if form == "md" else said.err
        assert notes.startswith(missing)
        assert notes.count("two lacks") == 1
    result = evaluate("q.txt", ["a.run", "copy.run", "x.run", "short.run"])
    codes = ["no-common-document", "missing-zero", "same-ranking"]
    assert [note.code for note in result.notes] == codes
    found = parsed(capsys, "eval", "q.txt", "a.run", "copy.run", "x.run", "short.run")
    assert [one["code"] for one in found["warnings"]] == codes

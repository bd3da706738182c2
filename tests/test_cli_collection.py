"""``heldout collection``: what it prints, writes and refuses."""

import json

import pytest

from commands import refused
from heldout.cli import main


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "docs.tsv").write_text("d1\tone two three\nd2\tfour\nd3\t\n")
    (tmp_path / "queries.tsv").write_text("q1\tfirst query\nq2\tsecond\n")
    (tmp_path / "qrels").write_text("q1 0 d1 2\nq1 0 d2 0\nq1 0 d9 1\n")
    return tmp_path


OPTIONS = ["docs.tsv", "--queries", "queries.tsv", "--qrels", "qrels"]


@pytest.mark.usefixtures("folder")
def test_show_prints_counts_lengths_and_oddities(capsys):
    main(["collection", *OPTIONS])
    printed = capsys.readouterr().out
    fingerprint = printed.split("fingerprint")[1].split()[0]
    assert len(fingerprint) == 64
    assert printed.replace(fingerprint, "F" * 64) == (
        "name              docs\n"
        "documents         3\n"
        "document words    least: 0, lower: 0.5, median: 1.0, upper: 2.0, most: 3, total: 4\n"
        "queries           2\n"
        "query words       least: 1, lower: 1.25, median: 1.5, upper: 1.75, most: 2, total: 3\n"
        "judgements        2\n"
        "judged queries    1\n"
        "judged per query  least: 2, lower: 2.0, median: 2.0, upper: 2.0, most: 2, total: 2\n"
        "grades            0: 1, 2: 1\n"
        f"fingerprint       {'F' * 64}\n"
        "Note: empty documents: 1 (d3). [empty-documents]\n"
        "Warning: judgements of documents that the collection lacks, ignored: 1 "
        "(query q1 document d9). [absent-documents]\n"
        "Note: queries without a judgement: 1 (q2). [unjudged-queries]\n"
    )


@pytest.mark.usefixtures("folder")
def test_show_as_json(capsys):
    main(["collection", *OPTIONS, "--json"])
    found = json.loads(capsys.readouterr().out)
    assert (found["documents"], found["queries"], found["grades"]) == (3, 2, {"0": 1, "2": 1})
    assert [note["code"] for note in found["notes"]] == [
        "empty-documents",
        "absent-documents",
        "unjudged-queries",
    ]


def test_export_and_read_back(folder, capsys):
    main(["collection", *OPTIONS, "-o", "out"])
    told = capsys.readouterr()
    assert told.out == ""
    assert "out: 3 documents, 2 queries, 2 judgements" in told.err
    main(["collection", "out", "--json"])
    found = json.loads(capsys.readouterr().out)
    assert found["fingerprint"] in told.err
    assert "overwrite it (--force)" in refused(
        capsys, "collection", *OPTIONS, "--to", "trec", "-o", "out"
    )
    main(["collection", *OPTIONS, "--to", "trec", "-o", "out", "--force"])
    assert (folder / "out" / "documents.trec").is_file()


@pytest.mark.parametrize(
    ("arguments", "complaint"),
    [
        (["gone"], "gone: no such file or folder"),
        (["docs.tsv"], "has no queries: give a file of queries (--queries …)"),
        ([*OPTIONS, "--encoding", "utf-16"], "iconv"),
        ([*OPTIONS, "--query-field", "narrative"], "no field 'narrative'"),
        ([*OPTIONS, "--fields", "abstract"], "no field 'abstract'"),
        (["bad.tsv", "--queries", "queries.tsv"], "bad.tsv:1: byte 0xff"),
        ([*OPTIONS, "--to", "beir"], "--to and --force go with -o FOLDER"),
        ([*OPTIONS, "--json", "-o", "x"], "a description is printed"),
        ([], "COLLECTION"),
    ],
)
def test_what_is_wrong_is_said_in_one_line(folder, capsys, arguments, complaint):
    (folder / "bad.tsv").write_bytes(b"a\t\xff\n")
    told = refused(capsys, "collection", *arguments)
    assert complaint in told
    assert told.count("\n") == 1


def test_names_cannot_steer_a_terminal(folder, capsys):
    (folder / "docs\x1b[31m.tsv").write_text("d1\tx\n")
    main(["collection", "docs\x1b[31m.tsv", "--queries", "queries.tsv"])
    assert "\x1b" not in capsys.readouterr().out

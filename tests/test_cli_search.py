"""The commands index and search: what they print, write and refuse."""

import json
import math
from pathlib import Path

import pytest

import heldout
from commands import printed, refused
from heldout import Index
from heldout.cli import main
from heldout.retrieve.models import MODELS

DOCUMENTS = {
    "d1": "Red apples\nand red pears",
    "d2": "Green apples, green pears, plums",
    "d3": "The PLUMS of the garden",
    "d4": "A garden without trees",
}
QUERIES = {"q1": "red pears", "q2": "plum gardens", "q3": "zeppelin"}
OPTIONS = ["docs.jsonl", "--queries", "queries.tsv"]


@pytest.fixture(autouse=True)
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    lines = [json.dumps({"_id": one, "text": text}) + "\n" for one, text in DOCUMENTS.items()]
    (tmp_path / "docs.jsonl").write_text("".join(lines))
    (tmp_path / "queries.tsv").write_text("".join(f"{q}\t{text}\n" for q, text in QUERIES.items()))
    (tmp_path / "qrels").write_text("q1 0 d1 2\nq1 0 d2 1\nq2 0 d3 1\nq3 0 d4 1\n")
    return tmp_path


@pytest.fixture
def index(capsys):
    printed(capsys, "index", "docs.jsonl", "-o", "docs.index")
    return "docs.index"


def found(capsys, *arguments):
    """Query, document and score of each line that search prints."""
    rows = [line.split() for line in printed(capsys, "search", *arguments).out.splitlines()]
    return [(row[0], row[2], float(row[4])) for row in rows]


# ---- index --------------------------------------------------------------------------------------


def test_what_is_in_an_index_is_printed(capsys):
    said = printed(capsys, "index", "docs.jsonl", "-o", "docs.index").out
    digest = heldout.read_collection("docs.jsonl", queries="queries.tsv").documents.digest
    opened = Index.open("docs.index")
    size = sum(file.stat().st_size for file in Path("docs.index").iterdir())
    assert said == (
        "documents     4\n"
        "total length  19\n"
        "mean length   4.8\n"
        f"terms         {opened.n_terms}\n"
        f"postings      {opened.n_postings}\n"
        f"bytes         {size:,}\n"
        "analyzer      lower=yes, stop=none, stemmer=none, function=none\n"
        f"of documents  {digest}\n"
        f"fingerprint   {opened.fingerprint}\n"
    )
    verified = printed(capsys, "index", "docs.index", "--verify")
    assert verified.out == said
    assert "all checksums match" in verified.err


def test_index_takes_every_option_of_the_analyzer():
    Path("stop.txt").write_text("red green")
    options = "--stemmer english --stop stop.txt --keep-case --max-memory 2MB --jobs 1"
    main(["index", "docs.jsonl", "-o", "docs.index", *options.split()])
    analyzer = Index.open("docs.index").analyzer
    assert analyzer == heldout.Analyzer(stemmer="english", stop=("green", "red"), lower=False)


def test_an_index_is_replaced_only_when_told_and_no_other_file_ever(capsys, index):
    assert "--force" in refused(capsys, "index", "docs.jsonl", "-o", index)
    before = Index.open(index).fingerprint
    printed(capsys, "index", "docs.jsonl", "-o", index, "--stemmer", "english", "--force")
    assert Index.open(index).fingerprint != before
    text = Path("docs.jsonl").read_bytes()
    said = refused(capsys, "index", "docs.jsonl", "-o", "docs.jsonl", "--force")
    assert "is not an index" in said
    assert Path("docs.jsonl").read_bytes() == text


def test_damage_is_named_with_the_file(capsys, index):
    file = Path(index) / "lengths.npy"
    whole = file.read_bytes()
    file.write_bytes(whole[:-4] + b"\1\1\1\1")
    assert "docs.index: the index is damaged" in refused(capsys, "index", index, "--verify")
    file.write_bytes(whole[:-10])
    assert "docs.index/lengths.npy: the file of the index" in refused(capsys, "index", index)


# ---- search -------------------------------------------------------------------------------------


def test_a_run_is_what_the_library_gives(capsys):
    collection = heldout.Collection(DOCUMENTS, QUERIES)
    run = heldout.search(Index.build(collection), collection.queries, "bm25(k1=0.9)").to_dict()
    rows = found(capsys, *OPTIONS, "--model", "bm25(k1=0.9)")
    assert rows == [(query, *pair) for query, docs in run.items() for pair in docs.items()]
    assert len(rows) == 2
    assert len(found(capsys, *OPTIONS, "-k", "1")) == 1
    assert len(found(capsys, *OPTIONS, "-k", "1000000000000")) == 2


@pytest.mark.parametrize("name", MODELS)
def test_every_model_can_be_asked_for_and_is_listed(capsys, name):
    assert {query for query, *_ in found(capsys, *OPTIONS, "--model", name)} >= {"q1"}
    said = printed(capsys, "list", "models").out
    (line,) = [line for line in said.splitlines() if line.split()[:1] == [name]]
    assert all(f"{key}={value:g}" in line for key, value in MODELS[name].defaults)
    assert "lambda weighs the DOCUMENT" in said


def test_both_spellings_of_lambda(capsys):
    rows = found(capsys, *OPTIONS, "--model", "ql-jm(lam=0.9)")
    assert rows == found(capsys, *OPTIONS, "--model", "ql-jm(lambda=0.9)")
    assert rows != found(capsys, *OPTIONS, "--model", "ql-jm")


def test_an_index_gives_the_same_and_has_its_own_analyzer(capsys, index):
    rows = found(capsys, *OPTIONS)
    assert found(capsys, index, "--queries", "queries.tsv") == rows
    assert found(capsys, *OPTIONS, "--index", index) == rows
    rows = found(capsys, *OPTIONS, "--stemmer", "english")
    assert {doc for query, doc, _ in rows if query == "q2"} == {"d2", "d3", "d4"}
    printed(capsys, "index", "docs.jsonl", "--stemmer", "english", "-o", "stems.index")
    assert found(capsys, "stems.index", "--queries", "queries.tsv") == rows


def test_a_run_goes_to_a_file_that_eval_reads(capsys):
    said = printed(capsys, "search", *OPTIONS, "-o", "a.run.gz").err
    assert "not in the run: 2 (q2, q3)" in said
    assert "1 query, 2 rows" in said
    # q1 has d1 first, q2 finds nothing without stems, q3 has no known word: both count 0.
    evaluated = printed(capsys, "eval", "qrels", "a.run.gz", "-m", "P@1", "--quiet").out
    assert evaluated == "run\tP@1\nbm25(k1=1.2,b=0.75)\t0.3333\n"
    main(["search", *OPTIONS, "-o", "a.parquet"])
    assert heldout.read_run("a.parquet").to_dict() == heldout.read_run("a.run.gz").to_dict()


def test_a_query_shows_the_first_lines(capsys, index):
    asked = printed(capsys, "search", "docs.jsonl", "--query", "red pears plums").out
    head, *said = asked.splitlines()
    assert head.split() == ["rank", "score", "document", "text"]
    assert [line.split(maxsplit=3)[2:] for line in said] == [
        ["d1", "Red apples"],
        ["d2", "Green apples, green pears, plums"],
        ["d3", "The PLUMS of the garden"],
    ]
    scores = [float(line.split()[1]) for line in said]
    assert scores == sorted(scores, reverse=True)
    said = printed(capsys, "search", index, "--query", "red", "-k", "1").out
    assert said.split()[4::2] == ["1", "d1"]  # an index has no texts
    both = ["docs.jsonl", "--index", index]
    assert printed(capsys, "search", *both, "--query", "red", "-k", "1").out.endswith("apples\n")
    endless = ["--query", "red plums", "--model", "ql-jm(lambda=1)"]
    said = printed(capsys, "search", "docs.jsonl", *endless).out
    assert [float(line.split()[1]) for line in said.splitlines()[1:]] == [-math.inf] * 3


# ---- what is refused ----------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("command", "said"),
    [
        ("index docs.jsonl", "-o FOLDER"),
        ("index absent.jsonl -o x", "no such file"),
        ("index docs.jsonl --verify", "--verify is for an index"),
        ("index docs.jsonl -o docs.jsonl/x", "cannot be written"),
        ("index docs.jsonl -o x --max-memory much", "500MB"),
        ("index docs.jsonl -o x --max-memory 10KB", "at least"),
        ("index docs.jsonl -o x --jobs 0", "positive integer"),
        ("index docs.jsonl -o x --stemmer klingon", "unknown stemmer 'klingon'"),
        ("index docs.jsonl -o x --encoding nonsense", "nonsense"),
        ("index docs.index -o x", "not for an index"),
        ("index docs.index --stemmer english", "not for an index"),
        ("search RUN --model bm26", "unknown model 'bm26': expected one of bm25"),
        ("search RUN --model bm25(k1", "not a model"),
        ("search RUN --model bm25(mu=3)", "bm25 has no parameter mu; it has k1, b and k3"),
        ("search RUN --model bm25(b=2)", "outside 0 to 1"),
        ("search RUN -k 0", "positive integer"),
        ("search RUN --index absent.index", "absent.index: not an index of heldout"),
        ("search RUN --index qrels", "qrels: not an index of heldout"),
        ("search RUN --index docs.index --stop english", "has its analyzer"),
        ("search RUN -o nowhere/a.run", "cannot be written"),
        ("search docs.index", "give --queries FILE"),
        ("search docs.index --query a --index docs.index", "not for an index"),
        ("search docs.index --queries queries.tsv --stop english", "not for an index"),
        ("search docs.jsonl --queries none.tsv -o a.run", "no document has a word"),
        ("search docs.jsonl --query zeppelin", "no document has a word"),
        ("search docs.jsonl --query ...", "no document has a word"),
        ("search docs.jsonl --query=", "no document has a word"),
        ("search docs.jsonl --query red -o a", "shows documents, no run"),
        ("search RUN --query red", "shows documents, no run"),
    ],
)
@pytest.mark.usefixtures("index")
def test_refuses(capsys, folder, command, said):
    Path("none.tsv").write_text("q1\tzeppelin\n")
    before = sorted(folder.iterdir())
    assert said in refused(capsys, *command.replace("RUN", " ".join(OPTIONS)).split())
    assert sorted(folder.iterdir()) == before


def test_refuses_an_index_of_other_documents(capsys, index):
    text = Path("docs.jsonl").read_text()
    # The ids, the number of documents and their lengths stay: only the text tells.
    Path("docs.jsonl").write_text(text.replace("trees", "weeds"))
    said = refused(capsys, "search", *OPTIONS, "--index", index)
    assert "is not an index of the documents that docs.jsonl has now" in said

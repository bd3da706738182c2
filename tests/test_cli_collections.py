"""The commands index, search and fuse, collection, split and study."""

import json
from pathlib import Path

import pytest

import heldout
from commands import parsed, printed
from heldout import GivenFolds, HoldOut, Index, KFold, read_collection
from heldout.retrieve.models import MODELS

DOCUMENTS = {
    "d1": "Red apples\nand red pears",
    "d2": "Green apples, green pears, plums",
    "d3": "The PLUMS of the garden",
    "d4": "A garden without trees",
}
QUERIES = {"q1": "red pears", "q2": "plum gardens", "q3": "zeppelin"}
OPTIONS = ["four.jsonl", "--queries", "three.tsv"]


@pytest.fixture(autouse=True)
def _four(here):
    lines = [json.dumps({"_id": one, "text": text}) + "\n" for one, text in DOCUMENTS.items()]
    (here / "four.jsonl").write_text("".join(lines))
    (here / "three.tsv").write_text("".join(f"{q}\t{text}\n" for q, text in QUERIES.items()))
    (here / "judged").write_text("q1 0 d1 2\nq1 0 d2 1\nq2 0 d3 1\nq3 0 d4 1\n")


@pytest.fixture
def index(capsys):
    printed(capsys, "index", "four.jsonl", "-o", "four.index")
    return "four.index"


def found(capsys, *arguments):
    """Query, document and score of each line that search prints."""
    rows = [line.split() for line in printed(capsys, "search", *arguments).out.splitlines()]
    return [(row[0], row[2], float(row[4])) for row in rows]


def test_an_index_takes_every_option_and_does_not_depend_on_the_memory(here, capsys, index):
    (here / "stop.txt").write_text("red green")
    before = Index.open(index).fingerprint
    words = "--stemmer english --stop stop.txt --keep-case --jobs 1"
    made = []
    for size in ("1MB", "1TB"):
        memory = ("--max-memory", size, "--force")
        printed(capsys, "index", "four.jsonl", "-o", index, *words.split(), *memory)
        made.append({file.name: file.read_bytes() for file in (here / index).iterdir()})
    assert made[0] == made[1]
    opened = Index.open(index)
    expected = heldout.Analyzer(stemmer="english", stop=("green", "red"), lower=False)
    assert opened.analyzer == expected
    assert opened.fingerprint != before
    quiet = ("index", "four.jsonl", "-o", index, "--quiet", "--force")
    assert printed(capsys, *quiet) == ("", "")
    assert parsed(capsys, *quiet)["documents"] == 4
    verified = printed(capsys, "index", index, "--verify")
    assert "documents     4\ntotal length  19\nmean length   4.8\n" in verified.out
    assert "all checksums match" in verified.err


def test_a_run_is_what_the_library_gives(capsys, index):
    collection = heldout.Collection(DOCUMENTS, QUERIES)
    run = heldout.search(Index.build(collection), collection.queries, "bm25(k1=0.9)").to_dict()
    rows = found(capsys, *OPTIONS, "--model", "bm25(k1=0.9)")
    assert rows == [(query, *pair) for query, docs in run.items() for pair in docs.items()]
    assert len(rows) == 2
    assert len(found(capsys, *OPTIONS, "-k", "1")) == 1
    assert len(found(capsys, *OPTIONS, "-k", "1000000000000")) == 2
    rows = found(capsys, *OPTIONS)
    assert found(capsys, index, "--queries", "three.tsv") == rows
    assert found(capsys, *OPTIONS, "--index", index) == rows
    rows = found(capsys, *OPTIONS, "--stemmer", "english")
    assert {doc for query, doc, _ in rows if query == "q2"} == {"d2", "d3", "d4"}
    printed(capsys, "index", "four.jsonl", "--stemmer", "english", "-o", "stems.index")
    assert found(capsys, "stems.index", "--queries", "three.tsv") == rows


def test_every_model_can_be_asked_for_and_is_listed(capsys):
    said = printed(capsys, "list", "models").out
    assert "lambda weighs the DOCUMENT" in said
    for name, model in MODELS.items():
        assert {query for query, *_ in found(capsys, *OPTIONS, "--model", name)} >= {"q1"}, name
        (line,) = [line for line in said.splitlines() if line.split()[:1] == [name]]
        assert all(f"{key}={value:g}" in line for key, value in model.defaults), name


def test_a_run_goes_to_a_file_that_eval_reads(capsys):
    said = printed(capsys, "search", *OPTIONS, "-o", "a.run.gz").err
    assert "not in the run: 2 (q2, q3)" in said
    assert "1 query, 2 rows" in said
    # q1 has d1 first, q2 finds nothing without stems, q3 has no known word: both count 0.
    evaluated = printed(capsys, "eval", "judged", "a.run.gz", "-m", "P@1", "--quiet").out
    assert evaluated == "run\tP@1\nbm25(k1=1.2,b=0.75)\t0.3333\n"
    printed(capsys, "search", *OPTIONS, "-o", "a.parquet")
    assert heldout.read_run("a.parquet").to_dict() == heldout.read_run("a.run.gz").to_dict()


def test_a_query_shows_the_first_lines(capsys, index):
    asked = printed(capsys, "search", "four.jsonl", "--query", "red pears plums").out
    head, *said = asked.splitlines()
    assert head.split() == ["rank", "score", "document", "text"]
    assert [line.split(maxsplit=3)[2:] for line in said] == [
        ["d1", "Red apples"],
        ["d2", "Green apples, green pears, plums"],
        ["d3", "The PLUMS of the garden"],
    ]
    said = printed(capsys, "search", index, "--query", "red", "-k", "1").out
    assert said.split()[4::2] == ["1", "d1"]  # an index has no texts
    both = ("four.jsonl", "--index", index, "--query", "red", "-k", "1")
    assert printed(capsys, "search", *both).out.endswith("apples\n")


# Fusion


FIRST = {"q1": {"a": 12.0, "b": 9.0, "c": 2.0}, "q2": {"a": 1.0}}
SECOND = {"q1": {"b": 0.9, "d": 0.7, "a": 0.5}}


def test_what_fuse_writes_is_what_the_library_makes(capsys):
    heldout.Run.of(FIRST).write("first.run")
    heldout.Run.of(SECOND).write("second.run")
    fuse = ("fuse", "first.run", "second.run")
    notes = printed(capsys, *fuse, "-o", "fused.run").err
    assert heldout.read_run("fused.run").to_dict() == heldout.fuse([FIRST, SECOND]).to_dict()
    assert "rrf(k=60) of 2 runs: 2 queries, 5 rows\n" in notes
    assert "documents missing from a run: get 0 from the run\n" in notes
    assert "lacks 1 query of 2\n" in notes
    weighted = ("--how", "wsum", "--norm", "max", "--weights", "0.3,0.7")
    printed(capsys, *fuse, *weighted, "-o", "fused.csv.gz", "--quiet")
    wanted = heldout.fuse([FIRST, SECOND], "wsum", norm="max", weights=[0.3, 0.7])
    assert heldout.read_run("fused.csv.gz").to_dict() == wanted.to_dict()
    wanted = heldout.fuse([FIRST, SECOND], "combmed").to_dict()
    assert parsed(capsys, *fuse, "--how", "combmed") == wanted
    lines = printed(capsys, *fuse, "--k", "1", "--depth", "2", "--name", "mine").out.splitlines()
    assert lines[0].split() == ["q1", "Q0", "b", "1", lines[0].split()[4], "mine"]
    assert len(lines) == 3
    assert "rrf      ranks, k" in printed(capsys, "list", "methods").out


# Collections


def test_a_collection_is_described_and_written(here, capsys):
    (here / "docs.tsv").write_text("d1\tone two three\nd2\tfour\nd3\t\n")
    (here / "two.tsv").write_text("q1\tfirst query\nq2\tsecond\n")
    (here / "few").write_text("q1 0 d1 2\nq1 0 d2 0\nq1 0 d9 1\n")
    given = ("collection", "docs.tsv", "--queries", "two.tsv", "--qrels", "few")
    found = parsed(capsys, *given)
    assert (found["documents"], found["queries"], found["grades"]) == (3, 2, {"0": 1, "2": 1})
    codes = ["empty-documents", "absent-documents", "unjudged-queries"]
    assert [note["code"] for note in found["notes"]] == codes
    assert printed(capsys, *given).out.endswith(
        "grades            0: 1, 2: 1\n"
        f"fingerprint       {found['fingerprint']}\n"
        "Note: empty documents: 1 (d3). [empty-documents]\n"
        "Warning: judgements of documents that the collection lacks, ignored: 1 "
        "(query q1 document d9). [absent-documents]\n"
        "Note: queries without a judgement: 1 (q2). [unjudged-queries]\n"
    )
    told = printed(capsys, *given, "-o", "out")
    assert told.out == ""
    assert "out: 3 documents, 2 queries, 2 judgements" in told.err
    again = parsed(capsys, "collection", "out")["fingerprint"]
    assert again == found["fingerprint"]
    assert again in told.err
    printed(capsys, *given, "--to", "trec", "-o", "out", "--force")
    assert (here / "out" / "documents.trec").is_file()


# Splits


SPLIT = ("split", "small", "--by", "query")


def test_a_sample_is_the_same_on_the_screen_and_in_a_folder(capsys):
    drawn = HoldOut(5, seed=2).splits([f"q{n:02}" for n in range(12)])[0]
    names = sorted(drawn.ids[row] for row in drawn.rows("test"))
    sample = ("split", "small", "--sample", "5", "--seed", "2")
    assert printed(capsys, *sample).out.split() == names
    printed(capsys, *sample, "-o", "part")
    assert sorted(read_collection("part").queries.ids) == names


def test_splits_are_written_and_split_again(capsys):
    plan = ("--by", "document", "--folds", "3", "-o", "p", "--to", "trec")
    assert "p: 3 splits (r0-f0 to r0-f2)" in printed(capsys, "split", "small", *plan).err
    half = ("--by", "document", "--hold-out", "0.5", "-o", "again")
    printed(capsys, "split", "p/r0-f1/train", *half)
    texts = dict(read_collection("small").documents.pairs())
    found = read_collection("again/r0-f0/test")
    rows = Path("again/r0-f0/test/doc_map.tsv").read_text().splitlines()
    (head, *maps) = [line.split("\t") for line in rows]
    assert head == ["new", "original"]
    assert {new: texts[first] for new, first in maps} == dict(found.documents.pairs())


def test_splits_are_described(capsys):
    out = printed(capsys, "split", "small", "--by", "document", "--stratify", "relevance").out
    assert "5 folds of the documents (stratified by relevance, seed 0); 40 documents." in out
    both = printed(capsys, "split", "small", "--by", "both").out
    assert "(queries: 5 folds; documents: 5 folds, seed 0)" in both
    found = parsed(capsys, *SPLIT, "--folds", "3")
    assert [row["test"] for row in found["rows"]] == [4, 4, 4]
    found = parsed(capsys, "split", "small", "--hold-out", "0.25", "--validation", "0.25")
    assert found["plan"] == "HoldOut(test=0.25, validation=0.25)"


def test_the_table_is_a_file_of_given_folds(capsys):
    folds = (*SPLIT, "--folds", "4", "--seed", "3", "--assignments")
    out = printed(capsys, *folds, "-").out
    printed(capsys, *folds, "f")
    assert Path("f").read_text() == out
    printed(capsys, *folds, "f.csv")
    assert Path("f.csv").read_text() == out.replace("\t", ",")
    small = read_collection("small")
    expected = KFold(4, seed=3).splits(small).fingerprint
    assert GivenFolds("f").splits(small).fingerprint == expected
    assert parsed(capsys, *SPLIT, "--folds-file", "f")["fingerprint"] == expected


# Studies


STUDY = ("study", "bias", "small", "--draws", "2", "--replicates", "2")


def test_figures_and_output_of_a_study_go_to_files(capsys):
    files = ("--figures", "figures/new", "-o", "table.txt")
    assert printed(capsys, *STUDY, *files).out == ""
    assert Path("table.txt").read_text(encoding="utf-8").startswith("pooled (the default)")
    assert {path.name for path in Path("figures/new").iterdir()} == {"means.csv", "queries.csv"}
    printed(capsys, *STUDY, "-o", "bias.json")
    out = printed(capsys, "chart", "bias.json", "bias", "--data", "-").out
    assert out.splitlines()[1].startswith("pooled,")
    rows = "draw,set,estimator,estimate,truth\n0,0,pooled,0.5,0.4\n"
    Path("figures/new/means.csv").write_text(rows)
    head, row = "set,query,estimator,estimate,truth,difference,pro10", "0,007,pooled,0.5,.25,.25,.3"
    Path("figures/new/queries.csv").write_text(f"{head}\n{row}\n")
    out = printed(capsys, "chart", "figures/new", "bias-queries", "--data", "-").out
    assert out.splitlines()[1].startswith("1,0,007,")

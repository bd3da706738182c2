"""The command split: what it prints, what it writes, and what it refuses."""

import json
from pathlib import Path

import pytest

from heldout import Collection, GivenFolds, HoldOut, KFold, export_collection, read_collection
from heldout.cli import main

CRANFIELD = Path(__file__).parents[2] / "shared" / "data" / "cranfield"


@pytest.fixture(autouse=True)
def small(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    documents = {f"d{n}": f"text {n}" for n in range(30)}
    queries = {f"q{n}": f"query {n}" for n in range(12)}
    qrels = {f"q{n}": {f"d{(2 * n + step) % 30}": 1 for step in range(4)} for n in range(12)}
    whole = Collection(documents, queries, qrels)
    export_collection(whole, "small", "beir")
    return read_collection("small")


def printed(capsys, *arguments):
    main(["split", *arguments])
    return capsys.readouterr()


def refused(capsys, *arguments):
    with pytest.raises(SystemExit) as ended:
        main(["split", *arguments])
    assert ended.value.code == 2
    return capsys.readouterr().err


def test_a_sample_is_the_same_on_the_screen_and_in_a_folder(capsys):
    drawn = HoldOut(5, seed=2).splits([f"q{n}" for n in range(12)])[0]
    names = sorted(drawn.ids[row] for row in drawn.rows("test"))
    assert printed(capsys, "small", "--sample", "5", "--seed", "2").out.split() == names
    printed(capsys, "small", "--sample", "5", "--seed", "2", "-o", "part")
    assert sorted(read_collection("part").queries.ids) == names
    assert "expected fewer than the 12 queries" in refused(capsys, "small", "--sample", "12")


def test_splits_are_described(capsys):
    out = printed(capsys, "small", "--by", "document", "--stratify", "relevance").out
    assert "5 folds of the documents (stratified by relevance, seed 0); 30 documents." in out
    assert "r0/f4" in out
    assert "10 folds of the queries" in printed(capsys, "small").out  # by query
    both = printed(capsys, "small", "--by", "both").out
    assert "(queries: 5 folds; documents: 5 folds, seed 0)" in both


def test_json_has_the_same(capsys, small):
    found = json.loads(printed(capsys, "small", "--by", "query", "--folds", "3", "--json").out)
    assert found["fingerprint"] == KFold(3).splits(small).fingerprint
    assert [row["test"] for row in found["rows"]] == [4, 4, 4]
    parts = ["small", "--hold-out", "0.25", "--validation", "0.25", "--json"]
    found = json.loads(printed(capsys, *parts).out)
    assert found["plan"] == "HoldOut(test=0.25, validation=0.25)"


def test_the_table_is_a_file_of_given_folds(capsys, small):
    out = printed(
        capsys, "small", "--by", "query", "--folds", "4", "--seed", "3", "--assignments", "-"
    ).out
    Path("folds.tsv").write_text(out)
    expected = KFold(4, seed=3).splits(small)
    assert GivenFolds("folds.tsv").splits(small).fingerprint == expected.fingerprint
    printed(capsys, "small", "--by", "query", "--folds", "4", "--seed", "3", "--assignments", "f")
    assert Path("f").read_text() == out
    given = json.loads(printed(capsys, "small", "--by", "query", "--folds-file", "f", "--json").out)
    assert given["fingerprint"] == expected.fingerprint


@pytest.mark.parametrize("to", ["lines", "trec", "beir"])
def test_splits_are_written_and_split_again(capsys, small, to):
    err = printed(capsys, "small", "--by", "document", "--folds", "3", "-o", "p", "--to", to).err
    assert "p: 3 splits (r0-f0 to r0-f2)" in err
    printed(capsys, "p/r0-f1/train", "--by", "document", "--hold-out", "0.5", "-o", "again")
    texts = dict(small.documents.pairs())
    found = read_collection("again/r0-f0/test")
    maps = [
        line.split("\t") for line in Path("again/r0-f0/test/doc_map.tsv").read_text().splitlines()
    ]
    assert maps[0] == ["new", "original"]
    assert {new: texts[first] for new, first in maps[1:]} == dict(found.documents.pairs())
    assert len(found.documents) == 10


def test_nothing_is_overwritten(capsys):
    arguments = ["small", "--by", "query", "--folds", "3", "-o", "p"]
    printed(capsys, *arguments[:3], "--hold-out", "0.5", "-o", "p")
    assert [one.name for one in sorted(Path("p").glob("r0*"))] == ["r0-f0"]
    assert "--force" in refused(capsys, *arguments)
    printed(capsys, *arguments, "--force")
    assert len(list(Path("p").glob("r0*"))) == 3


@pytest.mark.parametrize(
    ("arguments", "complaint"),
    [
        (["--folds", "13"], "13 folds but only 12 queries"),
        (["--folds", "1"], "--folds 1: expected"),
        (["--folds", "3", "--hold-out", "0.2"], "exclude each other"),
        (["--hold-out", "half"], "expected a fraction or a number"),
        (["--validation", "0.2"], "--validation goes with --hold-out"),
        (["--force"], "--to and --force go with -o FOLDER"),
        (["--json", "-o", "x"], "a description is printed"),
        (["--leave-one-out", "--stratify", "relevance"], "--stratify: goes with"),
        (["--leave-one-out", "--seed", "1"], "nothing is random here"),
        (["--folds-file", "x", "--groups", "duplicates"], "--groups: goes with"),
        (["--bootstrap", "3", "--assignments", "-"], "does not assign every unit to one fold"),
        (
            ["--stratify", "kind"],
            "--stratify kind is unknown: expected 'labels', 'relevance', 'length'",
        ),
        (["--folds-file", "nowhere"], "nowhere"),
    ],
)
def test_what_cannot_be_is_refused_in_a_line(capsys, arguments, complaint):
    err = refused(capsys, "small", "--by", "query", *arguments)
    assert complaint in err
    assert "Traceback" not in err
    assert not Path("x").exists()


def test_by_both_takes_no_plan_of_one_kind(capsys):
    Path("ids").write_text("q1\n")
    assert "--by both needs" in refused(capsys, "small", "--by", "both", "--test-ids", "ids")
    assert "one kind" in refused(capsys, "small", "--by", "both", "--groups", "ids")


def test_small_strata_are_a_note_and_not_a_traceback(capsys):
    Path("q.jsonl").write_text(
        "".join(f'{{"_id": "q{n}", "text": "t", "kind": "{"ab"[n == 3]}"}}\n' for n in range(12))
    )
    given = ["small", "--queries", "q.jsonl", "--by", "query", "--folds", "3"]
    out = printed(capsys, *given, "--stratify", "kind")
    assert "'b': 1" in out.out
    assert "ResamplingWarning" not in out.err
    table = printed(capsys, *given, "--stratify", "kind", "--assignments", "-")
    assert "'b': 1" in table.err


@pytest.mark.skipif(not CRANFIELD.exists(), reason="the Cranfield collection is not here")
def test_cranfield(capsys):
    """On real data stratifying leaves fewer queries without a relevant document in a fold."""
    empty = []
    for more in ([], ["--stratify", "relevance"]):
        out = printed(capsys, str(CRANFIELD), "--by", "document", *more, "--json").out
        empty.append(sum(row["without_test"] for row in json.loads(out)["rows"]))
    assert empty[1] < 0.7 * empty[0]

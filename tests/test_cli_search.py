"""The commands index and search: what they print, write and refuse."""

import json
import math
import shlex
from pathlib import Path

import pytest

import heldout
from commands import refused
from heldout.cli import main
from heldout.retrieve.index import Index
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
    lines = [f"{one}\t{text}\n" for one, text in QUERIES.items()]
    (tmp_path / "queries.tsv").write_text("".join(lines))
    (tmp_path / "qrels").write_text("q1 0 d1 2\nq1 0 d2 1\nq2 0 d3 1\nq3 0 d4 1\n")
    return tmp_path


@pytest.fixture
def index(capsys):
    main(["index", "docs.jsonl", "-o", "docs.index"])
    capsys.readouterr()
    return "docs.index"


def found(capsys, *arguments):
    """Query, document and score of each line that search prints."""
    main(["search", *arguments])
    rows = [line.split() for line in capsys.readouterr().out.splitlines()]
    return [(row[0], row[2], float(row[4])) for row in rows]


class TestIndex:
    def test_prints_what_is_in_it(self, capsys):
        main(["index", "docs.jsonl", "-o", "docs.index"])
        printed = capsys.readouterr().out
        digest = heldout.read_collection("docs.jsonl", queries="queries.tsv").documents.digest
        opened = Index.open("docs.index")
        size = sum(file.stat().st_size for file in Path("docs.index").iterdir())
        assert printed == (
            "documents     4\n"
            "  length      4.8 terms on average, total 19\n"
            f"terms         {opened.n_terms}\n"
            f"postings      {opened.n_postings}\n"
            f"bytes         {size:,} ({size / opened.n_postings:.1f} per posting)\n"
            "analyzer      lower=yes, stop=none, stemmer=none, function=none\n"
            f"corpus        {digest}\n"
            f"fingerprint   {opened.fingerprint}\n"
        )
        main(["index", "docs.index", "--verify"])
        said = capsys.readouterr()
        assert said.out == printed
        assert "all checksums match" in said.err

    def test_takes_every_option_of_the_analyzer(self, capsys):
        Path("stop.txt").write_text("red green")
        main(
            shlex.split(
                "index docs.jsonl -o docs.index --stemmer english --stop stop.txt "
                "--keep-case --max-memory 2MB --jobs 1"
            )
        )
        capsys.readouterr()
        analyzer = Index.open("docs.index").analyzer
        assert analyzer == heldout.Analyzer(stemmer="english", stop=("green", "red"), lower=False)

    def test_replaces_an_index_only_when_told_and_no_other_file_ever(self, capsys, index):
        assert "--force" in refused(capsys, "index", "docs.jsonl", "-o", index)
        before = Index.open(index).fingerprint
        main(["index", "docs.jsonl", "-o", index, "--stemmer", "english", "--force"])
        assert Index.open(index).fingerprint != before
        capsys.readouterr()
        text = Path("docs.jsonl").read_bytes()
        said = refused(capsys, "index", "docs.jsonl", "-o", "docs.jsonl", "--force")
        assert "is not an index" in said
        assert Path("docs.jsonl").read_bytes() == text

    @pytest.mark.parametrize(
        ("arguments", "said"),
        [
            ("docs.jsonl", "-o FOLDER"),
            ("absent.jsonl -o x", "no such file"),
            ("docs.jsonl --verify", "nothing to verify"),
            ("docs.jsonl -o docs.jsonl/x", "cannot be written"),
            ("docs.jsonl -o x --max-memory much", "500MB"),
            ("docs.jsonl -o x --max-memory 10KB", "at least"),
            ("docs.jsonl -o x --jobs 0", "positive integer"),
            ("docs.jsonl -o x --stemmer klingon", "unknown stemmer 'klingon'"),
            ("docs.jsonl -o x --encoding nonsense", "nonsense"),
            ("docs.index -o x", "an index already"),
            ("docs.index --stemmer english", "own analyzer"),
        ],
    )
    @pytest.mark.usefixtures("index")
    def test_refuses(self, capsys, arguments, said, folder):
        before = sorted(folder.iterdir())
        assert said in refused(capsys, "index", *arguments.split())
        assert sorted(folder.iterdir()) == before

    def test_damage_is_named_with_the_file(self, capsys, index):
        file = Path(index) / "lengths.npy"
        whole = file.read_bytes()
        file.write_bytes(whole[:-4] + b"\1\1\1\1")
        assert "docs.index: the index is damaged" in refused(capsys, "index", index, "--verify")
        file.write_bytes(whole[:-10])
        assert "docs.index/lengths.npy: the file of the index" in refused(capsys, "index", index)


class TestRun:
    def test_is_what_the_library_gives(self, capsys):
        collection = heldout.Collection(DOCUMENTS, QUERIES)
        model = heldout.Model.make("bm25", k1=0.9)
        run = heldout.search(Index.build(collection), collection.queries, model)
        rows = found(capsys, *OPTIONS, "--model", "bm25(k1=0.9)")
        own = [
            (query, doc, score)
            for query, docs in run.to_dict().items()
            for doc, score in docs.items()
        ]
        assert rows == own
        assert rows

    @pytest.mark.parametrize("name", MODELS)
    def test_every_model_can_be_asked_for(self, capsys, name):
        rows = found(capsys, *OPTIONS, "--model", name)
        assert {query for query, _, _ in rows} >= {"q1"}

    def test_both_spellings_of_lambda(self, capsys):
        rows = found(capsys, *OPTIONS, "--model", "ql-jm(lam=0.9)")
        assert rows == found(capsys, *OPTIONS, "--model", "ql-jm(lambda=0.9)")
        assert rows != found(capsys, *OPTIONS, "--model", "ql-jm")

    def test_from_an_index_is_the_same(self, capsys, index):
        rows = found(capsys, *OPTIONS)
        assert found(capsys, index, "--queries", "queries.tsv") == rows
        assert found(capsys, *OPTIONS, "--index", index) == rows

    def test_the_analyzer_of_the_options_or_of_the_index_cuts_the_queries(self, capsys):
        rows = found(capsys, *OPTIONS, "--stemmer", "english")
        assert {doc for query, doc, _ in rows if query == "q2"} == {"d2", "d3", "d4"}
        main(["index", "docs.jsonl", "--stemmer", "english", "-o", "stems.index"])
        capsys.readouterr()
        assert found(capsys, "stems.index", "--queries", "queries.tsv") == rows

    def test_goes_to_a_file_that_eval_reads(self, capsys):
        main(["search", *OPTIONS, "-o", "a.run.gz"])
        main(["eval", "qrels", "a.run.gz", "-m", "P@1", "--quiet"])
        # q1 has d1 first, q2 finds nothing without stems, q3 has no known word: both count 0.
        assert capsys.readouterr().out == "run\tP@1\nbm25(k1=1.2,b=0.75)\t0.3333\n"
        main(["search", *OPTIONS, "-o", "a.parquet"])
        assert heldout.read_run("a.parquet").to_dict() == heldout.read_run("a.run.gz").to_dict()

    def test_says_which_queries_found_nothing(self, capsys):
        main(["search", *OPTIONS])
        said = capsys.readouterr()
        assert "not in the run: 2 (q2, q3)" in said.err
        assert "1 query, 2 rows" in said.err

    def test_depth(self, capsys):
        assert len(found(capsys, *OPTIONS, "-k", "1")) == 1
        assert len(found(capsys, *OPTIONS, "-k", "1000000000000")) == 2

    @pytest.mark.parametrize(
        ("arguments", "said"),
        [
            (["--model", "bm26"], "unknown model 'bm26': expected one of bm25"),
            (["--model", "bm25(k1"], "not a model"),
            (["--model", "bm25(mu=3)"], "bm25 has no parameter mu; it has k1, b and k3"),
            (["--model", "bm25(b=2)"], "outside 0 to 1"),
            (["-k", "0"], "positive integer"),
            (["--index", "absent.index"], "absent.index: not an index of heldout"),
            (["--index", "qrels"], "qrels: not an index of heldout"),
            (["--index", "docs.index", "--stop", "english"], "its own analyzer"),
            (["-o", "nowhere/a.run"], "cannot be written"),
        ],
    )
    @pytest.mark.usefixtures("index")
    def test_refuses(self, capsys, arguments, said):
        assert said in refused(capsys, "search", *OPTIONS, *arguments)

    def test_refuses_an_index_alone_without_queries_and_what_has_no_effect(self, capsys, index):
        assert "give --queries FILE" in refused(capsys, "search", index)
        assert "an index already" in refused(
            capsys, "search", index, "--query", "a", "--index", index
        )
        alone = ["search", index, "--queries", "queries.tsv"]
        assert "own analyzer" in refused(capsys, *alone, "--stemmer", "english")

    def test_refuses_an_index_of_other_documents(self, capsys, index):
        text = Path("docs.jsonl").read_text()
        # The ids, the number of documents and their lengths stay: only the text tells.
        Path("docs.jsonl").write_text(text.replace("trees", "weeds"))
        said = refused(capsys, "search", *OPTIONS, "--index", index)
        assert "is not an index of the documents that docs.jsonl has now" in said

    def test_refuses_when_nothing_is_found_and_leaves_no_file(self, capsys, folder):
        (folder / "none.tsv").write_text("q1\tzeppelin\n")
        said = refused(capsys, "search", "docs.jsonl", "--queries", "none.tsv", "-o", "a.run")
        assert "no document contains a word" in said
        assert not (folder / "a.run").exists()


class TestQuery:
    def test_shows_the_first_lines(self, capsys):
        main(["search", "docs.jsonl", "--query", "red pears plums"])
        lines = capsys.readouterr().out.splitlines()
        assert [line.split()[2:] for line in lines] == [
            ["d1", "Red", "apples"],
            ["d2", "Green", "apples,", "green", "pears,", "plums"],
            ["d3", "The", "PLUMS", "of", "the", "garden"],
        ]
        scores = [float(line.split()[1]) for line in lines]
        assert scores == sorted(scores, reverse=True)

    def test_an_index_alone_has_no_lines(self, capsys, index):
        main(["search", index, "--query", "red", "-k", "1"])
        assert capsys.readouterr().out.split()[::2] == ["1", "d1"]
        main(["search", "docs.jsonl", "--index", index, "--query", "red", "-k", "1"])
        assert capsys.readouterr().out.endswith("Red apples\n")

    def test_an_infinite_score_is_shown(self, capsys):
        main(["search", "docs.jsonl", "--query", "red plums", "--model", "ql-jm(lambda=1)"])
        scores = [float(line.split()[1]) for line in capsys.readouterr().out.splitlines()]
        assert scores == [-math.inf] * 3

    @pytest.mark.parametrize("words", ["zeppelin balloon", "...", ""])
    def test_without_a_known_word_is_refused(self, capsys, words):
        assert "no document contains a word" in refused(
            capsys, "search", "docs.jsonl", "--query", words
        )

    @pytest.mark.parametrize("more", [["-o", "a"], OPTIONS[1:]])
    def test_makes_no_run(self, capsys, more):
        assert "writes no run" in refused(capsys, "search", "docs.jsonl", "--query", "red", *more)


def test_models_are_listed_with_parameters_and_conventions(capsys):
    main(["list", "models"])
    printed = capsys.readouterr().out
    for name, form in MODELS.items():
        (line,) = [one for one in printed.splitlines() if one.split()[:1] == [name]]
        assert all(f"{key}={value:g}" in line for key, value in form.defaults)
    assert "lambda weighs the DOCUMENT" in printed

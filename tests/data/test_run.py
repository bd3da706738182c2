"""A run's order, its checks, its ways in and out, and the forms that it comes in."""

import gzip
import json
import os
from contextlib import suppress

import numpy as np
import pandas as pd
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

import heldout
from heldout import Qrels, Run, Scores, evaluate, read_run
from heldout.data.atomic import write_atomically
from heldout.data.ids import Ids
from heldout.data.run import BLOCK
from heldout.data.words import query_keys
from heldout.errors import FormatError
from refusals import refusal

QUERIES = ["q10", "q9", "q1"]
DOCS = [*"abcDef", "d10", "d9", "a" * 9, "a" * 9 + "b", "é", "z€"]
LONG = "http://example.org/" + "x" * 80

# Few scores, so that ties are the rule; one row for a pair of query and document.
ROWS = st.lists(
    st.tuples(
        st.sampled_from(QUERIES),
        st.sampled_from(DOCS),
        st.sampled_from([0.0, -0.0, 1.0, 1.5, -3.25, 1e-300]),
    ),
    min_size=1,
    max_size=30,
    unique_by=lambda row: row[:2],
)


def plain_order(rows, ties):
    """The same order by plain sorting: stable, the last key first."""
    ranked: dict[str, list[tuple[str, float]]] = {}
    for query, doc, score in rows:
        ranked.setdefault(query, []).append((doc, score))
    for docs in ranked.values():
        if ties != "input":
            docs.sort(key=lambda one: one[0].encode(), reverse=ties == "docid-desc")
        docs.sort(key=lambda one: -one[1])
    return ranked


def run_of(rows, **options):
    queries, docs, scores = zip(*rows, strict=True)
    return Run.of({"query": queries, "doc": docs, "score": scores}, **options)


@pytest.mark.parametrize("long", [False, True], ids=["short ids", "long ids"])
@pytest.mark.parametrize("ties", ["docid-desc", "docid-asc", "input"])
@given(rows=ROWS)
def test_order_is_that_of_a_plain_sort(ties, long, rows):
    rows = [*rows, ("q9", LONG, 1.0)] if long else rows
    run = run_of(rows, ties=ties)
    expected = plain_order(rows, ties)
    assert {query: list(docs.items()) for query, docs in run.to_dict().items()} == expected
    # Queries stand in the order of their first appearance, documents in that of the arrays.
    assert list(run.queries) == list(expected)
    assert run.docs.tolist() == [doc for docs in expected.values() for doc, _ in docs]


def test_single_precision_makes_scores_closer_than_it_a_tie():
    rows = [("q", "a", 1.00000001), ("q", "b", 1.0)]
    assert run_of(rows).docs.tolist() == ["a", "b"]
    assert "ties='random': expected one of docid-desc" in refusal(run_of, rows, ties="random")
    single = run_of(rows, single_precision=True)
    assert single.docs.tolist() == ["b", "a"]
    assert single.scores.tolist() == [1.0, 1.0]
    apart = [("q", "a", 1.000001), ("q", "b", 1.0)]
    assert run_of(apart, single_precision=True).docs.tolist() == ["a", "b"]


def test_a_run_cannot_be_changed_and_changes_nothing_it_was_given():
    for docs in (["a", "b", "c"], ["a", LONG, "c"]):
        scores = np.array([1.0, 2.0, 3.0])
        run = Run.of({"query": ["q"] * 3, "doc": docs, "score": scores})
        assert scores.tolist() == [1.0, 2.0, 3.0]
        scores[0] = 7.0
        assert run.scores.tolist() == [3.0, 2.0, 1.0]
        qrels = Qrels.of({"query": ["q"] * 3, "doc": docs, "grade": [1, 2, 0]})
        for array in (run.scores, run.offsets, qrels.grades, qrels.offsets, qrels.keys):
            with pytest.raises(ValueError, match="read-only"):
                array[0] = 0
        for ids in (run.docs, qrels.docs):
            with pytest.raises(ValueError, match="read-only"):
                ids.move(np.array([0]), np.array([1]))
        with pytest.raises(AttributeError):
            run.name = "other"


def test_a_document_twice_is_refused_by_query_and_document():
    for apart in (1, 5, 3 * BLOCK):
        for doc in ("twin", LONG):
            docs = [doc, *(f"d{number}" for number in range(apart)), doc]
            queries = ["before"] * 3 + ["q7"] * len(docs) + ["after"] * 3
            all_docs = ["x", "y", doc, *docs, "x", "y", doc]
            scores = np.arange(len(all_docs), 0, -1)
            with pytest.raises(FormatError, match=f"document {doc} appears twice for query q7"):
                Run.of({"query": queries, "doc": all_docs, "score": scores})


def test_other_rows_are_no_duplicates():
    count = 3 * BLOCK
    queries, docs = [f"q{row // 2}" for row in range(count)], ["a", "b"] * (count // 2)
    run = Run.of({"query": queries, "doc": docs, "score": [1.0] * count})
    assert len(run.queries) == count // 2
    a, b = ":wmYyfdm", "eKwxn;z?"  # with one key: 40 bits of their hashes are the same
    assert len(set(query_keys(Ids.of([a, b]).hashes(0, 2), np.zeros(2, np.int64)).tolist())) == 1
    assert run_of([("q", a, 2), ("q", b, 1)]).to_dict() == {"q": {a: 2.0, b: 1.0}}
    assert "appears twice" in refusal(run_of, [("q", a, 3), ("q", b, 2), ("q", a, 1)])


RANKED = {"q2": {"b": 2.5, "a": 1.0}, "q1": {"c": -1.0}}


ENDINGS = [".run", ".csv", ".tsv", ".json", ".parquet"]
FINITE = st.floats(allow_nan=False, allow_infinity=False)
ID = st.text(st.characters(codec="utf-8", categories=["L", "N", "S", "P"]), min_size=1, max_size=30)


@pytest.mark.parametrize("ending", ENDINGS)
@given(ranked=st.dictionaries(ID.filter(lambda name: name[0] not in "#{" ),
                              st.dictionaries(ID, FINITE, min_size=1, max_size=5),
                              min_size=1, max_size=4))  # fmt: skip
def test_what_is_written_is_read_back_to_the_last_bit(tmp_path_factory, ending, ranked):
    run = Run.of(ranked, "mine")
    path = tmp_path_factory.mktemp("written") / f"mine{ending}"
    run.write(path)
    run.write(path)  # again
    assert list(path.parent.iterdir()) == [path]
    back = read_run(path)
    assert back.name == "mine"
    assert list(back.queries) == list(run.queries)
    assert back.docs.tolist() == run.docs.tolist()
    assert back.scores.tobytes() == run.scores.tobytes()


def test_ids_with_marks_of_the_format_come_back_packed_or_not(tmp_path, packers):
    odd = {"a,b": {'quo"ted': 2.0, "two words": 1.0}, "tab\there": {"line": 1.0}}
    strange = {"#q": {"a": 1.0}, "{q": {"b": 1.0}}
    for ending in ENDINGS[1:]:
        for ranked in (odd, strange):
            Run.of(ranked).write(tmp_path / f"x{ending}")
            assert read_run(tmp_path / f"x{ending}").to_dict() == ranked, ending
    Run.of({"{q": {"a": 1.0}}).write(tmp_path / "x.run")
    assert read_run(tmp_path / "x.run").queries == ("{q",)
    for kind in ENDINGS[:4]:
        for ending in packers:
            path = tmp_path / f"x{kind}.{ending}"
            Run.of(RANKED).write(path)
            assert not path.read_bytes().startswith((b"q", b"{"))
            assert read_run(path).to_dict() == RANKED


def test_a_write_that_fails_leaves_the_old_file_and_nothing_else(write, tmp_path):
    path = write("mine.run", "old")
    with suppress(KeyboardInterrupt), write_atomically(path) as aside:
        aside.write_text("half of the new")
        raise KeyboardInterrupt
    assert list(tmp_path.iterdir()) == [path]
    assert path.read_text() == "old"
    # A killed process of the same number may have left its file.
    left = write(f".mine.run.{os.getpid()}.tmp", "half")
    Run.of(RANKED).write(path)
    assert (len(read_run(path)), left.read_text()) == (3, "half")
    for wrong in (tmp_path, ""):
        assert "is a directory, or empty" in refusal(Run.of(RANKED).write, wrong)
    assert "cannot be written (No such file" in refusal(Run.of(RANKED).write, tmp_path / "no/x")


def test_a_written_run_is_a_trec_run_with_its_name(tmp_path, write):
    path = tmp_path / "mine.run"
    Run.of(RANKED, "my run").write(path)
    lines = b"q2 Q0 b 1 2.5 my_run\nq2 Q0 a 2 1.0 my_run\nq1 Q0 c 1 -1.0 my_run\n"
    assert path.read_bytes() == lines
    assert (Run.of(path).name, Run.of(path, name="mine").name) == ("my_run", "mine")
    Run.of(RANKED, "").write(path)
    assert read_run(path).name == "run"
    for name in ("file.csv", "file.run.csv", "file.csv.gz", "file.TSV", "file"):
        path = write(name, "query_id,doc_id,score\nq1,a,1.0\nq1,b,2.5\n")
        assert (Run.of(path).name, Run.of(path, name="mine").name) == ("file", "mine")
    assert repr(Run.of(RANKED, "mine")) == "Run('mine', 2 queries, 3 rows)"


# Forms: told by content, with ids as they are meant

ONE = {"q1": {"b": 2.5, "a": 1.0}}
TEXTS = {
    "csv of PyTerrier": "qid,query,docno,rank,score\nq1,what?,a,1,1.0\nq1,what?,b,0,2.5\n",
    "csv with quotes": '"query_id","doc_id","score"\n"q1","a","1.0"\n"q1","b","2.5"\n',
    "csv of windows": "\ufeff# mine\r\nQID , DocNo , Score\r\nq1,a,1.0\r\nq1,b,2.5\r\n",
    "semicolons": "query_id;doc_id;score\nq1;a;1.0\nq1;b;2.5\n",
    "json with a mark and blanks": "\ufeff\n  " + json.dumps(ONE, indent=2),
    "trec": "q1 Q0 a 1 1.0 t\nq1 Q0 b 2 2.5 t\n",
}


def test_the_format_is_told_by_content(write, tmp_path, packers):
    for form, text in TEXTS.items():
        for packer in (bytes, *packers.values()):
            path = write("mine.dat", packer(text.encode()))  # the name says nothing here
            assert read_run(path).to_dict() == ONE, form
    Run.of(ONE).write(tmp_path / "x.parquet")
    packed = write("mine.dat", gzip.compress((tmp_path / "x.parquet").read_bytes()))
    assert read_run(packed).to_dict() == ONE


TRIPLES = [(10, 7, 2.5), (10, 8, 1.5), (20, 7, 0.5)]
RUN = {"10": {"7": 2.5, "8": 1.5}, "20": {"7": 0.5}}
QRELS = {"10": {"8": 1}, "20": {"7": 1}}
NAMES = ["query_id", "doc_id", "score"]


def forms(write, folder, spell):
    """One run in all forms, with ids spelled as `spell` makes them."""
    rows = [(spell(query), spell(doc), score) for query, doc, score in TRIPLES]
    columns = dict(zip(NAMES, map(list, zip(*rows, strict=True)), strict=True))
    nested = {}
    for query, doc, score in rows:
        nested.setdefault(query, {})[doc] = score
    if isinstance(spell(1), str):  # forms without types
        yield "trec", write("x.run", "".join(f"{q} Q0 {d} 1 {s} tag\n" for q, d, s in rows))
        quoted = [(f'"{query}"', f'"{doc}"', score) for query, doc, score in rows]
        for kind, mark, lines in (("csv", ",", [NAMES, *rows]), ("tsv", "\t", [NAMES, *quoted])):
            yield kind, write(f"{kind}.txt", "\n".join(mark.join(map(str, x)) for x in lines))
        yield "json", write("x.json", json.dumps(nested))
    lines = [json.dumps(dict(zip(NAMES, row, strict=True))) for row in rows]
    yield "json lines", write("x.jsonl", "\n".join(lines))
    pl.DataFrame(columns).write_parquet(folder / "x.parquet")
    yield from [("parquet", folder / "x.parquet"), ("pandas", pd.DataFrame(columns))]
    yield from [("polars", pl.DataFrame(columns)), ("columns", columns), ("nested", nested)]


def test_all_forms_give_the_same_run(write, tmp_path):
    for spell in (str, lambda number: f" {number}\t ", int, float):
        for form, source in forms(write, tmp_path, spell):
            assert Run.of(source).to_dict() == RUN, (form, spell(1))


def test_ids_that_pandas_wrote_as_floats_match(write, tmp_path):
    judged = {f"{q}.0": {f"{d}.0": g for d, g in inner.items()} for q, inner in QRELS.items()}
    for spell, qrels in ((lambda number: f"{number}.0", QRELS), (str, judged), (str, QRELS)):
        for form, source in forms(write, tmp_path, spell):
            if form != "columns":
                assert evaluate(qrels, source, "RR").per_unit("RR").tolist() == [0.5, 1.0], form


def test_ids_that_only_look_like_numbers_stay(write):
    # Parts of documents: all judged ones are first parts, but the run has others, too.
    run = {"q": {"7.1": 3.0, "7.0": 2.0, "7": 1.0}}
    assert evaluate({"q": {"7.0": 1}}, run, "RR").value("RR") == 0.5
    # Read as numbers they would lose their zeros.
    path = write("x.csv", "qid,docno,score\n007,0012,1\n")
    assert read_run(path).to_dict() == {"007": {"0012": 1.0}}


@pytest.mark.parametrize("frame", [pd.DataFrame, pl.DataFrame], ids=["pandas", "polars"])
def test_frames_are_taken_with_the_column_names_of_the_field_and_come_back(frame):
    columns = (["q2", "q1", "q2"], ["a", "c", "b"])
    ranked = {"q2": {"b": 2.5, "a": 1.0}, "q1": {"c": -1.0}}
    for query, doc in (("qid", "docno"), ("query_id", "doc_id")):
        # PyTerrier puts the text of the query into a column called "query": not its id.
        table = {"query": ["what", "why", "what"], query: columns[0], doc: columns[1]}
        run = Run.of(frame({**table, "score": [1.0, -1.0, 2.5]}), "mine")
        assert (run.to_dict(), run.name) == (ranked, "mine")
        back = run.to_frame(frame.__module__.split(".")[0])
        assert isinstance(back, frame)
        assert list(back.columns) == ["query_id", "doc_id", "rank", "score"]
        rows = list(zip(*(back[name].to_list() for name in back.columns), strict=True))
        assert rows == [("q2", "b", 1, 2.5), ("q2", "a", 2, 1.0), ("q1", "c", 1, -1.0)]
        assert Run.of(back).to_dict() == ranked
        assert "expected polars or pandas" in refusal(run.to_frame, "numpy")
        for grade in ("label", "relevance"):
            qrels = Qrels.of(frame({**table, grade: [2, -1, 0]}))
            assert qrels.to_frame().rows() == [("q1", "c", -1), ("q2", "a", 2), ("q2", "b", 0)]


def test_units_of_scores_and_predictions_are_written_alike(write):
    assert Scores.of({"A": {1.0: 0.5, 2.0: 0.1}, "B": {1: 0.4, " 2": 0.3}}).units == ("1", "2")
    truth, guesses = {1.0: "a", 2.0: "b"}, {"1": "a", "2": "a"}
    assert evaluate(truth, guesses, "accuracy").value("accuracy") == 0.5
    rows = [("1", "a", "a"), ("2", "b", "b"), ("3", "b", "a")]
    several = []
    for name, end in (("first.csv", ""), ("second.csv", ".0")):
        lines = [f"{unit}{end},{truth},{guess}\n" for unit, truth, guess in rows]
        path = write(name, "unit,truth,prediction\n" + "".join(lines))
        several += heldout.read_class_predictions(path)
    assert heldout.compare(several, measure="accuracy").scores.units == ("1", "2", "3")


def test_records_of_others_are_runs_and_judgements():
    class Record:
        def __init__(self, **fields):
            self.__dict__.update(fields)

    scored = [Record(query_id="q1", doc_id=d, score=s) for d, s in ONE["q1"].items()]
    assert Run.of(scored).to_dict() == ONE
    judged = [Record(query_id="q1", doc_id="a", relevance=2, iteration="7")]
    assert Qrels.of(iter(judged)).to_dict() == {"q1": {"a": 2}}
    assert Qrels.of(judged, subtopics=True).subtopics.names == ("7",)
    ranx_like = Record(to_dict=lambda: ONE, name="theirs")
    assert (Run.of(ranx_like).name, Run.of(ranx_like).to_dict()) == ("theirs", ONE)
    assert "expected a Run" in refusal(Run.of, object())

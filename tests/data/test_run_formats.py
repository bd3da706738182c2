"""A run is the same in every form: told by content, with ids as they are meant."""

import gzip
import json

import pandas as pd
import polars as pl
import pytest

import heldout
from heldout import Qrels, Run, Scores, evaluate, read_run
from refusals import refusal

RANKED = {"q1": {"b": 2.5, "a": 1.0}}
TEXTS = {
    "csv": "query_id,doc_id,score\nq1,a,1.0\nq1,b,2.5\n",
    "csv of PyTerrier": "qid,query,docno,rank,score\nq1,what?,a,1,1.0\nq1,what?,b,0,2.5\n",
    "csv with quotes": '"query_id","doc_id","score"\n"q1","a","1.0"\n"q1","b","2.5"\n',
    "csv of windows": "\ufeff# mine\r\nQID , DocNo , Score\r\nq1,a,1.0\r\nq1,b,2.5\r\n",
    "semicolons": "query_id;doc_id;score\nq1;a;1.0\nq1;b;2.5\n",
    "tsv": "query_id\tdoc_id\tscore\nq1\ta\t1.0\nq1\tb\t2.5\n",
    "json": json.dumps(RANKED),
    "json with a mark and blanks": "\ufeff\n  " + json.dumps(RANKED, indent=2),
    "trec": "q1 Q0 a 1 1.0 t\nq1 Q0 b 2 2.5 t\n",
}


def test_the_format_is_told_by_content(write, tmp_path, packers):
    for form, text in TEXTS.items():
        for packer in (bytes, *packers.values()):
            path = write("mine.dat", packer(text.encode()))  # the name says nothing here
            assert read_run(path).to_dict() == RANKED, form
    table = {"query_id": ["q1", "q1"], "doc_id": ["a", "b"], "score": [1.0, 2.5]}
    pl.DataFrame(table).write_parquet(tmp_path / "no-ending")
    packed = write("mine.dat", gzip.compress((tmp_path / "no-ending").read_bytes()))
    for path in (tmp_path / "no-ending", packed):
        assert read_run(path).to_dict() == RANKED


ROWS = [(10, 7, 2.5), (10, 8, 1.5), (20, 7, 0.5)]
RUN = {"10": {"7": 2.5, "8": 1.5}, "20": {"7": 0.5}}
QRELS = {"10": {"8": 1}, "20": {"7": 1}}
NAMES = ["query_id", "doc_id", "score"]


def forms(write, folder, spell):
    """One run in all forms, with ids spelled as `spell` makes them: first those without types."""
    columns = {
        "query_id": [spell(query) for query, _, _ in ROWS],
        "doc_id": [spell(doc) for _, doc, _ in ROWS],
        "score": [score for *_, score in ROWS],
    }
    rows = list(zip(*columns.values(), strict=True))
    nested = {}
    for query, doc, score in rows:
        nested.setdefault(query, {})[doc] = score
    if isinstance(spell(1), str):
        trec = "".join(f"{query} Q0 {doc} 1 {score} tag\n" for query, doc, score in rows)
        csv = [NAMES, *rows]
        tsv = [NAMES, *((f'"{query}"', f'"{doc}"', score) for query, doc, score in rows)]
        yield "trec", write("x.run", trec)
        for kind, mark, lines in (("csv", ",", csv), ("tsv", "\t", tsv)):
            content = "".join(mark.join(map(str, line)) + "\n" for line in lines)
            yield kind, write(f"{kind}.txt", content)
        yield "json", write("x.json", json.dumps(nested))
    lines = [json.dumps(dict(zip(NAMES, row, strict=True))) for row in rows]
    yield "json lines", write("x.jsonl", "\n".join(lines))
    pl.DataFrame(columns).write_parquet(folder / "x.parquet")
    yield "parquet", folder / "x.parquet"
    yield "pandas", pd.DataFrame(columns)
    yield "polars", pl.DataFrame(columns)
    yield "columns", columns
    yield "nested", nested


def test_all_forms_give_the_same_run(write, tmp_path):
    for spell in (str, lambda number: f" {number}\t ", int, float):
        for form, given in forms(write, tmp_path, spell):
            assert Run.of(given).to_dict() == RUN, (form, spell(1))


def test_ids_that_pandas_wrote_as_floats_match(write, tmp_path):
    ideal = evaluate(QRELS, RUN, "RR").per_unit("RR").tolist()
    assert ideal == [0.5, 1.0]
    judged = {f"{q}.0": {f"{d}.0": g for d, g in inner.items()} for q, inner in QRELS.items()}
    for form, given in forms(write, tmp_path, lambda number: f"{number}.0"):
        if form != "columns":
            assert evaluate(QRELS, given, "RR").per_unit("RR").tolist() == ideal, form
    for form, given in forms(write, tmp_path, str):
        if form != "columns":
            assert evaluate(judged, given, "RR").per_unit("RR").tolist() == ideal, form


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


def test_judgements_are_read_in_the_same_way(write, tmp_path):
    table = write("q.tsv", "query-id\tcorpus-id\tscore\n10 \t 8\t1\n20\t7 \t1\n")
    frame = pd.DataFrame({"qid": [10.0, 20.0], "docno": [" 8", "7"], "label": [1, 1]})
    pl.from_pandas(frame).write_parquet(tmp_path / "x")
    for given in (table, frame, tmp_path / "x"):
        assert Qrels.of(given).to_dict() == QRELS


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

    scored = [Record(query_id="q1", doc_id=d, score=s) for d, s in RANKED["q1"].items()]
    assert Run.of(scored).to_dict() == RANKED
    judged = [Record(query_id="q1", doc_id="a", relevance=2, iteration="7")]
    assert Qrels.of(iter(judged)).to_dict() == {"q1": {"a": 2}}
    assert Qrels.of(judged, subtopics=True).subtopics.names == ("7",)
    ranx_like = Record(to_dict=lambda: RANKED, name="theirs")
    assert (Run.of(ranx_like).name, Run.of(ranx_like).to_dict()) == ("theirs", RANKED)
    assert "expected a Run" in refusal(Run.of, object())

"""Input that once went wrong without a word, or with a traceback."""

import numpy as np
import pandas as pd
import polars as pl
import pytest
import zstandard

from heldout import InputError, Qrels, Run, read_qrels, read_run
from heldout.data.words import hash_fields, query_keys

# Two ids whose hashes agree in the 40 bits that go into a key (found by search).
TWINS = (":wmYyfdm", "eKwxn;z?")


def key_of(doc):
    data = np.frombuffer(doc.encode() + bytes(32), np.uint8)
    hashes = hash_fields(data, np.array([0]), np.array([len(doc)]))
    return int(query_keys(hashes, np.array([0]))[0])


def test_a_duplicate_is_found_though_another_document_has_its_key():
    a, b = TWINS
    assert key_of(a) == key_of(b)
    with pytest.raises(InputError, match="appears twice"):
        Run.from_columns(["q"] * 3, [a, b, a], [3, 2, 1])
    with pytest.raises(InputError, match="with grades 1 and 2"):
        Qrels.from_columns(["q"] * 3, [a, b, a], [1, 0, 2])
    assert Qrels.from_columns(["q"] * 3, [a, b, a], [1, 0, 1]).to_dict() == {"q": {a: 1, b: 0}}


def test_documents_with_one_key_are_told_apart():
    a, b = TWINS
    assert Run.from_columns(["q"] * 2, [a, b], [2, 1]).to_dict() == {"q": {a: 2.0, b: 1.0}}


def test_all_frames_of_a_zstd_file_are_read(tmp_path):
    pack = zstandard.ZstdCompressor().compress
    path = tmp_path / "two.zst"
    path.write_bytes(pack(b"q 0 a 1\n") + pack(b"q 0 b 2\n"))
    assert read_qrels(path).to_dict() == {"q": {"a": 1, "b": 2}}


@pytest.mark.parametrize("ranked", [{"q": {"a b": 1.0}}, {"#q": {"a": 1.0}}])
@pytest.mark.parametrize("ending", ["run", "qrels"])
def test_ids_that_a_trec_file_cannot_hold_are_not_written(tmp_path, ranked, ending):
    maker = Run if ending == "run" else Qrels
    with pytest.raises(InputError, match=r"is not allowed in a TREC file.*\.json"):
        maker.from_dict(ranked).write(tmp_path / f"x.{ending}")
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize(("name", "tag"), [("my run", "my_run"), ("", "run")])
def test_a_name_with_blanks_becomes_one_tag(tmp_path, name, tag):
    Run.from_dict({"q": {"a": 1.0}}, name).write(tmp_path / "x.run")
    assert read_run(tmp_path / "x.run").name == tag


@pytest.mark.parametrize("query", ["#q", "{q"])
def test_strange_query_ids_survive_a_csv_file(tmp_path, query):
    ranked = {query: {"a": 1.0}, "r": {"b": 1.0}}
    Run.from_dict(ranked).write(tmp_path / "x.csv")
    assert read_run(tmp_path / "x.csv").to_dict() == ranked


@pytest.mark.parametrize("ending", [".gz", ".xz", ".bz2", ".zst"])
@pytest.mark.parametrize("kind", [".run", ".csv", ".json"])
def test_an_ending_of_a_packed_file_packs(tmp_path, kind, ending):
    path = tmp_path / f"x{kind}{ending}"
    run = Run.from_dict({"q": {"a": 2.0, "b": 1.0}})
    run.write(path)
    assert not path.read_bytes().startswith((b"q", b"{"))
    assert read_run(path).to_dict() == run.to_dict()


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ('{"q": {"a": 1, "a": 2}}', r": the name 'a' appears twice"),
        ('{"q": {"a": 1}, "q": {"b": 2}}', r": the name 'q' appears twice"),
        ('{"q": {"\\ud800": 1}}', "not valid Unicode"),
        ('{"\\ud800": {"a": 1}}', "not valid Unicode"),
    ],
)
def test_strange_json_is_refused_in_words(tmp_path, content, message):
    (tmp_path / "x.json").write_text(content)
    with pytest.raises(InputError, match=message):
        read_run(tmp_path / "x.json")


def test_a_table_with_one_column_twice_is_refused(tmp_path):
    (tmp_path / "x.csv").write_text("query_id,doc_id,score,Score\nq,a,1,2\n")
    with pytest.raises(InputError, match=r"x\.csv:1: two columns are named 'score' .*3 and 4"):
        read_run(tmp_path / "x.csv")


def test_a_parquet_table_with_lists_is_refused(tmp_path):
    frame = pl.DataFrame({"query_id": [["q"]], "doc_id": ["a"], "score": [1.0]})
    frame.write_parquet(tmp_path / "x.parquet")
    with pytest.raises(InputError, match="the Parquet file cannot be read"):
        read_run(tmp_path / "x.parquet")


def test_line_numbers_count_the_comments_above_a_header(tmp_path):
    (tmp_path / "x.csv").write_text("# one\n# two\nquery_id,doc_id,score\nq,a,1\nq,b,x\n")
    with pytest.raises(InputError, match=r"x\.csv:5: 'x' is not a number"):
        read_run(tmp_path / "x.csv")


@pytest.mark.parametrize(
    "frame",
    [
        pl.DataFrame({"qid": ["q"], "docno": [None], "score": [1.0]}),
        pd.DataFrame({"qid": [float("nan")], "docno": ["a"], "score": [1.0]}),
    ],
)
def test_a_missing_id_in_a_frame_is_refused(frame):
    with pytest.raises(InputError, match="id in row 1 is missing or empty"):
        Run.from_frame(frame)


def test_grades_and_scores_that_do_not_fit_are_refused():
    with pytest.raises(InputError, match="too large"):
        Qrels.from_dict({"q": {"a": 10**300}})
    with pytest.raises(InputError, match="too large for a 32-bit float"):
        Run.from_dict({"q": {"a": 1e300}}, single_precision=True)


def test_joined_files_keep_count_of_repeated_judgements(tmp_path):
    (tmp_path / "one").write_text("q 0 a 1\nq 0 a 1\n")
    (tmp_path / "two").write_text("q 0 a 1\nr 0 b 1\n")
    assert read_qrels(tmp_path / "one", tmp_path / "two").repeated == 2


def test_a_duplicate_with_a_no_break_space_is_located(tmp_path):
    (tmp_path / "x.run").write_text("q Q0 a\u00a0b 1 2 t\nq Q0 a\u00a0b 2 1 t\n", encoding="utf-8")
    with pytest.raises(InputError, match=r"x\.run:2: .*first in line 1"):
        read_run(tmp_path / "x.run")

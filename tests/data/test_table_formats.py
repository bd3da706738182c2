"""CSV, TSV, JSON and Parquet: found out by content, read by column name, refused in words."""

import bz2
import gzip
import json
import lzma

import polars as pl
import pytest
import zstandard

from heldout import InputError, read_qrels, read_run

RANKED = {"q1": {"b": 2.5, "a": 1.0}}


def saved(folder, content, name="mine.dat"):
    path = folder / name
    path.write_bytes(content if isinstance(content, bytes) else content.encode())
    return path


def parquet(folder, table, name="mine.parquet"):
    pl.DataFrame(table).write_parquet(folder / name)
    return folder / name


TEXTS = {
    "csv": "query_id,doc_id,score\nq1,a,1.0\nq1,b,2.5\n",
    "csv of PyTerrier": "qid,query,docno,rank,score\nq1,what?,a,1,1.0\nq1,what?,b,0,2.5\n",
    "csv with quotes": '"query_id","doc_id","score"\n"q1","a","1.0"\n"q1","b","2.5"\n',
    "csv in capitals": "QID , DocNo , Score\nq1,a,1.0\nq1,b,2.5\n",
    "csv of windows": "query_id,doc_id,score\r\nq1,a,1.0\r\nq1,b,2.5\r\n",
    "csv with a mark": "\ufeffquery_id,doc_id,score\nq1,a,1.0\nq1,b,2.5\n",
    "csv with a comment": "# mine\nquery_id,doc_id,score\nq1,a,1.0\nq1,b,2.5\n",
    "tsv": "query_id\tdoc_id\tscore\nq1\ta\t1.0\nq1\tb\t2.5\n",
    "json": json.dumps(RANKED),
    "json with blanks": "\n  " + json.dumps(RANKED, indent=2),
    "json with a mark": "\ufeff" + json.dumps(RANKED),
    "trec": "q1 Q0 a 1 1.0 t\nq1 Q0 b 2 2.5 t\n",
}
PACKERS = {
    "plain": bytes,
    "gz": gzip.compress,
    "xz": lzma.compress,
    "bz2": bz2.compress,
    "zst": zstandard.ZstdCompressor().compress,
}


@pytest.mark.parametrize("packer", PACKERS.values(), ids=PACKERS)
@pytest.mark.parametrize("text", TEXTS.values(), ids=TEXTS)
def test_the_format_is_told_by_content(tmp_path, text, packer):
    # The name says nothing here.
    assert read_run(saved(tmp_path, packer(text.encode()))).to_dict() == RANKED


def test_a_parquet_table_is_told_by_content(tmp_path):
    table = {"query_id": ["q1", "q1"], "doc_id": ["a", "b"], "score": [1.0, 2.5]}
    path = parquet(tmp_path, table, "no-ending")
    assert read_run(path).to_dict() == RANKED
    assert read_run(saved(tmp_path, gzip.compress(path.read_bytes()))).to_dict() == RANKED


def test_number_ids_of_a_parquet_table_become_text(tmp_path):
    path = parquet(tmp_path, {"qid": [301], "docno": [7], "label": [2]})
    assert read_qrels(path).to_dict() == {"301": {"7": 2}}


def test_number_ids_of_a_csv_table_stay_as_they_are_written(tmp_path):
    # Read as numbers they would lose their zeros.
    path = saved(tmp_path, "qid,docno,score\n007,0012,1\n")
    assert read_run(path).to_dict() == {"007": {"0012": 1.0}}


@pytest.mark.parametrize("name", ["mine.csv", "mine.run.csv", "mine.csv.gz", "mine.TSV", "mine"])
def test_a_table_is_named_after_its_file_without_endings(tmp_path, name):
    assert read_run(saved(tmp_path, TEXTS["csv"], name)).name == "mine"


def test_ids_with_marks_of_the_format_come_back_from_tables(tmp_path):
    ranked = {"a,b": {'quo"ted': 2.0, "two words": 1.0}, "tab\there": {"line": 1.0}}
    for ending in ("csv", "tsv", "json", "parquet"):
        from_first = read_run(saved(tmp_path, json.dumps(ranked)))
        from_first.write(tmp_path / f"again.{ending}")
        assert read_run(tmp_path / f"again.{ending}").to_dict() == ranked


BROKEN = {
    "no score column": ("query_id,doc_id,points\nq,a,1\n", "no column for the score"),
    "no doc column": ("query_id,text,score\nq,a,1\n", "no column for the doc"),
    "no number": (
        "query_id,doc_id,score\nq,a,1\nq,b,high\n",
        r"mine\.dat:3: 'high' is not a number",
    ),
    "empty number": ("query_id,doc_id,score\nq,a,1\nq,b,\n", r"mine\.dat:3: no score"),
    "empty id": ("query_id,doc_id,score\nq,a,1\nq,,1\n", r"mine\.dat:3: no doc"),
    "short row": ("query_id,doc_id,score\nq,a\n", r"mine\.dat:2: 2 cells, but the header has 3"),
    "long row": ("query_id,doc_id,score\nq,a,1,2\n", r"mine\.dat:2: 4 cells, but the header has 3"),
    "open quote": ('query_id,doc_id,score\nq,"a,1\nq,b,2\n', r"mine\.dat:2: .* never closed"),
    "nan": ("query_id,doc_id,score\nq,a,nan\n", r"mine\.dat:2: 'nan' is not a finite number"),
    "inf": ("query_id,doc_id,score\nq,a,inf\n", r"mine\.dat:2: 'inf' is not a finite number"),
    "header only": ("query_id,doc_id,score\n", r"mine\.dat: .*no rows"),
    "twice": ("query_id,doc_id,score\nq,a,1\nq,a,2\n", r"mine\.dat: .*document a appears twice"),
    "zero byte": ("query_id,doc_id,score\nq,a\0,1\n", r"mine\.dat:2: not a text file"),
    "bad json": ('{"q": {"a": 1},\n "r"}', r"mine\.dat:2: not JSON"),
    "json cut short": ('{"q": {"a": 1', r"mine\.dat:1: not JSON"),
    "json without documents": ('{"q": 3}', "query 'q' has int, expected an object"),
    "json with a list": ('{"q": ["a", "b"]}', "query 'q' has list, expected an object"),
    "json with text": ('{"q": {"a": "1"}}', "query 'q', document 'a': '1' is not a number"),
    "json with a truth": ('{"q": {"a": true}}', "query 'q', document 'a': True is not a number"),
    "json with null": ('{"q": {"a": null}}', "query 'q', document 'a': None is not a number"),
    "json with nan": ('{"q": {"a": NaN}}', r"mine\.dat: .*not a finite number"),
    "json without rows": ("{}", r"mine\.dat: .*no rows"),
}


@pytest.mark.parametrize(("text", "message"), BROKEN.values(), ids=BROKEN)
def test_a_broken_table_is_refused_in_words(tmp_path, text, message):
    with pytest.raises(InputError, match=message):
        read_run(saved(tmp_path, text))


@pytest.mark.parametrize("text", ["query_id,doc_id,score\nq,é,1\n", '{"q": {"é": 1}}'])
def test_tables_that_are_not_utf8_are_refused(tmp_path, text):
    with pytest.raises(InputError, match=r"(?i)utf-?8"):
        read_run(saved(tmp_path, text.encode("latin1")))


def test_a_gap_in_a_parquet_table_is_named_by_row(tmp_path):
    path = parquet(tmp_path, {"qid": ["q", "q"], "docno": ["a", None], "score": [1.0, 2.0]})
    with pytest.raises(InputError, match=r"mine\.parquet, row 2: no doc"):
        read_run(path)


@pytest.mark.parametrize("keep", [5, 60, -1])
def test_a_parquet_table_that_was_cut_short_is_refused(tmp_path, keep):
    whole = parquet(tmp_path, {"qid": ["q"], "docno": ["a"], "score": [1.0]}).read_bytes()
    with pytest.raises(InputError, match=r"mine\.dat: the Parquet file cannot be read"):
        read_run(saved(tmp_path, whole[:keep]))

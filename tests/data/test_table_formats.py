"""CSV, TSV, JSON and Parquet: found out by content, read by column name, refused in words."""

import bz2
import gzip
import json
import lzma

import polars as pl
import pytest
import zstandard

from heldout import read_qrels, read_run

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

"""Documents that come as records (JSON lines, tables, Parquet, TREC), and files of queries."""

import gzip
import json
import re
from unittest.mock import Mock

import polars as pl
from hypothesis import given
from hypothesis import strategies as st

from heldout import read_collection
from heldout.data import document_files, files
from heldout.data.document_files import (
    json_records,
    markup_text,
    parquet_records,
    table_records,
    trec_records,
)
from heldout.data.documents import FileDocuments
from heldout.data.files import Reading, decode_text, json_object
from heldout.data.queries import read_queries
from refusals import refusal

ROWS = [
    ("a", "A title", 'text with "quotes", commas'),
    ("b", "", "two\nlines é"),
    ("c", "only", ""),
]
TEXTS = ['A title\ntext with "quotes", commas', "two\nlines é", "only"]


def json_lines(rows, *, one="_id", text="text"):
    return "".join(json.dumps({one: i, "title": t, text: x}) + "\n" for i, t, x in rows)


def documents(path, records, *reading):
    found = FileDocuments([str(path)], Reading(*reading), records)
    len(found)  # reads them
    return found


def sources(tmp_path, write):
    yield write("plain.jsonl", json_lines(ROWS))
    yield write("packed.jsonl.gz", gzip.compress(json_lines(ROWS, one="id").encode()))
    yield write("contents.jsonl", "\n" + json_lines(ROWS, one="docid", text="contents"))
    frame = pl.DataFrame(ROWS, schema=["docno", "title", "body"], orient="row")
    for name, separator in (("t.csv", ","), ("t.tsv", "\t")):
        frame.write_csv(tmp_path / name, separator=separator)
        yield tmp_path / name
        yield write(f"blank-{name}", b"\n" + (tmp_path / name).read_bytes())
    frame.write_parquet(tmp_path / "t.parquet", row_group_size=2)
    yield tmp_path / "t.parquet"
    trec = "".join(
        f"<DOC>\n<DOCNO> {i} </DOCNO>\n<TITLE>{t}</TITLE><TEXT>\n{x}\n</TEXT>\n</DOC>\n\n"
        for i, t, x in ROWS
    )
    yield write("t.trec", trec)
    xml = f'<?xml version="1.0"?>\n<docs>{trec.lower()}</docs>'.replace("a t", "A t")
    yield write("t.xml", xml)


def test_every_format_gives_the_same_documents(tmp_path, write):
    queries = write("queries.tsv", "1\ta query\n")
    qrels = write("judged.txt", "1 0 a 1\n1 0 c 0\n")
    prints = set()
    for path in sources(tmp_path, write):
        whole = read_collection(path, queries=queries, qrels=qrels)
        found = whole.documents
        assert [found.text(number) for number in (2, 0, 1)] == [TEXTS[2], TEXTS[0], TEXTS[1]], path
        assert list(found.ids) == ["a", "b", "c"]
        batches = list(found.batches(20))
        assert [text for batch in batches for _, text in batch.pairs()] == TEXTS
        assert [len(batch.text) for batch in batches] == [34, 16]
        assert [len(batch.text) for batch in found.batches(15)] == [34, 12, 4]
        prints.add(whole.fingerprint())
        chosen = read_collection(path, queries=queries, fields=["title"]).documents
        assert [text for _, text in chosen.pairs()] == ["A title", "", "only"]
        said = refusal(read_collection, path, queries=queries, fields=["absent"])
        assert re.search("no (field|column|document).*absent", said), path
        if path.suffix in {".csv", ".tsv", ".parquet"}:  # other records may lack one
            said = refusal(read_collection, path, queries=queries, fields=["title", "absent"])
            assert "no field 'absent'" in said
    assert len(prints) == 1
    # Several files are one collection.
    folder = write("parts/2.jsonl", json_lines(ROWS[1:])).parent
    write("parts/1.jsonl.gz", gzip.compress(json_lines(ROWS[:1]).encode()))
    found = read_collection(folder, queries=queries).documents
    assert [found.text(number) for number in range(3)] == TEXTS


def test_lists_numbers_null_and_latin_are_understood(write):
    path = write("bad.jsonl", b'\n{"_id": "x", "text": "\xe9"}\n')
    assert documents(path, json_records, "latin-1").text(0) == "é"
    path = write("odd.jsonl", '{"id": 12, "title": null, "contents": ["one", "two"]}\n')
    assert list(documents(path, json_records).pairs()) == [("12", "one\ntwo")]
    # Without a header a table is taken as it is.
    found = documents(write("collection.tsv", 'd1\tsays "hello\nd2\tbye\n'), table_records)
    assert list(found.pairs()) == [("d1", 'says "hello'), ("d2", "bye")]


NAMES = ["_id", "id", "docno", "text", "contents", "body", "title", "other"]
ODD = st.sampled_from(["a\0b", "\ud800", "é", "\r", "\u2028", " x "])
SHORT = st.text(max_size=6)
VALUES = st.one_of(SHORT, st.integers(), st.none(), st.booleans(), st.lists(SHORT, max_size=2), ODD)
PLAIN = [b'{"_id": "a", "text": "b"}', b'{"id": 1}', b"[]", b"1", b'{"_id"', b"{}"]
BEFORE = st.sampled_from([b"", b" ", b"\xef\xbb\xbf", b"\t"])
BEHIND = st.sampled_from([b"", b"\r", b" ", b"x", b"{}", b"\xff", b"\x0b", b"\xc2\xa0"])
LINES = st.one_of(
    st.dictionaries(st.sampled_from(NAMES), VALUES, max_size=6).map(json.dumps).map(str.encode),
    st.tuples(BEFORE, st.sampled_from(PLAIN), BEHIND).map(b"".join),
    st.binary(max_size=20),
)


@given(LINES)
def test_a_quick_look_at_a_json_line_finds_the_same_or_nothing(raw):
    usual = b'{"_id": "a", "title": "t", "text": "b", "metadata": {"x": [1]}}\r'
    assert document_files._plain_document(usual) == ("a", b"t\nb")
    for line in (raw, usual):
        quick = document_files._plain_document(line)
        if quick is not None:
            careful = json_object(decode_text(line, "file"), "file", 1)
            assert quick == document_files._document(careful, None, "file:1")


TEN = {
    "c.jsonl": '{"_id": 10.0, "text": "x"}',
    "d.jsonl": '{"_id": "10\\u00a0", "title": "", "text": "x"}',
    "d.csv": "docno,text\n 10 ,x\n",
    "d.trec": "<DOC><DOCNO> 10 </DOCNO>x</DOC>",
}


def test_ids_have_no_blanks_around_them(write, tmp_path):
    queries = write("q.jsonl", '{"_id": " 1 ", "text": "a query"}')
    qrels = write("j", "1 0 10 1\n")
    pl.DataFrame({"docno": [10.0, 2.5], "text": [" a ", "b"]}).write_parquet(tmp_path / "x")
    found = documents(tmp_path / "x", parquet_records)
    assert list(found.pairs()) == [("10", " a "), ("2.5", "b")]
    for name, content in TEN.items():
        found = read_collection(write(name, content), queries=queries, qrels=qrels)
        assert (found.documents.ids[:], found.queries.ids) == (["10"], ("1",)), name
        assert found.qrels.to_dict() == {"1": {"10": 1}}


def test_notes_are_known_after_any_reading(write):
    read = Mock(side_effect=json_records)
    path = write("d.jsonl", '{"_id": "a", "text": ""}\n{"_id": "b", "text": "x"}\n')
    found = FileDocuments([str(path)], Reading(), read)
    assert sum(len(batch) for batch in found.batches(1)) == 2
    assert [note.text for note in found.notes] == ["empty documents: 1 (a)"]
    assert read.call_count == 1
    assert FileDocuments([str(path)], Reading(), json_records).notes == found.notes


TREC = """\
<DOC>
<DOCNO> AP-1 </DOCNO>
<HEAD>A &amp; B</HEAD>
<!-- a comment <P> -->
<TEXT>
<P>one < two &unknown; AT&T</P> three &#233; <![CDATA[<kept> & so]]>
</TEXT>
</DOC>
junk between
<DOC><DOCNO>AP-2</DOCNO></DOC>
"""


def test_trec_markup_is_taken_out(write, monkeypatch):
    path = write("t.sgml", TREC)
    found = documents(path, trec_records)
    expected = "A & B\none < two &unknown; AT&T\n three é <kept> & so"
    assert list(found.pairs()) == [("AP-1", expected), ("AP-2", "")]
    assert found.text(1) == ""
    assert [note.text for note in found.notes] == ["empty documents: 1 (AP-2)"]
    assert documents(path, trec_records, "utf-8", ("head",)).text(0) == "A & B"
    assert markup_text("a < b > c & d; &copy=1") == "a < b > c & d; &copy=1"
    attribute = write("t.xml", '<DOC id="NYT-1" type="story"><P>x</P></DOC>')
    assert list(documents(attribute, trec_records).pairs()) == [("NYT-1", "x")]
    small = files.blocks  # documents may lie across blocks
    monkeypatch.setattr(
        document_files, "blocks", lambda path, begin=0, line=1: small(path, begin, line, 7)
    )
    cut = documents(path, trec_records)
    assert list(cut.pairs()) == list(found.pairs())
    assert cut.text(0) == expected
    assert [line for *_, line in trec_records(str(path), 0, Reading())] == [1, 10]


CLASSIC = """
<top>
<num> Number: 051
<title> Topic: Airbus
  Subsidies

<desc> Description:
How much &amp; why?
<narr> Narrative:
Relevant is all.
</top>
<top><num> Number: 052 <title> Other <desc> Description: </top>
"""


def test_topics_of_trec(write):
    path = write("topics.txt", CLASSIC)
    found = read_queries(path, Reading())
    assert found.to_dict() == {"051": "Airbus Subsidies", "052": "Other"}
    assert found.fields["description"] == ("How much & why?", "")
    assert read_queries(path, Reading(), field="narrative").texts == ("Relevant is all.", "")
    said = refusal(read_queries, path, Reading(), field="x")
    assert re.search(r"topics\.txt: .*no field 'x'; they have title", said)
    covid = "<query>covid</query>\n<question>what?</question><narrative>all</narrative>"
    path = write("topics.xml", f'<topics><topic number="1">{covid}</topic></topics>')
    found = read_queries(path, Reading(), field="title+description+narrative")
    assert found.to_dict() == {"1": "covid what? all"}


def test_queries_come_in_many_forms(write):
    for content in (
        '{"_id": "1", "text": "one", "metadata": {}}\n{"_id": "2", "text": ""}\n',
        "1\tone\n2\t\n",
        "qid,query\n1,one\n2,\n",
    ):
        found = read_queries(write("queries", content), Reading())
        assert found.to_dict() == {"1": "one", "2": ""}, content
        assert [note.code for note in found.notes()] == ["empty-queries"]
    lines = read_queries(write("queries", "one\r\ntwo\n"), Reading(), first_line=5)
    assert lines.to_dict() == {"5": "one", "6": "two"}

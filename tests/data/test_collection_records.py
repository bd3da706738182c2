"""Documents that come as records: JSON lines, CSV, TSV, Parquet, TREC; and files of queries."""

import gzip
import json

import polars as pl
import pytest

from heldout import InputError, read_collection
from heldout.data import files as blocks_module
from heldout.data.document_files import (
    json_records,
    markup_text,
    parquet_records,
    table_records,
    trec_records,
)
from heldout.data.documents import FileDocuments
from heldout.data.files import Reading
from heldout.data.queries import read_queries
from heldout.errors import FormatError

ROWS = [
    ("a", "A title", 'text with "quotes", commas'),
    ("b", "", "two\nlines é"),
    ("c", "only", ""),
]
TEXTS = ['A title\ntext with "quotes", commas', "two\nlines é", "only"]


@pytest.fixture
def write(tmp_path):
    def to(name, content):
        path = tmp_path / name
        path.write_bytes(content if isinstance(content, bytes) else content.encode())
        return str(path)

    return to


def json_lines(rows, *, one="_id", text="text"):
    return "".join(json.dumps({one: i, "title": t, text: x}) + "\n" for i, t, x in rows)


def frame():
    return pl.DataFrame(ROWS, schema=["docno", "title", "body"], orient="row")


def sources(tmp_path, write):
    yield write("plain.jsonl", json_lines(ROWS))
    yield write("packed.jsonl.gz", gzip.compress(json_lines(ROWS, one="id").encode()))
    yield write("contents.jsonl", "\n" + json_lines(ROWS, one="docid", text="contents"))
    for name, separator in (("t.csv", ","), ("t.tsv", "\t")):
        frame().write_csv(tmp_path / name, separator=separator)
        yield str(tmp_path / name)
    frame().write_parquet(tmp_path / "t.parquet", row_group_size=2)
    yield str(tmp_path / "t.parquet")
    trec = "".join(
        f"<DOC>\n<DOCNO> {i} </DOCNO>\n<TITLE>{t}</TITLE><TEXT>\n{x}\n</TEXT>\n</DOC>\n\n"
        for i, t, x in ROWS
    )
    yield write("t.trec", trec)
    yield write(
        "t.xml", f'<?xml version="1.0"?>\n<docs>{trec.lower()}</docs>'.replace("a t", "A t")
    )


def test_every_format_gives_the_same_documents(tmp_path, write):
    queries = write("queries.tsv", "1\ta query\n")
    qrels = write("judged.txt", "1 0 a 1\n1 0 c 0\n")
    prints = set()
    for path in sources(tmp_path, write):
        found = read_collection(path, queries=queries, qrels=qrels)
        assert [found.documents.text(number) for number in (2, 0, 1)] == [
            TEXTS[2],
            TEXTS[0],
            TEXTS[1],
        ], path
        assert list(found.documents.ids) == ["a", "b", "c"]
        batches = list(found.documents.batches(20))
        assert [text for batch in batches for _, text in batch.pairs()] == TEXTS
        assert len(batches) == 2
        assert [len(batch.text) for batch in found.documents.batches(15)] == [34, 12, 4]
        prints.add(found.fingerprint())
    assert len(prints) == 1


def test_several_files_are_one_collection(tmp_path, write):
    folder = tmp_path / "parts"
    folder.mkdir()
    (folder / "2.jsonl").write_text(json_lines(ROWS[1:]))
    (folder / "1.jsonl.gz").write_bytes(gzip.compress(json_lines(ROWS[:1]).encode()))
    found = read_collection(folder, queries=write("q.tsv", "1\tx\n")).documents
    assert [found.text(number) for number in range(3)] == TEXTS


def test_fields_can_be_chosen(tmp_path, write):
    queries = write("queries.tsv", "1\ta query\n")
    for path in sources(tmp_path, write):
        found = read_collection(path, queries=queries, fields=["title"]).documents
        assert [text for _, text in found.pairs()] == ["A title", "", "only"]
        with pytest.raises(InputError, match=r"no (field|column|document).*absent"):
            read_collection(path, queries=queries, fields=["absent"])


@pytest.mark.parametrize(
    ("line", "complaint"),
    [
        ('{"_id": "x"', r":2: not JSON \(Expecting"),
        ("[1]", ":2: expected a JSON object, found list"),
        ('{"text": "x"}', ":2: no id: expected one of _id, id"),
        ('{"_id": "x", "txt": "y"}', ":2: no text: expected one of text, .*found _id, txt"),
        ('{"_id": null, "text": ""}', ":2: the id None is NoneType"),
        ('{"_id": true, "text": ""}', ":2: the id True is bool"),
        ('{"_id": 1.5, "text": ""}', ":2: the id 1.5 is float"),
        ('{"_id": NaN, "text": ""}', ":2: the id nan is float"),
        ('{"_id": Infinity, "text": ""}', ":2: the id inf is float"),
        ('{"_id": " ", "text": "y"}', ":2: the document has an empty id"),
        ('{"_id": "x", "text": 5}', ":2: the field 'text' is int"),
        ('{"_id": "", "text": "y"}', ":2: the document has an empty id"),
        (
            '{"_id": "a", "text": "y"}',
            r":2: the document id 'a' appears twice \(first at .*:1",
        ),
        ('{"_id": "x", "text": "\\ud800"}', ":2: .*surrogate"),
        ('{"_id": "\\ud800", "text": ""}', ":2: .*not valid Unicode"),
        ('{"_id": "a\\u0000", "text": ""}', ":2: the id has a zero byte"),
    ],
)
def test_bad_json_lines_are_named(write, line, complaint):
    path = write("bad.jsonl", json_lines(ROWS[:1]) + line + "\n")
    with pytest.raises(FormatError, match=complaint):
        len(FileDocuments([path], Reading(), json_records))


def test_wrong_bytes_in_json_are_named(write):
    path = write("bad.jsonl", json_lines(ROWS[:1]).encode() + b'{"_id": "x", "text": "\xe9"}\n')
    with pytest.raises(FormatError, match=r"bad\.jsonl:2: byte 0xe9 .*encoding='latin-1'"):
        len(FileDocuments([path], Reading(), json_records))
    assert FileDocuments([path], Reading("latin-1"), json_records).text(1) == "é"
    halves = write("half.jsonl", '{"_id": "x", "text": "a\\ud800b"}\n')
    with pytest.raises(FormatError, match=r"half\.jsonl:1: .*half of a surrogate pair"):
        len(FileDocuments([halves], Reading(), json_records))


def test_lists_numbers_and_null_are_understood(write):
    path = write("odd.jsonl", '{"id": 12, "title": null, "contents": ["one", "two"]}\n')
    found = FileDocuments([path], Reading(), json_records)
    assert list(found.pairs()) == [("12", "one\ntwo")]


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("d.jsonl", '{"_id": " 10 ", "text": "x"}'),
        ("d.jsonl", '{"_id": 10, "text": "x"}'),
        ("d.jsonl", '{"_id": 10.0, "text": "x"}'),
        ("d.jsonl", '{"_id": "10\\u00a0", "title": "", "text": "x"}'),
        ("d.csv", "docno,text\n 10 ,x\n"),
        ("d.tsv", " 10 \tx\n"),
        ("d.trec", "<DOC><DOCNO> 10 </DOCNO>x</DOC>"),
    ],
)
def test_ids_have_no_blanks_around_them(write, name, content):
    queries = write("q.jsonl", '{"_id": " 1 ", "text": "a query"}')
    found = read_collection(write(name, content), queries=queries, qrels=write("j", "1 0 10 1\n"))
    assert (found.documents.ids[:], found.queries.ids) == (["10"], ("1",))
    assert found.qrels.to_dict() == {"1": {"10": 1}}


def test_notes_are_known_after_any_reading(write):
    reads = []

    def counted(path, begin, reading):
        reads.append(begin)
        return json_records(path, begin, reading)

    path = write("d.jsonl", '{"_id": "a", "text": ""}\n{"_id": "b", "text": "x"}\n')
    found = FileDocuments([path], Reading(), counted)
    assert sum(len(batch) for batch in found.batches(1)) == 2
    assert [note.text for note in found.notes] == ["empty documents: 1 (a)"]
    assert reads == [0]
    assert FileDocuments([path], Reading(), json_records).notes == found.notes


@pytest.mark.parametrize(
    ("content", "complaint"),
    [
        ("docno,text\na,b,c\n", r":2: 3 cells, expected 2 \(docno, text\)"),
        ('docno,text\na,b\nc,"d\n', ":3: a quotation mark .* never closed"),
        ("docno,words\na,b\n", ":2: no text: expected one of text.*found docno, words"),
        ("docno,text\na,b\na,c\n", ":3: the document id 'a' appears twice"),
        ("docno,text\n", "no documents found"),
    ],
)
def test_bad_tables_are_named(write, content, complaint):
    with pytest.raises(InputError, match=complaint):
        len(FileDocuments([write("bad.csv", content)], Reading(), table_records))


def test_a_cell_may_hold_lines_and_be_long(write):
    long = "x" * 300_000
    path = write("t.csv", f'docno,text\na,"one\ntwo"\nb,{long}\nb,again\n')
    with pytest.raises(FormatError, match=r"t\.csv:5: .*first at .*t\.csv:4"):
        len(FileDocuments([path], Reading(), table_records))


def test_tsv_without_a_header_is_taken_as_it_is(write):
    path = write("collection.tsv", 'd1\tsays "hello\nd2\tbye\n')
    assert list(FileDocuments([path], Reading(), table_records).pairs()) == [
        ("d1", 'says "hello'),
        ("d2", "bye"),
    ]


def test_a_broken_parquet_file_is_refused(write):
    queries = write("q.tsv", "1\tx\n")
    with pytest.raises(InputError, match="the Parquet file cannot be read"):
        read_collection(write("t.parquet", b"PAR1 and nothing else"), queries=queries)


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


def test_trec_markup_is_taken_out(write):
    path = write("t.sgml", TREC)
    found = FileDocuments([path], Reading(), trec_records)
    expected = "A & B\none < two &unknown; AT&T\n three é <kept> & so"
    assert list(found.pairs()) == [("AP-1", expected), ("AP-2", "")]
    assert found.text(1) == ""
    assert [note.text for note in found.notes] == ["empty documents: 1 (AP-2)"]
    head = FileDocuments([path], Reading(fields=("head",)), trec_records)
    assert head.text(0) == "A & B"


def test_trec_documents_may_lie_across_blocks(write, monkeypatch):
    path = write("t.sgml", TREC)
    whole = list(FileDocuments([path], Reading(), trec_records).pairs())
    small = blocks_module.blocks

    def tiny(path, begin=0, line=1, size=7):
        return small(path, begin, line, size)

    monkeypatch.setattr("heldout.data.document_files.blocks", tiny)
    found = FileDocuments([path], Reading(), trec_records)
    assert list(found.pairs()) == whole
    assert found.text(0) == whole[0][1]
    assert [line for *_, line in trec_records(path, 0, Reading())] == [1, 10]


@pytest.mark.parametrize(
    ("content", "complaint"),
    [
        ("\n<DOC>\n<DOCNO>1</DOCNO>\n", ":2: the document that begins here has no </DOC>"),
        ("<DOC><DOCNO>1</DOCNO>\n<DOC>\n</DOC>", ":1: </DOC> is missing: another <DOC> begins"),
        ("<DOC>\ntext</DOC>", ":1: the document has no <DOCNO>"),
        ("<DOC><DOCNO> </DOCNO></DOC>", ":1: the document has an empty id"),
        ("<DOC><DOCNO>1</DOCNO>a\nb\n\xe9</DOC>", ":3: byte 0xe9 is not UTF-8"),
        ("<DOCS>\n", "no documents found"),
    ],
)
def test_bad_trec_documents_are_named(write, content, complaint):
    path = write("bad.trec", content.encode("latin-1"))
    with pytest.raises(InputError, match=complaint):
        len(FileDocuments([path], Reading(), trec_records))


def test_ids_can_be_attributes(write):
    path = write("t.xml", '<DOC id="NYT-1" type="story"><P>x</P></DOC>')
    assert list(FileDocuments([path], Reading(), trec_records).pairs()) == [("NYT-1", "x")]


def test_markup_text_leaves_plain_text_alone():
    assert markup_text("a < b > c & d; &copy=1") == "a < b > c & d; &copy=1"


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
<top>
<num> Number: 052
<title> Other
<desc> Description:
</top>
"""


def test_topics_of_trec(write):
    path = write("topics.txt", CLASSIC)
    found = read_queries(path, Reading())
    assert found.to_dict() == {"051": "Airbus Subsidies", "052": "Other"}
    assert found.fields["description"] == ("How much & why?", "")
    assert read_queries(path, Reading(), field="narrative").texts == ("Relevant is all.", "")
    with pytest.raises(InputError, match=r"topics\.txt: .*no field 'x'; they have title"):
        read_queries(path, Reading(), field="x")


def test_topics_in_xml(write):
    path = write(
        "topics.xml",
        '<topics><topic number="1"><query>covid</query>\n<question>what?</question>'
        "<narrative>all</narrative></topic></topics>",
    )
    found = read_queries(path, Reading(), field="title+description")
    assert found.to_dict() == {"1": "covid what?"}
    assert found.fields["narrative"] == ("all",)


@pytest.mark.parametrize(
    ("content", "complaint"),
    [
        ("<top>\n<num> 1\n<title> a\n", ":1: the topic that begins here is not closed"),
        (
            "<top><num> 1 <title> a\n<top><num> 2 <title> b </top>",
            ":1: the topic that begins here is not closed",
        ),
        ("<top>\n<title> a\n</top>", ":1: the topic has no number"),
        (
            "<top><num>1<title>a</top>\n<top><num>1<title>b</top>",
            ":2: the query id '1' appears twice",
        ),
        (
            '{"_id": "1", "text": "a"}\n{"_id": "1", "text": "b"}',
            ":2: the query id '1' appears twice",
        ),
        ('{"_id": "1", "words": "a"}', ":1: no text"),
        ("qid,text\n1,a\n,b\n", ":3: the query has an empty id"),
        ("a query\n", "the queries have no ids"),
        ("\n", "the queries have no ids"),
    ],
)
def test_bad_queries_are_named(write, content, complaint):
    with pytest.raises(InputError, match=complaint):
        read_queries(write("queries", content), Reading())


@pytest.mark.parametrize(
    "content",
    [
        '{"_id": "1", "text": "one", "metadata": {}}\n{"_id": "2", "text": ""}\n',
        "1\tone\n2\t\n",
        "qid,query\n1,one\n2,\n",
        "query_id\ttext\n1\tone\n2\t\n",
    ],
)
def test_queries_come_in_many_forms(write, content):
    found = read_queries(write("queries", content), Reading())
    assert found.to_dict() == {"1": "one", "2": ""}
    assert [note.code for note in found.notes()] == ["empty-queries"]


def test_lines_are_queries_with_numbers(write):
    found = read_queries(write("queries", "one\r\ntwo\n"), Reading(), first_line=5)
    assert found.to_dict() == {"5": "one", "6": "two"}


def test_whole_numbers_are_ids_without_a_decimal_in_parquet(tmp_path):
    frame = pl.DataFrame({"docno": [10.0, 2.5], "text": [" a ", "b"]})
    frame.write_parquet(tmp_path / "docs.parquet")
    found = FileDocuments([str(tmp_path / "docs.parquet")], Reading(), parquet_records)
    assert list(found.pairs()) == [("10", " a "), ("2.5", "b")]

"""The quick look at a JSON line finds what the close look finds, or nothing."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from heldout.data import document_files as jsonl
from heldout.data.documents import FileDocuments, documents_of
from heldout.data.files import Reading, decode_text, json_object
from heldout.errors import FormatError

NAMES = ["_id", "id", "docno", "text", "contents", "body", "title", "other"]
VALUES = st.one_of(
    st.text(max_size=6),
    st.integers(),
    st.none(),
    st.booleans(),
    st.lists(st.text(max_size=3), max_size=2),
    st.sampled_from(["a\0b", "\ud800", "é", "\r", "\u2028", " x "]),
)
LINES = st.one_of(
    st.dictionaries(st.sampled_from(NAMES), VALUES, max_size=6).map(json.dumps).map(str.encode),
    st.tuples(
        st.sampled_from([b"", b" ", b"\xef\xbb\xbf", b"\t"]),
        st.sampled_from(
            [b'{"_id": "a", "text": "b"}', b'{"id": 1}', b"[]", b"1", b'{"_id"', b"{}"]
        ),
        st.sampled_from([b"", b"\r", b" ", b"x", b"{}", b"\xff", b"\x0b", b"\xc2\xa0"]),
    ).map(b"".join),
    st.binary(max_size=20),
)


def close_look(raw):
    """What the careful code makes of a line."""
    found = json_object(decode_text(raw, "file"), "file", 1)
    return jsonl._document(found, None, "file:1")


@given(LINES)
def test_the_same_or_nothing(raw):
    quick = jsonl._plain_document(raw)
    if quick is not None:
        assert quick == close_look(raw)


@pytest.mark.parametrize(
    "found",
    [
        {"_id": "a", "text": "b"},
        {"_id": "a", "title": "t", "text": "b", "metadata": {"x": [1]}},
        {"id": "a", "contents": "b"},
        {"_id": "a", "title": "", "text": ""},
    ],
)
def test_usual_lines_are_taken_quickly(found):
    raw = json.dumps(found).encode()
    assert jsonl._plain_document(raw) == close_look(raw)
    assert jsonl._plain_document(raw + b"\r") == close_look(raw)


def test_an_error_names_its_line_still(tmp_path):
    path = tmp_path / "docs.jsonl"
    path.write_text('{"_id": "a", "text": "b"}\n\n{"_id": "c", "text": 3}\n')
    with pytest.raises(FormatError, match=r"docs\.jsonl:3.*'text' is int"):
        list(documents_of(FileDocuments([str(path)], Reading(), jsonl.json_records)).pairs())

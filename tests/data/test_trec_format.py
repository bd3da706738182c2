"""TREC lines in bulk, held against a parser that goes line by line."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from heldout import read_run
from heldout.data import files as source_module
from heldout.data import trec
from heldout.data.files import Source

URL = "http://example.org/" + "path/" * 20


def in_memory(text):
    return Source("text", len(text.encode()), None, text.encode())


def all_rows(rows):
    """(query, document, number) of each row."""
    queries = [rows.queries[code] for code in rows.codes]
    return list(zip(queries, rows.docs.tolist(), rows.values.tolist(), strict=True))


def naive_rows(text, doc, number):
    """The same, one line after the other."""
    lines = (line.split() for line in text.encode().split(b"\n"))
    return [
        (line[0].decode(), line[doc].decode(), float(line[number]))
        for line in lines
        if line and not line[0].startswith(b"#")
    ]


def in_pieces(read, text, piece):
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(source_module, "PIECE", piece)
        return read(in_memory(text))


# Anything that is no ASCII white space may be in a field; "#" would make a first one a comment.
FIELD = st.text(
    st.characters(codec="utf-8", categories=["L", "N", "P", "S"]), min_size=1, max_size=12
).filter(lambda text: text[0] != "#")
DOC = FIELD | st.sampled_from(["d1", "d2", "12345678", "123456789", URL])
SCORE = st.one_of(
    st.integers(-(10**6), 10**6).map(str),
    st.floats(allow_nan=False, allow_infinity=False).map(repr),
    st.decimals(-1000, 1000, places=4).map(str),
    st.sampled_from(
        ["+5", ".5", "5.", "-.25", "1e3", "1E-3", "007", "-0.0", "2.50000000000000001"]
    ),
)
QUERY = st.sampled_from(["q1", "q2", "301", "an-id-of-more-than-eight-bytes"]) | FIELD
RUN_ROWS = st.lists(st.tuples(QUERY, FIELD, DOC, FIELD, SCORE, FIELD), min_size=1, max_size=12)
GAP = st.sampled_from([" ", " ", "\t", "  ", " \t ", "\x0b", "\f"])
NOISE = st.sampled_from(["\n", "  \n", "# a comment\n", " \t# one more\r\n", "\r\n", "#\n"])


@st.composite
def ragged(draw, rows, extra=True):
    """Write rows with any white space, comments and blank lines between them."""
    text = ""
    for row in rows:
        text += draw(st.just("") | NOISE)
        more = draw(st.just([]) | st.lists(FIELD, max_size=2)) if extra else []
        text += draw(st.sampled_from(["", "", " ", "\t "]))
        text += "".join(field + draw(GAP) for field in [*row, *more]).rstrip(" \t\x0b\f")
        text += draw(st.sampled_from(["\n", "\n", "\r\n", " \n"]))
    return text[:-1] if draw(st.booleans()) else text


@given(st.data(), RUN_ROWS, st.integers(1, 120))
def test_ragged_and_regular_runs_are_read_as_a_plain_parser_reads_them(data, rows, piece):
    regular = "".join(" ".join(row) + "\n" for row in rows)
    expected = naive_rows(regular, 2, 4)
    assert len(expected) == len(rows)
    for text in (regular, data.draw(ragged(rows))):
        assert all_rows(trec.read_run(in_memory(text))) == expected
        assert all_rows(in_pieces(trec.read_run, text, piece)) == expected


@given(
    st.data(),
    st.lists(st.tuples(QUERY, FIELD, DOC, st.integers(-3, 9).map(str)), min_size=1, max_size=12),
    st.integers(1, 120),
    st.booleans(),
)
def test_ragged_and_regular_qrels_are_read_as_a_plain_parser_reads_them(data, rows, piece, three):
    rows = [(row[0], *row[2:]) for row in rows] if three else rows
    regular = "".join(" ".join(row) + "\n" for row in rows)
    expected = naive_rows(regular, 1 if three else 2, 2 if three else 3)
    for text in (regular, data.draw(ragged(rows, extra=False))):
        assert all_rows(trec.read_qrels(in_memory(text))) == expected
        assert all_rows(in_pieces(trec.read_qrels, text, piece)) == expected


LINE = "q1 Q0 a 1 2.5 tag"
FORMS = {
    "tabs": "q1\tQ0\ta\t1\t2.5\ttag\n",
    "mixed": "q1\tQ0 a\t1 2.5\ttag\n",
    "many spaces": "q1   Q0  a 1    2.5 tag\n",
    "leading blanks": " \t q1 Q0 a 1 2.5 tag\n",
    "trailing blanks": "q1 Q0 a 1 2.5 tag \t\n",
    "crlf": "q1 Q0 a 1 2.5 tag\r\n",
    "comments": f"# by me\n{LINE}\n   # and more\n",
    "comment of six words": f"# run by me 2.5 times\n{LINE}\n",
    "indented comment of six words": f"{LINE}\n  # a b c d e f\n",
    "blank lines": f"\n\n{LINE}\n \n\t\n",
    "more columns": f"{LINE} more 17\n",
    "no newline": LINE,
    "byte order mark": f"\ufeff{LINE}\n",
    "words for ranks": LINE.replace(" 1 ", " first "),
}


def test_one_line_in_many_forms(write):
    for form, text in FORMS.items():
        run = read_run(write("my.run", text))
        assert (run.to_dict(), run.name) == ({"q1": {"a": 2.5}}, "tag"), form


def test_long_and_foreign_ids_are_read(write):
    for doc in ("x" * 64, "x" * 65, URL, "é" * 40, "文書😀"):
        text = f"q1 Q0 short 1 2 t\nü Q0 {doc} 1 3 t\nq1 Q0 {doc} 2 1 t\n"
        run = read_run(write("my.run", text))
        assert run.to_dict() == {"q1": {"short": 2.0, doc: 1.0}, "ü": {doc: 3.0}}
    for first in (0, 5, 39):  # a long id in any piece
        docs = [URL if row == first else f"d{row}" for row in range(40)]
        text = "".join(f"q Q0 {doc} 1 {row} t\n" for row, doc in enumerate(docs))
        assert in_pieces(trec.read_run, text, 50).docs.tolist() == docs


NUMBERS = {
    "+5": 5.0,
    "-5": -5.0,
    ".5": 0.5,
    "5.": 5.0,
    "-.5": -0.5,
    "1e3": 1000.0,
    "1.5E-3": 0.0015,
    "1e+2": 100.0,
    "00012": 12.0,
    "12345678901234567890123": 12345678901234567890123.0,
    "0.1000000000000000055511151231257827": 0.1,
    "1e-400": 0.0,
    "5e-324": 5e-324,
    "1.7976931348623157e308": 1.7976931348623157e308,
}


def test_scores_are_read_as_c_reads_them(write):
    for text, value in NUMBERS.items():
        assert read_run(write("my.run", f"q Q0 a 1 {text} t\n")).to_dict() == {"q": {"a": value}}


def test_the_tag_is_that_of_the_last_line():
    for text, tag in (
        ("q Q0 a 1 2 first\nq Q0 b 2 1 last\n", "last"),
        ("q Q0 a 1 2 first\nq Q0 b 2 1 last more columns\n", "last"),
        ("q Q0 a 1 2 first\n# a comment of quite enough words\n\n", "first"),
        ("q Q0 a 1 2 ünï\n", "ünï"),
        ("q Q0 a 1 2 first\r\nq Q0 b 2 1 last\r\n", "last"),
        ("".join(f"q Q0 d{row} 1 1 t{row}\n" for row in range(10_000)), "t9999"),
    ):
        assert trec.read_run(in_memory(text)).name == tag

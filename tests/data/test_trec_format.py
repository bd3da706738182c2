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
def test_ragged_and_regular_lines_are_read_as_a_plain_parser_reads_them(data, rows, piece):
    grades = data.draw(st.lists(st.integers(-3, 9).map(str), min_size=12, max_size=12))
    judged = [(q, i, doc, grade) for (q, i, doc, *_), grade in zip(rows, grades, strict=False)]
    three = [(q, doc, grade) for q, _, doc, grade in judged]
    for read, lines, doc, number in (
        (trec.read_run, rows, 2, 4),
        (trec.read_qrels, judged, 2, 3),
        (trec.read_qrels, three, 1, 2),
    ):
        regular = "".join(" ".join(row) + "\n" for row in lines)
        expected = naive_rows(regular, doc, number)
        assert len(expected) == len(rows)
        for text in (regular, data.draw(ragged(lines, extra=len(lines[0]) == 6))):
            assert all_rows(read(in_memory(text))) == expected
            assert all_rows(in_pieces(read, text, piece)) == expected


LINE = "q1 Q0 a 1 2.5 tag"
FORMS = {
    "white space": " \t q1\tQ0   a\t1 2.5  tag \t\r\n",
    "comments": f"# by me\n{LINE}\n   # and more\n",
    "comment of six words": f"# run by me 2.5 times\n{LINE}\n  # a b c d e f\n",
    "blank lines": f"\n\n{LINE}\n \n\t\n",
    "more columns": f"{LINE} more 17\n",
    "byte order mark, no newline": f"\ufeff{LINE}",
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


NUMBERS = ["+5", "-5", ".5", "5.", "1.5E-3", "1e+2", "00012", "12345678901234567890123",
           "0.1000000000000000055511151231257827", "1e-400", "5e-324",
           "1.7976931348623157e308"]  # fmt: skip


def test_scores_are_read_as_c_reads_them(write):
    for text in NUMBERS:
        run = read_run(write("my.run", f"q Q0 a 1 {text} t\n"))
        assert run.to_dict() == {"q": {"a": float(text)}}


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

"""Tables of text: large ones are read by columns, small ones by lines, and both alike."""

import csv

import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from heldout import (
    Experiment,
    read_collection,
    read_number_predictions,
    read_qrels,
)
from heldout.data import tables
from heldout.data.files import Source, open_source, parse_toml
from heldout.errors import FormatError, HeldoutError
from refusals import refusal

PLAIN = [f"u{at},c{at % 3},{at / 7:.4f}" for at in range(40)]
ODD = ["x,,3", ' y , "c",4', '"q","c 1",5', '"q""q",c,5', '"a,b",c,5', '"a\nb",c,5', '"",c,5',
       'q"q,c,5', "too,short", "too,long,1,2", "longer,c,1,", "", "   ", ",,", " , , ",
       "ü\u00a0,\u2003c\x1f,1e3", "# no comment,c,1", "tab\tin,c,2", "x\r,c,1",
       "nul\0,c,1"]  # fmt: skip
HEADERS = ["unit,truth,x", '"unit","truth",x', "unit, truth ,x", "a,a,x", "a,,x", "a,b,"]


def read(content, large):
    """A text table, read by columns (with Polars, where that is safe) or by lines; or the error."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(tables, "LARGE", 0 if large else 1 << 60)
        try:
            return tables.read_table(Source("t", len(content), None, content))
        except HeldoutError as error:
            return str(error)


def check_same(content):
    """Return whether it is read by columns, and check that it is what it is read by lines."""
    fast, strict = read(content, large=True), read(content, large=False)
    if isinstance(fast, str) or isinstance(strict, str):
        assert fast == strict
        return False
    assert (fast.names, len(fast)) == (strict.names, len(strict))
    for name in fast.names:
        assert [cell or "" for cell in fast.columns[name]] == strict.columns[name]
    for row in range(0, len(fast), 7):
        assert fast.place(row) == strict.place(row)
    return not isinstance(fast.columns[fast.names[0]], list)


@given(
    st.lists(st.tuples(st.integers(0, 40), st.sampled_from(ODD)), max_size=3),
    st.sampled_from(HEADERS),
    st.sampled_from(["", "# above\n", "\n", "# a\n\n#b,c,d\n"]),
    st.sampled_from(["\n", "\r\n"]),
    st.booleans(),
)
def test_any_text_is_read_alike_or_left_alone(odd, header, above, end, closed):
    lines = [header, *PLAIN]
    for at, line in odd:
        lines.insert(1 + at, line)
    text = above + "\n".join(lines) + ("\n" if closed else "")
    check_same(text.replace("\n", end).encode())


def test_plain_texts_are_read_by_columns_and_odd_ones_alike():
    for line in ODD:
        for at in (1, 20, len(PLAIN)):
            text = "\n".join(["unit,truth,x", *PLAIN[:at], line, *PLAIN[at:]])
            check_same(text.encode())
    for end in ("\n", "\r\n"):
        for mark in (",", ";", "\t"):
            rows = [line.split(",") for line in ["unit,truth,x", *PLAIN, "two words,New York, 1 "]]
            text = end.join(mark.join(row) for row in rows) + end
            assert check_same(text.encode())
            assert check_same(text.rstrip().encode())
            assert not check_same(text.encode().replace(b"u17", b"u\xff"))


CELLS = [[1, 2, 1], [0.5, -0.0], [1, None], [1.0, float("nan")], ["a", None],
         ["b", "a", " b ", "a"], ["b", "", "a"], ["b", " \u3000"], [2**62]]  # fmt: skip
NUMBERS = st.one_of(
    st.floats(allow_nan=False, allow_infinity=False).map(str),
    st.integers().map(str),
    st.text("0123456789+-.eE_ ", max_size=8),
    st.sampled_from(["nan", "-Infinity", "1_000", "0x10", "\u0661", "1e400", "1e-400", "1d5", ""]),
)


def contents(cells):
    """The cells as numbers, as labels and as codes; or how they are refused."""
    table, found = tables.Table("t", {"x": cells}, str), []
    for look in (
        lambda: table.numbers("x").tolist(),
        lambda: table.labels("x", "truth"),
        lambda: (table.codes("x", "truth").names, table.codes("x", "truth").codes.tolist()),
    ):
        try:
            found.append(look())
        except FormatError as error:
            found.append(str(error))
    return found


@given(st.lists(NUMBERS, min_size=1, max_size=5))
def test_columns_are_what_their_cells_are(numbers):
    assert contents(pl.Series(numbers, dtype=pl.String)) == contents(numbers)
    for cells in CELLS:
        assert contents(pl.Series(cells)) == contents(cells), cells


def test_a_table_of_a_megabyte_is_read_by_columns(write):
    lines = [f"unit {at},{at / 3!r},{at / 3 + 1!r}" for at in range(30_000)]
    path = write("numbers.csv", "\n".join(["unit,truth,prediction", *lines]))
    assert path.stat().st_size > tables.LARGE
    table = tables.read_table(open_source(path))
    assert not isinstance(table.columns["truth"], list)
    assert table.place(29_999) == f"{path}:30001"
    [found] = read_number_predictions(path)
    assert found.units[:2] == ("unit 0", "unit 1")
    assert found.truth.tolist() == [at / 3 for at in range(30_000)]


def test_quotation_marks_in_a_beir_table_are_read_as_beir_reads_them(write):
    for cells, doc in (('d"102', 'd"102'), ('d102"', 'd102"'), ('"d""102"', 'd"102')):
        lines = ["query-id\tcorpus-id\tscore", *(f"q{n}\td{n}\t1" for n in range(300))]
        lines[103] = f"q102\t{cells}\t1"
        path = write("test.tsv", "\n".join(lines) + "\n")
        with path.open(newline="") as file:
            theirs = list(csv.reader(file, delimiter="\t", quoting=csv.QUOTE_MINIMAL))
        judged = read_qrels(path).to_dict()
        assert judged["q102"] == {theirs[103][1]: 1} == {doc: 1}
        assert len(judged) == 300


TOML = {
    'title = "x"\n# caf\xe9\n': "mine.toml:2: byte 0xe9 is not UTF-8",
    'a = 1\nb = [\n "x",\n "y"\nc = 2\n': "Unclosed array (at line 5",
    'a = "["\nb = "]" # [\nc = \n': "Invalid value (at line 3",
    "a = 1\nb =": "mine.toml: not valid TOML: Invalid value (at end of document",
}


def test_toml_names_the_line(write):
    for text, message in TOML.items():
        path = write("mine.toml", text.encode("latin1"))
        for reader in (Experiment.read, read_collection):
            assert message in refusal(reader, path)
    marked = b"\xef\xbb\xbfa = 1\r\nb = 2\rc = 3\n"
    assert parse_toml(marked, "x")[0] == {"a": 1, "b": 2, "c": 3}

"""Refusals name the line, and speak of the file rather than of the library that reads it."""

import csv
import io

import pytest
from hypothesis import given
from hypothesis import strategies as st

from heldout import Experiment, read_collection, read_qrels
from heldout.cli import main
from heldout.data.files import Source, parse_toml
from heldout.data.tables import read_table
from heldout.errors import FormatError

ROWS = [f"q{n}\td{n}\t1" for n in range(300)]


def saved(folder, content, name="mine.txt"):
    path = folder / name
    path.write_bytes(content if isinstance(content, bytes) else content.encode())
    return path


def beir(folder, line, cells):
    lines = ["query-id\tcorpus-id\tscore", *ROWS]
    lines[line - 1] = cells
    return saved(folder, "\n".join(lines) + "\n", "test.tsv")


@pytest.mark.parametrize(
    ("cells", "doc"),
    [('q102\td"102\t1', 'd"102'), ('q102\td102"\t1', 'd102"'), ('q102\t"d""102"\t1', 'd"102')],
)
def test_quotation_marks_in_a_beir_table_are_read_as_beir_reads_them(tmp_path, cells, doc):
    path = beir(tmp_path, 104, cells)
    with path.open(newline="") as file:
        theirs = list(csv.reader(file, delimiter="\t", quoting=csv.QUOTE_MINIMAL))
    assert theirs[103][1] == doc
    judged = read_qrels(path).to_dict()
    assert judged["q102"] == {doc: 1}
    assert len(judged) == 300


_CELL = st.text(alphabet='ab" ,\n', max_size=4).map(str.strip)


@given(st.lists(st.tuples(_CELL, _CELL, _CELL), min_size=1, max_size=4))
def test_cells_that_are_quoted_come_back(rows):
    text = io.StringIO()
    csv.writer(text, lineterminator="\n").writerows([("a", "b", "c"), *rows])
    content = text.getvalue().encode()
    found = read_table(Source("mine.csv", len(content), None, content)).columns.values()
    assert list(zip(*found, strict=True)) == [row for row in rows if any(row)]


TOML = {
    "latin 1": ('title = "x"\n# caf\xe9\n'.encode("latin1"), ":2: byte 0xe9 is not UTF-8"),
    "open list": (
        'a = 1\nb = [\n "x",\n "y"\nc = 2\n',
        ": .*Unclosed array .at line 5",
    ),
    "brackets in texts": (
        'a = "["\nb = "]" # [\nc = \n',
        ": .*Invalid value .at line 3",
    ),
    "no value at the end": ("a = 1\nb =", ": not valid TOML: Invalid value .at end of document"),
}


@pytest.mark.parametrize(("text", "message"), TOML.values(), ids=TOML)
def test_toml_names_the_line(tmp_path, text, message):
    path = saved(tmp_path, text, "mine.toml")
    for read in (Experiment.read, read_collection):
        with pytest.raises(FormatError, match=rf"mine\.toml{message}"):
            read(path)


def test_toml_may_begin_with_a_byte_order_mark_and_end_lines_in_any_way():
    assert parse_toml(b"\xef\xbb\xbfa = 1\r\nb = 2\rc = 3\n", "x")[0] == {"a": 1, "b": 2, "c": 3}


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"\x00\xfe\x80garbage", "x.index: unrecognized format"),
        (b"", "x.index is empty"),
        (None, "x.index: no such file or folder"),
    ],
)
def test_index_says_what_a_file_is_not(tmp_path, monkeypatch, capsys, content, message):
    monkeypatch.chdir(tmp_path)
    if content is not None:
        saved(tmp_path, content, "x.index")
    with pytest.raises(SystemExit) as end:
        main(["index", "x.index", "-o", "y.index"])
    assert end.value.code == 2
    said = capsys.readouterr().err
    assert said.startswith(f"heldout: {message}")


def test_index_asks_for_a_name_where_there_is_a_collection(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    saved(tmp_path, '{"_id": "a", "text": "one"}\n', "docs.jsonl")
    for given_name in ("docs.jsonl", "pydocs", "."):
        with pytest.raises(SystemExit):
            main(["index", given_name])
        said = capsys.readouterr().err
        assert said.startswith(f"heldout: {given_name} is not an index: to build one")

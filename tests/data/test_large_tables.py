"""Large tables are read by columns, and are the same to the last cell; odd ones are not."""

import numpy as np
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from heldout import read_class_predictions, read_number_predictions
from heldout.data.io import table
from heldout.data.io.cells import code_labels, read_labels, read_numbers
from heldout.data.io.delimited import read_delimited
from heldout.errors import FormatError, HeldoutError

PLAIN = [f"u{at},c{at % 3},{at / 7:.4f}" for at in range(40)]
ODD = [
    "x,,3",
    ' y , "c",4',
    '"q","c 1",5',
    '"q""q",c,5',
    '"a,b",c,5',
    '"a\nb",c,5',
    '"",c,5',
    'q"q,c,5',
    "too,short",
    "too,long,1,2",
    "longer,c,1,",
    "",
    "   ",
    ",,",
    " , , ",
    "ü\u00a0,\u2003c\x1f,1e3",
    "# no comment,c,1",
    "tab\tin,c,2",
    "x\r,c,1",
    "nul\0,c,1",
]


def check_same(content):
    """Read by columns it is what it is read by lines, or nothing."""
    found = table._of_regular_text(content, "t", "")
    if found is None:
        return False
    strict = read_delimited(content, "t")
    assert found.names == strict.names
    assert [found.places.number(at) for at in range(len(found))] == strict.lines
    assert found.header == f"t:{strict.header_line}"
    for at in range(len(found.names)):
        assert list(found.cells(at)) == [row[at] for row in strict.rows]
    return True


@settings(max_examples=50)
@given(
    st.lists(st.tuples(st.integers(0, 40), st.sampled_from(ODD)), max_size=3),
    st.sampled_from(
        ["unit,truth,x", '"unit","truth",x', "unit, truth ,x", "a,a,x", "a,,x", "a,b,"]
    ),
    st.sampled_from(["", "# above\n", "\n", "# a\n\n#b,c,d\n"]),
    st.sampled_from(["\n", "\r\n"]),
    st.booleans(),
)
def test_any_text_is_read_alike_or_left_alone(odd, header, above, end, closed):
    lines = [header, *PLAIN]
    for at, line in odd:
        lines.insert(1 + at, line)
    text = above + "\n".join(lines) + ("\n" if closed else "")
    content = text.replace("\n", end).encode()
    try:
        read_delimited(content, "t")
    except HeldoutError:
        assert table._of_regular_text(content, "t", "") is None
    else:
        check_same(content)


@pytest.mark.parametrize("end", ["\n", "\r\n"])
@pytest.mark.parametrize("mark", [",", ";", "\t"])
def test_plain_texts_are_read_by_columns(end, mark):
    rows = [line.split(",") for line in ["unit,truth,x", *PLAIN, "two words,New York, 1 "]]
    text = end.join(mark.join(row) for row in rows) + end
    assert check_same(text.encode())
    assert check_same(text.rstrip().encode())
    assert table._of_regular_text(text.encode().replace(b"u17", b"u\xff"), "t", "") is None


NUMBERS = st.one_of(
    st.floats(allow_nan=False, allow_infinity=False).map(str),
    st.integers().map(str),
    st.text("0123456789+-.eE_ ", max_size=8),
    st.sampled_from(
        ["nan", "inf", "-Infinity", "1_000", "0x10", "\u0661", "1e400", "1e-400", "1d5", ""]
    ),
)


def numbers_of(cells):
    try:
        return read_numbers(cells, str, "x").tolist()
    except FormatError as error:
        return str(error)


@settings(max_examples=50)
@given(st.lists(NUMBERS, min_size=1, max_size=5))
def test_columns_of_numbers_are_what_their_cells_are(cells):
    assert numbers_of(pl.Series(cells, dtype=pl.String)) == numbers_of(cells)


@pytest.mark.parametrize(
    "cells",
    [
        pl.Series([1, 2, 2**62]),
        pl.Series([0.5, -0.0]),
        pl.Series([0.1], dtype=pl.Float32),
        pl.Series([True]),
        pl.Series([1, None]),
        pl.Series([float("nan")]),
        pl.Series(["a", None]),
    ],
)
def test_typed_columns_of_numbers_are_what_their_cells_are(cells):
    assert numbers_of(cells) == numbers_of(cells.to_list())


@pytest.mark.parametrize(
    "cells",
    [
        ["b", "a", " b ", "a"],
        ["b", "", "a"],
        ["b", " \u3000"],
        ["x\x1f", "x"],
        [1, 2, 1],
        [1.0, 0.5],
        [True, False, None],
        [1.0, float("nan")],
        ["a", None],
    ],
)
def test_columns_of_labels_are_what_their_cells_are(cells):
    def of(given):
        try:
            codes = code_labels(given, str, "truth")
            return read_labels(given, str, "truth"), codes.names, codes.codes.tolist()
        except FormatError as error:
            return str(error)

    assert of(pl.Series(cells)) == of(cells)


def some_classes(path, seed=0, extra=""):
    source = np.random.default_rng(seed)
    lines = ["unit,truth,prediction,prob_a,prob_b,weight,group,fold,system"]
    for at in range(120):
        share = round(source.random(), 3)
        lines.append(
            f"u{at // 2},{'ab'[at % 3 % 2]},{'ab'[int(share < 0.5)]},{share},{1 - share:.3f},"
            f"{1 + at % 4},g{at % 7},{at % 5},{'ST'[at % 2]}"
        )
    path.write_text("\n".join([*lines, extra]) if extra else "\n".join(lines))
    return path


def test_predictions_of_a_large_text_are_those_of_a_small_one(tmp_path, monkeypatch):
    path = some_classes(tmp_path / "p.csv")
    small = read_class_predictions(path)
    monkeypatch.setattr(table, "LARGE", 0)
    large = read_class_predictions(path)
    assert [one.name for one in large] == [one.name for one in small] == ["S", "T"]
    for one, two in zip(large, small, strict=True):
        for name in ("units", "classes", "folds", "groups", "repeats", "notes"):
            assert getattr(one, name) == getattr(two, name), name
        for name in ("truth", "predicted", "scores", "weights"):
            assert getattr(one, name).tolist() == getattr(two, name).tolist(), name
        assert list(one.places) == list(two.places)
        assert one.select([3, 1]).places[0] == two.places[3]


@pytest.mark.parametrize(
    "extra",
    [
        "u1,,a,0.5,0.5,1,g,1,S",
        "u99,a,a,0.5,0.6,1,g,1,S",
        "u99,a,a,x,0.5,1,g,1,S",
        "u99,a,a,1.5,-0.5,1,g,1,S",
        "u99,a,a,0.5,0.5,-1,g,1,S",
        "u0,a,a,0.5,0.5,1,g,1,S",
        "u99,a,a,0.5",
        ",a,a,0.5,0.5,1,g,1,S",
    ],
)
def test_what_is_wrong_is_said_with_the_same_words(tmp_path, monkeypatch, extra):
    path = some_classes(tmp_path / "p.csv", extra=extra)
    with pytest.raises(HeldoutError) as small:
        read_class_predictions(path)
    monkeypatch.setattr(table, "LARGE", 0)
    with pytest.raises(HeldoutError) as large:
        read_class_predictions(path)
    assert str(large.value) == str(small.value)


def test_a_table_of_a_megabyte_is_read_by_columns(tmp_path, monkeypatch):
    path = tmp_path / "numbers.csv"
    lines = [f"unit {at},{at / 3!r},{at / 3 + 1!r}" for at in range(30_000)]
    path.write_text("\n".join(["unit,truth,prediction", *lines]))
    assert path.stat().st_size > table.LARGE

    def refuse(*_):
        raise AssertionError("read line by line")

    monkeypatch.setattr(table, "read_delimited", refuse)
    [found] = read_number_predictions(path)
    assert found.units[:2] == ("unit 0", "unit 1")
    assert found.truth.tolist() == [at / 3 for at in range(30_000)]
    assert found.places[29_999] == f"{path}:30001"

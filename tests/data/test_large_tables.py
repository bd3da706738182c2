"""Large tables are read by columns, and are the same to the last cell; odd ones are not."""

import numpy as np
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from heldout import read_class_predictions, read_number_predictions
from heldout.data import tables
from heldout.data.files import Source, open_source
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
    check_same(content)


@pytest.mark.parametrize("end", ["\n", "\r\n"])
@pytest.mark.parametrize("mark", [",", ";", "\t"])
def test_plain_texts_are_read_by_columns(end, mark):
    rows = [line.split(",") for line in ["unit,truth,x", *PLAIN, "two words,New York, 1 "]]
    text = end.join(mark.join(row) for row in rows) + end
    assert check_same(text.encode())
    assert check_same(text.rstrip().encode())
    assert not check_same(text.encode().replace(b"u17", b"u\xff"))


NUMBERS = st.one_of(
    st.floats(allow_nan=False, allow_infinity=False).map(str),
    st.integers().map(str),
    st.text("0123456789+-.eE_ ", max_size=8),
    st.sampled_from(
        ["nan", "inf", "-Infinity", "1_000", "0x10", "\u0661", "1e400", "1e-400", "1d5", ""]
    ),
)


def one_column(cells):
    return tables.Table("t", {"x": cells}, str)


def numbers_of(cells):
    try:
        return one_column(cells).numbers("x").tolist()
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
            codes = one_column(given).codes("x", "truth")
            return one_column(given).labels("x", "truth"), codes.names, codes.codes.tolist()
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
    monkeypatch.setattr(tables, "LARGE", 0)
    large = read_class_predictions(path)
    assert [one.name for one in large] == [one.name for one in small] == ["S", "T"]
    for one, two in zip(large, small, strict=True):
        for name in ("units", "classes", "folds", "groups", "repeats", "notes"):
            assert getattr(one, name) == getattr(two, name), name
        for name in ("truth", "predicted", "scores", "weights"):
            assert getattr(one, name).tolist() == getattr(two, name).tolist(), name


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
    monkeypatch.setattr(tables, "LARGE", 0)
    with pytest.raises(HeldoutError) as large:
        read_class_predictions(path)
    assert str(large.value) == str(small.value)


def test_a_table_of_a_megabyte_is_read_by_columns(tmp_path):
    path = tmp_path / "numbers.csv"
    lines = [f"unit {at},{at / 3!r},{at / 3 + 1!r}" for at in range(30_000)]
    path.write_text("\n".join(["unit,truth,prediction", *lines]))
    assert path.stat().st_size > tables.LARGE
    table = tables.read_table(open_source(path))
    assert not isinstance(table.columns["truth"], list)
    assert table.place(29_999) == f"{path}:30001"
    [found] = read_number_predictions(path)
    assert found.units[:2] == ("unit 0", "unit 1")
    assert found.truth.tolist() == [at / 3 for at in range(30_000)]

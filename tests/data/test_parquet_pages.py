"""Headers of Parquet files are looked at before a decoder believes them."""

import io
import itertools

import polars as pl
import pytest

from heldout.data.io.document_tables import parquet_rows
from heldout.data.io.parquet import read_parquet
from heldout.data.io.parquet_pages import check_pages
from heldout.errors import InputError

ROWS = 300
FRAME = pl.DataFrame(
    {
        "text": [None if n % 7 == 1 else f"text {n % 40}" for n in range(ROWS)],
        "score": [n / 7 for n in range(ROWS)],
        "whole": [n if n % 3 else None for n in range(ROWS)],
        "sure": [n % 2 == 0 for n in range(ROWS)],
        "several": [[n] * (n % 4) if n % 5 else None for n in range(ROWS)],
        "nested": [{"a": n, "b": [{"c": str(n)}]} for n in range(ROWS)],
    }
)


def written(frame, **options):
    buffer = io.BytesIO()
    frame.write_parquet(buffer, **options)
    return buffer.getvalue()


@pytest.mark.parametrize(
    ("packing", "group", "page", "rows"),
    list(
        itertools.product(
            ["zstd", "snappy", "uncompressed", "gzip"], [None, 70], [None, 200], [0, 1, ROWS]
        )
    ),
)
def test_what_polars_writes_is_sound(packing, group, page, rows):
    frame = FRAME.head(rows)
    content = written(frame, compression=packing, row_group_size=group, data_page_size=page)
    check_pages(content, "x")
    assert read_parquet(content, "x").equals(frame)


@pytest.mark.parametrize(
    ("version", "packing", "dictionary", "page"),
    list(itertools.product(["1.0", "2.0"], ["snappy", "none"], [True, False], [None, 100])),
)
def test_what_arrow_writes_is_sound(version, packing, dictionary, page):
    parquet = pytest.importorskip("pyarrow.parquet")
    buffer = io.BytesIO()
    parquet.write_table(
        FRAME.to_arrow(), buffer, data_page_version=version, compression=packing,
        use_dictionary=dictionary, data_page_size=page, row_group_size=70,
        write_page_index=page is not None, write_page_checksum=page is not None,
    )  # fmt: skip
    check_pages(buffer.getvalue(), "x")
    assert read_parquet(buffer.getvalue(), "x").equals(FRAME)


def damaged(change):
    """A file of one column whose only data page promises another number of values.

    The header of a page of 100 values: field 5 (a struct), in it field 1 (a whole number), which is
    200 in zigzag, 0xC8 0x01.
    """
    frame = pl.DataFrame({"id": ["a", "b"] * 50})
    content = written(frame, compression="uncompressed")
    was = b"\x2c\x15\xc8\x01"
    assert content.count(was) == 1
    return content.replace(was, b"\x2c\x15" + change)


@pytest.mark.parametrize("change", [b"\xc7\x01", b"\xff\x7f", b"\xca\x01", b"\xfe\x7f"])
def test_a_page_of_fewer_than_no_values_or_of_too_many_is_refused(tmp_path, change):
    """Some of these would end the process: the decoder asks for room that is not there."""
    content = damaged(change)
    with pytest.raises(InputError, match="values, which it cannot hold"):
        read_parquet(content, "x")
    (tmp_path / "x.parquet").write_bytes(content)
    with pytest.raises(InputError, match="values, which it cannot hold"):
        list(parquet_rows(str(tmp_path / "x.parquet")))


def test_the_same_page_as_it_was_is_read():
    assert read_parquet(damaged(b"\xc8\x01"), "x").height == 100


@pytest.mark.parametrize(
    "footer",
    [
        b"",
        b"\x99" * 2000,
        b"\x9c" * 2000,
        b"\x1c" * 2000,
        b"\x19\xfc\xff\xff\xff\x0f",
        b"\xff" * 30,
    ],
)
def test_footers_that_are_none_are_refused(footer):
    content = b"PAR1" + footer + len(footer).to_bytes(4, "little") + b"PAR1"
    with pytest.raises(InputError, match="not a Parquet table"):
        read_parquet(content, "x")


def test_a_footer_longer_than_the_file_is_refused():
    with pytest.raises(InputError, match="it was cut off"):
        check_pages(b"PAR1" + bytes(8) + b"\xff\xff\x00\x00PAR1", "x")

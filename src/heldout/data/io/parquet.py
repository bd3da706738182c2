"""Parquet files, read by Polars, with errors in one line.

A small file can claim billions of rows, or repeat one long text a million times. Therefore the size
of the content is limited by the size of the file, as for compressed files.
"""

from __future__ import annotations

from contextlib import contextmanager
from io import BytesIO
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from heldout.data.io.compression import LEAST_LIMIT, RATIO, is_compressed
from heldout.errors import InputError

if TYPE_CHECKING:
    from collections.abc import Iterator

    import polars as pl

__all__ = ["parquet_errors", "parquet_rows", "read_parquet"]

_MAGIC: Final = b"PAR1"
_SLICE: Final = 1 << 14
"""Rows of a large file that are read at a time."""


def read_parquet(content: bytes, name: str) -> pl.DataFrame:
    """Read a table from the bytes of a file.

    Parameters
    ----------
    name
        Its name in messages.
    """
    import polars as pl  # slow to import

    if not (content.startswith(_MAGIC) and content.endswith(_MAGIC)):
        raise InputError(f"{name}: the Parquet file cannot be read (it is truncated)")
    with parquet_errors(name):
        rows = pl.scan_parquet(BytesIO(content)).select(pl.len()).collect().item()
        _refuse_many_rows(rows, len(content), name)
        frame = pl.read_parquet(BytesIO(content))
        _refuse_long_texts(frame, len(content), name)
    return frame


def parquet_rows(path: str, begin: int = 0) -> Iterator[tuple[int, dict[str, Any]]]:
    """Yield number (from 1) and cells of each row; all cells are strings."""
    import polars as pl  # slow to import, not needed for text files

    if is_compressed(path):
        raise InputError(
            f"{path}: compressed Parquet files are not supported here: decompress it first"
        )
    size = Path(path).stat().st_size
    with parquet_errors(path):
        frame = pl.scan_parquet(path)
        _refuse_many_rows(frame.select(pl.len()).collect().item(), size, path)
        schema = frame.collect_schema()
        usable = [name for name, kind in schema.items() if not kind.is_nested()]
        columns = [pl.col(name).cast(pl.String).alias(name.strip().lower()) for name in usable]
        texts = frame.select(columns)
        while len(part := texts.slice(begin, _SLICE).collect()):
            _refuse_long_texts(part, size, path)
            yield from enumerate(part.iter_rows(named=True), begin + 1)
            begin += len(part)


@contextmanager
def parquet_errors(name: str) -> Iterator[None]:
    """Turn errors of Polars into one line."""
    import polars as pl

    try:
        yield
    except (pl.exceptions.PolarsError, OSError, ValueError, OverflowError, MemoryError) as error:
        reason = (str(error).splitlines() or [""])[0]
        raise InputError(f"{name}: the Parquet file cannot be read ({reason})") from None
    except pl.exceptions.PanicException:
        # An internal error of Polars, which is not an Exception; nothing is left half done.
        raise InputError(
            f"{name}: the Parquet file cannot be read (it is damaged): write it again"
        ) from None


def _refuse_many_rows(rows: int, size: int, name: str) -> None:
    """Raise an error if there are implausibly many rows for the size of the file."""
    if rows > max(LEAST_LIMIT, RATIO * size):
        raise InputError(f"{name}: implausible Parquet file: {rows:,} rows in {size:,} bytes")


def _refuse_long_texts(frame: pl.DataFrame, size: int, name: str) -> None:
    """Raise an error if texts are implausibly long for the size of the file."""
    import polars as pl

    texts = [one for one in frame.get_columns() if one.dtype in (pl.String, pl.Categorical)]
    total = sum(int(one.cast(pl.String).str.len_bytes().sum() or 0) for one in texts)
    if total > max(LEAST_LIMIT, RATIO * size):
        raise InputError(
            f"{name}: implausible Parquet file: {total:,} bytes of text in {size:,} bytes, over "
            f"{RATIO} times as much"
        )

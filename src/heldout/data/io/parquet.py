"""Parquet files, read by Polars, with errors in one line."""

from __future__ import annotations

from contextlib import contextmanager
from io import BytesIO
from typing import TYPE_CHECKING, Any, Final

from heldout.data.io.compression import is_compressed
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
        return pl.read_parquet(BytesIO(content))


def parquet_rows(path: str, begin: int = 0) -> Iterator[tuple[int, dict[str, Any]]]:
    """Yield number (from 1) and cells of each row; all cells are strings."""
    import polars as pl  # slow to import, not needed for text files

    if is_compressed(path):
        raise InputError(
            f"{path}: compressed Parquet files are not supported here: decompress it first"
        )
    with parquet_errors(path):
        frame = pl.scan_parquet(path)
        schema = frame.collect_schema()
        usable = [name for name, kind in schema.items() if not kind.is_nested()]
        columns = [pl.col(name).cast(pl.String).alias(name.strip().lower()) for name in usable]
        texts = frame.select(columns)
        while len(part := texts.slice(begin, _SLICE).collect()):
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

"""Parquet files, read by Polars; what is wrong with them is said in one sentence.

A file of a few bytes can promise billions of rows, or one long text a million times over. What
comes out must be in proportion to what went in, as for packed files.
"""

from __future__ import annotations

from contextlib import contextmanager
from io import BytesIO
from typing import TYPE_CHECKING, Final

from heldout.data.io.compression import LEAST_LIMIT, RATIO
from heldout.errors import InputError

if TYPE_CHECKING:
    from collections.abc import Iterator

    import polars as pl

__all__ = ["parquet_errors", "read_parquet", "refuse_long_texts", "refuse_many_rows"]

_MAGIC: Final = b"PAR1"


def read_parquet(content: bytes, name: str) -> pl.DataFrame:
    """Read a table from the bytes of a file.

    Parameters
    ----------
    name
        What to call it in messages.
    """
    import polars as pl  # slow to import

    if not (content.startswith(_MAGIC) and content.endswith(_MAGIC)):
        raise InputError(f"{name}: not a Parquet table that can be read (it was cut off)")
    with parquet_errors(name):
        rows = pl.scan_parquet(BytesIO(content)).select(pl.len()).collect().item()
        refuse_many_rows(rows, len(content), name)
        frame = pl.read_parquet(BytesIO(content))
        refuse_long_texts(frame, len(content), name)
    return frame


@contextmanager
def parquet_errors(name: str) -> Iterator[None]:
    """Turn what Polars says of a table into one sentence."""
    import polars as pl

    try:
        yield
    except (pl.exceptions.PolarsError, OSError, ValueError, OverflowError, MemoryError) as error:
        reason = (str(error).splitlines() or [""])[0]
        raise InputError(f"{name}: not a Parquet table that can be read ({reason})") from None
    except pl.exceptions.PanicException:
        # What Polars did not foresee; it is no Exception, and nothing was left half done.
        raise InputError(
            f"{name}: not a Parquet table that can be read (it is damaged): write it again"
        ) from None


def refuse_many_rows(rows: int, size: int, name: str) -> None:
    """Refuse a table that has more rows than its bytes can mean."""
    if rows > max(LEAST_LIMIT, RATIO * size):
        raise InputError(
            f"{name}: {size:,} bytes that hold {rows:,} rows, which no table has that means "
            "anything"
        )


def refuse_long_texts(frame: pl.DataFrame, size: int, name: str) -> None:
    """Refuse texts that take more room one by one than the file can mean."""
    import polars as pl

    texts = [one for one in frame.get_columns() if one.dtype in (pl.String, pl.Categorical)]
    total = sum(int(one.cast(pl.String).str.len_bytes().sum() or 0) for one in texts)
    if total > max(LEAST_LIMIT, RATIO * size):
        raise InputError(
            f"{name}: {size:,} bytes that hold texts of {total:,}, which is over {RATIO} times as "
            "much"
        )

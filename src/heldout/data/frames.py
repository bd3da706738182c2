"""Frames for users: Polars or pandas."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Literal, TypeAlias

from heldout.errors import InputError

if TYPE_CHECKING:
    import polars as pl

__all__ = ["Library", "check_library", "frame_of"]

Library: TypeAlias = Literal["polars", "pandas"]
"""The library of a frame."""


def check_library(library: str) -> None:
    """Raise an error for the name of another library."""
    if library not in {"polars", "pandas"}:
        raise InputError(f"library={library!r}: expected polars or pandas")


def frame_of(frame: pl.DataFrame, library: Library) -> Any:
    """Return a Polars frame, or the same as a pandas frame.

    Parameters
    ----------
    frame
        The data.
    library
        ``polars`` or ``pandas``.
    """
    check_library(library)
    if library == "polars":
        return frame
    import pandas as pd

    # Not to_pandas(), which needs pyarrow.
    return pd.DataFrame(
        {
            name: frame[name].to_numpy()
            if frame[name].dtype.is_numeric()
            else frame[name].to_list()
            for name in frame.columns
        }
    )

"""Whether something is at a path, whatever the path is made of."""

from __future__ import annotations

import os

__all__ = ["is_there", "names_file", "names_folder"]


def is_there(path: str | os.PathLike[str]) -> bool:
    """Whether there is a file or folder; none is where no path can lead.

    ``Path.exists`` raises for names that are too long, which a config may well hold.
    """
    return os.path.exists(path)  # noqa: PTH110


def names_file(path: str | os.PathLike[str]) -> bool:
    """Whether there is a file."""
    return os.path.isfile(path)  # noqa: PTH113


def names_folder(path: str | os.PathLike[str]) -> bool:
    """Whether there is a folder."""
    return os.path.isdir(path)  # noqa: PTH112

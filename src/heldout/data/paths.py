"""Paths: what exists there, how places in files are shown, and the cache folder."""

from __future__ import annotations

import os
import sys
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence

__all__ = ["cache_folder", "is_there", "names_file", "names_folder", "place_among"]


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


def place_among(place: str, files: Sequence[str]) -> str:
    """Return a place in one of several files, without the folder that holds them all.

    Notes stay the same then, however the path was spelled and wherever the data were moved.

    Examples
    --------
    >>> place_among("../data/docs.dat:3", ["../data/docs.dat"])
    'docs.dat:3'
    >>> place_among("/data/b/docs.trec:3", ["/data/a/docs.trec", "/data/b/docs.trec"])
    'b/docs.trec:3'
    """
    # Letter by letter, as they were spelled; functions for paths would tidy them up.
    folders = [one[: one.rfind(os.sep) + 1] for one in files]
    shared = os.path.commonprefix(folders)  # noqa: RUF071 - cut off behind a separator next
    shared = shared[: shared.rfind(os.sep) + 1]
    return place.removeprefix(shared)


def cache_folder() -> Path:
    """``HELDOUT_CACHE``, or else the folder that the platform has for caches; it may not exist."""
    own = os.environ.get("HELDOUT_CACHE")
    if own:
        return Path(own)
    if sys.platform == "win32":
        local = os.environ.get("LOCALAPPDATA")
        return (Path(local) if local else _home() / "AppData" / "Local") / "heldout" / "Cache"
    if sys.platform == "darwin":
        return _home() / "Library" / "Caches" / "heldout"
    given = os.environ.get("XDG_CACHE_HOME", "")
    # The rules of XDG: a relative path is to be ignored.
    return (Path(given) if given.startswith("/") else _home() / ".cache") / "heldout"


def _home() -> Path:
    try:
        return Path.home()
    except RuntimeError:  # a user without a home
        return Path(os.sep) / "nonexistent"

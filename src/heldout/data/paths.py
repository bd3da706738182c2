"""Paths: what exists there, how places in files are shown, and the cache folder."""

from __future__ import annotations

import os
import sys
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence


def is_there(path: str | os.PathLike[str]) -> bool:
    """Return whether a file or folder exists.

    ``Path.exists`` raises an error for names that are too long, which a config file may contain.
    """
    return os.path.exists(path)  # noqa: PTH110


def names_file(path: str | os.PathLike[str]) -> bool:
    """Return whether a file exists."""
    return os.path.isfile(path)  # noqa: PTH113


def names_folder(path: str | os.PathLike[str]) -> bool:
    """Return whether a folder exists."""
    return os.path.isdir(path)  # noqa: PTH112


def place_among(place: str, files: Sequence[str]) -> str:
    """Return a place in one of several files, without their common folder.

    Notes then do not depend on how the path was written and where the data are.

    Examples
    --------
    >>> place_among("../data/docs.dat:3", ["../data/docs.dat"])
    'docs.dat:3'
    >>> place_among("/data/b/docs.trec:3", ["/data/a/docs.trec", "/data/b/docs.trec"])
    'b/docs.trec:3'
    """
    # By characters, as they were written: functions for paths would normalize them.
    folders = [one[: one.rfind(os.sep) + 1] for one in files]
    shared = os.path.commonprefix(folders)  # noqa: RUF071 - cut after a separator below
    shared = shared[: shared.rfind(os.sep) + 1]
    return place.removeprefix(shared)


def cache_folder() -> Path:
    """Return ``HELDOUT_CACHE``, or the usual cache folder of the platform; it may not exist."""
    own = os.environ.get("HELDOUT_CACHE")
    if own:
        return Path(own)
    if sys.platform == "win32":
        local = os.environ.get("LOCALAPPDATA")
        return (Path(local) if local else _home() / "AppData" / "Local") / "heldout" / "Cache"
    if sys.platform == "darwin":
        return _home() / "Library" / "Caches" / "heldout"
    given = os.environ.get("XDG_CACHE_HOME", "")
    # XDG says that a relative path must be ignored.
    return (Path(given) if given.startswith("/") else _home() / ".cache") / "heldout"


def _home() -> Path:
    try:
        return Path.home()
    except RuntimeError:  # a user without a home folder
        return Path(os.sep) / "nonexistent"

"""The folder for what can be built again."""

from __future__ import annotations

import os
import sys
from pathlib import Path

__all__ = ["cache_folder"]


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

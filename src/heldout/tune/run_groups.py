"""Find run files by pattern."""

from __future__ import annotations

import glob
import os
from pathlib import Path

from heldout.errors import InputError
from heldout.notes import named_few

__all__ = ["matching"]


def matching(pattern: str) -> list[str]:
    """Return the files that match a path with ``*``, ``?`` or ``[…]``, or the file of that name."""
    if os.path.exists(pattern) or not glob.has_magic(pattern):
        return [pattern]  # the reader reports a missing file
    found = sorted(path for path in glob.glob(pattern) if Path(path).is_file())  # noqa: PTH207
    if not found:
        raise InputError(f"no run matches {pattern}: {_nearby(pattern)}")
    return found


def _nearby(pattern: str) -> str:
    """Describe the contents of the folder that was searched."""
    folder = Path(pattern).parent
    if glob.has_magic(str(folder)):
        return "check the folders in the pattern"
    if not folder.is_dir():
        return f"there is no folder {folder}"
    files = sorted(one.name for one in folder.iterdir() if one.is_file())
    return f"{folder} has {named_few(files, len(files)) if files else 'no files'}"

"""Find run files by pattern, and name them."""

from __future__ import annotations

import glob
from pathlib import Path
from typing import Final

from heldout.data.notes import named_few
from heldout.data.paths import is_there
from heldout.errors import InputError

__all__ = ["file_stem", "matching"]


def matching(pattern: str) -> list[str]:
    """Return the files that match a path with ``*``, ``?`` or ``[…]``, or the file of that name."""
    if is_there(pattern) or not glob.has_magic(pattern):
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


_ENDINGS: Final = (".run", ".trec", ".txt", ".csv", ".tsv", ".json", ".jsonl", ".parquet", ".res")
_PACKED: Final = (".gz", ".xz", ".bz2", ".zst")


def file_stem(path: str) -> str:
    """Return the name of a file without folders and extensions."""
    # Only known extensions: the .5 of lambda=0.5 is not one.
    name = Path(path).name
    for endings in (_PACKED, _ENDINGS):
        for ending in endings:
            if name.lower().endswith(ending) and len(name) > len(ending):
                name = name[: -len(ending)]
                break
    return name

"""Recognise judgements by their first line, without NumPy, which takes longer than small files."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    import os

__all__ = ["begins_with_judgement"]

_HEAD: Final = 1 << 12
_JUDGEMENT: Final = re.compile(
    rb"""[^\s#,;"'{\[]+(?:[ \t]+[^\s,;"]+){2}[ \t]+[+-]?\d+[ \t]*\r?\n"""
)


def begins_with_judgement(path: str | os.PathLike[str]) -> bool:
    """Return whether the first line of a file has four fields, the last of which is a grade.

    Such a line is not the header of a table. Other files, also compressed judgements, need a closer
    look.

    Parameters
    ----------
    path
        A plain file.
    """
    try:
        with open(path, "rb", buffering=0) as file:  # noqa: PTH123 - pathlib is slow to import
            return _JUDGEMENT.match(file.read(_HEAD)) is not None
    except (OSError, ValueError):
        return False  # the reader will say what is wrong
